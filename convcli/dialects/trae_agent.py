"""Trae Agent (ByteDance): trajectories (`trajectory_*.json`); read-only.

Specification: trae_agent/utils/trajectory_recorder.py and docs/TRAJECTORY_RECORDING.md of bytedance/trae-agent at
e839e559; read 2026-11-28.

Quirks
- `llm_interactions` are the calls of the model. `input_messages` are only the new messages of a call.
- `agent_steps` repeat them, with results and reflections. Messages of the last step that were not sent yet are read.
- A result has a text, an error or both. The program sends both.
- Tools are only named. Times have no zone.
"""

from __future__ import annotations

from typing import Any

from convcli.families.chats import add_with_results
from convcli.kit import results
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, as_object, as_text, except_keys, make_extras, objects_in, omit
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths, take_counts
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Part, Path, Text, ToolResult, Transcript
from convcli.validation.rules import links

NAME = "trae-agent"
CALLS, STEPS, INPUT, RESPONSE = "llm_interactions", "agent_steps", "input_messages", "response"
HEADER = Envelope(
    f"task start_time end_time provider model max_steps {CALLS} {STEPS} success final_result execution_time",
    {"model": "model", "start_time": "created_at", "end_time": "updated_at"},
    content=CALLS,
)
INTERACTION = Envelope(
    f"timestamp provider model {INPUT} {RESPONSE} tools_available",
    {"timestamp": "created_at"},
    content=f"{INPUT} {RESPONSE}",
)
ANSWER = Envelope(
    "content model finish_reason usage tool_calls",
    {"model": "model"},
    content="content finish_reason usage tool_calls",
)
CALL = CallTable("call_id=id name=name arguments=arguments id")
RESULT = Keys("call_id= success= result= error= id")
FINISH = {"end_turn": "stop", "STOP": "stop", "tool_use": "tool_calls", "max_tokens": "length", "MAX_TOKENS": "length"}
"""Our words for those of the providers; any other word is the same."""
USAGE = counts(
    "input_tokens=inputTokens output_tokens=outputTokens cache_creation_input_tokens=cacheWriteTokens "
    "cache_read_input_tokens=cacheReadTokens reasoning_tokens=reasoningTokens"
)


def lift(document: Any) -> Transcript:
    """Returns the transcript of all calls of the model."""
    context = LiftContext(NAME, document)
    sent: list[Any] = []
    for i, native in enumerate(document[CALLS]):
        sent = native[INPUT]
        _add_messages(sent, (CALLS, i, INPUT), context)
        _add_answer(native, (CALLS, i), context)
    steps = objects_in(document.get(STEPS))
    waiting = steps[-1].get("llm_messages") if steps else None
    if waiting and _said(waiting) != _said(sent):
        _add_messages(waiting, (STEPS, len(document[STEPS]) - 1, "llm_messages"), context)
    transcript = context.transcript()
    transcript.extras = make_extras(NAME, HEADER.lift(document, transcript))
    return transcript


def _said(natives: list[Native]) -> list[Any]:
    """Returns what messages say, without ids: those of a step are the same messages as those of its call."""
    results = (as_object(native.get("tool_result")) for native in natives)
    said = [(native["role"], native.get("content"), native.get("tool_call") is None) for native in natives]
    return [said, [(result.get("result"), result.get("error")) for result in results]]


def _add_messages(natives: list[Native], prefix: Path, context: LiftContext) -> None:
    for i, native in enumerate(natives):
        placed: list[tuple[Part, Path]] = []
        if native.get("content"):
            placed.append((Text(native["content"]), ("content",)))
        if native.get("tool_call"):
            placed.append((CALL.lift(native["tool_call"], context), ("tool_call",)))
        if native.get("tool_result"):
            placed.append((_lift_result(native["tool_result"], context), ("tool_result",)))
        extras = make_extras(NAME, except_keys(native, "role", "content", "tool_call", "tool_result"))
        add_with_results(Message(native["role"], [], extras=extras), placed, (*prefix, i), context)


def _add_answer(native: Native, path: Path, context: LiftContext) -> None:
    answer = native[RESPONSE]
    text, calls = answer.get("content"), answer.get("tool_calls") or []
    parts: list[Part] = [Text(text)] if text else []
    places: list[Path] = [(RESPONSE, "content")] if text else []
    parts += [CALL.lift(call, context) for call in calls]
    places += [(RESPONSE, "tool_calls", k) for k in range(len(calls))]
    message = Message("assistant", parts)
    reason = as_text(answer.get("finish_reason"))
    message.stop_reason = FINISH.get(reason, reason) if reason else None
    usage, counted = take_counts(answer.get("usage") or {}, USAGE)
    message.usage = usage or None
    extra = {**(ANSWER.lift(answer, message) or {}), **({"usage": counted} if counted else {})}
    repeated = [key for key in ("model",) if native.get(key) == answer.get(key)]
    message.extras = make_extras(NAME, INTERACTION.lift(omit(native, *repeated), message), response=extra)
    context.add(message, path, places)


def _lift_result(native: Native, context: LiftContext) -> ToolResult:
    texts: list[Part] = [Text(native[key]) for key in ("result", "error") if native.get(key)]
    ids = context.pairing.result(as_text(native.get("call_id")), None)
    result = results.result_of_parts(*ids, texts, failed=native.get("success") is False)
    result.extras = make_extras(NAME, RESULT.extra(native))
    return result


DIALECT = Dialect(
    name=NAME,
    title="Trae Agent",
    specification="trajectories of bytedance/trae-agent at e839e559; read 2026-11-28",
    framings=("document", "records"),
    forms=("trajectory",),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)),),
    places={
        **CALL.places,
        **HEADER.places(),
        **INTERACTION.places("message"),
        **ANSWER.places("message", RESPONSE),
        **paths(
            "message.usage=response/usage message.stopReason=response/finish_reason tool_result.toolCallId=call_id "
            "tool_result.value=result tool_result.kind=success tool_result.isError=success extras.response=response"
        ),
    },
    metadata=fields(f"{STEPS} tools_available"),
    envelope=fields("task end_time provider max_steps success final_result execution_time timestamp"),
)
