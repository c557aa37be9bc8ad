"""What Anthropic's API accepts, as passes for its dialects and for those that follow it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic.blocks import MEDIA_TYPES, WEB, Blocks
from convcli.families.anthropic.messages import FINISH_OF, VERBATIM
from convcli.families.anthropic.request import CHOICE_OF, SETTINGS
from convcli.families.anthropic.response import IDS, NAMES
from convcli.families.anthropic.usage import keep_supported_usage
from convcli.kit.fitting import is_vendor_builtin, keep_active_conversation, keep_parts_of_roles, refusals_as_texts
from convcli.kit.objects import drop_extras, get_extras
from convcli.kit.passes import MEDIA, on_each_message, on_messages, on_parts, on_results, on_tools, shared
from convcli.kit.renaming import Alphabet, make_ids_distinct, rename_tools_and_ids
from convcli.kit.results import apply_convention, one_result_each, only_own, results_behind_calls, with_parts
from convcli.kit.settings import BUDGET, EFFORT, OFF
from convcli.kit.texts import is_bare
from convcli.kit.values import pairs
from convcli.model.dialect import Convention, LossKind, Pass
from convcli.model.inventory import Informed, Inventory, any_of, has_blank_text, has_empty, has_field, has_role
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import turns
from convcli.wire import exact_json

PARTS_IN_ROLES = {
    **dict.fromkeys(("reasoning", "refusal", "tool_call"), ("assistant",)),
    **dict.fromkeys(("image", "document"), ("user",)),
    **dict.fromkeys(("audio", "video"), ()),
    "opaque": ("user", "assistant"),
}

MAGIC = pairs("iVBORw0KGgo=image/png /9j/=image/jpeg R0lGOD=image/gif UklGR=image/webp JVBERi=application/pdf")
"""By prefix of the base64: the media type."""

FAILED = "error"
"""The text of a failed result without content, which the API refuses."""

EFFORTS = frozenset(("low", "medium", "high", "xhigh", "max"))


# ---------------------------------------------------------------- parts


def not_blank(part: Text) -> Text | None:
    """Drops blank texts, which the API refuses."""
    return part if part.text and not part.text.isspace() else None


def signed(part: Reasoning) -> Reasoning | None:
    """Keeps thinking that Anthropic signed or redacted. Signatures cannot be generated."""
    metadata = part.metadata or {}
    for key, text in (("signature", part.text), ("redactedData", "")):
        value = metadata.get(key)
        if value and isinstance(value, str):
            return part if len(metadata) == 1 and text == part.text else replace(part, text=text, metadata={key: value})
    return None


def signed_or_plain(part: Reasoning) -> Reasoning:
    """Same as `signed`, but keeps unsigned thinking: for programs that omit it where a service requires a signature."""
    return signed(part) or (replace(part, metadata=None) if part.metadata else part)


def only_metadata(name: str) -> Callable[[Any], Any]:
    """Returns a pass that keeps only metadata with this name and a string value."""

    def keep_metadata(part: Any) -> Any:
        value = (part.metadata or {}).get(name)
        kept = {name: value} if value and isinstance(value, str) else None
        return part if part.metadata == kept else replace(part, metadata=kept)

    return keep_metadata


def keep_supported_media(media: Media, owner: str) -> Media | None:
    """Keeps media that the API accepts: base64 of known types, plain text of a document, web URLs, uploaded files."""
    if media.type not in MEDIA_TYPES:
        return None
    if media.text is not None:
        is_content = "type" in get_extras(media.extras, owner).get("source", {})
        return _typed(media, None if is_content else "text/plain") if media.type == "document" else None
    if media.data is not None:
        media_type = media.media_type or next((MAGIC[head] for head in MAGIC if media.data.startswith(head)), None)
        return _typed(media, media_type) if media_type in MEDIA_TYPES[media.type] else None
    is_taken = media.url.startswith(WEB) if media.url is not None else media.file_id is not None
    return _typed(media, None) if is_taken else None


def _typed(media: Media, media_type: str | None) -> Media:
    return media if media.media_type == media_type else replace(media, media_type=media_type)


def _express(result: ToolResult, blocks: Blocks) -> tuple[str, Any] | None:
    """Returns how a result is read back for which the API has no field."""
    if result.kind in ("text", "error"):
        return None
    if "content" in get_extras(result.extras, blocks.owner) or (result.kind == "data" and blocks.holds(result.value)):
        return None
    return as_one_text(result)


def as_one_text(result: ToolResult) -> tuple[str, Any] | None:
    """Returns data as JSON, and a list of one text as that text; an empty list too, unless the result failed."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    if result.kind != "multimodal" or len(result.value) > 1:
        return None
    if not result.value:
        return None if result.is_error else (kind, "")
    part = result.value[0]
    return (kind, part.text) if is_bare(part) and part.text.strip() else None


