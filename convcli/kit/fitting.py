"""Passes of policy that dialects list in their `fit`: a transcript, and the same as a target takes it.

A pass does not change its input and shares what it leaves alone. What it changes is found as a loss when the output is
read back, so no pass reports anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter, is_
from typing import Any

from msgspec.structs import replace

from convcli.kit.passes import (
    PartPass,
    on_each_message,
    on_parts,
    on_tools,
)
from convcli.kit.texts import only_text, text_of
from convcli.model.branches import active
from convcli.model.dialect import Options, Pass
from convcli.model.transcript import (
    Media,
    Message,
    Part,
    Refusal,
    Text,
    ToolDefinition,
    Transcript,
)


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


def linear(transcript: Transcript) -> Transcript:
    """No events, and of a tree only the active branch: what a linear dialect holds."""
    messages = active(transcript)
    if transcript.head is None and messages is transcript.messages:
        return transcript
    return replace(transcript, messages=messages, head=None)


def answers_only(transcript: Transcript) -> Transcript:
    """What a model answered: the turns of the assistant."""
    messages = [message for message in transcript.messages if message.role == "assistant"]
    return transcript if len(messages) == len(transcript.messages) else replace(transcript, messages=messages)


def last_answer(transcript: Transcript) -> Transcript:
    """The last turn of the assistant on the active branch: what a response of one answer holds."""
    spoken = [message for message in active(transcript) if message.role == "assistant"]
    if len(transcript.messages) == len(spoken) == 1:
        return transcript
    return replace(transcript, messages=spoken[-1:] or [Message("assistant", [])], head=None)


def known_detail(media: Media, known: Collection[str]) -> Media:
    """An image without a detail that the service does not know: it looks as closely as it likes."""
    return media if media.detail is None or media.detail in known else replace(media, detail=None)


def named(message: Message) -> Message:
    """An empty name is none."""
    return replace(message, name=None) if message.name == "" else message


def roles(names: Mapping[str, str]) -> Pass:
    """Roles that a vendor does not know are written as others (`developer` as `system`)."""
    return on_each_message(
        lambda message: replace(message, role=names[message.role]) if message.role in names else message
    )


def parts_in_roles(allowed: Mapping[str, Collection[str]]) -> PartPass:
    """Parts of these types stand only in messages of these roles; elsewhere they are left out."""

    def fits(part: Part, message: Message) -> Part | None:
        return part if message.role in allowed[part.type] else None

    return on_parts(fits, *allowed)


def ordered_parts(
    *order: str, kind: Callable[[Part], str] = attrgetter("type"), of: Collection[str] = ("assistant",)
) -> Pass:
    """The parts of turns of these roles in the order in which the format holds them, by their types or another kind."""
    ranks = {kind: rank for rank, kinds in enumerate(order) for kind in kinds.split()}

    def fits(message: Message) -> Message:
        if message.role not in of or len(message.parts) < 2:
            return message
        parts = sorted(message.parts, key=lambda part: ranks.get(kind(part), 0))
        return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)

    return on_each_message(fits)


def known_finish(
    finish: Mapping[str, str],
    finish_of: Mapping[str, str],
    otherwise: str,
    kept: Callable[[Message], bool] | None = None,
) -> Pass:
    """A stop reason for which the vendor has no word is `otherwise`, unless the message is `kept` as it is.

    `finish` has our word for the vendor's, `finish_of` the vendor's for ours.
    """

    def fits(message: Message) -> Message:
        reason = message.stop_reason
        if reason is None or (kept is not None and kept(message)):
            return message
        written = finish_of.get(reason, otherwise)
        ours = finish.get(written, written)
        return message if ours == reason else replace(message, stop_reason=ours)

    return on_each_message(fits)


def without(*fields: str) -> Pass:
    """Fields that this form has no place for: of the transcript (`title`) or of messages (`message.usage`)."""
    of_whole = _cleared(field for field in fields if not field.startswith("message."))
    of_messages = _cleared(field.partition(".")[2] for field in fields if field.startswith("message."))
    clear_messages = on_each_message(of_messages)
    return lambda transcript: of_whole(clear_messages(transcript))


def _cleared(fields: Iterable[str]) -> Callable[[Any], Any]:
    """A record without these fields."""
    names = tuple(fields)
    if not names:
        return lambda record: record
    values, nothing = attrgetter(*names), (None,) * len(names) if len(names) > 1 else None
    return lambda record: record if values(record) == nothing else replace(record, **dict.fromkeys(names))


def only_own_opaque(owner: str) -> PartPass:
    """Opaque parts of other vendors are left out."""
    return on_parts(lambda part, _: part if part.dialect == owner else None, "opaque")


def with_parameters(*, typed: bool = False) -> Pass:
    """A schema for every function, empty where it has none; `typed`: with a root type."""

    def fits(tool: ToolDefinition) -> ToolDefinition:
        if is_foreign_builtin(tool) or (tool.parameters is not None and ("type" in tool.parameters or not typed)):
            return tool
        stated = {"properties": {}} if tool.parameters is None else tool.parameters
        return replace(tool, parameters={"type": "object", **stated})

    return on_tools(fits)


def functions_only(owner: str) -> Pass:
    """Tools that another vendor runs by itself are left out."""

    def fits(tool: ToolDefinition) -> ToolDefinition | None:
        is_own = owner in (tool.extras or {})
        return None if is_foreign_builtin(tool) and not is_own else tool

    return on_tools(fits)


def some_tools(transcript: Transcript) -> Transcript:
    """An empty list of tools is no list: services refuse it."""
    return replace(transcript, tools=None) if transcript.tools == [] else transcript


def one_choice(transcript: Transcript) -> Transcript:
    """Where a service cannot ask for one of several named tools, it is asked for some tool."""
    is_several = isinstance(transcript.tool_choice, dict) and "names" in transcript.tool_choice
    return replace(transcript, tool_choice="required") if is_several else transcript


# ---------------------------------------------------------------- texts for what has no field


def refusal_as_text(part: Part, _: Message) -> Part:
    """The words of a refusal as a text."""
    return Text(part.text, part.metadata, part.extras) if part.__class__ is Refusal else part


refusals_as_texts = on_parts(refusal_as_text, "refusal")
"""Refusals are written as texts."""


def bare_system(messages: list[Message]) -> list[Message]:
    """A leading instruction as one text with nothing beside it, for formats that keep it apart from the messages."""
    first = messages[0] if messages else None
    if first is None or first.role != "system" or bare_text(first):
        return messages
    text = text_of(first.parts, "\n\n")
    return [Message("system", [Text(text)]), *messages[1:]] if text else bare_system(messages[1:])


def bare_text(message: Message) -> str:
    """The text of a message that says nothing else; empty for any other."""
    text = only_text(message.parts) or ""
    return text if message == Message(message.role, message.parts) else ""


def instruction_of(messages: list[Message]) -> str:
    """The leading instruction as `bare_system` leaves it; empty where there is none."""
    return bare_text(messages[0]) if messages and messages[0].role == "system" else ""


def last_definitions(transcript: Transcript) -> Transcript:
    """One definition for each name: the last one counts."""
    tools = transcript.tools or []
    last = {tool.name: tool for tool in tools}
    return transcript if len(last) == len(tools) else replace(transcript, tools=list(last.values()))


def response_if_answered(form: str = "response", *, single: bool = False) -> Callable[[Transcript], str]:
    """Names the form of a transcript: a response when it holds only what a model answered, else a request.

    `single`: a response holds one answer.
    """

    def form_of(transcript: Transcript) -> str:
        is_answer = is_response(transcript) and not (single and len(active(transcript)) > 1)
        return form if is_answer else "request"

    return form_of


def as_read_back(lift: Callable[[Any], Transcript], write: Callable[[Transcript, Options], Any], form: str) -> Pass:
    """What comes of a transcript when it is written and read again, for formats without rules of their own about what
    stands where: what they have no place for is left out, and what they have one place for stands there."""

    def fits(transcript: Transcript) -> Transcript:
        again = lift(write(transcript, Options(form=form)))
        if again.origin is not None and transcript.origin is not None:
            again.origin.invented |= transcript.origin.invented
        return again

    return fits
