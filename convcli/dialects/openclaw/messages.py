"""OpenClaw and pi messages, as in a session row or in a request."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

import convcli.dialects.openclaw.blocks as blocks
from convcli.dialects.openclaw.injected import has_injected, lift_injected
from convcli.kit.definitions import Definitions
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import NOTHING, Keys, Native, as_object, except_keys, get_extras, make_extras, omit, together
from convcli.kit.settings import Setting
from convcli.kit.texts import text_of
from convcli.kit.usage import cached_tokens
from convcli.kit.values import milliseconds_of_time, pairs
from convcli.model.branches import INSTRUCTIONS
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolResult

STOP_OF = {"tool_calls": "toolUse"} | {reason: reason for reason in ("stop", "length", "error", "aborted", "deferred")}
STOP_REASON = Setting(
    "stop_reason", lambda stop: "tool_calls" if stop == "toolUse" else stop, lambda stop: STOP_OF.get(stop, stop)
)
USAGE = pairs(
    "input=inputTokens output=outputTokens cacheRead=cacheReadTokens cacheWrite=cacheWriteTokens "
    "reasoning=reasoningTokens totalTokens=totalTokens"
)
COST = Keys("input output cacheRead cacheWrite total")
COUNTS = Keys(" ".join((*USAGE, "cost")))


def read_usage(native: Native) -> tuple[dict[str, int], float | None, Native]:
    """Returns the counts, the cost in US dollars, and the rest. `input` excludes caches here.

    pi writes zero for unknown values, so zero is not read as a count or a cost, but kept in the rest.
    """
    usage: dict[str, int] = {}
    rest: Native = {}
    for key, value in native.items():
        if type(value) is int and value > 0 and key in USAGE:
            usage[USAGE[key]] = value
        elif value is not None:
            rest[key] = value
    rest = COUNTS.ordered(rest)
    total = usage.pop("inputTokens", 0) + cached_tokens(usage)
    if total and rest.get("input") == 0:  # all of the input came from a cache, as the total shows
        del rest["input"]
    costs = rest.get("cost") or {}
    cost = costs.get("total") or None
    if cost is not None:
        others = {key: costs[key] for key in COST.sorted(costs) if key != "total"}
        rest = {**rest, "cost": others} if others else omit(rest, "cost")
    return ({"inputTokens": total, **usage} if total else usage), cost, rest


def write_usage(message: Message) -> Native:
    """Writes a message's counts, cost and usage extras, in pi's order."""
    usage = message.usage or {}
    native: Native = {key: usage[name] for key, name in USAGE.items() if name in usage}
    if "input" in native:
        native["input"] = max(native["input"] - cached_tokens(usage), 0)
    native = {**get_extras(message.extras, blocks.NAME).get("usage", {}), **native}
    if message.cost is not None:
        native["cost"] = COST.put({**(native.get("cost") or {}), "total": message.cost}, None, sort=True)
    return COUNTS.put(native, None, sort=True)


ZEROS: Native = {
    **{key: 0 for key in USAGE if key != "reasoning"},
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
}
"""What pi writes for unknown values: it cannot show the statistics of a session with a missing count."""


def counted(message: Message, zeros: Native) -> Message:
    """Returns an answer with a number for each count: the total from its sum, others from `zeros`."""
    if message.role != "assistant":
        return message
    usage, extra = message.usage or {}, get_extras(message.extras, blocks.NAME)
    other_counts = extra.get("usage", {})
    if zeros and usage.keys() >= {"inputTokens", "outputTokens"} and "totalTokens" not in {*usage, *other_counts}:
        usage = {**usage, "totalTokens": usage["inputTokens"] + usage["outputTokens"]}
    known = {key for key, name in USAGE.items() if name in usage}
    whole = {**zeros, **other_counts}
    if message.cost is not None:
        whole["cost"] = omit({**zeros.get("cost", {}), **(whole.get("cost") or {})}, "total")
    rest = {key: whole[key] for key in COUNTS.sorted(whole) if key not in known}
    is_unchanged = usage.keys() == (message.usage or {}).keys() and rest == other_counts
    if is_unchanged:
        return message
    others = omit(extra, "usage")
    extras = {**(message.extras or {}), blocks.NAME: {**others, **({"usage": rest} if rest else {})}}
    return replace(message, usage=usage or None, extras=extras)


RESULT_ROLES = ("toolResult", "tool")
COMPACTED = "compactionSummary"
SUMMARIES = ("branchSummary", COMPACTED)
INSERTED = ("custom", "hookMessage", *SUMMARIES)
"""Roles whose messages pi passes to the model as user messages."""
BASH = "bashExecution"
"""A command that the user ran, with its output: a message of its own that pi passes to the model as text."""
ROLES = ("system", "developer", "user", "assistant", BASH, *RESULT_ROLES, *INSERTED)

_USER = Envelope("role= name=name content= timestamp")
_SUMMARY = Envelope(
    "role= summary= fromId firstKeptEntryId tokensBefore details fromHook usage systemMessage timestamp"
)
_INSERTED = Envelope("role= customType content= display details timestamp")
ENVELOPES = {
    "system": Envelope("role= content= sections= toolsAdded= toolsRemoved timestamp"),
    "assistant": Envelope(
        "role= content= toolCalls= tool_calls= api provider=provider model=model usage= stopReason "
        "errorMessage=error timestamp",
        {"stopReason": STOP_REASON},
    ),
    **dict.fromkeys(("custom", "hookMessage"), _INSERTED),
    **dict.fromkeys(SUMMARIES, _SUMMARY),
}
DEFINITIONS = Definitions("name=name description=description parameters=parameters", {"description": ""})
"""Tool definitions in system messages."""


# ---------------------------------------------------------------- lift


def lift_message(native: Native, path: Path, reader: blocks.Reader, usual: Native = NOTHING) -> blocks.Lifted:
    """Reads one native message: as one message, or one for each result and for each run of blocks between them. `usual`
    values of keys without a field may be left out."""
    role, content = native["role"], native.get("content")
    if role == BASH:
        return [(Message("user", [Opaque(blocks.NAME, native)]), [()])]
    kinds = [block["type"] for block in content] if isinstance(content, list) and role not in SUMMARIES else ()
    if kinds and not blocks.RESULT_TYPES.isdisjoint(kinds):
        return _lift_mixed(native, native["content"], reader)
    if role in RESULT_ROLES:
        return [(_result_message(blocks.lift_result(native, reader, usual=usual)), [()])]
    message, part_paths = _lift_turn(native, reader, usual)
    results = lift_injected(native, message, part_paths, path, reader) if has_injected(native) else []
    return [(message, part_paths), *results]


def _result_message(result: ToolResult) -> Message:
    """Moves the time of a result to its message."""
    extra = get_extras(result.extras, blocks.NAME)
    if "timestamp" not in extra:
        return Message("tool", [result])
    result.extras = make_extras(blocks.NAME, omit(extra, "timestamp"))
    return Message("tool", [result], extras=make_extras(blocks.NAME, {"timestamp": extra["timestamp"]}))


def _lift_turn(native: Native, reader: blocks.Reader, usual: Native) -> tuple[Message, list[Path]]:
    role = native["role"]
    message = Message("user" if role in INSERTED else role, [])
    extras = ENVELOPES.get(role, _USER).lift(native, message, usual) or {}
    if role in INSERTED:
        extras["role"] = role
    elif role == "system":
        _lift_sections(native, message, extras)
    part_paths: list[Path] = []
    if message.parts:  # sections
        part_paths += [("sections", get_extras(part.extras, blocks.NAME)["section"]) for part in message.parts]
    body = "summary" if role in SUMMARIES else "content"
    content = native.get(body) or []
    if isinstance(content, str):
        message.parts.append(Text(content))
        part_paths.append((body,))
    else:
        api = native.get("api")
        message.parts += [blocks.lift_block(block, reader, api) for block in content]
        part_paths += [(body, i) for i in range(len(content))]
    if role == "assistant":
        usage, message.cost, rest = read_usage(native.get("usage") or {})
        message.usage = usage or None
        if rest:
            extras["usage"] = rest
    if extras:
        message.extras = make_extras(blocks.NAME, extras, row=None)
    return message, part_paths


def _lift_sections(native: Native, message: Message, extras: Native) -> None:
    """Reads the named sections of a prompt as text for the model; null removes a section."""
    sections = native.get("sections") or {}
    message.parts += [
        Text(text, extras={blocks.NAME: {"section": name}}) for name, text in sections.items() if text is not None
    ]
    removed = {name: None for name, text in sections.items() if text is None}
    extras |= {"sections": removed} if removed else {}


def _lift_mixed(native: Native, content: list[Native], reader: blocks.Reader) -> blocks.Lifted:
    """Reads results among other blocks: a message for each result, and for each run of blocks between them."""
    role = native["role"]
    lifted: blocks.Lifted = []
    for i, block in enumerate(content):
        if block["type"] in blocks.RESULT_TYPES:
            lifted.append((Message("tool", [blocks.lift_result(block, reader, native)]), [("content", i)]))
            continue
        if not lifted or lifted[-1][0].role == "tool":
            lifted.append((Message("user" if role in (*RESULT_ROLES, *INSERTED) else role, []), []))
        lifted[-1][0].parts.append(blocks.lift_block(block, reader, native.get("api")))
        lifted[-1][1].append(("content", i))
    lifted[0][0].extras = make_extras(blocks.NAME, _outside_blocks(native, lifted), row=None)
    return lifted


def _outside_blocks(native: Native, lifted: blocks.Lifted) -> Native:
    """Returns the message's keys outside its blocks, except those that repeat its results."""
    results = [part for message, _ in lifted for part in message.parts if isinstance(part, ToolResult)]
    repeated = {*(part.tool_call_id for part in results), *(part.name for part in results)}
    known = {key for key in (*blocks.IDS, *blocks.NAMES) if native.get(key) in repeated}
    return except_keys(native, "role", "content", *blocks.FLAGS, *known)


