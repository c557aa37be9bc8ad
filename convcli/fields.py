"""Take the keys that a dialect knows, carry the rest: helpers that every lift and lower share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from convcli import wire
from convcli.errors import ContentError
from convcli.transcript import Extras, Message, ToolCall, ToolDefinition, ToolResult, Transcript

Native = dict[str, Any]
"""An object as the vendor wrote it."""

Spelling = dict[str, Any]
"""How an object was spelled: `keys` its keys in order, `blank` its keys whose value says nothing; dialects add more."""


class Shape(NamedTuple):
    """What the keys of an object say without a look at its values."""

    plain: bool
    carried: tuple[str, ...]
    ordered: bool


class Keys:
    """The keys of one kind of object, in the order in which the vendor writes them.

    Those in `carried` have no field in the intermediate format: they ride in extras, as unknown keys do.
    """

    __slots__ = ("_carried", "_rank", "shape")

    def __init__(self, order: str, *, carried: str = "") -> None:
        self._rank = {name: rank for rank, name in enumerate(order.split())}
        self._carried = frozenset(carried.split())
        if not self._carried <= self._rank.keys():
            raise ValueError("carried keys must have a place in the order")
        self.shape: Callable[[tuple[str, ...]], Shape] = lru_cache(maxsize=1024)(self._shape)

    def _shape(self, keys: tuple[str, ...]) -> Shape:
        carried = tuple(key for key in keys if key in self._carried or key not in self._rank)
        ordered = list(keys) == self.sorted(keys)
        return Shape(not carried and ordered, carried, ordered)

    def sorted(self, keys: Iterable[str]) -> list[str]:
        """The keys in the order of the vendor, unknown ones last."""
        last = len(self._rank)
        return sorted(keys, key=lambda key: self._rank.get(key, last))

    def take(self, native: Native) -> tuple[Native | None, Spelling | None]:
        """What must be carried, and how the object was spelled; None where there is nothing to say."""
        shape = self.shape(tuple(native))
        if shape.plain and all(native.values()):
            return None, None
        return self._take(native, shape)

    def _take(self, native: Native, shape: Shape) -> tuple[Native | None, Spelling | None]:
        blank = {key: value for key, value in native.items() if self._is_blank(key, value)}
        carried = {key: native[key] for key in shape.carried if key not in blank}
        spelling: Spelling = {}
        if blank or not shape.ordered:
            spelling["keys"] = list(native)
        if blank:
            spelling["blank"] = blank
        return carried or None, spelling or None

    def _is_blank(self, key: str, value: Any) -> bool:
        """Null says nothing; an empty string, list or object says nothing under a key that we know."""
        if value is None:
            return True
        return key in self._rank and not value and not isinstance(value, (bool, int, float))

    def put(self, native: Native, carried: Native | None, spelling: Spelling | None) -> Native:
        """The object as its vendor writes it: with what was carried, in the vendor's order or in that of the source."""
        if carried:
            native = {**native, **carried}
            native = {key: native[key] for key in self.sorted(native)}
        return respell(native, spelling) if spelling else native


def respell(native: Native, spelling: Spelling) -> Native:
    """`native` in the order of its source; of keys that say nothing, those that the source had."""
    blank: Native = spelling.get("blank", {})
    out: Native = {}
    for key in spelling.get("keys", ()):
        if key in native and (key not in blank or says_something(native[key])):
            out[key] = native[key]
        elif key in blank:
            out[key] = blank[key]
    whole = "keys" in spelling
    out.update(
        (key, value) for key, value in native.items() if key not in out and not (whole and not says_something(value))
    )
    return out


def says_something(value: Any) -> bool:
    """False for null and for an empty string, list or object."""
    return bool(value) or isinstance(value, (bool, int, float))


def extras_of(dialect: str, carried: Native | None) -> Extras | None:
    """`carried` as extras of `dialect`."""
    return {dialect: carried} if carried else None


def carried_by(extras: Extras | None, dialect: str) -> Native:
    """What `dialect` carries in `extras`."""
    return extras.get(dialect, {}) if extras else {}


