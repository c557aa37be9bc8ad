"""ATIF, the Agent Trajectory Interchange Format of Harbor: versions 1.0 to 1.8 are read, the newest is written.

Specification: harbor 0.25.0 (models/trajectories, utils/trajectory_validator); read 2026-11-22.

Quirks
- An agent step is one model turn with its observation: its calls and their results are in the same step. A result
  that names no call answers a call of its step, or none (terminals are observed like this).
- A failure has no field. convcli writes it as `is_error` in the `extra` of a result, with a status. It adds
  `source_call_id` if the call is in another step or in none.
- Every object forbids unknown keys. Keys for agent steps are not allowed in other steps.
- Media are files next to the trajectory, or on the web. Thoughts have no signature.
- Subagent trajectories are nested in the trajectory of their caller, whose results refer to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.atif.steps import CALL, NAME, STEP, USAGE, lift_step, referred, write_steps
from convcli.families.openai.messages import one_reasoning
from convcli.families.openai.request import lift_tool, write_tools
from convcli.families.openai.tables import OF_FUNCTIONS
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, add_extras, except_keys, get_extras, make_extras, without_nulls
from convcli.kit.supported import CALLS, TEXTS, TOOLS, counted, fields, media
from convcli.kit.values import paths, usage_places
from convcli.model.branches import active
from convcli.model.dialect import Convention, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS, Message, Path, ToolResult, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import Survey, for_outputs
from convcli.wire import exact_json

VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))
VERSION = VERSIONS[-1]
RUNS = "subagent_trajectories"
TRAJECTORY = Envelope(
    "schema_version= session_id=id trajectory_id agent= steps= notes final_metrics "
    f"continued_trajectory_ref extra {RUNS}="
)
AGENT = Keys("name version model_name= tool_definitions= extra")
RUN = Keys("schema_version session_id trajectory_id agent steps")
UNKNOWN_AGENT = {"name": "unknown", "version": "unknown"}
"""The agent of a trajectory if it is unknown; a trajectory must name one."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a trajectory, followed by those of its subagents."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    extra = TRAJECTORY.lift(document, transcript) or {}
    agent = document["agent"]
    transcript.model = agent.get("model_name") or None
    if agent.get("tool_definitions") is not None:
        definitions = enumerate(agent["tool_definitions"])
        transcript.tools = [lift_tool(tool, context, ("agent", "tool_definitions", i)) for i, tool in definitions]
    more = AGENT.extra(agent)
    transcript.extras = make_extras(NAME, {**({"agent": more} if more else {}), **extra})
    runs = document.get(RUNS) or ()
    _lift_steps(document, (), context)
    if runs:
        _chain(context.messages, "", context)
        transcript.head = next((one.id for one in reversed(context.messages) if one.id is not None), None)
        rest = [except_keys(run, "steps") for run in runs]
        add_extras(transcript, NAME, None, **{RUNS: rest})
    for i, run in enumerate(runs):
        callers = {ref: result.tool_call_id for result in _results(context.messages) for ref in referred(result)}
        messages = _lift_steps(run, (RUNS, i), context)
        _chain(messages, f"{i + 1}.", context)
        for message in messages:
            message.parent_call_id = callers.get(run["trajectory_id"], run["trajectory_id"])
    return transcript


def _lift_steps(native: Native, steps_path: Path, context: LiftContext) -> list[Message]:
    begin = len(context.messages)
    for i, step in enumerate(native["steps"]):
        lift_step(step, (*steps_path, "steps", i), i + 1, context)
    return context.messages[begin:]


def _chain(messages: list[Message], prefix: str, context: LiftContext) -> None:
    """Gives each message an id and a parent: a trajectory with subagents is not linear."""
    parent = None
    for count, message in enumerate(messages, 1):
        if message.role != "tool" or count == 1:
            message.id, message.parent_id = f"{prefix}{count}", parent
            parent = message.id
            context.origin.generated_ids.add(parent)


