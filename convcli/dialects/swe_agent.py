"""SWE-agent: trajectories (`.traj`), whose history is read.

Specification: sweagent/types.py and sweagent/agent/history_processors.py of SWE-agent/SWE-agent at 3ea751c0; read
2026-11-22.

Quirks
- The history is what was sent to a model, as Chat Completions messages; `trajectory` repeats the steps.
- A result names its calls in a list. `thought` and `action` repeat an answer, as parsed by the program.
- Without tools, an agent's actions and their results are text.
"""

from __future__ import annotations

from typing import Any

from convcli.families.openai import messages as common
from convcli.families.openai.tables import OF_FUNCTIONS
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, add_extras, except_keys, make_extras, without_nulls
from convcli.kit.values import paths
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, PartPaths, Transcript
from convcli.validation.rules import arguments, links

NAME = "swe-agent"
MESSAGE = ("role", "content", "tool_calls", "name")
IDS = "tool_call_ids"


def lift(document: Any) -> Transcript:
    """Reads the history."""
    context = LiftContext(NAME, document)
    context.each(document["history"], ("history",), _lift_message)
    other_keys = except_keys(document, "history")
    return context.transcript(extras=make_extras(NAME, other_keys))


def _lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Reads a message, keeping the program's own keys as extras."""
    inner = {key: native[key] for key in MESSAGE if key in native}
    other_keys = except_keys(native, *MESSAGE)
    ids = native.get(IDS)
    if native["role"] == "tool" and ids:
        inner["tool_call_id"] = ids[0]
        other_keys[IDS] = ids[1:]
        other_keys |= {} if ids[1:] else {IDS: None}
    message, part_paths = common.lift_any(inner, context)
    other_keys = without_nulls(other_keys)
    add_extras(message, NAME, other_keys)
    return message, part_paths


DIALECT = Dialect(
    name=NAME,
    title="SWE-agent",
    specification="SWE-agent/SWE-agent trajectories at 3ea751c0; read 2026-11-22",
    framings=("document", "records"),
    forms=("trajectory",),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places=OF_FUNCTIONS
    | paths("tool_result.toolCallId=../tool_call_ids/0 tool_result.value=content tool_result.kind=content"),
    metadata=frozenset(("replay_config", "trajectory")),
    envelope=frozenset(
        ("trajectory", "info", "replay_config", "environment", "agent", "message_type", "thought", "action")
    ),
)
