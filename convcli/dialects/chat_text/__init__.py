"""Text of chat templates, as models read and write it: rows with the marks of a family of models.

Specification: the chat templates of TRL 1.16, and those that mistral_common 1.13.1 builds; for Kimi K2 and MiniMax M2
the published templates, for Llama 4 that in Axolotl 0.19, for DeepSeek V3.1 that in llama.cpp, with tools as in vLLM
(examples/tool_chat_template_deepseekv31.jinja), Ollama and the model card; read 2026-11-28.

Quirks
- Each form is one family, recognized by how the text begins. A table has its marks: the head of a turn, its end, the
  thought, the call and the result.
- Templates write tools in words of their own, with which `tools` of a family begins and ends. Text that is not exactly
  that stays text. ChatML has the words of Qwen, Llama 3 those of Llama 3.1. Gemma 1 to 3 and DeepSeek V3 have none.
- Mistral has a text for each version of its tokenizers; v3 to v15 are read. convcli writes v11: tools before the last
  user message.
- A text of DeepSeek V3.1 is known by `</think>` before its first answer, or by its tools; else it is read as one of V3.
- The form is the family that is written. Gemma 1 to 3 have no calls, results or instruction: an instruction is the
  beginning of the next user message, as their template has it.
- Marks of the family in a text would be read as such: convcli removes them.
- Only Kimi K2 and later versions of Mistral have ids of calls. Elsewhere results answer calls in order.
- A head without text asks for an answer, and is no message.
- Gemma 4 has its calls, their results and the answer in one turn, and a syntax of its own for values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.chat_text.definitions import keep_keywords_of_gemma
from convcli.dialects.chat_text.families import FAMILIES, Family, family_of
from convcli.dialects.chat_text.lifting import NAME, TEXT, lift
from convcli.dialects.chat_text.writing import text_in, write
from convcli.families.openai.calls import ROW_TEXTS
from convcli.families.rows import calls, order, training
from convcli.families.rows.media import joined_texts
from convcli.families.rows.thoughts import JOINT, one_thought, without
from convcli.kit import custom, fitting, results
from convcli.kit.definitions import described
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results, on_tools
from convcli.kit.supported import lacking
from convcli.model.dialect import Dialect, Evidence, Pass
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS, Message, Part, Reasoning, Text, ToolCall, ToolDefinition, ToolResult
from convcli.validation.rules import turns
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.patterns import pattern


def detect(document: Any) -> Evidence | None:
    """Detects a text that begins with the marks of a family: the table of families has them, and they are patterns of
    the reader."""
    text = document.get(TEXT) if isinstance(document, dict) else None
    name = family_of(text) if isinstance(text, str) else ""
    return Evidence(96, f"the text has the marks of {name}") if name else None


# ---------------------------------------------------------------- fit

MARK = pattern(r"<[^<>\s]+>|\[[A-Z_/]+\]|\]~b\]|\[e~\[|\]~!b\[|\[gMASK\]")


def _marks(family: Family) -> tuple[str, ...]:
    """Returns the marks of a family, longest first."""
    style = family.style
    texts = [style.start, *style.heads.values(), *style.ends.values(), *style.calls, *style.results, *style.thought]
    pairs = (family.call or (), family.result or (), family.thought, family.ends)
    marks = {mark for text in texts for mark in MARK.findall(text)} | {mark for pair in pairs for mark in pair if mark}
    return tuple(sorted(marks, key=len, reverse=True))


def _remove_marks(family: Family) -> Pass:
    """Returns a pass that removes marks from texts that would not be read back as they are."""
    marks = _marks(family)

    def bare(part: Part, text: str, message: Message) -> str:
        if not any(mark in text for mark in marks) or _is_read_back(family, part, message):
            return text
        before = None
        while before != text:
            before = text
            for mark in marks:
                text = without(mark, text)
        return text

    def fit(part: Part, message: Message) -> Part | None:
        if isinstance(part, (Text, Reasoning)):
            text = bare(part, part.text, message)
            part = part if text == part.text else replace(part, text=text)
            return part if text.strip() else None
        if isinstance(part, ToolResult) and isinstance(part.value, str):
            text = bare(part, part.value, message)
            return part if text == part.value else replace(part, value=text)
        return part

    return on_parts(fit, "text", "reasoning", "tool_result")


def _is_read_back(family: Family, part: Part, message: Message) -> bool:
    """True if a text has the same part after it is written alone, a result behind its call."""
    spoken = [Message("assistant" if message.role == "assistant" else "user", [part])]
    if isinstance(part, ToolResult):
        spoken = [Message("assistant", [ToolCall(part.tool_call_id, "f", {})]), Message("tool", [part])]
    again = lift({TEXT: text_in(family, spoken)}).messages
    parts = [one for each in again for one in each.parts if not isinstance(one, ToolCall)]
    return len(parts) == 1 and parts[0].type == part.type and _text(parts[0]) == _text(part)


def _as_gemma_has_it(tool: ToolDefinition) -> ToolDefinition:
    """Returns a tool with a schema that the syntax of Gemma 4 has."""
    parameters = keep_keywords_of_gemma(tool.parameters)
    return tool if parameters == tool.parameters else replace(tool, parameters=parameters)


def _is_tool_read_back(family: Family, tool: ToolDefinition) -> bool:
    """True if the family has a section for tools, and the tool is read as it is."""
    again = lift({TEXT: text_in(family, [HELLO], [tool])})
    return again.tools == [tool] and again.messages == [HELLO]


HELLO = Message("user", [Text("Hello.")])


def _text(part: Part) -> Any:
    return part.value if isinstance(part, ToolResult) else getattr(part, "text", None)


def _join_texts(message: Message) -> Message | None:
    """Puts an answer in the order of its text: one thought, one text, calls. Other messages have one text."""
    if message.role == "tool":
        return message
    parts = one_thought(message) if message.role == "assistant" else message.parts
    spoken = joined_texts([part for part in parts if not isinstance(part, ToolCall)], JOINT)
    parts = [*spoken, *(part for part in parts if isinstance(part, ToolCall))]
    return None if not parts else message if parts == message.parts else replace(message, parts=parts)


def _texts_alone(messages: list[Message]) -> list[Message]:
    """Splits texts and thoughts from calls, which are a whole answer in Llama's texts."""
    fitted: list[Message] = []
    for message in messages:
        written = order.calls_of(message)
        others = [part for part in message.parts if not isinstance(part, ToolCall)]
        if written and others:
            fitted += [replace(message, parts=others), Message("assistant", list[Part](written))]
        else:
            fitted.append(message)
    return fitted if len(fitted) > len(messages) else messages


