"""What the Gemini API and Vertex AI share: the case of keys, the name under which both carry facts, and contexts.

Both say the same things in the same words but for a few; what only Google can say rides in `extras` under the name of
the family, so that it goes from one to the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from convcli.fields import Keys, Native, Spelling, carried_by
from convcli.pairing import LETTERS, WORD, Pairing, Renaming, tool_names
from convcli.transcript import Extras, Origin, Transcript

FAMILY = "google"
"""The owner of extras and of opaque parts of both dialects."""

CHOICE = "choice_"
"""How the ids begin that the candidates of one response get."""

INNER_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Shape:
    """The keys of one kind of object, which may be written in snake case too: then that is its spelling."""

    __slots__ = ("_camel", "_keys", "known")

    def __init__(self, order: str, *, carried: str = "") -> None:
        self._keys = Keys(order, carried=carried)
        self.known = frozenset(order.split())
        self._camel = {snake(key): key for key in self.known if snake(key) != key}

    def camel(self, native: Native) -> tuple[Native, list[str]]:
        """The object in camel case, and the keys that were not; a key that stands there in both cases keeps its own."""
        if self._camel.keys().isdisjoint(native):
            return native, []
        renamed = {key: self._camel[key] for key in native if key in self._camel and self._camel[key] not in native}
        return {renamed.get(key, key): value for key, value in native.items()}, list(renamed.values())

    def take(self, native: Native, *, whole: Iterable[str] = ()) -> tuple[Native, Native, Spelling]:
        """The object in camel case, what must be carried, and how it was spelled.

        Of the keys in `whole` it is remembered when they are not there.
        """
        native, snakes = self.camel(native)
        carried, spelling = self._keys.take(native)
        spelling = dict(spelling or {})
        if any(key not in native for key in whole):
            spelling.setdefault("keys", list(native))
        if snakes:
            spelling["snake"] = snakes
        return native, carried or {}, spelling

    def ordered(self, native: Native) -> Native:
        """The object in Google's order."""
        return {key: native[key] for key in self._keys.sorted(native)}

    def put(self, native: Native, carried: Native, spelling: Spelling) -> Native:
        """The object as Google writes it, or as it was spelled."""
        native = self._keys.put(native, carried, spelling)
        snakes = spelling.get("snake", ())
        return {snake(key) if key in snakes else key: value for key, value in native.items()} if snakes else native


def snake(key: str) -> str:
    """`functionCall` as `function_call`."""
    return INNER_CAPITAL.sub("_", key).lower()


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


class Flavor(NamedTuple):
    """Where the two dialects differ.

    `lacks`: keys of the other one, `functionCall.x` for one that stands in that object. `models`: how the name of a
    model begins. `names`: the longest name of a function. `subset`: whether a definition is written as the OpenAPI
    subset `parameters`, or as the JSON Schema that it is.
    """

    name: str
    models: str
    names: int
    subset: bool
    lacks: frozenset[str]


class Reader:
    """What the lifts of one document share."""

    __slots__ = ("flavor", "origin", "pairing")

    def __init__(self, flavor: Flavor, origin: Origin, document: Any) -> None:
        self.flavor, self.origin, self.pairing = flavor, origin, Pairing(document)
        origin.invented = self.pairing.invented

    def take(self, shape: Shape, native: Native, *, whole: Iterable[str] = ()) -> tuple[Native, Native, Spelling]:
        """`Shape.take`; where the source writes keys in snake case is also needed to say where they stand."""
        native, carried, spelling = shape.take(native, whole=whole)
        for key in spelling.get("snake", ()):
            self.origin.renamed.setdefault(key, snake(key))
        return native, carried, spelling


class Writer:
    """What the lowers of one transcript share. `own`: the same dialect lifted it, so it is written as it was."""

    __slots__ = ("flavor", "made_up", "own", "rename", "spellings")

    def __init__(self, flavor: Flavor, transcript: Transcript) -> None:
        origin = transcript.origin
        self.flavor = flavor
        self.own = origin is not None and origin.dialect == flavor.name
        self.spellings = transcript.spelling(flavor.name)
        invented = origin.invented if origin is not None else ()
        self.made_up = {id_ for id_ in invented if not id_.startswith(CHOICE)}
        allowed = WORD + ".:-"
        names = () if self.own else tool_names(transcript)
        self.rename = Renaming(names, allowed, flavor.names, first=LETTERS + "_")

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def carried(self, extras: Extras | None, shape: Shape, place: str = "") -> Native:
        """What rides in the extras of a record and can be written in an object of this shape."""
        carried = carried_by(extras, FAMILY)
        return self.known(carried, shape, place) if carried else carried

    def known(self, carried: Native, shape: Shape, place: str = "") -> Native:
        """Everything where it comes from; from a relative only what this dialect knows."""
        if self.own:
            return carried
        lacks = self.flavor.lacks
        return {
            key: value
            for key, value in carried.items()
            if key in shape.known and key not in lacks and f"{place}.{key}" not in lacks
        }


def extras_of_family(*carried: Native) -> Extras | None:
    """Extras of the family, merged; None where there are none."""
    merged = {key: value for native in carried for key, value in native.items()}
    return {FAMILY: merged} if merged else None


def listed(value: Any) -> tuple[list[Any], Spelling]:
    """A repeated field: Google also takes a single object, which is then its spelling."""
    return ([value], {"single": True}) if isinstance(value, dict) else (value or [], {})


def unlisted(values: list[Any], spelling: Spelling) -> Any:
    """The inverse of `listed`."""
    return values[0] if spelling.get("single") and len(values) == 1 else values
