"""What is printed is safe, complete and in the agreed shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convcli import catalog
from convcli.findings import Finding
from convcli.job import Summary
from convcli.judge import Verdict
from convcli.loss import Loss
from convcli.report import choice, formats, losses, tables
from convcli.report.formats import full
from convcli.report.screen import wants_colour
from convcli.report.text import Paint, cut, json_text, place, safe_text

PLAIN = Paint()
HOSTILE = "\x1b]0;x\x07\x9b31m\u202e\u200b\ud800\U000e0041[/red]\r\n\t"
FINDING = Finding(
    "orphan-tool-result",
    "error",
    "the tool result answers no open call",
    where="/messages/3/tool_call_id",
    file="runs/chats.jsonl",
    line=14,
    help='did you mean "call_abc123"?',
    notes=("open calls here: call_abc123 (get_weather, /messages/2)",),
)
VERDICTS = [Verdict("a", 1, "d", [FINDING]), Verdict("a", 2, "d", [])]


def is_plain(text: str) -> bool:
    return all(char == "\n" or (char.isprintable() and char not in "\u200b\u202e") for char in text)


@given(st.text(st.characters()))
@settings(max_examples=60, deadline=None)
def test_safe_text_has_no_character_that_a_terminal_obeys(text: str) -> None:
    shown = safe_text(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 or 0xD800 <= ord(char) < 0xE000 for char in shown)
    assert not set(shown) & set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2028\u2029\u2066\u2069\ufeff")


def test_safe_text_keeps_the_scripts_of_the_world() -> None:
    assert safe_text("大阪 école Ω 👍") == "大阪 école Ω 👍"
    assert safe_text("\x1b[0m\u202e") == "\\x1b[0m\\u202e"


def test_shown_json_is_the_same_value_without_control_characters() -> None:
    value = {"a": "\x7f\x9b\u202e\U000e0041"}
    assert json.loads(json_text(value)) == value
    assert json_text(value).isascii()


def test_a_cut_text_fills_no_more_cells_than_asked() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert cut("大阪大阪", 6) == "大阪…"


def test_a_place_names_file_line_column_and_pointer() -> None:
    assert place("a.json", 1, 2, "/x") == "a.json:1:2 /x"
    assert place("a.json", where="/x") == "a.json /x"


def test_a_finding_reads_as_the_contract_shows_it() -> None:
    assert full.block(FINDING, PLAIN) == (
        "error[orphan-tool-result] the tool result answers no open call\n"
        "  --> runs/chats.jsonl:14 /messages/3/tool_call_id\n"
        "   = open calls here: call_abc123 (get_weather, /messages/2)\n"
        '   = help: did you mean "call_abc123"?\n'
    )


@pytest.mark.parametrize("name", choice.names(formats))
def test_every_format_is_safe_whatever_a_finding_says(name: str) -> None:
    nasty = Finding("bad", "error", HOSTILE, where=HOSTILE, file=HOSTILE, line=1, help=HOSTILE, notes=(HOSTILE,))
    text = "".join(choice.renderer(formats, name)([Verdict(HOSTILE, 1, "d", [nasty])], tables.View()))
    assert is_plain(text.replace("\t", "") if name == "table" else text)


@pytest.mark.parametrize("name", choice.names(tables))
@pytest.mark.parametrize("wide", [None, 40])
def test_every_table_is_safe_whatever_a_cell_says(name: str, wide: int | None) -> None:
    text = "".join(choice.renderer(tables, name)(["a", "b"], [{"a": HOSTILE, "b": 1}], tables.View(wide)))
    assert is_plain(text.replace("\t", ""))


def test_json_findings_say_how_many_transcripts_were_judged() -> None:
    report = json.loads("".join(choice.renderer(formats, "json")(VERDICTS, tables.View())))
    assert (report["transcripts"], report["clean"], len(report["findings"])) == (2, 1, 1)


def test_jsonl_findings_pass_the_schema_of_findings() -> None:
    (line,) = choice.renderer(formats, "jsonl")(VERDICTS, tables.View())
    assert catalog.accepts("finding", json.loads(line))


def test_the_first_hundred_findings_of_a_file_are_printed_and_the_rest_is_counted() -> None:
    *shown, more = choice.renderer(formats, "concise")([Verdict("a", 1, "d", [FINDING] * 5_000)], tables.View())
    assert len(shown) == 100
    assert more == "a: and 4,900 more\n"


def test_a_wide_cell_takes_one_line_of_a_terminal() -> None:
    lines = "".join(choice.renderer(tables, "table")(["a"], [{"a": "大" * 500}], tables.View(40))).splitlines()
    assert len(lines) == 2


def test_elsewhere_a_table_is_tab_separated() -> None:
    assert list(choice.renderer(tables, "table")(["a", "b"], [{"a": 1}], tables.View())) == ["a\tb\n", "1\t\n"]


def summed(*found: Loss) -> str:
    result = Summary(["openai-chat"], "anthropic", transcripts=40, lossy=2, outputs=1)
    for loss in found:
        result.count(loss)
    return losses.summary(result, PLAIN)


def test_the_summary_reads_as_the_contract_shows_it() -> None:
    name = Loss("dropped", "/messages/1/name", "message.name", "content", "", "bob", line=7, file="chats.jsonl")
    kind = Loss("changed", "/messages/2", "tool_result.kind", "content", "", "data", "text", line=9, file="chats.jsonl")
    assert summed(name, name, kind) == (
        "convert: 40 transcripts, openai-chat → anthropic\n"
        "3 fields lost in 2 transcripts: dropped name ×2 (first: chats.jsonl:7 /messages/1/name)"
        " · changed data → text ×1\n"
    )


def test_content_leads_the_summary_however_few_it_is() -> None:
    id_ = Loss("dropped", "", "message.id", "context", "")
    text = Loss("dropped", "", "text", "content", "")
    assert "transcripts: dropped text ×1" in summed(id_, id_, text)


def test_the_list_of_losses_tells_kind_of_value_and_reason_and_no_value() -> None:
    (line,) = losses.listed([Loss("dropped", "/x", "message.name", "context", "no field", "secret", file="a")], PLAIN)
    assert line == "a /x: context: dropped message.name (text of 6): no field\n"


@pytest.mark.parametrize(
    ("colour", "environment", "wanted"),
    [
        ("auto", {}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_the_option_decides_about_colour_and_then_the_environment(
    colour: str, environment: dict[str, str], wanted: bool
) -> None:
    assert wants_colour(None, colour, environment) is wanted  # type: ignore[arg-type]
