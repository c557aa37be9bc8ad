"""ms-swift rows: calls and results are messages of their own.

Specification: swift/dataset/preprocessor/core.py and swift/template/template_inputs.py of ms-swift 4.6, and its page
"Custom dataset"; read 2026-11-22.

Quirks
- A call is a message with the role `tool_call`: an object with name and arguments, or its JSON. Consecutive calls and
  the answer before them are one assistant message. A result has the role `tool_response` or `tool`.
- A result is a string or an object: the trainer reads a list as Anthropic content blocks.
- There are no ids: results answer the calls of the preceding message in order.
- `loss` sets whether an answer is trained, `loss_scale` how much. The trainer drops every other message key.
- A thought is part of the text, between `<think>` and `</think>`. Files are in columns of their own, each with a mark
  (`<image>`) in the text; files without a mark come before the first text.
- What was rejected is an answer to the last question (`rejected_response`, a string or messages), or a whole
  conversation (`rejected_messages`). `label` rates the last answer.
- The older form has `query`, `response` and `history`. The trainer itself joins an answer before any question, and
  consecutive messages of one side.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.ms_swift.lifting import (
    ANSWER,
    AROUND,
    LINE,
    MESSAGE,
    MESSAGES,
    NAME,
    PREFERENCE,
    ROW,
    lift,
    parts_of,
    read_calls,
)
from convcli.families.openai.calls import AS_TEXT, text_of_result
from convcli.families.rows import calls, media, order, training
from convcli.families.rows.order import calls_of
from convcli.families.rows.pairs import CHOSEN, StoredFields, is_pair, keep_last_label, on_both, pair_of
from convcli.families.rows.thoughts import JOINT, one_thought, write_thought
from convcli.kit import custom, fitting, results
from convcli.kit.definitions import described
from convcli.kit.objects import Native, drop_extra_keys, drop_extras, get_extras, omit
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, shared
from convcli.kit.supported import fields
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, turns
from convcli.validation.survey import Survey

# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    is_data = result.kind == "data" and isinstance(result.value, dict) and not result.is_error
    return None if is_data or result.kind in ("text", "multimodal") else ("text", text_of_result(result))


RESULTS = results.with_plain_failures(Convention(_express, AS_TEXT))


def _join_instruction_and_calls(messages: list[Message]) -> list[Message]:
    """Joins the instruction into one text before all messages, and calls without text to the answer before them."""
    head = next((i for i, message in enumerate(messages) if message.role != "system"), len(messages))
    fitted = order.instruction(messages[:head])
    joined: Message | None = None
    for message in messages[head:]:
        if message.role == "system":
            message = replace(message, role="user")
        before = fitted[-1] if fitted and fitted[-1].role == "assistant" else None
        is_bare = bool(message.parts) and all(isinstance(part, ToolCall) for part in message.parts)
        if before is None or message.role != "assistant" or not is_bare:
            fitted.append(message)
            continue
        while not before.parts and len(fitted) > 1 and fitted[-2].role == "assistant":  # it would be read with the call
            fitted.pop()
            before = fitted[-1]
        if before is joined:
            joined.parts += message.parts
        else:
            fitted[-1] = joined = replace(before, parts=[*before.parts, *message.parts])
    return shared(messages, fitted)


def _order_parts(message: Message) -> Message:
    """Orders a message: one thought, then text and files, then calls. Only an answer keeps its weight."""
    is_answer = message.role == "assistant"
    if message.weight is not None and not is_answer:
        message = replace(message, weight=None)
    if message.role == "tool":
        return message
    parts = one_thought(message) if is_answer else message.parts
    content_parts = media.joined_texts([part for part in parts if not isinstance(part, ToolCall)], JOINT)
    parts = [*content_parts, *parts_of((ToolCall,), message)]
    return message if parts == message.parts else replace(message, parts=parts)


def _label_last_message(transcript: Transcript) -> Transcript:
    """Keeps the label of the last message only, and removes extras that also rate or reject an answer."""
    messages, last = transcript.messages, len(transcript.messages) - 1
    is_stated = isinstance(get_extras(transcript.extras, NAME).get("label"), bool)
    dropped = [ANSWER, LINE, *(["label"] if is_stated or (messages and messages[last].label is not None) else [])]
    extras = drop_extra_keys(transcript.extras, NAME, *dropped)
    return replace(transcript, messages=keep_last_label(messages), extras=extras)


def _drop_rejected(transcript: Transcript) -> Transcript:
    return drop_extras(transcript, NAME, ANSWER, LINE)


CONVERSATION = fused(
    fitting.keep_active_conversation,
    results.results_behind_calls,
    results.one_result_each,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles(
        {"tool_call": ("assistant",), "reasoning": ("assistant",), **dict.fromkeys(MEDIA, ("user", "assistant"))}
    ),
    media.in_columns,
    on_parts(lambda part, _: None, "opaque"),
    on_results(order.text_with_files),
    results.apply_convention(RESULTS),
    custom.as_functions,
    calls.without_raw_arguments,
    on_each_message(_order_parts),
    on_messages(_join_instruction_and_calls),
    on_messages(order.results_by_position),
    media.drop_ambiguous_marks,
    fitting.keep_functions(NAME),
    described,
)
SUPPORTS = training.SUPPORTS | training.FILES | fields("message.weight message.label")
FIT = {
    MESSAGES: (*CONVERSATION, _label_last_message),
    PREFERENCE: (on_both(*CONVERSATION, stored=StoredFields(NAME, SUPPORTS)), _drop_rejected),
}


def form_of(transcript: Transcript) -> str:
    """Returns the preference form for a preference pair."""
    return PREFERENCE if is_pair(transcript) else MESSAGES


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a row with its messages, and the rejected ones of a pair."""
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    columns: Native = {}
    native: Native = {}
    if pair is None:
        native["messages"] = _write_line(transcript.messages, columns)
        label = transcript.messages[-1].label if transcript.messages else None
        native |= {} if label is None else {"label": label == CHOSEN}
    else:
        prompt = _write_line(pair.prompt, columns)
        native["messages"] = [*prompt, *_write_line(pair.chosen, columns)]
        native |= _rejected(prompt, native["messages"], _write_line(pair.rejected, {}))
    if transcript.tools is not None:
        native["tools"] = calls.write_json([calls.write_tool(tool, NAME, wrapped=True) for tool in transcript.tools])
    extra = omit(get_extras(transcript.extras, NAME), *native)
    return ROW.put({**native, **columns}, {**extra, **columns}, sort=True)


