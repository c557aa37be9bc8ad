"""Compares remembered shapes with the full conversion: `python -m tests.memo_long --count 1000000 [--seed 7]`.

Each trial takes a pair of dialects and a document of the source, and converts copies of it with other values: texts,
ids of 1 to 200 characters, arguments, and numbers of every kind. Prints the documents converted, how many of them were
made from a remembered shape and compared, and each difference with its seed; exits 1 if there is one. `--only-seed`
repeats a trial.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import convcli
from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.conversion import Conversion
from convcli.engine.shapes import probes
from convcli.engine.shapes.memo import PairConverter
from convcli.engine.shapes.reading import Format, Place, filled
from convcli.engine.shapes.values import ARGUMENTS, ID, NAME, TEXT, UnreadableError, is_name
from convcli.model.dialect import Dialect
from convcli.model.errors import ConvcliError
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.decimals import Decimal
from tests import fuzzing
from tests.support import samples, samples_of

PACKAGE = Path(convcli.__file__).parent
RICH = 100_000
"""A budget with which everything is learned at once."""
EACH = 5000
"""Documents of a trial: enough that learning a shape is a small part of it."""
STRETCH = 100
"""Documents of a trial that mostly have one shape: it must come again to be remembered."""
MOST = 20
"""Differences after which it ends."""
LONGEST_ID = 200
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PREFIXES = ("", "call_", "toolu_", "fc_", "chatcmpl-", "tooluse_", "a_b_", "é_", "_", " ")
NUMBERS = (
    0, 0.0, -0.0, 1, 1.0, -1, -1.5, 0.1, Decimal("0.10000000000000000001"), Decimal("1e400"), 100.0, 1e-320,
    2**31, 2**53, float(2**53), 2**53 + 1, 2**63, 2**64, -(2**63), 10**30, 1e15, 1e16, 1e22, 14.0, 300.5, True, False,
)  # fmt: skip


class Counts(NamedTuple):
    """The documents of a trial that were compared, and how many of them were made from a remembered shape."""

    compared: int
    remembered: int


def sources() -> list[Dialect]:
    """Returns the dialects whose shapes are remembered."""
    return [one for one in dialects.builtin() if one.is_written and _objects(one) and not one.keeps_form]


def _objects(dialect: Dialect) -> list[dict[str, Any]]:
    return [sample.document for sample in samples_of(dialect.name) if sample.document.__class__ is dict]


def compare(seed: int, count: int = EACH, pair: tuple[str, str] | None = None) -> Counts:
    """Converts documents of one pair, by default any, in both ways. Raises AssertionError if one differs.

    A document that was not made from a remembered shape was converted in full: there is nothing to compare."""
    random = Random(seed)
    source = random.choice(sources()) if pair is None else dialects.get(pair[0])
    targets = [one for one in fuzzing.written() if one is not source and not one.keeps_form]
    target = random.choice(targets) if pair is None else dialects.get(pair[1])
    converter = PairConverter(source, target, pipeline.convert_in_full, RICH)
    original = min(random.choices(_objects(source), k=3), key=lambda one: len(exact_json.write(one)))
    for i in range(count):
        if i == STRETCH and not converter.made:  # no shape of this pair or document can be remembered
            return Counts(i, 0)
        if i % STRETCH == 0:
            document, values = _with_numbers(random, original), Values(random)
        one, made = values.put_into(document, converter.remembered.form), converter.made
        outcome = _outcome(converter.convert, one)
        if converter.made > made:
            text = f"{source.name} → {converter.target.name}: {one!a}"
            assert _is_same(outcome, _outcome(converter.convert_in_full, one)), text
    return Counts(count, converter.made)


def _with_numbers(random: Random, node: Any) -> Any:
    """Returns the value with other numbers in place of some of its numbers."""
    if node.__class__ is dict:
        return {key: _with_numbers(random, child) for key, child in node.items()}
    if node.__class__ is list:
        return [_with_numbers(random, child) for child in node]
    return random.choice(NUMBERS) if isinstance(node, (int, float)) and random.random() < 0.1 else node


class Values:
    """The free values of a stretch of documents: mostly of one kind, now and then of another."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.prefix = random.choice(PREFIXES[: random.choice((3, len(PREFIXES)))])
        self.length = random.choice((9, 30, 30, 30, LONGEST_ID))
        self.keys = random.sample(("score", "note", "id", "index"), random.randint(0, 2))
        self.number = random.choice(NUMBERS)
        self.is_json = random.random() < 0.4
        self.names = random.sample(words_of_program(), 5)

    def put_into(self, document: dict[str, Any], form: Format) -> dict[str, Any]:
        """Returns the document with free values of its own, and with keys that no schema names."""
        with suppress(UnreadableError):
            document = filled(document, form, self.value)
        return {**document, **{key: self._other(key) for key in self.keys if key not in document}}

    def value(self, kind: int, old: Any, place: Place) -> Any:
        """Returns another value of this kind."""
        if kind == ID:
            return self.id_()
        if kind == NAME:
            return self.name()
        if kind == TEXT:
            return json_text(self.random) if self.is_json else text(self.random)
        return self.random.choice(probes.OBJECTS) if kind == ARGUMENTS else self._other("score")

    def name(self) -> str:
        """Returns the name of a tool: mostly one of a few, or a word of the program, or one that services refuse."""
        which = self.random.random()
        if which < 0.01:
            return self.random.choice(("a-b", "a b", "é", "x" * 41, "x" * 65, "1a", "_", "a.b", "", "a\n", "<tool>"))
        return self.random.choice(words_of_program() if which < 0.1 else self.names)

    def id_(self) -> str:
        """Returns an id of 1 to 200 characters."""
        random = self.random
        is_other = random.random() < 0.01
        prefix = random.choice(PREFIXES) if is_other else self.prefix
        length = random.randint(1, LONGEST_ID if is_other else self.length)
        return (prefix + "".join(random.choices(LETTERS, k=length)))[:LONGEST_ID]

    def _other(self, key: str) -> Any:
        if key == "note":
            return text(self.random)
        if self.random.random() < 0.02:
            return self.random.choice(NUMBERS)
        is_plain = self.number.__class__ in (int, float)
        return self.number.__class__(self.number + self.random.randint(0, 9)) if is_plain else self.number