def results_of(blocks: Blocks) -> Convention:
    """Returns the convention for data and for a list of one text."""
    return results_in_text(
        lambda result: _express(result, blocks), "a result contains text or blocks: the data is written as JSON"
    )


def results_in_text(express: Callable[[ToolResult], tuple[str, Any] | None], reason: str) -> Convention:
    """Returns the convention for data that is written as text, with this reason."""
    data: tuple[LossKind, str] = ("changed", reason)
    one_text: tuple[LossKind, str] = ("changed", "a result of one text is the same as that text")
    return Convention(express, {"data": data, "error": data, "multimodal": one_text})


def with_words(result: ToolResult) -> ToolResult:
    """Gives an empty failed result content."""
    is_empty = result.kind == "multimodal" and result.is_error and not result.value
    if is_empty or (result.kind == "error" and not result.value.strip()):
        return replace(result, kind="error", value=FAILED, is_error=None)
    return result


def keep_supported_value(result: ToolResult, owner: str, media: Callable[[Media], Media | None]) -> ToolResult:
    """Keeps the texts and media of a value that the API accepts, with the fields that it has."""
    return with_parts(result, lambda part: _inner(part, owner, media))


def _inner(part: Part, owner: str, media: Callable[[Media], Media | None]) -> Part | None:
    taken = not_blank(part) if isinstance(part, Text) else media(part) if isinstance(part, Media) else None
    if taken is None:
        return None
    if not isinstance(taken, Media):
        return only_own(taken, owner)
    return only_own(taken, owner, name=taken.name if taken.type == "document" else None, detail=None)


def keep_supported_parts(
    blocks: Blocks,
    *,
    roles: Mapping[str, Collection[str]] = PARTS_IN_ROLES,
    text: Callable[[Text], Text | None] = not_blank,
    reasoning: Callable[[Reasoning], Reasoning | None] = signed,
) -> tuple[Pass, ...]:
    """Returns passes for parts: those that the API has blocks for, in messages where it accepts them. A borrowing
    dialect may accept other texts and reasoning."""
    owner = blocks.owner

    def media(part: Media) -> Media | None:
        return keep_supported_media(part, owner)

    def opaque(part: Opaque, message: Message) -> Opaque | None:
        is_row = message.role == "event"
        return part if is_row or (part.dialect == owner and blocks.is_unknown(part.value)) else None

    return (
        keep_parts_of_roles(roles),
        refusals_as_texts,
        on_parts(lambda part, _: text(part), "text", when=has_blank_text if text is not_blank else None),
        on_parts(lambda part, _: reasoning(part), "reasoning"),
        on_parts(lambda part, _: media(part), *MEDIA),
        on_parts(opaque, "opaque"),
        on_results(lambda result: keep_supported_value(result, owner, media), "multimodal"),
        apply_convention(results_of(blocks)),
        on_results(with_words, "error", "multimodal"),
    )


# ---------------------------------------------------------------- messages


@Informed
def join_leading_instructions(transcript: Transcript, inventory: Inventory) -> Transcript:
    """Moves all instructions into one message before the others, because not all models accept later ones."""
    if not inventory.ask(has_role(*turns.INSTRUCTIONS)):
        return transcript
    messages = transcript.messages
    instructions = [message for message in messages if message.role in turns.INSTRUCTIONS]
    if len(instructions) == 1 and messages[0].role == "system" and messages[0].parts:
        return transcript
    parts = [part for message in instructions for part in message.parts]
    others = [message for message in messages if message.role not in turns.INSTRUCTIONS]
    return replace(transcript, messages=[Message("system", parts), *others] if parts else others)


said_by_users = on_messages(
    lambda messages: shared(messages, [message for message in messages if message.parts or message.role != "user"]),
    has_empty,
)
"""Drops empty user messages."""


def pair_turns(names: Alphabet = NAMES, ids: Alphabet = IDS) -> tuple[Pass, ...]:
    """Returns passes for names and ids that the API accepts, with each result directly behind its call."""
    rename = rename_tools_and_ids(names, ids)
    return rename, keep_active_conversation, results_behind_calls, one_result_each, make_ids_distinct(ids)


def drop_empty_model(transcript: Transcript) -> Transcript:
    """Removes an empty model name."""
    return replace(transcript, model=None) if transcript.model == "" else transcript


