"""The records of the intermediate format, version 1.

Every dialect is lifted to these records and written from them. In JSON their names are camelCase (`tool_call_id` is
`toolCallId`); `schemas/intermediate.schema.json` describes that form, and a test compares the two. Fields that are
`None` are absent. Records are plain values: equality compares everything that the source *says*. How the source
*spells* it (key order, `"text"` for one text block) is derived on demand (`engine/spelling`). The paths in the source
are stored separately, in `Origin`, and never compared.

msgspec structs rather than dataclasses: created in 98 against 234 ns and compared in C in 51 against 235 ns (one
message with one text part, CPython 3.11, msgspec 0.22), with the same memory. `gc=False`: parts and messages contain
JSON values, which have no cycles, so the garbage collector need not visit them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

Extras: TypeAlias = dict[str, dict[str, Any]]
"""Facts that only one dialect can express, under that dialect's name, in the vendor's own keys."""
APART = "@"
"""The extras key of the vendor's keys that have the name of one of ours, such as `row` for the keys of a row."""

Step: TypeAlias = str | int
Path: TypeAlias = tuple[Step, ...]
"""The steps of a JSON Pointer, unescaped: `("messages", 3, "content")`."""

ROLES = ("system", "developer", "user", "assistant", "tool", "event")
STOP_REASONS = ("stop", "length", "tool_calls", "content_filter", "refusal", "pause", "error", "aborted")
MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]
MEDIA_KINDS: tuple[MediaKind, ...] = ("image", "audio", "video", "document")
MEDIA_SOURCES = ("data", "url", "file_id", "path", "text")


