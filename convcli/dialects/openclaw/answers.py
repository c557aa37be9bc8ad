"""What only an assistant says in OpenClaw and pi: why it stopped, what it used, and calls beside the content."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, SESSION, Reader, read_payload
from convcli.kit.objects import Native, carried_by, extras_of, says_something
from convcli.kit.pairing import Twins
from convcli.model.transcript import Message, Path, ToolCall, ToolResult

Lifted = list[tuple[Message, list[Path]]]
"""Messages, and where their parts stand relative to them."""

STOP = {"toolUse": "tool_calls"}
STOP_OF = {"tool_calls": "toolUse"} | {word: word for word in ("stop", "length", "error", "aborted", "deferred")}
USAGE = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cacheRead": "cacheReadTokens",
    "cacheWrite": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
    "totalTokens": "totalTokens",
}
COST = ("input", "output", "cacheRead", "cacheWrite", "total")


def lift_answer(native: Native, message: Message, extras: Native) -> None:
    """What only an assistant has: its model, why it stopped, what it used and what failed."""
    message.model = native.get("model") or None
    message.error = native.get("errorMessage") or None
    stop = native.get("stopReason") or None
    message.stop_reason = STOP.get(stop, stop) if stop else None
    usage, rest = read_usage(native.get("usage") or {})
    message.usage = usage or None
    extras |= {"usage": rest} if rest else {}


def write_answer(message: Message, form: str) -> Native:
    usage = message.usage or form == SESSION or "usage" in carried_by(message.extras, NAME)
    native: Native = {
        "model": message.model,
        "usage": write_usage(message) if usage else None,
        "stopReason": STOP_OF.get(message.stop_reason or "", message.stop_reason),
        "errorMessage": message.error,
    }
    return {key: value for key, value in native.items() if value is not None}


def read_usage(native: Native) -> tuple[dict[str, int], Native]:
    """Counts, and the rest. Zero says nothing: pi writes it where there is no count. `input` excludes caches here."""
    counts = {key: value for key, value in native.items() if key in USAGE and type(value) is int and value > 0}
    rest = {key: value for key, value in native.items() if key not in counts and _says_count(key, value)}
    usage = {USAGE[key]: value for key, value in counts.items() if key != "input"}
    total = sum(counts.get(key, 0) for key in ("input", "cacheRead", "cacheWrite"))
    return ({"inputTokens": total, **usage} if total else usage), rest


def _says_count(key: str, value: Any) -> bool:
    if key == "cost" and isinstance(value, dict):
        return any(value.values())
    return value is not None and not (key in USAGE and type(value) is int and value == 0)


def write_usage(message: Message) -> Native:
    """All counts that pi reads, zero where there is none: its session statistics fail without them."""
    usage = message.usage or {}
    native = {key: usage.get(name, 0) for key, name in USAGE.items() if key != "reasoning" or name in usage}
    native["input"] = max(native["input"] - native["cacheRead"] - native["cacheWrite"], 0)
    return {**native, "cost": dict.fromkeys(COST, 0), **carried_by(message.extras, NAME).get("usage", {})}


# ---------------------------------------------------------------- calls beside the content

INJECTED = ("toolCalls", "tool_calls")
"""Keys of a message under which other programs put calls, and perhaps their results, beside the content."""
_KNOWN = ("id", "type", "name", "args", "arguments", "input", "function", "result")


def lift_injected(native: Native, message: Message, spots: list[Path], path: Path, reader: Reader) -> Lifted:
    """Calls under `toolCalls` or `tool_calls`: what the content holds too is lifted once, from there.

    What an entry says beyond the call and its result rides with the call.
    """
    results: Lifted = []
    for key in INJECTED if native["role"] == "assistant" else ():
        twins = Twins([part for part in message.parts if isinstance(part, ToolCall)])
        for i, entry in enumerate(native.get(key) or ()):
            call = _repeated_call(entry, twins)
            if call is None:
                call = _lift_entry(entry, reader)
                message.parts.append(call)
                spots.append((key, i))
            else:
                _route(call, message, spots, entry, path, (key, i), reader)
            _carry(call, entry)
            result = injected_result(entry, call)
            if result is not None and call.id not in reader.answered:
                reader.context.pairing.result(call.id, None)
                results.append((Message("tool", [result]), [(key, i, "result")]))
    return results


def _repeated_call(entry: Native, twins: Twins) -> ToolCall | None:
    """The call of the content that an injected one repeats: the same id, or without one the same name and arguments."""
    if entry.get("id"):
        return twins.with_id(entry["id"])
    name, arguments = _read_entry(entry)
    return twins.saying(name, arguments or {})


def _lift_entry(entry: Native, reader: Reader) -> ToolCall:
    name, payload = _read_entry(entry)
    arguments, raw = read_payload(payload if isinstance(payload, (dict, str)) else None)
    return ToolCall(reader.context.pairing.call(entry.get("id") or None, name), name, arguments, raw)


def _read_entry(entry: Native) -> tuple[str, Any]:
    """Name and arguments of an injected call; OpenAI's calls have theirs under `function`."""
    function = entry.get("function")
    inner: Native = function if isinstance(function, dict) else entry
    arguments = next((inner[key] for key in ("args", "arguments", "input") if inner.get(key) is not None), None)
    return str(inner.get("name") or "unknown"), arguments


def _carry(call: ToolCall, entry: Native) -> None:
    beside = {key: value for key, value in entry.items() if key not in _KNOWN and value is not None}
    call.extras = extras_of(NAME, {**beside, **carried_by(call.extras, NAME)})


def _route(
    call: ToolCall, message: Message, spots: list[Path], entry: Native, path: Path, at: Path, reader: Reader
) -> None:
    """What is carried of an entry stands there, not where its call does."""
    spot = next(spot for part, spot in zip(message.parts, spots, strict=True) if part is call)
    routes = {(*path, *spot, key): (*path, *at, key) for key in entry if key not in _KNOWN}
    reader.context.origin.routes.update(routes)


def injected_result(native: Native, call: ToolCall) -> ToolResult | None:
    """The result inside an injected call, in Gemini's shape."""
    results = native.get("result")
    first = results[0] if isinstance(results, list) and results else results
    if not says_something(first):
        return None
    response = (first.get("functionResponse") or {}).get("response") if isinstance(first, dict) else first
    failed = native.get("status") == "error"
    if isinstance(response, dict) and len(response) == 1:
        key = next(iter(response))
        failed = failed or key == "error"
        response = response[key] if key in ("output", "result", "error") else response
    if isinstance(response, str):
        return ToolResult(call.id, call.name, "error" if failed else "text", response)
    return ToolResult(call.id, call.name, "data", response, True if failed else None)
