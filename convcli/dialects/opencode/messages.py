"""OpenCode messages, and the session around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convcli.dialects.opencode.parts import (
    ASIDE,
    NAME,
    Frame,
    in_order,
    lift_part,
    other_keys,
    time_of_result,
    write_part,
)
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import REPLACES_ALL, Envelope
from convcli.kit.objects import Native, as_text, except_keys, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.results import answers_of
from convcli.kit.settings import Setting
from convcli.kit.usage import KNOWN_COST, cached_tokens
from convcli.kit.values import milliseconds_of_time, put_counts, take_counts, time_of_milliseconds
from convcli.model.transcript import Media, Message, Part, Path, ToolCall, ToolResult, Transcript

UNKNOWN = "unknown"
"""The model and the provider written for an answer without them."""
FINISH = {
    "stop": "stop",
    "length": "length",
    "tool-calls": "tool_calls",
    "content-filter": "content_filter",
    "error": "error",
}
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
TOKENS = {
    ("total",): "totalTokens",
    ("input",): "inputTokens",
    ("output",): "outputTokens",
    ("reasoning",): "reasoningTokens",
    ("cache", "read"): "cacheReadTokens",
    ("cache", "write"): "cacheWriteTokens",
}
FAILURE = "MessageAbortedError"
"""The only error that still lets an answer be sent again."""


def _message_of_error(error: Any) -> str | None:
    data = error.get("data") if isinstance(error, dict) else None
    message = data.get("message") if isinstance(data, dict) else None
    return as_text(message)


ERROR = Setting(
    "error", _message_of_error, lambda message: {"name": FAILURE, "data": {"message": message}}, partial=True
)
INFO = Envelope(
    "id=id slug projectID workspaceID directory=cwd path parentID title=title agent model version summary "
    "cost tokens share permission revert time="
)
MESSAGES = {
    "user": Envelope("id=id sessionID role= time= agent model system tools summary"),
    "assistant": Envelope(
        "id=id sessionID role= parentID modelID=model providerID=provider mode agent path summary cost "
        "tokens= time= finish error",
        {
            "summary": REPLACES_ALL,
            "cost": KNOWN_COST,
            "finish": Setting("stop_reason", FINISH.get, FINISH_OF.get),
            "error": ERROR,
        },
    ),
}
SESSION: Native = {"slug": "session", "projectID": "global", "directory": "/", "title": "", "version": "0.0.0"}
"""Values that OpenCode requires of a session, for what a transcript may omit."""


# ---------------------------------------------------------------- lift


def lift_session(document: Native, context: LiftContext) -> Transcript:
    """Reads an exported session, in the order of the message ids."""
    info, natives = document["info"], document["messages"]
    transcript = context.transcript()
    extra = INFO.lift(info, transcript) or {}
    transcript.cwd = None if transcript.cwd == SESSION["directory"] else transcript.cwd
    order = sorted(range(len(natives)), key=lambda i: str(natives[i]["info"]["id"]))
    infos = [natives[i]["info"] for i in order]
    linked = _linked([info["role"] for info in infos])
    for at, (i, to) in enumerate(zip(order, linked, strict=True)):
        _MessageReader(natives[i], None if to is None else infos[to], at, i, transcript, context).lift()
    time = without_nulls(info["time"])
    transcript.created_at = _take_time(time, "created")
    transcript.updated_at = _take_time(time, "updated")
    extra = {**other_keys(extra, SESSION), **({"time": time} if time else {})}
    unknown = except_keys(document, "info", "messages")
    transcript.extras = make_extras(NAME, unknown, session=extra)
    return transcript


def _take_time(time: Native, key: str) -> str | None:
    """Returns a time in milliseconds and removes it; anything else stays."""
    text = time_of_milliseconds(time.get(key))
    if text is not None:
        del time[key]
    return text


def _linked(roles: Sequence[str]) -> list[int | None]:
    """Returns for each message the index of the one whose values it repeats: for a prompt that of the answer after
    it, for an answer that of the prompt before it."""
    linked: list[int | None] = [None] * len(roles)
    last: int | None = None
    for at, role in enumerate(roles):
        if role == "user":
            last = at
        else:
            linked[at] = last
    last = None
    for at in reversed(range(len(roles))):
        if roles[at] == "user":
            linked[at] = last
        elif roles[at] == "assistant":
            last = at
    return linked


class _MessageReader:
    """Reads one message: `linked` is the `info` whose values it repeats, `number` its position by id, and `index` its
    position in the document."""

    def __init__(
        self,
        native: Native,
        linked: Native | None,
        number: int,
        index: int,
        transcript: Transcript,
        context: LiftContext,
    ) -> None:
        self.native, self.linked, self.number = native, linked, number
        self.transcript, self.context = transcript, context
        self.path: Path = ("messages", index)

    def lift(self) -> None:
        info = self.native["info"]
        time = without_nulls(info["time"])
        message = Message(info["role"], [], created_at=_take_time(time, "created"))
        extra = MESSAGES[message.role].lift(info, message) or {}
        if message.role == "assistant":
            message.usage, rest = read_tokens(info.get("tokens") or {})
            extra |= {"tokens": rest} if rest else {}
        frame = Frame(self.transcript.id, message.id, self.number, milliseconds_of_time(message.created_at))
        extra = {**other_keys(extra, self._usual(info)), **({"time": time} if time else {})}
        part_paths: list[Path] = []
        self.context.add(message, (*self.path, "info"), part_paths)
        aside, beside = self._parts(message, part_paths, frame), except_keys(self.native, "info", "parts")
        message.extras = make_extras(NAME, extra, aside=aside, beside=beside)
        if message.model == UNKNOWN:
            message.model = None
        if message.provider == UNKNOWN:
            message.provider = None

    def _usual(self, info: Native) -> Native:
        session = {} if self.transcript.id is None else {"sessionID": self.transcript.id}
        if info["role"] == "user":
            answer = self.linked or {}
            return {**session, **usual_user(answer.get("modelID"), answer.get("providerID"))}
        return {**session, **usual_assistant((self.linked or info)["id"], self.transcript.cwd)}

    def _parts(self, message: Message, part_paths: list[Path], frame: Frame) -> list[Native]:
        """Reads parts in the order of their ids, and results after the message; returns the other parts."""
        parts = self.native["parts"]
        aside: list[Native] = []
        for at, k in enumerate(sorted(range(len(parts)), key=lambda k: str(parts[k]["id"]))):
            native = parts[k]
            if native["type"] in ASIDE:
                aside.append({"at": at, **in_order(other_keys(native, frame.usual(at)))})
                continue
            part, result = lift_part(native, at, frame, self.context)
            message.parts.append(part)
            part_paths.append(("..", "parts", k))
            if result is not None:
                self._result(result, native, (*self.path, "parts", k))
        return aside

    def _result(self, result: ToolResult, native: Native, path: Path) -> None:
        message = Message("tool", [result], created_at=time_of_result(native))
        self.context.add(message, path, [("state",)])
        routes, state = self.context.origin.routes, (*path, "state")
        routes[(*path, "time", "created")] = (*state, "time", "end")
        if result.kind == "error":
            routes[(*state, "output")] = (*state, "error")
        items = result.value if isinstance(result.value, list) else []
        files = [k for k, part in enumerate(items) if isinstance(part, Media)]
        routes |= {(*state, "output", k): (*state, "attachments", n) for n, k in enumerate(files)}


def read_tokens(native: Native) -> tuple[dict[str, int] | None, Native]:
    """Returns the counts, and the rest. Zero is the filler for a missing count. `input` excludes the caches."""
    usage, rest = take_counts(native, TOKENS)
    counts = {name: count for name, count in usage.items() if count > 0}
    total = counts.get("inputTokens", 0) + cached_tokens(counts)
    return ({**counts, "inputTokens": total} if total else counts) or None, rest


def usual_user(model: Any, provider: Any) -> Native:
    """Returns what a user message repeats of the answer to it."""
    return {"agent": "build", "model": {"providerID": provider or UNKNOWN, "modelID": model or UNKNOWN}}


def usual_assistant(parent: Any, cwd: str | None) -> Native:
    """Returns what an answer repeats."""
    return {"parentID": parent, "mode": "build", "agent": "build", "path": {"cwd": cwd or "/", "root": "/"}, "cost": 0}


# ---------------------------------------------------------------- write


def write_session(transcript: Transcript) -> Native:
    """Writes a session document."""
    session_extras = get_extras(transcript.extras, NAME)
    extra = session_extras.get("session", {})
    created = milliseconds_of_time(transcript.created_at)
    updated = milliseconds_of_time(transcript.updated_at)
    time = {"created": created, "updated": updated, **extra.get("time", {})}
    info = _filled(INFO, transcript, omit(extra, "time"), {**SESSION, "time": without_nulls(time)})
    return {"info": info, "messages": write_messages(transcript), **together(omit(session_extras, "session"))}


def _filled(envelope: Envelope, record: Transcript | Message, extra: Native, usual: Native) -> Native:
    """Writes a record's object, with defaults for missing keys."""
    stated = envelope.write(record, extra)
    return envelope.write(record, extra, **omit(usual, *stated))


