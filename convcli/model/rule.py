"""What a rule is and what it gives: breaches, each at a node of a transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from convcli.model.findings import Severity
from convcli.model.transcript import Path

NO_INDEX = -1


class NodeRef(msgspec.Struct, frozen=True):
    """A node of a transcript: a tool, a message or a part of it, or by default the transcript; and a field of it.

    `field` is named as in losses (`tool_call.id`, `toolChoice`); `steps` go on inside its value.
    """

    message: int = NO_INDEX
    part: int = NO_INDEX
    tool: int = NO_INDEX
    field: str = ""
    steps: Path = ()


class Breach(msgspec.Struct, frozen=True):
    """A rule of a service that a transcript breaks. `notes` may end in a node, whose place is then told with them."""

    code: str
    at: NodeRef
    message: str
    severity: Severity = "error"
    help: str = ""
    notes: tuple[tuple[str, NodeRef | None], ...] = ()


class Rule(msgspec.Struct, frozen=True):
    """A check, and the codes of what it can find.

    `of_input` are those of them that a conversion tells of what it reads, not only of what it writes: the document
    contradicts itself or is not whole, and the output does not show it.
    """

    codes: tuple[str, ...]
    check: Callable[[Any], Iterable[Breach]]
    of_input: tuple[str, ...] = ()
