"""Every code of a rule has twins in `twins.jsonl`: a document that gets exactly it, and a mended one that gets nothing.

A line there names the code and the dialect, and in `terms` how both are judged where that is not the usual way: `sent`
as a request (`--as`), `strict`, or with the `arguments` held against the schemas of their tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.jobs import inputs
from convcli.jobs.judging import JudgingOptions, judge
from convcli.model import codes
from convcli.validation.rules.conformance import arguments_match
from tests.support import names
from tests.validation.test_rules import OF_CONVERSIONS

ROWS = [json.loads(line) for line in Path(__file__).with_name("twins.jsonl").read_text("utf-8").splitlines()]
MOST_APART = 25
"""Values that are added, removed or changed between two twins."""
OF_SCHEMAS = {"wrong-type", "missing-key", "unknown-value", "too-few", "not-allowed", "unknown-key", "unknown-type"}
TEXT = {"type": "text", "text": "Hi."}


def large(code: str) -> dict[str, Any]:
    """Twins that are too large to be kept."""
    if code == "too-many-tools":
        tools = [{"type": "function", "function": {"name": f"f{i}"}} for i in range(129)]
        twins = [{"messages": [{"role": "user", "content": "Hi."}], "tools": tools[:count]} for count in (129, 128)]
        return {"code": code, "dialect": "openai-chat", "bad": twins[0], "good": twins[1]}
    messages = [{"role": ("user", "assistant")[i % 2], "content": [TEXT]} for i in range(100_001)]
    twins = [{"model": "claude-x", "max_tokens": 64, "messages": messages[:count]} for count in (100_001, 99_999)]
    return {"code": code, "dialect": "anthropic", "bad": twins[0], "good": twins[1]}


LARGE = ("too-many-tools", "too-many-messages")
TWINS = {row["code"]: row for row in ROWS}


def judged(row: dict[str, Any], document: Any, folder: Path) -> list[str]:
    """The codes of what is said of a file that holds this document."""
    dialect = dialects.get(row["dialect"])
    is_rows = isinstance(document, list) and "events" in dialect.framings
    path = folder / f"a.{'jsonl' if is_rows else 'json'}"
    path.write_text("\n".join(map(json.dumps, document if is_rows else [document])) + "\n", encoding="utf-8")
    said = row.get("terms")
    more = (arguments_match(),) if said == "arguments" else ()
    terms = JudgingOptions(said == "strict", dialect if said == "sent" else None, more)
    with inputs.opened(str(path), dialect.name) as source:
        return [finding.code for verdict in judge(source, terms) for finding in verdict.findings]


@pytest.mark.parametrize("code", [*TWINS, *(pytest.param(code, marks=pytest.mark.exhaustive) for code in LARGE)])
def test_the_bad_twin_gets_exactly_its_code_and_the_good_one_nothing(code: str, tmp_path: Path) -> None:
    row = large(code) if code in LARGE else TWINS[code]
    assert judged(row, row["bad"], tmp_path) == [code]
    assert judged(row, row["good"], tmp_path) == []


@pytest.mark.parametrize("code", TWINS)
def test_twins_are_one_conversation(code: str) -> None:
    assert 0 < distance(TWINS[code]["bad"], TWINS[code]["good"]) <= MOST_APART


def test_every_code_of_a_rule_or_a_schema_has_twins() -> None:
    stated = {code for name in names() for rule in dialects.get(name).rules for code in rule.codes}
    other_keys = {"lone-surrogate", *arguments_match().codes}
    assert (stated | OF_SCHEMAS | other_keys) - OF_CONVERSIONS == {*TWINS, *LARGE}
    assert len(ROWS) == len(TWINS)


def test_every_code_with_twins_is_explained() -> None:
    assert {*TWINS, *LARGE} <= codes.table().keys()


def test_the_dialect_of_twins_has_a_rule_with_their_code() -> None:
    for code, row in TWINS.items():
        rules = dialects.get(row["dialect"]).rules
        other_keys = code in OF_SCHEMAS or code in ("lone-surrogate", *arguments_match().codes)
        assert other_keys or any(code in rule.codes for rule in rules), code


# ---------------------------------------------------------------- the examples of explain are excerpts of the twins

IN_WORDS = {"too-many-cache-marks", "schema-too-deep"}
"""Codes whose examples would be too long."""
ANY = "…"


@pytest.mark.parametrize("code", sorted(TWINS.keys() - IN_WORDS))
@pytest.mark.parametrize("kind", ["bad", "good"])
def test_what_explain_shows_stands_in_the_twins(code: str, kind: str) -> None:
    for line in getattr(codes.table()[code], kind).splitlines():
        for piece in re.split(r"\s{3,}", line):
            wanted = excerpt(piece)
            assert any(matches(wanted, node) for node in nodes(TWINS[code][kind])), piece


def excerpt(piece: str) -> Any:
    """An example as JSON: members or items alone stand for some of an object or a list."""
    text = marked(piece.removeprefix("data: "))
    for whole in (text, f'{{{text}, "{ANY}": 0}}', f"[{text}]"):
        try:
            return json.loads(whole)
        except ValueError:
            continue
    raise AssertionError(f"no JSON: {piece}")


def marked(text: str) -> str:
    """JSON text in which what is left out is a string, and in objects a member."""
    written, inside = "", ""
    for token in re.findall(r'"(?:[^"\\]|\\.)*"|[^"]', text):
        inside = inside + token if token in ("{", "[") else inside[:-1] if token in ("}", "]") else inside
        is_member = inside.endswith("{") and not written.rstrip().endswith(":")
        written += token if token != ANY else f'"{ANY}": 0' if is_member else f'"{ANY}"'
    return written


def matches(wanted: Any, value: Any) -> bool:
    """Is the value as the excerpt says? A list of the excerpt may be a run of a longer one."""
    if isinstance(wanted, dict) and isinstance(value, dict):
        named = {key: child for key, child in wanted.items() if key != ANY}
        is_open = ANY in wanted and named.keys() <= value.keys()
        return (is_open or named.keys() == value.keys()) and all(matches(named[key], value[key]) for key in named)
    if isinstance(wanted, list) and isinstance(value, list):
        items = [child for child in wanted if child != ANY]
        runs = [value[i : i + len(items)] for i in range(len(value) - len(items) + 1)]
        some = any(all(map(matches, items, run)) for run in runs)
        return some if items or ANY in wanted else not value
    if isinstance(wanted, str) and wanted.endswith(ANY):
        return wanted == ANY or (isinstance(value, str) and value.startswith(wanted[:-1]))
    return bool(wanted == value)


def nodes(value: Any) -> Iterator[Any]:
    yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from nodes(child)


@pytest.mark.parametrize(
    ("piece", "value", "does"),
    [
        ('{"a": 1, …}', {"b": 2, "a": 1}, True),
        ('{"a": 1}', {"b": 2, "a": 1}, False),
        ('"a": [2, …]', {"a": [1, 2, 3], "b": 0}, True),
        ('"a": [3, 2]', {"a": [1, 2, 3]}, False),
        ('{"a": "x…"}', {"a": "xyz"}, True),
        ('{"a": …}', {"a": {}}, True),
        ('{"a": []}', {"a": [1]}, False),
    ],
)
def test_an_excerpt_matches_what_it_is_of(piece: str, value: Any, does: bool) -> None:
    assert matches(excerpt(piece), value) is does


# ---------------------------------------------------------------- how far two documents are apart


def distance(a: Any, b: Any) -> int:
    """How many values have to be added, removed or changed to make one of the other."""
    if a == b:
        return 0
    if isinstance(a, dict) and isinstance(b, dict):
        common = a.keys() & b.keys()
        return sum(distance(a[key], b[key]) for key in common) + sum(size((a | b)[key]) for key in a.keys() ^ b.keys())
    if isinstance(a, list) and isinstance(b, list):
        return between_lists(a, b)
    return max(size(a), size(b))


def between_lists(a: list[Any], b: list[Any]) -> int:
    row = [0]
    for there in b:
        row.append(row[-1] + size(there))
    for here in a:
        above, row = row, [row[0] + size(here)]
        for j, there in enumerate(b, 1):
            row.append(min(above[j] + size(here), row[-1] + size(there), above[j - 1] + distance(here, there)))
    return row[-1]


def size(value: Any) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(size, children))


def test_the_distance_counts_what_is_added_removed_and_changed() -> None:
    assert distance({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == 1
    assert distance({"a": [1, 2]}, {"a": [2]}) == 1
    assert distance({"a": 1}, {"b": {"c": 1}}) == 3