def text(random: Random) -> str:
    """Returns a text of a sample, one that some reader might interpret, or one of any characters."""
    which = random.random()
    if which < 0.9:
        return f"Sentence {random.randint(0, 10**6)}."
    if which < 0.98:
        return random.choice(fuzzing.words() if which < 0.95 else probes.TEXTS)
    codes = (32, 60, 92, 34, 0x2028, 0xD800, 0x1F600, random.randint(0, 0xFFFF))
    characters = "".join(map(chr, random.choices(codes, k=random.randint(0, 12))))
    return characters.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # as JSON is read: no pairs


@cache
def words_of_program() -> list[str]:
    """Returns the strings in the code of convcli that may be names: some reader may know one."""
    found = set(probes.NAMES)
    for path in PACKAGE.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        found |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(filter(is_name, found))


@cache
def _keys() -> list[str]:
    """Returns the keys of all schemas and samples, which a reader may look for in a text."""
    found = set[str]()

    def collect(node: Any) -> None:
        if node.__class__ is dict:
            found.update(node)
        for child in node.values() if node.__class__ is dict else node if isinstance(node, list) else ():
            collect(child)

    for dialect in dialects.builtin():
        found.update(schemas.keys_in(dialect.name, ()) or ())
    for sample in samples():
        collect(sample.document)
    return sorted(found)


def json_text(random: Random) -> str:
    """Returns JSON in a string, mostly of an object with keys that readers may look for; some is no JSON."""
    value = _json_value(random, 0)
    written = json.dumps(value, ensure_ascii=random.random() < 0.5, separators=random.choice((None, (",", ":"))))
    return written[: random.randint(1, len(written))] if random.random() < 0.02 else written


def _json_value(random: Random, depth: int) -> Any:
    which = random.random()
    if depth == 0 or (depth < 4 and which < 0.3):
        if random.random() < 0.3:
            return [_json_value(random, depth + 1) for _ in range(random.randint(0, 3))]
        keys = random.sample(_keys(), random.randint(0, 3))
        return {key: _json_value(random, depth + 1) for key in keys}
    if which < 0.6:
        return random.choice(("a", "error", "text", "function", "", json_text(random) if depth < 3 else "b"))
    return random.choice((0, 1, -1.5, True, False, None, 10**20))


def _outcome(convert: Any, document: dict[str, Any]) -> Conversion | str:
    """Returns the conversion, or the error in place of it."""
    try:
        done: Conversion = convert(document)
    except ConvcliError as error:
        return f"{type(error).__name__}: {error}"
    return done


def _is_same(one: Conversion | str, other: Conversion | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    losses = ([loss.to_dict() for loss in each.losses] for each in (one, other))
    return (
        exact_json.exact(one.document, other.document) and exact_json.exact(*losses) and one.findings == other.findings
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="remembered conversions to compare")
    parser.add_argument("--seconds", type=float, default=math.inf, help="CPU seconds after which it ends")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--only-seed", type=int, help="repeat this trial alone")
    wish = parser.parse_args()
    seed, compared, remembered, differences = wish.seed, 0, 0, dict[str, str]()
    start = time.process_time()
    while remembered < wish.count and time.process_time() - start < wish.seconds and len(differences) < MOST:
        seed = wish.only_seed if wish.only_seed is not None else seed + 1
        try:
            counts = compare(seed)
        except Exception as error:
            differences[str(seed)] = f"{type(error).__name__}: {error}"[:2000]
            counts = Counts(0, 0)
        compared, remembered = compared + counts.compared, remembered + counts.remembered
        if wish.only_seed is not None:
            break
    seconds = round(time.process_time() - start)
    report = {"converted": compared, "remembered": remembered, "cpu_seconds": seconds, "differences": differences}
    sys.stdout.write(json.dumps(report, indent=1, ensure_ascii=True) + "\n")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
