"""Lifts the records of a Gemini CLI session: those of the user, the model and the program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from convcli.dialects.gemini_cli.calls import NAME, Answers, Reading, lift_entry, settle, status_of
from convcli.dialects.gemini_cli.thoughts import lift_thought, lift_tokens
from convcli.families.google.parts import DATA, PART, lift_part, read_part
from convcli.families.google.results import lift_result, stated
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import NOTHING, Native, add_extras, get_extras, has_content
from convcli.kit.pairing import Twins
from convcli.kit.sessions import event_of
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall

ROLES = {"user": "user", "function": "user", "gemini": "assistant", "model": "assistant"}

_FRAME = "id=id timestamp=created_at type= role= content= parts= displayContent"
EVENT = Envelope("id=id timestamp=created_at type content")
RECORDS = {
    "assistant": Envelope(f"{_FRAME} thoughts= tokens= model=model toolCalls="),
    "user": Envelope(f"{_FRAME} thoughts tokens model toolCalls"),
}


class Body(NamedTuple):
    """The content of a record: its key and items."""

    key: str
    items: list[Any]
    is_list: bool

    def path_of(self, index: int) -> Path:
        """Returns the path of an item, relative to the record."""
        return (self.key, index) if self.is_list else (self.key,)


def role_of(native: Any) -> str | None:
    """Returns the role of a record; None for an event."""
    if not isinstance(native, dict):
        return None
    kind = native["type"] if "type" in native else native.get("role")
    return ROLES.get(kind) if isinstance(kind, str) else None


def lift_record(native: Native, path: Path, following: Iterable[Native], reading: Reading) -> None:
    """Lifts the messages of a record, and the results of its calls unless a later record has them."""
    context, role = reading.context, role_of(native)
    if role is None:
        context.add(event_of(NAME, native, EVENT), path, [()])
        return
    body = _body_of(native)
    first = len(context.messages)
    if role == "user":
        _lift_user(body, path, reading)
    else:
        _lift_model(native, body, path, following, reading)
    message = context.messages[first]
    extra, repeated = RECORDS[role].lift(native, message), _repeated_keys(native, body)
    if extra or repeated:
        known = get_extras(message.extras, NAME)
        message.extras = {**(message.extras or {}), NAME: {**(extra or {}), **repeated, **known}}


def _body_of(native: Native) -> Body:
    content = native.get("content")
    if content is None and "parts" in native:
        return Body("parts", _items(native["parts"]), isinstance(native["parts"], list))
    return Body("content", _items(content), isinstance(content, list))


def _items(content: Any) -> list[Any]:
    """Returns the items of a content: a string, a part, or a list of both."""
    if isinstance(content, (str, dict)):
        return [content] if content else []
    return content or []


def _repeated_keys(native: Native, body: Body) -> Native:
    """Returns keys that repeat another key, as extras."""
    if "role" not in native and "parts" not in native:  # most records
        return NOTHING
    others = [key for key, is_second in (("role", "type" in native), ("parts", body.key == "content")) if is_second]
    return {key: native[key] for key in others if has_content(native.get(key))}


def _lift_item(item: Any, reading: Reading) -> Part:
    return Text(item) if isinstance(item, str) else lift_part(read_part(item, reading.context), reading.context)


def _lift_user(body: Body, path: Path, reading: Reading) -> None:
    """Lifts a user record; each tool result in it becomes a message of its own."""
    context = reading.context
    if len(body.items) == 1 and isinstance(body.items[0], str):  # most records
        context.add(Message("user", [Text(body.items[0])]), path, [body.path_of(0)])
        return
    pieces = {j: read_part(item, context) for j, item in enumerate(body.items) if is_answer(item)}
    paired = iter(context.pairing.results([stated(piece) for piece in pieces.values()]) if pieces else ())
    message: Message | None = None
    part_paths: list[Path] = []
    for j, item in enumerate(body.items):
        if j in pieces:
            result = lift_result(pieces[j], *next(paired), context)
            _settle_later(result, reading)
            context.add(Message("tool", [result]), path, [body.path_of(j)])
            message = None
            continue
        if message is None:
            message, part_paths = Message("user", []), []
            context.add(message, path, part_paths)
        message.parts.append(_lift_item(item, reading))
        part_paths.append(body.path_of(j))
    if not body.items:
        context.add(Message("user", []), path, [])


def _settle_later(result: Any, reading: Reading) -> None:
    """Applies the state of a call whose result is in a separate record."""
    status, call = reading.states.pop(result.tool_call_id, (None, None))
    settle(result, status)
    if call is not None and status and status != status_of(result):
        add_extras(call, NAME, {"status": status})


def is_answer(item: Any) -> bool:
    """True if the item is a function response and nothing else."""
    if not isinstance(item, dict):
        return False
    native = PART.camel(item)[0]
    return [key for key in DATA if native.get(key) is not None] == ["functionResponse"]


def _lift_model(native: Native, body: Body, path: Path, following: Iterable[Native], reading: Reading) -> None:
    """Lifts a model record: thoughts, content and calls. Thoughts in the content take precedence over `thoughts`."""
    message = Message("assistant", [_lift_item(item, reading) for item in body.items])
    part_paths = [body.path_of(j) for j in range(len(body.items))]
    reading.context.add(message, path, part_paths)
    thoughts = native.get("thoughts")
    if thoughts and any(isinstance(part, Reasoning) for part in message.parts):
        add_extras(message, NAME, {"thoughts": thoughts})
    elif thoughts:
        message.parts[:0] = [lift_thought(thought, native.get("timestamp")) for thought in thoughts]
        part_paths[:0] = [("thoughts", i) for i in range(len(thoughts))]
    usage, other_counts = lift_tokens(native.get("tokens") or {})
    message.usage = usage or None
    if other_counts:
        add_extras(message, NAME, {"tokens": other_counts})
    _lift_calls(native, message, part_paths, path, following, reading)


def _lift_calls(
    native: Native, message: Message, part_paths: list[Path], path: Path, following: Iterable[Native], reading: Reading
) -> None:
    """Lifts the calls of `toolCalls`; those that are in the content too are lifted once."""
    entries = native.get("toolCalls")
    if not entries:
        return
    known = [part for part in message.parts if isinstance(part, ToolCall)]
    answers = answered(following)
    path_by_part = {id(part): step for part, step in zip(message.parts, part_paths, strict=True)} if known else {}
    twins = Twins(known, reading.context.pairing.invented) if known else None
    for i, entry in enumerate(entries):
        twin = None if twins is None else _twin(entry, twins)
        call, answer = lift_entry(entry, twin, native.get("timestamp"), answers, reading)
        if twin is None:
            message.parts.append(call)
            part_paths.append(("toolCalls", i))
            here = (*path, "toolCalls", i)
            reading.context.origin.routes[(*here, "functionCall")] = (
                here  # the entry is no part, unlike a call in a content
            )
        else:
            keys = (*get_extras(call.extras, NAME), "status")  # a later record may settle the state
            routes = {(*path, *path_by_part[id(twin)], key): (*path, "toolCalls", i, key) for key in keys}
            reading.context.origin.routes |= routes
        if answer is not None:
            reading.context.add(answer, (*path, "toolCalls", i), [("result",)])


def _twin(entry: Native, twins: Twins) -> ToolCall | None:
    """Returns the call of the content that an entry repeats, by id, or by name and arguments if one has no id."""
    id_ = entry.get("id")
    same = twins.with_id(id_)
    return same or twins.saying(entry["name"], entry.get("args") or {}, nameless=bool(id_))


def answered(following: Iterable[Native]) -> Answers:
    """Returns the results in the user records up to the next model record."""
    answers = Answers({}, set())
    for record in following:
        role = role_of(record)
        if role == "assistant":
            break
        content = record.get("content") if role == "user" else None
        for item in _items(content):
            if is_answer(item):
                answer = PART.camel(item)[0]["functionResponse"]
                if answer.get("id"):
                    answers.by_id[answer["id"]] = item
                else:
                    answers.names.add(answer["name"])
    return answers
