"""The messages of a VS Code chat: rounds of the model with their results, and what VS Code displays in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import Keys, Native, as_object, as_text, get_extras, make_extras, omit, without_empty
from convcli.kit.results import result_of_parts
from convcli.kit.texts import text_of
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall, ToolResult

NAME = "vscode-chat"
ROUND = Envelope(
    "id=id response= toolCalls= toolInputRetry thinking= timestamp statefulMarker phase phaseModelId "
    "summary= compaction",
    {"timestamp": CREATED_IN_MILLISECONDS},
)
CALL = CallTable("name=name arguments=arguments id=id", form="json", blank=True)
THOUGHT = Keys("id text= encrypted= tokens metadata")
RESULT, TEXT = 20, 21
"""VS Code's numbers (`$mid`) of a tool result and of a text in it."""
LEAF = 2
"""The type of a text in the tree of a prompt."""
RETRY = ("toolInputRetry", 0)
"""A key of every round, with its usual value."""
SHOWN_CALL = "toolInvocationSerialized"
Placed = tuple[Part, Path]

# ---------------------------------------------------------------- rounds


def is_round(value: Any) -> bool:
    """True if the value is a round of the model."""
    if not isinstance(value, dict) or not isinstance(value.get("response") or "", str):
        return False
    calls, summary = value.get("toolCalls") or [], value.get("summary") or ""
    are_calls = isinstance(calls, list) and all(map(_is_call, calls))
    return are_calls and isinstance(summary, str) and _is_thought(value.get("thinking") or {"text": ""})


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    return isinstance(value.get("arguments") or "", (str, dict)) and isinstance(value.get("id") or "", str)


def _is_thought(value: Any) -> bool:
    text = value.get("text") if isinstance(value, dict) else 0
    is_list = isinstance(text, list) and bool(text) and all(isinstance(item, str) for item in text)
    return text is None or isinstance(text, str) or is_list


