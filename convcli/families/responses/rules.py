"""What the Responses API never returns, in a document or a stream, although its schema allows it."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.turns import RESPONSE
from convcli.validation.survey import Survey


def _references(survey: Survey) -> Iterator[Breach]:
    for i, k, part in survey.parts["opaque"] if survey.form in (RESPONSE, "stream") else ():
        if isinstance(part.value, dict) and part.value.get("type") == "item_reference":
            problem = "only a request can refer to a stored item; a response must contain the item itself"
            yield Breach("misplaced-item", NodeRef(i, k), problem, "warning")


NO_REFERENCES = Rule(("misplaced-item",), _references)
