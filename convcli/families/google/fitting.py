"""What Google's services accept: passes that make any transcript fit their documents."""

from __future__ import annotations

from collections.abc import Collection
from operator import is_
from typing import Any

from msgspec.structs import replace

from convcli.families.google import config, turns
from convcli.families.google import document as documents
from convcli.families.google.extras import (
    OF_ANSWER,
    OF_REQUEST,
    OF_RESPONSE,
    OF_TURN,
    ExtraKeys,
    first_content_only,
    known,
    with_extras,
)
from convcli.families.google.keys import Service
from convcli.families.google.parts import SIGNATURE, kind_of
from convcli.families.google.results import read_response, with_media, write_response
from convcli.kit.definitions import described
from convcli.kit.fitting import (
    is_vendor_builtin,
    keep_active_conversation,
    keep_answers,
    keep_parts_of_roles,
    refusals_as_texts,
    roles,
    text_as_data,
    without,
)
from convcli.kit.objects import Native, get_extras, has_content, omit, without_nulls
from convcli.kit.passes import (
    MEDIA,
    NOT_TEXT,
    fused,
    on_each_message,
    on_messages,
    on_parts,
    on_results,
    on_tools,
    shared,
    when,
)
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.results import are_mixed, results_behind_calls, separate_results
from convcli.kit.settings import BUDGET, EFFORT, OFF
from convcli.model.dialect import Pass
from convcli.model.inventory import any_of, has_empty, has_field, has_kind, has_part_field, has_role, in_turn
from convcli.model.transcript import (
    Media,
    Message,
    Reasoning,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    Transcript,
)

# ---------------------------------------------------------------- parts

MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4"}
"""The default media type of each kind, because Google requires one. Documents have any type."""
ENDINGS = {
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp", "heic": "image/heic",
    "mp3": "audio/mpeg", "flac": "audio/flac", "ogg": "audio/ogg", "webm": "video/webm", "mov": "video/quicktime",
}  # fmt: skip
"""Media types by URL ending, where they differ from the first table."""

PARTS_IN_ROLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("reasoning", "refusal", "tool_call"), ("assistant",)),
    **dict.fromkeys(MEDIA, ("user", "assistant", "tool", "event")),
    "tool_result": ("tool",),
}


def _reasoning(part: Reasoning) -> Reasoning | None:
    """Keeps a thought as one text; drops one without text, unless it has Google's signature."""
    if not part.text and part.summary:
        part = replace(part, text="\n\n".join(part.summary))
    signed = isinstance((part.metadata or {}).get(SIGNATURE), str)
    return part if part.text or signed else None


def _media(media: Media) -> Media | None:
    """Returns media with a type; None for media that only their owner can find."""
    if media.name == "" or media.detail is not None:
        media = replace(media, name=media.name or None, detail=None)
    media = text_as_data(media)
    if media.data is None and media.url is None:
        return None
    if media.media_type:
        kind = kind_of(media.media_type)
        return media if media.type == kind else replace(media, type=kind)
    if media.type == "document":
        return media if media.media_type is None else replace(media, media_type=None)
    guess = ENDINGS.get((media.url or "").rpartition(".")[2].lower(), "")
    return replace(media, media_type=guess if kind_of(guess) == media.type else MEDIA_TYPES[media.type])


def _result(result: ToolResult) -> ToolResult:
    """Returns a result as it is read back from one object with media next to it."""
    kept = [_media(part) for part in result.value if isinstance(part, Media)] if result.kind == "multimodal" else []
    media = [one for one in kept if one is not None]
    response = write_response(result)
    kind, value, failed = with_media(response, media) if media else read_response(response)
    if (kind, failed or None) == (result.kind, result.is_error) and value == result.value:
        return result
    return replace(result, kind=kind, value=value, is_error=failed or None)


def with_signature(part: Any, _: Any = None) -> Any:
    """Returns the part with no extras or metadata except a signature of Google."""
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        value = [with_signature(one) for one in part.value]
        part = part if all(map(is_, value, part.value)) else replace(part, value=value)
    metadata = part.metadata
    if metadata is None:
        return part
    signature = metadata.get(SIGNATURE)
    if len(metadata) == 1 and isinstance(signature, str):
        return part
    return replace(part, metadata={SIGNATURE: signature} if isinstance(signature, str) else None)


