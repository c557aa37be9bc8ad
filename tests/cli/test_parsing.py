"""Command lines are parsed without click where they are usual, with the same result."""

from __future__ import annotations

from functools import cache
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.cli._click import WORDS, group
from convcli.cli._commands import Parameter, get, names
from convcli.cli._types import CodeList, Near, Number, Size
from convcli.model.errors import ConvcliError
from convcli.report.screen import Screen

NAMES = names()
ODD = (
    *("", "-", "--", "---", "-1", "-x", "-to", "-qv", "-j2", "-ofile", "-o=file", "--nope", "--fo", "--force=1"),
    "-h",
)
GOOD = {Number: ("1", "2"), Size: ("64M", "1k", "1gb"), CodeList: ("not-json", "not-json, foreign-model", "")}
BAD = {
    Number: ("0", "-1", "x", " 1 ", "1_0", "1.5", "nan", "9" * 9),
    Size: ("0", "x", "5\N{KELVIN SIGN}", "1KK", "B", "01"),
    CodeList: ("nothing",),
}


def parsed(name: str, args: list[str]) -> Any:
    """What `parse` makes of a command line; None for one that it leaves to click."""
    screen, command = Screen(), get(name)
    words = command.with_values(args)
    values = command.parse(words, screen)
    return None if values is None else (words, values, screen.quiet, screen.verbose, screen.debug)


def parsed_by_click(name: str, args: list[str]) -> Any:
    """What click makes of it, or the error."""
    screen = Screen()
    try:
        with in_click(name).make_context(name, list(args), obj=screen) as context:
            words = context.meta[WORDS]
            return (words, context.params, screen.quiet, screen.verbose, screen.debug)
    except (click.ClickException, click.exceptions.Exit, ConvcliError) as error:
        return error


@cache
def in_click(name: str) -> click.Command:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command


@cache
def good(parameter: Parameter) -> tuple[str, ...]:
    """Words that the parameter takes."""
    kind = parameter.kind
    if isinstance(kind, Near):
        return tuple(kind.words()[:3])
    return GOOD.get(type(kind), ("gemini",) if kind.name == "dialect" else ("a.json", "b=c", "-", ""))


def written(parameter: Parameter, words: tuple[str, ...]) -> list[list[str]]:
    """All ways to write the parameter with these words."""
    options = [name for each in parameter.names for name in each.split("/") if name[0] == "-"]
    if parameter.is_flag:
        return [[name] for name in options]
    if not options:
        return [[word] for word in words]
    joined = [[f"{name}={word}"] for name in options if name[1] == "-" for word in words]
    return joined + [[name, word] for name in options for word in words]


def least(name: str) -> list[str]:
    """The shortest command line of this command."""
    required = [each for each in get(name).parameters if each.settings.get("required")]
    return [word for each in required for word in written(each, good(each))[-1]]


@pytest.mark.parametrize("name", NAMES)
def test_each_option_is_usual_in_each_spelling_and_click_reads_the_same(name: str) -> None:
    first = least(name)
    for parameter in get(name).parameters:
        for words in written(parameter, good(parameter)):
            if not parameter.is_argument:
                result = parsed(name, [*words, *first])
                assert result is not None, words
                assert result == parsed_by_click(name, [*words, *first])
    assert parsed(name, first) == parsed_by_click(name, first) is not None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A command with words of its options, right and wrong ones, and odd words, in any order."""
    name = draw(st.sampled_from(NAMES))
    command, args = get(name), [least(name)] * draw(st.integers(0, 1))
    for parameter in draw(st.lists(st.sampled_from(command.parameters), max_size=5)):
        words = good(parameter) + draw(st.sampled_from([(), (), BAD.get(type(parameter.kind), ("nothing",))]))
        args.append(draw(st.sampled_from(written(parameter, words))))
    args += [[word] for word in draw(st.lists(st.sampled_from(ODD), max_size=1))]
    args = draw(st.permutations(args))
    return name, [word for words in args for word in words]


@given(command_lines())
def test_what_is_parsed_without_click_is_what_click_reads(line: tuple[str, list[str]]) -> None:
    result = parsed(*line)
    assert result is None or result == parsed_by_click(*line)
