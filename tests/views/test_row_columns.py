"""Columns of the origin of rows: outputs stay valid, are detected, read back and restored, and keep their columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.files.outputs import open_output
from convcli.jobs import converting, inputs
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.results import RowShape
from convcli.model.errors import JobError
from convcli.model.row_columns import COLUMNS, MARK, without_columns
from convcli.proof.reasons import Loss
from convcli.views import row_columns
from convcli.views.row_columns import RowColumns
from convcli.wire import exact_json
from tests.cli_cases import run, write

WITH = [dialect.name for dialect in dialects.builtin() if dialect.columns != "none"]
SAMPLES = Path("samples")
SESSION = SAMPLES / "claude-code" / "session-blocks.jsonl"
REQUEST = SAMPLES / "openai-chat" / "twin-weather.json"
EVERY = RowColumns(tuple(COLUMNS), tuple(COLUMNS), adds_to_all=True)


def converted(path: Path, target: str, out: Path, columns: RowColumns | None, **job: Any) -> tuple[Any, list[Loss]]:
    """The first row of an output, with all losses."""
    losses: list[Loss] = []
    with inputs.opened(str(path)) as opened:
        output = open_output(str(out), force=True)
        sinks = Sinks(losses.append, lambda _: None)
        task = Job(dialects.get(target), shape=RowShape(columns), layout="jsonl", **job)
        converting.completed(InputConversion(opened, task, lambda _: output, sinks))
    return exact_json.parse(out.read_bytes().splitlines()[0]), losses


@pytest.mark.parametrize("name", WITH)
def test_a_row_with_columns_is_the_row_without_them_and_is_valid_and_detected(name: str, tmp_path: Path) -> None:
    plain, _ = converted(SESSION, name, tmp_path / "plain.jsonl", None)
    row, _ = converted(SESSION, name, tmp_path / "row.jsonl", EVERY)
    dialect = dialects.get(name)
    assert without_columns(row) == {key: value for key, value in plain.items() if key != "id"}
    assert row.keys() >= COLUMNS.keys()
    assert detection.candidates(row)[0] == detection.candidates(without_columns(plain))[0]
    assert pipeline.validate(row, dialect, strict=True) == pipeline.validate(plain, dialect, strict=True)
    assert dialect.lift(row).messages == dialect.lift(plain).messages


@pytest.mark.parametrize("name", WITH)
def test_columns_pass_to_another_data_set_and_back_as_they_are(name: str, tmp_path: Path) -> None:
    first, _ = converted(SESSION, name, tmp_path / "first.jsonl", EVERY)
    columns = {key: first[key] for key in COLUMNS}
    for target in WITH:
        row, losses = converted(tmp_path / "first.jsonl", target, tmp_path / "row.jsonl", RowColumns())
        assert {key: row[key] for key in COLUMNS} == columns, target
        assert not [loss for loss in losses if loss.kind == "dropped" and loss.where[1:] in COLUMNS], target
        again, _ = converted(tmp_path / "row.jsonl", name, tmp_path / "again.jsonl", EVERY)
        assert {key: again[key] for key in COLUMNS} == columns, target


def test_an_output_with_columns_restores_the_exact_original(tmp_path: Path) -> None:
    out, record = tmp_path / "out.jsonl", tmp_path / "record"
    assert run("convert", SESSION, "--to", "hf-chat", "-o", out, "--restore-file", record).returncode == 0
    assert MARK in json.loads(out.read_bytes())
    assert run("restore", out, "--restore-file", record).stdout == SESSION.read_bytes()


def test_columns_are_all_none_or_those_of_a_list_with_the_program(tmp_path: Path) -> None:
    def keys(*words: str) -> set[str]:
        return set(json.loads(run("convert", SESSION, *words).stdout)) & COLUMNS.keys()

    assert keys("--to", "hf-chat") == COLUMNS.keys()
    assert keys("--to", "hf-chat", "--columns", "none") == set()
    assert keys("--to", "hf-chat", "--columns", "turns,file") == {"turns", "file", MARK}
    assert keys("--to", "sharegpt") <= {"id"}
    assert keys("--to", "sharegpt", "--columns", "all") == COLUMNS.keys()


def test_columns_can_be_dropped_from_rows_and_that_is_reported(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    assert run("convert", SESSION, "--to", "hf-chat", "-o", source).returncode == 0
    done = run("convert", source, "--to", "hf-chat", "--columns", "model", "--fail-on-loss")
    assert set(json.loads(done.stdout)) & COLUMNS.keys() == {MARK, "model"}
    assert b"dropped hf-chat.cwd" in done.stderr


def test_rows_of_a_data_set_get_no_columns_by_default(tmp_path: Path) -> None:
    row = {"conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]}
    source = write(tmp_path / "rows.json", [row])
    assert json.loads(run("convert", source, "--to", "hf-chat").stdout)[0].keys() == {"messages"}
    assert json.loads(run("convert", source, "--to", "hf-chat", "--columns", "all").stdout)[0].keys() >= COLUMNS.keys()


def test_a_request_gets_columns_by_default_if_it_is_from_a_log_or_split(tmp_path: Path) -> None:
    request = json.loads(REQUEST.read_bytes())
    log = write(tmp_path / "log.jsonl", {"call": {"request": request}})
    assert json.loads(run("convert", REQUEST, "--to", "hf-chat").stdout).keys().isdisjoint({MARK, "file"})
    for words in ([log, "--at", "/call/request"], [REQUEST, "--max-turns", 9]):
        assert json.loads(run("convert", *words, "--to", "hf-chat").stdout)[MARK] == "openai-chat"


def test_conversations_with_a_name_are_those_of_sessions_exports_and_logs() -> None:
    named = {dialect.name for dialect in dialects.builtin() if dialect.names_conversations}
    assert named >= {"claude-code", "cline", "opencode", "chatgpt-export", "atif", "inspect-ai"}
    assert named.isdisjoint({"openai-chat", "anthropic", "gemini-stream", "openai-batch", "langchain"})


def test_a_table_has_typed_columns_even_without_values(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = tmp_path / "rows.parquet"
    assert run("convert", REQUEST, "--to", "sharegpt", "-o", table, "--columns", "all").returncode == 0
    types = {field.name: str(field.type) for field in parquet.read_schema(table)}
    assert {name: types[name] for name in ("parent", "line", "failed", "losses")} == {
        "parent": "string", "line": "int64", "failed": "list<element: string>", "losses": "int64",
    }  # fmt: skip
    again = run("convert", table, "--to", "hf-chat")
    assert json.loads(again.stdout)["program"] == "openai-chat"


def test_unknown_columns_and_dialects_without_columns_are_errors() -> None:
    with pytest.raises(JobError) as error:
        row_columns.chosen("modell", dialects.get("hf-chat"), is_table=False)
    assert error.value.help == 'did you mean "model"?'
    with pytest.raises(JobError):
        row_columns.chosen("all", dialects.get("openai-ft"), is_table=False)
    assert row_columns.chosen(None, dialects.get("openai-ft"), is_table=True) is None
