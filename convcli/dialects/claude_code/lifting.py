"""Reads the rows of a Claude Code session into a transcript."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import convcli.dialects.claude_code.rows as form
from convcli.dialects.claude_code.rows import ANSWERS, CALLER, NAME, QUEUED, ROW, STREAM, TURNS
from convcli.families.anthropic.blocks import kind_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import (
    Native,
    add_extras,
    claim_names,
    get_extras,
    has_content,
    make_extras,
    objects_in,
    omit,
    set_extra_key,
)
from convcli.kit.sessions import add_event, joined
from convcli.kit.streams import apart
from convcli.model.transcript import Message, Path, Text, ToolCall, Transcript
from convcli.wire import exact_json

MAIN_KEYS = ("role", "content")
"""The keys of a message that are not facts."""
HERE, FIRST, TITLE = "#", "@", "!"
"""Aliases in the table of places: the list of rows, the first message row in it, and the title row."""


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session, of a printed stream, or of a document of the web version."""
    is_web = isinstance(document, dict)
    reader = _SessionReader(LiftContext(NAME, document), ("loglines",) if is_web else ())
    if is_web:
        other_keys = omit(document, "loglines")
        if other_keys:
            add_event(reader.context, other_keys, ())
    transcript = reader.lift(document["loglines"] if is_web else document)
    agent = getattr(document, "companion", None)
    return _complete_subagent(transcript, agent) if isinstance(agent, dict) else transcript


def _complete_subagent(transcript: Transcript, agent_file: dict[str, Any]) -> Transcript:
    """Completes the transcript of a subagent from the file next to it, which names the call that began it."""
    caller, task = agent_file.get("toolUseId"), agent_file.get("description")
    for message in transcript.messages if isinstance(caller, str) and caller else ():
        message.parent_call_id = message.parent_call_id or caller
    if transcript.title is None and isinstance(task, str) and task:
        transcript.title = task
    extras: dict[str, Any] = {**get_extras(transcript.extras, NAME), "agent": agent_file}
    transcript.extras = make_extras(NAME, extras)
    return transcript


