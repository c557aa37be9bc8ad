"""Rows in the style of Hermes and of Qwen: calls and results between tags in the texts of a conversation.

Specification: the ShareGPT rows of Hermes' function calling as ms-swift 4.6 takes them, and the chat templates of Qwen
(`hermes/qwen.py`); read 2026-11-22.

Quirks
- A call is `<tool_call>` and the JSON of its name and its arguments in the text of an answer, with any text around it.
  Where something between these tags is no call, the answer is a text.
- Qwen3-Coder and Qwen3.5 write XML there, `<function=NAME>` and `<parameter=KEY>`, whose values have no types: those
  for which the tool names no type, or a string, are texts.
- A result is `<tool_response>` in a turn of the tag `tool`, with the JSON of a name and a content, or with a text. A
  string is text, any other content data. Qwen has a turn of the user for the results of calls, and texts in it.
- There are no ids: results answer the calls of the turn before them in order.
- The tools stand in the instruction, as a list between `<tools>` tags. What we or templates of Qwen add for them comes
  back as definitions alone; an instruction of others that names its tools stays the text that it is, too.
- A thought stands before an answer, between `<think>` and `</think>`.
- Turns of `role` and `content` in `messages` are written in the forms `qwen` and `qwen-xml`: what stands in them is
  what the template makes of the conversation, thoughts and all.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from convcli.dialects.hermes import qwen, text
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
from convcli.families.openai.calls import AS_TEXT, TEXTS
from convcli.families.rows import calls, order, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT, one_thought, read_thought, without
from convcli.kit import custom, fitting, lacking, results
from convcli.kit.definitions import described
from convcli.kit.objects import without_carried
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, shared
from convcli.kit.renaming import WORD, Alphabet, renaming
from convcli.model.dialect import Clue, Convention, Dialect, Pass
from convcli.model.transcript import (
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json


def detect(document: Any) -> Clue | None:
    """By calls, results or tools between tags in turns of texts."""
    if not isinstance(document, dict) or "model" in document:
        return None
    column = column_of(document)
    who, what = NAMES[column]
    rows = document.get(column)
    if not isinstance(rows, list) or not all(isinstance(one, dict) and {who, what} <= one.keys() for one in rows):
        return None
    if column == MESSAGES and any(turn.get(key) for turn in rows for key in ("tool_calls", "tool_call_id")):
        return None
    for turn in rows:
        tag, value = (word if isinstance(word, str) else "" for word in (turn[who], turn[what]))
        if ROLES.get(tag) == "assistant" and text.read_answer(value) is not None:
            return Clue(97, "calls between tags in an answer")
        if tag == "tool" and text.read_results(value) is not None:
            return Clue(97, "results between tags")
        if tag == "system" and text.read_tools(value) is not None:
            return Clue(97, "tools between tags in the instruction")
    return None


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Data are written as they are, but for a string, which is text, and null, which is nothing."""
    if result.kind == "error" or result.is_error:
        return "data", {"error": result.value}
    is_scalar = result.kind == "data" and (result.value is None or isinstance(result.value, str))
    return ("text", exact_json.write_text(result.value)) if is_scalar else None


FUNCTIONS = Alphabet("letters, digits, _, . and -", WORD + ".-", 0)
"""Names of tools in XML."""
RESULTS = Convention(_express, {**AS_TEXT, "error": ("encoded", 'there is no field for a failure: {"error": …}')})


