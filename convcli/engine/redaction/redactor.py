"""Masks secrets and personal data in a document of any dialect; the result is a document of the same dialect.

Every string of the JSON value is searched, and every key: texts, arguments and results of calls, paths, events, JSON
inside of strings, text in base64. What is found becomes a placeholder such as `<EMAIL-1>`; one value has one
placeholder in a job. Ids that pair calls with results never change, nor does a word that the schema of the dialect
defines. What a stream cuts into fragments is searched as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from convcli.engine import answers
from convcli.engine.redaction import personal
from convcli.engine.redaction.names import expression_of, is_personal, of_directory, of_remotes
from convcli.engine.redaction.rules import Kind
from convcli.engine.redaction.strings import PLACEHOLDER, Searcher
from convcli.engine.redaction.vocabulary import words_of
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.transcript import Media, Path, ToolCall, ToolResult, Transcript
from convcli.validation import schemas
from convcli.wire.pointers import pointer

MOST_ROUNDS = 4
"""Searches of one document: what a round masks can complete the form of something else."""


class Hit(msgspec.Struct, frozen=True):
    """Something that was found: the rule, what it is, its place and its length. Never the value.

    `digest` identifies the value in a list of accepted values; no report has it.
    """

    rule: str
    kind: Kind
    where: str
    length: int
    digest: str
    file: str = ""
    line: int = 0


class MaskedNames(NamedTuple):
    """The words that are masked in a document: their kinds, an expression that finds them, short strings without any.

    The words are in lower case. `clean` has strings with their keys; the rules of all kinds find nothing in them.
    """

    kinds: dict[str, Kind]
    expression: re.Pattern[str] | None
    clean: set[tuple[str, str]]


class Redactor:
    """Masks the documents of one job; the same value has the same placeholder in all of them.

    `words` are masked wherever they occur · `is_allowed` is asked with the digest of a value whether it may stay ·
    `digest` makes that digest.

    The names that a document gives, of users and hosts, are masked in it, in its scope (its file) and in the later
    documents of its project: those in the same directory, if this is in the home directory of a person. In other files
    a name such as Alice is another person, or nobody.
    """

    def __init__(
        self,
        words: Iterable[str] = (),
        is_allowed: Callable[[str], bool] = lambda digest: False,
        digest: Callable[[str], str] = lambda value: "",
    ) -> None:
        personal.load_numbers()
        self.counts, self.documents = Counter[tuple[str, Kind]](), 0
        self._listed: dict[str, Kind] = {word.lower(): "WORD" for word in words if word.strip()}
        self._learned: dict[tuple[str, str], dict[str, Kind]] = {}
        self._names = self._all_names = _names(self._listed)
        self._is_allowed, self._digest = is_allowed, digest
        self._numbers: dict[tuple[Kind, str], int] = {}
        self._last, self._taken = Counter[Kind](), set[tuple[str, int]]()

    def learn(self, document: Any, dialect: Dialect, scope: str) -> None:
        """Learns the names that a document gives, before another one of its scope is masked."""
        self._learn(document, _lifted(document, dialect), scope)

    def redact(self, document: Any, dialect: Dialect, scope: str = "") -> tuple[Any, list[Hit]]:
        """Returns the masked document and what was found in it. The document itself stays as it is."""
        self.documents += 1
        transcript = _lifted(document, dialect)
        self._learn(document, transcript, scope)
        masked, hits = self._masked(document, dialect, transcript, is_bare=False)
        if hits and transcript is not None and not schemas.accepts(dialect.name, masked):
            masked, hits = self._masked(document, dialect, transcript, is_bare=True)
        self.counts.update((hit.rule, hit.kind) for hit in hits)
        return masked, hits

    def container(self, container: Any, dialect: Dialect, scope: str = "") -> tuple[Any, list[Hit]]:
        """Returns what surrounds the documents of a file, masked, and what was found in it."""
        self._learn(container, None, scope)
        masked, hits = self._masked(container, dialect, None, is_bare=False)
        self.counts.update((hit.rule, hit.kind) for hit in hits)
        return masked, hits

    def text(self, text: str) -> str:
        """Returns a text of the job, such as the name of a file, masked as documents are, with the names of all."""
        return str(self._searcher(self._all_names).masked(text, ()))

    def again(self, value: Any, dialect: Dialect) -> Any:
        """Returns another form of the document that was masked last, with its placeholders; nothing is counted."""
        return self._searcher(self._names, words_of(dialect.name)).value(value, ())

    def _searcher(self, names: MaskedNames, vocabulary: frozenset[str] = frozenset()) -> Searcher:
        return Searcher(names.expression, names.kinds, self._placeholder, vocabulary=vocabulary)

    def _masked(
        self, document: Any, dialect: Dialect, transcript: Transcript | None, *, is_bare: bool
    ) -> tuple[Any, list[Hit]]:
        hits, paired, names, encoded = list[Hit](), frozenset[str](), frozenset[str](), frozenset[str]()
        if transcript is not None:
            paired, names, encoded = _paired_ids(transcript), _tool_names(transcript), _media(transcript)

        def add(rule: str, kind: Kind, path: Path, value: str) -> None:
            hits.append(Hit(rule, kind, pointer(path), len(value), self._digest(value)))

        for _ in range(MOST_ROUNDS):
            searcher = Searcher(
                self._names.expression, self._names.kinds, self._placeholder, add,
                words_of(dialect.name), paired, names, encoded, is_bare, self._names.clean,
            )  # fmt: skip
            masked = searcher.value(document, ())
            if transcript is not None and transcript.origin is not None and transcript.origin.pieces:
                masked = searcher.fragments(masked, transcript.origin.pieces.values())
            if masked is document:
                break
            document = masked
        return document, hits

    def _learn(self, document: Any, transcript: Transcript | None, scope: str) -> None:
        """Adds the names of the session's user and machine, and the numbers of placeholders that it has already.

        The next search is for the names of the scope and the project of this document.
        """
        found = dict[str, Kind]()
        if transcript is not None and transcript.cwd:
            found.update(of_directory(transcript.cwd))
        for text in _strings(document):
            found.update(of_directory(text) if text.startswith("/") or text[1:2] == ":" else ())
            found.update(of_remotes(text))
            if ">" in text or "-" in text:
                self._taken.update((kind, int(number)) for kind, number in PLACEHOLDER.findall(text))
        new = {name.lower(): kind for name, kind in found.items() if is_personal(name)}
        kinds = dict(self._listed)
        for place in _places(transcript, scope):
            known = self._learned.setdefault(place, {})
            known.update(new)
            kinds = {**known, **kinds}
        if kinds != self._names.kinds:
            self._names = _names(kinds)
        if not new.keys() <= self._all_names.kinds.keys():
            self._all_names = _names({**new, **self._all_names.kinds})

    def _placeholder(self, kind: Kind, value: str) -> str | None:
        """Returns the placeholder of a value; None if the value may stay."""
        if self._is_allowed(self._digest(value)):
            return None
        key = kind, value.lower() if kind in ("USER", "HOST", "WORD") else value
        number = self._numbers.get(key)
        if number is None:
            number = self._last[kind] + 1
            while (kind, number) in self._taken:
                number += 1
            self._last[kind] = self._numbers[key] = number
        return f"<{kind}-{number}>"


def _names(kinds: dict[str, Kind]) -> MaskedNames:
    return MaskedNames(kinds, expression_of(kinds), set())


def _places(transcript: Transcript | None, scope: str) -> Iterator[tuple[str, str]]:
    """Yields where the names of a document hold: in its scope, and in the project of its session."""
    yield "scope", scope
    directory = transcript.cwd if transcript is not None else None
    if directory and any(is_personal(name) for name, _ in of_directory(directory)):
        yield "project", directory


def _lifted(document: Any, dialect: Dialect) -> Transcript | None:
    """Returns the transcript of a document; None if it is not of its dialect, which the next step reports."""
    if not schemas.accepts(dialect.name, document):
        return None
    try:
        return answers.lift(document, dialect)
    except RefusedError:
        return None


def _parts(transcript: Transcript) -> Iterator[Any]:
    """Yields every part, and those inside of results."""
    for message in transcript.messages:
        for part in message.parts:
            yield part
            if isinstance(part, ToolResult) and part.kind == "multimodal":
                yield from part.value


def _paired_ids(transcript: Transcript) -> frozenset[str]:
    """Returns the ids that pair calls with results."""
    parts = list(_parts(transcript))
    called = {part.id for part in parts if isinstance(part, ToolCall)}
    return frozenset(called & {part.tool_call_id for part in parts if isinstance(part, ToolResult)})


def _tool_names(transcript: Transcript) -> frozenset[str]:
    """Returns the names of tools, which have letters, digits, `_` and `-` only."""
    called = {part.name for part in _parts(transcript) if isinstance(part, (ToolCall, ToolResult))}
    return frozenset(called | {tool.name for tool in transcript.tools or ()})


def _media(transcript: Transcript) -> frozenset[str]:
    """Returns the data of images and other media, which is base64."""
    return frozenset(part.data for part in _parts(transcript) if isinstance(part, Media) and part.data)


def _strings(value: Any) -> Iterator[str]:
    """Yields every string and key of a JSON value."""
    stack = [value]
    while stack:
        item = stack.pop()
        if item.__class__ is str:
            yield item
        elif isinstance(item, dict):
            stack.extend(item)
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
            if isinstance(item, Rows) and item.companion is not None:
                stack.append(item.companion)
