"""Reads the rows of a Codex rollout into a transcript."""

from __future__ import annotations

from collections import Counter
from typing import Any

import convcli.dialects.codex.rows as rows
from convcli.dialects.codex.rows import NAME, Row
from convcli.families.responses.items import kind_of
from convcli.families.responses.turns import ItemReader
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, add_extras, claim_names, get_extras, make_extras, omit, without_nulls
from convcli.kit.sessions import add_event
from convcli.kit.texts import text_of
from convcli.model.transcript import Message, Opaque, Path, Text, Transcript
from convcli.wire import exact_json

HEADER = Envelope(
    "session_id id=id forked_from_id parent_thread_id timestamp=created_at cwd=cwd "
    "runtime_workspace_roots originator cli_version source thread_source agent_nickname agent_role "
    "agent_path account_scoped model_provider instructions base_instructions= dynamic_tools= memory_mode "
    "history_mode history_base context_window multi_agent_version git"
)
BASE = Keys("text")
WRITER = {"originator": "convcli", "cli_version": "0.169.0"}
"""Header values that a transcript lacks: convcli writes the format of this version."""
DEFINITIONS = Definitions(
    "name=name namespace description=description inputSchema=parameters deferLoading", {"description": ""}
)
SHELL = "local_shell"
PROVIDER = "model_provider"
"""The provider of all answers. It is read, and kept in the header's extras. No other provider is written, because Codex
rejects a rollout whose provider is not configured on the machine."""

# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a rollout."""
    return _Reader(document).transcript


