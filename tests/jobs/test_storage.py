"""Tables as inputs: the same transcripts as of JSON Lines, and what storage did to them is reported once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.jobs import inputs, workers
from convcli.jobs.documents import Document
from convcli.jobs.judging import JudgingOptions
from convcli.jobs.running import judge_file
from convcli.model.findings import Finding
from tests.files.test_tables import table

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.arrow

Call = Callable[..., tuple[int, str, str]]


def row(number: int, *, city: bool) -> dict[str, Any]:
    """A row with a call whose arguments have one of two keys, and a tool whose parameters do."""
    name = "city" if city else "unit"
    function = {"name": "weather", "arguments": {name: "x"}}
    parameters = {"type": "object", "properties": {name: {"type": "string"}}}
    return {
        "messages": [
            {"role": "user", "content": f"How is it? {number}"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "22"},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "parameters": parameters}}],
    }


ROWS = [row(number, city=number > 2) for number in range(150)]
ARGUMENTS, PROPERTIES = "/messages/1/tool_calls/0/function/arguments", "/tools/0/function/parameters/properties"
PADDED = [
    ("info", "messages.*.tool_calls.*.function.arguments.city", 0, f"{ARGUMENTS}/city", 3),
    ("info", "messages.*.tool_calls.*.function.arguments.unit", 3, f"{ARGUMENTS}/unit", 147),
    ("warning", "tools.*.function.parameters.properties.city", 0, f"{PROPERTIES}/city", 3),
    ("warning", "tools.*.function.parameters.properties.unit", 3, f"{PROPERTIES}/unit", 147),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the same rows as a table and as JSON Lines."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "a.parquet", rows=ROWS)
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in ROWS))
    return tmp_path


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    def run(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return code, *capfd.readouterr()

    return run


def documents(path: Path | str, dialect: str | None = None) -> list[Document]:
    return list(inputs.documents(str(path), dialect))


def notes(path: Path | str, dialect: str | None = None) -> list[Finding]:
    """What there is to say of a file when it is read."""
    with inputs.opened(str(path), dialect) as source:
        assert list(source)
        return source.notes


def test_rows_of_a_table_are_the_documents_of_the_same_lines(files: Path) -> None:
    read, lines = documents(files / "a.parquet"), documents(files / "a.jsonl")
    assert [(one.line, one.value, one.dialect.name) for one in read] == [
        (one.line, one.value, one.dialect.name) for one in lines
    ]


def test_what_was_filled_in_open_objects_is_reported_once_and_what_the_dialect_names_never(files: Path) -> None:
    found = notes(files / "a.parquet")
    reported = sorted(
        (note.severity, note.row, note.where, note.count) for note in found if note.code == "padded-object"
    )
    assert reported == sorted((severity, row, where, times) for severity, _, row, where, times in PADDED)
    assert all(any(path in note.message for _, path, *_ in PADDED) for note in found if note.code == "padded-object")


def test_what_was_filled_next_to_keys_of_the_dialect_is_said_once_with_a_count_and_is_no_loss(
    files: Path, call: Call
) -> None:
    named = [(note.severity, note.where, note.count) for note in notes("a.parquet") if note.code == "padded-key"]
    assert sorted(named) == [("info", "/messages/0/tool_call_id", 300), ("info", "/messages/0/tool_calls", 300)]
    assert len(call("losses", "a.parquet", "--to", "hf-chat")[1].splitlines()) == 1  # the head


def test_nulls_in_arguments_are_padding_where_no_tool_that_is_called_has_such_a_parameter(files: Path) -> None:
    def reported(*tools: tuple[str, str]) -> list[tuple[str, int, str]]:
        offered = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {key: {}}}}}
            for name, key in tools
        ]
        texts = [{**each, "tools": json.dumps(offered)} for each in ROWS]
        found = notes(table(files / "c.parquet", rows=texts), "hf-chat")
        return sorted((note.severity, note.row, note.where) for note in found if note.code == "padded-object")

    city, unit = "/messages/1/tool_calls/0/function/arguments/city", "/messages/1/tool_calls/0/function/arguments/unit"
    assert reported(("weather", "other")) == [("info", 0, city), ("info", 3, unit)]
    assert reported(("weather", "unit")) == [("info", 0, city), ("warning", 3, unit)]
    assert reported(("time", "unit")) == [("warning", 0, city), ("warning", 3, unit)]


def test_nulls_in_open_objects_are_values_for_who_knows_better(files: Path, call: Call) -> None:
    code, out, err = call("convert", "a.parquet", "--to", "hf-chat", "--nulls", "keep")
    arguments = json.loads(out.splitlines()[0])["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert (code, arguments, "padded-object" in err) == (0, {"unit": "x", "city": None}, False)
    assert all("tool_calls" not in json.loads(line)["messages"][0] for line in out.splitlines())
    one = call("convert", "a.parquet", "--to", "hf-chat", "--nulls", "keep", "--at", "/messages")[1]
    assert '"city":null' in one


def test_an_object_that_has_only_padding_is_empty(files: Path) -> None:
    rows = [{**ROWS[0], "metadata": {"a": "x"}}, {**ROWS[1], "metadata": {}}]
    assert [one.value["metadata"] for one in documents(table(files / "m.parquet", rows=rows))] == [{"a": "x"}, {}]


@pytest.mark.parametrize(
    "words", [["validate"], ["inspect"], ["convert", "--to", "anthropic"], ["losses", "--to", "cohere"]]
)
def test_every_command_reports_it_and_goes_on(files: Path, call: Call, words: list[str]) -> None:
    code, out, err = call(words[0], "a.parquet", *words[1:])
    assert (code, (out + err).count("[padded-object]"), (out + err).count("[padded-key]")) == (0, 4, 2)


def test_a_row_is_named_by_its_number_from_0(files: Path, call: Call) -> None:
    for number in (0, 7):
        assert [one.number for one in documents(f"a.parquet:{number}")] == [number]
        code, out, _ = call("inspect", f"a.parquet:{number}")
        assert (code, f"How is it? {number}" in out) == (0, True)
        code, out, _ = call("inspect", "a.parquet", "--where", f"line={number}", "--output-format", "json")
        assert (code, [each["line"] for each in json.loads(out)]) == (0, [number])
    code, _, err = call("inspect", "a.parquet:150")
    assert (code, "there is no transcript in row 150" in err) == (2, True)
    assert call("inspect", "a.jsonl:0")[0] == 2


def test_losses_have_the_row_and_its_group_in_place_of_a_line(files: Path, call: Call) -> None:
    rows = [{**each, "logit_bias": {"1": 1} if number in (3, 120) else None} for number, each in enumerate(ROWS)]
    table(files / "s.parquet", rows=rows)
    words = ["convert", "s.parquet", "--from", "openai-chat", "--to", "anthropic", "-o", "o.jsonl", "--losses"]
    code, _, err = call(*words, "l.json")
    losses = [loss for loss in json.loads(Path("l.json").read_text()) if loss["where"] == "/logit_bias"]
    assert [(loss["row"], loss["group"], "line" in loss) for loss in losses] == [(3, 0, False), (120, 1, False)]
    assert (code, "2 losses of metadata (openai-chat.logit_bias)" in err) == (0, True)
    code, out, _ = call("losses", *words[1:6], "--output-format", "jsonl")
    assert (code, [json.loads(line)["line"] for line in out.splitlines() if "logit_bias" in line]) == (0, [3, 120])


def test_a_row_that_cannot_be_read_is_reported_by_its_number(files: Path, call: Call) -> None:
    table(files / "n.parquet", rows=[{**each, "n": 0.5 if n != 101 else float("nan")} for n, each in enumerate(ROWS)])
    code, out, _ = call("validate", "n.parquet", "--from", "hf-chat", "--output-format", "jsonl")
    (found,) = (each for each in map(json.loads, out.splitlines()) if each["severity"] == "error")
    assert (code, found["code"], found["row"], found["group"], "line" in found) == (1, "not-finite", 101, 1, False)


def test_a_place_of_a_table_is_ignored_by_its_row(files: Path, call: Call) -> None:
    table(files / "r.parquet", rows=[{"messages": [{"role": "usr", "content": "x"}]}] * 2)
    Path("convcli.toml").write_text('[[ignore-at]]\nfile = "r.parquet"\nline = 0\n')
    _, out, _ = call("validate", "r.parquet", "--from", "hf-chat", "--output-format", "jsonl")
    assert [each["row"] for each in map(json.loads, out.splitlines()) if each["severity"] == "error"] == [1]


def test_a_finding_of_a_row_reports_its_number_and_pointer_and_no_column(files: Path) -> None:
    bad = table(
        files / "bad.parquet", rows=[{"messages": [{"role": role, "content": "x"}]} for role in ("user", "usr")]
    )
    (finding,) = (
        finding
        for verdict in judge_file(str(bad), lambda path: inputs.opened(path, "hf-chat"), JudgingOptions())
        for finding in verdict.findings
        if finding.severity == "error"
    )
    assert (finding.line, finding.row, finding.group, finding.column) == (0, 1, 0, 0)
    assert finding.where == "/messages/0/role"


def test_columns_of_json_texts_and_what_a_pointer_picks_are_read(files: Path, call: Call) -> None:
    texts = [{name: json.dumps(value) for name, value in each.items()} for each in ROWS]
    assert [one.value for one in documents(table(files / "t.parquet", rows=texts))] == ROWS
    table(files / "e.parquet", rows=[{"id": "x", "text": json.dumps(each)} for each in ROWS])
    table(files / "o.parquet", rows=[{"id": "x", "inside": each} for each in ROWS])
    wanted = [conversation(line) for line in call("convert", "a.jsonl", "--to", "openai-chat")[1].splitlines()]
    for name, pointer, times in (("e.parquet", "/text", 0), ("o.parquet", "/inside", 4)):
        code, out, err = call("convert", name, "--at", pointer, "--to", "openai-chat")
        assert (code, err.count("[padded-object]")) == (0, times)
        assert [conversation(line) for line in out.splitlines()] == wanted


def conversation(line: str) -> Any:
    """A request without the order of its keys, which types of columns do not keep."""
    return json.loads(line)


def test_the_order_of_conditions_and_limits_is_that_of_lines(files: Path, call: Call) -> None:
    for words in (["--limit", "3"], ["--sample", "5", "--seed", "1"], ["--where", "line={}"]):
        got, wanted = (
            call("convert", name, "--to", "hf-chat", *(word.format(number) for word in words))[1]
            for name, number in (("a.parquet", 8), ("a.jsonl", 9))
        )
        assert list(map(json.loads, got.splitlines())) == list(map(json.loads, wanted.splitlines()))


def test_a_column_of_times_is_reported_and_read_as_text(files: Path) -> None:
    import datetime

    noon = datetime.datetime(2026, 1, 2, 12)
    (one, _) = documents(table(files / "t.parquet", rows=[{**each, "at": noon} for each in ROWS[:2]]))
    assert one.value["at"] == "2026-01-02T12:00:00"
    reported = [(note.code, note.severity) for note in notes(files / "t.parquet") if "at" in note.message.split()]
    assert reported == [("column-type", "info")]


@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
def test_several_processes_give_what_one_gives(files: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "WORTH", 1)
    monkeypatch.setattr(inputs, "RANGE", 1)
    doubled = [{**each, "temperature": 0.5 if number < 149 else 1} for number, each in enumerate(ROWS)]
    table(files / "a.parquet", rows=doubled)
    for words in (["convert", "a.parquet", "--to", "openai-chat"], ["validate", "a.parquet"]):
        assert call(*words, "-j", "2") == call(*words, "-j", "1")


@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
def test_a_table_that_several_processes_write_has_the_same_rows(
    files: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "WORTH", 1)
    monkeypatch.setattr(inputs, "RANGE", 1 << 12)
    for processes in (1, 2):
        assert call("convert", "a.jsonl", "--to", "hf-chat", "-o", f"{processes}.parquet", "-j", processes)[0] == 0
    assert (files / "1.parquet").read_bytes() == (files / "2.parquet").read_bytes()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_table_that_is_damaged_in_the_middle_leaves_no_output(
    files: Path, call: Call, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    monkeypatch.setattr(inputs, "WORTH", 1)
    monkeypatch.setattr(inputs, "RANGE", 1)
    columns = pytest.importorskip("pyarrow.parquet")
    group = columns.ParquetFile("a.parquet").metadata.row_group(1)
    start = min(group.column(i).dictionary_page_offset or group.column(i).data_page_offset for i in range(2))
    data = bytearray(Path("a.parquet").read_bytes())
    data[start : start + 300] = b"\xff" * 300
    Path("a.parquet").write_bytes(data)
    code, _, err = call("convert", "a.parquet", "--to", "openai-chat", "-o", "out.jsonl", "-j", processes)
    assert (code, err.count("[damaged-table]"), "Traceback" in err) == (1, 1, False)
    assert not Path("out.jsonl").exists()
