"""Assembles the arguments of a call from `partialArgs`: values at JSON Paths, whose strings come in fragments.

Specification: `PartialArg` of Vertex AI (streamFunctionCallArguments), as typed by google-genai 3.3.0; read 2026-11-27.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native
from convcli.wire.patterns import pattern

STEP = pattern(r"""\.([^.\[\]]+)|\[(\d+)\]|\[(?:'([^']*)'|"([^"]*)")\]""")
"""A step of a JSON Path: a member, an index, or a member in quotes."""
VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def add_fragments(arguments: Native, fragments: list[Native]) -> Native:
    """Returns the arguments with these fragments. A fragment without a readable path is kept under `partialArgs`."""
    grown = dict(arguments)
    for fragment in fragments:
        key = next((key for key in VALUES if key in fragment), None)
        steps = _steps(fragment.get("jsonPath"))
        if key is None or not steps or not isinstance(steps[0], str) or not _put(grown, steps, key, fragment[key]):
            grown["partialArgs"] = [*grown.get("partialArgs", ()), fragment]
    return grown


def _steps(path: Any) -> list[str | int]:
    """Returns the steps of a path; none where it is not understood as a whole."""
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    found = list(STEP.finditer(path, 1))
    if "".join(match[0] for match in found) != path[1:]:
        return []
    return [int(match[2]) if match[2] is not None else match[1] or match[3] or match[4] or "" for match in found]


def _put(root: Native, steps: list[str | int], kind: str, value: Any) -> bool:
    """Sets a value, or adds a fragment to a string; False where something else is in the way."""
    node: Any = root
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if not _fits(node, step):
            return False
        if isinstance(step, int) and step == len(node):
            node.append(None)
        before = node[step] if isinstance(step, int) else node.get(step)
        if following is None:
            is_more = kind == "stringValue" and isinstance(before, str)
            node[step] = before + value if is_more else None if kind == "nullValue" else value
            return True
        if before is None:
            node[step] = [] if isinstance(following, int) else {}
        node = node[step]
    return False


def _fits(node: Any, step: str | int) -> bool:
    """True if the node has a member with this name, or could get it."""
    return isinstance(node, dict) if isinstance(step, str) else isinstance(node, list) and step <= len(node)
