"""Session traces of the Hugging Face Hub: the simple format (STS), which its viewer shows for any program.

Specification: https://huggingface.co/docs/hub/session-traces-format, docs/hub/session-traces-format.md of
huggingface/hub-docs at 9d14846; read 2026-11-23. Sessions of Claude Code, Codex and pi are kept there as they are.

Quirks
- The first row names the session and the `harness`, the program that made it; the default is convcli.
- A message has one text, one thought before it, and calls, whose arguments are a JSON string.
- A result has no field for a failure: only its text is written. Media have no field.
- A session of pi may have a harness too, but its rows have ids.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import custom, fitting, passes, results, sessions, unsupported
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, Envelope
from convcli.kit.ids import set_session_id
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.results import ResultTexts
from convcli.kit.sessions import add_event
from convcli.kit.texts import text_of
from convcli.kit.values import paths, read_arguments, write_arguments
from convcli.model.dialect import Dialect, Evidence, Options
from convcli.model.document import Rows
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, links

NAME = "hf-trace"
OWN_HARNESS = "convcli"
"""The harness of a session without one."""
HEADER = Envelope("type harness id name", {"id": "id", "name": "title"}, content="type")
ROW = Keys("type message")
MESSAGE = Envelope(
    "role content reasoningContent toolCalls toolCallId timestamp model",
    {"timestamp": CREATED_IN_MILLISECONDS, "model": "model"},
    content="role content reasoningContent toolCalls toolCallId",
)
CALL = Keys("id type function")
FUNCTION = Keys("name arguments")
ROLES = ("user", "assistant", "system", "tool")
RESULTS = ResultTexts("")
JOINT = "\n\n"


def detect(document: Any) -> Evidence | None:
    """Detects a first row with a harness, followed by rows without ids."""
    rows = document if isinstance(document, list) else []
    if not rows or not all(isinstance(row, dict) for row in rows):
        return None
    if rows[0].get("type") != "session" or not isinstance(rows[0].get("harness"), str):
        return None
    has_ids = any("id" in row or "parentId" in row for row in rows[1:])
    return None if has_ids else Evidence(99, "the session has a harness, and its rows have no ids")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    for i, row in enumerate(document):
        if i == 0 and row.get("type") == "session":
            extra = HEADER.lift(row, transcript) or {}
            context.origin.routes |= {(key,): (0, key) for key in row}
            usual = extra.get("harness") == OWN_HARNESS
            transcript.extras = make_extras(NAME, {key: extra[key] for key in extra if key != "harness" or not usual})
        elif row.get("type") == "message":
            _lift_row(row, i, context)
        else:
            add_event(context, row, (i,))
    return transcript


def _lift_row(row: Native, i: int, context: LiftContext) -> None:
    native = row["message"]
    if native["role"] == "tool":
        id_, name = context.pairing.result(native.get("toolCallId") or None, None)
        parts: list[tuple[Part, Path]] = [(ToolResult(id_, name, "text", native["content"]), ())]
    else:
        parts = _parts(native, context)
    message = Message(native["role"], [part for part, _ in parts])
    extra = MESSAGE.lift(native, message) or {}
    row_extras = ROW.extra(row)
    message.extras = make_extras(NAME, {**extra, **({"row": row_extras} if row_extras else {})})
    context.add(message, (i, "message"), [path for _, path in parts])


def _parts(native: Native, context: LiftContext) -> list[tuple[Part, Path]]:
    parts: list[tuple[Part, Path]] = []
    if native.get("reasoningContent"):
        parts.append((Reasoning(native["reasoningContent"]), ("reasoningContent",)))
    if native["content"]:
        parts.append((Text(native["content"]), ("content",)))
    calls = native.get("toolCalls") or ()
    return [*parts, *((_lift_call(call, context), ("toolCalls", j)) for j, call in enumerate(calls))]


def _lift_call(native: Native, context: LiftContext) -> ToolCall:
    function = native["function"]
    text = function.get("arguments") or ""
    stated, raw = read_arguments(text) if text else ({}, None)
    inner = FUNCTION.extra(function)
    extra = {**(CALL.extra(native) or {}), **({"function": inner} if inner else {})}
    extra |= {"type": native["type"]} if native.get("type") not in (None, "function") else {}
    id_ = context.pairing.call(native.get("id") or None, function["name"])
    return ToolCall(id_, function["name"], stated, raw, extras=make_extras(NAME, extra))


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Rows:
    """Returns the rows of a session."""
    header = HEADER.write(transcript, {"harness": OWN_HARNESS, **get_extras(transcript.extras, NAME)}, type="session")
    return Rows([header, *(_write_row(message) for message in transcript.messages)])


def _write_row(message: Message) -> Any:
    if message.role == "event":
        return sessions.row_of_event(message, NAME)
    extra = dict(get_extras(message.extras, NAME))
    row_extras = extra.pop("row", None)
    native = MESSAGE.write(message, extra, role=message.role, **_write_content(message))
    return ROW.put({"type": "message", "message": native}, row_extras)


def _write_content(message: Message) -> Native:
    result = results.result_of(message)
    if result is not None:
        return {"content": RESULTS.value(result), "toolCallId": result.tool_call_id}
    thought = JOINT.join(part.text for part in message.parts if isinstance(part, Reasoning) and part.text)
    calls = [_write_call(part) for part in message.parts if isinstance(part, ToolCall)]
    native = {"content": text_of(message.parts, JOINT)}
    native |= {"reasoningContent": thought} if thought else {}
    return {**native, **({"toolCalls": calls} if calls else {})}


def _write_call(call: ToolCall) -> Native:
    extra = dict(get_extras(call.extras, NAME))
    function = {"name": call.name, "arguments": write_arguments(call.arguments, call.raw_arguments)}
    return CALL.put({"id": call.id, "function": {**function, **extra.pop("function", {})}}, extra, sort=True)


# ---------------------------------------------------------------- fit


def _content(transcript: Transcript) -> Any:
    """Returns the content from which a missing session id is derived."""
    return [
        [message.role, [part.text if isinstance(part, (Text, Reasoning)) else part.type for part in message.parts]]
        for message in transcript.messages
    ]


FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME),
    sessions.set_models_of_answers,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    custom.as_functions,
    results.separate_results,
    passes.on_messages(results.keep_one_result_each),
    sessions.put_results_before_events,
    set_session_id(_content),
    passes.on_results(RESULTS.fits),
    fitting.settle_by_reading_back(lift, write, "session"),
)
UNSUPPORTED = (
    (unsupported.MESSAGE - {"message.createdAt"})
    | unsupported.TOOLS
    | unsupported.METADATA
    | unsupported.MEDIA
    | unsupported.fields(
        "model cwd createdAt updatedAt head settings toolChoice refusal reasoning.summary tool_result.name "
        "tool_result.status"
    )
)

DIALECT = Dialect(
    name=NAME,
    title="Hugging Face session traces",
    aliases=("sts", "hf-traces"),
    specification="docs/hub/session-traces-format.md of huggingface/hub-docs at 9d14846; read 2026-11-23",
    framings=("events",),
    forms=("session",),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    unsupported=UNSUPPORTED,
    conventions=(RESULTS.convention(),),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    reasons={
        "message.role": "Hugging Face traces have only one role for instructions",
        "message.model": "Hugging Face traces name the model on each answer",
        "model": "Hugging Face traces name the model on each answer",
        "text": "a Hugging Face trace message has one text",
        "reasoning": "a Hugging Face trace message has one thought",
        "refusal": "Hugging Face traces have no field for a refusal: it is written as text",
        **dict.fromkeys(unsupported.MEDIA, "messages of Hugging Face traces are text"),
        "tool_result.name": "a tool result in a Hugging Face trace has only the id of its call",
    },
    places=paths(
        "title=name message.createdAt=timestamp extras.row=.. "
        "tool_call.name=function/name tool_call.arguments=function/arguments "
        "tool_call.rawArguments=function/arguments tool_result.toolCallId=toolCallId tool_result.value=content "
        "tool_result.kind=content"
    ),
    metadata=unsupported.fields("usage"),
    envelope=frozenset(("harness", "row")),
)
