"""The history of ai-coding-agent-glassbox, a small coding agent: blocks as Anthropic's, results that name their tool.

Specification: docs/05-message-history.md, src/message_history.py and src/llm_clients of
https://github.com/acompany-develop/ai-coding-agent-glassbox at commit b0170fd (2026-02-04); read 2026-11-20.

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

from convcli.families.histories.entries import Entries, system_apart
from convcli.families.histories.glassbox import ANSWER, FAILURE, MARKED, lift_answer, write_answer
from convcli.kit import fitting, lacking, passes, results
from convcli.kit.fitting import bare_system, instruction_of
from convcli.kit.objects import Keys, Native, carried_by, objects_in
from convcli.kit.pairing import UNKNOWN
from convcli.kit.results import ResultTexts
from convcli.kit.values import paths
from convcli.model.branches import active
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.rule import Breach, Rule
from convcli.model.transcript import Message, Opaque, Part, Path, Text, ToolCall, ToolDefinition, ToolResult, Transcript
from convcli.validation.rules import arguments, links, tools
from convcli.validation.survey import Survey, for_requests

NAME = "message-history"

DOCUMENT = Keys("system tools messages")
TOOL = Keys("name description input_schema")
MESSAGE = Keys("role content tool_calls")
TEXT = Keys("type text")
USE = Keys("type id name input")
RESULT = Keys("type tool_use_id tool_name content")

RESULTS = ResultTexts(FAILURE)


def detect(document: Any) -> Clue | None:
    """By results that name their tool, by an answer that is one object, or by calls with an input beside content."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return None
    clues = [clue for clue in map(_mark, messages) if clue is not None]
    return max(clues, default=None)


def _mark(message: Native) -> Clue | None:
    content = message.get("content")
    items = objects_in(content)
    if any(item.get("type") == "tool_result" and "tool_name" in item for item in items):
        return Clue(97, "results with a tool_name")
    if isinstance(content, dict) and ("response" in content or isinstance(content.get("tool_call"), dict)):
        return Clue(97, "an answer that is one object")
    calls = message.get("tool_calls")
    if isinstance(calls, list) and any(isinstance(call, dict) and {"name", "input"} <= call.keys() for call in calls):
        return Clue(92, "calls with an input beside the content")
    return None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The transcript of a list of messages, alone or beside `system` and `tools`."""
    entries = Entries(NAME, document)
    if isinstance(document, list):
        _lift_messages(document, (), entries)
        return entries.transcript()
    entries.system(document.get("system"), "system")
    _lift_messages(document["messages"], ("messages",), entries)
    transcript = entries.transcript(extras=entries.extras(DOCUMENT.carried(document)))
    if document.get("tools") is not None:
        transcript.tools = [_lift_tool(tool, entries) for tool in document["tools"]]
        entries.context.origin.tools = [("tools", i) for i in range(len(transcript.tools))]
    return transcript


def _lift_tool(native: Native, entries: Entries) -> ToolDefinition:
    extras = entries.extras(TOOL.carried(native))
    return ToolDefinition(native["name"], native["description"] or None, native["input_schema"], extras=extras)


def _lift_messages(natives: list[Native], prefix: Path, entries: Entries) -> None:
    for i, native in enumerate(natives):
        parts, spots, inner = _lift_content(native.get("content"), entries)
        for j, call in enumerate(native.get("tool_calls") or ()):
            parts.append(_lift_use(call, entries))
            spots.append(("tool_calls", j))
        carried = {**(MESSAGE.carried(native) or {}), **({"content": inner} if inner else {})}
        entries.add(Message(native["role"], [], extras=entries.extras(carried)), parts, spots, (*prefix, i))


def _lift_content(content: Any, entries: Entries) -> tuple[list[Part], list[Path], Native | None]:
    """The parts of the content, where they stand, and what an answer that is one object says beside them."""
    if isinstance(content, dict):
        parts, spots = lift_answer(content, entries)
        return parts, [("content", *spot) for spot in spots], ANSWER.carried(content)
    if isinstance(content, list):
        spots = [("content", j) for j in range(len(content))]
        return [_lift_block(block, entries) for block in content], spots, None
    return [Text(content)] if content else [], [("content",)] if content else [], None


def _lift_block(native: Native, entries: Entries) -> Part:
    kind = native["type"]
    if kind == "text":
        return Text(native["text"], extras=entries.extras(TEXT.carried(native)))
    if kind == "tool_use":
        return _lift_use(native, entries)
    if kind != "tool_result":
        return Opaque(NAME, native)
    name = None if native.get("tool_name") == UNKNOWN else native.get("tool_name")
    return entries.result(native.get("tool_use_id"), name, native["content"], RESULT.carried(native))


def _lift_use(native: Native, entries: Entries) -> ToolCall:
    return entries.call(native.get("id"), native["name"], native.get("input"), USE.carried(native))


# ---------------------------------------------------------------- fit

LIST = (
    fitting.linear,
    results.results_behind_calls,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    passes.on_results(RESULTS.fits),
    fitting.only_own_opaque(NAME),
    fitting.functions_only(NAME),
    fitting.with_parameters(),
)
FIT = {"list": LIST, "object": (*LIST, passes.on_messages(bare_system))}


def form_of(transcript: Transcript) -> str:
    """A list, or an object where there are tools or a system text to go with it."""
    messages = active(transcript)
    needed = transcript.tools is not None or (bool(messages) and messages[0].role in ("system", "developer"))
    return "object" if needed else "list"


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A list of messages, alone or beside `system` and `tools`. A leading message that is only text is `system`."""
    messages = transcript.messages
    if options.form == "list":
        return [_write_message(message) for message in messages]
    system = instruction_of(messages)
    native = {
        "system": system or None,
        "tools": None if transcript.tools is None else [_write_tool(tool) for tool in transcript.tools],
        "messages": [_write_message(message) for message in messages[1 if system else 0 :]],
    }
    return DOCUMENT.write(native, carried_by(transcript.extras, NAME))


