"""The records of a Gemini CLI session: what the user, the model and the program said."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from convcli.dialects.gemini_cli.calls import NAME, Answers, Context, carry, lift_entry, lower_entry, settle
from convcli.dialects.gemini_cli.log import OF_A_LOG
from convcli.dialects.gemini_cli.thoughts import lift_thought, lower_thought, lower_tokens, read_tokens
from convcli.families.google.keys import Writer
from convcli.families.google.parts import DATA, PART, Piece, lift_part, lower_part, take_part
from convcli.families.google.results import asked, lift_result, lower_result
from convcli.kit.objects import Keys, Native, Spelling, carried_by, says_something
from convcli.kit.pairing import Twins
from convcli.model.transcript import Message, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult
from convcli.wire import exact_json

ROLES = {"user": "user", "function": "user", "gemini": "assistant", "model": "assistant"}
SHOWN = ("info", "error", "warning")
"""Types of records that only the user sees."""

_ORDER = "id timestamp type role content parts displayContent thoughts tokens model toolCalls"
KEYS = {
    "assistant": Keys(_ORDER, carried="displayContent"),
    "user": Keys(_ORDER, carried="displayContent thoughts tokens model toolCalls"),
}
Lifted = list[tuple[Message, Path, list[Path]]]


# ---------------------------------------------------------------- lift


def role_of(native: Any) -> str | None:
    """The role of a record; None for one that no model saw."""
    kind = native.get("type", native.get("role")) if isinstance(native, dict) else None
    return ROLES.get(kind) if isinstance(kind, str) else None


def lift_record(native: Native, path: Path, following: Iterator[Native], context: Context) -> Lifted:
    """The messages of a record; the results of its calls follow it, unless a record behind it holds them."""
    role = role_of(native)
    if role is None:
        id_, time = native.get("id"), native.get("timestamp")
        event = Message("event", [Opaque(NAME, native)])
        event.id = id_ if isinstance(id_, str) and id_ else None
        event.created_at = time if isinstance(time, str) and time else None
        return [(event, path, [()])]
    carried, spelling = KEYS[role].take(native)
    odd: Spelling = dict(spelling or {})
    body = "content" if "parts" not in native or native.get("content") is not None else "parts"
    content, form = _items(native.get(body))
    if body not in native:
        odd.setdefault("keys", list(native))
    _spell_frame(native, role, body, odd)
    extras = {**(carried or {}), **_other(native, body)}
    lift = _lift_user if role == "user" else _lift_gemini
    lifted = lift(native, content, path, body, following, extras, context)
    first = lifted[0][0]
    said = [message for message, _, _ in lifted] if role == "user" else [first]
    if content and form != usual_form(said, context.writer):
        odd["form"] = form
    first.id, first.created_at = native.get("id") or None, native.get("timestamp") or None
    carry(first, extras)
    context.spell(first, odd)
    return lifted


def _items(content: Any) -> tuple[list[Any], str]:
    """The items of a content: it may be a string, a part, or a list of both."""
    if isinstance(content, str):
        return ([content] if content else []), "string"
    if isinstance(content, dict):
        return ([content] if content else []), "part"
    return content or [], "list"


def _spell_frame(native: Native, role: str, body: str, odd: Spelling) -> None:
    """Older and forked programs have other words for the type and the content."""
    key = "type" if "type" in native else "role"
    if (key, native[key], body) != ("type", "gemini" if role == "assistant" else "user", "content"):
        odd["frame"] = [key, native[key], body]


def _other(native: Native, body: str) -> Native:
    """A second word for the same thing is carried."""
    other = {"role": native.get("role")} if "type" in native else {}
    other |= {"parts": native.get("parts")} if body == "content" else {}
    return {key: value for key, value in other.items() if says_something(value)}


def _lift_item(item: Any, context: Context) -> Part:
    if isinstance(item, str):
        part: Part = Text(item)
        context.spell(part, {"bare": True})
        return part
    return lift_part(take_part(item, context.reader), context.reader)


def _lift_user(
    native: Native,
    content: list[Any],
    path: Path,
    body: str,
    following: Iterator[Native],
    extras: Native,
    context: Context,
) -> Lifted:
    """What the user said, and the answers to calls that stand in it as messages of their own."""
    lifted: Lifted = []
    pieces = {j: take_part(item, context.reader) for j, item in enumerate(content) if is_answer(item)}
    answers = iter(context.reader.pairing.results([asked(piece) for piece in pieces.values()]) if pieces else ())
    for j, item in enumerate(content):
        spot = (body, j) if isinstance(native.get(body), list) else (body,)
        if j in pieces:
            lifted.append((_lift_answer(pieces[j], item, *next(answers), context), path, [spot]))
            continue
        if not lifted or lifted[-1][0].role == "tool":
            lifted.append((Message("user", []), path, []))
        lifted[-1][0].parts.append(_lift_item(item, context))
        lifted[-1][2].append(spot)
    lifted = lifted or [(Message("user", []), path, [])]
    for message, _, _ in lifted[1:]:
        context.spell(message, {"join": True})
    return lifted


def is_answer(item: Any) -> bool:
    """A part that is an answer and nothing else."""
    native = PART.camel(item)[0] if isinstance(item, dict) else {}
    return [key for key in DATA if native.get(key) is not None] == ["functionResponse"]


def _lift_answer(piece: Piece, item: Native, id_: str, name: str, context: Context) -> Message:
    result = lift_result(piece, id_, name, context.reader)
    settle(result, context.states.get(id_))
    if not exact_json.exact(lower_result(result, context.writer), item):
        context.spell(result, {"native": item})
    return Message("tool", [result])


def _lift_gemini(
    native: Native,
    content: list[Any],
    path: Path,
    body: str,
    following: Iterator[Native],
    extras: Native,
    context: Context,
) -> Lifted:
    """What the model said: thoughts, content and calls; where the content has thoughts of its own, it is the truth."""
    message = Message("assistant", [])
    spots: list[Path] = []
    single = not isinstance(native.get(body), list)
    for j, item in enumerate(content):
        part = _lift_item(item, context)
        if isinstance(part, (Reasoning, ToolCall)):
            context.spell(part, {"part": True})
        message.parts.append(part)
        spots.append((body,) if single else (body, j))
    _lift_thoughts(native, message, spots, extras, context)
    message.model = native.get("model") or None
    usage, rest = read_tokens(native.get("tokens") or {})
    message.usage = usage or None
    extras |= {"tokens": rest} if rest else {}
    if native.get("tokens"):
        context.spell(message, {"tokens": native["tokens"]})
    results = _lift_calls(native, message, spots, path, following, context)
    return [(message, path, spots), *results]


def _lift_thoughts(native: Native, message: Message, spots: list[Path], extras: Native, context: Context) -> None:
    thoughts = native.get("thoughts") or []
    if thoughts and any(isinstance(part, Reasoning) for part in message.parts):
        extras["thoughts"] = thoughts
        return
    parts = [lift_thought(thought, native.get("timestamp"), context) for thought in thoughts]
    message.parts[:0] = parts
    spots[:0] = [("thoughts", i) for i in range(len(parts))]


def _lift_calls(
    native: Native, message: Message, spots: list[Path], path: Path, following: Iterator[Native], context: Context
) -> Lifted:
    """The calls of `toolCalls`: those that the content holds too are lifted once."""
    entries = native.get("toolCalls") or []
    known = [part for part in message.parts if isinstance(part, ToolCall)]
    answers = answered(following) if entries else Answers(set(), set())
    stands = {id(part): spot for part, spot in zip(message.parts, spots, strict=True)}
    both, results, twins = bool(known), Lifted(), Twins(known, context.reader.pairing.invented)
    alike = len({entry.get("id") for entry in entries}) < len(entries)
    for i, entry in enumerate(entries):
        twin = _twin(entry, twins) if both else None
        call, answer = lift_entry(entry, twin, native.get("timestamp"), answers, context)
        if twin is None:
            message.parts.append(call)
            spots.append(("toolCalls", i))
        if both:
            context.spell(call, {"at": i})
        if twin is not None:
            said = carried_by(call.extras, NAME)
            routes = {(*path, *stands[id(twin)], key): (*path, "toolCalls", i, key) for key in said}
            context.reader.origin.routes |= routes
        if answer is not None:
            context.spell(answer, {"join": True, "of": i} if alike else {"join": True})
            results.append((answer, (*path, "toolCalls", i), [("result",)]))
        elif entry.get("status"):
            context.states[call.id] = entry["status"]
    return results


def _twin(entry: Native, twins: Twins) -> ToolCall | None:
    """The call of the content that an entry repeats: by id; where one has none by name and arguments."""
    id_ = entry.get("id")
    same = twins.with_id(id_)
    return same or twins.saying(entry["name"], entry.get("args") or {}, nameless=bool(id_))


def answered(following: Iterator[Native]) -> Answers:
    """The answers in the records of the user behind a record of the model, up to the next one of the model."""
    answers = Answers(set(), set())
    for record in following:
        if role_of(record) == "assistant":
            break
        content = record.get("content") if role_of(record) == "user" else None
        for item in _items(content)[0]:
            if is_answer(item):
                answer = PART.camel(item)[0]["functionResponse"]
                id_, name = answer.get("id"), answer["name"]
                (answers.ids if id_ else answers.names).add(id_ or name)
    return answers


# ---------------------------------------------------------------- lower


def usual_form(messages: list[Message], writer: Writer) -> str:
    """One plain text is a string, anything else a list."""
    parts = [part for message in messages for part in in_content(message, writer)]
    bare = len(parts) == 1 and isinstance(parts[0], Text) and parts[0] == Text(parts[0].text) and parts[0].text
    return "string" if bare and messages[0].role != "tool" else "list"


def in_content(message: Message, writer: Writer) -> list[Part]:
    """The parts that stand in the content: of the model's all where their order or a signature needs it."""
    if message.role == "tool":
        return [part for part in message.parts if isinstance(part, ToolResult)]
    if message.role != "assistant":
        return message.parts
    if not writer.own and needs_content(message.parts):
        return message.parts
    return [p for p in message.parts if not isinstance(p, (Reasoning, ToolCall)) or writer.spelling(p).get("part")]


