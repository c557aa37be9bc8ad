"""OpenClaw and pi: session files (JSONL, versions 1 to 3) and the form of requests.

Specification: docs/session-format.md and docs/message-types.md of the npm package @earendil-works/pi-coding-agent
1.5.2, packages/coding-agent/src/core/session-manager.ts of badlogic/pi-mono (versions 1 to 3), src/utils/
transcript-tools.ts and src/agents/session-transcript-repair.ts of openclaw/openclaw; read 2026-11-20.

Quirks
- A session is one document of many rows: a header, then a tree of rows by `id` and `parentId`. The last row is the
  leaf. Version 1 has neither ids nor parents, version 2 calls the role `custom` `hookMessage`.
- Rows that no model saw are events; a summary of a branch and what an extension inserts are words of the user.
- OpenClaw writes `isError: false` beside `details.status: "error"`: that is a failure, and both come back as they were.
- `stopReason` often says `stop` beside calls, and is neither trusted nor corrected.
- pi cannot show the statistics of a session without `usage`: it is written with zeros where nothing is known, and a
  count of zero is read as no count.
- Signatures on thinking and text belong to the provider that `api` names.
- A head that is not the last row is written as a last row of the type `custom`, `convcli.head`, whose parent it is.
- The request form holds blocks of the types `tool_use` and `tool_result`; four spellings of an id are read.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.openclaw.blocks import NAME, Reader, Writer
from convcli.dialects.openclaw.messages import RESULT_ROLES, grouped, lift_message, lower_group
from convcli.dialects.openclaw.new_session import NewSession
from convcli.dialects.openclaw.results import IDS, express
from convcli.dialects.openclaw.rows import ROOT, lift_session, lower_session
from convcli.families.openai import request as common
from convcli.kit.fitting import results_apart, results_first
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Path, Transcript
from convcli.validation.rules import arguments, links, trees

REQUEST = Keys(
    "model _openclawSessionKey _sessionId _workspaceDir messages tools tool_choice functions function_call "
    "parallel_tool_calls temperature top_p max_completion_tokens max_tokens stop seed presence_penalty "
    "frequency_penalty reasoning_effort response_format stream",
    carried="_openclawSessionKey",
)
OWN_CALLS = ("toolCall", "toolUse", "toolcall", "functionCall")


def detect(document: Any) -> Clue | None:
    """By the header and the rows of a session, or by the spellings of calls and results that only OpenClaw reads."""
    if isinstance(document, dict):
        messages = document.get("messages")
        keyed = "_openclawSessionKey" in document
        clue = _detect_messages(messages) if isinstance(messages, list) else None
        return clue or (Clue(60, "the key _openclawSessionKey") if keyed and isinstance(messages, list) else None)
    if not isinstance(document, list) or not document or not all(isinstance(row, dict) for row in document):
        return None
    first = document[0]
    if first.get("type") == "session" and isinstance(first.get("id"), str):
        return Clue(98, "a header of the type session")
    rows = [row for row in document if row.get("type") == "message" and isinstance(row.get("message"), dict)]
    is_of_droid = first.get("type") == "session_start"  # its rows look the same, and what they say is told otherwise
    if any("parentId" in row for row in rows) and not is_of_droid:
        return Clue(85, "rows with a message and a parentId")
    return _detect_messages(document)


def _detect_messages(messages: list[Any]) -> Clue | None:
    for message in messages:
        if not isinstance(message, dict) or "role" not in message:
            continue
        if message["role"] == "toolResult":
            return Clue(95, "a message with the role toolResult")
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if (kind in OWN_CALLS and "name" in block) or kind == "tool_result_error":
                return Clue(95, "blocks of a type that only OpenClaw knows")
            ids = [key for key in IDS if kind == "tool_result" and key in block and key != "tool_call_id"]
            if ids and message["role"] == "tool":
                return Clue(96, "tool_result blocks in a message with the role tool")
    return None


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a session or of a request; an object holds its messages under `messages`."""
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    if isinstance(document, list) and document and "role" not in document[0]:
        rows = [row.get("message") for row in document]
        return lift_session(document, Reader(origin, pairing, _answered(rows)))
    natives = document if isinstance(document, list) else document["messages"]
    reader = Reader(origin, pairing, _answered(natives))
    origin.document = {"form": "api"}
    origin.renamed = {ROOT: "..", "modelId": "model"}
    transcript = Transcript([], origin=origin)
    if isinstance(document, list):
        origin.document["list"] = True
    else:
        _lift_request(document, transcript, origin)
    prefix: Path = () if isinstance(document, list) else ("messages",)
    for i, native in enumerate(natives):
        lifted = lift_message(native, reader)
        if native["role"] == "system" and native.get("toolsAdded"):  # replayed in a session, and only there
            first = lifted[0][0]
            first.extras = {NAME: {**carried_by(first.extras, NAME), "toolsAdded": native["toolsAdded"]}}
        for message, spots in lifted:
            transcript.messages.append(message)
            origin.places.append(((*prefix, i), spots))
    return transcript


def _answered(natives: list[Any]) -> set[str]:
    """The ids of the results that stand in messages of their own or in blocks."""
    found: set[str] = set()
    for native in natives:
        if isinstance(native, dict):
            content = native.get("content")
            blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            for node in [native, *blocks] if native.get("role") in RESULT_ROLES else blocks:
                found |= {node[key] for key in IDS if isinstance(node.get(key), str)}
    return found


