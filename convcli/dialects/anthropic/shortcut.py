"""Messages of Anthropic's API as nearly all are, taken and given without a detour (see `convcli.plain`)."""

from __future__ import annotations

from typing import Any

from convcli.dialects.anthropic.rules import MOST_MESSAGES
from convcli.families.anthropic.blocks import MEDIA_TYPES, WEB
from convcli.families.anthropic.response import IDS, NAMES
from convcli.kit.objects import Native
from convcli.kit.turns import TOOL, in_pieces
from convcli.model.dialect import Call, Plain, Taken, Turn
from convcli.validation.rules.turns import is_base64

IMAGES = MEDIA_TYPES["image"]


# ---------------------------------------------------------------- take


def _take(document: Any) -> Taken | None:
    """Thinking ties turns to what stands beside them."""
    taken = None if document.__class__ is dict and "thinking" in document else in_pieces(document, _turns)
    if taken is not None and "system" in taken.rest:
        system = taken.rest.pop("system")
        if system.__class__ is not str or not system or system.isspace():
            return None
        taken.turns.insert(0, ("system", system))
    return taken


def _turns(messages: list[Any], _: dict[int, str]) -> list[Turn] | None:
    """The API wants the user first, takes no blank text, and knows no names."""
    if len(messages) > MOST_MESSAGES:
        return None
    turns: list[Turn] = []
    waiting: set[str] = set()
    calls: list[Call] = []
    for native in messages:
        role, content = native["role"], native["content"]
        if len(native) != 2 or (role != "user" and (role != "assistant" or waiting or not turns)):
            return None
        if content.__class__ is str:
            if waiting or not content or content.isspace():
                return None
            turns.append((role, content))
        elif content.__class__ is not list or not content:
            return None
        else:
            more = _asked(content, waiting) if role == "user" else _answered(content, waiting, calls)
            if more is None:
                return None
            turns += more
    return turns if _are_allowed(calls) else None


def _are_allowed(calls: list[Call]) -> bool:
    if not calls:
        return True
    ids, names, _ = zip(*calls, strict=True)
    return len(set(ids)) == len(ids) and IDS.accepts_all(ids) and NAMES.accepts_all(set(names))


def _asked(blocks: list[Any], waiting: set[str]) -> list[Turn] | None:
    """The turns in a message of the user: results, then what the user says."""
    turns: list[Turn] = []
    parts: list[Any] = []
    for block in blocks:
        if block["type"] != "tool_result":
            parts.append(_part(block))
            continue
        id_, content = block["tool_use_id"], block["content"]
        if id_ not in waiting or parts or content.__class__ is not str or not content or len(block) != 3:
            return None
        waiting.remove(id_)
        turns.append((TOOL, id_, content))
    if parts:
        if waiting or None in parts:
            return None
        turns.append(("user", parts[0] if len(parts) == 1 and parts[0].__class__ is str else parts))
    return turns


def _answered(blocks: list[Any], waiting: set[str], all_calls: list[Call]) -> list[Turn] | None:
    """The turn of an assistant: at most one text, and calls, which then wait for their results."""
    text = _part(blocks[0]) if blocks[0]["type"] == "text" else None
    calls: list[Call] = []
    for block in blocks[text is not None :]:
        id_, name, arguments = block["id"], block["name"], block["input"]
        if block["type"] != "tool_use" or len(block) != 4 or arguments.__class__ is not dict:
            return None
        if id_.__class__ is not str or name.__class__ is not str or None in arguments.values():
            return None
        waiting.add(id_)
        calls.append((id_, name, arguments))
    all_calls += calls
    return [("assistant", text, calls) if calls else ("assistant", text)]


def _part(block: Any) -> str | tuple[str, str] | None:
    kind = block["type"]
    if len(block) != 2:
        return None
    if kind == "text":
        text: Any = block["text"]
        return text if text.__class__ is str and text and not text.isspace() else None
    return _image(block["source"]) if kind == "image" else None


def _image(source: Native) -> tuple[str, str] | None:
    kind = source["type"]
    if kind == "url" and len(source) == 2:
        url = source["url"]
        return ("", url) if url.__class__ is str and url.startswith(WEB) else None
    media_type, data = source["media_type"], source["data"]
    if kind != "base64" or len(source) != 3 or data.__class__ is not str or not data:
        return None
    return (media_type, data) if media_type in IMAGES and is_base64(data) else None


# ---------------------------------------------------------------- give


def _give(document: Any, turns: list[Turn]) -> Any:
    """Results and what the user says right behind them are one message."""
    system = turns[0][1] if turns and turns[0][0] == "system" else None
    messages: list[Native] = []
    results: list[Native] | None = None
    for turn in turns if system is None else turns[1:]:
        role, content = turn[0], turn[1]
        if role == TOOL:
            if results is None:
                results = []
                messages.append({"role": "user", "content": results})
            results.append({"type": "tool_result", "tool_use_id": turn[1], "content": turn[2]})
            continue
        if role == "user" and results is not None:
            results += _blocks([content] if content.__class__ is str else content)
        elif len(turn) == 3:
            text = [] if content is None else [{"type": "text", "text": content}]
            messages.append({"role": role, "content": [*text, *_calls(turn[2])]})
        else:
            messages.append({"role": role, "content": content if content.__class__ is str else _blocks(content)})
        results = None
    if document.__class__ is list:
        return messages
    filled = {**document, "messages": messages}
    if system is not None:
        filled["system"] = system
    return filled


def _blocks(parts: list[Any]) -> list[Native]:
    return [_block(part) for part in parts]


def _block(part: str | tuple[str, str]) -> Native:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    media_type, data = part
    if not media_type:
        return {"type": "image", "source": {"type": "url", "url": data}}
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def _calls(calls: list[Call]) -> list[Native]:
    return [{"type": "tool_use", "id": id_, "name": name, "input": arguments} for id_, name, arguments in calls]


PLAIN = Plain(_take, _give)
