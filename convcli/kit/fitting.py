"""Passes of policy that dialects list in their `fit`: a transcript, and the same as a target takes it.

A pass does not change its input and shares what it leaves alone. What it changes is found as a loss when the output is
read back, so no pass reports anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import replace

from convcli.model.branches import active
from convcli.model.dialect import Convention, Pass
from convcli.model.transcript import (
    MEDIA_KINDS,
    Message,
    Part,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json

Record = TypeVar("Record", Message, Part, ToolDefinition)


def is_response(transcript: Transcript) -> bool:
    """Only what a model answered, as services return it: no question, tools or settings, but a stop reason or usage."""
    return (
        bool(transcript.messages)
        and transcript.tools is None
        and transcript.tool_choice is None
        and not transcript.settings
        and all(message.role == "assistant" for message in transcript.messages)
        and any(message.stop_reason or message.usage for message in transcript.messages)
    )


def is_foreign_builtin(tool: ToolDefinition) -> bool:
    """A tool that a vendor runs by itself: it has nothing but a name and its owner's own keys."""
    return (
        tool.description is None
        and tool.parameters is None
        and any("tool" in carried for carried in (tool.extras or {}).values())
    )


# ---------------------------------------------------------------- passes


def on_messages(fits: Callable[[list[Message]], list[Message]]) -> Pass:
    """A pass that has to do with messages only."""

    def fitted(transcript: Transcript) -> Transcript:
        messages = fits(transcript.messages)
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return fitted


def on_each_message(fits: Callable[[Message], Message | None]) -> Pass:
    """A pass that looks at one message at a time; None takes it out."""
    return on_messages(lambda messages: shared(messages, [fits(message) for message in messages]))


PartFit: TypeAlias = Callable[[Any, Message], Part | None]
"""A part, with its message, as the target takes it; None takes it out."""


