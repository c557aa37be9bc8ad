"""Compiled readers find in documents what `reading.read` finds, and only in documents of their structure."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import pytest

from convcli.engine.shapes.reading import Format, read
from convcli.engine.shapes.structures import MOST_ALIKE, Structures, reader
from convcli.engine.shapes.values import UnreadableError
from convcli.wire.decimals import Decimal
from tests.benchmarks import data
from tests.engine.shapes.test_reading import ALIKE, DIFFERENT, FORM, UNREADABLE, asked, chat

MORE: list[Any] = [
    {}, {"messages": []}, {"messages": {}}, {"messages": None}, {"messages": [[]]}, {"messages": [[{"text": "a"}], 1]},
    chat(asked("<b>")), chat(asked("[1]")), chat(asked(" {}")), chat(asked(["a", " ", {"text": "b"}])), chat(id=""),
    chat(id=1.0), chat(id=1), chat(id=True), chat(note=""), chat(note={"id": "note"}), chat(note={"id": "a"}),
    chat(asked("a", note={"id": "note"})), chat(asked("a", note={"id": "a"})), chat(asked("a", note={"id": 1})),
    chat(asked("a", x=0.0)), chat(asked("a", x=-0.0)), chat(asked("a", x=0)), chat(asked("a", x=False)),
    chat(asked("a", x=None)), chat(asked("a", input={})), chat(asked("a", input={"a": 1})), chat({"id": "a"}),
    chat({"id": "a", "call_id": "b"}), chat({"id": "a", "call_id": "a"}), chat({"id": "a_1"}), chat({"id": "a\n"}),
    *map(data.agent_row, range(6)), *map(data.row, range(4)),
]  # fmt: skip
DOCUMENTS: list[Any] = [*(one for pair in (*ALIKE, *DIFFERENT) for one in pair), *MORE, *UNREADABLE]
STRICTER = Format(FORM.named, without_tags=True, without_json=True)


@pytest.mark.parametrize("form", [FORM, STRICTER, Format(FORM.named, is_output=True)])
def test_a_compiled_reader_finds_exactly_the_documents_of_its_shape_and_their_values(form: Format) -> None:
    known = list[tuple[Any, Any]]()
    for document in DOCUMENTS:
        with suppress(UnreadableError, TypeError):
            known.append((document, read(document, form)))
    for (one, (shape, values)), (other, (shape_of_other, values_of_other)) in product(known, known):
        find = reader(shape, form)
        found, found_in_other = find(one), find_in(find, other)
        assert found is not None
        assert found[1] == values
        is_same = found_in_other is not None and found_in_other[0] == found[0]
        assert is_same == (shape == shape_of_other), (one, other)
        assert not is_same or found_in_other[1] == values_of_other


@pytest.mark.parametrize("form", [FORM, STRICTER])
def test_a_compiled_reader_finds_nothing_in_a_document_without_a_shape(form: Format) -> None:
    readers, unreadable = list[tuple[Any, Any]](), list[Any]()
    for document in DOCUMENTS:
        try:
            find = reader(read(document, form)[0], form)
            readers.append((find, find(document)))
        except UnreadableError:
            unreadable.append(document)
    assert len(unreadable) >= len(UNREADABLE)
    for (find, found), document in product(readers, unreadable):
        found_in_other = find_in(find, document)
        assert found_in_other is None or found_in_other[0] != found[0], document


def find_in(find: Any, document: Any) -> Any:
    try:
        return find(document)
    except UnreadableError:
        return None


def test_structures_give_the_item_of_a_shape() -> None:
    structures = Structures[int](FORM)
    added = [structures.add(document, read(document, FORM)[0], i) for i, (document, _) in enumerate(ALIKE)]
    assert added == [True] * len(ALIKE)
    for i, (document, other) in enumerate(ALIKE):
        assert structures.find(document) == (i, read(document, FORM)[1])
        assert structures.find(other) == (i, read(other, FORM)[1])
    assert structures.find(chat(asked("a", x=1))) is None
    assert structures.find(chat({"role": "system", "content": "Hi."})) is None


def test_a_text_is_found_also_where_another_shape_has_an_empty_one() -> None:
    structures = Structures[int](FORM)
    for i, document in enumerate((chat(asked("")), chat(asked("Hi.")))):
        structures.add(document, read(document, FORM)[0], i)
    assert structures.find(chat(asked("Why?"))) == (1, ["Why?"])
    assert structures.find(chat(asked(""))) == (0, [])


def test_a_structure_that_is_known_is_not_new_and_only_some_with_one_outline_are_tried() -> None:
    structures = Structures[int](FORM)
    documents = [chat(asked("a", **{f"x{i}": 1})) for i in range(MOST_ALIKE + 2)]
    added = [structures.add(document, read(document, FORM)[0], i) for i, document in enumerate(documents)]
    assert added == [True] * MOST_ALIKE + [False, False]
    assert [structures.find(document) is not None for document in documents] == added
    again = chat(asked("a", x0=2))
    assert structures.find(again) is None
    assert not structures.add(again, read(again, FORM)[0], 7)
    assert structures.find(again) == (7, ["a"])


def test_a_number_that_only_decimals_hold_has_no_structure() -> None:
    document = chat(asked("a", x=Decimal("0.10000000000000000001")))
    with pytest.raises(UnreadableError):
        reader(read(document, FORM)[0], FORM)
