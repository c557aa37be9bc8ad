"""Conversations of gptme: `conversation.jsonl` in a folder of `~/.local/share/gptme/logs`, one message per line.

Specification: none is published. Source: gptme/message.py, gptme/logmanager and gptme/llm of gptme/gptme at d27f98d3,
and gptme 0.35.1, run; read 2026-11-27.

Quirks
- Calls and thoughts are in the text of the answer (`content.py`). Only calls in the tool format (`@name(id): {…}`) have
  an id and are read; calls as fenced blocks or XML are text, since they depend on the tools of the program.
- A result is a system message with the `call_id`; `metadata.tool` names its tool. The result of a fenced block has no
  id and is a system message like any other. Other programs write the role `tool`, which is kept.
- `files` are paths and URLs. The program sends images, and the texts of other files.
- Times have no zone. Token counts do not include cached tokens in the input. Older versions have them in `metadata`.
- Title and directory of the conversation are in other files of its folder, which convcli does not read.
"""

from __future__ import annotations

import os
from typing import Any

from msgspec.structs import replace

from convcli.dialects.gptme import content
from convcli.families.anthropic.usage import keep_supported_usage, lift_usage, write_usage
from convcli.kit import custom, fitting, passes, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_text, get_extras, make_extras, omit, without_empty
from convcli.kit.renaming import WORD, Alphabet, rename_tools_and_ids
from convcli.kit.results import ResultTexts, one_result_each, result_of, separate_results
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.usage import COST
from convcli.kit.values import counts, paths, usage_places
from convcli.model.dialect import (
    Dialect,
    Options,
    Program,
    ProgramTurns,
    ReadCompanion,
    SessionFacts,
    tags,
)
from convcli.model.document import Rows
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    Message,
    Part,
    PartPaths,
    Path,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links

NAME = "gptme"
ROLES = ("system", "user", "assistant", "tool")
RESULT_ROLES = ("system", "tool")
ROW = Envelope(
    "role= content= timestamp=created_at files= file_hashes pinned hide ui_only ephemeral_ttl call_id= metadata="
)
METADATA = Envelope("model=model resolved_model served_model cost usage tool", {"cost": COST})
COUNTS = counts(
    "input_tokens=inputTokens output_tokens=outputTokens cache_read_tokens=cacheReadTokens "
    "cache_creation_tokens=cacheWriteTokens reasoning_tokens=reasoningTokens"
)
OWN = frozenset(("pinned", "hide", "ui_only", "ephemeral_ttl", "file_hashes", "call_id"))
"""Keys that mark a message of gptme."""
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
NAMES, IDS = (
    Alphabet("letters, digits, _ and .", WORD + ".", 0),
    Alphabet("letters, digits, _, -, : and .", WORD + "-:.", 0),
)
RESULTS = ResultTexts("")


def _is_message(row: Any) -> bool:
    return isinstance(row, dict) and row.get("role") in ROLES and isinstance(row.get("content"), str)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation."""
    context = LiftContext(NAME, document)
    for i, row in enumerate(document):
        if _is_message(row):
            context.add(*_lift_message(row, i, context))
        else:
            sessions.add_event(context, row, (i,))
    return context.transcript()


def _lift_message(row: Native, i: int, context: LiftContext) -> tuple[Message, Path, PartPaths]:
    message, call_id = Message(row["role"], []), as_text(row.get("call_id"))
    extra = ROW.lift(row, message)
    metadata = _lift_metadata(row.get("metadata") or {}, message)
    if call_id and message.role in RESULT_ROLES:
        id_, name = context.pairing.result(call_id, as_text(metadata.pop("tool", None)))
        message.role, message.parts = "tool", [ToolResult(id_, name, "text", row["content"])]
        places: list[Path] = [()]
    else:
        kept = {"role": message.role if message.role == "tool" else None, "call_id": call_id}
        extra = {**(extra or {}), **without_empty(kept)}
        message.role = "system" if message.role == "tool" else message.role
        message.parts = content.read(row["content"]) if message.role == "assistant" else _text(row["content"])
        places = [("content",)] * len(message.parts)
    for part in message.parts:
        if isinstance(part, ToolCall):
            context.pairing.call(part.id, part.name)
    named = row.get("files") or []
    files = [_lift_file(name) for name in named] if message.role != "tool" else []
    extra = {**(extra or {}), "files": named} if named and not files else extra
    message.parts += files
    message.extras = make_extras(NAME, extra, metadata=metadata)
    return message, (i,), [*places, *(("files", k) for k in range(len(files)))]


def _text(text: str) -> list[Part]:
    return [Text(text)] if text else []


def _lift_metadata(native: Native, message: Message) -> Native:
    """Sets the model, the counts and the cost. Returns the extras."""
    if "usage" not in native:
        flat = {key: native[key] for key in native if (key,) in COUNTS}
        native = {**omit(native, *flat), "usage": flat} if flat else native
    usage, rest = lift_usage(native.get("usage") or {}, COUNTS)
    message.usage = usage or None
    return {**(METADATA.lift(omit(native, "usage"), message) or {}), **({"usage": rest} if rest else {})}


def _lift_file(name: str) -> Media:
    kind: Any = "image" if name.lower().endswith(IMAGES) else "document"
    return Media(kind, url=name) if "://" in name else Media(kind, path=name)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the lines of a conversation."""
    return Rows([_write_message(message) for message in transcript.messages])


