"""The rows of a Copilot CLI session: their keys, which rows are messages, and which rows describe others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from convcli.kit.envelopes import Envelope
from convcli.kit.ids import uuid_of
from convcli.kit.objects import Keys, Native
from convcli.kit.sessions import row_of_event
from convcli.model.transcript import Transcript

NAME = "copilot-cli"
START, USAGE, ASSET, SUMMARY = (
    "session.start",
    "session.usage_record",
    "session.binary_asset",
    "session.compaction_complete",
)
USER, SYSTEM, ANSWER, RESULT = "user.message", "system.message", "assistant.message", "tool.execution_complete"
ROW = Envelope("type= data= id=id timestamp=created_at parentId= agentId ephemeral")
DATA = Keys(
    "sessionId version producer copilotVersion startTime selectedModel context toolCallId success messageId model "
    "role content transformedContent attachments toolRequests reasoningText outputTokens summaryContent result error"
)
FIRST = Keys("id timestamp parentId agentId data")
REQUEST = Keys("toolCallId name arguments type")
COUNTS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
PRODUCER: Native = {"version": 1, "producer": "copilot-agent", "copilotVersion": "0.0.0"}
"""The defaults of keys that the program requires in the first row."""
JOINT = "\n\n"


class Records(NamedTuple):
    """What separate rows state about messages: token counts by request id, and file data by asset id."""

    counts: dict[str, dict[str, int]]
    assets: dict[str, str]


def records_of(rows: list[Any]) -> Records:
    """Returns the token counts and file data in these rows."""
    counts: dict[str, dict[str, int]] = {}
    assets: dict[str, str] = {}
    for row in rows:
        data = row.get("data") if isinstance(row, dict) else None
        inner = data.get("usage") if isinstance(data, dict) and row.get("type") == USAGE else None
        if isinstance(inner, dict) and isinstance(inner.get("apiCallId"), str):
            stated = {name: inner[name] for name in COUNTS if type(inner.get(name)) is int and inner[name] > 0}
            counts[inner["apiCallId"]] = stated
        elif isinstance(data, dict) and row.get("type") == ASSET and isinstance(data.get("assetId"), str):
            assets |= {data["assetId"]: data["data"]} if isinstance(data.get("data"), str) else {}
    return Records(counts, assets)


def records_in(transcript: Transcript) -> Records:
    """Returns the token counts and file data in the events of a transcript."""
    return records_of([row_of_event(message, NAME) for message in transcript.messages if message.role == "event"])


def is_message(row: Any) -> bool:
    """True if the row is part of the model's context."""
    if not isinstance(row, dict) or not isinstance(row.get("data"), dict) or row.get("ephemeral") is True:
        return False
    data, kind = row["data"], row.get("type")
    if kind == SUMMARY:
        return (
            data.get("success") is True and isinstance(data.get("summaryContent"), str) and data["summaryContent"] != ""
        )
    return kind in (USER, SYSTEM, ANSWER, RESULT)


def counts_of(extra: Mapping[str, Any], records: Records) -> dict[str, int]:
    """Returns the token counts that a separate row states for an assistant message."""
    id_ = extra.get("apiCallId")
    return records.counts.get(id_, {}) if isinstance(id_, str) else {}


def id_of_start(transcript: Transcript) -> str:
    """Returns the default id of the first row."""
    return uuid_of([transcript.id, START])
