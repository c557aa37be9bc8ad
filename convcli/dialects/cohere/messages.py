"""The messages of Cohere: parts, plans, calls, and results that are text or documents."""

from __future__ import annotations

from typing import Any

from convcli.families.openai import request as common
from convcli.families.openai.calls import files_of, is_bare_text, lift_call, lower_call, said
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.values import read_arguments
from convcli.model.branches import active
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json

NAME = "cohere"

ROLES = {"developer": "system"}
"""Roles that the API does not have."""

PLAN = "tool_plan"
MESSAGE = Keys("role tool_plan content tool_calls citations", carried="citations")
RESULT = Keys("role tool_call_id content")
PARTS = {"text": Keys("type text"), "thinking": Keys("type thinking"), "image_url": Keys("type image_url")}
IMAGE = Keys("url detail")


def is_own(transcript: Transcript) -> bool:
    return transcript.origin is not None and transcript.origin.dialect == NAME


# ---------------------------------------------------------------- messages


def lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> list[Message]:
    pairing = Pairing(document)
    origin.invented = pairing.invented
    messages: list[Message] = []
    for i, native in enumerate(natives):
        message, spots = lift_message(native, pairing, origin, listed=False)
        messages.append(message)
        origin.places.append(((*prefix, i), spots))
    return messages


def lower_messages(transcript: Transcript) -> list[Native]:
    """One message each, no empty one; media of results follow in a user message behind all results of the turn."""
    spellings = transcript.spelling(NAME)
    if is_own(transcript):
        return [lower_message(message, spellings, own=True, listed=False) for message in active(transcript)]
    natives: list[Native] = []
    files: list[Native] = []
    for message in results_first(active(transcript)):
        if message.role != "tool":
            natives += files
            files = []
        native = lower_message(message, spellings, own=False, listed=False)
        if native.keys() > {"role"}:
            natives.append(native)
        files += files_of(message, _lower_file)
    return natives + files


def lift_message(
    native: Native, pairing: Pairing, origin: Origin, *, listed: bool
) -> tuple[Message, list[Path] | None]:
    """A turn; `listed` where content is a list by default, as in responses."""
    if native["role"] == "tool":
        return _lift_result(native, pairing, origin)
    carried, spelling = MESSAGE.take(native)
    spelling = spelling or ({} if "content" in native else {"keys": list(native)})
    content = native.get("content")
    lifted: list[tuple[Part, Path]] = []
    if native.get(PLAN):
        lifted.append((Reasoning(native[PLAN]), (PLAN,)))
        origin.spell(lifted[0][0], {"in": PLAN})
    parts: list[Part] = [Text(content)] if content and isinstance(content, str) else []
    if isinstance(content, list):
        parts = [_lift_part(part, origin) for part in content]
    if len(parts) == 1 and is_bare_text(parts[0]) and isinstance(content, list) != listed:
        spelling["content"] = "text" if listed else "list"
    at = isinstance(content, list)
    lifted += [(part, ("content", j) if at else ("content",)) for j, part in enumerate(parts)]
    for j, call in enumerate(native.get("tool_calls") or ()):
        lifted.append((_lift_call(call, pairing, origin), ("tool_calls", j)))
    message = Message(native["role"], [part for part, _ in lifted], extras=extras_of(NAME, carried))
    origin.spell(message, spelling)
    return message, [spot for _, spot in lifted]


def lower_message(message: Message, spellings: dict[int, Spelling], own: bool, *, listed: bool) -> Native:
    if message.role == "tool":
        return _lower_result(message, spellings, own)
    spelling = spellings.get(id(message), {})
    native: Native = {"role": ROLES.get(message.role, message.role)}
    content: list[Native] = []
    calls: list[Native] = []
    for part in message.parts:
        said_of = spellings.get(id(part), {})
        if isinstance(part, ToolCall):
            if own or message.role == "assistant":
                calls.append(lower_call(part, said_of, NAME))
        elif said_of.get("in") == PLAN and isinstance(part, Reasoning):
            native[PLAN] = part.text
        else:
            written = _lower_part(part, message.role, said_of, own)
            if written is not None:
                (calls if said_of.get("in") == "tool_calls" else content).append(written)
    if content:
        bare = len(content) == 1 and content[0].keys() == {"type", "text"} and content[0]["type"] == "text"
        as_list = spelling.get("content", "list" if listed else "text") == "list"
        native["content"] = content[0]["text"] if bare and not as_list else content
    if calls:
        native["tool_calls"] = calls
    return MESSAGE.put(native, carried_by(message.extras, NAME), spelling)


