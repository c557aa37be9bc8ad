"""The history of ai-coding-agent-glassbox, a small coding agent: blocks like Anthropic's, results that name their tool.

Specification: docs/05-message-history.md, src/message_history.py and src/llm_clients of
https://github.com/acompany-develop/ai-coding-agent-glassbox at commit b0170fd (2026-02-04); read 2026-11-20.

Quirks
- The program keeps its history in memory only. In a file the blocks are objects. The list of messages is the document,
  or, as in the arguments of `chat`, a key next to `system` and `tools`.
- A result has a user message of its own and is a string. A failure begins with "Error: "; convcli does not interpret
  that prefix. `tool_name` is "unknown" if missing; the call then names the tool.
- With Llama an answer is one object, `{thought, tool_call}` or `{thought, response}`. Such a call has no id: it gets
  that of its result. The thought is reasoning. convcli writes blocks instead of this object.
- The overview in the documentation shows calls under `tool_calls`, next to the content: convcli reads that too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.histories.entries import Entries, system_apart
from convcli.families.histories.glassbox import ANSWER, FAILURE, MARKED, lift_answer, write_answer
from convcli.kit import fitting, passes, results
from convcli.kit.definitions import Definitions
from convcli.kit.fitting import bare_system, instruction_of
from convcli.kit.objects import Keys, Native, get_extras
from convcli.kit.pairing import UNKNOWN
from convcli.kit.results import ResultTexts
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, TOOLS, fields
from convcli.kit.values import paths
from convcli.model.branches import INSTRUCTIONS, active
from convcli.model.dialect import Dialect, Options
from convcli.model.rule import Breach, Rule
from convcli.model.transcript import (
    MEDIA_KINDS,
    Message,
    Opaque,
    Part,
    Path,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import links, tools
from convcli.validation.survey import Survey, for_requests

NAME = "message-history"

DOCUMENT = Keys("system tools messages")
DEFINITIONS = Definitions("name=name description=description input_schema=parameters", {"description": ""})
MESSAGE = Keys("role content tool_calls")
TEXT = Keys("type text")
USE = Keys("type id name input")
RESULT = Keys("type tool_use_id tool_name content")

RESULTS = ResultTexts(FAILURE)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a list of messages, or of an object with `messages`, `system` and `tools`."""
    entries = Entries(NAME, document)
    if isinstance(document, list):
        _lift_messages(document, (), entries)
        return entries.transcript()
    entries.system(document.get("system"), "system")
    _lift_messages(document["messages"], ("messages",), entries)
    transcript = entries.transcript(extras=entries.extras(DOCUMENT.extra(document)))
    if document.get("tools") is not None:
        transcript.tools = DEFINITIONS.lift_each(document["tools"], ("tools",), entries.context)
    return transcript


def _lift_messages(natives: list[Native], prefix: Path, entries: Entries) -> None:
    for i, native in enumerate(natives):
        parts, part_paths, inner = _lift_content(native.get("content"), entries)
        for j, call in enumerate(native.get("tool_calls") or ()):
            parts.append(_lift_use(call, entries))
            part_paths.append(("tool_calls", j))
        extra = {**(MESSAGE.extra(native) or {}), **({"content": inner} if inner else {})}
        entries.add(Message(native["role"], [], extras=entries.extras(extra)), parts, part_paths, (*prefix, i))


def _lift_content(content: Any, entries: Entries) -> tuple[list[Part], list[Path], Native | None]:
    """Returns the parts of the content, their paths, and the extras of an answer that is one object."""
    if isinstance(content, dict):
        parts, part_paths = lift_answer(content, entries)
        return parts, [("content", *path) for path in part_paths], ANSWER.extra(content)
    if isinstance(content, list):
        part_paths = [("content", j) for j in range(len(content))]
        return [_lift_block(block, entries) for block in content], part_paths, None
    return [Text(content)] if content else [], [("content",)] if content else [], None


def _lift_block(native: Native, entries: Entries) -> Part:
    kind = native["type"]
    if kind == "text":
        return Text(native["text"], extras=entries.extras(TEXT.extra(native)))
    if kind == "tool_use":
        return _lift_use(native, entries)
    if kind != "tool_result":
        return Opaque(NAME, native)
    name = None if native.get("tool_name") == UNKNOWN else native.get("tool_name")
    return entries.result(native.get("tool_use_id"), name, native["content"], RESULT.extra(native))


def _lift_use(native: Native, entries: Entries) -> ToolCall:
    return entries.call(native.get("id"), native["name"], native.get("input"), USE.extra(native))


# ---------------------------------------------------------------- fit

LIST = (
    fitting.keep_active_conversation,
    results.results_behind_calls,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    passes.on_results(RESULTS.fits),
    fitting.drop_other_opaque(NAME),
    fitting.keep_functions(NAME),
    fitting.add_parameters(),
)
FIT = {"list": LIST, "object": (*LIST, passes.on_messages(bare_system))}


