"""Messages of Chat Completions as nearly all are, recognised without a detour.

What is recognised passes the schema and breaks no rule: to judge most real files then takes a fraction of the time.
Of everything else this says nothing: the schema and the rules do. A test holds the two together.
"""

from __future__ import annotations

from typing import Any

from convcli import wire
from convcli.errors import ContentError
from convcli.fields import Native
from convcli.renaming import WORD

SPOKEN = frozenset(("system", "developer", "user", "assistant"))
MOST_LONG_ID, MOST_LONG_NAME = 40, 64
_NOT_IN_NAMES = dict.fromkeys(map(ord, WORD + "-"))


def without_plain(document: Any) -> Any:
    """The document without its messages, if they are texts, calls and results in their order; else None."""
    if document.__class__ is list:
        return [] if _are_plain(document) else None
    messages = document.get("messages") if document.__class__ is dict and "choices" not in document else None
    return {**document, "messages": []} if messages.__class__ is list and _are_plain(messages) else None


def _are_plain(messages: list[Any]) -> bool:
    """Are all these messages texts, calls and results in their order?"""
    waiting: set[str] = set()
    for native in messages:
        if native.__class__ is not dict:
            return False
        role, content = native.get("role"), native.get("content")
        if role == "tool":
            id_ = native.get("tool_call_id")
            if len(native) != 3 or content.__class__ is not str or id_.__class__ is not str or id_ not in waiting:
                return False
            waiting.remove(id_)
        elif waiting:
            return False
        elif len(native) == 2:
            if role.__class__ is not str or role not in SPOKEN:
                return False
            if content.__class__ is not str and not (role == "user" and _are_plain_parts(content)):
                return False
        elif role != "assistant" or len(native) != 3 or not _adds_calls(native, content, waiting):
            return False
    return True


def _are_plain_parts(content: Any) -> bool:
    return content.__class__ is list and all(map(_is_plain_part, content))


def _is_plain_part(part: Any) -> bool:
    if part.__class__ is not dict or len(part) != 2:
        return False
    if part.get("type") == "text":
        return part.get("text").__class__ is str
    image = part.get("image_url") if part.get("type") == "image_url" else None
    return image.__class__ is dict and len(image) == 1 and image.get("url").__class__ is str


def _adds_calls(native: Native, content: Any, waiting: set[str]) -> bool:
    """Are the calls of the message as they are to be? Then they wait for their results."""
    calls = native.get("tool_calls")
    if not calls or calls.__class__ is not list:
        return False
    if content.__class__ is not str and not (content is None and "content" in native):
        return False
    for call in calls:
        if call.__class__ is not dict or len(call) != 3 or call.get("type") != "function":
            return False
        id_, function = call.get("id"), call.get("function")
        if id_.__class__ is not str or not 0 < len(id_) <= MOST_LONG_ID or id_ in waiting:
            return False
        if function.__class__ is not dict or len(function) != 2:
            return False
        if not (_is_name(function.get("name")) and _are_arguments(function.get("arguments"))):
            return False
        waiting.add(id_)
    return True


def _is_name(name: Any) -> bool:
    return name.__class__ is str and 0 < len(name) <= MOST_LONG_NAME and not name.translate(_NOT_IN_NAMES)


def _are_arguments(text: Any) -> bool:
    """JSON of an object in which nothing is null, for that may be what an engine has filled in."""
    if text.__class__ is not str or text[:1] != "{":
        return False
    try:
        value = wire.parse_text(text)[0]
    except ContentError:
        return False
    return value.__class__ is dict and None not in value.values()
