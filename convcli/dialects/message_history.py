"""The message history of a small coding agent: blocks as in the Messages API, results that name their tool.

Specification: docs/05-message-history.md, src/message_history.py and src/llm_clients of
acompany-develop/ai-coding-agent-glassbox at commit b0170fd (2026-02-04); read 2026-11-20.

Quirks
- The program keeps its history in memory only. In a file the blocks are objects; the list of messages stands alone or,
  as the arguments of `chat`, beside `system` and `tools`.
- A result stands in a user message of its own and holds a string; a failure is a text that begins with "Error: ", and
  nothing is read out of that. `tool_name` is "unknown" when nobody gave one: then the call names the tool.
- With Llama an answer is one object, `{thought, tool_call}` or `{thought, response}`. Such a call has no id: it takes
  that of its result. The thought is reasoning. Blocks are written, never this object.
- The overview of the document shows calls beside the content, under `tool_calls`: that is read too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.histories.entries import Answers, has_media, runs, silent, without
from convcli.families.histories.glassbox import ANSWER, lift_answer, lower_answer, said
from convcli.kit.fitting import is_foreign_builtin, results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import UNKNOWN, Pairing
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import (
    Message,
    Opaque,
    Origin,
    Part,
    Path,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links, tools

NAME = "message-history"

DOCUMENT = Keys("system tools messages")
TOOL = Keys("name description input_schema")
MESSAGE = Keys("role content tool_calls")
TEXT = Keys("type text")
USE = Keys("type id name input")
RESULT = Keys("type tool_use_id tool_name content")
INSTRUCTIONS = ("system", "developer")
NO_PARAMETERS: Native = {"type": "object", "properties": {}}


def detect(document: Any) -> Clue | None:
    """By results that name their tool, by an answer that is one object, or by calls with an input beside content."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    clues = [clue for clue in map(_mark, messages) if clue is not None]
    return max(clues, default=None)


