"""An answer next to its request: one conversation that ends with the answer.

Gateway logs and rows of data sets store the answer under a key next to the messages, which no service defines. A
dialect reads one conversation; this module reads the answer too and appends it, so that no dialect needs to know of it.
The place of the answer belongs to the spelling of the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.kit.objects import APART, get_extras, merge, omit, together
from convcli.model.branches import branch
from convcli.model.dialect import Dialect
from convcli.model.transcript import Message, Part, PartPaths, Path, Text, ToolCall, ToolResult, Transcript, camel
from convcli.proof.places import Places
from convcli.validation import schemas

KEYS = ("response", "output", "completion", "answer", "choices")
"""Keys of an answer; the first of them that holds one counts."""
CONVERSATIONS = ("messages", "input", "contents")
"""Keys of a conversation that stands next to an answer which the dialect reads."""
ANSWERS = (*KEYS, "candidates")
"""Keys of answers, those too that services have."""
CHOICES = "choices"
SURE = 60
"""Strength of the evidence for the dialect of an answer."""
ROLE = "assistant"
IDENTITY = ("id", "created_at", "model")
"""What a service notes about its answer, which a message can have too."""
ECHOED = ("tools", "tool_choice", "settings", "title", "cwd", "updated_at", "head")
"""What a service may repeat of the request in its answer."""


def lift(document: Any, dialect: Dialect) -> Transcript:
    """The transcript of a document, with the answer that stands next to the conversation at its end."""
    transcript = dialect.lift(document)
    if not isinstance(document, dict) or not transcript.extras or not transcript.messages:
        return transcript
    for owner, extra in ((owner, together(extra)) for owner, extra in transcript.extras.items()):
        unread = [key for key in extra if key in document and extra[key] == document[key]]
        conversation = next((key for key in CONVERSATIONS if key in unread), None)
        if conversation is not None:
            return _with_request(transcript, document, owner, dialect)
        answer = next((key for key in KEYS if key in unread and is_unknown(key, dialect)), None)
        if answer is not None and _waits(transcript):
            return _joined(transcript, document, owner, answer, dialect)
    return transcript


def _waits(transcript: Transcript) -> bool:
    """True if the conversation does not end with an answer, and has no branches."""
    roles = [message.role for message in transcript.messages if message.role != "event"]
    return bool(roles) and roles[-1] != ROLE and transcript.head is None and transcript.origin is not None


@cache
def is_unknown(key: str, dialect: Dialect) -> bool:
    """True if neither the schema of the dialect nor the dialect itself knows such a key next to a conversation."""
    if dialect.keeps_form or key in dialect.metadata:
        return False
    request = schemas.schema(dialect.name).get("$defs", {}).get("request", {}).get("properties")
    return key not in (request or schemas.keys_in(dialect.name, ()) or ())


def _with_request(transcript: Transcript, document: dict[str, Any], owner: str, dialect: Dialect) -> Transcript:
    """The transcript of an answer behind that of the request that stands in the same object."""
    bare = {key: value for key, value in document.items() if key not in ANSWERS}
    if not schemas.accepts(dialect.name, bare):
        return transcript
    request, own = dialect.lift(bare), transcript.origin
    chosen, others = _chosen(transcript, document)
    answer = _of_transcript(replace(chosen, extras=None), {}, lambda place: place, request, identified=True)
    if answer is None or own is None or request.origin is None or not _waits(request):
        return transcript
    unread = (request.extras or {}).get(owner, {})
    extra = {
        key: value for key, value in (transcript.extras or {})[owner].items() if key not in document or key in unread
    }
    extras = {name: value for name, value in {**(transcript.extras or {}), owner: extra | others}.items() if value}
    origin = replace(
        own,
        places=[*request.origin.places, *answer.places],
        tools=request.origin.tools,
        node_path=request.origin.node_path,
        generated_ids=request.origin.generated_ids | answer.invented,
    )
    return replace(
        transcript,
        messages=[*request.messages, *answer.messages],
        tools=request.tools,
        tool_choice=request.tool_choice,
        settings=request.settings,
        head=None,
        extras=extras or None,
        origin=origin,
    )


class _Answer(msgspec.Struct, frozen=True):
    """The messages of an answer, their paths in the record, what else its value holds, and the paths of what the first
    message has of the answer itself."""

    messages: list[Message]
    places: list[tuple[Path, PartPaths]]
    invented: set[str]
    rest: dict[str, Any]
    routes: dict[Path, Path] = {}


def _joined(transcript: Transcript, document: dict[str, Any], owner: str, key: str, dialect: Dialect) -> Transcript:
    answer = _answer(document[key], key, transcript, dialect)
    own = transcript.origin
    if answer is None or own is None:
        return transcript
    extra = _with_rest((transcript.extras or {})[owner], key, answer.rest)
    extras = {name: value for name, value in {**(transcript.extras or {}), owner: extra}.items() if value}
    origin = replace(
        own,
        places=[*own.places, *answer.places],
        generated_ids=own.generated_ids | answer.invented,
        routes=own.routes | answer.routes,
    )
    return replace(transcript, messages=[*transcript.messages, *answer.messages], extras=extras or None, origin=origin)


def _with_rest(extra: dict[str, Any], key: str, rest: dict[str, Any]) -> dict[str, Any]:
    """The extras with the rest of what was read under a key of the document, which may be kept apart."""
    if key in extra:
        return {**omit(extra, key), **({key: rest} if rest else {})}
    apart = _with_rest(extra[APART], key, rest)
    return {**omit(extra, APART), **({APART: apart} if apart else {})}


def _answer(value: Any, key: str, transcript: Transcript, dialect: Dialect) -> _Answer | None:
    """What an answer says; None for a value that is none. Logs store answers as JSON strings too."""
    from convcli.engine.containers import inside  # rarely needed, as detection below

    value = inside(value)
    if isinstance(value, str):
        is_text = bool(value.strip()) and not value.lstrip().startswith(("{", "["))
        return _Answer([Message(ROLE, [Text(value)])], [((key,), [()])], set(), {}) if is_text else None
    if key == CHOICES:
        return _response({CHOICES: value}, (), transcript, dialect)
    return _response(value, (key,), transcript, dialect) or _message(value, key, transcript, dialect)


def _response(value: Any, path: Path, transcript: Transcript, dialect: Dialect) -> _Answer | None:
    """What a service answered, in a dialect that detection is sure of."""
    if not isinstance(value, dict):
        return None
    from convcli.engine import detection

    ranked = [(name, evidence) for name, evidence in detection.candidates(value) if evidence.strength >= SURE]
    if not ranked:
        return None
    strongest = [name for name, evidence in ranked if evidence.strength == ranked[0][1].strength]
    own = dialects.get(dialect.name if dialect.name in strongest else strongest[0])
    if not schemas.accepts(own.name, value):
        return None
    inner = own.lift(value)
    request_keys = schemas.schema(own.name).get("$defs", {}).get("request", {}).get("properties", ())
    has_echo = any(getattr(inner, field) is not None for field in ECHOED)
    rest = {key: each for key, each in value.items() if key in request_keys and key != "model"} if has_echo else {}
    if inner.id is not None and inner.messages and inner.messages[0].id not in (None, inner.id):
        rest |= {key: each for key, each in value.items() if each == inner.id}
    chosen, others = _chosen(inner, value)
    chosen, hidden = _without_hidden(chosen)
    rest |= others | {key: value.get(key, each) for key, each in hidden.items()}
    answer = _of_transcript(chosen, rest, lambda place: (*path, *place), transcript)
    return answer and replace(answer, routes=dict(_routes(chosen, own, path)))


def _without_hidden(transcript: Transcript) -> tuple[Transcript, dict[str, Any]]:
    """The transcript of an answer without the extras that those of its first message would hide, and these extras."""
    hidden, extras = dict[str, Any](), dict(transcript.extras or {})
    for owner, extra in extras.items() if transcript.messages else ():
        of_message = get_extras(transcript.messages[0].extras, owner)
        pairs = [(key, {key: each}, {key: of_message[key]}) for key, each in extra.items() if key in of_message]
        lost = [key for key, mine, other in pairs if merge(mine, other) != merge(other, mine)]
        hidden |= together({key: extra[key] for key in lost})
        extras[owner] = omit(extra, *lost)
    return replace(transcript, extras=extras) if hidden else transcript, hidden


def _routes(answer: Transcript, dialect: Dialect, path: Path) -> Iterator[tuple[Path, Path]]:
    """Yields the fields that the first message has from the answer itself, with their paths in the document."""
    places, first = Places(answer, dialect), answer.messages[0]
    start = (*path, *places.message(0))
    for name in [camel(name) for name in IDENTITY if not getattr(first, name)]:
        yield (*start, f"message.{name}"), (*path, *(places.steps(name) or (name,)))
    for owner, extra in (answer.extras or {}).items():
        for key in together(extra):
            yield (*start, f"extras.{owner}.{key}"), (*path, *places.extras(owner, key, (), present=True))


def _chosen(transcript: Transcript, document: Mapping[str, Any]) -> tuple[Transcript, dict[str, Any]]:
    """The transcript of an answer with its active choice alone, and the keys of the document with the other choices."""
    origin = transcript.origin
    if transcript.head is None or origin is None or origin.routes:
        return transcript, {}
    kept = set(map(id, branch(transcript)))
    choices: dict[str, list[Any]] = {}
    messages, places = list[Message](), list[tuple[Path, PartPaths]]()
    for message, place in zip(transcript.messages, origin.places, strict=True):
        if id(message) in kept:
            messages.append(replace(message, parent_id=None))
            places.append(place)
        elif len(place[0]) > 1:
            key = str(place[0][0])
            choices.setdefault(key, []).append(document[key][place[0][1]])
    return replace(transcript, messages=messages, head=None, origin=replace(origin, places=places)), choices


def _message(value: Any, key: str, transcript: Transcript, dialect: Dialect) -> _Answer | None:
    """A message like those of the conversation, or a list of such."""
    assert transcript.origin is not None
    holder = transcript.origin.places[0][0][:1]
    natives = value if isinstance(value, list) else [value]
    if not natives or not all(isinstance(native, dict) and isinstance(native.get("role"), str) for native in natives):
        return None
    wrapped = natives if not holder or not isinstance(holder[0], str) else {holder[0]: natives}
    if not schemas.accepts(dialect.name, wrapped):
        return None
    skipped = len(holder) + (not isinstance(value, list))
    return _of_transcript(dialect.lift(wrapped), {}, lambda place: (key, *place[skipped:]), transcript)


def _of_transcript(
    inner: Transcript,
    rest: dict[str, Any],
    placed: Callable[[Path], Path],
    transcript: Transcript,
    *,
    identified: bool = False,
) -> _Answer | None:
    """The messages of a transcript that is an answer. Unless its identity is `identified` as that of the whole, it is
    that of the first message."""
    origin, messages = inner.origin, list(inner.messages)
    if origin is None or origin.routes or inner.head is not None or not any(each.role == ROLE for each in messages):
        return None
    first = messages[0]
    if not identified:
        identity = {field: getattr(first, field) or getattr(inner, field) for field in IDENTITY}
        messages[0] = replace(first, **identity, extras=merge(inner.extras or {}, first.extras or {}) or None)
    places: list[tuple[Path, PartPaths]] = [
        (
            placed(place),
            part_paths if part_paths is not None else [(*origin.node_path, k) for k in range(len(each.parts))],
        )
        for each, (place, part_paths) in zip(messages, origin.places, strict=True)
    ]
    messages, invented = _renumbered(messages, origin.generated_ids, transcript)
    return _Answer(messages, places, invented, rest)


def _renumbered(messages: list[Message], invented: set[str], transcript: Transcript) -> tuple[list[Message], set[str]]:
    """The messages with other generated ids of calls where the conversation has these, and the generated ids."""
    used = {part.id for message in transcript.messages for part in message.parts if isinstance(part, ToolCall)}
    free = (id_ for id_ in map("call_{}".format, count(1)) if id_ not in used)
    new = dict(zip(sorted(invented & used), free))  # noqa: B905 - the second has no end
    if not new:
        return messages, invented
    return [replace(message, parts=[_with_id(part, new) for part in message.parts]) for message in messages], {
        new.get(id_, id_) for id_ in invented
    }


def _with_id(part: Part, new: Mapping[str, str]) -> Part:
    if isinstance(part, ToolCall):
        return replace(part, id=new.get(part.id, part.id))
    if isinstance(part, ToolResult):
        return replace(part, tool_call_id=new.get(part.tool_call_id, part.tool_call_id))
    return part
