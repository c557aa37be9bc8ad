"""What the Interactions API accepts, as passes. All are shared: `owner` is the name for a dialect's extras."""

from __future__ import annotations

from msgspec.structs import replace

from convcli.families.google import turns
from convcli.families.google.keys import names
from convcli.families.google.parts import SIGNATURE
from convcli.families.interactions.steps import DETAILS
from convcli.kit import custom, fitting, passes, results
from convcli.kit.renaming import rename_tools_and_ids
from convcli.model.dialect import Convention, Pass
from convcli.model.transcript import Media, Message, Part, Reasoning, ToolCall, ToolResult
from convcli.wire import exact_json

NAMES = names(64)


# ---------------------------------------------------------------- parts


def _fit_part(part: Part, message: Message) -> Part | None:
    """Returns a part as a step or content stores it; None if there is none for it in a message of this role."""
    if isinstance(part, (Reasoning, ToolCall)) and message.role != "assistant":
        return None
    if isinstance(part, Media):
        return _fit_media(part)
    if isinstance(part, Reasoning):
        return _fit_thought(part)
    return part


def _fit_media(media: Media) -> Media:
    return fitting.drop_unknown_detail(fitting.text_as_data(media), DETAILS)


def _fit_thought(part: Reasoning) -> Reasoning | None:
    """Keeps a thought as one text; drops one without text, unless it has Google's signature."""
    if not part.text and part.summary:
        part = replace(part, text="\n\n".join(part.summary))
    return part if part.text or isinstance((part.metadata or {}).get(SIGNATURE), str) else None


# ---------------------------------------------------------------- results


def _express(result: ToolResult) -> tuple[str, object] | None:
    """Returns how a result is read back: data that is not an object is JSON in a text, and one bare text is a text."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data" and not isinstance(result.value, dict):
        return kind, exact_json.write_text(result.value)
    if result.kind != "multimodal":
        return None
    value = [_fit_media(part) if isinstance(part, Media) else part for part in result.value]
    again = results.result_of_parts("", "", value, failed=bool(result.is_error))
    return None if (again.kind, again.value) == (result.kind, result.value) else (again.kind, again.value)


RESULTS = Convention(
    _express,
    {
        "data": ("changed", "a result is text, an object or contents: other data is written as JSON"),
        "error": ("changed", "a result is text, an object or contents: other data is written as JSON"),
        "multimodal": ("changed", "one content of text is the same as text"),
    },
)


# ---------------------------------------------------------------- all of it


MESSAGES: tuple[Pass, ...] = (
    rename_tools_and_ids(NAMES),
    fitting.keep_active_conversation,
    fitting.roles({"developer": "system"}),
    results.separate_results,
    results.one_result_each,
    fitting.refusals_as_texts,
    custom.as_functions,
    *passes.fused(passes.on_parts(_fit_part), results.apply_convention(RESULTS)),
)
"""Passes for messages as steps, with instructions among them."""

one_instruction: Pass = passes.on_messages(lambda messages: fitting.bare_system(turns.one_system(messages)))
"""Merges all instructions into one text before everything else."""
without_instructions: Pass = passes.on_each_message(lambda message: None if message.role == "system" else message)
"""Drops instructions, which only a request has."""
