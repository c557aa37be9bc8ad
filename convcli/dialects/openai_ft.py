"""OpenAI fine-tuning rows: conversations, preference pairs, and questions for reinforcement.

Specification: "Model optimization" (supervised, direct preference, reinforcement) of the API reference, messages and
tools as typed by the Python SDK `openai` 3.54.0; read 2026-11-22.

Quirks
- Messages and tools are those of Chat Completions, but a row has no model and no settings but `parallel_tool_calls`.
- `weight` sets whether an assistant message is trained: 0 or 1.
- A pair has one assistant message on each side, and no other keys.
- A row for reinforcement ends with the question, and has keys of its own for the grader.
- A row has no field for reasoning, which is not trained.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.families.openai import messages as common
from convcli.families.openai import rules
from convcli.families.openai.fitting import NO_REASONING, ROW_RESULTS, of_requests
from convcli.families.openai.parts import parts_of
from convcli.families.openai.request import lift_tools, write_tools
from convcli.families.openai.tables import ANSWERED, MEDIA, OF_CALLS, REASONS
from convcli.families.rows.pairs import StoredFields, first_answer, is_pair, lift_pair, on_both, pair_of
from convcli.families.rows.training import answered, no_empty_answers
from convcli.families.rows.weights import BINARY, binary_weight
from convcli.kit import custom
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import drop_empty_tools, keep_functions, without
from convcli.kit.objects import Keys, Native, as_object, drop_extras, get_extras, make_extras, omit
from convcli.kit.passes import fused, on_each_message
from convcli.kit.settings import Settings, in_snake_case
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, TOOLS, fields
from convcli.model.branches import active
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, PartPaths, Transcript
from convcli.validation.survey import Survey

NAME = "openai-ft"
MESSAGES, PREFERENCE, REINFORCEMENT = "messages", "preference", "reinforcement"
INPUT, PREFERRED, OTHER = "input", "preferred_output", "non_preferred_output"
SIDES = (PREFERRED, OTHER)
ROW = Keys("messages tools parallel_tool_calls functions")
PAIR = Keys("input preferred_output non_preferred_output")
MESSAGE = Keys("role tool_call_id name content refusal tool_calls function_call weight")
SETTINGS = Settings(in_snake_case("parallel_tool_calls"))


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads a row; a preference pair becomes a tree."""
    context = LiftContext(NAME, document)
    if document.get(INPUT) is not None:
        return _lift_pair(document, context)
    context.each(document["messages"], ("messages",), lift_message)
    roles = [message.role for message in context.messages]
    context.origin.form = MESSAGES if "assistant" in roles or roles[-1:] != ["user"] else REINFORCEMENT
    return _transcript(document, context)


def _lift_pair(document: Native, context: LiftContext) -> Transcript:
    context.origin.form = PREFERENCE
    question = document[INPUT]
    sides = context, LiftContext(NAME, document)
    for side_context, side in zip(sides, SIDES, strict=True):
        side_context.each(question["messages"], (INPUT, "messages"), lift_message)
        side_context.each(document[side], (side,), lift_message)
    context.origin.routes = {(key,): (INPUT, key) for key in ("tools", "functions", "parallel_tool_calls")}
    transcript = _transcript(question, context, lift_pair(*sides))
    inner, outer = get_extras(transcript.extras, NAME), PAIR.extra(document) or {}
    transcript.extras = make_extras(NAME, {**outer, **({INPUT: inner} if inner else {})})
    return transcript


