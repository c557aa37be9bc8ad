"""Passes that Chat Completions and its relatives share, for conversations and for answers."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from convcli.families.openai import messages
from convcli.families.openai.calls import AS_TEXT, kind_in_turn, media_behind_results
from convcli.families.openai.parts import IDS, NAMES, usual_audio, write_answer_audio, write_media
from convcli.families.openai.response import (
    Answers,
    created_in_seconds,
    joined_text,
    keep_known_finish,
    usage_of_response,
)
from convcli.kit.fitting import (
    drop_empty_name,
    drop_other_opaque,
    keep_active_conversation,
    keep_answers,
    keep_parts_of_roles,
    sort_parts,
)
from convcli.kit.passes import MEDIA, PartFit, on_each_message, on_messages, on_parts, on_results
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.results import apply_convention, one_result_each, results_behind_calls, with_plain_failures
from convcli.model.dialect import Convention, Pass
from convcli.model.inventory import has_field, has_kind
from convcli.model.transcript import Media, Message, Part

RESULTS = Convention(
    messages.express,
    {**AS_TEXT, "multimodal": ("encoded", "a tool message stores only text: the media follow in a user message")},
)
"""How a tool message stores results."""
ROW_RESULTS = with_plain_failures(RESULTS)
"""How a tool message of a training row stores results."""


def of_conversations(
    owner: str, results: Convention, is_written: Callable[[Media], bool], *between: Pass
) -> tuple[Pass, ...]:
    """Returns passes for a linear conversation: each result as text behind its call, its media in a following user
    message.

    Texts have keys of the `owner`. `between` are passes that must run before such messages are added.
    """
    return (
        keep_active_conversation,
        results_behind_calls,
        one_result_each,
        *between,
        on_messages(media_behind_results(is_written), has_kind("tool_result.multimodal")),
        on_results(lambda result: messages.texts_only(result, owner), "multimodal"),
        apply_convention(results),
    )


def of_answers(answers: Answers, *parts: Pass) -> tuple[Pass, ...]:
    """Returns passes for the answers of a response with choices; `parts` fit their parts."""
    return (
        keep_answers,
        keep_parts_of_roles({"tool_result": ()}),
        *parts,
        keep_known_finish(answers),
        on_each_message(joined_text),
        usage_of_response,
        created_in_seconds,
    )


def of_requests(owner: str, results: Convention = RESULTS) -> tuple[Pass, ...]:
    """Returns passes for the messages of a request to OpenAI, whose parts have keys of the `owner`."""

    def is_written(media: Media) -> bool:
        return write_media(media, owner) is not None

    return (
        rename_tools_and_ids(NAMES, IDS),
        *of_conversations(owner, results, is_written, on_each_message(drop_empty_name, has_field("name"))),
        *parts_of_turns(owner),
    )


def parts_of_turns(owner: str) -> tuple[Pass, ...]:
    """Returns passes for the parts of messages in an OpenAI request or response, in its order."""
    return (
        keep_parts_of_roles({"tool_call": ("assistant",), "refusal": ("assistant",), "reasoning": ("assistant",)}),
        on_each_message(messages.one_reasoning, has_kind("reasoning")),
        on_parts(_spoken_or_shown(owner), *MEDIA),
        drop_other_opaque(owner),
        messages.without_empty_refusal(owner),
        messages.without_empty_text(owner),
        sort_parts("reasoning", "text image document opaque", "refusal", "audio", "tool_call", kind=kind_in_turn),
    )


def _spoken_or_shown(owner: str) -> PartFit:
    """Keeps media that the API accepts in this role: one speech of an assistant, a user's images and files."""

    def spoken(message: Message) -> Media | None:
        """Returns the audio of an answer, which has a key for one."""
        audios = (part for part in message.parts if isinstance(part, Media) and part.type == "audio")
        return next((audio for audio in audios if write_answer_audio(audio, owner) is not None), None)

    def keep_media_of_role(part: Part, message: Message) -> Part | None:
        if not isinstance(part, Media):
            return part
        if message.role == "assistant":
            if part is not spoken(message):
                return None
            return part if part.media_type is None else replace(part, media_type=None)
        if message.role != "user" or write_media(part, owner) is None:
            return None
        return usual_audio(part)

    return keep_media_of_role


NO_REASONING = keep_parts_of_roles({"reasoning": ()})
