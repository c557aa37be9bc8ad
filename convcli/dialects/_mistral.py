"""The messages of Mistral: content chunks, calls and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.dialects import _openai as common
from convcli.dialects._openai_calls import files_of, is_bare_text, lift_call, lower_call, of_message, said
from convcli.fields import Keys, Native, Spelling, active, carried_by, extras_of, results_first
from convcli.pairing import Pairing
from convcli.transcript import (
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

NAME = "mistral"

ROLES = {"developer": "system"}
"""Roles that the API does not have."""

NO_ID = "null"
"""What the SDK writes as the id of a call that has none."""

MESSAGE = Keys("role content tool_calls prefix", carried="prefix")
RESULT = Keys("role name content tool_call_id")
IMAGE = Keys("url detail")
CHUNKS = {
    "text": Keys("type text"),
    "image_url": Keys("type image_url"),
    "document_url": Keys("type document_url document_name"),
    "file": Keys("type file_id"),
    "input_audio": Keys("type input_audio"),
    "thinking": Keys("type thinking signature closed", carried="signature closed"),
}


def is_own(transcript: Transcript) -> bool:
    return transcript.origin is not None and transcript.origin.dialect == NAME


# ---------------------------------------------------------------- messages


def lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> list[Message]:
    pairing = Pairing(document)
    origin.invented = pairing.invented
    messages: list[Message] = []
    for i, native in enumerate(natives):
        lift_one = _lift_result if native["role"] == "tool" else lift_message
        message, spots = lift_one(native, pairing, origin)
        messages.append(message)
        origin.places.append(((*prefix, i), spots))
    return messages


def lower_messages(transcript: Transcript) -> list[Native]:
    """One message each; media of results follow in a user message behind all results of the turn."""
    spellings = transcript.spelling(NAME)
    if is_own(transcript):
        return [_lower_any(message, spellings, own=True) for message in active(transcript)]
    natives: list[Native] = []
    files: list[Native] = []
    for message in results_first(active(transcript)):
        if message.role != "tool":
            natives += files
            files = []
        native = _lower_any(message, spellings, own=False)
        if native["role"] == "system" and natives and natives[-1]["role"] in ("assistant", "tool"):
            native["role"] = "user"
        natives.append(native)
        files += files_of(message, _lower_file)
    return natives + files


def _lower_any(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    return (_lower_result if message.role == "tool" else lower_message)(message, spellings, own)


def lift_message(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    carried, spelling = _take(native)
    parts, spots = _lift_content(native.get("content"), origin)
    if len(parts) == 1 and spots == [("content", 0)] and is_bare_text(parts[0]):
        spelling["content"] = "list"
    for j, call in enumerate(native.get("tool_calls") or ()):
        parts.append(_lift_call(call, pairing, origin))
        spots.append(("tool_calls", j))
    message = Message(native["role"], parts, extras=extras_of(NAME, carried))
    origin.spell(message, spelling)
    return message, spots


def _take(native: Native) -> tuple[Native, Spelling]:
    """What must be carried of a message, and its spelling; that it is no prefix says nothing."""
    carried, spelling = MESSAGE.take(native)
    spelling = spelling or ({} if "content" in native else {"keys": list(native)})
    if native.get("prefix") is False:
        carried = {key: value for key, value in (carried or {}).items() if key != "prefix"}
        spelling = {**spelling, "keys": list(native), "blank": {**spelling.get("blank", {}), "prefix": False}}
    return carried or {}, spelling


def lower_message(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    spelling = spellings.get(id(message), {})
    content: list[Native] = []
    calls: list[Native] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            if own or message.role == "assistant":
                calls.append(_lower_call(part, spellings.get(id(part), {})))
        else:
            chunk = _lower_chunk(part, message.role, spellings, own)
            if chunk is not None:
                (calls if spellings.get(id(part), {}).get("in") == "tool_calls" else content).append(chunk)
    native: Native = {"role": ROLES.get(message.role, message.role), "content": _content(content, spelling)}
    if calls:
        native["tool_calls"] = calls
    carried = carried_by(message.extras, NAME)
    return MESSAGE.put(native, of_message(carried, spelling, own), spelling)


def _content(chunks: list[Native], spelling: Spelling) -> Any:
    if not chunks:
        return ""
    only = chunks[0]
    if (
        len(chunks) == 1
        and spelling.get("content") != "list"
        and only.keys() == {"type", "text"}
        and only["type"] == "text"
    ):
        return only["text"]
    return chunks


# ---------------------------------------------------------------- chunks


def _lift_content(content: Any, origin: Origin) -> tuple[list[Part], list[Path]]:
    if isinstance(content, str):
        return ([Text(content)], [("content",)]) if content else ([], [])
    parts = [_lift_chunk(chunk, origin) for chunk in content or ()]
    return parts, [("content", j) for j in range(len(parts))]


def _lift_chunk(native: Native, origin: Origin) -> Part:
    kind = native["type"]
    if kind not in CHUNKS:
        return Opaque(NAME, native)
    carried, spelling = CHUNKS[kind].take(native)
    lifted = LIFT_CHUNK[kind](native)
    if lifted is None:
        return Opaque(NAME, native)
    part: Part = lifted[0]
    _, more, odd = lifted
    part.extras = extras_of(NAME, {**(carried or {}), **more})
    origin.spell(part, {**(spelling or {}), **odd})
    return part


def _lower_chunk(part: Part, role: str, spellings: dict[int, Spelling], own: bool) -> Native | None:
    """A chunk; None where the API has none for it in this role."""
    spelling = spellings.get(id(part), {})
    carried = carried_by(part.extras, NAME)
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME else None
    if isinstance(part, (Text, Refusal)):
        native: Native | None = {"type": "text", "text": part.text}
    elif isinstance(part, Reasoning) and (own or role == "assistant"):
        native = _lower_thinking(part, carried, spelling)
    elif isinstance(part, Media) and (own or role == "user"):
        native = LOWER_MEDIA[part.type](part, carried, spelling) if part.type in LOWER_MEDIA else None
    else:
        native = None
    if native is None:
        return None
    kind = native["type"]
    return CHUNKS[kind].put(native, {key: carried[key] for key in carried if key != kind}, spelling)


Lifted = tuple[Any, Native, Spelling]
"""A part, what must be carried of the inside of its chunk, and how that was spelled."""


def _lift_thinking(native: Native) -> Lifted:
    """The texts of all pieces; pieces that are more than text are carried whole."""
    pieces = native["thinking"]
    texts = [piece["text"] for piece in pieces if piece["type"] == "text"]
    part = Reasoning("".join(texts))
    if pieces == _pieces(part.text):
        return part, {}, {} if not pieces or list(pieces[0]) == ["type", "text"] else {"thinking": pieces}
    plain = all(piece.keys() == {"type", "text"} for piece in pieces)
    return part, *(({}, {"thinking": pieces}) if plain else ({"thinking": pieces}, {}))


def _lower_thinking(part: Reasoning, carried: Native, spelling: Spelling) -> Native:
    pieces = carried.get("thinking") or spelling.get("thinking") or _pieces(part.text)
    said = "".join(piece["text"] for piece in pieces if piece["type"] == "text")
    return {"type": "thinking", "thinking": pieces if said == part.text else _pieces(part.text)}


def _pieces(text: str) -> list[Native]:
    return [{"type": "text", "text": text}] if text else []


def _lift_image(native: Native) -> Lifted:
    body = native["image_url"]
    if isinstance(body, str):
        return common.media_of_url("image", body), {}, {}
    carried, spelling = IMAGE.take(body)
    media = common.media_of_url("image", body["url"], detail=body.get("detail") or None)
    return media, {"image_url": carried} if carried else {}, {"object": True, "image_url": spelling}


def _lower_image(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    url = common.url_of_media(media)
    if url is None:
        return None
    if media.detail is None and "image_url" not in carried and not spelling.get("object"):
        return {"type": "image_url", "image_url": url}
    body = {"url": url} if media.detail is None else {"url": url, "detail": media.detail}
    return {"type": "image_url", "image_url": IMAGE.put(body, carried.get("image_url"), spelling.get("image_url"))}


def _lift_document(native: Native) -> Lifted:
    return common.media_of_url("document", native["document_url"], name=native.get("document_name") or None), {}, {}


def _lower_document(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    if media.file_id is not None:
        return {"type": "file", "file_id": media.file_id}
    url = common.url_of_media(media)
    if url is None:
        return None
    named: Native = {} if media.name is None else {"document_name": media.name}
    return {"type": "document_url", "document_url": url, **named}


def _lift_audio(native: Native) -> Lifted | None:
    """Base64, bare or in a data URL, or the URL of a file; vLLM and the older SDK also take data and format."""
    body = native["input_audio"]
    if isinstance(body, str):
        return (common.media_of_url("audio", body) if ":" in body else Media("audio", data=body)), {}, {}
    if list(body) != ["data", "format"] or body["format"] not in common.AUDIO_FORMATS:
        return None
    return Media("audio", data=body["data"], media_type=common.AUDIO_FORMATS[body["format"]]), {}, {"object": True}


def _lower_audio(media: Media, carried: Native, spelling: Spelling) -> Native | None:
    if spelling.get("object") and media.media_type in common.AUDIO_TYPES:
        return {
            "type": "input_audio",
            "input_audio": {"data": media.data, "format": common.AUDIO_TYPES[media.media_type]},
        }
    body = media.data if media.media_type is None and media.data is not None else common.url_of_media(media)
    return None if body is None else {"type": "input_audio", "input_audio": body}


LIFT_CHUNK: dict[str, Callable[[Native], Lifted | None]] = {
    "text": lambda native: (Text(native["text"]), {}, {}),
    "image_url": _lift_image,
    "document_url": _lift_document,
    "file": lambda native: (Media("document", file_id=native["file_id"]), {}, {}),
    "input_audio": _lift_audio,
    "thinking": _lift_thinking,
}
LOWER_MEDIA = {"image": _lower_image, "audio": _lower_audio, "document": _lower_document}


# ---------------------------------------------------------------- calls and results


def _lift_call(native: Native, pairing: Pairing, origin: Origin) -> Part:
    if native.get("id") != NO_ID:
        return lift_call(native, pairing, origin, NAME)
    part = lift_call({**native, "id": None}, pairing, origin, NAME)
    origin.spell(part, {**origin.spellings.get(id(part), {}), "id": NO_ID})
    return part


def _lower_call(call: ToolCall, spelling: Spelling) -> Native:
    native = lower_call(call, spelling, NAME)
    if "id" in spelling:
        native["id"] = spelling["id"]
    return native


def _lift_result(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    """A tool message; content with chunks that are neither text nor media is carried whole."""
    carried, spelling = RESULT.take(native)
    given = native.get("tool_call_id")
    id_, name = pairing.result(None if given in (None, "", NO_ID) else given, native.get("name") or None)
    odd: Spelling = {} if id_ == given else {"tool_call_id": given}
    if not native.get("name"):
        odd["name"] = False
    content = native.get("content")
    parts, _ = _lift_content(content, origin)
    known = [part for part in parts if isinstance(part, (Text, Media))]
    result = ToolResult(id_, name, "multimodal", known)
    if not isinstance(content, list):
        result.kind, result.value = "text", content or ""
    elif len(known) < len(parts):
        carried = {**(carried or {}), "content": content}
    elif len(parts) == 1 and is_bare_text(parts[0]) and id(parts[0]) not in origin.spellings:
        result.kind, result.value = "text", parts[0].text  # type: ignore[union-attr]
        odd["content"] = "list"
    message = Message("tool", [result], extras=extras_of(NAME, carried))
    origin.spell(message, {**(spelling or {}), **odd})
    return message, None


def _lower_result(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    spelling = spellings.get(id(message), {})
    result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
    if result is None:
        return lower_message(Message("user", message.parts), spellings, own)
    native: Native = {"role": "tool"}
    if spelling.get("name", True):
        native["name"] = result.name
    native["content"] = _lower_value(result, spellings, own, spelling)
    id_ = spelling.get("tool_call_id", result.tool_call_id)
    if id_:
        native["tool_call_id"] = id_
    return RESULT.put(native, carried_by(message.extras, NAME), spelling)


def _lower_value(result: ToolResult, spellings: dict[int, Spelling], own: bool, spelling: Spelling) -> Any:
    if result.kind == "multimodal":
        chunks = [_lower_chunk(part, "tool", spellings, own) for part in result.value]
        known = [chunk for chunk in chunks if chunk is not None]
        return known if own and known else _content(known, {})
    text = said(result)
    return [{"type": "text", "text": text}] if spelling.get("content") == "list" else text


def _lower_file(media: Media, spelling: Spelling) -> Native | None:
    return _lower_chunk(media, "user", {}, own=False)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own, where nothing of it gets lost."""
    if result.kind != "multimodal":
        return ("text", said(result)) if result.kind != "text" else None
    texts = [Text(part.text) for part in result.value if isinstance(part, Text)]
    files = [part for part in result.value if isinstance(part, Media)]
    if not files or any(_read_again(file) != file for file in files) or [*texts, *files] != result.value:
        return None
    return ("multimodal", texts) if len(texts) > 1 else ("text", "".join(text.text for text in texts))


def _read_again(media: Media) -> Part | None:
    native = _lower_file(media, {})
    return None if native is None else _lift_chunk(native, Origin(NAME))
