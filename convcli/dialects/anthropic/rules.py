"""What the Messages API rejects although its schema allows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from convcli.families.anthropic.response import IDS, NAMES
from convcli.kit.objects import get_extras
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Opaque, Reasoning, ToolCall
from convcli.validation.rules import keys, links, models, names, tools, turns
from convcli.validation.survey import Survey, for_outputs, for_requests

NAME = "anthropic"
MAX_CACHE_MARKS = 4
MOST_MESSAGES = 100_000


def _marks(survey: Survey) -> Iterator[NodeRef]:
    for i, tool in enumerate(survey.tools):
        if _is_marked(tool.extras):
            yield NodeRef(tool=i)
    yield from (NodeRef(i, k) for i, k, part in survey.carrying if _is_marked(part.extras))


def _is_marked(extras: Any) -> bool:
    return extras is not None and bool(get_extras(extras, NAME).get("cache_control"))


def _few_marks(survey: Survey) -> Iterator[Breach]:
    marks = list(_marks(survey))
    if len(marks) > MAX_CACHE_MARKS:
        problem = f"{len(marks)} cache_control marks: Anthropic allows {MAX_CACHE_MARKS}"
        yield Breach("too-many-cache-marks", marks[MAX_CACHE_MARKS], problem)


def _failures_with_content(survey: Survey) -> Iterator[Breach]:
    for i, k, result in survey.parts["tool_result"]:
        if (result.kind == "error" or result.is_error) and not result.value and result.kind != "data":
            problem = "a failed result must have content"
            yield Breach("error-without-content", NodeRef(i, k, field="tool_result.value"), problem)


def _system_between(survey: Survey) -> Iterator[Breach]:
    """Reports instructions between messages that do not follow a user message and precede an answer or the end."""
    first, *others = survey.roles or [""]
    if "system" not in others and "developer" not in others and (not first or not _role(survey, 0)):
        return
    roles = [(turn[0], _role(survey, turn[0])) for turn in survey.turns()]
    for at, (i, role) in enumerate(roles):
        if role != "system":
            continue
        before = roles[at - 1][1] if at else ""
        after = roles[at + 1][1] if at + 1 < len(roles) else "assistant"
        if before != "user" or after != "assistant":
            message = "a system message must be between a user message and its answer"
            yield Breach("misplaced-system", NodeRef(i), message, help="put other instructions in the key `system`")
        elif survey.purpose == "request":
            yield Breach(
                "misplaced-system", NodeRef(i), "older models accept no system message in mid-conversation", "warning"
            )


def _role(survey: Survey, i: int) -> str:
    """Returns the role in the API; empty for the top-level system text."""
    role = survey.roles[i]
    if role in turns.INSTRUCTIONS:
        return "" if survey.message_paths[i] == ("system",) else "system"
    return "user" if role == "tool" else role


def _is_enabled(survey: Survey) -> bool:
    """True if thinking is enabled with a budget."""
    budget: int = (survey.transcript.settings or {}).get("reasoningBudget", 0)
    return budget > 0


def _thinks_before_calls(survey: Survey) -> Iterator[Breach]:
    """Reports a last tool-calling message that does not begin with thinking although thinking is enabled."""
    line = survey.active_indexes if _is_enabled(survey) else []
    if not line or survey.roles[line[-1]] != "tool":
        return
    asked = [i for i in line if survey.roles[i] == "assistant"]
    if asked and not isinstance(next(iter(survey.messages[asked[-1]].parts), None), Reasoning):
        problem = "thinking is enabled, but the tool-calling message does not begin with thinking"
        yield Breach("missing-thinking", NodeRef(asked[-1]), problem)


def _forces_no_thought(survey: Survey) -> Iterator[Breach]:
    choice = survey.transcript.tool_choice
    if _is_enabled(survey) and (choice == "required" or isinstance(choice, dict)):
        problem = "thinking is enabled, but the tool choice forces a call"
        yield Breach("thinking-with-forced-tool", NodeRef(field="toolChoice"), problem)


def _ends_well(survey: Survey) -> Iterable[Breach]:
    """Reports a last message that ends in thinking, or is not the user's. A model's message is a prefill."""
    last = survey.messages[survey.active_indexes[-1]] if survey.active_indexes else None
    if last is not None and last.parts and isinstance(last.parts[-1], Reasoning):
        at = NodeRef(survey.active_indexes[-1], len(last.parts) - 1)
        return [Breach("thinking-at-end", at, "the last message cannot end in thinking")]
    return LAST.check(survey)


def _calls_before_text(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        has_call = False
        for k, part in enumerate(survey.messages[i].parts):
            if has_call and part.type == "text":
                problem = "text after a call: some servers with this API reject it"
                yield Breach("text-after-call", NodeRef(i, k), problem, "warning")
            has_call = has_call or isinstance(part, ToolCall)


def _is_paused(message: Message) -> bool:
    """True if a message ends with a server tool. After `pause_turn` it is sent back, and the model continues."""
    last = message.parts[-1] if message.parts else None
    kind = last.value.get("type") if isinstance(last, Opaque) and isinstance(last.value, dict) else None
    return isinstance(kind, str) and kind.endswith(("_tool_use", "_tool_result"))


LAST = turns.ends_with_user("warning", goes_on=_is_paused)

FAILURES = ("tool_result.error", "tool_result.multimodal")
"""The kinds of results that can fail without content."""

RULES = (
    for_outputs(turns.some_message()),
    turns.begins_with_user(),
    turns.not_empty(("user",)),
    turns.not_blank(),
    turns.parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.results_in_roles("user"),
    turns.signed(),
    turns.decodable(),
    turns.not_more_than(MOST_MESSAGES),
    turns.stopped_for_calls(),
    models.of("Anthropic"),
    keys.complete("model max_tokens", "id model usage.input_tokens usage.output_tokens"),
    for_requests(Rule(("thinking-at-end", *LAST.codes), _ends_well, subjects=("assistant", "reasoning"))),
    links.paired(links.PairingRules(merged=True, unique="request")),
    names.of_tools(NAMES),
    names.of_calls(IDS),
    tools.chosen(),
    tools.unique(),
    tools.schemas(tools.SchemaDemands(clean_root=True)),
    for_outputs(tools.declared("warning")),
    Rule(("too-many-cache-marks",), _few_marks, subjects=("extras", "tools")),
    Rule(("error-without-content",), _failures_with_content, subjects=FAILURES),
    Rule(("misplaced-system",), _system_between, of_sent=("misplaced-system",), subjects=turns.INSTRUCTIONS),
    Rule(("missing-thinking",), _thinks_before_calls, subjects=("settings",)),
    Rule(("thinking-with-forced-tool",), _forces_no_thought, subjects=("toolChoice",)),
    for_requests(Rule(("text-after-call",), _calls_before_text, subjects=("tool_call",))),
)
