"""Lifts and writes one LangChain message, a turn or a result, in any of its shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convcli.dialects.langchain.blocks import BLOCKS, CALLS, NAME
from convcli.families.anthropic.messages import FINISH as ANTHROPIC
from convcli.families.openai import calls as openai
from convcli.families.openai import request as openai_request
from convcli.kit import results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, add_extras, claim_names, get_extras, make_extras, omit, without_nulls
from convcli.kit.texts import only_text
from convcli.kit.values import put_counts, take_counts
from convcli.model.transcript import Message, Part, Path, Refusal, Text, ToolCall, ToolDefinition, ToolResult
from convcli.wire import exact_json

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
TYPES = {role: kind for kind, role in reversed(ROLES.items())}
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}
CLASSES |= {"function": "FunctionMessage", "chat": "ChatMessage", "remove": "RemoveMessage"}
KINDS = {word: kind for kind, name in CLASSES.items() for word in (kind, name, f"{name}Chunk")}
"""Type or class name of a message → its kind."""
LOGGED = TYPES | {"function": "function"}
"""Role of a logged message → its kind."""
ROLE_OF_KIND = {kind: role for role, kind in LOGGED.items()}
DEFINITION = frozenset(("role", "content"))
"""The keys of a message that is a tool definition."""
CHAT_ROLES = ("user", "assistant", "system", "developer")
"""Known roles of a chat message."""
USAGE = {
    ("input_tokens",): "inputTokens",
    ("output_tokens",): "outputTokens",
    ("total_tokens",): "totalTokens",
    ("input_token_details", "cache_read"): "cacheReadTokens",
    ("input_token_details", "cache_creation"): "cacheWriteTokens",
    ("output_token_details", "reasoning"): "reasoningTokens",
}
RESPONSE_FIELDS = (
    ("stop_reason", ("finish_reason", "stop_reason")),
    ("model", ("model_name", "model")),
    ("provider", ("model_provider",)),
)
"""Field of a message → keys of services in `response_metadata`; the first is written."""
CALL_KEYS = ("tool_calls", "invalid_tool_calls")
TURN = Envelope(
    "content= additional_kwargs= response_metadata= type= role= name=name id=id tool_calls= invalid_tool_calls= "
    "usage_metadata= tool_call_id artifact status"
)
RESULT = Envelope(
    "content= additional_kwargs response_metadata type= role= name= id=id tool_calls invalid_tool_calls "
    "usage_metadata tool_call_id= artifact status="
)

Placed = tuple[Part, Path]
"""A part, and its path in the message."""


# ---------------------------------------------------------------- lift


def lift_items(natives: list[Native], prefix: Path, context: LiftContext) -> list[ToolDefinition] | None:
    """Lifts the messages of a list, and returns the tool definitions that tracers log among them."""
    tools: list[ToolDefinition] = []
    for i, native in enumerate(natives):
        if is_definition(native):
            tools.append(openai_request.lift_tool(native["content"], context, (*prefix, i, "content")))
        else:
            _lift_item(native, (*prefix, i), context)
    return tools or None


def _lift_item(native: Native, path: Path, context: LiftContext) -> None:
    """Lifts a message in any of its shapes; a `RemoveMessage` or an unknown one is an event."""
    native = _typed(native, context)
    inner = inner_key(native)
    body = native[inner] if inner else native
    word = native["type"] if "lc" not in native else next((name for name in native["id"] if name in KINDS), "remove")
    kind = KINDS[word]
    if kind == "remove":
        sessions.add_event(context, native, path)
        return
    message, part_paths = (_lift_result if kind in ("tool", "function") else _lift_turn)(body, context)
    role = body.get("role")
    is_known = kind != "chat" or role in CHAT_ROLES
    message.role = ROLES.get(kind) or (role if role in CHAT_ROLES else "user")
    extras: Native = {} if kind in ROLES or role == "developer" else {"type": kind}
    extras |= {"role": role} if role and (kind != "chat" or not is_known) else {}
    wrapper_keys = _wrapper_keys(native, inner, kind, word)
    add_extras(message, NAME, extras, around=wrapper_keys)
    context.add(message, (*path, inner) if inner else path, part_paths)


def is_logged(native: Native) -> bool:
    """True if the message has a role instead of a type, as tracers write it."""
    return "type" not in native and "lc" not in native and isinstance(native.get("role"), str)


def is_definition(native: Native) -> bool:
    """True for a tool definition that a tracer logged as a message."""
    if native.keys() != DEFINITION or native["role"] != "tool" or not isinstance(native["content"], dict):
        return False
    function = native["content"].get("function")
    return isinstance(function, dict) and "name" in function


def _typed(native: Native, context: LiftContext) -> Native:
    """Returns a message with its type: tracers log a role instead, which for a result may be the tool's name."""
    if not is_logged(native):
        return native
    role = native["role"]
    body = omit(native, "role")
    if role in LOGGED:
        return {"type": LOGGED[role], **body}
    is_tool = context.pairing.awaits(role) and body.get("name") in (None, "", role)
    return {"type": "tool", **body, "name": role} if is_tool else {"type": "chat", **native}


