"""Arrow tables with a column of texts: a row for each row, as `convert_lines` and `validate_lines` say it."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import convcli
from convcli.model.errors import JobError
from convcli.parts import Batch, ValidateBatch
from tests.cli_cases import CLEAN, OTHER, WRONG

pytestmark = pytest.mark.arrow

TEXTS = [json.dumps(CLEAN), '{"messages": [', None, json.dumps({"messages": [], "seed": 1}), json.dumps(WRONG), " "]
CONVERT = Batch(source=OTHER, to="anthropic", keep=("id",))


def table(kind: str = "string", texts: list[str | None] = TEXTS) -> Any:
    """A table with a column of texts of some type."""
    arrow = pytest.importorskip("pyarrow")
    types = {"dictionary": arrow.dictionary(arrow.int32(), arrow.string())}
    column = arrow.array(texts, arrow.string()).cast(types.get(kind) or getattr(arrow, kind)())
    return arrow.table({"id": list(range(len(texts))), "text": column, "other": ["x"] * len(texts)})


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "large_binary", "dictionary"])
def test_each_row_is_converted_as_a_line(kind: str) -> None:
    rows = CONVERT(table(kind)).to_pylist()
    lines = [(text or "").encode() for text in TEXTS]
    outcomes = list(convcli.convert_lines(lines, to="anthropic", source=OTHER))
    assert [row["id"] for row in rows] == list(range(6))
    given = [row["text"].encode() if isinstance(row["text"], str) else row["text"] for row in rows]
    assert given == [outcome.data or None for outcome in outcomes]
    assert [row["loss_count"] for row in rows] == [len(outcome.losses) for outcome in outcomes]
    assert [len(json.loads(row["losses"])) for row in rows] == [len(outcome.losses) for outcome in outcomes]
    codes = [[found["code"] for found in json.loads(row["findings"])] for row in rows]
    assert codes == [[found.code for found in outcome.findings] for outcome in outcomes]
    assert codes[1] == ["not-json"]
    assert set(rows[0]) == {"id", "text", "loss_count", "losses", "findings"}
    assert not any("line" in found for row in rows for found in json.loads(row["findings"]))


def test_a_batch_of_any_size_gives_the_same_types_and_rows() -> None:
    whole = table()
    (batch,) = whole.to_batches()
    assert CONVERT(batch).equals(CONVERT(whole))
    pieces = [CONVERT(whole.slice(start, 1)) for start in range(6)]
    assert {piece.schema for piece in pieces} == {CONVERT(whole).schema}
    assert [row for piece in pieces for row in piece.to_pylist()] == CONVERT(whole).to_pylist()
    assert CONVERT(whole.slice(0, 0)).schema == CONVERT(whole).schema


def test_each_row_is_judged_as_a_line() -> None:
    judge = ValidateBatch(source=OTHER, as_="anthropic", strict=True)
    rows = judge(table()).to_pylist()
    lines = [(text or "").encode() for text in TEXTS]
    outcomes = list(convcli.validate_lines(lines, source=OTHER, as_="anthropic", strict=True))
    found = [[(each["code"], each.get("where", "")) for each in json.loads(row["findings"])] for row in rows]
    assert found == [[(each.code, each.where) for each in outcome.findings] for outcome in outcomes]
    errors = [sum(each.severity == "error" for each in outcome.findings) for outcome in outcomes]
    assert [row["error_count"] for row in rows] == errors
    assert sum(errors) > 1
    assert [row["text"] for row in rows] == TEXTS


def test_options_are_those_of_a_conversion() -> None:
    more = Batch(source=OTHER, to="anthropic", set={"max_tokens": 7})
    assert json.loads(more(table()).to_pylist()[0]["text"])["max_tokens"] == 7


@pytest.mark.parametrize("batch", [CONVERT, ValidateBatch(source=OTHER, keep=("id",))])
def test_a_batch_survives_pickling(batch: Any) -> None:
    assert pickle.loads(pickle.dumps(batch))(table()).equals(batch(table()))


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (Batch(source=OTHER, to="anthropic", column="none"), "no column"),
        (Batch(source=OTHER, to="anthropic", keep=("none",)), "no column"),
        (Batch(source=OTHER, to="anthropic", column="id"), "int64"),
        (Batch(source="none", to="anthropic"), "none"),
    ],
)
def test_what_cannot_be_is_reported(batch: Batch, message: str) -> None:
    with pytest.raises(JobError, match=message):
        batch(table())
