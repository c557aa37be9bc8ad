"""Qwen Code: rows → transcript."""

from __future__ import annotations

from typing import Any

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.rows import COMPRESSED, EVENT, NAME, ROW
from convcli.families.google.config import lift_usage
from convcli.families.google.contents import adopt, lift_contents
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carried_by, extras_of, omit, with_key
from convcli.kit.results import fail, has_failed
from convcli.kit.sessions import add_event, head_of, row_of_event
from convcli.kit.streams import apart
from convcli.model.transcript import Message, ToolResult, Transcript


def lift(document: Any) -> Transcript:
    """The transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    said = rows.usual(document)
    usual = {key: value for key, (_, value) in said.items()}
    titled = rows.title_of(document)
    reader = _QwenReader(context, usual)
    for i, row in enumerate(document):
        if not _is_bare_title(document, i, titled, usual):
            reader.read(row, i)
    at = {**{key: i for key, (i, _) in said.items()}, **({rows.TITLE: titled[0]} if titled else {})}
    context.origin.renamed |= {f"#{key}": str(i) for key, i in at.items()}
    transcript.id, transcript.cwd = usual.get("sessionId"), usual.get("cwd")
    transcript.title = titled[1] if titled else None
    session = omit(usual, "sessionId", "cwd")
    transcript.extras = extras_of(NAME, {"session": session} if session else None)
    linked = [one for one in transcript.messages if one.id is not None and not rows.is_aside(row_of_event(one, NAME))]
    transcript.head = head_of([(one.id, one.parent_id) for one in linked])
    adopt(context)
    return transcript


def _is_bare_title(document: list[Any], i: int, titled: tuple[int, str] | None, usual: Native) -> bool:
    """Is it the last row, and does it say nothing but the title?"""
    is_last = titled is not None and titled[0] == i == len(document) - 1 and i > 0
    return is_last and document[i] == rows.title_row(titled[1], usual, document[i - 1])  # type: ignore[index]


class _QwenReader:
    """The rows so far; `usual` is what the session says of all of them."""

    def __init__(self, context: LiftContext, usual: Native) -> None:
        self.context, self.usual = context, usual
        self.begun: tuple[Any, int] | None = None
        """The id of the answer before this row, and the index of its message."""

    def read(self, row: Any, i: int) -> None:
        """The messages of a row, or its event."""
        contents = rows.contents_of(row)
        if rows.is_message(row):
            self._turn(row, i)
        elif contents:
            self._compaction(row, contents, i)
        else:
            add_event(self.context, row, (i,), EVENT)

    def _turn(self, row: Native, i: int) -> None:
        start = len(self.context.messages)
        native = {**row["message"], "role": rows.role_of(row["type"])}
        lift_contents(native, (i, "message"), self.context)
        message = self.context.messages[start]
        beside = self._unusual(ROW.lift(row, message))
        is_answer = any(one.role == "tool" for one in self.context.messages[start:])
        beside |= {"type": row["type"]} if row["type"] != rows.type_of(message.role, is_answer) else {}
        beside |= self._facts(row, message)
        role = row["message"].get("role")
        rest = {"role": role} if role not in (None, native["role"]) else {}
        message.extras = extras_of(NAME, {**carried_by(message.extras, NAME), **rest}, row=beside)
        self._join(row, start)

    def _unusual(self, beside: Native | None) -> Native:
        return {key: value for key, value in (beside or {}).items() if self.usual.get(key) != value}

    def _compaction(self, row: Native, contents: list[Native], i: int) -> None:
        """What the model sees from there on, of which the first message has what the row says."""
        start, at = len(self.context.messages), (i, "systemPayload", "compressedHistory")
        lift_contents(contents, at, self.context)
        self.context.origin.routes |= {(*at, key): (i, key) for key in row}
        first = self.context.messages[start]
        beside = self._unusual(COMPRESSED.lift(row, first))
        payload = omit(row["systemPayload"], "compressedHistory")
        beside |= {"systemPayload": payload} if payload else {}
        first.extras = with_key(first.extras, NAME, "row", beside)
        first.replaces = "all"

    def _facts(self, row: Native, message: Message) -> Native:
        """Counts, and what became of a call; what is no field of these is carried."""
        usage, counts = lift_usage(row.get("usageMetadata") or {})
        message.usage = usage or None
        called = dict(row.get("toolCallResult") or {})
        result = message.parts[0] if message.role == "tool" else None
        if isinstance(result, ToolResult):
            called = {key: value for key, value in called.items() if (key, value) != ("callId", result.tool_call_id)}
            _settle(result, called)
            if rows.shown(result) is not None and called.get("resultDisplay") == rows.shown(result):
                del called["resultDisplay"]
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
    first.extras = with_key(first.extras, NAME, "line", line)
    whole.parts += message.parts


def _settle(result: ToolResult, called: Native) -> None:
    """What the program says became of the call."""
    status = called.get("status")
    if status == "success" and not has_failed(result):
        del called["status"]
    elif status == "error":
        del called["status"]
        fail(result)
    elif status == "cancelled":
        del called["status"]
        result.status = status
