"""Google's Interactions API: requests, responses and bare lists of steps.

Specification: `CreateModelInteraction`, `CreateAgentInteraction` and `Interaction` of the Python SDK `google-genai`
3.6.1, and the guide (https://ai.google.dev/gemini-api/docs/interactions); read 2026-11-27.

Quirks
- The conversation is a list of steps. Unlike generateContent, calls and results have ids, results have a failure flag,
  and thoughts are steps with a signature.
- `input` is a text, one content, a list of contents, or a list of steps. Older requests have turns with a role, older
  responses `outputs` in place of steps: both are read.
- A request with `previous_interaction_id` continues a stored interaction, whose steps it does not repeat.
- Tools that Google runs are steps of their own; they are kept unchanged.
- `system_instruction` is one text. Steps have no other instructions.
- `response_format` is a schema in an object. Older requests have the schema itself.
- A result is text, an object or a list of contents: convcli writes other data as JSON.
- The status `completed` does not include interactions that wait for results (`requires_action`).
- `total_output_tokens` excludes thoughts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.google.config import JSON_TYPE, TIERS
from convcli.families.google.rules import READABLE_SIGNATURES
from convcli.families.interactions import facts
from convcli.families.interactions.fitting import (
    MESSAGES,
    NAMES,
    RESULTS,
    one_instruction,
    without_instructions,
)
from convcli.families.interactions.response import lift_response, write_response
from convcli.families.interactions.steps import StepReader, StepWriter
from convcli.families.openai import request as common
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import Definitions, kept_whole, whole_of
from convcli.kit.objects import Keys, Native, as_object, get_extras, make_extras, without_nulls
from convcli.kit.settings import EFFORT, Setting, Settings
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.rule import Breach, Rule
from convcli.model.transcript import Message, Text, ToolChoice, ToolDefinition, Transcript
from convcli.validation.rules import keys, links, models, names, tools, turns
from convcli.validation.survey import Survey, for_outputs

NAME = "gemini-interactions"

REQUEST = Keys(
    "model= agent input= system_instruction= tools= generation_config= response_format= response_modalities= "
    "previous_interaction_id store= stream= service_tier="
)
DEFINITIONS = Definitions("type= name=name description=description parameters=parameters")
LEVELS = fields("minimal low medium high xhigh")
MODALITIES = fields("text image audio video document")


# ---------------------------------------------------------------- tools and settings


def _lift_tools(native: Native, context: LiftContext) -> list[ToolDefinition] | None:
    """Reads function definitions; a tool that Google runs is kept whole as an extra."""
    if native.get("tools") is None:
        return None
    context.origin.tools = [("tools", i) for i in range(len(native["tools"]))]
    return [_lift_tool(tool) for tool in native["tools"]]


def _lift_tool(native: Native) -> ToolDefinition:
    is_function = native["type"] == "function" and isinstance(native.get("name"), str)
    return DEFINITIONS.lift(native, NAME) if is_function else kept_whole(native["type"], native, NAME)


def _write_tool(tool: ToolDefinition) -> Native:
    return whole_of(tool, NAME) or DEFINITIONS.write(tool, NAME, type="function")


MODES = {"auto": "auto", "none": "none", "any": "required", "validated": "auto"}
MODE_OF = {"auto": "auto", "none": "none", "required": "any"}


def _lift_choice(native: Any) -> ToolChoice | None:
    allowed = as_object(as_object(native).get("allowed_tools"))
    named = [name for name in allowed.get("tools") or () if isinstance(name, str)]
    mode = native if isinstance(native, str) else allowed.get("mode")
    if named and mode == "any":
        return {"name": named[0]} if len(named) == 1 else {"names": named}
    return MODES.get(str(mode))


def _write_choice(choice: ToolChoice) -> Any:
    if isinstance(choice, str):
        return MODE_OF[choice]
    named = [choice["name"]] if "name" in choice else choice["names"]
    return {"allowed_tools": {"mode": "any", "tools": named}}


def _lift_format(native: Any) -> Native | None:
    if not isinstance(native, dict) or native.get("type") in ("audio", "image", "video"):
        return None
    if native.get("type") != "text":
        return {"type": "json_schema", "schema": native}
    kind, schema = native.get("mime_type"), native.get("schema")
    if isinstance(schema, dict):
        return {"type": "json_schema", "schema": schema} if kind in (None, JSON_TYPE) else None
    return {"type": "json" if kind == JSON_TYPE else "text"} if kind in (None, JSON_TYPE, "text/plain") else None


def _write_format(format_: Native) -> Native | None:
    kind, schema = format_.get("type"), format_.get("schema")
    if kind not in ("json_schema", "json", "text"):
        return None
    media_type = "text/plain" if kind == "text" else JSON_TYPE
    return {"type": "text", "mime_type": media_type, **({"schema": schema} if isinstance(schema, dict) else {})}


CHOICE = "toolChoice"
SETTINGS = Settings(
    {
        "generation_config/temperature": "temperature",
        "generation_config/top_p": "topP",
        "generation_config/seed": "seed",
        "generation_config/stop_sequences": "stop",
        "generation_config/max_output_tokens": "maxOutputTokens",
        "generation_config/thinking_level": Setting(
            EFFORT, lambda level: level if level in LEVELS else None, lambda level: level if level in LEVELS else None
        ),
        "generation_config/tool_choice": Setting(CHOICE, _lift_choice, _write_choice, partial=True),
        "response_format": Setting("responseFormat", _lift_format, _write_format, partial=True),
        "response_modalities": Setting(
            *("modalities", lambda kinds: kinds if MODALITIES.issuperset(kinds) else None),
            lambda kinds: kinds if MODALITIES.issuperset(kinds) else None,
        ),
        "store": "store",
        "stream": "stream",
        "service_tier": common.service_tier(TIERS),
    }
)
"""The settings of a request, and its tool choice, which is in the same object."""


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """Reads a request, a response or a list of steps."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = "list"
        StepReader(context).all(document, ())
        return context.transcript()
    return lift_response(document, context) if _is_response(document) else _lift_request(document, context)


