"""The wire: no value changes in silence, every refusal has a code and a place, both readers agree."""

from __future__ import annotations

import copy
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from convcli.model.errors import ContentError
from convcli.wire import exact_json, pointers, strict_json
from tests.growth import MOST, Steps, growth


def refusal(data: bytes | str, **options: Any) -> ContentError:
    with pytest.raises(ContentError) as caught:
        exact_json.parse(data, **options)
    return caught.value


def verdict(read: Any, data: bytes, keys: Any) -> tuple[Any, ...]:
    """What a reader makes of a text, in a form that distinguishes 1 from 1.0 and one order of keys from another."""
    try:
        return "value", repr(read(data, duplicate_keys=keys))
    except ContentError as error:
        return "error", error.code, error.line, error.column, error.byte, error.where


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ['"', "\\", 'a\\"', "\\u0022", "\ud83d", "\0", 'a": ', ', "']
)
integers = st.integers() | st.integers(2**62, 2**65) | st.integers(-(2**65), -(2**62)) | st.integers(10**40, 10**50)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4))

fragments = st.sampled_from([
    b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"\n", b"\r", b"\0", b"0", b"1", b"-", b".", b"e", b"1e999",
    b"99999999999999999999", b"9223372036854775808", b"-9223372036854775809", b"NaN", b"-Infinity", b"true", b"nul",
    b"0.12345678901234567890", b"1e-999",
    b'"a":', b'"a":1,', b'"\\u0061":2', b'"\\u0022"', b"\\ud83d", b"\\udc00", b"\xe9", b"\xed\xa0\xbd", b"\xef\xbb\xbf",
    "é😀\u2028".encode(), b"'", b"//",
])  # fmt: skip
broken = st.lists(fragments, max_size=12).map(b"".join)


def without_numbers(value: Any) -> Any:
    """All of a value but what its numbers are; objects as their entries, in order."""
    if isinstance(value, dict):
        return [(key, without_numbers(inner)) for key, inner in value.items()]
    if isinstance(value, list):
        return [without_numbers(inner) for inner in value]
    return "a number" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@given(broken | values.map(exact_json.write) | st.integers(150, 250).map(nested))