def _one_text(message: Message) -> Message:
    """A thought, then texts and calls; elsewhere one text. A text between calls neither begins nor ends with a break,
    and none looks like a call."""
    if message.role == "tool":
        return message
    if message.role != "assistant":
        parts = joined_texts(message.parts, JOINT)
        return message if parts == message.parts else replace(message, parts=parts)
    parts = joined_texts(one_thought(message), JOINT)
    if any(isinstance(part, ToolCall) for part in parts):
        parts = [_bare(part) for part in parts]
        parts = joined_texts(parts, JOINT)
    elif any(isinstance(part, Text) and text.read_answer(part.text) is not None for part in parts):
        parts = [_bare(part) if isinstance(part, Text) else part for part in parts]
    parts = _unthought(parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _bare(part: Part) -> Part:
    return Text(without(text.CALL_MARK, part.text).strip(text.BREAK)) if isinstance(part, Text) else part


def _unthought(parts: list[Part]) -> list[Part]:
    """A text at the head that holds a thought is one."""
    first = parts[0] if parts else None
    thought, rest = read_thought(first.text) if isinstance(first, Text) else ("", "")
    if not thought:
        return parts
    rest = rest.strip(text.BREAK) if len(parts) > 1 else rest
    return [Reasoning(thought), *([Text(rest)] if rest else []), *parts[1:]]


def _no_results_in_words(messages: list[Message]) -> list[Message]:
    """Behind calls, no words of the user look like results."""
    fitted = list(messages)
    for i, (before, message) in enumerate(pairwise(messages), start=1):
        words = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role == "user" and calls_of(before) and words and text.read_results(words[0]) is not None:
            fitted[i] = replace(message, parts=[Text(without(text.RESULT_MARK, words[0]))])
    return shared(messages, fitted)


def _carries_nothing_read(column: str) -> tuple[Pass, Pass]:
    """Nothing is carried under the name of a key that would be read."""

    of_turns = on_each_message(lambda message: without_carried(message, NAME, *NAMES[column]))
    return of_turns, lambda transcript: without_carried(transcript, NAME, column)


def _in_tags(call: ToolCall, _: Message) -> ToolCall:
    """What XML can say of the arguments."""
    arguments = qwen.writable(call.arguments)
    is_said = arguments == call.arguments and call.raw_arguments is None
    return call if is_said else replace(call, arguments=arguments, raw_arguments=None)


def _with_tools(transcript: Transcript) -> Transcript:
    """The tools are those that the instruction names, where nothing else says what they are."""
    first = transcript.messages[0] if transcript.messages else None
    if first is None or first.role != "system":
        return transcript
    if transcript.tools and not first.parts:
        return replace(transcript, messages=transcript.messages[1:])
    stated = stated_tools(first)
    if transcript.tools is None and stated is not None:
        return replace(transcript, tools=stated)
    return transcript


def _not_as_written(message: Message) -> Message:
    """An instruction does not end as one to which tools were added."""
    part = message.parts[0] if message.parts else None
    if message.role != "system" or not isinstance(part, Text) or not part.text.endswith(text.TAIL):
        return message
    bare = part.text
    while bare.endswith(text.TAIL):
        bare = bare.removesuffix(text.TAIL)
    return replace(message, parts=[Text(bare)] if bare else [])


# ---------------------------------------------------------------- passes, by form


def _line(convention: Convention) -> tuple[Pass, ...]:
    return (
        fitting.linear,
        results.results_behind_calls,
        on_messages(results.single_results),
        fitting.roles({"developer": "system"}),
        fitting.refusals_as_texts,
        fitting.parts_in_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
        on_parts(lambda part, _: None, "opaque", *MEDIA),
        on_results(results.one_value),
        results.expressed(convention),
        custom.as_functions,
        calls.without_raw_arguments,
        on_each_message(_one_text),
        on_each_message(_not_as_written),
        on_messages(order.results_by_position),
        fitting.functions_only(NAME),
        fitting.some_tools,
        described,
        _with_tools,
    )


OF_QWEN = (*_line(TEXTS), on_messages(_no_results_in_words), *_carries_nothing_read(MESSAGES))
IN_XML = (on_parts(_in_tags, "tool_call"), renaming(FUNCTIONS))
FIT = {
    CONVERSATIONS: fused(*_line(RESULTS), *_carries_nothing_read(CONVERSATIONS)),
    QWEN: (*fused(*OF_QWEN), fitting.as_read_back(lift, write, QWEN)),
    QWEN_XML: (*fused(*OF_QWEN, *IN_XML), fitting.as_read_back(lift, write, QWEN_XML)),
}


LACKS = (training.LACKS - {"id"}) | lacking.MEDIA | lacking.fields("opaque")


DIALECT = Dialect(
    name=NAME,
    title="Hermes rows",
    aliases=("hermes-function-calling", "nous-hermes"),
    specification="ShareGPT rows with the tags of Hermes, as ms-swift 4.6 takes them; read 2026-11-22",
    framings=("records", "document"),
    forms=(CONVERSATIONS, QWEN, QWEN_XML),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=training.RULES,
    conventions=(RESULTS, TEXTS),
    lacks=LACKS,
    reasons={
        "message": "a result answers a call of the turn before it",
        "message.role": "there is only one role for instructions",
        "moved": "a result stands behind its call, in the order of the calls",
        "text": "a turn holds one text before, between and behind its calls",
        "reasoning": "a turn has one thought, before its text",
        "reasoning.metadata": "a thought is text only",
        "tools": "the instruction names tools",
        "tool_call.arguments": "in XML it is a text up to its tag: the schema of the tool says which are JSON",
        "tool_call.name": "a name in XML has letters, digits, _, . and -",
        "tool_result.name": "a name in XML has letters, digits, _, . and -",
        "tool.name": "a name in XML has letters, digits, _, . and -",
        **training.REASONS,
        **dict.fromkeys(lacking.MEDIA, "the turns hold text only"),
    },
    places={"id": ("id",), "tools": ("conversations", 0, "value")},
)
