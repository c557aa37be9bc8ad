"""Passes over tool results: their order, and how formats that store only text write them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.kit.objects import get_extras, make_extras
from convcli.kit.passes import (
    NOT_TEXT,
    PartPass,
    on_messages,
    on_results,
    shared,
    shared_all,
)
from convcli.kit.texts import only_text, text_of
from convcli.model.dialect import Convention, LossKind
from convcli.model.inventory import Inventory, any_of, has_field, results
from convcli.model.rule import NO_INDEX
from convcli.model.transcript import (
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
)
from convcli.wire import exact_json


def keep_one_result_each(messages: list[Message]) -> list[Message]:
    """Keeps one result per tool message, turns a tool message without any into a user message, and drops results
    elsewhere."""
    return shared(messages, [_single_result(message) for message in messages])


def _single_result(message: Message) -> Message:
    if message.role != "tool":
        for part in message.parts:
            if part.__class__ is ToolResult:
                break
        else:
            return message
        parts: list[Part] = shared(
            message.parts, [None if part.__class__ is ToolResult else part for part in message.parts]
        )
        return message if parts is message.parts else replace(message, parts=parts)
    if len(message.parts) == 1 and message.parts[0].__class__ is ToolResult and message.name is None:
        return message
    results: list[Part] = [part for part in message.parts if isinstance(part, ToolResult)]
    return replace(message, parts=results[:1], name=None) if results else Message("user", message.parts)


def apply_convention(*conventions: Convention) -> PartPass:
    """Returns a pass that writes results by a convention if the vendor has no field for them. All have one for a
    text."""

    def write_by_convention(result: ToolResult) -> ToolResult:
        for convention in conventions:
            expressed_as = convention.express(result)
            if expressed_as is not None:
                kind: Any = expressed_as[0]
                return replace(result, kind=kind, value=expressed_as[1], is_error=None)
        return result

    return on_results(write_by_convention, *NOT_TEXT)


ONLY_TEXT: tuple[LossKind, str] = ("changed", "a result has no field for a failure: only its text is written")


def _as_text_or_parts(result: ToolResult) -> tuple[str, Any] | None:
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    text = only_text(result.value) if result.kind == "multimodal" else None
    return None if text is None else (kind, text)


def text_or_parts(framework: str) -> Convention:
    """The convention of formats in which a result is a text or parts, and data is JSON in a text."""
    data = f"a {framework} tool message is text: data is written as JSON"
    return Convention(
        _as_text_or_parts,
        {
            "data": ("changed", data),
            "error": ("changed", data),
            "multimodal": ("changed", f"in {framework}, content of one text equals that text"),
        },
    )


def with_plain_failures(convention: Convention) -> Convention:
    """Returns the convention of a training row: a failed result keeps the text that the model read, without a mark."""

    def express(result: ToolResult) -> tuple[str, Any] | None:
        if result.kind == "error":
            return "text", str(result.value)
        if result.kind == "multimodal" or not result.is_error:
            return convention.express(result)
        return convention.express(replace(result, is_error=None)) or (result.kind, result.value)

    return Convention(express, {**convention.loss, "error": ONLY_TEXT})


# ---------------------------------------------------------------- results of several parts


def with_parts(result: ToolResult, fits: Callable[[Part], Part | None]) -> ToolResult:
    """Applies a function to each part of a multimodal result; None drops the part. Other results stay unchanged."""
    if result.kind != "multimodal":
        return result
    value = shared(result.value, [fits(part) for part in result.value])
    return result if value is result.value else replace(result, value=value)


def only_own(part: Part, owner: str, **stated: Any) -> Part:
    """Removes metadata and other owners' extras from a part inside a result. A value is compared as a whole, so
    everything that does not come back must go. `stated` are fields with the values that they come back with."""
    stated |= {"metadata": None, "extras": make_extras(owner, get_extras(part.extras, owner))}
    same = all(getattr(part, name) == value for name, value in stated.items())
    return part if same else replace(part, **stated)


# ---------------------------------------------------------------- results while they are lifted


def fail(result: ToolResult) -> None:
    """Marks a result that is being lifted as failed: a text becomes the error, other values stay."""
    if result.kind == "text":
        result.kind = "error"
    elif result.kind != "error":
        result.is_error = True


def result_of_parts(id_: str, name: str, parts: list[Part], *, failed: bool) -> ToolResult:
    """Returns the result with these texts and media; a single text without other fields is the value itself."""
    text = only_text(parts)
    result = ToolResult(id_, name, "multimodal" if text is None else "text", parts if text is None else text)
    if failed:
        fail(result)
    return result


# ---------------------------------------------------------------- order of results


def put_results_first(messages: list[Message]) -> list[Message]:
    """Moves every result directly behind the turn that called, in the order of the results."""
    order: list[Message] = []
    late: dict[str, list[Message]] = {}
    caller: dict[str, int] = {}
    for message in messages:
        result = result_of(message)
        if result is None or result.tool_call_id not in caller:
            _open_calls(message, len(order), caller)
            order.append(message)
        elif _follows(order, caller[result.tool_call_id]):
            order.append(message)
        else:
            late.setdefault(result.tool_call_id, []).append(message)
    return _insert(order, late, caller) if late else messages


def are_irregular(inventory: Inventory) -> bool:
    """Asks whether calls and results are not as in most transcripts: each call has its own id and one result, in a tool
    message without other parts that follows the message of the call."""
    roles, results = inventory.roles, inventory.parts["tool_result"]
    callers = {call.id: i for i, _, call in inventory.parts["tool_call"]}
    if not len(callers) == len(inventory.parts["tool_call"]) == len(results) == roles.count("tool"):
        return True
    caller = before = NO_INDEX
    for i, _, result in results:
        if i != before + 1:
            caller = i - 1
        before = i
        is_alone = roles[i] == "tool" and len(inventory.messages[i].parts) == 1
        if not is_alone or roles[caller] != "assistant" or callers.pop(result.tool_call_id, None) != caller:
            return True
    return False


def _disorder(inventory: Inventory) -> tuple[bool, bool]:
    """Asks whether results are displaced, and whether they are mixed."""
    if "tool" not in inventory.roles:
        return False, bool(inventory.ask(results))
    is_displaced, alone = False, 0
    caller: Message | None = None
    open_calls: set[str] | None = None
    for message in inventory.messages:
        if message.role != "tool":
            caller, open_calls = message, None
            continue
        if open_calls is None:
            open_calls = _calls_of(caller)
        first = message.parts[0] if message.parts else None
        if first.__class__ is ToolResult:
            alone += len(message.parts) == 1
            is_displaced = is_displaced or first.tool_call_id not in open_calls
        else:
            is_displaced = True
    return is_displaced, not alone == len(inventory.ask(results)) == inventory.roles.count("tool")


def _calls_of(message: Message | None) -> set[str]:
    """Returns the ids of the calls of an answer; of another message, none."""
    if message is None or message.role != "assistant":
        return set()
    return {part.id for part in message.parts if part.__class__ is ToolCall}


def are_displaced(inventory: Inventory) -> bool:
    """Asks whether a result does not follow the assistant turn that called."""
    return inventory.ask(are_irregular) and inventory.ask(_disorder)[0]


def are_mixed(inventory: Inventory) -> bool:
    """Asks whether a result shares its message, or is outside of a tool message, or a tool message lacks one."""
    return inventory.ask(are_irregular) and inventory.ask(_disorder)[1]


def split_mixed_results(message: Message) -> list[Message]:
    """Splits results into messages of their own, with the rest in between; the message's own fields stay with the
    first."""
    if not any(isinstance(part, ToolResult) for part in message.parts):
        return [message] if message.parts or message.role != "tool" else []
    pieces: list[Message] = []
    for part in message.parts:
        result = isinstance(part, ToolResult)
        if not result and pieces and pieces[-1].role != "tool":
            pieces[-1].parts.append(part)
            continue
        pieces.append(Message("tool" if result else "user" if message.role == "tool" else message.role, [part]))
    if len(pieces) == 1 and pieces[0].role == message.role:
        return [message]
    first = pieces[0]
    for name in ("id", "parent_id", "created_at", "extras"):
        setattr(first, name, getattr(message, name))
    return pieces


def result_of(message: Message) -> ToolResult | None:
    """Returns the result in a tool message."""
    first = message.parts[0] if message.role == "tool" and message.parts else None
    return first if type(first) is ToolResult else None


def answers_of(calls: Sequence[ToolCall], messages: Iterable[Message]) -> list[Message | None]:
    """Returns for each call the first message with its result that is not an earlier call's."""
    waiting: dict[str, deque[Message]] = {}
    for message in messages:
        result = result_of(message)
        if result is not None:
            waiting.setdefault(result.tool_call_id, deque()).append(message)
    return [waiting[call.id].popleft() if waiting.get(call.id) else None for call in calls]