def _is_response(document: Native) -> bool:
    return not document.keys().isdisjoint(("object", "steps", "outputs"))


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    context.origin.form = "request"
    if native.get("system_instruction"):
        context.add(Message("system", [Text(native["system_instruction"])]), ("system_instruction",), [()])
    StepReader(context).input(native.get("input"), ("input",))
    settings, extra = SETTINGS.lift(native)
    choice = settings.pop(CHOICE, None)
    return context.transcript(
        model=native.get("model") or None,
        tools=_lift_tools(native, context),
        tool_choice=choice,
        settings=settings or None,
        extras=make_extras(NAME, {**(REQUEST.extra(native) or {}), **extra}),
    )


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a request, a response or a list of steps."""
    if options.form == "response":
        return write_response(transcript, NAME)
    messages = transcript.messages
    if options.form == "list":
        return StepWriter(NAME).all(messages)
    extra = get_extras(transcript.extras, NAME)
    instruction = fitting.instruction_of(messages)
    choice = {} if transcript.tool_choice is None else {CHOICE: transcript.tool_choice}
    native = {
        "model": transcript.model,
        "system_instruction": instruction or None,
        "input": StepWriter(NAME).all(messages[1:] if instruction else messages),
        "tools": None if transcript.tools is None else [_write_tool(tool) for tool in transcript.tools],
        **SETTINGS.write({**(transcript.settings or {}), **choice}, extra),
    }
    return REQUEST.put(without_nulls(native), SETTINGS.rest(extra), sort=True)


FIT: dict[str, tuple[Pass, ...]] = {
    form: (
        *MESSAGES,
        fitting.arguments_as_objects,
        one_instruction if form == "request" else without_instructions,
        fitting.keep_functions(NAME),
        fitting.settle_by_reading_back(lift, write, form),
    )
    for form in ("request", "response", "list")
}


# ---------------------------------------------------------------- rules


def _paired(survey: Survey) -> Iterator[Breach]:
    """Reports unpaired calls; a request that continues an interaction does not repeat that interaction's calls."""
    is_continued = isinstance(survey.document, dict) and bool(survey.document.get("previous_interaction_id"))
    for breach in PAIRED.check(survey) if survey.form != turns.RESPONSE else ():
        if not (is_continued and breach.code == "orphan-tool-result"):
            yield breach


PAIRED = links.paired(links.PairingRules(where="later", unique="request"))
RULES = (
    models.of("Google"),
    keys.complete("model|agent input", "id status"),
    for_outputs(turns.some_message()),
    turns.decodable(),
    Rule(PAIRED.codes, _paired),
    links.same_names(),
    names.of_tools(NAMES),
    tools.chosen(alone=("auto", "none")),
    tools.unique(),
    READABLE_SIGNATURES,
)

DIALECT = Dialect(
    name=NAME,
    title="the Interactions API",
    aliases=("google-interactions", "interactions"),
    specification="Interactions API v1beta; Python SDK google-genai 3.6.1; read 2026-11-27",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=fitting.response_if_answered(),
    rules=RULES,
    conventions=(RESULTS,),
    supports={
        "request": facts.COMMON | facts.OF_REQUESTS | (SETTINGS.supports() - {f"settings.{CHOICE}"}),
        "response": facts.COMMON | facts.OF_RESPONSES,
        "list": facts.COMMON - {"extras"},
    },
    reasons={
        **facts.REASONS,
        "message.usage": "only a response has usage, and only as a whole",
        "message.stopReason": "only a response has a status, and only as a whole",
        "message.error": "only a response has errors, and only as a whole",
        "settings.reasoningEffort": "the levels of thinking are minimal, low, medium, high and xhigh",
        "settings.responseFormat": "the Interactions API supports only JSON or a schema",
        "settings.serviceTier": "the tiers are standard, flex and priority",
        "settings.topK": "the Interactions API has no top_k",
    },
    places={**facts.PLACES, **SETTINGS.places(), "toolChoice": ("generation_config", "tool_choice")},
    envelope=facts.ENVELOPE,
    repeats=frozenset(f"/{place}" for place in facts.REPEATS),
)
