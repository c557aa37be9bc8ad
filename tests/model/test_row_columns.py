"""Columns that state where a row comes from."""

from __future__ import annotations

from convcli import dialects
from convcli.model.row_columns import COLUMNS, MARK, has_columns, without_columns
from convcli.validation import schemas


def test_a_row_has_columns_if_it_names_a_program() -> None:
    assert has_columns({"messages": [], MARK: "codex"})
    assert not has_columns({"messages": [], MARK: None, "model": "m"})
    assert not has_columns([MARK])


def test_without_columns_a_row_has_only_the_keys_of_its_dialect() -> None:
    assert without_columns({"messages": [], MARK: "codex", "model": "m", "other": 1}) == {"messages": [], "other": 1}
    request = {"messages": [], "model": "m"}
    assert without_columns(request) is request


def test_the_schemas_name_the_columns_of_dialects_that_have_them_and_no_other_dialect_has_the_mark() -> None:
    for name in dialects.names():
        keys = schemas.keys_in(name, ()) or frozenset()
        assert (MARK in keys) is (dialects.get(name).columns != "none"), name
        if MARK in keys:
            assert keys >= COLUMNS.keys(), name
