"""What the Responses API accepts, as passes: messages as input, as a response, and as the items of both.

Rules of the service: item ids begin with the prefix of their kind and are unique; reasoning must be the service's own
and be followed by what came of it ([guide](https://platform.openai.com/docs/guides/reasoning), read 2026-11-20). All
passes are shared: `owner` is the name for a dialect's extras and opaque parts.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.families.openai.response import created_in_seconds
from convcli.families.responses import response
from convcli.families.responses.items import MARKS
from convcli.families.responses.parts import AUTO, RESULTS, object_in
from convcli.families.responses.turns import is_content
from convcli.kit import custom
from convcli.kit.fitting import drop_other_opaque, keep_functions, keep_parts_of_roles, without
from convcli.kit.objects import Keys, get_extras, omit, without_nulls
from convcli.kit.passes import (
    MEDIA,
    PartPass,
    fused,
    on_each_message,
    on_messages,
    on_parts,
    on_results,
    on_tools,
    shared,
)
from convcli.kit.renaming import Alphabet, identifiers, make_ids_distinct, rename_tools_and_ids
from convcli.kit.results import apply_convention, only_own, separate_results, with_parts
from convcli.kit.sessions import events
from convcli.kit.values import with_total
from convcli.model.branches import branch
from convcli.model.dialect import Pass
from convcli.model.inventory import Informed, Inventory, any_of, apply_all, has_empty, has_kind, has_part_field
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript

NAMES, IDS = identifiers(128), Alphabet("", "", 64)
"""The accepted names of tools and ids of calls."""
PREFIXES = {"message": "msg", "reasoning": "rs", "web_search_call": "ws"}
PREFIXES |= {"function_call": "fc", "custom_tool_call": "ctc"}
"""The prefixes of item ids; the service refuses others."""
LONGEST_ID = 64
OTHER_EVENTS = "events"
"""The key of extras with the events of a stream that convcli does not know. A response has none."""
UNTYPED = "application/octet-stream"


# ---------------------------------------------------------------- messages


def keep_own_line(owner: str) -> tuple[Pass, Pass]:
    """Keeps only the active branch, and only the events that are items."""
    marks = events(lambda event: bool(event.parts) and all(_is_mark(part, owner) for part in event.parts))
    return keep_branch_events, marks


def keep_branch_events(transcript: Transcript) -> Transcript:
    """Keeps only the active branch, with its events."""
    return transcript if transcript.head is None else replace(transcript, messages=branch(transcript), head=None)


def _is_mark(part: Part, owner: str) -> bool:
    is_object = isinstance(part, Opaque) and part.dialect == owner and isinstance(part.value, dict)
    return is_object and part.value.get("type") in MARKS  # type: ignore[union-attr]


answered = on_each_message(lambda message: message if message.role in ("assistant", "tool", "event") else None)
"""Keeps what a response contains: assistant messages and the results between them."""


# ---------------------------------------------------------------- parts


def keep_response_media(media: Media) -> Media | None:
    """Keeps images and files; only data has a type. The service no longer lists audio."""
    if media.type not in ("image", "document") or (media.data is None and not media.url and media.file_id is None):
        return None
    is_image = media.type == "image"
    fitted = replace(
        media,
        media_type=None if media.data is None else media.media_type or UNTYPED,
        name=None if is_image else media.name,
        detail=None if is_image and media.detail == AUTO else media.detail,
    )
    return media if fitted == media else fitted


PARTS_IN_ROLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tool_call", "reasoning", "refusal"), ("assistant",)),
    **dict.fromkeys(MEDIA, ("system", "developer", "user", "tool", "event")),
}
MediaFit: TypeAlias = Callable[[Media], Media | None]


def keep_response_parts(owner: str, media: MediaFit = keep_response_media) -> PartPass:
    """Keeps the parts that the service accepts in messages of their roles; `media` selects the media."""

    of_role = keep_parts_of_roles(PARTS_IN_ROLES)
    return of_role.then(drop_other_opaque(owner)).then(on_parts(lambda part, _: media(part), *MEDIA))


def keep_output_parts(owner: str, media: MediaFit = keep_response_media) -> PartPass:
    """Reduces results to the texts, images and files that an output can contain."""

    def of_output(part: Part) -> Part | None:
        fitted = media(part) if isinstance(part, Media) else part
        is_opaque = isinstance(fitted, Opaque) and fitted.dialect == owner
        if fitted is None or not (is_opaque or isinstance(fitted, (Text, Media))):
            return None
        return only_own(fitted, owner)

    return on_results(lambda result: with_parts(result, of_output), "multimodal")


def name_custom_outputs(messages: list[Message]) -> list[Message]:
    """Gives results of custom tools the names of their calls: the output of a custom tool has no key for another."""
    called: dict[str, str | None] = {}
    fitted = []
    for message in messages:
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        called |= {call.id: call.name if call.custom else None for call in calls}
        parts = shared(message.parts, [_named_as(part, called) for part in message.parts])
        fitted.append(message if parts is message.parts else replace(message, parts=parts))
    return shared(messages, fitted)


def _named_as(part: Part, called: dict[str, str | None]) -> Part:
    if not isinstance(part, ToolResult):
        return part
    name = called.get(part.tool_call_id)
    return part if name is None or name == part.name else replace(part, name=name)


# ---------------------------------------------------------------- items


def keep_own_items(owner: str, *, is_input: bool) -> Pass:
    """Drops empty reasoning; for input, also reasoning of other services, and ids of items that the service has not
    made."""
    has_facts = any_of(has_part_field("metadata"), has_kind("reasoning"))
    return on_messages(lambda messages: _OwnItems(owner, is_input).fitted(messages), has_facts)


class _OwnItems:
    """The item ids used so far."""

    def __init__(self, owner: str, is_input: bool) -> None:
        self._owner, self._is_input = owner, is_input
        self._used: set[str] = set()
        self._open: tuple[Any, str | None] | None = None
        """The open message item: its id before and after."""

    def fitted(self, messages: list[Message]) -> list[Message]:
        return shared(messages, [self._message(message) for message in messages])

    def _message(self, message: Message) -> Message:
        if all(part.metadata is None and part.__class__ is not Reasoning for part in message.parts):  # most messages
            return message
        self._open = None
        parts = shared(message.parts, [self._part(part, message.role) for part in message.parts])
        return message if parts is message.parts else replace(message, parts=parts)

    def _part(self, part: Part, role: str) -> Part | None:
        if part.metadata is None and part.__class__ is not Reasoning:  # it names no item
            self._open = None
            return part
        metadata = part.metadata or {}
        if is_content(part, role, self._owner):
            id_ = self._id_of_content(part, metadata.get("itemId")) if role == "assistant" else None
            return _with_metadata(part, itemId=id_)
        kind = ("custom_tool_call" if part.custom else "function_call") if isinstance(part, ToolCall) else part.type
        id_ = self._known(metadata.get("itemId"), get_extras(part.extras, self._owner).get("type", kind))
        encrypted = metadata.get("encryptedContent") or None if isinstance(part, Reasoning) else None
        is_foreign = isinstance(part, Reasoning) and id_ is None and encrypted is None
        if is_foreign and (self._is_input or not (part.text or part.summary)):  # type: ignore[union-attr]
            return None
        self._open = None
        return _with_metadata(part, itemId=id_, encryptedContent=encrypted)

    def _id_of_content(self, part: Part, id_: Any) -> str | None:
        if self._open is None or id_ != self._open[0] or "item" in get_extras(part.extras, self._owner):
            self._open = id_, self._known(id_, "message")
        return self._open[1]

    def _known(self, id_: Any, kind: str) -> str | None:
        """Returns the id if the service would accept it."""
        if not isinstance(id_, str) or not id_ or not self._is_input:
            return id_ or None if isinstance(id_, str) else None
        is_its_own = id_.startswith(PREFIXES.get(kind, "")) and len(id_) <= LONGEST_ID and id_ not in self._used
        self._used.add(id_)
        return id_ if is_its_own else None


def _with_metadata(part: Part, **known: str | None) -> Part:
    """Returns the part with only this metadata: items cannot store any other."""
    metadata = without_nulls(known) or None
    return part if metadata == part.metadata else replace(part, metadata=metadata)


def _drop_unfollowed(messages: list[Message]) -> list[Message]:
    is_followed = False
    kept: list[Message] = []
    for message in reversed(messages):
        parts: list[Part | None] = []
        for part in reversed(message.parts):
            parts.append(None if isinstance(part, Reasoning) and not is_followed else part)
            is_followed = is_followed if isinstance(part, Reasoning) else message.role in FOLLOWING
        is_followed = is_followed if message.parts else message.role in FOLLOWING
        left = shared(message.parts, parts[::-1])
        kept.append(message if left is message.parts else replace(message, parts=left))
    return shared(messages, kept[::-1])


FOLLOWING = ("assistant", "event")
drop_unfollowed_reasoning = on_messages(_drop_unfollowed, has_kind("reasoning"))
"""Drops reasoning that nothing of the same answer follows, because the service refuses it."""


def drop_emptied(*passes: Pass) -> Pass:
    """Returns a pass that drops messages which these passes leave empty."""

    joined = fused(*passes)

    def drop_emptied_messages(transcript: Transcript, inventory: Inventory) -> Transcript:
        fitted = apply_all(joined, transcript, inventory)
        if fitted.messages is transcript.messages or all(message.parts for message in fitted.messages):
            return fitted
        pairs = zip(transcript.messages, fitted.messages, strict=True)
        kept = shared(fitted.messages, [after if after.parts or not before.parts else None for before, after in pairs])
        return fitted if kept is fitted.messages else replace(fitted, messages=kept)

    return Informed(drop_emptied_messages)


def drop_empty_neighbors(messages: list[Message]) -> list[Message]:
    """Drops an empty answer next to another, because both are one when they are read back."""
    kept: list[Message | None] = []
    for at, message in enumerate(messages):
        neighbors = messages[at + 1 : at + 2] + [before for before in kept[-1:] if before is not None]
        is_empty = not message.parts and message.role == "assistant"
        kept.append(None if is_empty and any(other.role == "assistant" for other in neighbors) else message)
    return shared(messages, kept)


# ---------------------------------------------------------------- responses


def move_end_to_response(owner: str, *, always: bool = False) -> Pass:
    """Keeps usage, error and stop reason only for the response as a whole; a stream `always` has a stop reason.

    An answer without parts is not an item: its end moves to the last one with parts.
    """

    def move_end(transcript: Transcript) -> Transcript:
        last = next((message for message in reversed(transcript.messages) if message.role == "assistant"), None)
        left = [message for message in transcript.messages if message.parts]
        home = response.keep_last_answer(left) or last
        if last is None or home is None:
            return transcript
        left = left if home.parts else [*left, home]
        native = response.end_of(last, get_extras(transcript.extras, owner))
        native |= {"status": "completed"} if always and "status" not in native else {}
        reason = response.read_stop_reason(native, response.parts_of_last_answer(left))
        fitted = [_ended(each, last, reason, owner) if each is home else _without_end(each) for each in left]
        messages = shared(transcript.messages, [each for each in fitted if each.parts or _says_end(each)])
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return move_end


def _says_end(message: Message) -> bool:
    return message.stop_reason is not None or message.usage is not None or message.error is not None


def _without_end(message: Message) -> Message:
    return replace(message, stop_reason=None, usage=None, error=None) if _says_end(message) else message


def _ended(home: Message, last: Message, reason: str | None, owner: str) -> Message:
    usage = get_extras(last.extras, owner).get("usage")
    extras = {**get_extras(home.extras, owner), **({"usage": usage} if usage else {})}
    fitted = replace(
        home,
        stop_reason=reason,
        usage=last.usage and with_total(last.usage),
        error=last.error or None,
        extras={**(home.extras or {}), owner: extras} if extras else home.extras,
    )
    return home if fitted == home else fitted


def write_request_echo(owner: str) -> Pass:
    """Converts extras of a request to the copy in a response."""

    def copy_request(transcript: Transcript) -> Transcript:
        extra = get_extras(transcript.extras, owner)
        repeated = {key: value for key, value in extra.items() if key in response.ECHO and key != "request"}
        if not repeated:
            return transcript
        other_extras = omit(extra, *repeated)
        request = {**object_in(extra, "request"), **repeated}
        other_extras["request"] = {key: request[key] for key in Keys(response.RESPONSE.names).sorted(request)}
        return replace(transcript, extras={**(transcript.extras or {}), owner: other_extras})

    return copy_request


# ---------------------------------------------------------------- all of it


_known_schemas = on_tools(
    lambda tool: tool if isinstance(tool.output_schema, (dict, NoneType)) else replace(tool, output_schema=None)
)


def _items(owner: str, *, is_input: bool) -> tuple[Pass, ...]:
    return (
        custom.calls,
        on_messages(name_custom_outputs, custom.has_custom),
        keep_response_parts(owner),
        keep_output_parts(owner),
        apply_convention(RESULTS),
        keep_own_items(owner, is_input=is_input),
    )


def as_input(owner: str) -> tuple[Pass, ...]:
    """Returns passes for messages as items of a request."""
    return (
        rename_tools_and_ids(NAMES, IDS),
        *keep_own_line(owner),
        make_ids_distinct(IDS),
        separate_results,
        on_messages(drop_empty_neighbors, has_empty),
        drop_emptied(*_items(owner, is_input=True), drop_unfollowed_reasoning),
        keep_functions(owner),
        custom.tools,
        _known_schemas,
    )


def as_response(owner: str, *, always: bool = False) -> tuple[Pass, ...]:
    """Returns passes for messages as items of a response; `always`: it must have a stop reason."""
    return (
        rename_tools_and_ids(NAMES, IDS),
        *keep_own_line(owner),
        answered,
        make_ids_distinct(IDS),
        separate_results,
        *_items(owner, is_input=False),
        move_end_to_response(owner, always=always),
        write_request_echo(owner),
        without("tools"),
        created_in_seconds,
    )
