"""ATIF, the Agent Trajectory Interchange Format of Harbor: versions 1.0 to 1.8 are read, the newest is written.

Specification: harbor 0.25.0 (models/trajectories, utils/trajectory_validator); read 2026-11-22.

Quirks
- A step of an agent is one turn of its model with what it observed then: the results stand in it, a call and its
  result only in one step. A result that names no call answers one of its step, or none (terminals are observed so).
- A failure has no field: it is `is_error` in the `extra` of a result, with a status, and with `source_call_id` where
  the call is in no step or in another one.
- Every object forbids unknown keys. Facts about steps of agents may stand on no other step.
- Media are files beside the trajectory, or in the web. There is no signature of a thought.
- The trajectories of subagents stand in that of their caller, whose results refer to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.atif.steps import NAME, USAGE, Known, lift_step, referred, write_steps
from convcli.families.openai.messages import one_reasoning
from convcli.families.openai.request import lift_tool, write_tools
from convcli.kit import custom, fitting, lacking, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, carried_by, carry, extras_of, rest_of, without_nulls
from convcli.kit.values import paths
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Path, ToolResult, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import Survey, for_outputs
from convcli.wire import exact_json

VERSIONS = tuple(f"ATIF-v1.{minor}" for minor in range(9))
VERSION = VERSIONS[-1]
RUNS = "subagent_trajectories"
TRAJECTORY = Envelope(
    f"schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref extra {RUNS}",
    {"session_id": "id"},
    content=f"schema_version agent steps {RUNS}",
)
AGENT = Keys("name version model_name tool_definitions extra", carried="name version extra")
RUN = Keys("schema_version session_id trajectory_id agent steps")
NOBODY = {"name": "unknown", "version": "unknown"}
"""An agent of whom nothing is known; a trajectory names it."""


def detect(document: Any) -> Clue | None:
    """By the version of the schema."""
    version = document.get("schema_version") if isinstance(document, dict) else None
    return Clue(99, "the version of ATIF") if isinstance(version, str) and version.startswith("ATIF-") else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a trajectory, with those of its subagents behind it."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    carried = TRAJECTORY.lift(document, transcript) or {}
    agent = document["agent"]
    transcript.model = agent.get("model_name") or None
    if agent.get("tool_definitions") is not None:
        definitions = enumerate(agent["tool_definitions"])
        transcript.tools = [lift_tool(tool, context, ("agent", "tool_definitions", i)) for i, tool in definitions]
    more = AGENT.carried(agent)
    transcript.extras = extras_of(NAME, {**({"agent": more} if more else {}), **carried})
    runs = document.get(RUNS) or ()
    _lift_steps(document, (), context)
    if runs:
        _chain(context.messages, "", context)
        transcript.head = next((one.id for one in reversed(context.messages) if one.id is not None), None)
        rest = [rest_of(run, "steps") for run in runs]
        carry(transcript, NAME, {RUNS: rest})
    for i, run in enumerate(runs):
        callers = {ref: result.tool_call_id for result in _results(context.messages) for ref in referred(result)}
        messages = _lift_steps(run, (RUNS, i), context)
        _chain(messages, f"{i + 1}.", context)
        for message in messages:
            message.parent_call_id = callers.get(run["trajectory_id"], run["trajectory_id"])
    return transcript


def _lift_steps(native: Native, place: Path, context: LiftContext) -> list[Message]:
    begin = len(context.messages)
    for i, step in enumerate(native["steps"]):
        lift_step(step, (*place, "steps", i), i + 1, context)
    return context.messages[begin:]


def _chain(messages: list[Message], prefix: str, context: LiftContext) -> None:
    """Each turn follows the one before it: a trajectory with subagents is no line, so its turns have ids."""
    parent = None
    for count, message in enumerate(messages, 1):
        if message.role != "tool" or count == 1:
            message.id, message.parent_id = f"{prefix}{count}", parent
            parent = message.id
            context.origin.invented.add(parent)


def _results(messages: list[Message]) -> list[ToolResult]:
    return [result for message in messages if (result := results.result_of(message)) is not None]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A trajectory of the newest version, with those of the subagents that calls began."""
    carried = dict(carried_by(transcript.extras, NAME))
    tools = write_tools(transcript, NAME).get("tools")
    stated = {"model_name": transcript.model, "tool_definitions": tools}
    agent = without_nulls(stated)
    agent = AGENT.put(agent, carried.pop("agent", NOBODY), sort=True)
    runs: dict[str, list[Message]] = {}
    for message in transcript.messages:
        if message.parent_call_id is not None:
            runs.setdefault(message.parent_call_id, []).append(message)
    known = Known(runs, transcript.origin.invented if transcript.origin is not None else ())
    refs = {one.tool_call_id: ref for one in _results(transcript.messages) for ref in referred(one)}
    rests = {run["trajectory_id"]: run for run in carried.pop(RUNS, ())}
    main = [message for message in active(transcript) if message.parent_call_id is None]
    content: Native = {"schema_version": VERSION, "agent": agent, "steps": write_steps(main, known)}
    embedded = [_write_run(refs.get(id_, id_), run, rests, agent, known) for id_, run in runs.items()]
    return TRAJECTORY.write(transcript, carried, **content, **({RUNS: embedded} if embedded else {}))