def needs_content(parts: list[Part]) -> bool:
    """Thoughts stand before the content and calls behind it, and only parts of the content are signed."""
    rank = [0 if isinstance(part, Reasoning) else 2 if isinstance(part, ToolCall) else 1 for part in parts]
    signed = any("thoughtSignature" in (part.metadata or {}) for part in parts)
    return signed or rank != sorted(rank)


def lower_record(group: list[Message], frame: Native, writer: Writer) -> Native:
    """The record of the messages that were lifted from one; `frame` holds its id and its time."""
    first = group[0]
    spelling = writer.spelling(first)
    role = "assistant" if first.role == "assistant" else "user"
    usual = ("type", "gemini" if role == "assistant" else "user", "content")
    key, kind, body = spelling.get("frame", usual)
    native: Native = {**frame, key: kind}
    native[body] = _lower_content(group if role == "user" else [first], spelling, writer)
    carried = dict(carried_by(first.extras, NAME))
    if role == "assistant":
        _lower_answer(first, group[1:], native, writer, frame.get("timestamp"))
        carried = {key: value for key, value in carried.items() if key != "tokens"}
    if not writer.own:
        known = {*native, *_ORDER.split(), *OF_A_LOG} - {"displayContent"}
        carried = {key: value for key, value in carried.items() if key not in known}
    native = {key: native[key] for key in KEYS[role].sorted(native)}
    return KEYS[role].put(native, carried, spelling)


