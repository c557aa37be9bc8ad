"""Strands Agents: the sessions of its file and S3 session managers, and lists of its messages.

Specification: strands-agents 1.62, `types/session.py` and `types/content.py`
(https://github.com/strands-agents/sdk-python); read 2026-11-27.

Quirks
- The messages are those of Amazon Bedrock Converse, for all model providers. Bytes are base64 in an object, and a file
  in S3 is a `location`.
- A session is a folder: `session.json`, and for each agent `agents/agent_ID/agent.json` and
  `agents/agent_ID/messages/message_N.json`. convcli reads `agent.json` with the files around it as one document with
  the keys `session`, `agent` and `messages`, and writes such a document. `convcli resume` writes the folder.
- A redaction is stored next to the original message. convcli reads the redaction and keeps the original as an extra.
- Instructions, model and tools are in the program. The session does not store them.
- When the library restores a session, it invents missing results and drops results without a call.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic.usage import keep_supported_usage, lift_usage, write_usage
from convcli.families.converse import policy
from convcli.families.converse.media import ConverseService
from convcli.families.converse.messages import USAGE, lift_message, side, write_messages
from convcli.families.converse.places import PLACES, REASONS
from convcli.families.converse.places import SUPPORTS as OF_BLOCKS
from convcli.kit import fitting, passes
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, add_extras, drop_extras, get_extras, make_extras, omit, set_extra_key
from convcli.kit.results import with_parts
from convcli.kit.sessions import drop_instructions
from convcli.kit.supported import counted, fields
from convcli.kit.values import paths, with_total
from convcli.model.dialect import Dialect, Options, Pass, Program, SessionFacts
from convcli.model.transcript import Media, Message, Part, Path, Transcript
from convcli.validation.rules import links, turns

NAME, FAMILY = "strands", "bedrock-converse"
SERVICE = ConverseService(FAMILY, "location", {"type": "s3"}, encoded=True, success="success")
DOCUMENT = Keys("session= agent messages=")
HEADER = Envelope("session_id=id session_type created_at=created_at updated_at=updated_at")
ROW = Envelope("message= message_id= redact_message= created_at=created_at updated_at")
ID = "tracking_id"
MESSAGE = Envelope(f"role= content= {ID}=id metadata=")
COUNTED = {"inputTokens", "outputTokens"}
"""Counts that the library reads of each answer with usage."""
METADATA, ROW_KEYS = "metadata", "row"
"""The extras of a message: what Strands stores of it, and the keys of its row in a session."""
OWN = (ID, METADATA)
"""The keys of a message that Converse does not have."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session, or of a list of messages."""
    context = LiftContext(NAME, document, owner=FAMILY)
    if isinstance(document, list):
        context.origin.form = "list"
        for i, native in enumerate(document):
            _lift_message(native, (i,), context)
        return context.transcript()
    context.origin.form = "session"
    for i, row in enumerate(document["messages"]):
        _lift_row(row, ("messages", i), context)
    transcript = context.transcript()
    header = HEADER.lift(document.get("session") or {}, transcript)
    extra = {**(DOCUMENT.extra(document) or {}), **({"session": header} if header else {})}
    transcript.extras = make_extras(NAME, extra)
    return transcript


def _lift_row(row: Native, path: Path, context: LiftContext) -> None:
    """Adds the message of a row. A redaction replaces the original message."""
    key = "redact_message" if row.get("redact_message") else "message"
    message = _lift_message(row[key], (*path, key), context)
    extra = ROW.lift(row, message) or {}
    extra |= {"message": row["message"]} if key != "message" else {}
    extra |= {"message_id": row["message_id"]} if row["message_id"] != path[-1] else {}
    add_extras(message, NAME, None, **{ROW_KEYS: extra})


