"""Sixteen times the input takes about sixteen times the time: in calls, tools, findings, losses, rows and keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion, pipeline
from convcli.files.framing import open_source
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.proof.difference import difference
from convcli.validation import schemas, verdict
from convcli.wire import exact_json
from convcli.wire.json_patch import apply, patch
from tests import tiers
from tests.growth import MOST, Steps, growth


def user(text: str) -> Message:
    return Message("user", [Text(text)])


def answer(*parts: Any) -> Message:
    return Message("assistant", list(parts))


def call(id_: str, name: str = "f") -> ToolCall:
    return ToolCall(id_, name, {"n": 1})


def result(id_: str, name: str = "f") -> Message:
    return Message("tool", [ToolResult(id_, name, "text", "ok")])


def ids(count: int) -> list[str]:
    return [f"call_{i}" for i in range(count)]


SHAPES: dict[str, Callable[[int], Transcript]] = {
    "texts": lambda n: Transcript([user(f"q{i}") if i % 2 else answer(Text(f"a{i}")) for i in range(n)]),
    "one speaker": lambda n: Transcript([answer(Text(f"a{i}")) for i in range(n)] + [answer(call("c"))]),
    "parallel calls, answered in reverse": lambda n: Transcript(
        [user("x"), answer(*map(call, ids(n))), *map(result, reversed(ids(n)))]
    ),
    "parallel calls of one id": lambda n: Transcript([user("x"), answer(*[call("c")] * n), *[result("c")] * n]),
    "calls without results": lambda n: Transcript([user("x"), *(answer(call(id_)) for id_ in ids(n))]),
    "results without calls": lambda n: Transcript([answer(*map(call, ids(n))), *(result("x" + id_) for id_ in ids(n))]),
    "results at the end": lambda n: Transcript([*(answer(call(id_)) for id_ in ids(n)), *map(result, ids(n))]),
    "names and ids to be mended": lambda n: Transcript(
        [m for i in range(n // 2) for m in (answer(call(f"a|{i}", "x y" * 30 + str(i))), result(f"a|{i}"))]
    ),
    "a tool for each call": lambda n: Transcript(
        [user("x"), answer(*(ToolCall(id_, f"f_{id_}", {"n": None}) for id_ in ids(n)))],
        tools=[ToolDefinition(f"f_{id_}", "d", {"type": "object", "properties": {"n": {}}}) for id_ in ids(n)],
    ),
    "tools": lambda n: Transcript(
        [user("x")],
        tools=[ToolDefinition(f"t {i}", "d", {"type": "object", "properties": {}}, strict=True) for i in range(n)],
        tool_choice={"names": [f"u {i}" for i in range(n)]},
    ),
    "parts": lambda n: Transcript([Message("user", [Media("image", url=f"http://x/{i}.png") for i in range(n)])]),
    "a tree": lambda n: Transcript(
        [Message("user", [Text("x")], id=f"m{i}", parent_id=f"m{i - 1 - i % 2}" if i else None) for i in range(n)],
        head=f"m{n - 1}",
    ),
    "keys": lambda n: Transcript(
        [Message("user", [Text("a")], extras={"x": {f"k{i}": i for i in range(n)}})],
        settings={f"s{i}": i for i in range(n)},
    ),
}
TARGETS = ("openai-chat", "anthropic", "gemini", "gemini-cli", "llama-json", "openai-chat-stream")
"""One for each way of writing: messages of one role each, blocks, contents, a session, text, events."""
WORST = ("parallel calls, answered in reverse", "results at the end")
"""Shapes that showed each square of a single dialect."""
SIZES = {("parallel calls, answered in reverse", "gemini-cli"): 2_000} | dict.fromkeys(product(["keys"], TARGETS), 100)
"""Other sizes than 200: where what was once quadratic took longer than all else only from this size on, and where the
reasons of a larger input are more than those that are remembered, so that only small ones are found again."""


@pytest.mark.parametrize(("power", "is_found"), [(1, False), (2, True)])
def test_what_takes_the_square_of_its_size_is_found(power: int, is_found: bool) -> None:
    def work(size: int) -> Steps:
        values = list(range(size))
        wanted = values if power == 2 else values[:50]
        return [values.copy, lambda: [value for value in wanted if -value - 1 in values]]

    assert (growth(work, 250) >= MOST) is is_found


PAIRS = [*tiers.crossed(SHAPES, TARGETS, 1), *product(WORST, [name for name in tiers.written() if name not in TARGETS])]


@pytest.mark.parametrize(("shape", "target"), tiers.few(PAIRS, 4))
def test_a_conversion_there_and_back_takes_linear_time(shape: str, target: str) -> None:
    hub, other = dialects.get("intermediate"), dialects.get(target)

    def work(size: int) -> Steps:
        transcript = SHAPES[shape](size)
        lower = partial(other.lower or hub.lift, transcript, conversion.BY_DEFAULT)
        written = lower()
        read = other.lift(written)
        judged = partial(verdict.of_output, written, read, other, transcript, hub, purpose="request")
        return [
            lower,
            lambda: other.lift(written),
            lambda: difference(transcript, read, hub, other),
            judged,
            lambda: pipeline.validate(written, other, purpose="request"),
        ]

    assert growth(work, SIZES.get((shape, target), 200)) < MOST


def rows_of_a_log(count: int) -> Rows:
    """A session of Gemini CLI in which every second record is taken back, and then all are set again."""
    records = [{"id": f"r{i}", "timestamp": "", "type": "user", "content": f"x{i}"} for i in range(count)]
    rows: list[Any] = [{"sessionId": "s", "projectHash": "p", "startTime": "", "lastUpdated": ""}]
    for record in records:
        rows += [record, {**record, "id": record["id"] + "b"}, {"$rewindTo": record["id"] + "b"}]
    rows.append({"$set": {"messages": records}})
    return Rows(rows, list(range(1, len(rows) + 1)))


def test_a_log_that_goes_back_again_and_again_takes_linear_time() -> None:
    dialect = dialects.get("gemini-cli")
    assert schemas.accepts("gemini-cli", rows_of_a_log(3))

    def work(size: int) -> Steps:
        rows = rows_of_a_log(size)
        transcript = dialect.lift(rows)
        return [lambda: dialect.lift(rows), lambda: dialect.lower(transcript, conversion.BY_DEFAULT)]

    assert growth(work, 1_000) < MOST


@pytest.mark.parametrize("told_apart_by", ["nothing", "arguments", "ids"])
def test_calls_that_stand_twice_take_linear_time(told_apart_by: str) -> None:
    def document(size: int) -> Any:
        calls = [{"type": "toolCall", "id": f"c{i}", "name": "f", "arguments": {"i": i}} for i in range(size)]
        message: dict[str, Any] = {"role": "assistant", "content": calls}
        if told_apart_by == "arguments":
            message["toolCalls"] = [{"name": "f", "arguments": {"i": i}} for i in reversed(range(size))]
        elif told_apart_by == "ids":
            message["toolCalls"] = [{"id": f"c{i}", "name": "f", "arguments": {}} for i in reversed(range(size))]
        return [{"role": "user", "content": "x"}, message]

    dialect = dialects.get("openclaw")
    assert growth(lambda size: [partial(dialect.lift, document(size))], 800) < MOST


@pytest.mark.parametrize("name", ["anthropic-stream", "openai-chat-stream"])
def test_calls_that_a_stream_begins_at_one_index_take_linear_time(name: str) -> None:
    def rows(size: int) -> Rows:
        calls = [{"index": 0, "id": id_, "function": {"name": "f", "arguments": "{}"}} for id_ in ids(size)]
        events: list[Any] = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
        if name == "anthropic-stream":
            blocks = [{"type": "tool_use", "id": id_, "name": "f", "input": {}} for id_ in ids(size)]
            events = [{"type": "content_block_start", "index": 0, "content_block": block} for block in blocks]
        return Rows(events, list(range(1, size + 1)))

    dialect = dialects.get(name)
    assert len(dialect.lift(rows(3)).messages[0].parts) == 3
    assert growth(lambda size: [partial(dialect.lift, rows(size))], 2_000) < MOST


def test_the_places_of_findings_are_found_in_one_pass() -> None:
    def work(size: int) -> Steps:
        data = json.dumps({"messages": [{"role": "x", "text": "é" * 50}] * size}, indent=1).encode()
        return [lambda: exact_json.locate_all(data, [f"/messages/{i}/role" for i in range(size)])]

    assert growth(work, 1_000) < MOST


def test_a_patch_of_an_object_in_another_order_takes_linear_time() -> None:
    def work(size: int) -> Steps:
        before = {f"k{i}": i for i in range(size)}
        after = dict(reversed(before.items()))
        operations = patch(before, after)
        return [lambda: patch(before, after), lambda: apply(before, operations)]

    assert growth(work, 1_500) < MOST


def test_comments_of_a_stream_take_linear_time(tmp_path: Path) -> None:
    def work(size: int) -> Steps:
        (path := tmp_path / str(size)).write_bytes(b": ping\n" * size + b"data: {}\n\n")

        def read() -> None:
            with open_source(str(path)) as source:
                list(source.events())

        return [read]

    assert growth(work, 10_000) < MOST


def test_a_pattern_that_takes_forever_is_never_tried() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$", "format": "regex"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema, "strict": True}}
    source = dialects.get("openai-chat")

    def work(size: int) -> Steps:
        function = {"name": "f", "arguments": json.dumps({"a": "a" * size + "!"})}
        calls = [{"id": "c", "type": "function", "function": function}]
        answer = {"role": "assistant", "content": None, "tool_calls": calls}
        messages = [{"role": "user", "content": "x"}, answer, {"role": "tool", "tool_call_id": "c", "content": "y"}]
        document = {"messages": messages, "tools": [tool]}
        targets = [target for target in dialects.builtin() if target.is_written]
        conversions = [partial(pipeline.convert, document, source, target) for target in targets]
        return [partial(pipeline.validate, document, source, purpose="request"), *conversions]

    assert growth(work, 2) < MOST
