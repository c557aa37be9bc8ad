"""Writes a transcript as the rows of a Codex rollout."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

import convcli.dialects.codex.rows as rows
from convcli.dialects.codex.lifting import BASE, DEFINITIONS, HEADER, SHELL, WRITER
from convcli.dialects.codex.rows import NAME
from convcli.families.responses.items import kind_of
from convcli.families.responses.parts import AUTO
from convcli.families.responses.turns import ItemWriter
from convcli.kit.objects import APART, Keys, Native, drop_extras, get_extras, omit
from convcli.kit.texts import text_of
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Part, ToolCall, ToolResult, Transcript

NUMBERED = Keys("timestamp ordinal")


def write(transcript: Transcript, _: Options) -> Rows:
    """Returns a rollout of the newer generation."""
    messages, extra = transcript.messages, get_extras(transcript.extras, NAME)
    header: Native = {**WRITER, **(extra.get("header") or {})}
    content: Native = {} if transcript.cwd is None else {"cwd": transcript.cwd}
    if "base_instructions" in header:
        content["base_instructions"] = header["base_instructions"]
    if messages and messages[0].role == "system":
        base = {"text": text_of(messages[0].parts)}
        content["base_instructions"] = BASE.put(base, get_extras(messages[0].extras, NAME))
        messages = messages[1:]
    if transcript.tools is not None:
        content["dynamic_tools"] = [DEFINITIONS.write(tool, NAME) for tool in transcript.tools]
    head = row(transcript.created_at, rows.META, HEADER.write(transcript, header, **content), extra.get("headerRow"))
    natives = [head, *write_rows(messages, header)]
    if rows.is_paginated(header):
        natives = [NUMBERED.put({"ordinal": i, **native}, None, sort=True) for i, native in enumerate(natives)]
    return Rows(natives)


def row(time: str | None, kind: str, payload: Native, other_keys: Native | None = None) -> Native:
    """Returns a row with its time (unless the extras have another), its type and its payload."""
    return {"timestamp": time, "type": kind, "payload": payload, **omit(other_keys or {}, APART)}


def write_rows(messages: list[Message], header: Native) -> list[Native]:
    """Returns all rows after the header."""
    writer = _Writer(messages, not rows.is_paginated(header), gone(messages))
    return [native for index in range(len(messages)) for native in writer.rows(index)]


def gone(messages: list[Message]) -> set[int]:
    """Returns the indexes of messages whose rows the user rolled back."""
    if not any(rows.is_rollback(rows.event_of(rows.own_row(message))) for message in messages):
        return set()
    writer = _Writer(messages, False, set())
    natives = [(index, native) for index in range(len(messages)) for native in writer.rows(index)]
    return {natives[i][0] for i in rows.rolled_back(rows.rows_of([native for _, native in natives]))}


class _Writer:
    """Tracks what the rows so far state, and the items of all messages."""

    def __init__(self, messages: list[Message], on_screen: bool, gone: set[int]) -> None:
        self.messages, self.on_screen, self.gone = messages, on_screen, gone
        self.items = ItemWriter(NAME, bare=True)
        self.model: str | None = None
        self.total: Counter[str] = Counter()
        self.stated = self._stated_usage()

    def _stated_usage(self) -> dict[int, dict[str, int]]:
        """Returns the usage that rows after an answer state, by the index of the answer."""
        stated: dict[int, dict[str, int]] = {}
        usage: dict[str, int] = {}
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role == "assistant" and not rows.in_compaction(message):
                stated[index], usage = usage, {}
            elif index not in self.gone:
                usage = rows.usage_of(rows.counts_of(rows.own_row(message))) or usage
        return stated

    def rows(self, index: int) -> list[Native]:
        """Returns the rows of a message; messages of a compaction share the row of the first."""
        message = self.messages[index]
        own = rows.own_row(message)
        if own is not None:
            self.model = rows.model_of(own) or self.model if index not in self.gone else self.model
            return [own]
        if message.replaces is not None:
            following = self.messages[index + 1 :]
            return [self._compacted([message, *takewhile(_continues_compaction, following)])]
        return [] if _continues_compaction(message) else self._turn(message, self.stated.get(index))

    def _turn(self, message: Message, stated: dict[str, int] | None) -> list[Native]:
        natives: list[Native] = []
        if message.role == "assistant" and message.model and message.model != self.model:
            self.model = message.model
            natives.append(row(message.created_at, rows.TURN, {"model": self.model}))
        for n, (item, part) in enumerate(self._items(message)):
            other_keys = dict(rows.row_extras_of(message if n == 0 or part is None else part))
            time, shown = other_keys.pop("timestamp", message.created_at), other_keys.pop("shown", [])
            is_item = item.get("type") != rows.BETWEEN_AGENTS
            kind, payload = (rows.ITEM, item) if is_item else (rows.BETWEEN_AGENTS, item["payload"])
            natives.append(row(time, kind, payload, other_keys))
            events = rows.screen(item) if self.on_screen else []
            times = [*shown, *[None] * len(events)]
            natives += [row(own or time, rows.EVENT, event) for own, event in zip(times, events, strict=False)]
        if message.usage:
            counts = {key: message.usage[name] for key, name in rows.COUNT_NAMES.items() if name in message.usage}
            self.total.update(counts)
            count = rows.count_row(counts, self.total)
            natives += [] if stated == message.usage else [row(message.created_at, rows.EVENT, count)]
        return natives

    def _compacted(self, messages: list[Message]) -> Native:
        items = [item for message in messages for item, _ in self._items(message)]
        other_keys = dict(rows.row_extras_of(messages[0]))
        facts = other_keys.pop("compacted", {})
        payload = {"message": text_of(messages[-1].parts), "replacement_history": items, **facts}
        return row(messages[0].created_at, rows.COMPACTED, payload, other_keys)

    def _items(self, message: Message) -> list[tuple[Native, Part | None]]:
        """Returns the items of a message, each with the message part that it begins with."""
        part = message.parts[0] if len(message.parts) == 1 else None
        if isinstance(part, Opaque) and message.role == "user" and part.value.get("type") in rows.WHOLE:
            return [(part.value, part)]
        bare = [_as_text(drop_extras(part, NAME, *rows.ROW_KEYS)) for part in message.parts]
        parts = {id(one): part for one, part in zip(bare, message.parts, strict=True)}
        start = len(self.items.items)
        self.items.message(replace(drop_extras(message, NAME, *rows.ROW_KEYS), parts=bare))
        pairs = zip(self.items.items[start:], self.items.firsts[start:], strict=True)
        return [(_as_codex(item, parts.get(id(first))), parts.get(id(first))) for item, first in pairs]


def _continues_compaction(message: Message) -> bool:
    return message.replaces is None and rows.in_compaction(message)


def _as_text(part: Any) -> Any:
    """Returns a failed result as text: the failure is stated elsewhere."""
    return replace(part, kind="text") if isinstance(part, ToolResult) and part.kind == "error" else part


def _as_codex(item: Native, part: Part | None) -> Native:
    """Returns the item as Codex writes it."""
    is_shell = isinstance(part, ToolCall) and get_extras(part.extras, NAME).get("type") == "local_shell_call"
    if is_shell and part.name == SHELL and part.raw_arguments is None:  # type: ignore[union-attr]
        call = omit(item, "name", "arguments")
        status = item.get("status", "completed")
        return {**call, "type": "local_shell_call", "status": status, "action": part.arguments}  # type: ignore[union-attr]
    for key in ("content", "output"):
        if isinstance(item.get(key), list) and kind_of(item) != "reasoning":
            item = {**item, key: [_without_detail(one) for one in item[key]]}
    return item


def _without_detail(part: Native) -> Native:
    is_default = part.get("detail") == AUTO and "image_url" in part
    return omit(part, "detail") if is_default else part
