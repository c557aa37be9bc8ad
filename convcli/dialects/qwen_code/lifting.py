"""Reads Qwen Code rows as a transcript."""

from __future__ import annotations

from typing import Any

import convcli.dialects.qwen_code.rows as rows
from convcli.dialects.qwen_code.rows import COMPRESSED, EVENT, NAME, ROW
from convcli.families.google.config import lift_usage
from convcli.families.google.contents import adopt, lift_contents
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, add_extras, claim_names, get_extras, make_extras, omit
from convcli.kit.results import fail, has_failed
from convcli.kit.sessions import add_event, head_of, row_of_event
from convcli.kit.streams import apart
from convcli.model.transcript import Message, ToolResult, Transcript


def lift(document: Any) -> Transcript:
    """Reads a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    common = rows.usual(document)
    usual = {key: value for key, (_, value) in common.items()}
    located_title = rows.title_of(document)
    reader = _QwenReader(context, usual)
    for i, row in enumerate(document):
        if not _is_bare_title(document, i, located_title, usual):
            reader.read(row, i)
    row_of_key = {
        **{key: i for key, (i, _) in common.items()},
        **({rows.TITLE: located_title[0]} if located_title else {}),
    }
    context.origin.aliases |= {f"#{key}": str(i) for key, i in row_of_key.items()}
    transcript.id, transcript.cwd = usual.get("sessionId"), usual.get("cwd")
    transcript.title = located_title[1] if located_title else None
    session = omit(usual, "sessionId", "cwd")
    transcript.extras = make_extras(NAME, {"session": session} if session else None)
    linked = [
        entry for entry in transcript.messages if entry.id is not None and not rows.is_aside(row_of_event(entry, NAME))
    ]
    transcript.head = head_of([(entry.id, entry.parent_id) for entry in linked])
    adopt(context)
    return transcript


def _is_bare_title(document: list[Any], i: int, located_title: tuple[int, str] | None, usual: Native) -> bool:
    """True for the last row if it has only the title."""
    is_last = located_title is not None and located_title[0] == i == len(document) - 1 and i > 0
    return is_last and document[i] == rows.title_row(located_title[1], usual, document[i - 1])  # type: ignore[index]


class _QwenReader:
    """The state of a session's lift; `usual` has the values common to its rows."""

    def __init__(self, context: LiftContext, usual: Native) -> None:
        self.context, self.usual = context, usual
        self.open_answer: tuple[Any, int] | None = None
        """The id of the previous answer row, and the index of its message."""

    def read(self, row: Any, i: int) -> None:
        """Reads the messages of a row, or its event."""
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
        other_keys = ROW.lift(row, message, self.usual) or {}
        is_answer = any(entry.role == "tool" for entry in self.context.messages[start:])
        other_keys |= {"type": row["type"]} if row["type"] != rows.type_of(message.role, is_answer) else {}
        other_keys |= self._facts(row, message)
        role = row["message"].get("role")
        rest = {"role": role} if role not in (None, native["role"]) else {}
        add_extras(message, NAME, rest, row=other_keys)
        self._claim_lines(start)
        self._join(row, start)

    def _compaction(self, row: Native, contents: list[Native], i: int) -> None:
        """Reads the model's context after a compaction; the first message keeps the row's other keys."""
        start, history_path = len(self.context.messages), (i, "systemPayload", "compressedHistory")
        lift_contents(contents, history_path, self.context)
        self.context.origin.routes |= {(*history_path, key): (i, key) for key in row}
        first = self.context.messages[start]
        other_keys = COMPRESSED.lift(row, first, self.usual) or {}
        payload = omit(row["systemPayload"], "compressedHistory")
        other_keys |= {"systemPayload": payload} if payload else {}
        add_extras(first, NAME, None, row=other_keys)
        self._claim_lines(start)
        first.replaces = "all"

    def _claim_lines(self, start: int) -> None:
        for message in self.context.messages[start:]:
            claim_names(message.parts, NAME, "line")

    def _facts(self, row: Native, message: Message) -> Native:
        """Reads token counts and a call's status; returns the rest as extras."""
        usage, counts = lift_usage(row.get("usageMetadata") or {})
        message.usage = usage or None
        call_result = dict(row.get("toolCallResult") or {})
        result = message.parts[0] if message.role == "tool" else None
        if isinstance(result, ToolResult):
            call_result = {
                key: value for key, value in call_result.items() if (key, value) != ("callId", result.tool_call_id)
            }
            _settle(result, call_result)
            if rows.shown(result) is not None and call_result.get("resultDisplay") == rows.shown(result):
                del call_result["resultDisplay"]
        return {key: value for key, value in (("usageMetadata", counts), ("toolCallResult", call_result)) if value}

    def _join(self, row: Native, start: int) -> None:
        """Joins the rows of one answer into one message: model and counts are those of the last row."""
        messages, places = self.context.messages, self.context.origin.places
        id_ = row.get("uuid")
        if row["type"] != "assistant" or len(messages) != start + 1 or not id_ or not messages[-1].parts:
            self.open_answer = None
        elif self.open_answer is None or self.open_answer[0] != id_ or self.open_answer[1] != start - 1:
            self.open_answer = (id_, start)
        else:
            message, (path, part_paths) = messages.pop(), places.pop()
            first, known = places[-1]
            places[-1] = (
                first,
                [*(known or ()), *(apart(first, (*path, *node_path)) for node_path in part_paths or ())],
            )
            for key, fact in (("model", message.model), ("usageMetadata", message.usage)):
                if fact is not None:
                    self.context.origin.routes[(*first[:-1], key)] = (*path[:-1], key)
            _join(messages[-1], message)
            self.open_answer = (id_, start - 1)


def _join(whole: Message, message: Message) -> None:
    """Joins a row to an answer: its model and counts replace earlier ones, its other keys are extras of its first
    part."""
    stated = {"timestamp": (whole.created_at, message.created_at), "parentUuid": (whole.parent_id, message.parent_id)}
    line: Native = {key: later for key, (earlier, later) in stated.items() if later not in (None, earlier)}
    for name in ("model", "usage"):
        earlier, later = getattr(whole, name), getattr(message, name)
        line |= {f"{name}Before": earlier} if earlier is not None and later not in (None, earlier) else {}
        setattr(whole, name, earlier if later is None else later)
    extra = get_extras(message.extras, NAME)
    inner = {**extra.get("content", {}), **({"role": extra["role"]} if "role" in extra else {})}
    line |= {**extra.get("row", {}), **({"message": inner} if inner else {})}
    first = message.parts[0]
    add_extras(first, NAME, None, line=line)
    whole.parts += message.parts


def _settle(result: ToolResult, call_result: Native) -> None:
    """Sets the status of a call's result."""
    status = call_result.get("status")
    if status == "success" and not has_failed(result):
        del call_result["status"]
    elif status == "error":
        del call_result["status"]
        fail(result)
    elif status == "cancelled":
        del call_result["status"]
        result.status = status
