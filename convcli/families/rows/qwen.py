"""The syntax of Qwen's chat templates between the same tags: calls as JSON or XML, and the tools of a request.

Specification: chat_template.jinja of Qwen2.5 and Qwen3 (JSON), of Qwen3-Coder and Qwen3.5 (XML), as trl 1.16 ships
them; https://huggingface.co/Qwen; read 2026-11-23. The texts of these templates are part of the format: models were
trained on them.

- In XML the arguments of a call are strings between tags, without types. The tool's schema states which of them are
  JSON. If it states nothing, or allows a string, the string is the value.
- A value is between two line breaks. True, False and None are Python's, as templates write them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from convcli.families.rows.sections import ToolSection
from convcli.families.rows.thoughts import without
from convcli.kit.objects import Native
from convcli.kit.values import read_json
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

BREAK = "\n"
FUNCTION = pattern(r"\s*<function=([^>\n]+)>(.*)</function>\s*", re.DOTALL)
PARAMETER = pattern(r"<parameter=([^>\n]{1,200})>\n?(.*?)\n?</parameter>", re.DOTALL)
"""Used only for text that ends in a closing tag: otherwise each opening tag would search all of it."""
ENDS = ("</parameter>", "</tool_call>")
"""Tags that end a value, wherever they occur."""
OF_PYTHON = {"True": True, "False": False, "None": None}
_BROKEN = pattern(r"(,?)\n *")
JSON_HEAD = (
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function "
    "signatures within <tools></tools> XML tags:\n<tools>\n"
)
JSON_TAIL = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n'
    "</tool_call>"
)
XML_HEAD = "# Tools\n\nYou have access to the following functions:\n\n<tools>\n"
XML_TAIL = (
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n<tool_call>\n"
    "<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the specified "
    "format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags\n- "
    "Required parameters MUST be specified\n- You may provide optional reasoning for your function call in natural "
    "language BEFORE the function call, but NOT after\n- If there is no function call available, answer the question "
    "like normal with your current knowledge and do not tell the user about function calls\n</IMPORTANT>"
)
JSON_TOOLS = ToolSection(JSON_HEAD, JSON_TAIL)
XML_TOOLS = ToolSection(XML_HEAD, XML_TAIL, is_first=True)
"""The tools of both templates, one a line."""


def write_json(value: Any) -> str:
    """Returns the value as JSON with spaces, as templates write it, and `</` escaped."""
    lines = exact_json.write(value, indent=True).decode()  # JSON strings contain no line break
    return _BROKEN.sub(lambda match: ", " if match[1] else "", lines).replace("</", "<\\/")


# ---------------------------------------------------------------- calls


def write_call(native: Native) -> str:
    """Returns a call as JSON between tags."""
    return f"<tool_call>\n{write_json(native)}\n</tool_call>"


def _parameters(text: str) -> list[str]:
    before, closing, after = text.rpartition("</parameter>")
    pieces = PARAMETER.split(before + closing)
    pieces[-1] += after
    return pieces


def read_function(text: str, schemas: Mapping[str, Any]) -> Native | None:
    """Returns the XML call of the text between tags; None for any other text. `schemas` are the tools' by name."""
    match = FUNCTION.fullmatch(text)
    pieces = _parameters(match[2]) if match is not None else []
    keys = pieces[1::3]
    if match is None or any(map(str.strip, pieces[::3])) or len(set(keys)) < len(keys):
        return None
    known = _properties(schemas.get(match[1]))
    values = zip(keys, pieces[2::3], strict=True)
    return {"name": match[1], "arguments": {key: _value(text, known.get(key)) for key, text in values}}


def _properties(schema: Any) -> Native:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def is_json(schema: Any) -> bool:
    """True if the schema of a parameter names types, and none of them is string."""
    stated = schema.get("type") if isinstance(schema, dict) else None
    types = stated if isinstance(stated, list) else [stated]
    return bool(types) and stated is not None and "string" not in types


def _value(text: str, schema: Any) -> Any:
    if not is_json(schema):
        return text
    if text in OF_PYTHON:
        return OF_PYTHON[text]
    value = read_json(text)
    return text if value is None and text != "null" else value


def write_function(native: Native) -> str:
    """Returns a call as XML, the inverse of `read_function`: strings as they are, anything else as JSON."""
    written = [f"<function={native['name']}>"]
    for key, value in native["arguments"].items():
        written.append(f"<parameter={key}>\n{value if isinstance(value, str) else write_json(value)}\n</parameter>")
    return BREAK.join(["<tool_call>", *written, "</function>", "</tool_call>"])


def writable(arguments: Native) -> Native:
    """Returns the arguments whose names fit into a tag, with strings without closing tags."""
    kept = {key: value for key, value in arguments.items() if re.fullmatch(r"[^>\n]+", key)}
    return {key: _remove_ends(value) if isinstance(value, str) else value for key, value in kept.items()}


def _remove_ends(text: str) -> str:
    while any(end in text for end in ENDS):
        for end in ENDS:
            text = without(end, text)
    return text
