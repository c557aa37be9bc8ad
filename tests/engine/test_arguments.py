"""Arguments of the library: a string in place of a document is reported, and choices are checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.engine import arguments
from convcli.model.dialect import Options
from convcli.model.errors import ContentError, JobError

TEXT = json.dumps({"messages": [{"role": "user", "content": "Hi."}]})


@pytest.mark.parametrize(
    "function",
    [convcli.lift, convcli.validate, convcli.detect, lambda document: convcli.convert(document, to="gemini")],
)
@pytest.mark.parametrize(
    ("document", "words"),
    [
        (TEXT, "got a string: parse it first"),
        (TEXT.encode(), "got bytes: parse them first"),
        (Path("chat.json"), "got a path: read the file first"),
    ],
)
def test_what_is_not_parsed_is_reported(function: Any, document: Any, words: str) -> None:
    with pytest.raises(JobError, match=words):
        function(document)


def test_a_text_is_reported_where_the_dialect_is_named_too() -> None:
    with pytest.raises(JobError, match="parse it first"):
        convcli.convert(TEXT, to="gemini", source="openai-chat")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (TEXT.encode(), "got bytes"),
        (json.loads(TEXT), "got a document"),
        (TEXT, "got JSON"),
        ('[\n {"role": "user"}]', "got JSON"),
    ],
)
def test_what_is_no_path_is_reported(path: Any, words: str) -> None:
    with pytest.raises(JobError, match=words):
        convcli.read(path)


@pytest.mark.parametrize("path", ["[ab]*.jsonl", "{x}.json", Path("a.json")])
def test_a_glob_and_a_strange_name_are_paths(path: Any) -> None:
    assert arguments.path_of(path) == str(path)


def test_a_document_in_no_dialect_says_how_to_name_it_in_python() -> None:
    with pytest.raises(ContentError, match=r"source=…"):
        convcli.convert({"a": 1}, to="gemini")


@pytest.mark.parametrize(
    ("form", "branch", "words"),
    [("requst", "all", 'did you mean "request"'), ("x", "all", "anthropic has"), (None, "newest", "active or all")],
)
def test_a_choice_that_does_not_exist_is_reported(form: str | None, branch: Any, words: str) -> None:
    with pytest.raises(JobError, match=words):
        arguments.options(dialects.get("anthropic"), form, branch, 0)


def test_without_a_choice_the_options_are_the_usual_ones() -> None:
    assert arguments.options(dialects.get("anthropic"), None, "all", 0) == Options()


def test_form_branch_and_chunk_have_the_effect_that_they_have_on_the_command_line() -> None:
    answer = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello there."}]}
    response = convcli.convert(answer, to="openai-chat", source="openai-chat", form="response")
    assert "choices" in response.document
    short, long = (
        convcli.convert(answer, to="openai-chat-stream", source="openai-chat", chunk=chunk).document for chunk in (2, 0)
    )
    assert len(short) > len(long)
    tree = {
        "convcli": 1,
        "head": "c",
        "messages": [
            {"role": "user", "id": "a", "parts": [{"type": "text", "text": "Hi."}]},
            *(
                {"role": "assistant", "id": name, "parentId": "a", "parts": [{"type": "text", "text": name}]}
                for name in "bc"
            ),
        ],
    }
    active = convcli.convert(tree, to="intermediate", source="intermediate", branch="active").document
    assert [message["id"] for message in active["messages"]] == ["a", "c"]
