"""AG-UI: the events by which an agent shows a user its text, thoughts and calls, in runs of a thread.

Specification: the events of the Agent User Interaction Protocol 1.0 (https://docs.ag-ui.com/concepts/events), as typed
by the Python package `ag-ui-protocol` 1.0.0; read 2026-11-23.

Quirks
- A run begins with the agent's input (`input`). A stored thread may omit earlier output from it: messages with a new
  id are read there. Only input messages have media and failures; streamed messages do not.
- A text is a message with an id. Thoughts are messages of their own before it. A call names its message, or none.
  Nothing marks the end of a turn: it ends at a result, at another text, or at a thought after a text or a call.
- A snapshot of all messages is read if nothing came before it. Otherwise it repeats earlier messages and is an event.
- What a subagent writes belongs to the call that began it.
- Token counts are those of a run. In a run with a single turn they are those of that turn.
- A run without RUN_FINISHED or RUN_ERROR broke off. THINKING_* are the thoughts of versions before 1.0.
- convcli writes one run, which answers the last question. Everything before is the agent's input.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.ag_ui.messages import NAME
from convcli.dialects.ag_ui.reading import Events
from convcli.dialects.ag_ui.rules import RULES
from convcli.dialects.ag_ui.writing import write
from convcli.kit import custom, fitting, passes, results, sessions, streams
from convcli.kit.supported import TOOLS, TURNS, fields, media
from convcli.kit.values import paths
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Transcript


def _mark(event: Any) -> streams.Limits:
    """Returns the thread of a run that begins: the runs of one thread are one conversation."""
    begins = isinstance(event, dict) and event.get("type") == "RUN_STARTED"
    return streams.Limits(begins, id=event.get("threadId") if begins else None)


def lift(document: Any) -> Transcript:
    """Returns the transcript of a thread."""
    reader = Events(document)
    for at, event in enumerate(document):
        reader.take(event, at)
    return reader.whole(len(document) - 1)


# ---------------------------------------------------------------- fit


def _drop_repeated_ids(messages: list[Message]) -> list[Message]:
    """Drops ids that an earlier message has: texts with one id would become one text."""
    seen: set[str | None] = {None}
    fitted = []
    for message in messages:
        fitted.append(replace(message, id=None) if message.id in seen and message.id is not None else message)
        seen.add(message.id)
    return passes.shared(messages, fitted)


def _move_model_to_run(transcript: Transcript) -> Transcript:
    """Moves the model that all turns share to the run."""
    models = {message.model for message in transcript.messages if message.role == "assistant"}
    model = models.pop() if len(models) == 1 else None
    return transcript if model is None or transcript.model else replace(transcript, model=model)


FIT = (
    _move_model_to_run,
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME),
    passes.on_messages(_drop_repeated_ids),
    results.separate_results,
    results.one_result_each,
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.settle_by_reading_back(lift, write, "stream"),
)


SUPPORTS = TURNS | TOOLS | media(names="data url fileId mediaType")
SUPPORTS |= fields(
    "id model createdAt updatedAt message.id message.createdAt message.name message.stopReason "
    "message.usage message.error tool_call.rawArguments tool_result.name tool_result.isError"
)

DIALECT = Dialect(
    name=NAME,
    title="AG-UI",
    specification="events of the Agent User Interaction Protocol 1.0; Python ag-ui-protocol 1.0.0; read 2026-11-23",
    framings=("sse", "events", "document"),
    forms=("stream",),
    lift=lift,
    write=write,
    fit=FIT,
    supports=SUPPORTS,
    repeats=frozenset(("/*/timestamp",)),
    answer_boundaries=lambda: streams.Boundaries(_mark, by_id=True),
    rules=RULES,
    reasons={
        "message.parentCallId": "convcli does not write subagent events, which name the call that began the subagent",
    },
    places=paths(
        "id=run/threadId createdAt=run/timestamp updatedAt=end/timestamp message.id=turnId message.name=name "
        "message.createdAt=timestamp message.error=message message.usage=usage "
        "model=end/usage/0/model tool_call.id=toolCallId tool_call.name=toolCallName "
        "tool_result.toolCallId=toolCallId tool_result.value=content"
    ),
    metadata=fields(
        "ACTIVITY_DELTA ACTIVITY_SNAPSHOT CUSTOM RAW RUN_FINISHED RUN_STARTED STATE_DELTA STATE_SNAPSHOT "
        "STEP_FINISHED STEP_STARTED SUBAGENT_FINISHED SUBAGENT_STARTED THINKING_END THINKING_START"
    ),
    envelope=frozenset(("run", "end", "group", "messageId", "metadata", "rawEvent")),
)
