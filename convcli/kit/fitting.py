"""Passes that dialects list in `fit`: each adapts a transcript to a target.

A pass does not change its input, and shares what it leaves unchanged. Its changes are found as losses when the output
is read back, so no pass reports anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from convcli.kit.objects import drop_extras
from convcli.kit.passes import (
    PartPass,
    PartStep,
    on_each_message,
    on_parts,
    on_tools,
    shared,
)
from convcli.kit.texts import only_text, text_of
from convcli.model.branches import active
from convcli.model.dialect import Options, Pass
from convcli.model.inventory import Informed, Inventory, has_field, has_role
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    ToolDefinition,
    Transcript,
)


def is_response(transcript: Transcript) -> bool:
    """True if the transcript is only a model's response: no question, tools or settings, but a stop reason or usage."""
    return (
        bool(transcript.messages)
        and transcript.tools is None
        and transcript.tool_choice is None
        and not transcript.settings
        and all(message.role == "assistant" for message in transcript.messages)
        and any(message.stop_reason or message.usage for message in transcript.messages)
    )


def is_vendor_builtin(tool: ToolDefinition) -> bool:
    """True if a vendor runs this tool itself: it has only a name and its owner's own keys."""
    return (
        tool.description is None
        and tool.parameters is None
        and any("tool" in extra for extra in (tool.extras or {}).values())
    )


@Informed
def keep_active_conversation(transcript: Transcript, inventory: Inventory) -> Transcript:
    """Keeps the active branch without events, which is all that a linear dialect can store."""
    if transcript.head is None and not inventory.ask(has_role("event")):
        return transcript
    return replace(transcript, messages=active(transcript), head=None)


def keep_answers(transcript: Transcript) -> Transcript:
    """Keeps only the assistant messages."""
    messages = [message for message in transcript.messages if message.role == "assistant"]
    return transcript if len(messages) == len(transcript.messages) else replace(transcript, messages=messages)


def keep_last_answer(transcript: Transcript) -> Transcript:
    """Keeps only the last assistant message on the active branch, for a response with one answer."""
    spoken = [message for message in active(transcript) if message.role == "assistant"]
    if len(transcript.messages) == len(spoken) == 1:
        return transcript
    return replace(transcript, messages=spoken[-1:] or [Message("assistant", [])], head=None)


def drop_unknown_detail(media: Media, known: Collection[str]) -> Media:
    """Removes the detail of an image if the service does not know it, which leaves the choice to the service."""
    return media if media.detail is None or media.detail in known else replace(media, detail=None)


def drop_empty_name(message: Message) -> Message:
    """Removes an empty name."""
    return replace(message, name=None) if message.name == "" else message


def roles(names: Mapping[str, str]) -> Pass:
    """Replaces roles that the vendor does not have by others (`developer` by `system`)."""
    return on_each_message(
        lambda message: replace(message, role=names[message.role]) if message.role in names else message,
        has_role(*names),
    )


def keep_parts_of_roles(allowed: Mapping[str, Collection[str]]) -> PartPass:
    """Drops parts of these types from messages of other roles."""

    def drop_misplaced(part: Part, message: Message) -> Part | None:
        return part if message.role in allowed[part.type] else None

    def is_misplaced(role: str, kind: str) -> bool:
        return role not in allowed.get(kind.partition(".")[0], (role,))

    return PartPass(PartStep(is_misplaced, drop_misplaced))


def sort_parts(
    *order: str, kind: Callable[[Opaque], str] = attrgetter("type"), of: Collection[str] = ("assistant",)
) -> Pass:
    """Sorts the parts of messages of these roles by type, in the order of the format. An opaque part may be of another
    `kind` there."""
    ranks = {kind: rank for rank, kinds in enumerate(order) for kind in kinds.split()}

    def sort_message_parts(message: Message) -> Message:
        if message.role not in of:
            return message
        order = [ranks.get(kind(part) if part.__class__ is Opaque else part.type, 0) for part in message.parts]
        if order == sorted(order):
            return message
        at = sorted(range(len(order)), key=order.__getitem__)
        return replace(message, parts=[message.parts[i] for i in at])

    def sort_all(transcript: Transcript, inventory: Inventory) -> Transcript:
        messages = list(transcript.messages)
        for i in inventory.several:
            messages[i] = sort_message_parts(messages[i])
        messages = shared(transcript.messages, messages)
        return transcript if messages is transcript.messages else replace(transcript, messages=messages)

    return Informed(sort_all)


def keep_known_finish(
    finish: Mapping[str, str],
    finish_of: Mapping[str, str],
    otherwise: str,
    kept: Callable[[Message], bool] | None = None,
) -> Pass:
    """Replaces a stop reason that the vendor does not have by `otherwise`, unless the message is `kept`.

    `finish` maps the vendor's words to ours, `finish_of` ours to the vendor's.
    """

    def replace_stop_reason(message: Message) -> Message:
        reason = message.stop_reason
        if reason is None or (kept is not None and kept(message)):
            return message
        written = finish_of.get(reason, otherwise)
        ours = finish.get(written, written)
        return message if ours == reason else replace(message, stop_reason=ours)

    return on_each_message(replace_stop_reason, has_field("stop_reason"))


def without(*fields: str) -> Pass:
    """Removes fields that this form cannot store, of the transcript (`title`) or of messages (`message.usage`)."""
    of_whole = _cleared([field for field in fields if not field.startswith("message.")])
    of_message = [field.partition(".")[2] for field in fields if field.startswith("message.")]
    if not of_message:
        return of_whole
    clear_message, is_set = _cleared(of_message), has_field(*of_message)

    def clear(transcript: Transcript, inventory: Inventory) -> Transcript:
        transcript = of_whole(transcript)
        if not inventory.ask(is_set):
            return transcript
        return replace(transcript, messages=list(map(clear_message, transcript.messages)))

    return Informed(clear)