class PartPass:
    """A pass that looks at one part at a time, of these types or of any.

    Passes that follow each other walk a transcript once (`fused`), and pass over messages without such parts.
    """

    __slots__ = ("_steps", "_types")

    def __init__(self, *steps: tuple[frozenset[str], PartFit]) -> None:
        self._steps = steps
        self._types = frozenset[str]().union(*(types for types, _ in steps))

    def __call__(self, transcript: Transcript) -> Transcript:
        messages = [self._fitted(message) for message in transcript.messages]
        if all(map(is_, messages, transcript.messages)):
            return transcript
        return replace(transcript, messages=messages)

    def _fitted(self, message: Message) -> Message:
        types = self._types
        for part in message.parts:
            if part.type in types:
                break
        else:
            return message
        parts = shared(message.parts, [self._step(part, message) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    def _step(self, part: Part | None, message: Message) -> Part | None:
        for types, fits in self._steps:
            if part is None:
                return None
            if part.type in types:
                part = fits(part, message)
        return part

    def then(self, other: PartPass) -> PartPass:
        """Both, in one walk."""
        return PartPass(*self._steps, *other._steps)


MEDIA = MEDIA_KINDS
PART_TYPES = ("text", "reasoning", "refusal", *MEDIA, "tool_call", "tool_result", "opaque")


def on_parts(fits: PartFit, *types: str) -> PartPass:
    """A pass that looks at one part at a time, with its message; of these types, or of any. None takes it out."""
    return PartPass((frozenset(types or PART_TYPES), fits))


def on_results(fits: Callable[[ToolResult], ToolResult]) -> PartPass:
    """A pass that looks at results only."""
    return on_parts(lambda result, _: fits(result), "tool_result")


def fused(*passes: Pass) -> tuple[Pass, ...]:
    """The passes, of which those of parts that follow each other are one."""
    fused_passes: list[Pass] = []
    for one in passes:
        before = fused_passes[-1] if fused_passes else None
        if isinstance(one, PartPass) and isinstance(before, PartPass):
            fused_passes[-1] = before.then(one)
        else:
            fused_passes.append(one)
    return tuple(fused_passes)


def on_tools(fits: Callable[[ToolDefinition], ToolDefinition | None]) -> Pass:
    """A pass that looks at one tool definition at a time; None takes it out."""

    def fitted(transcript: Transcript) -> Transcript:
        if not transcript.tools:
            return transcript
        tools = shared(transcript.tools, [fits(tool) for tool in transcript.tools])
        return transcript if tools is transcript.tools else replace(transcript, tools=tools or None)

    return fitted


def shared(before: list[Record], after: Sequence[Record | None]) -> list[Record]:
    """What is left of `after`; `before` itself where nothing has changed."""
    if len(before) == len(after) and all(map(is_, before, after)):
        return before
    return [record for record in after if record is not None]


def shared_all(before: list[Message], split: Callable[[Message], list[Message]]) -> list[Message]:
    """Each message in pieces; `before` itself where every message is one piece."""
    pieces = [split(message) for message in before]
    whole = all(len(piece) == 1 and piece[0] is message for piece, message in zip(pieces, before, strict=True))
    return before if whole else [message for piece in pieces for message in piece]


def linear(transcript: Transcript) -> Transcript:
    """No events, and of a tree only the active branch: what a linear dialect holds."""
    messages = active(transcript)
    if transcript.head is None and messages is transcript.messages:
        return transcript
    return replace(transcript, messages=messages, head=None)


def answers_only(transcript: Transcript) -> Transcript:
    """What a model answered: the turns of the assistant."""
    messages = [message for message in transcript.messages if message.role == "assistant"]
    return transcript if len(messages) == len(transcript.messages) else replace(transcript, messages=messages)


def last_answer(transcript: Transcript) -> Transcript:
    """The last turn of the assistant on the active branch: what a response of one answer holds."""
    spoken = [message for message in active(transcript) if message.role == "assistant"]
    if len(transcript.messages) == len(spoken) == 1:
        return transcript
    return replace(transcript, messages=spoken[-1:] or [Message("assistant", [])], head=None)


def single_results(messages: list[Message]) -> list[Message]:
    """A message of a tool is one result; without any it is words of the user. Elsewhere there are no results."""
    return shared(messages, [_single_result(message) for message in messages])


def _single_result(message: Message) -> Message:
    if message.role != "tool":
        parts: list[Part] = shared(
            message.parts, [None if part.__class__ is ToolResult else part for part in message.parts]
        )
        return message if parts is message.parts else replace(message, parts=parts)
    if len(message.parts) == 1 and message.parts[0].__class__ is ToolResult and message.name is None:
        return message
    results: list[Part] = [part for part in message.parts if isinstance(part, ToolResult)]
    return replace(message, parts=results[:1], name=None) if results else Message("user", message.parts)


def named(message: Message) -> Message:
    """An empty name is none."""
    return replace(message, name=None) if message.name == "" else message


def roles(names: Mapping[str, str]) -> Pass:
    """Roles that a vendor does not know are written as others (`developer` as `system`)."""
    return on_each_message(
        lambda message: replace(message, role=names[message.role]) if message.role in names else message
    )


def parts_in_roles(allowed: Mapping[str, Collection[str]]) -> PartPass:
    """Parts of these types stand only in messages of these roles; elsewhere they are left out."""

    def fits(part: Part, message: Message) -> Part | None:
        return part if message.role in allowed[part.type] else None

    return on_parts(fits, *allowed)


def ordered_parts(
    *order: str, kind: Callable[[Part], str] = attrgetter("type"), of: Collection[str] = ("assistant",)
) -> Pass:
    """The parts of turns of these roles in the order in which the format holds them, by their types or another kind."""
    ranks = {kind: rank for rank, kinds in enumerate(order) for kind in kinds.split()}

    def fits(message: Message) -> Message:
        if message.role not in of or len(message.parts) < 2:
            return message
        parts = sorted(message.parts, key=lambda part: ranks.get(kind(part), 0))
        return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)

    return on_each_message(fits)


def known_finish(
    finish: Mapping[str, str],
    finish_of: Mapping[str, str],
    otherwise: str,
    kept: Callable[[Message], bool] | None = None,
) -> Pass:
    """A stop reason for which the vendor has no word is `otherwise`, unless the message is `kept` as it is.

    `finish` has our word for the vendor's, `finish_of` the vendor's for ours.
    """

    def fits(message: Message) -> Message:
        reason = message.stop_reason
        if reason is None or (kept is not None and kept(message)):
            return message
        written = finish_of.get(reason, otherwise)
        ours = finish.get(written, written)
        return message if ours == reason else replace(message, stop_reason=ours)

    return on_each_message(fits)


def without(*fields: str) -> Pass:
    """Fields that this form has no place for: of the transcript (`title`) or of messages (`message.usage`)."""
    of_messages = {field.partition(".")[2] for field in fields if field.startswith("message.")}
    of_whole = [field for field in fields if not field.startswith("message.")]

    def fits(transcript: Transcript) -> Transcript:
        gone = {field: None for field in of_whole if getattr(transcript, field) is not None}
        return replace(_cleared(transcript), **gone) if gone else _cleared(transcript)

    _cleared = on_each_message(lambda message: _without(message, of_messages)) if of_messages else (lambda same: same)
    return fits


def _without(message: Message, fields: Collection[str]) -> Message:
    gone = {field: None for field in fields if getattr(message, field) is not None}
    return replace(message, **gone) if gone else message


def only_own_opaque(owner: str) -> PartPass:
    """Opaque parts of other vendors are left out."""
    return on_parts(lambda part, _: part if part.dialect == owner else None, "opaque")


def expressed(*conventions: Convention) -> PartPass:
    """Results for which the vendor has no field are written by a convention."""

    def fits(result: ToolResult) -> ToolResult:
        for convention in conventions:
            expressed_as = convention.express(result)
            if expressed_as is not None:
                kind: Any = expressed_as[0]
                return replace(result, kind=kind, value=expressed_as[1], is_error=None)
        return result

    return on_results(fits)


def with_parameters(*, typed: bool = False) -> Pass:
    """A schema for every function, empty where it has none; `typed`: with a root type."""

    def fits(tool: ToolDefinition) -> ToolDefinition:
        if is_foreign_builtin(tool) or (tool.parameters is not None and ("type" in tool.parameters or not typed)):
            return tool
        stated = {"properties": {}} if tool.parameters is None else tool.parameters
        return replace(tool, parameters={"type": "object", **stated})

    return on_tools(fits)


def functions_only(owner: str) -> Pass:
    """Tools that another vendor runs by itself are left out."""

    def fits(tool: ToolDefinition) -> ToolDefinition | None:
        is_own = owner in (tool.extras or {})
        return None if is_foreign_builtin(tool) and not is_own else tool

    return on_tools(fits)


def some_tools(transcript: Transcript) -> Transcript:
    """An empty list of tools is no list: services refuse it."""
    return replace(transcript, tools=None) if transcript.tools == [] else transcript


# ---------------------------------------------------------------- order of results


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with every result directly behind the turn that called, in the order in which the results came."""
    if _in_place(messages):
        return messages
    order: list[Message] = []
    late: dict[str, list[Message]] = {}
    caller: dict[str, int] = {}
    for message in messages:
        result = _result_of(message)
        if result is None or result.tool_call_id not in caller:
            _open_calls(message, len(order), caller)
            order.append(message)
        elif _follows(order, caller[result.tool_call_id]):
            order.append(message)
        else:
            late.setdefault(result.tool_call_id, []).append(message)
    return _insert(order, late, caller) if late else messages


def _in_place(messages: list[Message]) -> bool:
    """Quick, for most conversations: does every result stand behind the assistant's turn that called?"""
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "tool":
            result = _result_of(message)
            if result is None or result.tool_call_id not in open_calls:
                return False
        elif message.role == "assistant":
            open_calls = {part.id for part in message.parts if type(part) is ToolCall}
        else:
            open_calls = set()
    return True


def results_apart(message: Message) -> list[Message]:
    """Results in messages of their own, the rest between them; what the message itself says stays with the first."""
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


def _result_of(message: Message) -> ToolResult | None:
    first = message.parts[0] if message.role == "tool" and message.parts else None
    return first if type(first) is ToolResult else None


def _open_calls(message: Message, index: int, caller: dict[str, int]) -> None:
    for part in message.parts:
        if isinstance(part, ToolCall):
            caller[part.id] = index


def _follows(order: list[Message], index: int) -> bool:
    """Is there nothing but results behind the message at `index`?"""
    return order[-1].role == "tool" or index == len(order) - 1


def _insert(order: list[Message], late: dict[str, list[Message]], caller: dict[str, int]) -> list[Message]:
    behind: dict[int, list[Message]] = {}
    for id_, results in late.items():
        index = caller[id_]
        while index + 1 < len(order) and order[index + 1].role == "tool":
            index += 1
        behind.setdefault(index, []).extend(results)
    out: list[Message] = []
    for index, message in enumerate(order):
        out.append(message)
        out += behind.get(index, ())
    return out


results_behind_calls = on_messages(results_first)
"""Every result directly behind the turn that called."""

separate_results = on_messages(lambda messages: shared_all(messages, results_apart))
"""Every result in a message of its own."""


# ---------------------------------------------------------------- texts for what has no field


def refusal_as_text(part: Part, _: Message) -> Part:
    """The words of a refusal as a text."""
    return Text(part.text, part.metadata, part.extras) if part.__class__ is Refusal else part


refusals_as_texts = on_parts(refusal_as_text)
"""Refusals are written as texts."""


def has_failed(result: ToolResult) -> bool:
    """Does the result say that its tool failed?"""
    return result.kind == "error" or bool(result.is_error)


def has_media(result: ToolResult) -> bool:
    """Does the result hold anything that no text says?"""
    return result.kind == "multimodal" and any(not isinstance(part, Text) for part in result.value)


def in_words(result: ToolResult) -> str:
    """What a model can read of a result in a format that has only text: data as JSON, the texts among media."""
    if result.kind == "multimodal":
        return "\n".join(part.text for part in result.value if isinstance(part, Text))
    return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)


