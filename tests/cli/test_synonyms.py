"""Words of other programs: each gets the word of this one, or none. What is merely spelled alike is no help."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli import dialects
from convcli.cli import help as help_command
from convcli.cli._synonyms import ALIASES, COMMANDS_OF_OTHERS, HINTS
from convcli.model.errors import JobError
from convcli.report import pages
from tests.cli_cases import CLEAN, OTHER, ROOT, run, write

HERE = "convcli {} -h has examples"
COMMANDS = [path.stem for path in (ROOT / "convcli" / "cli").glob("[a-z]*.py")]


def helped(*words: str) -> str:
    done = run(*words)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.decode().splitlines() if "help:" in line]
    return line.partition("help: ")[2]


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("OpenAI", "openai-chat"), ("openai_chat", "openai-chat"), ("chat-openai", "openai-chat"),
        ("anthropc", "anthropic"), ("anthropic-messages", "anthropic"), ("Claude", "anthropic"),
        ("bedrock", "bedrock-converse"), ("open-claw", "openclaw"), ("hugging-face", "hf-chat"),
        ("xml", None), ("csv", None), ("pdf", None), ("sql", None),
    ],
)  # fmt: skip
def test_a_name_of_somebody_else_for_a_dialect_gets_ours_or_the_list(word: str, name: str | None) -> None:
    with pytest.raises(JobError) as caught:
        dialects.get(word)
    assert caught.value.help == (f'did you mean "{name}"?' if name else "convcli dialects lists them all")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("openai", "openai-chat"), ("gpt", "openai-chat"), ("responses", "openai-responses"), ("claude", "anthropic"),
        ("trl", "hf-chat"), ("hf", "hf-chat"), ("google", "gemini"), ("vertex", "vertexai"),
        ("aws", "bedrock-converse"), ("pi", "openclaw"), ("roo", "cline"),
    ],
)  # fmt: skip
def test_a_common_word_for_a_dialect_is_as_good_as_its_name(word: str, name: str) -> None:
    assert dialects.get(word) is dialects.get(name)


def test_an_alias_is_taken_wherever_a_dialect_is_named() -> None:
    by_alias, by_name = (
        [run(*words, name).stdout for words in (["schema"], ["help"], ["dialects"])] for name in ("trl", "hf-chat")
    )
    assert by_alias == by_name
    done = run("losses", "--from", "gpt", "--to", "trl", "--output-format", "json")
    assert done.stdout == run("losses", "--from", "openai-chat", "--to", "hf-chat", "--output-format", "json").stdout


def test_no_word_of_others_is_a_word_of_ours() -> None:
    """Such an entry would never be used: our own words come first."""
    assert not (HINTS | COMMANDS_OF_OTHERS | ALIASES).keys() & set(COMMANDS)
    assert not help_command.MEANT.keys() & {*COMMANDS, *pages.topics(), *dialects.names(), *dialects.aliases()}


@pytest.mark.parametrize(("word", "command"), [("view", "inspect"), ("show", "inspect"), ("show-settings", "config")])
def test_a_common_word_for_a_command_calls_it(word: str, command: str) -> None:
    reported, usual = (run(name, "-h").stdout.decode() for name in (word, command))
    assert reported.replace(f"convcli {word} [", f"convcli {command} [") == usual


def test_no_alias_of_a_dialect_stands_for_two_or_is_itself_a_name() -> None:
    aliases = [alias for dialect in dialects.builtin() for alias in dialect.aliases]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & set(dialects.names())


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("cat", "inspect"), ("lint", "validate"), ("check", "validate"), ("transform", "convert"),
        ("insepct", "inspect"), ("valid", "validate"), ("conv", "convert"), ("loss", "losses"), ("compare", "diff"),
        ("list", None), ("ls", None), ("run", None), ("init", None), ("import", None),
    ],
)  # fmt: skip
def test_a_wrong_command_gets_the_one_that_does_it_or_the_list(word: str, command: str | None) -> None:
    assert helped(word) == (f'did you mean "{command}"?' if command else "convcli -h lists them all")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("dedupe", "--dedupe"), ("filter", "--where"),
        ("split", "--out-dir DIR"), ("merge", "-o FILE.jsonl"), ("version", "--version"), ("markdown", "FILE.md"),
        ("export", "FILE.html"), ("search", "text~PATTERN"), ("tokens", '"stats"'), ("open", '"inspect"'),
    ],
)  # fmt: skip
def test_a_job_without_a_command_of_its_own_gets_the_way_to_do_it(word: str, hint: str) -> None:
    assert hint in helped(word)
    assert word not in COMMANDS


def test_common_mistakes_get_what_was_meant(tmp_path: Path) -> None:
    source = str(write(tmp_path / "a.json", CLEAN))
    assert helped("convert", source, "-to", "anthropic") == 'did you mean "--to"?'
    assert helped("convert", source, "anthropic") == 'did you mean "--to anthropic"?'
    assert helped("convert", source) == "convcli dialects lists the values of --to"
    assert helped("convert", source, "--to", "markdown").startswith("convcli inspect FILE --output-format md")
    assert helped("convert", source, "--to", "csv").startswith("convcli inspect FILE --output-format csv")
    assert helped("convert", source, "--to", "parquet").startswith("the name of the output decides that")
    assert helped("convert", source, "--to", OTHER, "--at", "request").startswith('did you mean "/request"?')
    assert helped("inspect", source, "--where", "tokens").startswith("write COLUMN=A,B, COLUMN!=A")
    assert helped("validate", source, "--select", "nope") == "convcli explain --list lists them all"


def test_resume_accepts_to_for_in(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CLEAN)
    done = run("resume", source, "--to", "codex", "--home", tmp_path, "--dry-run")
    assert (done.returncode, b"codex resume" in done.stdout) == (0, True)


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("inspect", "--grep", "--where"), ("inspect", "--html", "--output-format html"),
        ("inspect", "--json", "--output-format json"), ("convert", "--dry-run", "convcli losses"),
        ("validate", "--sarif", "--output-format sarif"), ("convert", "--no-loss", "--fail-on-loss"),
        ("inspect", "--no-truncate", "--no-trunc"), ("inspect", "--limt", "--limit"), ("convert", "--out", "--output"),
        ("validate", "--colour", "--color"), ("convert", "--overwrite", "--force"),
        ("inspect", "--browse", None), ("inspect", "--sort", None), ("inspect", "--silent", "--quiet"),
        ("inspect", "--tail", None), ("inspect", "--grpe", None), ("convert", "--html", None),
        ("convert", "--grep", "--where"), ("stats", "--zzz", None),
    ],
)  # fmt: skip
def test_a_wrong_option_gets_the_one_that_does_it_or_the_help(command: str, option: str, meant: str | None) -> None:
    assert helped(command, option, "x") == (f'did you mean "{meant}"?' if meant else HERE.format(command))
