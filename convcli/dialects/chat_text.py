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
from collections.abc import Iterator
from typing import Any, NamedTuple

from convcli.families.rows import calls, signatures
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, make_extras
from convcli.kit.values import read_arguments, read_json
from convcli.model.dialect import Dialect, Evidence
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.survey import Survey
from convcli.wire.patterns import pattern

NAME = "chat-text"
ROW = Keys("text")
TEXT = "text"
TAGGED = r"<tool_response>\n?(.*?)\n?</tool_response>"


class Family(NamedTuple):
    """The marks of a family of models.

    `begin` is how its texts begin. `head` matches the head of a turn; its group is a key of `roles`. `ends` are marks
    that end a turn or a section. `call` matches one call, with its name and arguments, and perhaps its id; `result`
    matches one result, with its text.
    """

    begin: re.Pattern[str]
    head: re.Pattern[str]
    ends: tuple[str, ...]
    roles: dict[str, str]
    thought: tuple[str, str] = ("<think>", "</think>")
    call: re.Pattern[str] | None = None
    result: re.Pattern[str] | None = None


def _family(begin: str, head: str, ends: str, call: str = "", result: str = "", **more: Any) -> Family:
    roles = {**dict.fromkeys(("model",), "assistant"), **dict.fromkeys(("ipython", "observation"), "tool")}
    return Family(
        pattern(rf"\s*(?:{begin})?(?:{head})"),
        pattern(head),
        tuple(ends.split()),
        {**roles, **more.pop("roles", {})},
        call=pattern(call, re.DOTALL) if call else None,
        result=pattern(result, re.DOTALL) if result else None,
        **more,
    )


