"""Tokens are counted by a tokenizer that the user names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from convcli.jobs import splitting, tokens
from convcli.jobs.tokens import TokenCount
from convcli.model.errors import JobError
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from tests.cli_cases import write

WORDS = TokenCount(lambda text: list(range(len(text.split()))))


def test_texts_calls_and_results_count_and_media_do_not() -> None:
    parts = [Reasoning("a b"), Text("c"), Media("image", path="x.png"), ToolCall("1", "run", {"of": 1})]
    assert WORDS.message(Message("assistant", parts)) == 3 + 2
    assert WORDS.message(Message("tool", [ToolResult("1", "run", "multimodal", [Text("a b")])])) == 2
    assert WORDS.message(Message("tool", [ToolResult("1", "run", "data", {"a": "b c"})])) == 2
    assert WORDS.tools(Transcript([], tools=[ToolDefinition("run", description="runs it")])) == 2


def test_tokens_need_a_tokenizer_that_exists(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    pytest.importorskip("tiktoken")
    with pytest.raises(JobError, match="needs --tokenizer"):
        splitting.splitting(None, None, 5, None)
    with pytest.raises(JobError, match="no encoding and no model"):
        splitting.splitting(None, None, 5, "o200k_bas")
    with pytest.raises(JobError, match="there is no such tokenizer"):
        splitting.splitting(None, None, 5, str(tmp_path / "missing.json"))
    other = write(tmp_path / "other.json", {"a": 1})
    with pytest.raises(JobError, match=r"not a tokenizer\.json"):
        splitting.splitting(None, None, 5, str(other))


def test_a_tokenizer_json_counts_all_tokens_and_none_of_its_own(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[?]": 0, "[S]": 1}, unk_token="[?]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing("[S] $A", special_tokens=[("[S]", 1)])
    tokenizer.enable_truncation(3)
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    assert tokens.token_count(str(file)).message(Message("user", [Text("five words stand in here")])) == 5


def test_a_missing_package_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(JobError, match="needs the package tiktoken") as error:
        tokens.token_count("another_base")
    assert error.value.code == "tokenizer-missing"