@example(b'{"a":1,"\\u0061":2}')
@example(b'{"a":1,"a":"\\u0022"}')
@example(b"[" + b"9" * 5000 + b"]")
def test_a_text_that_is_read_for_its_keys_is_refused_as_any_other(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")

    def answer(read: Any) -> Any:
        try:
            return without_numbers(read(text))
        except ContentError as error:
            return error.code

    assert answer(exact_json.parse_rounded) == answer(exact_json.parse)


# --- reading ---------------------------------------------------------------------------------------------------------


@given(broken | values.map(exact_json.write), st.sampled_from(["error", "last"]))
@example(b'{"a":1,"a":"\\u0022\\u0022"}', "error")
@example(b"[1e400x]", "error")
@example(b"[NaN1]", "error")
def test_the_fast_path_and_the_strict_reader_give_the_same_value_or_the_same_refusal(data: bytes, keys: str) -> None:
    assert verdict(exact_json.parse, data, keys) == verdict(strict_json.read, data, keys)


@given(values, st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n", "\t: ")]))
@example({'a": ': ', "', ", ": [1.0, {"b": 12345678901234567890}]}, True, (", ", ": "))
def test_whatever_a_writer_spaced_or_escaped_is_read_as_the_same_value(value: Any, ascii_: bool, marks: Any) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, separators=marks)
    expected = json.loads(text)  # a high and a low surrogate that met in the text are one character now
    assert repr(exact_json.parse(text)) == repr(expected)
    assert repr(exact_json.parse_text(text)) == repr((expected, exact_json.write_text(expected) == text))


@pytest.mark.parametrize(
    "literal",
    ["18446744073709551616", "-9223372036854775809", "9223372036854775808", "1" * 4300, "-" + "1" * 4300, "0", "1.0"],
)
@pytest.mark.parametrize("frame", ["[{}]", "[ {} ]", '{{"a": {}}}', '{{"x":"\\u00e9","a":{}}}'])
def test_numbers_keep_their_value_and_their_type(literal: str, frame: str) -> None:
    written = exact_json.write(exact_json.parse(frame.format(literal))).decode()
    assert written == frame.format(literal).replace(" ", "").replace("\\u00e9", "é")


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?", fullmatch=True)


@given(NUMBERS, st.sampled_from(["{}", "[{}]", "[ {}, 0.0 ]", '{{"id": "call_1e-7", "a": {}}}']))
@example("1E-999", "[{}]")
@example("1.000000000000000005", "[{}]")
@example("1234567890123456e5", "[ {}, 0.0 ]")
@example("12345678901234567.0", "[ {}, 0.0 ]")
@example("4.9406564584124655e-324", "{}")
@example("1.234567e-320", "[ {}, 0.0 ]")
def test_a_number_of_any_length_is_written_as_the_same_number(literal: str, frame: str) -> None:
    text = frame.format(literal)
    assume(not math.isinf(float(literal)))
    value = exact_json.parse(text)
    assert numbers_in(exact_json.write(value).decode()) == numbers_in(text)
    assert exact_json.write(exact_json.parse(exact_json.write(value))) == exact_json.write(value)


def numbers_in(text: str) -> Any:
    return json.loads(text, parse_float=Decimal, parse_int=Decimal)


def test_a_number_that_no_double_holds_is_a_float_that_is_copied_and_counted_as_one() -> None:
    (number,) = exact_json.parse("[0.70000000000000000001]")
    assert isinstance(number, float)
    assert number == 0.7
    assert exact_json.write(copy.deepcopy({"a": number})) == b'{"a":0.70000000000000000001}'
    assert exact_json.write([number], indent=True) == b"[\n  0.70000000000000000001\n]"
    assert not exact_json.exact(number, 0.7)


def test_lone_surrogates_are_kept_as_their_escapes_and_pairs_are_one_character() -> None:
    value = exact_json.parse(rb'["\ud83d","\ude00\ud83d","\ud83d\ude00"]')
    assert value == ["\ud83d", "\ude00\ud83d", "😀"]
    assert exact_json.write(value) == '["\\ud83d","\\ude00\\ud83d","😀"]'.encode()


@pytest.mark.parametrize("form", ['"{}"', '["a{}"]', '{{"{}":1}}', '{{"k":[{{"v":"{}\\n"}}]}}', '"{}\\uD83D\\uDE00"'])
@pytest.mark.parametrize("half", [r"\uD800", r"\uDd1e", r"\udBfF", r"\uDE00\uD83D"])
def test_lone_surrogates_in_capital_letters_are_written_as_they_were_read(half: str, form: str) -> None:
    text = form.format(half)
    value = exact_json.parse(text)
    assert value == json.loads(text)
    assert exact_json.write(value).decode() == text
    assert exact_json.write(pickle.loads(pickle.dumps(copy.deepcopy(value)))).decode() == text


def test_the_spelling_of_a_lone_surrogate_is_no_part_of_the_value() -> None:
    capital, small = exact_json.parse(rb'{"\uD800":["x\uDFFF"]}'), exact_json.parse(rb'{"\ud800":["x\udfff"]}')
    assert capital == small
    assert exact_json.exact(capital, small)
    assert exact_json.digest(capital) == exact_json.digest(small)
    assert exact_json.write(capital) != exact_json.write(small)


def test_an_escaped_backslash_and_a_pair_in_capital_letters_are_ordinary_text() -> None:
    value = strict_json.read(r'["\\uD800","\uD83D\uDE00","\u00E9"]')
    assert [type(text) for text in value] == [str, str, str]


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        ('{"a": "ä"}'.encode("utf-16"), "wrong-encoding", "UTF-16LE"),
        ('{"a": "ä"}'.encode("utf-16-be"), "wrong-encoding", "iconv -f UTF-16BE -t UTF-8"),
        ('{"a": "ä"}'.encode("utf-32-le"), "wrong-encoding", "UTF-32LE"),
        (b'{"a": "\xe4"}', "not-utf8", "iconv -f ISO-8859-1 -t UTF-8"),
        (b'{"a": "\xed\xa0\xbd\xed\xb8\x80"}', "not-utf8", "this is CESU-8"),
        (b'{"a": "\xc0\x80"}', "not-utf8", "overlong"),
        (b"\0" * 5000, "not-json", "5,000 zero bytes"),
        (b'{"a": \0}', "not-json", "1 zero byte, not a JSON value"),
        (b'{"a": "\0"}', "control-character", "U+0000"),
        (b"<!DOCTYPE html>", "not-json", "an HTML page"),
        (b"SQLite format 3\0", "not-json", "a SQLite database"),
    ],
)
def test_what_is_no_utf_8_text_is_reported_as_what_it_is(data: bytes, code: str, said: str) -> None:
    error = refusal(data)
    assert error.code == code
    assert said in f"{error.message} {error.help}"


