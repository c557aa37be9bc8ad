"""A loss or a finding belongs to the message at its place, or around it."""

from __future__ import annotations

from convcli import dialects
from convcli.model.findings import Finding
from convcli.proof.reasons import Loss
from convcli.report.page import Annotation
from convcli.report.page.marks import marks_of

CHAT = dialects.get("openai-chat")
DOCUMENT = {"model": "m", "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}


def test_places_in_and_at_a_message_are_its_own_and_others_those_of_the_whole() -> None:
    losses = [Loss("dropped", where, "name", "context", "no name") for where in ("/messages/1/name", "/model", "")]
    findings = [Finding("wrong-type", "error", "it is wrong", where="/messages/0")]
    assert marks_of(CHAT.lift(DOCUMENT), losses, findings) == {
        1: [Annotation("context", "dropped name: no name")],
        -1: [Annotation("context", "dropped name: no name")] * 2,
        0: [Annotation("error", "error[wrong-type] it is wrong")],
    }
