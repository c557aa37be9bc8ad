"""Rules and their results: breaches, each at a node of a transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from convcli.model.findings import Severity
from convcli.model.transcript import Path

NO_INDEX = -1

Purpose: TypeAlias = Literal["document", "request", "output"]
"""What the transcript is judged as: a stored document, a request to a service, or an output that may be either."""
PURPOSES: tuple[Purpose, ...] = ("document", "request", "output")


class NodeRef(msgspec.Struct, frozen=True):
    """A node of a transcript (a tool, a message or a part of it; by default the transcript itself), and a field of it.

    `field` is named as in losses (`tool_call.id`, `toolChoice`); `steps` continue inside its value.
    """

    message: int = NO_INDEX
    part: int = NO_INDEX
    tool: int = NO_INDEX
    field: str = ""
    steps: Path = ()


class Breach(msgspec.Struct, frozen=True):
    """A violation of a service's rule. A note may end in a node, whose pointer is then printed with it."""

    code: str
    at: NodeRef
    message: str
    severity: Severity = "error"
    help: str = ""
    notes: tuple[tuple[str, NodeRef | None], ...] = ()


class Rule(msgspec.Struct, frozen=True):
    """A check, and the codes that it can report.

    `of_input` are the codes that a conversion also reports for its input, not only for its output: the document is
    contradictory or incomplete, and the output does not show it. `of_sent` are the codes that it reports only, or more
    severely, of what is sent to a service: a stored document may break it.

    `subjects` are what the rule is about (`validation.survey.SUBJECTS`): it is called only for transcripts that have
    one of them. `purposes` are what it applies to.
    """

    codes: tuple[str, ...]
    check: Callable[[Any], Iterable[Breach]]
    of_input: tuple[str, ...] = ()
    of_sent: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ("any",)
    purposes: tuple[Purpose, ...] = PURPOSES