def _rejected(prompt: list[Native], chosen: list[Native], rejected: list[Native]) -> Native:
    """Returns a single rejected answer if it is a string after the conversation's last question, else all messages."""
    question_end = max((i + 1 for i, native in enumerate(chosen) if native["role"] == "user"), default=0)
    alone = rejected[0] if len(rejected) == 1 else {}
    if question_end == len(prompt) and alone.keys() == {"role", "content"} and alone["role"] == "assistant":
        return {ANSWER: alone["content"]}
    return {LINE: [*prompt, *rejected]}


def _write_line(messages: list[Message], columns: Native) -> list[Native]:
    return [native for message in messages for native in _write_message(message, columns)]


def _write_message(message: Message, columns: Native) -> list[Native]:
    """Writes an answer and the calls after it, each with the answer's weight."""
    extra = get_extras(message.extras, NAME)
    loss = _write_weight(message.weight)
    if message.role == "tool":
        return [MESSAGE.put({"role": "tool_response", "content": _write_result(message, columns)}, extra)]
    natives = []
    content_parts = parts_of((Reasoning, Text, Media), message)
    if content_parts or not calls_of(message):
        thought = "".join(part.text for part in content_parts if isinstance(part, Reasoning))
        content = write_thought(thought, media.write_parts(content_parts, columns))
        natives.append({"role": message.role, "content": content, **loss})
    natives += [_write_call(call, loss) for call in calls_of(message)]
    natives[0] = MESSAGE.put(natives[0], {**extra, **loss}, sort=True)
    return natives