FAMILIES = {
    "chatml": _family(
        "",
        r"<\|im_start\|>(\w+)\n",
        "<|im_end|> <|endoftext|>",
        r"<tool_call>\s*(?P<json>\{.*?\})\s*</tool_call>",
        TAGGED,
    ),
    "llama-3": _family(
        r"<\|begin_of_text\|>",
        r"<\|start_header_id\|>(\w+)<\|end_header_id\|>\n\n",
        "<|eot_id|> <|eom_id|> <|end_of_text|>",
        r"\A\s*(?P<json>\{\s*\"name\".*\})\s*\Z",
    ),
    "llama-4": _family(
        r"<\|begin_of_text\|>",
        r"<\|header_start\|>(\w+)<\|header_end\|>\n\n",
        "<|eot|> <|eom|> <|python_start|> <|python_end|>",
    ),
    "mistral": _family(
        "<s>",
        r"\[(/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS)\]",
        "</s>",
        r"(?:\[TOOL_CALLS\])?(?P<name>[\w.-]+)(?:\[CALL_ID\](?P<id>\w+))?\[ARGS\](?P<arguments>\{.*?\})(?=\[TOOL_CALLS\]|\Z)"
        r"|\[TOOL_CALLS\]\s*(?P<json>\[.*\])\s*\Z",
        r"(?P<id>[\w-]+)\[TOOL_CONTENT\](?P<content>.*)",
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
        thought=("[THINK]", "[/THINK]"),
    ),
    "gemma": _family("<bos>", r"<start_of_turn>(\w+)\n", "<end_of_turn>"),
    "gemma-4": _family(
        "<bos>",
        r"<\|turn>(\w+)\n",
        "<turn|>",
        r"<\|tool_call>call:(?P<name>[\w.-]+)(?P<values>\{.*?\})<tool_call\|>",
        r"<\|tool_response>response:[\w.-]+(?P<values>\{.*?\})<tool_response\|>",
        thought=("<|channel>thought", "<channel|>"),
    ),
    "deepseek": _family(
        "",
        r"<｜(begin▁of▁sentence|User|Assistant|tool▁outputs▁begin)｜>",
        "<｜end▁of▁sentence｜> <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> <｜tool▁outputs▁end｜>",
        r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>(?P<name>[^\n<]+)\n```json\n(?P<arguments>.*?)\n```"
        r"|(?P<name2>[^\n<]+)<｜tool▁sep｜>(?P<arguments2>.*?))\s*<｜tool▁call▁end｜>",
        r"<｜tool▁output▁begin｜>(.*?)<｜tool▁output▁end｜>",
        roles={"begin▁of▁sentence": "system", "User": "user", "Assistant": "assistant", "tool▁outputs▁begin": "tool"},
    ),
    "kimi": _family(
        "",
        r"<\|im_(?:system|user|assistant)\|>([\w.-]+)<\|im_middle\|>",
        "<|im_end|> [EOS] <|tool_calls_section_begin|> <|tool_calls_section_end|>",
        r"<\|tool_call_begin\|>(?P<id>(?:functions\.)?(?P<name>[\w.-]+):\d+)<\|tool_call_argument_begin\|>"
        r"(?P<arguments>.*?)<\|tool_call_end\|>",
        r"\A## Return of (?P<id>\S+)\n(?P<content>.*)\Z",
        roles={"tool_declare": "system"},
    ),
    "glm": _family(
        r"\[gMASK\]<sop>",
        r"<\|(system|user|assistant|observation)\|>\n?",
        "<|endoftext|>",
        r"<tool_call>(?P<name>[^\s<{]+)\s*(?P<pairs>(?:<arg_key>.*?</arg_value>\s*)*)</tool_call>",
        TAGGED,
    ),
    "minimax": _family(
        r"\]~!b\[",
        r"\]~b\](\w+)(?: ?name=[^\n]*| [^\n]*)?\n",
        "[e~[ <minimax:tool_call> </minimax:tool_call>",
        r"<invoke name=\"(?P<name>[^\"]+)\">\s*(?P<pairs>(?:<parameter .*?</parameter>\s*)*)</invoke>",
        r"<response>\n?(.*?)\n?</response>",
        roles={"ai": "assistant"},
    ),
}
PAIRS = pattern(
    r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"
    r"|<parameter name=\"(?P<key2>[^\"]+)\">(?P<value2>.*?)</parameter>",
    re.DOTALL,
)
"""An argument between tags."""
QUOTE, KEY = '<|"|>', pattern(r"([{,]\s*)([\w.-]+):")
"""The quotation mark of Gemma 4, and a key of its objects."""


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
            while mark in value:
                before, _, after = value.partition(mark)
                value = before + (after if after.strip() else "")
        if family is FAMILIES["mistral"]:
            value = value.removeprefix(" ").removesuffix(" ")
        if value.strip():
            yield family.roles.get(key, key), value


def _add(role: str, text: str, family: Family, turns: signatures.RowTurns) -> None:
    found = list(family.result.finditer(text)) if family.result is not None else []
    is_results = role == "user" and found and family.result is not None and not family.result.sub("", text).strip()
    if role == "tool" or is_results:
        _add_results([_result(one) for one in found] or [_named_result(text.strip("\n"))], turns)
    elif role == "assistant":
        _add_answer(text, found, family, turns)
    else:
        known = role if role in ("system", "developer", "user") else "user"
        turns.add(Message(known, [Text(text)], name=None if known == role else role), (TEXT,))


def _add_answer(text: str, results: list[re.Match[str]], family: Family, turns: signatures.RowTurns) -> None:
    """Adds an answer; where results are inside it, what is before them, each of them, and the rest."""
    at = 0
    for one in results if family is FAMILIES["gemma-4"] else ():
        if text[at : one.start()].strip():
            turns.add(Message("assistant", _answer(text[at : one.start()], family, turns.context)), (TEXT,))
        _add_results([_result(one)], turns)
        at = one.end()
    if text[at:].strip():
        turns.add(Message("assistant", _answer(text[at:], family, turns.context)), (TEXT,))


def _result(one: re.Match[str]) -> tuple[str | None, str]:
    named = one.groupdict()
    if "values" in named:
        value = _gemma_values(named["values"])
        is_text = value is not None and value.keys() == {"value"} and isinstance(value["value"], str)
        return None, value["value"] if value is not None and is_text else named["values"]
    return (named["id"], named["content"]) if named else (None, one[1])


