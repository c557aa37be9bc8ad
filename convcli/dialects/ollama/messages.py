"""The messages of Ollama's native chat: one text, thinking, pictures as base64, calls with object arguments."""

from __future__ import annotations

from typing import Any

from convcli.families.openai.calls import said
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.transcript import (
    Media,
    Message,
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

NAME = "ollama"

ROLES = {"developer": "system"}
"""Roles that no template knows."""

MESSAGE = Keys("role content thinking images tool_calls")
RESULT = Keys("role content images tool_name tool_call_id")
CALL = Keys("id type function")
FUNCTION = Keys("index name arguments")

JOINT = "\n\n"
"""What the server puts between the texts of two messages of one role (collate in template/template.go)."""

SIGNATURES = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif"}
"""Media types by the first bytes of a picture, in base64."""


def is_own(transcript: Transcript) -> bool:
    return transcript.origin is not None and transcript.origin.dialect == NAME


# ---------------------------------------------------------------- messages


def lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> list[Message]:
    pairing = Pairing(document)
    origin.invented = pairing.invented
    messages: list[Message] = []
    for i, native in enumerate(natives):
        message, spots = lift_message(native, pairing, origin)
        messages.append(message)
        origin.places.append(((*prefix, i), spots))
    return messages


def lower_messages(transcript: Transcript) -> list[Native]:
    """The messages with the results directly behind their calls; a turn of several texts is several messages."""
    spellings = transcript.spelling(NAME)
    own = is_own(transcript)
    messages = active(transcript) if own else results_first(active(transcript))
    return [native for message in messages for native in lower_message(message, spellings, own)]


def lift_message(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    if native["role"] == "tool":
        return _lift_result(native, pairing, origin)
    carried, spelling = MESSAGE.take(native)
    lifted: list[tuple[Part, Path]] = []
    if native.get("thinking"):
        lifted.append((Reasoning(native["thinking"]), ("thinking",)))
    if native.get("content"):
        lifted.append((Text(native["content"]), ("content",)))
    lifted += [(_lift_image(data), ("images", j)) for j, data in enumerate(native.get("images") or ())]
    for j, call in enumerate(native.get("tool_calls") or ()):
        lifted.append((_lift_call(call, j, pairing, origin), ("tool_calls", j)))
    message = Message(native["role"], [part for part, _ in lifted], extras=extras_of(NAME, carried))
    origin.spell(message, spelling or ({} if "content" in native else {"keys": list(native)}))
    return message, [spot for _, spot in lifted]


def lower_message(message: Message, spellings: dict[int, Spelling], own: bool) -> list[Native]:
    """One message, or several for a turn of several texts that is not of the assistant, whose calls must follow."""
    if message.role == "tool":
        return [_lower_result(message, spellings, own)]
    answers = own or message.role == "assistant"
    texts = [part.text for part in message.parts if isinstance(part, (Text, Refusal))]
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning) and answers]
    calls = [part for part in message.parts if isinstance(part, ToolCall) and answers]
    first, *more = [JOINT.join(texts)] if answers else texts or [""]
    native: Native = {"role": ROLES.get(message.role, message.role), "content": first}
    if thoughts:
        native["thinking"] = JOINT.join(thoughts)
    native |= _lower_images(message.parts)
    if calls:
        native["tool_calls"] = [_lower_call(call, spellings.get(id(call), {})) for call in calls]
    whole = MESSAGE.put(native, carried_by(message.extras, NAME), spellings.get(id(message)))
    return [whole, *({"role": native["role"], "content": text} for text in more)]


# ---------------------------------------------------------------- pictures


def _lift_image(data: str) -> Media:
    return Media("image", data=data, media_type=_type_of(data))


def _type_of(data: str) -> str | None:
    """The media type that a picture shows by its first bytes: Ollama has no field for it."""
    if data.startswith("UklGR") and data[12:16] == "RUJQ":
        return "image/webp"
    return next((name for start, name in SIGNATURES.items() if data.startswith(start)), None)