def _instruction_in_question(messages: list[Message]) -> list[Message]:
    """Puts instructions at the beginning of the next user message."""
    fitted: list[Message] = []
    for message in messages:
        before = fitted[-1] if fitted else None
        if message.role == "user" and before is not None and before.role == "system":
            fitted[-1] = replace(message, parts=joined_texts([*before.parts, *message.parts], JOINT))
        else:
            fitted.append(message)
    return [replace(one, role="user") if one.role == "system" else one for one in fitted] if fitted else messages


def _one_instruction(messages: list[Message]) -> list[Message]:
    """Keeps an instruction at the beginning; others are the user's."""
    late = any(message.role == "system" for message in messages[1:])
    return [*messages[:1], *map(_as_user, messages[1:])] if late else messages


def _as_user(message: Message) -> Message:
    return replace(message, role="user") if message.role == "system" else message


MARKLESS = ("mistral", "gemma", "deepseek-3.1", "deepseek", "glm")
"""Families whose heads have no word for other roles."""


def _fit(name: str, family: Family) -> tuple[Pass, ...]:
    passes: list[Pass] = [
        fitting.keep_active_conversation,
        results.results_behind_calls,
        results.one_result_each,
        *([fitting.roles({"developer": "system"})] if name in MARKLESS else []),
        fitting.refusals_as_texts,
        fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
        on_parts(lambda part, _: None, "opaque", *MEDIA),
        on_results(results.one_value),
        results.apply_convention(ROW_TEXTS),
        custom.as_functions,
        calls.without_raw_arguments,
        fitting.keep_functions(NAME),
        fitting.drop_empty_tools,
        described,
        *([on_tools(_as_gemma_has_it)] if name == "gemma-4" else []),
        on_tools(lambda tool: tool if _is_tool_read_back(family, tool) else None),
    ]
    if name == "gemma":
        passes += [on_parts(lambda part, _: None, "tool_call", "tool_result", "reasoning")]
    passes += [_remove_marks(family), on_each_message(_join_texts), on_messages(order.results_by_position)]
    if name == "gemma":
        passes += [on_messages(_instruction_in_question)]
    if name.startswith("deepseek"):
        passes += [on_messages(_one_instruction)]
    if family.call is None:
        passes += [on_messages(_texts_alone)]
    return (*fused(*passes), fitting.settle_by_reading_back(lift, write, name))


