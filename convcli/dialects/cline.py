"""Cline and Roo Code: the history of a task, and sessions and compactions of Cline's SDK.

Specification: apps/vscode/src/shared/messages and sdk/packages/core/docs/messages-contract-v1.md of cline/cline at
21cb8d25, src/core/task-persistence of RooCodeInc/Roo-Code at cb836567; read 2026-11-22.

Quirks
- A task is a bare list of Anthropic's messages with times, models and costs beside them; without any it is taken for
  Anthropic's. A session is an object, whose messages have other keys for the same facts.
- Counts of input hold what went through the cache; what `tokens.cached` adds up cannot be told apart and is carried.
- Tools of the SDK give lists of any values. `success` in them is data: only `is_error` says that a tool failed.
- Of what stands before Roo's `isSummary` or the SDK's `metadata.kind` the model sees nothing. Roo's truncations, which
  hide turns in the middle, and its reasoning are carried. Cline itself keeps no mark of a summary in a task.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.anthropic import blocks as common
from convcli.families.anthropic import policy
from convcli.families.anthropic.blocks import Blocks, WriteBlock, kind_of
from convcli.families.anthropic.facts import Facts
from convcli.families.anthropic.messages import lift_system
from convcli.families.anthropic.places import PLACES, REASONS
from convcli.kit import fitting, lacking, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.sessions import Envelope
from convcli.kit.settings import Setting
from convcli.model.dialect import Clue, Dialect, Options, Pass
from convcli.model.transcript import Media, Text, ToolCall, Transcript
from convcli.validation.rules import links, turns

NAME = "cline"
SIGNATURE = "signature", "thoughtSignature"
"""Of Gemini, on texts and calls: the key, and the name in metadata."""
IMAGE = Keys("type data mediaType")
SUMMARY = Setting("replaces", lambda value: "all" if value is True else None, lambda value: value == "all" or None)
KINDS = {"compaction_summary": "all", "compaction": "all"}
KIND = Setting("replaces", KINDS.get, {"all": "compaction_summary"}.get, partial=True)
FIELDS: dict[str, str | Setting] = {"id": "id", "ts": sessions.in_milliseconds("created_at")}
TASK = Facts(
    "role content modelInfo id metrics ts isSummary",
    {**FIELDS, "isSummary": SUMMARY},
    {"modelInfo": Envelope("modelId providerId mode", {"modelId": "model", "providerId": "provider"})},
    {("tokens", "prompt"): "inputTokens", ("tokens", "completion"): "outputTokens"},
)
SESSION = Facts(
    "id role content ts modelInfo metrics metadata",
    FIELDS,
    {
        "modelInfo": Envelope("id provider family", {"id": "model", "provider": "provider"}),
        "metadata": Envelope("kind", {"kind": KIND}),
    },
    {(name,): name for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")},
)
HEADER = "version updated_at agent sessionId taskType origin"
DOCUMENT = Envelope(
    f"{HEADER} messages system_prompt",
    {"sessionId": "id", "updated_at": "updated_at"},
    content="messages system_prompt",
)
COMPACTION = "conversation_id source_message_count source_prefix_hash source_last_message_key"
ROO = "isSummary condenseId condenseParent isTruncationMarker truncationId truncationParent"
ROLES = {"reasoning": ("assistant",), "tool_call": ("assistant",)}


def detect(document: Any) -> Clue | None:
    """By the header of a session, by facts of Cline or Roo in messages, or by blocks in messages with times."""
    natives = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(natives, list) or not all(isinstance(native, dict) for native in natives):
        return None
    if any(native.get("role") not in (None, "user", "assistant") or "tool_calls" in native for native in natives):
        return None
    if isinstance(document, dict):
        own = document.keys() >= {"version", "agent", "sessionId"} or not document.keys().isdisjoint(COMPACTION.split())
        return Clue(98, "the header of a session") if own else None
    return max((clue for native in natives if (clue := _mark(native)) is not None), default=None)


def _mark(native: Native) -> Clue | None:
    info, metrics = (
        {**value} if isinstance(value := native.get(key), dict) else {} for key in ("modelInfo", "metrics")
    )
    if (
        {"modelId", "providerId"} & info.keys()
        or isinstance(metrics.get("tokens"), dict)
        or native.keys() & ROO.split()
    ):
        return Clue(97, "models, counts or summaries beside the content")
    time, content = native.get("ts"), native.get("content")
    if not isinstance(time, int) or time < 10**11 or not isinstance(content, (str, list)):
        return None
    has_answers = not {"tool_use", "tool_result", "thinking"}.isdisjoint(map(kind_of, content))
    return Clue(96 if has_answers else 70 if isinstance(content, list) else 45, "times in milliseconds")


def _lift_image(blocks: Blocks, native: Native, context: LiftContext) -> Media | None:
    if "source" in native:
        return common.lift_media(blocks, native, context)
    data, media_type = native["data"], native.get("mediaType") or None
    return Media("image", data=data, media_type=media_type, extras=blocks.extras(IMAGE, native))


def _write_image(blocks: Blocks, media: Media) -> Native | None:
    """A session has the data in the block itself."""
    if media.type != "image" or media.data is None or "source" in blocks.carried(media):
        return common.write_media(blocks, media)
    return {"type": "image", "data": media.data, "mediaType": media.media_type, **blocks.carried(media)}


READERS = {kind: common.reads_metadata(common.READERS[kind], *SIGNATURE) for kind in ("text", "tool_use")}
WRITERS: dict[type, WriteBlock] = {
    kind: common.writes_metadata(common.WRITERS[kind], *SIGNATURE) for kind in (Text, ToolCall)
}
BLOCKS = Blocks(NAME, {**common.READERS, **READERS, "image": _lift_image}, {**common.WRITERS, **WRITERS}, lists="data")
TASKS = TASK.turns(BLOCKS)
SESSIONS = SESSION.turns(BLOCKS._replace(writers={**BLOCKS.writers, Media: _write_image}, names=True))


def lift(document: Any) -> Transcript:
    """The transcript of a task or of a session."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        TASKS.lift_each(document, (), context)
        return context.transcript()
    lift_system(document.get("system_prompt"), "system_prompt", context, BLOCKS)
    SESSIONS.lift_each(document["messages"], ("messages",), context)
    transcript = context.transcript()
    transcript.extras = extras_of(NAME, DOCUMENT.lift(document, transcript))
    return transcript


