"""Every sample with one value put in place of another: what its schema still allows comes back (L1d), and is written
as it was lifted (L1c).

Samples show what people write; between them hide rare values at one place. `python -m tests.laws.test_edits`
tries more values and tells all that fail, with `--to DIALECT` also of conversions.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import reduce
from itertools import islice
from operator import getitem
from typing import Any

import pytest

from convcli import dialects, testing
from convcli.model.dialect import Dialect
from convcli.model.document import with_value
from convcli.model.errors import ContentError, ConvcliError, RefusedError
from convcli.validation import schemas
from convcli.wire import exact_json
from tests import tiers
from tests.fuzzing import Trial, hold_laws, is_fitted, is_whole
from tests.support import Sample, dumped, names, samples_of

FEW = (None, "", -0.0, 1, [], {}, "x")
MANY = (
    *FEW, 0.0, True, False, 0, -1, 1.0, 2**70, 0.1, " ", "{}", '{"a":1}', "error", "tool", "assistant",
    [None], [{}], ["x"], {"a": 1}, {"type": "x"}, {"type": "text", "text": "x"}, [{"type": "text", "text": "x"}],
)  # fmt: skip
SKIPPED = 61
"""The usual tier tries one of so many edits, a prime number, so that each value is tried somewhere."""
LARGE = 6000
"""Bytes of a sample that would take too long."""

Path = tuple[str | int, ...]


INSIDE = "(the JSON in this text)"
"""A step from a text to what it says."""


def nodes(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value of a document and where it is; those of JSON in its texts too."""
    yield path, value
    children: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    elif isinstance(value, str) and value.startswith("{"):
        with suppress(ContentError):
            children = [(INSIDE, exact_json.parse(value))]
    for step, child in children:
        yield from nodes(child, (*path, step))


def replaced(document: Any, path: Path, value: Any) -> Any:
    """The document with another value at a place; what is beside the way there is shared."""
    if INSIDE not in path:
        return with_value(document, path, value)
    depth = path.index(INSIDE)
    inner = exact_json.parse(reduce(getitem, path[:depth], document))
    return with_value(document, path[:depth], exact_json.write_text(replaced(inner, path[depth + 1 :], value)))


def edits(value: Any, values: Iterable[Any]) -> Iterator[Any]:
    """What may stand in place of a value: other values, or itself with an item more or a key less."""
    yield from values
    if isinstance(value, dict):
        yield {**value, "zz": "x"}
        yield {**value, "zz": None}
        yield from ({other: value[other] for other in value if other != key} for key in value)
        yield dict(reversed(value.items()))
    elif isinstance(value, list):
        yield [*value, {}]
        yield [*value, *copy.deepcopy(value[-1:])]


def edited(name: str, values: Iterable[Any]) -> Iterator[tuple[Sample, Path, Any]]:
    """The samples of a dialect, each with a place and the other value to put there: once for each kind of place."""
    seen: set[Any] = set()
    for sample in samples_of(name):
        if len(dumped(sample.document)) > LARGE:
            continue
        for path, value in nodes(sample.document):
            place = tuple("*" if isinstance(step, int) else step for step in path)
            shape = place, type(value), tuple(sorted(value)) if isinstance(value, dict) else None
            if shape not in seen:
                seen.add(shape)
                yield from ((sample, path, other) for other in edits(value, values))


def fault(dialect: Dialect, document: Any) -> str:
    """How a document that its schema allows is not kept; empty when it is."""
    if not dialect.is_written or not is_whole(document) or not schemas.accepts(dialect.name, document):
        return ""
    try:
        testing.assert_same(dialect, document)
        testing.assert_writes(dialect, dialect.lift(document))
        testing.assert_refuses_nothing(dialect, document)
    except RefusedError as error:
        return "" if error.code == "no-messages" else f"refused: {error.message}"
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", [name for name in names() if is_fitted(dialects.get(name))])
def test_a_sample_with_one_other_value_is_kept(name: str) -> None:
    dialect = dialects.get(name)
    for sample, path, other in islice(edited(name, FEW), 0, None, 1 if tiers.is_exhaustive() else SKIPPED):
        broken = fault(dialect, replaced(sample.document, path, other))
        assert not broken, f"{sample} with another value at {path}: {broken}"


def main() -> int:
    """All that fails, with many values; with `--to`, whatever a conversion to these dialects is promised to be too."""
    parser = argparse.ArgumentParser(prog="python -m tests.laws.test_edits", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="DIALECT", help="whose samples; by default all")
    parser.add_argument("--to", action="append", default=[], metavar="DIALECT")
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.names or names():
        for sample, path, other in edited(name, FEW if arguments.to else MANY):
            document = replaced(sample.document, path, other)
            for broken in faults(dialects.get(name), document, arguments.to):
                failed += 1
                sys.stdout.write(f"{sample} {'/'.join(map(str, path))}: {broken}\n")
    return int(failed > 0)


def faults(dialect: Dialect, document: Any, targets: Iterable[str]) -> Iterator[str]:
    """How a document is not kept, and to which target it cannot be converted as promised."""
    try:
        broken = fault(dialect, document)
        if broken:
            yield broken
        if not is_whole(document) or not schemas.accepts(dialect.name, document):
            return
    except Exception as error:
        yield f"a crash: {error!r}"
        return
    for target in targets:
        try:
            hold_laws(Trial(dialect, document), dialects.get(target))
        except ConvcliError:
            pass
        except Exception as error:
            yield f"to {target}: {error!r:.300}"


if __name__ == "__main__":
    sys.exit(main())
