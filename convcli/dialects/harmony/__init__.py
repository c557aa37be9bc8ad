"""Text in OpenAI's harmony format, the chat template of gpt-oss: rows with the model's input and output between marks.

Specification: docs/format.md of https://github.com/openai/harmony and the package openai-harmony 0.0.8; read
2026-11-23. A file with this text instead of JSON is read as one row.

Quirks
- A message is `<|start|>`, the author, `<|message|>` and its text up to `<|end|>`, `<|call|>` or `<|return|>`. Other
  text between marks is not a message: it is kept and reported.
- The assistant has channels: `analysis` is reasoning, `final` ends its turn, `commentary` has calls and the texts
  before them. A call has `to=functions.NAME`; `to=browser.search` calls a built-in tool of the model.
- The author of a result is the tool's name. There are no ids: a result answers the first open call of that name.
- The `system` message describes the model. Instructions are in the `developer` message, followed by tools as TypeScript
  functions. Tools are read only if writing them again gives the same text; otherwise they stay text.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from convcli.dialects.harmony import text, typescript
from convcli.dialects.harmony.lifting import INSTRUCTIONS, JSON, NAME, PLACE, ROW, WaitingCalls, lift
from convcli.dialects.harmony.text import ANALYSIS, ASSISTANT, COMMENTARY, FINAL, FUNCTIONS, NAMES, Spoken
from convcli.families.openai.calls import ROW_TEXTS
from convcli.families.rows import calls, order, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT
from convcli.kit import custom, fitting, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import get_extras
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, on_tools
from convcli.kit.renaming import rename_tools_and_ids
from convcli.kit.results import result_of
from convcli.kit.texts import text_of
from convcli.model.dialect import Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import (
    MEDIA_KINDS,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, tools, turns
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.decimals import builtins

# ---------------------------------------------------------------- fit


def _remove_marks(part: Part, _: Message) -> Part | None:
    """Removes marks from texts, and drops empty texts."""
    if isinstance(part, (Text, Reasoning)):
        bare = text.without_marks(part.text)
        part = part if bare == part.text else replace(part, text=bare)
        return part if bare else None
    if isinstance(part, ToolResult) and isinstance(part.value, str):
        bare = text.without_marks(part.value)
        return part if bare == part.value else replace(part, value=bare)
    return part


def _join_texts(message: Message) -> Message | None:
    """Joins the texts of a message, except the assistant's, and drops invalid names and empty instructions.

    Each text of the assistant has a channel.
    """
    parts = message.parts if message.role == ASSISTANT else joined_texts(message.parts, JOINT)
    is_named = message.name is None or (NAMES.accepts(message.name) and message.role in ("user", ASSISTANT))
    if message.role == "system" and not parts and not _is_of_model(message):
        return None
    if parts == message.parts and is_named:
        return message
    return replace(message, parts=parts, name=message.name if is_named else None)


def _sort_unpaired_results(messages: list[Message]) -> list[Message]:
    """Keeps the messages if names and order determine the call of each result, else sorts results by call."""
    waiting = WaitingCalls()
    for message in messages:
        result = result_of(message)
        for call in calls_of(message):
            waiting.pairing.call(call.id, call.name)
        if message.role == ASSISTANT:
            waiting.begin(calls_of(message))
        if result is not None and waiting.answer(result.name) != result.tool_call_id:
            return order.results_by_position(messages)
    return messages


def _keep_typescript_fields(tool: ToolDefinition) -> ToolDefinition:
    """Returns the tool with what TypeScript can express."""
    natives = typescript.read(_section([tool]))
    return calls.lift_tool(natives[0], LiftContext(NAME, None), ()) if natives else ToolDefinition(tool.name)


MESSAGES = fused(
    fitting.keep_active_conversation,
    results.results_behind_calls,
    results.one_result_each,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles({"tool_call": (ASSISTANT,), "reasoning": (ASSISTANT,)}),
    on_parts(lambda part, _: None, "opaque", *MEDIA),
    on_results(results.one_value),
    results.apply_convention(ROW_TEXTS),
    custom.as_functions,
    on_parts(_remove_marks, "text", "reasoning", "tool_result"),
    on_each_message(_join_texts),
    rename_tools_and_ids(NAMES),
    on_messages(_sort_unpaired_results),
    fitting.keep_functions(NAME),
    fitting.drop_empty_tools,
    on_tools(_keep_typescript_fields),
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row, with the tools after the first instruction."""
    messages = transcript.messages
    if transcript.tools:
        leading = list(takewhile(_is_of_model, messages))
        if not messages[len(leading) :] or messages[len(leading)].role != "system":
            messages = [*leading, Message("system", []), *messages[len(leading) :]]
    pieces: list[Spoken] = []
    offered = transcript.tools
    for message in messages:
        is_instruction = message.role == "system" and not _is_of_model(message)
        pieces += _pieces(message, offered if is_instruction else None)
        offered = None if is_instruction else offered
    return ROW.put({"text": text.write(pieces)}, get_extras(transcript.extras, NAME))


def _is_of_model(message: Message) -> bool:
    """True if the message describes the model."""
    return message.role == "system" and get_extras(message.extras, NAME).get("role") == "system"


