"""Messages, parts and tool responses of the OpenTelemetry GenAI conventions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from convcli.families.openai.messages import texts_only
from convcli.kit.blocks import BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit
from convcli.kit.results import has_failed, in_words
from convcli.kit.settings import Setting, whole
from convcli.kit.values import pairs
from convcli.model.transcript import Media, MediaKind, Message, Part, Path, Reasoning, Text, ToolResult

NAME = "otel-genai"
FINISH = pairs("stop=stop length=length content_filter=content_filter tool_call=tool_calls error=error")
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
ROLES = ("system", "user", "assistant", "tool")
MESSAGE = Keys("role parts name finish_reason")
RESPONSE = Keys("type id response result")
ANSWER = "tool_call_response"
KINDS: tuple[MediaKind, ...] = ("image", "video", "audio", "document")
ROWS = BlockRows(NAME, "type")
TYPED: dict[str, str | Setting] = {"mime_type": "media_type"}


def _rows() -> list[Any]:
    """Returns rows for media, whose kind is their modality."""
    rows = []
    for tag, key, field in (("blob", "content", "data"), ("uri", "uri", "url"), ("file", "file_id", "file_id")):
        for kind in KINDS:
            row = ROWS.media(tag, kind, f"type modality mime_type {key}", {key: field, **TYPED})
            rows.append(replace(row, read=_of_kind(row.read, kind), write=_with_kind(row.write, kind)))
    return rows


def _of_kind(read: Any, kind: MediaKind) -> Any:
    def lift(native: Native, context: LiftContext) -> Part | None:
        if native.get("modality") != kind:
            return None
        part: Part | None = read(omit(native, "modality"), context)
        return part

    return lift


def _with_kind(write: Any, kind: MediaKind) -> Any:
    def written(part: Media) -> Native | None:
        native: Native | None = write(part)
        return None if native is None else ORDER.put({**native, "modality": kind}, None, sort=True)

    return written


ORDER = Keys("type modality mime_type content uri file_id")
PARTS = ROWS.table(
    ROWS.record("text", Text(""), "type content", {"content": whole("text")}),
    ROWS.record("reasoning", Reasoning(""), "type content", {"content": whole("text")}),
    ROWS.call("tool_call", "type= id=id name=name arguments=arguments"),
    *_rows(),
)


def is_written(media: Media) -> bool:
    """True if the conventions support this media."""
    return PARTS.write(media) is not None


# ---------------------------------------------------------------- lift


def lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Reads a message for each result, and one for each run of other parts."""
    extra = MESSAGE.extra(native)
    role = native["role"]
    message = _empty_message(role if role in (*ROLES, "developer") else "user", native)
    if role not in (*ROLES, "developer"):
        extra = {**(extra or {}), "role": role}
    part_paths: list[Path] = []
    pieces: list[tuple[Message, list[Path]]] = [(message, part_paths)]
    for j, part in enumerate(native["parts"]):
        if part["type"] == ANSWER:
            pieces.append((Message("tool", [_lift_result(part, context)]), [("parts", j)]))
            continue
        if pieces[-1][0].role == "tool" and len(pieces) > 1:
            pieces.append((Message(message.role if message.role != "tool" else "user", []), []))
        pieces[-1][0].parts.append(PARTS.lift(part, context))
        pieces[-1][1].append(("parts", j))
    if len(pieces) > 1 and message == Message(message.role, []):
        del pieces[0]
    elif message.role == "tool":
        message.role = "user"
        extra = {**(extra or {}), "role": "tool"}
    first = pieces[0][0]
    first.extras = make_extras(NAME, extra)
    for piece, places in pieces:
        context.add(piece, path, places)


def _empty_message(role: str, native: Native) -> Message:
    reason = native.get("finish_reason") or None
    return Message(role, [], name=native.get("name") or None, stop_reason=FINISH.get(reason or "", reason))


def _lift_result(native: Native, context: LiftContext) -> ToolResult:
    """Reads a tool response; some frameworks call it `result`."""
    key = "response" if "response" in native else "result"
    value = native.get(key)
    extra = {name: native[name] for name in RESPONSE.extra(native) or ()}
    extra |= {"result": native["result"]} if key == "response" and native.get("result") is not None else {}
    id_, name = context.pairing.result(native.get("id") or None, None)
    kind: Any = "text" if isinstance(value, str) else "data"
    return ToolResult(id_, name, kind, value, extras=make_extras(NAME, extra))


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that are read back, if a response has no field for the result's kind."""
    result = texts_only(result)
    value = in_words(result) if result.kind == "multimodal" else result.value
    if has_failed(result):
        return "data", {"error": value}
    kind = "text" if isinstance(value, str) else "data"
    return None if kind == result.kind else (kind, value)


# ---------------------------------------------------------------- write


def write_messages(messages: Sequence[Message]) -> list[Native]:
    """Writes a message for each turn, and one for consecutive results."""
    natives: list[Native] = []
    is_open = False
    for message in messages:
        extra = dict(get_extras(message.extras, NAME))
        if message.role == "tool" and is_open and not extra:
            natives[-1]["parts"] += _parts(message)
            continue
        role = extra.pop("role", message.role)
        reason = FINISH_OF.get(message.stop_reason or "", message.stop_reason)
        stated = {"name": message.name, "finish_reason": reason}
        native = {"role": role, "parts": _parts(message), **{key: value for key, value in stated.items() if value}}
        natives.append(MESSAGE.put(native, extra))
        is_open = message.role == "tool"
    return natives


def _parts(message: Message) -> list[Native]:
    natives = (_write_result(part) if isinstance(part, ToolResult) else PARTS.write(part) for part in message.parts)
    return [native for native in natives if native is not None]


def _write_result(result: ToolResult) -> Native:
    native = {"type": ANSWER, "id": result.tool_call_id, "response": result.value}
    return RESPONSE.put(native, get_extras(result.extras, NAME))