def test_a_leading_byte_order_mark_is_accepted_once() -> None:
    assert exact_json.parse(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert refusal(b"\xef\xbb\xbf\xef\xbb\xbf1").code == "misplaced-bom"
    assert refusal("\ufeff1").code == "misplaced-bom"
    assert exact_json.parse('"\ufeff"') == "\ufeff"


def test_equal_keys_are_refused_with_both_places_or_the_last_one_counts() -> None:
    data = b'{"m": [{"role": 1,\n "r\\u006fle": 2}]}'
    error = refusal(data)
    assert (error.code, error.line, error.column, error.byte, error.where) == ("duplicate-key", 2, 2, 20, "/m/0/role")
    assert "line 1 column 9 (byte 8) and line 2 column 2 (byte 20)" in error.message
    assert exact_json.parse(data, duplicate_keys="last") == {"m": [{"role": 2}]}


def test_equal_keys_are_found_when_the_value_that_stays_brings_as_many_quotes_as_were_dropped() -> None:
    assert refusal(rb'{"a":1,"a":"\u0022\u0022"}').code == "duplicate-key"


def test_keys_that_differ_only_in_unicode_normalisation_are_different() -> None:
    assert len(exact_json.parse('{"é": 1, "e\u0301": 2}')) == 2


def test_two_hundred_levels_are_read_and_one_more_is_not() -> None:
    assert exact_json.write(exact_json.parse(nested(200))) == nested(200)
    for levels in (201, 253, 254, 255, 1000, 1025, 100_000):
        error = refusal(nested(levels))
        assert (error.code, error.byte) == ("too-deep", 200)


def test_each_thread_has_lists_of_its_own_around_the_value_that_it_proves() -> None:
    def used() -> Any:
        exact_json.parse(nested(150) + b" " * 300)
        return exact_json.nest_of_thread()

    with ThreadPoolExecutor(1) as thread:
        other = thread.submit(used).result()
    assert other.inner is not used().inner
    assert other.inner == [None]


@pytest.mark.parametrize("before", ['{}"a"', '{]x"a":1', '[{}"a":', "}]"])
def test_too_deep_is_reported_behind_what_is_no_json_too(before: str) -> None:
    assert refusal(before.encode() + b"[" * 300).code in ("too-deep", "not-json")


def test_the_limit_of_depth_is_the_same_in_a_long_text() -> None:
    padding = b'["' + b"[" * 5000 + b'",'
    assert exact_json.parse(padding + nested(199) + b"]")
    assert refusal(padding + nested(200) + b"]").code == "too-deep"


@pytest.mark.parametrize(
    ("data", "code", "line", "column", "byte"),
    [
        (b"", "empty-input", 1, 1, 0),
        (b" \n ", "empty-input", 1, 1, 0),
        (b"\xef\xbb\xbf", "empty-input", 1, 1, 3),
        ('{"a":1}'.encode("utf-16"), "wrong-encoding", 1, 1, 0),
        ('{"a":1}'.encode("utf-16-le"), "wrong-encoding", 1, 1, 0),
        ('{"a":1}'.encode("utf-32-be"), "wrong-encoding", 1, 1, 0),
        ('{"é":\n "é'.encode() + b'\xe9"}', "not-utf8", 2, 4, 11),
        (b'["\xed\xa0\xbd\xed\xb8\x80"]', "not-utf8", 1, 3, 2),
        (b'["\xc0\xaf"]', "not-utf8", 1, 3, 2),
        (b'[1, "a\0b"]', "control-character", 1, 7, 6),
        (b'["a\n"]', "control-character", 1, 4, 3),
        (b'{"a": [NaN]}', "not-finite", 1, 8, 7),
        (b"[-Infinity]", "not-finite", 1, 2, 1),
        (b"[1, -1e400]", "number-overflow", 1, 5, 4),
        (b"[" + b"9" * 4301 + b"]", "big-number", 1, 2, 1),
        (b'{"a":1,\n}', "not-json", 2, 1, 8),
        (b"[1,]", "not-json", 1, 4, 3),
        (b"[01]", "not-json", 1, 3, 2),
        (b'["\\x"]', "not-json", 1, 3, 2),
        (b'["\\u12G4"]', "not-json", 1, 3, 2),
        (b'{"a": [1, 2', "not-json", 1, 12, 11),
        (b'{"a": "b\\u00', "not-json", 1, 13, 12),
        (b'{"a": tru', "not-json", 1, 10, 9),
        (b'{"a": 1.5e-', "not-json", 1, 12, 11),
    ],
)
def test_a_refusal_has_a_code_and_the_place_of_the_first_bad_byte(
    data: bytes, code: str, line: int, column: int, byte: int
) -> None:
    error = refusal(data)
    assert (error.code, error.line, error.column, error.byte) == (code, line, column, byte)


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"{'a': 1}", "Python"),
        (b'{"a": None}', "Python"),
        (b'{ // c\n "a": 1}', "comments"),
        (b'{"a": 1 /* c */}', "comments"),
        (b'{"a": 1, }', "comma"),
        (b"{a: 1}", "JavaScript"),
        (b'{"a":1}\n{"a":2}', "JSON Lines"),
        (b'{"a":1}{"a":2}', "is a newline missing"),
        ('{"a":1}'.encode("utf-16"), "iconv"),
    ],
)
def test_a_refusal_hints_at_what_the_text_looks_like(data: bytes, hint: str) -> None:
    assert hint in refusal(data).help