def form_of(transcript: Transcript) -> str:
    """Returns "object" if there are tools or a system text, else "list"."""
    messages = active(transcript)
    needed = transcript.tools is not None or (bool(messages) and messages[0].role in INSTRUCTIONS)
    return "object" if needed else "list"


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a list of messages, or an object with `messages`, `system` and `tools`.

    A leading instruction that is only text becomes `system`.
    """
    messages = transcript.messages
    if options.form == "list":
        return [_write_message(message) for message in messages]
    system = instruction_of(messages)
    native = {
        "system": system or None,
        "tools": None if transcript.tools is None else [DEFINITIONS.write(tool, NAME) for tool in transcript.tools],
        "messages": [_write_message(message) for message in messages[1 if system else 0 :]],
    }
    return DOCUMENT.write(native, get_extras(transcript.extras, NAME))


def _write_message(message: Message) -> Native:
    """Returns a message: an answer is a list of blocks, a question a string if possible.

    An answer with extras of the one-object form is written in that form.
    """
    extra = dict(get_extras(message.extras, NAME))
    answer_extras = extra.pop("content", None)
    if isinstance(answer_extras, dict) or any(map(_needs_one_object, message.parts)):
        return MESSAGE.put({"role": message.role, **_write_answer(message.parts, answer_extras)}, extra)
    blocks = [block for part in message.parts if (block := _write_block(part)) is not None]
    bare = message.role != "assistant" and all(_is_bare(block) for block in blocks)
    content = "".join(block["text"] for block in blocks) if bare and len(blocks) < 2 else blocks
    role = "user" if message.role == "tool" else message.role
    return MESSAGE.put({"role": role, "content": content}, extra)


def _is_bare(block: Native) -> bool:
    return block.keys() == {"type", "text"} and block["type"] == "text" and bool(block["text"])


def _needs_one_object(part: Part) -> bool:
    """True for a call with extras that only the one-object form of an answer can store."""
    return isinstance(part, ToolCall) and not {"type", "id"}.isdisjoint(get_extras(part.extras, NAME))


def _write_answer(parts: list[Part], answer_extras: Any) -> Native:
    """Returns an answer as one object; calls after the first go to `tool_calls`."""
    calls = [part for part in parts if isinstance(part, ToolCall)][1:]
    answer = write_answer([part for part in parts if all(part is not call for call in calls)], NAME, answer_extras)
    return {"content": answer, **({"tool_calls": [_write_block(call) for call in calls]} if calls else {})}


def _write_block(part: Part) -> Native | None:
    """Returns one block; None for an unsupported part."""
    extra = get_extras(part.extras, NAME)
    if isinstance(part, Text):
        return TEXT.put({"type": "text", "text": part.text}, extra)
    if isinstance(part, ToolCall):
        return USE.put({"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}, extra)
    if isinstance(part, ToolResult):
        result = {"type": "tool_result", "tool_use_id": part.tool_call_id, "tool_name": part.name}
        return RESULT.put({**result, "content": part.value}, extra)
    return part.value if isinstance(part, Opaque) else None


def _find_data_results(survey: Survey) -> Iterator[Breach]:
    for answered in survey.results:
        if answered.result.kind == "data":
            yield Breach(
                "wrong-type",
                answered.at("tool_result.value"),
                "ai-coding-agent-glassbox requires a result to be a string",
            )


RULES = (
    system_apart(),
    for_requests(Rule(("wrong-type",), _find_data_results)),
    links.paired(links.PairingRules(where="later")),
    tools.unique(),
)

SUPPORTS = TEXTS | CALLS | OPAQUE | fields("tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="a message history",
    specification="docs/05-message-history.md and the code of ai-coding-agent-glassbox at b0170fd; read 2026-11-20",
    framings=("document", "records"),
    forms=("list", "object"),
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    rules=RULES,
    conventions=(RESULTS.convention(MARKED),),
    supports={"list": SUPPORTS - {"extras"}, "object": SUPPORTS | TOOLS},
    reasons={
        "message.role": "message histories have only one role for instructions",
        "text": "the system text of a message history is one string",
        "reasoning": "message histories have no block for thoughts",
        "refusal": "message histories have no block for a refusal: it is written as text",
        "tool.description": "a tool of a message history needs a description",
        "tool.parameters": "a tool of a message history needs an input_schema",
        "tool.strict": "tools of a message history have no strict mode",
        **dict.fromkeys(("toolChoice", "settings"), "message histories have no request settings"),
        **dict.fromkeys(("model", "message.model"), "message histories do not name the model"),
        **dict.fromkeys(MEDIA_KINDS, "message histories have text and calls only"),
        "tool_call.rawArguments": "the input of a call in a message history is an object",
        "tool_result.isError": "results in a message history have no field for an error",
    },
    places=paths(
        "tool_result.value=content tool_call.arguments=input tool_result.toolCallId=tool_use_id "
        "tool_result.name=tool_name tool.parameters=input_schema"
    ),
)