def keep_supported_finish(reasons: Collection[str] = ()) -> Pass:
    """Keeps the stop reasons that the API has, or that are in `reasons`, and the counts that it has."""
    known = {*FINISH_OF, *VERBATIM, *reasons}
    has_end = any_of(has_field("stop_reason"), has_field("usage"))

    def keep_known_end(message: Message) -> Message:
        if message.stop_reason is None and message.usage is None:
            return message
        reason = message.stop_reason if message.stop_reason in known else None
        usage = keep_supported_usage(message.usage or {})
        is_same = reason == message.stop_reason and usage == message.usage
        return message if is_same else replace(message, stop_reason=reason, usage=usage)

    return on_each_message(keep_known_end, has_end)


OTHER_EVENTS = "events"
"""The key of extras with the events of a stream that convcli does not know. A message has none."""


def drop_other_events(owner: str) -> Pass:
    """Drops the unknown events of a stream, for forms that are no streams."""
    return on_each_message(lambda message: drop_extras(message, owner, OTHER_EVENTS), has_field("extras"))


# ---------------------------------------------------------------- tools and settings


def typed_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Adds a type to a schema without one."""
    return schema if "type" in schema else {"type": "object", **schema}


def add_schema_types(owner: str, typed: Callable[[dict[str, Any]], dict[str, Any]] = typed_object) -> Pass:
    """Gives every function a schema with a type, and no empty description. Drops tools of other vendors."""

    def add_schema_type(tool: ToolDefinition) -> ToolDefinition | None:
        if tool.parameters is None and "tool" in get_extras(tool.extras, owner):
            return tool
        if is_vendor_builtin(tool):
            return None
        schema = typed(tool.parameters or {})
        if schema is tool.parameters and tool.description != "":
            return tool
        return replace(tool, parameters=schema, description=tool.description or None)

    return on_tools(add_schema_type)


def fit_tool_choice(transcript: Transcript) -> Transcript:
    """Fits the tool choice: none without tools, and any tool instead of several named ones.

    The choice also states that calls must come one at a time.
    """
    if transcript.settings is None and transcript.tool_choice is None:
        return transcript
    settings = dict(transcript.settings or {})
    choice, parallel = transcript.tool_choice, settings.get("parallelToolCalls")
    if choice is None and parallel is False:
        choice = "auto"
    if isinstance(choice, str):
        choice = choice if choice in CHOICE_OF else "auto"
    elif choice is not None:
        names = choice.get("names") or [choice["name"]]
        choice = {"name": names[0]} if len(names) == 1 else "required"
    if not transcript.tools:
        choice = None
    if choice in (None, "none"):
        settings.pop("parallelToolCalls", None)
    if choice == transcript.tool_choice and settings == (transcript.settings or {}):
        return transcript
    return replace(transcript, tool_choice=choice, settings=settings or None)


def keep_supported_settings(transcript: Transcript) -> Transcript:
    """Keeps the settings that the API has, with accepted values. The user is known by one identifier."""
    if transcript.settings is None:
        return transcript
    wanted = dict(transcript.settings)
    wanted.setdefault("safetyIdentifier", wanted.get("user"))
    settings = _that_come_back(wanted)
    if not _may_think(transcript, settings):
        settings.pop(BUDGET, None)
    settings |= {name: wanted[name] for name in ("parallelToolCalls",) if name in wanted}
    kept = {name: settings[name] for name in wanted if name in settings} or None
    return transcript if kept == transcript.settings else replace(transcript, settings=kept)


def _that_come_back(settings: dict[str, Any]) -> dict[str, Any]:
    """Keeps the settings that come back when they are written, with efforts that the API knows."""
    fitted = SETTINGS.lift(SETTINGS.write(settings, {}))[0]
    if fitted.get(EFFORT, OFF) not in (*EFFORTS, OFF) or (fitted.get(EFFORT) == OFF and BUDGET in fitted):
        del fitted[EFFORT]
    return fitted


def _may_think(transcript: Transcript, settings: dict[str, Any]) -> bool:
    """True if the API accepts this budget here. It forbids forced tools, and requires that a turn with calls begins
    with thinking."""
    budget, choice = settings.get(BUDGET, 0), transcript.tool_choice
    if budget <= 0:
        return True
    if budget < LEAST_BUDGET or budget >= settings.get("maxOutputTokens", budget + 1):
        return False
    if choice == "required" or isinstance(choice, dict):
        return False
    answers = [message for message in transcript.messages if message.role == "assistant"]
    is_called = bool(transcript.messages) and transcript.messages[-1].role == "tool" and bool(answers)
    return not is_called or isinstance(next(iter(answers[-1].parts), None), Reasoning)


LEAST_BUDGET = 1024
