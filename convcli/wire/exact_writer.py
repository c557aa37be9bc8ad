"""Writes what orjson refuses: integers beyond 64 bits, numbers as they were read, lone surrogates, and any depth.

`exact_json.write` uses it only then: it is slower, and its layout is that of orjson."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from convcli.model.errors import ContentError
from convcli.wire.decimals import Decimal
from convcli.wire.strict_json import MAX_DIGITS
from convcli.wire.surrogates import Spelled

_ENDLESS = 10_000
"""A depth that only a value containing itself reaches."""


def pieces(value: Any, indent: bool = False, *, spelled: bool = True) -> Iterator[bytes]:
    """Yields the text of a value in pieces, without recursion; unless `spelled`, lone surrogates in lower case."""
    leaf = _spelled if spelled else _leaf
    open_containers: list[tuple[Iterator[tuple[bytes, Any]], bytes]] = []
    name, child = b"", value
    while True:
        yield name
        is_first = isinstance(child, dict | list | tuple) and bool(child)
        if is_first:
            opening, closing = (b"{", b"}") if isinstance(child, dict) else (b"[", b"]")
            open_containers.append((_children(child, b": " if indent else b":", leaf), closing))
            if len(open_containers) > _ENDLESS:
                raise TypeError("a value that contains itself is not a JSON value")
            yield opening
        else:
            yield leaf(child)
        while open_containers and (entry := next(open_containers[-1][0], None)) is None:
            closing = open_containers.pop()[1]
            is_first = False
            yield _line(len(open_containers), indent) + closing
        if not open_containers or entry is None:
            return
        yield (b"" if is_first else b",") + _line(len(open_containers), indent)
        name, child = entry


def _children(container: Any, colon: bytes, leaf: Callable[[Any], bytes]) -> Iterator[tuple[bytes, Any]]:
    if isinstance(container, dict):
        return ((leaf(key) + colon, child) for key, child in _named(container))
    return ((b"", child) for child in container)


def _named(container: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, child in container.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be a string, not {type(key).__name__}")
        yield key, child


def _line(depth: int, indent: bool) -> bytes:
    return b"\n" + b"  " * depth if indent else b""


def _spelled(value: Any) -> bytes:
    return value.literal.encode("utf-8", "backslashreplace") if isinstance(value, Spelled) else _leaf(value)


def _leaf(value: Any) -> bytes:
    if isinstance(value, str):  # json escapes as orjson does, and the error handler writes lone surrogates as escapes
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return str(value).encode()
        except ValueError:  # Python writes no longer ones
            raise ContentError("big-number", f"an integer has more than {MAX_DIGITS} digits") from None
    if isinstance(value, Decimal):
        return value.literal.encode()
    return orjson.dumps(value)
