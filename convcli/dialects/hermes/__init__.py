"""Rows in the style of Hermes and Qwen: calls and results between tags in the texts of a conversation.

Specification: the ShareGPT rows of Hermes' function calling as ms-swift 4.6 reads them, and Qwen's chat templates
(`families/rows/qwen.py`); read 2026-11-22.

Quirks
- A call is `<tool_call>` and the JSON of its name and arguments in the text of an answer, with any text around it. If
  anything between these tags is not a call, the whole answer is text.
- Qwen3-Coder and Qwen3.5 write XML there, `<function=NAME>` and `<parameter=KEY>`. Values have no types: they are
  strings unless the tool's schema names another type.
- A result is `<tool_response>` in a turn with the tag `tool`, with the JSON of a name and a content, or with text. A
  string is text, any other content is data. Qwen puts results into a user turn, as text.
- There are no ids: results answer the calls of the turn before them in order.
- The tools are in the instruction, as a list between `<tools>` tags. Text that convcli or Qwen's templates add for them
  is read back as definitions only. Any other instruction that lists tools also stays text.
- A thought comes before an answer, between `<think>` and `</think>`.
- The forms `qwen` and `qwen-xml` write turns with `role` and `content` in `messages`. Their text is what the template
  makes of the conversation, including thoughts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from convcli.dialects.hermes import text
from convcli.dialects.hermes.lifting import (
    CONVERSATIONS,
    MESSAGES,
    NAME,
    NAMES,
    QWEN,
    QWEN_XML,
    ROLES,
    column_of,
    lift,
)
from convcli.dialects.hermes.writing import stated_tools, write
from convcli.families.openai.calls import AS_TEXT, ROW_TEXTS
from convcli.families.rows import calls, order, qwen, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT, one_thought, read_thought, without
from convcli.kit import custom, fitting, results
from convcli.kit.definitions import described
from convcli.kit.objects import drop_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, shared
from convcli.kit.renaming import WORD, Alphabet, rename_tools_and_ids
from convcli.model.dialect import Convention, Dialect, Evidence, Pass
from convcli.model.transcript import (
    MEDIA_KINDS,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json


def detect(document: Any) -> Evidence | None:
    """Detects calls, results or tools between tags in turns of text: what is between them must be readable."""
    if not isinstance(document, dict) or "model" in document:
        return None
    column = column_of(document)
    role_key, text_key = NAMES[column]
    rows = document.get(column)
    if not isinstance(rows, list) or not all(
        isinstance(one, dict) and {role_key, text_key} <= one.keys() for one in rows
    ):
        return None
    if column == MESSAGES and any(turn.get(key) for turn in rows for key in ("tool_calls", "tool_call_id")):
        return None
    for turn in rows:
        tag, value = (one if isinstance(one, str) else "" for one in (turn[role_key], turn[text_key]))
        if ROLES.get(tag) == "assistant" and text.read_answer(value) is not None:
            return Evidence(97, "an answer has calls between tags")
        if tag == "tool" and text.read_results(value) is not None:
            return Evidence(97, "a tool turn has results between tags")
        if tag == "system" and text.read_tools(value) is not None:
            return Evidence(97, "the instruction has tools between tags")
    return None


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns kind and value of a result as read back, or None if unchanged: data that is a string or null changes."""
    is_scalar = result.kind == "data" and (result.value is None or isinstance(result.value, str))
    return ("text", exact_json.write_text(result.value)) if is_scalar else None


FUNCTIONS = Alphabet("letters, digits, _, . and -", WORD + ".-", 0)
"""Tool names in XML."""
RESULTS = results.with_plain_failures(Convention(_express, AS_TEXT))


