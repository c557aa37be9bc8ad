"""MCP sampling: a server's requests to a client's model, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from convcli.dialects.mcp.blocks import NAME, TOOL_RESULT, lift_block, lift_result, write_block
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, without_nulls
from convcli.kit.settings import Settings
from convcli.model.transcript import STOP_REASONS, Message, Part, Path, Text, ToolChoice, Transcript
from convcli.wire import exact_json

MESSAGE = Keys("role= content= _meta")
ANSWER = Keys("role= content= model= stopReason= _meta")

SETTINGS = Settings({"temperature": "temperature", "maxTokens": "maxOutputTokens", "stopSequences": "stop"})
CHOICES = ("auto", "none", "required")

FINISH = {"endTurn": "stop", "maxTokens": "length", "toolUse": "tool_calls", "stopSequence": "stop"}
FINISH_OF = {"stop": "endTurn", "length": "maxTokens", "tool_calls": "toolUse"}


# ---------------------------------------------------------------- messages


def lift_message(native: Native, path: Path, keys: Keys, context: LiftContext) -> None:
    """Lifts one MCP message: a message per result and per run of other blocks."""
    extras = make_extras(NAME, keys.extra(native))
    for role, parts, part_paths in _pieces(native, context):
        context.add(Message(role, parts, extras=extras), path, part_paths)
        extras = None


def _pieces(native: Native, context: LiftContext) -> list[tuple[str, list[Part], list[Path]]]:
    content, role = native["content"], native["role"]
    pieces: list[tuple[str, list[Part], list[Path]]] = []
    for j, block in enumerate(content if isinstance(content, list) else [content]):
        path: Path = ("content", j) if isinstance(content, list) else ("content",)
        if block["type"] == "tool_result" and role == "user":
            pieces.append(("tool", [lift_result(block, TOOL_RESULT, context)], [path]))
            continue
        if not pieces or pieces[-1][0] == "tool":
            pieces.append((role, [], []))
        pieces[-1][1].append(lift_block(block, context))
        pieces[-1][2].append(path)
    return pieces or [(role, [], [])]


def one_system(messages: list[Message]) -> list[Message]:
    """Joins all instructions into one text before the messages."""
    instructions = [message for message in messages if message.role == "system"]
    texts = [part.text for message in instructions for part in message.parts if isinstance(part, Text) and part.text]
    if not instructions:
        return messages
    others = [message for message in messages if message.role != "system"]
    return [*([Message("system", [Text("\n\n".join(texts))])] if texts else []), *others]


def write_messages(messages: Sequence[Message]) -> list[Native]:
    """Returns the messages. The results of a turn share one message; a single block is not in a list."""
    turns: list[tuple[Message, list[Native]]] = []
    for message in messages:
        blocks = [block for part in message.parts if (block := write_block(part)) is not None]
        if turns and turns[-1][0].role == message.role == "tool" and not get_extras(message.extras, NAME):
            turns[-1][1].extend(blocks)
        else:
            turns.append((message, blocks))
    return [MESSAGE.put(_turn(message, blocks), get_extras(message.extras, NAME)) for message, blocks in turns]


def _turn(message: Message, blocks: list[Native]) -> Native:
    role = "assistant" if message.role == "assistant" else "user"
    return {"role": role, "content": blocks[0] if len(blocks) == 1 else blocks}


# ---------------------------------------------------------------- other keys of a request


def lift_request(native: Native, transcript: Transcript) -> Native:
    """Sets model, tool choice and settings, and returns their extras."""
    extra: Native = {}
    transcript.settings = SETTINGS.lift(native)[0] or None
    choice, preferences = native.get("toolChoice"), native.get("modelPreferences")
    transcript.tool_choice = _choice_of(choice)
    if choice and (transcript.tool_choice is None or choice.keys() != {"mode"}):
        extra["toolChoice"] = choice
    transcript.model = _model_of(preferences)
    if preferences and (transcript.model is None or not exact_json.exact(preferences, _preferences(transcript.model))):
        extra["modelPreferences"] = preferences
    return extra


def write_request(transcript: Transcript, extra: Native) -> Native:
    """Returns model, tool choice and settings; the model is the preferred one."""
    choice, preferences = extra.pop("toolChoice", None), extra.pop("modelPreferences", None)
    if not choice or _choice_of(choice) != transcript.tool_choice:
        choice = transcript.tool_choice and {"mode": transcript.tool_choice}
    if not preferences or _model_of(preferences) != transcript.model:
        preferences = _preferences(transcript.model) if transcript.model else None
    native = {"toolChoice": choice, "modelPreferences": preferences}
    return SETTINGS.write(transcript.settings or {}, {}) | without_nulls(native)


def _choice_of(choice: Any) -> ToolChoice | None:
    mode = choice.get("mode") if isinstance(choice, dict) else None
    return mode if mode in CHOICES else None


def _model_of(preferences: Any) -> str | None:
    hints = preferences.get("hints") or [{}] if isinstance(preferences, dict) else [{}]
    return hints[0].get("name") or None


def _preferences(model: str | None) -> Native:
    return {"hints": [{"name": model}]}


def fit_choice(transcript: Transcript) -> Transcript:
    """Replaces the choice of a named tool by "required", and drops a choice without tools."""
    choice = transcript.tool_choice
    if choice is None or (isinstance(choice, str) and transcript.tools):
        return transcript
    return replace(transcript, tool_choice="required" if transcript.tools else None)


# ---------------------------------------------------------------- the answer


def lift_answer(native: Native, prefix: Path, context: LiftContext) -> Transcript:
    """Lifts the answer of a client's model."""
    lift_message(native, prefix, ANSWER, context)
    transcript = context.transcript(model=native.get("model") or None)
    reason: str = native.get("stopReason") or ""
    if reason:
        ours = transcript.messages[0].stop_reason = FINISH.get(reason, reason)
        if FINISH_OF.get(ours, reason) != reason:
            transcript.extras = make_extras(NAME, {"stopReason": reason})
    return transcript


def keep_last_answer(transcript: Transcript) -> Transcript:
    """Keeps the last answer, with its model's name and a stop reason that MCP supports."""
    if not transcript.messages:
        return replace(transcript, messages=[Message("assistant", [])])
    answer = transcript.messages[-1]
    reason = answer.stop_reason
    if reason in STOP_REASONS and reason not in FINISH_OF:
        answer = replace(answer, stop_reason="stop")
    return replace(transcript, messages=[answer], model=transcript.model or answer.model)


def write_answer(transcript: Transcript) -> Native:
    """Returns the answer."""
    answer = transcript.messages[-1]
    native = _turn(answer, [block for part in answer.parts if (block := write_block(part)) is not None])
    if transcript.model:
        native["model"] = transcript.model
    reason, extra = answer.stop_reason, get_extras(transcript.extras, NAME).get("stopReason")
    if reason:
        native["stopReason"] = extra if extra and FINISH.get(extra) == reason else FINISH_OF.get(reason, reason)
    return ANSWER.put(native, get_extras(answer.extras, NAME))
