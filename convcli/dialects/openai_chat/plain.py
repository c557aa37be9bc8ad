"""Messages of Chat Completions as nearly all are: nothing can be wrong with them, whatever stands beside them."""

from __future__ import annotations

from typing import Any

from convcli.families.openai.parts import IDS, NAMES
from convcli.kit.objects import Native
from convcli.model.errors import ContentError
from convcli.wire import exact_json

SPOKEN = frozenset(("system", "developer", "user", "assistant"))


def are_plain(messages: list[Any]) -> bool:
    """Are they texts, images, calls and their results in order? Raises KeyError or TypeError for what is no message."""
    waiting: set[str] = set()
    ids: list[str] = []
    names: set[str] = set()
    for native in messages:
        role, content = native["role"], native["content"]
        if role == "tool":
            id_ = native["tool_call_id"]
            if id_ not in waiting or content.__class__ is not str or len(native) != 3:
                return False
            waiting.remove(id_)
        elif waiting or role not in SPOKEN:
            return False
        elif content.__class__ is not str or len(native) != 2:
            calls = native.get("tool_calls") if role == "assistant" else None
            if not (_is_asking(native, content, names) if calls is None else _is_calling(native, content, names)):
                return False
            waiting.update(call["id"] for call in calls or ())
            ids += [call["id"] for call in calls or ()]
            if len(waiting) != len(calls or ()):
                return False
    return NAMES.accepts_all(names) and IDS.accepts_all(ids)


def _is_asking(native: Native, content: Any, names: set[str]) -> bool:
    """Is it the message of a user who has a name, or shows images?"""
    has_name = native.get("name").__class__ is str
    if native["role"] != "user" or len(native) != 2 + has_name:
        return False
    if has_name:
        names.add(native["name"])
    return content.__class__ is str or (content.__class__ is list and all(map(_is_plain_part, content)))


def _is_plain_part(part: Any) -> bool:
    kind = part["type"]
    if len(part) != 2:
        return False
    if kind == "text":
        return part["text"].__class__ is str
    image = part["image_url"] if kind == "image_url" else {}
    url = image["url"] if len(image) == 1 else None
    return url.__class__ is str


def _is_calling(native: Native, content: Any, names: set[str]) -> bool:
    """Is it the message of an assistant who calls tools?"""
    calls = native["tool_calls"]
    if len(native) != 3 or not calls or calls.__class__ is not list:
        return False
    if content.__class__ is not str and content is not None:
        return False
    for call in calls:
        function = call["function"]
        if call["type"] != "function" or len(call) != 3 or len(function) != 2 or call["id"].__class__ is not str:
            return False
        if function["name"].__class__ is not str or not _are_plain_arguments(function["arguments"]):
            return False
        names.add(function["name"])
    return True


def _are_plain_arguments(text: Any) -> bool:
    """JSON of an object in which nothing is null, for that may be what an engine has filled in."""
    if text.__class__ is not str:
        return False
    try:
        value = exact_json.parse_text(text)[0]
    except ContentError:
        return False
    return value.__class__ is dict and None not in value.values()
