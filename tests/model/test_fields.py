"""A field is stated in its record, in the table, and in the schema (`tests/laws/test_schemas`): all agree."""

from __future__ import annotations

import importlib.resources
import re
from collections import defaultdict
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given, settings

from convcli.model import fields
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof import equality
from tests import strategies

PARTS = {cls.type: cls for cls in (Text, Reasoning, Refusal, ToolCall, ToolResult, Opaque)}
TABLES: list[tuple[Any, dict[str, fields.FormatField]]] = [
    (Transcript, fields.TRANSCRIPT),
    (Message, fields.MESSAGE),
    (ToolDefinition, fields.TOOL),
    *((cls, fields.PARTS[kind]) for kind, cls in PARTS.items()),
    *((Media, fields.PARTS[kind]) for kind in MEDIA_KINDS),
]


@pytest.mark.parametrize(("record", "table"), TABLES)
def test_the_table_has_the_fields_of_the_record(record: Any, table: dict[str, fields.FormatField]) -> None:
    assert set(table) == set(record.__struct_encode_fields__) - {"type", "origin"}


def test_the_page_of_the_format_describes_every_field() -> None:
    page = (importlib.resources.files("convcli") / "pages" / "intermediate-format.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", page))
    assert not {name.rpartition(".")[2] for name in fields.FIELDS} - named


@pytest.mark.parametrize("name", Message.__struct_fields__)
def test_a_field_with_numbers_or_objects_is_compared_as_json(name: str) -> None:
    kinds = {getattr(kind, "__origin__", kind) for kind in get_args(get_type_hints(Message)[name])}
    if not kinds & {float, dict}:
        return
    one, other = (Message("user", []) for _ in range(2))
    for message, value in ((one, 1), (other, 1.0)):
        setattr(message, name, {"a": {"b": value}} if dict in kinds else value)
    assert one == other
    assert not equality.exact_message(one, other)


@pytest.mark.exhaustive
def test_the_property_tests_set_every_field() -> None:
    seen: dict[str, set[str]] = defaultdict(set)

    def note(value: Any) -> None:
        for item in value if isinstance(value, list) else ():
            note(item)
        if isinstance(value, msgspec.Struct):
            held = {name for name in value.__struct_fields__ if getattr(value, name) is not None}
            seen[type(value).__name__] |= held
            for name in held:
                note(getattr(value, name))

    @settings(max_examples=200, derandomize=True, database=None)
    @given(transcript=strategies.transcripts(), tool=strategies.definitions(), call=strategies.calls())
    def draw(transcript: Transcript, tool: ToolDefinition, call: ToolCall) -> None:
        note([transcript, tool, call])

    draw()
    for record, _ in TABLES:
        assert set(record.__struct_fields__) - seen[record.__name__] <= {"origin"}
