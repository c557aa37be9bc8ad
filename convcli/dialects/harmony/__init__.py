"""Text of OpenAI's harmony, the chat template of gpt-oss: rows with what a model reads and writes, between its marks.

Specification: docs/format.md of https://github.com/openai/harmony and the package openai-harmony 0.0.8; read
2026-11-23. A file that is this text and no JSON is read as one row.

Quirks
- A message is `<|start|>`, who speaks, `<|message|>` and its text up to `<|end|>`, `<|call|>` or `<|return|>`. What
  stands between these marks in any other way is no message: it is kept, and told.
- The assistant has channels. What stands in `analysis` is reasoning; `final` ends its turn; `commentary` holds calls,
  and texts before them. A call says `to=functions.NAME`, and `to=browser.search` is one of a tool of the model itself.
- A result has the name of its tool for an author. There are no ids: it answers the first open call of that name.
- The message `system` says what model it is; instructions stand in that of the `developer`, and tools behind them, as
  functions of TypeScript. They are read where writing what was read gives the same text, and stay text elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from convcli.dialects.harmony import text, typescript
from convcli.dialects.harmony.lifting import INSTRUCTIONS, JSON, NAME, PLACE, ROW, WaitingCalls, lift
from convcli.dialects.harmony.text import ANALYSIS, ASSISTANT, COMMENTARY, FINAL, FUNCTIONS, NAMES, Spoken
from convcli.families.openai.calls import TEXTS
from convcli.families.rows import calls, order, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT
from convcli.kit import custom, fitting, lacking, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import carried_by
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, on_tools
from convcli.kit.renaming import renaming
from convcli.kit.results import result_of
from convcli.kit.texts import text_of
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import (
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import tools, turns
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.decimals import builtins


def detect(document: Any) -> Clue | None:
    """By the marks in its text."""
    value = document.get("text") if isinstance(document, dict) else None
    if not isinstance(value, str) or not value.startswith((text.START, text.CHANNEL)) or text.MESSAGE not in value:
        return None
    return Clue(98, "a text between the marks of harmony")


# ---------------------------------------------------------------- fit


def _readable(part: Part, _: Message) -> Part | None:
    """No text has a mark, and none is empty."""
    if isinstance(part, (Text, Reasoning)):
        bare = text.without_marks(part.text)
        part = part if bare == part.text else replace(part, text=bare)
        return part if bare else None
    if isinstance(part, ToolResult) and isinstance(part.value, str):
        bare = text.without_marks(part.value)
        return part if bare == part.value else replace(part, value=bare)
    return part


def _plain(message: Message) -> Message | None:
    """One text but for the assistant, whose texts have a channel each; a name that is a word; an instruction that says
    something."""
    parts = message.parts if message.role == ASSISTANT else joined_texts(message.parts, JOINT)
    is_named = message.name is None or (NAMES.accepts(message.name) and message.role in ("user", ASSISTANT))
    if message.role == "system" and not parts and not _is_of_model(message):
        return None
    if parts == message.parts and is_named:
        return message
    return replace(message, parts=parts, name=message.name if is_named else None)


def _paired_by_name(messages: list[Message]) -> list[Message]:
    """The messages as they are where names and order tell which call a result answers, else in the order of calls."""
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


def _as_typescript(tool: ToolDefinition) -> ToolDefinition:
    """The tool as far as TypeScript can say it."""
    natives = typescript.read(_section([tool]))
    return calls.lift_tool(natives[0], LiftContext(NAME, None), ()) if natives else ToolDefinition(tool.name)


MESSAGES = fused(
    fitting.linear,
    results.results_behind_calls,
    on_messages(results.single_results),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.parts_in_roles({"tool_call": (ASSISTANT,), "reasoning": (ASSISTANT,)}),
    on_parts(lambda part, _: None, "opaque", *MEDIA),
    on_results(results.one_value),
    results.expressed(TEXTS),
    custom.as_functions,
    on_parts(_readable, "text", "reasoning", "tool_result"),
    on_each_message(_plain),
    renaming(NAMES),
    on_messages(_paired_by_name),
    fitting.functions_only(NAME),
    fitting.some_tools,
    on_tools(_as_typescript),
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A row, with the tools behind the first instruction."""
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
    return ROW.put({"text": text.write(pieces)}, carried_by(transcript.extras, NAME))


