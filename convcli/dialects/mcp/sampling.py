"""Conversations of the Model Context Protocol: what a server asks of the model of a client, and what that answers."""

from __future__ import annotations

from typing import Any

from convcli.dialects.mcp.blocks import NAME, TOOL_RESULT, BlockReader, BlockWriter
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.model.transcript import Message, Part, Path, Text, ToolChoice, Transcript
from convcli.wire import exact_json

MESSAGE = Keys("role content _meta", carried="_meta")
ANSWER = Keys("role content model stopReason _meta", carried="_meta")

SETTINGS = {"temperature": "temperature", "maxTokens": "maxOutputTokens", "stopSequences": "stop"}
CHOICES = ("auto", "none", "required")

FINISH = {"endTurn": "stop", "maxTokens": "length", "toolUse": "tool_calls", "stopSequence": "stop"}
FINISH_OF = {"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse"}

ROLES = {
    "user": "user",
    "tool": "user",
    "event": "user",
    "assistant": "assistant",
    "system": "user",
    "developer": "user",
}
"""The role of the protocol for each of ours; instructions are written as `systemPrompt`."""


# ---------------------------------------------------------------- messages


def lift_messages(natives: list[Native], prefix: Path, reader: BlockReader, messages: list[Message]) -> None:
    for i, native in enumerate(natives):
        lift_message(native, (*prefix, i), MESSAGE, reader, messages)


def lift_message(native: Native, path: Path, keys: Keys, reader: BlockReader, messages: list[Message]) -> None:
    """One message of the protocol: a message for each result and for each run of other blocks."""
    carried, spelling = keys.take(native)
    for at, (role, parts, spots) in enumerate(_pieces(native, reader)):
        message = Message(role, parts)
        said: Spelling = {}
        if at == 0:
            message.extras = extras_of(NAME, carried)
            said = dict(spelling or {})
            if isinstance(native["content"], list) and len(native["content"]) == 1:
                said["content"] = "list"
        if (at > 0) != (bool(messages) and _follows(messages[-1], role)):
            said["join"] = at > 0
        reader.origin.spell(message, said)
        messages.append(message)
        reader.origin.places.append((path, spots))


def _pieces(native: Native, reader: BlockReader) -> list[tuple[str, list[Part], list[Path]]]:
    content, role = native["content"], native["role"]
    pieces: list[tuple[str, list[Part], list[Path]]] = []
    for j, block in enumerate(content if isinstance(content, list) else [content]):
        spot: Path = ("content", j) if isinstance(content, list) else ("content",)
        if block["type"] == "tool_result" and role == "user":
            pieces.append(("tool", [reader.result(block, TOOL_RESULT)], [spot]))
            continue
        if not pieces or pieces[-1][0] == "tool":
            pieces.append((role, [], []))
        pieces[-1][1].append(reader.part(block))
        pieces[-1][2].append(spot)
    return pieces or [(role, [], [])]


def lower_messages(messages: list[Message], writer: BlockWriter) -> list[tuple[Message, Native]]:
    """Each message with the first of ours that is in it: results of one turn stand together, with nothing else."""
    turns: list[tuple[str, Message, list[Native]]] = []
    previous: Message | None = None
    for message in messages:
        spelling, role = writer.spelling(message), ROLES[message.role]
        blocks = [block for part in message.parts if (block := _block(part, role, writer)) is not None]
        if not blocks and not writer.own:
            continue
        follows = previous is not None and _follows(previous, message.role)
        if turns and spelling.get("join", follows):
            turns[-1][2].extend(blocks)
        else:
            turns.append((role, message, blocks))
        previous = message
    return [(first, _turn(role, blocks, writer.spelling(first))) for role, first, blocks in turns]


def _block(part: Part, role: str, writer: BlockWriter) -> Native | None:
    """Only an assistant calls tools."""
    calls = part.type == "tool_call" and role != "assistant" and not writer.own
    return None if calls else writer.block(part)