# ---------------------------------------------------------------- write


def write_message(message: Message, form: str) -> Native:
    """Writes a result, a command that the user ran, or a message; in a session with the time of its row."""
    timestamp = milliseconds_of_time(message.created_at) if form == blocks.SESSION else None
    time: Native = {} if timestamp is None else {"timestamp": timestamp}
    first = message.parts[0] if message.parts else None
    if isinstance(first, ToolResult):
        extra = omit(get_extras(message.extras, blocks.NAME), "row")
        result = blocks.write_result(first, form)
        if form == blocks.REQUEST:
            return {"role": "tool", "content": [result], **together(extra)}
        return blocks.RESULT.put({"role": "toolResult", **result, **time}, extra, sort=True)
    if isinstance(first, Opaque) and is_bash(first):
        return dict(first.value)
    return _write_turn(message, time, form)


def is_bash(part: Part) -> bool:
    value = part.value if isinstance(part, Opaque) and part.dialect == blocks.NAME else None
    return isinstance(value, dict) and value.get("role") == BASH and "type" not in value


def _write_turn(message: Message, time: Native, form: str) -> Native:
    extra = omit(get_extras(message.extras, blocks.NAME), "row")
    inserted = extra.pop("role", None) if message.role == "user" else None
    inserted = inserted if message.replaces is None else COMPACTED
    role = inserted if inserted in INSERTED else message.role
    parts, content = message.parts, {"role": role, **omit(time, *extra)}
    if role == "system":
        parts, sections = _split_sections(parts, extra.pop("sections", None))
        content |= {"sections": sections} if sections else {}
        content |= {"toolsAdded": extra.pop("toolsAdded")} if "toolsAdded" in extra else {}
    if role == "assistant" and (message.usage or message.cost is not None or "usage" in extra):
        content["usage"] = write_usage(message)
    content["summary" if role in SUMMARIES else "content"] = _write_content(parts, role, form, extra.get("api"))
    return ENVELOPES.get(role, _USER).write(message, extra, **content)


def section_of(part: Part) -> str | None:
    """Returns the prompt section that a text comes from."""
    name = get_extras(part.extras, blocks.NAME).get("section") if isinstance(part, Text) else None
    return name if isinstance(name, str) else None


def _split_sections(parts: list[Part], removed: Any) -> tuple[list[Part], Native]:
    """Returns the parts in the content, and the sections with the removed ones."""
    texts = [part for part in parts if isinstance(part, Text)]
    sections: Native = {name: part.text for part in texts if (name := section_of(part)) is not None}
    sections |= as_object(removed)
    return [part for part in parts if section_of(part) is None], sections


def _write_content(parts: list[Part], role: str, form: str, api: Any) -> Any:
    """Writes a list of blocks; a string for a summary or a prompt of one text."""
    if role in SUMMARIES:
        return text_of(parts, "\n\n")
    first = parts[0] if len(parts) == 1 else None
    if role in INSTRUCTIONS and isinstance(first, Text) and first.extras is None and first.text:
        return first.text
    return "" if not parts and role == "system" else blocks.write_blocks(parts, role, form, api)