@pytest.mark.parametrize(
    ("magic", "name"),
    [
        (b"SQLite format 3\0", "SQLite"),
        (b"PK\x03\x04", "zip"),
        (b"<|start|>user<|message|>Hi.<|end|>", "harmony"),
        (b"<|im_start|>user\nHi.<|im_end|>", "ChatML"),
        (b"# aider chat started at 2026-01-01 00:00:00\n", "Aider"),
        (b"\n\n# aider chat started at 2026-01-01 00:00:00\n", "Aider"),
        (b"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# A title\n", "SpecStory"),
        (b"# Cascade Chat Conversation\n\nNote: ...", "Windsurf"),
        (b"H:2,block:4,blockSize:1000", "Nitrite"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_files_of_other_kinds_are_named(magic: bytes, name: str) -> None:
    error = refusal(magic + b"\0\xff")
    assert (error.code, name in error.message) == ("not-json", True)


def test_places_count_from_where_the_text_begins_in_its_file() -> None:
    error = refusal(b'{"a" 1}', start=(7, 10, 100))
    assert (error.line, error.column, error.byte) == (7, 15, 105)
    assert (refusal(b"[\n x]", start=(7, 10, 100)).line, refusal(b"[\n x]", start=(7, 10, 100)).column) == (8, 2)


def test_no_message_holds_a_value_of_the_document() -> None:
    for data in (b'{"secret": "sk-FAKE" x}', b'{"secret":1,"secret":"sk-FAKE"}', b'["sk-FAKE\0"]', b"[sk-FAKE]"):
        error = refusal(data)
        assert "FAKE" not in error.message + error.help
        assert "secret" not in error.message + error.help


@pytest.mark.parametrize(
    ("begin", "piece"), [(b'"', b'\\"'), (b"", b"["), (b"", b'{"a":'), (b"[", b'"\\'), (b"[", b"1,")]
)
def test_hostile_texts_are_refused_in_linear_time(begin: bytes, piece: bytes) -> None:
    assert growth(lambda size: [partial(refusal, begin + piece * size)], 20_000) < MOST


# --- writing ---------------------------------------------------------------------------------------------------------


@given(values, st.booleans())
def test_what_was_written_is_read_as_the_same_value(value: Any, indent: bool) -> None:
    value = json.loads(json.dumps(value))  # joins surrogates that are one character in JSON
    assert repr(exact_json.parse(exact_json.write(value, indent=indent))) == repr(value)


@pytest.mark.parametrize("value", [{"a": [1, "東"]}, "\ud800", 10**40, []])
@pytest.mark.parametrize("indent", [True, False])
def test_a_line_is_the_text_and_a_newline(value: Any, indent: bool) -> None:
    assert exact_json.write_line(value, indent=indent) == exact_json.write(value, indent=indent) + b"\n"


def test_exactness_tells_types_and_the_order_of_keys_apart() -> None:
    assert not exact_json.exact([1], [1.0])
    assert not exact_json.exact([1], [True])
    assert not exact_json.exact({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not exact_json.exact(10**30, 10**30 + 1)
    assert exact_json.exact({"a": [10**30, "\ud83d"]}, {"a": [10**30, "\ud83d"]})


# --- places ----------------------------------------------------------------------------------------------------------


def paths(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for step, child in children for deeper in paths(child, (*path, step)))]


@given(values, st.booleans())
def test_every_value_is_found_at_its_pointer(value: Any, indent: bool) -> None:
    value = json.loads(json.dumps(value))
    data = exact_json.write(value, indent=indent)
    places = exact_json.locate_all(data, [pointers.pointer(path) for path in paths(value)])
    for path in paths(value):
        line, column, byte = places[pointers.pointer(path)]
        found, _ = json.JSONDecoder().raw_decode(data[byte:].decode())
        assert repr(found) == repr(pointers.resolve(value, path))
        before = data[:byte].decode()
        assert (line, column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_a_place_counts_columns_in_characters_and_a_byte_order_mark_in_bytes() -> None:
    data = '\ufeff{"é": "日",\n "b": [1, {"x/~": 2}]}'.encode()
    assert exact_json.locate_all(data, ["/b/1/x~1~0"]) == {"/b/1/x~1~0": (2, 19, 35)}


def test_a_pointer_to_nothing_has_no_place() -> None:
    absent = ("/b", "/a/0/x", "/a/01", "/a/2", "/a/-1")
    assert exact_json.locate_all(b'{"a": [1, 2]}', absent) == dict.fromkeys(absent, (0, 0, -1))


def test_pointers_are_sorted_as_their_values_stand_in_the_text() -> None:
    value = {"b": [{"y": 1, "x~/": 2}] * 11, "a": 3}
    order = exact_json.Order(value)
    pointers = ["/a", "/b/10/y", "/b/2/x~0~1", "/b/2/missing", "/b/2/y", "/b", ""]
    assert sorted(pointers, key=order.of) == ["", "/b", "/b/2/missing", "/b/2/y", "/b/2/x~0~1", "/b/10/y", "/a"]


def test_many_pointers_into_one_large_object_are_sorted_in_linear_time() -> None:
    def work(size: int) -> Steps:
        order = exact_json.Order({str(i): i for i in range(size)})
        return [lambda: sorted((f"/{i}" for i in reversed(range(size))), key=order.of)[:2]]

    assert [step() for step in work(1_000)] == [["/0", "/1"]]
    assert growth(work, 2_000) < MOST


def test_exponents_beyond_all_reason_are_refused_or_kept() -> None:
    beyond = "9" * 60
    for literal in (f"1e-{beyond}", f"0e{beyond}", f"-0.0e-{beyond}"):
        assert exact_json.write(exact_json.parse(literal)).decode() == literal
    with pytest.raises(ContentError, match="beyond the range"):
        exact_json.parse(f"0.4e{beyond}")