def form_of(transcript: Transcript) -> str:
    """A session where there is what only the header of one says, else a task."""
    return "session" if carried_by(transcript.extras, NAME) else "task"


def write(transcript: Transcript, options: Options) -> Any:
    """A task, or a session with a leading instruction as its `system_prompt`."""
    messages = transcript.messages
    if options.form == "task":
        return TASKS.write(messages)
    system = fitting.bare_text(messages[0]) if messages and messages[0].role == "system" else ""
    content = {"messages": SESSIONS.write(messages[bool(system) :]), **({"system_prompt": system} if system else {})}
    return DOCUMENT.write(transcript, carried_by(transcript.extras, NAME), **content)


def _with_version(transcript: Transcript) -> Transcript:
    """A new session says its version."""
    is_own = bool(carried_by(transcript.extras, NAME))
    return transcript if is_own else replace(transcript, extras={**(transcript.extras or {}), NAME: {"version": 1}})


GEMINI = policy.only_metadata(SIGNATURE[1])
MESSAGES: tuple[Pass, ...] = (
    sessions.active_branch,
    sessions.events(lambda message: sessions.row_of_event(message, NAME) is not None),
    sessions.with_models,
    passes.on_messages(results.single_results),
    *policy.taken_parts(BLOCKS, roles=ROLES, text=GEMINI, reasoning=policy.signed_or_plain),
    passes.on_parts(lambda call, _: GEMINI(call), "tool_call"),
)
NO_INSTRUCTIONS = passes.on_each_message(lambda one: None if one.role in turns.INSTRUCTIONS else one)
LACKS = (
    (lacking.SESSION | lacking.REQUEST | lacking.TOOLS | lacking.CALL_ONLY | lacking.MESSAGE | lacking.METADATA)
    - {"id", "updatedAt", "message.id", "message.createdAt", "message.usage"}
    - {"text.metadata", "reasoning.metadata", "tool_call.metadata"}
) | {"audio", "video", "image.name", "image.detail", "document.detail", "reasoning.summary"}

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
        "task": passes.fused(*MESSAGES, NO_INSTRUCTIONS, passes.on_each_message(TASK.fits)),
        "session": passes.fused(
            *MESSAGES,
            policy.leading_instructions,
            passes.on_messages(fitting.bare_system),
            passes.on_each_message(SESSION.fits),
            _with_version,
        ),
    },
    form_of=form_of,
    rules=(
        links.paired(links.PairingRules(where="later", unique="request")),
        turns.parts_in_roles(ROLES),
        turns.results_in_roles("user"),
        turns.decodable(),
    ),
    conventions=(policy.results_of(BLOCKS),),
    lacks={"task": LACKS | {"id", "updatedAt", "tool_result.name"}, "session": LACKS},
    has=frozenset(("message.cost", "message.provider", "message.replaces")),
    reasons={
        **REASONS,
        **dict.fromkeys(("message", "text"), "Cline brings its own instructions"),
        "model": "each answer names its model",
        "metadata": "only signatures of Anthropic and Gemini have a place",
        "message.createdAt": "times are milliseconds since 1970",
        "message.usage": "a task adds up what was read from the cache and written to it",
        "message.replaces": "a summary stands for all that came before it",
        **dict.fromkeys(("image", "document"), "media are those of Anthropic's API"),
    },
    places={
        **PLACES,
        **{f"message.usage.{name}": ("metrics", *path) for f in (SESSION, TASK) for path, name in f.counts.items()},
        **{f"message.{name}": ("modelInfo", key) for key, name in (("modelId", "model"), ("providerId", "provider"))},
        "id": ("sessionId",),
        "message.createdAt": ("ts",),
        "message.usage": ("metrics",),
        "message.cost": ("metrics", "cost"),
        "message.replaces": ("isSummary",),
    },
    envelope=frozenset(f"{HEADER} {COMPACTION}".split()),
)
