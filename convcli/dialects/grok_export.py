"""Exports of Grok (grok.com): `prod-grok-backend.json`, with all conversations of an account; read-only.

Specification: none is published. An export of 2025, its generated schema and openwebui-importer, which reads it
(https://github.com/yetanotherchris/openwebui-importer); read 2026-11-27.

Quirks
- Every conversation is a transcript. Its responses, those of the user too, name their parents; without
  `leaf_response_id`, the active branch ends with the last one.
- Some exports write ids as `_id` and times as MongoDB does (`{"$date": {"$numberLong": "…"}}`).
- `thinking_trace` is the reasoning of an answer. Searches, their results, attachments and images are kept.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, as_text, make_extras, without_empty
from convcli.kit.sessions import head_at
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import paths, time_of_milliseconds
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Path, Reasoning, Text, Transcript
from convcli.validation.rules import trees

NAME = "grok-export"


def _read_time(value: Any) -> str | None:
    """Returns a time that is a string, or MongoDB's milliseconds."""
    date = as_object(value).get("$date")
    stated = as_object(date).get("$numberLong", date)
    if isinstance(stated, str) and stated.isdecimal():
        return time_of_milliseconds(int(stated))
    return as_text(stated) or as_text(value)


CREATED, UPDATED = (Setting(name, _read_time, as_text, partial=True) for name in ("created_at", "updated_at"))
CONVERSATION = Envelope(
    "conversation_id=id title=title create_time modify_time leaf_response_id=",
    {"create_time": CREATED, "modify_time": UPDATED},
)
RESPONSE = Envelope(
    "_id= response_id= conversation_id= message= sender= model=model create_time "
    "parent_response_id=parent_id thinking_trace= error=error",
    {"create_time": CREATED},
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation, with all of its branches."""
    context = LiftContext(NAME, document)
    conversation = document.get("conversation") or {}
    for i, native in enumerate(document["responses"]):
        _lift_response(native, ("responses", i), conversation.get("conversation_id"), context)
    links = [(message.id, message.parent_id) for message in context.messages]
    leaf = as_text(conversation.get("leaf_response_id"))
    transcript = context.transcript(head=head_at(leaf, links))
    extra = CONVERSATION.lift(conversation, transcript) or {}
    is_last = leaf is None or leaf in [id_ for id_, _ in links]
    extra |= {} if is_last else {"leaf_response_id": leaf}
    transcript.extras = make_extras(NAME, without_empty(document, "conversation", "responses"), conversation=extra)
    return transcript


def _lift_response(outer: Native, path: Path, conversation_id: Any, context: LiftContext) -> None:
    native = outer["response"]
    message = Message("user" if native["sender"].lower() == "human" else "assistant", [])
    places: list[Path] = []
    for key, kind in (("thinking_trace", Reasoning), ("message", Text)):
        if native.get(key):
            message.parts.append(kind(native[key]))
            places.append(("response", key))
    extra = RESPONSE.lift(native, message) or {}
    message.id = as_text(native.get("response_id")) or as_text(native.get("_id"))
    stated = {key: native.get(key) for key in ("response_id", "_id") if native.get(key) != message.id}
    if native.get("conversation_id") != conversation_id:
        stated["conversation_id"] = native.get("conversation_id")
    if native["sender"].lower() not in ("human", "assistant"):
        stated["sender"] = native["sender"]
    extra |= without_empty(stated)
    message.extras = make_extras(NAME, without_empty(outer, "response"), response=extra)
    context.add(message, path, places)


DIALECT = Dialect(
    name=NAME,
    title="Grok export",
    aliases=("grok",),
    specification="an export of 2025; read 2026-11-27",
    framings=("document", "records"),
    forms=("conversation",),
    many="conversations/*",
    is_collected=False,
    lift=lift,
    rules=(trees.rooted(),),
    places={
        **{name: ("conversation", *path) for name, path in CONVERSATION.places().items()},
        **RESPONSE.places("message", "response"),
        **paths(
            "head=conversation/leaf_response_id message.id=response/response_id extras.response=response "
            "extras.conversation=conversation"
        ),
    },
    envelope=fields(
        "response user_id anon_user_id temporary asset_ids root_asset_id x_user_id starred media_types controller "
        "system_prompt_id task_result_id manual partial shared is_control xai_user_id xai_anon_user_id _id "
        "conversation_id"
    ),
)