def _pieces(message: Message, offered: list[ToolDefinition] | None) -> list[Spoken]:
    content = text_of(message.parts)
    if message.role == "tool":
        return [_write_result(part) for part in message.parts if isinstance(part, ToolResult)]
    if message.role == ASSISTANT:
        return _turn(message) or [Spoken(ASSISTANT, "", message.name or "", channel=FINAL)]
    if message.role != "system" or _is_of_model(message):
        return [Spoken(message.role, content, message.name or "")]
    sections = [INSTRUCTIONS + content if content else "", _section(offered) if offered else ""]
    return [Spoken("developer", JOINT.join(filter(None, sections)))]


def _turn(message: Message) -> list[Spoken]:
    pieces: list[Spoken] = []
    for part in message.parts:
        extra = get_extras(part.extras, NAME)
        piece = Spoken(ASSISTANT, "", message.name or "", "", COMMENTARY, extra.get("type", ""))
        if isinstance(part, ToolCall):
            raw = None if part.raw_arguments is None else text.without_marks(part.raw_arguments)
            content = text.write_json(part.arguments) if raw is None else raw
            piece = piece._replace(content=content, to=_address(part), type=piece.type or JSON)
        elif isinstance(part, Reasoning):
            piece = piece._replace(content=part.text, channel=ANALYSIS)
        elif isinstance(part, Text):
            piece = piece._replace(content=part.text, channel=FINAL if part is message.parts[-1] else COMMENTARY)
        else:
            continue
        pieces.append(piece._replace(channel=extra.get("channel", piece.channel)))
    return pieces


def _address(part: ToolCall | ToolResult) -> str:
    """Returns the tool's name as in the text."""
    return part.name if "namespace" in get_extras(part.extras, NAME) else f"{FUNCTIONS}{part.name}"


def _write_result(result: ToolResult) -> Spoken:
    extra = get_extras(result.extras, NAME)
    channel, kind = extra.get("channel", COMMENTARY), extra.get("type", "")
    return Spoken(_address(result), str(result.value), to=ASSISTANT, channel=channel, type=kind)


def _section(offered: list[ToolDefinition]) -> str:
    natives = [builtins(calls.write_tool(tool, NAME)) for tool in offered]
    return text.without_marks(typescript.write(natives))


# ---------------------------------------------------------------- rules


def _find_unread_messages(survey: Survey) -> Iterable[Breach]:
    for i, piece in enumerate(text.read(survey.document["text"])):
        if isinstance(piece, str):
            problem = f"message {i + 1:,} of the text has no header or end, or has marks inside: it is not read"
            yield Breach("wrong-format", NodeRef(steps=PLACE), problem)


def _find_names(survey: Survey) -> Iterable[Breach]:
    for i, message in enumerate(survey.messages):
        if message.name:
            problem = "openai-harmony writes a name after the role, and its own parser rejects the message"
            yield Breach("bad-participant-name", NodeRef(i, field="message.name"), problem, "warning")


def _find_invalid_arguments(survey: Survey) -> Iterable[Breach]:
    """Reports arguments that are no JSON object. A tool of the model may get code."""
    for breach in READABLE.check(survey):
        call = survey.messages[breach.at.message].parts[breach.at.part]
        if "namespace" not in get_extras(call.extras, NAME):
            yield breach


READABLE = arguments.readable()
RULES = (
    Rule(READABLE.codes, _find_invalid_arguments, subjects=READABLE.subjects),
    Rule(("wrong-format",), _find_unread_messages, of_input=("wrong-format",)),
    for_outputs(Rule(("bad-participant-name",), _find_names)),
    for_outputs(turns.some_message()),
    training.paired_in_order(),
    tools.unique("warning"),
)

FIT = {"text": (*MESSAGES, fitting.settle_by_reading_back(lift, write, "text"))}

DIALECT = Dialect(
    name=NAME,
    title="harmony text (gpt-oss)",
    aliases=("gpt-oss", "openai-harmony", "gptoss"),
    is_training=True,
    specification="docs/format.md of openai/harmony, package openai-harmony 0.0.8; read 2026-11-23",
    framings=("document", "records"),
    forms=("text",),
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(ROW_TEXTS,),
    supports=training.SUPPORTS | {"message.name", "tool_call.rawArguments"},
    reasons={
        **training.REASONS,
        "message": "in harmony a result answers a call of the turn before it, and an instruction is not empty",
        "message.grouping": "in harmony, assistant messages up to the final text are one turn",
        "message.role": "harmony text has only one role for instructions",
        "message.name": "in harmony only users and assistants have a name, and it is one word",
        "moved": "a harmony result follows its call",
        "text": "a harmony message is one text without marks",
        "reasoning": "a harmony thought is a text without marks",
        "tool": "harmony's TypeScript has only names, descriptions, types, choices and defaults of a schema",
        "tool.name": "harmony names have only letters, digits, _, . and -",
        "tool_call.name": "harmony names have only letters, digits, _, . and -",
        "tool_result.name": "harmony names have only letters, digits, _, . and -",
        "tool_call.rawArguments": "a raw JSON object is read back as an object",
        "tool_result.value": "harmony texts contain no marks",
        **dict.fromkeys(MEDIA_KINDS, "harmony messages are text"),
    },
    places={"tools": ("text",)},
)