def _lower_content(messages: list[Message], spelling: Spelling, writer: Writer) -> Any:
    natives: list[Any] = []
    for message in messages:
        for part in in_content(message, writer):
            native = _lower_item(part, message.role, writer)
            natives += [native] if native is not None else []
    form = spelling.get("form") or usual_form(messages, writer)
    if not natives:
        return ""
    if form == "string" and len(natives) == 1:
        return natives[0].get("text") if isinstance(natives[0], dict) else natives[0]
    return natives[0] if form == "part" and len(natives) == 1 else natives


def _lower_item(part: Part, role: str, writer: Writer) -> Any:
    if isinstance(part, ToolResult):
        spelling = writer.spelling(part)
        return spelling["native"] if "native" in spelling else lower_result(part, writer)
    if isinstance(part, Text) and writer.spelling(part).get("bare"):
        return part.text
    return lower_part(part, role, writer)


def _lower_answer(message: Message, answers: list[Message], native: Native, writer: Writer, time: Any) -> None:
    said = {id(part) for part in in_content(message, writer)}
    thoughts = [part for part in message.parts if isinstance(part, Reasoning) and id(part) not in said]
    lowered = [lower_thought(part, time, writer) for part in thoughts if part.text or part.summary or writer.own]
    if lowered:
        native["thoughts"] = lowered
    tokens = lower_tokens(message, writer)
    if tokens:
        native["tokens"] = tokens
    if message.model is not None:
        native["model"] = message.model
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if writer.own:
        calls = [call for call in calls if "entry" in writer.spelling(call) or id(call) not in said]
        calls.sort(key=lambda call: writer.spelling(call).get("at", len(calls)))
    if calls:
        native["toolCalls"] = _lower_entries(calls, answers, time, writer)


def _lower_entries(calls: list[ToolCall], answers: list[Message], time: Any, writer: Writer) -> list[Native]:
    """The entries, each with the first result of its id that no other entry has taken."""
    left: dict[tuple[str, int | None], deque[tuple[int, Message]]] = {}
    for at, message in enumerate(answers):
        result = message.parts[0] if message.parts else None
        if isinstance(result, ToolResult):
            key = (result.tool_call_id, writer.spelling(message).get("of"))
            left.setdefault(key, deque()).append((at, message))
    entries: list[Native] = []
    for i, call in enumerate(calls):
        queues = [queue for of in (i, None) if (queue := left.get((call.id, of)))]
        first = min(queues, key=lambda queue: queue[0][0]) if queues else None
        entries.append(lower_entry(call, first.popleft()[1] if first else None, time, writer))
    return entries
