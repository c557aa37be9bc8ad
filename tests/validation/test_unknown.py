"""The finding on content that a dialect does not know."""

from __future__ import annotations

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.shapes.memo import PairConverter
from convcli.model.document import Rows

SENTENCE = "The user wants a short answer."
CHAT, OTHER = dialects.get("openai-chat"), dialects.get("anthropic")
MESSAGE = {"role": "user", "content": "Hi."}


def test_validation_warns_of_it_with_the_version_that_is_known() -> None:
    [finding] = pipeline.validate({"messages": [MESSAGE], "remark": SENTENCE}, CHAT)
    assert (finding.code, finding.severity, finding.where) == ("unknown-content", "warning", "/remark")
    assert finding.message == 'openai-chat does not know the key "remark" here; it holds content'
    assert CHAT.specification in finding.help


def test_strict_validation_makes_it_an_error_in_place_of_the_unknown_key() -> None:
    [finding] = pipeline.validate({"messages": [MESSAGE], "remark": SENTENCE}, CHAT, strict=True)
    assert (finding.code, finding.severity) == ("unknown-content", "error")


def test_a_conversion_warns_of_what_it_loses() -> None:
    document = {"messages": [MESSAGE], "remark": SENTENCE}
    findings = pipeline.convert(document, CHAT, OTHER).findings
    assert ("unknown-content", "/remark") in [(finding.code, finding.where) for finding in findings]


def test_a_conversion_into_its_own_dialect_keeps_it_and_reports_it() -> None:
    document = {"messages": [MESSAGE], "remark": SENTENCE}
    done = pipeline.convert(document, CHAT, CHAT)
    assert (done.document, done.losses) == (document, [])
    assert [finding.code for finding in done.findings] == ["unknown-content"]


def test_what_is_alike_in_many_messages_is_one_finding() -> None:
    messages = [{"role": "user", "content": "Hi.", "remark": SENTENCE} for _ in range(5)]
    [finding] = pipeline.validate({"messages": messages}, CHAT)
    assert (finding.where, finding.notes) == ("/messages/0/remark", ("4 more in this document",))


def test_documents_of_a_remembered_shape_are_judged_by_their_own_values() -> None:
    converter = PairConverter(CHAT, OTHER, pipeline.convert_in_full, budget=10_000)
    for i in range(60):
        text = SENTENCE if i % 2 else "0.2.17"
        document = {"messages": [{"role": "user", "content": f"Hello number {i}."}], "remark": text}
        made, expected = converter.convert(document), pipeline.convert_in_full(document, CHAT, OTHER)
        assert [loss.to_dict() for loss in made.losses] == [loss.to_dict() for loss in expected.losses]
        assert made.findings == expected.findings
    assert converter.made > 40, converter.failure


def test_a_row_of_a_known_type_that_is_not_read_is_not_called_unknown() -> None:
    rows = [
        {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "content": "Hi."}},
        {"type": "user", "uuid": "2", "sessionId": "s", "message": {"role": "user", "contents": "Where is the file?"}},
    ]
    messages = [finding.message for finding in pipeline.validate(Rows(rows), dialects.get("claude-code"))]
    assert messages == ['claude-code reads no message from this row of the type "user"']