# ---------------------------------------------------------------- parts


def _lift_part(native: Native, origin: Origin) -> Part:
    kind = native["type"]
    if kind not in PARTS:
        return Opaque(NAME, native)
    carried, spelling = PARTS[kind].take(native)
    carried, spelling = carried or {}, spelling or {}
    if kind == "image_url":
        body = native["image_url"]
        inner, inner_spelling = IMAGE.take(body)
        part: Part = common.media_of_url("image", body["url"], detail=body.get("detail") or None)
        carried |= {"image_url": inner} if inner else {}
        spelling |= {"image_url": inner_spelling} if inner_spelling else {}
    else:
        part = (Text if kind == "text" else Reasoning)(native[kind])
    part.extras = extras_of(NAME, carried)
    origin.spell(part, spelling)
    return part


def _lower_part(part: Part, role: str, spelling: Spelling, own: bool) -> Native | None:
    """A part; None where the API has none for it in this role, and for empty text, which it rejects."""
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME else None
    carried = carried_by(part.extras, NAME)
    if isinstance(part, Media):
        url = common.url_of_media(part) if part.type == "image" and (own or role == "user") else None
        if url is None:
            return None
        body = {"url": url} if part.detail is None else {"url": url, "detail": part.detail}
        image = IMAGE.put(body, carried.get("image_url"), spelling.get("image_url"))
        outer = {key: value for key, value in carried.items() if key != "image_url"}
        return PARTS["image_url"].put({"type": "image_url", "image_url": image}, outer, spelling)
    if isinstance(part, (ToolCall, ToolResult)) or not (own or part.text):
        return None
    if isinstance(part, (Text, Refusal)):
        return PARTS["text"].put({"type": "text", "text": part.text}, carried, spelling)
    if own or role == "assistant":
        return PARTS["thinking"].put({"type": "thinking", "thinking": part.text}, carried, spelling)
    return None


def _lower_file(media: Media, spelling: Spelling) -> Native | None:
    return _lower_part(media, "user", {}, own=False)


def _lift_call(native: Native, pairing: Pairing, origin: Origin) -> Part:
    function = native.get("function")
    if isinstance(function, dict) and isinstance(function.get("name"), str):
        return lift_call(native, pairing, origin, NAME)
    part = Opaque(NAME, native)
    origin.spell(part, {"in": "tool_calls"})
    return part


# ---------------------------------------------------------------- results


