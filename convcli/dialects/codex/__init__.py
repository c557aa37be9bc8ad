"""Codex CLI: rollouts (JSONL) of both generations, and the session with items of its first versions.

Specification: codex-rs/protocol and codex-rs/rollout of openai/codex, `codex app-server generate-json-schema` of
@openai/codex 0.169.0, and that program itself, which was given rollouts and a loopback model; read 2026-11-22.

Quirks
- A rollout is one document of many rows: a header, items of the Responses API, and events that the screen displays.
- An event that repeats an item is read once. Only events state a model, usage and failures.
- The header names the provider of all answers. convcli does not write the provider of another dialect: Codex rejects a
  rollout whose provider is not configured on the machine.
- A compaction replaces all earlier messages with the items of its list. If Codex cannot parse one item, it skips the
  row. Turns that were rolled back stay in the file, before the row that rolls them back.
- Codex rejects a file without a complete header, or with an incomplete tool. It silently skips every row that it cannot
  parse: a system message, a message whose content is a string, or one with a refusal or a file.
- Codex also skips a `turn_context` with only a model, but readers of rollouts take the model from it.
- An ordinal that equals the row number, and convcli's own `originator` and `cli_version`, are not kept as extras.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.codex.fitting import FIT
from convcli.dialects.codex.lifting import HEADER, lift
from convcli.dialects.codex.rows import (
    COMPACTED,
    ITEM,
    META,
    NAME,
    ROW,
    USAGE,
    Row,
    is_known,
    is_paginated,
    rows_of,
)
from convcli.dialects.codex.writing import write
from convcli.families.responses.facts import COMMON, OF_ITEMS, REASONS
from convcli.families.responses.items import kind_of
from convcli.families.responses.parts import RESULTS
from convcli.kit import sessions
from convcli.kit.ids import is_uuid
from convcli.kit.objects import Native
from convcli.kit.supported import TOOLS, fields, lacking
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Program, ProgramTurns, SessionFacts, tags
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import arguments, links
from convcli.validation.survey import Survey, for_requests


def _place(facts: SessionFacts) -> str:
    """Returns the path of a rollout: Codex finds it only by the id at the end of its name."""
    day, time = facts.begin[:10].replace("-", "/"), facts.begin[:19].replace(":", "-")
    return f"sessions/{day}/rollout-{time}-{facts.id}.jsonl"


PROGRAM = Program("codex", ".codex", "sessions/**/rollout-*.jsonl*", "CODEX_HOME", _place, "codex resume {id}")


# ---------------------------------------------------------------- what Codex does not read

PARTS = ("input_text", "input_image", "input_audio", "output_text", "encrypted_content")
REQUIRED_KEYS = {
    "function_call": ("call_id", "name", "arguments"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
}
REQUIRED_IN_HEADER = ("timestamp", "cwd", "originator", "cli_version")


def _unread(survey: Survey) -> Iterator[Breach]:
    rows = rows_of(survey.document)
    if rows and not _is_accepted_header(rows[0], survey.document):
        yield Breach("unread-row", NodeRef(steps=(0,)), "Codex rejects a rollout that begins with this row")
    for i, row in enumerate(rows):
        if i and row.is_enveloped and not _is_read(row):
            yield Breach("unread-row", NodeRef(steps=(i,)), "Codex skips this row", "warning")
        elif row.kind == COMPACTED:
            yield from _unsent(row)


def _replacement_items(row: Row) -> list[Native]:
    """Returns the items of a compaction."""
    return row.payload.get("replacement_history") or [] if row.kind == COMPACTED else []


def _unsent(row: Row) -> Iterator[Breach]:
    """Reports what a compaction has that the model does not receive."""
    steps = (*row.path, "replacement_history")
    if row.payload.get("replacement_history") == []:
        yield Breach("unread-row", NodeRef(steps=steps), "Codex sends nothing from this compaction", "warning")
    for k, item in enumerate(_replacement_items(row)):
        if not is_known(item, kind_of(item)):
            yield Breach("unread-row", NodeRef(steps=(*steps, k)), "Codex does not send this item", "warning")


def _is_accepted_header(first: Row, document: Any) -> bool:
    """True if Codex accepts a rollout with this first row."""
    is_header = (
        first.kind == META and {"type", "timestamp"} <= first.native.keys() and _is_complete_header(first.payload)
    )
    return is_header and (not is_paginated(first.payload) or "ordinal" in document[-1])


def _is_complete_header(header: Native) -> bool:
    tools = header.get("dynamic_tools") or ()
    are_whole = all(isinstance(tool.get("description"), str) and "inputSchema" in tool for tool in tools)
    return (
        are_whole and all(isinstance(header.get(key), str) for key in REQUIRED_IN_HEADER) and is_uuid(header.get("id"))
    )


def _is_read(row: Row) -> bool:
    """True if Codex reads a row after the first. It reads no system message."""
    item = row.payload if row.kind == ITEM and is_known(row.payload, row.item) else None
    is_system = item is not None and item.get("type") == "message" and item["role"] == "system"
    is_parsed = (item is None or _is_parsed(item)) and all(map(_is_parsed, _replacement_items(row)))
    return is_parsed and not is_system and "timestamp" in row.native


def _is_parsed(item: Native) -> bool:
    kind = item.get("type")
    if kind == "message":
        content = item.get("content")
        return isinstance(content, list) and all(part["type"] in PARTS for part in content)
    if kind == "reasoning":
        return isinstance(item.get("summary"), list)
    return kind is not None and all(isinstance(item.get(key), str) for key in REQUIRED_KEYS.get(kind, ()))


RULES = (
    for_requests(Rule(("unread-row",), _unread)),
    links.paired(links.PairingRules(where="later", missing="warning")),
    arguments.readable(),
)


SUPPORTS = lacking(COMMON, "document refusal") - {"image.fileId"}
SUPPORTS |= ROW.supports("message") | HEADER.supports() | TOOLS
SUPPORTS |= fields("message.replaces message.model message.usage message.provider")

DIALECT = Dialect(
    name=NAME,
    title="Codex CLI",
    aliases=("rollout", "openai-codex"),
    specification="rollouts of @openai/codex 0.169.0; read 2026-11-22",
    framings=("events", "document"),
    forms=("rollout",),
    programs=(PROGRAM,),
    program_turns=ProgramTurns(tags("environment_context", "turn_aborted", "user_shell_command")),
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "refusal": "Codex skips a message with a refusal: it is written as text",
        **{name: REASONS[name] for name in ("reasoning", "message.grouping", "tool_result.isError")},
        **dict.fromkeys(("audio", "video"), "Codex sends only text and images to a model"),
        "document": "Codex skips a message with a file",
        "image": "Codex accepts images only in user messages and results, as a URL or data",
        "image.detail": "auto is the default detail of an image",
        "image.mediaType": "Codex stores the media type only in a data URL",
        "message.role": "Codex has one system text, in the header: others are developer messages",
        "message.model": "the model of a Codex answer is the one last named before it",
        "message.provider": "Codex accepts only providers that are configured on the machine",
        "message.replaces": "a Codex compaction replaces all earlier messages",
        "id": "a Codex session id is a UUID; this one was derived from the content",
        "createdAt": "Codex requires a session time: it is that of the first row, or 1970",
        "cwd": "Codex requires a directory: an unknown one is an empty string",
        "tool.parameters": "Codex rejects a tool without a schema",
        **dict.fromkeys(
            ("tool.name", "tool_call.name"), "Codex accepts only tool names that the Responses API accepts"
        ),
        "tool_call.id": "Codex requires a call id that the Responses API accepts",
        "text": "the Codex header has one instruction text",
        "message.usage": "Codex omits zero counts",
        "tool_result.value": "a Codex output accepts only text and images",
    },
    places={
        **OF_ITEMS,
        **HEADER.places("", "#", "@"),
        **ROW.places("message", ".."),
        **paths("extras.header=#/@ extras.headerRow=# extras.messageRow=../../.. extras.row=.."),
        **{f"message.usage.{ours}": ("usage", *theirs) for theirs, ours in USAGE.items()},
        "tool.parameters": ("inputSchema",),
    },
    metadata=fields(
        "session_meta session_state state turn_context world_state token_usage_record "
        "response_item/ghost_snapshot response_item/additional_tools event_msg/background_event "
        "event_msg/context_compacted event_msg/deprecation_notice event_msg/entered_review_mode event_msg/error "
        "event_msg/exec_approval_request event_msg/exec_command_begin event_msg/exec_command_end "
        "event_msg/exec_command_output_delta event_msg/exited_review_mode event_msg/item_completed "
        "event_msg/item_started event_msg/mcp_startup_complete event_msg/mcp_startup_update "
        "event_msg/mcp_tool_call_begin event_msg/mcp_tool_call_end event_msg/patch_apply_begin "
        "event_msg/patch_apply_end event_msg/plan_update event_msg/session_configured event_msg/stream_error "
        "event_msg/task_complete event_msg/task_started event_msg/thread_name_updated "
        "event_msg/thread_rolled_back event_msg/thread_settings_applied event_msg/token_count "
        "event_msg/turn_aborted event_msg/turn_diff event_msg/view_image_tool_call event_msg/warning "
        "event_msg/web_search_begin event_msg/web_search_end"
    ),
    envelope=fields("header headerRow row messageRow status internal_chat_message_metadata_passthrough"),
)
