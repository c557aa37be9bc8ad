"""Histories of small chat programs, which mix results with other parts, and name their calls late or never."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import bare_system
from convcli.kit.objects import Native, make_extras
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.survey import Survey, for_requests


class Entries:
    """The entries of one history while they are lifted. Results find their calls when an entry is complete."""

    __slots__ = ("_waiting", "context")

    def __init__(self, dialect: str, document: Any, node_path: Path = ()) -> None:
        self.context = LiftContext(dialect, document, node_path=node_path)
        self.context.origin.form = "list" if isinstance(document, list) else ""
        self._waiting: list[ToolResult] = []

    def extras(self, extra: Native | None) -> dict[str, Any] | None:
        """Returns extras of the dialect."""
        return make_extras(self.context.dialect, extra)

    def call(self, id_: Any, name: str, arguments: Any, extra: Native | None) -> ToolCall:
        """Adds a call; without an id it may get the id of its result."""
        id_ = self.context.pairing.call(id_ or None, name)
        return ToolCall(id_, name, arguments or {}, extras=self.extras(extra))

    def result(self, id_: Any, name: Any, value: Any, extra: Native | None) -> ToolResult:
        """Adds a result with its id and name: a string is text, any other value data."""
        kind: Any = "text" if isinstance(value, str) else "data"
        result = ToolResult(id_ or "", name or "", kind, value, extras=self.extras(extra))
        self._waiting.append(result)
        return result

    def pair(self) -> None:
        """Gives the waiting results the ids and names of their calls."""
        stated = [(result.tool_call_id or None, result.name or None) for result in self._waiting]
        paired = self.context.pairing.results(stated) if stated else ()
        for result, (id_, name) in zip(self._waiting, paired, strict=True):
            result.tool_call_id, result.name = id_, name
        self._waiting.clear()

    def system(self, text: str | None, key: str) -> None:
        """Adds an instruction stored outside the entries."""
        if text:
            self.context.add(Message("system", [Text(text)]), (key,), [()])

    def add(self, message: Message, parts: Sequence[Part], part_paths: Sequence[Path], place: Path) -> None:
        """Adds one entry with the fields of `message`: each result is its own message, and so is everything between
        two."""
        self.pair()
        for at, run in enumerate(_runs(parts)):
            is_result = run.start < run.stop and isinstance(parts[run.start], ToolResult)
            one = Message("tool" if is_result else message.role, list(parts[run]))
            one.name = None if is_result else message.name
            one.extras = message.extras if at == 0 else None
            self.context.add(one, place, list(part_paths[run]))

    def transcript(self, **fields: Any) -> Transcript:
        """Returns the transcript of the entries so far. Calls without an id get those of their results."""
        adopted = self.context.pairing.adopted
        for message in self.context.messages if adopted else ():
            for part in message.parts:
                if isinstance(part, ToolCall):
                    part.id = adopted.get(part.id, part.id)
        return self.context.transcript(**fields)


def _runs(parts: Sequence[Part]) -> list[slice]:
    cuts = [0]
    for at, part in enumerate(parts):
        if isinstance(part, ToolResult):
            cuts += [at, at + 1]
    cuts = sorted({*cuts, len(parts)})
    return [slice(start, end) for start, end in pairwise(cuts)] or [slice(0, 0)]


def system_apart() -> Rule:
    """Returns a rule for files that store their instruction apart from the entries: a leading one must be one text."""

    def check(survey: Survey) -> Iterator[Breach]:
        if survey.form != "list" and bare_system(survey.messages) is not survey.messages:
            yield Breach("misplaced-system", NodeRef(0), "the instruction is among the entries, not apart from them")

    return for_requests(Rule(("misplaced-system",), check))


def renamed(native: Native, names: dict[str, str]) -> Native:
    """Returns the object with the current key names; a key under both names keeps its own."""
    old = [key for key in native if key in names and names[key] not in native]
    return {names[key] if key in old else key: value for key, value in native.items()} if old else native
