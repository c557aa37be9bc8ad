"""Cursor: sessions of its command line program and of its editor, from their databases, and its transcripts; read-only.

Specification: none is published. Described by readers: docs/formats/cursor.md and src/harness/cursor_desktop.rs of
https://github.com/skillsynchq/txcript at 6699e3ed, and transcripts; read 2026-11-27. No program of Cursor was run.

Quirks
- The command line program has a database for each session (`store.db`), with messages of the AI SDK. convcli reads it
  as an object: the record of the agent with the list `messages`.
- The editor has one database for all sessions (`state.vscdb`). A session is an object with the list `bubbles`, or with
  `conversation` in older versions. A bubble is a text, a thought or a call with its result. Those in a row are one
  answer, up to a result.
- A transcript (`agent-transcripts/*.jsonl`) lacks ids of calls, and most results and thoughts. What Cursor left out is
  `[REDACTED]`.
- The program writes `<user_query>` around the user's words, and `<user_info>` into messages of its own.
- Arguments and results of a call in the editor are JSON in strings.
"""

from __future__ import annotations

from typing import Any

from convcli.families.ai_sdk.parts import media_at
from convcli.families.chats import add_with_results
from convcli.families.google.contents import adopt
from convcli.kit import editors, results, sessions
from convcli.kit.blocks import Block, BlockRows, in_metadata
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, UPDATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import (
    Native,
    add_extras,
    as_object,
    as_text,
    except_keys,
    make_extras,
    objects_in,
    without_empty,
)
from convcli.kit.pairing import UNKNOWN
from convcli.kit.settings import whole
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths, read_json, take_counts
from convcli.model.dialect import Dialect, Program, ProgramTurns, tags
from convcli.model.transcript import Message, Part, Path, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, links

NAME = "cursor"
TRANSCRIPT, AGENT, COMPOSER = "transcript", "agent", "composer"
BUBBLES = ("bubbles", "conversation")
ROLES = {1: "user", 2: "assistant"}
"""The role of each type of bubble."""
REDACTED = "[REDACTED]"
FAILED = {"error": None, "cancelled": "cancelled"}
"""States of failed calls, with the status of the result."""
AGENTS = Envelope(
    "agentId=id name=title createdAt lastUsedModel=model workspacePath=cwd messages=",
    {"createdAt": CREATED_IN_MILLISECONDS},
)
COMPOSERS = Envelope(
    "composerId=id name=title createdAt lastUpdatedAt bubbles= conversation=",
    {"createdAt": CREATED_IN_MILLISECONDS, "lastUpdatedAt": UPDATED_IN_MILLISECONDS},
)
MESSAGE = Envelope("role= id=id content= createdAt providerOptions", {"createdAt": CREATED_IN_MILLISECONDS})
ROW = Envelope("role= message= model=model")
BUBBLE = Envelope(
    "type= bubbleId=id text= createdAt=created_at thinking= toolFormerData= tokenCount= modelInfo richText"
)
COUNTS = counts("inputTokens=inputTokens outputTokens=outputTokens")
Placed = list[tuple[Part, Path]]


def _media(kind: Any, tag: str) -> Block:
    def read(native: Native, _: LiftContext) -> Part | None:
        place, typed = (
            as_text(native.get("image", native.get("data"))),
            native.get("mediaType") or native.get("mimeType"),
        )
        if place is None or not isinstance(typed, str | None):
            return None
        part = media_at(kind, place, typed or None, addressed=False)
        read = "image" if "image" in native else "data", "mediaType" if native.get("mediaType") else "mimeType"
        part.extras = make_extras(NAME, except_keys(native, "type", *read))
        return part

    return Block(tag, kind, read, lambda _: None)


