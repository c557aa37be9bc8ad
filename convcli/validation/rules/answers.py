"""Rules about responses: what their readers, the types of the vendors, cannot do without."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey


def complete(*keys: str) -> Rule:
    """A response has these keys; a dot leads into an object."""

    def check(survey: Survey) -> Iterator[Breach]:
        if survey.form != "response" or not isinstance(survey.document, dict):
            return
        missing = [key for key in keys if not has(survey.document, key)]
        if missing:
            problem = f"a response has {', '.join(missing)}; this one has not"
            yield Breach("incomplete-response", NodeRef(), problem, "warning")

    return Rule(("incomplete-response",), check)


def has(node: object, key: str) -> bool:
    """Is there a value under this key? A dot leads into an object."""
    for step in key.split("."):
        if not isinstance(node, dict) or node.get(step) is None:
            return False
        node = node[step]
    return True
