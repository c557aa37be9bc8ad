"""Copilot CLI: rows of a session → transcript."""

from __future__ import annotations

from typing import Any

from convcli.dialects.copilot_cli.rows import (
    ANSWER,
    DATA,
    FIRST,
    NAME,
    PRODUCER,
    RESULT,
    ROW,
    START,
    SUMMARY,
    SYSTEM,
    USER,
    Records,
    counts_of,
    id_of_start,
    is_message,
    records_of,
)
from convcli.families.google.parts import kind_of
from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, except_keys, make_extras
from convcli.kit.sessions import add_event
from convcli.kit.values import read_arguments
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


def lift_session(rows: list[Any], context: LiftContext) -> Transcript:
    """Returns the transcript of a session, or of the printed output of one."""
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
    context = except_keys(context, "cwd")
    rest = {key: value for key, value in except_keys(data).items() if PRODUCER.get(key) != value}
    rest |= {"context": context} if context else {}
    usual = {"timestamp": transcript.created_at, "id": id_of_start(transcript)}
    extras = {key: value for key, value in except_keys(row, "type", "data").items() if usual.get(key) != value}
    extras |= {"data": DATA.put(rest, None, sort=True)} if rest else {}
    transcript.extras = make_extras(NAME, {"start": FIRST.put(extras, None, sort=True)} if extras else {})


class _EventReader:
    """Lifts the rows that are messages."""

    def __init__(self, context: LiftContext, records: Records) -> None:
        self.context, self.records = context, records

    def lift(self, row: Native, i: int, before: Any) -> None:
        data, message = row["data"], Message("user", [])
        extras = ROW.lift(row, message) or {}
        extras |= {"parentId": row["parentId"]} if row.get("parentId") not in (None, before) else {}
        part_paths: list[Path] = []
        rest = self._lift_data(row["type"], data, message, part_paths)
        message.extras = make_extras(NAME, rest, row=extras)
        self.context.add(message, (i, "data"), part_paths)

    def _lift_data(self, kind: str, data: Native, message: Message, part_paths: list[Path]) -> Native:
        """Sets the role and parts of the message, and returns the extras of the data."""
        if kind == ANSWER:
            return self._answer(data, message, part_paths)
        if kind == RESULT:
            message.role, message.parent_call_id = "tool", data.get("parentToolCallId") or None
            result, rest = self._result(data)
            message.parts.append(result)
            part_paths.append(())
            return rest
        if kind == SUMMARY:
            message.parts, message.replaces = [Text(data["summaryContent"])], "all"
            part_paths.append(("summaryContent",))
            return except_keys(data, "success", "summaryContent")
        message.role = data["role"] if kind == SYSTEM else "user"
        if data["content"]:
            message.parts.append(Text(data["content"]))
            part_paths.append(("content",))
        for k, native in enumerate(data.get("attachments") or () if kind == USER else ()):
            message.parts.append(_lift_attachment(native))
            part_paths.append(("attachments", k))
        return except_keys(data, "content", "attachments" if kind == USER else "role")

    def _answer(self, data: Native, message: Message, part_paths: list[Path]) -> Native:
        message.role, message.model = "assistant", data.get("model") or None
        message.parent_call_id = data.get("parentToolCallId") or None
        usage = dict(counts_of(data, self.records))
        output = data.get("outputTokens")
        usage |= {"outputTokens": int(output)} if isinstance(output, (int, float)) else {}
        message.usage = usage or None
        if data.get("reasoningText"):
            message.parts.append(Reasoning(data["reasoningText"]))
            part_paths.append(("reasoningText",))
        if data["content"]:
            message.parts.append(Text(data["content"]))
            part_paths.append(("content",))
        for k, native in enumerate(data.get("toolRequests") or ()):
            message.parts.append(self._call(native))
            part_paths.append(("toolRequests", k))
        lifted_keys = ("content", "model", "parentToolCallId", "reasoningText", "toolRequests", "outputTokens")
        rest = except_keys(data, *lifted_keys)
        return except_keys(rest, "messageId") if rest.get("messageId") == message.id else rest

    def _call(self, native: Native) -> ToolCall:
        name, arguments = native["name"], native.get("arguments")
        id_ = self.context.pairing.call(native["toolCallId"] or None, name)
        rest = except_keys(
            native, "toolCallId", "name", "arguments", *(("type",) if native.get("type") == "function" else ())
        )
        call = ToolCall(id_, name, {})
        if isinstance(arguments, str) and native.get("type") == "custom":
            call.arguments, call.custom = custom.lift_input(arguments), True
            del rest["type"]
        elif isinstance(arguments, str):
            call.arguments, call.raw_arguments = read_arguments(arguments)
        else:
            call.arguments = arguments or {}
        is_text = isinstance(arguments, str) and not call.custom and call.raw_arguments is None
        call.extras = make_extras(NAME, rest, asText=is_text)
        return call

    def _result(self, data: Native) -> tuple[ToolResult, Native]:
        id_, name = self.context.pairing.result(data["toolCallId"] or None, None)
        rest = except_keys(data, "toolCallId", "success", "parentToolCallId", "result", "error")
        inner, failure = except_keys(data.get("result") or {}), except_keys(data.get("error") or {})
        if not data["success"]:
            result = ToolResult(id_, name, "error", failure.pop("message", None) or "")
        else:
            result = ToolResult(id_, name, "text", inner.pop("content", None) or "")
            media = [self._media(native) for native in inner.get("binaryResultsForLlm") or ()]
            known = [one for one in media if one is not None]
            if known and len(known) == len(media):
                extras = [
                    _media_extras(native, one)
                    for native, one in zip(inner.pop("binaryResultsForLlm"), known, strict=True)
                ]
                inner |= {"binaryResultsForLlm": extras} if any(extras) else {}
                result.kind, result.value = "multimodal", [*([Text(result.value)] if result.value else []), *known]
        rest |= {key: value for key, value in (("result", inner), ("error", failure)) if value}
        return result, rest

    def _media(self, native: Any) -> Media | None:
        mime = native.get("mimeType") if isinstance(native, dict) else None
        data = (
            native.get("data") or self.records.assets.get(str(native.get("assetId"))) if isinstance(mime, str) else None
        )
        return Media(kind_of(mime), data=data, media_type=mime) if isinstance(data, str) and mime else None


def _media_extras(native: Native, media: Media) -> Native:
    return except_keys(native, "mimeType", "data", *(("type",) if native.get("type") == media.type else ()))


def _lift_attachment(native: Native) -> Part:
    mime, data = native.get("mimeType"), native.get("data")
    if native.get("type") != "blob" or not (isinstance(mime, str) and mime and isinstance(data, str)):
        return Opaque(NAME, native)
    rest = except_keys(native, "type", "mimeType", "data", "displayName")
    name = native.get("displayName")
    return Media(kind_of(mime), data=data, media_type=mime, name=name or None, extras=make_extras(NAME, rest))