def _join_texts(message: Message) -> Message:
    """Joins texts: an answer has one thought, then texts and calls; other messages have one text.

    Texts between calls lose line breaks at both ends, and texts that look like calls lose the tags.
    """
    if message.role == "tool":
        return message
    if message.role != "assistant":
        parts = joined_texts(message.parts, JOINT)
        return message if parts == message.parts else replace(message, parts=parts)
    parts = joined_texts(one_thought(message), JOINT)
    if any(isinstance(part, ToolCall) for part in parts):
        parts = [_remove_call_tags(part) for part in parts]
        parts = joined_texts(parts, JOINT)
    elif any(isinstance(part, Text) and text.read_answer(part.text) is not None for part in parts):
        parts = [_remove_call_tags(part) if isinstance(part, Text) else part for part in parts]
    parts = _split_thought(parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _remove_call_tags(part: Part) -> Part:
    return Text(without(text.CALL_MARK, part.text).strip(text.BREAK)) if isinstance(part, Text) else part


def _split_thought(parts: list[Part]) -> list[Part]:
    """Turns a thought at the beginning of the first text into a part."""
    first = parts[0] if parts else None
    thought, rest = read_thought(first.text) if isinstance(first, Text) else ("", "")
    if not thought:
        return parts
    rest = rest.strip(text.BREAK) if len(parts) > 1 else rest
    return [Reasoning(thought), *([Text(rest)] if rest else []), *parts[1:]]


def _remove_result_tags(messages: list[Message]) -> list[Message]:
    """Removes result tags from user texts that follow calls."""
    fitted = list(messages)
    for i, (before, message) in enumerate(pairwise(messages), start=1):
        words = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role == "user" and calls_of(before) and words and text.read_results(words[0]) is not None:
            fitted[i] = replace(message, parts=[Text(without(text.RESULT_MARK, words[0]))])
    return shared(messages, fitted)


def _drop_read_extras(column: str) -> tuple[Pass, Pass]:
    """Returns passes that drop extras under keys that would be read as turns."""

    drop_from_turns = on_each_message(lambda message: drop_extras(message, NAME, *NAMES[column]))
    return drop_from_turns, lambda transcript: drop_extras(transcript, NAME, column)


def _keep_xml_arguments(call: ToolCall, _: Message) -> ToolCall:
    """Keeps only arguments that XML can express."""
    arguments = qwen.writable(call.arguments)
    is_expressible = arguments == call.arguments and call.raw_arguments is None
    return call if is_expressible else replace(call, arguments=arguments, raw_arguments=None)


def _read_stated_tools(transcript: Transcript) -> Transcript:
    """Reads the tools from the instruction if the transcript has none; drops an empty instruction if it has."""
    first = transcript.messages[0] if transcript.messages else None
    if first is None or first.role != "system":
        return transcript
    if transcript.tools and not first.parts:
        return replace(transcript, messages=transcript.messages[1:])
    stated = stated_tools(first)
    if transcript.tools is None and stated is not None:
        return replace(transcript, tools=stated)
    return transcript


def _remove_tools_ending(message: Message) -> Message:
    """Removes the ending that convcli adds to an instruction with tools."""
    part = message.parts[0] if message.parts else None
    if message.role != "system" or not isinstance(part, Text) or not part.text.endswith(text.TAIL):
        return message
    bare = part.text
    while bare.endswith(text.TAIL):
        bare = bare.removesuffix(text.TAIL)
    return replace(message, parts=[Text(bare)] if bare else [])


# ---------------------------------------------------------------- passes, by form


def _passes(convention: Convention) -> tuple[Pass, ...]:
    return (
        fitting.keep_active_conversation,
        results.results_behind_calls,
        results.one_result_each,
        fitting.roles({"developer": "system"}),
        fitting.refusals_as_texts,
        fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
        on_parts(lambda part, _: None, "opaque", *MEDIA),
        on_results(results.one_value),
        results.apply_convention(convention),
        custom.as_functions,
        calls.without_raw_arguments,
        on_each_message(_join_texts),
        on_each_message(_remove_tools_ending),
        on_messages(order.results_by_position),
        fitting.keep_functions(NAME),
        fitting.drop_empty_tools,
        described,
        _read_stated_tools,
    )


QWEN_PASSES = (*_passes(ROW_TEXTS), on_messages(_remove_result_tags), *_drop_read_extras(MESSAGES))
XML_PASSES = (on_parts(_keep_xml_arguments, "tool_call"), rename_tools_and_ids(FUNCTIONS))
FIT = {
    CONVERSATIONS: fused(*_passes(RESULTS), *_drop_read_extras(CONVERSATIONS)),
    QWEN: (*fused(*QWEN_PASSES), fitting.settle_by_reading_back(lift, write, QWEN)),
    QWEN_XML: (*fused(*QWEN_PASSES, *XML_PASSES), fitting.settle_by_reading_back(lift, write, QWEN_XML)),
}


DIALECT = Dialect(
    name=NAME,
    title="Hermes rows",
    aliases=("hermes-function-calling", "nous-hermes"),
    is_training=True,
    columns="allowed",
    specification="ShareGPT rows with Hermes tags, as ms-swift 4.6 reads them; read 2026-11-22",
    framings=("records", "document"),
    forms=(CONVERSATIONS, QWEN, QWEN_XML),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=training.RULES,
    conventions=(RESULTS, ROW_TEXTS),
    supports=training.SUPPORTS | {"id"},
    reasons={
        "message": "in Hermes rows a result answers a call of the turn before it",
        "message.role": "Hermes rows have only one role for instructions",
        "moved": "in Hermes rows results follow their calls, in the order of the calls",
        "text": "a Hermes turn has one text before, between and after its calls",
        "reasoning": "a Hermes turn has one thought, before its text",
        "reasoning.metadata": "a thought is text only",
        "tools": "the instruction of a Hermes row lists these tools",
        "tool_call.arguments": "XML arguments are strings up to their tag: the tool's schema states which are JSON",
        "tool_call.name": "XML names have only letters, digits, _, . and -",
        "tool_result.name": "XML names have only letters, digits, _, . and -",
        "tool.name": "XML names have only letters, digits, _, . and -",
        **training.REASONS,
        **dict.fromkeys(MEDIA_KINDS, "Hermes turns are text"),
    },
    places={"id": ("id",), "tools": ("conversations", 0, "value")},
)
