"""Rules about rows, whatever their trainer: what they teach, and which result answers which call."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import links
from convcli.validation.survey import Survey, limited_to


def answered(*forms: str, severity: Severity = "error") -> Rule:
    """A row has a turn of the assistant, from which a model learns; of these forms, or of any."""

    def check(survey: Survey) -> Iterator[Breach]:
        is_asked = not forms or survey.form in forms
        if is_asked and all(message.role != "assistant" for message in survey.messages):
            yield Breach("nothing-to-train", NodeRef(), "there is no turn of the assistant", severity)

    return Rule(("nothing-to-train",), check)


def paired_in_order() -> Rule:
    """Every call has its result and every result its call, in rows without ids: no two can have one."""
    pairs = links.paired(links.PairingRules(severity="warning", missing="warning"))
    return limited_to(pairs, "orphan-tool-result", "missing-tool-result", "misplaced-tool-result")
