"""Responses of Anthropic's API, whole or assembled from a stream, and what the API takes for names and ids."""

from __future__ import annotations

from convcli.families.anthropic.blocks import BlockReader, BlockWriter
from convcli.families.anthropic.messages import NAME, Turn, lift_turn, lower_finish, turns_of
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, carried_by
from convcli.kit.renaming import distinct, identifiers, renamed
from convcli.model.branches import active
from convcli.model.transcript import Message, Transcript

RESPONSE = Keys(
    "id type role model content stop_reason stop_sequence stop_details usage container diagnostics",
    carried="stop_sequence stop_details container diagnostics",
)

NAMES, IDS = identifiers(128), identifiers(256)
"""Of tools and of calls. The API states a pattern for ids and no limit; longer ones are unheard of."""


def as_allowed(transcript: Transcript) -> tuple[Transcript, list[Message]]:
    """The transcript with names and ids that the API takes, and its messages with ids that no two calls share."""
    transcript = renamed(transcript, NAMES, IDS)
    return transcript, distinct(results_first(active(transcript)), IDS)


def lift_response(native: Native, reader: BlockReader, transcript: Transcript) -> None:
    """Read a response into the transcript: its id and model are those of the transcript."""
    reader.origin.document |= {"form": "response", **({} if "type" in native else {"type": False})}
    lift_turn(native, (), RESPONSE, reader, transcript.messages)
    first = transcript.messages[0]
    transcript.id, transcript.model, first.id, first.model = first.id, first.model, None, None


def lower_response(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    """The last answer; only a response that we read can hold results too."""
    whole = transcript.document_spelling(NAME).get("form") == "response"
    turns = turns_of(messages if whole else [one for one in messages if one.role == "assistant"], writer)
    turn = turns[-1] if turns else Turn("assistant", Message("assistant", []), [])
    spelling = writer.spelling(turn.first)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    if transcript.document_spelling(NAME).get("type", True):
        native["type"] = "message"
    native["role"] = "assistant"
    if transcript.model is not None:
        native["model"] = transcript.model
    native |= {"content": turn.blocks, **lower_finish(turn.first, spelling, writer.own)}
    carried = {key: value for key, value in carried_by(turn.first.extras, NAME).items() if key != "usage"}
    return RESPONSE.put(native, carried, spelling)