def _lift_request(native: Native, transcript: Transcript, origin: Origin) -> None:
    carried, spelling = REQUEST.take(native)
    transcript.model = native.get("model") or None
    transcript.id = native.get("_sessionId") or None
    transcript.cwd = native.get("_workspaceDir") or None
    extras = {**(carried or {}), **common.lift_settings(native, transcript), **common.lift_choices(native, transcript)}
    transcript.tools = common.lift_tools(native, NAME, origin)
    transcript.extras = extras_of(NAME, extras)
    origin.document |= {"request": spelling} if spelling else {}


def lower(transcript: Transcript, options: Options) -> Any:
    """A session of version 3, or what the source was; a request when that is asked for."""
    spelling = transcript.document_spelling(NAME)
    form = options.form or spelling.get("form") or "session"
    own = form == spelling.get("form")
    writer = Writer(transcript.spelling(NAME) if own else {}, own, form, {})
    if form == "session":
        return lower_session(transcript, writer) if own else NewSession(transcript, writer).rows()
    messages = [lower_group(group, writer) for group in grouped(_api_messages(transcript, own), writer)]
    return messages if own and spelling.get("list") else _lower_request(transcript, messages, own)


def _api_messages(transcript: Transcript, own: bool) -> list[Message]:
    messages = active(transcript)
    if own:
        return messages
    return [part for message in results_first(messages) for part in results_apart(message)]


def _lower_request(transcript: Transcript, messages: list[Native], own: bool) -> Native:
    spelling = transcript.document_spelling(NAME) if own else {}
    carried = carried_by(transcript.extras, NAME)
    native: Native = {"_sessionId": transcript.id, "_workspaceDir": transcript.cwd, "model": transcript.model}
    native = {key: value for key, value in native.items() if value is not None}
    native["messages"] = messages
    native |= common.lower_tools(transcript, NAME)
    native |= common.lower_choices(transcript, carried)
    native |= common.lower_settings(transcript.settings or {}, spelling, carried)
    native = {key: native[key] for key in REQUEST.sorted(native)}
    return REQUEST.put(native, carried, spelling.get("request"))


RULES = (
    links.paired(links.Manner(where="later")),
    arguments.not_filled(),
    trees.rooted(),
)

DIALECT = Dialect(
    name=NAME,
    title="OpenClaw",
    specification="pi session format, version 3 (@earendil-works/pi-coding-agent 1.5.2); read 2026-11-20",
    framings=("events", "document"),
    forms=("session", "api"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("changed", "a result holds text and pictures: the data is written as JSON"),
                "data": ("changed", "a result holds text and pictures: the data is written as JSON"),
                "multimodal": ("changed", "of media a result holds only pictures with their data"),
            },
        ),
    ),
    reasons={
        "video": "pi has blocks for pictures only",
        "audio": "pi has blocks for pictures only",
        "document": "pi has blocks for pictures only",
        "image": "pi has a block only for a picture with its data, in words of the user and in results",
        "image.mediaType": "a picture needs its media type",
        "image.name": "a picture has no name",
        "image.detail": "a picture has no detail",
        "refusal": "a refusal is written as text",
        "message.role": "a session has the roles system, user, assistant and toolResult",
        "message.name": "a message of a session has no name",
        "message.stopReason": "pi knows stop, length, toolUse, error and aborted",
        "message.id": "every row of a session has an id",
        "message.parentId": "every row of a session names the row before it",
        "message.createdAt": "every row of a session has a time: that of the row before it, or 1970",
        "id": "a session has an id: it is made of the content",
        "createdAt": "a session has a time: that of its first row, or 1970",
        "updatedAt": "the time of a session is that of its last row",
        "model": "each answer names its model, a session does not",
        "toolChoice": "a session does not say which tools may be called",
        "settings": "a session has no settings of the request",
        "tool_result.status": "a result either failed or did not",
        "tool_call.rawArguments": "the arguments of a call are an object",
        "metadata": "only Google's and Anthropic's signatures have a place",
        "event": "a session has rows only for events that are one opaque value",
    },
    places={
        "id": (ROOT, "_sessionId"),
        "createdAt": (ROOT, "timestamp"),
        "cwd": (ROOT, "_workspaceDir"),
        "model": (ROOT, "modelId"),
        "title": (),
        "extras.header": (ROOT,),
        "extras.section": (),
        "message.id": ("..", "id"),
        "message.parentId": ("..", "parentId"),
        "message.createdAt": ("..", "timestamp"),
        "message.role": ("role",),
        "message.model": ("model",),
        "message.stopReason": ("stopReason",),
        "message.usage": ("usage",),
        "message.error": ("errorMessage",),
        "extras.row": ("..",),
        "text.text": ("text",),
        "reasoning.text": ("thinking",),
        "reasoning.metadata": ("thinkingSignature",),
        "tool_call.id": ("id",),
        "tool_call.name": ("name",),
        "tool_call.arguments": ("arguments",),
        "tool_call.metadata": ("thoughtSignature",),
        "tool_result.value": ("content",),
        "tool_result.toolCallId": ("toolCallId",),
        "tool_result.name": ("toolName",),
        "image.mediaType": ("mimeType",),
    },
    envelope=frozenset(("api", "provider", "timestamp", "row", "_openclawSessionKey")),
)
