"""OpenClaw and pi: session files (JSONL, versions 1 to 3) and the request form.

Specification: docs/session-format.md and docs/message-types.md of the npm package @earendil-works/pi-coding-agent
1.5.2, packages/coding-agent/src/core/session-manager.ts of badlogic/pi-mono (versions 1 to 3), src/utils/
transcript-tools.ts and src/agents/session-transcript-repair.ts of openclaw/openclaw; read 2026-11-20.

Quirks
- A session is one document of many rows: a header, then a tree of rows by `id` and `parentId`. The last row is the
  leaf. Version 1 has neither ids nor parents, version 2 calls the role `custom` `hookMessage`.
- Rows outside of the model's context are events; a branch summary and what an extension inserts are user messages.
- A compaction is a summary that replaces everything before `firstKeptEntryId`; one that names its own id, as convcli
  writes it, replaces all. In version 1, where rows have no ids, it stays an event.
- OpenClaw writes `isError: false` next to `details.status: "error"`: that is a failure, and both are written back.
- `stopReason` is often `stop` despite calls, and is neither trusted nor corrected.
- pi cannot show the statistics of a session without `usage`. It is written with zeros for unknown counts, which is
  reported; a zero count is read as no count.
- `partialJson` is the text of arguments before a stream was cut off, while `arguments` is empty.
- Signatures on thinking and text belong to the provider that `api` names.
- OpenClaw keeps its sessions in a database since 2026.7.2. Its `doctor` imports session files under the names that an
  index next to them gives, and archives those without.
- A head other than the last row is written as a last row of the type `custom`, `convcli.head`, whose parent it is.
- The request form has blocks of the types `tool_use` and `tool_result`; four spellings of an id are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from convcli.dialects.openclaw.blocks import IDS, NAME, REQUEST, RESULTS, SESSION, Reader
from convcli.dialects.openclaw.fitting import FIT
from convcli.dialects.openclaw.injected import has_injected
from convcli.dialects.openclaw.messages import RESULT_ROLES, ZEROS, lift_message, write_message
from convcli.dialects.openclaw.rows import HEADER, ROOT, ROW, lift_session, write_session
from convcli.families.openai import request as common
from convcli.kit import sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, get_extras, make_extras, objects_in, omit
from convcli.kit.supported import TOOLS, TURNS, fields, media
from convcli.kit.values import milliseconds_of_time, paths
from convcli.model.dialect import Dialect, Options, Program, ProgramTurns, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Part, Path, ToolCall, Transcript
from convcli.validation.rules import arguments, links, trees, turns
from convcli.validation.survey import Survey, for_requests

REQUESTS = Envelope(
    "model=model _openclawSessionKey _sessionId=id _workspaceDir=cwd messages= tools= tool_choice= functions= "
    "function_call= parallel_tool_calls= temperature= top_p= max_completion_tokens= max_tokens= stop= seed= "
    "presence_penalty= frequency_penalty= reasoning_effort= response_format= stream="
)


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """Reads a session or a request, which is a list of messages or an object with `messages`."""
    context = LiftContext(NAME, document)
    if isinstance(document, list) and document and "role" not in document[0]:
        return lift_session(document, Reader(context, _answered([row.get("message") for row in document])))
    is_list = isinstance(document, list)
    natives = document if is_list else document["messages"]
    context.origin.form = REQUEST
    context.origin.aliases = {ROOT: "..", "modelId": "model"}
    reader = Reader(context, _answered(natives))
    for i, native in enumerate(natives):
        place: Path = (i,) if is_list else ("messages", i)
        lifted = lift_message(native, place, reader)
        if native["role"] == "system" and native.get("toolsAdded"):  # only sessions replay it
            first = lifted[0][0]
            first.extras = {NAME: {**get_extras(first.extras, NAME), "toolsAdded": native["toolsAdded"]}}
        for message, part_paths in lifted:
            context.add(message, place, part_paths)
    return context.transcript() if is_list else _lift_request(document, context)


def _answered(natives: list[Any]) -> set[str]:
    """Returns the ids of results in messages or blocks of their own, if calls outside the content may repeat them."""
    ids: set[str] = set()
    messages = objects_in(natives)
    for native in messages if any(map(has_injected, messages)) else ():
        blocks = objects_in(native.get("content"))
        for node in [native, *blocks] if native.get("role") in RESULT_ROLES else blocks:
            ids |= {node[key] for key in IDS if isinstance(node.get(key), str)}
    return ids


def _lift_request(native: Native, context: LiftContext) -> Transcript:
    settings, extra = common.COMPATIBLE_SETTINGS.lift(native)
    choice, extra_choice = common.lift_choices(native)
    tools = common.lift_tools(native, context)
    transcript = context.transcript(tools=tools, tool_choice=choice, settings=settings or None)
    transcript.extras = make_extras(
        NAME, {**(REQUESTS.lift(native, transcript) or {}), **extra, **extra_choice}, header=None
    )
    return transcript


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a session of version 3, or a request."""
    return write_session(transcript) if options.form == SESSION else _write_request(transcript)