def inner_key(native: Native) -> str:
    """Returns the key of the object with the message's keys; empty if they are at the top level."""
    return "kwargs" if "lc" in native else "data" if "data" in native and "content" not in native else ""


def _wrapper_keys(native: Native, inner: str, kind: str, word: str) -> Native:
    """Returns the keys outside the inner object whose values are not the defaults."""
    usual = {"type": word, **wrapped({}, kind, inner)} if inner else native
    return {key: value for key, value in native.items() if key != inner and value not in (None, usual.get(key))}


def _lift_turn(body: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    message = Message("user", [])
    extra = TURN.lift(body, message) or {}
    if extra.get("example") is False:
        del extra["example"]
    more = without_nulls(body.get("additional_kwargs") or {})
    calls = list(_lift_calls(body, more, context))
    content = list(_lift_content(body.get("content"), [part for part, _ in calls], context))
    if isinstance(more.get("refusal"), str):
        content.append((Refusal(more.pop("refusal")), ("additional_kwargs", "refusal")))
    about = _lift_about(body.get("response_metadata") or {}, message)
    usage, counts = take_counts(body.get("usage_metadata") or {}, USAGE)
    message.usage = usage or None
    for key, rest in (("additional_kwargs", more), ("response_metadata", about), ("usage_metadata", counts)):
        extra |= {key: rest} if rest else {}
    message.parts = [part for part, _ in (*content, *calls)]
    message.extras = make_extras(NAME, extra)
    return message, [path for _, path in (*content, *calls)]


def _lift_calls(body: Native, more: Native, context: LiftContext) -> Iterator[Placed]:
    """Yields the calls, and removes those of the older key if they are the only ones or only repeat others."""
    listed = [(key, j, native) for key in CALL_KEYS for j, native in enumerate(body.get(key) or ())]
    calls: list[Placed] = [(_lift_call(native, key, context), (key, j)) for key, j, native in listed]
    older = more.get("tool_calls") or ()
    if not listed:
        calls = [(_lift_openai(one, context), ("additional_kwargs", "tool_calls", j)) for j, one in enumerate(older)]
    if not listed or all(_repeats(native, [part for part, _ in calls]) for native in older):
        more.pop("tool_calls", None)
    yield from calls


def _lift_call(native: Native, key: str, context: LiftContext) -> Part:
    """Lifts a call in LangChain's own shape, or in OpenAI's, which some logs have."""
    if isinstance(native.get("function"), dict):
        return _lift_openai(native, context)
    kind = "invalid_tool_call" if key == "invalid_tool_calls" else "tool_call"
    return CALLS.lift({**native, "type": kind, "name": native.get("name") or ""}, context)


def _lift_openai(native: Native, context: LiftContext) -> Part:
    """Lifts a call in OpenAI's shape, in which `error` does not mark an invalid one."""
    part = openai.lift_call(native, context)
    claim_names([part], NAME, "error")
    return part


def _lift_content(content: Any, calls: list[Part], context: LiftContext) -> Iterator[Placed]:
    """Yields the parts of the content, without calls that only repeat `tool_calls`."""
    if content is not None and not isinstance(content, list):
        text = content if isinstance(content, str) else exact_json.write_text(content)
        if text:
            yield Text(text), ("content",)
        return
    for j, block in enumerate(content or ()):
        if isinstance(block, str):
            yield Text(block), ("content", j)
        elif not (block["type"] in ("tool_use", "tool_call") and _repeats(block, calls)):
            yield BLOCKS.lift(block, context), ("content", j)


def _repeats(native: Native, calls: Iterable[Part]) -> bool:
    """True if a call, in the shape of any service, only repeats one of the calls."""
    alone = LiftContext(NAME, None)
    if isinstance(native.get("function"), dict):
        part = _lift_openai(native, alone)
    else:
        others = {"args" if key == "input" else key: value for key, value in native.items()}
        if len(others) < len(native):  # it has two inputs
            return False
        part = _lift_call(others, "tool_calls", alone)
    return any(part == call and exact_json.exact(_arguments(part), _arguments(call)) for call in calls)


def _arguments(part: Part) -> Any:
    return part.arguments if isinstance(part, ToolCall) else None


def _lift_about(native: Native, message: Message) -> Native:
    """Sets stop reason, model and provider of the message, and returns the other keys."""
    rest = without_nulls(native)
    for field, keys in RESPONSE_FIELDS:
        key = next((key for key in keys if rest.get(key) and isinstance(rest[key], str)), None)
        if key is not None:
            value = rest.pop(key)
            setattr(message, field, ANTHROPIC.get(value, value) if field == "stop_reason" else value)
    return rest


def _lift_result(body: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    message = Message("tool", [])
    extra = RESULT.lift(body, message)
    kind, value = _lift_value(body.get("content"), context)
    id_, name = context.pairing.result(body.get("tool_call_id") or None, body.get("name") or None)
    result = ToolResult(id_, name, kind, value)  # type: ignore[arg-type]
    if body.get("status") == "error":
        result.kind, result.is_error = ("error", None) if kind == "text" else (result.kind, True)
    message.parts, message.extras = [result], make_extras(NAME, extra)
    return message, [()]


def _lift_value(content: Any, context: LiftContext) -> tuple[str, Any]:
    """Returns kind and value: text, or parts; any other content becomes JSON text, as in LangChain."""
    if content is None or isinstance(content, str):
        return "text", content or ""
    if not isinstance(content, list):
        return "text", exact_json.write_text(content)
    parts = [Text(block) if isinstance(block, str) else BLOCKS.lift_inside(block, context) for block in content]
    text = only_text(parts)
    return ("multimodal", parts) if text is None else ("text", text)


# ---------------------------------------------------------------- write


def write_item(message: Message, inner: str) -> Any:
    """Returns a message with its keys under `inner`."""
    if message.role == "event":
        return sessions.row_of_event(message, NAME)
    extra = dict(get_extras(message.extras, NAME))
    wrapper_keys, kind = extra.pop("around", {}), extra.pop("type", TYPES.get(message.role, "chat"))
    role = {"role": extra.pop("role", message.role)} if kind == "chat" else {}
    body = _write_result(message, extra) if kind == "tool" else _write_turn(message, {"type": kind, **role}, extra)
    return {**wrapped(body, kind, inner), **wrapper_keys} if inner else body


def wrapped(body: Native, kind: str, inner: str) -> Native:
    """Returns the object that wraps the keys of a message."""
    if inner == "data":
        return {"type": kind, "data": body}
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", CLASSES[kind]], "kwargs": body}


def write_logged(message: Message) -> Any:
    """Returns a message with its role instead of its type, if the two are equivalent."""
    native = write_item(message, "")
    kind = native.get("type")
    role = ROLE_OF_KIND.get(kind) or (native["role"] if kind == "chat" and native["role"] not in LOGGED else None)
    if message.role == "event" or role is None:
        return native
    return {"role" if key == "type" else key: role if key == "type" else value for key, value in native.items()}


def write_definitions(tools: list[ToolDefinition]) -> list[Native]:
    """Returns the tool definitions as messages."""
    written = [openai_request.write_tool(tool, NAME) for tool in tools]
    return [{"role": "tool", "content": native} for native in written if native is not None]


def _write_turn(message: Message, kind: Native, extra: Native) -> Native:
    calls = [native for part in message.parts if isinstance(part, ToolCall) and (native := CALLS.write(part))]
    blocks = [native for part in message.parts if (native := BLOCKS.write(part))]
    about = {keys[0]: getattr(message, field) for field, keys in RESPONSE_FIELDS if getattr(message, field) is not None}
    content: Native = {
        "additional_kwargs": extra.pop("additional_kwargs", None),
        "response_metadata": {**about, **extra.pop("response_metadata", {})},
        "tool_calls": [native for native in calls if native["type"] == "tool_call"],
        "invalid_tool_calls": [native for native in calls if native["type"] != "tool_call"],
        "usage_metadata": put_counts(message.usage or {}, extra.pop("usage_metadata", {}), USAGE),
    }
    content = {key: value for key, value in content.items() if value}
    return TURN.write(message, extra, **kind, content=openai.content_of(blocks), **content)


def _write_result(message: Message, extra: Native) -> Native:
    result = next(part for part in message.parts if isinstance(part, ToolResult))
    content = result.value
    if result.kind == "data":
        content = exact_json.write_text(content)
    elif result.kind == "multimodal":
        content = [native for part in content if (native := BLOCKS.write_inside(part)) is not None]
    status = "error" if results.has_failed(result) else "success"
    fields = {"type": "tool", "name": result.name, "tool_call_id": result.tool_call_id, "status": status}
    return RESULT.write(message, extra, content=content, **fields)
