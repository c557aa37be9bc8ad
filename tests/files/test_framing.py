"""Sources: what a file is, its records and events, torn ends, compression, byte ranges."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import sys
import tracemalloc
import types
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.files import packed
from convcli.files.framing import Record, Source, open_source
from convcli.files.members import RAISE
from convcli.model.document import Rows
from convcli.model.errors import ContentError, JobError
from convcli.wire import exact_json

ROWS = [{"a": 1}, {"b": ["é", "\u2028"]}, {"c": {"d": None}}]
LINES = [exact_json.write(row) for row in ROWS]


def opened(data: bytes, **options: Any) -> Source:
    return open_source("-", stdin=io.BytesIO(data), **options)


def records(data: bytes, **options: Any) -> list[Record]:
    with opened(data, **options) as source:
        return list(source.records())


def events(data: bytes) -> list[Record]:
    with opened(data) as source:
        assert source.framing == "sse"
        return list(source.events())


def code_of(error: ContentError | None) -> str:
    return error.code if error else ""


# --- framing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "framing"),
    [
        (b"", "json"),
        (b'{"a":1}', "json"),
        (b'{"a":1}\n\n  \n', "json"),
        (b'[\n{"a":1}\n]', "json"),
        (b'{\n  "a": [\n    {}\n  ]\n}\n', "json"),
        (b'[{"a": 1},\n{"a": 2}\n]', "json"),
        (b'{"a":1}\n{"a":2}', "jsonl"),
        (b'\xef\xbb\xbf\n\n{"a":1}\r\n\r\n{"a":2}\r\n', "jsonl"),
        (b'{"a":1}\n{"a', "jsonl"),
        (b'{"a":1}\n\0\0\0', "jsonl"),
        (b'{"a":1,"a":2}\n{"a":2}', "jsonl"),
        (b'{"a": "to\n{"a":2}\n', "jsonl"),
        (b'caf\xe9\n{"a":2}\n', "jsonl"),
        (b'data: {"a":1}\n\n', "sse"),
        (b"\xef\xbb\xbf: hello\n\n", "sse"),
        (b"event: ping\r\ndata: {}\r\n\r\n", "sse"),
        ('{"a":1}\n{"a":2}'.encode("utf-16"), "json"),
    ],
)
def test_the_content_reports_the_framing(data: bytes, framing: str) -> None:
    assert opened(data).framing == framing


def test_the_name_of_a_file_does_not_decide(tmp_path: Path) -> None:
    for name, data, framing in (("a.json", b"1\n2", "jsonl"), ("b.jsonl", b"[\n1\n]", "json"), ("c", b":\n", "sse")):
        (tmp_path / name).write_bytes(data)
        with open_source(str(tmp_path / name)) as source:
            assert (source.name, source.framing) == (str(tmp_path / name), framing)


def test_a_document_comes_with_its_bytes() -> None:
    data = b'{\n "a": 1\n}\n'
    assert opened(data).document() == ({"a": 1}, data)


def test_rows_are_told_from_an_array_and_know_their_lines() -> None:
    value, raw = opened(b"\n" + b"\n\n".join(LINES)).document()
    assert isinstance(value, Rows)
    assert (value, value.lines, raw) == (ROWS, [2, 4, 6], b"\n" + b"\n\n".join(LINES))
    assert not isinstance(opened(exact_json.write(ROWS)).document()[0], Rows)


def test_a_stream_as_one_document_is_the_rows_of_its_events() -> None:
    value, _ = opened(b': hi\n\ndata: {"a":1}\n\ndata: [DONE]\n\n').document()
    assert (type(value), value, value.lines) == (Rows, [{"a": 1}, "[DONE]"], [3, 5])


def test_a_document_of_bad_rows_raises_the_error_of_the_first_with_its_file_and_line() -> None:
    with pytest.raises(ContentError) as caught:
        opened(b'{"a":1}\n{"a" 2}\n').document()
    assert (caught.value.file, caught.value.line, caught.value.column, caught.value.byte) == ("<stdin>", 2, 6, 13)


# --- JSON Lines ------------------------------------------------------------------------------------------------------


def test_lines_end_at_a_newline_byte_only_and_carriage_returns_and_blank_lines_do_not_count() -> None:
    data = b"\xef\xbb\xbf" + LINES[0] + b"\r\n\n  \r\n" + LINES[1] + b"\n" + LINES[2]
    read = records(data)
    assert [record.value for record in read] == ROWS
    assert [record.line for record in read] == [1, 4, 5]
    assert [data[record.start : record.end].rstrip(b"\r") for record in read] == [record.raw for record in read]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_last_newline_may_be_missing(end: bytes) -> None:
    assert [record.value for record in records(b"\n".join(LINES) + end)] == ROWS


def test_for_every_cut_the_records_are_a_prefix_and_the_unread_bytes_are_the_torn_tail() -> None:
    line = '{"k\\u00e9é": [true, -1.5e-7, null, "😀\\n", {}], "x": false}'.encode()
    data = b"\n".join([*LINES, line])
    whole = records(data)
    for cut in range(len(LINES[0]) + 1, len(data)):
        read = records(data[:cut])
        good = [record for record in read if not record.error]
        assert [record.value for record in good] == [record.value for record in whole[: len(good)]]
        if len(good) < len(read):
            (tail,) = read[len(good) :]
            assert (tail.torn, tail.end, data[tail.start - 1 : tail.start]) == (True, cut, b"\n")


@pytest.mark.parametrize("tail", [b"\0\0\0\0", b'{"a"\0\0', b'{"a":1}\0', b'{"a": "caf\xc3', b"[tr", b"-"])
def test_an_unfinished_last_line_is_torn(tail: bytes) -> None:
    last = records(LINES[0] + b"\n" + tail)[-1]
    assert (last.torn, last.line, last.start) == (True, 2, len(LINES[0]) + 1)


@pytest.mark.parametrize(
    "data",
    [b'{"a": 1', b'1\n{"a"\n', b"1\n\0\0\n", b"1\ngarbage", b'1\n{"a": x', b'1\n{"a":1}{"b"', b"x\n[1"],
)
def test_other_broken_lines_are_errors_but_not_torn(data: bytes) -> None:
    last = records(data)[-1]
    assert (bool(last.error), last.torn) == (True, False)


def test_a_bad_line_is_a_record_with_its_place_and_does_not_end_the_reading() -> None:
    read = records(LINES[0] + b'\n2026-11-20 log\n{"a":1}{"a":2}\n1\r2\n\xef\xbb\xbf1\n["\xe9"]\n' + LINES[2])
    assert [(record.line, code_of(record.error)) for record in read] == [
        (1, ""), (2, "not-json"), (3, "not-json"), (4, "not-json"), (5, "misplaced-bom"), (6, "not-utf8"), (7, ""),
    ]  # fmt: skip
    for record in read[1:6]:
        assert record.error
        assert record.error.line == record.line
        assert record.start <= record.error.byte <= record.end


def test_duplicate_keys_are_a_matter_of_the_caller() -> None:
    assert code_of(records(b'{"a":1,"a":2}\n1')[0].error) == "duplicate-key"
    assert records(b'{"a":1,"a":2}\n1', duplicate_keys="last")[0].value == {"a": 2}


def test_a_line_beyond_the_limit_is_refused_without_reading_it_to_its_end() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"x" * size

    with pytest.raises(ContentError, match="longer"):
        open_source("-", stdin=Endless(), max_line=1 << 20)  # type: ignore[arg-type]
    with pytest.raises(ContentError, match="longer"):
        list(opened(b"1\n2\n" + b"3" * 20, max_line=10).events())


class InPieces(io.BytesIO):
    """A stream that returns a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._size if size is None or size < 0 else min(size, self._size))


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_a_line_beyond_the_limit_is_one_bad_record(position: int) -> None:
    lines = [b'{"a":1}', b'{"b":2}', b'{"c":3}']
    lines.insert(position, b'{"long":"%s"}' % (b"x" * 300_000))
    for size in (7, 1_000, 1 << 20):  # of the pieces in which the bytes come
        with open_source("-", stdin=InPieces(b"\n".join(lines), size), max_line=100_000) as source:
            assert source.framing == "jsonl"
            read = list(source.each())
        assert [record.value for record in read if not record.error] == [{"a": 1}, {"b": 2}, {"c": 3}]
        (bad,) = (record for record in read if record.error)
        place = bad.line, bad.error and bad.error.byte
        assert (code_of(bad.error), *place) == ("line-too-long", position + 1, 8 * position)
        assert (bad.end - bad.start, bad.raw) == (len(lines[position]), b"")