def _results(messages: list[Message]) -> list[ToolResult]:
    return [result for message in messages if (result := results.result_of(message)) is not None]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a trajectory of the newest version, with the subagent trajectories that calls began."""
    extra = dict(get_extras(transcript.extras, NAME))
    tools = write_tools(transcript, NAME).get("tools")
    stated = {"model_name": transcript.model, "tool_definitions": tools}
    agent = without_nulls(stated)
    agent = AGENT.put(agent, extra.pop("agent", UNKNOWN_AGENT), sort=True)
    runs: dict[str, list[Message]] = {}
    for message in transcript.messages:
        if message.parent_call_id is not None:
            runs.setdefault(message.parent_call_id, []).append(message)
    refs = {one.tool_call_id: ref for one in _results(transcript.messages) for ref in referred(one)}
    run_extras = {run["trajectory_id"]: run for run in extra.pop(RUNS, ())}
    main = [message for message in active(transcript) if message.parent_call_id is None]
    content: Native = {"schema_version": VERSION, "agent": agent, "steps": write_steps(main, runs)}
    embedded = [_write_run(refs.get(id_, id_), run, run_extras, agent, runs) for id_, run in runs.items()]
    return TRAJECTORY.write(transcript, extra, **content, **({RUNS: embedded} if embedded else {}))


def _write_run(
    id_: str, messages: list[Message], run_extras: Native, agent: Native, of_calls: Collection[str]
) -> Native:
    """Returns a subagent trajectory, with its extras."""
    usual = {"schema_version": VERSION, "trajectory_id": id_, "agent": {key: agent[key] for key in UNKNOWN_AGENT}}
    return RUN.put({**run_extras.get(id_, usual), "steps": write_steps(messages, of_calls)}, None, sort=True)


# ---------------------------------------------------------------- rules and fit

PAIRED = links.paired(links.PairingRules(where="later", severity="warning", missing="warning"))


def _paired(survey: Survey) -> Iterator[Breach]:
    """Reports calls and results that do not match, except observations that name no call."""
    for breach in PAIRED.check(survey):
        native = survey.native(breach.at) if breach.code == "orphan-tool-result" else None
        if not isinstance(native, dict) or native.get("source_call_id"):
            yield breach


def _of_known_version(survey: Survey) -> Iterator[Breach]:
    """Reports an unknown version, which readers reject; convcli keeps its unknown keys as extras."""
    version = survey.document.get("schema_version") if isinstance(survey.document, dict) else None
    if version not in VERSIONS:
        problem = f"Harbor rejects versions other than {VERSIONS[0]} to {VERSION}"
        yield Breach(
            "unknown-value",
            NodeRef(steps=("schema_version",)),
            problem,
            "warning",
            "convcli reads it as the newest version",
        )


def _drop_model_facts(message: Message) -> Message:
    """Drops a model, usage and cost from a message that is not the assistant's."""
    is_stated = message.role != "assistant" and (message.model, message.usage, message.cost) != (None, None, None)
    return replace(message, model=None, usage=None, cost=None) if is_stated else message


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value that data and an empty list are read back as."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    return (kind, "") if result.kind == "multimodal" and not result.value else None


RESULTS = Convention(
    _express,
    {
        **dict.fromkeys(("data", "error"), ("changed", "an ATIF observation is text: the data is written as JSON")),
        "multimodal": ("changed", "an empty observation is written as an empty string"),
    },
)
FIT = passes.fused(
    sessions.events(lambda _: False),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    results.separate_results,
    results.one_result_each,
    results.results_behind_calls,
    results.apply_convention(RESULTS),
    passes.on_each_message(_drop_model_facts),
    passes.on_each_message(one_reasoning),
    fitting.keep_parts_of_roles({"reasoning": ("assistant",), "tool_call": ("assistant",)}),
    fitting.keep_functions(NAME),
    custom.as_functions,
    fitting.settle_by_reading_back(lift, write, "trajectory"),
)


SUPPORTS = (
    TEXTS
    | TOOLS
    | CALLS
    | TRAJECTORY.supports()
    | STEP.supports("message")
    | media("image audio", "url path mediaType")
    | counted(USAGE)
)
SUPPORTS |= fields(
    "model message.cost message.parentCallId tool.strict reasoning.text tool_result.isError tool_result.status"
)

DIALECT = Dialect(
    name=NAME,
    title="ATIF",
    aliases=("harbor", "trajectory"),
    specification="harbor 0.25.0, ATIF 1.0 to 1.8; read 2026-11-22",
    framings=("document", "records"),
    forms=("trajectory",),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        Rule(PAIRED.codes, _paired),
        Rule(("unknown-value",), _of_known_version, of_input=("unknown-value",)),
        for_outputs(turns.some_message(of_any_role=True)),
    ),
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        "message.role": "the source of an ATIF step is system, user or agent",
        "message.model": "only an ATIF agent step names a model",
        "message.usage": "an ATIF agent step counts only input, output and cached tokens",
        "reasoning": "an ATIF step has one reasoning: several are joined by a blank line",
        "refusal": "ATIF has no field for a refusal: it is written as text",
        "moved": "an ATIF step has its text, its calls and its observation in this order",
        "tool_call": "only an ATIF agent step has calls",
        **dict.fromkeys(MEDIA_KINDS, "ATIF supports images and audio of known types, as file paths or URLs"),
        f"extras.{NAME}.agent": "an ATIF trajectory must name its agent",
    },
    places={
        **OF_FUNCTIONS,
        **CALL.places,
        **STEP.places("message"),
        **paths(
            "model=agent/model_name message.cost=metrics/cost_usd tool_result.toolCallId=source_call_id "
            "tool_result.value=content tool_result.kind=content tool_result.isError=extra/is_error "
            "tool_result.status=extra/status image.mediaType=source/media_type audio.mediaType=source/media_type "
            "image.path=source/path image.url=source/path audio.path=source/path audio.url=source/path"
        ),
        **usage_places(USAGE, "metrics"),
    },
)
