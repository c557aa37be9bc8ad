"""Rows of ms-swift: messages whose calls and results are turns of their own.

Specification: swift/dataset/preprocessor/core.py and swift/template/template_inputs.py of ms-swift 4.6, and its page
"Custom dataset"; read 2026-11-22.

Quirks
- A call is a message of the role `tool_call`, the object of its name and its arguments or the JSON of that; calls that
  follow one another, and the answer before them, are one turn. A result is `tool_response` or `tool`.
- A result is a text or an object: of a list the trainer thinks that it has blocks of Anthropic.
- There are no ids: results answer the calls of the turn before them in order.
- `loss` says whether an answer is trained, `loss_scale` how much. Of a message nothing else survives.
- A thought stands in the text, between `<think>` and `</think>`. Files stand in columns of their own, and a mark
  (`<image>`) in the text; files without a mark stand before the first text.
- What was rejected is an answer to the last question (`rejected_response`, a text or messages), or a whole conversation
  (`rejected_messages`). `label` says how good the last answer is.
- The older form has `query`, `response` and `history`. An answer before any question, and turns of one side that follow
  one another, are joined by the trainer itself.
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
from convcli.families.rows.pairs import CHOSEN, is_pair, last_labelled, on_both, pair_of
from convcli.families.rows.thoughts import JOINT, one_thought, write_thought
from convcli.kit import custom, fitting, lacking, results
from convcli.kit.definitions import described
from convcli.kit.objects import Native, carried_by, omit, without_carried, without_keys
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, shared
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import turns
from convcli.validation.survey import Survey


def detect(document: Any) -> Clue | None:
    """By roles of calls and results, by what was rejected, by losses, or by files in columns with marks for them."""
    if not isinstance(document, dict) or "model" in document:
        return None
    messages = document.get("messages")
    if not isinstance(messages, list):
        asked, answered = document.get("query"), document.get("response")
        return Clue(90, "a query and a response") if isinstance(asked, str) and isinstance(answered, str) else None
    if not messages or not all(isinstance(message, dict) for message in messages):
        return None
    if any(message.get("role") in ("tool_call", "tool_response") for message in messages):
        return Clue(97, "messages with the roles tool_call and tool_response")
    if document.get(ANSWER) is not None or isinstance(document.get(LINE), list):
        return Clue(95, "messages and what was rejected")
    if any(isinstance(message.get("loss"), bool) or "loss_scale" in message for message in messages):
        return Clue(93, "messages with a loss")
    texts = [message.get("content") for message in messages]
    marked = [
        kind for mark, kind in media.MARKS.items() if any(isinstance(text, str) and mark in text for text in texts)
    ]
    if any(isinstance(document.get(media.COLUMN_OF[kind]), list) for kind in marked):
        return Clue(60, "files in columns, and marks for them in the texts")
    return None


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    is_data = result.kind == "data" and isinstance(result.value, dict) and not result.is_error
    return None if is_data or result.kind in ("text", "multimodal") else ("text", text_of_result(result))


RESULTS = Convention(_express, AS_TEXT)


def _joined(messages: list[Message]) -> list[Message]:
    """The instruction is one text before all turns; calls without a text belong to the answer before them."""
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
        elif before is joined:
            joined.parts += message.parts
        else:
            fitted[-1] = joined = replace(before, parts=[*before.parts, *message.parts])
    return shared(messages, fitted)


def _one_text(message: Message) -> Message:
    """A thought, then texts and files, then calls; a text says what it looks like. Only an answer has a weight."""
    is_answer = message.role == "assistant"
    if message.weight is not None and not is_answer:
        message = replace(message, weight=None)
    if message.role == "tool":
        return message
    parts = one_thought(message) if is_answer else message.parts
    said = media.joined_texts([part for part in parts if not isinstance(part, ToolCall)], JOINT)
    parts = [*said, *parts_of((ToolCall,), message)]
    return message if parts == message.parts else replace(message, parts=parts)


def _labelled(transcript: Transcript) -> Transcript:
    """The last message alone has a label, and nothing else says how good it is, or what was rejected."""
    messages, last = transcript.messages, len(transcript.messages) - 1
    is_stated = isinstance(carried_by(transcript.extras, NAME).get("label"), bool)
    gone = [ANSWER, LINE, *(["label"] if is_stated or (messages and messages[last].label is not None) else [])]
    extras = without_keys(transcript.extras, NAME, *gone)
    return replace(transcript, messages=last_labelled(messages), extras=extras)


def _unrated(transcript: Transcript) -> Transcript:
    return without_carried(transcript, NAME, ANSWER, LINE)


CONVERSATION = fused(
    fitting.linear,
    results.results_behind_calls,
    on_messages(results.single_results),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.parts_in_roles(
        {"tool_call": ("assistant",), "reasoning": ("assistant",), **dict.fromkeys(MEDIA, ("user", "assistant"))}
    ),
    media.in_columns,
    on_parts(lambda part, _: None, "opaque"),
    on_results(order.text_with_files),
    results.expressed(RESULTS),
    custom.as_functions,
    calls.without_raw_arguments,
    on_each_message(_one_text),
    on_messages(_joined),
    on_messages(order.results_by_position),
    media.unmarked,
    fitting.functions_only(NAME),
    described,
)
FIT = {MESSAGES: (*CONVERSATION, _labelled), PREFERENCE: (on_both(*CONVERSATION), _unrated)}


def form_of(transcript: Transcript) -> str:
    """A pair where there is one."""
    return PREFERENCE if is_pair(transcript) else MESSAGES


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A row with its messages, and with those that were rejected."""
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
    carried = omit(carried_by(transcript.extras, NAME), *native)
    return ROW.put({**native, **columns}, {**carried, **columns}, sort=True)