def _open_calls(message: Message, index: int, caller: dict[str, int]) -> None:
    for part in message.parts:
        if isinstance(part, ToolCall):
            caller[part.id] = index


def _follows(order: list[Message], index: int) -> bool:
    """True if only results follow the message at `index`."""
    return order[-1].role == "tool" or index == len(order) - 1


def _insert(order: list[Message], late: dict[str, list[Message]], caller: dict[str, int]) -> list[Message]:
    behind: dict[int, list[Message]] = {}
    for id_, answers in late.items():
        index = caller[id_]
        while index + 1 < len(order) and order[index + 1].role == "tool":
            index += 1
        behind.setdefault(index, []).extend(answers)
    out: list[Message] = []
    for index, message in enumerate(order):
        out.append(message)
        out += behind.get(index, ())
    return out


results_behind_calls = on_messages(put_results_first, are_displaced)
"""Moves every result directly behind the turn that called."""

separate_results = on_messages(lambda messages: shared_all(messages, split_mixed_results), are_mixed)
"""Splits every result into a message of its own."""

one_result_each = on_messages(keep_one_result_each, any_of(are_mixed, has_field("name")))
"""Keeps one result per tool message, and none elsewhere."""


def has_failed(result: ToolResult) -> bool:
    """True if the result is marked as failed."""
    return result.kind == "error" or bool(result.is_error)


