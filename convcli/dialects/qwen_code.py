"""Qwen Code: sessions, a tree of rows whose messages have the parts of the Gemini API.

Specification: packages/core/src/services/{chatRecordingService,sessionService,session-api-history}.ts of
QwenLM/qwen-code, and sessions of Qwen Code 0.21; read 2026-11-23. Qwen Code 0.15.10 goes on with such a session
(`qwen --resume ID`) if its id is a UUID of version 1 to 5 and its first row names the directory; none is written yet.

Quirks
- Rows are a tree by `uuid` and `parentUuid`, through those of the program too: the branch of the last row is active.
- An answer may have several rows with one `uuid`: they are one message.
- A result is a part of its row, and `toolCallResult` says whether it failed and what the screen showed.
- What most rows say alike (session, directory, version) is said once, and by a row where it differs.
- The title is that of the last row that gives one.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.config import lift_usage
from convcli.families.google.contents import adopt, lift_contents
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carried_by, extras_of
from convcli.kit.results import has_failed
from convcli.kit.sessions import Envelope, add_event, head_of
from convcli.kit.streams import apart
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Program
from convcli.model.transcript import Message, ToolResult, Transcript
from convcli.validation.rules import links, turns

NAME = "qwen-code"
TYPES = ("user", "assistant", "tool_result")
FIELDS = {"uuid": "id", "parentUuid": "parent_id", "timestamp": "created_at"}
EVENT = Envelope("uuid parentUuid timestamp", {"uuid": "id", "parentUuid": "parent_id", "timestamp": "created_at"})
ROW = Envelope(
    "uuid parentUuid sessionId timestamp type subtype cwd version gitBranch model usageMetadata systemPayload message "
    "toolCallResult",
    {**FIELDS, "model": "model"},
    content="message usageMetadata toolCallResult type",
)
USUAL = ("sessionId", "cwd", "version", "gitBranch")


def detect(document: Any) -> Clue | None:
    """By rows that are linked and hold parts."""
    rows = [row for row in document if isinstance(row, dict)] if isinstance(document, list) else []
    if any("parentUuid" in row and _is_message(row) for row in rows):
        return Clue(98, "rows with parts and a parentUuid")
    return None


def _is_message(row: Any) -> bool:
    message = row.get("message") if isinstance(row, dict) and row.get("type") in TYPES else None
    parts = message.get("parts") if isinstance(message, dict) else None
    return isinstance(parts, list) and all(isinstance(part, dict) for part in parts)


def lift(document: Any) -> Transcript:
    """The transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    first: Native = next((row for row in document if isinstance(row, dict)), {})
    usual = {key: first[key] for key in USUAL if isinstance(first.get(key), str) and first[key]}
    reader = _QwenReader(context, usual)
    for i, row in enumerate(document):
        if _is_message(row):
            reader.lift(row, i)
        else:
            add_event(context, row, (i,), EVENT)
    transcript.id, transcript.cwd = usual.get("sessionId"), usual.get("cwd")
    transcript.title = _title(document)
    session = {key: value for key, value in usual.items() if key not in ("sessionId", "cwd")}
    transcript.extras = extras_of(NAME, {"session": session} if session else None)
    transcript.head = head_of([(one.id, one.parent_id) for one in transcript.messages if one.id is not None])
    adopt(context)
    return transcript


def _title(rows: list[Any]) -> str | None:
    payloads = [
        row.get("systemPayload") for row in rows if isinstance(row, dict) and row.get("subtype") == "custom_title"
    ]
    titles = [payload.get("customTitle") for payload in payloads if isinstance(payload, dict)]
    known = [title for title in titles if isinstance(title, str) and title]
    return known[-1] if known else None


