"""Vercel AI SDK: messages of user interfaces, as applications store them, and messages for models; version 4 is read.

Specification: package ai 7.0.173 (UIMessage, ModelMessage) and its version 4; read 2026-11-22.

Quirks
- A UI message holds several turns of a model, cut by `step-start`; a call and its result are one part of it, whose
  state says what came of it. Its `output` is whatever the tool returned; pieces are `{type: "content", value}`.
- The output of a model message says itself what it is: text, JSON, an error of either, pieces, or a denied execution.
- What providers want back (signatures, ids) is metadata, under the names of the providers.
- Input that is no JSON is a text, in older UI messages `rawInput`; traces write all input as text.
- Version 4 (`toolInvocations`, `args`, `result`) is read only.
- The form `roo` is that of a task of Roo Code (`version` 2), which keeps messages for a model.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.vercel_ai import model, roo, shown
from convcli.dialects.vercel_ai.parts import NAME, lift_shown, shown_error, write_shown
from convcli.kit import custom, fitting, lacking, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Text, ToolResult, Transcript
from convcli.validation.rules import arguments, links, turns
from convcli.validation.survey import for_outputs
from convcli.wire import exact_json

DOCUMENT = Keys("messages")
TASK = Keys("version messages", carried="version")
MARKS = ("step-start", "dynamic-tool", "tool-invocation")
CALLS = ("tool-call", "tool-result", "tool-approval-request", "tool-approval-response")


def detect(document: Any) -> Clue | None:
    """By parts of tools and steps, by calls of version 4, or by calls in a content."""
    natives = document.get("messages") if isinstance(document, dict) else document
    if roo.is_task(document):
        return Clue(97, "version 2 of a task of Roo Code")
    if not isinstance(natives, list) or not all(isinstance(native, dict) and "role" in native for native in natives):
        return None
    return max(filter(None, map(_mark, natives)), default=None)


def _mark(native: Native) -> Clue | None:
    parts, content = (_objects(native.get(key)) for key in ("parts", "content"))
    if any(one["type"] in MARKS or (one["type"].startswith("tool-") and "toolCallId" in one) for one in parts):
        return Clue(98, "parts of steps and tools")
    if any(one["type"] in CALLS and "toolCallId" in one for one in content):
        return Clue(98, "calls with a toolCallId")
    if _objects(native.get("toolInvocations"), "toolCallId"):
        return Clue(97, "toolInvocations")
    return Clue(92, "parts with a type and a text") if any(isinstance(one.get("text"), str) for one in parts) else None


def _objects(items: Any, key: str = "type") -> list[Native]:
    listed = items if isinstance(items, list) else []
    return [item for item in listed if isinstance(item, dict) and isinstance(item.get(key), str)]


# ---------------------------------------------------------------- lift and write


def lift(document: Any) -> Transcript:
    """The transcript of a list of messages, alone or in an object."""
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
    carried = DOCUMENT.carried(document) if isinstance(document, dict) else None
    return context.transcript(extras=extras_of(NAME, carried))


def _is_older(native: Native) -> bool:
    """Is it a message of a user interface of version 4, whose content is a text?"""
    return "id" in native and isinstance(native.get("content"), str)


def form_of(transcript: Transcript) -> str:
    """A task of Roo Code where the version of one is carried, else messages for a model."""
    return "roo" if carried_by(transcript.extras, NAME).get("version") == roo.VERSION else "model"


def write(transcript: Transcript, options: Options) -> Any:
    """Messages for a model, or those of a user interface; in an object where there is something beside them."""
    if options.form == "roo":
        carried = {"version": roo.VERSION, **carried_by(transcript.extras, NAME)}
        return TASK.put({"messages": roo.write_rows(transcript.messages)}, carried, sort=True)
    natives = (shown if options.form == "ui" else model).write_messages(transcript.messages)
    carried = carried_by(transcript.extras, NAME)
    return DOCUMENT.put({"messages": natives}, carried) if carried else natives


# ---------------------------------------------------------------- fit


def _one_text(message: Message) -> Message:
    """Instructions are one text."""
    if message.role != "system" or (len(message.parts) == 1 and isinstance(message.parts[0], Text)):
        return message
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Text))
    return message if not message.parts else replace(message, parts=[Text(text)] if text else [])


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """How a UI message gives a result back."""
    if result.kind == "error" or result.is_error:
        text = shown_error(result)
        is_whole = result.kind == "error" or result.kind == "data"
        return ("error", text) if result.kind != "error" and is_whole else None
    kind, value = lift_shown(write_shown(result), LiftContext(NAME, None))
    same = kind == result.kind and (kind == "multimodal" or exact_json.exact(value, result.value))
    return None if same else (kind, value)


SHOWN = Convention(
    _express,
    {
        "data": ("changed", "the output of a UI message that is a text is always text"),
        "error": ("changed", "a failure of a UI message is a text: the data is written as JSON"),
        "multimodal": ("changed", "the output of a UI message has no field for a failure"),
    },
)
BOTH = (
    fitting.linear,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    results.separate_results,
    passes.on_messages(results.single_results),
    custom.as_functions,
    fitting.parts_in_roles({"reasoning": ("assistant",), "tool_call": ("assistant",)}),
    passes.on_each_message(_one_text),
)
NO_INSTRUCTIONS = passes.on_each_message(lambda message: None if message.role == "system" else message)
FIT = {
    "roo": (*BOTH, NO_INSTRUCTIONS, fitting.as_read_back(lift, write, "roo")),
    "model": (*BOTH, fitting.as_read_back(lift, write, "model")),
    "ui": (*BOTH, results.results_behind_calls, results.expressed(SHOWN), fitting.as_read_back(lift, write, "ui")),
}

LACKS = (
    (lacking.SESSION | lacking.REQUEST | lacking.TOOLS | lacking.MESSAGE)
    | lacking.fields("refusal reasoning.summary tool_result.metadata")
    | frozenset(f"{kind}.{name}" for kind in lacking.MEDIA for name in ("detail", "fileId", "path", "text"))
)

DIALECT = Dialect(
    name=NAME,
    title="Vercel AI SDK",
    aliases=("ai-sdk", "vercel", "ui-messages"),
    specification="package ai 7.0.173, and 4; read 2026-11-22",
    framings=("document", "records"),
    forms=("model", "ui", "roo"),
    form_of=form_of,
    has=frozenset(("message.replaces",)),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        links.paired(links.PairingRules(where="later")),
        arguments.readable(),
        for_outputs(turns.some_message(of_any_role=True)),
    ),
    conventions=(SHOWN,),
    lacks={
        "model": LACKS | {"message.replaces"},
        "ui": LACKS - {"message.id"} | {"message.replaces"},
        "roo": LACKS - {"message.createdAt", "reasoning.summary"},
    },
    reasons={
        "message.role": "there is only one role for instructions",
        "message.id": "a UI message has an id, and a message for a model has none",
        "message.createdAt": "only Roo Code keeps times: milliseconds since 1970",
        "message.replaces": "only Roo Code marks a summary, which stands for all that came before it",
        "tool_result": "a UI message keeps a result in the part of its call",
        "tool_result.status": "a result is there, or denied",
        "tool_result.isError": "an output of several pieces has no field for a failure",
        "text": "instructions are one text, and Roo Code brings its own",
        "message": "Roo Code brings its own instructions",
        "refusal": "there is no part for a refusal: it is written as text",
        "metadata": "only what known providers want back has a place",
        **dict.fromkeys(lacking.MEDIA, "media are data or an address of a known type"),
    },
    places={
        **paths(
            "tool_call.id=toolCallId tool_call.name=toolName tool_call.arguments=input tool_call.rawArguments=input "
            "tool_result.toolCallId=toolCallId tool_result.name=toolName tool_result.value=output "
            "tool_result.kind=output tool_result.isError=output tool_result.status=output extras.message=.."
        )
    },
)
