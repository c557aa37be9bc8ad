"""The entries of multi-llm-chat: what stands in `turns`, in all the forms that the program ever wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.histories.entries import (
    Answers,
    has_failed,
    has_media,
    in_words,
    renamed,
    runs,
    silent,
    without,
)
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.pairing import UNKNOWN, Pairing
from convcli.model.errors import ContentError
from convcli.model.transcript import (
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json

NAME = "multi-llm-chat"
AUTHORS = ("gemini", "chatgpt")
FAILED = "[ERROR] "
"""What the program writes before the text of a call that failed."""

ENTRY = Keys("role name content tool_calls invalid", carried="invalid")
TEXT = Keys("type content")
NESTED = Keys("type content")
CALL = Keys("type name arguments tool_call_id")
RESULT = Keys("type name content tool_call_id")
OLD_NAMES = {"tool_name": "name", "result": "content"}


# ---------------------------------------------------------------- lift


class Reader:
    """What the lifts of one document share."""

    __slots__ = ("answers", "origin", "pairing", "role")

    def __init__(self, document: Any, origin: Origin) -> None:
        self.pairing, self.origin, self.role = Pairing(document), origin, ""
        self.answers = Answers(self.pairing)
        origin.invented = self.pairing.invented

    def system(self, prompt: str | None) -> list[Message]:
        """The system prompt of the file as a leading message."""
        if not prompt:
            return []
        message = Message("system", [Text(prompt)])
        self.origin.spell(message, {"prompt": True})
        self.origin.places.append((("system_prompt",), [()]))
        return [message]

    def messages(self, entries: list[Native], prefix: Path) -> list[Message]:
        messages = [message for i, entry in enumerate(entries) for message in self.entry(entry, (*prefix, i))]
        self.answers.adopt(messages)
        return messages

    def entry(self, native: Native, place: Path) -> Iterator[Message]:
        """The messages of one entry, each with what it needs to find its entry again."""
        carried, spelling = ENTRY.take(native)
        role, name = native["role"], native.get("name") or None
        parts, spots, form = self._parts(native)
        self.answers.pair()
        if role in AUTHORS and name is None:  # the author is the name of the message
            self.origin.routes[*place, "name"] = (*place, "role")
        if name is not None and role in (*AUTHORS, "tool") and form != "result":
            carried = {"name": name, **(carried or {})}
        for at, run in enumerate(runs(parts)):
            message = _message(parts[run], role, name)
            odd: Spelling = {"join": at > 0} if (at > 0) != (self.role == message.role == "tool") else {}
            if at == 0:
                odd |= {**(spelling or {}), **({"content": form} if form else {})}
                odd |= {"role": role} if message.role == "tool" and role != "tool" else {}
                odd |= silent(native, "name") if form == "result" else {}
                message.extras = extras_of(NAME, carried)
            self.role = message.role
            self.origin.spell(message, odd)
            self.origin.places.append((place, spots[run]))
            yield message

    def _parts(self, native: Native) -> tuple[list[Part], list[Path], str]:
        """The parts of an entry, where they stand, and what its content was when it was no list."""
        content = native.get("content")
        if isinstance(content, str) and native["role"] == "tool":
            return [self.answers.add(None, native.get("name") or None, content)], [("content",)], "result"
        if isinstance(content, str):
            parts: list[Part] = [Text(content)] if content else []
            spots: list[Path] = [("content",)] * len(parts)
        else:
            items = [content] if isinstance(content, dict) else content or []
            parts = [self._part(item) for item in items]
            spots = [_spot(item, ("content",) if item is content else ("content", j)) for j, item in enumerate(items)]
        for j, call in enumerate(native.get("tool_calls") or ()):
            parts.append(self._call(call, {"beside": True}))
            spots.append(("tool_calls", j))
        return parts, spots, "string" if isinstance(content, str) else "item" if isinstance(content, dict) else ""

    def _part(self, native: Any) -> Part:
        if isinstance(native, str):
            part: Part = Text(native)
            self.origin.spell(part, {"bare": True})
            return part
        if native["type"] == "text":
            carried, spelling = TEXT.take(native)
            part = Text(native["content"], extras=extras_of(NAME, carried))
            self.origin.spell(part, spelling or {})
            return part
        if native["type"] == "tool_call":
            return self._call(native, {})
        return self._result(native) if native["type"] == "tool_result" else Opaque(NAME, native)

    def _call(self, native: Native, odd: Spelling) -> ToolCall:
        body, carried, spelling = _open(native, CALL)
        name, arguments = body.get("name") or "", body.get("arguments") or {}
        raw = exact_json.write_text(arguments) if isinstance(arguments, list) else None
        missing = silent(body, "type", "tool_call_id", *(() if "arguments" in body else ("arguments",)))
        id_ = self.pairing.call(body.get("tool_call_id") or None, name)
        call = ToolCall(id_, name, {} if raw is not None else arguments, raw, extras=extras_of(NAME, carried))
        self.origin.spell(call, {**spelling, **missing, **odd})
        return call

    def _result(self, native: Native) -> ToolResult:
        body, carried, spelling = _open(native, RESULT)
        name, id_ = body.get("name") or None, body.get("tool_call_id") or None
        if id_ is not None and id_ == (name or UNKNOWN) and not self.pairing.knows(id_):
            spelling["id"], id_ = id_, None
        result = self.answers.add(id_, name, body["content"])
        result.extras = extras_of(NAME, carried)
        self.origin.spell(result, {**spelling, **silent(body, "type", "name", "tool_call_id")})
        return result


def _message(parts: list[Part], role: str, name: str | None) -> Message:
    if parts and isinstance(parts[0], ToolResult):
        return Message("tool", parts)
    return Message("assistant", parts, name=role) if role in AUTHORS else Message(role, parts, name=name)


def _spot(item: Any, path: Path) -> Path:
    """Where the body of an item stands."""
    nested = isinstance(item, dict) and item["type"] in ("tool_call", "tool_result") and _is_nested(item)
    return (*path, "content") if nested else path


def _is_nested(native: Native) -> bool:
    """A call whose content is an object is nested; a result, as it is streamed, when its content has content.

    Data with the same keys is not taken for that: it has the name or the id of the tool beside it.
    """
    content = native.get("content")
    if not isinstance(content, dict) or not {"name", "tool_name"}.isdisjoint(native):
        return False
    return native.get("type") != "tool_result" or ("content" in content and "tool_call_id" not in native)


def _open(native: Native, keys: Keys) -> tuple[Native, Native, Spelling]:
    """The object with the keys of a call or a result, under today's names; what it carries, and how it was spelled."""
    nested = _is_nested(native)
    body, old = renamed(native["content"] if nested else native, OLD_NAMES if keys is RESULT else {"tool_name": "name"})
    carried, inner = keys.take(body)
    odd: Spelling = {"old": old} if old else {}
    if not nested:
        return body, carried or {}, {**(inner or {}), **odd}
    outer, spelling = NESTED.take(native)
    odd |= {"nested": inner or {}}
    if says_something(body.get("type")) and body["type"] != ("tool_call" if keys is CALL else "tool_result"):
        carried = {**(carried or {}), "type": body["type"]}
    return body, {**(carried or {}), **({"outer": outer} if outer else {})}, {**(spelling or {}), **odd}


