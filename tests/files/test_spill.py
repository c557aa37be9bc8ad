"""Sets and orders in a temporary file."""

from __future__ import annotations

from convcli.files.spill import DigestSet, ShuffledLines

LINES = [f"{number}\n".encode() for number in range(50)]


def test_a_digest_is_new_once() -> None:
    digests = DigestSet()
    assert [digests.add(word) for word in (b"a", b"b", b"a")] == [True, True, False]
    assert b"a" in digests
    assert b"c" not in digests


def shuffled(seed: int, lines: list[bytes]) -> list[bytes]:
    order = ShuffledLines(seed)
    for line in lines:
        order.add(line)
    return list(order)


def test_an_order_depends_on_the_seed_and_the_lines_only() -> None:
    order = shuffled(1, LINES)
    assert sorted(order) == sorted(LINES)
    assert order not in (LINES, LINES[::-1])
    assert shuffled(1, LINES[::-1]) == order
    assert shuffled(2, LINES) != order


def test_equal_lines_all_stay() -> None:
    assert shuffled(1, [b"a\n", b"b\n", b"a\n"]).count(b"a\n") == 2
