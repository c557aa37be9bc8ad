"""Words of other programs: each gets the word of this one, or none. What is merely spelled alike is no help."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.model.errors import JobError
from tests.cli_cases import run

HERE = "convcli {} -h shows how"


def helped(*words: str) -> str:
    done = run(*words)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.decode().splitlines() if "help:" in line]
    return line.partition("help: ")[2]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("openai", "openai-chat"), ("gpt", "openai-chat"), ("OpenAI", "openai-chat"), ("openai_chat", "openai-chat"),
        ("chat-openai", "openai-chat"), ("trl", "hf-chat"), ("hf", "hf-chat"),
        ("responses", "openai-responses"),
        ("claude", "anthropic"), ("anthropc", "anthropic"), ("anthropic-messages", "anthropic"),
        ("google", "gemini"), ("vertex", "vertexai"), ("bedrock", "bedrock-converse"), ("aws", "bedrock-converse"),
        ("pi", "openclaw"), ("open-claw", "openclaw"), ("roo", "cline"),
        ("xml", None), ("llm", None), ("csv", None), ("pdf", None), ("sql", None),
    ],
)  # fmt: skip
def test_a_name_of_somebody_else_for_a_dialect_gets_ours_or_the_list(word: str, name: str | None) -> None:
    with pytest.raises(JobError) as caught:
        dialects.get(word)
    assert caught.value.help == (f'did you mean "{name}"?' if name else "convcli dialects lists them all")


def test_no_alias_of_a_dialect_stands_for_two_or_is_itself_a_name() -> None:
    aliases = [alias for dialect in dialects.builtin() for alias in dialect.aliases]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & set(dialects.names())


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("view", "inspect"), ("show", "inspect"), ("lint", "validate"), ("check", "validate"), ("transform", "convert"),
        ("insepct", "inspect"), ("valid", "validate"), ("conv", "convert"), ("loss", "losses"), ("compare", "diff"),
        ("list", None), ("ls", None), ("run", None), ("init", None), ("import", None),
    ],
)  # fmt: skip
def test_a_wrong_command_gets_the_one_that_does_it_or_the_list(word: str, command: str | None) -> None:
    assert helped(word) == (f'did you mean "{command}"?' if command else "convcli -h lists them all")


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("inspect", "--grep", "--where"), ("inspect", "--html", "--output-format html"),
        ("inspect", "--json", "--output-format json"), ("convert", "--dry-run", "convcli losses"),
        ("validate", "--sarif", "--output-format sarif"), ("convert", "--no-loss", "--fail-on-loss"),
        ("inspect", "--no-truncate", "--no-trunc"), ("inspect", "--limt", "--limit"), ("convert", "--out", "--output"),
        ("validate", "--colour", "--color"), ("convert", "--overwrite", "--force"),
        ("inspect", "--browse", None), ("inspect", "--sort", None), ("inspect", "--quiet", None),
        ("inspect", "--tail", None), ("inspect", "--grpe", None), ("convert", "--html", None),
        ("convert", "--grep", "--where"), ("validate", "--quiet", None), ("stats", "--zzz", None),
    ],
)  # fmt: skip
def test_a_wrong_option_gets_the_one_that_does_it_or_the_help(command: str, option: str, meant: str | None) -> None:
    assert helped(command, option, "x") == (f'did you mean "{meant}"?' if meant else HERE.format(command))
