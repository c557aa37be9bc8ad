"""What LLaMA-Factory wants of a row beside what templates want (`formatting: openai`, 0.9.5; read 2026-11-23)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from convcli.families.rows.training import ORDER, out_of_order
from convcli.kit.results import result_of
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey, for_outputs

LEFT_OUT = "LLaMA-Factory takes the row for empty"


def _for_llamafactory(survey: Survey) -> Iterable[Breach]:
    """Turns in strict order; results that follow one another are one turn, and are joined as texts."""
    if not isinstance(survey.document.get("messages"), list):
        return
    runs = [list(run) for _, run in groupby(survey.active_indexes, lambda i: survey.messages[i].role)]
    turns = [i for run in runs for i in (run[:1] if survey.messages[run[0]].role == "tool" else run)]
    yield from out_of_order(survey, turns, LEFT_OUT, "info")
    for i in (i for run in runs[:-1] for i in run):  # it does not look at results behind which nothing stands
        result = result_of(survey.messages[i])
        if result is not None and result.kind == "multimodal":
            problem = "LLaMA-Factory joins results of one turn as texts, and stops at a list of parts"
            yield Breach("misplaced-part", NodeRef(i), problem, "info")


def _for_datasets(survey: Survey) -> Iterable[Breach]:
    """Integers of 64 bits: `load_dataset` stops at a file with a larger one (datasets 5.2.0)."""
    problem = "datasets reads integers of 64 bits, and stops at a file with a larger one"
    for i, k, call in survey.parts["tool_call"]:
        if _has_larger(call.arguments):
            yield Breach("not-allowed", NodeRef(i, k, field="tool_call.arguments"), problem, "info", help=IN_TEXTS)
    for i, tool in enumerate(survey.tools):
        if _has_larger(tool.parameters):
            yield Breach("not-allowed", NodeRef(tool=i), problem, "info", help=IN_TEXTS)


IN_TEXTS = "--text-columns, or a table, keeps it as text"


def _has_larger(value: Any) -> bool:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, int) and not -_LIMIT <= node < _LIMIT:
            return True
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return False


_LIMIT = 1 << 63

RULES = (
    for_outputs(Rule((*ORDER, "misplaced-part"), _for_llamafactory)),
    for_outputs(Rule(("not-allowed",), _for_datasets)),
)
