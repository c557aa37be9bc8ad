"""Values of a function that are kept: asked once, and only so many."""

from __future__ import annotations

from convcli.model.caches import Cached


def test_a_function_is_asked_once_for_each_value_until_there_are_too_many() -> None:
    asked = list[int]()

    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    cached = Cached(double, most=2)
    assert [cached[number] for number in (1, 1, 2, 1, 2)] == [2, 2, 4, 2, 4]
    assert asked == [1, 2]
    assert cached[3] == 6
    assert (dict(cached), asked) == ({3: 6}, [1, 2, 3]), "the others are forgotten"
