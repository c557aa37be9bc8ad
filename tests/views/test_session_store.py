"""The stored sessions: what a search finds, and that the store is only a cache."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.views import session_store
from convcli.views.session_rows import SessionRow
from convcli.views.session_store import SessionStore, StoredSession
from tests.tiers import examples


def stored(name: str, *texts: str) -> StoredSession:
    return StoredSession(name, SessionRow(title=name), list(enumerate(texts)))


@pytest.fixture
def store() -> Iterator[SessionStore]:
    one = SessionStore()
    one.replace("a", [stored("a1", "The quick\nbrown fox", "no", "FOX"), stored("a2", "Stra\u00dfe \u00c4rger")])
    one.replace("b", [stored("b1", "\u4eca\u65e5\u306f\u3044\u3044\u5929\u6c17", 'say "hi" AND x')])
    yield one
    one.close()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("fox", ["a1"]), ("k bro", ["a1"]), ("QUICK brown", ["a1"]), ("quick  brown", []), ("\u00e4RGER", ["a2"]),
        ("\u3044\u3044\u5929\u6c17", ["b1"]), ("\u5929", ["b1"]), ("x", ["a1", "b1"]), ('"hi" AND', ["b1"]),
        ("fox NOT no", []),
        ("quick fox", []), ("*", []), ("\x00", ["a1", "a2", "b1"]),
    ],
)  # fmt: skip
def test_a_search_finds_any_part_of_a_text(store: SessionStore, text: str, names: list[str]) -> None:
    assert sorted(store.search(text).hits) == names


def test_without_an_index_a_search_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "INDEX", "CREATE VIRTUAL TABLE parts USING nothing(text)")
    store = SessionStore()
    store.replace("a", [stored("a1", "The quick brown fox")])
    assert list(store.search("quick").hits) == ["a1"]
    store.replace("a", [stored("a1", "slow")])
    assert list(store.search("quick").hits) == []


def test_a_hit_is_the_first_message_with_the_text_around(store: SessionStore) -> None:
    hit = store.search("fox").hits["a1"]
    assert hit == (2, 0, "The quick brown ", "fox", "")
    store.replace("c", [stored("c", "a" * 200 + "needle" + "b" * 200)])
    hit = store.search("NEEDLE").hits["c"]
    assert (len(hit.before), hit.before[0], hit.text, len(hit.after)) == (41, "\u2026", "needle", 100)


def test_a_file_that_is_read_again_or_gone_leaves_nothing(store: SessionStore) -> None:
    store.finish("a", "1")
    store.replace("a", [stored("a1", "other")])
    assert (store.versions(), list(store.search("fox").hits)) == ({}, [])
    store.finish("a", "2")
    store.forget(["a"])
    assert (store.versions(), list(store.rows()), list(store.search("other").hits)) == ({}, ["b"], [])
    store.replace("b", [])
    assert store.rows() == {}


def test_what_was_stored_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = str(tmp_path / "a.sqlite")
    first = SessionStore(path)
    first.replace("f\udcff", [stored("a1", "half \ud800 a pair")])
    first.finish("f\udcff", "7")
    first.close()
    again = SessionStore(path)
    assert again.versions() == {"f\udcff": "7"}
    assert again.rows() == {"f\udcff": {"a1": SessionRow(title="a1")}}
    assert list(again.search("a pair").hits) == ["a1"]
    again.close()


@pytest.mark.parametrize("damage", ["not a database", "version"])
def test_a_database_that_is_damaged_or_of_another_version_is_made_again(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.sqlite"
    if damage == "version":
        store = SessionStore(str(path))
        store.replace("a", [stored("a1", "text")])
        store.close()
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
    else:
        path.write_bytes(b"no database " * 999)
    store = SessionStore(str(path))
    assert store.rows() == {}
    store.replace("a", [stored("a1", "text")])
    assert list(store.search("text").hits) == ["a1"]
    store.close()


def test_a_search_that_takes_too_long_says_so(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_store, "LONGEST_SEARCH_SECONDS", -1)
    assert store.search("fox") == ({}, False)
    assert store.rows(), "the database can be used"


LETTERS = 'aAbéÉ "*'


@examples(200)
@given(
    st.lists(st.text('aAb\u00e9\u00c9 \n"*', max_size=9), max_size=4),
    st.text('aAb\u00e9\u00c9 "*', min_size=1, max_size=5),
)
def test_a_search_is_that_of_python(texts: list[str], wanted: str) -> None:
    store = SessionStore()
    store.replace("f", [stored(str(number), text) for number, text in enumerate(texts)])
    expected = {str(number) for number, text in enumerate(texts) if wanted.lower() in text.replace("\n", " ").lower()}
    assert set(store.search(wanted).hits) == expected
    store.close()
