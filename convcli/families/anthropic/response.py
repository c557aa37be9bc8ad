"""Responses of Anthropic's API, whole or assembled from a stream, and the names and ids that the API accepts."""

from __future__ import annotations

from convcli.families.anthropic.blocks import Blocks
from convcli.families.anthropic.messages import Turns, envelope
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, without_nulls
from convcli.kit.renaming import identifiers
from convcli.kit.supported import fields
from convcli.model.transcript import Transcript

RESPONSE = envelope(
    "id=id type= role= model=model content= stop_reason stop_sequence stop_details usage container diagnostics"
)

PLACES = {**RESPONSE.places("message"), "message.error": ("error", "message")}
"""The paths of the fields of a message that is a response."""
ENVELOPE = fields("type service_tier container diagnostics usage inference_geo request_id")

NAMES, IDS = identifiers(128), identifiers(256)
"""The accepted names of tools and ids of calls. The API states a pattern for ids but no limit; longer ones are unheard
of."""


def responses(blocks: Blocks) -> Turns:
    """Returns the messages that are responses with these blocks."""
    return Turns(blocks, RESPONSE, strings=False)


def lift_response(native: Native, context: LiftContext, turns: Turns) -> Transcript:
    """Lifts a response, whose id and model become those of the transcript."""
    context.origin.form = "response"
    turns.lift(native, (), context)
    first = context.messages[0]
    transcript = context.transcript(id=first.id, model=first.model)
    first.id = first.model = None
    return transcript


def write_response(transcript: Transcript, turns: Turns) -> Native:
    """Writes a response with the last assistant message."""
    natives = turns.write(transcript.messages) or [{"role": "assistant", "content": []}]
    whole = {"id": transcript.id, "type": "message", "model": transcript.model, **natives[-1]}
    return RESPONSE.keys.put(without_nulls(whole), None, sort=True)