class Text(msgspec.Struct, tag="text", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """Text as the model reads or writes it. Two text blocks of one message stay separate."""

    type: ClassVar[str] = "text"
    text: str
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


class Reasoning(msgspec.Struct, tag="reasoning", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """The model's thinking. `text` may be empty if only `metadata` has it (redacted, encrypted, signed)."""

    type: ClassVar[str] = "reasoning"
    text: str
    summary: list[str] | None = None
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


class Refusal(msgspec.Struct, tag="refusal", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """The text in which a model declined."""

    type: ClassVar[str] = "refusal"
    text: str
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


class Media(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """An image, audio, video or document. Exactly one of `data` (base64), `url`, `file_id`, `path`, `text` is set."""

    type: MediaKind
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    path: str | None = None
    text: str | None = None
    media_type: str | None = None
    name: str | None = None
    detail: str | None = None
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


class ToolCall(msgspec.Struct, tag="tool_call", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """A tool call. `arguments` is an object, never a string.

    `raw_arguments` is the source string. It is set only if that string is not a JSON object, or if writing `arguments`
    again would not give the same JSON value; `arguments` is then `{}` or the best reading. The call of a `custom` tool
    has a free text, stored in `arguments` under `input`.
    """

    type: ClassVar[str] = "tool_call"
    id: str
    name: str
    arguments: dict[str, Any]
    raw_arguments: str | None = None
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None
    custom: Literal[True] | None = None


class ToolResult(msgspec.Struct, tag="tool_result", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """The result of a call.

    `value` by `kind`: `text` a string shown as is · `data` any JSON value · `error` a string · `multimodal` a list of
    `Text` and `Media`. `is_error` is set only with `data` or `multimodal`. `status` is set only if `kind` cannot
    express it.
    """

    type: ClassVar[str] = "tool_result"
    tool_call_id: str
    name: str
    kind: Literal["text", "data", "error", "multimodal"]
    value: Any
    is_error: Literal[True] | None = None
    status: str | None = None
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


class Opaque(msgspec.Struct, tag="opaque", tag_field="type", rename="camel", omit_defaults=True, gc=False):
    """A block of an unknown kind, verbatim, under the name of its owner."""

    type: ClassVar[str] = "opaque"
    dialect: str
    value: Any
    metadata: dict[str, Any] | None = None
    extras: Extras | None = None


Part: TypeAlias = Text | Reasoning | Refusal | Media | ToolCall | ToolResult | Opaque


class Message(msgspec.Struct, rename="camel", omit_defaults=True, gc=False):
    """One message, or one event (role `event`) that is not part of the model's context.

    A tool result is always its own message, with role `tool` and exactly one part. `weight` is the message's weight in
    training; `label` is `chosen` or `rejected`. `replaces` is set if the message is the summary of a compaction: the
    model no longer sees earlier messages, either all of them (`all`) or those from that id on. `parent_call_id` is the
    call that started the (subagent) run of the message. `cost` is in US dollars.
    """

    role: str
    parts: list[Part]
    id: str | None = None
    parent_id: str | None = None
    created_at: str | None = None
    name: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: dict[str, int] | None = None
    error: str | None = None
    cost: float | None = None
    provider: str | None = None
    weight: float | None = None
    label: str | None = None
    replaces: str | None = None
    parent_call_id: str | None = None
    extras: Extras | None = None


class ToolDefinition(msgspec.Struct, rename="camel", omit_defaults=True):
    """A tool that the model may call. A vendor's built-in tool is stored whole in `extras`, with its `name`.

    `strict` is True or None, because not being strict is the default. `custom` is the input format of a tool with a
    free text; its `parameters` are then those of an object with this text under `input`.
    """

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    title: str | None = None
    output_schema: dict[str, Any] | bool | None = None
    annotations: dict[str, Any] | None = None
    extras: Extras | None = None
    custom: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.strict = self.strict or None


ToolChoice: TypeAlias = str | dict[str, Any]
"""`"auto"`, `"none"`, `"required"`, `{"name": …}` or `{"names": […]}`."""

PartPaths: TypeAlias = Sequence[Path] | None
"""The paths of a message's parts, relative to the message; None: `Origin.node_path` is the path of all."""


OUTSIDE = ""
"""The first step of a path in `Origin.routes` that leads outside the nested body of a document."""


class Origin(msgspec.Struct):
    """The paths of everything in the source document. A transcript does not depend on them, and writers must not use
    them.

    `places`: for each message its path, and the paths of its parts relative to it; `tools`: those of the tools.
    `node_path` is the path of parts whose message has no part paths. `generated_ids` are generated ids and names.
    `aliases` maps keys of `Dialect.places` to this source's names for them.

    A document that was assembled before it was lifted (a stream) has `routes`: the original paths of its values, by
    their path in the assembled document. `pieces` are all paths of a value that is spread over several events, by the
    path under which it is reported. A field that stands elsewhere in the document than its node is routed by its name:
    `(*node, "message.id")`.

    `document` is the source itself; None if its paths are not needed. `form` is its form in its dialect. `rolled_back`
    are the indexes of events that were messages before their session was rolled back.
    """

    dialect: str
    places: list[tuple[Path, PartPaths]] = msgspec.field(default_factory=list)
    node_path: Path = ()
    tools: list[Path] = msgspec.field(default_factory=list)
    generated_ids: set[str] = msgspec.field(default_factory=set)
    aliases: dict[str, str] = msgspec.field(default_factory=dict)
    routes: dict[Path, Path] = msgspec.field(default_factory=dict)
    pieces: dict[Path, list[Path]] = msgspec.field(default_factory=dict)
    document: Any = None
    form: str = ""
    rolled_back: set[int] = msgspec.field(default_factory=set)


class Transcript(msgspec.Struct, rename="camel", omit_defaults=True, eq=False):
    """A conversation with its tools and settings. Equality ignores `origin`."""

    messages: list[Message]
    id: str | None = None
    title: str | None = None
    model: str | None = None
    cwd: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    tools: list[ToolDefinition] | None = None
    tool_choice: ToolChoice | None = None
    settings: dict[str, Any] | None = None
    head: str | None = None
    extras: Extras | None = None
    origin: Origin | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transcript):
            return NotImplemented
        return bool(_compared_fields(self) == _compared_fields(other))

    def __ne__(self, other: object) -> bool:  # msgspec's own would compare identities
        return not self == other

    __hash__ = None  # type: ignore[assignment]


TRANSCRIPT_FIELDS = tuple(name for name in Transcript.__struct_fields__ if name != "origin")
_compared_fields = attrgetter(*TRANSCRIPT_FIELDS)


@cache
def camel(name: str) -> str:
    """Returns the name of a field in JSON."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
