"""Codex CLI: rollouts (JSONL) of both generations, and the session with items of its first versions.

Specification: codex-rs/protocol and codex-rs/rollout of openai/codex, `codex app-server generate-json-schema` of
@openai/codex 0.169.0, and that program itself, which was given rollouts and a loopback model; read 2026-11-22.

Quirks
- A rollout is one document of many rows: a header, items of the Responses API, and events that the screen shows.
- Events that say what an item says are read once; a model, usage and failures are stated only by events.
- The header names the provider of all answers. That of another dialect is not written: the program refuses a rollout
  whose provider is not among those of the machine.
- A compaction replaces all that was before it, with the items of its list alone; one that it cannot parse makes the
  program skip the row. Turns that were taken back stay in the file, in front of the row that
  says so.
- The program refuses a file without a whole header or with a tool that is not whole, and skips in silence every row
  that it cannot parse: a message of the system, one whose content is a string, one with a refusal or a file.
- `turn_context` with nothing but a model is skipped too, but readers of rollouts take the model from there.
- An ordinal that is the number of its row, and `originator` and `cli_version` of ours, say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.dialects.codex.fitting import FIT
from convcli.dialects.codex.lifting import lift
from convcli.dialects.codex.rows import (
    COMPACTED,
    EVENT,
    ITEM,
    META,
    NAME,
    TURN,
    USAGE,
    Row,
    is_known,
    is_paginated,
    rows_of,
)
from convcli.dialects.codex.writing import write
from convcli.families.responses.facts import OF_ITEMS, REASONS
from convcli.families.responses.parts import RESULTS
from convcli.kit import sessions
from convcli.kit.ids import is_uuid
from convcli.kit.lacking import FUNCTION_ONLY, MESSAGE, fields
from convcli.kit.objects import Native
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect, Program, SessionFacts
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import arguments, links
from convcli.validation.survey import Survey, for_requests


def detect(document: Any) -> Clue | None:
    """By the header or by rows with a payload; of the older generation by its header before items."""
    if isinstance(document, dict):
        session, items = document.get("session"), document.get("items")
        is_session = isinstance(session, dict) and "id" in session and isinstance(items, list) and _are_items(items)
        return Clue(94, "a session and its items") if is_session else None
    if not isinstance(document, list) or not document or not all(isinstance(row, dict) for row in document):
        return None
    first, payloads = document[0], [row for row in document if isinstance(row.get("payload"), dict)]
    if first.get("type") == META and first in payloads and "cli_version" in first["payload"]:
        return Clue(98, "a header of the type session_meta")
    if any(row.get("type") in (ITEM, EVENT, TURN, META, "world_state") for row in payloads):
        return Clue(95, "rows of a rollout")
    is_header = {"id", "timestamp"} <= first.keys() and not first.keys().isdisjoint(("instructions", "git"))
    is_header = is_header and first.keys().isdisjoint(("type", "role"))
    return Clue(94, "a header before items") if is_header and _are_items(document[1:]) else None


def _are_items(rows: list[Any]) -> bool:
    objects = all(isinstance(row, dict) and isinstance(row.get("type", ""), str) for row in rows)
    return objects and all("record_type" in row or "type" in row or "role" in row for row in rows)


def _place(facts: SessionFacts) -> str:
    """Codex finds a rollout by the id at the end of its name, and no file of another name."""
    day, time = facts.begin[:10].replace("-", "/"), facts.begin[:19].replace(":", "-")
    return f"sessions/{day}/rollout-{time}-{facts.id}.jsonl"


PROGRAM = Program("codex", ".codex", "sessions/**/rollout-*.jsonl*", "CODEX_HOME", _place, "codex resume {id}")


# ---------------------------------------------------------------- what the program does not read

PARTS = ("input_text", "input_image", "input_audio", "output_text", "encrypted_content")
NEEDS = {
    "function_call": ("call_id", "name", "arguments"),
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
}
HEADER = ("timestamp", "cwd", "originator", "cli_version")


def _unread(survey: Survey) -> Iterator[Breach]:
    rows = rows_of(survey.document)
    if rows and not _is_taken(rows[0], survey.document):
        yield Breach("unread-row", NodeRef(steps=(0,)), "the program takes no rollout that begins so")
    for i, row in enumerate(rows):
        if i and row.is_enveloped and not _is_read(row):
            yield Breach("unread-row", NodeRef(steps=(i,)), "the program skips this row", "warning")
        elif row.kind == COMPACTED:
            yield from _unsent(row)


def _replacing(row: Row) -> list[Native]:
    """The items of a compaction."""
    return row.payload.get("replacement_history") or [] if row.kind == COMPACTED else []


def _unsent(row: Row) -> Iterator[Breach]:
    """What a compaction holds that the model is not shown."""
    steps = (*row.path, "replacement_history")
    if row.payload.get("replacement_history") == []:
        yield Breach("unread-row", NodeRef(steps=steps), "the program sends nothing of this compaction", "warning")
    for k, item in enumerate(_replacing(row)):
        if not is_known(item):
            yield Breach("unread-row", NodeRef(steps=(*steps, k)), "the program does not send this item", "warning")


def _is_taken(first: Row, document: Any) -> bool:
    """Does the program take a rollout with this first row?"""
    is_header = first.kind == META and {"type", "timestamp"} <= first.native.keys() and _is_whole(first.payload)
    return is_header and (not is_paginated(first.payload) or "ordinal" in document[-1])


def _is_whole(header: Native) -> bool:
    tools = header.get("dynamic_tools") or ()
    are_whole = all(isinstance(tool.get("description"), str) and "inputSchema" in tool for tool in tools)
    return are_whole and all(isinstance(header.get(key), str) for key in HEADER) and is_uuid(header.get("id"))


def _is_read(row: Row) -> bool:
    """Does the program read a row behind the first? It takes no message of the system."""
    item = row.payload if row.kind == ITEM and is_known(row.payload) else None
    is_system = item is not None and item.get("type") == "message" and item["role"] == "system"
    is_parsed = (item is None or _is_parsed(item)) and all(map(_is_parsed, _replacing(row)))
    return is_parsed and not is_system and "timestamp" in row.native


def _is_parsed(item: Native) -> bool:
    kind = item.get("type")
    if kind == "message":
        content = item.get("content")
        return isinstance(content, list) and all(part["type"] in PARTS for part in content)
    if kind == "reasoning":
        return isinstance(item.get("summary"), list)
    return kind is not None and all(isinstance(item.get(key), str) for key in NEEDS.get(kind, ()))


RULES = (
    for_requests(Rule(("unread-row",), _unread)),
    links.paired(links.PairingRules(where="later", missing="warning")),
    arguments.readable(),
    arguments.not_filled(),
)

LACKS = FUNCTION_ONLY | MESSAGE - {"message.createdAt", "message.usage"}
LACKS |= frozenset(f"message.{name}" for name in ("grouping", "cost", "weight", "label", "parentCallId"))
LACKS |= fields("title updatedAt head toolChoice settings tool_result.status image.name")

DIALECT = Dialect(
    name=NAME,
    title="Codex CLI",
    aliases=("rollout", "openai-codex"),
    specification="rollouts of @openai/codex 0.169.0; read 2026-11-22",
    framings=("events", "document"),
    forms=("rollout",),
    programs=(PROGRAM,),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(RESULTS,),
    has=fields("message.provider tool_call.custom"),
    lacks=LACKS,
    reasons={
        **sessions.REASONS,
        **sessions.NO_REQUEST,
        "refusal": "the program skips a message with a refusal: it is written as a text",
        **{name: REASONS[name] for name in ("reasoning", "message.grouping", "tool_result.isError")},
        **dict.fromkeys(("audio", "video"), "the program shows a model texts and images"),
        "document": "the program skips a message with a file",
        "image": "an image is a URL or data, in words of the user and in results",
        "image.detail": "auto is the detail of an image that says nothing of it",
        "image.mediaType": "a URL with data names their type",
        "message.role": "a session has one text of the system, in its header: others are of the developer",
        "message.model": "the model of an answer is that of the row before it that names one",
        "message.provider": "the program takes no provider that is not among those of the machine",
        "message.replaces": "a compaction replaces all that was before it",
        "id": "the id of a session is a UUID: it is made of the content",
        "createdAt": "a session has a time: that of its first row, or 1970",
        "cwd": "a session names its directory: an empty text where nobody knows it",
        "tool.parameters": "the program refuses a tool without a schema",
        **dict.fromkeys(("tool.name", "tool_call.name"), "names of tools are those that the Responses API takes"),
        "tool_call.id": "every call has an id that the Responses API takes",
        "text": "instructions in the header are one text",
        "message.usage": "a count of zero is no count",
        "tool_result.value": "an output holds texts and images",
    },
    places={
        **OF_ITEMS,
        **paths(
            "id=#/@/id createdAt=#/@/timestamp cwd=#/@/cwd extras.header=#/@ extras.headerRow=# "
            "extras.messageRow=../../.. extras.row=.. message.createdAt=../timestamp"
        ),
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