class _Reader:
    """Reads the rows of one rollout, and tracks what they state: the model, and the usage of the answers."""

    def __init__(self, document: Any) -> None:
        self.context = LiftContext(NAME, document)
        self.items = ItemReader(self.context)
        self.rows = rows.rows_of(document)
        self.gone = rows.rolled_back(self.rows)
        self.repeats = rows.repeated(self.rows, self.gone)
        self.shown: dict[int, dict[int, str]] = {}
        """The times of the screen events of each item, by row index and event number."""
        pieces = self.context.origin.pieces
        for i, (item, k) in self.repeats.items():
            row, place = self.rows[i], self.rows[item].place
            pieces.setdefault(place, [place]).append((*row.place, "timestamp"))
            times = self.shown.setdefault(item, {})
            if row.native["timestamp"] is not None:
                times[k] = row.native["timestamp"]
        self.failed = rows.failed_ids([row.payload for row in self.rows if row.kind == rows.EVENT])
        self.stated: dict[str, tuple[str, Path]] = {}
        """Values that rows state about later answers, by field, with their path."""
        self.answer: Message | None = None
        self.answer_at: Path = ()
        self.total: Counter[str] = Counter()
        self.transcript = Transcript(self.context.messages, origin=self.context.origin)
        for i, row in enumerate(self.rows):
            if i == 0 and row.kind == rows.META:
                self._header(row)
            elif i not in self.repeats:
                self._row(i, row)

    def _row(self, i: int, row: Row) -> None:
        if i in self.gone:
            self._event(row, rolled_back=True)
        elif row.kind in rows.COUNTS:
            if not self._states_usage(row):
                self._event(row)
        elif row.kind == rows.COMPACTED:
            self._compacted(row)
        elif rows.is_message(row):
            self._item(i, row)
        elif row.kind != rows.TURN or not self._states_model(i, row):
            self._event(row)

    def _event(self, row: Row, *, rolled_back: bool = False) -> None:
        if rolled_back or rows.closes(row.native):
            self.items.close()
        add_event(self.context, row.native, row.place, rows.ROW, rolled_back=rolled_back)

    def _states_model(self, i: int, row: Row) -> bool:
        """Records the model that a row states; True if it is the row that `write` would make of that."""
        model = rows.model_of(row.native)
        if not model:
            return False
        following = self.rows[i + 1] if i + 1 < len(self.rows) and i + 1 not in self.gone else row
        is_new = "model" not in self.stated or model != self.stated["model"][0]
        is_usual = row.payload == {"model": model} and row.is_bare and is_new
        self.stated["model"] = model, (*row.path, "model")
        self.items.close()
        same_time = following.native.get("timestamp") == row.native.get("timestamp")
        return is_usual and same_time and rows.is_of_answer(following)

    def _states_usage(self, row: Row) -> bool:
        """Records the usage that a row states; True if it is the row that `write` would make of that."""
        answer = self.answer
        counts = None if answer is None or answer.usage is not None else rows.counts_of(row.native)
        if answer is None or not counts:
            return False
        answer.usage = rows.usage_of(counts)
        for key, count in counts.items():
            self.total[key] += count
        steps = ("usage",) if "usage" in row.payload else ("info", "last_token_usage")
        self.context.origin.routes[(*self.answer_at, "usage")] = (*row.path, *steps)
        self.items.close()
        if not row.is_bare or row.native["timestamp"] != answer.created_at:
            return False
        usual = rows.count_row(counts, self.total)
        return row.payload == usual and exact_json.exact(row.payload, usual)

    def _header(self, row: Row) -> None:
        transcript, origin, base = self.transcript, self.context.origin, row.payload.get("base_instructions") or {}
        time, row_extras = row.envelope()
        header = HEADER.lift(row.payload, transcript) or {}
        transcript.cwd = row.payload.get("cwd")  # an empty one too: in a rollout it means unknown
        transcript.created_at = transcript.created_at or time
        if row.payload.get(PROVIDER):
            self.stated["provider"] = row.payload[PROVIDER], (*row.path, PROVIDER)
        header = {key: value for key, value in header.items() if value != WRITER.get(key)}
        if base.get("text"):
            extras = make_extras(NAME, BASE.extra(base), **dict.fromkeys(rows.ROW_KEYS))
            message = Message("system", [Text(base["text"])], created_at=transcript.created_at, extras=extras)
            self.context.add(message, (*row.path, "base_instructions"), [("text",)])
        elif base:
            header = {**header, "base_instructions": base}
        tools = row.payload.get("dynamic_tools")
        if tools is not None:
            transcript.tools = DEFINITIONS.lift_each(tools, (*row.path, "dynamic_tools"), self.context)
        steps = [str(step) for step in row.path]
        origin.aliases = dict(zip(("#", "@"), steps if len(steps) > 1 else ["..", *steps], strict=True))
        if "timestamp" not in row.payload:
            origin.routes[*steps, "timestamp"] = (*row.path[:-1], "timestamp")
        row_extras = _timed(row_extras, time, transcript.created_at)
        transcript.extras = make_extras(NAME, None, header=header, headerRow=row_extras)

    def _item(self, i: int, row: Row) -> None:
        messages = self.context.messages
        count = len(messages)
        message, k = self._add(row.payload, row.item or kind_of(row.payload), row.path, row.kind)
        is_first = len(messages) > count
        if is_first and message.role == "assistant":
            self.answer, self.answer_at = message, row.path
            for field, (_, place) in self.stated.items():
                self.context.origin.routes[*row.path, field] = place
        elif not is_first and k == len(message.parts):  # a message without content adds nothing to an answer
            self._event(row)
            return
        time, row_extras = row.envelope()
        screen_times = self.shown.get(i)
        if screen_times:
            time = time or screen_times[min(screen_times)]
        if message.created_at is None:
            message.created_at = time
        elif time != message.created_at:
            row_extras = _timed(row_extras, time, message.created_at)
        if screen_times and {*screen_times.values()} != {time}:
            row_extras["shown"] = [screen_times.get(n) for n in range(len(rows.screen(row.payload)))]
        if is_first:
            if row_extras or message.extras is not None:
                add_extras(message, NAME, None, row=row_extras, messageRow=None)
        elif row_extras:
            # keys differ so that losses are reported at the row: a part is an item, or inside an item's content
            key = "messageRow" if row.item == "message" else "row"
            add_extras(message.parts[k], NAME, None, **{key: row_extras})

    def _add(self, item: Native, kind_of_item: str, path: Path, kind: str = rows.ITEM) -> tuple[Message, int]:
        """Adds an item. Returns its message, and the index of its first part there."""
        if kind == rows.BETWEEN_AGENTS or kind_of_item in rows.WHOLE:
            self.items.close()
            value = item if kind == rows.ITEM else {"type": kind, "payload": item}
            self.context.add(Message("user", [Opaque(NAME, value)]), path, [()])
            return self.context.messages[-1], 0
        item = _readable(item, kind_of_item) if kind_of_item in READABLE else item
        message, k = self.items.add(item, path)
        for part in message.parts[k:] if k else message.parts:
            if part.extras is not None:  # few have any
                claim_names([part], NAME, *rows.ROW_KEYS)
        if k == 0 and message.role == "assistant":
            for field, (stated, _) in self.stated.items():
                setattr(message, field, stated)
        if kind_of_item == "local_shell_call":
            part = message.parts[k]
            part.extras = {NAME: {"type": "local_shell_call", **get_extras(part.extras, NAME)}}
        if message.role == "tool":
            message.parts = [rows.as_stated(message.parts[0], self.failed)]  # type: ignore[arg-type]
        return message, k

    def _compacted(self, row: Row) -> None:
        """Adds the messages in the model's context after this row: the row's items, or its summary if it has none."""
        self.items.close()
        start, natives = len(self.context.messages), row.payload.get("replacement_history") or []
        facts = without_nulls(row.payload)
        known = [k for k, native in enumerate(natives) if rows.is_known(native, kind_of(native))]
        for k in known:
            self._add(natives[k], kind_of(natives[k]), (*row.path, "replacement_history", k))
        if known and len(known) == len(natives):
            del facts["replacement_history"]
        if not known:
            text = facts.pop("message", "")
            self.context.add(Message("user", [Text(text)] if text else []), row.path, [("message",)])
        messages, places = self.context.messages[start:], self.context.origin.places
        for n, (path, part_paths) in enumerate(places[start:], start):
            steps = path[len(row.path) :]  # all messages of a compaction share its row and time
            places[n] = row.path, [(*steps, *node_path) for node_path in part_paths or ()]
        if facts.get("message") == text_of(messages[-1].parts):
            del facts["message"]
        time, row_extras = row.envelope()
        row_extras |= {"compacted": facts} if facts else {}
        for message in messages:
            message.created_at = time
            extra = row_extras if message is messages[0] else {"compacted": True}
            add_extras(message, NAME, None, row=extra, messageRow=None)
        messages[0].replaces = "all"
        self.items.close()


def _timed(row_extras: Native, time: str | None, usual: str | None) -> Native:
    """Keeps the time of the row in extras if it is not that of its message."""
    return row_extras if time in (None, usual) else {**row_extras, "timestamp": time}


READABLE = frozenset(("local_shell_call", "function_call", "custom_tool_call"))
"""The types of the items that `_readable` knows."""


def _readable(item: Native, kind: str) -> Native:
    """Returns the item as the API defines it: other programs write arguments as an object, and the name as in chat."""
    if kind == "local_shell_call":
        if not item.keys().isdisjoint(("name", "arguments")):
            return item
        call = omit(item, "action")
        return {**call, "type": "function_call", "name": SHELL, "arguments": exact_json.write_text(item["action"])}
    item = item if "name" in item else {**item, "name": item["function"]["name"]}
    arguments = item.get("arguments")
    is_text = kind == "custom_tool_call" or isinstance(arguments, str)
    return item if is_text else {**item, "arguments": exact_json.write_text(arguments or {})}
