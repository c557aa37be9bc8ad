"""Rows in the style of Hermes: calls and results as JSON between tags in the texts of a conversation.

Specification: the ShareGPT rows of Hermes' function calling as ms-swift 4.6 takes them; read 2026-11-22.

Quirks
- A call is `<tool_call>` and the JSON of its name and its arguments in the text of an answer, with any text around it.
  Where something between these tags is no call, the answer is a text.
- A result is `<tool_response>` in a turn of the tag `tool`, with the JSON of a name and a content, or with a text. A
  string is text, any other content data.
- There are no ids: results answer the calls of the turn before them in order.
- The tools stand in the instruction, as a list between `<tools>` tags. What we add for them comes back as definitions
  alone; an instruction of others that names its tools stays the text that it is, too.
- A thought stands before an answer, between `<think>` and `</think>`.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.hermes import text
from convcli.families.openai.calls import AS_TEXT
from convcli.families.rows import calls, order, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.order import calls_of
from convcli.families.rows.thoughts import JOINT, one_thought, read_thought, without, write_thought
from convcli.kit import custom, fitting, lacking, results
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import (
    Message,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.wire import exact_json
from convcli.wire.decimals import builtins

NAME = "hermes"
ROW = Keys("id conversations")
TURN = Keys("from value")
RESULT = Keys("name content")
ROLES = {"system": "system", "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant"}
TAGS = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}


def detect(document: Any) -> Clue | None:
    """By calls, results or tools between tags in turns of `from` and `value`."""
    rows = document.get("conversations") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not all(isinstance(one, dict) and {"from", "value"} <= one.keys() for one in rows):
        return None
    for turn in rows:
        tag, value = turn["from"], turn["value"] if isinstance(turn["value"], str) else ""
        if ROLES.get(tag) == "assistant" and text.read_answer(value) is not None:
            return Clue(97, "calls between tags in an answer")
        if tag == "tool" and text.read_results(value) is not None:
            return Clue(97, "results between tags")
        if tag == "system" and text.read_tools(value) is not None:
            return Clue(97, "tools between tags in the instruction")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The conversation of a row."""
    context = LiftContext(NAME, document, spot=("value",))
    lifting = _TextLifting(context)
    for i, turn in enumerate(document["conversations"]):
        lifting.turn(turn, ("conversations", i))
    carried, id_ = ROW.carried(document) or {}, document.get("id")
    if id_ is not None and not isinstance(id_, str):
        carried, id_ = {**carried, "id": id_}, None
    return context.transcript(id=id_, tools=lifting.tools, extras=extras_of(NAME, carried))


