"""The rows of a session of Copilot CLI, and the messages that some of them hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.google.parts import kind_of
from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.ids import uuid_of
from convcli.kit.objects import Keys, Native, carried_by, extras_of, omit, rest_of
from convcli.kit.results import in_words
from convcli.kit.sessions import Envelope, add_event, row_of_event, uuid_of
from convcli.kit.envelopes import Envelope
from convcli.kit.values import MEDIA_TYPES, read_arguments, write_arguments
from convcli.model.document import Rows
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

NAME = "copilot-cli"
START, USAGE, ASSET, SUMMARY = (
    "session.start",
    "session.usage_record",
    "session.binary_asset",
    "session.compaction_complete",
)
USER, SYSTEM, ANSWER, RESULT = "user.message", "system.message", "assistant.message", "tool.execution_complete"
ROW = Envelope(
    "type data id timestamp parentId agentId ephemeral",
    {"id": "id", "timestamp": "created_at"},
    content="type data parentId",
)
DATA = Keys(
    "sessionId version producer copilotVersion startTime selectedModel context toolCallId success messageId model "
    "role content transformedContent attachments toolRequests reasoningText outputTokens summaryContent result error"
)
FIRST = Keys("id timestamp parentId agentId data")
REQUEST = Keys("toolCallId name arguments type")
COUNTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
PRODUCER: Native = {"version": 1, "producer": "copilot-agent", "copilotVersion": "0.0.0"}
"""What the program wants of a session and nobody need say."""
JOINT = "\n\n"


class Records(NamedTuple):
    """What rows of their own say of others: counts by the id of a request, and the data of files by their id."""

    counts: dict[str, dict[str, int]]
    assets: dict[str, str]


def records_of(rows: list[Any]) -> Records:
    """What these rows say of others."""
    counts: dict[str, dict[str, int]] = {}
    assets: dict[str, str] = {}
    for row in rows:
        data = row.get("data") if isinstance(row, dict) else None
        inner = data.get("usage") if isinstance(data, dict) and row.get("type") == USAGE else None
        if isinstance(inner, dict) and isinstance(inner.get("apiCallId"), str):
            stated = {name: inner[name] for name in COUNTS if type(inner.get(name)) is int and inner[name] > 0}
            counts[inner["apiCallId"]] = stated
        elif isinstance(data, dict) and row.get("type") == ASSET and isinstance(data.get("assetId"), str):
            assets |= {data["assetId"]: data["data"]} if isinstance(data.get("data"), str) else {}
    return Records(counts, assets)


def records_in(transcript: Transcript) -> Records:
    """What the events of a transcript say of its messages."""
    return records_of([row_of_event(message, NAME) for message in transcript.messages if message.role == "event"])


def is_message(row: Any) -> bool:
    """Does the row hold words that a model sees?"""
    if not isinstance(row, dict) or not isinstance(row.get("data"), dict) or row.get("ephemeral") is True:
        return False
    data, kind = row["data"], row.get("type")
    if kind == SUMMARY:
        return (
            data.get("success") is True and isinstance(data.get("summaryContent"), str) and data["summaryContent"] != ""
        )
    return kind in (USER, SYSTEM, ANSWER, RESULT)


def counts_of(carried: Mapping[str, Any], records: Records) -> dict[str, int]:
    """The counts of an answer that a row of its own states."""
    id_ = carried.get("apiCallId")
    return records.counts.get(id_, {}) if isinstance(id_, str) else {}


# ---------------------------------------------------------------- lift


def lift_session(rows: list[Any], context: LiftContext) -> Transcript:
    """The transcript of a session, or of what the program printed of one."""
    transcript = context.transcript()
    reader = _EventReader(context, records_of(rows))
    before: Any = None
    for i, row in enumerate(rows):
        if i == 0 and isinstance(row, dict) and row.get("type") == START:
            _lift_start(row, transcript)
        elif is_message(row):
            reader.lift(row, i, before)
        else:
            add_event(context, row, (i,))
        if isinstance(row, dict) and row.get("ephemeral") is not True:
            before = row.get("id")
    return transcript


def _lift_start(row: Native, transcript: Transcript) -> None:
    data = dict(row["data"])
    transcript.id, transcript.created_at = data.pop("sessionId", None) or None, data.pop("startTime", None) or None
    context = data.pop("context", None) or {}
    transcript.cwd = context.get("cwd") or None
    context = rest_of(context, "cwd")
    rest = {key: value for key, value in rest_of(data).items() if PRODUCER.get(key) != value}
    rest |= {"context": context} if context else {}
    usual = {"timestamp": transcript.created_at, "id": id_of_start(transcript)}
    beside = {key: value for key, value in rest_of(row, "type", "data").items() if usual.get(key) != value}
    beside |= {"data": DATA.put(rest, None, sort=True)} if rest else {}
    transcript.extras = extras_of(NAME, {"start": FIRST.put(beside, None, sort=True)} if beside else {})


def id_of_start(transcript: Transcript) -> str:
    """The id of the first row, where nobody says another."""
    return uuid_of([transcript.id, START])


class _EventReader:
    """The rows that are messages."""

    def __init__(self, context: LiftContext, records: Records) -> None:
        self.context, self.records = context, records

    def lift(self, row: Native, i: int, before: Any) -> None:
        data, message = row["data"], Message("user", [])
        beside = ROW.lift(row, message) or {}
        beside |= {"parentId": row["parentId"]} if row.get("parentId") not in (None, before) else {}
        spots: list[Path] = []
        rest = self._lift_data(row["type"], data, message, spots)
        message.extras = extras_of(NAME, {**rest, **({"row": beside} if beside else {})})
        self.context.add(message, (i, "data"), spots)

    def _lift_data(self, kind: str, data: Native, message: Message, spots: list[Path]) -> Native:
        """Set the role and the parts of the message; what is carried of the data."""
        if kind == ANSWER:
            return self._answer(data, message, spots)
        if kind == RESULT:
            message.role, message.parent_call_id = "tool", data.get("parentToolCallId") or None
            result, rest = self._result(data)
            message.parts.append(result)
            spots.append(())
            return rest
        if kind == SUMMARY:
            message.parts, message.replaces = [Text(data["summaryContent"])], "all"
            spots.append(("summaryContent",))
            return rest_of(data, "success", "summaryContent")
        message.role = data["role"] if kind == SYSTEM else "user"
        if data["content"]:
            message.parts.append(Text(data["content"]))
            spots.append(("content",))
        for k, native in enumerate(data.get("attachments") or () if kind == USER else ()):
            message.parts.append(_lift_attachment(native))
            spots.append(("attachments", k))
        return rest_of(data, "content", "attachments" if kind == USER else "role")

    def _answer(self, data: Native, message: Message, spots: list[Path]) -> Native:
        message.role, message.model = "assistant", data.get("model") or None
        message.parent_call_id = data.get("parentToolCallId") or None
        usage = dict(counts_of(data, self.records))
        usage |= {"outputTokens": data["outputTokens"]} if type(data.get("outputTokens")) is int else {}
        message.usage = usage or None
        if data.get("reasoningText"):
            message.parts.append(Reasoning(data["reasoningText"]))
            spots.append(("reasoningText",))
        if data["content"]:
            message.parts.append(Text(data["content"]))
            spots.append(("content",))
        for k, native in enumerate(data.get("toolRequests") or ()):
            message.parts.append(self._call(native))
            spots.append(("toolRequests", k))
        said = ("content", "model", "parentToolCallId", "reasoningText", "toolRequests", "outputTokens")
        rest = rest_of(data, *said)
        return rest_of(rest, "messageId") if rest.get("messageId") == message.id else rest

    def _call(self, native: Native) -> ToolCall:
        name, arguments = native["name"], native.get("arguments")
        id_ = self.context.pairing.call(native["toolCallId"] or None, name)
        rest = rest_of(
            native, "toolCallId", "name", "arguments", *(("type",) if native.get("type") == "function" else ())
        )
        call = ToolCall(id_, name, {})
        if isinstance(arguments, str) and native.get("type") == "custom":
            call.arguments, call.custom = custom.lift_input(arguments), True
            del rest["type"]
        elif isinstance(arguments, str):
            call.arguments, call.raw_arguments = read_arguments(arguments)
            rest |= {"asText": True} if call.raw_arguments is None else {}
        else:
            call.arguments = arguments or {}
        call.extras = extras_of(NAME, rest)
        return call

    def _result(self, data: Native) -> tuple[ToolResult, Native]:
        id_, name = self.context.pairing.result(data["toolCallId"] or None, None)
        rest = rest_of(data, "toolCallId", "success", "parentToolCallId", "result", "error")
        inner, failure = rest_of(data.get("result") or {}), rest_of(data.get("error") or {})
        if not data["success"]:
            result = ToolResult(id_, name, "error", failure.pop("message", None) or "")
        else:
            result = ToolResult(id_, name, "text", inner.pop("content", None) or "")
            media = [self._media(native) for native in inner.get("binaryResultsForLlm") or ()]
            known = [one for one in media if one is not None]
            if known and len(known) == len(media):
                beside = [
                    _beside_media(native, one)
                    for native, one in zip(inner.pop("binaryResultsForLlm"), known, strict=True)
                ]
                inner |= {"binaryResultsForLlm": beside} if any(beside) else {}
                result.kind, result.value = "multimodal", [*([Text(result.value)] if result.value else []), *known]
        rest |= {key: value for key, value in (("result", inner), ("error", failure)) if value}
        return result, rest

    def _media(self, native: Any) -> Media | None:
        mime = native.get("mimeType") if isinstance(native, dict) else None
        data = (
            native.get("data") or self.records.assets.get(str(native.get("assetId"))) if isinstance(mime, str) else None
        )
        return Media(kind_of(mime), data=data, media_type=mime) if isinstance(data, str) and mime else None


def _beside_media(native: Native, media: Media) -> Native:
    return rest_of(native, "mimeType", "data", *(("type",) if native.get("type") == media.type else ()))


def _lift_attachment(native: Native) -> Part:
    mime, data = native.get("mimeType"), native.get("data")
    if native.get("type") != "blob" or not (isinstance(mime, str) and mime and isinstance(data, str)):
        return Opaque(NAME, native)
    rest = rest_of(native, "type", "mimeType", "data", "displayName")
    name = native.get("displayName")
    return Media(kind_of(mime), data=data, media_type=mime, name=name or None, extras=extras_of(NAME, rest))


# ---------------------------------------------------------------- write


def write_session(transcript: Transcript) -> Rows:
    """The rows of a session. Each names the one before it as its parent."""
    writer = _EventWriter(records_in(transcript))
    rows: list[Any] = [_write_start(transcript)]
    before = rows[0]["id"]
    for message in transcript.messages:
        row = row_of_event(message, NAME) if message.role == "event" else writer.row(message, before)
        rows.append(row)
        if isinstance(row, dict) and row.get("ephemeral") is not True:
            before = row.get("id")
    return Rows(rows)


def _write_start(transcript: Transcript) -> Native:
    carried = carried_by(transcript.extras, NAME).get("start", {})
    rest = dict(carried.get("data", {}))
    context = {**({} if transcript.cwd is None else {"cwd": transcript.cwd}), **rest.pop("context", {})}
    stated = {"sessionId": transcript.id, **PRODUCER, "startTime": transcript.created_at, **rest}
    data = DATA.put({**rest_of(stated), **({"context": context} if context else {})}, None, sort=True)
    row = {
        "type": START,
        "data": data,
        "id": id_of_start(transcript),
        "timestamp": transcript.created_at,
        "parentId": None,
    }
    return {
        **{key: value for key, value in row.items() if key == "parentId" or value is not None},
        **rest_of(carried, "data"),
    }


class _EventWriter:
    """The rows of messages."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def row(self, message: Message, before: Any) -> Native:
        carried = carried_by(message.extras, NAME)
        beside, rest = carried.get("row", {}), rest_of(carried, "row")
        kind, content = self._data(message, rest)
        data = DATA.put({**content, **omit(rest, *content)}, None, sort=True)
        return ROW.write(message, beside, type=kind, data=data, parentId=beside.get("parentId", before))

    def _data(self, message: Message, rest: Native) -> tuple[str, Native]:
        texts = [part.text for part in message.parts if isinstance(part, (Text, Refusal))]
        if message.role == "assistant":
            return ANSWER, {"content": JOINT.join(texts), **self._answer(message, rest)}
        if message.role == "tool":
            [result] = message.parts
            caller = {} if message.parent_call_id is None else {"parentToolCallId": message.parent_call_id}
            return RESULT, {**(self._result(result, rest) if isinstance(result, ToolResult) else {}), **caller}
        if message.replaces is not None:
            return SUMMARY, {"success": True, "summaryContent": JOINT.join(texts)}
        if message.role != "user":
            return SYSTEM, {"role": message.role, "content": JOINT.join(texts)}
        files = [_write_attachment(part) for part in message.parts if isinstance(part, (Media, Opaque))]
        return USER, {"content": JOINT.join(texts), **({"attachments": files} if files else {})}

    def _answer(self, message: Message, rest: Native) -> Native:
        native: Native = {"messageId": rest.get("messageId", message.id)}
        thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
        output = (message.usage or {}).get("outputTokens")
        output = None if output == counts_of(rest, self.records).get("outputTokens") else output
        calls = [_write_call(part) for part in message.parts if isinstance(part, ToolCall)]
        native |= {"model": message.model, "outputTokens": output, "parentToolCallId": message.parent_call_id}
        native |= {"reasoningText": JOINT.join(thoughts) or None, "toolRequests": calls or None}
        return rest_of(native)

    def _result(self, result: ToolResult, rest: Native) -> Native:
        native: Native = {"toolCallId": result.tool_call_id, "success": result.kind != "error"}
        inner, failure = rest.get("result", {}), rest.get("error", {})
        if result.kind == "error":
            return {**native, **({"result": inner} if inner else {}), "error": {"message": result.value, **failure}}
        native |= {"error": failure} if failure else {}
        if result.kind != "multimodal":
            return {**native, "result": {"content": result.value, **inner}}
        media = [part for part in result.value if isinstance(part, Media)]
        beside = inner.get("binaryResultsForLlm", [])
        files = [self._file(one, beside[k] if k < len(beside) else {}) for k, one in enumerate(media)]
        return {**native, "result": {"content": in_words(result), **inner, "binaryResultsForLlm": files}}

    def _file(self, media: Media, beside: Native) -> Native:
        known = self.records.assets.get(str(beside.get("assetId"))) == media.data
        return {"type": media.type, "mimeType": media.media_type, **({} if known else {"data": media.data}), **beside}


