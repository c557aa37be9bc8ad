"""UI messages of the AI SDK: what an application shows and stores. One message may have several model turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from convcli.families.ai_sdk.parts import (
    DENIED,
    is_shaped,
    lift_provided,
    lift_shown,
    tables,
    write_provided,
    write_shown,
)
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, except_keys, get_extras, make_extras, omit, together
from convcli.kit.results import has_failed, in_words, result_of
from convcli.model.transcript import Message, Part, Path, Text, ToolCall, ToolResult

MESSAGE = Keys("id= role= content= parts= toolInvocations= metadata")
PROVIDED = "callProviderMetadata"
TOOL = Keys(
    f"type= toolName= toolCallId= state= input= rawInput= output= errorText= approval providerExecuted {PROVIDED}="
)
OLDER = Keys("state toolCallId toolName args result")
STEERED = "steering-message"
STEERING = Keys("id= type parts=")
STEP, DYNAMIC, STATIC, INVOCATION = "step-start", "dynamic-tool", "tool-", "tool-invocation"
OPEN = ("input-streaming", "approval-requested", "approval-responded")
"""States of a call without a result that are more specific than "called"."""
NOTHING = [Text("")]
"""The parts of an empty message, which needs one."""
DONE = {"state": "done"}
"""The default state of a text."""


# ---------------------------------------------------------------- lift


def lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Lifts a message for each step, followed by the results of its calls."""
    extra = dict(MESSAGE.extra(native) or {})
    parts = native.get("parts")
    content = native.get("content")
    if parts is None:
        parts = [{"type": "text", "text": content}] if content and isinstance(content, str) else []
        places: list[Path] = [("content",)] * len(parts)
        parts = [*parts, *({"type": INVOCATION, INVOKED: one} for one in native.get("toolInvocations") or ())]
        places += [("toolInvocations", j) for j in range(len(parts) - len(places))]
    else:
        places = [("parts", j) for j in range(len(parts))]
        extra |= {key: native[key] for key in ("content", "toolInvocations") if native.get(key)}
        if content == "".join(part["text"] for part in parts if part["type"] == "text"):
            extra.pop("content", None)
    steps: list[list[tuple[Native, Path]]] = [[]]
    for part, place in zip(parts, places, strict=True):
        if part["type"] == STEP:
            steps += [[]] if steps[-1] else []
        if part != {"type": STEP}:
            steps[-1].append((part, place))
    turns = [turn for step in steps for turn in _turns(step)]
    for number, (step, steering) in enumerate(turns):
        if step or not number or not steering:
            message = Message(native["role"], [])
            if not number:
                message.id, message.extras = native.get("id") or None, make_extras(context.dialect, extra)
            _lift_step(step, message, path, context)
        for message_native, place in steering:
            _lift_steering(message_native, (*path, *place), context)


INVOKED = "toolInvocation"


def _turns(step: list[tuple[Native, Path]]) -> Iterator[tuple[list[tuple[Native, Path]], list[tuple[Native, Path]]]]:
    """Splits a step where the user steers the answer; yields the parts of each turn, and the messages after them."""
    parts: list[tuple[Native, Path]] = []
    steering: list[tuple[Native, Path]] = []
    for native, place in step:
        is_steering = native["type"] == STEERED and _are_texts_and_files(native.get("parts"))
        if steering and not is_steering:
            yield parts, steering
            parts, steering = [], []
        (steering if is_steering else parts).append((native, place))
    yield parts, steering


def _are_texts_and_files(parts: Any) -> bool:
    """True for the parts of a user message, with values of their types; the schemas do not look into other parts."""
    stated = {"text": ("text",), "file": ("url", "mediaType")}
    return isinstance(parts, list) and all(
        isinstance(part, dict)
        and part.get("type") in ("text", "file")
        and all(isinstance(part.get(key), str) for key in stated[part["type"]])
        for part in parts
    )


def _lift_steering(native: Native, path: Path, context: LiftContext) -> None:
    """Reads what the user says in the middle of an answer as a user message."""
    shown = tables(context.dialect).shown
    parts = [shown.lift(part, context) for part in native["parts"]]
    message = Message("user", parts, id=native.get("id") or None)
    message.extras = make_extras(context.dialect, STEERING.extra(native))
    context.add(message, path, [("parts", j) for j in range(len(parts))])


