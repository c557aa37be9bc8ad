"""Sessions of Grok Build: `chat_history.jsonl` in a folder of `~/.grok/sessions`, one item per line.

Specification: none is published. Source: crates/codegen/xai-grok-sampling-types/src/conversation.rs and
xai-grok-shell/src/session of xai-org/grok-build at 19d42e35; read 2026-11-27.

Quirks
- Reasoning and the actions of xAI's own tools are rows before the answer that they belong to: consecutive rows of the
  model up to an answer are one message. Reasoning is an item of OpenAI's Responses API.
- `synthetic_reason` marks what the program wrote in the user's place; `prompt_index` numbers the user's prompts.
- A result is one text, followed by images. It has no field for a failure.
- The rows have no ids, times or token counts. Title, directory and times of a session are in `summary.json` next to it,
  without which the program does not find it; what the user saw is in `updates.jsonl`. convcli reads neither.
- Rows of version 0 have a role. A file of them is a list of Chat Completions; among other rows they are events.
"""

from __future__ import annotations

import os
from itertools import count, zip_longest
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from convcli.families.openai.request import media_of_url, url_of_media
from convcli.families.responses import items
from convcli.kit import fitting, passes, results, sessions
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, except_keys, get_extras, make_extras
from convcli.kit.settings import whole
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, ReadCompanion, SessionFacts, tags
from convcli.model.document import Rows
from convcli.model.errors import JobError
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, Transcript
from convcli.validation.rules import arguments, links

NAME = "grok-build"
REASONING, ACTION, ITEM_ID, JOINT = "reasoning", "backend_tool_call", "itemId", "\n\n"
ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool_result": "tool"}
ANSWER = Envelope("type= content= tool_calls= model_id=model model_fingerprint reasoning_effort")


def _lift_image(native: Native, _: LiftContext) -> Media:
    return media_of_url("image", native["url"], extras=make_extras(NAME, except_keys(native, "type", "url")))


def _write_image(part: Media) -> Native | None:
    url = url_of_media(part)
    return None if url is None else {"type": "image", "url": url, **get_extras(part.extras, NAME)}


CALL = CallTable("id=id name=name arguments=arguments", form="json")
BLOCKS = BlockRows(NAME, "type")
PARTS = BLOCKS.table(
    BLOCKS.record("text", Text(""), "type text", {"text": whole("text")}),
    Block("image", "image", _lift_image, _write_image),
)
MOST_BYTES = 255
"""Of a folder name. The program names the folder of a longer directory by a hash."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    waiting: list[tuple[int, Part]] = []
    for i, row in enumerate(document):
        kind = row.get("type") if isinstance(row, dict) else None
        if kind == REASONING:
            waiting.append((i, items.lift_reasoning(row, NAME)))
        elif kind == ACTION:
            waiting.append((i, Opaque(NAME, row)))
        elif kind == "assistant":
            _add_answer(row, i, waiting, context)
            waiting = []
        else:
            _add_waiting(waiting, context)
            waiting = []
            _add(row, kind, i, context)
    _add_waiting(waiting, context)
    return context.transcript()


def _add_answer(native: Native, i: int, waiting: list[tuple[int, Part]], context: LiftContext) -> None:
    text, calls = native["content"], native.get("tool_calls") or []
    parts = [part for _, part in waiting] + ([Text(text)] if text else [])
    places: list[Path] = [("..", at) for at, _ in waiting] + ([("content",)] if text else [])
    parts += [CALL.lift(call, context) for call in calls]
    places += [("tool_calls", k) for k in range(len(calls))]
    message = Message("assistant", parts)
    message.extras = make_extras(NAME, ANSWER.lift(native, message))
    context.add(message, (i,), places)


def _add_waiting(waiting: list[tuple[int, Part]], context: LiftContext) -> None:
    """Adds reasoning and actions that no answer follows, as a message."""
    if waiting:
        context.add(Message("assistant", [part for _, part in waiting]), (), [(at,) for at, _ in waiting])


def _add(row: Any, kind: Any, i: int, context: LiftContext) -> None:
    """Adds an instruction, a message of the user, a result or an event."""
    if kind not in ROLES:
        sessions.add_event(context, row, (i,))
        return
    content: Any = row["content"]
    places: list[Path] = [("content",)]
    parts: list[Part] = [Text(content)] if isinstance(content, str) else [PARTS.lift(part, context) for part in content]
    known = ["type", "content"]
    if kind == "user":
        places = places if isinstance(content, str) else [("content", k) for k in range(len(content))]
    elif kind == "tool_result":
        known, places = [*known, "tool_call_id", "images"], [()]
        inside: list[Part] = [Text(content)] if content or not row.get("images") else []
        inside += [PARTS.lift_inside(part, context) for part in row.get("images") or ()]
        ids = context.pairing.result(row.get("tool_call_id") or None, None)
        parts = [results.result_of_parts(*ids, inside, failed=False)]
    context.add(Message(ROLES[kind], parts, extras=make_extras(NAME, except_keys(row, *known))), (i,), places)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a session."""
    pairs = zip_longest(transcript.messages, transcript.messages[1:])
    return Rows([row for message, behind in pairs for row in _write_message(message, behind)])


def _write_message(message: Message, behind: Message | None) -> list[Any]:
    extra = get_extras(message.extras, NAME)
    if message.role == "assistant":
        return _write_answer(message, extra, is_continued=behind is not None and behind.role == "assistant")
    if message.role == "event":
        return [sessions.row_of_event(message, NAME)]
    if message.role == "tool":
        return [{**_write_result(message), **extra}]
    if message.role == "user":
        content = [block for part in message.parts if (block := PARTS.write(part)) is not None]
        return [{"type": "user", "content": content, **extra}]
    return [{"type": "system", "content": text_of(message.parts, JOINT), **extra}]


