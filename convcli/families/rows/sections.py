"""The sections of a text in which chat templates list the tools of a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from convcli.families.rows import calls
from convcli.families.rows.thoughts import JOINT
from convcli.kit.objects import Native
from convcli.kit.values import read_json


class ToolSection(NamedTuple):
    """The texts around the tools, and between two of them.

    `joint` is between the section and the text of its turn, which follows the section if `is_first`; None if the turn
    has no other text. A section without a `tail` ends with its last tool. It may stand inside a text. `read_tool` reads
    a definition; tools that a comma separates are a JSON list.
    """

    head: str
    tail: str
    between: str = "\n"
    joint: str | None = JOINT
    is_first: bool = False
    read_tool: Callable[[str], Any] = read_json

    def put(self, text: str, definitions: Sequence[str]) -> str:
        """Returns the text with these tools."""
        section = f"{self.head}{self.between.join(definitions)}{self.tail}"
        if not self.tail:
            return f"{section}{self.between}{text}"
        pieces = (section, text) if self.is_first else (text, section)
        return (self.joint or "").join(filter(None, pieces))

    def read(self, text: str) -> tuple[str, list[Native]] | None:
        """Returns the text without its section, and the tools; None for a text without exactly this section."""
        if not self.tail:
            return self._read_open(text)
        listed, rest = self._split(text)
        natives = self._natives(listed)
        if not natives or not rest:
            return ("", natives) if natives else None
        joint = self.joint
        if joint is None or not (rest.startswith(joint) if self.is_first else rest.endswith(joint)):
            return None
        bare = rest.removeprefix(joint) if self.is_first else rest.removesuffix(joint)
        return (bare, natives) if bare else None

    def _split(self, text: str) -> tuple[str, str]:
        """Returns the text between head and tail, empty if there is none, and the text before or after."""
        head, tail = self.head, self.tail
        if not (text.startswith(head) if self.is_first else text.endswith(tail)):
            return "", text
        if self.joint is None:
            return text.removeprefix(head).removesuffix(tail) if text.startswith(head) else "", ""
        if self.is_first:
            listed, mark, rest = text.removeprefix(head).partition(tail)
        else:
            whole = text.removesuffix(tail)  # a head of each tool is between two of them as well
            rest, mark, listed = whole.partition(head) if head in self.between else whole.rpartition(head)
        return listed if mark else "", rest

    def _read_open(self, text: str) -> tuple[str, list[Native]] | None:
        before, mark, listed = text.partition(self.head)
        natives: list[Native] = []
        while mark:
            piece, is_ended, rest = listed.partition(self.between)
            native = read_json(piece)
            if not is_ended or not calls.are_tools([native]):
                break
            natives, listed = [*natives, native], rest
        return (f"{before}{listed}", natives) if natives else None

    def _natives(self, listed: str) -> list[Native] | None:
        is_list = self.between.strip() == ","
        natives: Any = read_json(f"[{listed}]") if is_list else list(map(self.read_tool, listed.split(self.between)))
        return natives if natives and calls.are_tools(natives) else None