def _named_result(text: str) -> tuple[str | None, str]:
    """Returns the id and the text of a result in an object, as Mistral has it; else the text."""
    value = read_json(text)
    native = value if isinstance(value, dict) and value.keys() == {"content", "call_id"} else {}
    is_known = isinstance(native.get("content"), str) and isinstance(native.get("call_id"), str)
    return (native["call_id"], native["content"]) if is_known else (None, text)


def _gemma_values(text: str) -> Native | None:
    """Returns the object of Gemma 4's syntax: keys without quotes, and texts between `<|"|>`."""
    pieces = text.split(QUOTE)
    pieces[1::2] = map(calls.write_json, pieces[1::2])
    pieces[::2] = [KEY.sub(r'\1"\2":', piece) for piece in pieces[::2]]
    value = read_json("".join(pieces))
    return value if isinstance(value, dict) else None


def _add_results(results: list[tuple[str | None, str]], turns: signatures.RowTurns) -> None:
    """Adds results by their ids, or in the order of the calls."""
    waiting, turns.open = turns.open, []
    for at, (id_, text) in enumerate(results):
        id_, name = turns.context.pairing.result(id_ or (waiting[at] if at < len(waiting) else None), None)
        turns.context.add(Message("tool", [ToolResult(id_, name, "text", text)]), (TEXT,))


def _answer(text: str, family: Family, context: LiftContext) -> list[Part]:
    """Returns the thought, the texts and the calls of an answer."""
    begin, end = family.thought
    before, mark, rest = text.partition(end)
    inside = before.lstrip().removeprefix(begin)
    parts: list[Part] = []
    if mark and (before.lstrip().startswith(begin) or not inside.strip()):
        parts = [Reasoning(inside.strip("\n"))] if inside.strip() else []
        text = rest.lstrip("\n")
    natives = signatures.read_calls(text)
    if natives is not None and family is FAMILIES["llama-4"]:
        return [*parts, *(_call(one["name"], one["arguments"], None, context) for one in natives)]
    at = 0
    for one in family.call.finditer(text) if family.call is not None else ():
        called = _calls_of(one.groupdict(), context)
        if called is None:
            continue
        parts += [Text(said)] if (said := text[at : one.start()].strip("\n")).strip() else []
        parts += called
        at = one.end()
    return [*parts, Text(last)] if (last := text[at:].strip("\n")).strip() else parts


def _calls_of(named: Native, context: LiftContext) -> list[Part] | None:
    """Returns the calls that a pattern matched; None if they cannot be read."""
    if named.get("json"):
        value = read_json(named["json"])
        natives = value if isinstance(value, list) else [value]
        if not natives or not all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in natives):
            return None
        return [
            _call(one["name"], one.get("arguments", one.get("parameters", {})), one.get("id"), context)
            for one in natives
        ]
    name, arguments = named.get("name") or named.get("name2"), named.get("arguments") or named.get("arguments2")
    if named.get("values") is not None:
        values = _gemma_values(named["values"])
        return [_call(str(name), named["values"] if values is None else values, None, context)]
    if arguments is None:
        pairs = [one.groupdict() for one in PAIRS.finditer(named.get("pairs") or "")]
        keyed = {one["key"] or one["key2"]: one["value"] or one["value2"] or "" for one in pairs}
        arguments = {key: _value(value) for key, value in keyed.items()}
    return [_call(str(name).strip(), arguments, named.get("id"), context)]


def _value(text: str) -> Any:
    """Returns the value of an argument between tags: JSON, or a text that is none."""
    value = read_json(text)
    return text if value is None else value


def _call(name: str, arguments: Any, id_: Any, context: LiftContext) -> ToolCall:
    values, raw = read_arguments(arguments) if isinstance(arguments, str) else (arguments, None)
    if not isinstance(values, dict):
        values, raw = {}, str(values)
    return ToolCall(context.pairing.call(id_ if isinstance(id_, str) else None, name), name, values, raw)


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