class ResultTexts(NamedTuple):
    """Results in a format that has one text for them and no field for a failure.

    `failure` stands before the text of a failure · `data`: any JSON but a string, which is text, may stand there too.
    """

    failure: str
    data: bool = False

    def value(self, result: ToolResult) -> Any:
        """What is written of a result."""
        if self._is_data(result):
            return result.value
        text = in_words(result)
        return self.failure + text if has_failed(result) and not text.startswith(self.failure) else text

    def fits(self, result: ToolResult) -> ToolResult:
        """The result as it is read back, without its media."""
        if result.kind == "text" or self._is_data(result):
            return result
        return replace(result, kind="text", value=self.value(result), is_error=None)

    def express(self, result: ToolResult) -> tuple[str, Any] | None:
        """The convention: how a result comes back that holds no media and is neither text nor data."""
        return None if self.fits(result) is result or has_media(result) else ("text", self.value(result))

    def convention(self, failure: str) -> Convention:
        """The same with its reasons; `failure` is that for the mark."""
        one = "a string is always text" if self.data else "a result is a string"
        joined = "a result holds one text" if self.data else "a result is a string"
        return Convention(
            self.express,
            {
                "error": ("encoded", f"a result has no field for a failure: {failure}"),
                "data": ("changed", f"{one}: the data is written as JSON"),
                "multimodal": ("changed", f"{joined}: its texts are joined"),
            },
        )

    def _is_data(self, result: ToolResult) -> bool:
        return self.data and result.kind == "data" and not isinstance(result.value, str) and not result.is_error


def bare_system(messages: list[Message]) -> list[Message]:
    """A leading instruction as one text with nothing beside it, for formats that keep it apart from the messages."""
    first = messages[0] if messages else None
    if first is None or first.role != "system" or bare_text(first):
        return messages
    text = "\n\n".join(part.text for part in first.parts if isinstance(part, Text))
    return [Message("system", [Text(text)]), *messages[1:]] if text else bare_system(messages[1:])


def bare_text(message: Message) -> str:
    """The text of a message that says nothing else; empty for any other."""
    part = message.parts[0] if message.parts else None
    bare = isinstance(part, Text) and message == Message(message.role, [Text(part.text)])
    return part.text if bare and isinstance(part, Text) else ""


def last_definitions(transcript: Transcript) -> Transcript:
    """One definition for each name: the last one counts."""
    tools = transcript.tools or []
    last = {tool.name: tool for tool in tools}
    return transcript if len(last) == len(tools) else replace(transcript, tools=list(last.values()))
