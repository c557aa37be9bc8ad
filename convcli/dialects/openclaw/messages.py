"""The messages of OpenClaw and pi, as they stand in a row of a session or in a request."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.answers import Lifted, lift_answer, lift_injected, lower_answer
from convcli.dialects.openclaw.blocks import (
    NAME,
    RESULT_TYPES,
    Reader,
    Writer,
    api_of,
    finish,
    lift_block,
    lift_blocks,
    lower_block,
    lower_blocks,
)
from convcli.dialects.openclaw.results import BLOCK, INJECTED, RESULT, lift_result, lower_result
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolDefinition, ToolResult

RESULT_ROLES = ("toolResult", "tool")
SUMMARIES = ("branchSummary", "compactionSummary")
INSERTED = ("custom", "hookMessage", *SUMMARIES)
"""Roles whose messages pi hands to the model as words of the user."""
ROLES = ("system", "developer", "user", "assistant", "bashExecution", *RESULT_ROLES, *INSERTED)

_USER = Keys("role name content timestamp", carried="timestamp")
_SUMMARY = Keys("role summary fromId tokensBefore timestamp", carried="fromId tokensBefore timestamp")
KEYS = {
    "system": Keys("role content sections toolsAdded toolsRemoved timestamp", carried="toolsRemoved timestamp"),
    "assistant": Keys(
        "role content toolCalls tool_calls api provider model usage stopReason errorMessage timestamp",
        carried="api provider timestamp",
    ),
    "custom": Keys("role customType content display details timestamp", carried="customType display details timestamp"),
    **dict.fromkeys(SUMMARIES, _SUMMARY),
}
TOOL = Keys("name description parameters")


def keys_of(role: str) -> Keys:
    return KEYS.get("custom" if role == "hookMessage" else role, _USER)


# ---------------------------------------------------------------- lift


def lift_message(native: Native, reader: Reader) -> Lifted:
    """The messages of one native message: one, or one for each result that it holds and for what stands between."""
    content, role = native.get("content"), native["role"]
    if isinstance(content, list) and any(block["type"] in RESULT_TYPES for block in content):
        return _lift_mixed(native, content, reader)
    if role in RESULT_ROLES:
        return [_lift_result_message(native, reader)]
    if role == "bashExecution":
        message = Message("user", [Opaque(NAME, native)])
        reader.origin.spell(message, {"bash": True})
        return [(message, [()])]
    message, spots = _lift_turn(native, reader)
    return [(message, spots), *lift_injected(native, message, spots, reader)]


def _lift_result_message(native: Native, reader: Reader) -> tuple[Message, list[Path]]:
    result = lift_result(native, reader)
    spelling = reader.origin.spellings.pop(id(result), {})
    if native["role"] != "toolResult":
        spelling["role"] = native["role"]
    reader.origin.spell(result, spelling)
    message = Message("tool", [result], extras=_lift_clock(result))
    return message, [()]


def _lift_clock(result: ToolResult) -> Any:
    """The time of a result belongs to its message."""
    carried = carried_by(result.extras, NAME)
    if "timestamp" not in carried:
        return None
    rest = {key: value for key, value in carried.items() if key != "timestamp"}
    result.extras = extras_of(NAME, rest)
    return {NAME: {"timestamp": carried["timestamp"]}}


def _lift_turn(native: Native, reader: Reader) -> tuple[Message, list[Path]]:
    role = native["role"]
    carried, spelling = keys_of(role).take(native)
    extras, odd = dict(carried or {}), dict(spelling or {})
    message = Message("user" if role in INSERTED else role, [])
    if role in INSERTED:
        extras["role"] = role
    if role == "system":
        _lift_sections(native, message, extras, odd, reader)
    spots: list[Path] = [("sections", carried_by(part.extras, NAME)["section"]) for part in message.parts]
    body = "summary" if role in SUMMARIES else "content"
    content = native.get(body)
    if isinstance(content, str):
        message.parts += [Text(content)] if content else []
        odd |= {"content": "string"} if content else {}
        spots += [(body,)] if content else []
    else:
        message.parts += lift_blocks(content or [], reader, native.get("api"))
        spots += [(body, i) for i in range(len(content or ()))]
    if body not in native:
        odd.setdefault("keys", list(native))
    if role == "assistant":
        lift_answer(native, message, extras, odd)
    elif keys_of(role) is _USER:
        message.name = native.get("name") or None
    message.extras = extras_of(NAME, extras)
    reader.origin.spell(message, odd)
    return message, spots


def _lift_sections(native: Native, message: Message, extras: Native, odd: Spelling, reader: Reader) -> None:
    """The named sections of a prompt are text that the model reads; null takes a section away."""
    sections = native.get("sections") or {}
    for name, text in sections.items():
        if text is not None:
            part = Text(text, extras={NAME: {"section": name}})
            reader.origin.spell(part, {"section": True})
            message.parts.append(part)
    gone = {name: None for name, text in sections.items() if text is None}
    if gone:
        extras["sections"] = gone
    if list(sections) != [name for name in sections if name not in gone] + list(gone):
        odd["sections"] = list(sections)


def _lift_mixed(native: Native, content: list[Native], reader: Reader) -> Lifted:
    """Results among other blocks: a message for each result, and one for each run of blocks between them."""
    role = native["role"]
    lifted: Lifted = []
    for i, block in enumerate(content):
        if block["type"] in RESULT_TYPES:
            lifted.append((Message("tool", [lift_result(block, reader, native)]), [("content", i)]))
            continue
        if not lifted or lifted[-1][0].role == "tool":
            lifted.append((Message("user" if role in (*RESULT_ROLES, *INSERTED) else role, []), []))
        lifted[-1][0].parts.append(lift_block(block, reader, native.get("api")))
        lifted[-1][1].append(("content", i))
    first = lifted[0][0]
    outer = {key: value for key, value in native.items() if key not in ("role", "content") and value is not None}
    first.extras = extras_of(NAME, outer)
    reader.origin.spell(first, {"mixed": [role, list(native), {k: v for k, v in native.items() if v is None}]})
    for message, _ in lifted[1:]:
        reader.origin.spell(message, {"join": True})
    return lifted


# ---------------------------------------------------------------- tools of a system message


def lift_tool(native: Native, reader: Reader) -> ToolDefinition:
    carried, spelling = TOOL.take(native)
    tool = ToolDefinition(native["name"], native.get("description") or None, native.get("parameters"))
    tool.extras = extras_of(NAME, carried)
    reader.origin.spell(tool, spelling or {})
    return tool


def lower_tool(tool: ToolDefinition, writer: Writer) -> Native:
    native: Native = {"name": tool.name}
    if tool.description is not None or not writer.own:
        native["description"] = tool.description or ""
    if tool.parameters is not None:
        native["parameters"] = tool.parameters
    return finish(TOOL, native, carried_by(tool.extras, NAME), writer.spelling(tool))


# ---------------------------------------------------------------- lower


def grouped(messages: list[Message], writer: Writer) -> list[list[Message]]:
    """The messages, those together that one native message was lifted to."""
    groups: list[list[Message]] = []
    for message in messages:
        if groups and writer.spelling(message).get("join"):
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def lower_group(group: list[Message], writer: Writer, clock: int | None = None) -> Native:
    """One native message of the messages that one native message was lifted to; `clock` is its time, if any."""
    first = group[0]
    mixed = writer.spelling(first).get("mixed")
    if mixed is None:
        return lower_message(first, writer, clock)
    role, keys, blank = mixed
    blank = blank if clock is None else {**blank, "timestamp": clock}
    outer = carried_by(first.extras, NAME)
    blocks = [block for message in group for block in _mixed_blocks(message, writer, outer.get("api"))]
    native = {"role": role, "content": blocks, **outer, **blank}
    return {key: native[key] for key in [*keys, *native] if key in native}


def _mixed_blocks(message: Message, writer: Writer, api: Any) -> list[Native]:
    blocks: list[Native] = []
    for part in message.parts:
        block = lower_result(part, writer, BLOCK) if isinstance(part, ToolResult) else None
        block = block or lower_block(part, message.role, writer, api)
        blocks += [block] if block is not None else []
    return blocks


def lower_message(message: Message, writer: Writer, clock: int | None = None) -> Native:
    first = message.parts[0] if message.parts else None
    if isinstance(first, ToolResult):
        return lower_result_message(message, first, writer, clock)
    if isinstance(first, Opaque) and len(message.parts) == 1 and _is_bash(message, first, writer):
        return dict(first.value)
    return _lower_turn(message, writer, clock)


def _is_bash(message: Message, part: Opaque, writer: Writer) -> bool:
    """A command that the user ran, with its output: a message of its own that pi shows to the model as text."""
    if writer.own or writer.form == "api":
        return bool(writer.spelling(message).get("bash"))
    value = part.value if part.dialect == NAME else None
    return isinstance(value, dict) and value.get("role") == "bashExecution" and "type" not in value


def lower_result_message(message: Message, result: ToolResult, writer: Writer, clock: int | None) -> Native:
    """A result: on disk and where the source had it so a message, in the request form of others a block in one."""
    spelling = writer.spelling(result)
    time = {} if clock is None else {"timestamp": clock}
    time |= {key: value for key, value in carried_by(message.extras, NAME).items() if key == "timestamp"}
    if writer.form == "api" and not writer.own:
        return {"role": "tool", "content": [lower_result(result, writer, BLOCK)], **time}
    native = {"role": spelling.get("role", "toolResult"), **lower_result(result, writer, RESULT), **time}
    return finish(RESULT, native, None, {"keys": spelling["keys"]} if "keys" in spelling else {})


def _lower_turn(message: Message, writer: Writer, clock: int | None) -> Native:
    spelling = writer.spelling(message)
    carried = dict(carried_by(message.extras, NAME))
    role = carried.pop("role", None) if message.role == "user" else None
    if role not in INSERTED or (writer.form == "api" and not writer.own):
        role = _role(message, writer)
    if not writer.own:
        carried = {key: value for key, value in carried.items() if key not in ("toolsAdded", "toolsRemoved")}
    native: Native = {"role": role}
    foreign = None if writer.own or role != "assistant" or "api" in carried else api_of(message)
    if foreign is not None:
        native["api"], native["provider"] = foreign
    api = carried.get("api") or native.get("api")
    if role == "system":
        _lower_sections(message, native, carried, writer)
    parts = [part for part in message.parts if not _is_elsewhere(part, role, writer)]
    native["summary" if role in SUMMARIES else "content"] = _lower_content(message, parts, role, writer, api)
    if role == "assistant":
        lower_answer(message, native, writer)
    elif message.name is not None and keys_of(role) is _USER and (writer.own or writer.form == "api"):
        native["name"] = message.name
    if role == "assistant":
        carried = {key: value for key, value in carried.items() if key not in ("usage", *INJECTED)}
        native |= {key: spelling[key] for key in INJECTED if key in spelling}
    carried.pop("row", None)
    if clock is not None:
        native["timestamp"] = clock
    if "tools" in spelling:
        native["toolsAdded"] = [writer.tools[name] for name in spelling["tools"] if name in writer.tools]
    return finish(keys_of(role), native, carried, spelling)


def _role(message: Message, writer: Writer) -> str:
    """Sessions know no developer; what no result is cannot stand under the role of results."""
    if message.role == "developer" and writer.form == "session" and not writer.own:
        return "system"
    return "user" if message.role == "tool" else message.role


def _is_elsewhere(part: Part, role: str, writer: Writer) -> bool:
    """Parts that stand beside the content: sections of the prompt and injected calls."""
    return bool(_section(part, role, writer)) or bool(writer.spelling(part).get("in"))


def _section(part: Part, role: str, writer: Writer) -> Any:
    if role != "system" or not isinstance(part, Text) or (writer.own and not writer.spelling(part).get("section")):
        return None
    name = carried_by(part.extras, NAME).get("section")
    return name if isinstance(name, str) else None


def _lower_sections(message: Message, native: Native, carried: Native, writer: Writer) -> None:
    named = [(_section(part, "system", writer), part) for part in message.parts]
    sections = {name: part.text for name, part in named if name is not None and isinstance(part, Text)}
    gone = carried.pop("sections", None)
    sections |= gone if isinstance(gone, dict) else {}
    order = writer.spelling(message).get("sections", list(sections))
    if sections:
        native["sections"] = {name: sections[name] for name in [*order, *sections] if name in sections}


def _lower_content(message: Message, parts: list[Part], role: str, writer: Writer, api: Any) -> Any:
    """A list of blocks; a string where the source had one, in a summary and in a prompt of one text."""
    plain = parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) and parts[0].extras is None else None
    style = writer.spelling(message).get("content")
    if role in SUMMARIES:
        return "\n\n".join(part.text for part in parts if isinstance(part, Text))
    if plain is not None and (style == "string" or (not writer.own and role in ("system", "developer"))):
        return plain
    if not parts and role == "system":
        return ""
    return lower_blocks(message, parts, writer, api)
