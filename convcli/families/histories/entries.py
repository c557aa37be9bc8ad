"""What the histories of small chat programs share: results among other parts, and results that can only be text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from convcli.kit.objects import Native, Spelling
from convcli.kit.pairing import Pairing
from convcli.model.transcript import Message, Part, Text, ToolCall, ToolResult
from convcli.wire import exact_json


def runs(parts: Sequence[Part]) -> list[slice]:
    """The messages of one entry: a result is a message of its own, what stands between results is one message."""
    cuts = [0]
    for at, part in enumerate(parts):
        if isinstance(part, ToolResult):
            cuts += [at, at + 1]
    cuts = sorted({*cuts, len(parts)})
    return [slice(start, end) for start, end in pairwise(cuts)] or [slice(0, 0)]


class Answers:
    """The results of one entry, which find their calls when the whole entry has been read."""

    __slots__ = ("_pairing", "_waiting")

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._waiting: list[ToolResult] = []

    def add(self, id_: str | None, name: str | None, value: Any) -> ToolResult:
        """A result with what it says of its call: a string is text, any other value data."""
        result = ToolResult(id_ or "", name or "", "text" if isinstance(value, str) else "data", value)
        self._waiting.append(result)
        return result

    def pair(self) -> None:
        """Give the results of the entry the ids and names of their calls."""
        given = [(result.tool_call_id or None, result.name or None) for result in self._waiting]
        for result, (id_, name) in zip(self._waiting, self._pairing.results(given) if given else (), strict=True):
            result.tool_call_id, result.name = id_, name
        self._waiting.clear()

    def adopt(self, messages: Sequence[Message]) -> None:
        """Give calls without an id those that their results name."""
        adopted = self._pairing.adopted
        for message in messages if adopted else ():
            for part in message.parts:
                if isinstance(part, ToolCall):
                    part.id = adopted.get(part.id, part.id)


def silent(native: Native, *keys: str) -> Spelling:
    """The spelling of an object in which some of `keys`, which are written by default, are missing or say nothing."""
    missing = [key for key in keys if not native.get(key)]
    return {"missing": missing} if missing else {}


def without(native: Native, spelling: Spelling) -> Native:
    """The object without the keys that `silent` found."""
    missing = spelling.get("missing")
    return {key: value for key, value in native.items() if key not in missing} if missing else native


def renamed(native: Native, names: dict[str, str]) -> tuple[Native, list[str]]:
    """The object under today's names of keys, and which old names it had; a key under both names keeps its own."""
    old = [key for key in native if key in names and names[key] not in native]
    return ({names[key] if key in old else key: value for key, value in native.items()}, old) if old else (native, old)


def has_failed(result: ToolResult) -> bool:
    """Does the result say that its tool failed?"""
    return result.kind == "error" or bool(result.is_error)


def in_words(result: ToolResult) -> str:
    """What a model can read of a result in a format that has only text: data as JSON, the texts among media."""
    if result.kind == "multimodal":
        return "\n".join(part.text for part in result.value if isinstance(part, Text))
    return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)


def has_media(result: ToolResult) -> bool:
    """Does the result hold anything that no text says?"""
    return result.kind == "multimodal" and any(not isinstance(part, Text) for part in result.value)
