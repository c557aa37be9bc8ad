"""Responses with choices, as Chat Completions and its relatives answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from convcli.families.openai import request as common
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.values import epoch_of_time, time_of_epoch
from convcli.model.transcript import Message, Origin, Spots, Transcript
from convcli.wire import exact_json

RESPONSE = Keys(
    "id object created model choices usage service_tier system_fingerprint", carried="service_tier system_fingerprint"
)
CHOICE = Keys("index message logprobs finish_reason", carried="logprobs")


class Answers(NamedTuple):
    """What the responses of one dialect say in words of its own."""

    name: str
    lift_message: Callable[[Native, Pairing, Origin], tuple[Message, Spots]]
    lower_message: Callable[[Message, dict[int, Spelling], bool], Native]
    finish: Mapping[str, str]
    """Our stop reason for a `finish_reason`; one that is not here is the same word."""
    finish_of: Mapping[str, str]
    """The `finish_reason` for a stop reason; one that is not here is written as `stop`, unless it was said so."""
    usage: common.Counts


def lift_response(native: Native, origin: Origin, answers: Answers) -> Transcript:
    """The answer of a response; several choices are alternatives of each other."""
    carried, spelling = RESPONSE.take(native)
    origin.document = {"form": "response", **({"response": spelling} if spelling else {})}
    pairing = Pairing(native)
    origin.invented = pairing.invented
    transcript = Transcript(
        [_lift_choice(choice, i, pairing, origin, answers) for i, choice in enumerate(native["choices"])], origin=origin
    )
    extras = dict(carried or {})
    transcript.id = native.get("id")
    transcript.model = native.get("model")
    _lift_created(native, transcript, extras)
    _lift_object(native, origin, extras)
    _name_siblings(transcript, origin)
    if transcript.messages and native.get("usage"):
        common.lift_usage(native["usage"], transcript.messages[0], answers.name, origin, answers.usage)
    elif native.get("usage"):
        extras["usage"] = native["usage"]
    transcript.extras = extras_of(answers.name, extras)
    return transcript


def lower_response(transcript: Transcript, answers: Answers) -> Native:
    """A response with one choice for each turn of the assistant, or for all that its source had as choices."""
    spelling = transcript.document_spelling(answers.name)
    spellings = transcript.spelling(answers.name)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    if spelling.get("object", True):
        native["object"] = "chat.completion"
    created = None if transcript.created_at is None else epoch_of_time(transcript.created_at)
    if created is not None:
        native["created"] = created
    if transcript.model is not None:
        native["model"] = transcript.model
    own = transcript.origin is not None and transcript.origin.dialect == answers.name
    was = spelling.get("form") == "response"
    said = [message for message in transcript.messages if was or message.role == "assistant"]
    native["choices"] = [_lower_choice(message, i, spellings, own, answers) for i, message in enumerate(said)]
    usage = next((message for message in said if _has_usage(message, answers, spellings)), None)
    if usage is not None:
        native["usage"] = _totalled(common.lower_usage(usage, answers.name, spellings, answers.usage), own)
    return RESPONSE.put(native, carried_by(transcript.extras, answers.name), spelling.get("response"))


def _totalled(usage: Native, own: bool) -> Native:
    """The sum is required, and services that do not give it give what it is the sum of."""
    parts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    if own or "total_tokens" in usage or not all(isinstance(part, int) for part in parts):
        return usage
    return {"prompt_tokens": parts[0], "completion_tokens": parts[1], "total_tokens": sum(parts), **usage}


def _has_usage(message: Message, answers: Answers, spellings: dict[int, Spelling]) -> bool:
    """Is there a usage to write, and be it one in which the source says nothing?"""
    carried = carried_by(message.extras, answers.name).get("usage")
    return bool(message.usage or carried or "usage" in spellings.get(id(message), {}))


def _lift_created(native: Native, transcript: Transcript, extras: Native) -> None:
    created = native.get("created")
    if created is None:
        return
    text = time_of_epoch(created) if isinstance(created, int) else None
    if text is None:
        extras["created"] = created
    else:
        transcript.created_at = text


def _lift_object(native: Native, origin: Origin, extras: Native) -> None:
    if native.get("object") is None:
        origin.document["object"] = False
    elif native["object"] != "chat.completion":
        extras["object"] = native["object"]


def _name_siblings(transcript: Transcript, origin: Origin) -> None:
    """Several choices are alternatives: siblings of a tree, of which the first is the head."""
    if len(transcript.messages) < 2:
        return
    for i, message in enumerate(transcript.messages):
        message.id = f"choice_{i + 1}"
        origin.invented.add(message.id)
    transcript.head = "choice_1"


def _lift_choice(native: Native, index: int, pairing: Pairing, origin: Origin, answers: Answers) -> Message:
    carried, spelling = CHOICE.take(native)
    message, spots = answers.lift_message(native["message"], pairing, origin)
    origin.places.append((("choices", index, "message"), spots))
    extras = dict(carried or {})
    odd: Spelling = {} if "index" in native else {"index": False}
    if not exact_json.exact(native.get("index", index), index):
        extras["index"] = native["index"]
    finish = native.get("finish_reason")
    if finish:
        message.stop_reason = answers.finish.get(finish, finish)
        if answers.finish_of.get(message.stop_reason, finish) != finish:
            extras["finish_reason"] = finish
    if extras:
        message.extras = extras_of(answers.name, {**carried_by(message.extras, answers.name), "choice": extras})
    if spelling or odd:
        origin.spell(message, {**origin.spellings.get(id(message), {}), "choice": {**(spelling or {}), **odd}})
    return message


def _join_texts(native: Native) -> None:
    """The content of an answer is one text: unlike a request, a response has no list of texts."""
    content = native.get("content")
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        native["content"] = "".join(part["text"] for part in content)


def _lower_choice(message: Message, index: int, spellings: dict[int, Spelling], own: bool, answers: Answers) -> Native:
    spelling = spellings.get(id(message), {}).get("choice", {})
    native: Native = {"index": index} if spelling.get("index", True) else {}
    native["message"] = answers.lower_message(message, spellings, own)
    if not own:
        _join_texts(native["message"])
    if message.stop_reason is not None:
        unknown = message.stop_reason if own else "stop"
        native["finish_reason"] = answers.finish_of.get(message.stop_reason, unknown)
    return CHOICE.put(native, carried_by(message.extras, answers.name).get("choice"), spelling)
