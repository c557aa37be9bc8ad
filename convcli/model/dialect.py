"""What one dialect is: a frozen record of functions and tables. `dialects/` holds one file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from convcli.model.rule import Rule
from convcli.model.transcript import Path, ToolResult, Transcript

Framing = Literal["document", "records", "events", "sse"]
LossKind = Literal["dropped", "changed", "encoded", "invented", "moved"]


class Clue(NamedTuple):
    """Why a document looks like a dialect. The unique strongest clue wins.

    90 and more: a mark that only this dialect has · 60: several marks together · 30: a shape that others share.
    """

    strength: int
    reason: str


class Options(NamedTuple):
    """What a user may choose about the output. `form`: one of `Dialect.forms`; `chunk`: characters in a fragment;
    `branch`: of a tree only the active branch, or all that the target can carry."""

    form: str | None = None
    chunk: int = 0
    branch: Literal["active", "all"] = "all"


class Convention(NamedTuple):
    """How a dialect writes a tool result for which its vendor has no field.

    `express` is the function that `lower` itself uses: it gives the kind and value with which `lift` reads the
    result back, or None where the vendor has a field. `loss` says what the reader of the report is told.
    """

    express: Callable[[ToolResult], tuple[str, Any] | None]
    loss: Mapping[str, tuple[LossKind, str]]
    """By kind of the result: the kind of loss and the reason."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """One vendor's shape. All functions are pure: they do not change their input, print, or draw random numbers."""

    name: str
    title: str
    specification: str
    """Where the format is specified, in which version, and when that was read."""
    framings: tuple[Framing, ...]
    forms: tuple[str, ...]
    """What a document may be (`request`, `response`, `list`, …); the first is written by default."""
    detect: Callable[[Any], Clue | None]
    lift: Callable[[Any], Transcript]
    lower: Callable[[Transcript, Options], Any] | None
    """None: the dialect is only read."""
    rules: tuple[Rule, ...] = ()
    """What the vendor's API rejects though the schema allows it."""
    plain: Plain | None = None
    """A short cut for documents whose messages are plain."""
    conventions: tuple[Convention, ...] = ()
    reasons: Mapping[str, str] = {}
    """Why a field of the intermediate format cannot be written, by field (`message.name`, `reasoning`, …)."""
    places: Mapping[str, Path] = {}
    """Where a field stands in this dialect, relative to its node, when it is not the node itself; `..` goes up."""
    envelope: frozenset[str] = frozenset()
    """Keys of extras that are transport and bookkeeping."""
    family: str = ""
    """The name under which it carries extras and opaque parts, where relatives share one; else its own."""
    carries_all: bool = False
    """Its documents hold the extras of other dialects too; those of others hold only their own."""

    def owns(self, name: str) -> bool:
        """Are extras under this name its own?"""
        return name == (self.family or self.name)


Turn: TypeAlias = tuple[Any, ...]
"""One turn, as light as can be compared:

    (role, text)                                      the role is system, developer, user or assistant
    ("user", [text, (media type, base64), …])         texts and images, never a single text; of an image in the web
                                                      the type is empty, and its URL stands for the data
    ("assistant", text or None, [(id, tool, arguments), …])
    ("tool", id, text)                                a result, behind the calls of the turn before it
"""

Call: TypeAlias = tuple[str, str, dict[str, Any]]
"""The id of a call, the name of the tool, and the arguments."""


class Taken(NamedTuple):
    """A document in pieces: what is left without its turns, the turns, and what stands beside them.

    `names` are those that messages have, by the index of the message. Hardly any service knows names, so their loss is
    told on the short way too.
    """

    rest: Any
    turns: list[Turn]
    names: dict[int, str]

    @property
    def begins_with_system(self) -> bool:
        """Is there an instruction before everything else?"""
        return bool(self.turns) and self.turns[0][0] == "system"


class Plain(NamedTuple):
    """What a dialect knows of plain conversations.

    `take` gives the turns of a document if all of them are plain, else None. `give` puts turns into a document, in
    place of its own; that document begins with a system text exactly if they do. What comes of turns that are not
    plain in the dialect, `take` does not give back.
    """

    take: Callable[[Any], Taken | None]
    give: Callable[[Any, list[Turn]], Any]