expressible_parts = in_turn(
    *fused(
        keep_parts_of_roles(PARTS_IN_ROLES),
        refusals_as_texts,
        on_parts(lambda part, _: _media(part), *MEDIA),
        on_parts(lambda part, _: _reasoning(part), "reasoning"),
        on_results(_result, *NOT_TEXT),
    )
)
"""Keeps the parts that Google has fields for, in turns where it accepts them."""

may_be_signed = any_of(has_part_field("metadata"), has_kind("tool_result.multimodal"))
"""Asks whether any part, or a part inside a result, may have a signature."""

only_signed = when(may_be_signed, on_parts(with_signature))
"""Keeps no extras or metadata of a part except a signature of Google."""


# ---------------------------------------------------------------- tools and settings


def _fitted_tools(service: Service) -> Pass:
    """Drops tools that another vendor runs itself, and restricts the choice to the remaining ones."""

    def keep_own_tool(tool: ToolDefinition) -> ToolDefinition | None:
        is_own = bool(config.builtin_of(tool, service.owner))
        is_foreign = is_vendor_builtin(tool) or "tool" in get_extras(tool.extras, service.owner)
        return None if is_foreign and not is_own else tool

    of_tools = on_tools(keep_own_tool)

    def restrict_tools(transcript: Transcript) -> Transcript:
        left = of_tools(transcript)
        declared = {tool.name for tool in left.tools or () if not config.builtin_of(tool, service.owner)}
        choice = _usable(left.tool_choice, declared)
        left = left if choice is left.tool_choice else replace(left, tool_choice=choice)
        return _without_calling(left, service.owner) if choice is None else left

    return restrict_tools


def _without_calling(transcript: Transcript, owner: str) -> Transcript:
    """Removes the extras of a choice that would be read as one."""
    extra = get_extras(transcript.extras, owner)
    choice = extra.get("toolConfig", {})
    if config.nearest_choice(choice.get("functionCallingConfig") or {}) is None:
        return transcript
    others = omit(choice, "functionCallingConfig")
    return replace(transcript, extras=with_extras(transcript.extras, owner, {**extra, "toolConfig": others}))


def _usable(choice: ToolChoice | None, declared: set[str]) -> ToolChoice | None:
    """Returns the choice, restricted to declared functions."""
    if not isinstance(choice, dict):
        return choice if declared else None
    if "name" in choice:
        return choice if choice["name"] in declared else None
    names = [name for name in choice["names"] if name in declared]
    if len(names) < 2:
        return {"name": names[0]} if names else None
    return choice if names == choice["names"] else {"names": names}


def _fitted_settings(service: Service) -> Pass:
    """Keeps the settings that Google has, with accepted values."""

    def keep_known_settings(transcript: Transcript) -> Transcript:
        fit = {name: _setting(name, value, service) for name, value in (transcript.settings or {}).items()}
        settings = without_nulls(fit)
        if settings.get(EFFORT) == OFF and BUDGET in settings:
            del settings[EFFORT]
        return (
            transcript if (settings or None) == transcript.settings else replace(transcript, settings=settings or None)
        )

    return keep_known_settings


def _setting(name: str, value: Any, service: Service) -> Any:
    if name == EFFORT:
        is_level = value in config.EFFORTS and f"thinkingLevel.{value.upper()}" not in service.unsupported
        return value if is_level or value == OFF else None
    if name == "responseFormat":
        return _format(value)
    if name == "modalities":
        return value if value and config.MODALITIES.issuperset(value) else None
    if name == "serviceTier":
        return value if value in config.TIER_OF and f"request.{documents.TIER}" not in service.unsupported else None
    if name == BUDGET:
        return value
    return value if name in config.SETTINGS.values() and has_content(value) else None


