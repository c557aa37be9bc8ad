"""The syntax of Hermes texts: calls and results between tags, and the tools in the instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convcli.families.rows import calls
from convcli.families.rows.qwen import FUNCTION, JSON_TOOLS, XML_TOOLS, read_function
from convcli.families.rows.thoughts import JOINT
from convcli.kit.objects import Native
from convcli.kit.texts import split_between
from convcli.kit.values import read_json

BREAK = "\n"
CALL_MARK, CALL_END, RESULT_MARK = "<tool_call>", "</tool_call>", "<tool_response>"
NO_SCHEMAS: Mapping[str, Any] = {}
HEAD = "You may call functions: <tools>"
TAIL = (
    "</tools>\nCall them in your answer: "
    '<tool_call>{"name": "its name", "arguments": {}}</tool_call>. What a function gave comes as '
    '<tool_response>{"name": "its name", "content": "what it gave"}</tool_response>.'
)


def _split_between(text: str, tag: str) -> list[str]:
    return split_between(text, f"<{tag}>", f"</{tag}>")


def write_json(value: Any) -> str:
    """Returns the value as JSON with `</` escaped."""
    return calls.write_json(value).replace("</", "<\\/")


# ---------------------------------------------------------------- calls and results


def read_answer(text: str, schemas: Mapping[str, Any] = NO_SCHEMAS) -> list[str | Native] | None:
    """Returns the texts and calls of an answer; None if it has no call, or anything else between the tags.

    `schemas` are the tools' by name: they type the arguments of XML calls.
    """
    pieces = _split_between(text, "tool_call")
    if len(pieces) == 1:
        return None
    read: list[str | Native] = []
    for i, piece in enumerate(pieces):
        if i % 2:
            native = _call(piece, schemas)
            if native is None:
                return None
            read.append(native)
        elif piece.strip(BREAK):
            read.append(piece.strip(BREAK))
    return read


def _call(text: str, schemas: Mapping[str, Any]) -> Native | None:
    value = read_json(text)
    return value if calls.is_call(value) else read_function(text, schemas)


def has_functions(text: str) -> bool:
    """True if a call of the answer is written as XML."""
    return any(FUNCTION.fullmatch(piece) for piece in _split_between(text, "tool_call")[1::2])


def write_call(native: Native) -> str:
    """Returns a call as JSON between tags."""
    return between("tool_call", native)


def between(tag: str, value: Any) -> str:
    """Returns the value as JSON between tags."""
    return f"<{tag}>{BREAK}{write_json(value)}{BREAK}</{tag}>"


def read_results(text: str, *, are_texts: bool = False) -> list[str | Native] | None:
    """Returns the results between tags: objects with a name and a content, or strings.

    Returns None if the text has anything else. If `are_texts`, as Qwen writes them, no JSON is parsed.
    """
    pieces = _split_between(text, "tool_response")
    if len(pieces) == 1 or any(piece.strip() for piece in pieces[::2]):
        return None
    if are_texts:
        return [piece.removeprefix(BREAK).removesuffix(BREAK) for piece in pieces[1::2]]
    return [_result(piece) for piece in pieces[1::2]]


def _result(text: str) -> str | Native:
    value = read_json(text)
    is_named = isinstance(value, dict) and isinstance(value.get("name"), str) and value.get("content") is not None
    return value if is_named else text.strip(BREAK)


def write_result(body: Native) -> str:
    """Returns a result as JSON between tags."""
    return between("tool_response", body)


def write_text_result(body: Native) -> str:
    """Returns a result as text between tags."""
    return f"<tool_response>{BREAK}{body['content']}{BREAK}</tool_response>"


# ---------------------------------------------------------------- tools


def read_tools(text: str) -> tuple[str, list[Native]] | None:
    """Returns the instruction, without text that convcli added, and the tools in it.

    Returns None if it has no list of tools, or several.
    """
    as_templates = JSON_TOOLS.read(text) or XML_TOOLS.read(text)
    if as_templates is not None:
        return as_templates
    tool_lists = _split_between(text, "tools")[1::2]
    if text.endswith(TAIL) and HEAD in text:
        before, _, listed = text.removesuffix(TAIL).rpartition(HEAD)
        natives = calls.read_tools(listed)
        stated = before.removesuffix(JOINT)
        if natives and with_tools(stated, natives) == text:
            return stated, natives
    natives = calls.read_tools(tool_lists[0]) if len(tool_lists) == 1 else None
    return (text, natives) if natives else None


def with_tools(text: str, natives: list[Native]) -> str:
    """Returns the instruction followed by these tools."""
    return f"{text}{JOINT if text else ''}{HEAD}{write_json(natives)}{TAIL}"
