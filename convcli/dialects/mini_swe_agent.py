"""mini-swe-agent: trajectories (`.traj.json`) of versions 1 and 2; read-only.

Specification: src/minisweagent/agents/default.py and models/ of SWE-agent/mini-swe-agent at a83fcae8, and versions
1.17.5 and 2.4.6, run; read 2026-11-28.

Quirks
- A message is one of Chat Completions or, if the model is asked through the Responses API, an item or a whole response.
- Version 1, and version 2 without tools, write commands and their output as text.
- `extra` of an answer has the whole response, with its model and token counts. The commands repeat the calls.
- Version 2 does not keep an answer that it cannot read: the response is in `extra` of the message that says so. Since
  the model does not read it again, it is an event.
- The last row has the role `exit` and repeats `info`: it is an event only if it differs.
"""

from __future__ import annotations

from typing import Any

from convcli.families.openai import messages as chat
from convcli.families.openai import request as common
from convcli.families.openai.tables import OF_FUNCTIONS
from convcli.families.responses.response import USAGE, read_stop_reason
from convcli.families.responses.turns import ItemReader
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, add_extras, as_object, as_text, except_keys, make_extras, objects_in, omit
from convcli.kit.sessions import add_event
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import paths, seconds_of_time, time_of_seconds
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Path, Transcript
from convcli.validation.rules import arguments, links

NAME = "mini-swe-agent"
FORMAT, EXTRA, RESPONSE = "trajectory_format", "extra", "response"
TIME = Setting("created_at", time_of_seconds, seconds_of_time, partial=True)
FACTS = Envelope(
    "actions response cost timestamp raw_output returncode exception_info interrupt_type exit_status submission "
    "n_actions model_response exception_str traceback",
    {"timestamp": TIME},
    content=RESPONSE,
)
ROLES = ("system", "user", "assistant", "tool")
MESSAGE = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", "refusal")


def lift(document: Any) -> Transcript:
    """Returns the transcript of a trajectory."""
    context = LiftContext(NAME, document)
    items, rows, info = ItemReader(context), document["messages"], as_object(document.get("info"))
    for i, row in enumerate(rows):
        if i < len(rows) - 1 or not _repeats(row, info):
            _add(row, ("messages", i), context, items)
    model = as_text(as_object(as_object(info.get("config")).get("model")).get("model_name"))
    return context.transcript(model=model, extras=make_extras(NAME, except_keys(document, "messages")))


def _repeats(row: Native, info: Native) -> bool:
    """True if the row only repeats how the run ended."""
    ended = {key: info.get(key) for key in ("exit_status", "submission")}
    if row.get("role") != "exit" or row.keys() != {"role", "content", EXTRA}:
        return False
    return row[EXTRA] == ended and row["content"] in ended.values()


def _add(row: Native, path: Path, context: LiftContext, items: ItemReader) -> None:
    """Adds the message of a row, or an event."""
    extra = as_object(row.get(EXTRA))
    if row.get("object") == RESPONSE:
        _add_response(row, path, context, items)
    elif row.get("role") not in ROLES and "type" not in row:
        add_event(context, row, path)
        return
    elif extra.get(RESPONSE) and row.get("role") != "assistant":
        add_event(context, extra[RESPONSE], (*path, EXTRA, RESPONSE))
        _add({**row, EXTRA: omit(extra, RESPONSE)}, path, context, items)
        return
    elif "type" in row:
        items.add(omit(row, EXTRA), path)
        items.close()
    else:
        message, part_paths = chat.lift_any({key: row[key] for key in MESSAGE if key in row}, context)
        add_extras(message, NAME, except_keys(row, *MESSAGE, EXTRA, "timestamp"))
        context.add(message, path, [()] if message.role == "tool" else part_paths)
    _lift_facts(row, extra, context.messages[-1])


def _lift_facts(row: Native, extra: Native, message: Message) -> None:
    """Sets the facts of a message."""
    answered = as_object(extra.get(RESPONSE))
    message.model = as_text(answered.get("model")) or message.model
    for choice in objects_in(answered.get("choices"))[:1]:
        reason = as_text(choice.get("finish_reason"))
        message.stop_reason = common.FINISH.get(reason, reason) if reason else None
    if as_object(answered.get("usage")):
        common.lift_usage(answered["usage"], message, NAME, common.USAGE)
    times = FACTS.lift({"timestamp": row.get("timestamp")}, message)
    facts = {**(FACTS.lift(extra, message) or {}), **({RESPONSE: answered} if answered else {})}
    add_extras(message, NAME, times, **{EXTRA: facts})


def _add_response(row: Native, path: Path, context: LiftContext, items: ItemReader) -> None:
    """Adds the answer of a response of the Responses API."""
    before = len(context.messages)
    items.all(row["output"], (*path, "output"))
    items.close()
    if len(context.messages) == before:
        context.add(Message("assistant", []), path, [])
    message = context.messages[-1]
    first, part_paths = context.origin.places[-1]
    context.origin.places[-1] = path, [(*first[len(path) :], *each) for each in part_paths or ()]
    message.model, message.stop_reason = as_text(row.get("model")), read_stop_reason(row, message.parts)
    if row.get("usage"):
        common.lift_usage(row["usage"], message, NAME, USAGE)
    rest = except_keys(row, "object", "output", "model", "usage", EXTRA)
    add_extras(message, NAME, None, **{RESPONSE: rest})


DIALECT = Dialect(
    name=NAME,
    title="mini-swe-agent",
    aliases=("mini-swe",),
    specification="trajectories of mini-swe-agent 1.17.5 and 2.4.6; read 2026-11-28",
    framings=("document", "records"),
    forms=("trajectory",),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places=OF_FUNCTIONS
    | paths(
        "model=info/config/model/model_name message.createdAt=extra/timestamp message.model=extra/response/model "
        "message.usage=extra/response/usage tool_result.toolCallId=tool_call_id tool_result.value=content "
        "tool_result.kind=content extras.extra=extra"
    ),
    metadata=fields(f"info {RESPONSE} actions thinking_blocks provider_specific_fields"),
    envelope=fields(f"{FORMAT} info actions cost timestamp returncode interrupt_type {RESPONSE} n_actions usage"),
)
