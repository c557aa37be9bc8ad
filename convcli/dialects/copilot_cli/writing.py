"""Copilot CLI: transcript → rows of a session."""

from __future__ import annotations

from typing import Any

from convcli.dialects.copilot_cli.rows import (
    ANSWER,
    DATA,
    JOINT,
    NAME,
    PRODUCER,
    REQUEST,
    RESULT,
    ROW,
    START,
    SUMMARY,
    SYSTEM,
    USER,
    Records,
    counts_of,
    id_of_start,
    records_in,
)
from convcli.kit import custom
from convcli.kit.objects import Native, except_keys, get_extras, omit, together
from convcli.kit.results import in_words
from convcli.kit.sessions import row_of_event
from convcli.kit.values import write_arguments
from convcli.model.document import Rows
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)


def write_session(transcript: Transcript) -> Rows:
    """Returns the rows of a session. Each names the one before it as its parent."""
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
    extra = get_extras(transcript.extras, NAME).get("start", {})
    rest = dict(extra.get("data", {}))
    context = {**({} if transcript.cwd is None else {"cwd": transcript.cwd}), **rest.pop("context", {})}
    stated = {"sessionId": transcript.id, **PRODUCER, "startTime": transcript.created_at, **rest}
    data = DATA.put({**except_keys(stated), **({"context": context} if context else {})}, None, sort=True)
    row = {
        "type": START,
        "data": data,
        "id": id_of_start(transcript),
        "timestamp": transcript.created_at,
        "parentId": None,
    }
    return {
        **{key: value for key, value in row.items() if key == "parentId" or value is not None},
        **except_keys(extra, "data"),
    }


class _EventWriter:
    """Writes the rows of messages."""

    def __init__(self, records: Records) -> None:
        self.records = records

    def row(self, message: Message, before: Any) -> Native:
        extra = get_extras(message.extras, NAME)
        row_keys, rest = extra.get("row", {}), together(except_keys(extra, "row"))
        kind, content = self._data(message, rest)
        data = DATA.put({**content, **omit(rest, *content)}, None, sort=True)
        return ROW.write(message, row_keys, type=kind, data=data, parentId=row_keys.get("parentId", before))

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
        return except_keys(native)

    def _result(self, result: ToolResult, rest: Native) -> Native:
        native: Native = {"toolCallId": result.tool_call_id, "success": result.kind != "error"}
        inner, failure = rest.get("result", {}), rest.get("error", {})
        if result.kind == "error":
            return {**native, **({"result": inner} if inner else {}), "error": {"message": result.value, **failure}}
        native |= {"error": failure} if failure else {}
        if result.kind != "multimodal":
            return {**native, "result": {"content": result.value, **inner}}
        media = [part for part in result.value if isinstance(part, Media)]
        extras = inner.get("binaryResultsForLlm", [])
        files = [self._file(one, extras[k] if k < len(extras) else {}) for k, one in enumerate(media)]
        return {**native, "result": {"content": in_words(result), **inner, "binaryResultsForLlm": files}}

    def _file(self, media: Media, extras: Native) -> Native:
        known = self.records.assets.get(str(extras.get("assetId"))) == media.data
        return {"type": media.type, "mimeType": media.media_type, **({} if known else {"data": media.data}), **extras}


def _write_call(call: ToolCall) -> Native:
    extra = get_extras(call.extras, NAME)
    text = custom.input_of(call)
    native: Native = {"toolCallId": call.id, "name": call.name, "type": "function", "arguments": call.arguments}
    if text is not None:
        native |= {"type": "custom", "arguments": text}
    elif call.raw_arguments is not None or extra.get("asText"):
        native["arguments"] = write_arguments(call.arguments, call.raw_arguments)
    return REQUEST.put(native, except_keys(extra, "asText"), sort=True)


def _write_attachment(part: Media | Opaque) -> Any:
    if isinstance(part, Opaque):
        return part.value
    native = {"type": "blob", "mimeType": part.media_type, "data": part.data, "displayName": part.name}
    return {**except_keys(native), **get_extras(part.extras, NAME)}
