"""Tool definitions that are one object with a name, a description and a schema."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.passes import on_tools
from convcli.model.transcript import ToolDefinition


class Definitions(NamedTuple):
    """How a vendor writes definitions. `owner` is the name for extras; `schema` is the key of the schema. A missing
    description is written as an empty string."""

    owner: str
    keys: Keys
    schema: str = "parameters"

    def lift(self, native: Native) -> ToolDefinition:
        """Returns the definition in an object."""
        extras = make_extras(self.owner, self.keys.extra(native))
        return ToolDefinition(native["name"], native.get("description") or None, native.get(self.schema), extras=extras)

    def write(self, tool: ToolDefinition) -> Native:
        """Returns the object, in the vendor's order."""
        native: Native = {"name": tool.name, "description": tool.description or ""}
        native |= {} if tool.parameters is None else {self.schema: tool.parameters}
        return self.keys.put(native, get_extras(tool.extras, self.owner), sort=True)


described = on_tools(lambda tool: replace(tool, description=None) if tool.description == "" else tool)
"""Removes empty descriptions."""
