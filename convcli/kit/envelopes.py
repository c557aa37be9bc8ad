"""Envelopes: which keys of an object are fields of a record, and which are extras; both directions are generated.

An envelope is the table of one kind of object: a header, a row, a message, a block. From it follow lift, write, key
order, extras, places and what is supported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from convcli.kit.codec.code import define
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import NOTHING, Keys, Native, Record, as_text, get_extras, omit, together
from convcli.kit.settings import Setting, field_values, places_of, same
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Message, Part, Path, camel
from convcli.wire import exact_json

Fields = Mapping[str, str | Setting]
"""The field of each key, by name if it is a nonempty string."""


class Nested(Protocol):
    """An object in another one, with fields of the same record."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of these fields in the record."""

    def lift(self, native: Native, record: Any) -> Native | None:
        """Sets the fields of the record. Returns the extras."""

    def write(self, record: Any, extra: Native) -> Native:
        """Returns the object, with its extras."""

    def places(self, node: str, *above: str) -> dict[str, Path]:
        """Returns the paths of the fields, by their names in losses."""


class Envelope:
    """The keys of a header, row, message or part: fields of the record that it becomes, and the rest.

    `table` is all keys in the vendor's order: `timestamp=created_at` is a field, `type=` is read by the dialect itself,
    and any other key is an extra. A field is a nonempty string; other values are extras.

    `fields` has a Setting for each key whose value the two sides write differently. Where tables share their keys, it
    also maps keys to fields, and `content` names those that the dialect reads itself. `nested` are objects with fields
    of the same record. `groups` are names in the extras of the record, as those of `Keys`.
    """

    __slots__ = ("_content", "_fields", "_known", "_names", "_nested", "_write", "fields", "keys", "lift")

    def __init__(
        self,
        table: str,
        fields: Fields | None = None,
        *,
        content: str = "",
        nested: Mapping[str, Nested] | None = None,
        groups: str = "",
    ) -> None:
        words = [word.partition("=") for word in table.split()]
        named = {key: field for key, _, field in words if field}
        if fields and not named.keys().isdisjoint(fields):
            raise ValueError("a key has one field, in the table or in `fields`")
        stated: dict[str, str | Setting] = {**named, **(fields or {})}
        self._nested = dict(nested or {})
        self._content = ({key for key, sign, _ in words if sign} | set(content.split())) - stated.keys()
        order = [key for key, _, _ in words]
        self._known = frozenset((self._content | stated.keys() | self._nested.keys()).intersection(order))
        self.keys = Keys(order, known=self._known, groups=groups)
        self._fields = tuple(_field(key, one) for key, one in stated.items())
        self._names = tuple(stated)
        inner = (field for one in self._nested.values() for field in one.fields)
        self.fields = tuple(dict.fromkeys((*(field.name for field in self._fields), *inner)))
        """The fields of the record, those of nested objects included."""
        self.lift: Callable[..., Native | None] = self._define_lift
        """Sets the fields of a record from an object. Returns the extras, in the order in which they will be written,
        except those with the value that is `usual`: the third argument, an object."""
        self._write: Callable[[Any, Native], Native] = self._define_write

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that the table states, in the vendor's order."""
        return tuple(dict.fromkeys((*self.keys.names, *self._names, *self._nested)))

    def write(self, record: Record, extra: Native | None = None, **content: Any) -> Native:
        """Returns the object, in the vendor's order. The extra value of a field is used only if it still means the
        same."""
        if not extra and content.keys() <= self._content:
            return self._write(record, content)
        native: Native = omit(together(extra), *self._names, *self._nested) if extra else {}
        for key, value in zip(self._names, field_values(record, self._fields, extra or {}), strict=True):
            if value is not None:
                native[key] = value
        for key, nested in self._nested.items():
            inner = nested.write(record, (extra or {}).get(key, {}))
            if inner:
                native[key] = inner
        return self.keys.ordered({**native, **content})

    def fits(self, message: Message) -> Message:
        """Returns the message with only the fields that come back when they are written."""
        fitted = Message(message.role, message.parts, extras=message.extras)
        self.lift(self.write(message), fitted)
        return message if fitted == message else fitted

    def places(self, node: str = "", *above: str) -> dict[str, Path]:
        """Returns the paths of the fields, those in nested objects included, by their names in losses.

        `node` is the kind of the record (`message`), empty for the transcript; `above` leads from it to the object.
        """
        places = places_of(self._fields, node, above)
        for key, nested in self._nested.items():
            places |= nested.places(node, *above, key)
        return places

    def supports(self, node: str = "") -> frozenset[str]:
        """Returns the names of the fields, those of nested objects included."""
        return frozenset(f"{node}.{camel(name)}".removeprefix(".") for name in self.fields)

    # ------------------------------------------------------------ generated functions

    def reader(self, blank: Part, owner: str) -> Callable[[Native, LiftContext], Part]:
        """Returns the function that lifts an object to a part, with the owner's extras; `blank` is the part of an empty
        object."""
        body = ["    record = blank.__copy__()", *self._lift_lines("record.extras = {owner: rest}")]
        source = "\n".join(["def read(native, context):", *body, "    return record", ""])
        read: Callable[[Native, LiftContext], Part] = define(
            "read", source, f"{owner} {blank.type}", blank=blank, owner=owner, usual=NOTHING, **self._used()
        )
        return read

    def writer(self, owner: str, constants: Mapping[str, Any] | None = None, *content: str) -> Callable[..., Native]:
        """Returns the function that writes a record, and the values of the `content` keys, as an object with these
        constants and the owner's extras. A constant of a key that may be an extra gives way to one."""
        constants = constants or {}

        def with_extras(record: Any, *values: Any) -> Native:
            extra = get_extras(record.extras, owner)
            usual = {key: value for key, value in constants.items() if key in self._known or key not in extra}
            return self.write(record, extra, **usual, **dict(zip(content, values, strict=True)))

        arguments = ", ".join(["record", *(f"content_{i}" for i in range(len(content)))])
        values = {key: repr(value) for key, value in constants.items()}
        values |= {key: f"content_{i}" for i, key in enumerate(content)}
        head = [f"def write({arguments}):", "    if record.extras is not None and owner in record.extras:"]
        head += [f"        return with_extras({arguments})"]
        if content and self.fields:
            stated = ", ".join(f"{key!r}: {values[key]}" for key in self.names if key in values)
            head += [f"    if {' and '.join(f'record.{name} is None' for name in self.fields)}:"]
            head += [f"        return {{{stated}}}  # most records"]
        source = "\n".join([*head, *self._write_lines(values), ""])
        write: Callable[..., Native] = define(
            "write", source, f"{owner} {constants}", owner=owner, with_extras=with_extras, **self._used()
        )
        return write

    def _define_lift(self, native: Native, record: Any, usual: Native = NOTHING) -> Native | None:
        head = "def lift(native, record, usual=nothing):"
        source = "\n".join([head, *self._lift_lines("return rest"), "    return None", ""])
        self.lift = define("lift", source, " ".join(self.names), nothing=NOTHING, **self._used())
        return self.lift(native, record, usual)

    def _define_write(self, record: Any, content: Native) -> Native:
        source = "\n".join(["def write(record, content):", *self._write_lines(), ""])
        self._write = define("write", source, " ".join(self.names), **self._used())
        return self._write(record, content)

    def _used(self) -> dict[str, Any]:
        """Returns the names that generated functions use."""
        each = {f"{way}_{i}": getattr(field, way) for i, field in enumerate(self._fields) for way in ("lift", "write")}
        nested = enumerate(self._nested.values())
        inner = {f"nested_{i}": one for i, one in nested}
        return {**each, **inner, "known": self._known, "rest_of": self._rest, "exact": exact_json.exact}

    def _rest(self, native: Native, usual: Native, kept: tuple[str, ...], inner: Native | tuple[()]) -> Native | None:
        """Returns the extras: unknown keys without their `usual` value, keys that are `kept` though they have a field,
        and those of objects."""
        extra = self.keys.extra(native, usual)
        if kept:
            extra = {**(extra or {}), **{key: native[key] for key in kept}}
        extra = self.keys.ordered(extra) if extra else None
        return {**(extra or {}), **inner} if inner else extra

    def _lift_lines(self, use: str) -> list[str]:
        """Returns the lines that set the fields of `record` from `native`, and do `use` with the extras if there are
        any, except `usual` ones."""
        lines = ["    kept, inner = (), {}" if self._nested else "    kept = inner = ()"]
        for i, field in enumerate(self._fields):
            key, name = field.path[0], f"record.{field.name}"
            lines += [f"    value = native.get({key!r})", "    if value is not None and value != '':"]
            keep = f"kept = *kept, {key!r}"
            if field.lift is same and not field.partial:
                lines += [f"        {name} = value"]
            elif field.lift is as_text:
                lines += ["        if isinstance(value, str):", f"            {name} = value"]
                lines += ["        else:", f"            {keep}"]
            else:
                lines += [
                    f"        ours = lift_{i}(value)",
                    "        if ours is not None:",
                    f"            {name} = ours",
                ]
                is_lost = f" or not exact(write_{i}(ours), value)" if field.partial else ""
                lines += [f"        if ours is None{is_lost}:", f"            {keep}"]
        for i, key in enumerate(self._nested):
            lines += [f"    value = native.get({key!r})", "    if value:"]
            lines += [f"        rest = nested_{i}.lift(value, record)"]
            lines += ["        if rest:", f"            inner[{key!r}] = rest"]
        lines += [
            "    if kept or inner or not native.keys() <= known:",
            "        rest = rest_of(native, usual, kept, inner)",
        ]
        return [*lines, "        if rest:", f"            {use}"]

    def _write_lines(self, values: Mapping[str, str] | None = None) -> list[str]:
        """Returns the lines that write `record`, with the values of these expressions or those in `content`."""
        lines = ["    native = {}"]
        fields = {field.path[0]: (i, field) for i, field in enumerate(self._fields)}
        for key in self.names:
            put = f"native[{key!r}] = value"
            if values is not None and key in values:
                lines += [f"    native[{key!r}] = {values[key]}"]
            elif key in fields:
                i, field = fields[key]
                lines += [f"    value = record.{field.name}"]
                if field.write is same:
                    lines += ["    if value is not None:", f"        {put}"]
                elif field.write is as_text:
                    lines += ["    if value and isinstance(value, str):", f"        {put}"]
                else:
                    lines += ["    if value is not None:", f"        value = write_{i}(value)"]
                    lines += ["        if value is not None:", f"            {put}"]
            elif key in self._nested:
                i = list(self._nested).index(key)
                is_set = " or ".join(f"record.{name} is not None" for name in self._nested[key].fields)
                lines += [f"    if {is_set}:", f"        value = nested_{i}.write(record, {{}})"]
                lines += ["        if value:", f"            {put}"]
            elif values is None and key in self._content:
                lines += [f"    if {key!r} in content:", f"        native[{key!r}] = content[{key!r}]"]
        return [*lines, "    return native"]


def _field(key: str, one: str | Setting) -> Setting:
    return replace(one if isinstance(one, Setting) else Setting(one, as_text, as_text), path=(key,))


CREATED_IN_MILLISECONDS = Setting("created_at", time_of_milliseconds, milliseconds_of_time)
UPDATED_IN_MILLISECONDS = Setting("updated_at", time_of_milliseconds, milliseconds_of_time)
"""For an Envelope: the times of a row or session, which the vendor writes in milliseconds since 1970."""
REPLACES_ALL = Setting("replaces", lambda value: "all" if value is True else None, lambda value: value == "all" or None)
"""A mark of a row whose message replaces everything before it."""
