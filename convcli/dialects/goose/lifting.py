"""goose: session → transcript."""

from __future__ import annotations

from types import NoneType
from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import (
    Keys,
    Native,
    add_extras,
    as_object,
    except_keys,
    get_extras,
    keep_apart,
    make_extras,
    omit,
    without_nulls,
)
from convcli.kit.pairing import UNKNOWN
from convcli.kit.results import result_of_parts
from convcli.kit.sessions import add_event
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, time_of_epoch
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

NAME = "goose"
CONVERSATION = "conversation"
SESSION = Envelope(
    "id=id working_dir=cwd name=title description user_set_name session_type created_at=created_at "
    "updated_at=updated_at extension_data conversation= message_count"
)
MESSAGE = Envelope(
    "id=id role= created content= metadata=",
    {"created": Setting("created_at", lambda value: _time(value), lambda time: _seconds(time))},
)
TEXT = Keys("type= text= annotations _meta")
IMAGE = Keys("type= data= mimeType= annotations _meta")
KNOWN = {"userVisible": True, "agentVisible": True}
"""The defaults of message metadata."""
CALLS = {"toolRequest": "toolCall", "frontendToolRequest": "toolCall"}
"""Block type of a call → key of the call."""
BARE = ("text", "image")
"""Result content types that are lifted as parts."""
SIGNERS = ("anthropic", None)


def _time(value: Any) -> str | None:
    return time_of_epoch(value) if type(value) is int else None


def _seconds(time: str | None) -> int | None:
    milliseconds = milliseconds_of_time(time)
    return None if milliseconds is None else milliseconds // 1000


def seconds_of(time: str | None) -> int:
    """Returns a time in whole seconds since 1970, by which goose sorts messages; 0 for None."""
    return _seconds(time) or 0


def is_message(row: Any) -> bool:
    """True if the row is a user or assistant message."""
    content = row.get("content") if isinstance(row, dict) else None
    is_known = isinstance(row, dict) and row.get("role") in ("user", "assistant") and "created" in row
    return is_known and isinstance(content, list) and all(isinstance(block, dict) for block in content)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    prefix: Path = (CONVERSATION,) if isinstance(document, dict) else ()
    rows: list[Any] = document[CONVERSATION] if isinstance(document, dict) else document
    begins = not prefix and bool(rows) and isinstance(rows[0], dict) and not is_message(rows[0])
    session: Native = document if isinstance(document, dict) else rows[0] if begins else {}
    context.origin.routes |= {(key,): (0, key) for key in session} if begins else {}
    for i, row in enumerate(rows):
        if row is not session:
            _lift_row(row, (*prefix, i), context)
    extra = SESSION.lift(session, transcript) or {}
    is_counted = bool(prefix) and extra.get("message_count") == len(rows)
    transcript.extras = make_extras(NAME, omit(extra, "message_count") if is_counted else extra)
    if transcript.title is None:
        _retitle(transcript, context)
    _find_summary(context.messages)
    return transcript


def _retitle(transcript: Transcript, context: LiftContext) -> None:
    """Sets the title from `description`, which older sessions have instead of a name."""
    extra = dict(get_extras(transcript.extras, NAME))
    transcript.title = extra.pop("description", None)
    transcript.extras = make_extras(NAME, extra)
    at = context.origin.routes.get(("description",), ("description",))
    context.origin.routes["name",] = at


def _lift_row(row: Any, path: Path, context: LiftContext) -> None:
    """Lifts a message per result and per run of other blocks; the first message has the row's fields."""
    if not is_message(row) or (row["content"] and all(block.get("type") in NOTICES for block in row["content"])):
        add_event(context, row, path, MESSAGE if isinstance(row, dict) else None)
        return
    metadata = as_object(row.get("metadata"))
    inference = as_object(metadata.get("inference"))
    first = len(context.messages)
    context.add(Message(row["role"], []), path, [])
    for j, block in enumerate(row["content"]):
        part = _lift_block(block, inference.get("provider"), context)
        is_result = isinstance(part, ToolResult)
        message, part_paths = context.messages[-1], context.origin.places[-1][1]
        if message.parts and (is_result or message.role == "tool"):
            message, part_paths = Message(row["role"], []), []
            context.add(message, path, part_paths)
        message.role = "tool" if is_result else message.role
        message.parts.append(part)
        part_paths.append(("content", j))  # type: ignore[union-attr]
    _lift_facts(row, metadata, inference, context.messages[first])


NOTICES = ("systemNotification", "actionRequired", "toolConfirmationRequest")
"""Block types of events."""


def _lift_facts(row: Native, metadata: Native, inference: Native, message: Message) -> None:
    extra = MESSAGE.lift(row, message) or {}
    message.model = inference.get("requestedModel") or None
    message.provider = inference.get("provider") or None
    rest = {key: value for key, value in metadata.items() if key != "inference" and value != KNOWN.get(key)}
    inner = omit(inference, "provider", "requestedModel")
    rest |= {"inference": inner} if inner else {}
    message.extras = make_extras(NAME, extra, metadata=rest)


def _find_summary(messages: list[Message]) -> None:
    """Marks the summary: the first message the model sees, if the user does not, and earlier ones are hidden."""
    hidden = 0
    for message in messages:
        metadata = get_extras(message.extras, NAME).get("metadata", {})
        if metadata.get("agentVisible") is False or message.role == "event":
            hidden += message.role != "event"
        elif message.role == "tool" and not metadata:
            continue
        else:
            if hidden and metadata.get("userVisible") is False:
                message.replaces = "all"
            return