class _QwenReader:
    """The rows that are messages; `usual` is what the first row says of the session."""

    def __init__(self, context: LiftContext, usual: Native) -> None:
        self.context, self.usual = context, usual
        self.begun: tuple[Any, int] | None = None
        """The id of the answer before this row, and the index of its message."""

    def lift(self, row: Native, i: int) -> None:
        start = len(self.context.messages)
        native = {**row["message"], "role": "model" if row["type"] == "assistant" else "user"}
        lift_contents(native, (i, "message"), self.context)
        message = self.context.messages[start]
        beside = ROW.lift(row, message) or {}
        beside = {key: value for key, value in beside.items() if self.usual.get(key) != value}
        beside |= self._facts(row, message)
        role = row["message"].get("role")
        rest = {"role": role} if role not in (None, native["role"]) else {}
        carried = {**carried_by(message.extras, NAME), **rest, **({"row": beside} if beside else {})}
        message.extras = extras_of(NAME, carried)
        self._join(row, start)

    def _facts(self, row: Native, message: Message) -> Native:
        """Counts, and what became of a call; what is no field of these is carried."""
        usage, counts = lift_usage(row.get("usageMetadata") or {})
        message.usage = usage or None
        called = dict(row.get("toolCallResult") or {})
        result = message.parts[0] if message.role == "tool" else None
        if isinstance(result, ToolResult):
            called = {key: value for key, value in called.items() if (key, value) != ("callId", result.tool_call_id)}
            _settle(result, called)
        return {key: value for key, value in (("usageMetadata", counts), ("toolCallResult", called)) if value}

    def _join(self, row: Native, start: int) -> None:
        """The rows of one answer are one message: the last one says its model and its counts."""
        messages, places = self.context.messages, self.context.origin.places
        id_ = row.get("uuid")
        if row["type"] != "assistant" or len(messages) != start + 1 or not id_ or not messages[-1].parts:
            self.begun = None
        elif self.begun is None or self.begun[0] != id_ or self.begun[1] != start - 1:
            self.begun = (id_, start)
        else:
            message, (path, spots) = messages.pop(), places.pop()
            first, known = places[-1]
            places[-1] = (first, [*(known or ()), *(apart(first, (*path, *spot)) for spot in spots or ())])
            for key, fact in (("model", message.model), ("usageMetadata", message.usage)):
                if fact is not None:
                    self.context.origin.routes[(*first[:-1], key)] = (*path[:-1], key)
            _join(messages[-1], message)
            self.begun = (id_, start - 1)


def _join(whole: Message, message: Message) -> None:
    """One more row of an answer: it says the model and the counts where it has them, and what else it says is carried
    by the first of its parts."""
    stated = {"timestamp": (whole.created_at, message.created_at), "parentUuid": (whole.parent_id, message.parent_id)}
    line: Native = {key: later for key, (earlier, later) in stated.items() if later not in (None, earlier)}
    for name in ("model", "usage"):
        earlier, later = getattr(whole, name), getattr(message, name)
        line |= {f"{name}Before": earlier} if earlier is not None and later not in (None, earlier) else {}
        setattr(whole, name, earlier if later is None else later)
    carried = carried_by(message.extras, NAME)
    inner = {**carried.get("content", {}), **({"role": carried["role"]} if "role" in carried else {})}
    line |= {**carried.get("row", {}), **({"message": inner} if inner else {})}
    first = message.parts[0]
    first.extras = extras_of(NAME, {**carried_by(first.extras, NAME), **({"line": line} if line else {})})
    whole.parts += message.parts


def _settle(result: ToolResult, called: Native) -> None:
    """What the program says became of the call."""
    status = called.get("status")
    if status == "success" and not has_failed(result):
        del called["status"]
    elif status == "error":
        del called["status"]
        if result.kind == "text":
            result.kind = "error"
        elif not has_failed(result):
            result.is_error = True
    elif status == "cancelled":
        del called["status"]
        result.status = status


DIALECT = Dialect(
    name=NAME,
    title="Qwen Code",
    aliases=("qwen",),
    specification="QwenLM/qwen-code at 011133cd, and sessions of Qwen Code 0.21; read 2026-11-23",
    framings=("events",),
    forms=("session",),
    programs=(Program(NAME, ".qwen", "*/*/chats/*.jsonl"),),
    detect=detect,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turns.decodable()),
    repeats=frozenset(("/*/usageMetadata/candidatesTokenCount",)),
    places={
        **paths(
            "id=0/sessionId cwd=0/cwd extras.session=0 extras.row=.. extras.line=../../.. "
            "message.id=../uuid message.parentId=../parentUuid "
            "message.createdAt=../timestamp message.model=../model "
            "message.usage=../usageMetadata "
            "message.usage.inputTokens=../usageMetadata/promptTokenCount "
            "message.usage.outputTokens=../usageMetadata/candidatesTokenCount "
            "message.usage.reasoningTokens=../usageMetadata/thoughtsTokenCount "
            "message.usage.cacheReadTokens=../usageMetadata/cachedContentTokenCount "
            "message.usage.totalTokens=../usageMetadata/totalTokenCount "
            "tool_call.id=functionCall/id tool_call.name=functionCall/name tool_call.arguments=functionCall/args "
            "tool_result.toolCallId=functionResponse/id tool_result.name=functionResponse/name "
            "tool_result.value=functionResponse/response tool_result.kind=functionResponse/response"
        ),
    },
    envelope=frozenset(("row", "line", "session")),
)
