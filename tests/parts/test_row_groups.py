"""Row groups of a table as parts: what there is to say once of a file is said once, whichever part meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.model.findings import OF_FILE
from tests.cli_cases import OTHER

pytestmark = pytest.mark.arrow


def row(number: int) -> dict[str, Any]:
    """A row with metadata of which one key or another is there."""
    names = {7: "city", 30: "unit", 31: "n"}
    return {
        "messages": [{"role": "user", "content": f"How is it? {number}"}],
        "metadata": {"id": f"{number}"} | {name: "x" for at, name in names.items() if number < at},
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table of several row groups."""
    arrow = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    of_row = arrow.struct([(name, arrow.string()) for name in ("id", "city", "unit", "n")])
    message = arrow.struct([("role", arrow.string()), ("content", arrow.string())])
    schema = arrow.schema([("messages", arrow.list_(message)), ("metadata", of_row), ("when", arrow.date32())])
    rows = arrow.Table.from_pylist([row(number) for number in range(60)], schema)
    __import__("pyarrow.parquet").parquet.write_table(rows, "in.parquet", row_group_size=5)
    return tmp_path


def in_parts(number: int = 12) -> list[str]:
    """Options for this many parts; the table has twelve row groups."""
    size = -(-Path("in.parquet").stat().st_size // number)
    return ["--engine", "local", "--out-dir", "out", "--part-size", str(size)]


def joined(kind: str = "") -> str:
    """What the parts have written, one after the other."""
    return "".join(path.read_text("utf-8") for path in sorted(Path("out", kind).glob("part-*.jsonl")))


@pytest.mark.parametrize("again", [False, True])
def test_it_is_judged_as_by_one_process(folder: Path, again: bool, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["validate", "in.parquet", "--from", OTHER]
    main([*words, "--output-format", "jsonl"])
    printed, reported = capfd.readouterr()
    codes = [json.loads(line)["code"] for line in printed.splitlines()]
    assert [codes.count(code) for code in ("padded-object", "padded-key", "column-type")] == [3, 1, 1]
    assert main([*words, *in_parts()]) == 0
    if again:
        Path("out/_done/00001.json").unlink()
        Path("out/_done/00003.json").unlink()
        capfd.readouterr()
        assert main([*words, *in_parts()]) == 0
    assert joined() == printed
    assert capfd.readouterr().err.splitlines()[-1] == reported.splitlines()[-1]
    assert len(list(Path("out/_done").glob("0*"))) == 12


@pytest.mark.parametrize("losses", ["all", "first"])
def test_it_is_converted_as_by_one_process(folder: Path, losses: str, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["convert", "in.parquet", "--from", OTHER, "--to", "anthropic"]
    assert main([*words, "-o", "one.jsonl"]) == 0
    reported = [line for line in capfd.readouterr().err.splitlines() if "padded" in line]
    assert main([*words, *in_parts(), "--losses", losses]) == 0
    assert [line for line in capfd.readouterr().err.splitlines() if "padded" in line] == reported
    assert len(reported) == 4
    assert joined() == Path("one.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in joined("_findings").splitlines()]
    assert [each["code"] for each in found].count("padded-object") == (3 if losses == "all" else 0)
    if losses == "all":
        assert [(each["code"], each.get("count", 1)) for each in found if each["code"] in OF_FILE] == [
            ("column-type", 1),
            ("padded-key", 60),
            ("padded-object", 53),
            ("padded-object", 30),
            ("padded-object", 29),
        ]