def _mark(message: Native) -> Clue | None:
    content = message.get("content")
    items = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if any(item.get("type") == "tool_result" and "tool_name" in item for item in items):
        return Clue(97, "results with a tool_name")
    if isinstance(content, dict) and ("response" in content or isinstance(content.get("tool_call"), dict)):
        return Clue(97, "an answer that is one object")
    calls = message.get("tool_calls")
    if isinstance(calls, list) and any(isinstance(call, dict) and {"name", "input"} <= call.keys() for call in calls):
        return Clue(92, "calls with an input beside the content")
    return None


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a list of messages, alone or beside `system` and `tools`."""
    origin = Origin(NAME)
    reader = _Reader(document, origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(reader.messages(document, ()), origin=origin)
    carried, spelling = DOCUMENT.take(document)
    origin.document = {"form": "object", "object": spelling or {}}
    messages = reader.system(document.get("system")) + reader.messages(document["messages"], ("messages",))
    transcript = Transcript(messages, extras=extras_of(NAME, carried), origin=origin)
    if document.get("tools") is not None:
        transcript.tools = [_lift_tool(tool, origin) for tool in document["tools"]]
        origin.tools = [("tools", i) for i in range(len(transcript.tools))]
    return transcript


def lower(transcript: Transcript, options: Options) -> Any:
    """What the source was; else a list, or an object where there are tools or a system text to go with it."""
    spelling = transcript.document_spelling(NAME)
    writer = _Writer(transcript)
    messages = active(transcript) if writer.own else results_first(active(transcript))
    needed = transcript.tools is not None or (bool(messages) and messages[0].role in INSTRUCTIONS)
    form = options.form or spelling.get("form") or ("object" if needed else "list")
    if form == "list":
        return writer.messages(messages)
    same = spelling if spelling.get("form") == form else {}
    system, messages = writer.system(messages, bool(same))
    native: Native = {"system": system} if system is not None else {}
    if transcript.tools is not None:
        tools = [tool for tool in transcript.tools if not is_foreign_builtin(tool)]
        native["tools"] = [_lower_tool(tool, writer.spelling(tool)) for tool in tools]
    native["messages"] = writer.messages(messages)
    return DOCUMENT.put(native, carried_by(transcript.extras, NAME), same.get("object"))


def _lift_tool(native: Native, origin: Origin) -> ToolDefinition:
    carried, spelling = TOOL.take(native)
    description = native["description"] or None
    tool = ToolDefinition(native["name"], description, native["input_schema"], extras=extras_of(NAME, carried))
    origin.spell(tool, spelling or {})
    return tool


def _lower_tool(tool: ToolDefinition, spelling: Spelling) -> Native:
    """All three keys are required."""
    schema = NO_PARAMETERS if tool.parameters is None else tool.parameters
    native = {"name": tool.name, "description": tool.description or "", "input_schema": schema}
    return TOOL.put(native, carried_by(tool.extras, NAME), spelling)


# ---------------------------------------------------------------- lift


class _Reader:
    """What the lifts of one document share."""

    __slots__ = ("answers", "origin", "pairing")

    def __init__(self, document: Any, origin: Origin) -> None:
        self.pairing, self.origin = Pairing(document), origin
        self.answers = Answers(self.pairing)
        origin.invented = self.pairing.invented

    def system(self, text: str | None) -> list[Message]:
        """The system text of the document as a leading message."""
        if not text:
            return []
        message = Message("system", [Text(text)])
        self.origin.spell(message, {"beside": True})
        self.origin.places.append((("system",), [()]))
        return [message]

    def messages(self, natives: list[Native], prefix: Path) -> list[Message]:
        messages = [message for i, native in enumerate(natives) for message in self.message(native, (*prefix, i))]
        self.answers.adopt(messages)
        return messages

    def message(self, native: Native, place: Path) -> Iterator[Message]:
        """The message, or several where results stand among other blocks."""
        carried, spelling = MESSAGE.take(native)
        role = native["role"]
        parts, spots, form, odd = self._content(native)
        inner, usual = odd.pop("carried", None), _form(role, parts)
        for j, call in enumerate(native.get("tool_calls") or ()):
            parts.append(self._use(call, {"beside": True}))
            spots.append(("tool_calls", j))
        self.answers.pair()
        for at, run in enumerate(runs(parts)):
            is_result = bool(parts) and isinstance(parts[run.start], ToolResult)
            message = Message("tool" if is_result else role, parts[run])
            if at == 0:
                odd |= {**(spelling or {}), **({"content": form} if form != usual else {})}
                odd |= {"role": role} if is_result and role != "user" else {}
                message.extras = extras_of(NAME, {**(carried or {}), **({"content": inner} if inner else {})})
            self.origin.spell(message, odd if at == 0 else {"join": True})
            self.origin.places.append((place, spots[run]))
            yield message

    def _content(self, native: Native) -> tuple[list[Part], list[Path], str, Spelling]:
        """The parts of the content, where they stand, and what the content was."""
        content = native.get("content")
        if isinstance(content, dict):
            carried, spelling = ANSWER.take(content)
            parts, spots = lift_answer(content, NAME, self.pairing, self.origin)
            odd: Spelling = {"answer": spelling or {}, **({"carried": carried} if carried else {})}
            return parts, [("content", *spot) for spot in spots], "answer", odd
        if isinstance(content, list):
            return [self._block(block) for block in content], [("content", j) for j in range(len(content))], "list", {}
        return [Text(content)] if content else [], [("content",)] if content else [], "string", {}

    def _block(self, native: Native) -> Part:
        if native["type"] == "text":
            carried, spelling = TEXT.take(native)
            text = Text(native["text"], extras=extras_of(NAME, carried))
            self.origin.spell(text, spelling or {})
            return text
        if native["type"] == "tool_use":
            return self._use(native, {})
        return self._result(native) if native["type"] == "tool_result" else Opaque(NAME, native)

    def _use(self, native: Native, odd: Spelling) -> ToolCall:
        carried, spelling = USE.take(native)
        id_ = self.pairing.call(native.get("id") or None, native["name"])
        call = ToolCall(id_, native["name"], native.get("input") or {}, extras=extras_of(NAME, carried))
        missing = silent(native, "type", "id", *(() if "input" in native else ("input",)))
        self.origin.spell(call, {**(spelling or {}), **missing, **odd})
        return call

    def _result(self, native: Native) -> ToolResult:
        carried, spelling = RESULT.take(native)
        name = native.get("tool_name") or None
        odd: Spelling = {"name": UNKNOWN} if name == UNKNOWN else {}
        result = self.answers.add(native.get("tool_use_id") or None, None if odd else name, native["content"])
        result.extras = extras_of(NAME, carried)
        self.origin.spell(result, {**(spelling or {}), **silent(native, "tool_use_id", "tool_name"), **odd})
        return result


def _form(role: str, parts: list[Part]) -> str:
    """How the content of a message is written: an answer is a list of blocks, a question a string where it can be."""
    bare = not parts or (len(parts) == 1 and isinstance(parts[0], (Text, Refusal)))
    return "string" if bare and role != "assistant" else "list"


# ---------------------------------------------------------------- lower


class _Writer:
    """What the lowers of one transcript share. `own`: written as it was."""

    __slots__ = ("own", "spellings")

    def __init__(self, transcript: Transcript) -> None:
        self.own = transcript.origin is not None and transcript.origin.dialect == NAME
        self.spellings = transcript.spelling(NAME)

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def system(self, messages: list[Message], same: bool) -> tuple[str | None, list[Message]]:
        """The system text of the document, and the messages that remain."""
        first = messages[0] if messages and messages[0].role in INSTRUCTIONS else None
        if first is None or (same and not self.spelling(first).get("beside")):
            return None, messages
        return "\n\n".join(part.text for part in first.parts if isinstance(part, Text)) or None, messages[1:]

    def messages(self, messages: list[Message]) -> list[Native]:
        groups: list[list[Message]] = []
        for message in messages:
            if groups and self.spelling(message).get("join"):
                groups[-1].append(message)
            else:
                groups.append([message])
        return [self._message(group) for group in groups]

    def _message(self, group: list[Message]) -> Native:
        first = group[0]
        spelling = self.spelling(first)
        role = {"tool": "user", "developer": "system"}.get(first.role, first.role)
        parts = [part for message in group for part in message.parts]
        carried = dict(carried_by(first.extras, NAME))
        native: Native = {"role": spelling.get("role", role)}
        inside = [part for part in parts if not self.spelling(part).get("beside")]
        blocks = [(part, self._block(part)) for part in inside]
        form = spelling.get("content") or _form(role, [part for part, block in blocks if block is not None])
        if form == "answer":
            native["content"] = self._answer(inside, carried.pop("content", None), spelling["answer"])
        elif form == "string":
            native["content"] = "".join(part.text for part in inside if isinstance(part, (Text, Refusal)))
        else:
            native["content"] = [block for _, block in blocks if block is not None]
        if len(inside) < len(parts):
            native["tool_calls"] = [self._block(part) for part in parts if self.spelling(part).get("beside")]
        return MESSAGE.put(native, carried, spelling)

    def _answer(self, parts: list[Part], carried: Native | None, spelling: Spelling) -> Native:
        call = next((part for part in parts if isinstance(part, ToolCall)), None)
        return ANSWER.put(lower_answer(parts, NAME, self.spelling(call)), carried, spelling)

    def _block(self, part: Part) -> Native | None:
        """One block; None for what the history has no block for."""
        spelling = self.spelling(part)
        carried = carried_by(part.extras, NAME)
        if isinstance(part, (Text, Refusal)):
            return TEXT.put({"type": "text", "text": part.text}, carried, spelling)
        if isinstance(part, ToolCall):
            native = {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
            return USE.put(without(native, spelling), carried, spelling)
        if isinstance(part, ToolResult):
            name = spelling.get("name", part.name)
            native = {"type": "tool_result", "tool_use_id": part.tool_call_id, "tool_name": name}
            native["content"] = part.value if self.own and part.kind == "data" else said(part)
            return RESULT.put(without(native, spelling), carried, spelling)
        return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result comes back: as text."""
    return None if result.kind == "text" or has_media(result) else ("text", said(result))


