"""Rules about what a row teaches, whatever its trainer."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey


def answered(*forms: str, severity: Severity = "error") -> Rule:
    """A row has a turn of the assistant, from which a model learns; of these forms, or of any."""

    def check(survey: Survey) -> Iterator[Breach]:
        is_asked = not forms or survey.form in forms
        if is_asked and all(message.role != "assistant" for message in survey.messages):
            yield Breach("nothing-to-train", NodeRef(), "there is no turn of the assistant", severity)

    return Rule(("nothing-to-train",), check)
