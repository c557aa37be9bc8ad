"""Cline and Roo Code: the history of a task, and sessions and compactions of Cline's SDK.

Specification: apps/vscode/src/shared/messages and sdk/packages/core/docs/messages-contract-v1.md of cline/cline at
21cb8d25, src/core/task-persistence of RooCodeInc/Roo-Code at cb836567; read 2026-11-22.

Quirks
- A task is a bare list of Anthropic's messages with times, models and costs beside them; what has none of these is
  taken for Anthropic's. A session is an object, with its own keys for the same facts.
- Counts hold what went through the cache. `tokens.cached` adds up what was read and written: it is only carried.
- Tools of the SDK give lists of any values. `success` inside of them is data: only `is_error` says that one failed.
- Behind Roo's `isSummary` and the SDK's `metadata.kind` the model sees nothing of what came before. A truncation of Roo
  hides turns in the middle: it is carried, and so is Roo's reasoning. Cline itself keeps no mark of a summary in a task.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic import policy
from convcli.families.anthropic.blocks import (
    READERS,
    WRITERS,
    Blocks,
    ReadBlock,
    WriteBlock,
    kind_of,
    lift_media,
    write_media,
)
from convcli.families.anthropic.messages import Turns, lift_system
from convcli.families.anthropic.places import PLACES, REASONS
from convcli.kit import fitting, lacking, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.sessions import Envelope, in_milliseconds
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, put_counts, take_counts, time_of_milliseconds
from convcli.model.dialect import Clue, Dialect, Options, Pass
from convcli.model.transcript import Media, Message, Part, Reasoning, Text, ToolCall, Transcript
from convcli.validation.rules import links, turns

NAME = "cline"
SESSION = Envelope(
    "version updated_at agent sessionId taskType origin messages system_prompt",
    {"sessionId": "id", "updated_at": "updated_at"},
    content="messages system_prompt",
)
COMPACTION = frozenset(("source_message_count", "source_prefix_hash"))
OF_ROO = frozenset(
    ("isSummary", "condenseId", "condenseParent", "isTruncationMarker", "truncationId", "truncationParent")
)
ANSWERS = frozenset(("tool_use", "tool_result", "thinking"))
ROLES = {"reasoning": ("assistant",), "tool_call": ("assistant",)}


def detect(document: Any) -> Clue | None:
    """By the bookkeeping of a session, by facts beside messages, or by blocks of Anthropic in messages with times."""
    natives = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(natives, list) or not all(map(_is_message, natives)):
        return None
    if isinstance(document, dict):
        is_session = document.keys() >= {"version", "agent", "sessionId"} or not COMPACTION.isdisjoint(document)
        return Clue(98, "the bookkeeping of a session") if is_session else None
    return max((clue for native in natives if (clue := _mark(native)) is not None), default=None)


def _is_message(native: Any) -> bool:
    return isinstance(native, dict) and native.get("role") in (None, "user", "assistant") and "tool_calls" not in native


def _mark(native: Native) -> Clue | None:
    info, metrics, content = (native.get(key) for key in ("modelInfo", "metrics", "content"))
    is_named = isinstance(info, dict) and not {"modelId", "providerId"}.isdisjoint(info)
    if (
        is_named
        or not OF_ROO.isdisjoint(native)
        or (isinstance(metrics, dict) and isinstance(metrics.get("tokens"), dict))
    ):
        return Clue(97, "models, costs or summaries beside the messages")
    time = native.get("ts")
    if not isinstance(time, int) or time < 10**11 or not isinstance(content, (str, list)):
        return None
    has_answers = not ANSWERS.isdisjoint(map(kind_of, content))
    return Clue(96 if has_answers else 70 if isinstance(content, list) else 45, "messages with times in milliseconds")


# ---------------------------------------------------------------- blocks


def _reads_signature(read: ReadBlock) -> ReadBlock:
    def lift(blocks: Blocks, native: Native, context: LiftContext) -> Part | None:
        part = read(blocks, {key: value for key, value in native.items() if key != "signature"}, context)
        if native.get("signature") and isinstance(part, (Text, ToolCall)):
            part.metadata = {"thoughtSignature": native["signature"]}
        return part

    return lift


def _writes_signature(write: WriteBlock) -> WriteBlock:
    def lowered(blocks: Blocks, part: Any) -> Native | None:
        native, signature = write(blocks, part), (part.metadata or {}).get("thoughtSignature")
        return {**native, "signature": signature} if native and signature else native

    return lowered


def _lift_image(blocks: Blocks, native: Native, context: LiftContext) -> Media | None:
    if "source" in native:
        return lift_media(blocks, native, context)
    extras = blocks.extras(Keys("type data mediaType"), native)
    return Media("image", data=native["data"], media_type=native.get("mediaType") or None, extras=extras)


def _write_image(blocks: Blocks, media: Media) -> Native | None:
    """A session has the data in the block itself."""
    if media.type != "image" or media.data is None or "source" in blocks.carried(media):
        return write_media(blocks, media)
    return {"type": "image", "data": media.data, "mediaType": media.media_type, **blocks.carried(media)}


BLOCKS = Blocks(
    NAME,
    {
        **READERS,
        "text": _reads_signature(READERS["text"]),
        "tool_use": _reads_signature(READERS["tool_use"]),
        "image": _lift_image,
    },
    {**WRITERS, Text: _writes_signature(WRITERS[Text]), ToolCall: _writes_signature(WRITERS[ToolCall])},
    lists="data",
)

# ---------------------------------------------------------------- messages

Counts = dict[tuple[str, ...], str]


def _is_part_of(message: Message, previous: Message) -> bool:
    """Results, and what the user says right behind them, are one message where nothing stands beside them."""
    is_bare = message == Message(message.role, message.parts)
    return is_bare and previous.role == "tool" and message.role in ("tool", "user")


def _turns(
    blocks: Blocks, order: str, row: dict[str, str | Setting], inside: dict[str, Envelope], counts: Counts
) -> Turns:
    """The messages of a form: fields of a message, objects in it that hold others, and counts in `metrics`."""
    message_keys = Envelope(order, row, content=" ".join(key for key in order.split() if key not in row))

    def lift_facts(native: Native, message: Message, carried: Native) -> None:
        carried |= message_keys.lift(native, message) or {}
        usage, metrics = take_counts(native.get("metrics") or {}, counts)
        message.usage, message.cost = usage or None, metrics.pop("cost", None)
        rest = {key: envelope.lift(native.get(key) or {}, message) for key, envelope in inside.items()}
        carried |= {key: value for key, value in {**rest, "metrics": metrics}.items() if value}

    def write_facts(message: Message, carried: Native) -> Native:
        cost = {} if message.cost is None else {"cost": message.cost}
        metrics = put_counts(message.usage or {}, {**cost, **carried.pop("metrics", {})}, counts)
        content = {key: envelope.write(message, carried.pop(key, None)) for key, envelope in inside.items()}
        stated = {key: value for key, value in {**content, "metrics": metrics}.items() if value}
        facts = message_keys.write(message, carried, **stated)
        carried.clear()
        return facts

    return Turns(blocks, Keys(order), lift_facts, write_facts, _is_part_of, strings=False)


COMMON: dict[str, str | Setting] = {"id": "id", "ts": in_milliseconds("created_at")}
SUMMARY = Setting("replaces", lambda value: "all" if value is True else None, lambda _: True)
KINDS = ("compaction_summary", "compaction")
KIND = Setting("replaces", lambda value: "all" if value in KINDS else None, lambda _: KINDS[0], partial=True)
OF_TASK: Counts = {("tokens", "prompt"): "inputTokens", ("tokens", "completion"): "outputTokens"}
OF_SESSION: Counts = {(name,): name for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")}
TURNS = {
    "task": _turns(
        BLOCKS,
        "role content modelInfo id metrics ts isSummary",
        {**COMMON, "isSummary": SUMMARY},
        {"modelInfo": Envelope("modelId providerId mode", {"modelId": "model", "providerId": "provider"})},
        OF_TASK,
    ),
    "session": _turns(
        BLOCKS._replace(writers={**BLOCKS.writers, Media: _write_image}, names=True),
        "id role content ts modelInfo metrics metadata",
        COMMON,
        {
            "modelInfo": Envelope("id provider family", {"id": "model", "provider": "provider"}),
            "metadata": Envelope("kind", {"kind": KIND}),
        },
        OF_SESSION,
    ),
}


def lift(document: Any) -> Transcript:
    """The transcript of a task or of a session."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        TURNS["task"].lift_each(document, (), context)
        return context.transcript()
    lift_system(document.get("system_prompt"), "system_prompt", context, BLOCKS)
    TURNS["session"].lift_each(document["messages"], ("messages",), context)
    transcript = context.transcript()
    transcript.extras = extras_of(NAME, SESSION.lift(document, transcript))
    return transcript


