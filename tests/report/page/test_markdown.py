"""Colors in pages take little time, whatever the code is."""

from __future__ import annotations

import pytest
from pygments.lexers import get_lexer_by_name

from convcli.report.page.markdown import LANGUAGES, LONGEST_LINE, MOST_COLOURED, code


@pytest.mark.parametrize("name", sorted(LANGUAGES))
def test_each_language_is_colored_by_its_usual_name(name: str) -> None:
    assert get_lexer_by_name(name).aliases[0] == name


@pytest.mark.parametrize("name", ["python", "py", "js", "yaml", "sh"])
def test_short_code_of_a_common_language_is_colored(name: str) -> None:
    assert '<span class="k-' in code("x = 'a' # 1\n", name)


HOSTILE = {
    "a long line": ("python", "a" * (LONGEST_LINE + 1)),
    "long code": ("python", "a = 1\n" * MOST_COLOURED),
    "empty lines": ("c", "\n" * 31),
    "spaces": ("c", "x" + " " * 31),
    "a slow lexer": ("make", "a = 1\n"),
    "no language": ("no-such-language", "a = 1\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_code_that_could_take_long_is_not_colored(name: str) -> None:
    language, text = HOSTILE[name]
    assert code(text, language) == text
