"""Remembered shapes against the full conversion, over texts, ids of 1 to 200 characters and numbers of every kind."""

from __future__ import annotations

import pytest

from tests import memo_long, tiers


@pytest.mark.parametrize("seed", tiers.few(range(1, 60), 2))
def test_l7_holds_for_values_of_every_kind(seed: int) -> None:
    memo_long.compare(seed, 300)


@pytest.mark.parametrize("pair", [("ollama", "openai-chat"), ("anthropic-batch", "ollama")])
def test_most_of_these_documents_are_made_from_a_remembered_shape(pair: tuple[str, str]) -> None:
    assert memo_long.compare(1, 150, pair).remembered > 75
