"""Chooses the dialect of an input, and whether its records are documents or form one document together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.model.dialect import Dialect, Evidence
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from convcli.model.modules import Later
from convcli.validation import schemas

if TYPE_CHECKING:
    from convcli.engine import detection
else:
    detection = Later("convcli.engine.detection")

HELD = frozenset(("messages", "contents", "conversations", "input"))
"""Keys of a record that holds messages, and is none itself."""
LOOK_AHEAD, LOOK_AHEAD_BYTES = 32, 1 << 20
"""Records of a file that are read to choose its dialect before the first is used."""
CERTAIN = 60
"""The strength from which a match with another dialect makes a record an error in its file."""


# --- which dialect ---------------------------------------------------------------------------------------------------


class ChosenDialect(msgspec.Struct, frozen=True):
    """The dialect of an input, whether all its records form one document, and why; no reason if the user named it."""

    dialect: Dialect
    is_whole: bool
    detection: detection.Detection | None


def choose(
    values: list[Any], named: Dialect | None, framing: str, one_line: bool, is_lines: bool = False
) -> ChosenDialect:
    """Chooses the dialect of the first records, unless `named`, and whether each record is a document.

    `is_lines`: the file name says that a single line is one of many.
    """
    are_sessions = _are_sessions(values)
    are_documents = framing == "json" or are_sessions
    framings = {"sse"} if framing == "sse" else {"events"} if framing == "jsonl" or one_line else set()
    framings = set() if are_sessions else framings

    def is_one(dialect: Dialect) -> bool:
        is_document = reads_each(dialect) or (are_documents and "document" in dialect.framings)
        return is_document and framing != "sse"

    def is_whole_of(dialect: Dialect) -> bool:
        return not framings.isdisjoint(dialect.framings)

    if named is not None:
        return _read_as_named(values, named, is_one(named), is_whole_of(named), framing, is_lines)
    detection.refuse_unsupported(values)

    def matching(*, with_plugins: bool) -> tuple[list[detection.Candidate], list[detection.Candidate]]:
        single = _agreed(values, None, is_one, with_plugins=with_plugins) if framing != "sse" else []
        whole = detection.candidates(Rows(values), is_whole_of, with_plugins=with_plugins) if framings else []
        return single, whole

    single, together = matching(with_plugins=False)
    if detection.are_weak(single + together):
        single, together = matching(with_plugins=True)
    if not single and not together:
        raise detection.unrecognised(values)
    ranked = sorted(single + together, key=lambda pair: (-pair[1].strength, pair[0]))

    def is_of_all(one: detection.Candidate) -> bool:
        return any(name == one[0] and evidence is one[1] for name, evidence in together)

    strongest = detection.confirmed(ranked, values, lambda one: Rows(values) if is_of_all(one) else values[0])
    is_whole = is_of_all((strongest.dialect, strongest.evidence))
    return ChosenDialect(dialects.get(strongest.dialect), is_whole, strongest)


def choose_lines_of_messages(values: list[Any], named: Dialect | None) -> ChosenDialect | None:
    """Chooses the dialect of a file with one message per line: all lines are one list of messages.

    None if a line is no message, or a document of the named dialect by itself. Raises ContentError if several dialects
    are equally likely.
    """
    if len(values) < 2 or not all(map(_is_message, values)):
        return None
    whole = list(values)
    if named is not None:
        is_list = any(schemas.accepts(named.name, [each]) for each in values)
        is_list = is_list and not all(schemas.accepts(named.name, each) for each in values)
        return ChosenDialect(named, True, None) if is_list else None
    ranked = detection.candidates(whole)
    ranked = [each for each in ranked if schemas.accepts(each[0], whole)]
    if not ranked:
        return None
    strongest = detection.confirmed(ranked, [whole])
    evidence = replace(strongest.evidence, reason=f"{strongest.evidence.reason}, one message per line")
    return ChosenDialect(dialects.get(strongest.dialect), True, replace(strongest, evidence=evidence))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str) and not HELD.intersection(value)


def _are_sessions(values: list[Any]) -> bool:
    """True if each value has rows of its own, as sessions of a database have."""
    return bool(values) and all(isinstance(value, Rows) for value in values)


def choose_members(values: list[Any], named: Dialect | None) -> ChosenDialect | None:
    """Chooses the dialect of the first members of a JSON array of documents; None if the array is one document.

    An array of messages is one document in some dialects; training sets and answers are arrays of documents. The
    stronger match decides; if both are equally strong, it is one document.
    """
    each = _agreed(values, named, has_documents)
    whole = sorted(_matching(values, named, has_documents).values(), reverse=True)
    if not each and not whole and named is None:
        each = _agreed(values, None, has_documents, with_plugins=True)
    best = max((evidence.strength for _, evidence in each), default=0)
    if not best:
        if named is None or not has_documents(named) or whole or not _accepts_members_only(named.name, values):
            return None
        return ChosenDialect(named, False, None)
    if whole and whole[0].strength >= best:
        return None
    if named is not None:
        return ChosenDialect(named, False, None)
    detection.refuse_unsupported(values)
    strongest = detection.confirmed(sorted(each, key=lambda pair: (-pair[1].strength, pair[0])), values)
    return ChosenDialect(dialects.get(strongest.dialect), False, strongest)


def has_documents(dialect: Dialect) -> bool:
    """True if a JSON value can be a document, alone or as one of several."""
    return "document" in dialect.framings or "records" in dialect.framings


def _accepts_members_only(name: str, values: list[Any]) -> bool:
    return any(schemas.accepts(name, value) for value in values) and not schemas.accepts(name, values)


def _read_as_named(
    values: list[Any], dialect: Dialect, is_one: bool, is_whole: bool, framing: str, is_lines: bool
) -> ChosenDialect:
    if not is_one and not is_whole:
        names = {"json": "a JSON document", "jsonl": "JSON Lines", "sse": "a stream of events (SSE)"}
        raise ContentError("wrong-framing", f"this is {names[framing]}, but {dialect.title} never has this layout")
    if is_one and is_whole:
        one, all_ = detection.evidence(values[0], dialect), detection.evidence(Rows(values), dialect)
        if one is all_ is None:
            return ChosenDialect(dialect, is_lines and not reads_each(dialect), None)
        return ChosenDialect(dialect, (all_.strength if all_ else 0) > (one.strength if one else 0), None)
    return ChosenDialect(dialect, is_whole, None)


def _matching(
    value: Any, named: Dialect | None, fits: detection.Fits, *, with_plugins: bool = False
) -> dict[str, Evidence]:
    """Returns the evidence of the dialects that fit, or of the named one only."""
    if named is None:
        return dict(detection.candidates(value, fits, with_plugins=with_plugins))
    match = detection.evidence(value, named) if fits(named) else None
    return {} if match is None else {named.name: match}


def _agreed(
    values: list[Any], named: Dialect | None, fits: detection.Fits, *, with_plugins: bool = False
) -> list[detection.Candidate]:
    """Returns the dialects that all of the values can be in, with their strongest match; if none, those of the first.

    A dialect must detect each value, or accept by schema those that are certain in no dialect: some requests among
    requests with tools have nothing but text.
    """
    found = [_matching(value, named, fits, with_plugins=with_plugins) for value in values]
    names = dict.fromkeys(name for each in found for name in each)
    matches = {name: [each.get(name) for each in found] for name in names}
    certain = [
        any(evidence is not None and evidence.strength >= CERTAIN for evidence in row)
        for row in zip(*matches.values(), strict=True)
    ]
    candidates = []
    for name, each in matches.items():
        open_ = [i for i, evidence in enumerate(each) if evidence is None]
        if not any(certain[i] or not schemas.accepts(name, values[i]) for i in open_):
            candidates.append((name, max(filter(None, each), key=lambda evidence: evidence.strength)))
    return candidates or [(name, each[0]) for name, each in matches.items() if each[0] is not None]


def other_dialect(value: Any, dialect: Dialect, strength: int) -> tuple[str, Evidence] | None:
    """Returns the dialect that a record is clearly in, with the match, if it is not the file's dialect.

    `strength` is that of the match by which the file's dialect was detected.
    """
    own = detection.evidence(value, dialect)
    if own is not None and own.strength >= strength:
        return None
    best = detection.candidates(value, reads_each)
    if not best or best[0][1].strength < CERTAIN or (own is not None and own.strength >= best[0][1].strength):
        return None
    if own is not None and not schemas.findings(dialect.name, value, strict=True):
        return None  # it is a record of the file's dialect too, whatever its rules say
    return best[0]


def is_for_records(dialect: Dialect) -> bool:
    """True if each record is a document, whatever its content."""
    return "records" in dialect.framings and "events" not in dialect.framings and not dialect.many


def reads_each(dialect: Dialect) -> bool:
    """True if a line can be a document. A dialect whose lines can form one document must declare it."""
    return "records" in dialect.framings or ("document" in dialect.framings and "events" not in dialect.framings)
