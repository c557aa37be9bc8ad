"""Message events from before 1.37: each has its message in its body, in its attributes, or next to its name.

Specification: semantic conventions 1.36, docs/gen-ai/gen-ai-events.md; read 2026-11-23.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.otel_genai.messages import ANSWER, FINISH, NAME, ROLES
from convcli.dialects.otel_genai.spans import opened
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, make_extras, omit, without_empty
from convcli.kit.values import pairs, read_json
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolResult

ROLE_OF = pairs(
    "gen_ai.system.message=system gen_ai.user.message=user gen_ai.assistant.message=assistant "
    "gen_ai.tool.message=tool gen_ai.choice=assistant"
)
"""Maps event names to the role of their message."""
CHOICE = "gen_ai.choice"
CALL = CallTable("id=id type function/name=name function/arguments=arguments", defaults={"type": "function"})
NAMES = ("event.name", "eventName", "event_name", "name")
TYPES = ("text", "reasoning", "tool_call", ANSWER, "blob", "uri", "file")
"""Part types that the conventions define with other keys."""
CONTENT = "gen_ai.event.content"
"""The attribute in which some instrumentations write the body as a string."""


def name_of(native: Any) -> str | None:
    """Returns the name of a message event; None for anything else."""
    if not isinstance(native, dict):
        return None
    attributes, _ = _attributes(native)
    names = [*(native.get(key) for key in NAMES), attributes.get("event.name")]
    return next((name for name in names if isinstance(name, str) and name in ROLE_OF), None)


def _attributes(native: Native) -> tuple[Native, dict[Path, Path]]:
    """Returns the attributes of an event as an object, and their paths."""
    attributes, places = native.get("attributes"), dict[Path, Path]()
    if isinstance(attributes, list):
        attributes = opened({"kvlistValue": {"values": attributes}}, (), ("attributes",), places)
        places = {at: (place[0], *place[3:]) for at, place in places.items() if len(place) > 3}
    return (attributes if isinstance(attributes, dict) and "kvlistValue" not in attributes else {}), places


class _Body:
    """The body of an event, its path in the event, and the other keys of the event."""

    def __init__(self, native: Native) -> None:
        self.places: dict[Path, Path] = {}
        attributes, places = _attributes(native)
        text = attributes.get(CONTENT)
        self.body_value: Any = None
        if "body" in native:
            self.body_value, self.home = opened(native["body"], (), ("body",), self.places), ("body",)
            self.rest = omit(native, "body")
        elif isinstance(text, str) and isinstance(read_json(text), dict):
            self.body_value, self.places[()] = read_json(text), places.get((CONTENT,), ("attributes", CONTENT))
            self.rest = {**native, "attributes": omit(attributes, CONTENT)}
        elif "attributes" in native:
            self.body_value, self.places, self.home = attributes, places, ("attributes",)
            self.rest = omit(native, *["attributes"] * bool(attributes))
        else:
            self.body_value, self.home, self.rest = native, (), {}
        if not isinstance(self.body_value, dict):
            self.rest, self.body_value = {**self.rest, "body": self.body_value}, {}

    home: Path = ()

    def place(self, *path: str | int) -> Path:
        """Returns the path in the event of this piece of the body."""
        for cut in range(len(path), -1, -1):
            if path[:cut] in self.places:
                return (*self.places[path[:cut]], *path[cut:]) if self.home else self.places[path[:cut]]
        return (*self.home, *path)


# ---------------------------------------------------------------- lift


def lift_event(native: Native, path: Path, context: LiftContext) -> None:
    """Reads the message of an event, keeping the rest as the extra `event`; other events become events."""
    name = name_of(native)
    if name is None:
        context.add(Message("event", [Opaque(NAME, native)]), path, [()])
        return
    body = _Body(native)
    inner = body_value = dict(body.body_value)
    at = tuple[str, ...]()
    if name == CHOICE and isinstance(body_value.get("message"), dict):
        inner, at = dict(body_value.pop("message")), ("message",)
    role, parts, part_paths = ROLE_OF[name], list[Part](), list[Path]()
    if inner.get("role") in ROLES:
        role = inner.pop("role")
    key = "content" if "content" in inner or name != CHOICE else "message"
    if role == "tool":
        parts, part_paths = [_lift_result(inner, context)], [body.place(*at, "content")]
    elif (texts := _texts(inner.get(key))) is not None:
        del inner[key]
        parts += texts
        part_paths += [body.place(*at, key) if len(texts) == 1 else body.place(*at, key, i) for i in range(len(texts))]
    for where, holder in (((*at, "tool_calls"), inner), (("tool_calls",), body_value)):
        calls = holder.get("tool_calls") if role == "assistant" else None
        if isinstance(calls, list) and calls and all(map(_is_call, calls)):
            del holder["tool_calls"]
            parts += [CALL.lift(call, context) for call in calls]
            for i in range(len(calls)):
                call = body.place(*where, i)
                part_paths.append(call)
                for key in ("name", "arguments"):
                    context.origin.routes[*path, *call, key] = (*path, *body.place(*where, i, "function", key))
    message = Message(role, parts)
    reason = body_value.get("finish_reason")
    if name == CHOICE and isinstance(reason, str) and reason:
        message.stop_reason = FINISH.get(reason, reason)
        del body_value["finish_reason"]
        context.origin.routes[*path, "finish_reason"] = (*path, *body.place("finish_reason"))
    left = without_empty({**({} if inner is body_value else {"message": without_empty(inner)}), **body_value})
    rest = without_empty({**body.rest, **({"body": left} if left else {})}) if body.rest else left
    message.extras = make_extras(NAME, {"event": rest} if rest else None)
    context.add(message, path, part_paths)


def _texts(content: Any) -> list[Part] | None:
    """Returns the texts and pieces of a content; None if it cannot be read as such."""
    if isinstance(content, str):
        return [Text(content)] if content else None
    if not isinstance(content, list) or not content:
        return None
    pieces = [_piece(item) for item in content]
    return None if None in pieces else pieces  # type: ignore[return-value]


def _piece(item: Any) -> Part | None:
    """Returns a text, or a piece of a type that the conventions lack."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return None
    if item.keys() == {"type", "text"} and item["type"] == "text" and isinstance(item["text"], str):
        return Text(item["text"])
    return None if item["type"] in TYPES else Opaque(NAME, item)


def _is_call(native: Any) -> bool:
    function = native.get("function") if isinstance(native, dict) else None
    id_ = native.get("id") if isinstance(native, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str) and isinstance(id_ or "", str)


def _lift_result(inner: Native, context: LiftContext) -> ToolResult:
    """Reads a tool response, the only content of an event that may be any value."""
    id_ = inner.pop("id") if isinstance(inner.get("id"), str) else None
    value = inner.pop("content", "")
    call, called = context.pairing.result(id_ or None, None)
    if inner.get("name") == called:
        del inner["name"]
    return ToolResult(call, called, "text" if isinstance(value, str) else "data", value)
