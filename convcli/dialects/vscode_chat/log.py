"""The mutation log of a VS Code chat: rows that state a document, and set, extend and delete parts of it.

Specification: `ObjectMutationLog` of microsoft/vscode, `chat/common/model/objectMutationLog.ts` at 047238f9; read
2026-11-27.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convcli.kit.objects import Native, has_content
from convcli.kit.streams import keep_other
from convcli.model.transcript import Path, Step

STATE, SET, PUSH, DELETE = range(4)
"""The kinds of rows."""
KEYS = {"kind", "k", "v", "i"}
REQUESTS, ROWS = "requests", "rows"
"""The key of the requests; the key under which the document keeps other keys of rows."""


class _Source:
    """Where a value of the document was stated: the path of a row's value, None if with the value around it."""

    __slots__ = ("members", "place")

    def __init__(self, place: Path | None = None) -> None:
        self.place = place
        self.members: dict[Step, _Source] = {}

    def routes(self, path: Path = ()) -> Iterator[tuple[Path, Path]]:
        """Yields the path of each value in the document, with its path in the log."""
        if self.place is not None:
            yield path, self.place
        for step, member in self.members.items():
            yield from member.routes((*path, step))


class ReplayedLog:
    """The document that the rows of a log add up to.

    `unapplied` are the indexes of rows that change nothing, because what they name is missing. An object keeps earlier
    values of its keys under `former`, unless the later value repeats them, as a text does that grows.
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        self.document: Native = {}
        self.unapplied: list[int] = []
        self._source: _Source | None = None
        others: list[Native] = []
        for at, row in enumerate(rows):
            if not (isinstance(row, dict) and self._apply(row, at)):
                self.unapplied.append(at)
            elif not row.keys() <= KEYS:
                others.append({key: row[key] for key in row if key not in KEYS})
        if others:
            self.document[ROWS] = others

    @property
    def routes(self) -> dict[Path, Path]:
        """The paths of values in the document, with those in the log. A longer path counts before a shorter one."""
        return {} if self._source is None else dict(self._source.routes())

    def place(self, path: Path) -> Path:
        """Returns the path in the log of a value in the document."""
        source, place, rest = self._source, path, path
        for step in path:
            if source is not None and source.place is not None:
                place = (*source.place, *rest)
            source, rest = (source.members.get(step) if source is not None else None), rest[1:]
        return place if source is None or source.place is None else source.place

    def _apply(self, row: Native, at: int) -> bool:
        """Applies a row; False if it cannot be applied."""
        kind, path, value = row.get("kind"), row.get("k"), row.get("v")
        if kind == STATE:
            return self._begin(value, at)
        if self._source is None or not isinstance(path, list) or not path or not all(map(_is_step, path)):
            return False
        way = self._way(path)
        if way is None or not _may_be(path, value):
            return False
        if kind == PUSH:
            return self._push(way, path[-1], row, at)
        is_deleted = kind == DELETE or "v" not in row
        return self._delete(way, path[-1]) if is_deleted else kind == SET and self._set(way, path[-1], value, at)

    def _begin(self, state: Any, at: int) -> bool:
        if not isinstance(state, dict) or not _are_objects(state.get(REQUESTS)):
            return False
        before, self.document = self.document, _copied(state)
        _keep_former(self.document, "", before, state)
        self._source = _Source((at, "v"))
        return True

    def _way(self, path: list[Step]) -> list[tuple[Any, _Source]] | None:
        """Returns the containers on the way to the last step, with their sources; None if one is missing."""
        assert self._source is not None
        way: list[tuple[Any, _Source]] = [(self.document, self._source)]
        for step in path[:-1]:
            value, source = way[-1]
            value = _member(value, step)
            if not isinstance(value, (dict, list)):
                return None
            way.append((value, source.members.setdefault(step, _Source())))
        value, source = way[-1]
        return way if isinstance(path[-1], str if isinstance(value, dict) else int) else None

    def _set(self, way: list[tuple[Any, _Source]], step: Any, value: Any, at: int) -> bool:
        container, source = way[-1]
        if isinstance(container, list) and step > len(container):
            return False
        _keep_former_on(way, step, _member(container, step), value)
        source.members[step] = _Source((at, "v"))
        if isinstance(container, dict):
            container[step] = _copied(value)
        else:
            container[step : step + 1] = [_copied(value)]
        return True

    def _delete(self, way: list[tuple[Any, _Source]], step: Any) -> bool:
        container, source = way[-1]
        if not isinstance(container, dict) or step not in container:
            return False
        _keep_former_on(way, step, container.pop(step), None)
        source.members.pop(step, None)
        return True

    def _push(self, way: list[tuple[Any, _Source]], step: Any, row: Native, at: int) -> bool:
        container, source = way[-1]
        values, items = row.get("v") or [], _member(container, step)
        if items is None and isinstance(container, dict):
            items = container[step] = []
            source.members[step] = _Source((at, "v"))
        if not isinstance(values, list) or not isinstance(items, list):
            return False
        start: Any = row.get("i", len(items))
        if type(start) is not int or not 0 <= start <= len(items):
            return False
        _keep_former_on(way, step, items[start:], values)
        known = source.members.setdefault(step, _Source()).members
        for index in range(start, len(items)):
            known.pop(index, None)
        known |= {start + number: _Source((at, "v", number)) for number in range(len(values))}
        del items[start:]
        items.extend(map(_copied, values))
        return True


def _is_step(value: Any) -> bool:
    return isinstance(value, str) or (type(value) is int and value >= 0)


def _member(container: Any, step: Any) -> Any:
    """Returns a member of an object or list; None if there is none."""
    if isinstance(container, dict):
        return container.get(step)
    is_known = isinstance(container, list) and type(step) is int and step < len(container)
    return container[step] if is_known else None


def _may_be(path: list[Step], value: Any) -> bool:
    """True unless the row makes the requests something else than a list of objects."""
    if path[0] != REQUESTS or len(path) > 2:
        return True
    return _are_objects(value if len(path) == 1 else [value])


def _are_objects(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(item, dict) for item in value))


def _copied(value: Any) -> Any:
    """Returns a copy of a JSON value, in which rows can change objects and lists."""
    if isinstance(value, dict):
        return {key: _copied(member) for key, member in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------- earlier values


def _keep_former_on(way: list[tuple[Any, _Source]], step: Step, before: Any, after: Any) -> None:
    """Keeps an earlier value in the innermost object on the way to it."""
    _keep_former(next(value for value, _ in reversed(way) if isinstance(value, dict)), str(step), before, after)


def _keep_former(owner: Native, key: str, before: Any, after: Any) -> None:
    if not _repeats(after, before):
        keep_other(owner, key, before)


def _repeats(after: Any, before: Any) -> bool:
    """True if a value contains an earlier one: texts and lists grow."""
    if not has_content(before) or before == after:
        return True
    if isinstance(before, str):
        return isinstance(after, str) and after.startswith(before)
    if isinstance(before, dict):
        return isinstance(after, dict) and all(_repeats(after.get(key), before[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        return all(map(_repeats, after, before))
    return False