def _lift_message(native: Native, path: Path, context: LiftContext) -> Message:
    """Adds a message, and returns the first of those that it became, which has its facts."""
    first = len(context.messages)
    lift_message(omit(native, *OWN), path, context, SERVICE)
    message = context.messages[first]
    extra = MESSAGE.lift({key: native[key] for key in OWN if key in native}, message) or {}
    metadata = native.get("metadata") or {}
    usage, rest = lift_usage(metadata.get("usage") or {}, USAGE)
    message.usage = usage or None
    metadata = {**omit(metadata, "usage"), **({"usage": rest} if rest else {})}
    add_extras(message, NAME, extra, **{METADATA: metadata})
    return message


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a session, or a list of messages."""
    firsts = [next(turn) for _, turn in groupby(transcript.messages, side)]
    natives = list(map(_write_message, write_messages(transcript.messages, SERVICE), firsts))
    if options.form == "list":
        return natives
    rows: list[Native] = []
    for native, first in zip(natives, firsts, strict=True):
        rows.append(_write_row(native, first, rows[-1]["message_id"] + 1 if rows else 0))
    extra = get_extras(transcript.extras, NAME)
    header = HEADER.write(transcript, extra.get("session"))
    return DOCUMENT.write({"session": header or None, "messages": rows}, omit(extra, "session"))


def _write_message(native: Native, first: Message) -> Native:
    metadata: Native = get_extras(first.extras, NAME).get(METADATA, {})
    usage = write_usage(first.usage or {}, metadata.get("usage", {}), USAGE)
    metadata = {**({"usage": usage} if usage else {}), **omit(metadata, "usage")}
    facts = MESSAGE.write(first)
    return {**native, **facts, **({"metadata": metadata} if metadata else {})}


def _write_row(native: Native, first: Message, number: int) -> Native:
    """Returns the row of a message. Numbers grow, and a row that was removed leaves a gap."""
    extra = dict(get_extras(first.extras, NAME).get(ROW_KEYS, {}))
    original = extra.pop("message", None)
    content = {
        "message": native if original is None else original,
        "message_id": max(number, extra.pop("message_id", 0)),
        "redact_message": None if original is None else native,
    }
    return ROW.write(first, extra, **content)


# ---------------------------------------------------------------- fit


def _documents_as_data(part: Part | None) -> Part | None:
    """Returns a document that is a text as data: Strands has no such source."""
    return fitting.text_as_data(part) if isinstance(part, Media) else part


def _keep_counts_of_answers(message: Message) -> Message:
    """Removes counts of users, and incomplete ones, which the library cannot add up."""
    usage = keep_supported_usage(with_total(message.usage or {}), USAGE) if message.role == "assistant" else None
    usage = None if usage is None or not usage.keys() >= COUNTED else usage
    return message if usage == message.usage else replace(message, usage=usage)


def _without_session(transcript: Transcript) -> Transcript:
    """Drops what only a session stores."""
    messages = [drop_extras(message, NAME, ROW_KEYS) for message in transcript.messages]
    return replace(transcript, messages=messages, extras=omit(transcript.extras or {}, NAME) or None)


def _fit(form: str, *more: Pass) -> tuple[Pass, ...]:
    return (
        drop_instructions,
        *more,
        passes.on_parts(lambda part, _: _documents_as_data(part), "document"),
        passes.on_results(lambda result: with_parts(result, _documents_as_data)),
        *policy.keep_supported_turns(SERVICE, policy.keep_signed_or_plain),
        policy.not_empty,
        policy.joined,
        passes.on_each_message(_keep_counts_of_answers),
        fitting.settle_by_reading_back(lift, write, form),
    )


# ---------------------------------------------------------------- resume

AGENT = "default"
"""The id of an agent to which a program gives none."""
MANAGER = {"__name__": "SlidingWindowConversationManager", "removed_message_count": 0, "model_call_count": 0}
"""The state of the conversation manager that an agent has by default. The library accepts only that of its manager."""


def _files(document: Any, facts: SessionFacts, _: str) -> dict[str, Any]:
    """Returns the files of a session, as `FileSessionManager` reads them."""
    times = {"created_at": facts.begin, "updated_at": facts.begin}
    agent = {"agent_id": AGENT, "state": {}, "conversation_manager_state": MANAGER, "_internal_state": {}, **times}
    session = {"session_id": facts.id, "session_type": "AGENT", **times}
    return {
        "agent.json": {**agent, **document.get("agent", {})},
        "../../session.json": {**session, **document.get("session", {})},
        **{f"messages/message_{row['message_id']}.json": row for row in document["messages"]},
    }


def _for_default_agent(transcript: Transcript) -> Transcript:
    """Keeps the user's state of the agent: the default agent has another id, and a conversation manager of its own."""
    agent = get_extras(transcript.extras, NAME).get("agent", {})
    kept = {"state": agent["state"]} if "state" in agent else {}
    return replace(transcript, extras=set_extra_key(transcript.extras, NAME, "agent", kept))


PROGRAM = Program(
    NAME,
    ".strands",
    "sessions/session_*/agents/agent_*/agent.json",
    place=lambda facts: f"sessions/session_{facts.id}/agents/agent_{AGENT}/agent.json",
    command=(
        "python -c 'import sys; from strands import Agent; from strands.session.file_session_manager import "
        "FileSessionManager; Agent(session_manager=FileSessionManager(sys.argv[1]))(input())' {id}"
    ),
    form="session",
    files=_files,
    fit=_for_default_agent,
)

SUPPORTS = (OF_BLOCKS - {"document.text"}) | MESSAGE.supports("message") | counted(USAGE)

DIALECT = Dialect(
    name=NAME,
    title="Strands Agents",
    aliases=("strands-agents", "aws-strands"),
    specification="strands-agents 1.62; read 2026-11-27",
    framings=("document", "records"),
    forms=("session", "list"),
    lift=lift,
    write=write,
    fit={"session": _fit("session"), "list": _fit("list", _without_session)},
    rules=(
        turns.decodable(),
        turns.parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
        links.paired(links.PairingRules(where="next")),
    ),
    conventions=(policy.RESULTS,),
    repeats=frozenset(("/messages/*/message/metadata/usage/inputTokens", "/*/metadata/usage/inputTokens")),
    supports={"session": SUPPORTS | HEADER.supports() | ROW.supports("message"), "list": SUPPORTS},
    reasons={
        **REASONS,
        **dict.fromkeys(("message", "text"), "the program of the agent has the instructions, and no text is blank"),
        "message.role": "the program of the agent has the instructions: messages are the user's and the assistant's",
        "message.usage": "only an answer has token counts, and only those of input and output together",
        "document.text": "Strands has no text as the source of a document: it is written as base64",
    },
    places={
        **PLACES,
        **HEADER.places("", "session"),
        **ROW.places("message", ".."),
        **MESSAGE.places("message"),
        **paths(f"message.usage=metadata/usage extras.{ROW_KEYS}=.."),
    },
    envelope=frozenset(("session", "agent", ROW_KEYS, METADATA, "message_id", "updated_at", "metrics", "type")),
    metadata=fields("agent"),
    programs=(PROGRAM,),
    family=FAMILY,
)
