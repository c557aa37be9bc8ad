"""Text of chat templates: turns, thoughts, calls and results by the marks of each family; TRL's templates judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli.dialects.chat_text import DIALECT, FAMILIES, family_of
from convcli.engine import detection
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult

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
    "kimi": "<|im_user|>user<|im_middle|>Hi.<|im_end|><|im_assistant|>assistant<|im_middle|>",
    "glm": "[gMASK]<sop><|user|>\nHi.<|assistant|>\n",
    "minimax": "]~!b[]~b]user\nHi.[e~[\n]~b]ai\n",
}
CALLS = {
    "chatml": '<tool_call>\n{"name": "f", "arguments": {"a": "x", "n": 2}}\n</tool_call>',
    "llama-3": '{"name": "f", "parameters": {"a": "x", "n": 2}}',
    "llama-4": '[f(a="x", n=2)]',
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
    assert DIALECT.detect({"text": "Hi."}) is None
    assert DIALECT.detect({"text": "<|start|>user<|message|>Hi.<|end|>"}) is None


# ---------------------------------------------------------------- TRL's templates

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
    "gemma": "<bos>",
    "gemma3": "<bos>",
    "gemma4": "<bos>",
    "deepseekv3": "<｜begin▁of▁sentence｜>",
}


@pytest.mark.parametrize(
    ("template", "name", "has_calls"),
    [
        ("qwen2_5", "chatml", True),
        ("qwen3", "chatml", True),
        ("llama3", "llama-3", False),
        ("gemma", "gemma", False),
        ("gemma3", "gemma", False),
        ("gemma4", "gemma-4", True),
        ("deepseekv3", "deepseek", False),
        ("glm4moe", "glm", True),
    ],
)
def test_what_a_template_of_trl_writes_is_read_back(template: str, name: str, has_calls: bool) -> None:
    trl = pytest.importorskip("trl")
    rendering = pytest.importorskip("transformers.utils.chat_template_utils")
    path = Path(trl.__file__).parent / "chat_templates" / f"{template}.jinja"
    if not path.exists():
        pytest.skip(f"this version of TRL has no {path.name}")
    chat = CHAT if has_calls else [CHAT[0], *CHAT[3:]]
    source = path.read_text("utf-8")
    texts, _ = rendering.render_jinja_template(
        [chat], chat_template=source, bos_token=BOS.get(template, ""), eos_token=""
    )
    assert family_of(texts[0]) == name
    read = [message for message in lifted(texts[0]) if message.role != "system"]
    expected = [HI, Message("assistant", [CALL]), Message("tool", [ToolResult("call_1", "f", "text", "3")])]
    texts_after = [Message("assistant", [Text("Yo.\nAnd more.")]), Message("user", [Text("Bye.")])]
    assert read == [*(expected if has_calls else [HI]), *texts_after, Message("assistant", [Text("Bye.")])]
