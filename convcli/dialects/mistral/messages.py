"""The messages of Mistral: calls and results around content chunks."""

from __future__ import annotations

from typing import Any

from convcli.dialects.mistral.chunks import NAME, lift_chunk, lift_content, lower_chunk
from convcli.families.openai.calls import files_of, is_bare_text, lift_call, lower_call, of_message, said
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.transcript import Media, Message, Origin, Part, Path, Text, ToolCall, ToolResult, Transcript

ROLES = {"developer": "system"}
"""Roles that the API does not have."""

NO_ID = "null"
"""What the SDK writes as the id of a call that has none."""

MESSAGE = Keys("role content tool_calls prefix", carried="prefix")
RESULT = Keys("role name content tool_call_id")


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
    parts, spots = lift_content(native.get("content"), origin)
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
            chunk = lower_chunk(part, message.role, spellings, own)
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
    parts, _ = lift_content(content, origin)
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
        chunks = [lower_chunk(part, "tool", spellings, own) for part in result.value]
        known = [chunk for chunk in chunks if chunk is not None]
        return known if own and known else _content(known, {})
    text = said(result)
    return [{"type": "text", "text": text}] if spelling.get("content") == "list" else text


def _lower_file(media: Media, spelling: Spelling) -> Native | None:
    return lower_chunk(media, "user", {}, own=False)


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
    return None if native is None else lift_chunk(native, Origin(NAME))
