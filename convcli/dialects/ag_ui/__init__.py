"""AG-UI: the events by which an agent shows a user what it says, thinks and calls, in runs of a thread.

Specification: the events of the Agent User Interaction Protocol 1.0 (https://docs.ag-ui.com/concepts/events), as typed
by the Python package `ag-ui-protocol` 1.0.0; read 2026-11-23.

Quirks
- A run begins with what the agent is given (`input`), of which a stored thread may leave out what it said before:
  messages whose id is new are read there. They hold media and failures, which what is streamed does not.
- A text is a message with an id; thoughts are messages of their own before it, and calls name their message or none.
  Nothing marks where a turn ends: it goes on until a result, another text, or a thought behind a text or a call.
- A snapshot of all messages is read where nothing came before it; else it repeats what came, and stands for itself.
- What a subagent says belongs to the call that began it.
- Counts of tokens are those of a run: of one with a single turn they are those of that turn.
- A run without RUN_FINISHED or RUN_ERROR broke off. THINKING_* are thoughts of versions before 1.0.
- We write one run, which answers the last question; what stands before that is given to the agent.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.ag_ui.messages import NAME
from convcli.dialects.ag_ui.reading import Events
from convcli.dialects.ag_ui.rules import RULES
from convcli.dialects.ag_ui.writing import write
from convcli.kit import custom, fitting, lacking, passes, results, sessions
from convcli.kit.values import paths
from convcli.model.dialect import Clue, Dialect
from convcli.model.document import Rows
from convcli.model.transcript import Message, Transcript

PREFIXES = ("RUN_", "TEXT_MESSAGE_", "TOOL_CALL_", "REASONING_", "THINKING_", "MESSAGES_SNAPSHOT", "STATE_", "STEP_")
IDS = ("threadId", "messageId", "toolCallId")


def detect(document: Any) -> Clue | None:
    """By events whose types are in capitals."""
    if not isinstance(document, Rows):
        return None
    kinds = [row for row in document if isinstance(row, dict) and str(row.get("type")).startswith(PREFIXES)]
    if any(isinstance(row.get(key), str) for row in kinds for key in IDS):
        return Clue(97, "events of runs, texts or calls")
    return None


def lift(document: Any) -> Transcript:
    """The transcript of a thread."""
    reader = Events(document)
    for at, event in enumerate(document):
        reader.take(event, at)
    return reader.whole(len(document) - 1)


# ---------------------------------------------------------------- fit


def _unique(messages: list[Message]) -> list[Message]:
    """An id that another message had before is none: texts with one id would be one."""
    seen: set[str | None] = {None}
    fitted = []
    for message in messages:
        fitted.append(replace(message, id=None) if message.id in seen and message.id is not None else message)
        seen.add(message.id)
    return passes.shared(messages, fitted)


def _one_model(transcript: Transcript) -> Transcript:
    """The model of all turns is that of the run."""
    models = {message.model for message in transcript.messages if message.role == "assistant"}
    model = models.pop() if len(models) == 1 else None
    return transcript if model is None or transcript.model else replace(transcript, model=model)


FIT = (
    _one_model,
    sessions.active_branch,
    sessions.own_events(NAME),
    passes.on_messages(_unique),
    results.separate_results,
    passes.on_messages(results.single_results),
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.as_read_back(lift, write, "stream"),
)

LACKS = lacking.fields("title cwd head settings toolChoice")

DIALECT = Dialect(
    name=NAME,
    title="AG-UI",
    specification="events of the Agent User Interaction Protocol 1.0; Python ag-ui-protocol 1.0.0; read 2026-11-23",
    framings=("sse", "events"),
    forms=("stream",),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    lacks=LACKS,
    repeats=frozenset(("/*/timestamp",)),
    rules=RULES,
    reasons={
        "message.parentCallId": "convcli does not write the events of a subagent, which tell the call that began it",
    },
    places=paths(
        "id=run/threadId createdAt=run/timestamp updatedAt=end/timestamp message.id=turnId message.name=name "
        "message.createdAt=timestamp message.error=message message.usage=usage "
        "model=end/usage/0/model tool_call.id=toolCallId tool_call.name=toolCallName "
        "tool_result.toolCallId=toolCallId tool_result.value=content"
    ),
    metadata=lacking.fields(
        "ACTIVITY_DELTA ACTIVITY_SNAPSHOT CUSTOM RAW RUN_FINISHED RUN_STARTED STATE_DELTA STATE_SNAPSHOT "
        "STEP_FINISHED STEP_STARTED SUBAGENT_FINISHED SUBAGENT_STARTED THINKING_END THINKING_START"
    ),
    envelope=frozenset(("run", "end", "group", "messageId", "metadata", "rawEvent")),
)
