"""Vercel AI SDK: UI messages, as applications store them, and model messages; version 4 is read-only.

Specification: package ai 7.0.173 (UIMessage, ModelMessage) and its version 4; read 2026-11-22.

Quirks
- A UI message has several model turns, separated by `step-start`; a call and its result are one part, whose state is
  the outcome. Its `output` is whatever the tool returned; pieces are `{type: "content", value}`.
- The output of a model message has a type: text, JSON, an error of either, pieces, or a denied execution.
- What providers want back (signatures, ids) is metadata, under the names of the providers.
- Input that is not JSON is a string, in older UI messages `rawInput`; traces write all input as strings.
- Version 4 (`toolInvocations`, `args`, `result`) is read-only.
- The form `roo` is that of a Roo Code task (`version` 2), which stores model messages.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.vercel_ai import model, roo
from convcli.dialects.vercel_ai.model import NAME
from convcli.families.ai_sdk import shown
from convcli.families.ai_sdk.fitting import COMMON, PLACES, REASONS, SUPPORTS, shown_results
from convcli.kit import fitting, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Transcript
from convcli.validation.rules import arguments, links, turns
from convcli.validation.survey import for_outputs

DOCUMENT = Keys("messages")
TASK = Keys("version messages=")


# ---------------------------------------------------------------- lift and write


def lift(document: Any) -> Transcript:
    """Reads a list of messages, alone or in an object."""
    context = LiftContext(NAME, document)
    natives, prefix = (document, ()) if isinstance(document, list) else (document["messages"], ("messages",))
    is_task = roo.is_task(document)
    for i, native in enumerate(natives):
        if is_task or roo.is_thought(native):
            roo.lift_row(native, (*prefix, i), context)
            continue
        is_shown = "parts" in native or "toolInvocations" in native or _is_older(native)
        (shown if is_shown else model).lift_message(native, (*prefix, i), context)
        context.origin.form = "ui" if is_shown else context.origin.form or "model"
    context.origin.form = "roo" if is_task else context.origin.form
    extra = DOCUMENT.extra(document) if isinstance(document, dict) else None
    return context.transcript(extras=make_extras(NAME, extra))


def _is_older(native: Native) -> bool:
    """True for a UI message of version 4, whose content is a string."""
    return "id" in native and isinstance(native.get("content"), str)


def form_of(transcript: Transcript) -> str:
    """Returns the Roo Code form if the extras have its version, else model messages."""
    return "roo" if get_extras(transcript.extras, NAME).get("version") == roo.VERSION else "model"


def write(transcript: Transcript, options: Options) -> Any:
    """Writes model or UI messages; in an object if it has other keys."""
    if options.form == "roo":
        extra = {"version": roo.VERSION, **get_extras(transcript.extras, NAME)}
        return TASK.put({"messages": roo.write_rows(transcript.messages)}, extra, sort=True)
    messages = transcript.messages
    natives = shown.write_messages(messages, NAME) if options.form == "ui" else model.write_messages(messages)
    extra = get_extras(transcript.extras, NAME)
    return DOCUMENT.put({"messages": natives}, extra) if extra else natives


# ---------------------------------------------------------------- fit

SHOWN = shown_results(NAME)
NO_INSTRUCTIONS = passes.on_each_message(lambda message: None if message.role == "system" else message)
FIT = {
    "roo": (
        fitting.keep_active_conversation,
        *COMMON,
        NO_INSTRUCTIONS,
        fitting.settle_by_reading_back(lift, write, "roo"),
    ),
    "model": (fitting.keep_active_conversation, *COMMON, fitting.settle_by_reading_back(lift, write, "model")),
    "ui": (
        fitting.keep_active_conversation,
        *COMMON,
        results.results_behind_calls,
        results.apply_convention(SHOWN),
        fitting.settle_by_reading_back(lift, write, "ui"),
    ),
}

DIALECT = Dialect(
    name=NAME,
    title="Vercel AI SDK",
    aliases=("ai-sdk", "vercel", "ui-messages"),
    specification="package ai 7.0.173, and 4; read 2026-11-22",
    framings=("document", "records"),
    forms=("model", "ui", "roo"),
    form_of=form_of,
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        links.paired(links.PairingRules(where="later")),
        arguments.readable(),
        for_outputs(turns.some_message(of_any_role=True)),
    ),
    conventions=(SHOWN,),
    supports={
        "model": SUPPORTS | {"tool_result.isError"},
        "ui": SUPPORTS | {"message.id"},
        "roo": SUPPORTS | fields("message.createdAt message.replaces reasoning.summary tool_result.isError"),
    },
    reasons={
        **REASONS,
        "message.role": "the AI SDK has only one role for instructions",
        "message.id": "only UI messages have an id",
        "message.createdAt": "only Roo Code stores times, in milliseconds since 1970",
        "message.replaces": "only Roo Code marks a summary, which replaces everything before it",
        "text": "instructions are one text, and Roo Code supplies its own",
        "message": "Roo Code supplies its own instructions",
    },
    places=PLACES,
)
