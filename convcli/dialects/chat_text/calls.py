"""Calls, results and tools as the texts of each family have them: one function reads, one writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from convcli.families.rows import calls, signatures
from convcli.families.rows.qwen import read_function
from convcli.kit.objects import Native, as_text
from convcli.kit.values import read_json
from convcli.model.transcript import ToolCall, ToolResult
from convcli.wire.patterns import JSON_STRING, pattern


class WrittenCall(NamedTuple):
    """A call as a text has it: its name, its arguments as JSON or as an object, and its id."""

    name: str
    arguments: Any
    id: str | None = None


ReadCalls: TypeAlias = Callable[[str], list[WrittenCall] | None]
"""Returns the calls between two marks; None if they cannot be read."""


def read_json_calls(text: str) -> list[WrittenCall] | None:
    """Reads an object, or a list of them."""
    value = read_json(text)
    natives = value if isinstance(value, list) else [value]
    if not natives or not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in natives):
        return None
    return [
        WrittenCall(one["name"], one.get("arguments", one.get("parameters", {})), as_text(one.get("id")))
        for one in natives
    ]


def read_llama_4(text: str) -> list[WrittenCall] | None:
    """Reads objects in turn, or calls in the syntax of Python."""
    text = text.removesuffix("<|python_end|>")
    written = read_json_calls(f"[{text.replace(BETWEEN, BETWEEN[0] + ',' + BETWEEN[1:])}]")
    return written or [WrittenCall(**one) for one in signatures.read_calls(text) or ()] or None


BETWEEN = '}{"name": "'
"""Where a call of Llama 4 ends and the next begins: no JSON string has a bare quote."""


def read_mistral(text: str) -> list[WrittenCall] | None:
    head, mark, arguments = text.partition("[ARGS]")
    if not mark:
        return read_json_calls(text) if text.lstrip().startswith("[") else None
    name, _, id_ = head.partition("[CALL_ID]")
    return [WrittenCall(name.strip(), arguments.strip(), id_.strip() or None)]


def read_gemma(text: str) -> list[WrittenCall] | None:
    name, mark, values = text.removeprefix("call:").partition("{")
    read = gemma_values(mark + values)
    return None if not mark else [WrittenCall(name.strip(), mark + values if read is None else read)]


def read_deepseek(text: str) -> list[WrittenCall] | None:
    name, mark, arguments = text.partition("<｜tool▁sep｜>")
    if name == "function":
        name, fence, arguments = arguments.partition("\n```json\n")
        mark, arguments = fence and mark, arguments.rstrip().removesuffix("```")
    return [WrittenCall(name.strip(), arguments.strip())] if mark else None


def read_kimi(text: str) -> list[WrittenCall] | None:
    id_, mark, arguments = text.partition("<|tool_call_argument_begin|>")
    name = id_.strip().removeprefix("functions.").rpartition(":")[0]
    return [WrittenCall(name, arguments.strip(), id_.strip())] if mark and name else None


def read_glm(text: str) -> list[WrittenCall] | None:
    if text.lstrip().startswith("{"):
        return read_json_calls(text)
    name, *pairs = text.split("<arg_key>")
    read = [one.partition("</arg_key>") for one in pairs]
    values = {key: value.partition("<arg_value>")[2].partition("</arg_value>")[0] for key, _, value in read}
    return [WrittenCall(name.strip(), {key: _value(value) for key, value in values.items()})] if name.strip() else None


def read_qwen(text: str) -> list[WrittenCall] | None:
    """Reads JSON, the XML of Qwen3-Coder, or the tags of GLM."""
    native = read_function(text, {})
    if native is None:
        return read_glm(text)
    return [WrittenCall(native["name"], {key: _value(value) for key, value in native["arguments"].items()})]


def read_minimax(text: str) -> list[WrittenCall] | None:
    name, *pairs = text.split('<parameter name="')
    read = [one.partition('">') for one in pairs]
    values = {key: _value(value.partition("</parameter>")[0]) for key, _, value in read}
    return [WrittenCall(name.partition('">')[0], values)]


def _value(text: str) -> Any:
    """Returns the value of an argument between tags: JSON, or a text that is none."""
    value = read_json(text)
    return text if value is None else value


def gemma_values(text: str) -> Native | None:
    """Returns the object of Gemma 4's syntax: keys without quotes, and texts between `<|"|>`."""
    pieces = text.split('<|"|>')
    pieces[1::2] = map(calls.write_json, pieces[1::2])
    pieces[::2] = [KEY.sub(r'\1"\2":', piece) for piece in pieces[::2]]
    value = read_json("".join(pieces))
    return value if isinstance(value, dict) else None