# ---------------------------------------------------------------- blocks


def _lift_block(block: Native, provider: str | None, context: LiftContext) -> Part:
    read = BLOCKS.get(block.get("type") or "")
    if read is not None:
        return read(block, provider, context)
    return _lift_shown(block) or Opaque(NAME, block)


def _lift_shown(block: Native) -> Part | None:
    """Lifts a text or image block; None for other blocks."""
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        return Text(block["text"], extras=make_extras(NAME, TEXT.extra(block)))
    media_type = block.get("mimeType") or None
    is_image = block.get("type") == "image" and isinstance(block.get("data"), str)
    if is_image and isinstance(media_type, (str, NoneType)):
        return Media("image", data=block["data"], media_type=media_type, extras=make_extras(NAME, IMAGE.extra(block)))
    return None


def _lift_thinking(block: Native, provider: str | None, _: LiftContext) -> Part:
    rest = without_nulls(omit(block, "type", "thinking", *["signature"] * (block.get("signature") == "")))
    signature = rest.pop("signature", None) if provider in SIGNERS else None
    metadata = {"signature": signature} if signature is not None else None
    return Reasoning(block["thinking"], metadata=metadata, extras=make_extras(NAME, rest))


def _lift_redacted(block: Native, provider: str | None, _: LiftContext) -> Part:
    rest = omit(block, "type", "data")
    return Reasoning("", metadata={"redactedData": block["data"]}, extras=make_extras(NAME, rest))


def _outcome(value: Any) -> tuple[Any, Any, Native]:
    """Returns value, error and extras of an outcome; a status that contradicts its key is an extra."""
    if not isinstance(value, dict):
        return value, None, {}
    for done, failed in (("value", "error"), ("Ok", "Err")):
        if done in value or failed in value:
            usual = "error" if failed in value else "success"
            rest = omit(value, done, failed, *(("status",) if value.get("status") in (None, usual) else ()))
            return value.get(done), value.get(failed), rest
    return value, None, {}


def _lift_call(block: Native, _: str | None, context: LiftContext) -> Part:
    key = CALLS[block["type"]]
    call, error, part_extras = _outcome(block[key])
    is_known = isinstance(call, dict) and isinstance(call.get("name"), str)
    part_extras |= without_nulls({"error": error} if is_known else {"value": call if error else None})
    rest = omit(block, "id", key, "thoughtSignature", *(("type",) if block["type"] == NORMAL else ()))
    rest = keep_apart(without_nulls(rest), ("outcome", "error", "value"))
    rest |= {"outcome": part_extras} if part_extras else {}
    signature = block.get("thoughtSignature")
    metadata = {"thoughtSignature": signature} if isinstance(signature, str) and signature else None
    if not is_known:
        context.pairing.invented.add(UNKNOWN)
        id_ = context.pairing.call(block["id"] or None, UNKNOWN)
        return ToolCall(id_, UNKNOWN, {}, metadata=metadata, extras=make_extras(NAME, {**rest, "error": error or call}))
    arguments = call.get("arguments")
    inner = except_keys(call, "name", "arguments")
    rest |= {"value": inner} if inner else {}
    id_ = context.pairing.call(block["id"] or None, call["name"])
    return ToolCall(id_, call["name"], arguments or {}, metadata=metadata, extras=make_extras(NAME, rest))


NORMAL = "toolRequest"


def _lift_response(block: Native, _: str | None, context: LiftContext) -> Part:
    value, error, part_extras = _outcome(block["toolResult"])
    part_extras |= without_nulls({"value": None if error is None else value})
    rest = keep_apart(except_keys(block, "type", "id", "toolResult"), ("outcome", "content", "value"))
    rest |= {"outcome": part_extras} if part_extras else {}
    id_, name = context.pairing.result(block["id"] or None, None)
    if error is not None:
        kind, value, failed = "error" if isinstance(error, str) else "data", error, not isinstance(error, str)
        return ToolResult(id_, name, kind, value, is_error=failed or None, extras=make_extras(NAME, rest))  # type: ignore[arg-type]
    native = value if isinstance(value, dict) else {"content": value}
    inner = except_keys(native, "content", "isError")
    result = _lift_contents(id_, name, native.get("content"), native.get("isError") is True)
    rest |= {"value": inner} if inner else {}
    add_extras(result, NAME, rest)
    return result


def _lift_contents(id_: str, name: str, content: Any, failed: bool) -> ToolResult:
    """Returns a text result for one text, a multimodal one for texts and images, and data for anything else."""
    lifted = (
        [_lift_shown(one) if isinstance(one, dict) else None for one in content] if isinstance(content, list) else []
    )
    parts = [part for part in lifted if part is not None]
    if not isinstance(content, list) or len(parts) < len(lifted):
        return ToolResult(id_, name, "data", content, is_error=failed or None)
    part_extras = [get_extras(part.extras, NAME) for part in parts]
    for part in parts:
        part.extras = None
    extras = make_extras(NAME, {"content": part_extras} if any(part_extras) else None)
    result = result_of_parts(id_, name, parts, failed=failed)
    result.extras = extras
    return result


BLOCKS = {
    **dict.fromkeys(CALLS, _lift_call),
    "toolResponse": _lift_response,
    "thinking": _lift_thinking,
    "redactedThinking": _lift_redacted,
}
