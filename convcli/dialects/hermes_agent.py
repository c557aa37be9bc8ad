"""Hermes Agent: sessions of Nous Research's agent, from its database (`state.db`) or `hermes sessions export`.

Specification: none is published. Source: hermes_state.py of hermes-agent 0.19.0 (NousResearch/hermes-agent), whose
SessionDB exported, and imported what convcli wrote; read 2026-11-28.

Quirks
- A session has the columns of its row, and `messages` in the order in which they were stored. A line of an export is a
  session. Messages are those of Chat Completions, with `tool_name` for the name of a result.
- `system_prompt` of the session is the instruction.
- The program stores the reasoning twice: `reasoning` is shown, `reasoning_content` is sent back.
- Columns of counts that are zero, and marks of an ordinary message (`active`, `observed`, `compacted`), mean nothing.
- An empty string in `tool_calls` means no calls, null in `active` an active message.
- An export has no messages that were rewound or compacted. convcli does not read them from the database either.
- The dashboard imports sessions (`POST /api/sessions/import`, `{"sessions": [...]}`), and `hermes --resume ID`
  continues one. The program sets a time that is missing.
- Trajectories (`trajectory_samples.jsonl`) are rows of `sharegpt`.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai import messages as openai
from convcli.families.openai.request import FINISH, FINISH_OF
from convcli.families.openai.tables import OF_CALLS
from convcli.kit import fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.ids import set_session_id
from convcli.kit.objects import Native, add_extras, as_object, get_extras, make_extras, without_empty
from convcli.kit.settings import Setting
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import only_text
from convcli.kit.values import paths, seconds_of_time, time_of_seconds
from convcli.model.dialect import Dialect, Options, Pass, Program, ProgramTurns
from convcli.model.transcript import Message, Opaque, Part, Text, ToolCall, Transcript
from convcli.validation.rules import arguments, links

NAME = "hermes-agent"
PROMPT, START, THOUGHT, SHOWN, TOOL = "system_prompt", "started_at", "reasoning_content", "reasoning", "tool_name"
ROLES = ("system", "user", "assistant", "tool")
CONTENT = ("role", THOUGHT, "content", "tool_calls", "tool_call_id")
IMPORTED = "import"
"""The source that the program gives to a session without one."""
COMPACTED = dict.fromkeys(("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"), "compaction")
"""What a summary begins with, which stands where messages were compacted."""
ORDINARY = {"observed": 0, "active": 1, "compacted": 0}


def _time(name: str) -> Setting:
    return Setting(name, time_of_seconds, seconds_of_time, partial=True)


SESSION = Envelope(
    "id source model model_config system_prompt parent_session_id started_at ended_at end_reason message_count "
    "tool_call_count cwd title messages",
    {"id": "id", "model": "model", START: _time("created_at"), "cwd": "cwd", "title": "title"},
    content="system_prompt messages",
)
MESSAGE = Envelope(
    "id session_id role content tool_call_id tool_calls tool_name effect_disposition timestamp token_count "
    "finish_reason reasoning reasoning_content",
    {"timestamp": _time("created_at"), "finish_reason": Setting("stop_reason", FINISH.get, FINISH_OF.get)},
    content="role content tool_calls",
)
ENVELOPE = fields(
    "id session_id source user_id model_config parent_session_id ended_at end_reason message_count tool_call_count "
    "input_tokens output_tokens cache_read_tokens cache_write_tokens reasoning_tokens git_branch git_repo_root "
    "billing_provider billing_base_url billing_mode estimated_cost_usd actual_cost_usd cost_status cost_source "
    "pricing_version api_call_count archived rewind_count token_count finish_reason active observed compacted "
    "platform_message_id display_name origin_json"
)
"""Columns that are no part of the conversation."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    natives = document["messages"]
    if document.get(PROMPT):
        context.add(Message("system", [Text(document[PROMPT])]), (PROMPT,), [()])
    for i, native in enumerate(natives):
        if native.get("role") in ROLES:
            _lift_message(native, i, document, context)
        else:
            sessions.add_event(context, native, ("messages", i))
    calls = sum(isinstance(part, ToolCall) for message in context.messages for part in message.parts)
    clear = {"message_count": len(natives), "tool_call_count": calls, "source": IMPORTED}
    usual = dict.fromkeys(ENVELOPE, 0)  # a column of counts begins with zero
    extra = without_empty(SESSION.lift(document, transcript) or {})
    transcript.extras = make_extras(
        NAME, {key: one for key, one in extra.items() if isinstance(one, bool) or one != clear.get(key, usual.get(key))}
    )
    return transcript