def _is_of_model(message: Message) -> bool:
    """Does the message say what model it is?"""
    return message.role == "system" and carried_by(message.extras, NAME).get("role") == "system"


def _pieces(message: Message, offered: list[ToolDefinition] | None) -> list[Spoken]:
    said = text_of(message.parts)
    if message.role == "tool":
        return [_write_result(part) for part in message.parts if isinstance(part, ToolResult)]
    if message.role == ASSISTANT:
        return _turn(message) or [Spoken(ASSISTANT, "", message.name or "", channel=FINAL)]
    if message.role != "system" or _is_of_model(message):
        return [Spoken(message.role, said, message.name or "")]
    sections = [INSTRUCTIONS + said if said else "", _section(offered) if offered else ""]
    return [Spoken("developer", JOINT.join(filter(None, sections)))]


def _turn(message: Message) -> list[Spoken]:
    pieces: list[Spoken] = []
    for part in message.parts:
        carried = carried_by(part.extras, NAME)
        piece = Spoken(ASSISTANT, "", message.name or "", "", COMMENTARY, carried.get("type", ""))
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
        pieces.append(piece._replace(channel=carried.get("channel", piece.channel)))
    return pieces


def _address(part: ToolCall | ToolResult) -> str:
    """The tool as a text names it."""
    return part.name if "namespace" in carried_by(part.extras, NAME) else f"{FUNCTIONS}{part.name}"


def _write_result(result: ToolResult) -> Spoken:
    carried = carried_by(result.extras, NAME)
    channel, kind = carried.get("channel", COMMENTARY), carried.get("type", "")
    return Spoken(_address(result), str(result.value), to=ASSISTANT, channel=channel, type=kind)


def _section(offered: list[ToolDefinition]) -> str:
    natives = [builtins(calls.write_tool(tool, NAME)) for tool in offered]
    return text.without_marks(typescript.write(natives))


# ---------------------------------------------------------------- rules


def _messages_are_read(survey: Survey) -> Iterable[Breach]:
    for i, piece in enumerate(text.read(survey.document["text"])):
        if isinstance(piece, str):
            problem = f"message {i + 1:,} of the text has no header, no end or marks inside: it is not read"
            yield Breach("wrong-format", NodeRef(steps=PLACE), problem)


def _nobody_is_named(survey: Survey) -> Iterable[Breach]:
    for i, message in enumerate(survey.messages):
        if message.name:
            problem = "openai-harmony writes a name behind a role, and its parser refuses the message"
            yield Breach("bad-participant-name", NodeRef(i, field="message.name"), problem, "warning")


RULES = (
    Rule(("wrong-format",), _messages_are_read),
    for_outputs(Rule(("bad-participant-name",), _nobody_is_named)),
    for_outputs(turns.some_message()),
    training.paired_in_order(),
    tools.unique("warning"),
)

FIT = {"text": (*MESSAGES, fitting.as_read_back(lift, write, "text"))}
LACKS = (training.LACKS - {"message.name"}) | lacking.MEDIA | lacking.fields("opaque")

DIALECT = Dialect(
    name=NAME,
    title="Text of harmony (gpt-oss)",
    aliases=("gpt-oss", "openai-harmony", "gptoss"),
    specification="docs/format.md of openai/harmony, package openai-harmony 0.0.8; read 2026-11-23",
    framings=("document", "records"),
    forms=("text",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=RULES,
    conventions=(TEXTS,),
    lacks=LACKS,
    reasons={
        **training.REASONS,
        "message": "a result answers a call of the turn before it, and an instruction says something",
        "message.grouping": "what an assistant says up to its final text is one turn",
        "message.role": "there is only one role for instructions",
        "message.name": "a name is a word, and that of a user or an assistant",
        "moved": "a result stands behind its call",
        "text": "a message is one text, in which no mark stands",
        "reasoning": "a thought is a text, in which no mark stands",
        "tool": "TypeScript says names, types, choices and defaults, and nothing else of a schema",
        "tool.name": "a name has letters, digits, _, . and -",
        "tool_call.name": "a name has letters, digits, _, . and -",
        "tool_result.name": "a name has letters, digits, _, . and -",
        "tool_call.rawArguments": "arguments that are a JSON object are one",
        "tool_result.value": "no mark stands in a text",
        **dict.fromkeys(lacking.MEDIA, "the messages hold text only"),
    },
    places={"tools": ("text",)},
)