class _TextLifting:
    """A row while its turns are lifted: results answer the calls of the turn before them."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.open: list[str] = []
        self.tools: list[ToolDefinition] | None = None

    def turn(self, native: Native, place: Path) -> None:
        """One turn, which is one message but for results."""
        value, extras = native["value"] or "", extras_of(NAME, TURN.carried(native))
        if native["from"] == "tool":
            results = self._results(value)
            results[0].extras = extras
            for message in results:
                self.context.add(message, place)
            return
        message = Message(ROLES[native["from"]], [], extras=extras)
        if message.role == "assistant":
            message.parts = self._answer(value)
        elif place[-1] == 0 and message.role == "system":
            value = self._instruction(value, place)
            if not value and self.tools is not None and extras is None:
                return
        if message.role != "assistant" and value:
            message.parts = [Text(value)]
        self.open = [call.id for call in calls_of(message)]
        self.context.add(message, place)

    def _instruction(self, value: str, place: Path) -> str:
        read = text.read_tools(value)
        if read is None:
            return value
        self.tools = [calls.lift_tool(native, self.context, (*place, "value")) for native in read[1]]
        return read[0]

    def _answer(self, value: str) -> list[Part]:
        thought, rest = read_thought(value)
        parts: list[Part] = [Reasoning(thought)] if thought else []
        pieces = text.read_answer(rest)
        if pieces is None:
            return [*parts, *([Text(rest)] if rest else [])]
        for piece in pieces:
            parts.append(Text(piece) if isinstance(piece, str) else calls.lift_call(piece, self.context))
        return parts

    def _results(self, value: str) -> list[Message]:
        read = text.read_results(value)
        ids, self.open = self.open, []
        pieces = [value] if read is None else read
        return [self._result(piece, ids[i] if i < len(ids) else None) for i, piece in enumerate(pieces)]

    def _result(self, piece: str | Native, id_: str | None) -> Message:
        body: Native = {"content": piece} if isinstance(piece, str) else piece
        id_, name = self.context.pairing.result(id_, body.get("name"))
        kind: Any = "text" if isinstance(body["content"], str) else "data"
        extras = extras_of(NAME, RESULT.carried(body))
        return Message("tool", [ToolResult(id_, name, kind, body["content"], extras=extras)])


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Data are written as they are, but for a string, which is text, and null, which is nothing."""
    if result.kind == "error" or result.is_error:
        return "data", {"error": result.value}
    is_scalar = result.kind == "data" and (result.value is None or isinstance(result.value, str))
    return ("text", exact_json.write_text(result.value)) if is_scalar else None


RESULTS = Convention(_express, {**AS_TEXT, "error": ("encoded", 'there is no field for a failure: {"error": …}')})


def _one_text(message: Message) -> Message:
    """A thought, then texts and calls; elsewhere one text. A text between calls neither begins nor ends with a break,
    and none looks like a call."""
    if message.role == "tool":
        return message
    if message.role != "assistant":
        parts = joined_texts(message.parts, JOINT)
        return message if parts == message.parts else replace(message, parts=parts)
    parts = joined_texts(one_thought(message), JOINT)
    if any(isinstance(part, ToolCall) for part in parts):
        parts = [_bare(part) for part in parts]
        parts = joined_texts(parts, JOINT)
    elif any(isinstance(part, Text) and text.read_answer(part.text) is not None for part in parts):
        parts = [_bare(part) if isinstance(part, Text) else part for part in parts]
    parts = _unthought(parts)
    return message if parts == message.parts else replace(message, parts=parts)


def _bare(part: Part) -> Part:
    return Text(without(text.CALL_MARK, part.text).strip(text.BREAK)) if isinstance(part, Text) else part


def _unthought(parts: list[Part]) -> list[Part]:
    """A text at the head that holds a thought is one."""
    first = parts[0] if parts else None
    thought, rest = read_thought(first.text) if isinstance(first, Text) else ("", "")
    if not thought:
        return parts
    rest = rest.strip(text.BREAK) if len(parts) > 1 else rest
    return [Reasoning(thought), *([Text(rest)] if rest else []), *parts[1:]]


def _with_tools(transcript: Transcript) -> Transcript:
    """The tools are those that the instruction names, where nothing else says what they are."""
    first = transcript.messages[0] if transcript.messages else None
    if first is None or first.role != "system":
        return transcript
    if transcript.tools and not first.parts:
        return replace(transcript, messages=transcript.messages[1:])
    stated = _stated(first)
    if transcript.tools is None and stated is not None:
        return replace(transcript, tools=stated)
    return transcript


def _stated(message: Message) -> list[ToolDefinition] | None:
    """The tools that an instruction names."""
    part = message.parts[0] if message.parts else None
    read = text.read_tools(part.text) if isinstance(part, Text) else None
    if read is None or (isinstance(part, Text) and read[0] != part.text):
        return None
    context = LiftContext(NAME, None)
    return [calls.lift_tool(native, context, ()) for native in read[1]]