def _write_run(id_: str, messages: list[Message], rests: Native, agent: Native, known: Known) -> Native:
    """The trajectory of a subagent, with what is carried for it."""
    usual = {"schema_version": VERSION, "trajectory_id": id_, "agent": {key: agent[key] for key in NOBODY}}
    return RUN.put({**rests.get(id_, usual), "steps": write_steps(messages, known)}, None, sort=True)


# ---------------------------------------------------------------- rules and fit

PAIRED = links.paired(links.PairingRules(where="later", severity="warning", missing="warning"))


def _paired(survey: Survey) -> Iterator[Breach]:
    """Calls and results name each other; what an agent observes without a call names none."""
    for breach in PAIRED.check(survey):
        native = survey.native(breach.at) if breach.code == "orphan-tool-result" else None
        if not isinstance(native, dict) or native.get("source_call_id"):
            yield breach


def _of_known_version(survey: Survey) -> Iterator[Breach]:
    """Readers refuse versions that they do not know; what a later one adds is carried."""
    version = survey.document.get("schema_version") if isinstance(survey.document, dict) else None
    if version not in VERSIONS:
        problem = f"ATIF is known from {VERSIONS[0]} to {VERSION}: Harbor refuses another version"
        yield Breach(
            "unknown-value", NodeRef(steps=("schema_version",)), problem, "warning", "it is read as the newest"
        )


def _turn_of_agent(message: Message) -> Message:
    """Facts of a model stand on its turns only."""
    is_stated = message.role != "assistant" and (message.model, message.usage, message.cost) != (None, None, None)
    return replace(message, model=None, usage=None, cost=None) if is_stated else message


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """How data and a list of nothing are read back."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    return (kind, "") if result.kind == "multimodal" and not result.value else None


RESULTS = Convention(
    _express,
    {
        **dict.fromkeys(("data", "error"), ("changed", "an observation holds text: the data is written as JSON")),
        "multimodal": ("changed", "an observation of nothing is an empty text"),
    },
)
FIT = passes.fused(
    sessions.events(lambda _: False),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    results.separate_results,
    passes.on_messages(results.single_results),
    results.results_behind_calls,
    results.expressed(RESULTS),
    passes.on_each_message(_turn_of_agent),
    passes.on_each_message(one_reasoning),
    fitting.parts_in_roles({"reasoning": ("assistant",), "tool_call": ("assistant",)}),
    fitting.functions_only(NAME),
    custom.as_functions,
    fitting.as_read_back(lift, write, "trajectory"),
)

LACKS = (
    (lacking.SESSION - {"id"})
    | (lacking.MESSAGE - lacking.fields("message.createdAt message.usage"))
    | (lacking.FUNCTION_ONLY - {"tool.strict"})
    | lacking.METADATA
    | lacking.fields(
        "settings toolChoice refusal opaque video document reasoning.summary tool_call.rawArguments tool_result.name "
        "image.data image.fileId image.text image.name image.detail audio.data audio.fileId audio.text audio.name "
        "audio.detail"
    )
)

DIALECT = Dialect(
    name=NAME,
    title="ATIF",
    aliases=("harbor", "trajectory"),
    specification="harbor 0.25.0, ATIF 1.0 to 1.8; read 2026-11-22",
    framings=("document", "records"),
    forms=("trajectory",),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        Rule(PAIRED.codes, _paired),
        Rule(("unknown-value",), _of_known_version, of_input=("unknown-value",)),
        for_outputs(turns.some_message(of_any_role=True)),
    ),
    conventions=(RESULTS,),
    lacks=LACKS,
    has=lacking.fields("message.cost message.parentCallId"),
    reasons={
        "message.role": "a step is of the system, the user or the agent",
        "message.model": "only a step of the agent names a model",
        "message.usage": "a step counts the tokens of input, output and cache",
        "reasoning": "a step has one reasoning: several are joined by a blank line",
        "refusal": "a step has no field for a refusal: the words are written as text",
        "moved": "a step holds its text, its calls and what was observed, in this order",
        "tool_call": "only a step of the agent calls",
        **dict.fromkeys(lacking.MEDIA, "media are images and sounds in files or in the web, and of a known type"),
        f"extras.{NAME}.agent": "a trajectory names its agent",
    },
    places={
        **paths(
            "model=agent/model_name message.usage=metrics message.cost=metrics/cost_usd message.model=model_name "
            "tool_call.name=function_name tool_call.id=tool_call_id tool_result.toolCallId=source_call_id "
            "tool_result.value=content tool_result.kind=content tool_result.isError=extra/is_error "
            "tool_result.status=extra/status image.mediaType=source/media_type audio.mediaType=source/media_type "
            "image.path=source/path image.url=source/path audio.path=source/path audio.url=source/path "
            "tool.name=function/name tool.parameters=function/parameters tool.description=function/description "
            "tool.strict=function/strict"
        ),
        **{f"message.usage.{ours}": ("metrics", *path) for path, ours in USAGE.items()},
    },
)
