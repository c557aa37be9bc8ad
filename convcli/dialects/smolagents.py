"""Steps in the memory of a smolagents agent, as `get_full_steps` and `get_succinct_steps` return them; read-only.

Specification: smolagents 1.26 (`memory.py`, https://github.com/huggingface/smolagents), run 2026-11-28. The library has
no function that loads steps.

Quirks
- A step has what the model wrote, its calls, and one text with the observations of all of them. The text is the result
  of the first call.
- If a tool fails, the step has an error and no calls: they are those of the model's message.
- A code agent calls `python_interpreter` with code. It is a text, as the input of a custom tool.
- The instructions are only in the input of the first step, which full steps repeat for each step.
- A final answer is a call of `final_answer`, with the answer as its observation.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import custom, results
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, make_extras, objects_in, omit
from convcli.kit.sessions import add_event
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths, seconds_of_time, take_counts, time_of_seconds
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import limited_to

NAME = "smolagents"
INPUT, OUTPUT, OBSERVATIONS = "model_input_messages", "model_output_message", "observations"
TEXTS = {"task": "user", "system_prompt": "system", "plan": "assistant"}
"""The role of a step that has a text under this key."""
OF_ACTION = ("model_output", "tool_calls", OBSERVATIONS, "error")
"""Keys that are read in a step without a text of its own."""
TIME = Setting(
    "created_at",
    lambda timing: time_of_seconds(as_object(timing).get("start_time")),
    lambda time: {"start_time": seconds_of_time(time)},
    partial=True,
)
STEP = Envelope(
    f"step_number timing {INPUT} {OUTPUT} model_output= tool_calls= {OBSERVATIONS}= error= token_usage= code_action "
    "observations_images action_output is_final_answer",
    {"timing": TIME},
)
CALL = CallTable("id=id type function/name=name function/arguments=arguments", defaults={"type": "function"})
USAGE = counts("input_tokens=inputTokens output_tokens=outputTokens total_tokens=totalTokens")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of the steps."""
    context = LiftContext(NAME, document)
    _lift_instructions(document, context)
    for i, step in enumerate(document):
        key = next((key for key in TEXTS if isinstance(step.get(key), str)), None)
        if key is not None:
            _lift_text(step, key, i, context)
        elif "step_number" in step:
            _lift_action(step, i, context)
        else:
            add_event(context, step, (i,))
    return context.transcript()


def _lift_instructions(steps: list[Native], context: LiftContext) -> None:
    """Adds the instructions that the first model call was sent, unless they are a step."""
    if any(isinstance(step.get("system_prompt"), str) for step in steps):
        return
    for i, step in enumerate(steps):
        for k, native in enumerate(objects_in(step.get(INPUT))):
            content = native.get("content")
            parts: list[Part] = [Text(one["text"]) for one in objects_in(content) if isinstance(one.get("text"), str)]
            parts = [Text(content)] if isinstance(content, str) else parts
            if native.get("role") == "system" and parts:
                context.add(Message("system", parts), (i, INPUT, k))
                return


def _lift_text(step: Native, key: str, i: int, context: LiftContext) -> None:
    """Adds a task, an instruction or a plan."""
    message = Message(TEXTS[key], [Text(step[key])])
    _lift_envelope(omit(step, key), message)
    unread = {other: step[other] for other in OF_ACTION if step.get(other)}
    message.extras = make_extras(NAME, {**(message.extras or {}).get(NAME, {}), **unread})
    context.add(message, (i,), [(key,)])


def _lift_action(step: Native, i: int, context: LiftContext) -> None:
    """Adds what the model wrote, and the result of its first call."""
    parts, part_paths = _texts_of(step.get("model_output"))
    key: Path = ("tool_calls",) if step.get("tool_calls") else (OUTPUT, "tool_calls")
    natives = step.get("tool_calls") or as_object(step.get(OUTPUT)).get("tool_calls") or []
    calls = [_lift_call(native, context) for native in natives]
    message, error = Message("assistant", [*parts, *calls]), step.get("error")
    _lift_envelope(step, message)
    context.add(message, (i,), [*part_paths, *((*key, k) for k in range(len(calls)))])
    observed, problem = step.get(OBSERVATIONS), as_object(error).get("message")
    if not calls or (observed is None and error is None):
        message.error = problem
        message.extras = make_extras(NAME, {**(message.extras or {}).get(NAME, {}), **_kept(observed, error)})
        return
    result = ToolResult(*context.pairing.result(calls[0].id, None), "text", problem if observed is None else observed)
    answered = Message("tool", [result])
    if error is not None:
        results.fail(result)
        answered.extras = make_extras(NAME, None, error=error if observed is not None else omit(error, "message"))
    context.add(answered, (i,), [("error", "message") if observed is None else (OBSERVATIONS,)])


def _kept(observed: Any, error: Any) -> Native:
    """Returns what a step without calls has next to the message."""
    others = {OBSERVATIONS: observed, "error": omit(error, "message") if error else None}
    return {key: value for key, value in others.items() if value}


def _texts_of(output: Any) -> tuple[list[Part], list[Path]]:
    """Returns what the model wrote: a text, or a list of contents."""
    if isinstance(output, str):
        return [Text(output)], [("model_output",)]
    parts: list[Part] = [
        Text(one["text"], extras=make_extras(NAME, omit(one, "type", "text")))
        if isinstance(one.get("text"), str)
        else Opaque(NAME, one)
        for one in output or []
    ]
    return parts, [("model_output", k) for k in range(len(parts))]


def _lift_call(native: Native, context: LiftContext) -> ToolCall:
    call = CALL.lift(native, context)
    if call.raw_arguments is not None:
        call.arguments, call.raw_arguments, call.custom = custom.lift_input(call.raw_arguments), None, True
    return call


def _lift_envelope(step: Native, message: Message) -> None:
    """Sets time and usage of a step."""
    usage, rest = take_counts(step.get("token_usage") or {}, USAGE)
    message.usage = usage or None
    message.extras = make_extras(NAME, STEP.lift(step, message), token_usage=rest)


DIALECT = Dialect(
    name=NAME,
    title="smolagents",
    specification="smolagents 1.26; read 2026-11-28",
    framings=("document", "records"),
    forms=("steps",),
    lift=lift,
    rules=(limited_to(links.paired(links.PairingRules(where="later", missing=None)), "duplicate-call-id"),),
    places=CALL.places
    | paths(
        "message.createdAt=timing/start_time message.usage=token_usage message.error=error/message "
        "extras.token_usage=token_usage extras.error=error"
    ),
    metadata=fields(f"{INPUT} {OUTPUT} code_action action_output raw"),
    envelope=fields("step_number is_final_answer timing"),
)
