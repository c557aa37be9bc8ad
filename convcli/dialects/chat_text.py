"""Text of chat templates, as models read and write it: rows with the marks of a family of models; read-only.

Specification: the chat templates of TRL 1.16 and the tokens of mistral_common 1.13.1; read 2026-11-28. For Kimi K2,
MiniMax M2 and Llama 4, the published templates.

Quirks
- Each form is one family, recognized by how the text begins. A table has its marks: the head of a turn, its end, the
  thought, the call and the result.
- Tools are part of the instruction, in the words of each template: they stay text.
- Only Kimi K2 and later versions of Mistral have ids of calls. Elsewhere results answer calls in order.
- A head without text asks for an answer, and is no message.
- Gemma 4 has its calls, their results and the answer in one turn, and a syntax of its own for values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from convcli.families.rows import calls, signatures
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, as_text, make_extras
from convcli.kit.values import read_arguments, read_json
from convcli.model.dialect import Dialect, Evidence
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.survey import Survey
from convcli.wire.patterns import pattern

NAME = "chat-text"
ROW = Keys("text")
TEXT = "text"
RETURN, RESPONSE = "## Return of ", "response:"
"""How a result of Kimi K2 and of Gemma 4 begins."""


class WrittenCall(NamedTuple):
    """A call as a text has it: its name, its arguments as JSON or as an object, and its id."""

    name: str
    arguments: Any
    id: str | None = None


ReadCalls: TypeAlias = Callable[[str], list[WrittenCall] | None]
"""Returns the calls between two marks; None if they cannot be read."""


# ---------------------------------------------------------------- calls of the families


def _of_json(text: str) -> list[WrittenCall] | None:
    """Reads an object, or a list of them."""
    value = read_json(text)
    natives = value if isinstance(value, list) else [value]
    if not natives or not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in natives):
        return None
    return [
        WrittenCall(one["name"], one.get("arguments", one.get("parameters", {})), as_text(one.get("id")))
        for one in natives
    ]


def _of_mistral(text: str) -> list[WrittenCall] | None:
    head, mark, arguments = text.partition("[ARGS]")
    if not mark:
        return _of_json(text) if text.lstrip().startswith("[") else None
    name, _, id_ = head.partition("[CALL_ID]")
    return [WrittenCall(name.strip(), arguments.strip(), id_.strip() or None)]


def _of_gemma(text: str) -> list[WrittenCall] | None:
    name, mark, values = text.removeprefix("call:").partition("{")
    read = _gemma_values(mark + values)
    return None if not mark else [WrittenCall(name.strip(), mark + values if read is None else read)]


def _of_deepseek(text: str) -> list[WrittenCall] | None:
    name, mark, arguments = text.partition("<｜tool▁sep｜>")
    if name == "function":
        name, fence, arguments = arguments.partition("\n```json\n")
        mark, arguments = fence and mark, arguments.rstrip().removesuffix("```")
    return [WrittenCall(name.strip(), arguments.strip())] if mark else None


def _of_kimi(text: str) -> list[WrittenCall] | None:
    id_, mark, arguments = text.partition("<|tool_call_argument_begin|>")
    name = id_.strip().removeprefix("functions.").rpartition(":")[0]
    return [WrittenCall(name, arguments.strip(), id_.strip())] if mark and name else None


def _of_glm(text: str) -> list[WrittenCall] | None:
    if text.lstrip().startswith("{"):
        return _of_json(text)
    name, *pairs = text.split("<arg_key>")
    read = [one.partition("</arg_key>") for one in pairs]
    values = {key: value.partition("<arg_value>")[2].partition("</arg_value>")[0] for key, _, value in read}
    return [WrittenCall(name.strip(), {key: _value(value) for key, value in values.items()})] if name.strip() else None


def _of_minimax(text: str) -> list[WrittenCall] | None:
    name, *pairs = text.split('<parameter name="')
    read = [one.partition('">') for one in pairs]
    values = {key: _value(value.partition("</parameter>")[0]) for key, _, value in read}
    return [WrittenCall(name.partition('">')[0], values)]


def _value(text: str) -> Any:
    """Returns the value of an argument between tags: JSON, or a text that is none."""
    value = read_json(text)
    return text if value is None else value


def _gemma_values(text: str) -> Native | None:
    """Returns the object of Gemma 4's syntax: keys without quotes, and texts between `<|"|>`."""
    pieces = text.split('<|"|>')
    pieces[1::2] = map(calls.write_json, pieces[1::2])
    pieces[::2] = [KEY.sub(r'\1"\2":', piece) for piece in pieces[::2]]
    value = read_json("".join(pieces))
    return value if isinstance(value, dict) else None


