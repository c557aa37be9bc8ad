"""Detects the dialect of a document: the one with the strongest match, otherwise an error.

The schema of a dialect lists its marks as `x-marks`, strongest first; the first that holds is the evidence. An entry is
`[STRENGTH, EVIDENCE, MARK]` in the language of `marks`, with `{}` in the evidence for the key or string that meets the
first condition · `[MARK]`, which only suggests the dialect: its `detect` decides · a text with conditions that all
marks after it share. The name of another dialect in place of the list suggests this one for all its documents. No
dialect is loaded for this, except to decide. Those of plugins are detected too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import confirming, marks
from convcli.model import plugins
from convcli.model.dialect import Dialect, Evidence
from convcli.model.errors import ContentError, JobError
from convcli.model.row_columns import has_columns, marked
from convcli.validation import schemas
from convcli.validation.wording import SAFE_WORD, described, listed

Candidate: TypeAlias = tuple[str, Evidence]
Fits: TypeAlias = Callable[[Dialect], bool]
"""True for a dialect whose documents are stored like the one to detect."""
SHARED = 30
"""The strength of a shape that dialects share: below it, a plugin may know better."""

MOST_KEYS = 8
"""Keys of an object that an error names."""
OF_ANSWERS = ("response", "output", "outputs", "completion", "response_body")
"""Keys of answers in logs."""
NO_DIALECT = "no dialect recognizes this"
NAMED = "--from DIALECT names its dialect (convcli dialects); for a log of your own: convcli dialects --draft FILE"


class Detection(msgspec.Struct, frozen=True):
    """The name of the dialect of a document, and the `evidence`, whose `reason` says by what it is recognized.

    `others` are the names of weaker candidates with their evidence, strongest first.
    """

    dialect: str
    evidence: Evidence
    others: tuple[tuple[str, Evidence], ...] = ()


class StatedMark(msgspec.Struct, frozen=True):
    """A mark of a dialect; without evidence, the dialect's `detect` decides."""

    dialect: str
    strength: int
    reason: str
    condition: str

    def evidence(self, document: Any) -> Evidence | None:
        """Returns the evidence if the mark holds for the document."""
        found = marks.holds(self.condition)(document)
        if found is False:
            return None
        if not self.reason:
            decide = dialects.get(self.dialect).detect
            return None if decide is None else decide(document)
        return Evidence(self.strength, self.reason.replace("{}", str(found)))


@cache
def marks_of(name: str) -> tuple[StatedMark, ...]:
    """Returns the marks of a dialect, strongest first."""
    stated, shared, found = schemas.marks(name), "", []
    if isinstance(stated, str):
        return tuple(replace(each, dialect=name, reason="") for each in marks_of(stated))
    for entry in stated or ():
        if isinstance(entry, str):
            shared += f" {entry}"
        else:
            strength, reason, mark = entry if len(entry) == 3 else (0, "", *entry)
            found.append(StatedMark(name, strength, reason, mark + shared))
    return tuple(found)


@cache
def _by_name() -> dict[str, list[tuple[int, StatedMark]]]:
    """Returns the marks of all built-in dialects, numbered, by the names that find them."""
    found: dict[str, list[tuple[int, StatedMark]]] = {}
    for numbered in enumerate(mark for name in dialects.names() for mark in marks_of(name)):
        for name in marks.names_of(numbered[1].condition):
            found.setdefault(name, []).append(numbered)
    return found


def evidence(document: Any, dialect: Dialect) -> Evidence | None:
    """Returns the evidence that a document is in this dialect; None if there is none.

    Of the columns that state the origin of a row, only their mark is evidence. A dialect without such columns does not
    match.
    """
    if has_columns(document):
        if dialect.columns == "none":
            return None
        document = marked(document)
    stated = marks_of(dialect.name)
    if not stated:  # a table of the project, or a plugin without marks
        return None if dialect.detect is None else dialect.detect(document)
    return next((found for mark in stated if (found := mark.evidence(document)) is not None), None)


def matches(document: Any, *, with_plugins: bool = False) -> dict[str, Evidence]:
    """Returns the evidence of each dialect that matches the document, by name.

    Finding out which plugins there are takes longer than detection, so they are for what is weak without them.
    """
    value, index, found = marked(document), _by_name(), dict[str, Evidence]()
    suggested = {numbered for name in marks.names_in(value) if name in index for numbered in index[name]}
    for _, mark in sorted(suggested):
        if mark.dialect not in found and (match := mark.evidence(value)) is not None:
            found[mark.dialect] = match
    if has_columns(document):
        found = {name: match for name, match in found.items() if dialects.get(name).columns != "none"}
    others = [*dialects.own(), *(_of_plugins() if with_plugins else ())]
    return found | {each.name: match for each in others if (match := evidence(document, each)) is not None}


def has_names_of(dialect: Dialect, document: Any) -> bool:
    """True if the document has a key that one of the dialect's marks asks for first."""
    names = marks.names_in(marked(document))
    return any(not names.isdisjoint(marks.names_of(mark.condition)) for mark in marks_of(dialect.name))


