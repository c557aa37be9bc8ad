"""Samples of Inspect archives that are stored in pieces: a folder for each, as in logs of version 3.

`sample.json` has the sample without its lists. `messages/N.json`, `events/N.json`, `calls/N.json` and
`attachments/N.json` have the items of a list from number N, without gaps. The conversation is ranges of the list of
messages (`message_refs`), and `attachment://N` refers to an item of the attachments.
Format: inspect_ai/log/_recorders/chunked (format.py, read.py), as `inspect log convert-chunked` of 0.3.285 writes it;
read 2026-11-28."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from convcli.model.errors import ContentError
from convcli.wire.patterns import pattern

SAMPLES = "samples/"
"""The folder of the samples."""
MOST_MESSAGES = 1 << 20
"""Messages of a sample: a few bytes in an archive can name the same ones very often."""
_PIECE = pattern(
    r"(samples/.+_epoch_[0-9]+)/"
    r"(?:(?:sample|metadata|skeleton)|(?:messages|events|calls|attachments)/(?:[0-9]{1,18}|stats|uuids))\.json"
)


def samples_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the samples among the files of an archive, each with the names of its pieces, if it has any."""
    samples = dict[str, list[str]]()
    for name in names:
        match = _PIECE.fullmatch(name)
        if match is not None:
            samples.setdefault(match[1], []).append(name)
        elif name.startswith(SAMPLES) and name.endswith(".json"):
            samples[name] = []
    return samples


def joined_sample(sample: str, pieces: list[str], parsed: Callable[[str], Any]) -> dict[str, Any]:
    """Returns a sample as it would be in one file. `parsed` reads a piece. Raises ContentError for a missing one."""

    def items(kind: str) -> list[Any]:
        every = list[Any]()
        for start, name in _ordered(sample, kind, pieces):
            if start != len(every):
                raise ContentError("broken-compression", "it does not begin where the piece before it ends", file=name)
            every += _checked(parsed(name), list, name)
        return every

    shell = f"{sample}/sample.json"
    if shell not in pieces:
        raise ContentError("broken-compression", "sample.json is missing", file=sample)
    document = dict(_checked(parsed(shell), dict, shell))
    pool, metadata = items("messages"), f"{sample}/metadata.json"
    document["messages"] = _chosen(document.pop("message_refs", None), pool, shell)
    document["events"] = items("events")
    document["events_data"] = {"messages": pool, "calls": items("calls")}
    document["attachments"] = {str(number): text for number, text in enumerate(items("attachments"))}
    return {**document, "metadata": parsed(metadata)} if metadata in pieces else document


def _ordered(sample: str, kind: str, pieces: list[str]) -> list[tuple[int, str]]:
    """Returns the pieces of a list in order, with the numbers of their first items."""
    before = f"{sample}/{kind}/"
    starts = {name: name.removeprefix(before).removesuffix(".json") for name in pieces if name.startswith(before)}
    return sorted((int(start), name) for name, start in starts.items() if start.isdigit())


def _checked(value: Any, kind: type, name: str) -> Any:
    if not isinstance(value, kind):
        raise ContentError("not-json", f"this is no {'list' if kind is list else 'object'}", file=name)
    return value


def _chosen(references: Any, pool: list[Any], name: str) -> list[Any]:
    """Returns the messages in these ranges of the pool. Raises ContentError for others than the pool has."""
    if not isinstance(references, list) or not all(_is_range(each, len(pool)) for each in references):
        raise ContentError("not-json", "message_refs are no ranges of the messages", file=name)
    if sum(stop - start for start, stop in references) > MOST_MESSAGES:
        raise ContentError("compression-bomb", f"the sample has more than {MOST_MESSAGES:,} messages", file=name)
    return [message for start, stop in references for message in pool[start:stop]]


def _is_range(value: Any, length: int) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)
    return is_pair and 0 <= value[0] <= value[1] <= length
