"""Renames the tools of one agent program to those of another, by the dated table `tool_names.json`.

A tool of the table does one operation (`shell`, `read`, `edit`), and states its name of each field of that operation
(`command`, `timeout_ms`). Fields in other units are other fields.

A call is renamed only if every argument has a field that the other program's tool has too, and that tool gets all that
it requires. Any other call keeps its name. Tools of older versions (`is_old`) are only read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript
from convcli.proof.reasons import SET, Loss
from convcli.wire import exact_json

TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}
RENAMED = ("tool_call.name", "tool_call.arguments", "tool_result.name")
"""The fields that differ in a renamed call and its result."""


class Tool(NamedTuple):
    """A tool of a program: its operation, and its name of each field."""

    operation: str
    name: str
    keys: Mapping[str, str]
    required: frozenset[str]
    is_old: bool = False

    def fields(self, arguments: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, Any] | None:
        """Returns the arguments by field; None if one has no field, or a value of another type."""
        of_key = {key: field for field, key in self.keys.items()}
        if not all(key in of_key and _is_of(types[of_key[key]], value) for key, value in arguments.items()):
            return None
        return {of_key[key]: value for key, value in arguments.items()}

    def takes(self, fields: Mapping[str, Any]) -> bool:
        """True if a call with these fields is a call of this tool."""
        return self.required <= fields.keys() <= self.keys.keys()


def _is_of(kind: str, value: Any) -> bool:
    return isinstance(value, TYPES[kind]) and (isinstance(value, bool) is (kind == "boolean"))


@cache
def table() -> Mapping[str, Any]:
    """Returns the table: its date, the types of the fields, and the tools of each program with their source."""
    with open(os.path.join(os.path.dirname(__file__), "tool_names.json"), "rb") as file:
        content: Mapping[str, Any] = exact_json.parse(file.read())
    return content


def programs() -> list[str]:
    """Returns the programs of the table."""
    return list(table()["programs"])


@cache
def tools_of(program: str) -> tuple[Tool, ...]:
    """Returns the tools of a program; none for an unknown program."""
    return tuple(
        Tool(
            entry["operation"],
            entry["name"],
            entry["arguments"],
            frozenset(entry["required"]),
            entry.get("is_old", False),
        )
        for entry in table()["programs"].get(program, ())
    )


# ---------------------------------------------------------------- renaming


def renamed(transcript: Transcript, source: Dialect | None, program: str) -> Transcript:
    """Returns the transcript with its calls, and the names in their results, as this program has them.

    The transcript itself if nothing is renamed. A tool that the transcript defines keeps the name of its definition.
    """
    known = [tool for one in (source.programs if source is not None else ()) for tool in tools_of(one.name)]
    defined = {tool.name for tool in transcript.tools or ()}
    of_name: dict[str, list[Tool]] = {}
    for tool in known:
        if tool.name not in defined:
            of_name.setdefault(tool.name, []).append(tool)
    if not of_name:
        return transcript
    names: dict[str, str] = {}
    others = tuple(tool for tool in tools_of(program) if not tool.is_old)
    messages = [_renamed_message(message, of_name, others, names) for message in transcript.messages]
    return replace(transcript, messages=messages) if names else transcript


def _renamed_message(
    message: Message, known: Mapping[str, list[Tool]], others: tuple[Tool, ...], names: dict[str, str]
) -> Message:
    """Returns the message with renamed calls and results; adds the other names of calls by id to `names`."""
    parts = list(_renamed_parts(message, known, others, names))
    return message if all(map(lambda one, other: one is other, parts, message.parts)) else replace(message, parts=parts)


def _renamed_parts(
    message: Message, known: Mapping[str, list[Tool]], others: tuple[Tool, ...], names: dict[str, str]
) -> Iterator[Part]:
    for part in message.parts:
        if isinstance(part, ToolCall):
            other = _renamed_call(part, known.get(part.name, []), others)
            if other is not part:
                names[part.id] = other.name
            else:
                names.pop(part.id, None)
            yield other
        elif isinstance(part, ToolResult) and part.name in known and part.tool_call_id in names:
            yield replace(part, name=names[part.tool_call_id])
        else:
            yield part


def _renamed_call(call: ToolCall, known: list[Tool], others: tuple[Tool, ...]) -> ToolCall:
    """Returns the call as one of the other tools, the first that takes all of its arguments; else the call itself."""
    if call.raw_arguments is not None or call.custom:
        return call
    for tool in known:
        fields = tool.fields(call.arguments, table()["types"])
        for other in others if fields is not None and tool.takes(fields) else ():
            if other.operation == tool.operation and other.takes(fields or {}):
                arguments = {other.keys[field]: value for field, value in (fields or {}).items()}
                return replace(call, name=other.name, arguments=arguments)
    return call


def explained(losses: list[Loss], before: Transcript, after: Transcript) -> list[Loss]:
    """Returns the losses; those of renamed tools have the user's wish as their reason."""
    pairs = set[bytes]()
    for message, other in zip(before.messages, after.messages, strict=True):
        for one, two in zip(message.parts, other.parts, strict=True):
            if one is not two and isinstance(one, (ToolCall, ToolResult)) and isinstance(two, (ToolCall, ToolResult)):
                pairs.add(_pair(one.name, two.name))
            if one is not two and isinstance(one, ToolCall) and isinstance(two, ToolCall):
                pairs.add(_pair(one.arguments, two.arguments))
    return [replace(loss, why=SET) if _is_of_pair(loss, pairs) else loss for loss in losses]


def _pair(before: Any, after: Any) -> bytes:
    return exact_json.write([before, after])


def _is_of_pair(loss: Loss, pairs: set[bytes]) -> bool:
    return loss.kind == "changed" and loss.field in RENAMED and _pair(loss.before, loss.after) in pairs