def read_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """Arguments that a vendor writes as JSON in a string: the object, and the text where that cannot stand for it.

    Text that is no JSON object, an empty one too, keeps its text beside `{}`, or beside the best reading when only its
    keys are not unique.
    """
    return read_written_arguments(text)[:2]


def read_written_arguments(text: str) -> tuple[dict[str, Any], str | None, bool]:
    """The same, and whether `write_arguments` gives the text back."""
    if not text or text.isspace():
        return {}, text, True
    try:
        value, compact = wire.parse_text(text)
    except ContentError as error:
        return (_last_wins(text) if error.code == "duplicate-key" else {}), text, True
    return (value, None, compact) if isinstance(value, dict) else ({}, text, True)


def _last_wins(text: str) -> dict[str, Any]:
    value = wire.parse(text, duplicate_keys="last")
    return value if isinstance(value, dict) else {}


def write_arguments(arguments: dict[str, Any], raw: str | None) -> str:
    """The arguments as JSON in a string: the raw text of the source where there is one."""
    return wire.write_text(arguments) if raw is None else raw


DATA_URL = "data:{};base64,{}"
"""A URL that holds media: its type and its base64."""


def split_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 of a plain `data:type/subtype;base64,…` URL; None for any other."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url.partition(",")
    media_type, semicolon, encoding = head[5:].partition(";")
    return (media_type, data) if comma and semicolon and encoding == "base64" and media_type else None


def time_of_epoch(seconds: int) -> str | None:
    """RFC 3339 of whole seconds since 1970; None outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


def epoch_of_time(text: str) -> int | None:
    """Whole seconds since 1970 of a time that `time_of_epoch` wrote; None for any other."""
    try:
        seconds = int(datetime.fromisoformat(text).timestamp())
    except (OverflowError, ValueError):
        return None
    return seconds if time_of_epoch(seconds) == text else None


def take_counts(native: Native, table: Mapping[tuple[str, ...], str]) -> tuple[dict[str, int], Native]:
    """Counts of tokens by their path in the vendor's object, and the rest of that object without nulls."""
    usage: dict[str, int] = {}
    rest: Native = {}
    for key, value in native.items():
        if (key,) in table and isinstance(value, int):
            usage[table[(key,)]] = value
        elif isinstance(value, dict):
            inner, left = take_counts(
                value, {path[1:]: name for path, name in table.items() if path[0] == key and path[1:]}
            )
            usage |= inner
            rest |= {key: left} if left else {}
        elif value is not None:
            rest[key] = value
    return usage, rest


def put_counts(usage: dict[str, int], rest: Native, table: Mapping[tuple[str, ...], str]) -> Native:
    """The vendor's object for counts of tokens: the inverse of `take_counts`, in the order of the table."""
    native: Native = {}
    for path, name in table.items():
        if name in usage:
            node = native
            for step in path[:-1]:
                node = node.setdefault(step, {})
            node[path[-1]] = usage[name]
    return merge(native, rest)


def merge(base: Native, more: Native) -> Native:
    """Both objects in one, merged where both hold an object under the same key."""
    out = dict(base)
    for key, value in more.items():
        mine = out.get(key)
        out[key] = merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return out


def is_response(transcript: Transcript) -> bool:
    """Only what a model answered, as services return it: no question, tools or settings, but a stop reason or usage."""
    return (
        bool(transcript.messages)
        and transcript.tools is None
        and transcript.tool_choice is None
        and not transcript.settings
        and all(message.role == "assistant" for message in transcript.messages)
        and any(message.stop_reason or message.usage for message in transcript.messages)
    )


def is_foreign_builtin(tool: ToolDefinition) -> bool:
    """A tool that a vendor runs by itself: it has nothing but a name and its owner's own keys."""
    return (
        tool.description is None
        and tool.parameters is None
        and any("tool" in carried for carried in (tool.extras or {}).values())
    )


