"""What `inspect --follow` reads of a file that grows, is cut off or replaced, without a process and without waiting."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.cli._following import PATIENCE, Look, content_of, rows
from convcli.jobs.reading import ReadingOptions
from convcli.model.errors import ContentError, ConvcliError
from tests.cli.test_following import HEADER, said
from tests.cli_cases import ROOT, command, environment

Change = Callable[[], object]
GROWING = sorted(
    min(files, key=lambda path: (path.stem != "twin-weather", path.stat().st_size))
    for folder in (ROOT / "samples").iterdir()
    if (files := [path for path in folder.glob("*.*") if path.suffix in (".jsonl", ".sse")])
)
SEVERAL = "--follow is for one transcript, and the file has several"


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def texts(name: str, *said_texts: str) -> str:
    """A session with this id; it has a text per message."""
    messages = [said(number % 10) for number in range(len(said_texts))]
    for number, (row, text) in enumerate(zip(messages, said_texts, strict=True)):
        row["message"]["content"][0]["text"] = text
        row |= {"id": f"m{number}", "parentId": f"m{number - 1}" if number else None}
    return lines(HEADER | {"id": name}, *messages)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "s.jsonl"


class EndedError(Exception):
    """The test has no further changes."""


class Follow:
    """Follows a file while changes are made to it, one after each look. A look takes no time."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.notes, self.waiting, self.clock = path, list[str](), iter(list[Change]()), 1
        monkeypatch.setattr("convcli.cli._following.pause", self.pause)

    def pause(self) -> None:
        change = next(self.waiting, None)
        if change is None:
            raise EndedError
        before = self.path.read_bytes() if self.path.exists() else b""
        change()
        if self.path.exists() and self.path.read_bytes() != before:
            self.clock += 1
            os.utime(self.path, ns=(0, self.clock))

    def __call__(self, *changes: Change) -> list[tuple[int, str]]:
        """Returns number and text of the messages that are shown."""
        self.waiting, shown = iter(changes), list[tuple[int, str]]()
        batches = rows(str(self.path), ReadingOptions(), 0, 2_000, self.notes.append)
        with suppress(EndedError):
            for batch in batches:
                shown += [(row["message"], row["text"]) for row in batch]
        return shown


@pytest.fixture
def follow(path: Path, monkeypatch: pytest.MonkeyPatch) -> Follow:
    return Follow(path, monkeypatch)


STILL: list[Change] = [lambda: None] * (PATIENCE + 1)
"""Looks at a file that does not change, until what cannot be read is reported."""


