"""Samples of Inspect archives in pieces: read as if they were in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.files.chunked import samples_of
from convcli.model.errors import ContentError
from convcli.wire import exact_json
from tests.files.test_archives import of, read

FOLDER = "samples/a/b_epoch_1"
POOL = [{"role": "user", "content": f"attachment://{number}"} for number in range(12)]
PIECES: dict[str, Any] = {
    "sample.json": {"id": "a/b", "epoch": 1, "input": "", "target": "", "message_refs": [[0, 1], [2, 4]]},
    "metadata.json": {"from": "test"},
    "skeleton.json": {},
    "messages/10.json": POOL[10:],
    "messages/0.json": POOL[:2],
    "messages/2.json": POOL[2:10],
    "events/0.json": [{"event": "info"}],
    "events/stats.json": {},
    "events/uuids.json": [],
    "calls/0.json": [1],
    "attachments/0.json": ["zero", "one"],
    "attachments/2.json": ["two", "three"],
}


def archive(pieces: dict[str, Any]) -> bytes:
    members = [(f"{FOLDER}/{name}", value) for name, value in pieces.items()]
    return of([("samples/0_epoch_1.json", {"id": 0}), *members])


def test_a_sample_in_pieces_is_one_record_with_its_conversation(tmp_path: Path) -> None:
    first, second = read(tmp_path / "a.eval", archive(PIECES))
    assert first.value == {"id": 0}
    assert second.value == {
        "id": "a/b", "epoch": 1, "input": "", "target": "", "messages": [POOL[0], POOL[2], POOL[3]],
        "events": [{"event": "info"}], "events_data": {"messages": POOL, "calls": [1]},
        "attachments": {"0": "zero", "1": "one", "2": "two", "3": "three"}, "metadata": {"from": "test"},
    }  # fmt: skip


def test_it_is_converted_with_its_attachments(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.eval").write_bytes(of([(f"{FOLDER}/{name}", value) for name, value in PIECES.items()]))
    assert main(["convert", str(tmp_path / "a.eval"), "--to", "openai-chat"]) == 0
    messages = exact_json.parse(capfd.readouterr().out.encode())["messages"]
    assert [message["content"] for message in messages] == ["zero", "two", "three"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sample.json", None, f"in {FOLDER}: sample.json is missing"),
        ("sample.json", [], f"in {FOLDER}/sample.json: this is no object"),
        ("messages/2.json", {}, f"in {FOLDER}/messages/2.json: this is no list"),
        ("messages/10.json", b"[1", f"in {FOLDER}/messages/10.json:1:3: "),
        ("messages/2.json", None, f"in {FOLDER}/messages/10.json: it does not begin where the piece before it ends"),
        ("attachments/0.json", ["zero"], f"in {FOLDER}/attachments/2.json: it does not begin where"),
        ("sample.json", {"message_refs": [[0, 12]] * 100_000}, "the sample has more than 1,048,576 messages"),
        *(("sample.json", {"message_refs": value}, "message_refs are no ranges") for value in
          ({}, [1], [[1]], [[0, True]], [[-1, 2]], [[2, 1]], [[2, 13]], [["0", "1"]])),
    ],
)  # fmt: skip
def test_a_piece_that_is_missing_or_damaged_is_named(tmp_path: Path, name: str, value: Any, message: str) -> None:
    pieces = {**PIECES, name: value}
    if value is None:
        del pieces[name]
    first, second = read(tmp_path / "a.eval", archive(pieces))
    assert (first.value, second.value) == ({"id": 0}, None)
    assert isinstance(second.error, ContentError)
    assert message in second.error.message


def test_only_the_files_of_the_format_are_pieces() -> None:
    names = ["samples/a_epoch_1/messages/0.json", "samples/a_epoch_1/other/0.json", "samples/a/b.json", "x/a.json"]
    assert samples_of(names) == {"samples/a_epoch_1": names[:1], names[1]: [], names[2]: []}