def _lift_step(step: list[tuple[Native, Path]], message: Message, path: Path, context: LiftContext) -> None:
    results: list[tuple[ToolResult, Path]] = []
    part_paths: list[Path] = []
    for native, place in step:
        part, result = _lift_part(native, context)
        context.origin.routes |= _routes(native, (*path, *place)) if isinstance(part, ToolCall) else {}
        message.parts.append(part)
        part_paths.append(place)
        results += [] if result is None else [(result, place)]
    if message.parts == NOTHING and message.role != "assistant":
        message.parts, part_paths = [], []
    context.add(message, path, part_paths)
    for result, place in results:
        context.add(Message("tool", [result]), (*path, *place), [()])


def _routes(native: Native, place: Path) -> dict[Path, Path]:
    """Returns the paths of a call's fields; version 4 has them one level deeper."""
    if native["type"] == INVOCATION and isinstance(native.get(INVOKED), dict):
        inner = place if "toolInvocations" in place else (*place, INVOKED)
        return {(*place, "input"): (*inner, "args"), **{(*place, key): (*inner, key) for key in CALLED_IN_4}}
    return {(*place, "input"): (*place, "rawInput")} if native.get("input") is None and "rawInput" in native else {}


CALLED_IN_4 = ("toolCallId", "toolName")


def _lift_part(native: Native, context: LiftContext) -> tuple[Part, ToolResult | None]:
    kind = native["type"]
    if kind == INVOCATION and isinstance(native.get(INVOKED), dict):
        return _lift_invocation(native, context)
    if (kind == DYNAMIC and native.get("toolName")) or (kind.startswith(STATIC) and kind != INVOCATION):
        return _lift_tool(native, context)
    is_done = DONE.items() <= native.items()
    stated = {key: native[key] for key in native if key != "state"} if is_done else native
    return tables(context.dialect).shown.lift(stated, context), None


def _lift_tool(native: Native, context: LiftContext) -> tuple[Part, ToolResult | None]:
    """Lifts a call, and its result if it has one."""
    is_dynamic = native["type"] == DYNAMIC
    name = native["toolName"] if is_dynamic else native["type"].removeprefix(STATIC)
    raw = native.get("rawInput") if native.get("input") is None else None
    arguments, text = arguments_of(native.get("input") if raw is None else raw)
    call = ToolCall(context.pairing.call(native["toolCallId"] or None, name), name, arguments, text)
    call.metadata, rest = lift_provided(native.get(PROVIDED))
    extra = dict(TOOL.extra(native) or {})
    state, result = native["state"], None
    extra |= {"toolName": native["toolName"]} if native.get("toolName") and not is_dynamic else {}
    extra |= {PROVIDED: rest} if rest else {}
    extra |= {"state": state} if state in OPEN else {}
    extra |= {"rawInput": native["rawInput"]} if raw is None and native.get("rawInput") is not None else {}
    if state == "output-available":
        kind, value = lift_shown(native.get("output"), context)
        result = ToolResult(call.id, name, kind, value)
    elif state == "output-error":
        result = ToolResult(call.id, name, "error", native.get("errorText") or "")
    elif state == "output-denied":
        approval = native.get("approval") or {}
        if approval == _denial(native["toolCallId"], approval.get("reason") or ""):
            del extra["approval"]
        result = ToolResult(call.id, name, "error", approval.get("reason") or "", status=DENIED)
    value_key = {"output-available": "output", "output-error": "errorText"}.get(state)
    extra |= {key: native[key] for key in ("output", "errorText") if key != value_key and native.get(key) is not None}
    call.extras = make_extras(context.dialect, extra, dynamic=is_dynamic)
    if result is not None:
        result.tool_call_id, result.name = context.pairing.result(call.id, name)
    return call, result


def _lift_invocation(native: Native, context: LiftContext) -> tuple[Part, ToolResult | None]:
    """Lifts a call of version 4, and its result if it has one."""
    invocation = native[INVOKED]
    arguments, raw = arguments_of(invocation.get("args"))
    call = ToolCall(
        context.pairing.call(invocation["toolCallId"] or None, invocation["toolName"]),
        invocation["toolName"],
        arguments,
        raw,
    )
    rest = except_keys(native, "type", INVOKED)
    extra = {**rest, **(OLDER.extra(invocation) or {})}
    extra |= {"state": "input-streaming"} if invocation.get("state") == "partial-call" else {}
    call.extras = make_extras(context.dialect, extra)
    if invocation.get("state") != "result":
        extra |= {"result": invocation["result"]} if invocation.get("result") is not None else {}
        call.extras = make_extras(context.dialect, extra)
        return call, None
    value = invocation.get("result")
    id_, name = context.pairing.result(call.id, call.name)
    return call, ToolResult(id_, name, "text" if isinstance(value, str) else "data", value)


