"""Rows for fine-tuning at OpenAI: conversations, pairs of preference, and questions for reinforcement.

Specification: "Model optimization" (supervised, direct preference, reinforcement) of the API reference, messages and
tools as typed by the Python SDK `openai` 3.54.0; read 2026-11-22.

Quirks
- Messages and tools are those of Chat Completions, but a row has no model and no settings but `parallel_tool_calls`.
- `weight` says whether a turn of the assistant is trained: 0 or 1.
- A pair has one turn of the assistant on each side, and nothing beside what it is made of.
- A row for reinforcement ends with the question, and holds keys of its own for the grader.
- Nothing is trained of reasoning, for which a row has no field.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.families.openai import messages as common
from convcli.families.openai import rules
from convcli.families.openai.fitting import NO_REASONING, RESULTS, of_requests
from convcli.families.openai.request import lift_tools, write_tools
from convcli.families.openai.tables import CALLS, LACKING, REASONS
from convcli.families.rows.pairs import first_answer, is_pair, lift_pair, on_both, pair_of
from convcli.families.rows.training import answered, no_empty_answers
from convcli.families.rows.weights import BINARY, binary_weight
from convcli.kit import custom, lacking
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import functions_only, some_tools, without
from convcli.kit.objects import Keys, Native, as_object, carried_by, extras_of, objects_in, omit, without_carried
from convcli.kit.passes import fused, on_each_message
from convcli.kit.settings import Settings, in_snake_case
from convcli.model.branches import active
from convcli.model.dialect import Clue, Dialect, Options, Pass
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Spots, Transcript
from convcli.validation.survey import Survey

NAME = "openai-ft"
MESSAGES, PREFERENCE, REINFORCEMENT = "messages", "preference", "reinforcement"
INPUT, PREFERRED, OTHER = "input", "preferred_output", "non_preferred_output"
SIDES = (PREFERRED, OTHER)
ROW = Keys("messages tools parallel_tool_calls functions")
PAIR = Keys("input preferred_output non_preferred_output")
MESSAGE = Keys("role tool_call_id name content refusal tool_calls function_call weight")
SETTINGS = Settings(in_snake_case("parallel_tool_calls"))


def detect(document: Any) -> Clue | None:
    """By two outputs, by weights of turns, or by what a request has beside messages and tools, and this one has not.

    Messages alone look like a request of Chat Completions: that they can be a row counts beside rows that say more.
    """
    if not isinstance(document, dict) or "model" in document:
        return None
    if isinstance(document.get(INPUT), dict) and PREFERRED in document:
        return Clue(97, "an input and its preferred output")
    messages = document.get("messages")
    listed = objects_in(messages)
    answers = [one for one in listed if one.get("role") == "assistant"]
    if any(_is_weight(one.get("weight")) for one in answers):
        return Clue(93, "turns of the assistant with a weight")
    told = {key for key, value in document.items() if value is not None}
    if not answers or not told <= {"messages", "tools", "functions", "parallel_tool_calls"}:
        return None
    if isinstance(document.get("parallel_tool_calls"), bool):
        return Clue(92, "messages with parallel_tool_calls, and no model")
    tools, functions = document.get("tools"), document.get("functions")
    are_functions = isinstance(tools, list) and all(isinstance(tool, dict) and "function" in tool for tool in tools)
    if (tools and are_functions) or (functions and isinstance(functions, list)):
        return Clue(91, "messages and tools, and no model")
    return Clue(6, "messages and nothing of a request")


def _is_weight(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The conversation of a row; that of a pair is a tree."""
    context = LiftContext(NAME, document)
    if document.get(INPUT) is not None:
        return _lift_pair(document, context)
    context.each(document["messages"], ("messages",), lift_message)
    roles = [message.role for message in context.messages]
    context.origin.form = MESSAGES if "assistant" in roles or roles[-1:] != ["user"] else REINFORCEMENT
    return _transcript(document, context)


def _lift_pair(document: Native, context: LiftContext) -> Transcript:
    context.origin.form = PREFERENCE
    asked = document[INPUT]
    lines = context, LiftContext(NAME, document)
    for line, side in zip(lines, SIDES, strict=True):
        line.each(asked["messages"], (INPUT, "messages"), lift_message)
        line.each(document[side], (side,), lift_message)
    context.origin.routes = {(key,): (INPUT, key) for key in ("tools", "functions", "parallel_tool_calls")}
    transcript = _transcript(asked, context, lift_pair(*lines))
    inside, beside = carried_by(transcript.extras, NAME), PAIR.carried(document) or {}
    transcript.extras = extras_of(NAME, {**beside, **({INPUT: inside} if inside else {})})
    return transcript


def _transcript(native: Native, context: LiftContext, head: str | None = None) -> Transcript:
    settings, carried = SETTINGS.lift(native)
    offered = lift_tools(native, context)
    carried = {**(ROW.carried(native) or {}), **carried}
    return context.transcript(tools=offered, settings=settings or None, head=head, extras=extras_of(NAME, carried))


def lift_message(native: Native, context: LiftContext) -> tuple[Message, Spots]:
    """A turn or a result, with its weight in training."""
    if "weight" not in native:
        return common.lift_any(native, context)
    message, spots = common.lift_any(omit(native, "weight"), context)
    message.weight = native["weight"]
    return message, spots


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """A pair where there is one; a question alone is for reinforcement."""
    if is_pair(transcript):
        return PREFERENCE
    roles = [message.role for message in active(transcript)]
    return MESSAGES if "assistant" in roles or roles[-1:] != ["user"] else REINFORCEMENT