def _write_message(message: Message) -> Any:
    if message.role == "event":
        return sessions.row_of_event(message, NAME)
    extra = dict(get_extras(message.extras, NAME))
    inner, result = extra.pop("metadata", {}), result_of(message)
    usage = write_usage(message.usage or {}, inner.get("usage", {}), COUNTS)
    tool = inner.get("tool") if result is None else result.name
    metadata = METADATA.write(message, omit(inner, "usage", "tool"), usage=usage, tool=tool)
    files = [name for part in message.parts if isinstance(part, Media) and (name := part.path or part.url)]
    call_id = extra.pop("call_id", None) if result is None else result.tool_call_id
    more = {"files": files, "call_id": call_id, "metadata": without_empty(metadata)}
    role = extra.pop("role", "system" if message.role == "tool" else message.role)
    return ROW.write(message, extra, role=role, content=_write_content(message, result), **without_empty(more))


def _write_content(message: Message, result: ToolResult | None) -> str:
    if result is not None:
        return str(RESULTS.value(result))
    return content.write(message.parts) if message.role == "assistant" else text_of(message.parts, "\n\n")


# ---------------------------------------------------------------- fit


def _keep_readable_arguments(part: ToolCall, _: Message) -> ToolCall:
    """Drops a string of arguments whose end the program would not find."""
    raw = part.raw_arguments
    is_read = raw is None or (raw.startswith("{") and content.end_of_object(raw) == len(raw))
    return part if is_read else replace(part, raw_arguments=None)


def _keep_counts(message: Message) -> Message:
    usage = keep_supported_usage(message.usage or {}, COUNTS)
    return message if usage == message.usage else replace(message, usage=usage)


FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, _is_message),
    sessions.set_models_of_answers,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    custom.as_functions,
    separate_results,
    one_result_each,
    rename_tools_and_ids(NAMES, IDS),
    passes.on_parts(_keep_readable_arguments, "tool_call"),
    passes.on_results(RESULTS.fits),
    passes.on_each_message(_keep_counts),
    sessions.set_times,
    fitting.settle_by_reading_back(lift, write, "log"),
)


def _place(facts: SessionFacts) -> str:
    return f"{facts.id}/conversation.jsonl"


def _directory(path: str, _: ReadCompanion) -> str | None:
    """Returns the working directory, to which the folder of a conversation has a link."""
    link = os.path.join(os.path.dirname(path), "workspace")
    return os.path.realpath(link) if os.path.islink(link) else None


PROGRAM = Program(
    NAME,
    ".local/share/gptme/logs",
    "*/conversation.jsonl */branches/*.jsonl",
    "GPTME_LOGS_HOME",
    _place,
    "gptme --name {id}",
    directory=_directory,
)

SUPPORTS = TEXTS | CALLS | media("image document", "url path") | ROW.supports("message")
SUPPORTS |= fields("message.model message.cost message.usage reasoning.text reasoning.metadata tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="gptme",
    specification="conversations of gptme 0.35.1 and of its source at d27f98d3; read 2026-11-27",
    framings=("events",),
    forms=("log",),
    programs=(PROGRAM,),
    program_turns=ProgramTurns(tags("system")),
    content=fields("files"),
    lift=lift,
    write=write,
    fit=FIT,
    repeats=frozenset(("/*/metadata/usage/input_tokens", "/*/metadata/input_tokens")),
    conventions=(RESULTS.convention(),),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    supports=SUPPORTS,
    reasons={
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "text": "the texts of a gptme message are one string",
        "refusal": "gptme has no field for a refusal: it is written as text",
        "metadata": "gptme stores the signature of a thought, and no other metadata",
        **dict.fromkeys(MEDIA_KINDS, "gptme stores the path or URL of a file"),
    },
    places=paths(
        "message.createdAt=timestamp message.model=metadata/model "
        "message.cost=metadata/cost tool_result.toolCallId=call_id tool_result.name=metadata/tool "
        "tool_result.value=content tool_result.kind=content extras.metadata=metadata"
    )
    | usage_places(COUNTS, "metadata", "usage"),
    metadata=frozenset(("metadata", *OWN)),
    envelope=frozenset(("metadata", *OWN)),
)