def _of_plugins() -> list[Dialect]:
    """Returns the dialects of plugins that can be loaded; the error of any other is that of the job that names it."""
    found = []
    for name in plugins.names():
        with suppress(JobError):
            dialect = dialects.get(name)
            found += [dialect] if name not in dialects.names() and schemas.marks(name) else []
    return found


def candidates(document: Any, fits: Fits | None = None, *, with_plugins: bool = False) -> list[Candidate]:
    """Returns every dialect that matches the document, strongest first; only those that fit, if asked."""
    found = matches(document, with_plugins=with_plugins).items()
    fitting = ((name, match) for name, match in found if fits is None or fits(dialects.get(name)))
    return sorted(fitting, key=lambda pair: (-pair[1].strength, pair[0]))


def are_weak(found: Iterable[Candidate]) -> bool:
    """True if no dialect has more than a shape that others share: a plugin may know better."""
    return all(match.strength < SHARED for _, match in found)


def detect(document: Any, fits: Fits | None = None) -> Detection:
    """Returns the dialect of a document, of those that fit, if asked.

    Raises ContentError if none or more than one matches best, and for known formats that are not supported.
    """
    refuse_unsupported([document])
    ranked = candidates(document, fits)
    if are_weak(ranked):
        ranked = candidates(document, fits, with_plugins=True)
    if not ranked:
        raise unrecognised([document])
    return confirmed(ranked, [document])


def confirmed(
    ranked: Sequence[Candidate], values: Sequence[Any], read_by: Callable[[Candidate], Any] | None = None
) -> Detection:
    """Returns the strongest candidate that reading confirms, for a document or the first records of a file.

    `read_by`: returns what a candidate reads of the values, by default the first. Raises ContentError if no candidate
    is confirmed, or if several are and none is stronger.
    """

    def is_read(one: Candidate) -> bool:
        return confirming.is_read(values[0] if read_by is None else read_by(one), dialects.get(one[0]))

    refuted = ranked[0][0]
    while ranked:
        top = ranked[0][1].strength
        kept = [one for one in ranked if one[1].strength < top or is_read(one)]
        if kept and kept[0][1].strength == top:
            return strongest(kept)
        ranked = kept
    message = f"{NO_DIALECT}: it resembles {refuted}, which does not define the keys of most of its text"
    raise ContentError(
        "unknown-dialect", message, help=f"--from {refuted} reads the rest, and reports that text as lost"
    )


def refuse_unsupported(values: Sequence[Any]) -> None:
    """Raises ContentError if a document, or one of these records, is in a known format that is not a dialect.

    It may look like a dialect, and would then lose what distinguishes it.
    """
    from convcli.engine import known_formats

    known = known_formats.recognise(values)
    if known is not None:
        raise ContentError("unknown-dialect", known.message, help=known.help)


def unrecognised(values: Sequence[Any]) -> ContentError:
    """Returns the error for a document, or the records of a file, that no dialect matches."""
    first = values[0]
    is_clean = isinstance(first, list) and not any(isinstance(item, (dict, list)) for item in first)
    if not isinstance(first, (dict, list)) or not first or is_clean:
        subject = "this" if len(values) == 1 else "the first record"
        message = f"{subject} is {described(first)}, not a transcript"
        return ContentError("unknown-dialect", message, help="a transcript is an object, or a list of messages")
    return ContentError("unknown-dialect", f"{NO_DIALECT}: {shape(first)}", help=_at(first) or NAMED)


def _at(value: Any) -> str | None:
    """Suggests pointers to transcripts under the keys of an object, as in logs."""
    members = value.items() if isinstance(value, dict) else ()
    options = [
        f"--at /{key}"
        for key, member in members
        if isinstance(member, (dict, list)) and SAFE_WORD.match(key) and candidates(member)
    ]
    if len(options) > 1 and options[-1].removeprefix("--at /") in OF_ANSWERS:
        return f"{' '.join(options[:MOST_KEYS])} reads requests with their answers"
    return f"{' or '.join(options[:MOST_KEYS])} reads the transcripts inside" if options else None


def shape(value: Any) -> str:
    """Describes a value by the names of its keys, or of those of a list's first item."""
    if isinstance(value, list) and value:
        return f"a list whose first item is {_keyed(value[0])}"
    return _keyed(value)


def _keyed(value: Any) -> str:
    keys = [key for key in value if SAFE_WORD.match(key)][:MOST_KEYS] if isinstance(value, dict) else []
    return f"an object with the keys {listed(keys)}" if keys else described(value)


def strongest(ranked: Sequence[Candidate]) -> Detection:
    """Returns the strongest candidate; two framings of one dialect are not a tie.

    Raises ContentError if two dialects are equally strong.
    """
    top = [candidate for candidate in ranked if candidate[1].strength == ranked[0][1].strength]
    best = dict(reversed(top))
    if len(best) > 1:
        listing = ", ".join(f"{name} ({best[name].reason})" for name in sorted(best))
        raise ContentError(
            "ambiguous-dialect",
            f"this document could be in {len(best)} dialects: {listing}",
            help=f"name it, for example --from {min(best)}",
        )
    return Detection(ranked[0][0], ranked[0][1], tuple(ranked[1:]))
