"""Cline and Roo Code: task histories, and sessions and compactions of the Cline SDK.

Specification: apps/vscode/src/shared/messages and sdk/packages/core/docs/messages-contract-v1.md of cline/cline at
21cb8d25, src/core/task-persistence of RooCodeInc/Roo-Code at cb836567; read 2026-11-22.

Quirks
- A task is a bare list of Anthropic messages with times, models and costs added. A list without these is read as
  Anthropic. A session is an object, whose messages have other keys for the same facts.
- Input counts include cached tokens. `tokens.cached` is a sum that cannot be split; it is kept as an extra.
- SDK tools return lists of any values. `success` in them is data: only `is_error` marks a failed tool.
- The second version of Roo Code's file, with AI SDK messages, is a form of `vercel-ai`.
- The model sees nothing before Roo's `isSummary` or the SDK's `metadata.kind`. Roo's truncations, which hide messages
  in the middle, and its reasoning are extras. Cline itself does not mark a summary in a task.
"""

from __future__ import annotations

import os
from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic import policy, response
from convcli.families.anthropic.blocks import REASONS as OF_BLOCKS
from convcli.families.anthropic.blocks import Blocks, bare_image, usual_blocks
from convcli.families.anthropic.messages import Turns, joins_bare_results, lift_system
from convcli.kit import fitting, passes, results, sessions
from convcli.kit.blocks import in_metadata
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, REPLACES_ALL, Envelope
from convcli.kit.objects import Native, get_extras, make_extras
from convcli.kit.settings import Setting
from convcli.kit.supported import TEXTS, fields
from convcli.kit.usage import Usage
from convcli.model.dialect import (
    Dialect,
    Options,
    Pass,
    Program,
    ProgramTurns,
    ReadCompanion,
    SessionFacts,
    tags,
)
from convcli.model.transcript import Part, Text, ToolResult, Transcript
from convcli.validation.rules import links, turns

NAME = "cline"
SIGNATURE = "thoughtSignature"
"""The metadata name of Gemini's `signature` on texts and calls."""
KINDS = {"compaction_summary": "all", "compaction": "all"}
KIND = Setting("replaces", KINDS.get, {"all": "compaction_summary"}.get, partial=True)
FIELDS: dict[str, str | Setting] = {"id": "id", "ts": CREATED_IN_MILLISECONDS}
TASK_METRICS = Usage({("tokens", "prompt"): "inputTokens", ("tokens", "completion"): "outputTokens"})
TASK = Envelope(
    "role= content= modelInfo id metrics ts isSummary",
    {**FIELDS, "isSummary": REPLACES_ALL},
    nested={"modelInfo": Envelope("modelId=model providerId=provider mode"), "metrics": TASK_METRICS},
)
SESSION_COUNTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
SESSION_METRICS = Usage({(name,): name for name in SESSION_COUNTS})
SESSION = Envelope(
    "id role= content= ts modelInfo metrics metadata",
    FIELDS,
    nested={
        "modelInfo": Envelope("id=model provider=provider family"),
        "metadata": Envelope("kind", {"kind": KIND}),
        "metrics": SESSION_METRICS,
    },
)
HEADER = Envelope("version updated_at=updated_at agent sessionId=id taskType origin messages= system_prompt=")
SYSTEM = "system_prompt"
COMPACTION = "conversation_id source_message_count source_prefix_hash source_last_message_key"
ROLES = {"reasoning": ("assistant",), "tool_call": ("assistant",)}


BARE_IMAGE = bare_image(NAME)
USUAL = usual_blocks(NAME, {"signature": in_metadata(SIGNATURE)})
BLOCKS = Blocks(NAME, replace(BARE_IMAGE, write=lambda _: None), *USUAL, lists="data")
TASKS = Turns(BLOCKS, TASK, joins_bare_results, strings=False)
SESSIONS = Turns(Blocks(NAME, BARE_IMAGE, *USUAL, lists="data", names=True), SESSION, joins_bare_results, strings=False)


def lift(document: Any) -> Transcript:
    """Returns the transcript of a task or of a session."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        TASKS.lift_each(document, (), context)
        return context.transcript()
    lift_system(document.get(SYSTEM), SYSTEM, context, SESSIONS.blocks)
    SESSIONS.lift_each(document["messages"], ("messages",), context)
    transcript = context.transcript()
    transcript.extras = make_extras(NAME, HEADER.lift(document, transcript))
    return transcript


def form_of(transcript: Transcript) -> str:
    """Returns the session form for transcripts with session header fields, else the task form."""
    return "session" if get_extras(transcript.extras, NAME) else "task"


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a task, or a session with leading instructions as its `system_prompt`."""
    messages = transcript.messages
    if options.form != "session":
        return TASKS.write(messages)
    system = fitting.instruction_of(messages)
    content = {"messages": SESSIONS.write(messages[bool(system) :]), **({SYSTEM: system} if system else {})}
    return HEADER.write(transcript, get_extras(transcript.extras, NAME), **content)


def _add_version(transcript: Transcript) -> Transcript:
    """States the version of a new session."""
    is_own = bool(get_extras(transcript.extras, NAME))
    return transcript if is_own else replace(transcript, extras={**(transcript.extras or {}), NAME: {"version": 1}})


SESSION_SUFFIX = ".messages.json"
"""Suffix of a session file; its manifest has the same stem."""


def _place(facts: SessionFacts) -> str:
    return f"data/sessions/{facts.id}/{facts.id}{SESSION_SUFFIX}"


