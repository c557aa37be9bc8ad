"""Finds the values of a document that its table does not explain: neither as content nor as metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.kit.codec.layout import LogLayout
from convcli.kit.codec.objects import ReadKeys, value_at
from convcli.kit.codec.reading import ROW
from convcli.kit.objects import Native, get_extras
from convcli.model.transcript import Message, Opaque, PartPaths, Path, Transcript


def unexplained(layout: LogLayout, transcript: Transcript) -> Iterator[tuple[Path, Any]]:
    """Yields the paths and values that the table does not explain: other keys, and rows that are not messages."""
    origin = transcript.origin
    assert origin is not None, "the transcript was lifted"
    for path, value in _keys(layout, get_extras(transcript.extras, layout.owner), (), layout.whole.tree):
        yield (*origin.routes.get(path[:1], path[:1]), *path[1:]), value
    for message, (path, places) in zip(transcript.messages, origin.places, strict=True):
        if message.role == "event":
            yield from _event(layout, message, path)
        else:
            yield from _message(layout, message, path, places)


def _event(layout: LogLayout, message: Message, path: Path) -> Iterator[tuple[Path, Any]]:
    part = message.parts[0]
    if not isinstance(part, Opaque):
        return
    words = [value_at(part.value, key) for key, _ in layout.where]
    words += [value_at(value_at(part.value, layout.object or ()), layout.role)] if layout.role else []
    if not any(isinstance(word, str) and word in layout.table.metadata for word in words):
        yield path, part.value


def _message(layout: LogLayout, message: Message, path: Path, places: PartPaths) -> Iterator[tuple[Path, Any]]:
    extra = get_extras(message.extras, layout.owner)
    if layout.object and ROW in extra:
        yield from _keys(layout, extra[ROW], path[: -len(layout.object)], layout.row_tree)
        extra = {key: value for key, value in extra.items() if key != ROW}
    yield from _keys(layout, extra, path, layout.result_tree if message.role == "tool" else layout.tree)
    tree = layout.call.tree if layout.call is not None else ReadKeys({})
    for part, place in zip(message.parts, places or (), strict=False):
        if isinstance(part, Opaque):
            yield (*path, *place), part.value
        else:
            yield from _keys(layout, get_extras(part.extras, layout.owner), (*path, *place), tree)


def _keys(layout: LogLayout, extra: Native, path: Path, tree: ReadKeys) -> Iterator[tuple[Path, Any]]:
    for key, value in extra.items():
        below = tree.below.get(key)
        if key in layout.table.metadata:
            continue
        if below is not None and isinstance(value, dict):
            yield from _keys(layout, value, (*path, key), below)
        else:
            yield (*path, key), value
