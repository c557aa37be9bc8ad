"""Finds the path of a transcript's node in the document that it was lifted from.

The lift stores the paths of messages and parts in `Origin.places`; `Dialect.places` gives the paths of fields relative
to their node. A transcript without an origin has the paths of the intermediate format. These are the usual paths;
`existing` returns the one in the given document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from convcli.model.dialect import Dialect
from convcli.model.transcript import APART, OUTSIDE, Origin, Path, Step, Transcript

MOST_WAYS = 4096
"""Fields of a dialect whose paths are remembered."""

WHOLE: dict[str, Path] = {"opaque.value": ()}
"""Fields that are the whole of their node, unless the dialect has another path for them."""


NOWHERE = Origin("")
"""The origin of a transcript that was not lifted. It stays as it is."""


class Places:
    """The paths of one transcript. `source` is the dialect of its document; None if it never had one."""

    __slots__ = (
        "_around",
        "_document",
        "_ends",
        "_named",
        "_node_path",
        "_origin",
        "_routes",
        "_source",
        "_table",
        "_tools",
        "_turns",
        "_unstated",
        "_ways",
    )

    def __init__(self, transcript: Transcript, source: Dialect | None) -> None:
        self._origin, self._source = transcript.origin, source
        origin = transcript.origin or NOWHERE
        self._document, self._named, self._node_path = origin.document, origin.aliases, origin.node_path
        tables = _tables if not self._named else _tables.__wrapped__
        self._around, self._table, self._ways, self._unstated = tables(
            source, origin.dialect, self._document is not None
        )
        self._turns = origin.places if len(origin.places) == len(transcript.messages) else None
        self._tools = origin.tools if len(origin.tools) == len(transcript.tools or ()) else None
        self._routes = origin.routes
        self._ends = sorted(set(map(len, self._routes)), reverse=True) if self._routes else ()

    def message(self, index: int) -> Path:
        """Returns the path of a message."""
        return self._turns[index][0] if self._turns is not None else ("messages", index)

    def whole(self, index: int) -> Path:
        """Returns the path of a message with its surroundings: the list item that has it as a member."""
        place = self.message(index)
        held = len(place) > 1 and isinstance(place[-1], str) and isinstance(place[-2], int)
        return place[:-1] if held else place

    def part(self, index: int, part: int) -> Path:
        """Returns the path of a part of a message."""
        if self._turns is None:
            return ("messages", index, "parts", part)
        place, part_paths = self._turns[index]
        return climb(place, part_paths[part] if part_paths is not None and part < len(part_paths) else self._node_path)

    def inside(self, place: Path, index: int, count: int) -> Path:
        """Returns the path of one of the `count` parts of the result at `place`, if the document has an item for
        each."""
        path = self.field("tool_result.value", place)
        if self._document is None:
            return (*path, index)
        if self._unsupported(path):
            return place
        node: Any = self._document
        for step in self.existing(path):
            node = node[step]
        return (*path, index) if isinstance(node, list) and len(node) == count else place

    def tool(self, index: int) -> Path:
        """Returns the path of a tool definition."""
        return self._tools[index] if self._tools is not None else ("tools", index)

    def steps(self, field: str) -> Path | None:
        """Returns the path of a field relative to its node, if the source has one."""
        return self._table.get(field)

    def field(self, field: str, place: Path, *, present: bool = False) -> Path:
        """Returns the path of a field (`tool_call.name`, `settings.topK`) of the node at `place`.

        `present`: a field that the table does not have gets a path of its own only if the document has it.
        """
        if self._routes and "." in field and (*place, field) in self._routes:
            return (*place, field)
        way = self._ways.get(field) or (None if present else self._unstated.get(field))
        if way is not None:
            up, down = way
            return (*place[:-up], *down) if up else (*place, *down)
        if self._source is None or self._origin is None:
            return (*place, *field.split(".")[1:]) if place else tuple(field.split("."))
        table = self._table
        node, _, name = field.rpartition(".")
        stated = table[field] if field in table else table.get(node, WHOLE.get(field))
        if stated is None and present and self._document is not None:
            return self.climb(place, self._present(place, name))
        steps = stated if stated is not None else () if self._document is None else (name,)
        ways = self._unstated if stated is None else self._ways  # it may have the same name: `existing` checks
        if len(ways) >= MOST_WAYS:  # keys of users are fields too
            ways.clear()
        ways[field] = _up_and_down(self._in_source(steps))
        return self.climb(place, steps)

    def _present(self, place: Path, name: str) -> Path:
        """Returns the step to a field, by the name that the document has for it; no step if it has none."""
        usual = (*place, name)
        there, routed = self.existing(usual), self.routed(usual)
        if len(there) < len(routed):
            return ()
        return (
            there[-1:] if routed == usual else (name,)
        )  # the name may be in snake case; a routed field has the usual one

    def member(self, field: str, key: str, place: Path) -> Path:
        """Returns the path of a member of a field: from the table, else inside the field."""
        name = f"{field}.{key}"
        if self._source is None or self._origin is None or name in self._table:
            return self.field(name, place)
        return (*self.field(field, place), key)

    def climb(self, place: Path, steps: Path) -> Path:
        """Appends `steps` to `place`, by the names that the source has for them."""
        return climb(place, self._in_source(steps))

    def _in_source(self, steps: Path) -> Path:
        if not self._named:  # in nearly all documents
            return steps
        return tuple(self._named.get(step, step) if isinstance(step, str) else step for step in steps)

    def extras(self, dialect: str, key: str, place: Path, present: bool) -> Path:
        """Returns the path of a key of extras. The source's own keys are where they were; another dialect's have no
        path of their own, unless the document has an answer of it."""
        if self._source is None or self._origin is None:
            return (*place, "extras", dialect, key)
        if self._routes and (named := (*place, f"extras.{dialect}.{key}")) in self._routes:
            return named
        if "extras" in self._table and not self._source.owns(dialect):
            return (*place, "extras", dialect, key)
        if not present:
            return place
        if not self._source.owns(dialect):
            return self._of_answer(key, place) or place
        steps = self._table.get(f"extras.{key}")
        return self._key(dialect, key, place) if steps is None else self.climb(place, steps)

    def _of_answer(self, key: str, place: Path) -> Path | None:
        """Returns the path of another dialect's key; None if the node has none."""
        path = (*place, key)
        return None if self._document is None or self._unsupported(path) else path

    def _key(self, dialect: str, key: str, place: Path) -> Path:
        """Returns the path of a key of an object, which may be around the node."""
        place = (OUTSIDE, *place) if dialect == self._around else place
        inside, other_keys = (*place, key), (*place[:-1], key)
        is_free_key = (
            self._document is not None and place and self._unsupported(inside) and not self._unsupported(other_keys)
        )
        return other_keys if is_free_key else inside

    def _unsupported(self, place: Path) -> bool:
        place = self.routed(place)
        return len(self.present(place)) < len(place)

    def group(self, dialect: str, key: str, place: Path, members: Iterable[str]) -> Path | None:
        """Returns the path of an object whose members are stored under a key of extras; None if the key is not such a
        group.

        The rest of an object, whose other members are fields, is a group too.
        """
        if self._source is None or self._document is None:
            return None
        members = list(members)
        if not self._source.owns(dialect):
            path = self._of_answer(key, place)
            return None if path is None else self._rest(path, members)
        if key == APART and members:
            return self._key(dialect, members[0], place)[:-1]
        rest = self._rest(self.extras(dialect, key, place, present=True), members)
        if rest is not None:
            return rest
        steps = self._table.get(f"extras.{key}")
        if steps is None or not (set(steps) == {".."} or steps == place == ()):
            return None
        path = self.climb(place, steps)
        return None if all(self._unsupported((*path, member)) for member in members) else path

    def _rest(self, place: Path, members: list[str]) -> Path | None:
        """Returns the path if it has an object with all of these members and others, there or in other events."""
        route = self.routed(place)
        there = self.present(route)
        if len(there) < len(route):
            return None
        node: Any = self._document
        for step in there:
            node = node[step]
        if not members or not isinstance(node, dict):
            return None
        routes = self._routes
        is_here = not routes or all(routes.get((*place, one), (*route, one))[:-1] == route for one in members)
        if is_here and len(node) <= len(members):
            return None
        if not routes and node.keys() >= {*members}:  # a routed key need not be at its own path
            return place
        return None if any(self._unsupported((*place, one)) for one in members) else place

    def routed(self, place: Path) -> Path:
        """Translates a path in the assembled document to one in the original document."""
        for end in self._ends:
            route = self._routes.get(place[:end])
            if route is not None:
                return (*route, *place[end:])
        return place

    def existing(self, place: Path, *, invented: bool = False, is_routed: bool = False) -> Path:
        """Returns the part of a path that the document has: the node, or the innermost node around it if it is absent.

        If a key was `invented` for an existing object, it is absent and may still be the end of the path. `is_routed`:
        the path is one in the original document already.
        """
        if self._routes and not is_routed:
            place = self.routed(place)
        node = self._document
        if node is None:
            return place
        try:
            for step in place:
                if node.__class__ is str:  # an index would lead to a character
                    return self._nearest(place, invented)
                node = node[step]
        except (LookupError, TypeError):
            return self._nearest(place, invented)
        return place

    def present(self, place: Path) -> Path:
        """Same as `existing`, for a path in the original document."""
        return self.existing(place, is_routed=True)

    def _nearest(self, place: Path, invented: bool) -> Path:
        node: Any = self._document
        steps: list[Step] = []
        for step in place:
            known = _known(node, step)
            if known is None:
                break
            node = node[known]
            steps.append(known)
        if invented and isinstance(node, dict) and len(steps) == len(place) - 1:
            steps.append(place[-1])
        return tuple(steps)