def _lower_images(parts: list[Part]) -> Native:
    images = [part.data for part in parts if isinstance(part, Media) and part.type == "image" and part.data is not None]
    return {"images": images} if images else {}


# ---------------------------------------------------------------- calls and results


def _lift_call(native: Native, index: int, pairing: Pairing, origin: Origin) -> ToolCall:
    outer, spelling = CALL.take(native)
    function = native["function"]
    inner, inner_spelling = FUNCTION.take(function)
    name = function["name"]
    call = ToolCall(pairing.call(native.get("id") or None, name), name, function.get("arguments") or {})
    odd = {key: native.get(key) for key in ("id", "type") if key == "type" or not native.get(key)}
    if not native.get("id"):
        odd["keys"] = list(native)
    if exact_json.exact(function.get("index"), index):
        odd["index"] = index
    elif function.get("index") is not None:
        inner = {"index": function["index"], **(inner or {})}
    if native.get("type") not in (None, "function"):
        outer = {"type": native["type"], **(outer or {})}
    call.extras = extras_of(NAME, {**(outer or {}), **({"function": inner} if inner else {})})
    origin.spell(call, {**(spelling or {}), **odd, **({"function": inner_spelling} if inner_spelling else {})})
    return call


def _lower_call(call: ToolCall, spelling: Spelling) -> Native:
    carried = dict(carried_by(call.extras, NAME))
    inner = carried.pop("function", None)
    function: Native = {"index": spelling["index"]} if "index" in spelling else {}
    function |= {"name": call.name, "arguments": call.arguments}
    native: Native = {
        key: value for key, value in (("id", spelling.get("id", call.id)), ("type", spelling.get("type"))) if value
    }
    native["function"] = FUNCTION.put(function, inner, spelling.get("function"))
    return CALL.put(native, carried, spelling)


def _lift_result(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    """A tool message; older clients write the name of the tool under `name`."""
    carried, spelling = RESULT.take(native)
    carried = carried or {}
    given = native.get("tool_name")
    odd: Spelling = {} if given and "content" in native else {"keys": list(native)}
    if not given:
        given = carried.pop("name") if carried.get("name") else None
        odd["named"] = "name" if given else ""
    id_ = native.get("tool_call_id")
    if not id_:
        odd["tool_call_id"] = False
    result = ToolResult(*pairing.result(id_ or None, given or None), *_lift_value(native))
    message = Message("tool", [result], extras=extras_of(NAME, carried))
    origin.spell(message, {**(spelling or {}), **odd})
    return message, [()]


def _lower_result(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
    if result is None:
        return lower_message(Message("user", message.parts), spellings, own)[0]
    spelling = spellings.get(id(message), {})
    native: Native = {"role": "tool", **_lower_value(result)}
    named = spelling.get("named", "tool_name")
    if named:
        native[named] = result.name
    if spelling.get("tool_call_id", True):
        native["tool_call_id"] = result.tool_call_id
    return RESULT.put(native, carried_by(message.extras, NAME), spelling)


def _lift_value(native: Native) -> tuple[Any, Any]:
    """Kind and value of a result."""
    text = native.get("content") or ""
    images: list[Part] = [_lift_image(data) for data in native.get("images") or ()]
    return ("multimodal", [*([Text(text)] if text else []), *images]) if images else ("text", text)


def _lower_value(result: ToolResult) -> Native:
    if result.kind != "multimodal":
        return {"content": said(result)}
    texts = [part.text for part in result.value if isinstance(part, Text)]
    return {"content": JOINT.join(texts), **_lower_images(result.value)}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own, where nothing of it gets lost."""
    read = _lift_value(_lower_value(result))
    if read == (result.kind, result.value):
        return None
    if result.kind == "multimodal" and not all(map(_is_plain, result.value)):
        return None
    return read


def _is_plain(part: Part) -> bool:
    """Text or a picture that comes back with all that it says."""
    if isinstance(part, Media):
        return part.data is not None and part == _lift_image(part.data)
    return isinstance(part, Text) and part == Text(part.text)