@pytest.mark.parametrize("content", [b'{"a":"%s"}', b'{"a":\n"%s"}', b'{"a":"%s"\n}', b'["%s"]', b"data: %s\n\n"])
def test_a_long_line_of_anything_but_lines_is_an_error(content: bytes) -> None:
    with pytest.raises(ContentError) as caught:
        list(opened(content % (b"x" * 3_000), max_line=1_000).each())
    assert (caught.value.code, caught.value.help) == ("line-too-long", RAISE)


@pytest.mark.exhaustive
def test_memory_does_not_grow_with_the_number_of_records(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    path.write_bytes(b'{"a": "%s"}\n' % (b"x" * 1000) * 20_000)
    tracemalloc.start()
    with open_source(str(path)) as source:
        count = sum(1 for _ in source.records())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 4_000_000


# --- byte ranges and growing files -----------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([*LINES, b"", b"  ", b"x", b"\r"]), min_size=1), st.data())
def test_ranges_that_cover_a_file_read_every_record_once(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    content = b"\n".join(lines)
    path = tmp_path_factory.mktemp("ranges") / "f"
    path.write_bytes(content)
    cut = data.draw(st.integers(1, max(len(content), 1)))
    with open_source(str(path)) as one, open_source(str(path)) as two, open_source(str(path)) as all_:
        whole = list(all_.records())
        first = list(one.records(0, cut))
        second = list(two.records(cut, len(content)))
    assert [(r.line, r.start, r.raw, r.value, code_of(r.error)) for r in [*first, *second]] == [
        (r.line, r.start, r.raw, r.value, code_of(r.error)) for r in whole
    ]


def test_the_lines_of_a_range_have_the_numbers_that_they_have_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1\n\n2\n\n\n3\nx\n")
    for start, numbers in ((0, [1, 3, 6, 7]), (1, [3, 6, 7]), (6, [6, 7]), (8, [7]), (9, [7]), (10, [])):
        with open_source(str(path)) as source:
            assert [record.line for record in source.records(start)] == numbers


def test_only_plain_files_can_be_read_in_ranges(tmp_path: Path) -> None:
    path = tmp_path / "f.gz"
    path.write_bytes(gzip.compress(b"1\n2\n"))
    with open_source(str(path)) as source, pytest.raises(JobError, match="plain file"):
        list(source.records(2))


def test_the_size_at_opening_is_the_limit_and_growth_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "live.jsonl"
    path.write_bytes(b"1\n2\n")
    with open_source(str(path)) as source:
        assert not source.grew
        with path.open("ab") as log:
            log.write(b"3\n" * 1000)
        assert [record.value for record in source.records()] == [1, 2]
        assert source.grew


# --- server-sent events ----------------------------------------------------------------------------------------------


def test_events_keep_names_ids_and_comments_and_join_their_data_lines() -> None:
    data = b': ping\r\n\r\nevent: delta\r\nid: 7\r\n: note\r\ndata: {"a":\r\ndata:1}\r\n\r\ndata: [DONE]\r\n'
    comment, delta, done = events(data)
    assert (comment.comments, comment.raw, comment.value) == (("ping",), b"", None)
    assert (delta.event, delta.id, delta.comments, delta.value) == ("delta", "7", ("note",), {"a": 1})
    assert (delta.line, delta.raw, data[delta.start : delta.start + 5]) == (3, b'{"a":\n1}', b"event")
    assert (done.value, done.torn, done.error) == ("[DONE]", False, None)


def test_an_event_without_data_has_no_value_and_no_error_and_is_no_row() -> None:
    stream = b"data:\n\nevent: ping\n\ndata: 1\n\n"
    assert [(event.raw, event.value, event.error) for event in events(stream)[:2]] == [(b"", None, None)] * 2
    assert opened(stream).document()[0] == [1]


def test_an_error_in_an_event_has_its_place_in_the_file() -> None:
    (_, bad, good) = events(b'data: 1\n\nevent: x\ndata: {"a" 2}\n\ndata: 3\n\n')
    assert bad.error
    assert (bad.error.line, bad.error.column, bad.error.byte, bad.torn) == (4, 12, 29, False)
    assert good.value == 3


@pytest.mark.parametrize(
    "tail", [b'data: {"a"', b'data: {"a":"caf\xc3', b"data: [DO", b"da", b'event: x\ndata: {"a":1']
)
def test_a_stream_that_breaks_off_is_torn(tail: bytes) -> None:
    *_, last = events(b"data: 1\n\n" + tail)
    assert (last.torn, bool(last.error)) == (True, True)


@pytest.mark.parametrize("tail", [b"data: x", b"<html>", b"data: 2x\n\n", b'{"error": 1}\n\n'])
def test_what_is_no_event_is_an_error_and_not_torn(tail: bytes) -> None:
    *_, last = events(b"data: 1\n\n" + tail)
    assert (last.torn, bool(last.error)) == (False, True)


# --- files and compression -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_recognised_by_content_and_frames_are_joined(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(LINES[0] + b"\n" + LINES[1][:4]) + pack(LINES[1][4:] + b"\n")
    assert [record.value for record in records(packed)] == ROWS[:2]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_file_that_is_cut_or_damaged_is_refused(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(random.Random(1).randbytes(1000).hex().encode())
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 0x55
    for data in (packed[: len(packed) // 2], packed[:-1], bytes(flipped), packed + b"garbage"):
        with pytest.raises(ContentError) as caught:
            opened(data).document()
        assert (caught.value.code, caught.value.file) == ("broken-compression", "<stdin>")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compression_bomb_is_refused(pack: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ContentError) as caught:
        list(opened(pack((b"[1%s]\n" % (b" " * 1020)) * (16 << 10))).records())
    assert caught.value.code == "compression-bomb"


def test_many_packed_records_are_no_bomb_and_one_document_of_their_size_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MAX_UNPACKED", 1000)
    rows = [{"n": random.Random(n).randbytes(50).hex()} for n in range(40)]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert [record.value for record in opened(gzip.compress(lines)).records()] == rows
    array = json.dumps(rows).encode()
    assert [record.value for record in opened(gzip.compress(array)).members()] == rows
    assert opened(array).document()[0] == rows
    with pytest.raises(ContentError) as caught:
        opened(gzip.compress(array)).document()
    assert (caught.value.code, caught.value.file) == ("compression-bomb", "<stdin>")


class FakeZstandard(types.ModuleType):
    """The interface of the optional package over zlib, so that its way is tested where it is not installed."""

    ZstdError = zlib.error

    class ZstdDecompressor:
        def decompressobj(self) -> Any:
            return FakeFrame()


class FakeFrame:
    def __init__(self) -> None:
        self._frame, self._magic = zlib.decompressobj(), 4

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    def decompress(self, data: bytes) -> bytes:
        skipped, self._magic = min(self._magic, len(data)), max(self._magic - len(data), 0)
        return self._frame.decompress(data[skipped:])


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library reads zstandard")
def test_zstandard_is_read_by_the_optional_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", FakeZstandard("zstandard"))
    packed = ZSTD_MAGIC + zlib.compress(b"1\n2\n")
    assert [record.value for record in records(packed)] == [1, 2]
    with pytest.raises(ContentError, match="before it is complete"):
        records(packed[:-3])


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library reads zstandard")
def test_without_the_package_zstandard_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(JobError) as caught:
        opened(ZSTD_MAGIC + b"xxxx")
    assert (caught.value.code, "convcli[zstd]" in caught.value.help) == ("zstd-missing", True)


def test_what_cannot_be_opened_is_an_error_of_the_job(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"1")
    secret.chmod(0)
    cases = [(tmp_path / "none", "no-such-file"), (tmp_path, "is-a-directory"), (secret / "x", "unreadable-input")]
    for path, code in cases:
        with pytest.raises(JobError) as caught:
            open_source(str(path))
        assert (caught.value.code, caught.value.file) == (code, str(path))


def test_a_read_that_fails_is_an_error_of_the_job() -> None:
    class Failing(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(JobError, match="Input/output error"):
        open_source("-", stdin=Failing())  # type: ignore[arg-type]


def test_a_text_of_a_chat_template_is_read_as_the_row_that_holds_it() -> None:
    text = '<|start|>user<|message|>Hé "you".\nGo.<|end|>\n<|start|>assistant'
    value, raw = opened(text.encode()).document()
    assert (value, json.loads(raw)) == ({"text": text}, value)
    with pytest.raises(ContentError) as caught:
        opened(b"<|start|>\xff").document()
    assert (caught.value.code, caught.value.byte) == ("not-utf8", 9)
