"""Searches the strings of a JSON value: plain text, JSON inside of a string, text in base64, fragments of a stream."""

from __future__ import annotations

import base64
import binascii
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import accumulate
from typing import Any, TypeAlias

from convcli.engine.redaction import assignments, names, personal
from convcli.engine.redaction.matches import Match, apart
from convcli.engine.redaction.rules import KINDS, Kind, secrets
from convcli.model.document import Rows, with_value
from convcli.model.transcript import Path
from convcli.wire.patterns import JSON_STRING, pattern

PLACEHOLDER = pattern(rf"(?<![A-Z])({'|'.join(KINDS)})[-_]([0-9]{{1,9}})(?![0-9])")
_WHOLE = pattern(rf"<(?:{'|'.join(KINDS)})-[0-9]{{1,9}}>")
_TOKEN = pattern(JSON_STRING)
"""A string of JSON text."""
_BASE64 = pattern(r"[A-Za-z0-9+/]{24,}={0,2}|[A-Za-z0-9_-]{24,}={0,2}")
_BINARY = pattern(r"[A-Za-z0-9+/_=-]{512,}")
"""A run that is an image, a signature or something encrypted: whatever matches inside of it does so by chance."""
_IDENTIFIER = pattern(r"[A-Za-z0-9_-]+")
SHORTEST_SECRET = 14
"""Characters of the shortest text that a rule of `rules.toml` matches."""
DEEPEST = 6
"""Levels of JSON and base64 in each other that are opened."""

MOST_REPEATED, MOST_CLEAN = 200, 100_000
"""Characters of a string that is remembered as clean, and the number of such strings."""

Edit: TypeAlias = tuple[int, int, str]
"""Start and end of a stretch, and its replacement."""
Add: TypeAlias = Callable[[str, Kind, Path, str], None]
Placeholder: TypeAlias = Callable[[Kind, str], str | None]