def _rejected(prompt: list[Native], chosen: list[Native], rejected: list[Native]) -> Native:
    """An answer where it is a text to the last question of the conversation, else all messages."""
    asked = max((i + 1 for i, native in enumerate(chosen) if native["role"] == "user"), default=0)
    alone = rejected[0] if len(rejected) == 1 else {}
    if asked == len(prompt) and alone.keys() == {"role", "content"} and alone["role"] == "assistant":
        return {ANSWER: alone["content"]}
    return {LINE: [*prompt, *rejected]}


def _write_line(messages: list[Message], columns: Native) -> list[Native]:
    return [native for message in messages for native in _write_message(message, columns)]


def _write_message(message: Message, columns: Native) -> list[Native]:
    """An answer with the calls behind it, each of which is trained as the answer is."""
    carried = carried_by(message.extras, NAME)
    loss = _write_weight(message.weight)
    if message.role == "tool":
        return [MESSAGE.put({"role": "tool_response", "content": _write_result(message, columns)}, carried)]
    natives = []
    said = parts_of((Reasoning, Text, Media), message)
    if said or not calls_of(message):
        thought = "".join(part.text for part in said if isinstance(part, Reasoning))
        content = write_thought(thought, media.write_parts(said, columns))
        natives.append({"role": message.role, "content": content, **loss})
    natives += [_write_call(call, loss) for call in calls_of(message)]
    natives[0] = MESSAGE.put(natives[0], {**carried, **loss}, sort=True)
    return natives


def _write_call(call: ToolCall, loss: Native) -> Native:
    around = carried_by(call.extras, NAME).get(AROUND, {})
    content = calls.write_json(calls.write_call(without_carried(call, NAME, AROUND), NAME))
    stated = {} if {"loss", "loss_scale"} & around.keys() else loss
    return MESSAGE.put({"role": "tool_call", "content": content, **stated}, around, sort=True)


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
    """The text of a call is the JSON of an object with a name."""
    for i, native in enumerate(survey.document.get("messages") or ()):
        if native["role"] == "tool_call" and read_calls(native["content"]) is None:
            at = NodeRef(steps=("messages", i, "content"))
            yield Breach("invalid-arguments", at, "this is not the JSON of a call: it is trained as it stands")


def _tools_are_read(survey: Survey) -> Any:
    stated = survey.document.get("tools")
    if stated and survey.transcript.tools is None:
        yield Breach("wrong-format", NodeRef(steps=("tools",)), "this is no list of tools", "warning")


def _is_other(survey: Survey) -> Any:
    """The answer that was rejected is one, and says something else."""
    if ANSWER not in survey.document:
        return
    rejected = survey.document[ANSWER]
    if rejected is None:
        problem = "an answer that was rejected is a text or messages: ms-swift leaves the row out"
        yield Breach("wrong-type", NodeRef(steps=(ANSWER,)), problem, "warning")
    messages = survey.document.get("messages") or [{"content": survey.document.get("response")}]
    if isinstance(rejected, str) and rejected == messages[-1]["content"]:
        at = NodeRef(steps=(ANSWER,))
        yield Breach("conflicting-keys", at, "what was rejected is what was chosen: ms-swift leaves the row out")


RULES = (
    Rule(("invalid-arguments",), _calls_are_read),
    Rule(("wrong-format",), _tools_are_read),
    Rule(("wrong-type", "conflicting-keys"), _is_other),
    turns.system_first(),
    *training.RULES,
)

LACKS = training.LACKS | training.NAMES_OF_FILES | lacking.fields("document opaque")


DIALECT = Dialect(
    name=NAME,
    title="ms-swift rows",
    aliases=("swift", "modelscope"),
    specification="the custom data sets of ms-swift 4.6; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=RULES,
    conventions=(RESULTS,),
    lacks=LACKS,
    has=lacking.fields("message.weight message.label"),
    reasons={
        "message": "a result answers a call of the turn before it",
        "message.role": "a row has one instruction, before all turns",
        "message.grouping": "calls belong to the answer before them",
        "moved": "a result stands behind its call, in the order of the calls",
        "message.label": "the last answer is good or bad",
        "message.weight": "only an answer counts or not",
        "message.name": "messages have no name",
        "text": "a message holds one text",
        "reasoning": "a turn has one thought, before its text",
        "reasoning.metadata": "a thought is text only",
        **training.REASONS,
        **training.REASONS_OF_FILES,
        "document": "a row has no column for documents",
    },
    places={
        "tools": ("tools",),
        "message.label": ("..", "..", "label"),
        "message.weight": ("loss",),
        f"extras.{AROUND}": ("..",),
    },
)
