"""The calls, results and entries of the chat program aoitan/multi-llm-chat, in all forms that it ever wrote.

Specification: doc/specs/structured_content_format_spec.md and src/multi_llm_chat of
https://github.com/aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from convcli.families.histories.entries import Entries, renamed
from convcli.kit.objects import Keys, Native, as_object, get_extras, has_content, keep_apart, make_extras
from convcli.kit.pairing import UNKNOWN, Pairing
from convcli.kit.results import ResultTexts
from convcli.model.errors import ContentError
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolCall, ToolResult
from convcli.wire import exact_json

AUTHORS = ("gemini", "chatgpt")
RESULTS = ResultTexts("[ERROR] ", data=True)
"""The program's prefix of the text of a failed call."""
CONVENTION = RESULTS.convention('"[ERROR] " precedes its text')

ENTRY = Keys("role= name= content= tool_calls= invalid")
TEXT = Keys("type content")
NESTED = Keys("type content")
CALL = Keys("type name arguments tool_call_id")
RESULT = Keys("type name content tool_call_id")
OLD_NAMES = {"tool_name": "name", "result": "content"}


# ---------------------------------------------------------------- calls and results


def lift_call(native: Native, nested: bool, pairing: Pairing, owner: str) -> ToolCall:
    """Lifts a call, flat or under `content`; its arguments may be a list."""
    body, extra = _body(native, CALL, nested)
    name, arguments = body.get("name") or "", body.get("arguments") or {}
    raw = exact_json.write_text(arguments) if isinstance(arguments, list) else None
    id_ = pairing.call(body.get("tool_call_id") or None, name)
    return ToolCall(id_, name, {} if raw is not None else arguments, raw, extras=make_extras(owner, extra))


class ResultBody(NamedTuple):
    """A result as it is stored: without id and name of its call if it does not know them."""

    id: str | None
    name: str | None
    value: Any
    extra: Native


def result_body(native: Native, nested: bool, pairing: Pairing) -> ResultBody:
    """Reads a result, flat or under `content`. If the service gave no id, the tool's name is in its place, which is not
    an id."""
    body, extra = _body(native, RESULT, nested)
    name, id_ = body.get("name") or None, body.get("tool_call_id") or None
    if id_ is not None and id_ == (name or UNKNOWN) and not pairing.knows(id_):
        id_ = None
    return ResultBody(id_, name, body.get("content"), extra)


def _body(native: Native, keys: Keys, nested: bool) -> tuple[Native, Native]:
    """Returns the object with the keys of a call or a result, under current names, and its extras."""
    names = OLD_NAMES if keys is RESULT else {"tool_name": "name"}
    body = renamed(native["content"] if nested else native, names)
    extra = dict(keys.extra(body) or {})
    extra = keep_apart(extra, ["outer"])
    if nested:
        outer = NESTED.extra(native)
        extra |= {"outer": outer} if outer else {}
        extra |= {"type": body["type"]} if has_content(body.get("type")) and body["type"] != native["type"] else {}
    return body, extra


def write_part(part: ToolCall | ToolResult, owner: str, *, nested: bool = False) -> Native:
    """Writes a call or a result: flat, or with its body under `content` if there are other keys."""
    extra = dict(get_extras(part.extras, owner))
    outer = extra.pop("outer", None)
    if isinstance(part, ToolCall):
        kind, keys = "tool_call", CALL
        body = {"name": part.name, "arguments": _arguments(part), "tool_call_id": part.id}
    else:
        kind, keys = "tool_result", RESULT
        body = {"name": part.name, "content": part.value, "tool_call_id": part.tool_call_id}
    if nested or outer or "type" in extra:
        outer_keys = as_object(outer)
        return NESTED.put({"type": kind, "content": keys.put(body, extra)}, outer_keys)
    return keys.put({"type": kind, **body}, extra)


def _arguments(call: ToolCall) -> Any:
    """Returns the arguments; a list, which the program also stores, from the string that keeps it."""
    try:
        value = None if call.raw_arguments is None else exact_json.parse(call.raw_arguments)
    except ContentError:
        value = None
    return value if isinstance(value, list) and value else call.arguments