def _write_request(transcript: Transcript) -> Native:
    extra = get_extras(transcript.extras, NAME)
    rest = common.COMPATIBLE_SETTINGS.rest(extra)
    content = {
        "messages": [write_message(message, REQUEST) for message in transcript.messages],
        **common.write_tools(transcript, NAME),
        **common.write_choices(transcript.tool_choice, extra),
        **common.COMPATIBLE_SETTINGS.write(transcript.settings or {}, extra),
    }
    return REQUESTS.write(transcript, omit(rest, *common.CHOICES), **content)


def _results_separate(survey: Survey) -> Iterator[Breach]:
    for i, message in enumerate(survey.messages if survey.form == SESSION else ()):
        if message.role == "tool" and i and survey.is_one_turn(i, i - 1):
            problem = "pi reads session results from messages of their own"
            yield Breach("misplaced-tool-result", NodeRef(i, 0), problem, "warning")


def _is_displayable(survey: Survey) -> Iterator[Breach]:
    if survey.form != SESSION:
        return
    if survey.transcript.cwd is None:
        yield Breach("missing-key", NodeRef(), "a resumable session needs `cwd`, its working directory")
    for i, message in enumerate(survey.messages):
        usage = (survey.native_message(i) or {}).get("usage") or {} if message.role == "assistant" else ZEROS
        absent = [key for key in ZEROS if usage.get(key) is None]
        if absent:
            problem = f"pi cannot show the statistics of a session whose usage lacks {', '.join(absent)}"
            yield Breach("missing-key", NodeRef(i), problem, "warning")
        if message.replaces is not None and "tokensBefore" not in get_extras(message.extras, NAME):
            yield Breach("missing-key", NodeRef(i), "pi cannot show a compaction without tokensBefore", "warning")


def _results_name_calls(survey: Survey) -> Iterator[Breach]:
    for answered in survey.results:
        native = survey.native(answered.at())
        if isinstance(native, dict) and not any(native.get(key) for key in IDS) and not native.keys().isdisjoint(IDS):
            yield Breach("missing-call-id", answered.at(), "the result has an empty id and names no call")


RULES = (
    links.paired(links.PairingRules(where="later")),
    Rule(("missing-call-id",), _results_name_calls),
    for_requests(Rule(("missing-key",), _is_displayable)),
    for_requests(links.identified()),
    for_requests(Rule(("misplaced-tool-result",), _results_separate)),
    arguments.readable(),
    trees.rooted(),
)

_ANSWERED = ("id", "name", "response/output", "response/error")
COUNT = "/*/message/usage/input"
"""The count without tokens read from and written to a cache, which convcli's count includes."""
INJECTED = tuple(f"result/*/functionResponse/{key}" for key in _ANSWERED)
"""What an injected call may repeat."""
SUPPORTS = TURNS | TOOLS | media("image", "data mediaType")
SUPPORTS |= fields(
    "id cwd model message.model message.usage message.cost message.provider message.stopReason message.error "
    "tool_call.rawArguments tool_result.name tool_result.isError"
)


def _place(facts: SessionFacts) -> str:
    """Returns the session's path: pi has a folder per working directory, with a file per session named by time."""
    folder = re.sub(r"[/\\:]", "-", facts.cwd.lstrip("/\\"))
    return f"agent/sessions/--{folder}--/{re.sub('[:.]', '-', facts.begin)}_{facts.id}.jsonl"


def _resent(part: Part) -> str | None:
    is_broken = isinstance(part, ToolCall) and part.raw_arguments is not None
    return "arguments that are not JSON as an empty object" if is_broken else None


