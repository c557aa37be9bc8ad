"""Results without what agent programs write around an output."""

from __future__ import annotations

import pytest

from convcli.views.outputs import CommandOutput, output_of

CODEX = "Chunk ID: 94bd74\nWall time: 0.5000 seconds\nProcess exited with code 1\nOriginal token count: 13\nOutput:\n"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (CODEX + "a\nOutput:\nb", CommandOutput("a\nOutput:\nb", 1, 0.5)),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nok", CommandOutput("ok", 0, 0.0)),
        ('{"output":"a\\nb","metadata":{"exit_code":2,"duration_seconds":0.1}}', CommandOutput("a\nb", 2, 0.1)),
        ("Exit code 1\n3 failed", CommandOutput("3 failed", 1)),
        ("<tool_use_error>File not read</tool_use_error>", CommandOutput("File not read")),
        ("<system>ERROR: no such file.</system>\n", CommandOutput("ERROR: no such file.")),
        ("<system>a</system> b", CommandOutput("<system>a</system> b")),
    ],
)
def test_the_preamble_becomes_facts(text: str, output: CommandOutput) -> None:
    assert output_of(text) == output


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "Output:\nx",
        "Wall time: long\nOutput:\nx",
        '{"output": 1, "metadata": {}}',
        '{"output":"a","metadata":{},"more":1}',
        '{"output":"torn',
        "Exit codes are numbers",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert output_of(text) == CommandOutput(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Command failed with exit code 2\nno such file", 2),
        ("bash exited with code: 127", 127),
        ("Exit code 1\nprocess exited with code 9", 1),
        (f"{'x' * 300} exit code 2", None),
    ],
)
def test_a_failure_may_state_its_exit_code_in_a_sentence(text: str, code: int | None) -> None:
    assert output_of(text, is_failed=True).exit_code == code


def test_a_result_that_only_speaks_of_an_exit_code_has_none() -> None:
    text = "the job ends with exit code 3"
    assert output_of(text) == CommandOutput(text)
    assert output_of(text, is_failed=True) == CommandOutput(text, 3)
