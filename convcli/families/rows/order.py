"""The strict order of turns in rows: user or results, then assistant, and so on; an instruction before everything.

A trainer drops a row that breaks it, so a message out of order is merged into its neighbor.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.families.rows.media import joined_texts, known
from convcli.families.rows.thoughts import JOINT, one_thought, without
from convcli.kit.passes import shared
from convcli.kit.results import answers_of, in_words, result_of
from convcli.kit.texts import text_of
from convcli.model.transcript import Media, Message, Part, Text, ToolCall, ToolResult

BETWEEN_RESULTS = "\n</tool_response>\n<tool_response>\n"
RESULT_MARK = "</tool_response>"


def calls_of(message: Message) -> list[ToolCall]:
    """Returns the calls of a turn."""
    return [part for part in message.parts if isinstance(part, ToolCall)]


def in_order(messages: list[Message]) -> list[Message]:
    """Returns the messages in the order of turns. Each turn is one message, except for one result per call.

    An assistant that speaks first gets a generated user message before it. Unanswered questions after the last answer
    are dropped.
    """
    count = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    fitted = instruction(messages[:count])
    spoken = [replace(message, role="user") if message.role == "system" else message for message in messages[count:]]
    open_calls: list[ToolCall] = []
    was_said = False
    for is_answer, turn in _turns(spoken):
        if is_answer and not was_said:
            fitted += _missing(open_calls) or [Message("user", [])]
        fitted += [_answer(turn)] if is_answer else _user_turn(turn, open_calls)
        open_calls = calls_of(fitted[-1]) if is_answer else []
        was_said = not is_answer
    return shared(messages, drop_after_last_answer(fitted))


def _turns(messages: list[Message]) -> list[tuple[bool, list[Message]]]:
    """Returns the messages of each turn, and whether it is the assistant's; a turn ends with its calls."""
    turns: list[tuple[bool, list[Message]]] = []
    for message in messages:
        is_answer = message.role == "assistant"
        last = turns[-1] if turns else None
        if last is None or last[0] != is_answer or (is_answer and calls_of(last[1][-1])):
            turns.append((is_answer, [message]))
        else:
            last[1].append(message)
    return turns


def drop_after_last_answer(messages: list[Message]) -> list[Message]:
    """Drops everything after the last answer, if there is one."""
    end = max((i + 1 for i, message in enumerate(messages) if message.role == "assistant"), default=len(messages))
    return messages[:end]


def instruction(messages: list[Message]) -> list[Message]:
    """Joins instructions into one text; drops an empty one."""
    text = JOINT.join(part.text for message in messages for part in message.parts if isinstance(part, Text))
    if not messages or not text:
        return []
    parts: list[Part] = [Text(text)]
    return [messages[0] if messages[0].parts == parts else replace(messages[0], parts=parts)]


def _answer(turn: list[Message]) -> Message:
    """Keeps a thought with a text and files, or a thought with calls."""
    parts: list[Part] = [part for message in turn for part in message.parts]
    if any(isinstance(part, ToolCall) for part in parts):
        parts = [part for part in parts if not isinstance(part, (Text, Media))]
    return _with_parts(turn, joined_texts(one_thought(Message("assistant", parts)), JOINT))


def _with_parts(turn: list[Message], parts: list[Part]) -> Message:
    return turn[0] if turn[0].parts == parts else replace(turn[0], parts=parts)


def _user_turn(turn: list[Message], calls: list[ToolCall]) -> list[Message]:
    """Returns the results of calls, with everything else after them; without results, the user's message."""
    answers = answers_of(calls, turn)
    if not any(answers):
        first = next((message for message in turn if message.role == "user"), None)
        parts = joined_texts([part for message in turn for part in _words(message)], JOINT)
        if first is None or len(turn) > 1 or first.parts != parts:
            return [replace(first or Message("user", []), parts=parts)]
        return [first]
    results = [_alone(answer, call) for answer, call in zip(answers, calls, strict=True)]
    taken = set(map(id, answers))
    more = [part for message in turn if id(message) not in taken for part in _words(message)]
    if more:
        results[-1] = _with_more(results[-1], more)
    return _separable(results) if len(results) > 1 else results