def _files(document: Any, facts: SessionFacts, path: str) -> dict[str, Any]:
    """Returns the session, and the index without which `openclaw doctor` (2026.9.6) archives it."""
    title = {"displayName": facts.title} if facts.title else {}
    entry = {
        "sessionId": facts.id,
        "updatedAt": milliseconds_of_time(facts.begin),
        "sessionFile": f"{facts.id}.jsonl",
        **title,
    }
    return {os.path.basename(path): document, "sessions.json": {f"agent:main:{facts.id}": entry}}


PI = Program("pi", ".pi", "agent/sessions/*/*.jsonl", place=_place, command="pi --session {path}", resent=_resent)
OPENCLAW = Program(
    "openclaw",
    ".openclaw",
    "agents/*/sessions/*.jsonl agents/*/agent/openclaw-agent.sqlite",
    "OPENCLAW_STATE_DIR",
    place=lambda facts: f"agents/main/sessions/{facts.id}.jsonl",
    command=(
        "openclaw doctor --session-sqlite import --session-sqlite-all-agents && openclaw chat --session agent:main:{id}"
    ),
    files=_files,
    unsent=("system",),
    resent=_resent,
)
PROGRAMS = PI, OPENCLAW

PROGRAM_TURNS = ProgramTurns({}, NAME, {("role",): {"custom": "custom", "hookMessage": "custom"}})
"""Messages that an extension inserts: docs/session-format.md of pi-coding-agent 1.5.2, read 2026-11-20."""

DIALECT = Dialect(
    name=NAME,
    title="OpenClaw",
    aliases=("pi", "pi-agent", "clawdbot", "moltbot"),
    specification="pi session format, version 3 (@earendil-works/pi-coding-agent 1.5.2); read 2026-11-20",
    framings=("events", "document"),
    forms=(SESSION, REQUEST),
    programs=PROGRAMS,
    program_turns=PROGRAM_TURNS,
    lift=lift,
    fit=FIT,
    write=write,
    rules=(*RULES, turns.not_sent("OpenClaw", OPENCLAW.unsent)),
    conventions=(RESULTS,),
    supports={
        SESSION: SUPPORTS
        | fields("title createdAt head message.id message.parentId message.createdAt message.replaces"),
        REQUEST: SUPPORTS | fields("toolChoice settings tool.strict message.name"),
    },
    repeats=frozenset(("/*/version", COUNT, *(f"/*/message/toolCalls/*/{place}" for place in INJECTED))),
    reasons={
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        **dict.fromkeys(("video", "audio", "document"), "pi has media blocks for images only"),
        "image": "pi has blocks only for images with their data, in user messages and tool results",
        "image.mediaType": "pi requires the media type of an image",
        "image.name": "pi images have no name",
        "image.detail": "pi images have no detail",
        "refusal": "pi has no refusal block: the refusal is written as text",
        "message.role": "pi sessions have the roles system, user, assistant and toolResult",
        "message.name": "pi messages have no name",
        "message.stopReason": "pi has the stop reasons stop, length, toolUse, error and aborted",
        "message.id": "every session row needs an id",
        "message.parentId": "every session row names its parent row",
        "message.createdAt": "every session row needs a time: that of the row before it, or 1970",
        "createdAt": "a session needs a time: that of its first row, or 1970",
        "cwd": "a session names its directory: an empty string if it is unknown",
        "extras.openclaw.usage": "pi shows statistics: an unknown count is written as zero",
        "extras.openclaw.tokensBefore": "pi shows the tokens before a compaction: zero if unknown",
        "message.cost": "a zero cost is not written",
        "message.provider": "signatures belong to the provider of their API",
        "message.replaces": "a compaction is one user text",
        "updatedAt": "a session's update time is that of its last row",
        "tool_result.status": "a pi result has no status but failed or not",
        "metadata": "pi stores only Google's and Anthropic's signatures",
        "event": "pi sessions have rows only for events with one opaque value",
    },
    places={
        **HEADER.places("", ROOT),
        "id": (ROOT, "_sessionId"),
        "cwd": (ROOT, "_workspaceDir"),
        **ROW.places("message", ".."),
        "extras.header": (ROOT,),
        **paths(
            "message.usage=usage "
            "message.cost=usage/cost/total message.error=errorMessage extras.row=.. "
            "reasoning.metadata=thinkingSignature tool_result.value=content tool_result.name=toolName"
        ),
    },
    content=fields("injected.name injected.function injected.args injected.arguments injected.input"),
    metadata=fields("custom label model_change session_info thinking_level_change usage"),
    envelope=frozenset(("api", "timestamp", "row", "_openclawSessionKey")),
)
