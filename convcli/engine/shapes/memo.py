"""Converts documents of one dialect to another, and remembers the results by shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import msgspec

from convcli.engine.conversion import Conversion
from convcli.engine.reading import lift
from convcli.engine.shapes import probes
from convcli.engine.shapes.probes import MARK
from convcli.engine.shapes.reading import Format, Place, Shape, filled, read
from convcli.engine.shapes.structures import Reader, Structures, reader
from convcli.engine.shapes.templates import NotRememberedError, Template, function
from convcli.engine.shapes.values import EXCLUDED_KEYS, UnreadableError
from convcli.model.dialect import Dialect
from convcli.model.errors import ConvcliError
from convcli.model.findings import Finding
from convcli.proof.reasons import Loss, level_of
from convcli.validation import schemas, unknown
from convcli.wire.exact_json import exact, write_text

AtLength: TypeAlias = Callable[[Any, Dialect, Dialect], Conversion]

OFTEN = 4
"""Occurrences of a shape before it is learned."""
CONFIRMATIONS = 2
"""Documents of a shape that are converted both ways after it was learned."""
COMPILING = 5
"""The cost of two functions that read documents, in conversions."""
PATIENCE, MOST_PATIENCE = 128, 1024
"""Documents of unknown shapes after which some are not examined; each known one offsets several."""
WORTH, PAUSE = 4, 512
MOST_SHAPES = 512
MOST_VALUES = 256
MOST_FAILURES = 2
"""How often values in the same places are probed without success."""


class Outcome(msgspec.Struct):
    """What becomes of documents of one shape.

    `make` builds output, losses and findings of the rules from free values; `shape` is that of the output, read back,
    with the expected values. Once it is confirmed, `read` reads outputs back, with these `constants`.
    """

    make: Callable[[list[Any]], tuple[Any, list[Any], list[Loss], list[Finding]]]
    shape: Shape
    unconfirmed: int = CONFIRMATIONS
    read: Reader | None = None
    constants: tuple[Any, ...] = ()


class Remembered:
    """How documents are read, and the outcomes by shape; None for shapes that cannot be remembered.

    `confirmed` has outcomes that were confirmed.
    """

    def __init__(self, form: Format) -> None:
        self.form = form
        self.outcomes: dict[Shape, Outcome | None] = {}
        self.confirmed = Structures[Outcome](form)


class PairConverter:
    """Converts documents of one dialect into another.

    `convert_in_full` converts without the memo; `budget` limits the conversions spent on learning to the number of
    others, so that learning at most doubles the cost of a job.
    """

    def __init__(self, source: Dialect, target: Dialect, convert_in_full: AtLength, budget: int = 0) -> None:
        self.source, self.target, self.budget = source, target, budget
        self._known = unknown.known_of(source)
        self.remembered = Remembered(Format(_named(source)))
        """Replaced, never changed in place, when reading rules change: other threads may be using it."""
        self._convert, self._output = convert_in_full, Format(_named(target), is_output=True)
        self.made = 0
        """The number of documents converted from a remembered shape."""
        self.failure = ""
        """Why nothing is remembered any more."""
        self.patience = PATIENCE
        self._texts = probes.texts_for(source, target)
        self._seen: Counter[int] = Counter()
        """Counts by the hash of a shape."""
        self._probed: set[Place] = set()
        self._failures: Counter[frozenset[Place]] = Counter()

    def convert(self, document: dict[str, Any]) -> Conversion:
        """Converts one document. Raises what the full conversion raises."""
        if self.patience <= 0:
            self._wait()
            return self.convert_in_full(document)
        remembered = self.remembered
        outcome: Outcome | None
        shape: Shape = ()
        try:
            found = remembered.confirmed.find(document)
            if found is not None:
                outcome, values = found
            else:
                shape, values = read(document, remembered.form)
                outcome = remembered.outcomes.get(shape)
        except (UnreadableError, TypeError, RecursionError):  # unhashable, or nested too deeply
            self.patience -= 1
            return self.convert_in_full(document)
        if outcome is None:
            return self._unknown(document, shape, values)
        made = self._made(document, outcome, values)
        if made is None:
            self._stop("an output is not read back as it was made")
            return self.convert_in_full(document)
        self.made += 1
        self.patience = min(self.patience + WORTH, MOST_PATIENCE)
        return self._confirmed(document, outcome, made, shape) if outcome.unconfirmed else made

    def convert_in_full(self, document: dict[str, Any]) -> Conversion:
        """Converts one document without remembered shapes."""
        return self._convert(document, self.source, self.target)

    def _wait(self) -> None:
        """Examines documents again after a pause, because other shapes may come, unless remembering has failed."""
        self.patience -= 1
        if self.patience <= -PAUSE and not self.failure:
            self.patience = PATIENCE

    def _stop(self, why: str) -> None:
        self.failure, self.patience, self.remembered = why, 0, Remembered(self.remembered.form)

    def _made(self, document: dict[str, Any], outcome: Outcome, values: list[Any]) -> Conversion | None:
        """Converts a document with these values; None if it is not read back the same."""
        made, expected, losses, findings = outcome.make(values)
        if outcome.read is not None:
            is_same = outcome.read(made) == (outcome.constants, expected)
        else:
            is_same = read(made, self._output) == (outcome.shape, expected)
        if not is_same:
            return None
        findings += unknown.of_losses(losses, self._known, document)
        return Conversion(made, partial(lift, document, self.source), losses, findings)

    def _confirmed(self, document: dict[str, Any], outcome: Outcome, made: Conversion, shape: Shape) -> Conversion:
        """Compares one of the first documents of a shape with its full conversion, which is returned."""
        done = self.convert_in_full(document)
        outcome.unconfirmed -= 1
        if not _is_same(made, done):
            self._stop("a document came out another way")
        elif not outcome.unconfirmed:
            with suppress(UnreadableError):
                self._hasten(document, shape, outcome, made)
        return done

    def _hasten(self, document: dict[str, Any], shape: Shape, outcome: Outcome, made: Conversion) -> None:
        """Compiles functions that read such documents and their outputs. Raises UnreadableError if there are none."""
        remembered = self.remembered
        if remembered.outcomes.get(shape) is outcome and remembered.confirmed.add(document, shape, outcome):
            self.budget -= COMPILING
        read_back = reader(outcome.shape, self._output)
        found = read_back(made.document)
        if found is not None:
            outcome.constants, outcome.read = found[0], read_back

    # ---------------------------------------------------------------- learning

    def _unknown(self, document: dict[str, Any], shape: Shape, values: list[Any]) -> Conversion:
        """Converts a document of unknown shape in full; learns the shape if it is frequent."""
        done = self.convert_in_full(document)
        self.patience -= 1
        self.budget += 1
        known = self.remembered.outcomes
        if shape in known or len(values) > MOST_VALUES or len(known) >= MOST_SHAPES:
            return done
        self._seen[hash(shape)] += 1
        if self._seen[hash(shape)] >= OFTEN:
            try:
                self._learn(document, shape, done)
            except (NotRememberedError, ConvcliError):
                self.remembered.outcomes[shape] = None
            except UnreadableError:  # a dialect reads tags or JSON, and this document has some
                pass
        return done

    def _learn(self, document: dict[str, Any], shape: Shape, done: Conversion) -> None:
        """Learns what becomes of a shape, if the budget allows; new places of values are probed first."""
        marks, places = list[Any](), set[Place]()

        def mark(kind: int, old: Any, place: Place) -> Any:
            places.add(place)
            marks.append(probes.mark(kind, old, len(marks)))
            return marks[-1]

        marked = filled(document, self.remembered.form, mark)
        new = frozenset(places - self._probed)
        if any(failed <= new and times == MOST_FAILURES for failed, times in self._failures.items()):
            raise NotRememberedError("a dialect depends on a free value")
        cost = 2 + (len(self._texts) + 1 if new else 0)
        if cost > self.budget:
            return
        self.budget -= cost
        if new:
            self._failures[new] += 1
        if read(marked, self.remembered.form) != (shape, marks):
            raise NotRememberedError("marks are read differently")
        outcome = self._outcome(marks, self.convert_in_full(marked))
        self._check(document, outcome, done)
        if new:
            self._probe(document, outcome)
            self._failures.pop(new, None)
        self._probed |= new
        self.remembered.outcomes[shape] = outcome

    def _probe(self, document: dict[str, Any], outcome: Outcome) -> None:
        """Raises NotRememberedError if the outcome depends on a value.

        A dialect that looks for tags, or for JSON, is reliable if there is none.
        """
        try:
            for other in probes.variants(document, self.remembered.form, self._texts):
                self._check(other, outcome, self.convert_in_full(other))
        except (NotRememberedError, ConvcliError):
            form = self.remembered.form.stricter()
            if form is None:
                raise
            self.remembered = Remembered(form)
            self._probed = set()
            self._failures.clear()
            self._probe(document, outcome)

    def _outcome(self, marks: list[Any], done: Conversion) -> Outcome:
        """Derives the outcome of a shape from that of its marks. Raises NotRememberedError."""
        if done.document.__class__ is not dict:
            raise NotRememberedError("the output is not an object")
        shape, back = read(done.document, self._output)
        if not all(MARK.search(write_text(value)) for value in back):
            raise NotRememberedError("an id or text is generated, and may depend on all others")
        template = Template(marks, partial(level_of, source=self.source, target=self.target))
        parts = done.document, back
        losses = ", ".join(map(template.loss, done.losses))
        findings = ", ".join(template.finding(one) for one in done.findings if one.code != unknown.CODE)
        make = function(f"({', '.join(map(template.value, parts))}, [{losses}], [{findings}])")
        return Outcome(make, shape)

    def _check(self, document: dict[str, Any], outcome: Outcome, done: Conversion) -> None:
        """Raises NotRememberedError if the outcome differs from the full conversion."""
        made = self._made(document, outcome, read(document, self.remembered.form)[1])
        if made is None or not _is_same(made, done):
            raise NotRememberedError("the result differs")


def _is_same(one: Conversion, other: Conversion) -> bool:
    """True if two conversions are the same, with all losses and findings."""
    losses = ([loss.to_dict() for loss in each.losses] for each in (one, other))
    return exact(one.document, other.document) and exact(*losses) and one.findings == other.findings


def _named(dialect: Dialect) -> frozenset[str]:
    """Returns the root keys that the schema names, except those outside of the conversation."""
    return (schemas.keys_in(dialect.name, ()) or frozenset()) - EXCLUDED_KEYS
