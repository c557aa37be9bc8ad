"""llm: logs of Simon Willison's program, from its database (`logs.db`) or `llm logs --json`; read-only.

Specification: none is published. Source: llm/logs.py, llm/parts.py and llm/cli.py of llm 0.36, and a database and an
export that it wrote with a model made for this; read 2026-11-28.

Quirks
- A row is a turn: what the program sent, and the answer. A conversation is the rows of one `conversation_id`.
- `llm logs --json` has the texts of a turn without their order, and neither content of attachments nor metadata of
  providers. From the database, convcli reads the messages of a turn with their parts, as `messages`.
- A thread that was forked from another one shares its turns up to the fork.
- An instruction stands in each row. It is a message where it changes.
- Fragments are part of the prompt; rows that a version before 0.32 stored have them only in `prompt_fragments`. Without
  `--expand`, an export has 100 characters of each.
- A failed result has its exception, and the text that the model read.
- llm imports no logs: messages are stored under hashes of their content, and convcli writes no databases.
"""

from __future__ import annotations

from typing import Any

from convcli.families.chats import add_with_results
from convcli.kit import results
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, as_text, get_extras, make_extras, without_empty
from convcli.kit.sessions import add_event
from convcli.kit.streams import Boundaries, Limits
from convcli.kit.supported import fields
from convcli.kit.values import counts, kind_of_type, paths, take_counts
from convcli.model.dialect import Dialect, Program
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links