def _not_as_written(message: Message) -> Message:
    """An instruction does not end as one to which tools were added."""
    part = message.parts[0] if message.parts else None
    if message.role != "system" or not isinstance(part, Text) or not part.text.endswith(text.TAIL):
        return message
    bare = part.text
    while bare.endswith(text.TAIL):
        bare = bare.removesuffix(text.TAIL)
    return replace(message, parts=[Text(bare)] if bare else [])


FIT = fused(
    fitting.linear,
    results.results_behind_calls,
    on_messages(results.single_results),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.parts_in_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(lambda part, _: None, "opaque", *MEDIA),
    on_results(results.one_value),
    results.expressed(RESULTS),
    custom.as_functions,
    on_parts(lambda call, _: replace(call, raw_arguments=None) if call.raw_arguments else call, "tool_call"),
    on_each_message(_one_text),
    on_each_message(_not_as_written),
    on_messages(order.results_by_position),
    fitting.functions_only(NAME),
    fitting.some_tools,
    calls.described,
    _with_tools,
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A row, with the tools in its instruction."""
    turns = [_write_turn(turn) for turn in order.turns_of(transcript.messages)]
    if transcript.tools:
        first = transcript.messages[0] if transcript.messages else None
        is_system = first is not None and first.role == "system"
        if not is_system or first is None or not _same(_stated(first), transcript.tools):
            if not is_system:
                turns.insert(0, {"from": "system", "value": ""})
            natives = [calls.write_tool(tool, NAME, wrapped=True) for tool in transcript.tools]
            turns[0]["value"] = text.with_tools(turns[0]["value"], natives)
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    native["conversations"] = turns
    carried = {key: value for key, value in carried_by(transcript.extras, NAME).items() if key not in native}
    return ROW.put(native, carried, sort=True)


def _same(stated: list[ToolDefinition] | None, offered: list[ToolDefinition]) -> bool:
    return stated is not None and exact_json.exact(builtins(stated), builtins(offered))


def _write_turn(turn: list[Message]) -> Native:
    message = turn[0]
    if message.role == "tool":
        value = text.BREAK.join(_write_result(part) for one in turn for part in one.parts)
    elif message.role == "assistant":
        thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        value = write_thought(thought, text.write_answer(_pieces(message)))
    else:
        value = "".join(part.text for part in message.parts if isinstance(part, Text))
    return TURN.put({"from": TAGS[message.role], "value": value}, carried_by(message.extras, NAME))


def _pieces(message: Message) -> list[str | Native]:
    pieces: list[str | Native] = []
    for part in message.parts:
        if isinstance(part, Text):
            pieces.append(part.text)
        elif isinstance(part, ToolCall):
            pieces.append(calls.write_call(part, NAME))
    return pieces


def _write_result(part: Part) -> str:
    if not isinstance(part, ToolResult):
        return part.text if isinstance(part, Text) else ""
    body = RESULT.put({"name": part.name, "content": part.value}, carried_by(part.extras, NAME))
    return text.between("tool_response", body)


LACKS = (training.LACKS - {"id"}) | lacking.MEDIA | lacking.fields("opaque")


DIALECT = Dialect(
    name=NAME,
    title="Hermes rows",
    aliases=("hermes-function-calling", "nous-hermes"),
    specification="ShareGPT rows with the tags of Hermes, as ms-swift 4.6 takes them; read 2026-11-22",
    framings=("records", "document"),
    forms=("conversations",),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    rules=training.RULES,
    conventions=(RESULTS,),
    lacks=LACKS,
    reasons={
        "message": "a result answers a call of the turn before it",
        "message.role": "there is only one role for instructions",
        "moved": "a result stands behind its call, in the order of the calls",
        "text": "a turn holds one text before, between and behind its calls",
        "reasoning": "a turn has one thought, before its text",
        "tools": "the instruction names tools",
        **training.REASONS,
        **dict.fromkeys(lacking.MEDIA, "the turns hold text only"),
    },
    places={"id": ("id",), "tools": ("conversations", 0, "value")},
)