class _Tables(NamedTuple):
    """What the paths of all documents of a dialect have in common: `around` is its name, if they have a body of
    another dialect; `paths` are those of fields. `ways` has for each field the number of steps up from its node, and
    the steps from there; `unstated` has them for other fields, which may have their own name in the document."""

    around: str | None
    paths: Mapping[str, Path]
    ways: dict[str, tuple[int, Path]]
    unstated: dict[str, tuple[int, Path]]


@lru_cache(maxsize=1024)
def _tables(source: Dialect | None, inner: str, has_document: bool) -> _Tables:
    """Returns the tables of the documents of a dialect whose body is of the dialect `inner`. Not for one document with
    its own names of keys."""
    body = source.inner.get(inner) if source is not None else None
    if source is None or body is None:
        return _Tables(None, source.places if source is not None else {}, {}, {})
    paths = {**body.places, **{field: (OUTSIDE, *steps) for field, steps in source.places.items()}}
    return _Tables(source.name, paths, {}, {})


def _known(node: Any, step: Step) -> Step | None:
    """Returns the step as the node spells it, possibly in snake case; None if it leads nowhere."""
    if isinstance(node, dict):
        return next((name for name in (step, _snake(str(step))) if name in node), None)
    if isinstance(node, list) and str(step).isdecimal() and int(step) < len(node):
        return int(step)
    return None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda match: "_" + match[0], name).lower()


@lru_cache(maxsize=1024)
def _up_and_down(steps: Path) -> tuple[int, Path]:
    """Returns the number of steps up before any step down, and the remaining steps down."""
    up, down = 0, list[Step]()
    for step in steps:
        if step != "..":
            down.append(step)
        elif down:
            down.pop()
        else:
            up += 1
    return up, tuple(down)


def climb(place: Path, steps: Path) -> Path:
    """Returns `place` followed by `steps`, where `..` removes one step."""
    if ".." not in steps:
        return (*place, *steps)
    for step in steps:
        place = place[:-1] if step == ".." else (*place, step)
    return place
