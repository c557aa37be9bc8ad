"""What an agent program stores in a session and does not send to the model is reported by conversions."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.engine import pipeline

CHAT = dialects.get("openai-chat")
MESSAGES = [
    {"role": "system", "content": "Answer in French."},
    {"role": "user", "content": "Hi."},
    {"role": "assistant", "content": "Salut."},
]
WITH_UNSENT = [
    dialect.name for dialect in dialects.builtin() if any("system" in program.unsent for program in dialect.programs)
]


@pytest.mark.parametrize("target", WITH_UNSENT)
def test_instructions_that_the_program_does_not_send_are_reported(target: str) -> None:
    conversion = pipeline.convert({"model": "m", "messages": MESSAGES}, CHAT, dialects.get(target))
    lost = {loss.field for loss in conversion.losses if loss.level == "content"}
    found = {(finding.code, finding.severity, finding.where) for finding in conversion.findings}
    assert ("not-sent", "info", "/messages/0") in found or lost & {"text", "message"}
    without = pipeline.convert({"model": "m", "messages": MESSAGES[1:]}, CHAT, dialects.get(target))
    assert "not-sent" not in {finding.code for finding in without.findings}


def test_in_the_program_s_own_sessions_it_is_no_finding() -> None:
    target = dialects.get("claude-code")
    session = pipeline.convert({"model": "m", "messages": MESSAGES}, CHAT, target).document
    assert "not-sent" not in {finding.code for finding in pipeline.validate(session, target)}
    assert pipeline.convert(session, target, target).findings == []
