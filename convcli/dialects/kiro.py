"""Kiro and Amazon Q: saved conversations of the command line program, its database, and sessions of Kiro 2; read-only.

Specification: none is published. Source: crates/chat-cli/src/cli/chat/message.rs and conversation.rs of
aws/amazon-q-developer-cli; rows as https://github.com/kenn-io/agentsview at 53860074 reads them; read 2026-11-23.

Quirks
- A conversation (`/save`, or `value` in `data.sqlite3`) is a list of questions with their answers. A question may be a
  list of results. Values are named by their kind: `{"Prompt": {"prompt": "Hi."}}`.
- It has the definitions of all tools, by their origin.
- `latest_summary` stands for earlier messages, which it no longer has. `transcript` repeats what was on the screen.
- In the database, a conversation has a row for each directory (`key`) in which it was continued, with its times in
  milliseconds. The latest row counts.
- A row of Kiro 2 (`sessions/cli/ID.jsonl`) is a question, an answer, or a list of results.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from convcli.families.chats import add_with_results
from convcli.kit import results, sessions
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, UPDATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import (
    Native,
    add_extras,
    as_object,
    as_text,
    drop_extra_keys,
    make_extras,
    objects_in,
    without_empty,
)
from convcli.kit.supported import fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Program
from convcli.model.transcript import (
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links
from convcli.wire import exact_json

NAME = "kiro"
CONVERSATION, ROWS = "conversation", "rows"
KINDS = {"Prompt": "user", "AssistantMessage": "assistant", "ToolResults": "user"}
"""The role of each kind of row; each result is a message of its own."""
RESULTS = ("ToolUseResults", "CancelledToolUses")
CWD = ("user", "env_context", "env_state", "current_working_directory")
"""The path of the directory in a question with its answer."""
WHOLE = Envelope(
    "key created_at updated_at conversation_id=id model=model history= transcript tools= latest_summary= next_message=",
    {"created_at": CREATED_IN_MILLISECONDS, "updated_at": UPDATED_IN_MILLISECONDS},
)
Placed = list[tuple[Part, Path]]


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    if isinstance(document, list):
        context.origin.form = ROWS
        for i, row in enumerate(document):
            _lift_row(row, i, context)
        return transcript
    context.origin.form = CONVERSATION
    transcript.extras = make_extras(NAME, WHOLE.lift(document, transcript))
    _lift_tools(document.get("tools"), transcript, context)
    _lift_summary(document.get("latest_summary"), transcript, context)
    for i, pair in enumerate(document["history"]):
        first = len(context.messages)
        _lift_question(pair["user"], ("history", i, "user"), context)
        if isinstance(pair.get("assistant"), dict):
            _lift_answer(pair["assistant"], ("history", i, "assistant"), context)
        rest = without_empty(pair, "user", *["assistant"] * isinstance(pair.get("assistant"), dict))
        add_extras(context.messages[first], NAME, None, pair=rest)
    if isinstance(document.get("next_message"), dict):
        _lift_question(document["next_message"], ("next_message",), context)
    _lift_directory(document, transcript, context)
    return transcript


def _lift_directory(document: Native, transcript: Transcript, context: LiftContext) -> None:
    """Reads the directory of the first question that states one, else that of the row in the database."""
    of_row = as_text(document.get("key"))
    stated = [(("history", i, *CWD), _directory_of(pair)) for i, pair in enumerate(document["history"])]
    path, transcript.cwd = next((one for one in (*stated, (("key",), of_row)) if one[1]), ((), None))
    if transcript.cwd and path[:2] != ("history", 0):
        context.origin.routes["history", 0, *CWD] = path
    if of_row == transcript.cwd:
        transcript.extras = drop_extra_keys(transcript.extras, NAME, "key")


def _directory_of(pair: Native) -> str | None:
    *steps, last = CWD
    return as_text(reduce(lambda value, key: as_object(value.get(key)), steps, pair).get(last))


def _lift_tools(native: Any, transcript: Transcript, context: LiftContext) -> None:
    """Reads the definitions; what is none is kept."""
    others: Native = {}
    tools: list[ToolDefinition] = []
    for origin, each in as_object(native).items():
        for k, item in enumerate(each if isinstance(each, list) else ()):
            body = as_object(as_object(item).get("ToolSpecification"))
            schema = as_object(body.get("input_schema"))
            if not isinstance(body.get("name"), str) or not isinstance(schema.get("json"), dict) or len(item) > 1:
                others.setdefault(origin, []).append(item)
                continue
            rest = without_empty(body, "name", "description", "input_schema")
            inner = without_empty(schema, "json")
            extras = make_extras(NAME, {"origin": origin, **rest}, input_schema=inner)
            tools.append(ToolDefinition(body["name"], as_text(body.get("description")), schema["json"], extras=extras))
            context.origin.tools.append(("tools", origin, k, "ToolSpecification"))
        if not isinstance(each, list):
            others[origin] = each
    transcript.tools = tools or None
    add_extras(transcript, NAME, None, tools=others)


def _lift_summary(native: Any, transcript: Transcript, context: LiftContext) -> None:
    """Adds the summary of earlier messages: a text, alone or before the facts of its request."""
    is_list = isinstance(native, list) and bool(native)
    text = as_text(native[0] if is_list else native)
    if text is not None:
        rest = {"facts": native[1:]} if is_list and len(native) > 1 else None
        message = Message("user", [Text(text)], replaces="all", extras=make_extras(NAME, rest))
        context.add(message, ("latest_summary",), [(0,) if is_list else ()])
    elif native:
        add_extras(transcript, NAME, None, latest_summary=native)


def _lift_question(native: Native, path: Path, context: LiftContext) -> None:
    """Adds the message of a user, or the results that were sent in place of it."""
    placed: Placed = []
    others: Native = {}
    for kind, body in as_object(native.get("content")).items():
        if kind not in ("Prompt", *RESULTS) or not isinstance(body, dict):
            others[kind] = body
            continue
        for k, item in enumerate(objects_in(body.get("tool_use_results"))):
            result = _result(item, ("tool_use_id", "Json", "Text"), context)
            placed.append((result, ("content", kind, "tool_use_results", k)))
        if as_text(body.get("prompt")) is not None:
            placed.append((Text(body["prompt"]), ("content", kind, "prompt")))
        rest = without_empty(body, "prompt", "tool_use_results")
        others |= {kind: rest} if rest else {}
    message = Message("user", [], created_at=as_text(native.get("timestamp")))
    rest = without_empty(native, "content", *["timestamp"] * (message.created_at is not None))
    message.extras = make_extras(NAME, rest, content=others)
    add_with_results(message, placed, path, context)


def _lift_answer(native: Native, path: Path, context: LiftContext) -> None:
    message = Message("assistant", [])
    kind = next((kind for kind in ("Response", "ToolUse") if isinstance(native.get(kind), dict)), "")
    body: Native = as_object(native.get(kind))
    placed: Placed = []
    if as_text(body.get("thinking")) is not None:
        placed.append((Reasoning(body["thinking"]), (kind, "thinking")))
    if as_text(body.get("content")) is not None:
        placed.append((Text(body["content"]), (kind, "content")))
    for k, use in enumerate(body.get("tool_uses") or ()):
        placed.append((_call(use, ("id", "name", "args"), context), (kind, "tool_uses", k)))
    message.id = as_text(body.get("message_id"))
    used = ("content", "tool_uses", "thinking", *["message_id"] * (message.id is not None))
    message.extras = make_extras(NAME, without_empty(native, kind), body=without_empty(body, *used))
    add_with_results(message, placed, path, context)
    context.origin.routes |= {(*path, "body"): (*path, kind)} if kind else {}


def _call(native: Native, keys: tuple[str, str, str], context: LiftContext) -> ToolCall:
    id_key, name_key, arguments_key = keys
    call = ToolCall(context.pairing.call(as_text(native.get(id_key)), native[name_key]), native[name_key], {})
    call.arguments, call.raw_arguments = arguments_of(native.get(arguments_key))
    usual = {"orig_name": native[name_key], "orig_args": native.get("args")}
    rest = {key: one for key, one in without_empty(native, *keys).items() if key not in usual or usual[key] != one}
    call.extras = make_extras(NAME, rest)
    return call


def _result(native: Native, keys: tuple[str, str, str], context: LiftContext) -> ToolResult:
    """Returns a result: one JSON value, or texts. Other values next to texts are JSON in a text."""
    id_key, json_key, text_key = keys
    ids = context.pairing.result(as_text(native.get(id_key)), None)
    items = native.get("content") or []
    failed = isinstance(native.get("status"), str) and native["status"].lower() == "error"
    values = [_value(item, text_key) for item in items]
    if len(items) == 1 and isinstance(items[0], dict) and values == [None] and json_key in _pair(items[0]):
        result = ToolResult(*ids, "data", _pair(items[0])[json_key], is_error=failed or None)
    else:
        parts: list[Part] = [
            Text(exact_json.write_text(item) if value is None else value)
            for item, value in zip(items, values, strict=True)
        ]
        result = results.result_of_parts(*ids, parts or [Text("")], failed=failed)
    is_usual = failed or native.get("status") in ("Success", "success")
    used = (id_key, "content", *["status"] * is_usual)
    result.extras = make_extras(NAME, without_empty(native, *used))
    return result


def _pair(item: Any) -> Native:
    """Returns an item of a result by its kind, whichever way it is stated."""
    if isinstance(item, dict) and item.keys() == {"kind", "data"} and isinstance(item["kind"], str):
        return {item["kind"]: item["data"]}
    return item if isinstance(item, dict) and len(item) == 1 else {}


def _value(item: Any, text_key: str) -> str | None:
    value = _pair(item).get(text_key)
    return value if isinstance(value, str) else None


def _lift_row(row: Any, i: int, context: LiftContext) -> None:
    """Lifts a row of Kiro 2."""
    role = KINDS.get(as_text(row.get("kind")) or "") if isinstance(row, dict) else None
    if role is None or not isinstance(row.get("data"), dict):
        sessions.add_event(context, row, (i,))
        return
    data = row["data"]
    placed: Placed = []
    for k, block in enumerate(data.get("content") or ()):
        placed.append((_lift_block(block, context), ("data", "content", k)))
    message = Message(role, [])
    message.id = as_text(data.get("message_id"))
    rest = without_empty(data, "content", *["message_id"] * (message.id is not None))
    message.extras = make_extras(NAME, without_empty(row, "kind", "data"), data=rest)
    add_with_results(message, placed, (i,), context)


def _lift_block(block: Native, context: LiftContext) -> Part:
    kind, data = block["kind"], block.get("data")
    rest = without_empty(block, "kind", "data")
    part: Part = Opaque(NAME, block)
    if kind == "text" and isinstance(data, str):
        part = Text(data)
    elif kind == "toolUse" and isinstance(data, dict):
        part = _call(data, ("toolUseId", "name", "input"), context)
    elif kind == "toolResult" and isinstance(data, dict):
        part = _result(data, ("toolUseId", "json", "text"), context)
    if not isinstance(part, Opaque):
        add_extras(part, NAME, None, block=rest)
    return part


FOLDERS = (".local/share", "Library/Application?Support", "AppData/Roaming")
DATABASES = " ".join(f"{folder}/{name}/data.sqlite3" for folder in FOLDERS for name in ("kiro-cli", "amazon-q"))

DIALECT = Dialect(
    name=NAME,
    title="Kiro",
    aliases=("amazon-q",),
    specification="source of aws/amazon-q-developer-cli, and rows of Kiro 2 as agentsview reads them; read 2026-11-23",
    framings=("document", "events", "records"),
    forms=(CONVERSATION, ROWS),
    programs=(Program(NAME, ".", f"{DATABASES} .kiro/sessions/cli/*.jsonl"),),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places={
        **WHOLE.places(),
        **paths(
            f"cwd=history/0/{'/'.join(CWD)} message.createdAt=timestamp "
            "message.id=body/message_id extras.pair=.. extras.body=body extras.content=content extras.data=data "
            "tool.name=name tool.description=description tool.parameters=input_schema/json "
            "tool_call.id=id tool_call.arguments=args tool_call.rawArguments=args tool_result.toolCallId=tool_use_id "
            "tool_result.value=content tool_result.kind=content tool_result.isError=status"
        ),
    },
    content=fields("otherStates"),
    metadata=fields("transcript additional_context env_context otherDirectories"),
    envelope=fields(
        "key transcript pair body data version request_metadata env_context additional_context origin facts "
        "context_manager context_message_length tool_manager valid_history_range model_info"
    ),
)
