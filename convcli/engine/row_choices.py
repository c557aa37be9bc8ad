"""What a training row takes from the session of an agent program: without turns that the program wrote, and with tools.

Both are losses like any other: a turn that is left out is dropped, and a tool without a definition is invented.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec.structs import replace

from convcli.kit import custom
from convcli.model.branches import handed_on, nearest_left
from convcli.model.dialect import Dialect, Options, ProgramTurns
from convcli.model.transcript import Message, Text, ToolCall, ToolDefinition, Transcript
from convcli.proof.reasons import PROGRAM_TURN, Loss

LeftOut: TypeAlias = Mapping[int | tuple[int, int], str]
"""What is not to be written, and the field of its loss: messages by index, parts by the indexes of message and part."""
ASKING = ("user", "tool")


def drops_program_turns(source: Dialect | None, target: Dialect, options: Options) -> bool:
    """True if turns of the agent program are left out: by default in training rows."""
    if source is None or source.program_turns is None:
        return False
    return options.program_turns == "drop" or (options.program_turns is None and target.is_training)


def program_turns(transcript: Transcript, known: ProgramTurns) -> dict[int | tuple[int, int], str]:
    """Returns the messages and parts that the agent program wrote in the user's place, with the field of their loss.

    An answer keeps a question: if the program wrote all that stands before an answer, the last of it is kept.
    """
    written: dict[int | tuple[int, int], str] = {}
    group: list[int] = []
    for i, message in enumerate(transcript.messages):
        if message.role in ASKING:
            group.append(i)
        elif message.role == "assistant":
            written.update(_of_group(transcript.messages, group, known, is_answered=True))
            group = []
    written.update(_of_group(transcript.messages, group, known, is_answered=False))
    spoken = sum(message.role != "event" for message in transcript.messages)
    return {} if sum(isinstance(place, int) for place in written) == spoken else written


def _of_group(
    messages: list[Message], group: list[int], known: ProgramTurns, *, is_answered: bool
) -> Iterator[tuple[int | tuple[int, int], str]]:
    """Yields the places of one group of messages before an answer."""
    of_program = {i: kinds for i in group if (kinds := _kinds(messages[i], known))}
    whole = {i: kinds for i, kinds in of_program.items() if len(kinds) == len(messages[i].parts)}
    if is_answered and len(whole) == len(group) and group:
        del of_program[_question(messages, group, known)]
    for i, kinds in of_program.items():
        if i in whole:
            yield i, f"{PROGRAM_TURN}.{next(iter(kinds.values()))}"
        else:
            yield from (((i, k), f"{PROGRAM_TURN}.{kind}") for k, kind in kinds.items())


def _kinds(message: Message, known: ProgramTurns) -> dict[int, str]:
    """Returns the kind of each part that the program wrote, by index."""
    if message.role != "user" or message.replaces is not None:
        return {}
    begun = {k: kind for k, part in enumerate(message.parts) if part.__class__ is Text and (kind := known.kind(part))}
    flagged = known.kind_of_message(message)
    return dict.fromkeys(range(len(message.parts)), flagged) | begun if flagged else begun


def _question(messages: list[Message], group: list[int], known: ProgramTurns) -> int:
    """Returns the turn that was answered: the last one that is flagged only, such as the prompt behind a command."""
    bare = [i for i in group if all(part.__class__ is not Text or not known.kind(part) for part in messages[i].parts)]
    return (bare or group)[-1]


def without(transcript: Transcript, left_out: LeftOut) -> Transcript:
    """Returns the transcript without these messages and parts. A message follows the one before those left out."""
    remaining = [(i, message) for i, message in enumerate(handed_on(transcript, left_out)) if i not in left_out]
    parents = {message.id: message.parent_id for i, message in enumerate(transcript.messages) if i in left_out}
    for name in (None, *(message.id for _, message in remaining)):
        parents.pop(name, None)
    messages = [_linked(_without_parts(message, i, left_out), parents) for i, message in remaining]
    return replace(transcript, messages=messages, head=nearest_left(transcript.head, parents))


def _linked(message: Message, parents: Mapping[str | None, str | None]) -> Message:
    parent = nearest_left(message.parent_id, parents)
    return message if parent == message.parent_id else replace(message, parent_id=parent)


def _without_parts(message: Message, i: int, left_out: LeftOut) -> Message:
    kept = [part for k, part in enumerate(message.parts) if (i, k) not in left_out]
    return message if len(kept) == len(message.parts) else replace(message, parts=kept)


# ---------------------------------------------------------------- tools

INVENTED_TOOL = "the session has no definition of this tool: --tools recorded, program or none"

JSON_TYPES: dict[type, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object", type(None): "null",
}  # fmt: skip


def adds_tools(transcript: Transcript, source: Dialect | None, target: Dialect, options: Options) -> bool:
    """True if a row needs definitions of tools that its session does not have."""
    if source is None or not source.is_session or not target.is_training or options.tools == "none":
        return False
    defined = {tool.name for tool in transcript.tools or ()}
    return any(
        part.__class__ is ToolCall and part.name not in defined
        for message in transcript.messages
        for part in message.parts
    )


def with_tools(transcript: Transcript, source: Dialect, options: Options) -> Transcript:
    """Returns the transcript with a definition for every tool that it calls: behind its own, those it lacks, by name.

    With `tools="program"` a definition comes from the table of the agent program, if it has the tool. Any other states
    only the name and the arguments of the calls.
    """
    own = transcript.tools or []
    defined, calls = {tool.name for tool in own}, dict[str, list[ToolCall]]()
    for message in transcript.messages:
        for part in message.parts:
            if part.__class__ is ToolCall and part.name not in defined:
                calls.setdefault(part.name, []).append(part)
    known: Mapping[str, ToolDefinition] = {}
    if options.tools == "program":
        from convcli.engine.program_tools import definitions_of

        known = {**definitions_of(source.name), **definitions_of(options.tools_of or "")}
    tools = [known.get(name) or seen_in(name, calls[name]) for name in sorted(calls)]
    return replace(transcript, tools=[*own, *tools])


def seen_in(name: str, calls: list[ToolCall]) -> ToolDefinition:
    """Returns a definition with the arguments of these calls and their types; those in all calls are required.

    Its description is empty: templates such as that of gpt-oss fail if there is none.
    """
    if all(call.custom for call in calls):
        return ToolDefinition(name, "", parameters=custom.PARAMETERS, custom=custom.TEXT)
    types: dict[str, set[str]] = {}
    for call in calls:
        for key, value in call.arguments.items():
            types.setdefault(key, set()).add(JSON_TYPES.get(type(value), "number"))
    properties: dict[str, Any] = {key: _typed(of_key) for key, of_key in types.items()}
    required = [key for key in types if all(key in call.arguments for call in calls)]
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    return ToolDefinition(name, "", parameters={**parameters, "required": required} if required else parameters)


def _typed(types: set[str]) -> dict[str, Any]:
    if types == {"array"}:
        return {"type": "array", "items": {}}
    names = sorted(types)
    return {"type": names[0] if len(names) == 1 else names}


def explained(losses: Iterable[Loss]) -> list[Loss]:
    """Returns the losses with the reason of invented tools. The conversation itself stays as it was."""
    return [
        replace(loss, why=INVENTED_TOOL, level="context") if (loss.kind, loss.field) == ("invented", "tool") else loss
        for loss in losses
    ]