def _write_tool(tool: ToolDefinition) -> Native:
    """All three keys are required."""
    native = {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters or {}}
    return TOOL.put(native, carried_by(tool.extras, NAME))


def _write_message(message: Message) -> Native:
    """An answer is a list of blocks, a question a string where it can be; what an object carried is written in one."""
    carried = dict(carried_by(message.extras, NAME))
    inside = carried.pop("content", None)
    if isinstance(inside, dict) or any(map(_is_of_answer, message.parts)):
        return MESSAGE.put({"role": message.role, **_write_answer(message.parts, inside)}, carried)
    blocks = [block for part in message.parts if (block := _write_block(part)) is not None]
    bare = message.role != "assistant" and all(_is_bare(block) for block in blocks)
    content = "".join(block["text"] for block in blocks) if bare and len(blocks) < 2 else blocks
    role = "user" if message.role == "tool" else message.role
    return MESSAGE.put({"role": role, "content": content}, carried)


def _is_bare(block: Native) -> bool:
    return block.keys() == {"type", "text"} and block["type"] == "text" and bool(block["text"])


def _is_of_answer(part: Part) -> bool:
    """Has a call keys beside it that only the object of an answer has a place for?"""
    return isinstance(part, ToolCall) and not {"type", "id"}.isdisjoint(carried_by(part.extras, NAME))


def _write_answer(parts: list[Part], inside: Any) -> Native:
    """An answer as one object; of several calls those behind the first stand beside it."""
    calls = [part for part in parts if isinstance(part, ToolCall)][1:]
    answer = write_answer([part for part in parts if all(part is not call for call in calls)], NAME, inside)
    return {"content": answer, **({"tool_calls": [_write_block(call) for call in calls]} if calls else {})}


def _write_block(part: Part) -> Native | None:
    """One block; None for what the history has no block for."""
    carried = carried_by(part.extras, NAME)
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "text": part.text}, carried)
    if isinstance(part, ToolCall):
        return USE.put({"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}, carried)
    if isinstance(part, ToolResult):
        result = {"type": "tool_result", "tool_use_id": part.tool_call_id, "tool_name": part.name}
        return RESULT.put({**result, "content": part.value}, carried)
    return part.value if isinstance(part, Opaque) else None


def _results_are_texts(survey: Survey) -> Iterator[Breach]:
    for answered in survey.results:
        if answered.result.kind == "data":
            yield Breach("wrong-type", answered.at("tool_result.value"), "a result is a string")


RULES = (
    system_apart(),
    for_requests(Rule(("wrong-type",), _results_are_texts)),
    links.paired(links.PairingRules(where="later")),
    arguments.not_filled(),
    tools.unique(),
)

LACKS = (lacking.SESSION | lacking.REQUEST | lacking.MESSAGE | lacking.METADATA | lacking.MEDIA | lacking.CALL_ONLY) | (
    lacking.FUNCTION_ONLY | {"reasoning"}
)

DIALECT = Dialect(
    name=NAME,
    title="a message history",
    specification="docs/05-message-history.md and the code of ai-coding-agent-glassbox at b0170fd; read 2026-11-20",
    framings=("document", "records"),
    forms=("list", "object"),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    rules=RULES,
    conventions=(RESULTS.convention(MARKED),),
    lacks={"list": LACKS | lacking.TOOLS | {"extras.message-history"}, "object": LACKS},
    reasons={
        "message.role": "there is only one role for instructions",
        "text": "the system text is one string",
        "reasoning": "the history has no block for thinking",
        "refusal": "the history has no block for a refusal: it is written as text",
        "tool.description": "a tool needs a description",
        "tool.parameters": "a tool needs an input_schema",
        "tool.strict": "a tool has no strict mode",
        **dict.fromkeys(("toolChoice", "settings"), "the history holds no settings of a request"),
        "model": "the history does not name the model",
        **dict.fromkeys(lacking.MEDIA, "the history holds text and calls only"),
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.isError": "a result has no field for a failure",
    },
    places=paths(
        "tool_result.value=content tool_call.arguments=input tool_result.toolCallId=tool_use_id "
        "tool_result.name=tool_name tool.parameters=input_schema"
    ),
)