RULES = (links.paired(links.Manner(where="later")), arguments.not_filled(), tools.unique())

DIALECT = Dialect(
    name=NAME,
    title="a message history",
    specification="docs/05-message-history.md and the code of ai-coding-agent-glassbox at b0170fd; read 2026-11-20",
    framings=("document", "records"),
    forms=("list", "object"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a result has no field for a failure: its text begins with "Error: "'),
                "data": ("changed", "a result is a string: the data is written as JSON"),
                "multimodal": ("changed", "a result is a string: its texts are joined"),
            },
        ),
    ),
    reasons={
        "message.role": "there is only one role for instructions",
        "text": "the system text is one string",
        "reasoning": "the history has no block for thinking",
        "refusal": "the history has no block for a refusal: it is written as text",
        "tool.description": "a tool needs a description",
        "tool.parameters": "a tool needs an input_schema",
        "tool.strict": "a tool has no strict mode",
        "toolChoice": "the history holds no settings of a request",
        "settings": "the history holds no settings of a request",
        "model": "the history does not name the model",
        "image": "the history holds text and calls only",
        "audio": "the history holds text and calls only",
        "video": "the history holds text and calls only",
        "document": "the history holds text and calls only",
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.isError": "a result has no field for a failure",
    },
    places={
        "tools": ("tools",),
        "message.role": ("role",),
        "text.text": ("text",),
        "tool_call.id": ("id",),
        "tool_call.name": ("name",),
        "tool_call.arguments": ("input",),
        "tool_result.value": ("content",),
        "tool_result.toolCallId": ("tool_use_id",),
        "tool_result.name": ("tool_name",),
        "tool.description": ("description",),
        "tool.parameters": ("input_schema",),
    },
)