KEY = pattern(r"([{,]\s?)([\w.-]+):")
"""A key of an object of Gemma 4."""


# ---------------------------------------------------------------- writing


TOKEN = pattern(rf"({JSON_STRING})(:)?|,")
"""What the families write in another way than JSON without spaces: strings, which may be keys, and separators."""


def spaced_json(value: Any) -> str:
    """Returns JSON with spaces, as templates write it."""
    return TOKEN.sub(_spaced, calls.write_json(value))


def _spaced(token: re.Match[str]) -> str:
    if token[1]:
        return f"{token[1]}: " if token[2] else token[1]
    return ", " if token[0] == "," else token[0]


def gemma_text(value: Any, *, quoted_keys: bool = False) -> str:
    """Returns a value in Gemma 4's syntax."""

    def write(token: re.Match[str]) -> str:
        if not token[1]:
            return token[0]
        text = json.loads(token[1])
        text = text if token[2] and not quoted_keys else f'<|"|>{text}<|"|>'
        return f"{text}:" if token[2] else text

    return TOKEN.sub(write, calls.write_json(value))


def _arguments(call: ToolCall) -> str:
    return spaced_json(call.arguments)


def write_json(call: ToolCall, _: int) -> str:
    return f'<tool_call>\n{{"name": {spaced_json(call.name)}, "arguments": {_arguments(call)}}}\n</tool_call>'


def write_llama(call: ToolCall, _: int) -> str:
    return f'{{"name": {spaced_json(call.name)}, "parameters": {_arguments(call)}}}'


def write_mistral(call: ToolCall, _: int) -> str:
    return f"[TOOL_CALLS]{call.name}[CALL_ID]{call.id}[ARGS]{_arguments(call)}"


def write_gemma(call: ToolCall, _: int) -> str:
    return f"<|tool_call>call:{call.name}{gemma_text(call.arguments)}<tool_call|>"


def write_deepseek_3_1(call: ToolCall, _: int) -> str:
    return f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{_arguments(call)}<｜tool▁call▁end｜>"


def write_deepseek(call: ToolCall, _: int) -> str:
    body = f"function<｜tool▁sep｜>{call.name}\n```json\n{_arguments(call)}\n```"
    return f"<｜tool▁call▁begin｜>{body}<｜tool▁call▁end｜>"


def kimi_id(name: str, number: int) -> str:
    """Returns the id of a call of Kimi K2, which counts all calls of a conversation."""
    return f"functions.{name}:{number}"


def write_kimi(call: ToolCall, number: int) -> str:
    head = f"<|tool_call_begin|>{kimi_id(call.name, number)}<|tool_call_argument_begin|>"
    return f"{head}{_arguments(call)}<|tool_call_end|>"


def write_glm(call: ToolCall, _: int) -> str:
    pairs = (
        f"<arg_key>{key}</arg_key>\n<arg_value>{_tagged(value)}</arg_value>\n" for key, value in call.arguments.items()
    )
    return f"<tool_call>{call.name}\n{''.join(pairs)}</tool_call>"


def write_minimax(call: ToolCall, _: int) -> str:
    pairs = (f'<parameter name="{key}">{_tagged(value)}</parameter>' for key, value in call.arguments.items())
    return f'<invoke name="{call.name}">{"".join(pairs)}</invoke>'


def _tagged(value: Any) -> str:
    """Returns an argument between tags. A string is written without quotes, and may be read as another type."""
    return value if isinstance(value, str) else spaced_json(value)


def write_gemma_result(result: ToolResult, _: str) -> str:
    return f"<|tool_response>response:{result.name}{gemma_text({'value': result.value})}<tool_response|>"
