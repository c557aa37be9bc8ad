"""What the fuzz tests share: inputs that are nearly right, and everything that convcli does with one.

All choices come from a `random.Random`, so hypothesis can shrink them and a long run can name its seed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from convcli import dialects, testing
from convcli.engine import detection, pipeline
from convcli.engine.conversion import Conversion
from convcli.engine.reading import empty_finding, not_understood
from convcli.engine.shapes.memo import PairConverter
from convcli.engine.shapes.reading import Place, filled
from convcli.engine.shapes.values import TEXT, UnreadableError
from convcli.engine.spelling import FORM
from convcli.files.framing import open_source
from convcli.jobs import inputs
from convcli.jobs.documents import Skipped
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.decimals import Decimal
from convcli.wire.pointers import pointer
from convcli.wire.surrogates import Spelled
from tests.laws.test_mutants import VALUES, containers
from tests.planting import leaf_paths
from tests.support import names, sample_files, samples_of

TEXTS = [
    *("", "\0", "\ud800", "\u202e", "null", "{", "[1", '{"a":1}', "NaN", "../..", "data:", "data:image/png;base64,"),
    *("data:;base64,AA==", "image/", "audio/wav", "http://", "gs://b/o", "2024-13-45T99:99:99Z", "2024-01-02", "1e999"),
    *("tool", "user", "assistant", "system", "model", "text", "tool_use", "tool_result", "function", "string"),
    Spelled(r'"\uDd1e"'),
]
NUMBERS = [-1, 1, 10**400, -(10**20), 0.1, -0.0, 1e308, 1e-320, Decimal("0.70000000000000000001")]
TOKENS = [
    *(bytes([byte]) for byte in b'\0\xff"\\{}[],:\n\r'),
    *(b"\xef\xbb\xbf", b"\n\n", b"data: "),
    *(b"NaN", b"1e400", b"-0", b"9" * 5000, b"\\ud800", b"\\u0000", b"[" * 300, b'{"a":' * 300, b"data: [DONE]\n\n"),
    b"\\uDFAA",
    *(b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"event: x\n", b"\xe2\x80\xa8", b"null", b"{}\n"),
]


class Trial(NamedTuple):
    """A document that was edited until its schema was only just content."""

    dialect: Dialect
    document: Any


def written() -> list[Dialect]:
    """The dialects that are written as well as read."""
    return [dialect for dialect in dialects.builtin() if dialect.is_written]


# --- inputs ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def contents() -> list[bytes]:
    """The bytes of every sample, good and bad."""
    paths = [path for name in names() for folder in (".", "bad") for path in sample_files(name, folder)]
    return [path.read_bytes() for path in paths]


def edited_bytes(random: Random) -> bytes:
    """The bytes of a sample with a few of them cut, copied, changed or put in."""
    data = bytearray(random.choice(contents()))
    for _ in range(random.randint(1, 4)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.randint(0, 40))
        edit = random.randint(0, 4)
        if edit == 0:
            del data[start:end]
        elif edit == 1:
            data[start:start] = random.choice(TOKENS)
        elif edit == 2:
            data[start:end] = bytes(random.randint(0, 255) for _ in range(random.randint(0, 4)))
        elif edit == 3:
            data[start:start] = data[: random.randint(0, len(data))]
        else:
            del data[start:]
    return bytes(data)


def edited_document(random: Random, dialect: Dialect) -> Any:
    """A sample of a dialect with a few members that are gone, moved, of another type or from another sample."""
    choice = samples_of(dialect.name)
    document = copy.deepcopy(random.choice(choice).document)
    for _ in range(random.randint(1, 5)):
        donor = random.choice(choice).document
        edit(random, random.choice(list(containers(document))), random.choice(list(containers(donor))))
    return document


def edit(random: Random, parent: Any, donor: Any) -> None:
    """Change one member of an object or a list; `donor` is an object or a list of a relative."""
    keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
    kind = random.randint(0, 6)
    if kind == 0 and isinstance(parent, dict) and isinstance(donor, dict):
        parent.update(copy.deepcopy(donor))
    elif kind == 1 and isinstance(parent, list):
        parent.insert(random.randint(0, len(parent)), value(random, donor))
    elif not keys:
        return
    elif kind == 2:
        del parent[random.choice(keys)]
    elif kind == 3:
        parent[random.choice(keys)] = copy.deepcopy(parent[random.choice(keys)])
    elif kind == 4:
        key = random.choice(keys)
        parent[key] = random.choice(WRAPPINGS)(parent[key])
    else:
        parent[random.choice(keys)] = value(random, donor)


WRAPPINGS: tuple[Callable[[Any], Any], ...] = (lambda old: [old] * 3, lambda old: {"type": old}, json.dumps)


def value(random: Random, donor: Any) -> Any:
    """Something for a member: a common value, an odd text or number, or a part of a relative."""
    return copy.deepcopy(random.choice([*VALUES, *TEXTS, *NUMBERS, donor, donor, donor]))


def hostile_form(random: Random, dialect: Dialect) -> Any:
    """An intermediate document whose `form`, which says how its source was spelled, somebody has edited.

    Where the source was spelled as usual there is no form; then one is made up, so that there is something to edit.
    """
    document = copy.deepcopy(random.choice(samples_of(dialect.name)).document)
    stored = copy.deepcopy(pipeline.convert(document, dialect, dialects.get("intermediate")).document)
    form = stored.setdefault(FORM, {"dialect": dialect.name, "digest": _digest(stored, dialect), "patch": []})
    for _ in range(random.randint(1, 4)):
        if random.randint(0, 1):
            form["patch"].append(_operation(random, document))
        else:
            places = list(containers(form))
            edit(random, random.choice(places), random.choice(list(containers(document))))
        if not isinstance(form.get("patch"), list):
            break
    return stored


def _digest(stored: Any, dialect: Dialect) -> str:
    """The digest of what the dialect writes of a stored transcript, so that a patch is applied."""
    hub = dialects.get("intermediate")
    return exact_json.digest(pipeline.lower(hub.lift(stored), dialect, source=hub).document)


def _operation(random: Random, document: Any) -> Any:
    """An operation of a JSON Patch at a place of the source."""
    path, leaf = random.choice([*leaf_paths(document), ((), document)])
    kind = random.choice(["add", "replace", "remove", "move", "test", "x"])
    return {"op": kind, "path": pointer(path[: random.randint(0, len(path))]), "from": pointer(path), "value": leaf}


# --- what is done with them ------------------------------------------------------------------------------------------


def read_in_every_way(data: bytes, path: Path) -> None:
    """Read bytes as whatever they are, and judge and convert what comes of them."""
    path.write_bytes(data)
    for way in (lambda source: source.document(), lambda source: list(source.records()), lambda s: list(s.events())):
        answered(lambda way=way: way_through(path, way))
    answered(lambda: use_file(path))


def way_through(path: Path, way: Callable[[Any], Any]) -> None:
    with open_source(str(path)) as source:
        way(source)


def use_file(path: Path) -> None:
    """What `validate` and `convert` do with a file."""
    with inputs.opened(str(path)) as source:
        for item in source:
            if not isinstance(item, Skipped):
                use(Trial(item.dialect, item.value))


def use(trial: Trial, targets: Sequence[Dialect] = ()) -> None:
    """Detects, validates and converts to every form of the targets, by default of every dialect.

    What comes out passes its schema. A document that its own schema refuses goes to one target: none is asked.
    """
    detection.candidates(trial.document)
    answered(lambda: pipeline.validate(trial.document, trial.dialect))
    every = targets or written()
    for target in every if schemas.accepts(trial.dialect.name, trial.document) else every[:1]:
        for form in (None, *target.forms):
            answered(lambda target=target, form=form: _convert(trial, target, form))


def _convert(trial: Trial, target: Dialect, form: str | None) -> None:
    done = pipeline.convert(trial.document, trial.dialect, target, Options(form))
    found = schemas.findings(target.name, done.document)
    assert not found, f"{trial.dialect.name} to {target.name} {form}: {found[0].code} at {found[0].where}"


def hold_laws(trial: Trial, target: Dialect) -> None:
    """What every document that its schema allows is promised, for one target: the laws, and the way back (L10)."""
    source = trial.dialect
    testing.assert_refuses_nothing(source, trial.document)
    transcript = source.lift(trial.document)
    if any(empty(trial.document, transcript, source) is not None for empty in (not_understood, empty_finding)):
        return
    if is_fitted(source):
        testing.assert_same(source, trial.document)
        testing.assert_writes(source, source.lift(trial.document))
    testing.assert_conversion(source, target, trial.document)
    testing.assert_pure(source, target, trial.document)
    testing.assert_restores(source, target, trial.document)


def is_fitted(dialect: Dialect) -> bool:
    """Is it written by `fit` and `write`?"""
    return dialect.is_written


def answered(action: Callable[[], None]) -> None:
    """Do it; a ConvcliError is an answer, and anything else a bug."""
    try:
        action()
    except ConvcliError:
        return


def is_whole(document: Any) -> bool:
    """No rows were put in or taken away without their lines."""
    return not isinstance(document, Rows) or len(document.lines) == len(document)


# --- what is remembered by shapes ------------------------------------------------------------------------------------


def hold_shapes(random: Random, dialect: Dialect, target: Dialect) -> None:
    """A document, and others that differ from it in free values only, become the same as the long way."""
    whole = [sample.document for sample in samples_of(dialect.name) if sample.document.__class__ is dict]
    if not whole or dialect is target:
        return
    converter = PairConverter(dialect, target, pipeline.convert_in_full, 10_000)
    document = random.choice(whole)
    for i in range(20):
        answers = [answered_by(convert, document) for convert in (converter.convert, converter.convert_in_full)]
        assert answers[0] == answers[1], "remembered and at length"
        if i > 3:
            document = with_other_values(random, document, converter)


def with_other_values(random: Random, document: dict[str, Any], converter: PairConverter) -> dict[str, Any]:
    def other(kind: int, old: Any, place: Place) -> Any:
        return random.choice(words()) if kind == TEXT else old

    try:
        return filled(document, converter.remembered.form, other)
    except UnreadableError:
        return document


@lru_cache(maxsize=1)
def words() -> list[str]:
    """Texts of all samples."""
    leaves = (leaf for name in names() for sample in samples_of(name) for _, leaf in leaf_paths(sample.document))
    return sorted({leaf for leaf in leaves if leaf.__class__ is str and 0 < len(leaf) < 400})


def answered_by(convert: Callable[[Any], Conversion], document: Any) -> Any:
    """All that comes of a conversion, be it an error."""
    try:
        done = convert(document)
    except ConvcliError as error:
        return str(error)
    return exact_json.key(done.document), [loss.to_dict() for loss in done.losses], done.findings