KEY = pattern(r"([{,]\s?)([\w.-]+):")
"""A key of an object of Gemma 4."""


# ---------------------------------------------------------------- the families


class Family(NamedTuple):
    """The marks of a family of models.

    `begin` is how its texts begin. `head` matches the head of a turn; its group is a key of `roles`. `ends` are marks
    that end a turn or a section. `call` and `result` are the marks around one call and around one result.
    """

    begin: re.Pattern[str]
    head: re.Pattern[str]
    ends: tuple[str, ...]
    roles: Mapping[str, str]
    call: tuple[str, str] | None = None
    read_calls: ReadCalls = _of_json
    result: tuple[str, str] | None = None
    thought: tuple[str, str] = ("<think>", "</think>")


ROLES = {"model": "assistant", "ai": "assistant", "ipython": "tool", "observation": "tool", "tool_declare": "system"}
TOOL_CALL, TOOL_RESPONSE = ("<tool_call>", "</tool_call>"), ("<tool_response>", "</tool_response>")


def _family(begin: str, head: str, ends: str, **more: Any) -> Family:
    roles = {**ROLES, **more.pop("roles", {})}
    return Family(pattern(rf"\s?(?:{begin})?(?:{head})"), pattern(head), tuple(ends.split()), roles, **more)


FAMILIES = {
    "chatml": _family(
        "",
        r"<\|im_start\|>(\w+)\n",
        "<|im_end|> <|endoftext|>",
        call=TOOL_CALL,
        result=TOOL_RESPONSE,
        read_calls=_of_glm,
    ),
    "llama-3": _family(
        r"<\|begin_of_text\|>",
        r"<\|start_header_id\|>(\w+)<\|end_header_id\|>\n\n",
        "<|eot_id|> <|eom_id|> <|end_of_text|>",
    ),
    "llama-4": _family(
        r"<\|begin_of_text\|>",
        r"<\|header_start\|>(\w+)<\|header_end\|>\n\n",
        "<|eot|> <|eom|> <|python_start|> <|python_end|>",
        read_calls=lambda text: [WrittenCall(**one) for one in signatures.read_calls(text) or ()] or None,
    ),
    "mistral": _family(
        "<s>",
        r"\[(/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS)\]",
        "</s>",
        roles={
            "INST": "user",
            "/INST": "assistant",
            "TOOL_RESULTS": "tool",
            "/TOOL_RESULTS": "assistant",
            "SYSTEM_PROMPT": "system",
            "/SYSTEM_PROMPT": "user",
            "AVAILABLE_TOOLS": "system",
            "/AVAILABLE_TOOLS": "user",
        },
        call=("[TOOL_CALLS]", ""),
        read_calls=_of_mistral,
        thought=("[THINK]", "[/THINK]"),
    ),
    "gemma": _family("<bos>", r"<start_of_turn>(\w+)\n", "<end_of_turn>"),
    "gemma-4": _family(
        "<bos>",
        r"<\|turn>(\w+)\n",
        "<turn|>",
        call=("<|tool_call>", "<tool_call|>"),
        read_calls=_of_gemma,
        result=("<|tool_response>", "<tool_response|>"),
        thought=("<|channel>thought", "<channel|>"),
    ),
    "deepseek": _family(
        "",
        r"<｜(begin▁of▁sentence|User|Assistant|tool▁outputs▁begin)｜>",
        "<｜end▁of▁sentence｜> <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> <｜tool▁outputs▁end｜>",
        roles={"begin▁of▁sentence": "system", "User": "user", "Assistant": "assistant", "tool▁outputs▁begin": "tool"},
        call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
        read_calls=_of_deepseek,
        result=("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    ),
    "kimi": _family(
        "",
        r"<\|im_(?:system|user|assistant)\|>([\w.-]+)<\|im_middle\|>",
        "<|im_end|> [EOS] <|tool_calls_section_begin|> <|tool_calls_section_end|>",
        call=("<|tool_call_begin|>", "<|tool_call_end|>"),
        read_calls=_of_kimi,
    ),
    "glm": _family(
        r"\[gMASK\]<sop>",
        r"<\|(system|user|assistant|observation)\|>\n?",
        "<|endoftext|>",
        call=TOOL_CALL,
        read_calls=_of_glm,
        result=TOOL_RESPONSE,
    ),
    "minimax": _family(
        r"\]~!b\[",
        r"\]~b\](\w+)(?: [^\n]*)?\n",
        "[e~[ <minimax:tool_call> </minimax:tool_call>",
        call=('<invoke name="', "</invoke>"),
        read_calls=_of_minimax,
        result=("<response>", "</response>"),
    ),
}


def split_at(text: str, marks: tuple[str, str] | None) -> list[str]:
    """Returns the text before, between and after pairs of marks, in turn. A mark that is never closed is text; without
    a closing mark, each piece ends where the next begins. Takes linear time."""
    if marks is None:
        return [text]
    opening, closing = marks
    if not closing:
        first, *others = text.split(opening)
        return [first, *(piece for one in others for piece in (one, ""))]
    pieces, at = list[str](), 0
    while True:
        begin = text.find(opening, at)
        end = text.find(closing, begin + len(opening)) if begin >= 0 else -1
        if end < 0:
            return [*pieces, text[at:]]
        pieces += text[at:begin], text[begin + len(opening) : end]
        at = end + len(closing)


def family_of(text: str) -> str:
    """Returns the family whose marks begin a text; empty if there is none."""
    return next((name for name, family in FAMILIES.items() if family.begin.match(text)), "")


def detect(document: Any) -> Evidence | None:
    """Detects a text that begins with the marks of a family."""
    text = document.get(TEXT) if isinstance(document, dict) else None
    name = family_of(text) if isinstance(text, str) else ""
    return Evidence(96, f"the text has the marks of {name}") if name else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads the turns of a text. A text without marks is one answer."""
    context = LiftContext(NAME, document, node_path=())
    turns = signatures.RowTurns(context)
    name = family_of(document[TEXT])
    context.origin.form = name or next(iter(FAMILIES))
    if not name:
        turns.add(signatures.text_message("assistant", document[TEXT]), (TEXT,))
    for role, text in _turns(document[TEXT], FAMILIES[name]) if name else ():
        _add(role, text, FAMILIES[name], turns)
    return context.transcript(extras=make_extras(NAME, ROW.extra(document)))


def _turns(text: str, family: Family) -> Iterator[tuple[str, str]]:
    """Yields the role and the text of each turn that has text."""
    pieces = family.head.split(text)
    for key, value in zip(pieces[1::2], pieces[2::2], strict=True):
        for mark in family.ends:
            value = "".join(piece for at, piece in enumerate(value.split(mark)) if at == 0 or piece.strip())
        if family is FAMILIES["mistral"]:
            value = value.removeprefix(" ").removesuffix(" ")
        if value.strip():
            yield family.roles.get(key, key), value


def _add(role: str, text: str, family: Family, turns: signatures.RowTurns) -> None:
    pieces = split_at(text, family.result)
    is_results = role == "user" and len(pieces) > 1 and not any(piece.strip() for piece in pieces[::2])
    if role == "tool" or is_results:
        _add_results(pieces[1::2] or [text], turns)
    elif role == "assistant":
        _add_answer(pieces if family is FAMILIES["gemma-4"] else [text], family, turns)
    else:
        known = role if role in ("system", "developer", "user") else "user"
        turns.add(Message(known, [Text(text)], name=None if known == role else role), (TEXT,))


def _add_answer(pieces: list[str], family: Family, turns: signatures.RowTurns) -> None:
    """Adds an answer, and the results inside it: every second piece."""
    for at, piece in enumerate(pieces):
        if at % 2:
            _add_results([piece], turns)
        elif piece.strip():
            turns.add(Message("assistant", _answer(piece, family, turns.context)), (TEXT,))


def _add_results(texts: list[str], turns: signatures.RowTurns) -> None:
    """Adds results by their ids, or in the order of the calls."""
    waiting, turns.open = turns.open, []
    for at, (id_, text) in enumerate(map(_result, texts)):
        id_, name = turns.context.pairing.result(id_ or (waiting[at] if at < len(waiting) else None), None)
        turns.context.add(Message("tool", [ToolResult(id_, name, "text", text)]), (TEXT,))


def _result(text: str) -> tuple[str | None, str]:
    """Returns the id and the text of a result."""
    text = text.removeprefix("\n").removesuffix("\n")
    id_, mark, content = text.partition("[TOOL_CONTENT]")
    if mark:
        return id_, content
    if text.startswith(RETURN):
        id_, _, content = text.removeprefix(RETURN).partition("\n")
        return id_, content
    if text.startswith(RESPONSE) and "{" in text:
        values = text[text.index("{") :]
        value = (_gemma_values(values) or {}).get("value")
        return None, value if isinstance(value, str) else values
    value = read_json(text)
    native = value if isinstance(value, dict) and value.keys() == {"content", "call_id"} else {}
    is_known = isinstance(native.get("content"), str) and isinstance(native.get("call_id"), str)
    return (native["call_id"], native["content"]) if is_known else (None, text)


def _answer(text: str, family: Family, context: LiftContext) -> list[Part]:
    """Returns the thought, the texts and the calls of an answer."""
    begin, end = family.thought
    before, mark, rest = text.partition(end)
    inside = before.lstrip().removeprefix(begin)
    parts: list[Part] = []
    if mark and (before.lstrip().startswith(begin) or not inside.strip()):
        parts = [Reasoning(inside.strip("\n"))] if inside.strip() else []
        text = rest.lstrip("\n")
    whole = family.read_calls(text) if family.call is None and family is not FAMILIES["gemma"] else None
    if whole is not None:
        return [*parts, *(_call(one, context) for one in whole)]
    said = ""
    for at, piece in enumerate(split_at(text, family.call)):
        read = family.read_calls(piece) if at % 2 else None
        if read is None:
            said += piece if at % 2 == 0 or family.call is None else piece.join(family.call)
        else:
            parts += [Text(said.strip("\n"))] if said.strip() else []
            parts += [_call(one, context) for one in read]
            said = ""
    return [*parts, Text(said.strip("\n"))] if said.strip() else parts


def _call(one: WrittenCall, context: LiftContext) -> ToolCall:
    values, raw = read_arguments(one.arguments) if isinstance(one.arguments, str) else (one.arguments, None)
    if not isinstance(values, dict):
        values, raw = {}, calls.write_json(values)
    return ToolCall(context.pairing.call(one.id, one.name), one.name, values, raw)


# ---------------------------------------------------------------- rules


def _find_unread(survey: Survey) -> Iterator[Breach]:
    if not family_of(survey.document[TEXT]):
        yield Breach(
            "wrong-format", NodeRef(steps=(TEXT,)), "the text does not begin with the marks of a chat template"
        )
    for call in survey.calls:
        if call.call.raw_arguments is not None:
            yield Breach("invalid-arguments", call.at(), "the arguments are not a JSON object")


DIALECT = Dialect(
    name=NAME,
    title="Text of chat templates",
    aliases=("template-text", "chatml"),
    is_training=True,
    specification="templates of TRL 1.16, mistral_common 1.13.1; read 2026-11-28",
    framings=("records", "document"),
    forms=tuple(FAMILIES),
    detect=detect,
    lift=lift,
    rules=(Rule(("wrong-format", "invalid-arguments"), _find_unread),),
)