class Searcher:
    """One search of a document: what is known of its words, and where hits go.

    `vocabulary`, `paired`: strings that stay as a whole · `bare`: strings that are names, whose placeholders are
    names too; `is_bare`: so are all strings that are written as names are · `encoded`: strings that are base64, as
    their placeholders are · `clean`: short strings without a hit, with their keys; sessions repeat them in each row.
    """

    def __init__(
        self,
        expression: re.Pattern[str] | None,
        kinds: dict[str, Kind],
        placeholder: Placeholder,
        add: Add = lambda rule, kind, path, value: None,
        vocabulary: Collection[str] = (),
        paired: Collection[str] = (),
        bare: Collection[str] = (),
        encoded: Collection[str] = (),
        is_bare: bool = False,
        clean: set[tuple[str, str]] | None = None,
    ) -> None:
        self._clean = set[tuple[str, str]]() if clean is None else clean
        self._expression, self._kinds, self._placeholder, self._add = expression, kinds, placeholder, add
        self._vocabulary, self._paired, self._bare, self._is_bare = vocabulary, paired, bare, is_bare
        self._encoded = encoded

    def value(self, value: Any, path: Path, key: str = "") -> Any:
        """Returns a JSON value with masked strings and keys; the same object if nothing was found in it."""
        if value.__class__ is str:
            return self.masked(value, path, key)
        if isinstance(value, dict):
            return self._object(value, path)
        if isinstance(value, list):
            items = [self.value(item, (*path, n), key) for n, item in enumerate(value)]
            is_same = all(map(_is, items, value))
            if not isinstance(value, Rows):
                return value if is_same else items
            companion = self.value(value.companion, path)
            return value if is_same and companion is value.companion else Rows(items, value.lines, companion)
        return value

    def _object(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        changed = dict[str, Any]()
        is_same = True
        for key, item in value.items():
            name = key if key in self._vocabulary else self.masked(key, (*path, key))
            name = key if name != key and (name in value or name in changed) else name
            changed[name] = self.value(item, (*path, key), key)
            is_same = is_same and name is key and changed[name] is item
        return value if is_same else changed

    def masked(self, text: str, path: Path, key: str = "") -> str:
        """Returns a string with placeholders; the same object if nothing was found."""
        if len(text) < 3 or text in self._vocabulary or text in self._paired:
            return text
        if len(text) <= MOST_REPEATED and (key, text) in self._clean:
            return text
        edits = list(self._edits(text, path, key, 0))
        if not edits and len(text) <= MOST_REPEATED and len(self._clean) < MOST_CLEAN:
            self._clean.add((key, text))
        return _applied(text, edits) if edits else text

    def fragments(self, document: Any, places: Iterable[Collection[Path]]) -> Any:
        """Masks what a stream cuts into several strings: the first of them gets the placeholder."""
        for paths in places:
            texts = [_at(document, path) for path in paths]
            if len(texts) < 2 or not all(isinstance(text, str) for text in texts):
                continue
            first = next(iter(paths))
            edits = list(self._edits("".join(texts), first, str(first[-1]) if first else "", 0))
            for path, text, new in zip(paths, texts, _distributed(texts, edits), strict=True):
                if new != text:
                    document = with_value(document, path, new)
        return document

    def _edits(self, text: str, path: Path, key: str, depth: int) -> Iterator[Edit]:
        """Yields the replacements in a string, in order."""
        if depth < DEEPEST and _is_json(text):
            yield from self._edits_of_json(text, path, depth)
            return
        is_name = text in self._bare or (self._is_bare and _IDENTIFIER.fullmatch(text) is not None)
        end = 0
        for match in self._matches(text, key):
            value = text[match.start : match.end]
            placeholder = self._placeholder(match.kind, value)
            if placeholder is None or match.start < end:
                continue
            yield from self._edits_of_base64(text, end, match.start, path, depth)
            self._add(match.rule, match.kind, path, value)
            if text in self._encoded:
                yield 0, len(text), base64.b64encode(placeholder.encode()).decode()
                return
            yield match.start, match.end, placeholder.strip("<>").replace("-", "_") if is_name else placeholder
            end = match.end
        yield from self._edits_of_base64(text, end, len(text), path, depth)

    def _edits_of_json(self, text: str, path: Path, depth: int) -> Iterator[Edit]:
        """Yields the replacements of the strings in JSON text, each of them whole; the rest keeps its spelling."""
        key = ""
        for token in _TOKEN.finditer(text):
            is_key = text[token.end() : token.end() + 8].lstrip().startswith(":")
            inner = json.loads(token[0], strict=False)
            edits = [] if inner in self._paired else list(self._edits(inner, path, "" if is_key else key, depth + 1))
            key = inner if is_key else ""
            if edits:
                is_ascii = token[0].isascii()
                yield token.start(), token.end(), json.dumps(_applied(inner, edits), ensure_ascii=is_ascii)

    def _edits_of_base64(self, text: str, start: int, end: int, path: Path, depth: int) -> Iterator[Edit]:
        """Yields the replacements of text that is written in base64 within a stretch."""
        if depth >= DEEPEST or end - start < 24:
            return
        for run in _BASE64.finditer(text, start, end):
            inner = _decoded(run[0])
            edits = list(self._edits(inner, path, "", depth + 1)) if inner is not None else []
            if inner is not None and edits:
                yield run.start(), run.end(), _encoded(_applied(inner, edits), run[0])

    def _matches(self, text: str, key: str) -> list[Match]:
        """Returns what the rules find in a text, in order and apart, and nothing inside of placeholders."""
        whole = assignments.of_key(key, text) if key else None
        if whole is not None:
            return [whole]
        found = [
            *_secrets(text),
            *assignments.matches(text),
            *personal.matches(text),
            *names.matches(text, self._expression, self._kinds),
        ]
        if not found:
            return []
        inert = [span.span() for expression in (_BINARY, _WHOLE) for span in expression.finditer(text)]
        found = [_after_escape(match, text) for match in found]
        return apart(match for match in found if not any(_is_inside(match, span) for span in inert))


def _is_json(text: str) -> bool:
    """True if a string is JSON with strings in it, so that these can be searched without their escapes."""
    if '"' not in text or text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _secrets(text: str) -> Iterator[Match]:
    if len(text) < SHORTEST_SECRET:
        return
    for rule in secrets():
        if any(word in text for word in rule.keywords):
            for found in rule.expression.finditer(text):
                yield Match(rule.id, rule.kind, *found.span("secret" if "secret" in found.re.groupindex else 0))


def _is_inside(match: Match, span: tuple[int, int]) -> bool:
    """True if a match begins inside of a stretch; one that is longer than the stretch counts only after its start."""
    start, end = span
    return start < match.start < end or (start == match.start and match.end <= end)


def _is(one: object, other: object) -> bool:
    return one is other


def _after_escape(match: Match, text: str) -> Match:
    r"""Returns the match without the letter of an escape: in text of a program, `\n` may precede it."""
    before = match.start - len(text[: match.start].rstrip("\\"))
    is_escape = before % 2 and text[match.start] in "bfnrt"
    return match._replace(start=match.start + 1) if is_escape else match


def _applied(text: str, edits: Iterable[Edit]) -> str:
    pieces, end = list[str](), 0
    for start, stop, replacement in edits:
        pieces += (text[end:start], replacement)
        end = stop
    return "".join((*pieces, text[end:]))


def _distributed(texts: list[str], edits: list[Edit]) -> list[str]:
    """Returns the fragments of a text with its replacements, each in the fragment where it begins."""
    ends = list(accumulate(map(len, texts)))
    pieces = [list[str]() for _ in texts]
    position = 0

    def keep(stop: int) -> None:
        nonlocal position
        while position < stop:
            n = bisect_right(ends, position)
            until = min(stop, ends[n])
            begin = ends[n] - len(texts[n])
            pieces[n].append(texts[n][position - begin : until - begin])
            position = until

    for start, stop, replacement in edits:
        keep(start)
        pieces[bisect_right(ends, start)].append(replacement)
        position = stop
    keep(ends[-1])
    return ["".join(each) for each in pieces]


def _at(document: Any, path: Path) -> Any:
    try:
        for step in path:
            document = document[step]
    except (KeyError, IndexError, TypeError):
        return None
    return document


def _decoded(run: str) -> str | None:
    """Returns the text of a run in base64; None if it is none."""
    text = run.rstrip("=")
    if len(text) % 4 == 1:
        return None
    is_url = "-" in text or "_" in text
    decode = base64.urlsafe_b64decode if is_url else base64.b64decode
    try:
        start = decode(text[:64] if len(text) >= 64 else text + "=" * (-len(text) % 4))
        if any(byte < 9 or 13 < byte < 32 for byte in start):
            return None
        inner = decode(text + "=" * (-len(text) % 4)).decode()
    except (ValueError, binascii.Error):
        return None
    return inner if inner.isprintable() or not re.search(r"[\x00-\x08\x0e-\x1f]", inner) else None


def _encoded(text: str, like: str) -> str:
    """Returns a text in base64, with the alphabet and the padding that a run has."""
    is_url = "-" in like or "_" in like
    encoded = (base64.urlsafe_b64encode if is_url else base64.b64encode)(text.encode()).decode()
    is_padded = like.endswith("=") or len(like) % 4 == 0
    return encoded if is_padded else encoded.rstrip("=")
