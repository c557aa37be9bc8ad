"""L10: the output of a conversion and its restore record give the exact original document."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from convcli import dialects, testing
from convcli.engine import conversion
from convcli.engine.restore import record, restore
from convcli.model.errors import ContentError
from convcli.wire.json_patch import apply, patch
from tests import strategies, tiers
from tests.support import about, dumped, samples_of


@pytest.mark.parametrize(("source", "target"), tiers.chosen_pairs())
def test_l10_a_conversion_can_be_undone_exactly(source: str, target: str) -> None:
    """The chosen pairs are enough in every tier: the record is made of two JSON values, whatever wrote them."""
    for sample in tiers.few(samples_of(source), 3):
        with about(sample):
            testing.assert_restores(dialects.get(source), dialects.get(target), sample.document)


@pytest.mark.parametrize("name", tiers.written())
def test_a_document_in_its_own_dialect_needs_no_patch(name: str) -> None:
    dialect = dialects.get(name)
    for sample in samples_of(name):
        with about(sample):
            assert record(sample.document, sample.document, dialect, dialect)["patch"] == []


@given(before=strategies.values, after=strategies.values)
def test_a_patch_makes_one_value_of_another(before: Any, after: Any) -> None:
    operations = patch(before, after)
    assert dumped(apply(before, operations)) == dumped(after)
    assert (operations == []) == (dumped(before) == dumped(after))


@given(before=strategies.transcripts(), after=strategies.transcripts())
def test_a_patch_makes_one_document_of_another(before: Any, after: Any) -> None:
    hub = dialects.get("intermediate")
    one, two = (conversion.lower(transcript, hub).document for transcript in (before, after))
    assert dumped(apply(one, patch(one, two))) == dumped(two)


def test_a_patch_says_the_order_of_keys() -> None:
    before, after = {"a": 1, "b": 2, "c": 3}, {"c": 3, "a": 1, "b": 2}
    assert list(apply(before, patch(before, after))) == ["c", "a", "b"]


def test_a_patch_for_one_new_item_is_one_operation() -> None:
    assert patch([1, 2, 3], [1, 9, 2, 3]) == [{"op": "add", "path": "/1", "value": 9}]
    assert patch([1, 2, 3], [1, 3]) == [{"op": "remove", "path": "/1"}]


def test_a_patch_of_another_document_does_not_fit() -> None:
    with pytest.raises(ContentError) as caught:
        apply({"a": []}, [{"op": "remove", "path": "/b/0"}])
    assert caught.value.code == "patch-does-not-fit"


def test_a_record_that_is_none_is_refused() -> None:
    with pytest.raises(ContentError) as caught:
        restore({}, {"patch": "x"})
    assert caught.value.code == "not-a-restore-file"


def test_two_places_that_share_an_object_change_apart() -> None:
    shared = {"a": 1}
    after = [{"a": 1}, {"a": 2}]
    assert apply([shared, shared], patch([shared, shared], after)) == after
