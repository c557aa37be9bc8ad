"""What only an assistant says in OpenClaw and pi: why it stopped, what it used, and calls beside the content."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, Reader, read_payload
from convcli.kit.objects import Native, carried_by, extras_of, says_something
from convcli.kit.pairing import Twins
from convcli.kit.settings import Setting
from convcli.model.transcript import Message, Path, ToolCall, ToolResult

Lifted = list[tuple[Message, list[Path]]]
"""Messages, and where their parts stand relative to them."""

STOP_OF = {"tool_calls": "toolUse"} | {word: word for word in ("stop", "length", "error", "aborted", "deferred")}
STOP_REASON = Setting(
    "stop_reason",
    lambda stop: "tool_calls" if stop == "toolUse" else stop,
    lambda stop: STOP_OF.get(stop, stop),
)
USAGE = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cacheRead": "cacheReadTokens",
    "cacheWrite": "cacheWriteTokens",
    "reasoning": "reasoningTokens",
    "totalTokens": "totalTokens",
}
COST = ("input", "output", "cacheRead", "cacheWrite", "total")


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
    carried = carried_by(message.extras, NAME).get("usage", {})
    counts = {**native, "cost": dict.fromkeys(COST, 0)}
    return {**{key: value for key, value in counts.items() if key not in carried}, **carried}


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
        places = {id(part): (*path, *spot) for part, spot in zip(message.parts, spots, strict=True)}
        for i, entry in enumerate(native.get(key) or ()):
            call = _repeated_call(entry, twins)
            if call is None:
                call = _lift_entry(entry, reader)
                message.parts.append(call)
                spots.append((key, i))
            else:
                _route(entry, places[id(call)], (*path, key, i), reader)
            result = injected_result(entry, call)
            is_lifted = result is not None and call.id not in reader.answered
            _carry(call, entry, with_result=not _is_told(entry.get("result"), is_lifted=is_lifted))
            if result is not None and is_lifted:
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


def _carry(call: ToolCall, entry: Native, *, with_result: bool) -> None:
    known = [key for key in _KNOWN if key != "result" or not with_result]
    beside = {key: value for key, value in entry.items() if key not in known and value is not None}
    call.extras = extras_of(NAME, {**beside, **carried_by(call.extras, NAME)})


def _is_told(result: Any, *, is_lifted: bool) -> bool:
    """Is all that an entry says of its result lifted, or said once more? Its wrapper may have other keys."""
    only = result[0] if isinstance(result, list) and len(result) == 1 else result
    if not isinstance(only, dict):
        return not isinstance(only, list) or not only
    answer = only.get("functionResponse") or {}
    response = answer.get("response") or {}
    is_plain = len(response) == 1 and response.keys() <= {"output", "result", "error"}
    return (
        only.keys() <= {"functionResponse"} and answer.keys() <= {"id", "name", "response"} and (is_lifted or is_plain)
    )


def _route(entry: Native, place: Path, at: Path, reader: Reader) -> None:
    """What is carried of an entry stands there, not where its call does."""
    reader.context.origin.routes.update({(*place, key): (*at, key) for key in entry if key not in _KNOWN})


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
