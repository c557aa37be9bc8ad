"""Final objects: what arrived before them is not lost."""

from __future__ import annotations

from convcli.kit.finals import settle


def test_a_final_object_has_what_it_lacks_of_the_one_before_and_the_rest_is_kept() -> None:
    before = {
        "status": "in_progress",
        "k": "x",
        "only": 1,
        "action": {"q": "a", "u": 1},
        "content": [{"type": "t", "text": "Hi"}, {"type": "t", "text": "gone"}, {"type": "t", "text": "H", "k": 1}],
    }
    final = {"status": "done", "k": "y", "action": {"q": "a"}, "content": [{"type": "t", "text": "Hi."}]}
    assert settle(before, final) == {
        "status": "done",
        "k": "y",
        "only": 1,
        "action": {"q": "a", "u": 1},
        "content": [{"type": "t", "text": "Hi.", "k": 1}, {"type": "t", "text": "gone"}],
        "former": {"k": ["x"]},
    }
