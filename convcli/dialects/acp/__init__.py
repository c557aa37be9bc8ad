"""Agent Client Protocol: the session updates that an agent sends to an editor. Read-only.

Specification: https://agentclientprotocol.com, schema 1.19 of version 1 as typed by the Python package
`agent-client-protocol` 0.12.1, and the schema of version 2 in @agentclientprotocol/sdk 2.4.0; read 2026-11-27. No
program loads such a log again.

Quirks
- A row is a JSON-RPC message, the parameters of `session/update`, or an update alone.
- Text and thoughts arrive in chunks. Nothing marks the end of a message: it ends at another speaker, at a result, or
  at a chunk that names another message.
- A call has a title for people, and only some agents name its tool. Its input may arrive later.
- A call that has completed or failed is its own result. Other updates of a running call, plans and modes are events.
- The rows of each session are a transcript; rows without a session belong to the one before.
- In version 2, an update states a whole message, and replaces what was stated of it before: convcli reads the last
  content at the first place, and keeps the earlier updates as events. An update begins a call, and its content may
  arrive in chunks. A state states why the agent stopped.
- The answer to a prompt states why the agent stopped, and the token counts of the whole prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convcli.dialects.acp.reading import NAME, SPEAKERS, WHOLE, AcpReader, update_of
from convcli.kit.objects import Native, as_object
from convcli.kit.streams import Boundaries, Limits
from convcli.kit.supported import fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect
from convcli.model.transcript import Transcript
from convcli.validation.rules import links, turns


def _mark(row: Any) -> Limits:
    """Returns the session of a row: another one is another conversation."""
    holders = (row, as_object(row).get("params"), as_object(row).get("result"))
    ids = (holder.get("sessionId") for holder in holders if isinstance(holder, dict))
    id_ = next((one for one in ids if isinstance(one, str) and one), None)
    return Limits(id_ is not None, id=id_)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    updates = [update_of(row) for row in document]
    reader = AcpReader(document, [update for update, _ in updates])
    for at, is_replaced in reading_order([update for update, _ in updates]):
        row, (update, path) = document[at], updates[at]
        if is_replaced:
            reader.run.aside(row, at)
        elif update is None:
            reader.message(row, at)
        else:
            reader.update(update, row, (at, *path))
    return reader.whole()


def reading_order(updates: Sequence[Native | None]) -> Iterator[tuple[int, bool]]:
    """Yields the rows in the order in which they are read, and whether a later row replaces their content.

    A whole message is read at the first row with its id."""
    stated: dict[tuple[str, str], list[int]] = {}
    last: dict[int, int] = {}
    replaced: set[int] = set()
    for at, update in enumerate(updates):
        kind, id_ = (update["sessionUpdate"], update.get("messageId")) if update is not None else ("", None)
        if not isinstance(id_, str) or kind not in (*SPEAKERS, *WHOLE):
            continue
        rows = stated.setdefault((kind.removesuffix("_chunk"), id_), [])
        if rows and kind in WHOLE and update is not None and "content" in update:
            replaced |= {*rows, last.get(rows[0], rows[0])}
            last[rows[0]] = at
            del rows[1:]
        else:
            rows.append(at)
    moved = set(last.values()) - replaced
    for at in range(len(updates)):
        if at not in moved:
            yield at, at in replaced
        if at in last:
            yield last[at], False


DIALECT = Dialect(
    name=NAME,
    title="Agent Client Protocol",
    aliases=("agent-client-protocol",),
    specification="schema 1.19 of version 1; Python agent-client-protocol 0.12.1; read 2026-11-23",
    framings=("events", "sse"),
    forms=("log",),
    lift=lift,
    answer_boundaries=lambda: Boundaries(_mark, by_id=True),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turns.decodable()),
    places=paths(
        "message.id=messageId message.stopReason=stopReason message.usage=usage tool_call.id=toolCallId "
        "tool_call.name=name tool_call.arguments=rawInput tool_result.toolCallId=toolCallId "
        "tool_result.value=content tool_result.kind=status"
    ),
    metadata=fields(
        "available_commands_update config_option_update current_mode_update plan session_info_update usage_update"
    ),
    envelope=frozenset(("rpc", "params", "_meta", "kind", "locations")),
)