# ---------------------------------------------------------------- lower


class Writer:
    """What the lowers of one transcript share. `own`: written as it was."""

    __slots__ = ("model", "own", "spellings")

    def __init__(self, transcript: Transcript) -> None:
        self.own = transcript.origin is not None and transcript.origin.dialect == NAME
        self.spellings = transcript.spelling(NAME)
        self.model = transcript.model or ""

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def system(self, messages: list[Message], same: bool) -> tuple[str, list[Message]]:
        """The system prompt of the file, and the messages that remain: the prompt is one text without a name."""
        first = messages[0] if messages and messages[0].role in ("system", "developer") else None
        if first is None or (same and not self.spelling(first).get("prompt")):
            return "", messages
        return "\n\n".join(part.text for part in first.parts if isinstance(part, Text)), messages[1:]

    def entries(self, messages: list[Message]) -> list[Native]:
        groups: list[list[Message]] = []
        for message in messages:
            last = groups[-1][-1].role if groups else ""
            if groups and self.spelling(message).get("join", last == message.role == "tool"):
                groups[-1].append(message)
            else:
                groups.append([message])
        return [self._entry(group) for group in groups]

    def _entry(self, group: list[Message]) -> Native:
        first = group[0]
        spelling = self.spelling(first)
        items: list[Any] = []
        beside: list[Native] = []
        for part in (part for message in group for part in message.parts):
            native = self._part(part)
            if native is not None:
                (beside if self.spelling(part).get("beside") else items).append(native)
        entry: Native = {"role": spelling.get("role") or self._role(first), "content": items}
        form = spelling.get("content")
        if form == "result" and len(items) == 1:
            entry = without({"role": "tool", "name": items[0]["name"], "content": items[0]["content"]}, spelling)
        elif form and len(items) == 1:
            entry["content"] = items[0]["content"] if form == "string" else items[0]
        if first.name and first.role in ("user", "system", "developer"):
            entry["name"] = first.name
        if beside:
            entry["tool_calls"] = beside
        return ENTRY.put({key: entry[key] for key in ENTRY.sorted(entry)}, carried_by(first.extras, NAME), spelling)

    def _role(self, message: Message) -> str:
        """The role of an entry; that of an answer is its author, by name or by model."""
        if message.role != "assistant":
            return "system" if message.role == "developer" else message.role
        by_model = "gemini" if "gemini" in (message.model or self.model) else "chatgpt"
        return message.name if message.name in AUTHORS else by_model

    def _part(self, part: Part) -> Any:
        """One item of the content; None for what the program has no part for."""
        spelling = self.spelling(part)
        if isinstance(part, (Text, Refusal)):
            native = {"type": "text", "content": part.text}
            return part.text if spelling.get("bare") else TEXT.put(native, carried_by(part.extras, NAME), spelling)
        if isinstance(part, ToolCall):
            body = {"name": part.name, "arguments": arguments_of(part), "tool_call_id": part.id}
            return _close("tool_call", body, CALL, part, spelling)
        if isinstance(part, ToolResult):
            id_ = spelling.get("id", part.tool_call_id)
            body = {"name": part.name, "content": written(part), "tool_call_id": id_}
            return _close("tool_result", body, RESULT, part, spelling)
        return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def _close(kind: str, body: Native, keys: Keys, part: ToolCall | ToolResult, spelling: Spelling) -> Native:
    """A call or a result: flat, or nested under `content` where the source had it so."""
    carried = dict(carried_by(part.extras, NAME))
    outer = carried.pop("outer", None)
    nested = "nested" in spelling
    body = without({"type": kind, **body}, spelling)
    body = keys.put(body, carried, spelling["nested"] if nested else spelling)
    if "old" in spelling:
        new = {OLD_NAMES[old]: old for old in spelling["old"]}
        body = {new.get(key, key): value for key, value in body.items()}
    return NESTED.put({"type": kind, "content": body}, outer, spelling) if nested else body


def arguments_of(call: ToolCall) -> Any:
    """The arguments; a list, which the program stores too, from the text that keeps it."""
    try:
        value = None if call.raw_arguments is None else exact_json.parse(call.raw_arguments)
    except ContentError:
        value = None
    return value if isinstance(value, list) and value else call.arguments


def written(result: ToolResult) -> Any:
    """The content of a result: text or any other JSON value; a string that is data stands in its quotes."""
    if has_failed(result):
        return FAILED + in_words(result)
    return result.value if result.kind == "data" and not isinstance(result.value, str) else in_words(result)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result comes back for which the program has no form."""
    as_is = result.kind == "text" or (result.kind == "data" and not isinstance(result.value, str))
    return None if (as_is and not has_failed(result)) or has_media(result) else ("text", written(result))
