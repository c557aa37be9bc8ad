"""Differences that two runs of one conversation always have: ids and times outside of messages' content."""

from __future__ import annotations

import re
from typing import Any

from convcli.engine.compare import Difference
from convcli.proof.equality import as_json
from convcli.proof.reasons import MISSING
from convcli.wire.patterns import pattern

OPAQUE = "opaque.value"
"""The content of events and of blocks of unknown kinds, which also hold ids and times."""

_ID = pattern(r"(?:^|[_.-])(?:id|ids|uuid|guid)$|[a-z](?:Ids?|IDs?|Uuid|UUID)$", re.ASCII)
_TIME = pattern(
    r"(?:^|[_.-])(?:at|ts|time|times|timestamp|date|duration|latency|elapsed|created|updated)(?:_ms|_s)?$"
    r"|[a-z](?:At|Time|Timestamp|Date|Duration|Latency)(?:Ms|MS)?$|^(?:duration|latency|elapsed)M[sS]$",
    re.ASCII,
)
"""Names of keys and fields whose values are ids or times."""
_UUID = pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PREFIXED = pattern(r"([a-z]{2,12}[_-])(?=[A-Za-z]*\d)[A-Za-z0-9_-]{12,80}")
"""Ids such as `toolu_01…`, `msg_…` and `chatcmpl-…`."""
_MOMENT = pattern(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?")


def is_identity(difference: Difference) -> bool:
    """True if nothing but ids and times differs, in a place that no model reads."""
    if difference.level == "content" and difference.field != OPAQUE:
        return False
    name = difference.field.rpartition(".")[2]
    if difference.before is MISSING or difference.after is MISSING:
        return _is_named(name)
    return _agree(as_json(difference.before), as_json(difference.after), name)


def _agree(before: Any, after: Any, name: str) -> bool:
    """True if both values are the same except for ids and times; `name` is that of their key."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_agree(value, after[key], key) for key, value in before.items())
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(_agree(*pair, name) for pair in zip(before, after, strict=True))
    if isinstance(before, (dict, list)) or isinstance(after, (dict, list)):
        return False
    return before == after or _is_named(name) or _kind(before) == _kind(after) != ""


def _is_named(name: str) -> bool:
    return _ID.search(name) is not None or _TIME.search(name) is not None


def _kind(value: Any) -> str:
    """Returns what a string looks like: a UUID, an id with its prefix, or a time; empty for anything else."""
    if not isinstance(value, str):
        return ""
    if _UUID.fullmatch(value):
        return "uuid"
    if _MOMENT.fullmatch(value):
        return "time"
    prefixed = _PREFIXED.fullmatch(value)
    return prefixed[1] if prefixed is not None else ""
