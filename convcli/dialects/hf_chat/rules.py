"""What LLaMA-Factory wants of a row beside what templates want (`formatting: openai`, 0.9.5; read 2026-11-23)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

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


RULES = (for_outputs(Rule((*ORDER, "misplaced-part"), _for_llamafactory)),)