# ---------------------------------------------------------------- entries


def lift_entries(natives: Sequence[Native], prefix: Path, entries: Entries) -> None:
    """Lifts the messages of all entries."""
    for i, native in enumerate(natives):
        _lift_entry(native, (*prefix, i), entries)


def _lift_entry(native: Native, place: Path, entries: Entries) -> None:
    """Lifts an entry; the author of an answer is the name of its message."""
    role, name = native["role"], native.get("name") or None
    extra = dict(ENTRY.extra(native) or {})
    if role in AUTHORS and name is None:
        entries.context.origin.routes[*place, "name"] = (*place, "role")
    if role == "tool" and isinstance(native["content"], str):
        parts: list[Part] = [entries.result(None, name, native["content"], None)]
        part_paths: list[Path] = [("content",)]
    else:
        parts, part_paths = _lift_content(native, entries)
        extra |= {"name": name} if name is not None and role in (*AUTHORS, "tool") else {}
    message = Message("assistant", [], name=role) if role in AUTHORS else Message(role, [], name=name)
    message.extras = entries.extras(extra)
    entries.add(message, parts, part_paths, place)


def _lift_content(native: Native, entries: Entries) -> tuple[list[Part], list[Path]]:
    content = native.get("content")
    if isinstance(content, str):
        parts: list[Part] = [Text(content)] if content else []
        part_paths: list[Path] = [("content",)] * len(parts)
    else:
        items = [content] if isinstance(content, dict) else content or []
        parts = [_lift_part(item, entries) for item in items]
        part_paths = [
            _node_path(item, ("content",) if item is content else ("content", j)) for j, item in enumerate(items)
        ]
    for j, call in enumerate(native.get("tool_calls") or ()):
        parts.append(lift_call(call, _is_nested(call), entries.context.pairing, entries.context.dialect))
        part_paths.append(("tool_calls", j))
    return parts, part_paths


def _node_path(item: Any, path: Path) -> Path:
    """Returns the path of an item's body."""
    nested = isinstance(item, dict) and item["type"] in ("tool_call", "tool_result") and _is_nested(item)
    return (*path, "content") if nested else path


def _is_nested(native: Native) -> bool:
    """True if the body is nested: a call whose content is an object, or a streamed result whose content has content.

    Data with the same keys is not nested: the name or the id of the tool is next to it.
    """
    content = native.get("content")
    if not isinstance(content, dict) or not {"name", "tool_name"}.isdisjoint(native):
        return False
    return native.get("type") != "tool_result" or ("content" in content and "tool_call_id" not in native)


def _lift_part(native: Any, entries: Entries) -> Part:
    if isinstance(native, str):
        return Text(native)
    if native["type"] == "text":
        return Text(native["content"], extras=entries.extras(TEXT.extra(native)))
    if native["type"] == "tool_call":
        return lift_call(native, _is_nested(native), entries.context.pairing, entries.context.dialect)
    if native["type"] == "tool_result":
        return entries.result(*result_body(native, _is_nested(native), entries.context.pairing))
    return Opaque(entries.context.dialect, native)


def write_entries(messages: Sequence[Message], owner: str) -> list[Native]:
    """Writes an entry for each message, but a single one for all results of a turn."""
    natives: list[Native] = []
    last: Message | None = None
    for message in messages:
        items = [item for part in message.parts if (item := _write_item(part, owner)) is not None]
        extra = get_extras(message.extras, owner)
        if last is not None and last.role == message.role == "tool" and not extra:
            natives[-1]["content"] += items
        else:
            entry: Native = {"role": message.role, "content": items}
            if message.role == "assistant":
                entry["role"] = message.name
            elif message.name:
                entry["name"] = message.name
            natives.append(ENTRY.put(entry, extra, sort=True))
        last = message
    return natives


def _write_item(part: Part, owner: str) -> Native | None:
    """Writes one item of the content; None if the program has no part for it."""
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "content": part.text}, get_extras(part.extras, owner))
    if isinstance(part, (ToolCall, ToolResult)):
        return write_part(part, owner)
    return part.value if isinstance(part, Opaque) else None
