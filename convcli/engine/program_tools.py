"""The tools of agent programs whose sessions do not define them, from the dated table `program_tools.json`.

Each entry states the version of the program and its source. The descriptions are convcli's own, because those of the
programs are not published or not free.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import Any

from convcli.model.transcript import ToolDefinition
from convcli.wire import exact_json


@cache
def table() -> Mapping[str, Any]:
    """Returns the table: its date, and the tools of each program."""
    with open(os.path.join(os.path.dirname(__file__), "program_tools.json"), "rb") as file:
        content: Mapping[str, Any] = exact_json.parse(file.read())
    return content


@cache
def definitions_of(program: str) -> Mapping[str, ToolDefinition]:
    """Returns the known tools of a program by name; empty for an unknown program."""
    entries = table()["programs"].get(program, ())
    return {
        entry["name"]: ToolDefinition(entry["name"], entry["description"], entry["parameters"]) for entry in entries
    }