def lift_round(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    """Returns the answer of a round, with the paths of its parts."""
    placed: list[Placed] = _lift_thought(native["thinking"]) if native.get("thinking") else []
    placed += [(Text(native["response"]), ("response",))] if native.get("response") else []
    placed += [(CALL.lift(call, context), ("toolCalls", k)) for k, call in enumerate(native.get("toolCalls") or ())]
    message = Message("assistant", [part for part, _ in placed])
    extra = ROUND.lift(native, message) or {}
    message.extras = make_extras(NAME, {key: value for key, value in extra.items() if (key, value) != RETRY})
    return message, [path for _, path in placed]


def _lift_thought(native: Native) -> list[Placed]:
    """Returns the texts of a thought; its other keys are those of the first."""
    text = native.get("text") or ""
    texts: list[tuple[str, Path]] = [(text, ("thinking",))] if isinstance(text, str) else []
    texts = texts or [(one, ("thinking", *(("text", k) if k else ()))) for k, one in enumerate(text)]
    parts = [(Reasoning(one), path) for one, path in texts]
    first = parts[0][0]
    encrypted = as_text(native.get("encrypted"))
    first.metadata = {"encryptedContent": encrypted} if encrypted else None
    wrong = {} if encrypted or not native.get("encrypted") else {"encrypted": native["encrypted"]}
    first.extras = make_extras(NAME, {**(THOUGHT.extra(native) or {}), **wrong})
    return [*parts]


def write_round(message: Message) -> Native:
    """Returns the round of an answer with thoughts, at most one text, and calls."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    calls = [CALL.write(part, NAME) for part in message.parts if isinstance(part, ToolCall)]
    content: Native = {"response": text_of(message.parts, "\n\n"), "toolCalls": calls, "toolInputRetry": 0}
    content |= {"thinking": _write_thought(thoughts)} if thoughts else {}
    extra = get_extras(message.extras, NAME)
    return ROUND.write(message, extra, **{**content, **omit(extra, "response", "toolCalls", "thinking")})


def _write_thought(parts: list[Reasoning]) -> Native:
    first, texts = parts[0], [part.text for part in parts]
    encrypted = (first.metadata or {}).get("encryptedContent")
    native = {"text": texts if len(texts) > 1 else texts[0], "encrypted": encrypted}
    return THOUGHT.write(native, get_extras(first.extras, NAME))


# ---------------------------------------------------------------- results


def lift_result(id_: str, native: Native, context: LiftContext) -> ToolResult:
    """Returns the result of a call: the texts in its content, which may be a tree of a prompt."""
    texts: list[str] = []
    content = native.get("content") or []
    frame = [_take_text(item, texts) for item in content] if isinstance(content, list) else content
    result = result_of_parts(*context.pairing.result(id_, None), [Text(text) for text in texts or [""]], failed=False)
    extra = without_empty(native, "content", *["$mid"] * (native.get("$mid") == RESULT))
    is_usual = frame == [{"$mid": TEXT, "value": None}] * len(texts)
    result.extras = make_extras(NAME, extra if is_usual else {**extra, "content": frame})
    return result


def _take_text(item: Any, texts: list[str]) -> Any:
    """Returns an item of a content without its texts, which are appended to the list."""
    if not isinstance(item, dict) or "mimeType" in item:
        return item
    value = item.get("value")
    if isinstance(value, str):
        texts.append(value)
        return {**item, "value": None}
    return {**item, "value": _take_leaves(value, texts)} if isinstance(value, dict) else item


def _take_leaves(value: Any, texts: list[str]) -> Any:
    """Same as `_take_text`, for the tree of a prompt."""
    if isinstance(value, list):
        return [_take_leaves(item, texts) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == LEAF and isinstance(value.get("text"), str):
        texts.append(value["text"])
        return {**value, "text": None}
    return {key: _take_leaves(member, texts) for key, member in value.items()}


def write_result(part: ToolResult) -> Native:
    """Returns the result of a call. Its former content is used if it has a place for each text."""
    parts = part.value if part.kind == "multimodal" else [Text(part.value)]
    texts = [one.text for one in parts if isinstance(one, Text)]
    extra = get_extras(part.extras, NAME)
    plain = [{"$mid": TEXT, "value": text} for text in texts]
    content = _filled(extra["content"], texts) if "content" in extra else plain
    return {"$mid": RESULT, **omit(extra, "content"), "content": plain if content is None else content}


def _filled(frame: Any, texts: list[str]) -> Any:
    """Returns a content with its texts; None if it has not one place for each."""
    waiting = iter(texts)
    try:
        content = _put_texts(frame, waiting)
    except StopIteration:
        return None
    return content if next(waiting, None) is None or (texts == [""] and content == frame) else None


def _put_texts(value: Any, texts: Iterator[str]) -> Any:
    if isinstance(value, list):
        return [_put_texts(item, texts) for item in value]
    if not isinstance(value, dict) or "mimeType" in value:
        return value
    key = "text" if value.get("type") == LEAF and "text" in value else "value"
    if key in value and value[key] is None:
        return {**value, key: next(texts)}
    return {name: _put_texts(member, texts) for name, member in value.items()}


# ---------------------------------------------------------------- what VS Code displays


def lift_shown(native: Any, context: LiftContext) -> list[Placed]:
    """Returns the parts of an item that VS Code displays, with their paths in it; none for a note or an edit."""
    text = shown_text(native)
    if text is not None:
        return [(Text(text, extras=make_extras(NAME, except_texts(native), kind=None, value=None)), ())]
    kind = native.get("kind") if isinstance(native, dict) else None
    if kind == "thinking" and _is_thought({"text": native.get("value")}):
        thought = {"text": native.get("value") or "", **omit(native, "kind", "value")}
        return [(part, ("value", *path[2:]) if path[2:] else ()) for part, path in _lift_thought(thought)]
    if kind == "inlineReference" and label_of(native):
        return [(Text(f"`{label_of(native)}`", extras={NAME: native}), ())]
    if kind == SHOWN_CALL and isinstance(native.get("toolId"), str) and isinstance(native.get("toolCallId") or "", str):
        id_ = context.pairing.call(native.get("toolCallId") or None, native["toolId"])
        details = as_object(native.get("toolSpecificData"))
        raw = details.get("rawInput") if details.get("kind") == "input" else None
        rest = without_empty(native, "kind", "toolId", "toolCallId", *["toolSpecificData"] * isinstance(raw, dict))
        extra = {**rest, **({"toolSpecificData": omit(details, "rawInput")} if isinstance(raw, dict) else {})}
        arguments = raw if isinstance(raw, dict) else {}
        return [(ToolCall(id_, native["toolId"], arguments, extras=make_extras(NAME, extra)), ())]
    return []


def shown_text(native: Any) -> str | None:
    """Returns the text of an item if it is Markdown; None for any other."""
    if not isinstance(native, dict):
        return native if isinstance(native, str) else None
    content = native.get("content") if native.get("kind") == "markdownContent" else native
    value = content.get("value") if isinstance(content, dict) and native.get("kind") in (None, "markdownContent") else 0
    return value if isinstance(value, str) else None


def except_texts(native: Any) -> Native:
    """Returns the other keys of a Markdown item, without those that have their usual values."""
    if not isinstance(native, dict):
        return {}
    rest, content = omit(native, "kind", "value"), native.get("content")
    if native.get("kind") == "markdownContent" and isinstance(content, dict):
        rest = {**omit(native, "kind", "content"), **omit(content, "value")}
    usual = {"supportThemeIcons": False, "supportHtml": False, "isTrusted": False, "uris": {}, "baseUri": None}
    return {key: value for key, value in rest.items() if key not in usual or value not in (None, usual[key])}


def label_of(native: Native) -> str | None:
    """Returns how VS Code labels a reference: its name, that of a symbol, or the last step of the path of a file."""
    target = as_object(native.get("inlineReference"))
    uri = as_object(target.get("uri")) or target
    name = as_text(native.get("name")) or as_text(target.get("name"))
    return name or (as_text(uri.get("path")) or "").rstrip("/").rpartition("/")[2] or None


def write_shown(part: Part) -> Native | None:
    """Returns the item that displays a part; None if there is none."""
    extra = get_extras(part.extras, NAME)
    if isinstance(part, Text):
        is_reference = extra.get("kind") == "inlineReference" and part.text == f"`{label_of(extra)}`"
        return extra if is_reference else {"value": part.text, **extra}
    if isinstance(part, Reasoning):
        thought = _write_thought([part])
        return {"kind": "thinking", "value": thought["text"], **omit(thought, "text")}
    if not isinstance(part, ToolCall):
        return None
    details = as_object(extra.get("toolSpecificData"))
    raw = {"toolSpecificData": {"kind": "input", **details, "rawInput": part.arguments}} if part.arguments else {}
    stated = {"kind": SHOWN_CALL, "toolId": part.name, "toolCallId": part.id}
    usual = {"invocationMessage": part.name, "isConfirmed": True, "isComplete": True}
    return {**stated, **usual, **extra, **raw}