def _write_call(call: ToolCall) -> Native:
    carried = carried_by(call.extras, NAME)
    text = custom.input_of(call)
    native: Native = {"toolCallId": call.id, "name": call.name, "type": "function", "arguments": call.arguments}
    if text is not None:
        native |= {"type": "custom", "arguments": text}
    elif call.raw_arguments is not None or carried.get("asText"):
        native["arguments"] = write_arguments(call.arguments, call.raw_arguments)
    return REQUEST.put({**native, **rest_of(carried, "asText")}, None, sort=True)


def _write_attachment(part: Media | Opaque) -> Any:
    if isinstance(part, Opaque):
        return part.value
    native = {"type": "blob", "mimeType": part.media_type, "data": part.data, "displayName": part.name}
    return {**rest_of(native), **carried_by(part.extras, NAME)}


# ---------------------------------------------------------------- fit


def picture_of(media: Media, *, inside: bool) -> Media | None:
    """Media with their data and a type; inside a result only a picture."""
    if media.data is None or (inside and media.type != "image"):
        return None
    bare = Media(media.type, data=media.data, media_type=media.media_type or MEDIA_TYPES[media.type])
    bare.type = kind_of(bare.media_type)
    if not inside:
        bare.name, bare.extras = media.name or None, extras_of(NAME, carried_by(media.extras, NAME))
    elif bare.type != "image":
        return None
    return media if bare == media else bare


def joined(message: Message) -> Message:
    """One text, behind the thoughts, which are one too, and before the files or the calls."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    texts = [part for part in message.parts if isinstance(part, Text)]
    others = [part for part in message.parts if not isinstance(part, (Reasoning, Text))]
    parts: list[Part] = [*_one(thoughts), *_one(texts), *others]
    same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _one(parts: list[Any]) -> list[Any]:
    text = JOINT.join(part.text for part in parts if part.text)
    if not text:
        return []
    return parts if len(parts) == 1 else [type(parts[0])(text)]
