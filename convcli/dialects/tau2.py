"""τ²-bench: results of simulations (`data/simulations/*.json`), and single simulations; read-only.

Specification: src/tau2/data_model/message.py and simulation.py of sierra-research/tau2-bench at a2c02472; read
2026-11-28.

Quirks
- Each simulation is a transcript. Tasks and `info`, with the policy of the domain and its tools, are around all of
  them. A simulation that states its own policy begins with it.
- The simulated user has tools of its own. The agent sees neither its calls nor their results (`requestor`): both are
  events, since the conversation of the agent does not contain them.
- Arguments are an object. Several results may be one message (`tool_messages`).
- `raw_data` is the whole response of the model, which names the model. Times have no zone.
- Simulations by voice have `ticks` in place of messages. convcli does not read them.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import results
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import APART, Native, as_object, as_text, make_extras, omit
from convcli.kit.sessions import add_event
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths, take_counts
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Part, Path, Text, ToolResult, Transcript
from convcli.validation.rules import links

NAME = "tau2"
SIMULATION = Envelope(
    "id task_id timestamp start_time end_time duration termination_reason agent_cost user_cost agent_usage reward_info "
    "messages ticks trial seed mode speech_environment review user_only_review info auth_classification "
    "hallucination_retries_used hallucination_check provider_session_id policy effect_timeline",
    {"id": "id", "start_time": "created_at", "end_time": "updated_at"},
    content="messages policy",
)
MESSAGE = Envelope(
    "id role content tool_calls requestor error tool_messages is_audio turn_idx timestamp cost usage raw_data "
    "generation_time_seconds audio_format audio_path audio_script_gold speech_effects source_effects channel_effects "
    "turn_taking_action utterance_ids chunk_id is_final_chunk source contains_speech",
    {"timestamp": "created_at"},
    content="id role content tool_calls error tool_messages usage",
)
CALL = CallTable("id=id name=name arguments=arguments requestor", defaults={"requestor": "assistant"})
USUAL = {"requestor": "assistant", "is_audio": False, "is_final_chunk": True, "contains_speech": True}
"""What the program writes of most messages."""
OF_OTHERS = {True: ("tool_calls",), False: ("id", "error", "tool_messages")}
"""Keys that are not read in a result, and in any other message."""
USAGE = counts("prompt_tokens=inputTokens completion_tokens=outputTokens")
POLICY = "policy"


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a simulation."""
    context = LiftContext(NAME, document)
    if document.get(POLICY):
        context.add(Message("system", [Text(document[POLICY])]), (), [(POLICY,)])
    for i, native in enumerate(document["messages"]):
        _add(native, ("messages", i), context)
    transcript = context.transcript()
    transcript.extras = make_extras(NAME, SIMULATION.lift(document, transcript))
    return transcript


def _add(native: Native, path: Path, context: LiftContext) -> None:
    """Adds a message. Several results are a message each."""
    if native["role"] == "tool" and native.get("tool_messages") is not None:
        around = omit(native, "tool_messages")
        for k, each in enumerate(native["tool_messages"]):
            others = {key: around[key] for key in around if around[key] != each.get(key, around[key])}
            _add({**around, **each, **({APART: others} if others else {})}, (*path, "tool_messages", k), context)
            around = {}
        return
    if _is_of_user(native):
        add_event(context, native, path)
        return
    parts, places = _lift_parts(native, context)
    message = Message(native["role"], parts)
    usage, counted = take_counts(native.get("usage") or {}, USAGE)
    message.usage = usage or None
    message.model = as_text(as_object(native.get("raw_data")).get("model"))
    unusual = {key: value for key, value in native.items() if key not in USUAL or value != USUAL[key]}
    unread = {key: native[key] for key in OF_OTHERS[message.role == "tool"] if native.get(key)}
    message.extras = make_extras(NAME, {**(MESSAGE.lift(unusual, message) or {}), **unread}, usage=counted)
    context.add(message, path, places)


def _is_of_user(native: Native) -> bool:
    """True for calls of the simulated user, and for their results."""
    return bool(native.get("tool_calls")) if native["role"] == "user" else native.get("requestor") == "user"


def _lift_parts(native: Native, context: LiftContext) -> tuple[list[Part], list[Path]]:
    text, calls = native.get("content"), native.get("tool_calls") or []
    if native["role"] == "tool":
        result = ToolResult(*context.pairing.result(as_text(native.get("id")), None), "text", text or "")
        if native.get("error"):
            results.fail(result)
        return [result], [()]
    parts: list[Part] = [Text(text)] if text else []
    parts += [CALL.lift(call, context) for call in calls]
    return parts, [*([("content",)] if text else []), *(("tool_calls", k) for k in range(len(calls)))]


DIALECT = Dialect(
    name=NAME,
    title="τ²-bench",
    aliases=("tau2-bench",),
    specification="results of sierra-research/tau2-bench at a2c02472; read 2026-11-28",
    framings=("document", "records"),
    forms=("simulation",),
    many="simulations/*",
    around=fields("timestamp info tasks simulation_index format_version"),
    is_collected=False,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)),),
    event_reason="the agent does not see what the simulated user calls",
    places={
        **SIMULATION.places(),
        **MESSAGE.places("message"),
        **paths(
            "message.usage=usage message.model=raw_data/model tool_result.toolCallId=id tool_result.value=content "
            "tool_result.kind=error"
        ),
    },
    metadata=fields(
        "reward_info review user_only_review info raw_data auth_classification hallucination_check agent_usage ticks "
        "effect_timeline speech_environment speech_effects source_effects channel_effects turn_taking_action"
    ),
    envelope=fields(
        "task_id timestamp duration termination_reason agent_cost user_cost trial seed mode requestor turn_idx cost "
        "generation_time_seconds hallucination_retries_used provider_session_id"
    ),
)