# ---------------------------------------------------------------- write


def write_messages(messages: list[Message], owner: str) -> list[Native]:
    """Writes consecutive model turns, with their results, as one message, unless they were several."""
    natives: list[Native] = []
    answers: Native | None = None
    calls: dict[str, Native] = {}
    taken = {message.id for message in messages}
    ids = (id_ for number in itertools.count(1) if (id_ := f"message-{number}") not in taken)
    for message in messages:
        result = result_of(message)
        if result is not None:
            native = calls.pop(result.tool_call_id, None)
            if native is not None:
                _put_result(native, result, owner)
            continue
        extra = get_extras(message.extras, owner)
        if answers is not None and is_steering(message, owner):
            natives[-1]["parts"].append(_write_steering(message, owner))
            continue
        extra = omit(extra, "type") if is_steering(message, owner) else extra
        if answers is None or message.role != "assistant" or message.id is not None or extra:
            id_ = message.id or next(ids)
            natives.append(MESSAGE.put({"id": id_, "role": message.role, "parts": []}, extra))
        answers = natives[-1] if message.role == "assistant" else None
        calls = {}
        if answers is not None:
            natives[-1]["parts"].append({"type": STEP})
        for part in message.parts:
            if is_shaped(part, owner, STATIC):
                continue
            native = _write_call(part, owner) if isinstance(part, ToolCall) else tables(owner).shown.write(part)
            if native is not None:
                natives[-1]["parts"].append(native)
                if isinstance(part, ToolCall):
                    calls.setdefault(part.id, native)
    return [_tidy(native) for native in natives]


def is_steering(message: Message, owner: str) -> bool:
    """True for a user message in the middle of an answer of the AI SDK."""
    return message.role == "user" and get_extras(message.extras, owner).get("type") == STEERED


def _write_steering(message: Message, owner: str) -> Native:
    shown = tables(owner).shown
    parts = [native for part in message.parts if (native := shown.write(part)) is not None]
    extra = omit(get_extras(message.extras, owner), "type")
    return STEERING.put({"type": STEERED, **({"id": message.id} if message.id else {}), "parts": parts}, extra)


def _tidy(native: Native) -> Native:
    """Returns the message with at least one part, and the keys of its parts in order."""
    if not native["parts"]:
        return {**native, "parts": [{"type": "text", "text": ""}]}
    is_call = [part.keys() >= CALLED for part in native["parts"]]
    parts = [
        TOOL.put(part, None, sort=True) if called else part
        for part, called in zip(native["parts"], is_call, strict=True)
    ]
    return {**native, "parts": parts}


CALLED = frozenset(("toolCallId", "state"))


def _write_call(call: ToolCall, owner: str) -> Native:
    """Writes a call without a result."""
    extra = dict(get_extras(call.extras, owner))
    provider_values = write_provided(call.metadata, extra.pop(PROVIDED, {}))
    is_dynamic = extra.pop("dynamic", None)
    kind = {"type": DYNAMIC, "toolName": call.name} if is_dynamic else {"type": f"{STATIC}{call.name}"}
    input_ = call.arguments if call.raw_arguments is None else call.raw_arguments
    native = {**kind, "toolCallId": call.id, "state": "input-available", "input": input_, **together(extra)}
    return {**native, **({PROVIDED: provider_values} if provider_values else {})}


def _put_result(native: Native, result: ToolResult, owner: str) -> None:
    """Adds the result to the part of its call."""
    if not has_failed(result):
        native |= {"state": "output-available", "output": write_shown(result, owner)}
    elif result.status == DENIED:
        denial = _denial(result.tool_call_id, result.value)
        native |= {"state": "output-denied", "approval": {**denial, **(native.get("approval") or {})}}
    else:
        native |= {"state": "output-error", "errorText": in_words(result)}


def _denial(id_: str, reason: str) -> Native:
    """Returns the approval of a denied call about which nothing else is known."""
    return {"id": id_, "approved": False, **({"reason": reason} if reason else {})}
