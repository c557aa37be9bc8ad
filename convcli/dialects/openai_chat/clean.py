"""Skips plain messages of Chat Completions: they need no checks, whatever other keys the document has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from convcli.families.openai.parts import IDS, NAMES
from convcli.kit.objects import Native, without_clean
from convcli.kit.values import are_clean_arguments

TEXT_ROLES = frozenset(("system", "developer", "user", "assistant"))
ANSWER_KEYS = frozenset(("role", "content", "tool_calls"))


def without_clean_messages(document: Any) -> Any:
    """Returns the document without its messages, if they are all plain."""
    if document.__class__ is dict and "choices" in document:
        return None
    return without_clean(document, "messages", _are_clean)


def _are_clean(messages: list[Any]) -> bool:
    """True if the messages are text, images, reasoning, calls and their results in order."""
    waiting: set[str] = set()
    ids: list[str] = []
    names: set[str] = set()
    for native in messages:
        role, content = native["role"], native["content"]
        if role == "tool":
            if content.__class__ is not str or len(native) != 3:
                return False
            waiting.remove(native["tool_call_id"])
        elif waiting or role not in TEXT_ROLES:
            return False
        elif content.__class__ is str and len(native) == 2:  # most messages
            continue
        elif role != "assistant":
            if not _is_input(native, names):
                return False
        elif not _is_answer(native):
            return False
        else:
            for call in native.get("tool_calls") or ():
                id_ = _call_id(call, names)
                if id_ in waiting:
                    return False
                waiting.add(id_)
                ids.append(id_)
    return NAMES.accepts_all(names) and IDS.accepts_all(ids)


def _is_input(native: Native, names: set[str]) -> bool:
    """True if the message is plain text, or a user message that may have a name and images."""
    content, kinds = native["content"], USER_PARTS if native["role"] == "user" else TEXTS
    if "name" in native:
        if kinds is TEXTS or native["name"].__class__ is not str:
            return False
        names.add(native["name"])
    if len(native) != 2 + ("name" in native):
        return False
    return content.__class__ is str or (
        content.__class__ is list and all(kinds[part["type"]](part) for part in content)
    )


def _is_answer(native: Native) -> bool:
    """True if an assistant message, apart from its calls, is text or no content with calls, and optional reasoning."""
    content, calls = native["content"], native.get("tool_calls")
    if calls.__class__ is not list and calls is not None:
        return False
    if content.__class__ is not str and (content is not None or not calls):
        return False
    is_bare = len(native) == 3 and bool(calls)
    return is_bare or all(OTHER_KEYS[key](native[key]) for key in native.keys() - ANSWER_KEYS)


def _call_id(call: Any, names: set[str]) -> str:
    """Adds the name of a plain call and returns its id.

    Raises TypeError for any other call.
    """
    id_, function = call["id"], call["function"]
    name = function["name"]
    if id_.__class__ is not str or name.__class__ is not str or len(call) != 3 or len(function) != 2:
        raise TypeError
    if call["type"] != "function" or not are_clean_arguments(function["arguments"]):
        raise TypeError
    names.add(name)
    return id_


def _is_text(part: Native) -> bool:
    return len(part) == 2 and part["text"].__class__ is str


def _is_image(part: Native) -> bool:
    image = part["image_url"]
    url, detail = image["url"], image.get("detail", "")
    return url.__class__ is str and detail.__class__ is str and len(image) == 1 + ("detail" in image) and len(part) == 2


def _is_null(value: Any) -> bool:
    return value is None


def _is_str(value: Any) -> bool:
    return value.__class__ is str


OTHER_KEYS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("reasoning_content", "reasoning"), _is_str),
    **dict.fromkeys(("refusal", "audio", "function_call"), _is_null),
    "annotations": lambda value: value == [],
}
"""Checks for other keys of an answer: reasoning, and what the service writes for absent values."""
TEXTS: dict[str, Callable[[Native], bool]] = {"text": _is_text}
USER_PARTS = {**TEXTS, "image_url": _is_image}
"""Checks for plain parts by their type: for all roles, and for users."""
