"""multi-llm-chat: saved histories, drafts and bare lists of a chat program that asks Gemini and ChatGPT side by side.

Specification: doc/specs/structured_content_format_spec.md and src/multi_llm_chat/{history,history_utils}.py of
aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.

Quirks
- The role of an answer is its author: `gemini` or `chatgpt`. Other authors are written as `chatgpt`.
- The specification nests a call under `content`; the program stores it flat, and only reads flat calls back for
  OpenAI. Both are read, the flat form is written.
- A result has no field for a failure; the program itself puts "[ERROR] " before the text, and so do we. Nothing is
  read out of that mark.
- Gemini gives no ids. The program then stores the name of the tool as the id of the result: such an id names no call,
  and the result answers the next open call of that tool.
- Older entries: a string as content, `role: tool` with a string and the tool's name beside it, calls beside the
  content under `tool_calls`, results under the role of an author with `result` for `content`, one object as content.
- All results of one turn stand in one entry. The schema version 1 means strings as content; version 2 lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli import wire
from convcli.dialect import Clue, Convention, Dialect, Options
from convcli.dialects._histories import Answers, has_failed, has_media, in_words, renamed, runs, silent, without
from convcli.errors import ContentError
from convcli.fields import Keys, Native, Spelling, active, carried_by, extras_of, results_first
from convcli.pairing import UNKNOWN, Pairing
from convcli.transcript import Message, Opaque, Origin, Part, Path, Refusal, Text, ToolCall, ToolResult, Transcript

NAME = "multi-llm-chat"
AUTHORS = ("gemini", "chatgpt")
DRAFT = "autosave_draft"
"""The `type` of a draft that the program saved by itself."""
FAILED = "[ERROR] "
"""What the program writes before the text of a call that failed."""
VERSION = {"saved": 2, "autosave": 1}
"""The versions that are written: that of the entries, and that of the draft itself."""

SAVED = Keys("display_name system_prompt turns metadata")
AUTOSAVE = Keys("type schema_version user_id system_prompt turns metadata", carried="user_id")
METADATA = Keys("schema_version created_at updated_at")
ENTRY = Keys("role name content tool_calls invalid", carried="invalid")
TEXT = Keys("type content")
NESTED = Keys("type content")
CALL = Keys("type name arguments tool_call_id")
RESULT = Keys("type name content tool_call_id")
OLD_NAMES = {"tool_name": "name", "result": "content"}


def detect(document: Any) -> Clue | None:
    """By `turns` beside what a saved history has, by the roles of authors, or by parts whose body is `content`."""
    if isinstance(document, dict):
        if document.get("type") == DRAFT and isinstance(document.get("turns"), list):
            return Clue(100, f"a draft of the type {DRAFT}")
        known = isinstance(document.get("turns"), list) and not {"display_name", "system_prompt"}.isdisjoint(document)
        return Clue(95, "turns of a saved history") if known else None
    if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
        return None
    if any(entry.get("role") in AUTHORS and "content" in entry for entry in document):
        return Clue(95, "answers under the roles gemini and chatgpt")
    if any(_has_our_parts(entry.get("content")) for entry in document):
        return Clue(90, "parts of content whose body is called content")
    return None


def _has_our_parts(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("content"), str)
        for part in content
    )


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a saved history, a draft or a list of entries."""
    origin = Origin(NAME)
    reader = _Reader(document, origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(reader.messages(document, ()), origin=origin)
    form, keys = ("autosave", AUTOSAVE) if document.get("type") == DRAFT else ("saved", SAVED)
    metadata = document.get("metadata") or {}
    carried, spelling = keys.take(document)
    more, inner = METADATA.take(metadata)
    version = (document if form == "autosave" else metadata).get("schema_version")
    origin.document = {"form": form, "missing": [key for key in ("system_prompt",) if key not in document]}
    origin.document |= {"file": spelling or {}, "metadata": inner or {}, "version": version}
    extras = {**(carried or {}), **({"metadata": more} if more else {})}
    return Transcript(
        reader.system(document.get("system_prompt")) + reader.messages(document["turns"], ("turns",)),
        title=document.get("display_name") or None if form == "saved" else None,
        created_at=metadata.get("created_at") or None,
        updated_at=metadata.get("updated_at") or None,
        extras=extras_of(NAME, extras),
        origin=origin,
    )


def lower(transcript: Transcript, options: Options) -> Any:
    """A saved history of version 2, or what the source was."""
    spelling = transcript.document_spelling(NAME)
    form = options.form or spelling.get("form") or "saved"
    same = spelling if spelling.get("form") == form else {}
    writer = _Writer(transcript)
    messages = active(transcript) if writer.own else results_first(active(transcript))
    if form == "list":
        return writer.entries(messages)
    system, messages = writer.system(messages, bool(same))
    native: Native = {"system_prompt": system, "turns": writer.entries(messages)}
    version = same.get("version") if same else VERSION[form]
    carried = dict(carried_by(transcript.extras, NAME))
    metadata: Native = {"created_at": transcript.created_at, "updated_at": transcript.updated_at}
    if form == "saved":
        metadata["schema_version"] = version
        native["display_name"] = transcript.title
    else:
        native |= {"type": DRAFT, "schema_version": version}
    metadata = METADATA.put(_said(metadata, METADATA), carried.pop("metadata", None), same.get("metadata"))
    if metadata or not same:
        native["metadata"] = metadata
    keys = SAVED if form == "saved" else AUTOSAVE
    return keys.put(without(_said(native, keys), same), carried, same.get("file"))


def _said(native: Native, keys: Keys) -> Native:
    return {key: native[key] for key in keys.sorted(native) if native[key] is not None}


# ---------------------------------------------------------------- lift


class _Reader:
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
        raw = wire.write_text(arguments) if isinstance(arguments, list) else None
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
    """A call whose content is an object is nested; a result, as it is streamed, when nothing stands beside its content.

    Data with the same keys is not taken for that: it has the name or the id of the tool beside it.
    """
    content = native.get("content")
    if native.get("type") != "tool_result" or not isinstance(content, dict):
        return isinstance(content, dict)
    return "content" in content and {"name", "tool_name", "tool_call_id"}.isdisjoint(native)


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
    return body, {**(carried or {}), **({"outer": outer} if outer else {})}, {**(spelling or {}), **odd}


# ---------------------------------------------------------------- lower


class _Writer:
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
            body = {"name": part.name, "arguments": _arguments(part), "tool_call_id": part.id}
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


def _arguments(call: ToolCall) -> Any:
    """The arguments; a list, which the program stores too, from the text that keeps it."""
    try:
        value = None if call.raw_arguments is None else wire.parse(call.raw_arguments)
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


DIALECT = Dialect(
    name=NAME,
    title="multi-llm-chat",
    specification="structured_content_format_spec.md and the code of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("document", "records"),
    forms=("saved", "list", "autosave"),
    detect=detect,
    lift=lift,
    lower=lower,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a result has no field for a failure: "[ERROR] " stands before its text'),
                "data": ("changed", "a string is always text: the data is written as JSON"),
                "multimodal": ("changed", "a result holds one text: its texts are joined"),
            },
        ),
    ),
    reasons={
        "message.name": "the author of an answer is gemini or chatgpt",
        "message.role": "there is only one role for instructions",
        "text": "the system prompt is one text",
        "reasoning": "the history keeps no thinking",
        "refusal": "the history has no part for a refusal: it is written as text",
        "tools": "the tools are not stored in the history",
        "tool": "the tools are not stored in the history",
        "toolChoice": "the history holds no settings of a request",
        "settings": "the history holds no settings of a request",
        "model": "the history does not name the model",
        "image": "the history holds text and calls only",
        "audio": "the history holds text and calls only",
        "video": "the history holds text and calls only",
        "document": "the history holds text and calls only",
        "tool_call.rawArguments": "arguments are an object here",
        "tool_result.isError": "a result has no field for a failure",
    },
    places={
        "title": ("display_name",),
        "createdAt": ("metadata", "created_at"),
        "updatedAt": ("metadata", "updated_at"),
        "message.name": ("role",),
        "message.role": ("role",),
        "text.text": ("content",),
        "tool_result.value": ("content",),
        "tool_result.toolCallId": ("tool_call_id",),
    },
    envelope=frozenset(("user_id", "metadata", "type")),
)
