"""Turns in the form of Google's services: one instruction, and all answers to a turn in one turn behind it."""

from __future__ import annotations

from itertools import groupby, pairwise

from msgspec.structs import replace

from convcli.kit.pairing import Pairing
from convcli.kit.passes import shared
from convcli.kit.renaming import call_ids
from convcli.model.inventory import Inventory, calls, results
from convcli.model.transcript import Message, Part, ToolCall, ToolResult, Transcript


def one_system(messages: list[Message]) -> list[Message]:
    """Merges all instructions into one before everything else."""
    system = [message for message in messages if message.role == "system"]
    if not system or (len(system) == 1 and messages[0] is system[0]):
        return messages
    first = replace(system[0], parts=[part for message in system for part in message.parts])
    return [first, *(message for message in messages if message.role != "system")]


def joined(messages: list[Message]) -> list[Message]:
    """Merges a turn with calls into the model turns before it."""
    turns: list[Message] = []
    for is_answer, group in groupby(messages, lambda message: message.role == "assistant"):
        turn = list(group)
        turns += _joined(turn) if is_answer and len(turn) > 1 else turn
    return shared(messages, turns)


def answers_follow(inventory: Inventory) -> bool:
    """Asks whether two answers are consecutive anywhere."""
    return ("assistant", "assistant") in pairwise(inventory.roles)


def _joined(answers: list[Message]) -> list[Message]:
    """Merges consecutive answers up to the last one with calls."""
    calling = [i for i, answer in enumerate(answers) if any(isinstance(part, ToolCall) for part in answer.parts)]
    end = calling[-1] + 1 if calling else 1
    if end == 1:
        return answers
    return [replace(answers[0], parts=[part for answer in answers[:end] for part in answer.parts]), *answers[end:]]


def in_order_of_calls(messages: list[Message]) -> list[Message]:
    """Sorts all answers to one turn in the order of the calls; answers to no call come last."""
    order = _order([part for message in messages for part in message.parts if isinstance(part, ToolCall)])
    turns: list[Message] = []
    for is_answer, group in groupby(messages, lambda message: message.role == "tool"):
        turn = list(group)
        turns += sorted(turn, key=lambda message: _rank(message.parts, order)) if is_answer else turn
    return shared(messages, turns)


def are_out_of_order(inventory: Inventory) -> bool:
    """Asks whether answers to one turn are in another order than its calls."""
    made = inventory.ask(calls)
    order = _order(made)
    if len(order) == len(made) and list(order) == [result.tool_call_id for result in inventory.ask(results)]:
        return False  # most transcripts
    before = -1
    for message in inventory.messages:
        if message.role != "tool":
            before = -1
            continue
        rank = _rank(message.parts, order)
        if rank < before:
            return True
        before = rank
    return False


def _order(made: list[ToolCall]) -> dict[str, int]:
    return {call.id: i for i, call in enumerate(made)}


def _rank(parts: list[Part], order: dict[str, int]) -> int:
    last = len(order)
    ranks = [order.get(part.tool_call_id, last) for part in parts if part.__class__ is ToolResult]
    return last if not ranks or last in ranks else min(ranks)


def tied(transcript: Transcript) -> Transcript:
    """Writes generated ids where the order alone would pair other calls and results."""
    origin = transcript.origin
    if origin is None or not origin.generated_ids:
        return transcript
    needed = _untied(transcript.messages, origin.generated_ids)
    if not needed:
        return transcript
    return replace(transcript, origin=replace(origin, generated_ids=origin.generated_ids - needed))


def _untied(messages: list[Message], invented: set[str]) -> set[str]:
    """Returns the generated ids of results that would be read as results of other calls."""
    pairing = Pairing([{"id": id_} for id_ in call_ids(Transcript(messages))])
    open_calls: dict[str, str] = {}
    untied: set[str] = set()
    for is_answer, group in groupby(messages, lambda message: message.role == "tool"):
        parts = [part for message in group for part in message.parts]
        if is_answer:
            results = [part for part in parts if isinstance(part, ToolResult)]
            stated = [(None if one.tool_call_id in invented else one.tool_call_id, one.name) for one in results]
            read = [open_calls.get(id_) for id_, _ in pairing.results(stated)]
            right = [one.tool_call_id if one.tool_call_id in open_calls.values() else None for one in results]
            untied |= {one.tool_call_id for one, x, y in zip(results, read, right, strict=True) if x != y}
        for call in (part for part in parts if isinstance(part, ToolCall)):
            open_calls[pairing.call(None if call.id in invented else call.id, call.name)] = call.id
    return untied & invented


def user_without_result(message: Message) -> Message:
    is_answer = message.role != "tool" or any(isinstance(part, ToolResult) for part in message.parts)
    return message if is_answer else replace(message, role="user")
