"""The marks of each family of models: one table, by which texts are read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from convcli.dialects.chat_text.calls import (
    ReadCalls,
    kimi_id,
    read_deepseek,
    read_gemma,
    read_glm,
    read_json_calls,
    read_kimi,
    read_llama_4,
    read_minimax,
    read_mistral,
    read_qwen,
    write_deepseek,
    write_deepseek_3_1,
    write_gemma,
    write_gemma_result,
    write_glm,
    write_json,
    write_kimi,
    write_llama,
    write_minimax,
    write_mistral,
)
from convcli.dialects.chat_text.definitions import (
    read_deepseek_tool,
    read_gemma_tool,
    write_bare_tool,
    write_compact_tool,
    write_deepseek_tool,
    write_gemma_tool,
    write_indented_tool,
    write_tool,
)
from convcli.families.rows import qwen
from convcli.families.rows.sections import ToolSection
from convcli.families.rows.thoughts import JOINT
from convcli.kit.objects import Native
from convcli.model.transcript import ToolCall, ToolResult
from convcli.wire.patterns import pattern


class TextStyle(NamedTuple):
    """How the texts of a family are written.

    `start` is how a text begins. `heads` and `ends` are those of turns, by role; a role that `heads` lacks stands in
    the head of the user in place of `user`. `call` writes a call and its number, and `calls` are the texts before,
    between and after the calls of an answer; `before_text` and `before_calls` are around their text. `result` writes a
    result and the id of its call, and `results` are the texts before, between and after those of one turn. `thought` is
    around a thought, and `no_thought` in its place. `goes_on`: an answer behind results has no head of its own.
    `holds_results`: they stand in the turn of their calls. `id` is the id of a call and its number.
    """

    start: str
    heads: Mapping[str, str]
    ends: Mapping[str, str]
    call: Callable[[ToolCall, int], str] | None = None
    calls: tuple[str, str, str] = ("", "", "")
    before_text: str = ""
    before_calls: str = ""
    result: Callable[[ToolResult, str], str] = lambda result, _: str(result.value)
    results: tuple[str, str, str] = ("", "", "")
    thought: tuple[str, str] = ("<think>\n", "\n</think>\n\n")
    no_thought: str = ""
    goes_on: bool = False
    holds_results: bool = False
    id: Callable[[ToolCall, int], str] = lambda call, _: call.id


class Tools(NamedTuple):
    """The tools of a family: the key of their turn, their section, and the function that writes a definition.

    `is_late`: they stand before the last user message, and are read before any turn.
    """

    turn: str
    section: ToolSection
    write: Callable[[Native], str] = write_tool
    is_late: bool = False


class Family(NamedTuple):
    """The marks of a family of models.

    `begin` is how its texts begin. `head` matches the head of a turn; its group is a key of `roles`. `ends` are marks
    that end a turn or a section. `call` and `result` are the marks around one call and around one result. `whole` reads
    calls without marks, which are all of an answer. `tools` are the sections with tools that are read; the first is
    written.
    """

    begin: re.Pattern[str]
    head: re.Pattern[str]
    ends: tuple[str, ...]
    roles: Mapping[str, str]
    style: TextStyle
    call: tuple[str, str] | None = None
    read_calls: ReadCalls = read_json_calls
    whole: ReadCalls | None = None
    result: tuple[str, str] | None = None
    thought: tuple[str, str] = ("<think>", "</think>")
    tools: tuple[Tools, ...] = ()


ROLES = {"model": "assistant", "ai": "assistant", "ipython": "tool", "observation": "tool", "tool_declare": "system"}
TOOL_CALL, TOOL_RESPONSE = ("<tool_call>", "</tool_call>"), ("<tool_response>", "</tool_response>")
ALL_ROLES = ("system", "user", "assistant", "tool")


def _family(begin: str, head: str, ends: str, style: TextStyle, **more: Any) -> Family:
    roles = {**ROLES, **more.pop("roles", {})}
    return Family(pattern(rf"\s?(?:{begin})?(?:{head})"), pattern(head), tuple(ends.split()), roles, style, **more)


def _style(start: str, head: str, end: str, names: str = "", **more: Any) -> TextStyle:
    """Returns the style of a family whose heads have the name of a role in place of `{}`; `names` are the names of the
    user, the assistant and a result, if they are not the usual ones."""
    words = dict(zip(ALL_ROLES[1:], names.split(), strict=False))
    heads = {role: head.replace("{}", words.get(role, role)) for role in ALL_ROLES}
    return TextStyle(start, heads, dict.fromkeys(ALL_ROLES, end), **more)


def _tagged_result(result: ToolResult, _: str) -> str:
    return f"<tool_response>\n{result.value}\n</tool_response>"


CALL_IN_JSON = (
    'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'
    "Do not use variables.\n\n"
)
QWEN_TOOLS = (Tools("system", qwen.JSON_TOOLS), Tools("system", qwen.XML_TOOLS))
LLAMA_TOOLS = tuple(
    Tools(turn, ToolSection(f"{head}{CALL_IN_JSON}", "", JOINT), write_indented_tool)
    for turn, head in (
        (
            "user",
            "Given the following functions, please respond with a JSON for a function call with its proper arguments "
            "that best answers the given prompt.\n\n",
        ),
        (
            "system",
            "You have access to the following functions. To call a function, please respond with JSON for a function "
            "call.",
        ),
    )
)
KIMI_TOOLS = (Tools("tool_declare", ToolSection("[", "]", ",", None), write_compact_tool),)
GLM_TOOLS = (
    Tools(
        "system",
        ToolSection(
            qwen.JSON_HEAD,
            "\n</tools>\n\nFor each function call, output the function name and arguments within the following XML "
            "format:\n<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>"
            "\n<arg_key>{arg-key-2}</arg_key>\n<arg_value>{arg-value-2}</arg_value>\n...\n</tool_call>",
            joint=None,
        ),
    ),
)
MINIMAX_TOOLS = (
    Tools(
        "system",
        ToolSection(
            "# Tools\nYou may call one or more tools to assist with the user query.\nHere are the tools available in "
            "JSONSchema format:\n\n<tools>\n<tool>",
            "</tool>\n</tools>\n\nWhen making tool calls, use XML format to invoke tools and pass parameters:\n\n"
            '<minimax:tool_call>\n<invoke name="tool-name-1">\n<parameter name="param-key-1">param-value-1</parameter>'
            '\n<parameter name="param-key-2">param-value-2</parameter>\n...\n</invoke>\n</minimax:tool_call>',
            "</tool>\n<tool>",
        ),
        write_bare_tool,
    ),
)
GEMMA_TOOLS = (
    Tools(
        "system",
        ToolSection("<|tool>", "<tool|>", "<tool|><|tool>", "", read_tool=read_gemma_tool),
        write_gemma_tool,
    ),
)
DEEPSEEK_TOOLS = tuple(
    Tools(
        "begin▁of▁sentence",
        ToolSection(
            "\n\n## Tools\nYou have access to the following tools:\n\n### ",
            "\n\nIMPORTANT: ALWAYS adhere to this exact format for tool use:\n<｜tool▁calls▁begin｜>"
            "<｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>"
            f"{others}<｜tool▁calls▁end｜>\n\nWhere:{joint}- `tool_call_name` must be an exact match to one of the "
            "available tools\n- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters "
            f"Schema\n- For multiple tool calls, chain them directly without separators or spaces{end}",
            "\n\n### ",
            "",
            read_tool=read_deepseek_tool,
        ),
        write_deepseek_tool,
    )
    for others, joint, end in (("{{additional_tool_calls}}", "\n\n", "\n"), ("{additional_tool_calls}", "\n", ""))
)
"""Texts of templates, which are part of the format: models were trained on them. For DeepSeek V3.1 those of vLLM and
Ollama, and of its model card."""
LLAMA_3 = "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n"
LLAMA_4 = "<|eot|><|header_start|>ipython<|header_end|>\n\n"
DEEPSEEK_HEAD = r"<｜(begin▁of▁sentence|User|Assistant|tool▁outputs▁begin|tool▁outputs▁end)｜>"
OF_3_1 = r"\n\n## Tools\nYou have access to the following tools:\n"
DEEPSEEK = _family(
    "",
    DEEPSEEK_HEAD,
    "<｜end▁of▁sentence｜> <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜>",
    TextStyle(
        "<｜begin▁of▁sentence｜>",
        {"system": "", "user": "<｜User｜>", "assistant": "<｜Assistant｜>", "tool": ""},
        {"system": "", "user": "", "assistant": "<｜end▁of▁sentence｜>", "tool": ""},
        write_deepseek,
        ("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>"),
        result=lambda result, _: f"<｜tool▁output▁begin｜>{result.value}<｜tool▁output▁end｜>",
        results=("<｜tool▁outputs▁begin｜>", "", "<｜tool▁outputs▁end｜>"),
        thought=("<think>", "</think>"),
        goes_on=True,
    ),
    roles={
        "begin▁of▁sentence": "system",
        "User": "user",
        "Assistant": "assistant",
        "tool▁outputs▁begin": "tool",
        "tool▁outputs▁end": "assistant",
    },
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    read_calls=read_deepseek,
    result=("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
)
FAMILIES = {
    "chatml": _family(
        "",
        r"<\|im_start\|>(\w+)\n",
        "<|im_end|> <|endoftext|>",
        _style(
            *("", "<|im_start|>{}\n", "<|im_end|>\n", "user assistant user"),
            call=write_json,
            calls=("", "\n", ""),
            before_calls="\n",
            result=_tagged_result,
            results=("", "\n", ""),
        ),
        call=TOOL_CALL,
        result=TOOL_RESPONSE,
        read_calls=read_qwen,
        tools=QWEN_TOOLS,
    ),
    "llama-3": _family(
        r"<\|begin_of_text\|>",
        r"<\|start_header_id\|>(\w+)<\|end_header_id\|>\n\n",
        "<|eot_id|> <|eom_id|> <|end_of_text|>",
        _style(
            *("<|begin_of_text|>", "<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>"),
            "user assistant ipython",
            call=write_llama,
            calls=("[", ", ", "]"),
            results=("", LLAMA_3, ""),
        ),
        whole=read_json_calls,
        tools=LLAMA_TOOLS,
    ),
    "llama-4": _family(
        r"<\|begin_of_text\|>",
        r"<\|header_start\|>(\w+)<\|header_end\|>\n\n",
        "<|eot|> <|eom|> <|python_start|>",
        _style(
            *("<|begin_of_text|>", "<|header_start|>{}<|header_end|>\n\n", "<|eot|>", "user assistant ipython"),
            call=write_llama,
            calls=("<|python_end|>", "", ""),
            before_text="<|python_start|>",
            results=("", LLAMA_4, ""),
        ),
        call=("<|python_end|>", ""),
        read_calls=read_llama_4,
        whole=read_llama_4,
        tools=LLAMA_TOOLS,
    ),
    "mistral": _family(
        "<s>",
        r"\[(/?INST|/?SYSTEM_PROMPT|/?AVAILABLE_TOOLS|/?TOOL_RESULTS|/?MODEL_SETTINGS)\]",
        "</s>",
        TextStyle(
            "<s>",
            {
                "system": "[SYSTEM_PROMPT]",
                "user": "[INST]",
                "assistant": "",
                "tool": "[TOOL_RESULTS]",
                "AVAILABLE_TOOLS": "[AVAILABLE_TOOLS]",
            },
            {
                "system": "[/SYSTEM_PROMPT]",
                "user": "[/INST]",
                "assistant": "</s>",
                "tool": "[/TOOL_RESULTS]",
                "AVAILABLE_TOOLS": "[/AVAILABLE_TOOLS]",
            },
            write_mistral,
            result=lambda result, id_: f"{id_}[TOOL_CONTENT]{result.value}",
            results=("", "[/TOOL_RESULTS][TOOL_RESULTS]", ""),
            thought=("[THINK]", "[/THINK]"),
        ),
        roles={
            "INST": "user",
            "/INST": "assistant",
            "TOOL_RESULTS": "tool",
            "/TOOL_RESULTS": "assistant",
            "SYSTEM_PROMPT": "system",
            "/SYSTEM_PROMPT": "user",
            "AVAILABLE_TOOLS": "system",
            "/AVAILABLE_TOOLS": "user",
            "MODEL_SETTINGS": "system",
            "/MODEL_SETTINGS": "user",
        },
        call=("[TOOL_CALLS]", ""),
        read_calls=read_mistral,
        thought=("[THINK]", "[/THINK]"),
        tools=(Tools("AVAILABLE_TOOLS", ToolSection("[", "]", ", ", None), is_late=True),),
    ),
    "gemma": _family(
        "<bos>",
        r"<start_of_turn>(\w+)\n",
        "<end_of_turn>",
        _style("<bos>", "<start_of_turn>{}\n", "<end_of_turn>\n", "user model"),
    ),
    "gemma-4": _family(
        "<bos>",
        r"<\|turn>(\w+)\n",
        "<turn|>",
        _style(
            *("<bos>", "<|turn>{}\n", "<turn|>\n", "user model"),
            call=write_gemma,
            result=write_gemma_result,
            thought=("<|channel>thought\n", "\n<channel|>"),
            goes_on=True,
            holds_results=True,
        ),
        call=("<|tool_call>", "<tool_call|>"),
        read_calls=read_gemma,
        result=("<|tool_response>", "<tool_response|>"),
        thought=("<|channel>thought", "<channel|>"),
        tools=GEMMA_TOOLS,
    ),
    "deepseek-3.1": DEEPSEEK._replace(
        begin=pattern(
            rf"\s?(?={DEEPSEEK_HEAD})(?:(?!<｜Assistant｜>|{OF_3_1}).)*+(?:<｜Assistant｜></think>|{OF_3_1})", re.DOTALL
        ),
        style=DEEPSEEK.style._replace(
            call=write_deepseek_3_1,
            calls=("<｜tool▁calls▁begin｜>", "", "<｜tool▁calls▁end｜>"),
            results=("", "", ""),
            no_thought="</think>",
        ),
        tools=DEEPSEEK_TOOLS,
    ),
    "deepseek": DEEPSEEK,
    "kimi": _family(
        "",
        r"<\|im_(?:system|user|assistant)\|>([\w.-]+)<\|im_middle\|>",
        "<|im_end|> [EOS] <|tool_calls_section_begin|> <|tool_calls_section_end|>",
        TextStyle(
            "",
            {
                "system": "<|im_system|>system<|im_middle|>",
                "user": "<|im_user|>user<|im_middle|>",
                "assistant": "<|im_assistant|>assistant<|im_middle|>",
                "tool": "<|im_system|>tool<|im_middle|>",
                "tool_declare": "<|im_system|>tool_declare<|im_middle|>",
            },
            dict.fromkeys(ALL_ROLES, "<|im_end|>"),
            write_kimi,
            ("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
            id=lambda call, number: kimi_id(call.name, number),
            result=lambda result, id_: f"## Return of {id_}\n{result.value}",
            results=("", "<|im_end|><|im_system|>tool<|im_middle|>", ""),
            thought=("<think>", "</think>"),
        ),
        call=("<|tool_call_begin|>", "<|tool_call_end|>"),
        read_calls=read_kimi,
        tools=KIMI_TOOLS,
    ),
    "glm": _family(
        r"\[gMASK\]<sop>",
        r"<\|(system|user|assistant|observation)\|>\n?",
        "<|endoftext|>",
        _style(
            *("[gMASK]<sop>", "<|{}|>\n", "", "user assistant observation"),
            call=write_glm,
            calls=("", "\n", ""),
            before_calls="\n",
            result=_tagged_result,
            results=("", "\n", ""),
            thought=("<think>", "</think>\n"),
            no_thought="<think></think>\n",
        ),
        call=TOOL_CALL,
        read_calls=read_glm,
        tools=GLM_TOOLS,
        result=TOOL_RESPONSE,
    ),
    "minimax": _family(
        r"\]~!b\[",
        r"\]~b\](\w+)(?: [^\n]*)?\n",
        "[e~[ <minimax:tool_call> </minimax:tool_call>",
        _style(
            *("]~!b[", "]~b]{}\n", "[e~[\n", "user ai"),
            call=write_minimax,
            calls=("\n<minimax:tool_call>\n", "\n", "\n</minimax:tool_call>"),
            result=lambda result, _: f"<response>{result.value}</response>",
            results=("", "\n", ""),
        ),
        call=('<invoke name="', "</invoke>"),
        read_calls=read_minimax,
        tools=MINIMAX_TOOLS,
        result=("<response>", "</response>"),
    ),
}


def family_of(text: str) -> str:
    """Returns the family whose marks begin a text; empty if there is none."""
    return next((name for name, family in FAMILIES.items() if family.begin.match(text)), "")
