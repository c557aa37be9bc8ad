"""What only an assistant says in OpenClaw and pi: why it stopped, what it used, and calls beside the content."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, Reader, Writer, read_payload
from convcli.dialects.openclaw.results import INJECTED, injected_result, read_injected
from convcli.kit.objects import Native, Spelling, carried_by
from convcli.kit.pairing import Twins
from convcli.model.transcript import Message, Path, ToolCall

Lifted = list[tuple[Message, list[Path]]]
"""Messages, and where their parts stand relative to them."""

STOP = {"toolUse": "tool_calls"}
STOP_OF = {"tool_calls": "toolUse"} | {word: word for word in ("stop", "length", "error", "aborted", "deferred")}


def lift_answer(native: Native, message: Message, extras: Native, odd: Spelling) -> None:
    """What only an assistant has: its model, why it stopped, what it used and what failed."""
    message.model = native.get("model") or None
    message.error = native.get("errorMessage") or None
    stop = native.get("stopReason") or None
    message.stop_reason = STOP.get(stop, stop) if stop else None
    if stop and STOP_OF.get(message.stop_reason or "", message.stop_reason) != stop:
        odd["stopReason"] = stop
    if native.get("usage"):
        usage, rest = read_usage(native["usage"])
        message.usage = usage or None
        if rest:
            extras["usage"] = rest
        odd["usage"] = native["usage"]


def read_usage(native: Native) -> tuple[dict[str, int], Native]:
    """Counts, and the rest. Zero says nothing: pi writes it where there is no count. `input` excludes caches here."""
    counts = {key: value for key, value in native.items() if key in USAGE and type(value) is int and value > 0}
    rest = {key: value for key, value in native.items() if key not in counts and _says_count(key, value)}
    usage = {USAGE[key]: value for key, value in counts.items() if key != "input"}
    total = sum(counts.get(key, 0) for key in ("input", "cacheRead", "cacheWrite"))
    return ({"inputTokens": total, **usage} if total else usage), rest


USAGE = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cacheRead": "cacheReadTokens",
    "cacheWrite": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
    "totalTokens": "totalTokens",
}
COST = ("input", "output", "cacheRead", "cacheWrite", "total")


def _says_count(key: str, value: Any) -> bool:
    if key == "cost" and isinstance(value, dict):
        return any(value.values())
    return value is not None and not (key in USAGE and type(value) is int and value == 0)


def write_usage(message: Message, spelling: Spelling) -> Native:
    """All counts that pi reads, zero where there is none: its session statistics fail without them."""
    rest = carried_by(message.extras, NAME).get("usage", {})
    written = spelling.get("usage")
    usage = message.usage or {}
    if written is not None and read_usage(written) == (usage, rest):
        return dict(written)
    native = {key: usage.get(name, 0) for key, name in USAGE.items() if key != "reasoning" or name in usage}
    native["input"] = max(native["input"] - native["cacheRead"] - native["cacheWrite"], 0)
    return {**native, "cost": dict.fromkeys(COST, 0), **rest}


def lower_answer(message: Message, native: Native, writer: Writer) -> None:
    spelling = writer.spelling(message)
    if message.model is not None:
        native["model"] = message.model
    if message.usage or "usage" in spelling or (writer.form == "session" and not writer.own):
        native["usage"] = write_usage(message, spelling)
    stop = message.stop_reason
    if stop is not None:
        native["stopReason"] = spelling.get("stopReason") or STOP_OF.get(stop, stop if writer.own else "stop")
    if message.error is not None:
        native["errorMessage"] = message.error


# ---------------------------------------------------------------- calls beside the content


def lift_injected(native: Native, message: Message, spots: list[Path], reader: Reader) -> Lifted:
    """Calls under `toolCalls` or `tool_calls`: what the content holds too is lifted once, from there."""
    results: Lifted = []
    for key in INJECTED if native["role"] == "assistant" else ():
        known = [part for part in message.parts if isinstance(part, ToolCall)]
        twins = Twins(known)
        for i, entry in enumerate(native.get(key) or ()):
            call = _known_call(entry, twins) if known else None
            if call is None:
                call = _lift_injected_call(entry, reader)
                message.parts.append(call)
                spots.append((key, i))
            result = injected_result(entry, call)
            if result is not None and call.id not in reader.answered:
                reader.pairing.result(call.id, None)
                answer = Message("tool", [result])
                reader.origin.spell(answer, {"join": True})
                results.append((answer, [(key, i, "result")]))
        if native.get(key):
            spelling = reader.origin.spellings.get(id(message), {})
            reader.origin.spell(message, {**spelling, key: native[key]})
            _carry_left(message, key, native[key])
    return results


def _known_call(entry: Native, twins: Twins) -> ToolCall | None:
    """The call of the content that an injected one repeats: the same id, or without one the same name and arguments."""
    if entry.get("id"):
        return twins.with_id(entry["id"])
    name, given = read_injected(entry)
    return twins.saying(name, given or {})


def _lift_injected_call(entry: Native, reader: Reader) -> ToolCall:
    name, given = read_injected(entry)
    arguments, raw, _ = read_payload(given if isinstance(given, (dict, str)) else None)
    call = ToolCall(reader.pairing.call(entry.get("id") or None, name), name, arguments, raw)
    reader.origin.spell(call, {"in": True})
    return call


def _carry_left(message: Message, key: str, entries: list[Native]) -> None:
    """What an injected call says beyond the call and its result."""
    known = ("id", "type", "name", "args", "arguments", "input", "function", "result")
    left = [{k: v for k, v in entry.items() if k not in known and v is not None} for entry in entries]
    if any(left):
        message.extras = {NAME: {**carried_by(message.extras, NAME), key: left}}
