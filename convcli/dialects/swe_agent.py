"""SWE-agent: trajectories (`.traj`), of which the history is read.

Specification: sweagent/types.py and sweagent/agent/history_processors.py of SWE-agent/SWE-agent at 3ea751c0; read
2026-11-22.

Quirks
- The history holds what a model was sent, as messages of Chat Completions; `trajectory` says the steps once more.
- A result names its calls in a list. `thought` and `action` say an answer once more, as its program understood it.
- Without tools the actions of an agent are words, and so is what came of them.
"""

from __future__ import annotations

from typing import Any

from convcli.families.openai import messages as common
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, carry, extras_of, rest_of, without_nulls
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect
from convcli.model.transcript import Message, Spots, Transcript
from convcli.validation.rules import arguments, links

NAME = "swe-agent"
MESSAGE = ("role", "content", "tool_calls", "name")
IDS = "tool_call_ids"


def detect(document: Any) -> Clue | None:
    """By messages that say of which type they are and of which agent."""
    history = document.get("history") if isinstance(document, dict) else None
    if not isinstance(history, list) or not all(isinstance(one, dict) for one in history):
        return None
    if any("message_type" in one and "agent" in one for one in history):
        return Clue(97, "messages of an agent, with their types")
    steps = document.get("trajectory")
    if isinstance(steps, list) and any(
        isinstance(one, dict) and {"action", "observation"} <= one.keys() for one in steps
    ):
        return Clue(96, "a trajectory of actions and observations")
    return None


def lift(document: Any) -> Transcript:
    """The transcript of the history."""
    context = LiftContext(NAME, document)
    context.each(document["history"], ("history",), _lift_message)
    beside = rest_of(document, "history")
    return context.transcript(extras=extras_of(NAME, beside))


def _lift_message(native: Native, context: LiftContext) -> tuple[Message, Spots]:
    """A message, with what the program says beside it."""
    inner = {key: native[key] for key in MESSAGE if key in native}
    beside = rest_of(native, *MESSAGE)
    ids = native.get(IDS)
    if native["role"] == "tool" and ids:
        inner["tool_call_id"] = ids[0]
        beside[IDS] = ids[1:]
        beside |= {} if ids[1:] else {IDS: None}
    message, spots = common.lift_any(inner, context)
    beside = without_nulls(beside)
    carry(message, NAME, beside)
    return message, spots


DIALECT = Dialect(
    name=NAME,
    title="SWE-agent",
    specification="trajectories of SWE-agent/SWE-agent at 3ea751c0; read 2026-11-22",
    framings=("document", "records"),
    forms=("trajectory",),
    detect=detect,
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places=paths(
        "tool_call.name=function/name tool_call.arguments=function/arguments tool_call.rawArguments=function/arguments "
        "tool_result.toolCallId=../tool_call_ids/0 tool_result.value=content tool_result.kind=content"
    ),
    metadata=frozenset(("replay_config", "trajectory")),
    envelope=frozenset(
        ("trajectory", "info", "replay_config", "environment", "agent", "message_type", "thought", "action")
    ),
)