class _SessionReader:
    """Reads the rows of one document."""

    def __init__(self, context: LiftContext, prefix: Path) -> None:
        self.context, self.prefix = context, prefix

    def lift(self, natives: list[Any]) -> Transcript:
        self.rows = list(map(_in_session, natives))
        self.kinds = form.kinds_of(self.rows)
        replaced = self._index()
        turns = {i: row for i, row in enumerate(self.rows) if i not in replaced and form.is_turn(row)}
        self.usual = form.usual([*turns.values()] or objects_in(self.rows))
        self.message_at: dict[int, Message] = {}
        """The message of each row, by row index."""
        self.begins: dict[int, Message] = {}
        bare = form.bare_rows(self.rows, self.kinds, self.usual.get("sessionId"))
        bare_rows = {*bare.values()}
        transcript = self._prompt()
        for group in joined(_key(turns[i]) if i in turns else None for i in range(len(self.rows))):
            first = group[0]
            if first in turns:
                self._turn(group)
            elif first not in bare_rows:
                add_event(self.context, natives[first], (*self.prefix, first))
        self._link(transcript)
        self._session(transcript, bare)
        return transcript

    def _index(self) -> set[int]:
        """Sets the row of each uuid: of several rows, the last that is not a copy. Returns the others."""
        self.by_uuid: dict[str, int] = {}
        replaced: set[int] = set()
        for i, row in enumerate(self.rows):
            uuid = row.get("uuid") if isinstance(row, dict) else None
            if not isinstance(uuid, str) or not uuid:
                continue
            before = self.by_uuid.setdefault(uuid, i)
            if before != i:
                is_copy = self.rows[before] == row
                replaced.add(i if is_copy else before)
                self.by_uuid[uuid] = before if is_copy else i
        return replaced

    def _session(self, transcript: Transcript, bare: dict[str, int]) -> None:
        """Sets the facts of the whole session; in a stream its first row states the directory."""
        first = next((row for row in self.rows if isinstance(row, dict)), {})
        shared_values = {key: value for key, value in self.usual.items() if value != form.ALWAYS.get(key)}
        transcript.id = shared_values.pop("sessionId", None)
        transcript.cwd = (
            shared_values.pop("cwd", None) or (first.get("cwd") if isinstance(first.get("cwd"), str) else None) or None
        )
        transcript.title = form.title_of(self.rows, self.kinds)
        transcript.extras = make_extras(NAME, {"session": shared_values} if shared_values else None)
        begin = min(self.begins, default=0)
        steps = {HERE: self.prefix[0] if self.prefix else "..", FIRST: begin, TITLE: bare.get(form.TITLE, 0)}
        self.context.origin.aliases = {name: str(step) for name, step in steps.items()}
        self.context.origin.routes |= {
            (*self.prefix, str(begin), key): (*self.prefix, i, key) for key, i in self._late(begin).items()
        }

    def _late(self, begin: int) -> dict[str, int]:
        """Returns shared values that the session's first row lacks, with the first row that states each."""
        missing = [key for key in self.usual if self.rows[begin].get(key) != self.usual[key]] if self.begins else []
        late: dict[str, int] = {}
        for i, row in enumerate(self.rows[begin:] if missing else (), begin):
            if isinstance(row, dict):
                late |= {key: i for key in missing if key not in late and row.get(key) == self.usual[key]}
        return late

    # ------------------------------------------------------------ prompt and title

    def _prompt(self) -> Transcript:
        """Puts the system text and the tools before all messages, wherever their row is."""
        transcript = self.context.transcript()
        stated = form.last_prompt(self.rows, self.kinds)
        if stated is None:
            return transcript
        i, prompt = stated
        path = (*self.prefix, i)
        if prompt.system:
            parts = [TURNS.blocks.lift(block, self.context) for block in prompt.system]
            claim_names(parts, NAME, "line")
            self.context.add(Message("system", parts), (*path, *prompt.path), prompt.part_paths)
        transcript.tools = form.lift_tools(prompt)
        self.context.origin.tools = [(*path, *prompt.at, k) for k in range(len(prompt.tools or ()))]
        return transcript

    # ------------------------------------------------------------ turns

    def _turn(self, group: list[int]) -> None:
        """Adds the message of the rows of one answer, or of a single row."""
        first = group[0]
        row, start, path = self.rows[first], len(self.context.messages), (*self.prefix, first, "message")
        native, facts = row["message"], None
        if len(group) > 1:
            content = [block for i in group for block in self.rows[i]["message"]["content"]]
            facts = self._shared_facts(group)
            native = {"role": row["type"], "content": content, **facts}
        elif native.get("role") != row["type"]:
            native = {**native, "role": row["type"]}
        if "attachment" in row and form.is_queued(row):
            self.context.origin.routes[(*path, "content")] = (*path[:-1], "attachment", "prompt")
        ANSWERS.lift(native, path, self.context)
        message = self.context.messages[start]
        self.begins[first] = self.message_at[first] = message
        other_keys = self._row_extras(row, message, facts)
        if other_keys or message.extras is not None:
            add_extras(message, NAME, None, row=other_keys)
        for each in self.context.messages[start:]:
            for part in each.parts:
                if part.extras is not None:  # few have any
                    claim_names([part], NAME, "line")
        if facts is not None:
            self._later_rows(group, path, start, facts, other_keys)

    def _later_rows(self, group: list[int], path: Path, start: int, facts: Native, of_first: Native) -> None:
        """Adds the paths and the extras of the other rows of an answer; `of_first` are the extras of its first row."""
        message = self.context.messages[start]
        places = [self._part_path(path, i, k) for i in group for k in range(len(self.rows[i]["message"]["content"]))]
        self.context.origin.places[start] = (path, places)
        at = 0
        for before, i in pairwise(group):
            self.message_at[i], row = message, self.rows[i]
            at += len(self.rows[before]["message"]["content"])
            line = self._row_extras(row, Message("event", []), facts)
            line |= {key: row[key] for key in form.STATED if row.get(key) not in (None, "", message.created_at)}
            repeated = [key for key in form.OF_ANSWER if key in line and key in of_first and line[key] == of_first[key]]
            part = message.parts[at]
            add_extras(part, NAME, None, line=omit(line, *repeated))

    def _part_path(self, path: Path, i: int, k: int) -> Path:
        inside = ("content", k)
        return inside if (*self.prefix, i) == path[:-1] else apart(path, (*self.prefix, i, "message", *inside))

    def _shared_facts(self, group: list[int]) -> Native:
        """Returns the facts of an answer. If its rows differ, the last one counts."""
        facts: Native = {}
        first = (*self.prefix, group[0], "message")
        for i in group:
            for key, value in _facts_of(self.rows[i]["message"]).items():
                if i != group[0] and not exact_json.exact(facts.get(key), value):
                    self.context.origin.routes[(*first, key)] = (*self.prefix, i, "message", key)
                facts[key] = value
        return facts

    def _row_extras(self, row: Native, message: Message, facts: Native | None) -> Native:
        """Returns what a row states and neither its message nor most other rows state. `facts` are those of an answer
        with several rows."""
        extra = ROW.lift(row, message, self.usual) or {}
        if extra and extra.get("isSidechain") is True and row.get(CALLER):
            del extra["isSidechain"]
        parent, logical = row.get("parentUuid"), row.get("logicalParentUuid")
        if parent is not None and parent not in self.by_uuid:
            extra["parentUuid"] = parent
        if logical is not None and (parent is not None or logical not in self.by_uuid):
            extra["logicalParentUuid"] = logical
        stated = row["message"]
        differ = {} if facts is None else _different(stated, facts)
        if stated.get("role") not in (None, row["type"]):
            differ["role"] = stated["role"]
        return {**extra, "message": differ} if differ else extra

    # ------------------------------------------------------------ links

    def _link(self, transcript: Transcript) -> None:
        """Links each message to its predecessor. Events are skipped, and a compaction cuts only what is sent."""
        placed = [(self.rows[i], one) for i, one in self.begins.items() if one.id is not None]
        index = {id(one): k for k, (_, one) in enumerate(placed)}
        linked = any(row.get(key) in self.by_uuid for row, _ in placed for key in form.LINKS)
        parents: list[int | None] = []
        unnamed: set[int] = set()
        for k, (row, message) in enumerate(placed):
            parent, is_root = self._ancestor(row)
            parents.append(None if parent is None else index.get(id(parent)))
            if parents[k] is None and not (is_root and linked and message.replaces is None):
                unnamed.add(k)
        messages = [message for _, message in placed]
        if unnamed:
            runs = [str((form.is_aside(one), row.get("agentId"), row.get(CALLER))) for row, one in placed]
            _follow(parents, unnamed, runs)
        _call(messages, parents)
        parents, transcript.head = form.settle_branches(messages, parents)
        if linked or transcript.head is not None:
            for message, parent_index in zip(messages, parents, strict=True):
                message.parent_id = None if parent_index is None else messages[parent_index].id

    def _ancestor(self, row: Native) -> tuple[Message | None, bool]:
        """Returns the message that a row follows, through events.

        If there is none, also returns whether the row states that it follows nothing.
        """
        seen: set[int] = set()
        while True:
            uuid = row.get("parentUuid")
            uuid = row.get("logicalParentUuid") if uuid is None else uuid
            i = self.by_uuid.get(uuid) if isinstance(uuid, str) else None
            if i is None or i in seen:
                return None, uuid is None and "parentUuid" in row
            if i in self.message_at:
                return self.message_at[i], False
            seen.add(i)
            row = self.rows[i]