ROWS = BlockRows(NAME, "type")
TEXT = ROWS.record("text", Text(""), "type text", {"text": whole("text")})
PARTS = ROWS.table(
    TEXT,
    ROWS.record(
        "reasoning",
        Reasoning(""),
        "type text signature",
        {"text": whole("text"), "signature": in_metadata("signature")},
    ),
    ROWS.record("redacted-reasoning", Reasoning(""), "type data", {"data": in_metadata("redactedData")}),
    ROWS.call("tool-call", "type= toolCallId=id toolName=name args=arguments"),
    _media("image", "image"),
)
BLOCKS = ROWS.table(
    TEXT,
    ROWS.record("thinking", Reasoning(""), "type thinking", {"thinking": whole("text")}),
    ROWS.call("tool_use", "type= id=id name=name input=arguments"),
    ROWS.call("tool_call", "type= id=id name=name input=arguments"),
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    if isinstance(document, list):
        context.origin.form = TRANSCRIPT
        for i, row in enumerate(document):
            _lift_row(row, i, context)
        adopt(context)
    elif "agentId" in document:
        context.origin.form = AGENT
        transcript.extras = make_extras(NAME, AGENTS.lift(document, transcript))
        for i, native in enumerate(document["messages"]):
            _lift_message(native, i, context)
    else:
        context.origin.form = COMPOSER
        transcript.extras = make_extras(NAME, COMPOSERS.lift(document, transcript))
        key = next((key for key in BUBBLES if document.get(key)), BUBBLES[0])
        for i, bubble in enumerate(document.get(key) or ()):
            _lift_bubble(bubble, (key, i), context)
    return transcript


def _lift_row(row: Any, i: int, context: LiftContext) -> None:
    """Lifts a row of a transcript."""
    if not isinstance(row, dict) or row.get("role") not in ROLES.values():
        sessions.add_event(context, row, (i,))
        return
    message = Message(row["role"], [])
    rest = except_keys(row["message"], "content")
    message.extras = make_extras(NAME, ROW.lift(row, message), message=rest)
    placed: Placed = [
        (_lift_block(block, context), ("message", "content", k)) for k, block in enumerate(row["message"]["content"])
    ]
    add_with_results(message, placed, (i,), context)


def _lift_block(block: Native, context: LiftContext) -> Part:
    if block["type"] in ("tool_result", "tool-result"):
        return _lift_result(block, ("tool_use_id", "name", "content"), context)
    if block["type"] == "text" and str(block.get("text")).strip() == REDACTED:
        return Reasoning(
            block["text"], extras=make_extras(NAME, {"redacted": True, **except_keys(block, "type", "text")})
        )
    return BLOCKS.lift(block, context)


def _lift_message(native: Native, i: int, context: LiftContext) -> None:
    """Lifts a message of the AI SDK."""
    message = Message(native["role"], [])
    extra = MESSAGE.lift(native, message) or {}
    message.model = as_text(as_object(as_object(native.get("providerOptions")).get(NAME)).get("modelName"))
    message.extras = make_extras(NAME, extra)
    content = native.get("content") or []
    if isinstance(content, str):
        add_with_results(message, [(Text(content), ("content",))], ("messages", i), context)
        return
    placed: Placed = []
    for k, block in enumerate(content):
        is_result = block["type"] == "tool-result"
        part = (
            _lift_result(block, ("toolCallId", "toolName", "result"), context)
            if is_result
            else PARTS.lift(block, context)
        )
        placed.append((part, ("content", k)))
    add_with_results(message, placed, ("messages", i), context)


def _lift_result(block: Native, keys: tuple[str, str, str], context: LiftContext) -> ToolResult:
    """Lifts a result: a text, blocks of texts, or any other value."""
    id_key, name_key, value_key = keys
    [ids] = context.pairing.results([(as_text(block.get(id_key)), as_text(block.get(name_key)))])
    value: Any = block.get(value_key)
    items = objects_in(value)
    are_texts = bool(items) and len(items) == len(value) and all(map(_is_text, items))
    is_error = block.get("isError") is True or block.get("is_error") is True
    if are_texts or isinstance(value, str):
        parts: list[Part] = [Text(value)] if isinstance(value, str) else [Text(item["text"]) for item in items]
        result = results.result_of_parts(*ids, parts, failed=is_error)
    else:
        result = ToolResult(*ids, "data", value, is_error=is_error or None)
    usual = {"isError": is_error, "is_error": is_error, "type": block["type"]}
    rest = {key: one for key, one in without_empty(block, *keys).items() if usual.get(key) != one}
    result.extras = make_extras(NAME, rest)
    return result


def _is_text(item: Native) -> bool:
    return item.keys() == {"type", "text"} and item["type"] == "text" and isinstance(item["text"], str)


# ---------------------------------------------------------------- bubbles


def _lift_bubble(native: Any, path: Path, context: LiftContext) -> None:
    """Lifts a bubble, and the result of its call."""
    kind: Any = native.get("type") if isinstance(native, dict) else None
    role = ROLES.get(kind) if isinstance(kind, int) else None
    if role is None:
        sessions.add_event(context, native, path)
        return
    message = Message(role, [])
    extra = BUBBLE.lift(native, message) or {}
    named = as_text(as_object(native.get("modelInfo")).get("modelName"))
    message.model = None if named == "default" else named
    stated = native.get("tokenCount")
    usage, counted = take_counts(as_object(stated), COUNTS)
    message.usage = usage if any(usage.values()) else None
    counted = counted if message.usage else as_object(stated)
    rest = {"tokenCount": stated} if stated and not isinstance(stated, dict) else {}
    placed, answer, others = _lift_content(native, context)
    message.parts = [part for part, _ in placed]
    message.extras = make_extras(NAME, {**extra, **rest, **others}, tokenCount=counted if any(counted.values()) else {})
    before = context.messages[-1] if context.messages else None
    if before is not None and _continues(message, before):
        _join(message, before, placed, path, context)
    else:
        context.add(message, path, [at for _, at in placed])
    if answer is not None:
        context.add(Message("tool", [answer]), path, [("toolFormerData", "result")])


def _continues(message: Message, before: Message) -> bool:
    """True if a bubble belongs to the answer before it."""
    are_answers = message.role == before.role == "assistant" and bool(message.parts)
    return are_answers and message.model in (None, before.model) and not (message.usage and before.usage)


def _join(message: Message, before: Message, placed: Placed, path: Path, context: LiftContext) -> None:
    """Adds the parts of a bubble to the answer before it. The first of them has the other facts of the bubble."""
    first, part_paths = context.origin.places[-1]
    facts = {"bubbleId": message.id, "createdAt": message.created_at, **((message.extras or {}).get(NAME) or {})}
    add_extras(message.parts[0], NAME, None, bubble=without_empty(facts))
    if message.usage:
        before.usage = message.usage
        context.origin.routes[(*first, "tokenCount")] = (*path, "tokenCount")
    before.parts += message.parts
    part_paths += [("..", *path[1:], *at) for _, at in placed]  # type: ignore[operator]


def _lift_content(native: Native, context: LiftContext) -> tuple[Placed, ToolResult | None, Native]:
    """Returns the parts of a bubble, its result, and what of its content is no part."""
    placed: Placed = []
    rest: Native = {}
    thinking: Any = native.get("thinking")
    tool: Any = native.get("toolFormerData")
    if as_text(as_object(thinking).get("text")) is not None:
        signature = as_text(thinking.get("signature"))
        metadata = {"signature": signature} if signature else None
        used = ("text", *["signature"] * (signature is not None))
        part = Reasoning(thinking["text"], metadata=metadata, extras=make_extras(NAME, without_empty(thinking, *used)))
        placed.append((part, ("thinking",)))
    elif thinking:
        rest["thinking"] = thinking
    if as_text(native.get("text")) is not None:
        placed.append((Text(native["text"]), ("text",)))
    if not isinstance(tool, dict) or not tool:
        return placed, None, rest
    name = as_text(tool.get("name"))
    if name is None:
        context.pairing.invented.add(UNKNOWN)
    written = "rawArgs" if as_text(tool.get("rawArgs")) is not None else "params"
    call = ToolCall(context.pairing.call(as_text(tool.get("toolCallId")), name or UNKNOWN), name or UNKNOWN, {})
    call.arguments, call.raw_arguments = arguments_of(tool.get(written) or None)
    output, status = tool.get("result"), as_text(tool.get("status")) or ""
    is_failed = status in FAILED
    answer = None
    if output is not None or is_failed:
        answer = _result_of(*context.pairing.result(call.id, call.name), output)
        if is_failed:
            results.fail(answer)
            answer.status = FAILED[status]
    usual = "completed" if answer is not None and not is_failed else status if is_failed else None
    used = ("toolCallId", "name", written, "result", *["status"] * (status == usual))
    call.extras = make_extras(NAME, without_empty(tool, *used))
    placed.append((call, ("toolFormerData",)))
    return placed, answer, rest


def _result_of(id_: str, name: str, output: Any) -> ToolResult:
    """Returns the result that is JSON in a string, or any other string."""
    value = read_json(output) if isinstance(output, str) else output
    if isinstance(value, dict | list) or not isinstance(output, str | None):
        return ToolResult(id_, name, "data", value)
    return ToolResult(id_, name, "text", output or "")


AGENT_PROGRAM = Program(NAME, ".cursor", "chats/*/*/store.db projects/*/agent-transcripts/**/*.jsonl")
EDITOR = Program("cursor-editor", ".", editors.patterns("Cursor*", "globalStorage/state.vscdb"))

DIALECT = Dialect(
    name=NAME,
    title="Cursor",
    specification="databases and transcripts of Cursor as other readers describe them; read 2026-11-27",
    framings=("events", "document", "records"),
    forms=(TRANSCRIPT, AGENT, COMPOSER),
    programs=(AGENT_PROGRAM, EDITOR),
    program_turns=ProgramTurns(tags("user_info", "system_reminder")),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places={
        **BLOCKS.places(),
        **PARTS.places(),
        **AGENTS.places(),
        **COMPOSERS.places(),
        **MESSAGE.places("message"),
        **paths(
            "message.model=providerOptions/cursor/modelName reasoning.text=text tool_result.toolCallId=toolCallId "
            "extras.message=message extras.bubble=.. message.usage=tokenCount"
        ),
    },
    content=fields("unlistedBubbles unlistedMessages"),
    metadata=fields("richText turn_ended context workspaceIdentifier"),
    envelope=fields(
        "richText context _v modelConfig fullConversationHeadersOnly latestRootBlobId mode blobEncryptionKey "
        "providerOptions tokenCount modelInfo redacted tool params message bubble"
    ),
)