def _lift_result(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    carried, spelling = RESULT.take(native)
    id_ = native.get("tool_call_id")
    odd: Spelling = {} if id_ and "content" in native else {"keys": list(native)}
    if not id_:
        odd["tool_call_id"] = False
    kind, value, more, said_so = _lift_value(native.get("content"), origin)
    result = ToolResult(*pairing.result(id_ or None, None), kind, value, extras=extras_of(NAME, more))
    message = Message("tool", [result], extras=extras_of(NAME, carried))
    origin.spell(message, {**(spelling or {}), **odd, **said_so})
    return message, None


def _lower_result(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
    if result is None:
        return lower_message(Message("user", message.parts), spellings, own, listed=False)
    spelling = spellings.get(id(message), {})
    native: Native = {"role": "tool"}
    if spelling.get("tool_call_id", True):
        native["tool_call_id"] = result.tool_call_id
    native["content"] = _lower_value(result, spellings, own, spelling)
    return RESULT.put(native, carried_by(message.extras, NAME), spelling)


def _lift_value(content: Any, origin: Origin) -> tuple[Any, Any, Native, Spelling]:
    """Kind and value of a result, what must be carried of it, and its spelling.

    One document is an object, several are a list of objects. Beside texts a document is text that stands for it. Other
    parts have no place in a result: such a list is carried whole.
    """
    if not isinstance(content, list):
        return "text", content or "", {}, {}
    if content and all(map(_is_document, content)):
        rest = [{key: value for key, value in part["document"].items() if key != "data"} for part in content]
        value = _read_documents(content)
        same = exact_json.exact(content, _documents(value))
        return "data", value, {"documents": rest} if any(rest) else {}, {} if same else {"documents": content}
    known = [_lift_piece(part, origin) for part in content]
    parts = [part for part in known if isinstance(part, Text)]
    if len(parts) < len(known):
        return "multimodal", parts, {"content": content}, {}
    if len(parts) == 1 and is_bare_text(parts[0]) and id(parts[0]) not in origin.spellings:
        return "text", parts[0].text, {}, {"content": "list"}
    return "multimodal", parts, {}, {}


def _lower_value(result: ToolResult, spellings: dict[int, Spelling], own: bool, spelling: Spelling) -> Any:
    carried = carried_by(result.extras, NAME)
    if result.kind == "multimodal":
        if "content" in carried:
            return carried["content"]
        pieces = [_lower_piece(part, spellings) for part in result.value if isinstance(part, Text)]
        return pieces if own or len(pieces) > 1 else "".join(piece["text"] for piece in pieces)
    value = {"error": result.value} if result.kind == "error" or result.is_error else result.value
    if not isinstance(value, str) and _are_documents(value):
        if "documents" in spelling and exact_json.exact(_read_documents(spelling["documents"]), value):
            return spelling["documents"]
        return _documents(value, carried.get("documents", []))
    text = said(result)
    return [{"type": "text", "text": text}] if spelling.get("content") == "list" else text


def _is_document(part: Native) -> bool:
    body = part.get("document")
    return part["type"] == "document" and len(part) == 2 and isinstance(body, dict) and "data" in body


def _are_documents(value: Any) -> bool:
    """Can the value be said as documents? One object, or several in a list."""
    return isinstance(value, dict) or (
        isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)
    )


def _documents(value: Any, rest: list[Native] | None = None) -> list[Native]:
    """The documents that say the value, each with its own rest."""
    items = value if isinstance(value, list) else [value]
    rest = rest if rest and len(rest) == len(items) else [{} for _ in items]
    return [{"type": "document", "document": {"data": item, **more}} for item, more in zip(items, rest, strict=True)]


def _read_documents(content: list[Native]) -> Any:
    """The value that documents say; their data may be JSON in a string, as the vendor's guides write it."""
    values = [_read_data(part["document"]["data"]) for part in content]
    return values if len(values) > 1 else values[0]


def _read_data(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    value, raw = read_arguments(data)
    return {"data": data} if raw is not None else value


def _lift_piece(native: Native, origin: Origin) -> Part:
    if not _is_document(native):
        return _lift_part(native, origin)
    text = exact_json.write_text(_read_data(native["document"]["data"]))
    return Text(text, extras={NAME: {"document": native["document"]}})


def _lower_piece(part: Text, spellings: dict[int, Spelling]) -> Native:
    carried = carried_by(part.extras, NAME)
    if "document" in carried:
        return {"type": "document", "document": carried["document"]}
    return PARTS["text"].put({"type": "text", "text": part.text}, carried, spellings.get(id(part)))


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own, where nothing of it gets lost."""
    if result.kind == "text":
        return None
    if result.kind != "multimodal":
        kind, value, *_ = _lift_value(_lower_value(result, {}, False, {}), Origin(NAME))
        return None if kind == result.kind and exact_json.exact(value, result.value) else (kind, value)
    texts = [Text(part.text) for part in result.value if isinstance(part, Text)]
    files = [part for part in result.value if isinstance(part, Media)]
    if not files or any(_read_again(file) != file for file in files) or [*texts, *files] != result.value:
        return None
    return ("multimodal", texts) if len(texts) > 1 else ("text", "".join(text.text for text in texts))


def _read_again(media: Media) -> Part | None:
    native = _lower_file(media, {})
    return None if native is None else _lift_part(native, Origin(NAME))
