"""Detect, validate, lift, lower, compare: what one document goes through. Pure: returns results, never prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec

from convcli import catalog, dialects, trust, wire
from convcli.dialect import Clue, Dialect, Options
from convcli.errors import ContentError, JobError, RefusedError
from convcli.fields import branch
from convcli.findings import Finding
from convcli.loss import Loss, difference
from convcli.plain import messages_of, sample
from convcli.rules import verdict
from convcli.rules.survey import Rigour, Rule
from convcli.transcript import Transcript

BY_DEFAULT = Options()
MOST_REMEMBERED = 1 << 16
"""Bytes of what is left of a document without its messages, for its verdict to be remembered."""


class Detection(msgspec.Struct, frozen=True):
    """Which dialect a document is in, and why; `others` are weaker candidates, the strongest first."""

    dialect: str
    clue: Clue
    others: tuple[tuple[str, Clue], ...] = ()


class Conversion:
    """What came of one document: it in the target dialect, what that does not carry, and what its rules object to."""

    def __init__(
        self, document: Any, lifted: Callable[[], Transcript], losses: list[Loss], findings: list[Finding]
    ) -> None:
        self.document, self.losses, self.findings = document, losses, findings
        self._lifted = lifted

    def __repr__(self) -> str:
        return f"Conversion({self.document!r}, losses={self.losses!r}, findings={self.findings!r})"

    @cached_property
    def transcript(self) -> Transcript:
        """What was converted, as the intermediate format says it; lifted when it is first asked for."""
        return self._lifted()


class Mould(NamedTuple):
    """The output for a plain conversation, made of a sample: `fresh` gives it anew, `rest` is it without its turns, and
    `loss` is that of a name, where there are names."""

    fresh: Callable[[], Any]
    rest: Any
    loss: Loss | None


def candidates(document: Any, among: Sequence[Dialect] | None = None) -> list[tuple[str, Clue]]:
    """Every dialect that sees a mark of its own in the document, the strongest first."""
    found = [(dialect.name, dialect.detect(document)) for dialect in among or dialects.builtin()]
    clues = [(name, clue) for name, clue in found if clue is not None]
    return sorted(clues, key=lambda pair: (-pair[1].strength, pair[0]))


def detect(document: Any, among: Sequence[Dialect] | None = None) -> Detection:
    """The dialect of a document. Raises ContentError when none or more than one fits best."""
    return strongest(candidates(document, among))


def strongest(found: Sequence[tuple[str, Clue]]) -> Detection:
    """The one strongest of these candidates, the strongest first. Raises ContentError when there is none or a tie."""
    if not found:
        raise ContentError(
            "unknown-dialect",
            "no dialect recognises this document",
            help="name it with --from; convcli dialects lists them all",
        )
    best = [name for name, clue in found if clue.strength == found[0][1].strength]
    if len(best) > 1:
        listed = ", ".join(f"{name} ({clue.reason})" for name, clue in found[: len(best)])
        raise ContentError(
            "ambiguous-dialect",
            f"this document could be in {len(best)} dialects: {listed}",
            help=f"name it, say --from {best[0]}",
        )
    return Detection(found[0][0], found[0][1], tuple(found[1:]))


def dialect_of(document: Any, name: str | None = None) -> Dialect:
    """The dialect of this name, or the one that the document is in."""
    return dialects.get(name if name is not None else detect(document).dialect)


def lift(document: Any, dialect: Dialect) -> Transcript:
    """The transcript of a document. Raises RefusedError when it does not pass the schema of the dialect."""
    if not catalog.accepts(dialect.name, document):
        raise RefusedError(catalog.findings(dialect.name, document))
    transcript = dialect.lift(document)
    if transcript.origin is not None:
        transcript.origin.given = document
    return transcript


def validate(
    document: Any,
    dialect: Dialect,
    *,
    strict: bool = False,
    rigour: Rigour = "document",
    more: Iterable[Rule] = (),
) -> list[Finding]:
    """What is wrong with a document of this dialect: by its schema, and if that has no objection by its rules.

    `strict`: unknown keys are warnings · `rigour`: "sent" judges it as a request · `more`: rules beside its own.
    """
    if not strict and rigour == "document" and not more and _is_clean(document, dialect):
        return []
    found = catalog.findings(dialect.name, document, strict=strict)
    if any(finding.severity == "error" for finding in found):
        return found
    return found + verdict.findings(document, dialect.lift(document), dialect, (*dialect.rules, *more), rigour)


def _is_clean(document: Any, dialect: Dialect) -> bool:
    """Is there certainly nothing wrong with it? Tools and settings are the same in most documents of a file."""
    taken = dialect.plain.take(document) if dialect.plain is not None else None
    written = wire.write(taken.rest) if taken is not None else b""
    return 0 < len(written) <= MOST_REMEMBERED and _is_clean_rest(written, dialect.name)


@lru_cache(maxsize=256)
def _is_clean_rest(written: bytes, name: str) -> bool:
    dialect = dialects.get(name)
    rest = wire.parse(written)
    return catalog.accepts(name, rest) and not verdict.findings(rest, dialect.lift(rest), dialect, dialect.rules)


def convert(document: Any, source: Dialect, target: Dialect, options: Options = BY_DEFAULT) -> Conversion:
    """One document in another dialect, with everything that got lost.

    Raises RefusedError, with the findings, when the document does not pass the schema of its dialect, and JobError
    when the target is only read.
    """
    made = _cast(document, source, target) if options == BY_DEFAULT else None
    return made or lower(lift(document, source), target, options, source)


def _cast(document: Any, source: Dialect, target: Dialect) -> Conversion | None:
    """The conversion of a document whose messages are plain in both dialects, and where nothing but names is lost and
    nothing is objected to; else None. What is given is taken back and compared."""
    if source.plain is None or target.plain is None or source is target:
        return None
    taken = source.plain.take(document)
    if taken is None:
        return None
    written = wire.write(taken.rest)
    if len(written) > MOST_REMEMBERED:
        return None
    mould = _rest(written, source.name, target.name, taken.begins_with_system, bool(taken.names)).mould()
    if mould is None:
        return None
    given = target.plain.give(mould.fresh(), taken.turns)
    if target.plain.take(given) != (mould.rest, taken.turns, {}):
        return None
    losses = [_lost(mould.loss, document, i, name) for i, name in taken.names.items()]
    return Conversion(given, lambda: lift(document, source), losses, [])


class _Rest:
    """What is left of some documents without their turns.

    To make a mould of it takes as long as a small conversion, so that is done when the second such document comes.
    """

    def __init__(self, *terms: Any) -> None:
        self._terms, self._is_new = terms, True

    def mould(self) -> Mould | None:
        """The mould, if there is one yet."""
        if self._is_new:
            self._is_new = False
            return None
        return self._made

    @cached_property
    def _made(self) -> Mould | None:
        return _mould(*self._terms)


_rest = lru_cache(maxsize=16)(_Rest)
"""Few, for the documents of one program have the same tools and settings, and these may be large."""


def _mould(written: bytes, source: str, target: str, has_system: bool, is_named: bool) -> Mould | None:
    """What a sample becomes in place of the turns of these documents, if nothing is lost but its name."""
    one, two = dialects.get(source), dialects.get(target)
    if one.plain is None or two.plain is None:
        return None
    turns = sample(has_system)
    document = one.plain.give(wire.parse(written), turns)
    path, messages = messages_of(document)
    if is_named:
        messages[-1]["name"] = "x"
    if not catalog.accepts(source, document):
        return None
    try:
        made = lower(lift(document, one), two, source=one)
    except RefusedError:
        return None
    taken = two.plain.take(made.document)
    named = wire.pointer((*path, len(messages) - 1, "name"))
    lost = [(loss.kind, loss.where, loss.before) for loss in made.losses]
    if made.findings or taken is None or taken.turns != turns or lost != [("dropped", named, "x")] * is_named:
        return None
    return Mould(wire.rereader(wire.write(made.document)), taken.rest, made.losses[0] if is_named else None)


def _lost(loss: Loss | None, document: Any, index: int, name: str) -> Loss:
    """The loss of the name of a message, like that of the sample."""
    assert loss is not None
    where = wire.pointer((*messages_of(document)[0], index, "name"))
    return msgspec.structs.replace(loss, where=where, before=name)


def lower(
    before: Transcript,
    target: Dialect,
    options: Options = BY_DEFAULT,
    source: Dialect | None = None,
    *,
    rigour: Rigour = "document",
) -> Conversion:
    """A transcript in a dialect, with the losses that reading it back shows and what its service would refuse.

    All places are places of the source.
    """
    if target.lower is None:
        raise JobError("read-only-dialect", f"{target.title} is only read, never written")
    written = trust.lowered(_chosen(before, options), source, target, options)
    after = target.lift(written)
    found = verdict.of_output(written, after, target, before, source, rigour=rigour)
    return Conversion(written, lambda: before, difference(before, after, source, target), found)


def _chosen(transcript: Transcript, options: Options) -> Transcript:
    """What is to be written. The rest is missing when the output is read back, so it is told like any other loss."""
    if options.branch == "all" or transcript.head is None:
        return transcript
    return msgspec.structs.replace(transcript, messages=branch(transcript))
