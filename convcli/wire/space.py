"""Address space for orjson, which ends the process by signal 11 where the system refuses memory.

A limit (`ulimit -v`) or a small machine refuses what orjson requests: for a string, in advance, eight times its length,
and rounded up to a power of two. So the same amount is requested before, and given back. orjson's writer:
https://github.com/ijl/orjson/blob/master/src/serialize/writer/byteswriter.rs
"""

from __future__ import annotations

from typing import Any

LARGE = 32 << 20
"""Bytes of JSON. What orjson requests for a smaller text is no reason to fail."""
_READING = 17
"""Bytes that reading a byte of JSON may request: 12 of the parser, 1 of its copy, 4 of a string outside of Latin-1."""
_VALUE = 100
"""Bytes of a value in a list or object."""
_WRITTEN = 6
"""Bytes of the longest escape of a character."""
_RESERVED = 8
"""Bytes that orjson requests for each byte of a string."""
_ITEM = 160
"""Bytes that orjson requests for an item, a key or a value: it does so for all items of a list at once."""


def request(size: int) -> None:
    """Raises MemoryError if the system refuses this many bytes of memory to the process now."""
    from mmap import ACCESS_COPY, mmap  # rarely needed

    try:
        mmap(-1, size, access=ACCESS_COPY).close()
    except (OSError, OverflowError, ValueError):
        raise MemoryError from None


def of_reading(raw: bytes) -> int:
    """Returns the bytes that orjson requests at most to read a text."""
    return _READING * len(raw) + _VALUE * sum(map(raw.count, (b",", b":", b"[", b"{")))


def of_writing(value: Any) -> int:
    """Returns the bytes that orjson requests at most to write a value."""
    size = longest = 0
    stack = [value]
    while stack:
        node = stack.pop()
        size += _ITEM
        if node.__class__ is str:
            size += _WRITTEN * len(node)
            longest = max(longest, len(node) * (1 if node.isascii() else 4))
        elif isinstance(node, dict):
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(node, list | tuple):
            stack.extend(node)
    return 2 * (size + _RESERVED * longest)