def _format(value: Native) -> Native | None:
    kind = value.get("type")
    if kind == "json_schema" and isinstance(value.get("schema"), dict):
        return {"type": kind, "schema": value["schema"]}
    return {"json_schema": {"type": "json"}, "json": {"type": "json"}, "text": {"type": "text"}}.get(str(kind))


# ---------------------------------------------------------------- answers


def _reasons(service: Service, others: Collection[str]) -> Pass:
    """Keeps stop reasons that Google has, or can express otherwise; another vendor's becomes `OTHER`."""

    def replace_stop_reason(message: Message) -> Message:
        stop = message.stop_reason
        if stop is None or stop in others:
            return message
        is_own = stop in documents.REASONS and f"finishReason.{stop}" not in service.unsupported
        finish = documents.write_reason(stop) if stop in documents.REASON_OF or is_own else "OTHER"
        reason = documents.read_reason(finish, message)
        return message if reason == stop else replace(message, stop_reason=reason)

    return on_each_message(replace_stop_reason, has_field("stop_reason"))


def _one_usage(service: Service) -> Pass:
    """Combines the counts of a response into one object, which is read as that of its first answer."""

    def combine_usage(messages: list[Message]) -> list[Message]:
        first = next((i for i, one in enumerate(messages) if one.usage or _counted(one)), None)
        if first is None:
            return messages
        usage, other_counts = messages[first].usage, _counted(messages[first])
        counts = {name: n for name, n in (usage or {}).items() if name in config.COUNTS.values()} or None
        with_counts = [
            _with_counts(one, counts if i == 0 else None, other_counts if i == 0 else {})
            for i, one in enumerate(messages)
        ]
        return shared(messages, with_counts)

    def _counted(message: Message) -> Native:
        extra: Native = get_extras(message.extras, service.owner).get("usageMetadata") or {}
        return extra

    def _with_counts(message: Message, usage: dict[str, int] | None, other_counts: Native) -> Message:
        if message.usage == usage and _counted(message) == other_counts:
            return message
        extra = {**get_extras(message.extras, service.owner), "usageMetadata": other_counts}
        return replace(message, usage=usage, extras=with_extras(message.extras, service.owner, extra))

    return on_messages(combine_usage)


# ---------------------------------------------------------------- the forms


def without_blanks(transcript: Transcript) -> Transcript:
    """Removes an empty name, title or time."""
    fields = ("id", "title", "model", "created_at", "updated_at")
    blank = {field: None for field in fields if getattr(transcript, field) == ""}
    return described(replace(transcript, **blank) if blank else transcript)


TURNS: tuple[Pass, ...] = (
    keep_active_conversation,
    separate_results,
    on_each_message(turns.user_without_result, are_mixed),
    results_behind_calls,
    roles({"developer": "system"}),
    expressible_parts,
    only_signed,
    on_messages(turns.one_system),
    on_messages(turns.joined, turns.answers_follow),
    on_messages(turns.in_order_of_calls, turns.are_out_of_order),
    on_each_message(lambda message: message if message.parts else None, has_empty),
    turns.tied,
)
"""Passes for one instruction, no empty turns, and all answers to a turn directly behind it."""


def fit(service: Service) -> dict[str, tuple[Pass, ...]]:
    """Returns the passes for what the service accepts, by form."""
    request = (
        without_blanks,
        rename_tools_and_ids(service.names),
        known(service, OF_REQUEST, OF_TURN),
        *TURNS,
        first_content_only(service.owner),
        _fitted_tools(service),
        _fitted_settings(service),
    )
    return {
        "request": request,
        "response": answer(service, OF_ANSWER),
        "list": (
            *request,
            on_each_message(lambda message: None if message.role == "system" else message, has_role("system")),
        ),
    }


def answer(service: Service, of_answer: ExtraKeys, reasons: Collection[str] = ()) -> tuple[Pass, ...]:
    """Returns the passes for a response, where stop `reasons` have their own field."""
    return (
        without_blanks,
        rename_tools_and_ids(service.names),
        keep_answers,
        without("tools", "tool_choice", "settings"),
        known(service, OF_RESPONSE, of_answer),
        expressible_parts,
        only_signed,
        _reasons(service, reasons),
        _one_usage(service),
    )
