"""Rules about streams: they are complete, and their events come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.keys import has, shown
from convcli.validation.survey import Survey


def ended() -> Rule:
    """A stream ends as its service ends it; what broke off is kept, and told at its last event, a failure where it is
    told."""

    def check(survey: Survey) -> Iterator[Breach]:
        failed = [i for i, message in enumerate(survey.messages) if message.stop_reason == "error"]
        told = [i for i in failed if survey.messages[i].error is not None]
        for i in told:
            problem = "the answer failed here, before it was complete"
            yield Breach("failed-stream", NodeRef(i, field="message.error"), problem, "warning")
        if len(told) < len(failed):
            last = NodeRef(steps=(len(survey.document) - 1,))
            problem = "the stream breaks off here, before its answer is complete"
            yield Breach("torn-stream", last, problem, help="what came is kept; was the recording cut short?")

    codes = ("failed-stream", "torn-stream")
    return Rule(codes, check, of_input=codes)


def in_order(begin: Callable[[], Callable[[dict[str, Any]], str]]) -> Rule:
    """Events come in the order of their service. `begin` gives for one stream a function that is asked about one event
    after the other, and says why it cannot come now: nothing if it can."""

    def check(survey: Survey) -> Iterator[Breach]:
        objection = begin()
        for at, event in enumerate(survey.document):
            problem = objection(event) if isinstance(event, dict) else ""
            if problem:
                help_text = "what came is kept; were events lost, doubled, or mixed with those of another stream?"
                yield Breach("stream-out-of-order", NodeRef(steps=(at,)), problem, "warning", help=help_text)

    return Rule(("stream-out-of-order",), check, of_input=("stream-out-of-order",))


def complete(first: str, last: str = "") -> Rule:
    """The first event has these keys, and so has the last one, each written as in `keys.complete`."""
    keys = {"first": first.split(), "last": last.split()}

    def check(survey: Survey) -> Iterator[Breach]:
        events = [event for event in survey.document if isinstance(event, dict)] or [{}]
        ends = {"first": events[0], "last": events[-1]}
        missing = {end: [shown(key) for key in keys[end] if not has(ends[end], key)] for end in ends}
        if any(missing.values()):
            told = [f"the {end} event has {' and '.join(names)}" for end, names in missing.items() if names]
            problem = f"{', and '.join(told)}; {'this one has' if len(told) == 1 else 'these have'} not"
            yield Breach("incomplete-response", NodeRef(), problem, "warning")

    return Rule(("incomplete-response",), check)


def with_role(message_of: Callable[[Any], Any]) -> Rule:
    """What begins a message says whose it is; `message_of` gives what an event begins, if it does. Without a role it is
    read as the assistant's: no other message comes as a stream."""

    def check(survey: Survey) -> Iterator[Breach]:
        for at, event in enumerate(survey.document):
            begun = message_of(event)
            if isinstance(begun, dict) and begun.get("role") is None:
                problem = "the message that begins here has no role: it is read as one of the assistant"
                yield Breach("incomplete-response", NodeRef(steps=(at,)), problem, "warning")

    return Rule(("incomplete-response",), check, of_input=("incomplete-response",))