def _supports(name: str, family: Family) -> frozenset[str]:
    """Returns the fields that the texts of a family have marks for."""
    marked = training.SUPPORTS | ({"tool_call.id"} if name == "mistral" else set())
    marked = marked if family.tools else lacking(marked, "tools tool")
    return lacking(marked, "reasoning tool_call tool_result") if name == "gemma" else marked


# ---------------------------------------------------------------- rules


UNREAD = ("wrong-format", "invalid-arguments")


def _find_unread(survey: Survey) -> Iterator[Breach]:
    if survey.messages and not family_of(survey.document[TEXT]):
        yield Breach(
            "wrong-format", NodeRef(steps=(TEXT,)), "the text does not begin with the marks of a chat template"
        )
    for call in survey.calls:
        if call.call.raw_arguments is not None:
            yield Breach("invalid-arguments", call.at(), "the arguments are not a JSON object")


REASONS: dict[str, str] = {
    **training.REASONS,
    "message": "in such texts a result answers a call of the turn before it, and no message is empty",
    "message.grouping": "the marks of the family state which texts, calls and results are one turn",
    "message.role": "the family has no mark for this role here",
    "message.name": "only the head of a user may have a name, which is one word",
    "moved": "the calls of a turn stand behind its text, and results behind their calls",
    "text": "a turn has one text without the family's marks",
    **dict.fromkeys(("reasoning", "reasoning.text"), "a turn has one thought without the family's marks"),
    "reasoning.metadata": "a thought is text only",
    "tools": "convcli knows no section for tools in this family, or their text would not be read back",
    "tool": "convcli knows no section for tools in this family, or their text would not be read back",
    "tool_call": "the family has no marks for calls",
    "tool_result": "the family has no marks for results",
    "tool_result.value": "a result is one text without the family's marks",
    "tool_result.kind": "a result is one text",
    "tool_result.name": "a result has the name of its call",
    "tool_call.id": "the family has no ids of calls, or counts them",
    "tool_result.toolCallId": "the family has no ids of calls, or counts them",
    "tool_call.arguments": "the family's syntax has no types, or cannot have this value",
    "tool_call.name": "the marks of the family end this name",
    **dict.fromkeys(MEDIA_KINDS, "such texts have no files"),
}
GEMMA_SCHEMA = "Gemma's syntax has few keywords of JSON Schema, and sorts the names of properties"

DIALECT = Dialect(
    name=NAME,
    title="Text of chat templates",
    aliases=("template-text", "chatml"),
    is_training=True,
    specification="templates of TRL 1.16, mistral_common 1.13.1, Axolotl 0.19, llama.cpp, vLLM; read 2026-11-28",
    framings=("records", "document"),
    forms=tuple(FAMILIES),
    detect=detect,
    lift=lift,
    fit={name: _fit(name, family) for name, family in FAMILIES.items()},
    write=write,
    rules=(Rule(UNREAD, _find_unread, of_input=UNREAD), for_outputs(turns.some_message())),
    conventions=(ROW_TEXTS,),
    supports={name: _supports(name, family) for name, family in FAMILIES.items()},
    reasons=REASONS,
    form_reasons={"gemma-4": {**REASONS, "tool.parameters": GEMMA_SCHEMA}},
)
