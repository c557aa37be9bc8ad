"""Streams: whatever the cut, the bytes and the order of parallel deltas, the same answer comes of it."""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import pipeline
from convcli.files.framing import open_source
from convcli.files.layouts import encoded
from convcli.kit import streams
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Text, ToolCall, Transcript
from convcli.validation import schemas
from tests import strategies
from tests.cli_cases import ROOT, run
from tests.support import Sample, about, dumped, facts, names, samples_of

HUB = dialects.get("intermediate")
STREAMS = [name for name in names() if name.endswith("-stream")]
every_stream = pytest.mark.parametrize("name", STREAMS)


def lowered(transcript: Transcript, dialect: Dialect, size: int) -> Any:
    assert dialect.is_written
    return dialect.lower(transcript, Options(chunk=size))


def calls_of(transcript: Transcript) -> list[tuple[str, Any, str | None]]:
    parts = [part for message in transcript.messages for part in message.parts]
    return [(part.name, part.arguments, part.raw_arguments) for part in parts if isinstance(part, ToolCall)]


def text_of(transcript: Transcript) -> str:
    return "".join(part.text for one in transcript.messages for part in one.parts if isinstance(part, Text))


# ---------------------------------------------------------------- cutting


def chance(transcript: Transcript) -> random.Random:
    """Numbers that differ from one transcript to another and are always the same for one."""
    return random.Random(dumped(facts(transcript)))


@every_stream
@strategies.with_any_transcript()
def test_any_transcript_cut_at_any_size_assembles_to_what_the_whole_says(name: str, transcript: Transcript) -> None:
    dialect = dialects.get(name)
    size = chance(transcript).randint(1, 9)
    whole, cut = lowered(transcript, dialect, 0), lowered(transcript, dialect, size)
    assert schemas.findings(name, cut) == []
    assert facts(dialect.lift(cut)) == facts(dialect.lift(whole))


@every_stream
@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_a_stream_cut_anew_says_the_same(name: str, size: int) -> None:
    dialect = dialects.get(name)
    for sample in samples_of(name):
        with about(sample):
            before = dialect.lift(sample.document)
            assert facts(dialect.lift(lowered(before, dialect, size))) == facts(before)


@given(text=st.text(st.sampled_from('ab\\"u0dD83eE{é大🎉\n')) | st.text(), size=st.integers(0, 7))
def test_fragments_give_the_text_exactly_and_none_is_empty(text: str, size: int) -> None:
    pieces = streams.fragments(text, size)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_arguments_are_never_cut_inside_an_escape(size: int) -> None:
    text = json.dumps({"text": 'a\n\t"b" \\ \u00e9 🎉🎉 end'})
    pieces = streams.fragments(text, size)
    whole = r"\\ud83c\\udf89|\\u[0-9a-f]{4}|\\[^u]|[^\\]"
    assert [one for piece in pieces for one in re.findall(whole, piece)] == re.findall(whole, text)
    assert all(len(re.findall(whole, piece)) <= size for piece in pieces)


@every_stream
def test_an_edited_transcript_is_not_written_with_its_old_events(name: str) -> None:
    dialect = dialects.get(name)
    transcript = dialect.lift(samples_of(name)[0].document)
    transcript.messages[0].parts = [Text("something else")]
    assert "something else" in text_of(dialect.lift(lowered(transcript, dialect, 0)))


# ---------------------------------------------------------------- bytes


