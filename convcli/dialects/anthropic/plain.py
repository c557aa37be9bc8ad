"""Messages of Anthropic's API as nearly all are: nothing can be wrong with them, whatever stands beside them."""

from __future__ import annotations

from typing import Any

from convcli.dialects.anthropic.rules import MOST_MESSAGES
from convcli.families.anthropic.blocks import MEDIA_TYPES, WEB
from convcli.families.anthropic.response import IDS, NAMES
from convcli.kit.objects import Native
from convcli.validation.rules.turns import is_base64

IMAGES = MEDIA_TYPES["image"]


def are_plain(messages: list[Any]) -> bool:
    """Are they texts, images, calls and their results in order, the user first? Raises KeyError or TypeError for what
    is no message."""
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
            if waiting or not content or content.isspace():
                return False
        elif content.__class__ is not list or not content:
            return False
        elif role == "user":
            if not _are_asking(content, waiting):
                return False
        elif not _are_answering(content, ids, names):
            return False
        else:
            waiting.update(block["id"] for block in content if block["type"] == "tool_use")
    is_unique = len(set(ids)) == len(ids)
    return is_unique and len(messages) <= MOST_MESSAGES and IDS.accepts_all(ids) and NAMES.accepts_all(names)


def _are_asking(blocks: list[Any], waiting: set[str]) -> bool:
    """Are they the blocks of a user: results of all calls that wait for them, then what the user says?"""
    is_speaking = False
    for block in blocks:
        if block["type"] != "tool_result":
            is_speaking = True
            if not _is_plain_part(block):
                return False
            continue
        id_, content = block["tool_use_id"], block["content"]
        if id_ not in waiting or is_speaking or content.__class__ is not str or not content or len(block) != 3:
            return False
        waiting.remove(id_)
    return not (is_speaking and waiting)


def _are_answering(blocks: list[Any], ids: list[str], names: set[str]) -> bool:
    """Are they the blocks of an assistant: at most one text, then calls?"""
    has_text = blocks[0]["type"] == "text"
    if has_text and not _is_plain_part(blocks[0]):
        return False
    for block in blocks[has_text:]:
        id_, name, arguments = block["id"], block["name"], block["input"]
        if block["type"] != "tool_use" or len(block) != 4 or arguments.__class__ is not dict:
            return False
        if id_.__class__ is not str or name.__class__ is not str or None in arguments.values():
            return False
        ids.append(id_)
        names.add(name)
    return True


def _is_plain_part(block: Any) -> bool:
    kind = block["type"]
    if len(block) != 2:
        return False
    if kind == "text":
        text = block["text"]
        return text.__class__ is str and bool(text) and not text.isspace()
    return kind == "image" and _is_plain_image(block["source"])


def _is_plain_image(source: Native) -> bool:
    kind = source["type"]
    if kind == "url" and len(source) == 2:
        return source["url"].__class__ is str and source["url"].startswith(WEB)
    media_type, data = source["media_type"], source["data"]
    if kind != "base64" or len(source) != 3 or data.__class__ is not str or not data:
        return False
    return media_type in IMAGES and is_base64(data)