@pytest.mark.parametrize("sample", GROWING, ids=lambda path: path.parent.name)
def test_no_row_is_missing_of_a_file_that_grows_by_line(sample: Path, path: Path) -> None:
    data = sample.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    ends = sorted({*ends[:6], *ends[:: max(len(ends) // 6, 1)], len(data) // 2, len(data)})
    path = path.with_name(sample.name)
    path.write_bytes(b"")
    look, shown = Look(str(path), ReadingOptions(), 0, 2_000), Counter[int]()
    for end in ends:
        path.write_bytes(data[:end])
        os.utime(path, ns=(0, end))
        assert look.has_changed()
        problem: ConvcliError | None = None
        try:
            shown += Counter(map(content_of, look.new_rows()))
        except ConvcliError as error:
            problem = error
        assert problem is None or look.may_pass(problem) or (look.has_begun and problem.message == SEVERAL)
    if not look.known:
        pytest.skip("the file has several transcripts")
    assert look.known <= shown


def test_the_messages_of_a_session_that_replaces_another_are_shown(path: Path, follow: Follow) -> None:
    path.write_text(texts("a", "one", "two"))
    other = path.with_name("other")
    other.write_text(texts("b", "three", "two", "four"))
    expected = [(0, "one"), (1, "two"), (0, "three"), (1, "two"), (2, "four")]
    assert follow(lambda: other.replace(path)) == expected
    assert follow(lambda: path.write_text(texts("c", "one"))) == [*expected[2:], (0, "one")]


def test_after_a_cut_only_other_messages_are_shown(path: Path, follow: Follow) -> None:
    path.write_text(texts("a", "one", "two", "three"))
    cut, grown = texts("a", "one", "two"), texts("a", "one", "two", "four", "five")
    shown = follow(lambda: path.write_text(cut), lambda: path.write_text(grown))
    assert shown == [(0, "one"), (1, "two"), (2, "three"), (2, "four"), (3, "five")]


def test_a_message_that_changes_before_the_last_is_shown_again(path: Path, follow: Follow) -> None:
    path.write_text(texts("a", "one", "two", "three"))
    assert follow(lambda: path.write_text(texts("a", "one", "TWO", "three")))[3:] == [(1, "TWO")]


def test_a_long_session_that_is_replaced_is_read_from_its_beginning(
    path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("convcli.cli._following.LONG", 6_000)
    monkeypatch.setattr("convcli.cli._following.TAIL", 1_500)
    before = [f"text {number}" for number in range(60)]
    other, same = path.with_name("other"), path.with_name("same")
    path.write_text(texts("a", *before))
    same.write_text(texts("a", *before, "new", "newer"))
    other.write_text(texts("b", *map(str.upper, before), "last"))
    shown = follow(
        lambda: path.write_text(texts("a", *before, "new")), lambda: same.replace(path), lambda: other.replace(path)
    )
    assert shown[:60] == list(enumerate(before))
    assert shown[60:62] == [(60, "new"), (61, "newer")]
    assert shown[62:] == list(enumerate([*map(str.upper, before), "last"]))


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (lines(HEADER) + '{"type": "mess', ""),
        ('{"messages": [{"role": "user",\n', "waiting for more"),
        ('{"messages": [{"role": "user", "content": "\xe2\x98', "waiting for more"),
        ('{"type":"init","model":"m"}\n', "no dialect recognizes this"),
        ("", ""),
        ("\x1f\x8b\x08", "waiting for more"),
    ],
)
def test_what_more_bytes_can_complete_is_waited_for(path: Path, follow: Follow, content: str, note: str) -> None:
    path.write_bytes(content.encode("latin-1"))
    assert follow(*STILL, *STILL, lambda: path.write_text(texts("a", "one"))) == [(0, "one")]
    assert (len(follow.notes), note in "".join(follow.notes)) == (bool(note), True)


@pytest.mark.parametrize(
    "content", ["no", "no\n", '{\n "name": "package"\n}\n', '{"a": 1}\n' * 40, '{"a": oops, "b": 1}']
)
def test_what_is_no_transcript_ends_at_once(path: Path, follow: Follow, content: str) -> None:
    path.write_text(content)
    with pytest.raises(ConvcliError):
        follow()


def test_a_line_that_stays_unreadable_ends_it_after_a_while(path: Path, follow: Follow) -> None:
    good, bad = texts("a", "one", "two"), texts("a", "one") + "{oops\n" + lines(said(2))
    path.write_text(good)
    with pytest.raises(ConvcliError) as caught:
        follow(lambda: path.write_text(bad), *STILL)
    assert (caught.value.code, caught.value.line) == ("not-json", 3)
    path.write_text(good)
    assert follow(lambda: path.write_text(bad), lambda: path.write_text(good)) == [(0, "one"), (1, "two")]


def test_a_file_of_several_transcripts_is_not_followed_and_one_of_them_is(path: Path, follow: Follow) -> None:
    documents = [{"messages": [{"role": "user", "content": f"text {number}"}]} for number in range(3)]
    path.write_text(lines(*documents))
    with pytest.raises(ConvcliError, match="has several"):
        follow(*STILL)
    look = Look(f"{path}:2", ReadingOptions(), 0, 2_000)
    assert (look.has_changed(), [row["text"] for row in look.new_rows()]) == (True, ["text 1"])


@pytest.mark.parametrize("name", ["s.jsonl-wal", "messages/message_0.json"])
def test_files_in_which_a_session_grows_are_looked_at_too(path: Path, name: str) -> None:
    file = path if "wal" in name else path.with_name("agent.json")
    file.write_text(texts("a", "one"))
    other = path.parent / name
    other.parent.mkdir(exist_ok=True)
    look = Look(str(file), ReadingOptions(), 0, 2_000)
    assert (look.has_changed(), look.has_changed()) == (True, False)
    other.write_text("new")
    assert (look.has_changed(), look.has_changed()) == (True, False)


@pytest.mark.parametrize(
    "words",
    [["pipe"], ["/dev/null"], ["s.jsonl", "--limit", "0"], ["s.jsonl", "--since", "2026-01-01"], ["-"]],
)
def test_what_cannot_be_followed_is_an_error_of_the_command(
    path: Path, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    path.write_text(texts("a", "one"))
    os.mkfifo("pipe")
    assert main(["inspect", "--follow", *words]) == 2
    assert "--follow" in capfd.readouterr().err


def test_it_ends_when_the_reader_of_its_output_is_gone(path: Path) -> None:
    path.write_text(texts("a", "one"))
    call = command("inspect", path, "--follow")
    with subprocess.Popen(call, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["text"] == "one"
        process.stdout.close()
        assert process.wait(timeout=60) == 141


def test_what_could_not_be_read_is_read_again(path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database may be locked for a moment, without a change of its file."""
    path.write_text(texts("a", "one"))
    is_locked = iter([False, True, True])
    read = Look.new_rows

    def new_rows(look: Look) -> list[Any]:
        if next(is_locked, False):
            raise ContentError("locked", "the database is locked")
        return read(look)

    monkeypatch.setattr(Look, "new_rows", new_rows)
    assert follow(lambda: path.write_text(texts("a", "one", "two")), *STILL) == [(0, "one"), (1, "two")]
