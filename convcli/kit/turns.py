"""Plain conversations: texts, images, calls and their results in order, which nearly all messages are.

What is plain passes the schema of its dialect, breaks no rule whatever stands beside it, and has nothing to carry or to
remember: two dialects say it in two shapes. A dialect that knows its plain shapes offers a short cut, `Plain`; where
both ends of a conversion have one, the long way is gone once for all documents that differ in such turns only. The
output is read back and compared here too, and tests hold both ways together. Of everything else this says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.model.dialect import Taken, Turn
from convcli.model.transcript import Path

TOOL = "tool"


def sample(has_system: bool) -> list[Turn]:
    """A conversation as small as can be."""
    return [("system", "x"), ("user", "x")] if has_system else [("user", "x")]


def messages_of(document: Any) -> tuple[Path, list[dict[str, Any]]]:
    """Where in a document of a dialect with plain shapes its messages stand, and the messages."""
    return ((), document) if document.__class__ is list else (("messages",), document["messages"])


def in_pieces(document: Any, read: Callable[[list[Any], dict[int, str]], list[Turn] | None]) -> Taken | None:
    """The document without its messages, and their turns, if `read` finds all of them plain; it adds their names.

    What lacks a key or is of another type is not plain, so `read` need not ask before it reaches for something.
    """
    names: dict[int, str] = {}
    is_list = document.__class__ is list
    try:
        messages = document if is_list else document["messages"]
        turns = read(messages, names) if messages.__class__ is list else None
    except (KeyError, TypeError):
        return None
    return None if turns is None else Taken([] if is_list else {**document, "messages": []}, turns, names)
