"""A table: which keys of a log are the role, the text, the calls and everything else. Paths are keys joined by `/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from convcli.model.errors import JobError

KeyPath = Annotated[str, Meta(pattern=r"^[^/]+(/[^/]+)*$")]
"""The path of a value in its object: keys joined by `/`."""
Role = Literal["system", "developer", "user", "assistant", "tool"]
TimeUnit = Literal["text", "seconds", "milliseconds"]
ArgumentForm = Literal["object", "json", "text"]
Scalar = str | int | bool


class CallKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """The tool calls of a message.

    `at` leads to a list of calls, or to one; without it, the message itself is the call. `result` is the key of the
    result in the call. `arguments-as` is the form in which arguments are written: an object, JSON in a string, or a
    free text. `constants` are written; `defaults` mean nothing and are not written.
    """

    name: KeyPath
    at: KeyPath | None = None
    id: KeyPath | None = None
    arguments: KeyPath | None = None
    arguments_as: ArgumentForm = "object"
    result: KeyPath | None = None
    constants: dict[KeyPath, Scalar] = {}
    defaults: dict[KeyPath, Scalar] = {}


class ResultKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A message with role `tool`: its value, the id of its call, the name of the tool, and the flag of a failure.

    `json`: the value may be any JSON; else it is a string.
    """

    value: KeyPath
    call: KeyPath | None = None
    name: KeyPath | None = None
    failed: KeyPath | None = None
    json: bool = True


class ConversationKeys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """Fields of the whole conversation: keys of the document, or of the first line if each line is a message.

    `where` recognizes this line. `constants` are written.
    """

    id: KeyPath | None = None
    title: KeyPath | None = None
    model: KeyPath | None = None
    cwd: KeyPath | None = None
    created: KeyPath | None = None
    updated: KeyPath | None = None
    where: dict[KeyPath, Scalar] = {}
    constants: dict[KeyPath, Scalar] = {}


class LogTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """One log format.

    `messages` leads to the list of messages in a document; without it, the document is the list, or one row. `lines`:
    each line of a file is a row. `object` leads to the message in its row. `where` recognizes the rows that are
    messages. `roles` maps the words of the log to roles; a row with another word is an event. `turns` maps keys of a
    row that are messages of their own to roles; `before` and `after` map such keys of the document. `always` are keys
    that are written even if their text is empty. `split` is the key of every line that names its conversation.
    `metadata` are keys that are not part of the conversation.
    """

    title: str = ""
    messages: KeyPath | None = None
    lines: bool = False
    split: KeyPath | None = None
    object: KeyPath | None = None
    where: dict[KeyPath, Scalar] = {}
    role: KeyPath | None = None
    roles: dict[str, Role] = {}
    default_role: Role | None = None
    turns: dict[KeyPath, Role] = {}
    before: dict[KeyPath, Role] = {}
    after: dict[KeyPath, Role] = {}
    text: KeyPath | None = None
    texts: KeyPath | None = None
    reasoning: KeyPath | None = None
    images: KeyPath | None = None
    calls: CallKeys | None = None
    results: ResultKeys | None = None
    id: KeyPath | None = None
    time: KeyPath | None = None
    time_in: TimeUnit = "text"
    name: KeyPath | None = None
    model: KeyPath | None = None
    stop_reason: KeyPath | None = None
    always: list[KeyPath] = []
    metadata: list[str] = []
    conversation: ConversationKeys = ConversationKeys()
    order: tuple[str, ...] = ()
    """The keys of the table in the order in which it states them: the order in which values are written."""


def parse(stated: Mapping[str, Any], file: str, at: str = "") -> LogTable:
    """Returns the table that a TOML table states. Raises JobError `bad-configuration`, which names the file and the
    table `at` in it."""
    begin = f"{at}: " if at else ""
    if "order" in stated:
        raise JobError(
            "bad-configuration", f"{begin}there is no key order; keys are written as the table orders them", file=file
        )
    try:
        table = msgspec.convert({**stated, "order": _order(stated)}, LogTable)
    except msgspec.ValidationError as error:
        message = str(error).replace("`$.", "`").replace(" - at `$`", "")
        raise JobError("bad-configuration", begin + message, file=file) from None
    problem = _problem(table)
    if problem:
        raise JobError("bad-configuration", begin + problem, file=file)
    return table


def _order(stated: Mapping[str, Any]) -> list[str]:
    """Returns the names of all values in the order of the table, those in tables as `calls.name`."""
    names: list[str] = []
    for key, value in stated.items():
        names += [f"{key}.{inner}" for inner in value] if isinstance(value, Mapping) else [key]
    return names


def _problem(table: LogTable) -> str:
    """Returns what is wrong with a table whose values have the right types; empty if nothing is."""
    if table.messages and table.lines:
        return "each line is a message (lines), so messages cannot lead to a list"
    if (table.before or table.after or table.split) and table.lines != bool(table.split):
        return "split is for lines = true, before and after are for documents"
    if table.text and table.texts:
        return "text is one string and texts is a list: state one of them"
    if not (table.role or table.turns or table.default_role):
        return "state role (the key of the role), turns (keys that are messages) or default-role"
    if not (table.text or table.texts or table.turns or table.calls):
        return "state the key of the text: text, texts or turns"
    if "tool" in table.roles.values() and table.results is None:
        return 'a word means "tool", so results must state the key of the value'
    return ""