def without_extras(owner: str, *keys: str) -> Pass:
    """Removes keys of the transcript's own extras that this form cannot store."""
    return lambda transcript: drop_extras(transcript, owner, *keys)


def _cleared(names: Sequence[str]) -> Callable[[Any], Any]:
    """Returns a function that removes these fields from a record."""
    if not names:
        return lambda record: record
    values, nothing = attrgetter(*names), (None,) * len(names) if len(names) > 1 else None
    cleared = dict.fromkeys(names)
    return lambda record: record if values(record) == nothing else replace(record, **cleared)


def drop_other_opaque(owner: str) -> PartPass:
    """Drops opaque parts of other vendors."""
    return on_parts(lambda part, _: part if part.dialect == owner else None, "opaque")


def add_parameters(*, typed: bool = False) -> Pass:
    """Adds an empty schema to functions without one; `typed`: and a root type."""

    def add_tool_parameters(tool: ToolDefinition) -> ToolDefinition:
        if is_vendor_builtin(tool) or (tool.parameters is not None and ("type" in tool.parameters or not typed)):
            return tool
        stated = {"properties": {}} if tool.parameters is None else tool.parameters
        return replace(tool, parameters={"type": "object", **stated})

    return on_tools(add_tool_parameters)


def keep_functions(owner: str) -> Pass:
    """Drops tools that another vendor runs itself."""

    def drop_hosted_tool(tool: ToolDefinition) -> ToolDefinition | None:
        is_own = owner in (tool.extras or {})
        return None if is_vendor_builtin(tool) and not is_own else tool

    return on_tools(drop_hosted_tool)


def drop_empty_tools(transcript: Transcript) -> Transcript:
    """Removes an empty tool list, which services refuse."""
    return replace(transcript, tools=None) if transcript.tools == [] else transcript


def require_any_tool(transcript: Transcript) -> Transcript:
    """Requires any tool where a service cannot restrict the choice to several named tools."""
    is_several = isinstance(transcript.tool_choice, dict) and "names" in transcript.tool_choice
    return replace(transcript, tool_choice="required") if is_several else transcript


# ---------------------------------------------------------------- texts for parts without a field


def write_refusal_as_text(part: Part, _: Message) -> Part:
    """Converts a refusal to a text."""
    return Text(part.text, part.metadata, part.extras) if part.__class__ is Refusal else part


def text_as_data(media: Media) -> Media:
    """Returns a document that is a text as data, for formats that store media only as data or by URL."""
    if media.text is None:
        return media
    from base64 import b64encode  # not at the top: few documents hold such a text

    data = b64encode(media.text.encode("utf-8", "surrogatepass")).decode("ascii")
    return replace(media, text=None, data=data, media_type=media.media_type or "text/plain")


refusals_as_texts = on_parts(write_refusal_as_text, "refusal")
"""Writes refusals as texts."""

arguments_as_objects = on_parts(
    lambda call, _: call if call.raw_arguments is None else replace(call, raw_arguments=None), "tool_call"
)
"""Drops arguments that are not an object, for formats that store only objects."""


def keep_leading_instruction(messages: list[Message]) -> list[Message]:
    """Drops instructions that are not the first message, for formats with one apart from the messages."""
    kept = [message if i == 0 or message.role != "system" else None for i, message in enumerate(messages)]
    return shared(messages, kept)


def bare_system(messages: list[Message]) -> list[Message]:
    """Reduces a leading instruction to one text without other fields, for formats that store it apart from the
    messages."""
    first = messages[0] if messages else None
    if first is None or first.role != "system" or bare_text(first):
        return messages
    text = text_of(first.parts, "\n\n")
    return [Message("system", [Text(text)]), *messages[1:]] if text else bare_system(messages[1:])


def bare_text(message: Message) -> str:
    """Returns the text of a message without other fields; empty for any other."""
    text = only_text(message.parts) or ""
    return text if message == Message(message.role, message.parts) else ""


def instruction_of(messages: list[Message]) -> str:
    """Returns the leading instruction as `bare_system` leaves it; empty if there is none."""
    return bare_text(messages[0]) if messages and messages[0].role == "system" else ""


def keep_last_definitions(transcript: Transcript) -> Transcript:
    """Keeps one definition per name, the last one."""
    tools = transcript.tools or []
    last = {tool.name: tool for tool in tools}
    return transcript if len(last) == len(tools) else replace(transcript, tools=list(last.values()))


def response_if_answered(form: str = "response", *, single: bool = False) -> Callable[[Transcript], str]:
    """Returns a function for the form of a transcript: a response if it is only a model's response, else a request.

    `single`: a response has one answer.
    """

    def form_of(transcript: Transcript) -> str:
        is_answer = is_response(transcript) and not (single and len(active(transcript)) > 1)
        return form if is_answer else "request"

    return form_of


def settle_by_reading_back(
    lift: Callable[[Any], Transcript], write: Callable[[Transcript, Options], Any], form: str
) -> Pass:
    """Writes the transcript and reads it back, for formats without rules on the order of messages. This drops what they
    cannot store, and moves what they store elsewhere."""

    def write_and_lift(transcript: Transcript) -> Transcript:
        again = lift(write(transcript, Options(form=form)))
        if again.origin is not None and transcript.origin is not None:
            again.origin.generated_ids |= transcript.origin.generated_ids
        return again

    return write_and_lift
