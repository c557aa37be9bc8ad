"""Which dialect an input is in, and whether each of its records is a document or all together are one."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli import dialects
from convcli.engine import detection
from convcli.model.dialect import Clue, Dialect
from convcli.model.document import Rows
from convcli.model.errors import ContentError

LOOK_AHEAD, LOOK_AHEAD_BYTES = 32, 1 << 20
"""Records of a file that are asked for their dialect before the first of them is used."""
CERTAIN = 60
"""The strength from which on the clue of another dialect makes a record a stranger in its file."""


# --- which dialect ---------------------------------------------------------------------------------------------------


class ChosenDialect(NamedTuple):
    """The dialect of an input, whether all its records are one document, and why, unless the user named it."""

    dialect: Dialect
    is_whole: bool
    detection: detection.Detection | None


def choose(values: list[Any], among: list[Dialect], framing: str, one_line: bool, is_named: bool) -> ChosenDialect:
    """The dialect of the first records, and whether each of them is a document or all together are one."""
    each = [
        dialect for dialect in among if reads_each(dialect) or (framing == "json" and "document" in dialect.framings)
    ]
    framings = {"sse"} if framing == "sse" else {"events"} if framing == "jsonl" or one_line else set()
    whole = [dialect for dialect in among if framings.intersection(dialect.framings)]
    each = [] if framing == "sse" else each
    if not is_named:
        detection.refuse_foreign(values)
    if framing == "json":
        _refuse_several(values[0], among)
    if is_named:
        return _read_as_named(values, among[0], each, whole, framing)
    single = _agreed(values, each) or _agreed(values[:1], each)
    together = detection.candidates(Rows(values), whole) if whole else []
    if not single and not together:
        raise detection.unrecognised(values)
    strongest = detection.strongest(sorted(single + together, key=lambda pair: (-pair[1].strength, pair[0])))
    is_whole = any(name == strongest.dialect and clue is strongest.clue for name, clue in together)
    return ChosenDialect(dialects.get(strongest.dialect), is_whole, strongest)


def _refuse_several(value: Any, among: list[Dialect]) -> None:
    """Training sets come as an array of transcripts. An array that is itself a transcript of these dialects is fine."""
    if not isinstance(value, list) or not value or any(dialect.detect(value) for dialect in among):
        return
    candidates = _agreed(value[:LOOK_AHEAD], [dialect for dialect in among if reads_each(dialect)])
    if candidates:
        name, _ = max(candidates, key=lambda pair: pair[1].strength)
        raise ContentError(
            "wrong-framing",
            f"this is a JSON array of {len(value):,} transcripts ({name}), and a JSON document holds one",
            help="write each on a line of its own, as jq -c '.[]' FILE > FILE.jsonl does",
        )


def _read_as_named(
    values: list[Any], dialect: Dialect, each: list[Dialect], whole: list[Dialect], framing: str
) -> ChosenDialect:
    if not each and not whole:
        names = {"json": "a JSON document", "jsonl": "JSON Lines", "sse": "a stream of events (SSE)"}
        raise ContentError("wrong-framing", f"this is {names[framing]}, and {dialect.title} is never written so")
    if each and whole:
        one, all_ = dialect.detect(values[0]), dialect.detect(Rows(values))
        return ChosenDialect(dialect, (all_.strength if all_ else 0) > (one.strength if one else 0), None)
    return ChosenDialect(dialect, bool(whole), None)


def _agreed(values: list[Any], among: list[Dialect]) -> list[tuple[str, Clue]]:
    """The dialects that recognise each of the values, with their strongest clue."""
    candidates = []
    for dialect in among:
        clues = [dialect.detect(value) for value in values]
        if None not in clues:
            candidates.append((dialect.name, max((clue for clue in clues if clue), key=lambda clue: clue.strength)))
    return candidates


def reads_each(dialect: Dialect) -> bool:
    """Can each line of a file be a document? Where all lines together are one, only if the dialect says so."""
    return "records" in dialect.framings or ("document" in dialect.framings and "events" not in dialect.framings)
