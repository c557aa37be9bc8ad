"""Rules about streams: they are complete, and their events come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.keys import has
from convcli.validation.survey import Survey


def ended() -> Rule:
    """A stream ends as its service ends it; what broke off is kept, and told at its last event."""

    def check(survey: Survey) -> Iterator[Breach]:
        if any(message.stop_reason == "error" and message.error is None for message in survey.messages):
            last = NodeRef(steps=(len(survey.document) - 1,))
            problem = "the stream breaks off here, before its answer is complete"
            yield Breach("torn-stream", last, problem, help="what came is kept; was the recording cut short?")

    return Rule(("torn-stream",), check)


def in_order(out_of_order: Callable[[list[Any]], Iterable[tuple[int, str]]]) -> Rule:
    """Events come in the order of their service; `out_of_order` gives those that do not, each with what is wrong."""

    def check(survey: Survey) -> Iterator[Breach]:
        for at, problem in out_of_order(survey.document):
            help_text = "what came is kept; were events lost, doubled, or mixed with those of another stream?"
            yield Breach("stream-out-of-order", NodeRef(steps=(at,)), problem, "warning", help=help_text)

    return Rule(("stream-out-of-order",), check)


def introduced(*keys: str) -> Rule:
    """The first event has these keys; a dot leads into an object."""

    def check(survey: Survey) -> Iterator[Breach]:
        first = next((event for event in survey.document if isinstance(event, dict)), None)
        missing = [key for key in keys if first is None or not has(first, key)]
        if missing:
            problem = f"the first event has {' and '.join(missing)}; this one has not"
            yield Breach("incomplete-response", NodeRef(), problem, "warning")

    return Rule(("incomplete-response",), check)