def active(transcript: Transcript) -> list[Message]:
    """The messages that a linear dialect writes: no events, and of a tree only the path from the root to `head`."""
    messages = branch(transcript)
    if "event" not in [message.role for message in messages]:
        return messages
    return [message for message in messages if message.role != "event"]


def branch(transcript: Transcript) -> list[Message]:
    """Of a tree the path from the root to `head`, with the events on it; else all messages."""
    return transcript.messages if transcript.head is None else _path_to(transcript.head, transcript.messages)


def _path_to(head: str, messages: list[Message]) -> list[Message]:
    by_id = {message.id: message for message in messages if message.id is not None}
    path: dict[int, Message] = {}
    message = by_id.get(head)
    while message is not None and id(message) not in path:
        path[id(message)] = message
        message = by_id.get(message.parent_id) if message.parent_id is not None else None
    tied = _tied_results(messages, set(path))
    return [message for message in messages if id(message) in path or id(message) in tied]


def _tied_results(messages: list[Message], path: set[int]) -> set[int]:
    """Results without an id of their own follow the message that stands before them."""
    tied: set[int] = set()
    inside = False
    for message in messages:
        if message.id is not None:
            inside = id(message) in path
        elif inside:
            tied.add(id(message))
    return tied


def results_first(messages: list[Message]) -> list[Message]:
    """The messages with every result directly behind the turn that called, in the order in which the results came."""
    if _in_place(messages):
        return messages
    order: list[Message] = []
    late: dict[str, list[Message]] = {}
    caller: dict[str, int] = {}
    for message in messages:
        result = _result_of(message)
        if result is None or result.tool_call_id not in caller:
            _open_calls(message, len(order), caller)
            order.append(message)
        elif _follows(order, caller[result.tool_call_id]):
            order.append(message)
        else:
            late.setdefault(result.tool_call_id, []).append(message)
    return _insert(order, late, caller) if late else messages


def _in_place(messages: list[Message]) -> bool:
    """Quick, for most conversations: does every result stand behind the assistant's turn that called?"""
    open_calls: set[str] = set()
    for message in messages:
        if message.role == "tool":
            result = _result_of(message)
            if result is None or result.tool_call_id not in open_calls:
                return False
        elif message.role == "assistant":
            open_calls = {part.id for part in message.parts if type(part) is ToolCall}
        else:
            open_calls = set()
    return True


def results_apart(message: Message) -> list[Message]:
    """Results in messages of their own, the rest between them; what the message itself says stays with the first."""
    if not any(isinstance(part, ToolResult) for part in message.parts):
        return [message] if message.parts or message.role != "tool" else []
    pieces: list[Message] = []
    for part in message.parts:
        result = isinstance(part, ToolResult)
        if not result and pieces and pieces[-1].role != "tool":
            pieces[-1].parts.append(part)
            continue
        pieces.append(Message("tool" if result else "user" if message.role == "tool" else message.role, [part]))
    first = pieces[0]
    for name in ("id", "parent_id", "created_at", "extras"):
        setattr(first, name, getattr(message, name))
    return pieces


def _result_of(message: Message) -> ToolResult | None:
    first = message.parts[0] if message.role == "tool" and message.parts else None
    return first if type(first) is ToolResult else None


def _open_calls(message: Message, index: int, caller: dict[str, int]) -> None:
    for part in message.parts:
        if isinstance(part, ToolCall):
            caller[part.id] = index


def _follows(order: list[Message], index: int) -> bool:
    """Is there nothing but results behind the message at `index`?"""
    return order[-1].role == "tool" or index == len(order) - 1


def _insert(order: list[Message], late: dict[str, list[Message]], caller: dict[str, int]) -> list[Message]:
    behind: dict[int, list[Message]] = {}
    for id_, results in late.items():
        index = caller[id_]
        while index + 1 < len(order) and order[index + 1].role == "tool":
            index += 1
        behind.setdefault(index, []).extend(results)
    out: list[Message] = []
    for index, message in enumerate(order):
        out.append(message)
        out += behind.get(index, ())
    return out
