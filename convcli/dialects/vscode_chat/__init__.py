"""VS Code: chats with GitHub Copilot, as VS Code stores them in `chatSessions` and as "Export Chat…" writes them.

Specification: microsoft/vscode, `chat/common/model/chatModel.ts` and `chatSessionOperationLog.ts` at 03d43368;
microsoft/vscode-copilot-chat, `src/extension/prompt/common/conversation.ts` at 31acd00a; read 2026-11-27.

Quirks
- A chat is a document, or since VS Code 1.109 a log of its changes. "Import Chat…" reads documents.
- What the model was sent is in the metadata of a result: the rendered user message, rounds, and results by call. It is
  read first. `message` and `response` repeat it as VS Code displays it; what they do not repeat is kept.
- Without rounds, `response` is the answer. Its calls then have no results, and arguments only of tools that display
  them: a finding says so.
- A result that was cut off at a limit of calls is in the next request.
- A round with a summary ends a context: later rounds see the summary in place of all before it.
- The file has no system prompt and no tool definitions. The directory is in `workspace.json`, two folders up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlparse

from msgspec.structs import replace

from convcli.dialects.vscode_chat.log import REQUESTS, STATE, ReplayedLog
from convcli.dialects.vscode_chat.messages import NAME
from convcli.dialects.vscode_chat.requests import REQUEST, RequestReader, is_question, write_requests
from convcli.kit import custom, editors, fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import drop_extras, get_extras, make_extras
from convcli.kit.streams import FORMER
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options, Pass, Program, ReadCompanion
from convcli.model.document import Rows
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Transcript
from convcli.validation.rules import links, turns
from convcli.validation.survey import Survey

EXPORT, LOG = "export", "log"
SESSION = Envelope(
    "version requesterUsername responderUsername initialLocation sessionId=id creationDate "
    "customTitle=title inputState requests=",
    {"creationDate": CREATED_IN_MILLISECONDS},
)
DEFAULTS = {"responderUsername": "GitHub Copilot", "initialLocation": "panel"}
"""Keys that "Import Chat…" requires, with their usual values."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a chat; rows of a log that change nothing become events."""
    context = LiftContext(NAME, document, node_path=())
    replay = ReplayedLog(document) if isinstance(document, list) else None
    native = document if replay is None else replay.document
    context.origin.form = EXPORT if replay is None else LOG
    for i, request in enumerate(native.get(REQUESTS) or ()):
        RequestReader(request, (REQUESTS, i), context).lift()
    transcript = context.transcript()
    extra = SESSION.lift(native, transcript) or {}
    transcript.extras = make_extras(NAME, {key: extra[key] for key in extra if extra[key] != DEFAULTS.get(key)})
    if replay is not None:
        routes = {path: replay.place(place) for path, place in context.origin.routes.items()}
        context.origin.routes = {**replay.routes, **routes, **{(at,): (at,) for at in replay.unapplied}}
        for at in replay.unapplied:
            sessions.add_event(context, document[at], (at,))
    return transcript


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a chat as a document, or as a log."""
    groups: list[list[Message]] = []
    events: list[Any] = []
    for message in transcript.messages:
        if message.role == "event":
            events.append(sessions.row_of_event(message, NAME))
            continue
        if is_question(message) or not groups:
            groups.append([])
        groups[-1].append(message)
    extra = {**DEFAULTS, **get_extras(transcript.extras, NAME)}
    native = SESSION.write(transcript, extra, requests=write_requests(groups))
    return Rows([{"kind": STATE, "v": native}, *events]) if options.form == LOG else native


# ---------------------------------------------------------------- fit


def _drop_former(transcript: Transcript) -> Transcript:
    """Drops earlier values of keys, which only a log has."""
    messages = [drop_extras(message, NAME, FORMER) for message in transcript.messages]
    return replace(drop_extras(transcript, NAME, FORMER), messages=passes.shared(transcript.messages, messages))


RESULTS = results.with_plain_failures(results.text_or_parts("VS Code"))
COMMON: tuple[Pass, ...] = (
    sessions.drop_instructions,
    results.separate_results,
    results.one_result_each,
    sessions.put_results_before_events,
    results.apply_convention(RESULTS),
    fitting.refusals_as_texts,
    custom.as_functions,
)
FIT: dict[str, tuple[Pass, ...]] = {
    EXPORT: (
        fitting.keep_active_conversation,
        *COMMON,
        _drop_former,
        fitting.settle_by_reading_back(lift, write, EXPORT),
    ),
    LOG: (
        sessions.keep_active_branch,
        sessions.keep_own_events(NAME),
        *COMMON,
        fitting.settle_by_reading_back(lift, write, LOG),
    ),
}

# ---------------------------------------------------------------- rules


def _is_recorded(survey: Survey) -> Iterator[Breach]:
    for i, _, part in survey.parts["tool_call"]:
        if survey.places.message(i)[-1] == "response" and not part.arguments:
            problem = "only what VS Code displays of this call is in the file: its arguments and its result are missing"
            yield Breach("displayed-only", NodeRef(i), problem, "warning")


def _directory(path: str, read: ReadCompanion) -> Any:
    """Returns the folder of the workspace, which `workspace.json` names as a URI."""
    workspace = read(os.path.join(os.path.dirname(os.path.dirname(path)), "workspace.json"))
    uri = workspace.get("folder") if isinstance(workspace, dict) else None
    return unquote(urlparse(uri).path) if isinstance(uri, str) and uri.startswith("file:") else None


PROGRAM = Program(
    NAME,
    ".",
    editors.patterns(
        "Code*", "workspaceStorage/*/chatSessions/*.json*", "globalStorage/emptyWindowChatSessions/*.json*"
    ),
    directory=_directory,
)

SUPPORTS = TURNS | media("image", "data url mediaType detail")
SUPPORTS |= fields(
    "id title createdAt message.id message.createdAt message.model message.provider message.replaces message.usage "
    "message.error message.stopReason reasoning.metadata tool_call.rawArguments tool_result.name"
)

DIALECT = Dialect(
    name=NAME,
    title="VS Code chats",
    aliases=("vscode", "copilot-chat", "github-copilot-chat"),
    specification="microsoft/vscode at 03d43368, vscode-copilot-chat at 31acd00a; read 2026-11-27",
    framings=("document", "events"),
    forms=(EXPORT, LOG),
    programs=(PROGRAM,),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        links.paired(links.PairingRules(where="later", missing=None)),
        turns.decodable(),
        Rule(("displayed-only",), _is_recorded, of_input=("displayed-only",)),
    ),
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        **sessions.NO_REQUEST,
        "message": "the extension writes its own instructions",
        "model": "VS Code names the model of each request",
        "message.model": "VS Code names one model for a request and its answers",
        "message.grouping": "a round has one thought, one text and its calls, in this order",
        "text": "a round has one text, before its calls",
        "message.replaces": "a summary stands behind a round of the model",
        "refusal": "VS Code has no refusal: it is written as text",
        "image": "VS Code stores images of user messages, as data or URLs",
        "message.usage": "VS Code counts the tokens of a request, with its last answer",
        f"extras.{FORMER}": "only a log has earlier values",
    },
    places={
        **SESSION.places(),
        **REQUEST.places("message"),
        **paths(
            "message.model=modelId message.provider=modelId message.stopReason=modelState/value "
            "message.error=result/errorDetails/message message.usage=result/metadata "
            "message.usage.inputTokens=result/metadata/promptTokens "
            "message.usage.outputTokens=result/metadata/outputTokens "
            "reasoning.text=text reasoning.metadata.encryptedContent=encrypted "
            "tool_result.value=content tool_result.kind=content image.detail=imageUrl/detail"
        ),
    },
    metadata=fields("inputState invocationMessage pastTenseMessage originMessage generatedTitle"),
    envelope=fields("version requesterUsername responderUsername initialLocation responseId agent modeInfo"),
)