def _files(document: Any, facts: SessionFacts, path: str) -> dict[str, Any]:
    """Returns the session, and the manifest of an ended session.

    @cline/core 0.0.86 does not find a session without one, and accepts no empty string in it.
    """
    manifest: Native = {
        "version": 1,
        "session_id": facts.id,
        "source": "cli",
        "pid": 1,
        "started_at": facts.begin,
        "status": "completed",
        "interactive": True,
        "provider": facts.provider or "cline",
        "model": facts.model or "unknown",
        "cwd": facts.cwd,
        "workspace_root": facts.cwd,
        "enable_tools": True,
        "enable_spawn": True,
        "enable_teams": True,
        "messages_path": path,
    }
    manifest |= {"metadata": {"title": facts.title}} if facts.title else {}
    return {os.path.basename(path): document, f"{facts.id}.json": manifest}


MAX_RESULT_CHARACTERS = 8_000
"""Characters of a result that @cline/core 0.0.86 sends; it omits the middle of a longer result."""


def _resent(part: Part) -> str | None:
    if isinstance(part, Text) and part.text.startswith("<user_input"):
        return "user messages without <user_input>"
    if not isinstance(part, ToolResult):
        return None
    if part.kind == "multimodal":
        return "results of several parts as JSON"
    if part.kind == "data" and _holds_image(part.value):
        return "images in results after these results"
    is_long = isinstance(part.value, str) and len(part.value) > MAX_RESULT_CHARACTERS
    return f"results of more than {MAX_RESULT_CHARACTERS:,} characters without their middle" if is_long else None


def _holds_image(value: Any) -> bool:
    if isinstance(value, dict):
        return (value.get("type") == "image" and "data" in value) or any(map(_holds_image, value.values()))
    return isinstance(value, list) and any(map(_holds_image, value))


def _directory(path: str, read: ReadCompanion) -> Any:
    """Returns the working directory from the manifest of a session, or of a task from the list of all tasks.

    Source: apps/vscode/src/shared/HistoryItem.ts of cline/cline at 39ff2359; read 2026-11-23.
    """
    folder = os.path.dirname(path)
    if path.endswith(SESSION_SUFFIX):
        manifest = read(path.removesuffix(SESSION_SUFFIX) + ".json")
        return (manifest.get("cwd") or manifest.get("workspace_root")) if isinstance(manifest, dict) else None
    tasks = read(os.path.join(folder, "..", "..", "state", "taskHistory.json"))
    known = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    entries = (task for task in known if task.get("id") == os.path.basename(folder))
    return next((task.get("cwdOnTaskInitialization") for task in entries), None)


PROGRAM = Program(
    NAME,
    ".cline",
    "data/sessions/*/*.messages.json data/tasks/*/api_conversation_history.json",
    place=_place,
    command="cline --id {id}",
    form="session",
    files=_files,
    unsent=("system",),
    resent=_resent,
    directory=_directory,
)
GEMINI = policy.only_metadata(SIGNATURE)
MESSAGES: tuple[Pass, ...] = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME),
    sessions.set_models_of_answers,
    results.one_result_each,
    *policy.keep_supported_parts(BLOCKS, roles=ROLES, text=GEMINI, reasoning=policy.signed_or_plain),
    passes.on_parts(lambda call, _: GEMINI(call), "tool_call"),
)
PROGRAM_TURNS = ProgramTurns(
    {
        **tags("environment_details"),
        "[TASK RESUMPTION] ": "task-resumption",
        "[ERROR] You did not use a tool in your previous response!": "no-tool-used",
    }
)
"""What Cline adds to a request: core/prompts/responses.ts of cline/cline at 008b035a, read 2026-11-27. Roo Code
began as a copy of Cline; its own source was not read."""

DIALECT = Dialect(
    name=NAME,
    title="Cline",
    aliases=("roo", "roo-code", "kilo-code"),
    specification="the code of cline/cline at 21cb8d25 and RooCodeInc/Roo-Code at cb836567; read 2026-11-22",
    framings=("document", "records"),
    forms=("task", "session"),
    programs=(PROGRAM,),
    program_turns=PROGRAM_TURNS,
    lift=lift,
    write=write,
    fit={
        "task": passes.fused(*MESSAGES, sessions.drop_instructions, passes.on_each_message(TASK.fits)),
        "session": passes.fused(
            *MESSAGES,
            policy.join_leading_instructions,
            passes.on_messages(fitting.bare_system),
            passes.on_each_message(SESSION.fits),
            _add_version,
        ),
    },
    form_of=form_of,
    rules=(
        links.paired(links.PairingRules(where="later", unique="request")),
        turns.parts_of_roles(ROLES),
        turns.results_in_roles("user"),
        turns.decodable(),
        turns.not_sent("Cline", PROGRAM.unsent),
    ),
    conventions=(policy.results_of(BLOCKS),),
    supports={
        "task": TEXTS | BLOCKS.supports() | TASK.supports("message"),
        "session": TEXTS | SESSIONS.blocks.supports() | SESSION.supports("message") | HEADER.supports(),
    },
    reasons={
        **OF_BLOCKS,
        **dict.fromkeys(("message", "text"), "Cline supplies its own instructions"),
        "model": "Cline has no session model: each answer names its own",
        "metadata": "Cline stores only Anthropic and Gemini signatures",
        "message.createdAt": "Cline stores times as milliseconds since 1970",
        "message.usage": "a task stores one sum of cache reads and cache writes",
        "message.replaces": "a Cline summary replaces all earlier messages",
        **dict.fromkeys(("image", "document"), "Cline supports only media of Anthropic's API"),
    },
    places={
        **SESSIONS.blocks.places(),
        **response.PLACES,
        **SESSION.places("message"),
        **TASK.places("message"),
        **HEADER.places(),
    },
    envelope=fields(f"version updated_at agent sessionId taskType origin {COMPACTION}"),
)
