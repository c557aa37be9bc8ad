"""Fuzzing for as long as you like: `python -m tests.fuzz_long --seconds 600 [--seed 7] [--only gemini] [--way bytes]`.

Prints every kind of failure once, with the seed that brings it back and the shortest traceback that tells it, and
exits 1 if there was one. `--seed` with the number of a failure repeats just that trial.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

from convcli import dialects
from convcli.validation import schemas
from tests import fuzzing
from tests.support import samples_of

WAYS = ("bytes", "documents", "forms", "laws", "laws", "shapes")


def trial(seed: int, way: str, only: str | None, folder: Path) -> None:
    """One input made from a seed and everything that convcli does with it. Raises whatever is wrong."""
    random = Random(seed)
    if way == "bytes":
        fuzzing.read_in_every_way(fuzzing.edited_bytes(random), folder / "input")
        return
    known = [dialect for dialect in dialects.builtin() if samples_of(dialect.name)]
    dialect = dialects.get(only) if only else random.choice(known)
    if way == "forms":
        fuzzing.use(fuzzing.Trial(dialects.get("intermediate"), fuzzing.hostile_form(random, dialect)))
        return
    if way == "shapes":
        fuzzing.hold_shapes(random, dialect, random.choice(fuzzing.written()))
        return
    document = fuzzing.edited_document(random, dialect)
    if not fuzzing.is_whole(document) or not schemas.accepts(dialect.name, document):
        return
    if way == "laws":
        fuzzing.hold_laws(fuzzing.Trial(dialect, document), random.choice(fuzzing.written()))
    else:
        fuzzing.use(fuzzing.Trial(dialect, document))


def kind_of(error: BaseException) -> str:
    """What tells one failure from another: the type, and the last place in the package, or the message."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/convcli/" in frame.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} {place} {str(error)[:80] if isinstance(error, AssertionError) else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, help="repeat this trial alone")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", metavar="DIALECT")
    parser.add_argument("--way", choices=WAYS)
    wish = parser.parse_args()
    end, seed, kinds = time.monotonic() + wish.seconds, wish.first, dict[str, int]()
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            seed = wish.seed if wish.seed is not None else seed + 1
            way = wish.way or WAYS[seed % len(WAYS)]
            try:
                trial(seed, way, wish.only, Path(folder))
            except Exception as error:
                _announce(error, seed, way, kinds)
            if wish.seed is not None:
                break
    sys.stdout.write(json.dumps({"trials": seed - wish.first, "failures": kinds}, indent=1) + "\n")
    return 1 if kinds else 0


def _announce(error: Exception, seed: int, way: str, kinds: dict[str, int]) -> None:
    kind = kind_of(error)
    kinds[kind] = kinds.get(kind, 0) + 1
    if kinds[kind] == 1:
        reported = "".join(traceback.format_exception(error)[-4:])
        sys.stdout.write(f"--- seed {seed}, way {way}\n{reported}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