def _lift_message(native: Native, i: int, session: Native, context: LiftContext) -> None:
    chat = {key: native[key] for key in CONTENT if native.get(key) is not None and (native[key] or key != "tool_calls")}
    thought = None if native["role"] == "tool" else native.get(THOUGHT) or native.get(SHOWN)
    used = ["role", "content", "tool_calls"]
    if native["role"] == "tool":
        chat = {**chat, "name": native.get(TOOL)}
        used += ["tool_call_id", TOOL]
    elif thought:
        chat = {"role": chat.pop("role"), THOUGHT: thought, **chat}
        used += [THOUGHT, *[SHOWN] * (native.get(SHOWN) == thought)]
    message, places = openai.lift_any(chat, context)
    clear = {**ORDINARY, "session_id": session.get("id")}
    rest = without_empty(MESSAGE.lift(native, message) or {}, *used)
    extra = {key: one for key, one in rest.items() if isinstance(one, bool) or one != clear.get(key)}
    add_extras(message, NAME, extra)
    context.add(message, ("messages", i), places)
    if not native.get(THOUGHT) and thought:
        context.origin.routes["messages", i, THOUGHT] = "messages", i, SHOWN


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns a session. A leading instruction is its system prompt."""
    messages, prompt = transcript.messages, None
    if messages and messages[0] == Message("system", messages[0].parts):
        prompt = only_text(messages[0].parts) or None
    natives = [_write_message(message) for message in messages[prompt is not None :]]
    content = {"messages": natives} if prompt is None else {PROMPT: prompt, "messages": natives}
    native = SESSION.write(transcript, {"source": IMPORTED, **get_extras(transcript.extras, NAME)}, **content)
    return native if START in native else {**native, START: None}


def _write_message(message: Message) -> Any:
    if message.role == "event":
        return sessions.row_of_event(message, NAME)
    chat = openai.write_message(replace(message, name=None, extras=None), NAME)
    content = {key: chat[key] for key in CONTENT if key in chat}
    extra = get_extras(message.extras, NAME)
    content |= {SHOWN: chat[THOUGHT]} if THOUGHT in chat and SHOWN not in extra else {}
    result = results.result_of(message)
    content |= {TOOL: result.name} if result is not None else {}
    return MESSAGE.write(message, extra, **content)


# ---------------------------------------------------------------- fit


def _keep_own(part: Part) -> Part | None:
    return None if isinstance(part, Opaque) and part.dialect != NAME else part


RESULTS = results.with_plain_failures(results.text_or_parts("Hermes Agent"))
FIT: tuple[Pass, ...] = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, lambda row: as_object(row).get("role") in ROLES),
    *sessions.plain_turns(RESULTS),
    fitting.drop_other_opaque(NAME),
    passes.on_results(lambda result: results.with_parts(result, _keep_own)),
    passes.on_each_message(openai.one_reasoning),
    set_session_id(lambda transcript: [_write_message(message) for message in transcript.messages]),
    fitting.settle_by_reading_back(lift, write, "session"),
)

SUPPORTS = (
    TURNS
    | media("image", "data url mediaType detail")
    | media("audio", "data mediaType")
    | media("document", "data fileId mediaType name")
    | SESSION.supports()
    | MESSAGE.supports("message")
)
SUPPORTS |= fields("tool_call.rawArguments tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="Hermes Agent",
    specification="sessions of hermes-agent 0.19.0; read 2026-11-28",
    framings=("document", "records"),
    forms=("session",),
    programs=(Program(NAME, ".hermes", "state.db", "HERMES_HOME"),),
    program_turns=ProgramTurns(COMPACTED),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS,),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    supports=SUPPORTS,
    reasons={
        **sessions.NOTHING_SENT,
        "event": sessions.REASONS["event"],
        "id": sessions.REASONS["id"],
        "refusal": "Hermes Agent has no field for a refusal: it is written as text",
        "message.model": "Hermes Agent stores one model for a session",
        "reasoning": "a message of Hermes Agent has one reasoning text",
    },
    places={
        **OF_CALLS,
        **SESSION.places(),
        **MESSAGE.places("message"),
        **paths("image.detail=image_url/detail tool_result.name=../tool_name"),
    },
    content=fields("inactive_messages"),
    metadata=fields(
        "source model_config user_id git_branch git_repo_root reasoning_details codex_reasoning_items "
        "codex_message_items effect_disposition id session_id"
    ),
    envelope=ENVELOPE,
)
