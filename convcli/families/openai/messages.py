"""The messages of Chat Completions: content parts, calls, results, and what only an assistant says."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from convcli.families.openai.calls import (
    ARGUMENTS,
    files_of,
    is_bare_text,
    lift_call,
    lower_call,
    lower_function,
    of_message,
    read_call,
    said,
)
from convcli.families.openai.parts import (
    NAME,
    TEXT,
    lift_answer_audio,
    lift_part,
    lower_answer_audio,
    lower_media,
)
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Reasoning,
    Refusal,
    Spots,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

REASONING_KEYS = ("reasoning_content", "reasoning")

MESSAGE = Keys(
    "role tool_call_id name reasoning_content reasoning content refusal annotations audio tool_calls function_call",
    carried="tool_call_id annotations",
)
RESULT = Keys("role tool_call_id name content")
RESULT_ROLES = ("tool", "function")


def is_own(transcript: Transcript) -> bool:
    return transcript.origin is not None and transcript.origin.dialect == NAME


# ---------------------------------------------------------------- messages


def lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> list[Message]:
    pairing = Pairing(document)
    origin.invented = pairing.invented
    messages: list[Message] = []
    spots: Spots
    for i, native in enumerate(natives):
        lift_plain = PLAIN.get(tuple(native)) if native.get("content").__class__ is str and native["content"] else None
        if lift_plain is not None:
            message, spots = lift_plain(native, pairing, origin)
        else:
            message, spots = _lift_any(native, pairing, origin)
        messages.append(message)
        origin.places.append(((*prefix, i), spots))
    return messages


def _lift_plain(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, Spots]:
    if native["role"] in RESULT_ROLES:
        return _lift_any(native, pairing, origin)
    return Message(native["role"], [Text(native["content"])]), None


def _lift_plain_result(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, Spots]:
    if native["role"] != "tool" or not native["tool_call_id"]:
        return _lift_any(native, pairing, origin)
    id_, name = pairing.result(native["tool_call_id"], None)
    return Message("tool", [ToolResult(id_, name, "text", native["content"])]), None


def _lift_plain_calls(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, Spots]:
    calls = native["tool_calls"]
    if native["role"] in RESULT_ROLES or not calls:
        return _lift_any(native, pairing, origin)
    parts: list[Part] = [Text(native["content"])]
    parts += [lift_call(call, pairing, origin, NAME) for call in calls]
    return Message(native["role"], parts), _spots_of_calls(len(calls))


@lru_cache(maxsize=64)
def _spots_of_calls(count: int) -> Spots:
    return ("content",), *(("tool_calls", j) for j in range(count))


def _lift_any(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, Spots]:
    if native["role"] in RESULT_ROLES:
        return _lift_result(native, pairing, origin), None
    return lift_message(native, pairing, origin)


PLAIN: dict[tuple[str, ...], Callable[[Native, Pairing, Origin], tuple[Message, Spots]]] = {
    ("role", "content"): _lift_plain,
    ("role", "tool_call_id", "content"): _lift_plain_result,
    ("role", "content", "tool_calls"): _lift_plain_calls,
}
"""By the keys of a message with text: what nearly all are, read without detours."""


def lower_messages(transcript: Transcript) -> list[Native]:
    """One message each; media of results follow in a user message behind all results of the turn."""
    spellings = transcript.spelling(NAME)
    own = is_own(transcript)
    natives: list[Native] = []
    files: list[Native] = []
    for message in active(transcript) if own else results_first(active(transcript)):
        if message.role != "tool":
            natives += files
            files = []
            natives.append(lower_message(message, spellings, own))
            continue
        natives.append(_lower_result(message, spellings, own))
        if not own:
            files += files_of(message, lower_media)
    return natives + files


def lift_message(native: Native, pairing: Pairing, origin: Origin) -> tuple[Message, list[Path] | None]:
    """A message that is no result: its parts in the order in which they were made, and where they stand."""
    carried, spelling = MESSAGE.take(native)
    lifting = _Lifting([], [], pairing, origin, spelling or {})
    for key in native if spelling is None else MESSAGE.sorted(native):
        if key in SAYING and native[key]:
            SAYING[key](native[key], key, lifting)
    if "content" not in native:
        lifting.spelling.setdefault("keys", list(native))
    message = Message(native["role"], lifting.parts, name=native.get("name") or None, extras=extras_of(NAME, carried))
    origin.spell(message, lifting.spelling)
    return message, lifting.spots


class _Lifting(NamedTuple):
    """What the lift of one message adds to."""

    parts: list[Part]
    spots: list[Path]
    pairing: Pairing
    origin: Origin
    spelling: Spelling

    def add(self, part: Part, *spot: Step) -> None:
        self.parts.append(part)
        self.spots.append(spot)


def _content(content: str | list[Native], key: str, lifting: _Lifting) -> None:
    if isinstance(content, str):
        lifting.add(Text(content), key)
        return
    for j, native in enumerate(content):
        lifting.add(lift_part(native, lifting.origin), key, j)
    if len(content) == 1 and is_bare_text(lifting.parts[-1]):
        lifting.spelling["content"] = "list"


def _reasoning(text: str, key: str, lifting: _Lifting) -> None:
    """Servers that write the same reasoning under both keys say it once."""
    before = lifting.parts[-1] if lifting.parts else None
    if isinstance(before, Reasoning) and before.text == text:
        lifting.origin.spellings[id(before)]["in"].append(key)
        return
    part = Reasoning(text)
    lifting.origin.spell(part, {"in": [key]})
    lifting.add(part, key)


def _calls(calls: list[Native], key: str, lifting: _Lifting) -> None:
    for j, call in enumerate(calls):
        lifting.add(lift_call(call, lifting.pairing, lifting.origin, NAME), key, j)


SAYING: dict[str, Callable[[Any, str, _Lifting], None]] = {
    "reasoning_content": _reasoning,
    "reasoning": _reasoning,
    "content": _content,
    "refusal": lambda text, key, lifting: lifting.add(Refusal(text), key),
    "audio": lambda native, key, lifting: lifting.add(lift_answer_audio(native, lifting.origin), key),
    "tool_calls": _calls,
    "function_call": lambda native, key, lifting: lifting.add(
        _lift_legacy_call(native, lifting.pairing, lifting.origin), key
    ),
}
"""The keys of a message that hold its parts."""


class Draft:
    """The keys of one message while its parts are lowered."""

    __slots__ = ("audio", "calls", "content", "legacy", "own", "reasoning", "refusal", "role", "spellings")

    def __init__(self, role: str, spellings: dict[int, Spelling], own: bool) -> None:
        self.role, self.spellings, self.own = role, spellings, own
        self.content: list[Native] = []
        self.calls: list[Native] = []
        self.reasoning: Native = {}
        self.refusal: str | None = None
        self.audio: Native | None = None
        self.legacy: Native | None = None

    def add(self, part: Part) -> None:
        """One part, where the API has a place for it in this role."""
        if isinstance(part, Text):
            self.content.append(
                TEXT.put({"type": "text", "text": part.text}, carried_by(part.extras, NAME), self.spelling(part))
            )
        elif isinstance(part, Media):
            self._add_media(part)
        elif isinstance(part, Opaque):
            self._add_opaque(part)
        elif self.role == "assistant" or self.own:
            self._add_answer(part)

    def spelling(self, part: Part) -> Spelling:
        return self.spellings.get(id(part), {}) if self.spellings else {}

    def _add_media(self, media: Media) -> None:
        if (self.role == "assistant" or self.own) and media.type == "audio" and not self.spelling(media).get("part"):
            self.audio = lower_answer_audio(media, self.spelling(media))
        elif self.role == "user" or self.own:
            native = lower_media(media, self.spelling(media))
            if native is not None:
                self.content.append(native)

    def _add_opaque(self, part: Opaque) -> None:
        if part.dialect == NAME:
            (self.calls if self.spelling(part).get("in") == "tool_calls" else self.content).append(part.value)

    def _add_answer(self, part: Part) -> None:
        spelling = self.spelling(part)
        if isinstance(part, ToolCall):
            if spelling.get("legacy"):
                self.legacy = lower_function(part, spelling, NAME)
            else:
                self.calls.append(lower_call(part, spelling, NAME))
        elif isinstance(part, Refusal):
            if spelling.get("in") == "content" or self.refusal is not None:
                self.content.append(
                    TEXT.put({"type": "refusal", "refusal": part.text}, carried_by(part.extras, NAME), spelling)
                )
            else:
                self.refusal = part.text
        elif isinstance(part, Reasoning):
            self.reasoning.update(dict.fromkeys(spelling.get("in", ()), part.text))

    def native(self, spelling: Spelling) -> Native:
        native: Native = {"role": self.role, **self.reasoning}
        native["content"] = self._content(spelling)
        for key, value in (
            ("refusal", self.refusal),
            ("audio", self.audio),
            ("tool_calls", self.calls),
            ("function_call", self.legacy),
        ):
            if value:
                native[key] = value
        return native

    def _content(self, spelling: Spelling) -> Any:
        content = self.content
        if not content:
            return None if self.calls or self.refusal or self.audio or self.legacy else ""
        if (
            len(content) == 1
            and spelling.get("content") != "list"
            and content[0].keys() == {"type", "text"}
            and content[0]["type"] == "text"
        ):
            return content[0]["text"]
        return content


def lower_message(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    spelling = spellings.get(id(message), {}) if spellings else {}
    draft = Draft(message.role, spellings, own)
    for part in message.parts:
        draft.add(part)
    native = draft.native(spelling)
    if message.name is not None:
        native["name"] = message.name
        native = {key: native[key] for key in MESSAGE.sorted(native)}
    carried = carried_by(message.extras, NAME)
    return MESSAGE.put(native, of_message(carried, spelling, own), spelling)


# ---------------------------------------------------------------- calls and results


def _lift_legacy_call(native: Native, pairing: Pairing, origin: Origin) -> ToolCall:
    carried, spelling = ARGUMENTS.take(native)
    call, odd = read_call(native, None, pairing)
    call.extras = extras_of(NAME, {"function": carried} if carried else None)
    origin.spell(call, {"legacy": True, **odd, **({"function": spelling} if spelling else {})})
    return call


def _lift_result(native: Native, pairing: Pairing, origin: Origin) -> Message:
    carried, spelling = RESULT.take(native)
    id_, name = pairing.result(native.get("tool_call_id") or None, native.get("name") or None)
    content = native.get("content")
    odd: Spelling = spelling or {}
    if native["role"] == "function":
        odd["role"] = "function"
    if native.get("name"):
        odd["name"] = True
    if not native.get("tool_call_id"):
        odd["tool_call_id"] = False
    kind, value = ("text", content or "") if not isinstance(content, list) else _lift_result_parts(content, origin, odd)
    message = Message("tool", [ToolResult(id_, name, kind, value)], extras=extras_of(NAME, carried))  # type: ignore[arg-type]
    origin.spell(message, odd)
    return message


def _lift_result_parts(content: list[Native], origin: Origin, odd: Spelling) -> tuple[str, Any]:
    parts = [lift_part(part, origin) for part in content]
    if len(parts) == 1 and is_bare_text(parts[0]) and id(parts[0]) not in origin.spellings:
        odd["content"] = "list"
        return "text", parts[0].text  # type: ignore[union-attr]
    return "multimodal", parts


def _lower_result(message: Message, spellings: dict[int, Spelling], own: bool) -> Native:
    spelling = spellings.get(id(message), {}) if spellings else {}
    result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
    if result is None:
        return lower_message(Message("user", message.parts), spellings, own)
    native: Native = {"role": spelling.get("role", "tool")}
    if native["role"] == "tool" and spelling.get("tool_call_id", True):
        native["tool_call_id"] = result.tool_call_id
    if spelling.get("name"):
        native["name"] = result.name
    native["content"] = _lower_value(result, spellings, own, spelling)
    return RESULT.put(native, carried_by(message.extras, NAME), spelling)


def _lower_value(result: ToolResult, spellings: dict[int, Spelling], own: bool, spelling: Spelling) -> Any:
    if result.kind == "multimodal":
        draft = Draft("tool", spellings, own)
        for part in result.value:
            draft.add(part)
        return draft.content or ""
    text = said(result)
    return [{"type": "text", "text": text}] if spelling.get("content") == "list" else text


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own."""
    if result.kind == "multimodal":
        texts = [part for part in result.value if isinstance(part, Text)]
        files = [part for part in result.value if isinstance(part, Media)]
        if not files or any(lower_media(file, {}) is None for file in files):
            return None  # the API has a field for texts, and no convention keeps what it cannot say
        if not texts:
            return "text", ""
        return ("text", texts[0].text) if len(texts) == 1 and is_bare_text(texts[0]) else ("multimodal", texts)
    return ("text", said(result)) if result.kind != "text" else None
