"""The card of a data set."""

from __future__ import annotations

import pytest

from convcli.report.card import size_category


@pytest.mark.parametrize(
    ("rows", "category"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (123_456, "100K<n<1M"),
        (10**11, "100B<n<1T"),
        (10**12, "n>1T"),
    ],
)
def test_the_category_of_a_size_is_one_of_the_hub(rows: int, category: str) -> None:
    assert size_category(rows) == category
