"""Masks secrets and personal data in a document of any dialect; the result is a document of the same dialect.

Every string of the JSON value is searched, and every key: texts, arguments and results of calls, paths, events, JSON
inside of strings, text in base64. What is found becomes a placeholder such as `<EMAIL-1>`; one value has one
placeholder in a job. Ids that pair calls with results never change, nor does a word that the schema of the dialect
defines. What a stream cuts into fragments is searched as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

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


class Redactor:
    """Masks the documents of one job; the same value has the same placeholder in all of them.

    `words` are masked wherever they occur · `is_allowed` is asked with the digest of a value whether it may stay ·
    `digest` makes that digest.
    """

    def __init__(
        self,
        words: Iterable[str] = (),
        is_allowed: Callable[[str], bool] = lambda digest: False,
        digest: Callable[[str], str] = lambda value: "",
    ) -> None:
        personal.load_numbers()
        self.counts, self.documents = Counter[tuple[str, Kind]](), 0
        self._kinds: dict[str, Kind] = {word.lower(): "WORD" for word in words if word.strip()}
        self._expression = expression_of(self._kinds)
        self._is_allowed, self._digest = is_allowed, digest
        self._numbers: dict[tuple[Kind, str], int] = {}
        self._clean = set[tuple[str, str]]()
        self._last, self._taken = Counter[Kind](), set[tuple[str, int]]()

    def redact(self, document: Any, dialect: Dialect) -> tuple[Any, list[Hit]]:
        """Returns the masked document and what was found in it. The document itself stays as it is."""
        self.documents += 1
        transcript = _lifted(document, dialect)
        self._learn(document, transcript)
        masked, hits = self._masked(document, dialect, transcript, is_bare=False)
        if hits and transcript is not None and not schemas.accepts(dialect.name, masked):
            masked, hits = self._masked(document, dialect, transcript, is_bare=True)
        self.counts.update((hit.rule, hit.kind) for hit in hits)
        return masked, hits

    def container(self, container: Any, dialect: Dialect) -> tuple[Any, list[Hit]]:
        """Returns what surrounds the documents of a file, masked, and what was found in it."""
        self._learn(container, None)
        masked, hits = self._masked(container, dialect, None, is_bare=False)
        self.counts.update((hit.rule, hit.kind) for hit in hits)
        return masked, hits

    def text(self, text: str) -> str:
        """Returns a text of the job, such as the name of a file, masked as documents are."""
        return str(self._searcher().masked(text, ()))

    def again(self, value: Any, dialect: Dialect) -> Any:
        """Returns another form of a document that was masked, with the same placeholders; nothing is counted."""
        return self._searcher(words_of(dialect.name)).value(value, ())

    def _searcher(self, vocabulary: frozenset[str] = frozenset()) -> Searcher:
        return Searcher(self._expression, self._kinds, self._placeholder, vocabulary=vocabulary)

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
                self._expression, self._kinds, self._placeholder, add,
                words_of(dialect.name), paired, names, encoded, is_bare, self._clean,
            )  # fmt: skip
            masked = searcher.value(document, ())
            if transcript is not None and transcript.origin is not None and transcript.origin.pieces:
                masked = searcher.fragments(masked, transcript.origin.pieces.values())
            if masked is document:
                break
            document = masked
        return document, hits

    def _learn(self, document: Any, transcript: Transcript | None) -> None:
        """Adds the names of the session's user and machine, and the numbers of placeholders that it has already."""
        found = dict[str, Kind]()
        if transcript is not None and transcript.cwd:
            found.update(of_directory(transcript.cwd))
        for text in _strings(document):
            found.update(of_directory(text) if text.startswith("/") or text[1:2] == ":" else ())
            found.update(of_remotes(text))
            if ">" in text or "-" in text:
                self._taken.update((kind, int(number)) for kind, number in PLACEHOLDER.findall(text))
        new = {name.lower(): kind for name, kind in found.items() if is_personal(name)}
        if not new.keys() <= self._kinds.keys():
            self._kinds = {**new, **self._kinds}
            self._expression = expression_of(self._kinds)
            self._clean.clear()

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
