"""Where conversions write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine.conversion import Conversion
from convcli.engine.reading import lift
from convcli.files.outputs import open_output
from convcli.jobs.destinations import Folder, Joined, Names
from convcli.jobs.documents import Document
from convcli.jobs.paths import InputFile
from convcli.model.errors import JobError
from tests.cli_cases import OWN


def of(identity: str | None, line: int = 0, at: str = "") -> tuple[Document, Any]:
    value = {"convcli": 1, "id": identity, "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}
    dialect = dialects.get(OWN)
    if identity is None:
        del value["id"]
    return Document("f", line, value, b"", dialect, at), Conversion(value, lift(value, dialect), [], [])


@pytest.mark.parametrize(
    ("transcripts", "expected"),
    [
        ([of("abc"), of("def")], ["abc", "def"]),
        ([of("a"), of("A"), of("a"), of("a-2")], ["a", "A-2", "a-3", "a-2-2"]),
        ([of("../../etc/passwd"), of("a b/c:d"), of("東京", 7)], ["etc-passwd", "a-b-c-d", "line-7"]),
        ([of(".hidden"), of("x" * 500)], ["hidden", "x" * 100]),
        ([of(None, 3), of(None, 0, "/4"), of("", 5, "/a/0"), of(None)], ["line-3", "4", "line-5-a-0", "transcript"]),
    ],
)
def test_names_are_ids_or_places_safe_and_no_two_alike(transcripts: list[Any], expected: list[str]) -> None:
    names = Names()
    assert [names.name(*each) for each in transcripts] == expected


def test_a_file_for_one_transcript_stands_in_a_folder_with_the_name_of_its_input(tmp_path: Path) -> None:
    file = InputFile("in/chats.jsonl", "chats.jsonl")
    for is_of_one, expected in ((True, "a.json"), (False, "chats/a.json")):
        folder = Folder(str(tmp_path / str(is_of_one)), [file], is_of_one=is_of_one)
        assert folder.member(file, "a", ".json").name == os.path.join(folder.path, expected)


def test_no_output_has_two_inputs(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path), [])
    folder.output(InputFile("x/a.json", "a.json"), ".json")
    with pytest.raises(JobError) as caught:
        folder.output(InputFile("y/a.json", "a.json"), ".json")
    assert caught.value.code == "same-output"


def test_joined_inputs_appear_together_in_their_order(tmp_path: Path) -> None:
    joined = Joined(open_output(str(tmp_path / "a.json")), "array")
    for line in (b"1\n", b"2\n"):
        part = joined.part(".jsonl")
        part.write(line)
        part.commit()
        part.discard()
    assert os.listdir(tmp_path) == []
    joined.commit()
    assert (tmp_path / "a.json").read_text() == "[\n1,\n2\n]\n"
