"""The keys of one kind of object: which are known, which are extras, and in which order they are written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from convcli.model.caches import Cached
from convcli.model.transcript import APART as APART
from convcli.model.transcript import Extras, Message, Part, ToolDefinition, Transcript

Native = dict[str, Any]
"""An object as the vendor writes it."""
NOTHING: Native = {}
"""An object without keys, for defaults; it stays empty."""
Value = TypeVar("Value")
Record = TypeVar("Record", bound=Transcript | Message | Part | ToolDefinition)


class Keys:
    """The keys of one kind of object, in the vendor's order.

    If keys are marked, as in `id= logprobs`, those without a mark have no field in the intermediate format: they are
    kept in extras, like unknown keys. `known` states the same for keys that are not text of this form. `groups` are our
    names in the extras of such an object: its unknown keys of these names are kept apart.
    """

    __slots__ = ("_extra", "_groups", "_rank", "_ranked", "_unsaid")

    def __init__(self, order: str | Iterable[str], *, known: Collection[str] | None = None, groups: str = "") -> None:
        words = order.split() if isinstance(order, str) else [*order]
        names = [word.removesuffix("=") for word in words] if isinstance(order, str) else words
        if known is None:
            known = {name for name, word in zip(names, words, strict=True) if name != word} or names
        self._rank = {name: rank for rank, name in enumerate(names)}
        self._extra, self._groups = self._rank.keys() - known, groups.split()
        self._unsaid, self._ranked = Cached(self._without_field), Cached(self._by_rank)

    @property
    def names(self) -> tuple[str, ...]:
        """The known keys, in the vendor's order."""
        return tuple(self._rank)

    def _without_field(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the keys that have no field in the intermediate format."""
        return tuple(key for key in keys if key in self._extra or key not in self._rank)

    def sorted(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Returns the keys in the vendor's order, unknown ones last."""
        return self._ranked[tuple(keys)]

    def ordered(self, native: Native) -> Native:
        """Returns the object in the vendor's order, unknown keys last."""
        keys = tuple(native)
        ranked = self._ranked[keys]
        return native if ranked == keys else {key: native[key] for key in ranked}

    def _by_rank(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        last = len(self._rank)
        return tuple(sorted(keys, key=lambda key: self._rank.get(key, last)))

    def extra(self, native: Native, usual: Native = NOTHING) -> Native | None:
        """Returns the extras of an object: keys that have no field in the intermediate format, unless their value is
        blank or the `usual` one, which is a string, a number or a boolean."""
        unsaid = self._unsaid[tuple(native)]
        if not unsaid:
            return None
        extra: Native = {}
        for key in unsaid:
            value, known = native[key], usual.get(key)
            if value is None or (value == known and value.__class__ is known.__class__):
                continue
            if value or not self._is_blank(key, value):
                extra[key] = value
        return keep_apart(extra, self._groups) if self._groups and extra else extra or None

    def _is_blank(self, key: str, value: Any) -> bool:
        """True for an empty string, list or object under a known key."""
        return key in self._rank and not has_content(value)

    def known(self, native: Native) -> Native:
        """Returns the object without unknown keys."""
        return {key: native[key] for key in native if key in self._rank}

    def put(self, native: Native, extra: Native | None, *, sort: bool = False) -> Native:
        """Returns the object with its extras, in the vendor's order."""
        if extra:
            native = {**native, **together(extra)}
        if extra or sort:
            native = {key: native[key] for key in self.sorted(native)}
        return native

    def write(self, native: Native, extra: Native | None = None) -> Native:
        """Same as `put`, without the keys of `native` whose value is null."""
        return self.put(without_nulls(native), extra, sort=True)


def omit(native: Mapping[str, Value], *keys: str) -> dict[str, Value]:
    """Returns the object without these keys."""
    return {key: value for key, value in native.items() if key not in keys}


def without_nulls(native: Mapping[str, Any]) -> Native:
    """Returns the object without the keys whose value is null."""
    return {key: value for key, value in native.items() if value is not None}


def except_keys(native: Mapping[str, Any], *keys: str) -> Native:
    """Returns the other keys of the object whose value is not null."""
    return {key: value for key, value in native.items() if key not in keys and value is not None}


def has_content(value: Any) -> bool:
    """True unless the value is null or an empty string, list or object."""
    return bool(value) or isinstance(value, (bool, int, float))


def without_empty(native: Mapping[str, Any], *keys: str) -> Native:
    """Returns the object without these keys, and without those that are null or empty."""
    return {key: value for key, value in native.items() if key not in keys and has_content(value)}


def as_object(value: Any) -> Native:
    """Returns the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: Any) -> str | None:
    """Returns the value if it is a nonempty string."""
    return value if isinstance(value, str) and value else None


def objects_in(value: Any) -> list[Native]:
    """Returns the objects in a list; none if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def keep_apart(extra: Native, names: Collection[str]) -> Native:
    """Returns the extras of an object with its keys of these names apart, as the names are taken for other objects."""
    taken = {key: extra[key] for key in names if key in extra}
    return {**omit(extra, *taken), APART: {**as_object(extra.get(APART)), **taken}} if taken else extra


def together(extra: Native) -> Native:
    """Returns the extras with keys that are apart among the others."""
    return {**omit(extra, APART), **extra[APART]} if isinstance(extra.get(APART), dict) else extra


def claim_names(records: Iterable[Any], owner: str, *names: str) -> None:
    """Keeps the owner's keys of these names apart in records that are being lifted, as the names are ours there."""
    for record in records:
        if record.extras is not None:  # few have any
            extra = get_extras(record.extras, owner)
            kept = keep_apart(extra, names)
            if kept is not extra:
                record.extras = {**record.extras, owner: kept}


def make_extras(dialect: str, extra: Native | None, /, **inside: Any) -> Extras | None:
    """Returns extras with these keys of `dialect`, and with those `inside`, such as the extras of nested objects, which
    have keys that convcli names."""
    if inside and (extra or any(inside.values())):
        extra = {**keep_apart(extra or {}, inside.keys()), **{key: value for key, value in inside.items() if value}}
    return {dialect: extra} if extra else None


def get_extras(extras: Extras | None, dialect: str) -> Native:
    """Returns the keys of `dialect` in `extras`."""
    return extras.get(dialect, {}) if extras else {}


def add_extras(record: Any, owner: str, extra: Native | None, /, **inside: Any) -> None:
    """Adds the owner's keys to the extras of a record that is being lifted, and those `inside`, as `make_extras`
    does: the owner's keys of these names, which are there already, are kept apart."""
    if inside:
        claim_names([record], owner, *inside)
    known = get_extras(record.extras, owner)
    extra = {**keep_apart(extra or {}, inside.keys()), **{key: value for key, value in inside.items() if value}}
    if APART in extra and APART in known:
        extra[APART] = {**known[APART], **extra[APART]}
    if extra:
        record.extras = {**(record.extras or {}), owner: {**known, **extra}}


def drop_extra_keys(extras: Extras | None, dialect: str, *keys: str) -> Extras | None:
    """Returns the extras without these keys of `dialect`; the same object if it has none of them."""
    extra = get_extras(extras, dialect)
    if extra.keys().isdisjoint(keys):
        return extras
    kept, others = omit(extra, *keys), omit(extras or {}, dialect)
    return {**others, dialect: kept} if kept else others or None


def drop_extras(record: Record, owner: str, *keys: str) -> Record:
    """Returns the record without these keys of the owner's extras; the same record if it has none of them."""
    extras = drop_extra_keys(record.extras, owner, *keys)
    return record if extras is record.extras else replace(record, extras=extras)


def set_extra_key(extras: Extras | None, dialect: str, key: str, value: Native) -> Extras | None:
    """Returns the extras with this object under a key of `dialect`, and without the key if the object is empty; the
    same extras if that changes nothing."""
    if not value and not extras:  # most records
        return extras
    extra = get_extras(extras, dialect)
    if extra.get(key, {}) == value:
        return extras
    kept = {**omit(extra, key), **({key: value} if value else {})}
    others = omit(extras or {}, dialect)
    return {**others, dialect: kept} if kept else others or None


def set_extras(record: Record, owner: str, key: str, value: Native) -> Record:
    """Returns the record with this object under a key of the owner's extras; the same record if it has it."""
    extras = set_extra_key(record.extras, owner, key, value)
    return record if extras is record.extras else replace(record, extras=extras)


def merge(base: Native, more: Native) -> Native:
    """Merges two objects, and the objects that both have under the same key."""
    out = dict(base)
    for key, value in more.items():
        mine = out.get(key)
        out[key] = merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return out


def without_clean(
    document: Any, key: str, are_clean: Callable[[list[Any]], bool], **others: Callable[[Any], bool]
) -> Any:
    """Returns the document without its messages, and without the `others`, if all of them are plain; else None.
    The document is a message list, or has one under `key`.

    A missing key or a wrong type is not plain, so checks may access any key.
    """
    try:
        if document.__class__ is list:
            return [] if are_clean(document) else None
        checks = [(document[name], is_clean) for name, is_clean in others.items() if name in document]
        if document[key].__class__ is list and are_clean(document[key]) and all(plain(one) for one, plain in checks):
            return {**omit(document, *others), key: []}
    except (AttributeError, LookupError, TypeError):
        pass
    return None
