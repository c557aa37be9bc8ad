"""Rules of LLaMA-Factory (`formatting: openai`, 0.9.5; read 2026-11-23), `datasets` and chat templates for a row."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from convcli.families.rows.training import ORDER, out_of_order
from convcli.kit.results import result_of
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Message, Reasoning, Text, ToolCall
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.pointers import members

DROPPED = "LLaMA-Factory drops this row; --to sharegpt writes one that it keeps"


def _for_llamafactory(survey: Survey) -> Iterable[Breach]:
    """Checks that turns alternate; LLaMA-Factory joins consecutive results into one turn, as text."""
    if not isinstance(survey.document.get("messages"), list):
        return
    runs = [list(run) for _, run in groupby(survey.active_indexes, lambda i: survey.messages[i].role)]
    turns = [i for run in runs for i in (run[:1] if survey.messages[run[0]].role == "tool" else run)]
    yield from out_of_order(survey, turns, DROPPED, "info")
    for i in (i for run in runs[:-1] for i in run):  # it ignores results at the end
        result = result_of(survey.messages[i])
        if result is not None and result.kind == "multimodal":
            problem = "LLaMA-Factory joins the results of a turn as text, and fails on a list of parts"
            yield Breach("misplaced-part", NodeRef(i), problem, "info")


def _for_datasets(survey: Survey) -> Iterable[Breach]:
    """Finds integers of more than 64 bits: `load_dataset` fails on a file with one (datasets 5.2.0)."""
    problem = "datasets supports 64-bit integers only, and fails on a file with a larger one"
    for i, k, call in survey.parts["tool_call"]:
        if _has_larger(call.arguments):
            yield Breach(
                "not-allowed", NodeRef(i, k, field="tool_call.arguments"), problem, "info", help=TEXT_COLUMN_HELP
            )
    for i, tool in enumerate(survey.tools):
        if _has_larger(tool.parameters):
            yield Breach("not-allowed", NodeRef(tool=i), problem, "info", help=TEXT_COLUMN_HELP)


TEXT_COLUMN_HELP = "use --text-columns or a table format to store it as text"


def _has_larger(value: Any) -> bool:
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, int) and not -_LIMIT <= node < _LIMIT:
            return True
        pending += members(node)
    return False


_LIMIT = 1 << 63


def are_several(message: Message) -> bool:
    """True for several texts without other visible parts, metadata or extras."""
    shown = [part for part in message.parts if not isinstance(part, (Reasoning, ToolCall))]
    return len(shown) > 1 and all(isinstance(one, Text) and one.extras is one.metadata is None for one in shown)


def _for_templates(survey: Survey) -> Iterable[Breach]:
    """Finds lists of texts: of the 72 templates of TRL 1.16, 15 fail on a list of texts, 15 print it as Python would,
    and 6 omit some or all texts (transformers 5.23; run 2026-11-23)."""
    for i, message in enumerate(survey.messages):
        if are_several(message):
            problem = "many chat templates accept only one text: they fail on a list of texts or omit it"
            yield Breach("misplaced-part", NodeRef(i), problem, "warning")


def _for_gpt_oss(survey: Survey) -> Iterable[Breach]:
    """Finds what the template of gpt-oss rejects or omits in rows with its key `thinking` (TRL 1.16, 2026-11-28)."""
    natives = [native if isinstance(native, dict) else {} for native in survey.natives]
    if not any(native.get("thinking") for native in natives):
        return
    for i, native in enumerate(natives):
        calls = native.get("tool_calls") or ()
        if calls and native.get("content") and native.get("thinking"):
            problem = "the template of gpt-oss fails on text and thinking in a message with calls"
            yield Breach("text-beside-calls", NodeRef(i), problem, "warning", help=HARMONY_HELP)
        if len(calls) > 1:
            problem = "the template of gpt-oss writes only the first call of a message"
            yield Breach("misplaced-part", NodeRef(i), problem, "warning", help=HARMONY_HELP)


HARMONY_HELP = "--to harmony writes all of it as text"

RULES = (
    for_outputs(Rule(("misplaced-part",), _for_templates)),
    for_outputs(Rule(("text-beside-calls", "misplaced-part"), _for_gpt_oss, subjects=("reasoning",))),
    for_outputs(Rule((*ORDER, "misplaced-part"), _for_llamafactory)),
    for_outputs(Rule(("not-allowed",), _for_datasets)),
)