def _write_call(call: ToolCall, loss: Native) -> Native:
    other_keys = get_extras(call.extras, NAME).get(AROUND, {})
    content = calls.write_json(calls.CALL.write(drop_extras(call, NAME, AROUND), NAME))
    stated = {} if {"loss", "loss_scale"} & other_keys.keys() else loss
    return MESSAGE.put({"role": "tool_call", "content": content, **stated}, other_keys, sort=True)


def _write_weight(weight: float | None) -> Native:
    if weight is None:
        return {}
    is_flag = isinstance(weight, int) and weight in (0, 1)
    return {"loss": bool(weight)} if is_flag else {"loss_scale": weight}


def _write_result(message: Message, columns: Native) -> Any:
    result = message.parts[0] if message.parts else None
    if not isinstance(result, ToolResult):
        return media.write_parts(message.parts, columns)
    return media.write_parts(result.value, columns) if result.kind == "multimodal" else result.value


# ---------------------------------------------------------------- rules


def _calls_are_read(survey: Survey) -> Any:
    """Reports a call whose content is not the JSON of an object with a name."""
    for i, native in enumerate(survey.document.get("messages") or ()):
        if native["role"] == "tool_call" and read_calls(native["content"]) is None:
            at = NodeRef(steps=("messages", i, "content"))
            yield Breach("invalid-arguments", at, "this is not a JSON call: it is trained as plain text")


def _tools_are_read(survey: Survey) -> Any:
    stated = survey.document.get("tools")
    if stated and survey.transcript.tools is None:
        yield Breach("wrong-format", NodeRef(steps=("tools",)), "this is not a list of tools", "warning")


def _rejected_differs(survey: Survey) -> Any:
    """Reports a rejected answer that is missing, or the same as the chosen one."""
    if ANSWER not in survey.document:
        return
    rejected = survey.document[ANSWER]
    if rejected is None:
        problem = "a rejected answer must be a string or messages: ms-swift drops the row"
        yield Breach("wrong-type", NodeRef(steps=(ANSWER,)), problem, "warning")
    messages = survey.document.get("messages") or [{"content": survey.document.get("response")}]
    if isinstance(rejected, str) and rejected == messages[-1]["content"]:
        at = NodeRef(steps=(ANSWER,))
        yield Breach("conflicting-keys", at, "the rejected answer equals the chosen one: ms-swift drops the row")


RULES = (
    Rule(("invalid-arguments",), _calls_are_read, of_input=("invalid-arguments",)),
    Rule(("wrong-format",), _tools_are_read, of_input=("wrong-format",)),
    Rule(("wrong-type", "conflicting-keys"), _rejected_differs),
    turns.system_first(),
    arguments.readable(),
    *training.RULES,
)


DIALECT = Dialect(
    name=NAME,
    title="ms-swift rows",
    aliases=("swift", "modelscope"),
    is_training=True,
    form_columns=("messages", "rejected_messages", "rejected_response", "label"),
    columns="allowed",
    specification="ms-swift 4.6, custom datasets; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=RULES,
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        "message": "a tool result answers a call of the preceding assistant message",
        "message.role": "a row has one system message, before all others",
        "message.grouping": "calls are part of the answer before them",
        "moved": "tool results follow their calls, in call order",
        "message.label": "only the last answer has a label, good or bad",
        "message.weight": "only an answer has a weight",
        "message.name": "ms-swift messages have no name",
        "text": "an ms-swift message has one text",
        "reasoning": "an answer has one thought, before its text",
        "reasoning.metadata": "a thought is text only",
        **training.REASONS,
        **training.REASONS_OF_FILES,
        "document": "ms-swift rows have no document column",
    },
    places={
        "tools": ("tools",),
        "message.label": ("..", "..", "label"),
        "message.weight": ("loss",),
        f"extras.{AROUND}": ("..",),
    },
)
