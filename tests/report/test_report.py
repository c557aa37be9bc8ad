"""What is printed is safe, complete and in the agreed shape."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml
from msgspec.structs import replace

from convcli.jobs.judging import Verdict
from convcli.jobs.summaries import Summary
from convcli.model.findings import Finding
from convcli.proof.reasons import Loss
from convcli.report import choice, formats, losses, message, tables
from convcli.report.formats import full
from convcli.report.screen import wants_colour
from convcli.report.text import Paint, cut, json_text, place, safe_text
from convcli.validation import schemas
from tests import tiers

PLAIN = Paint()
VIEW = tables.View()
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


def is_clean(text: str) -> bool:
    return all(char == "\n" or (char.isprintable() and char not in "\u200b\u202e") for char in text)


@given(st.text(st.characters()))
@tiers.examples(60)
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


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(JSON_VALUES, st.booleans())
@tiers.examples(60)
def test_coloured_json_is_the_same_text_with_colours_only(value: Any, indent: bool) -> None:
    text = json_text(value, indent=indent)
    assert re.sub(r"\x1b\[[0-9;]*m", "", Paint(True).json(text)) == text
    assert PLAIN.json(text) == text


def test_colours_tell_keys_strings_and_numbers_apart_whatever_the_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "5")
    coloured = Paint(True).json('{"a b c d": "[red]e", "f": 1.10}')
    found = {text: code for code, text in re.findall(r"\x1b\[([0-9;]+)m([^{}\x1b]+)\x1b", coloured)}
    assert list(found) == ['"a b c d"', '"[red]e"', '"f"', "1.10"]
    assert found['"a b c d"'] == found['"f"']
    assert len(set(found.values())) == 3


def test_json_that_nobody_reads_is_not_coloured() -> None:
    text = json_text(["x"] * 100_000)
    assert Paint(True).json(text) == text


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
    assert is_clean(text.replace("\t", "") if name == "table" else text)


@pytest.mark.parametrize("name", choice.names(tables))
@pytest.mark.parametrize("wide", [None, 40])
def test_every_table_is_safe_whatever_a_cell_says(name: str, wide: int | None) -> None:
    text = "".join(choice.renderer(tables, name)(["a", "b"], [{"a": HOSTILE, "b": 1}], tables.View(wide)))
    assert is_clean(text.replace("\t", ""))


def test_json_findings_say_how_many_transcripts_were_judged() -> None:
    report = json.loads("".join(choice.renderer(formats, "json")(VERDICTS, tables.View())))
    assert (report["transcripts"], report["clean"], len(report["findings"])) == (2, 1, 1)


def test_jsonl_findings_pass_the_schema_of_findings() -> None:
    (line,) = choice.renderer(formats, "jsonl")(VERDICTS, tables.View())
    assert schemas.accepts("finding", json.loads(line))


def test_the_first_hundred_findings_of_a_file_are_printed_and_the_rest_is_counted() -> None:
    *shown, more = choice.renderer(formats, "concise")([Verdict("a", 1, "d", [FINDING] * 5_000)], tables.View())
    assert len(shown) == 100
    assert more == "a: and 4,900 more\n"


@pytest.mark.parametrize("name", ["full", "concise", "table"])
def test_what_is_the_same_in_many_files_is_shown_of_the_first_and_then_counted(name: str) -> None:
    same = [Verdict(str(i), 1, "d", [replace(FINDING, file=str(i))] * 2) for i in range(50)]
    other = Verdict("x", 1, "d", [replace(FINDING, file="x", message="another matter")])
    text = "".join(choice.renderer(formats, name)([*same, other], tables.View()))
    assert text.count("answers no open call") == 2 * 20 + 1
    assert "error[orphan-tool-result] the tool result answers no open call: 60 times in 30 more files\n" in text
    assert "another matter" in text


@pytest.mark.parametrize("name", ["json", "jsonl", "sarif"])
def test_machines_get_every_finding(name: str) -> None:
    same = [Verdict(str(i), 1, "d", [replace(FINDING, file=str(i))] * 101) for i in range(30)]
    text = "".join(choice.renderer(formats, name)(same, tables.View()))
    assert text.count(FINDING.message) == 30 * 101


# ---------------------------------------------------------------- reports for other programs

MANY = [
    Verdict(HOSTILE, 1, "d", [replace(FINDING, file=HOSTILE, message=HOSTILE, where="/" + HOSTILE, help=HOSTILE)]),
    Verdict("/abs/é b.json", 1, "d", [replace(FINDING, file="/abs/é b.json", line=0)]),
    Verdict("a", 1, "d", [replace(FINDING, file="a", severity="warning", column=3)] * 3),
    Verdict("b", 1, "d", []),
    Verdict("c", 1, "d", [replace(FINDING, file="c", code="not-json", severity="info")]),
]


def test_junit_has_a_case_for_each_transcript_with_its_time_and_a_failure_for_each_error() -> None:
    more = [Verdict("z", 1, "d", [FINDING] * 102), Verdict("z", 2, "d", [])]
    text = "".join(choice.renderer(formats, "junit")([*MANY, *more], tables.View()))
    (suite,) = JUnitXml.fromstring(text.encode())
    cases = list(suite)
    assert (suite.tests, suite.errors) == (len(MANY) + 2, 0)
    assert [len(case.result) for case in cases[-2:]] == [101, 0]
    assert [case.name for case in cases[-2:]] == ["z:1", "z:2"]
    assert suite.failures == sum(any(each.severity == "error" for each in one.findings) for one in [*MANY, *more])
    assert all(case.time is not None and case.time >= 0 for case in cases)
    assert suite.time == pytest.approx(sum(case.time for case in cases), abs=0.01)


def test_github_gets_ten_errors_and_ten_warnings_and_then_how_many_more() -> None:
    warning = replace(FINDING, severity="warning")
    lines = list(choice.renderer(formats, "github")([Verdict("a", 1, "d", [FINDING] * 11 + [warning] * 12)], VIEW))
    assert [line.split()[0] for line in lines] == ["::error"] * 10 + ["::warning"] * 10 + ["::notice"] * 2
    assert lines[20] == "::notice title=convcli::and 1 more error beyond GitHub's limit\n"
    assert lines[21] == "::notice title=convcli::and 2 more warnings beyond GitHub's limit\n"


def test_an_annotation_says_all_that_a_finding_says() -> None:
    (line,) = choice.renderer(formats, "github")([Verdict("a", 1, "d", [FINDING])], VIEW)
    assert line == (
        "::error file=runs/chats.jsonl,line=14,title=convcli orphan-tool-result::the tool result answers no open call"
        " (/messages/3/tool_call_id); open calls here: call_abc123 (get_weather, /messages/2);"
        ' help: did you mean "call_abc123"?\n'
    )


def test_an_annotation_cannot_be_left_by_what_a_finding_says() -> None:
    nasty = replace(FINDING, file="a,line=1::b%0A.json", message="x\r\n::error::y", where="", help="", notes=())
    (line,) = choice.renderer(formats, "github")([Verdict("a", 1, "d", [nasty])], VIEW)
    assert line == (
        "::error file=a%2Cline=1%3A%3Ab%250A.json,line=14,title=convcli orphan-tool-result::x\\r\\n::error::y\n"
    )


def test_a_wide_cell_takes_one_line_of_a_terminal() -> None:
    lines = "".join(choice.renderer(tables, "table")(["a"], [{"a": "大" * 500}], tables.View(40))).splitlines()
    assert len(lines) == 2


def test_elsewhere_a_table_is_tab_separated() -> None:
    assert list(choice.renderer(tables, "table")(["a", "b"], [{"a": 1}], tables.View())) == ["a\tb\n", "1\t\n"]


def summed(*found: Loss, at: int | None = None) -> str:
    result = Summary(["openai-chat"], "anthropic", transcripts=40, rows=40, lossy=2, outputs=1)
    for loss in found:
        result.count(loss)
    return losses.summary(result, PLAIN, width=at)


def test_the_summary_reads_as_the_contract_shows_it() -> None:
    name = Loss("dropped", "/messages/1/name", "message.name", "content", "", "bob", line=7, file="chats.jsonl")
    kind = Loss("changed", "/messages/2", "tool_result.kind", "content", "", "data", "text", line=9, file="chats.jsonl")
    assert summed(name, name, kind) == (
        "convert: 40 transcripts, openai-chat → anthropic\n"
        "3 losses of content:\n"
        "  dropped name ×2 (first: chats.jsonl:7 /messages/1/name)\n"
        "  changed data → text ×1 (first: chats.jsonl:9 /messages/2)\n"
    )


@pytest.mark.parametrize("width", [60, 80])
def test_on_a_terminal_the_path_of_the_first_loss_gives_way_and_the_field_does_not(width: int) -> None:
    file = "/home/somebody/a/long/path/to/chats.jsonl"
    reported = summed(
        Loss("dropped", "/messages/1/name", "message.name", "content", "", "bob", line=7, file=file), at=width
    )
    _, lead, *lines = reported.splitlines()
    assert lead == "1 loss of content:"
    assert [len(line) <= width for line in lines] == [True]
    assert lines[0].startswith("  dropped name ×1 (first: …")
    assert lines[0].endswith("chats.jsonl:7 /messages/1/name)")
    assert file in summed(Loss("dropped", "", "text", "content", "", file=file))


def test_a_title_fills_the_terminal() -> None:
    pieces = ["chats.jsonl", *["a piece of a title"] * 12]
    for width in (50, 120):
        lengths = [len(line) for line in message.heading(pieces, PLAIN, width).splitlines()]
        assert width - 20 < max(lengths) < width


def test_the_summary_counts_content_first_and_metadata_on_one_line() -> None:
    text, id_ = Loss("dropped", "", "text", "content", ""), Loss("dropped", "", "message.id", "context", "")
    key = Loss("dropped", "", "extras.a.b", "envelope", "")
    head, *lines = summed(id_, text, key, id_).splitlines()
    assert head == "convert: 40 transcripts, openai-chat → anthropic"
    assert lines == [
        "1 loss of content:",
        "  dropped text ×1 (first: )",
        "3 losses of metadata (id, a.b); --losses FILE lists them",
    ]


def test_the_summary_says_that_no_content_is_lost() -> None:
    id_ = Loss("dropped", "", "message.id", "context", "")
    assert summed(id_, id_) == (
        "convert: 40 transcripts, openai-chat → anthropic, no content lost\n"
        "2 losses of metadata (id); --losses FILE lists them\n"
    )
    assert summed() == "convert: 40 transcripts, openai-chat → anthropic, nothing lost\n"


def test_the_line_about_metadata_names_the_most_frequent_fields_as_far_as_there_is_room() -> None:
    fields = ["message.id", "message.createdAt", "message.parentId", "message.stopReason"]
    found = [Loss("dropped", "", field, "context", "") for n, field in enumerate(fields) for _ in range(9 - n)]
    line = "30 losses of metadata ({}); --losses FILE lists them".format
    assert summed(*found).splitlines()[-1] == line("id, createdAt, parentId, …")
    for names in ("id, createdAt, parentId, …", "id, createdAt, …", "id, …"):
        assert summed(*found, at=len(line(names))).splitlines()[-1] == line(names)
    assert summed(*found, at=40).splitlines()[-1] == "30 losses of metadata; --losses FILE lists them"


def test_the_summary_lists_eight_fields_with_losses_of_content() -> None:
    found = [Loss("dropped", f"/{n}", f"field{n}", "content", "", file="a.json") for n in range(10)]
    lines = summed(*found, found[9]).splitlines()
    assert (lines[1], lines[2]) == ("11 losses of content:", "  dropped field9 ×2 (first: a.json /9)")
    assert (len(lines), lines[-1]) == (11, "  and 2 more of 2 other kinds")


def test_a_narrow_table_keeps_names_of_fields_and_the_end_of_places() -> None:
    row = {
        "level": "context",
        "field": "extras.gemini-cli.displayContent",
        "first": "a/long/path/to.json /messages/7/x",
    }
    (_, line) = "".join(choice.renderer(tables, "table")(list(row), [row], tables.View(60))).splitlines()
    assert "extras.gemini-cli.displayContent" in line
    assert line.endswith("/messages/7/x")


def test_the_list_of_losses_reports_kind_of_value_and_reason_and_no_value() -> None:
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
