"""Fine-tuning rows as `mistral_common` accepts them: the last message is an answer, and it has text or calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from convcli.families.rows.order import calls_of, drop_after_last_answer
from convcli.families.rows.weights import BINARY, binary_weight
from convcli.kit import fitting
from convcli.kit.objects import Native, drop_extra_keys
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, shared
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, ToolCall
from convcli.validation.survey import Survey

FORM = "row"
KEYS = frozenset(("messages", "tools"))
REJECTED = "mistral_common rejects the row"


def is_row(native: dict[str, Any]) -> bool:
    """True if there are only messages and tools, and the last message is an answer without `prefix`."""
    last = native["messages"][-1] if native["messages"] else {}
    is_answered = last.get("role") == "assistant" and not last.get("prefix")
    return bool(is_answered) and KEYS.issuperset(key for key, value in native.items() if value is not None)


def lift_weights(native: Native, messages: list[Message]) -> None:
    """Reads the weights of a row's answers, as in `FinetuningAssistantMessage` of mistral_common 1.13.1."""
    for row_message, message in zip(native["messages"], messages, strict=True):
        weight = row_message.get("weight")
        if message.role == "assistant" and type(weight) in (int, float) and weight in BINARY.values():
            message.weight = int(weight)
            message.extras = drop_extra_keys(message.extras, "mistral", "weight")


def write_weight(message: Message, native: Native) -> Native:
    """Adds the weight to the message, after its content and calls."""
    return native if message.weight is None else {**native, "weight": message.weight}


def in_order(messages: list[Message]) -> list[Message]:
    """Keeps the messages up to the last answer, and splits text from calls.

    An empty user message is inserted before an answer that follows no user message.
    """
    fitted = [piece for message in messages for piece in _split_text_and_calls(message)]
    first = next((message for message in fitted if message.role != "system"), None)
    if first is not None and first.role == "assistant":
        fitted.insert(fitted.index(first), Message("user", []))
    return shared(messages, drop_after_last_answer(fitted))


def _split_text_and_calls(message: Message) -> list[Message]:
    calls = calls_of(message)
    if message.role != "assistant" or (message.parts and len(calls) in (0, len(message.parts))):
        return [message]
    content = [part for part in message.parts if not isinstance(part, ToolCall)]
    return [replace(message, parts=content), Message("assistant", [*calls], weight=message.weight)] if calls else []


FIT = fused(
    fitting.keep_parts_of_roles({"reasoning": (), "opaque": (), **dict.fromkeys(MEDIA, ())}),
    on_parts(lambda call, _: replace(call, extras=None) if call.extras else call, "tool_call"),
    fitting.keep_functions(""),
    on_messages(in_order),
    on_each_message(binary_weight),
)


def _accepted_by_trainer(survey: Survey) -> Iterable[Breach]:
    """Reports what makes `mistral_common` reject a row that is valid as a request."""
    messages = survey.messages if survey.form == FORM else []
    first = next((i for i, message in enumerate(messages) if message.role != "system"), None)
    if first is not None and messages[first].role == "assistant":
        yield Breach("wrong-first-role", NodeRef(first), f"no user message precedes this answer: {REJECTED}", "warning")
    for i, message in enumerate(messages):
        calls = calls_of(message)
        if _has_other_weight(survey, i):
            yield Breach("bad-weight", NodeRef(i), f"an answer's weight must be 0 or 1: {REJECTED}", "warning")
        if message.role == "assistant" and not message.parts:
            yield Breach("empty-message", NodeRef(i), f"an answer must have text or calls: {REJECTED}", "warning")
        elif calls and len(calls) < len(message.parts):
            yield Breach("text-beside-calls", NodeRef(i), f"an answer has either text or calls: {REJECTED}", "warning")


def _has_other_weight(survey: Survey, index: int) -> bool:
    message, native = survey.messages[index], survey.native_message(index) or {}
    return message.role == "assistant" and message.weight is None and native.get("weight") is not None


RULES = (Rule(("wrong-first-role", "bad-weight", "empty-message", "text-beside-calls"), _accepted_by_trainer),)
