"""Tool definitions that are one object with a name, a description and a schema."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import NOTHING, Native, get_extras, make_extras
from convcli.kit.passes import on_tools
from convcli.kit.settings import Setting, same, whole
from convcli.model.transcript import Path, ToolDefinition

SCHEMA = Setting("parameters", lambda schema: schema if isinstance(schema, dict) else None, same)


class Definitions:
    """How a vendor writes definitions: the keys of the object in the vendor's order, each with its field of
    `ToolDefinition` (`inputSchema=parameters`), as in an `Envelope`. `required` are the values that are written for
    missing ones."""

    __slots__ = ("_envelope", "_required")

    def __init__(self, table: str, required: Native = NOTHING) -> None:
        stated = {key: field for key, _, field in (word.partition("=") for word in table.split()) if field}
        order = " ".join(word if word.endswith("=") else word.partition("=")[0] for word in table.split())
        fields = {key: SCHEMA if field == "parameters" else whole(field) for key, field in stated.items()}
        self._envelope, self._required = Envelope(order, fields), required

    def lift(self, native: Native, owner: str) -> ToolDefinition:
        """Returns the definition in an object; `owner` is the name for extras."""
        tool = ToolDefinition("")
        extra = self._envelope.lift(native, tool) or {}
        in_order = {key: native[key] for key in native if key in extra}  # losses are reported in the object's order
        tool.extras = make_extras(owner, in_order, tool=None)
        tool.strict = tool.strict or None
        return tool

    def lift_each(self, natives: Iterable[Native], prefix: Path, context: LiftContext) -> list[ToolDefinition]:
        """Returns the definitions of the list at `prefix`."""
        tools = [self.lift(native, context.dialect) for native in natives]
        context.origin.tools = [(*prefix, i) for i in range(len(tools))]
        return tools

    def write(self, tool: ToolDefinition, owner: str, **content: Any) -> Native:
        """Returns the object, in the vendor's order; `content` are the values of other keys."""
        native = self._envelope.write(tool, get_extras(tool.extras, owner), **content)
        return self._envelope.keys.ordered({**self._required, **native}) if self._required else native


def kept_whole(name: str, native: Native, owner: str) -> ToolDefinition:
    """Returns the definition of a tool that is no function: it is an extra as a whole."""
    return ToolDefinition(name, extras={owner: {"tool": native}})


def whole_of(tool: ToolDefinition, owner: str) -> Native | None:
    """Returns the object of a tool that `kept_whole` returned; None for any other."""
    return get_extras(tool.extras, owner).get("tool") if tool.parameters is None else None


described = on_tools(lambda tool: replace(tool, description=None) if tool.description == "" else tool)
"""Removes empty descriptions."""
