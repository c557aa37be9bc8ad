"""The final object of what arrived in the events of a stream before it, with what the final one lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convcli.kit.objects import Native, has_content, omit
from convcli.kit.streams import FORMER, is_same, keep_former, keep_other, restate

STATUS = "status"
GROWN = ("text", "refusal", "arguments", "input", "code")
"""The keys of texts, which grow and are repeated when they are whole."""
PARTS = ("content", "summary")
"""The lists of parts, which keep their other values themselves."""


def settle(before: Mapping[str, Any], final: Mapping[str, Any]) -> Native:
    """Returns the final object of what arrived in events before, with the keys, items and texts that it lacks.

    What it states otherwise is among its other values, unless that is a status.
    """
    settled = {**final, **omit(before, *final)}
    if FORMER in before and FORMER in final:
        settled[FORMER] = before[FORMER]
        restate(settled, FORMER, final[FORMER])
    for key in (key for key in final if key in before and key not in (STATUS, FORMER)):
        previous, last = before[key], final[key]
        if key in GROWN and isinstance(last, str):
            keep_former(settled, key, previous)
        elif key in PARTS and _are_objects(previous) and _are_objects(last):
            settled[key] = _settle_parts(settled, key, previous, last)
        else:
            settled[key], is_whole = _filled(previous, last)
            if not is_whole:
                keep_other(settled, key, previous)
    return settled


def _filled(before: Any, final: Any) -> tuple[Any, bool]:
    """Returns the final value with the keys that it lacks, and whether it then has everything of the value before."""
    if final is None or not has_content(before):
        return before if final is None else final, True
    if isinstance(before, dict) and isinstance(final, dict):
        pairs = {key: _filled(before.get(key), value) for key, value in final.items() if key != STATUS}
        filled = {**final, **{key: value for key, (value, _) in pairs.items()}, **omit(before, *final)}
        return filled, all(is_whole for _, is_whole in pairs.values())
    if isinstance(before, list) and isinstance(final, list) and len(before) <= len(final):
        items = [_filled(*pair) for pair in zip(before, final, strict=False)]
        return [*(value for value, _ in items), *final[len(before) :]], all(is_whole for _, is_whole in items)
    return final, is_same(before, final)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _settle_parts(owner: Native, key: str, before: list[Native], final: list[Native]) -> list[Native]:
    """Returns the final parts with what they lack. Lists of one length have the same parts; otherwise a part is the
    first final one with its texts."""
    if len(before) == len(final):
        return [settle(previous, last) for previous, last in zip(before, final, strict=True)]
    settled = list(final)
    for i, previous in enumerate(before):
        twin = next((at for at, last in enumerate(final) if _is_twin(previous, last, is_here=at == i)), None)
        if twin is not None:
            others = {key: value for key, value in previous.items() if key not in GROWN or not isinstance(value, str)}
            settled[twin] = settle(others, settled[twin])
        elif any(text not in _text_of(final) for text in _texts(previous)):
            settled.append(previous)
        elif omit(previous, "type", *GROWN):
            keep_other(owner, key, previous)
    return settled


def _is_twin(previous: Native, last: Native, *, is_here: bool) -> bool:
    """True if the final part has the texts of the previous one; without a text, if it is the part at its index."""
    texts = _texts(previous)
    is_same_type = previous.get("type") == last.get("type")
    return is_same_type and (all(text in _text_of([last]) for text in texts) if texts else is_here)


def _texts(part: Native) -> list[str]:
    return [part[key] for key in GROWN if isinstance(part.get(key), str)]


def _text_of(parts: list[Native]) -> str:
    return "\n".join(text for part in parts for text in _texts(part))
