"""Law L13: two samples of a stream, one after the other in a file, are two transcripts."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from pathlib import Path

import pytest

import convcli
from convcli import dialects
from convcli.engine import pipeline
from convcli.files.layouts import encoded
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.model.document import Rows
from convcli.wire import exact_json
from tests.support import Sample, acceptable_of, names

STREAMS = [name for name in names() if dialects.get(name).answer_boundaries is not None]
UNMARKED = {"multi-llm-chat-stream"}
"""Streams without any id, and any mark of a beginning or an end: all events of a file are one transcript."""


def test_every_stream_says_where_an_answer_begins() -> None:
    assert {name for name in names() if "sse" in dialects.get(name).framings} - UNMARKED <= set(STREAMS)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("suffix", [".jsonl", ".sse"])
def test_l13_two_samples_in_one_file_are_two_transcripts(name: str, suffix: str, tmp_path: Path) -> None:
    dialect, path = dialects.get(name), tmp_path / f"two{suffix}"
    if suffix == ".sse" and "sse" not in dialect.framings:
        pytest.skip("is no stream of server-sent events")
    for first, second in permutations(_distinct(name), 2):
        path.write_bytes(b"".join(piece for one in (first, second) for piece in encoded(one.document, suffix)))
        with inputs.opened(str(path), name) as source:
            assert source.is_several, (first, second)
            read = [item.lift() for item in source if isinstance(item, Document)]
        assert read == [dialect.lift(one.document) for one in (first, second)], (str(first), str(second))


@pytest.mark.parametrize("name", [name for name in STREAMS if "document" in dialects.get(name).framings])
def test_l13_two_samples_in_one_array_of_a_file_are_two_transcripts(name: str, tmp_path: Path) -> None:
    """A whole document of the library is one transcript: there it is an error."""
    first, second = _distinct(name)[:2]
    path = tmp_path / "two.json"
    path.write_bytes(exact_json.write([*first.document, *second.document]))
    with inputs.opened(str(path), name) as source:
        assert (source.is_several, [item.lift() for item in source if isinstance(item, Document)]) == (
            True,
            [dialects.get(name).lift(one.document) for one in (first, second)],
        )


@pytest.mark.parametrize("name", STREAMS)
def test_l13_two_samples_in_one_list_are_refused(name: str) -> None:
    first, second = _distinct(name)[:2]
    events = [*first.document, *second.document]
    [finding] = [one for one in pipeline.validate(events, dialects.get(name)) if one.code == "several-streams"]
    assert finding.where == f"/{len(first.document)}"
    for call in (convcli.lift, partial(convcli.convert, to="intermediate")):
        with pytest.raises(convcli.RefusedError, match="2 answers"):
            call(events, source=name)


def _distinct(name: str) -> list[Sample]:
    """Samples that begin and end as the service does, of which no two have the same id."""
    dialect = dialects.get(name)
    found: dict[str, Sample] = {}
    for sample in acceptable_of(name):
        transcript = dialect.lift(sample.document)
        has_ended = all(message.stop_reason != "error" for message in transcript.messages)
        id_ = transcript.id or next((message.id for message in transcript.messages if message.id), None)
        if isinstance(sample.document, Rows) and has_ended and id_:
            found.setdefault(id_, sample)
    assert len(found) > 1
    return list(found.values())


@pytest.mark.parametrize("name", STREAMS)
def test_one_sample_is_one_transcript(name: str) -> None:
    for sample in acceptable_of(name):
        boundaries = dialects.get(name).answer_boundaries
        assert boundaries is not None
        begins = boundaries()
        assert not any([begins(event) for event in sample.document][1:]), sample
