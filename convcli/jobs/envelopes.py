"""Picks transcripts out of documents by pointers, in which `*` stands for all members.

Traces, batch files and database dumps contain documents of ordinary dialects, some of them as JSON strings. The layouts
of some programs are known by name (`presets`). A request and the answer next to it are one document (`pairing`)."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import msgspec

from convcli import dialects
from convcli.engine import detection, texts
from convcli.engine.containers import inside
from convcli.engine.known_formats import LOOKS_LIKE
from convcli.files.framing import Record
from convcli.jobs import pairing
from convcli.jobs.choosing import has_documents
from convcli.jobs.documents import Document, Item, Outer, Skipped, not_read, warning_of
from convcli.jobs.pairing import AnswerValue
from convcli.jobs.presets import PRESETS as PRESETS
from convcli.jobs.presets import Pattern as Pattern
from convcli.model.dialect import Dialect
from convcli.model.errors import ContentError, JobError
from convcli.model.findings import Finding
from convcli.validation import schemas
from convcli.validation.unknown import of_container
from convcli.validation.wording import SAFE_WORD, described, nearest, unknown
from convcli.wire import exact_json, pointers
from convcli.wire.exact_json import Position
from convcli.wire.strict_json import ABSENT

ALL = "*"
MESSAGES = "messages"
"""The key under which program states have their messages."""


class Picked(NamedTuple):
    """A value inside a document: its JSON Pointer, and whether it was a JSON string there."""

    at: str
    value: Any
    is_text: bool


def patterns(named: Iterable[str]) -> tuple[Pattern, ...]:
    """Returns the patterns of these pointers and presets. Raises JobError for anything else."""
    return tuple(steps for name in named for steps in _patterns(name))


def _patterns(name: str) -> list[Pattern]:
    if name and not name.startswith("/"):
        if name not in PRESETS:
            if steps := _steps_of_path(name):
                raise JobError("usage", f'"{name}" is no pointer', help=f'use --at "{pointers.pointer(steps)}"')
            help_text = f'did you mean "/{name}"? Presets: {", ".join(PRESETS)}'
            raise unknown("preset", name, list(PRESETS), help_text)
        return PRESETS[name].patterns
    if not name:
        raise JobError("usage", "--at needs a pointer", help='use --at "/observations/*/input"')
    return [pointers.steps(name)]


def _steps_of_path(name: str) -> list[str]:
    """Returns the steps of a pointer without its first slash, or of a JSONPath or jq path; none for a plain name."""
    steps = re.findall(r"[^/.$\[\]'\"]+", name.replace("[]", f"[{ALL}]"))
    return steps if re.search(r"[/.$\[]", name) else []


def picks(document: Any, wanted: Iterable[Pattern]) -> list[Picked]:
    """Returns the values that the patterns pick, each once, in document order, without nulls."""
    paths = {path: value for pattern in wanted for path, value in _picked(document, (), pattern)}
    order, values = exact_json.Order(document), {pointers.pointer(path): value for path, value in paths.items()}
    return [_opened(at, values[at]) for at in sorted(values, key=order.of) if values[at] is not None]


def _picked(node: Any, path: Pattern, rest: Pattern) -> Iterator[tuple[Pattern, Any]]:
    """Yields the matching values below a node; a missing step picks nothing, and JSON strings are parsed."""
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
    """Parses a JSON string that contains a list or an object, also if it is encoded several times."""
    nested = inside(value)
    return Picked(at, nested, nested is not value)


def without_members(document: Any, pattern: Pattern) -> Any:
    """Returns a document without the members of the list that the pattern leads to."""
    name, *rest = pattern
    if not isinstance(document, dict) or name not in document:
        return [] if isinstance(document, list) else document
    return {**document, name: without_members(document[name], tuple(rest))}


def holds(document: Any, pattern: Pattern) -> bool:
    """True if a document has the list of transcripts that a pattern leads to."""
    *path, _ = pattern
    for step in path:
        document = document.get(step) if isinstance(document, dict) else None
    return isinstance(document, list)


def located(raw: bytes, picked: list[Picked]) -> Callable[[str], Position]:
    """Returns a function that locates values in the text they were picked from; all are located at the first call.

    Values inside a JSON string have the position of the string. A table row has no text."""

    @cache
    def places() -> dict[str, Position]:
        return exact_json.locate_all(raw, {end for pick in picked for end in _ways(pick.at)}) if raw else {}

    def place(at: str) -> Position:
        known = (places()[way] for way in _ways(at) if raw)
        return next((each for each in known if each[2] >= 0), exact_json.BEGIN if raw else ABSENT)

    return place


def _ways(at: str) -> Iterator[str]:
    """Yields a pointer and its parents within the document, innermost first."""
    return filter(None, pointers.enclosing(at))


class Passed(msgspec.Struct):
    """Picked values that are not transcripts: total picked, how many, the first, and known formats among them."""

    total: int = 0
    count: int = 0
    first: str = ""
    unsupported: Counter[str] = Counter()


class Picker:
    """Picks the documents of one input, each in a dialect of its own; other values are counted in `passed`.

    `outer`: the records they were picked from, if requested · `missed`: a suggestion for patterns that match nothing ·
    `first`: the number of the first record, 0 in a table · `pairs`: a request is read with the answer next to it.
    """

    def __init__(
        self, name: str, wanted: Sequence[Pattern], named: Dialect | None, *, keeps_shell: bool = False
    ) -> None:
        self.keeps_shell = keeps_shell
        self._name, self._wanted, self._named = name, wanted, named
        self.passed = Passed(unsupported=Counter())
        self.missed = ""
        self.outer: deque[Outer] | None = None
        self.first = 1
        self.pairs = False

    def items(self, record: Record, *, is_line: bool) -> Iterator[Item]:
        """Yields what is picked of a record; for a member of an array, the first step of a pattern is already used."""
        if record.error is not None:
            yield not_read(record)
            return
        is_member = record.index >= 0
        prefix, wanted = "", list(self._wanted)
        if is_member:
            prefix = f"/{record.index}"
            wanted = [tuple(rest) for first, *rest in filter(None, self._wanted) if first in (ALL, str(record.index))]
        if self.keeps_shell and not holds(record.value, self._wanted[0]):
            yield Skipped(self._without_list(record), False, record.start, record.end)
            return
        picked = picks(record.value, wanted)
        outer = Outer(record.value, prefix)
        if self.outer is not None:
            self.outer.append(outer)
        if not (picked or self.missed):
            self.missed = (self._in_member(record.value) if is_member else "") or missed(record.value, wanted)
        yield from self._documents(record, picked, outer, record.line if is_line else 0)

    def _documents(self, record: Record, picked: list[Picked], outer: Outer, line: int) -> Iterator[Document]:
        """Yields the transcripts among the values that were picked from a record."""
        begin = (record.line, record.column, record.start) if record.index >= 0 else exact_json.BEGIN
        place = located(record.raw, picked)
        shell = without_members(record.value, self._wanted[0]) if self.keeps_shell else None
        inside, used, calls = "", set[str](), pairing.Calls([pick.at for pick in picked] if self.pairs else [])
        values = {pick.at: pick.value for pick in picked}
        notes = () if record.warning is None else (warning_of(record.warning),)
        for pick in sorted(picked, key=lambda pick: calls.order(pick.at)):
            if (inside and pick.at.startswith(inside)) or used.intersection(_ways(pick.at)):
                continue  # the pattern points inside a document already picked
            try:
                chosen, dialect = self._chosen(pick)
            except ContentError as error:
                self._pass(error, line, outer.at + pick.at)
                continue
            inside = f"{pick.at}/"
            is_alone = isinstance(chosen.value, list) and not isinstance(pick.value, list) and chosen.at == pick.at
            value, names = texts.read(chosen.value, dialect)
            unparsed, node_path = pick.value if is_alone else chosen.value, partial(place, pick.at)
            rest = (begin, names, unparsed, node_path, shell, outer, is_alone)
            document = Document(self._name, line, value, record.raw, dialect, outer.at + chosen.at, *rest)
            free = (AnswerValue(at, values[at]) for at in calls.answers(pick.at) if at not in used)
            used |= _answered(document, chosen.at, free)
            document.notes = (*document.notes, *notes)
            if shell is not None:
                document.notes = (*document.notes, *self._around(dialect, shell, line))
            yield document
            shell, notes = None, ()

    def _around(self, dialect: Dialect, shell: Any, line: int) -> Iterator[Finding]:
        """Yields what the dialect does not know around its transcripts."""
        for finding in of_container(dialect, shell):
            yield msgspec.structs.replace(finding, file=self._name, line=line)

    def _in_member(self, value: Any) -> str:
        """Suggests a pattern if one that was meant for lines matches inside a member of an array."""
        matching = next((pattern for pattern in self._wanted if picks(value, [pattern])), None)
        return "" if matching is None else f"did you mean {pointers.pointer((ALL, *matching))}?"

    def _without_list(self, record: Record) -> ContentError:
        where = pointers.pointer(self._wanted[0][:-1])
        message = f"this record has no transcript: it has no list at {where}"
        return ContentError("empty-input", message, file=self._name, line=record.line)

    def _chosen(self, pick: Picked) -> tuple[Picked, Dialect]:
        """Returns the value to read and its dialect.

        For a program state that is in no dialect, that is its messages; for a single message, a list of it.
        Raises ContentError for a value that is not a transcript."""
        self.passed.total += 1
        listed = pick.value.get(MESSAGES) if isinstance(pick.value, dict) and self._named is None else None
        if not isinstance(listed, list):
            alone = self._alone(pick)
            return alone or (pick, self._dialect(pick.value))
        inner = Picked(f"{pick.at}/{MESSAGES}", listed, pick.is_text)
        try:
            dialect = self._dialect(pick.value)
        except ContentError as error:
            readable = self._read(inner)
            if readable is None:
                raise error from None
            return inner, readable
        is_read = schemas.accepts(dialect.name, texts.read(pick.value, dialect)[0])
        readable = None if is_read else self._read(inner)
        return (pick, dialect) if readable is None else (inner, readable)

    def _alone(self, pick: Picked) -> tuple[Picked, Dialect] | None:
        """Returns the list of a single message, such as an answer in a trace; None for anything else."""
        is_message = isinstance(pick.value, dict) and (isinstance(pick.value.get("role"), str) or "lc" in pick.value)
        if not is_message or detection.matches(pick.value):
            return None
        listed = pick._replace(value=[pick.value])
        dialect = self._read(listed)
        return None if dialect is None else (listed, dialect)

    def _read(self, pick: Picked) -> Dialect | None:
        """Returns the dialect that accepts a value as it is, None if there is none."""
        try:
            dialect = self._dialect(pick.value)
        except ContentError:
            return None
        return dialect if schemas.accepts(dialect.name, pick.value) else None

    def _dialect(self, value: Any) -> Dialect:
        """Returns the dialect of a value. Raises ContentError for a value that is not a transcript."""
        if not isinstance(value, (dict, list)):
            raise detection.unrecognised([value])
        if self._named is not None and has_documents(self._named):
            return self._named
        detection.refuse_unsupported([value])
        return dialects.get(detection.detect(value, has_documents).dialect)

    def _pass(self, error: ContentError, line: int, at: str) -> None:
        passed = self.passed
        passed.count += 1
        passed.first = passed.first or f"{self._name}{f':{line - 1 + self.first}' if line else ''} {at}"
        passed.unsupported[error.message] += error.message.startswith(LOOKS_LIKE)


def _answered(document: Document, at: str, possible: Iterable[AnswerValue]) -> set[str]:
    """Adds the first value that is an answer to a request, and returns its pointer."""
    before = document.at.removesuffix(at)
    for answer in possible:
        whole = pairing.compose(document.value, at, document.dialect, answer, is_alone=document.is_alone)
        if whole is not None:
            document.value, document.dialect = whole.value, whole.dialect
            document.routes = tuple((inner, before + outer) for inner, outer in whole.routes)
            return {answer.at}
    return set()


def missed(document: Any, wanted: Sequence[Pattern]) -> str:
    """Suggests what unmatched patterns may have meant, by the value where the longest partial match ends."""
    here = inside(document)
    nowhere = ((), here, next(iter(wanted), ()))
    reached = (way for way in (_reached(here, pattern) for pattern in wanted) if set(way[0]) - {ALL})
    path, node, rest = max(reached, key=lambda way: len(way[0]), default=nowhere)
    keys = [key for key in node if SAFE_WORD.match(key)] if isinstance(node, dict) else []
    near = nearest(rest[0], keys) if rest else None
    if near is not None:
        return f"did you mean {pointers.pointer((*path, near, *rest[1:]))}?"
    at = pointers.pointer(path) or "it"
    return f"{at} is {detection.shape(node) if keys else described(node)}"


def _reached(document: Any, pattern: Pattern) -> tuple[Pattern, Any, Pattern]:
    """Returns how far a pattern leads along the first members, the value there, and the rest of the pattern."""
    node = document
    for at, step in enumerate(pattern):
        child = next(_children(node, step), None)
        if child is None:
            return pattern[:at], node, pattern[at:]
        node = inside(child[1])
    return pattern, node, ()


def no_transcripts(name: str, picker: Picker, wanted: Sequence[Pattern]) -> ContentError:
    """Returns the error for an input in which no picked value is a transcript."""
    passed = picker.passed
    if not passed.total:
        where = ", ".join(map(pointers.pointer, wanted))
        message = f"--at matches nothing: there is no {where}"
        return ContentError("empty-input", message, file=name, help=picker.missed)
    unsupported = next(iter(+passed.unsupported), "no dialect recognizes them")
    message = f"none of the {passed.total:,} values that --at matches is a readable transcript: {unsupported}"
    help_text = "" if picker.passed.unsupported.total() else detection.NAMED
    return ContentError("unknown-dialect", message, file=name, help=help_text)
