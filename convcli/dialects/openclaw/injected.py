"""Calls and their results that other programs store outside the content of an OpenClaw or pi answer."""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, Lifted, Reader, read_payload
from convcli.kit.objects import Native, except_keys, get_extras, has_content, make_extras, omit
from convcli.kit.pairing import Twins
from convcli.model.transcript import Message, Path, ToolCall, ToolResult
from convcli.wire import exact_json

INJECTED = ("toolCalls", "tool_calls")
"""Message keys under which other programs store calls, and perhaps their results, outside the content."""
_ARGUMENTS = ("args", "arguments", "input")
_TYPES = (None, "function", "toolCall", "tool_call")
_UNREAD = "injected"
"""The extras key for what an injected call says in addition to the call, or in another way."""
_KNOWN = ("id", "type", "name", "args", "arguments", "input", "function", "result")


def has_injected(native: Native) -> bool:
    """True if the message has calls outside its content."""
    return native.get("role") == "assistant" and bool(native.get("toolCalls") or native.get("tool_calls"))


def lift_injected(native: Native, message: Message, part_paths: list[Path], path: Path, reader: Reader) -> Lifted:
    """Reads calls under `toolCalls` or `tool_calls`; a call that the content has too is read only there.

    Other keys of an entry are kept as extras of the call.
    """
    results: Lifted = []
    for key in INJECTED:
        twins = Twins([part for part in message.parts if isinstance(part, ToolCall)])
        places = {id(part): (*path, *node_path) for part, node_path in zip(message.parts, part_paths, strict=True)}
        for i, entry in enumerate(native.get(key) or ()):
            call = _repeated_call(entry, twins)
            if call is None:
                call = _lift_entry(entry, reader)
                message.parts.append(call)
                part_paths.append((key, i))
            else:
                _route(entry, places[id(call)], (*path, key, i), reader)
            unread = _unread(entry, call)
            if unread:
                place = places.get(id(call), (*path, key, i))
                reader.context.origin.routes[*place, _UNREAD] = (*path, key, i)
            result = injected_result(entry, call)
            is_lifted = result is not None and call.id not in reader.answered
            with_result = not _is_covered(entry.get("result"), is_lifted=is_lifted)
            _keep_extras(call, entry, unread, with_result=with_result)
            if result is not None and is_lifted:
                reader.context.pairing.result(call.id, None)
                results.append((Message("tool", [result]), [(key, i, "result")]))
    return results


def _repeated_call(entry: Native, twins: Twins) -> ToolCall | None:
    """Returns the content's call that an injected one repeats: by id, or without one by name and arguments."""
    if entry.get("id"):
        return twins.with_id(entry["id"])
    name, arguments = _read_entry(entry)
    return twins.saying(name, arguments or {})


def _lift_entry(entry: Native, reader: Reader) -> ToolCall:
    name, payload = _read_entry(entry)
    arguments, raw = read_payload(payload if isinstance(payload, (dict, str)) else None)
    return ToolCall(reader.context.pairing.call(entry.get("id") or None, name), name, arguments, raw)


def _read_entry(entry: Native) -> tuple[str, Any]:
    """Returns name and arguments of an injected call; OpenAI's calls have theirs under `function`."""
    function = entry.get("function")
    inner: Native = function if isinstance(function, dict) else entry
    arguments = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    return str(inner.get("name") or "unknown"), arguments


def _unread(entry: Native, call: ToolCall) -> Native:
    """Returns what an injected call says of type, function, name and arguments and its call does not have."""
    function = entry.get("function")
    inner: Native = function if isinstance(function, dict) else entry
    payload = _read_entry(entry)[1]
    key = next((key for key in _ARGUMENTS if inner.get(key) is not None), "")
    is_read = isinstance(payload, (dict, str)) and exact_json.exact(
        [*read_payload(payload)], [call.arguments, call.raw_arguments]
    )
    read = [*([key] if is_read else []), *(["name"] if inner.get("name") == call.name else [])]
    stated = {each: entry[each] for each in ("name", *_ARGUMENTS) if entry.get(each) is not None}
    unread = {} if entry.get("type") in _TYPES else {"type": entry["type"]}
    if inner is entry:
        return {**unread, **omit(stated, *read)}
    other_keys = except_keys(inner, *read)
    return {**unread, **stated, **({"function": other_keys} if other_keys else {})}


def _keep_extras(call: ToolCall, entry: Native, unread: Native, *, with_result: bool) -> None:
    known = [key for key in _KNOWN if key != "result" or not with_result]
    other_keys = except_keys(entry, *known)
    call.extras = make_extras(NAME, {**other_keys, **get_extras(call.extras, NAME)}, **{_UNREAD: unread})


def _is_covered(result: Any, *, is_lifted: bool) -> bool:
    """True if an entry's result is fully read, or a repetition; its wrapper may have other keys."""
    wrapper = result[0] if isinstance(result, list) and len(result) == 1 else result
    if not isinstance(wrapper, dict):
        return not isinstance(wrapper, list) or not wrapper
    answer = wrapper.get("functionResponse") or {}
    response = answer.get("response") or {}
    is_clean = len(response) == 1 and response.keys() <= {"output", "result", "error"}
    return (
        wrapper.keys() <= {"functionResponse"}
        and answer.keys() <= {"id", "name", "response"}
        and (is_lifted or is_clean)
    )


def _route(entry: Native, place: Path, at: Path, reader: Reader) -> None:
    """Routes an entry's extras to the entry instead of its call."""
    reader.context.origin.routes.update({(*place, key): (*at, key) for key in entry if key not in _KNOWN})


def injected_result(native: Native, call: ToolCall) -> ToolResult | None:
    """Returns the result inside an injected call, in Gemini's shape."""
    results = native.get("result")
    first = results[0] if isinstance(results, list) and results else results
    if not has_content(first):
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
