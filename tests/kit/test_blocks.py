"""Blocks follow from their rows: the tag and the fields of each kind, both ways."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from convcli.kit.blocks import BlockRows, in_metadata
from convcli.kit.contexts import LiftContext
from convcli.kit.settings import whole
from convcli.model.transcript import Media, Opaque, Part, Reasoning, Text, ToolCall

ROWS = BlockRows("demo", "kind")
TABLE = ROWS.table(
    ROWS.record(
        "sealed", Reasoning(""), "kind data", {"data": in_metadata("sealed")}, lambda part: bool(part.metadata)
    ),
    ROWS.record("thought", Reasoning(""), "kind text effort", {"text": whole("text")}),
    ROWS.record("said", Text(""), "id kind text", {"text": whole("text")}),
    ROWS.member("shown", Media("image", url=""), {"href": whole("url"), "detail": whole("detail")}, "href").adapted(
        lambda part: part if part.url != "none" else None, lambda part: part if part.url is not None else None
    ),
    ROWS.call("call", "kind= id=id name=name input=arguments note"),
)


def lifted(native: Any) -> Part:
    return TABLE.lift(native, LiftContext("demo", None))


@pytest.mark.parametrize(
    ("native", "part"),
    [
        ({"kind": "said", "text": "a"}, Text("a")),
        ({"kind": "thought", "text": ""}, Reasoning("")),
        ({"kind": "sealed", "data": "x"}, Reasoning("", metadata={"sealed": "x"})),
        ({"id": "b1", "kind": "said", "text": "a", "new": 0}, Text("a", extras={"demo": {"id": "b1", "new": 0}})),
        ({"kind": "call", "id": "c", "name": "f", "input": {}, "note": "n"},
         ToolCall("c", "f", {}, extras={"demo": {"note": "n"}})),
        ({"kind": "other", "text": "a"}, Opaque("demo", {"kind": "other", "text": "a"})),
        ({"kind": "shown", "shown": {"href": "a", "detail": "low"}}, Media("image", url="a", detail="low")),
        ({"kind": "shown", "shown": {"href": "a", "new": 0}, "id": 1},
         Media("image", url="a", extras={"demo": {"id": 1, "shown": {"new": 0}}})),
        *[({"kind": "shown", "shown": body}, Opaque("demo", {"kind": "shown", "shown": body}))
          for body in (None, "a", {}, {"href": 1}, {"href": "none"})],
    ],
)  # fmt: skip
def test_a_block_comes_back_from_its_part_in_the_order_of_its_row(native: Any, part: Part) -> None:
    assert lifted(native) == part
    written = TABLE.write(part)
    assert written == native
    assert written is not None
    assert list(written) == list(native)


def test_parts_do_not_share_what_they_are_made_of() -> None:
    first, second = (lifted({"kind": "said", "text": text}) for text in "ab")
    assert (first, second) == (Text("a"), Text("b"))


def test_the_block_of_another_owner_is_not_written() -> None:
    assert TABLE.write(Opaque("other", {"kind": "said"})) is None
    assert TABLE.write(Text("a", extras={"other": {"id": "b1"}})) == {"kind": "said", "text": "a"}


def test_a_traceback_shows_the_source_of_a_row() -> None:
    with pytest.raises(AttributeError) as caught:
        ROWS.record("said", Text(""), "kind text", {"text": whole("text")}).write(None)
    assert "record.extras" in "".join(traceback.format_exception(caught.value))
