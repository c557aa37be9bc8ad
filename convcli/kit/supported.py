"""Sets of fields that many formats can store, for a dialect's `supports`. Tables of keys give the others: those of an
Envelope, a BlockTable, Settings and token counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from convcli.model.fields import PARTS
from convcli.model.fields import TEXTS as TEXTS
from convcli.model.transcript import MEDIA_KINDS


def fields(names: str) -> frozenset[str]:
    """Returns a set of names or keys that are separated by spaces."""
    return frozenset(names.split())


LIST = TEXTS - {"extras"}
"""Texts in a list, without an object around them that may have other keys."""
ITEMS = TEXTS - {"message.grouping"}
"""Texts in a list of items, which does not show where a message ends if the next one has the same role."""

TOOLS = fields("tools tool.name tool.description tool.parameters")
NAMED_CALLS = fields("tool_call.name tool_call.arguments tool_result.kind tool_result.value")
"""Calls and results without ids."""
CALLS = NAMED_CALLS | fields("tool_call.id tool_result.toolCallId")
OPAQUE = fields("opaque.dialect opaque.value")
TURNS = TEXTS | CALLS | OPAQUE | {"reasoning.text"}
"""Texts, thoughts, calls, results, and blocks that only the dialect itself knows."""
METADATA = frozenset(f"{part}.metadata" for part in PARTS if part != "opaque")
SENT = " ".join(("tool_result", *MEDIA_KINDS))
"""What most models are sent and do not answer with: `lacking(supports, SENT)` are the fields of an answer."""
SOURCES = "data url fileId path text mediaType"
"""Where media are from: `fit` drops or changes those that a vendor does not accept."""


def media(kinds: str = " ".join(MEDIA_KINDS), names: str = f"{SOURCES} name detail") -> frozenset[str]:
    """Returns these fields of these kinds of media."""
    return frozenset(f"{kind}.{name}" for kind in kinds.split() for name in names.split())


def lacking(supports: frozenset[str], nodes: str) -> frozenset[str]:
    """Returns these fields without those of some nodes, as of results and media in an answer."""
    return frozenset(name for name in supports if name.partition(".")[0] not in nodes.split())


def counted(table: Mapping[str, str] | Mapping[tuple[str, ...], str]) -> frozenset[str]:
    """Returns the token counts of a table of paths and names."""
    return frozenset(f"message.usage.{name}" for name in table.values())
