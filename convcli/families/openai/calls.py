"""Calls of Chat Completions and its relatives, and results in formats that store only text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.custom import input_of
from convcli.kit.objects import Native, omit
from convcli.kit.results import in_words, with_plain_failures
from convcli.model.dialect import Convention, LossKind
from convcli.model.transcript import Media, Message, Opaque, Part, Text, ToolCall, ToolResult
from convcli.wire import exact_json

FUNCTION_CALL, FUNCTION = "id=id type= function/name=name function/arguments=arguments custom", {"type": "function"}
OBJECT_CALL = CallTable(FUNCTION_CALL, constants=FUNCTION)
"""The keys of a call whose arguments are an object."""
CALLS = {
    "function": CallTable(FUNCTION_CALL, form="json", constants=FUNCTION),
    "custom": CallTable(
        "id=id type= function custom/name=name custom/input=arguments", form="free", constants={"type": "custom"}
    ),
}
"""The keys of a call, by its type: its name and arguments are under the same name."""


def lift_call(native: Native, context: LiftContext) -> Part:
    """Lifts a call of a function or a custom tool; one of another type is opaque."""
    kind = native.get("type") or "function"
    if kind not in CALLS or not isinstance(native.get(kind), dict):
        return Opaque(context.dialect, {"type": kind, **native} if "type" not in native else native)
    return CALLS[kind].lift(native, context)


def are_calls(natives: Any) -> bool:
    """True for a list of usual function calls, wherever a schema allows any value."""
    return isinstance(natives, list) and all(isinstance(native, dict) and _is_call(native) for native in natives)


def _is_call(native: Native) -> bool:
    function = native.get("function")
    texts = [function.get(key) for key in ("name", "arguments")] if isinstance(function, dict) else [None]
    return native.get("type") == "function" and all(isinstance(text, str) for text in [native.get("id"), *texts])


def kind_in_turn(part: Part) -> str:
    """Returns the type of a part by its position in a turn: a call of an unknown kind has an id, like all calls."""
    value = part.value if part.__class__ is Opaque else None
    if not isinstance(value, dict) or "id" not in value:
        return part.type
    is_known = any(value.get("type") == kind and isinstance(value.get(kind), dict) for kind in CALLS)
    return part.type if is_known else ToolCall.type


def write_call(call: ToolCall, dialect: str) -> Native:
    """Writes a call with arguments as JSON in a string, or with the text of a custom tool."""
    return CALLS["custom" if call.custom and input_of(call) is not None else "function"].write(call, dialect)


def write_parts(
    parts: list[Part], dialect: str, write_part: Callable[[Part], Native | None]
) -> tuple[list[Native], list[Native]]:
    """Returns the content of a turn, and its calls."""
    content: list[Native] = []
    calls: list[Native] = []
    for part in parts:
        if part.__class__ is ToolCall:
            calls.append(CALLS["function"].write(part, dialect))
            continue
        native = write_part(part)
        if native is not None:
            (calls if kind_in_turn(part) == ToolCall.type else content).append(native)
    return content, calls


def content_of(parts: list[Native]) -> Any:
    """Returns the content of a message; a single text without other fields as a string."""
    is_text = len(parts) == 1 and tuple(parts[0]) == ("type", "text") and parts[0]["type"] == "text"
    return parts[0]["text"] if is_text else parts or ""


AROUND_MESSAGE = ("choice", "usage", "message")
"""Extras keys for what was in the choice or the response around a message; the last is for keys of the message itself
with one of these names."""


def other_keys(extra: Native | None) -> Native:
    """Returns the extras of a message, without those for what is around it."""
    if not extra:
        return {}
    inner = {key: extra[key] for key in AROUND_MESSAGE if key in extra}
    return {**_others(extra), **({"message": inner} if inner else {})}


def of_message(extra: Native) -> Native:
    """Returns the extras of the message itself."""
    return {**_others(extra), **extra.get("message", {})} if extra else extra


def _others(extra: Native) -> Native:
    return omit(extra, *AROUND_MESSAGE)


def text_of_result(result: ToolResult) -> str:
    """Returns the text of a result that is not multimodal: text has no field for data or failure."""
    if result.kind == "error" or result.is_error:
        return exact_json.write_text({"error": result.value})
    return in_words(result)


AS_TEXT: dict[str, tuple[LossKind, str]] = {
    "error": ("encoded", 'a tool message has no field for a failure: written as {"error": …}'),
    "data": ("changed", "a tool message stores only text: the data is written as JSON"),
}
"""The reasons of services whose results are text."""


def _express(result: ToolResult) -> tuple[str, Any] | None:
    return None if result.kind in ("text", "multimodal") else ("text", text_of_result(result))


TEXTS = Convention(_express, AS_TEXT)
"""The convention of formats whose results are text, with or without files: data and failures are written as JSON."""
ROW_TEXTS = with_plain_failures(TEXTS)
"""The same for training rows: a failure keeps its text."""


def express_media(result: ToolResult, read_again: Callable[[Media], Part | None]) -> tuple[str, Any] | None:
    """Returns how a result comes back whose media follow in a user message, if nothing of it is lost."""
    texts = [Text(part.text) for part in result.value if isinstance(part, Text)]
    media = [part for part in result.value if isinstance(part, Media)]
    if not media or any(read_again(part) != part for part in media) or [*texts, *media] != result.value:
        return None
    return ("multimodal", texts) if len(texts) > 1 else ("text", "".join(text.text for text in texts))


def media_behind_results(is_written: Callable[[Media], bool]) -> Callable[[list[Message]], list[Message]]:
    """Moves the media of results, which a tool message cannot contain, to a user message behind all results of the
    turn. Drops media that the target cannot write anywhere."""

    def move_media(messages: list[Message]) -> list[Message]:
        if not any(
            part.__class__ is ToolResult and part.kind == "multimodal" for message in messages for part in message.parts
        ):
            return messages
        fitted: list[Message] = []
        waiting: list[Message] = []
        for message in messages:
            if message.role != "tool":
                fitted += waiting
                waiting = []
            fitted.append(message)
            waiting += _attached(message, is_written)
        return fitted + waiting

    return move_media


def _attached(message: Message, is_written: Callable[[Media], bool]) -> list[Message]:
    """Returns a user message with the media of each result of a message."""
    attached = []
    for result in message.parts if message.role == "tool" else ():
        if isinstance(result, ToolResult) and result.kind == "multimodal":
            media: list[Part] = [part for part in result.value if isinstance(part, Media) and is_written(part)]
            if media:
                attached.append(Message("user", [Text(attachment_of(result)), *media]))
    return attached


def attachment_of(result: ToolResult) -> str:
    """Returns the text before the media of a result."""
    return f"Attached to the result of {result.name} ({result.tool_call_id}):"