def form_of(transcript: Transcript) -> str:
    """A session where there is what only Cline's SDK keeps of one, else a task."""
    return "session" if carried_by(transcript.extras, NAME) else "task"


def write(transcript: Transcript, options: Options) -> Any:
    """A task or a session, with the instruction before all messages as its `system_prompt`."""
    messages, of_form = transcript.messages, TURNS[options.form or "task"]
    if options.form == "task":
        return of_form.write(messages)
    system = fitting.bare_text(messages[0]) if messages and messages[0].role == "system" else ""
    content = {"messages": of_form.write(messages[bool(system) :]), **({"system_prompt": system} if system else {})}
    return SESSION.write(transcript, carried_by(transcript.extras, NAME), **content)


# ---------------------------------------------------------------- fit


def _signed_by_gemini(part: Any) -> Any:
    """Texts and calls have Gemini's signature, and no other metadata."""
    signature = (part.metadata or {}).get("thoughtSignature")
    kept = {"thoughtSignature": signature} if signature and isinstance(signature, str) else None
    return part if part.metadata == kept else replace(part, metadata=kept)


def _reasoning(part: Reasoning) -> Reasoning:
    """Thinking needs no signature: Cline leaves it out itself where the service wants one."""
    return policy.signed(part) or (replace(part, metadata=None) if part.metadata else part)