class Slow(io.BytesIO):
    """A file that gives a few bytes at a time, as a network does."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._size if size is None or size < 0 else min(size, self._size))


@every_stream
@pytest.mark.parametrize("suffix", [".sse", ".jsonl"])
def test_bytes_fed_in_pieces_give_the_same_events(name: str, suffix: str) -> None:
    for sample, size in product(samples_of(name), (1, 2, 3, 7, 16, 63, 64)):
        data = b"".join(encoded(sample.document, suffix, names_events=dialects.get(name).names_events))
        with about(sample, size), open_source("-", stdin=Slow(data, size)) as source:  # type: ignore[arg-type]
            document, _ = source.document()
            read = [document] if len(sample.document) == 1 and suffix == ".jsonl" else document
            assert read == sample.document


@every_stream
def test_events_are_named_as_in_the_streams_that_were_recorded(name: str) -> None:
    """The readers of the AI SDK and of AG-UI know lines of data only."""
    dialect = dialects.get(name)
    files = [path.read_bytes() for path in (ROOT / "samples" / name).rglob("*.sse")]
    assert {b"\nevent: " in b"\n" + data for data in files} <= {dialect.names_events}
    written = run("convert", ROOT / "samples" / "intermediate" / "twin-weather.json", "--to", name).stdout
    assert (b"event: " in written) == dialect.names_events


RESET = "reset-step"
"""The event of the AI SDK that retracts the text of a step."""


@every_stream
def test_a_stream_that_breaks_off_anywhere_keeps_all_that_came(name: str) -> None:
    for sample in samples_of(name):
        with about(sample):
            assert_all_that_came_is_kept(sample)


def assert_all_that_came_is_kept(sample: Sample) -> None:
    dialect, events = dialects.get(sample.dialect), sample.document
    rolled_back = [at for at, event in enumerate(events) if isinstance(event, dict) and event.get("type") == RESET]
    said = "".join(text_of(dialect.lift(Rows(events[:end]))) for end in [*rolled_back, len(events)])
    for end in range(1, len(events)):
        torn = Rows(events[:end])
        transcript = dialect.lift(torn)
        texts = [part.text for one in transcript.messages for part in one.parts if isinstance(part, Text)]
        assert all(text in said for text in texts)
        stored = pipeline.convert(torn, dialect, HUB).document
        assert pipeline.convert(stored, HUB, dialect).document == torn


# ---------------------------------------------------------------- parallel calls

CALLS = [
    ToolCall("call_a", "get_weather", {"city": "Tokyo", "days": [1, 2.5, None]}),
    ToolCall("call_b", "get_weather", {"city": "大阪 🎉", "note": 'say "hi"\n\\ and go'}),
    ToolCall("call_c", "list_files", {}),
]


def asked() -> Transcript:
    """One answer with a text and parallel calls, as a service returns it."""
    return Transcript([Message("assistant", [Text("Let me look."), *CALLS], stop_reason="tool_calls")])


@pytest.mark.parametrize("target", STREAMS)
@pytest.mark.parametrize("source", STREAMS)
@pytest.mark.parametrize("size", [0, 1, 4])
def test_parallel_calls_are_exact_from_every_stream_to_every_other(source: str, target: str, size: int) -> None:
    before, after = dialects.get(source), dialects.get(target)
    rows = interleaved(source, lowered(asked(), before, size), random.Random(size))
    conversion = pipeline.convert(rows, before, after, Options(chunk=size))
    assert schemas.findings(target, conversion.document) == []
    assert calls_of(after.lift(conversion.document)) == [(call.name, call.arguments, None) for call in CALLS]


def _lane_of_chat(row: Any) -> Any:
    choices = row.get("choices") if isinstance(row, dict) else None
    delta = choices[0]["delta"] if choices and choices[0]["finish_reason"] is None else {}
    calls = delta.get("tool_calls")
    lane = calls[0]["index"] if calls else next((key for key in delta if key != "role"), None)
    return None if "role" in delta or lane is None else (choices[0]["index"], lane)


LANES: dict[str, Callable[[Any], Any]] = {
    "openai-chat-stream": _lane_of_chat,
    "anthropic-stream": lambda row: row.get("index"),
    "openai-responses-stream": lambda row: row.get("output_index"),
    "gemini-interactions-stream": lambda row: row.get("index"),
}
"""Which events belong together, for streams in which parallel parts may interleave; None: they stand where they are."""


def interleaved(name: str, rows: Rows, order: random.Random) -> Rows:
    """The events in another order that a service might have chosen: each part's own events stay in order."""
    lane_of = LANES.get(name, lambda row: None)
    lanes: dict[Any, list[Any]] = {}
    for row in rows:
        if lane_of(row) is not None:
            lanes.setdefault(lane_of(row), []).append(row)
    turns = [lane for lane, events in lanes.items() for _ in events]
    order.shuffle(turns)
    queues = {lane: iter(events) for lane, events in lanes.items()}
    mixed = iter([next(queues[lane]) for lane in turns])
    return Rows([row if lane_of(row) is None else next(mixed) for row in rows])


@pytest.mark.parametrize("name", [name for name in STREAMS if name in LANES])
@strategies.with_any_transcript()
def test_any_transcript_interleaved_in_any_way_assembles_to_itself(name: str, transcript: Transcript) -> None:
    dialect, order = dialects.get(name), chance(transcript)
    rows = lowered(transcript, dialect, order.randint(0, 5))
    assert facts(dialect.lift(interleaved(name, rows, order))) == facts(dialect.lift(rows))


@every_stream
def test_an_error_in_mid_stream_is_kept_with_its_words(name: str) -> None:
    broken = Message("assistant", [Text("Once upon")], stop_reason="error", error="the server is tired")
    dialect = dialects.get(name)
    after = dialect.lift(lowered(Transcript([broken]), dialect, 0)).messages[0]
    assert (after.stop_reason, after.error) == ("error", "the server is tired")


