"""Text of chat templates: turns, thoughts, calls and results by the marks of each family; TRL's templates judge."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.dialects.chat_text import DIALECT
from convcli.dialects.chat_text.families import FAMILIES, family_of
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from tests import tiers
from tests.support import samples, samples_of

CALL = ToolCall("call_1", "f", {"a": "x", "n": 2})
HI = Message("user", [Text("Hi.")])


def lifted(text: str) -> list[Message]:
    return DIALECT.lift({"text": text}).messages


BEGINS = {
    "chatml": "<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\n",
    "llama-3": "<|start_header_id|>user<|end_header_id|>\n\nHi.<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "llama-4": "<|header_start|>user<|header_end|>\n\nHi.<|eot|><|header_start|>assistant<|header_end|>\n\n",
    "mistral": "<s>[INST]Hi.[/INST]",
    "gemma": "<bos><start_of_turn>user\nHi.<end_of_turn>\n<start_of_turn>model\n",
    "gemma-4": "<bos><|turn>user\nHi.<turn|>\n<|turn>model\n",
    "deepseek": "<｜begin▁of▁sentence｜><｜User｜>Hi.<｜Assistant｜>",
    "deepseek-3.1": "<｜begin▁of▁sentence｜><｜User｜>Hi.<｜Assistant｜></think>",
    "kimi": "<|im_user|>user<|im_middle|>Hi.<|im_end|><|im_assistant|>assistant<|im_middle|>",
    "glm": "[gMASK]<sop><|user|>\nHi.<|assistant|>\n",
    "minimax": "]~!b[]~b]user\nHi.[e~[\n]~b]ai\n",
}
CALLS = {
    "chatml": '<tool_call>\n{"name": "f", "arguments": {"a": "x", "n": 2}}\n</tool_call>',
    "llama-3": '{"name": "f", "parameters": {"a": "x", "n": 2}}',
    "llama-4": '<|python_start|><|python_end|>{"name": "f", "parameters": {"a": "x", "n": 2}}',
    "mistral": '[TOOL_CALLS]f[ARGS]{"a": "x", "n": 2}',
    "gemma-4": '<|tool_call>call:f{a:<|"|>x<|"|>,n:2}<tool_call|>',
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"
    '{"a": "x", "n": 2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
    '{"a": "x", "n": 2}<|tool_call_end|><|tool_calls_section_end|>',
    "glm": "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n"
    "<arg_key>n</arg_key>\n<arg_value>2</arg_value>\n</tool_call>",
    "minimax": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="a">x</parameter>\n'
    '<parameter name="n">2</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_recognised_by_how_its_texts_begin(name: str) -> None:
    assert family_of(BEGINS[name]) == name
    assert detection.detect({"text": BEGINS[name]}).dialect == "chat-text"
    assert lifted(BEGINS[name] + "Yo.") == [HI, Message("assistant", [Text("Yo.")])]
    assert lifted(BEGINS[name]) == [HI], "a head without text asks for an answer"


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_read(name: str) -> None:
    _, answer = lifted(BEGINS[name] + CALLS[name])
    (call,) = answer.parts
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments, call.raw_arguments) == (CALL.name, CALL.arguments, None)


@pytest.mark.parametrize("text", ['<|python_start|>[f(a="x", n=2)]<|python_end|>', '[f(a="x", n=2)]'])
def test_calls_of_llama_4_may_be_in_the_syntax_of_python(text: str) -> None:
    _, answer = lifted(BEGINS["llama-4"] + text)
    assert [(part.name, part.arguments) for part in answer.parts if isinstance(part, ToolCall)] == [
        ("f", CALL.arguments)
    ]


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("llama-3", "llama-4")])
def test_a_thought_and_a_text_stand_before_a_call(name: str) -> None:
    begin, end = FAMILIES[name].thought
    _, answer = lifted(f"{BEGINS[name]}{begin}\nHm.\n{end}\nI call.{CALLS[name]}")
    assert answer.parts[:2] == [Reasoning("Hm."), Text("I call.")]
    assert [part.type for part in answer.parts[2:]] == ["tool_call"]


@pytest.mark.parametrize("thought", ["<think>\n\n</think>\n\n", "</think>"])
def test_an_empty_thought_is_none(thought: str) -> None:
    assert lifted(f"{BEGINS['chatml']}{thought}Yo.")[1] == Message("assistant", [Text("Yo.")])


@pytest.mark.parametrize(
    ("name", "text"),
    [("chatml", '<tool_call>{"name": "f"</tool_call>'), ("llama-4", "[f(x)]"), ("mistral", "[TOOL_CALLS]f(1)")],
)
def test_a_call_that_cannot_be_read_stays_a_text(name: str, text: str) -> None:
    assert lifted(BEGINS[name] + text)[1] == Message("assistant", [Text(text)])


def test_text_after_the_end_of_a_turn_is_kept() -> None:
    assert lifted("<|im_start|>user\nHi.<|im_end|> More.\n") == [Message("user", [Text("Hi. More.\n")])]
    assert lifted("<|im_start|>user\n  indented\n<|im_end|>\n") == [Message("user", [Text("  indented\n")])]


def test_another_role_is_the_users_under_its_name() -> None:
    assert lifted("<|im_start|>narrator\nOnce.<|im_end|>") == [Message("user", [Text("Once.")], name="narrator")]


def test_results_answer_by_id_or_in_order() -> None:
    text = "<s>[INST]Hi.[/INST][TOOL_CALLS]f[CALL_ID]a[ARGS]{}[TOOL_CALLS]g[CALL_ID]b[ARGS]{}</s>"
    text += "[TOOL_RESULTS]b[TOOL_CONTENT]2[/TOOL_RESULTS][TOOL_RESULTS]a[TOOL_CONTENT]1[/TOOL_RESULTS]"
    assert [message.parts for message in lifted(text)[2:]] == [
        [ToolResult("b", "g", "text", "2")],
        [ToolResult("a", "f", "text", "1")],
    ]
    old = '<s>[INST]Hi.[/INST][TOOL_CALLS][{"name": "f", "arguments": {}, "id": "a"}]</s>'
    old += '[TOOL_RESULTS]{"content": "1", "call_id": "a"}[/TOOL_RESULTS]'
    assert lifted(old)[2].parts == [ToolResult("a", "f", "text", "1")]
    assert lifted(BEGINS["gemma-4"] + CALLS["gemma-4"] + "<|tool_response>response:f{x:1}<tool_response|>Yo.")[2:] == [
        Message("tool", [ToolResult("call_1", "f", "text", "{x:1}")]),
        Message("assistant", [Text("Yo.")]),
    ]


def test_a_text_without_marks_is_an_answer_and_a_finding() -> None:
    assert lifted("Hi.") == [Message("assistant", [Text("Hi.")])]
    assert [finding.code for finding in convcli.validate({"text": "Hi."}, as_="chat-text")] == ["wrong-format"]
    assert detection.evidence({"text": "Hi."}, DIALECT) is None
    assert detection.evidence({"text": "<|start|>user<|message|>Hi.<|end|>"}, DIALECT) is None


# ---------------------------------------------------------------- templates of TRL and Mistral

NATIVE = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {"a": "x", "n": 2}}}
CHAT: list[Any] = [
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "", "tool_calls": [NATIVE]},
    {"role": "tool", "tool_call_id": "abcdefghi", "name": "f", "content": "3"},
    {"role": "assistant", "content": "Yo.\nAnd more."},
    {"role": "user", "content": "Bye."},
    {"role": "assistant", "content": "Bye."},
]
BOS = {
    "llama3": "<|begin_of_text|>",
    "llama3_1": "<|begin_of_text|>",
    "llama3_2": "<|begin_of_text|>",
    "gemma": "<bos>",
    "gemma3": "<bos>",
    "gemma4": "<bos>",
    "gemma4_v5": "<bos>",
    "deepseekv3": "<｜begin▁of▁sentence｜>",
}


def rendered(template: str, chat: list[Any], tools: list[Any] | None = None) -> str:
    """What a template of TRL or Mistral makes of a chat and its tools."""
    rendering = pytest.importorskip("transformers.utils.chat_template_utils")
    text = mistral_template(template.removeprefix("mistral_")) if "mistral" in template else trl_template(template)
    bos = BOS.get(template, "")
    texts, _ = rendering.render_jinja_template([chat], tools=tools, chat_template=text, bos_token=bos, eos_token="")
    return str(texts[0])


def trl_template(name: str) -> str:
    trl = pytest.importorskip("trl")
    path = Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja"
    if not path.exists():
        pytest.skip(f"this version of TRL has no {path.name}")
    return path.read_text("utf-8")


def mistral_template(version: str) -> str:
    """The template that mistral_common builds for a version of its tokenizers."""
    templates = pytest.importorskip("mistral_common.integrations.chat_templates.template_generator")
    tokenizers = pytest.importorskip("mistral_common.tokens.tokenizers.base")
    settings = {"reasoning_effort_values": ("none", "high"), "reasoning_effort_default": "high"}
    more = settings if version == "v15" else {}
    config = templates.TemplateConfig(version=tokenizers.TokenizerVersion[version], **more)
    return str(templates.build_chat_template(config))


@pytest.mark.parametrize(
    ("template", "name", "has_calls"),
    [
        ("qwen2_5", "chatml", True),
        ("qwen3", "chatml", True),
        ("llama3", "llama-3", False),
        ("gemma", "gemma", False),
        ("gemma3", "gemma", False),
        ("gemma4", "gemma-4", True),
        ("deepseekv3", "deepseek", False),  # it takes arguments as strings
        ("glm4moe", "glm", True),
        ("mistral_v7", "mistral", True),
        ("mistral_v11", "mistral", True),
        ("mistral_v13", "mistral", True),
    ],
)
def test_what_a_template_of_trl_writes_is_read_back(template: str, name: str, has_calls: bool) -> None:
    text = rendered(template, CHAT if has_calls else [CHAT[0], *CHAT[3:]])
    assert family_of(text) == name
    read = [message for message in lifted(text) if message.role != "system"]
    id_ = CHAT[2]["tool_call_id"] if template in ("mistral_v7", "mistral_v11") else CALL.id
    call, result = ToolCall(id_, "f", CALL.arguments), ToolResult(id_, "f", "text", "3")
    expected = [HI, Message("assistant", [call]), Message("tool", [result])]
    texts_after = [Message("assistant", [Text("Yo.\nAnd more.")]), Message("user", [Text("Bye.")])]
    assert read == [*(expected if has_calls else [HI]), *texts_after, Message("assistant", [Text("Bye.")])]


INSTRUCTION = {"role": "system", "content": "Be short."}
OTHER = {"id": "ihgfedcba", "type": "function", "function": {"name": "g", "arguments": {"b": [True, {"c": "d"}]}}}
CHATS: dict[str, list[Any]] = {
    "plain": [INSTRUCTION, CHAT[0], *CHAT[3:]],
    "call": [INSTRUCTION, *CHAT],
    "calls": [
        INSTRUCTION,
        CHAT[0],
        {"role": "assistant", "content": "I look.", "tool_calls": [NATIVE, OTHER]},
        CHAT[2],
        {"role": "tool", "tool_call_id": "ihgfedcba", "name": "g", "content": "4"},
        *CHAT[3:],
    ],
    "thought": [INSTRUCTION, CHAT[0], {"role": "assistant", "reasoning_content": "Hm.", "content": "Yo."}],
}
TEMPLATES = {
    "qwen2_5": ("chatml", "plain call calls thought"),
    "qwen3": ("chatml", "plain call calls thought"),
    "qwen3_instruct_2507": ("chatml", "plain call calls thought"),
    "llama3": ("llama-3", "plain thought"),  # it has no calls
    "llama3_1": ("llama-3", "plain call thought"),  # it takes one call
    "gemma3": ("gemma", "plain thought"),  # it has no calls
    "gemma4": ("gemma-4", "plain call"),  # it closes the turn between a text next to calls and the answer
    "gemma4_v5": ("gemma-4", "plain call calls thought"),
    "deepseekv3": ("deepseek", "plain call calls thought"),
    "glm4moe": ("glm", "plain call calls thought"),
    "mistral_v11": ("mistral", "plain call calls"),  # it has no thoughts
}
"""The templates of TRL and Mistral, each with its family and the chats that it takes."""
Replaced = list[tuple[str, str]]
NO_THOUGHT: Replaced = [("<think>\nHm.\n</think>\n\n", "")]
EMPTY_THOUGHT: Replaced = [("assistant\nBye.", "assistant\n<think>\n\n</think>\n\nBye.")]
DATES: Replaced = [("Be short.", "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\nBe short.")]
DIFFERENCES: dict[tuple[str, str], Replaced] = {
    **{(name, "thought"): NO_THOUGHT for name in ("qwen2_5", "qwen3_instruct_2507", "llama3")},
    ("deepseekv3", "thought"): [("<think>Hm.</think>", "")],
    **{("qwen3", chat): EMPTY_THOUGHT for chat in ("plain", "call", "calls")},
    ("llama3_1", "plain"): DATES,
    ("llama3_1", "thought"): [*DATES, *NO_THOUGHT],
    ("llama3_1", "call"): [*DATES, ("\n\n3<", '\n\n"3"<')],
    ("gemma4_v5", "calls"): [("I look.<|tool_call>", "<|tool_call>"), (">Yo.", ">I look.Yo.")],
}
"""Where a template writes another text: it drops thoughts of answers, or of all; Qwen 3 marks that the last answer has
none; Llama 3.1 adds dates, and writes results as JSON; Gemma 4 moves a text behind the calls and their results."""


def as_asked(template: str, chat: list[Any]) -> list[Any]:
    """The chat as the template asks for it: that of DeepSeek takes arguments as strings, and null for no text."""
    asked = copy.deepcopy(chat)
    for message in asked if template == "deepseekv3" else ():
        for call in message.get("tool_calls", ()):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
            message["content"] = message["content"] or None
    return asked


@pytest.mark.parametrize(
    ("template", "chat"), [(name, chat) for name, (_, chats) in TEMPLATES.items() for chat in chats.split()]
)
def test_what_is_written_is_the_text_of_the_template(template: str, chat: str) -> None:
    form = TEMPLATES[template][0]
    text = convcli.convert({"messages": CHATS[chat]}, "chat-text", source="hf-chat", form=form).document["text"]
    for ours, theirs in DIFFERENCES.get((template, chat), []):
        assert ours in text
        text = text.replace(ours, theirs)
    assert text == rendered(template, as_asked(template, CHATS[chat]))


# ---------------------------------------------------------------- tools

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": 'Looks it up, in °C:\n\n"</tools>".',
            "parameters": {"type": "object", "properties": {"n": {"type": "number", "minimum": 1.5}}, "required": []},
        },
    }
    for name in "fg"
]
ENVIRONMENT = (
    "Be short.",
    "Environment: ipython\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\nBe short.",
)


@pytest.mark.parametrize("chat", ["plain", "call"])
@pytest.mark.parametrize(
    ("template", "differences"),
    [
        ("qwen2_5", []),
        ("qwen3", EMPTY_THOUGHT),
        ("qwen3_instruct_2507", []),
        ("llama3_1", [ENVIRONMENT, ("\n\n3<", '\n\n"3"<')]),
        ("glm4moe", []),
        ("gemma4_v5", []),
        ("mistral_v11", []),
    ],
)
def test_tools_are_written_as_the_template_writes_them(template: str, differences: Replaced, chat: str) -> None:
    row = {"messages": CHATS[chat], "tools": TOOLS}
    done = convcli.convert(row, "chat-text", source="hf-chat", form=TEMPLATES[template][0])
    text = done.document["text"]
    for ours, theirs in differences:
        text = text.replace(ours, theirs)
    assert text == rendered(template, CHATS[chat], TOOLS)
    without_minimum = {"tool.parameters"} if template == "gemma4_v5" else set()
    assert {loss.field for loss in done.losses} - {"tool_call.id", "tool_result.toolCallId"} == without_minimum


READ = "qwen2_5 qwen3 qwen3_vl qwen3_6 llama3_1 llama3_2 glm4moe mistral_v7 mistral_v11 mistral_v13"


@pytest.mark.parametrize("template", READ.split())
def test_tools_of_a_template_are_read_back_and_leave_the_instruction(template: str) -> None:
    text = rendered(template, CHATS["call"], TOOLS)
    back = convcli.convert({"text": text}, "hf-chat", source="chat-text").document
    assert back["tools"] == TOOLS
    assert [one["role"] for one in back["messages"]] == [one["role"] for one in CHATS["call"]]
    assert back["messages"][0]["content"].endswith("Be short.")
    assert back["messages"][1]["content"] == "Hi."
    assert back["messages"][2]["tool_calls"][0]["function"] == NATIVE["function"]
    assert "Tools" not in back["messages"][0]["content"]


def test_settings_of_mistral_are_no_message_of_the_user() -> None:
    back = convcli.convert(
        {"text": rendered("mistral_v15", CHATS["plain"], TOOLS)}, "hf-chat", source="chat-text"
    ).document
    assert back["tools"] == TOOLS
    assert [one["role"] for one in back["messages"][:3]] == ["system", "system", "user"]


ITEM = {"type": "object", "properties": {"q": {"type": "string", "enum": ["a"]}}, "required": ["q"], "maxItems": 2}
SCHEMA = {
    "type": "object",
    "properties": {
        "All": {},
        "list": {"type": "array", "items": ITEM, "nullable": True},
        "n": {"type": "number", "description": "A number"},
        "of": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
        "open": {"type": "object", "description": "Anything"},
        "words": {"type": "array", "items": {"type": "string", "examples": [{"x": None, "y": True}]}},
    },
    "required": ["n", "list"],
}


def test_schemas_are_written_as_gemma_writes_them_and_read_back() -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": "Finds.", "parameters": SCHEMA}}]
    tools += [{"type": "function", "function": {"name": "g", "description": "Goes."}}]
    done = convcli.convert({"messages": CHATS["plain"], "tools": tools}, "chat-text", source="hf-chat", form="gemma-4")
    assert done.losses == []
    assert done.document["text"] == rendered("gemma4_v5", CHATS["plain"], tools)
    assert convcli.convert(done.document, "hf-chat", source="chat-text").document["tools"] == tools


@pytest.mark.parametrize(
    ("parameters", "kept"),
    [
        ({**SCHEMA, "additionalProperties": False}, SCHEMA),
        (
            {"properties": {"n": {"type": "NUMBER", "minimum": 1}}},
            {"type": "object", "properties": {"n": {"type": "number"}}},
        ),
        (
            {"type": "object", "properties": {"n": {"type": ["string", "null"], "description": ""}, "m": True}},
            {"type": "object", "properties": {"n": {"type": "string", "nullable": True}, "m": {}}},
        ),
        ({"type": "object", "properties": {}}, {"type": "object"}),
    ],
)
def test_keywords_that_gemma_lacks_are_losses_of_the_tool(parameters: Any, kept: Any) -> None:
    done = written("gemma-4", [HI], [ToolDefinition("f", "Finds.", parameters)])
    assert {loss.field for loss in done.losses} == {"tool.parameters"}
    assert DIALECT.lift(done.document).tools == [ToolDefinition("f", "Finds.", kept)]


FIND = ToolDefinition("f", "Finds.", {"type": "object"})
FOUND = '{"name": "f", "description": "Finds.", "parameters": {"type": "object"}}'
WRAPPED = f'{{"type": "function", "function": {FOUND}}}'
COMPACT = WRAPPED.replace(": ", ":").replace(", ", ",")
SECTIONS = {
    "chatml": f"<|im_start|>system\n# Tools\n\n_<tools>\n{WRAPPED}\n</tools>\n\n_</tool_call><|im_end|>\n",
    "llama-3": "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nGiven _variables.\n\n"
    '{\n    "type": "function",\n    "function": {\n        "name": "f",\n        "description": "Finds.",\n        '
    '"parameters": {\n            "type": "object"\n        }\n    }\n}\n\nHi.<|eot_id|>',
    "llama-4": "<|begin_of_text|><|header_start|>user<|header_end|>\n\nGiven _variables.\n\n"
    '{\n    "type": "function",\n    "function": {\n        "name": "f",\n        "description": "Finds.",\n        '
    '"parameters": {\n            "type": "object"\n        }\n    }\n}\n\nHi.<|eot|>',
    "mistral": f"[AVAILABLE_TOOLS][{WRAPPED}][/AVAILABLE_TOOLS][INST]Hi.[/INST]",
    "gemma-4": '<bos><|turn>system\n<|tool>declaration:f{description:<|"|>Finds.<|"|>,'
    'parameters:{type:<|"|>OBJECT<|"|>}}<tool|><turn|>\n<|turn>user\nHi.<turn|>\n',
    "deepseek-3.1": "<｜begin▁of▁sentence｜>\n\n## Tools\nYou have access to the following tools:\n\n### f\n"
    'Description: Finds.\n\nParameters: {"type": "object"}\n\nIMPORTANT: _without separators or spaces\n<｜User｜>Hi.',
    "kimi": f"<|im_system|>tool_declare<|im_middle|>[{COMPACT}]<|im_end|><|im_user|>",
    "glm": f"[gMASK]<sop><|system|>\n# Tools\n\n_<tools>\n{WRAPPED}\n</tools>\n\n_\n...\n</tool_call><|user|>\nHi.",
    "minimax": f"]~!b[]~b]system\n# Tools\n_<tools>\n<tool>{FOUND}</tool>\n</tools>\n\n_</minimax:tool_call>[e~[\n]~b]",
}
"""How a text with a tool and a question begins; `_` stands for more words of the template."""


def written(name: str, messages: list[Message], tools: list[ToolDefinition]) -> Any:
    transcript = Transcript(messages, tools=tools)
    return pipeline.lower(transcript, DIALECT, Options(form=name), source=dialects.get("intermediate"))


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("messages", [[HI], [Message("system", [Text("Be short.")]), HI]], ids=["asked", "instructed"])
def test_tools_stand_in_a_section_and_are_read_back(name: str, messages: list[Message]) -> None:
    done = written(name, messages, [FIND])
    assert done.losses == []
    read = DIALECT.lift(done.document)
    assert (read.messages, read.tools) == (messages, [FIND])
    if len(messages) == 1:
        at = 0
        for piece in SECTIONS[name].split("_") if name != "kimi" else [SECTIONS[name]]:
            at = done.document["text"].index(piece, at)


NOT_EXACT = {
    "gemma-4": (("declaration:", "statement:"), ("}}<tool|>", "}<tool|>")),
    "deepseek-3.1": (("Description: ", "Title: "), ("Parameters: {", "Parameters: {{")),
}
"""What makes a section another text, where it has no JSON of a whole tool."""


@pytest.mark.parametrize("name", SECTIONS)
def test_text_that_is_not_exactly_a_section_stays_text(name: str) -> None:
    text = written(name, [HI], [FIND]).document["text"]
    for old, new in NOT_EXACT.get(name, (('"name"', '"title"'), ('"f"', '"f'))):
        changed = text.replace(old, new, 1)
        assert changed != text
        read = DIALECT.lift({"text": changed})
        assert read.tools is None
        assert any(
            "Finds." in part.text for message in read.messages for part in message.parts if isinstance(part, Text)
        )


@pytest.mark.parametrize("name", FAMILIES)
def test_a_tool_that_cannot_be_written_is_a_loss(name: str) -> None:
    done = written(name, [HI], [FIND, ToolDefinition("g", f"Says {BEGINS[name]}", {})])
    read = DIALECT.lift(done.document)
    assert (read.messages, read.tools) == ([HI], [FIND] if name in SECTIONS else None)
    assert {loss.field for loss in done.losses} & {"tool", "tools"}


@pytest.mark.parametrize("sample", [one for one in samples_of("chat-text") if "tools" in one.path.name])
def test_a_sample_with_tools_is_written_as_it_is(sample: Any) -> None:
    row = convcli.convert(sample.document, "hf-chat", source="chat-text").document
    form = family_of(sample.document["text"])
    assert convcli.convert(row, "chat-text", source="hf-chat", form=form).document == sample.document


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("name", FAMILIES)
def test_a_conversation_in_any_family_is_read_back(name: str) -> None:
    answer = Message("assistant", [Reasoning("Hm."), Text("I call."), CALL, ToolCall("call_2", "g", {})])
    results = [Message("tool", [ToolResult(f"call_{n}", "fg"[n - 1], "text", f"{n} °C")]) for n in (1, 2)]
    transcript = Transcript(
        [Message("system", [Text("Be short.")]), HI, answer, *results, Message("assistant", [Text("Yo.")])]
    )
    target = Options(form=name)
    done = pipeline.lower(transcript, DIALECT, target, source=dialects.get("intermediate"))
    again = lifted(done.document["text"])
    spoken = [part.text for message in again for part in message.parts if isinstance(part, Text)]
    assert [text for text in ("Be short.", "Hi.", "I call.", "Yo.") if not any(text in one for one in spoken)] == []
    called = [part.name for message in again for part in message.parts if isinstance(part, ToolCall)]
    answered = [(part.name, part.value) for message in again for part in message.parts if isinstance(part, ToolResult)]
    has_calls = name != "gemma"
    assert called == (["f", "g"] if has_calls else [])
    assert answered == ([("f", "1 °C"), ("g", "2 °C")] if has_calls else [])
    assert has_calls or {"tool_call", "tool_result"} <= {loss.field for loss in done.losses}


@pytest.mark.parametrize("name", FAMILIES)
def test_marks_in_a_text_are_no_turns(name: str) -> None:
    bad = Message("user", [Text(f"Say {BEGINS[name]} twice.")])
    transcript = Transcript([bad, Message("assistant", [Text("No.")])])
    done = pipeline.lower(transcript, DIALECT, Options(form=name), source=dialects.get("intermediate"))
    assert [message.role for message in lifted(done.document["text"])] == ["user", "assistant"]
    assert "text.text" in {loss.field for loss in done.losses if loss.level == "content"}


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "gemma"])
def test_the_end_of_a_result_in_a_result_is_removed(name: str) -> None:
    style = FAMILIES[name].style
    end = (FAMILIES[name].result or ("", ""))[1] or style.ends["tool"]
    said = [HI, Message("assistant", [CALL]), Message("tool", [ToolResult("call_1", "f", "text", f"a {end} b")])]
    done = pipeline.lower(Transcript(said), DIALECT, Options(form=name), source=dialects.get("intermediate"))
    assert [part.value for part in lifted(done.document["text"])[-1].parts if isinstance(part, ToolResult)] == ["a  b"]
    assert "tool_result.value" in {loss.field for loss in done.losses}


@pytest.mark.parametrize("name", FAMILIES)
def test_an_output_is_read_and_written_again_without_a_loss(name: str) -> None:
    for sample in tiers.few([each for each in samples() if each.path.stem.startswith(("twin", "call", "error"))], 9):
        try:
            done = pipeline.convert(sample.document, dialects.get(sample.dialect), DIALECT, Options(form=name))
            again = pipeline.lower(DIALECT.lift(done.document), DIALECT, Options(form=name), source=DIALECT)
        except ConvcliError:  # what is no conversation, or has no text
            continue
        assert (again.document, again.losses) == (done.document, []), sample