def _turn(role: str, blocks: list[Native], spelling: Spelling) -> Native:
    """A block alone is written without a list around it."""
    single = len(blocks) == 1 and spelling.get("content") != "list"
    return {"role": role, "content": blocks[0] if single else blocks}


def _follows(previous: Message, role: str) -> bool:
    return previous.role == role == "tool"


# ---------------------------------------------------------------- what stands beside the messages


def lift_request(native: Native, transcript: Transcript) -> Native:
    """Set model, tool choice and settings; what must be carried of them."""
    carried: Native = {}
    settings = {ours: native[theirs] for theirs, ours in SETTINGS.items() if says_something(native.get(theirs))}
    transcript.settings = settings or None
    choice = native.get("toolChoice")
    if choice:
        transcript.tool_choice = choice["mode"] if choice.get("mode") in CHOICES else None
        carried |= {"toolChoice": choice} if choice.keys() != {"mode"} or transcript.tool_choice is None else {}
    preferences = native.get("modelPreferences")
    if preferences:
        hints = preferences.get("hints") or [{}]
        transcript.model = hints[0].get("name") or None
        if transcript.model is None or not exact_json.exact(preferences, _preferences(transcript.model)):
            carried["modelPreferences"] = preferences
    return carried


def lower_request(transcript: Transcript, carried: Native, *, own: bool) -> Native:
    """Model, tool choice and settings; the model as the one that is preferred."""
    settings = transcript.settings or {}
    native: Native = {theirs: settings[ours] for theirs, ours in SETTINGS.items() if ours in settings}
    if transcript.tool_choice is not None and "toolChoice" not in carried and (own or transcript.tools):
        native["toolChoice"] = {"mode": _mode(transcript.tool_choice)}
    if transcript.model and "modelPreferences" not in carried:
        native["modelPreferences"] = _preferences(transcript.model)
    return native


def _mode(choice: ToolChoice) -> str:
    """A tool cannot be asked for by its name: then any will do."""
    return choice if isinstance(choice, str) else "required"


def _preferences(model: str | None) -> Native:
    return {"hints": [{"name": model}]}


def split_system(messages: list[Message], writer: BlockWriter) -> tuple[str, list[Message]]:
    """The text of all instructions, and the messages beside them."""
    system = [message for message in messages if message.role in ("system", "developer")]
    texts = [part.text for message in system for part in message.parts if isinstance(part, Text) and part.text]
    return "\n\n".join(texts), [message for message in messages if message.role not in ("system", "developer")]


# ---------------------------------------------------------------- the answer


def lift_answer(native: Native, prefix: Path, reader: BlockReader, transcript: Transcript) -> None:
    """What the model of a client answered."""
    lift_message(native, prefix, ANSWER, reader, transcript.messages)
    answer = transcript.messages[0]
    transcript.model = native.get("model") or None
    reason: str = native.get("stopReason") or ""
    if reason:
        ours = answer.stop_reason = FINISH.get(reason, reason)
        if FINISH_OF.get(ours, reason) != reason:
            transcript.extras = extras_of(NAME, {"stopReason": reason})


def lower_answer(transcript: Transcript, messages: list[Message], writer: BlockWriter) -> Native:
    """The last answer."""
    said = lower_messages([message for message in messages if message.role == "assistant"], writer)
    first, native = said[-1] if said else (Message("assistant", []), {"role": "assistant", "content": []})
    spelling, carried = writer.spelling(first), carried_by(transcript.extras, NAME)
    model = transcript.model or first.model
    native |= {"model": model} if model else {}
    reason = first.stop_reason
    if reason:
        kept: Any = carried.get("stopReason")
        usual = FINISH_OF.get(reason, reason if writer.own else "endTurn")
        native["stopReason"] = kept if kept and FINISH.get(kept, kept) == reason else usual
    return ANSWER.put(native, carried_by(first.extras, NAME), spelling)
