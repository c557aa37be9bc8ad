"""Events of before 1.37: each is one message, in its body, in its attributes, or beside its name.

Specification: semantic conventions 1.36, docs/gen-ai/gen-ai-events.md; read 2026-11-23.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.otel_genai.messages import ANSWER, FINISH, NAME, ROLES
from convcli.dialects.otel_genai.spans import opened
from convcli.families.frameworks.blocks import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, extras_of, omit, rest_of, without_empty
from convcli.kit.values import pairs, read_json
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolCall, ToolResult

ROLE_OF = pairs(
    "gen_ai.system.message=system gen_ai.user.message=user gen_ai.assistant.message=assistant "
    "gen_ai.tool.message=tool gen_ai.choice=assistant"
)
"""The names of events, and the role of the message in each."""
CHOICE = "gen_ai.choice"
NAMES = ("event.name", "eventName", "event_name", "name")
TYPES = ("text", "reasoning", "tool_call", ANSWER, "blob", "uri", "file")
"""Types of parts that the conventions have, with other keys."""
CONTENT = "gen_ai.event.content"
"""The attribute in which some instrumentations write the body as a text."""


def name_of(native: Any) -> str | None:
    """Which of the events it is; None for anything else."""
    if not isinstance(native, dict):
        return None
    held, _ = _attributes(native)
    names = [*(native.get(key) for key in NAMES), held.get("event.name")]
    return next((name for name in names if isinstance(name, str) and name in ROLE_OF), None)


def _attributes(native: Native) -> tuple[Native, dict[Path, Path]]:
    """The attributes of an event as an object, and where they stand."""
    held, places = native.get("attributes"), dict[Path, Path]()
    if isinstance(held, list):
        held = opened({"kvlistValue": {"values": held}}, (), ("attributes",), places)
        places = {at: (place[0], *place[3:]) for at, place in places.items() if len(place) > 3}
    return (held if isinstance(held, dict) and "kvlistValue" not in held else {}), places


class _Body:
    """What an event says: its body, where that stands in the event, and what is left of the event beside it."""

    def __init__(self, native: Native) -> None:
        self.places: dict[Path, Path] = {}
        held, places = _attributes(native)
        text = held.get(CONTENT)
        self.said: Any = None
        if "body" in native:
            self.said, self.home = opened(native["body"], (), ("body",), self.places), ("body",)
            self.rest = omit(native, "body")
        elif isinstance(text, str) and isinstance(read_json(text), dict):
            self.said, self.places[()] = read_json(text), places.get((CONTENT,), ("attributes", CONTENT))
            self.rest = {**native, "attributes": omit(held, CONTENT)}
        elif "attributes" in native:
            self.said, self.places, self.home = held, places, ("attributes",)
            self.rest = omit(native, "attributes")
        else:
            self.said, self.home, self.rest = native, (), {}
        if not isinstance(self.said, dict):
            self.rest, self.said = {**self.rest, "body": self.said}, {}

    home: Path = ()

    def place(self, *path: str | int) -> Path:
        """Where this piece of the body stands in the event."""
        for cut in range(len(path), -1, -1):
            if path[:cut] in self.places:
                return (*self.places[path[:cut]], *path[cut:]) if self.home else self.places[path[:cut]]
        return (*self.home, *path)


# ---------------------------------------------------------------- lift


def lift_event(native: Native, path: Path, context: LiftContext) -> None:
    """The message of one event, of which the rest is carried as `event`; any other event is one here too."""
    name = name_of(native)
    if name is None:
        context.add(Message("event", [Opaque(NAME, native)]), path, [()])
        return
    body = _Body(native)
    said, at = dict(body.said), tuple[str, ...]()
    if name == CHOICE and isinstance(said.get("message"), dict):
        inner, at = dict(said.pop("message")), ("message",)
    else:
        inner = said
    role, parts, spots = ROLE_OF[name], list[Part](), list[Path]()
    if inner.get("role") in ROLES:
        role = inner.pop("role")
    key = "content" if "content" in inner or name != CHOICE else "message"
    if role == "tool":
        parts, spots = [_lift_result(inner, context)], [body.place(*at, "content")]
    elif (texts := _texts(inner.get(key))) is not None:
        del inner[key]
        parts += texts
        spots += [body.place(*at, key) if len(texts) == 1 else body.place(*at, key, i) for i in range(len(texts))]
    for where, holder in (((*at, "tool_calls"), inner), (("tool_calls",), said)):
        calls = holder.get("tool_calls") if role == "assistant" else None
        if isinstance(calls, list) and calls and all(map(_is_call, calls)):
            del holder["tool_calls"]
            parts += [_lift_call(call, context) for call in calls]
            for i in range(len(calls)):
                spots.append(body.place(*where, i))
                for key in ("name", "arguments"):
                    context.origin.routes[*path, *spots[-1], key] = (*path, *body.place(*where, i, "function", key))
    message = Message(role, parts)
    reason = said.get("finish_reason")
    if name == CHOICE and isinstance(reason, str) and reason:
        message.stop_reason = FINISH.get(reason, reason)
        del said["finish_reason"]
        context.origin.routes[*path, "finish_reason"] = (*path, *body.place("finish_reason"))
    left = without_empty({**({} if inner is said else {"message": without_empty(inner)}), **said})
    rest = without_empty({**body.rest, "body": left}) if body.rest else left
    message.extras = extras_of(NAME, {"event": rest} if rest else None)
    context.add(message, path, spots)


def _texts(content: Any) -> list[Part] | None:
    """The texts and pieces of a content; None for what cannot be read as such."""
    if isinstance(content, str):
        return [Text(content)] if content else None
    if not isinstance(content, list) or not content:
        return None
    pieces = [_piece(item) for item in content]
    return None if None in pieces else pieces  # type: ignore[return-value]


def _piece(item: Any) -> Part | None:
    """A text, or a piece of a type that the conventions do not have."""
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return None
    if item.keys() == {"type", "text"} and item["type"] == "text" and isinstance(item["text"], str):
        return Text(item["text"])
    return None if item["type"] in TYPES else Opaque(NAME, item)


def _is_call(native: Any) -> bool:
    function = native.get("function") if isinstance(native, dict) else None
    id_ = native.get("id") if isinstance(native, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str) and isinstance(id_ or "", str)


def _lift_call(native: Native, context: LiftContext) -> ToolCall:
    function = native["function"]
    arguments, raw = arguments_of(function.get("arguments"))
    id_ = context.pairing.call(native.get("id") or None, function["name"])
    beside = rest_of(native, "id", "function")
    if beside.get("type") == "function":
        del beside["type"]
    inside = rest_of(function, "name", "arguments")
    carried = {**beside, **({"function": inside} if inside else {})}
    return ToolCall(id_, function["name"], arguments, raw, extras=extras_of(NAME, carried))


def _lift_result(inner: Native, context: LiftContext) -> ToolResult:
    """What a tool answered: the only content of an event that may be any value."""
    id_ = inner.pop("id") if isinstance(inner.get("id"), str) else None
    value = inner.pop("content", "")
    call, called = context.pairing.result(id_ or None, None)
    if inner.get("name") == called:
        del inner["name"]
    return ToolResult(call, called, "text" if isinstance(value, str) else "data", value)
