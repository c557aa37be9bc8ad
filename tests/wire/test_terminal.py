"""JSON for a terminal has the same value, and nothing that the terminal would obey."""

from __future__ import annotations

import json

from convcli.wire.terminal import json_escaped, shown

UNSAFE = "\u009b31m \x85 \x7f \u202e \u200b \U000e0041 東"


def test_unsafe_characters_become_escapes_of_json() -> None:
    text = json_escaped(json.dumps(UNSAFE, ensure_ascii=False))
    assert not set(text) & set(UNSAFE) - set(" 31m東")
    assert json.loads(text) == UNSAFE


def test_a_character_may_be_split_between_two_pieces() -> None:
    data = json.dumps(UNSAFE, ensure_ascii=False).encode()
    pieces = [data[at : at + 1] for at in range(len(data))]
    assert b"".join(shown(pieces)) == b"".join(shown([data])) == json_escaped(data.decode()).encode()