def _alone(answer: Message | None, call: ToolCall) -> Message:
    """Returns the result of a call under the call's name; an empty generated one if only other calls of the turn have
    results."""
    result = result_of(answer) if answer is not None else None
    if answer is None or result is None:
        return Message("tool", [ToolResult(call.id, call.name, "text", "")])
    return answer if result.name == call.name else replace(answer, parts=[replace(result, name=call.name)])


def _missing(calls: list[ToolCall]) -> list[Message]:
    return [_alone(None, call) for call in calls]


def _words(message: Message) -> list[Part]:
    """Returns the content of a message as parts of a user message."""
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            parts += part.value if part.kind == "multimodal" else [Text(in_words(part))]
        elif isinstance(part, (Text, Media)):
            parts.append(part)
    return parts


def _with_more(message: Message, more: list[Part]) -> Message:
    result = message.parts[0]
    assert isinstance(result, ToolResult)
    return replace(message, parts=[valued(result, [*_words(message), *more])])


def valued(result: ToolResult, parts: list[Part]) -> ToolResult:
    """Returns the result with these parts as its value: a text if there is nothing else."""
    parts = joined_texts(parts, JOINT)
    if all(isinstance(part, Text) for part in parts):
        return replace(result, kind="text", value=text_of(parts))
    return replace(result, kind="multimodal", value=parts)


def text_with_files(result: ToolResult) -> ToolResult:
    """Reduces a result to a text with files."""
    if result.kind != "multimodal":
        return result
    shown = (Text(part.text) if isinstance(part, Text) else known(part) for part in result.value)
    fitted = valued(replace(result, is_error=None), [part for part in shown if part is not None])
    return result if fitted == result else fitted


def results_by_position(messages: list[Message]) -> list[Message]:
    """Returns the messages with the results of a turn in the order of its calls, one for each. A missing result is
    generated if there are others. A result that answers no call of the previous turn becomes a user message."""
    fitted: list[Message] = []
    for is_run, run in groupby(messages, lambda message: message.role == "tool"):
        turn = list(run)
        if is_run:
            calls = calls_of(fitted[-1]) if fitted and fitted[-1].role == "assistant" else []
            fitted += _results_apart(turn, calls)
        else:
            fitted += turn
    return shared(messages, fitted)


def _results_apart(turn: list[Message], calls: list[ToolCall]) -> list[Message]:
    answers = answers_of(calls, turn)
    taken = set(map(id, answers))
    results = [_alone(answer, call) for answer, call in zip(answers, calls, strict=True)] if any(answers) else []
    words = [Message("user", joined_texts(_words(message), JOINT)) for message in turn if id(message) not in taken]
    return [*results, *words]


# ---------------------------------------------------------------- results of one turn in one text


def split_results(text: str, count: int) -> list[str]:
    """Splits a text into the results of this many calls; returns the text itself if they cannot be distinguished."""
    pieces = text.split(BETWEEN_RESULTS) if count > 1 else [text]
    return pieces if len(pieces) == count else [text]


def join_results(texts: list[str]) -> str:
    """The inverse of `split_results`."""
    return BETWEEN_RESULTS.join(texts)


def _separable(results: list[Message]) -> list[Message]:
    """Makes results separable: removes the mark that ends one from their texts."""
    texts = [_text_of(message.parts[0]) for message in results]
    if split_results(join_results(texts), len(texts)) == texts:
        return results
    return [replace(message, parts=[_unmarked(message.parts[0])]) for message in results]


def _text_of(result: Any) -> str:
    if result.kind != "multimodal":
        return str(result.value)
    return "".join(part.text if isinstance(part, Text) else "." for part in result.value)


def _unmarked(result: Any) -> ToolResult:
    assert isinstance(result, ToolResult)
    if result.kind != "multimodal":
        return replace(result, value=without(RESULT_MARK, result.value))
    parts = [Text(without(RESULT_MARK, part.text)) if isinstance(part, Text) else part for part in result.value]
    return valued(result, parts)


def turns_of(messages: list[Message]) -> list[list[Message]]:
    """Groups the messages by turn of the row: consecutive results are one turn."""
    grouped = groupby(enumerate(messages), lambda pair: -1 if pair[1].role == "tool" else pair[0])
    return [[message for _, message in group] for _, group in grouped]
