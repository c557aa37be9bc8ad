"""Transcripts inside a document: which values a pointer picks, with `*` for all members, and where they stand.

Traces, batch files and dumps of databases hold documents of ordinary dialects somewhere within, some of them as JSON in
a text. The files of the programs below are known by name. Formats: https://langfuse.com/docs/observability/data-model,
https://docs.smith.langchain.com, https://docs.litellm.ai/docs/proxy/logging_spec,
https://arize-ai.github.io/openinference/spec, https://opentelemetry.io/docs/specs/otlp,
https://platform.openai.com/docs/guides/batch,
https://docs.claude.com/en/docs/build-with-claude/batch-processing, https://ai.google.dev/gemini-api/docs/batch-api"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias

import msgspec

from convcli import dialects
from convcli.engine import detection, texts
from convcli.engine.enclosed import inside
from convcli.engine.foreign import LOOKS_LIKE
from convcli.files.framing import Record
from convcli.jobs.documents import Document, Item, Outer, Skipped, not_read
from convcli.model.dialect import Dialect
from convcli.model.errors import ContentError, JobError
from convcli.validation import schemas
from convcli.validation.wording import PLAIN_WORD, described, nearest, unknown
from convcli.wire import exact_json, pointers
from convcli.wire.exact_json import Position
from convcli.wire.strict_json import ABSENT

Pattern: TypeAlias = tuple[str, ...]
ALL = "*"
MESSAGES = "messages"
"""Under this key states of programs hold the messages of a transcript."""

PRESETS: dict[str, str] = {
    "langfuse": "/trace/input /trace/output /observations/*/input /observations/*/output "
    "/input /output /*/input /*/output /data/*/input /data/*/output",
    "langsmith": "/inputs /outputs /inputs/messages /inputs/messages/* /outputs/messages /outputs/message "
    "/outputs/generations/*/*/message /inputs/input /outputs/output "
    "/child_runs/*/inputs /child_runs/*/outputs /*/inputs /*/outputs",
    "litellm": "/messages /response /proxy_server_request/body /*/messages /*/response",
    "braintrust": "/input /output /*/input /*/output /events/*/input /events/*/output",
    "openinference": "/attributes/input.value /attributes/output.value "
    "/*/attributes/input.value /*/attributes/output.value",
    "otlp": "/resourceSpans/*/scopeSpans/*/spans/* /resourceLogs/*/scopeLogs/*/logRecords/*",
    "openai-batch": "/body /response/body",
    "anthropic-batch": "/params /result/message /requests/*/params",
    "gemini-batch": "/request /response",
    "openai-agents": "/span_data/input /span_data/output /*/span_data/input /*/span_data/output "
    "/data/*/span_data/input /data/*/span_data/output",
    "tau-bench": "/traj /*/traj",
    "conversations": "/conversation /conversations /*/conversation /*/conversations",
}
"""Where the files of some programs, and chat data sets, hold transcripts."""


class Picked(NamedTuple):
    """A value inside a document: its JSON Pointer, and whether it stood there as JSON in a text."""

    at: str
    value: Any
    is_text: bool


def patterns(named: Iterable[str]) -> tuple[Pattern, ...]:
    """The patterns of these pointers and presets. Raises JobError for what is neither."""
    return tuple(steps for name in named for steps in _patterns(name))


def _patterns(name: str) -> list[Pattern]:
    if name and not name.startswith("/"):
        if name not in PRESETS:
            if steps := _steps_of_path(name):
                raise JobError("usage", f'"{name}" is no pointer', help=f"say --at '{pointers.pointer(steps)}'")
            help_text = f"a pointer begins with /, and presets are {', '.join(PRESETS)}"
            raise unknown("preset", name, list(PRESETS), help_text)
        return [pointers.steps(each) for each in PRESETS[name].split()]
    if not name:
        raise JobError("usage", "--at wants a pointer", help="say --at '/observations/*/input'")
    return [pointers.steps(name)]


def _steps_of_path(name: str) -> list[str]:
    """The steps of a pointer without its first slash, or of a path of JSONPath or jq; none for a mere name."""
    steps = re.findall(r"[^/.$\[\]'\"]+", name.replace("[]", f"[{ALL}]"))
    return steps if re.search(r"[/.$\[]", name) else []


def picks(document: Any, wanted: Iterable[Pattern]) -> list[Picked]:
    """The values that the patterns pick, each once, in the order of the document; none of them is null."""
    paths = {path: value for pattern in wanted for path, value in _picked(document, (), pattern)}
    order, found = exact_json.Order(document), {pointers.pointer(path): value for path, value in paths.items()}
    return [_opened(at, found[at]) for at in sorted(found, key=order.of) if found[at] is not None]


def _picked(node: Any, path: Pattern, rest: Pattern) -> Iterator[tuple[Pattern, Any]]:
    """The values below a node; a step that is not there picks nothing, and a text that holds JSON is gone into."""
    if not rest:
        yield path, node
        return
    step, *more = rest
    for name, child in _children(inside(node), step):
        yield from _picked(child, (*path, name), tuple(more))


def _children(node: Any, step: str) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        yield from node.items() if step == ALL else [(step, node[step])] if step in node else []
    elif isinstance(node, list):
        yield from ((str(i), child) for i, child in enumerate(node) if step in (ALL, str(i)))


def _opened(at: str, value: Any) -> Picked:
    """A text with what it holds, where that is a list or an object; a text may hold the text that does."""
    held = inside(value)
    return Picked(at, held, held is not value)


def without_members(document: Any, pattern: Pattern) -> Any:
    """A document without the members of the list that the pattern leads to."""
    name, *rest = pattern
    if not isinstance(document, dict) or name not in document:
        return [] if isinstance(document, list) else document
    return {**document, name: without_members(document[name], tuple(rest))}


def holds(document: Any, pattern: Pattern) -> bool:
    """Has a document the list of transcripts that a pattern leads to?"""
    *path, _ = pattern
    for step in path:
        document = document.get(step) if isinstance(document, dict) else None
    return isinstance(document, list)


def located(raw: bytes, found: list[Picked]) -> Callable[[str], Position]:
    """Where values stand in the text that they were picked from: all are looked for when the first is asked for.

    What is inside of a text has the place of the text. A row of a table has no text."""

    @cache
    def places() -> dict[str, Position]:
        return exact_json.locate_all(raw, {end for pick in found for end in _ways(pick.at)}) if raw else {}

    def place(at: str) -> Position:
        known = (places()[way] for way in _ways(at) if raw)
        return next((each for each in known if each[2] >= 0), exact_json.BEGIN if raw else ABSENT)

    return place


def _ways(at: str) -> Iterator[str]:
    """A pointer and those to what is around it, from the inside."""
    while at:
        yield at
        at = at.rpartition("/")[0]


class Passed(msgspec.Struct):
    """The values that were picked and are no transcripts: how many of how many, where the first is, and how many are in
    formats that are known by name."""

    total: int = 0
    count: int = 0
    first: str = ""
    foreign: Counter[str] = Counter()


class Picker:
    """Picks the documents of one input, each in a dialect of its own; what is no transcript is counted in `passed`.
    `outer` are the records out of which they were picked, where somebody wants them; `missed` says what patterns that
    lead to nothing may have meant; `first` is the number of the first record, 0 in a table."""

    def __init__(
        self, name: str, wanted: Sequence[Pattern], among: list[Dialect], *, is_named: bool, keeps_shell: bool = False
    ) -> None:
        self._keeps_shell = keeps_shell
        self._name, self._wanted, self._is_named = name, wanted, is_named
        self._among = [each for each in among if {"document", "records"}.intersection(each.framings)]
        self.passed = Passed(foreign=Counter())
        self.missed = ""
        self.outer: deque[Outer] | None = None
        self.first = 1

    def items(self, record: Record, *, is_line: bool) -> Iterator[Item]:
        """What is picked of a record; of a member of an array, which the first step of a pattern has picked."""
        if record.error is not None:
            yield not_read(record)
            return
        is_member = record.index >= 0
        prefix, wanted = "", list(self._wanted)
        if is_member:
            prefix = f"/{record.index}"
            wanted = [tuple(rest) for first, *rest in filter(None, self._wanted) if first in (ALL, str(record.index))]
        if self._keeps_shell and not holds(record.value, self._wanted[0]):
            yield Skipped(self._without_list(record), False, record.start, record.end)
            return
        begin = (record.line, record.column, record.start) if is_member else exact_json.BEGIN
        found = picks(record.value, wanted)
        place = located(record.raw, found)
        shell = without_members(record.value, self._wanted[0]) if self._keeps_shell else None
        outer = Outer(record.value, prefix)
        if self.outer is not None:
            self.outer.append(outer)
        if not (found or self.missed):
            self.missed = (self._in_member(record.value) if is_member else "") or missed(record.value, wanted)
        inside = ""
        for pick in found:
            line = record.line if is_line else 0
            if inside and pick.at.startswith(inside):
                continue  # a pattern leads into what is read already
            try:
                chosen, dialect = self._chosen(pick)
            except ContentError as error:
                self._pass(error, line, prefix + pick.at)
                continue
            inside = f"{pick.at}/"
            is_alone = isinstance(chosen.value, list) and not isinstance(pick.value, list) and chosen.at == pick.at
            value, names = texts.read(chosen.value, dialect)
            at, given, spot = prefix + chosen.at, pick.value if is_alone else chosen.value, partial(place, pick.at)
            parts = (value, record.raw, dialect, at, begin, names, given, spot, shell, outer, is_alone)
            yield Document(self._name, line, *parts)
            shell = None

    def _in_member(self, value: Any) -> str:
        """What a pattern for lines may have meant that leads somewhere in a member of an array."""
        there = next((pattern for pattern in self._wanted if picks(value, [pattern])), None)
        return "" if there is None else f"did you mean {pointers.pointer((ALL, *there))}?"

    def _without_list(self, record: Record) -> ContentError:
        where = pointers.pointer(self._wanted[0][:-1])
        message = f"there is no transcript in this record: it has no list at {where}"
        return ContentError("empty-input", message, file=self._name, line=record.line)

    def _chosen(self, pick: Picked) -> tuple[Picked, Dialect]:
        """What is read of a value, and its dialect: of the state of a program that no dialect takes its messages, and
        of a message that stands alone the list of it.

        Raises ContentError for what is no transcript."""
        self.passed.total += 1
        listed = pick.value.get(MESSAGES) if isinstance(pick.value, dict) and not self._is_named else None
        if not isinstance(listed, list):
            alone = self._alone(pick)
            return alone or (pick, self._dialect(pick.value))
        inner = Picked(f"{pick.at}/{MESSAGES}", listed, pick.is_text)
        try:
            dialect = self._dialect(pick.value)
        except ContentError as error:
            found = self._read(inner)
            if found is None:
                raise error from None
            return inner, found
        is_read = schemas.accepts(dialect.name, texts.read(pick.value, dialect)[0])
        found = None if is_read else self._read(inner)
        return (pick, dialect) if found is None else (inner, found)

    def _alone(self, pick: Picked) -> tuple[Picked, Dialect] | None:
        """The list of a message that stands alone, as answers do in traces; None for anything else."""
        is_message = isinstance(pick.value, dict) and (isinstance(pick.value.get("role"), str) or "lc" in pick.value)
        if not is_message or any(dialect.detect(pick.value) for dialect in dialects.likely([pick.value])):
            return None
        listed = pick._replace(value=[pick.value])
        dialect = self._read(listed)
        return None if dialect is None else (listed, dialect)

    def _read(self, pick: Picked) -> Dialect | None:
        """The dialect that takes a value as it is; None where none does."""
        try:
            dialect = self._dialect(pick.value)
        except ContentError:
            return None
        return dialect if schemas.accepts(dialect.name, pick.value) else None

    def _dialect(self, value: Any) -> Dialect:
        """The dialect of a value. Raises ContentError for what is no transcript."""
        if not isinstance(value, (dict, list)):
            raise detection.unrecognised([value])
        if self._is_named and self._among:
            return self._among[0]
        detection.refuse_foreign([value])
        return dialects.get(detection.detect(value, self._among).dialect)

    def _pass(self, error: ContentError, line: int, at: str) -> None:
        passed = self.passed
        passed.count += 1
        passed.first = passed.first or f"{self._name}{f':{line - 1 + self.first}' if line else ''} {at}"
        passed.foreign[error.message] += error.message.startswith(LOOKS_LIKE)


def missed(document: Any, wanted: Sequence[Pattern]) -> str:
    """What patterns that lead to nothing may have meant: what stands where the one that leads farthest ends."""
    here = inside(document)
    nowhere = ((), here, next(iter(wanted), ()))
    reached = (way for way in (_reached(here, pattern) for pattern in wanted) if set(way[0]) - {ALL})
    path, node, rest = max(reached, key=lambda way: len(way[0]), default=nowhere)
    keys = [key for key in node if PLAIN_WORD.match(key)] if isinstance(node, dict) else []
    near = nearest(rest[0], keys) if rest else None
    if near is not None:
        return f"did you mean {pointers.pointer((*path, near, *rest[1:]))}?"
    at = pointers.pointer(path) or "it"
    return f"{at} is {detection.shape(node) if keys else described(node)}"


def _reached(document: Any, pattern: Pattern) -> tuple[Pattern, Any, Pattern]:
    """How far a pattern leads along the first members, what stands there, and the rest of it."""
    node = document
    for at, step in enumerate(pattern):
        child = next(_children(node, step), None)
        if child is None:
            return pattern[:at], node, pattern[at:]
        node = inside(child[1])
    return pattern, node, ()


def no_transcripts(name: str, picker: Picker, wanted: Sequence[Pattern]) -> ContentError:
    """The error for an input in which nothing that was picked is a transcript."""
    passed = picker.passed
    if not passed.total:
        where = ", ".join(map(pointers.pointer, wanted))
        message = f"--at finds nothing in it: there is no {where}"
        return ContentError("empty-input", message, file=name, help=picker.missed)
    foreign = next(iter(+passed.foreign), "no dialect recognises them")
    message = f"none of {passed.total:,} values that --at finds is a transcript that can be read: {foreign}"
    return ContentError("unknown-dialect", message, file=name)