def write_messages(transcript: Transcript) -> list[Native]:
    """Writes the messages, each answer with the results after it."""
    turns: list[tuple[Message, list[Message]]] = []
    for message in transcript.messages:
        if message.role == "tool":
            turns[-1][1].append(message)
        else:
            turns.append((message, []))
    linked = [None if to is None else turns[to][0] for to in _linked([message.role for message, _ in turns])]
    return [
        _write_message(message, to, k, answers, transcript)
        for k, ((message, answers), to) in enumerate(zip(turns, linked, strict=True))
    ]


def _write_message(
    message: Message, linked: Message | None, at: int, answers: list[Message], transcript: Transcript
) -> Native:
    extra = get_extras(message.extras, NAME)
    created = milliseconds_of_time(message.created_at)
    content: Native = {"role": message.role, "time": without_nulls({"created": created, **extra.get("time", {})})}
    content |= {} if transcript.id is None else {"sessionID": transcript.id}
    if message.role == "user":
        answer = linked or Message("assistant", [])
        content |= usual_user(answer.model, answer.provider)
    else:
        content |= usual_assistant((linked or message).id, transcript.cwd)
        content |= {"modelID": UNKNOWN, "providerID": UNKNOWN}
        content["tokens"] = write_tokens(message.usage, extra.get("tokens", {}))
    rest = omit(extra, "time", "tokens", "aside", "beside")
    info = _filled(MESSAGES[message.role], message, rest, content)
    frame = Frame(transcript.id, message.id, at, created)
    return {"info": info, "parts": _write_parts(message, answers, frame), **extra.get("beside", {})}


def write_tokens(usage: dict[str, int] | None, rest: Native) -> Native:
    """Writes all counts that OpenCode requires, zero for missing ones."""
    counts = dict(usage or {})
    counts["inputTokens"] = max(counts.get("inputTokens", 0) - cached_tokens(counts), 0)
    zero = {name: 0 for path, name in TOKENS.items() if path != ("total",)}
    return put_counts({**zero, **counts}, rest, TOKENS)


def _write_parts(message: Message, answers: list[Message], frame: Frame) -> list[Native]:
    """Writes the parts, and the message's other parts from its extras in between."""
    slots: list[Part | Native] = list(message.parts)
    for native in get_extras(message.extras, NAME).get("aside", ()):
        slots.insert(native["at"], omit(native, "at"))
    in_call_order = iter(answers_of([part for part in message.parts if isinstance(part, ToolCall)], answers))
    natives = []
    for at, slot in enumerate(slots):
        if isinstance(slot, dict):
            natives.append(in_order({**frame.usual(at), **slot}))
        else:
            answer = next(in_call_order) if isinstance(slot, ToolCall) else None
            natives.append(write_part(slot, at, frame, answer))
    return natives