def _follow(parents: list[int | None], unnamed: set[int], runs: list[str]) -> None:
    """Links messages without a known parent to the previous message in their run, but never to their own child."""
    last: dict[str, int] = {}
    is_forward = any(parent is not None and parent > k for k, parent in enumerate(parents))
    for k, run in enumerate(runs):
        if k in unnamed:
            before = last.get(run)
            parents[k] = None if is_forward and k in _line_to(before, parents) else before
        last[run] = k


def _line_to(at: int | None, parents: list[int | None]) -> set[int]:
    line: set[int] = set()
    while at is not None and at not in line:
        line.add(at)
        at = parents[at]
    return line


def _call(messages: list[Message], parents: list[int | None]) -> None:
    """Assigns a subagent's run to the call whose prompt is its first message."""
    if not any(map(form.is_aside, messages)):
        return
    prompts: dict[str, str] = {}
    for message, parent_index in zip(messages, parents, strict=True):
        for part in message.parts:
            prompt = part.arguments.get("prompt") if isinstance(part, ToolCall) else None
            if isinstance(part, ToolCall) and isinstance(prompt, str):
                prompts[prompt] = part.id
        if not form.is_aside(message) or message.parent_call_id is not None:
            continue
        first = message.parts[0] if message.parts else None
        inherited = messages[parent_index].parent_call_id if parent_index is not None else None
        message.parent_call_id = inherited or (prompts.get(first.text) if isinstance(first, Text) else None)
        if message.parent_call_id is not None:
            message.extras = set_extra_key(message.extras, NAME, "row", omit(form.row_of(message), "isSidechain"))


def _in_session(row: Any) -> Any:
    """Returns a row of a printed stream, or of a queued message, in the shape of other session rows."""
    if not isinstance(row, dict):
        return row
    if row.get("type") == "attachment":
        return _queued(row)
    if row.keys().isdisjoint(STREAM) or not form.is_turn(row):
        return row
    return {STREAM[key] if key in STREAM and STREAM[key] not in row else key: value for key, value in row.items()}


def _queued(row: Native) -> Native:
    """Returns the attachment of a queued message as the row of a message, any other attachment unchanged."""
    inner = row.get("attachment")
    if not isinstance(inner, dict) or inner.get("type") != QUEUED or "message" in row:
        return row
    message = {"role": "user", "content": inner.get("prompt")}
    turn = {**row, "type": "user", "message": message, "attachment": omit(inner, "prompt")}
    return turn if form.is_turn(turn) else row


def _different(message: Native, facts: Native) -> Native:
    """Returns the facts of a message that are not those of its answer."""
    return {
        key: value
        for key, value in message.items()
        if value is not facts.get(key, value) and has_content(value) and not exact_json.exact(value, facts[key])
    }


def _facts_of(message: Native) -> Native:
    """Returns the facts of a message other than its role and content."""
    return {
        key: value
        for key, value in message.items()
        if key not in MAIN_KEYS and (value or has_content(value)) and (key, value) != ("type", "message")
    }


def _key(row: Native) -> tuple[str, ...] | None:
    """Returns what the rows of one answer have in common; None for a row that stands alone."""
    content, id_ = row["message"]["content"], row["message"].get("id")
    if not isinstance(id_, str) or row["type"] != "assistant" or not isinstance(content, list) or not content:
        return None
    if any(kind_of(block) == "tool_result" for block in content):
        return None
    return id_, str(row.get("agentId")), str(row.get(CALLER))