@every_stream
def test_a_long_stream_takes_linear_time(name: str) -> None:
    dialect = dialects.get(name)
    transcript = Transcript([Message("assistant", [Text("x" * 100_000)], stop_reason="stop")])
    rows = lowered(transcript, dialect, 4)
    assert text_of(dialect.lift(rows)) == "x" * 100_000


# ---------------------------------------------------------------- the command


SAMPLE = str(Path(__file__).parent.parent.parent / "samples" / "openai-chat-stream" / "parallel-calls.sse")


def test_convert_cuts_a_stream_and_lays_it_out_as_wished() -> None:
    done = run("convert", SAMPLE, "--to", "anthropic-stream", "--chunk", "3", "--framing", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    texts = [row["delta"]["text"] for row in rows if row.get("delta", {}).get("type") == "text_delta"]
    assert texts == ["Let", " me", " lo", "ok:", " 天気", "."]


def test_convert_cuts_no_document_and_writes_none_as_a_stream() -> None:
    assert run("convert", SAMPLE, "--to", "anthropic", "--chunk", "3").returncode == 2
    assert run("convert", SAMPLE, "--to", "anthropic", "--framing", "sse").returncode == 2


def test_an_event_that_begins_begins_another_answer_after_an_end_or_with_another_id() -> None:
    begins = streams.Boundaries(lambda event: streams.Limits(*event))
    first, end, again, other = (True, False, "a"), (False, True), (True, False, "a"), (True, False, "b")
    assert [begins(event) for event in (first, again, other, end, other)] == [False, False, True, False, True]


def test_runs_with_one_id_are_one_answer_where_only_the_id_counts() -> None:
    begins = streams.Boundaries(lambda event: streams.Limits(*event), by_id=True)
    run, end, other = (True, False, "a"), (False, True), (True, False, "b")
    assert [begins(event) for event in (run, end, run, other)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("fragments", "final", "former"),
    [
        (["Hel", "lo"], "Hello", None),
        (["Hel", "Hel", "lo"], "Hello", None),
        (["Hel"], "Hello", None),
        ([], "Hello", None),
        (["Hel", "p"], "Hello", ["Help"]),
        (["lo", "Hel"], "Hello", ["loHel"]),
    ],
)
def test_a_text_that_grew_is_kept_where_the_final_text_says_something_else(
    fragments: list[str], final: str, former: list[str] | None
) -> None:
    node: dict[str, Any] = {}
    for fragment in fragments:
        streams.grow(node, "text", fragment)
    before, node["text"] = node.get("text"), final
    streams.keep_former(node, "text", before)
    assert node == {"text": final, **({"former": {"text": former}} if former else {})}


def test_a_key_that_an_event_states_replaces_an_earlier_value_which_is_kept() -> None:
    node: dict[str, Any] = {"a": "", "text": "Hi."}
    routes: dict[Any, Any] = {}
    streams.state(node, {"a": 1, "b": None, "text": "aside"}, (1,), routes, read=("text",))
    streams.state(node, {"a": True}, (2, "delta"), routes)
    streams.state(node, {"a": True}, (3,), routes)
    assert node == {"a": True, "text": "Hi.", "former": {"text": ["aside"], "a": [1]}}
    assert routes == {("a",): (2, "delta", "a"), ("former",): (1,)}


def test_a_key_of_the_vendor_with_the_name_of_other_values_is_one_of_them() -> None:
    node: dict[str, Any] = {}
    for value in ("x", {"k": 1}, "x"):
        streams.restate(node, "former", value)
    streams.restate(node, "a", 1)
    streams.restate(node, "a", 2)
    assert node == {"former": {"former": ["x", {"k": 1}], "a": [1]}, "a": 2}


def test_counts_are_totals_and_other_values_are_kept() -> None:
    counts: dict[str, Any] = {}
    for stated in ({"n": 1, "tier": "a", "of": {"x": 1}}, {"n": 2, "tier": "b", "of": {"y": 2}, "m": None}):
        streams.recount(counts, stated)
    assert counts == {"n": 2, "tier": "b", "of": {"x": 1, "y": 2}, "m": None, "former": {"tier": ["a"]}}


def test_a_delta_of_another_type_does_not_replace_what_came_before() -> None:
    node = streams.Growing()
    for value in ("a", "b", 1, {"k": "c"}, ["d"]):
        streams.merge(node, {"x": value}, frozenset())
    assert streams.whole(node) == {"x": [{"k": "c"}, "d"], "former": {"x": ["ab", 1]}}
