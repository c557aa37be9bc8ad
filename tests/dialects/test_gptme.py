"""gptme: calls and thoughts in the text of an answer, results, files, counts, and what the program would not read."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from convcli.dialects.gptme import DIALECT, content
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.growth import MOST, Steps, growth

TIME = "2026-11-23T23:22:07.518646"
CALL = ToolCall("c1", "shell", {"command": "ls"})


def row(role: str, text: str, **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": TIME, **keys}


def lifted(*rows: Any) -> list[Message]:
    return DIALECT.lift(Rows(rows)).messages


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Hi.", [Text("Hi.")]),
        ('Go.\n@shell(c1): {"command":"ls"}', [Text("Go."), CALL]),
        ('@shell(c1): {"command":"ls"}\nDone.', [CALL, Text("Done.")]),
        ("<think>\nHm.\n</think>\n\nOne.", [Reasoning("Hm."), Text("One.")]),
        (
            "<think>\nHm.\n<!-- think-sig: c2ln -->\n</think>\n\n" + '@shell(c1): {"command":"ls"}',
            [Reasoning("Hm.", metadata={"signature": "c2ln"}), CALL],
        ),
        ("@f(c1): {'n': 1}", [ToolCall("c1", "f", {}, "{'n': 1}")]),
    ],
)
def test_thoughts_and_calls_are_read_in_the_text_of_an_answer_and_written_there(text: str, parts: Any) -> None:
    assert content.read(text) == parts
    assert content.write(parts) == text


@pytest.mark.parametrize(
    "text",
    [
        '```txt\n@shell(c1): {"command":"ls"}\n```',
        'See @shell(c1): {"command":"ls"}',
        '@shell(c1): {"command":"ls"',
        "<think>\nHm.",
        "```shell\nls\n```",
    ],
)
def test_a_call_in_a_fenced_block_or_without_an_end_is_text(text: str) -> None:
    assert content.read(text) == [Text(text)]


def test_a_message_of_the_user_or_the_system_has_no_calls() -> None:
    text = '@shell(c1): {"command":"ls"}'
    assert [message.parts for message in lifted(row("user", text), row("system", text))] == [[Text(text)]] * 2


@pytest.mark.parametrize("piece", ["<think>", "```\n", "````\n", "@f(c1): {\n", '@f(c1): {"\\"', "<!-- think-sig: "])
def test_marks_that_nothing_closes_take_linear_time(piece: str) -> None:
    def work(size: int) -> Steps:
        return [partial(content.read, "<think>" + piece * size)]

    assert growth(work, 5_000) < MOST


def test_a_result_is_a_system_message_with_the_id_of_its_call() -> None:
    call = row("assistant", '@shell(c1): {"command":"ls"}')
    rows = Rows([call, row("system", "a.txt", call_id="c1", metadata={"tool": "shell"})])
    result = Message("tool", [ToolResult("c1", "shell", "text", "a.txt")], created_at=TIME)
    assert DIALECT.lift(rows).messages[1] == result
    assert pipeline.lower(DIALECT.lift(rows), DIALECT).document == rows


def test_notes_of_the_program_between_a_call_and_its_result_stay_there() -> None:
    rows = Rows([row("assistant", "@f(c1): {}"), row("system", "Wait."), row("system", "1", call_id="c1")])
    assert [message.role for message in DIALECT.fitted(DIALECT.lift(rows), "log").messages] == [
        *("assistant", "system", "tool")
    ]


def test_files_are_images_and_documents_by_path_or_url() -> None:
    (message,) = lifted(row("user", "See.", files=["/tmp/a.PNG", "https://example.com/b.pdf"]))
    assert message.parts[1:] == [Media("image", path="/tmp/a.PNG"), Media("document", url="https://example.com/b.pdf")]


@pytest.mark.parametrize("is_flat", [True, False])
def test_counts_of_older_versions_stand_in_the_metadata(is_flat: bool) -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 30}
    (message,) = lifted(row("assistant", "Hi.", metadata=usage if is_flat else {"usage": usage, "cost": 0.5}))
    assert message.usage == {"inputTokens": 40, "outputTokens": 5, "cacheReadTokens": 30}
    assert message.cost == (None if is_flat else 0.5)


def test_arguments_whose_end_the_program_would_not_find_are_dropped() -> None:
    calls = [ToolCall("c1", "f", {}, "not an object"), ToolCall("c2", "f", {}, "{'n': 1}")]
    conversion = pipeline.lower(Transcript([Message("assistant", list(calls))]), DIALECT)
    assert conversion.document[0]["content"] == "@f(c1): {}\n@f(c2): {'n': 1}"


def test_names_and_ids_that_the_program_would_not_read_are_replaced() -> None:
    conversion = pipeline.lower(Transcript([Message("assistant", [ToolCall("a b", "get-it", {})])]), DIALECT)
    assert conversion.document[0]["content"] == "@get_it(a_b): {}"


def test_its_lines_are_not_taken_for_those_of_chat_completions() -> None:
    assert detection.detect(Rows([row("user", "Hi.", pinned=True), row("assistant", "Yo.")])).dialect == "gptme"
    assert detection.evidence(Rows([row("user", "Hi.", mood=1)]), DIALECT) is None