NAME = "llm"
CONVERSATION, MESSAGES, ON_SERVER, CUT = "conversation_id", "messages", "server_executed", "..."
OF_CONVERSATION = {CONVERSATION: "id", "conversation_name": "title", "conversation_model": "model"}
SAID = "prompt system response reasoning tools tool_calls tool_results attachments prompt_fragments system_fragments"
OF_TEXTS = ("prompt", "response", "reasoning")
"""Texts of a turn, which its messages repeat if it has any."""
USAGE = counts("input_tokens=inputTokens output_tokens=outputTokens")
TURN = Envelope(
    f"id model {' '.join(OF_CONVERSATION)} datetime_utc {SAID} {MESSAGES}",
    {"id": "id", "model": "model", "datetime_utc": "created_at"},
    content=f"{SAID} {MESSAGES} {' '.join(OF_CONVERSATION)}",
)
FILE = {"content": "data", "url": "url", "path": "path", "id": "file_id"}
"""Keys that have or name a file, the best first, with its field."""
Placed = tuple[Part, Path]


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of the rows of a conversation."""
    return _Turns(document).transcript


class _Turns:
    """One conversation while it is lifted."""

    def __init__(self, rows: list[Native]) -> None:
        self.context = LiftContext(NAME, rows)
        self.transcript = self.context.transcript()
        self.tools: dict[str, ToolDefinition] = {}
        self.instruction: list[Part] = []
        for i, row in enumerate(rows):
            self._lift_row(row, i)
        self.transcript.tools = list(self.tools.values()) or None

    def _lift_row(self, row: Native, i: int) -> None:
        """Adds the messages of a turn. The answer, or the last of them, has its facts."""
        first, context = len(self.context.messages), self.context
        self._add(Message("system", []), (i,), _texts(row, "system"))
        if MESSAGES in row:
            self._lift_messages(row[MESSAGES], i)
        else:
            self._lift_texts(row, i)
        messages = context.messages[first:]
        read = {part.text for each in messages for part in each.parts if isinstance(part, (Text, Reasoning))}
        unread = {key: row[key] for key in OF_TEXTS if MESSAGES in row and row.get(key) and row[key] not in read}
        if not messages:
            add_event(context, row, (i,))
            return
        answer = next((message for message in messages if message.role == "assistant"), messages[-1])
        usage, rest = take_counts(row, USAGE)
        answer.usage = usage or None
        extra = {**(TURN.lift(rest, answer) or {}), **unread, **self._facts(row, i), "tools": self._lift_tools(row, i)}
        answer.extras = make_extras(NAME, {**without_empty(extra), **get_extras(answer.extras, NAME)})

    def _add(self, message: Message, path: Path, placed: list[Placed]) -> None:
        """Adds a message with its parts. An instruction that is the same as before is none."""
        message.parts = [part for part, _ in placed]
        if message.role == "system":
            if not placed or message.parts == self.instruction:
                return
            self.instruction = message.parts
        if placed or message.extras:
            add_with_results(message, placed, path, self.context)

    def _lift_messages(self, natives: list[Native], i: int) -> None:
        """Adds the messages of a turn. The answer stands for the turn, whose facts it has."""
        last = len(natives) - 1
        answer = next((k for k, native in enumerate(natives) if native["role"] == "assistant"), last)
        for k, native in enumerate(natives):
            path: Path = (i, MESSAGES, k)
            inside: Path = path[1:] if k == answer else ()
            placed = [(_lift_part(part, self.context), (*inside, "parts", j)) for j, part in enumerate(native["parts"])]
            extras = make_extras(NAME, None, message=without_empty(native, "role", "parts"))
            at = (i,) if k == answer else path
            self.context.origin.routes[(*at, "message")] = path
            self._add(Message(native["role"], [], extras=extras), at, placed)

    def _lift_texts(self, row: Native, i: int) -> None:
        """Adds the messages of a turn of which only the texts are stored."""
        asked, answered = "tool_results", "tool_calls"
        for k, native in enumerate(row.get(asked) or ()):
            if not native.get(ON_SERVER):
                self._add(Message("tool", []), (i,), [(_result(native, self.context), (asked, k))])
        files = [
            (_attachment(one) or Opaque(NAME, one), ("attachments", k))
            for k, one in enumerate(row.get("attachments") or ())
        ]
        self._add(Message("user", []), (i,), [*_texts(row, "prompt"), *files])
        placed: list[Placed] = [(Reasoning(row["reasoning"]), ("reasoning",))] if row.get("reasoning") else []
        placed += [(Text(row["response"]), ("response",))] if row.get("response") else []
        placed += [(_call(one, self.context), (answered, k)) for k, one in enumerate(row.get(answered) or ())]
        for k, native in enumerate(row.get(asked) or ()):
            placed += [(_result(native, self.context), (asked, k))] if native.get(ON_SERVER) else []
        self._add(Message("assistant", []), (i,), placed)

    def _facts(self, row: Native, i: int) -> Native:
        """Sets the fields of the conversation by the first row that has them. Returns values of others that differ."""
        for key, name in OF_CONVERSATION.items():
            if getattr(self.transcript, name) is None and as_text(row.get(key)) is not None:
                setattr(self.transcript, name, row[key])
                self.context.origin.routes[name,] = (i, key)
        stated = {key: name for key, name in OF_CONVERSATION.items() if key in row}
        return {key: row[key] for key, name in stated.items() if row[key] != getattr(self.transcript, name)}

    def _lift_tools(self, row: Native, i: int) -> list[Native]:
        """Adds the tools of a turn. Returns those that differ from an earlier one of the same name."""
        others: list[Native] = []
        for k, native in enumerate(row.get("tools") or ()):
            extras = make_extras(NAME, without_empty(native, "name", "description", "input_schema"))
            tool = ToolDefinition(native["name"], native.get("description"), native.get("input_schema"), extras=extras)
            if tool.name not in self.tools:
                self.context.origin.routes["tools", len(self.tools)] = (i, "tools", k)
                self.tools[tool.name] = tool
            others += [] if self.tools[tool.name] == tool else [native]
        return others


def _texts(row: Native, key: str) -> list[Placed]:
    """Returns a text with the fragments that it does not contain."""
    text, name = row.get(key) or "", f"{key}_fragments"
    placed: list[Placed] = [
        (Text(one["content"]), (name, k, "content"))
        for k, one in enumerate(row.get(name) or ())
        if one["content"].removesuffix(CUT).strip() not in text
    ]
    return [*placed, *([(Text(text), (key,))] if text else [])]


def _lift_part(native: Native, context: LiftContext) -> Part:
    kind, text = native["type"], native.get("text")
    if kind in ("text", "reasoning") and isinstance(text, str):
        extras = make_extras(NAME, without_empty(native, "type", "text"))
        return Text(text, extras=extras) if kind == "text" else Reasoning(text, extras=extras)
    if kind == "attachment":
        media = _attachment(as_object(native.get(kind)))
        if media is not None:
            extra = get_extras(media.extras, NAME)
            media.extras = make_extras(NAME, extra, part=without_empty(native, "type", kind))
            return media
    if "name" in native and kind in ("tool_call", "tool_result"):
        return (_call if kind == "tool_call" else _result)(native, context)
    return Opaque(NAME, native)


def _call(native: Native, context: LiftContext) -> ToolCall:
    call = ToolCall(context.pairing.call(as_text(native.get("tool_call_id")), native["name"]), native["name"], {})
    call.arguments, call.raw_arguments = arguments_of(native.get("arguments"))
    call.extras = make_extras(NAME, _others(native, "arguments"))
    return call


def _result(native: Native, context: LiftContext) -> ToolResult:
    """Returns a result: its text, its attachments, and a failure if it has an exception."""
    ids = context.pairing.result(as_text(native.get("tool_call_id")), native["name"])
    output = as_text(native.get("output"))
    parts = [] if output is None else [Text(output)]
    files = [_attachment(one) for one in native.get("attachments") or ()]
    kept = [file for file in files if file is not None]
    result = results.result_of_parts(*ids, [*parts, *kept] or [Text("")], failed=bool(native.get("exception")))
    result.extras = make_extras(NAME, _others(native, "output", *["attachments"] * (len(kept) == len(files))))
    return result


def _others(native: Native, *used: str) -> Native:
    """Returns what is left of a call or a result."""
    rest = without_empty(native, "name", "tool_call_id", *used)
    usual = ((ON_SERVER, False), ("type", "tool_call"), ("type", "tool_result"))
    return {key: one for key, one in rest.items() if (key, one) not in usual}


def _attachment(native: Native) -> Media | None:
    """Returns a file by its content or its place; without these, by its id, under which the database has it."""
    typed = as_text(native.get("type"))
    key = next((key for key in FILE if as_text(native.get(key)) is not None), None)
    if key is None:
        return None
    extras = make_extras(NAME, without_empty(native, "type", key))
    return Media(kind_of_type(typed), **{FILE[key]: native[key]}, media_type=typed, extras=extras)


def _limits(row: Any) -> Limits:
    id_ = as_object(row).get(CONVERSATION)
    return Limits(isinstance(id_, str), id=id_)


PLACES = tuple(
    f"{folder}/io.datasette.llm/logs.db" for folder in (".config", "Library/Application?Support", "AppData/Roaming")
)
"""Its database below the home directory, by system. In the folder that LLM_USER_PATH names, it is `logs.db`."""

DIALECT = Dialect(
    name=NAME,
    title="llm",
    specification="logs of llm 0.36; read 2026-11-28",
    framings=("events", "document"),
    forms=("turns",),
    programs=(Program(NAME, ".", " ".join((*PLACES, "logs.db")), "LLM_USER_PATH"),),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    answer_boundaries=lambda: Boundaries(_limits, by_id=True),
    places={
        **TURN.places("message"),
        **paths(
            "tool.parameters=input_schema tool.description=description tool_call.id=tool_call_id "
            "tool_call.arguments=arguments tool_call.rawArguments=arguments tool_result.toolCallId=tool_call_id "
            "tool_result.value=output tool_result.kind=output extras.message=message extras.part=.. "
            "message.usage.inputTokens=input_tokens message.usage.outputTokens=output_tokens"
        ),
    },
    metadata=fields("options_json response_json prompt_json schema_json token_details resolved_model instance plugin"),
    envelope=fields(
        "id hash tool_id resolved_model options_json response_json prompt_json schema_json schema_id duration_ms "
        "token_details conversation_name conversation_model instance plugin content_length thread"
    ),
)