def _facts(counts: Counts) -> Pass:
    """Times in milliseconds, counts that the form has, and summaries of all that came before."""

    def fits(message: Message) -> Message:
        usage = {name: count for name, count in (message.usage or {}).items() if name in counts.values()}
        time = time_of_milliseconds(milliseconds_of_time(message.created_at))
        summary = "all" if message.replaces == "all" else None
        fitted = replace(message, usage=usage or None, created_at=time, replaces=summary)
        return message if fitted == message else fitted

    return fitting.on_each_message(fits)


def _with_version(transcript: Transcript) -> Transcript:
    """A session says its version."""
    is_own = bool(carried_by(transcript.extras, NAME))
    return transcript if is_own else replace(transcript, extras={**(transcript.extras or {}), NAME: {"version": 1}})


PARTS = policy.taken_parts(BLOCKS, roles=ROLES, text=_signed_by_gemini, reasoning=_reasoning)
MESSAGES: tuple[Pass, ...] = (
    sessions.active_branch,
    sessions.events(lambda message: sessions.row_of_event(message, NAME) is not None),
    sessions.with_models,
    fitting.on_messages(fitting.single_results),
    *PARTS,
    fitting.on_parts(lambda part, _: _signed_by_gemini(part), "tool_call"),
)
NO_INSTRUCTIONS = fitting.on_each_message(lambda one: None if one.role in turns.INSTRUCTIONS else one)
ONE_INSTRUCTION = (policy.leading_instructions, fitting.on_messages(fitting.bare_system))

LACKS = (lacking.SESSION | lacking.REQUEST | lacking.TOOLS | lacking.METADATA | lacking.CALL_ONLY | lacking.MESSAGE) - {
    "id", "updatedAt", "message.id", "message.createdAt", "message.usage",
    "text.metadata", "reasoning.metadata", "tool_call.metadata",
} | {"audio", "video", "image.name", "image.detail", "document.detail", "reasoning.summary"}  # fmt: skip

DIALECT = Dialect(
    name=NAME,
    title="Cline",
    specification="the code of cline/cline at 21cb8d25 and RooCodeInc/Roo-Code at cb836567; read 2026-11-22",
    framings=("document", "records"),
    forms=("task", "session"),
    detect=detect,
    lift=lift,
    write=write,
    fit={
        "task": fitting.fused(*MESSAGES, _facts(OF_TASK), NO_INSTRUCTIONS),
        "session": fitting.fused(*MESSAGES, _facts(OF_SESSION), *ONE_INSTRUCTION, _with_version),
    },
    form_of=form_of,
    rules=(
        links.paired(links.Manner(where="later", unique="request")),
        turns.parts_in_roles(ROLES),
        turns.results_in_roles("user"),
        turns.decodable(),
    ),
    conventions=(policy.results_of(BLOCKS),),
    lacks={"task": LACKS | {"id", "updatedAt", "tool_result.name"}, "session": LACKS},
    has=frozenset(("message.cost", "message.provider", "message.replaces")),
    reasons={
        **REASONS,
        "message": "Cline brings its own instructions",
        "model": "each answer names its model",
        "metadata": "only signatures of Anthropic and Gemini have a place",
        "message.createdAt": "times are milliseconds since 1970",
        "message.usage": "a task adds up what was read from the cache and written to it",
        "message.replaces": "a summary stands for all that came before it",
        **dict.fromkeys(("image", "document"), "media are those of Anthropic's API"),
    },
    places={
        **PLACES,
        "id": ("sessionId",),
        "message.createdAt": ("ts",),
        "message.model": ("modelInfo", "modelId"),
        "message.provider": ("modelInfo", "providerId"),
        "message.usage": ("metrics",),
        "message.usage.inputTokens": ("metrics", "tokens", "prompt"),
        "message.usage.outputTokens": ("metrics", "tokens", "completion"),
        "message.usage.cacheReadTokens": ("metrics", "cacheReadTokens"),
        "message.usage.cacheWriteTokens": ("metrics", "cacheWriteTokens"),
        "message.cost": ("metrics", "cost"),
        "message.replaces": ("isSummary",),
    },
    envelope=frozenset(
        (
            "version",
            "agent",
            "origin",
            "taskType",
            "conversation_id",
            "source_message_count",
            "source_prefix_hash",
            "source_last_message_key",
        )
    ),
)