def _write_answer(message: Message, extra: Native, *, is_continued: bool) -> list[Any]:
    """Returns the rows of an answer. Reasoning and actions alone need no row behind them, unless another answer
    follows, to which they would then belong."""
    rows = [row for part in message.parts if (row := _write_before(part)) is not None]
    calls = [CALL.write(part, NAME) for part in message.parts if isinstance(part, ToolCall)]
    text, called = text_of(message.parts, JOINT), {"tool_calls": calls} if calls else {}
    if rows and not (text or calls or extra or message.model or is_continued):
        return rows
    return [*rows, ANSWER.write(message, extra, type="assistant", content=text, **called)]


def _write_before(part: Part) -> Any:
    if isinstance(part, Reasoning):
        return items.write_reasoning(part, NAME)
    value = part.value if isinstance(part, Opaque) else None
    return value if isinstance(value, dict) and value.get("type") == ACTION else None


def _write_result(message: Message) -> Native:
    result = results.result_of(message)
    if result is None:
        return {"type": "tool_result", "content": ""}
    inside = result.value if result.kind == "multimodal" else []
    images = [image for part in inside if isinstance(part, Media) and (image := PARTS.write_inside(part)) is not None]
    native = {"type": "tool_result", "tool_call_id": result.tool_call_id, "content": results.in_words(result)}
    return {**native, "images": images} if images else native


# ---------------------------------------------------------------- fit


def _add_reasoning_ids(transcript: Transcript) -> Transcript:
    """Gives reasoning the id that the program requires of it."""
    numbers = count(1)
    stated = [part.metadata for message in transcript.messages for part in message.parts if part.type == REASONING]
    taken = {metadata.get(ITEM_ID) for metadata in stated if metadata}

    def add_id(part: Part) -> Part:
        if not isinstance(part, Reasoning) or (part.metadata or {}).get(ITEM_ID):
            return part
        id_ = next(id_ for n in numbers if (id_ := f"rs_{n}") not in taken)
        return replace(part, metadata={**(part.metadata or {}), ITEM_ID: id_})

    return passes.on_each_part(add_id)(transcript)


def _is_turn(row: Any) -> bool:
    return isinstance(row, dict) and row.get("type") in (*ROLES, REASONING, ACTION)


RESULTS = results.with_plain_failures(results.TEXT_AND_FILES)
FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, _is_turn),
    sessions.set_models_of_answers,
    *sessions.plain_turns(RESULTS),
    fitting.sort_parts("reasoning opaque", "text", "tool_call"),
    _add_reasoning_ids,
    fitting.settle_by_reading_back(lift, write, "session"),
)


def _place(facts: SessionFacts) -> str:
    """Returns the path of the session. Raises JobError if the program would name the folder by a hash."""
    folder = quote(facts.cwd, safe="")
    if len(folder) > MOST_BYTES:
        raise JobError(
            "usage", f"Grok Build names the folder of this directory by a hash: {len(folder)} bytes are too long"
        )
    return f"sessions/{folder}/{facts.id}/chat_history.jsonl"


def _files(document: Any, facts: SessionFacts, path: str) -> dict[str, Any]:
    """Returns a session, and its summary, without which the program does not find it."""
    titled = {"generated_title": facts.title} if facts.title else {}
    times = {"created_at": facts.begin, "updated_at": facts.begin, "num_messages": 0}
    summary = {"info": {"id": facts.id, "cwd": facts.cwd}, "session_summary": facts.title or "", **times}
    summary |= {"current_model_id": facts.model or "grok-build", "chat_format_version": 1, **titled}
    return {os.path.basename(path): document, "summary.json": summary}


def _directory(path: str, read: ReadCompanion) -> Any:
    summary = as_object(read(os.path.join(os.path.dirname(path), "summary.json")))
    return as_object(summary.get("info")).get("cwd")


PROGRAM = Program(
    NAME,
    ".grok",
    "sessions/*/*/chat_history.jsonl",
    "GROK_HOME",
    _place,
    "grok --resume {id}",
    files=_files,
    directory=_directory,
)

SUPPORTS = TURNS | media("image", "data url mediaType")
SUPPORTS |= fields("message.model reasoning.summary reasoning.metadata tool_call.rawArguments")

DIALECT = Dialect(
    name=NAME,
    title="Grok Build",
    specification="sessions of Grok Build, xai-org/grok-build at 19d42e35; read 2026-11-27",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    program_turns=ProgramTurns(tags("user_info", "system-reminder")),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS,),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    supports=SUPPORTS,
    reasons={
        **sessions.NOTHING_SENT,
        "event": sessions.REASONS["event"],
        "model": sessions.REASONS["model"],
        "text": "an answer or an instruction of Grok Build has one text",
        "refusal": "Grok Build has no field for a refusal: it is written as text",
        "metadata": "Grok Build stores ids and encrypted content of reasoning, and no other metadata",
    },
    places=CALL.places
    | paths(
        "message.model=model_id message.role=type reasoning.text=content reasoning.summary=summary "
        "reasoning.metadata.itemId=id reasoning.metadata.encryptedContent=encrypted_content "
        "tool_result.toolCallId=tool_call_id tool_result.value=content tool_result.kind=content"
    ),
    envelope=frozenset(("prompt_index", "cwd_generation", "model_fingerprint", "reasoning_effort")),
    metadata=frozenset(("synthetic_reason", "prior_turn_interrupt", "model_fingerprint", "reasoning_effort")),
)