def has_media(result: ToolResult) -> bool:
    """True if the result has parts other than text."""
    return result.kind == "multimodal" and any(not isinstance(part, Text) for part in result.value)


def in_words(result: ToolResult) -> str:
    """Returns what a model can read of a result in a text-only format: data as JSON, and the texts among media."""
    if result.kind == "multimodal":
        return text_of(result.value, "\n")
    return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)


def one_value(result: ToolResult) -> ToolResult:
    """Joins the texts of a result into one text; those of a failure into its error."""
    if result.kind != "multimodal":
        return result
    return replace(result, kind="error" if result.is_error else "text", value=in_words(result), is_error=None)


def as_text_and_files(result: ToolResult) -> tuple[str, Any] | None:
    """The convention of formats in which a result is one text followed by files, and a failure is a text."""
    if result.kind == "data" or (result.kind == "multimodal" and (result.is_error or not has_media(result))):
        return ("error" if result.is_error else "text"), in_words(result)
    if result.kind != "multimodal":
        return None
    text = in_words(result)
    value = [*([Text(text)] if text else []), *(part for part in result.value if not isinstance(part, Text))]
    return None if value == result.value else ("multimodal", value)


TEXT_AND_FILES = Convention(
    as_text_and_files,
    {
        "data": ("encoded", "a result is one text: the data is written as JSON"),
        "multimodal": ("changed", "a result is one text followed by files, and a failure is only text"),
    },
)


class ResultTexts(msgspec.Struct, frozen=True):
    """Tool results in a format with one text for them and no field for a failure.

    `failure` is the prefix of a failure's text; empty if the text stays as it is · `data`: the format also stores any
    JSON except a string, which is text.
    """

    failure: str
    data: bool = False

    def value(self, result: ToolResult) -> Any:
        """Returns the written form of a result."""
        if self._is_data(result):
            return result.value
        text = in_words(result)
        return self.failure + text if has_failed(result) and not text.startswith(self.failure) else text

    def fits(self, result: ToolResult) -> ToolResult:
        """Returns the result as it is read back, without its media."""
        if result.kind == "text" or self._is_data(result):
            return result
        return replace(result, kind="text", value=self.value(result), is_error=None)

    def express(self, result: ToolResult) -> tuple[str, Any] | None:
        """The convention: how a result without media that is neither text nor data comes back."""
        return None if self.fits(result) is result or has_media(result) else ("text", self.value(result))

    def convention(self, failure: str = "") -> Convention:
        """Returns the convention with its reasons; `failure` is the reason for the prefix, if there is one."""
        one = "a string is always text" if self.data else "a result is a string"
        joined = "a result has one text" if self.data else "a result is a string"
        return Convention(
            self.express,
            {
                "error": ("encoded", f"a result has no field for a failure: {failure}") if failure else ONLY_TEXT,
                "data": ("changed", f"{one}: the data is written as JSON"),
                "multimodal": ("changed", f"{joined}: its texts are joined"),
            },
        )

    def _is_data(self, result: ToolResult) -> bool:
        return self.data and result.kind == "data" and not isinstance(result.value, str) and not result.is_error