def _asked(transcript: Transcript) -> Transcript:
    """What comes behind the last question is what the model is to find."""
    messages = transcript.messages
    last = max((i for i, message in enumerate(messages) if message.role == "user"), default=len(messages) - 1)
    return transcript if last == len(messages) - 1 else replace(transcript, messages=messages[: last + 1])


def _without(*keys: str) -> Pass:
    """No key of another form stands beside what is written."""

    return lambda transcript: without_carried(transcript, NAME, *keys)


CONVERSATION = fused(
    NO_REASONING,
    *of_requests(NAME),
    on_each_message(binary_weight),
    functions_only(NAME),
    custom.as_functions,
    some_tools,
    SETTINGS.fits,
)
ALONE = (*CONVERSATION, without("message.label"), _without(INPUT, *SIDES))
FIT = {
    MESSAGES: ALONE,
    PREFERENCE: (on_both(*CONVERSATION, answer=first_answer), _without(*SIDES)),
    REINFORCEMENT: (*ALONE, _asked),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A row with its messages, or a pair."""
    carried = carried_by(transcript.extras, NAME)
    messages = [_write_message(message) for message in transcript.messages]
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    if pair is None:
        return _row(transcript, messages, carried)
    fork, end = len(pair.prompt), len(pair.prompt) + len(pair.chosen)
    inside = carried.get(INPUT, {})
    asked = _row(transcript, messages[:fork], as_object(inside))
    beside = omit(carried, INPUT)
    return PAIR.put({INPUT: asked, PREFERRED: messages[fork:end], OTHER: messages[end:]}, beside)


def _row(transcript: Transcript, messages: list[Native], carried: Native) -> Native:
    native = {"messages": messages, **write_tools(transcript, NAME)}
    native |= SETTINGS.write(transcript.settings or {}, carried)
    return ROW.put(native, SETTINGS.rest(carried))


def _write_message(message: Message) -> Native:
    native = common.write_message(message, NAME)
    return native if message.weight is None else MESSAGE.put({**native, "weight": message.weight}, None, sort=True)


# ---------------------------------------------------------------- rules


def _weighed() -> Rule:
    """A row says of turns of the assistant alone whether they are learned: 0 or 1."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages):
            weight = message.weight
            if weight is None or (message.role == "assistant" and type(weight) is int and weight in BINARY.values()):
                continue
            problem = "is 0 or 1" if message.role == "assistant" else "is that of a turn of the assistant"
            yield Breach("bad-weight", NodeRef(i, field="message.weight"), f"a weight {problem}")

    return Rule(("bad-weight",), check)


def _closed() -> Rule:
    """A pair has one turn on each side, and nothing beside what it is made of."""

    def check(survey: Survey) -> Iterator[Breach]:
        for key, value in survey.document.items() if survey.form == PREFERENCE else ():
            if key not in (INPUT, *SIDES) and value is not None:
                yield Breach("key-beside-pair", NodeRef(steps=(key,)), "a pair of preference has no such key")
        for side in SIDES if survey.form == PREFERENCE else ():
            count = len(survey.document[side])
            if count > 1:
                yield Breach("several-answers", NodeRef(steps=(side,)), f"an output is one message; here are {count:,}")

    return Rule(("key-beside-pair", "several-answers"), check)


LACKS = (
    LACKING
    | lacking.SESSION
    | lacking.fields(
        "model toolChoice reasoning metadata video image.mediaType audio.name audio.detail document.detail "
        "document.mediaType tool_result.name message.usage message.stopReason"
    )
    | lacking.settings_but(*SETTINGS.names())
)
UNLABELLED = LACKS | {"message.label"}

DIALECT = Dialect(
    name=NAME,
    title="OpenAI fine-tuning rows",
    aliases=("fine-tuning", "finetuning", "openai-finetuning", "openai-dpo", "openai-sft", "openai-rft"),
    specification="fine-tuning guides and API reference of OpenAI, Python SDK openai 3.54.0; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE, REINFORCEMENT),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=(*rules.MESSAGES, *rules.TOOLS, _weighed(), answered(MESSAGES), no_empty_answers(or_null=False), _closed()),
    conventions=(RESULTS,),
    lacks={MESSAGES: UNLABELLED, PREFERENCE: LACKS, REINFORCEMENT: UNLABELLED},
    has=lacking.fields("message.weight message.label"),
    reasons={
        **REASONS,
        "reasoning": "rows for fine-tuning have no field for reasoning",
        "message.weight": "a weight is 0 or 1, and that of a turn of the assistant",
        "message.label": "a row alone is neither chosen nor rejected",
        "settings": "a row has no settings of a request but parallel_tool_calls",
        "model": "a row names no model: the job does",
        "toolChoice": "a row does not say which tools may be called",
        "message.usage": "a row has no usage",
        "message.stopReason": "a row has no stop reason",
        "video": "rows for fine-tuning hold no video",
    },
    places={
        **CALLS,
        **SETTINGS.places(),
        "message.weight": ("weight",),
        "image.detail": ("image_url", "detail"),
        "document.name": ("file", "filename"),
        "extras.input": ("input",),
    },
)