def _transcript(native: Native, context: LiftContext, head: str | None = None) -> Transcript:
    settings, extra = SETTINGS.lift(native)
    tools = lift_tools(native, context)
    extra = {**(ROW.extra(native) or {}), **extra}
    return context.transcript(tools=tools, settings=settings or None, head=head, extras=make_extras(NAME, extra))


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a message or a tool result, with its training weight."""
    if "weight" not in native:
        return common.lift_any(native, context)
    message, part_paths = common.lift_any(omit(native, "weight"), context)
    message.weight = native["weight"]
    return message, part_paths


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """Returns the preference form for a pair, and the reinforcement form for a question alone."""
    if is_pair(transcript):
        return PREFERENCE
    roles = [message.role for message in active(transcript)]
    return MESSAGES if "assistant" in roles or roles[-1:] != ["user"] else REINFORCEMENT


def _drop_answers(transcript: Transcript) -> Transcript:
    """Drops everything after the last question: the model is to produce it."""
    messages = transcript.messages
    last = max((i for i, message in enumerate(messages) if message.role == "user"), default=len(messages) - 1)
    return transcript if last == len(messages) - 1 else replace(transcript, messages=messages[: last + 1])


def _drop_keys(*keys: str) -> Pass:
    """Drops the keys of other forms."""

    return lambda transcript: drop_extras(transcript, NAME, *keys)


CONVERSATION = fused(
    NO_REASONING,
    *of_requests(NAME, ROW_RESULTS),
    on_each_message(binary_weight),
    keep_functions(NAME),
    custom.as_functions,
    drop_empty_tools,
    SETTINGS.fits,
)
ALONE = (*CONVERSATION, without("message.label"), _drop_keys(INPUT, *SIDES))
SUPPORTS = TEXTS | TOOLS | CALLS | OPAQUE | SETTINGS.supports() | MEDIA | ANSWERED
SUPPORTS |= fields("message.name message.weight refusal.text tool.strict tool_call.rawArguments")
FIT = {
    MESSAGES: ALONE,
    PREFERENCE: (
        on_both(*CONVERSATION, stored=StoredFields(NAME, SUPPORTS), answer=first_answer),
        _drop_keys(*SIDES),
    ),
    REINFORCEMENT: (*ALONE, _drop_answers),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a row with its messages, or a pair."""
    extra = get_extras(transcript.extras, NAME)
    messages = [_write_message(message) for message in transcript.messages]
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    if pair is None:
        return _row(transcript, messages, extra)
    fork, end = len(pair.prompt), len(pair.prompt) + len(pair.chosen)
    inner = extra.get(INPUT, {})
    question = _row(transcript, messages[:fork], as_object(inner))
    outer = omit(extra, INPUT)
    return PAIR.put({INPUT: question, PREFERRED: messages[fork:end], OTHER: messages[end:]}, outer)


def _row(transcript: Transcript, messages: list[Native], extra: Native) -> Native:
    native = {"messages": messages, **write_tools(transcript, NAME)}
    native |= SETTINGS.write(transcript.settings or {}, extra)
    return ROW.put(native, SETTINGS.rest(extra))


def _write_message(message: Message) -> Native:
    native = common.write_message(message, NAME)
    return native if message.weight is None else MESSAGE.put({**native, "weight": message.weight}, None, sort=True)


# ---------------------------------------------------------------- rules


def _weights_allowed() -> Rule:
    """Reports weights other than 0 or 1, or of messages other than the assistant's."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages):
            weight = message.weight
            if weight is None or (message.role == "assistant" and type(weight) is int and weight in BINARY.values()):
                continue
            problem = "must be 0 or 1" if message.role == "assistant" else "belongs on an assistant message"
            yield Breach("bad-weight", NodeRef(i, field="message.weight"), f"a weight {problem}")

    return Rule(("bad-weight",), check)


def _pair_complete() -> Rule:
    """Reports pairs with several messages on one side, or with other keys."""

    def check(survey: Survey) -> Iterator[Breach]:
        for key, value in survey.document.items() if survey.form == PREFERENCE else ():
            if key not in (INPUT, *SIDES) and value is not None:
                yield Breach("key-beside-pair", NodeRef(steps=(key,)), "a preference pair has no such key")
        for side in SIDES if survey.form == PREFERENCE else ():
            count = len(survey.document[side])
            if count > 1:
                yield Breach("several-answers", NodeRef(steps=(side,)), f"an output must be one message, not {count:,}")

    return Rule(("key-beside-pair", "several-answers"), check)


DIALECT = Dialect(
    name=NAME,
    title="OpenAI fine-tuning rows",
    aliases=("fine-tuning", "finetuning", "openai-finetuning", "openai-dpo", "openai-sft", "openai-rft"),
    is_training=True,
    form_columns=("messages", "input", "preferred_output", "non_preferred_output"),
    specification="OpenAI fine-tuning guides and API reference; Python SDK openai 3.54.0; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE, REINFORCEMENT),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=(
        *rules.MESSAGES,
        *rules.TOOLS,
        _weights_allowed(),
        answered(MESSAGES),
        no_empty_answers(or_null=False),
        _pair_complete(),
    ),
    conventions=(ROW_RESULTS,),
    supports={MESSAGES: SUPPORTS, REINFORCEMENT: SUPPORTS, PREFERENCE: SUPPORTS | {"message.label"}},
    reasons={
        **REASONS,
        "reasoning": "fine-tuning rows have no reasoning field",
        "message.weight": "only assistant messages have a weight, 0 or 1",
        "message.label": "only a preference pair marks messages as chosen or rejected",
        "settings": "a row has no request settings except parallel_tool_calls",
        "model": "the fine-tuning job names the model, not the row",
        "toolChoice": "a row has no tool choice",
        "message.usage": "a row has no usage",
        "message.stopReason": "a row has no stop reason",
        "video": "fine-tuning rows have no video",
    },
    places={
        **OF_CALLS,
        **SETTINGS.places(),
        "message.weight": ("weight",),
        **parts_of(NAME).places(),
        "extras.input": ("input",),
    },
)
