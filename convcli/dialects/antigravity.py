"""Antigravity CLI: logs of its sessions (`transcript_full.jsonl`), one step per line; read-only.

Specification: none is published. Described by readers: docs/formats/antigravity.md of
https://github.com/skillsynchq/txcript at 6699e3ed, and logs of agy; read 2026-11-27. The program was not run.

Quirks
- The log is a copy for display, in `brain/ID/.system_generated/logs`. The program resumes from a database of Protobuf
  steps, which convcli does not read.
- `PLANNER_RESPONSE` is an answer. Each argument of its calls is JSON in a string.
- The steps of tools are results. They have no ids: they answer the calls in order.
- `truncated_fields` names values of a step from which the program left something out.
- `CHECKPOINT` is a compaction. Other steps of the system are events, or texts for the model.
- The program writes `<USER_REQUEST>` around the user's words, and adds changes of settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.kit import results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_text, except_keys, get_extras, make_extras
from convcli.kit.pairing import UNKNOWN
from convcli.kit.supported import fields
from convcli.kit.values import paths, read_json
from convcli.model.dialect import Dialect, Program, ProgramTurns
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey, limited_to

NAME = "antigravity"
MODEL, SYSTEM = "MODEL", "SYSTEM"
ASKED, ANSWERED, COMPACTED = "USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT"
NOTES: dict[str | bool, str] = {"SYSTEM_MESSAGE": "system-message", "EPHEMERAL_MESSAGE": "ephemeral-message"}
"""Steps that the program writes for the model, with the kind of the turn."""
FAILED = {"ERROR": None, "CANCELED": "cancelled"}
"""States of failed steps, with the status of the result."""
DONE, CUT = "DONE", "truncated_fields"
OF_ANSWER = ("thinking", "tool_calls")
STEP = Envelope(
    "step_index source type status created_at=created_at content= thinking= tool_calls= error truncated_fields"
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a log."""
    context = LiftContext(NAME, document)
    for i, row in enumerate(document):
        if not (isinstance(row, dict) and _lift_step(row, i, context)):
            sessions.add_event(context, row, (i,), STEP if isinstance(row, dict) else None)
    return context.transcript()


def _lift_step(row: Native, i: int, context: LiftContext) -> bool:
    """Adds the message of a step; False if it has none."""
    kind, text = as_text(row.get("type")), as_text(row.get("content"))
    if kind == ANSWERED:
        _lift_answer(row, i, context)
    elif kind == COMPACTED and text is not None:
        _add(Message("user", [Text(text)], replaces="all"), row, i, [("content",)], context)
    elif (kind == ASKED or kind in NOTES) and text is not None:
        _add(Message("user", [Text(text)]), row, i, [("content",)], context)
    elif row.get("source") not in (None, SYSTEM) and kind not in (None, ASKED):
        _lift_result(row, kind, i, context)
    else:
        return False
    return True


def _add(message: Message, row: Native, i: int, places: list[Path], context: LiftContext, *used: str) -> None:
    """Adds a message with the facts of its step."""
    extra = STEP.lift(row, message) or {}
    usual = {"source": MODEL if message.role != "user" else None, "status": DONE}
    usual["type"] = ANSWERED if message.role == "assistant" else COMPACTED if message.replaces else ASKED
    rest = {key: one for key, one in extra.items() if key not in used and usual.get(key) != one}
    rest |= {key: row[key] for key in OF_ANSWER if row.get(key)} if message.role != "assistant" else {}
    message.extras = make_extras(NAME, rest)
    context.add(message, (i,), places)


def _lift_answer(row: Native, i: int, context: LiftContext) -> None:
    parts: list[Part] = []
    places: list[Path] = []
    for key, kind in (("thinking", Reasoning), ("content", Text)):
        if as_text(row.get(key)) is not None:
            parts.append(kind(row[key]))
            places.append((key,))
    for k, native in enumerate(row.get("tool_calls") or ()):
        arguments = {key: _value(value) for key, value in (native.get("args") or {}).items()}
        call = ToolCall(context.pairing.call(as_text(native.get("id")), native["name"]), native["name"], arguments)
        call.extras = make_extras(NAME, except_keys(native, "id", "name", "args"))
        parts.append(call)
        places.append(("tool_calls", k))
    _add(Message("assistant", parts), row, i, places, context)


def _value(text: Any) -> Any:
    """Returns an argument; a string that is not JSON stays."""
    value = read_json(text) if isinstance(text, str) else None
    return text if value is None and text != "null" else value


def _lift_result(row: Native, kind: str, i: int, context: LiftContext) -> None:
    """Adds the result of the oldest call without one; without any, that of the tool that the step names."""
    id_, name = context.pairing.result(None, None)
    status = as_text(row.get("status")) or ""
    text, error = as_text(row.get("content")), as_text(row.get("error"))
    key = "error" if text is None and error is not None else "content"
    result = results.result_of_parts(
        id_, kind.lower() if name == UNKNOWN else name, [Text(text or error or "")], failed=False
    )
    if status in FAILED:
        results.fail(result)
        result.status = FAILED[status]
    _add(
        Message("tool", [result]),
        row,
        i,
        [(key,)],
        context,
        *["error"] * (key == "error"),
        *["status"] * (status in FAILED),
    )


def _find_cut_values(survey: Survey) -> Iterator[Breach]:
    for i, message in enumerate(survey.messages):
        for name in get_extras(message.extras, NAME).get(CUT) or ():
            problem = f"only a part of {name} is in the file" if isinstance(name, str) else "a part is left out"
            yield Breach("displayed-only", NodeRef(i, steps=(CUT,)), problem, "warning")


DIALECT = Dialect(
    name=NAME,
    title="Antigravity CLI",
    specification="logs of agy 1.0.16 as other readers describe them; read 2026-11-27",
    framings=("events",),
    forms=("log",),
    programs=(Program(NAME, ".gemini/antigravity-cli", "brain/*/.system_generated/logs/transcript_full.jsonl"),),
    program_turns=ProgramTurns({}, NAME, {("type",): NOTES}),
    lift=lift,
    rules=(
        # a result has no id: no two answer the same call
        limited_to(
            links.paired(links.PairingRules(where="later", missing=None)), "orphan-tool-result", "duplicate-call-id"
        ),
        Rule(("displayed-only",), _find_cut_values, of_input=("displayed-only",)),
    ),
    places={
        **STEP.places("message"),
        **paths(
            "message.role=type message.replaces=type tool_call.name=name tool_call.arguments=args "
            "tool_result.name=../type tool_result.status=../status tool_result.kind=../status"
        ),
    },
    metadata=fields("CONVERSATION_HISTORY"),
    envelope=fields("step_index source type status truncated_fields"),
)
