"""Long conversations are split at compactions, by turns or by tokens, and a call stays with its result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convcli import dialects
from convcli.jobs.portions import portions
from convcli.jobs.splitting import Splitting, parts_of
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from tests.cli_cases import run, write


def say(role: str, text: str, **more: object) -> Message:
    return Message(role, [Text(text)], **more)  # type: ignore[arg-type]


def call(name: str) -> Message:
    return Message("assistant", [ToolCall(name, "run", {"of": name})])


def result(name: str) -> Message:
    return Message("tool", [ToolResult(name, "run", "text", f"result of {name}")])


def places(transcript: Transcript, **options: object) -> list[list[int]]:
    return [part for part, _ in parts_of(transcript, Splitting(**options))]  # type: ignore[arg-type]


INSTRUCTED = [say("system", "Be brief.")]
TURNS = [
    *INSTRUCTED,
    *(say("user", "one"), say("assistant", "1")),
    *(say("user", "two"), say("user", "more"), call("a"), result("a"), say("assistant", "2")),
    *(say("user", "three"), say("assistant", "3")),
]


def test_a_part_has_so_many_turns_and_begins_with_the_instructions() -> None:
    assert places(Transcript(TURNS), max_turns=2) == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 8, 9]]
    assert places(Transcript(TURNS), max_turns=1) == [[0, 1, 2], [0, 3, 4, 5, 6, 7], [0, 8, 9]]
    assert places(Transcript(TURNS), max_turns=3) == [list(range(10))]


def test_a_part_begins_with_the_summary_of_a_compaction() -> None:
    messages = [*TURNS[:3], say("user", "Summary", replaces="all"), *TURNS[3:5]]
    assert places(Transcript(messages), at_compaction=True) == [[0, 1, 2], [0, 3, 4, 5]]
    assert places(Transcript(messages), at_compaction=True, max_turns=1) == [[0, 1, 2], [0, 3, 4, 5]]


def test_a_call_that_is_open_at_a_turn_stays_with_its_result() -> None:
    messages = [say("user", "one"), call("a"), say("user", "hurry"), result("a"), say("assistant", "1"), TURNS[1]]
    assert places(Transcript(messages), max_turns=1) == [[0, 1, 2, 3, 4], [5]]
    unanswered = [say("user", "one"), call("a"), say("user", "hurry"), say("assistant", "1")]
    assert places(Transcript(unanswered), max_turns=1) == [[0, 1], [2, 3]]


def test_events_and_other_branches_stay_with_their_part() -> None:
    messages = [TURNS[1], say("event", "x"), TURNS[2], say("event", "y"), TURNS[8], TURNS[9], say("event", "z")]
    assert places(Transcript(messages), max_turns=1) == [[0, 1, 2, 3], [4, 5, 6]]


def test_messages_that_are_not_written_count_nothing() -> None:
    left_out = frozenset([id(TURNS[1])])
    assert [part for part, _ in parts_of(Transcript(TURNS[:8]), Splitting(max_turns=1), left_out)] == [list(range(8))]


@pytest.fixture
def words(tmp_path: Path) -> str:
    """A tokenizer that counts words."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return str(path)


def test_a_part_has_at_most_so_many_tokens(words: str) -> None:
    messages = [say("user", "a b c"), say("assistant", "d e"), say("user", "f g"), say("assistant", "h")]
    assert parts_of(Transcript(messages), Splitting(max_tokens=5, tokenizer=words)) == [([0, 1], 5), ([2, 3], 3)]
    assert parts_of(Transcript(messages), Splitting(max_tokens=8, tokenizer=words)) == [([0, 1, 2, 3], 8)]
    assert parts_of(Transcript(messages), Splitting(tokenizer=words)) == [([0, 1, 2, 3], 8)]


def test_a_turn_that_is_too_long_is_split_before_an_answer_and_repeats_its_question(words: str) -> None:
    messages = [say("user", "q q"), call("a"), result("a"), call("b"), result("b"), say("assistant", "w x y z")]
    size = 2 + 2 + 3  # the question, the name and the arguments of a call, the text of its result
    parts = places(Transcript(messages), max_tokens=size, tokenizer=words)
    assert parts == [[0, 1, 2], [0, 3, 4], [0, 5]]
    rows = portions(Transcript(messages), dialects.get("openai-chat"), Splitting(max_tokens=size, tokenizer=words))
    assert [(row.part, row.parts, row.tokens) for row in rows] == [(1, 3, 7), (2, 3, 7), (3, 3, 6)]


def test_each_part_is_a_row_that_states_its_number(tmp_path: Path) -> None:
    messages = [
        message
        for word in "abc"
        for message in ({"role": "user", "content": word}, {"role": "assistant", "content": word * 2})
    ]
    source = write(tmp_path / "a.json", {"model": "m", "messages": messages})
    done = run("convert", source, "--to", "hf-chat", "--max-turns", "2")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(len(row["messages"]), row["part"], row["parts"], row["turns"]) for row in rows] == [
        (4, 1, 2, 2),
        (2, 2, 2, 1),
    ]
    assert b"convert: 1 transcript as 2 rows" in done.stderr
    assert (
        run("convert", source, "--to", "hf-chat", "--max-turns", "2", "--restore-file", tmp_path / "r").returncode == 2
    )
    whole = run("convert", source, "--to", "openai-chat", "--max-turns", "9")
    assert json.loads(whole.stdout) == json.loads(source.read_bytes())
