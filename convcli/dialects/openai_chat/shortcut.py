"""Messages of Chat Completions as nearly all are, taken and given without a detour (see `convcli.plain`)."""

from __future__ import annotations

from typing import Any

from convcli.families.openai.parts import IDS, NAMES
from convcli.kit.objects import Native
from convcli.kit.turns import TOOL, in_pieces
from convcli.kit.values import DATA_URL, split_data_url
from convcli.model.dialect import Call, Plain, Taken, Turn
from convcli.model.errors import ContentError
from convcli.wire import exact_json

SPOKEN = frozenset(("system", "developer", "user", "assistant"))


# ---------------------------------------------------------------- take


def _take(document: Any) -> Taken | None:
    return None if document.__class__ is dict and "choices" in document else in_pieces(document, _turns)


def _turns(messages: list[Any], names: dict[int, str]) -> list[Turn] | None:
    turns: list[Turn] = []
    waiting: set[str] = set()
    calls: list[Call] = []
    for native in messages:
        role, content = native["role"], native["content"]
        if role == TOOL:
            id_ = native["tool_call_id"]
            if id_ not in waiting or content.__class__ is not str or len(native) != 3:
                return None
            waiting.remove(id_)
            turns.append((role, id_, content))
        elif waiting or role not in SPOKEN:
            return None
        elif content.__class__ is str and len(native) == 2:
            turns.append((role, content))
        else:
            turn = _calling(native, content, waiting, calls) if role == "assistant" else _asking(native, content)
            if turn is None:
                return None
            if "name" in native:
                names[len(turns)] = native["name"]
            turns.append(turn)
    return turns if _are_allowed(calls, names) else None


def _are_allowed(calls: list[Call], names: dict[int, str]) -> bool:
    if names and not NAMES.accepts_all(set(names.values())):
        return False
    if not calls:
        return True
    ids, tools, _ = zip(*calls, strict=True)
    return IDS.accepts_all(ids) and NAMES.accepts_all(set(tools))


def _asking(native: Native, content: Any) -> Turn | None:
    """The turn of a user who has a name, or shows images."""
    has_name = native.get("name").__class__ is str
    if native["role"] != "user" or len(native) != 2 + has_name:
        return None
    if content.__class__ is str:
        return ("user", content)
    if content.__class__ is not list:
        return None
    parts = [_part(part) for part in content]
    if None in parts:
        return None
    return ("user", parts[0] if len(parts) == 1 and parts[0].__class__ is str else parts)


def _part(part: Any) -> str | tuple[str, str] | None:
    kind = part["type"]
    if len(part) != 2:
        return None
    if kind == "text":
        text: Any = part["text"]
        return text if text.__class__ is str else None
    image = part["image_url"] if kind == "image_url" else {}
    url = image["url"] if len(image) == 1 else None
    return (split_data_url(url) or ("", url)) if url.__class__ is str else None


def _calling(native: Native, content: Any, waiting: set[str], all_calls: list[Call]) -> Turn | None:
    """The turn of an assistant who calls tools; the calls then wait for their results."""
    calls = native["tool_calls"]
    if len(native) != 3 or not calls or calls.__class__ is not list:
        return None
    if content.__class__ is not str and content is not None:
        return None
    called: list[Call] = []
    for call in calls:
        id_, function = call["id"], call["function"]
        name, arguments = function["name"], _arguments(function["arguments"])
        if call["type"] != "function" or len(call) != 3 or len(function) != 2 or arguments is None:
            return None
        if id_.__class__ is not str or name.__class__ is not str or id_ in waiting:
            return None
        waiting.add(id_)
        called.append((id_, name, arguments))
    all_calls += called
    return ("assistant", content or None, called)


def _arguments(text: Any) -> dict[str, Any] | None:
    """JSON of an object in which nothing is null, for that may be what an engine has filled in."""
    if text.__class__ is not str:
        return None
    try:
        value = exact_json.parse_text(text)[0]
    except ContentError:
        return None
    return value if value.__class__ is dict and None not in value.values() else None


# ---------------------------------------------------------------- give


def _give(document: Any, turns: list[Turn]) -> Any:
    messages = [_message(*turn) for turn in turns]
    return messages if document.__class__ is list else {**document, "messages": messages}


def _message(role: str, said: Any, more: Any = None) -> Native:
    if role == TOOL:
        return {"role": role, "tool_call_id": said, "content": more}
    if said.__class__ is list:
        return {"role": role, "content": [_block(part) for part in said]}
    native = {"role": role, "content": said}
    if more is not None:
        native["tool_calls"] = [_call(*call) for call in more]
    return native


def _block(part: str | tuple[str, str]) -> Native:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    media_type, data = part
    return {"type": "image_url", "image_url": {"url": DATA_URL.format(media_type, data) if media_type else data}}


def _call(id_: str, name: str, arguments: dict[str, Any]) -> Native:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": exact_json.write_text(arguments)}}


PLAIN = Plain(_take, _give)
