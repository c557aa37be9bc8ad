"""Recognizes usual Anthropic messages, which no rule can object to, whatever the other keys of the request are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from convcli.dialects.anthropic.rules import MOST_MESSAGES
from convcli.families.anthropic.blocks import MEDIA_TYPES, WEB
from convcli.families.anthropic.response import IDS, NAMES
from convcli.kit.objects import Native, without_clean
from convcli.validation.rules.turns import is_base64

IMAGES = MEDIA_TYPES["image"]


def without_clean_messages(document: Any) -> Any:
    """Returns the rest of a request or a list whose messages and system text are all usual."""
    thinks = document.__class__ is dict and "thinking" in document
    return without_clean(document, "messages", partial(_are_clean, thinks=thinks), system=_is_plain_system)


def _is_plain_system(system: Any) -> bool:
    if system.__class__ is str:
        return _has_text(system)
    return system.__class__ is list and bool(system) and all(SYSTEM[block["type"]](block) for block in system)


def _are_clean(messages: list[Any], *, thinks: bool) -> bool:
    """True if the messages are texts, images, calls and results in order, the user first.

    With `thinks`, calls must follow thinking.
    """
    waiting: set[str] = set()
    ids: list[str] = []
    names: set[str] = set()
    is_first = True
    for native in messages:
        role, content = native["role"], native["content"]
        if len(native) != 2 or (role != "user" and (role != "assistant" or waiting or is_first)):
            return False
        is_first = False
        if content.__class__ is str:
            if waiting or not _has_text(content):
                return False
        elif content.__class__ is not list or not content:
            return False
        elif role == "user":
            if not _are_asking(content, waiting):
                return False
        else:
            for block in content:
                if block["type"] == "tool_use":
                    ids.append(_call_id(block, names))
                    waiting.add(ids[-1])
                elif not ANSWERED[block["type"]](block):
                    return False
            if thinks and waiting and content[0]["type"] != "thinking":
                return False
    is_unique, count = len(set(ids)) == len(ids), len(messages) + len(ids)
    return is_unique and count <= MOST_MESSAGES and IDS.accepts_all(ids) and NAMES.accepts_all(names)


def _are_asking(blocks: list[Any], waiting: set[str]) -> bool:
    """True for the blocks of a user message: the results of all waiting calls, then text and images."""
    for block in blocks:
        if block["type"] == "tool_result":
            waiting.remove(block["tool_use_id"])
            if not _is_result(block):
                return False
        elif waiting or not SHOWN[block["type"]](block):
            return False
    return not waiting


def _has_text(text: Any) -> bool:
    return text.__class__ is str and bool(text) and not text.isspace()


def _is_text(block: Native) -> bool:
    return len(block) == 2 and _has_text(block["text"])


def _is_image(block: Native) -> bool:
    source = block["source"]
    kind = source["type"]
    if len(block) != 2:
        return False
    if kind == "url" and len(source) == 2:
        return source["url"].__class__ is str and source["url"].startswith(WEB)
    data = source["data"]
    if kind != "base64" or len(source) != 3 or data.__class__ is not str or not data:
        return False
    return source["media_type"] in IMAGES and is_base64(data)


def _is_thinking(block: Native) -> bool:
    signature = block["signature"]
    return len(block) == 3 and block["thinking"].__class__ is str and signature.__class__ is str and bool(signature)


def _call_id(block: Native, names: set[str]) -> str:
    """Returns the id of a usual call, and adds its name to `names`. Raises TypeError for any other call."""
    id_, name, arguments = block["id"], block["name"], block["input"]
    if len(block) != 4 or id_.__class__ is not str or name.__class__ is not str:
        raise TypeError
    if arguments.__class__ is not dict or None in arguments.values():
        raise TypeError
    names.add(name)
    return id_


def _is_result(block: Native) -> bool:
    content = block["content"]
    if len(block) != 3 and (len(block) != 4 or block["is_error"].__class__ is not bool):
        return False
    if content.__class__ is str:
        return bool(content)
    return content.__class__ is list and bool(content) and all(SHOWN[part["type"]](part) for part in content)


SYSTEM: dict[str, Callable[[Native], bool]] = {"text": _is_text}
SHOWN = {**SYSTEM, "image": _is_image}
ANSWERED = {**SYSTEM, "thinking": _is_thinking}
"""Usual blocks by type: of the system, of users and results, and of assistants."""
