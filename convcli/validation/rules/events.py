"""Rules for streams: they are complete, and their events come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.keys import has, shown
from convcli.validation.survey import Survey


def ended() -> Rule:
    """A stream ends as its service ends it. A break is reported at the last event, a failure at its error."""

    def check(survey: Survey) -> Iterator[Breach]:
        failed = [i for i, message in enumerate(survey.messages) if message.stop_reason == "error"]
        reported = [i for i in failed if survey.messages[i].error is not None]
        for i in reported:
            problem = "the answer failed here, before it was complete"
            yield Breach("failed-stream", NodeRef(i, field="message.error"), problem, "warning")
        if len(reported) < len(failed):
            last = NodeRef(steps=(len(survey.document) - 1,))
            problem = "the stream ends here, before its answer is complete"
            yield Breach("torn-stream", last, problem, help="the received part is kept; was the recording cut short?")

    codes = ("failed-stream", "torn-stream")
    return Rule(codes, check, of_input=codes)


def in_order(begin: Callable[[], Callable[[dict[str, Any]], str]]) -> Rule:
    """Events come in the order of their service.

    `begin` returns a checker for one stream: called with each event in turn, it returns an objection or "".
    """

    def check(survey: Survey) -> Iterator[Breach]:
        objection = begin()
        for at, event in enumerate(survey.document):
            problem = objection(event) if isinstance(event, dict) else ""
            if problem:
                help_text = "the received events are kept; were some lost, duplicated, or mixed with another stream?"
                yield Breach("stream-out-of-order", NodeRef(steps=(at,)), problem, "warning", help=help_text)

    return Rule(("stream-out-of-order",), check, of_input=("stream-out-of-order",))


def complete(first: str, last: str = "", usage: str = "") -> Rule:
    """The first and the last event have these keys, and so has the last one with `usage`, written as in
    `keys.complete`."""
    keys = {"first event": first.split(), "last event": last.split(), "event with usage": usage.split()}

    def check(survey: Survey) -> Iterator[Breach]:
        events = [event for event in survey.document if isinstance(event, dict)] or [{}]
        ends = {"first event": events[0], "last event": events[-1]}
        if usage:
            ends["event with usage"] = next((event for event in reversed(events) if event.get("usage")), {})
        missing = {end: [shown(key) for key in keys[end] if not has(event, key)] for end, event in ends.items()}
        if any(missing.values()):
            required = [f"the {end} must have {' and '.join(names)}" for end, names in missing.items() if names]
            problem = f"{', and '.join(required)}; {'this one does' if len(required) == 1 else 'these do'} not"
            yield Breach("incomplete-response", NodeRef(), problem, "warning")

    return Rule(("incomplete-response",), check)


def with_role(message_of: Callable[[Any], Any]) -> Rule:
    """An event that begins a message names its role.

    `message_of` returns the message that an event begins, if any. Without a role it is read as an assistant message:
    no other messages are streamed.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        for at, event in enumerate(survey.document):
            begun = message_of(event)
            if isinstance(begun, dict) and begun.get("role") is None:
                problem = "the message that begins here has no role: it is read as an assistant message"
                yield Breach("incomplete-response", NodeRef(steps=(at,)), problem, "warning")

    return Rule(("incomplete-response",), check, of_input=("incomplete-response",))
