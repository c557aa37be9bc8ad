"""The laws of the architecture, over every dialect, every ordered pair and every sample, read from the directories.

In the usual tier each dialect has a few targets (`tests/tiers.py`).
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

import pytest

from convcli import dialects, testing
from convcli.engine import detection, pipeline, untrusted
from convcli.model.rule import Purpose
from convcli.model.transcript import Opaque, Path, Transcript
from convcli.proof.difference import difference
from convcli.validation import schemas
from convcli.wire.pointers import pointer
from tests import strategies, tiers
from tests.laws.test_verdict import assert_warns_of_output
from tests.planting import at
from tests.proof.test_places import assert_losses_are_in
from tests.support import (
    WITH_WARNINGS,
    Sample,
    about,
    acceptable_of,
    documents,
    dumped,
    empty,
    facts,
    names,
    sample_files,
    samples_of,
    untouched,
)

WRITTEN = list(tiers.written())
CHAT, GEMINI = dialects.get("openai-chat"), dialects.get("gemini")


@pytest.mark.parametrize("name", names())
def test_a_dialect_has_six_good_and_four_bad_samples_and_its_schema(name: str) -> None:
    assert name in schemas.names()
    assert len(sample_files(name)) >= 6
    assert len(sample_files(name, "bad")) >= 4


@pytest.mark.parametrize("name", names())
def test_a_good_sample_has_no_finding_and_is_recognised(name: str) -> None:
    for sample in samples_of(name):
        allowed = {WITH_WARNINGS.get(str(sample))}
        with about(sample):
            assert {finding.code for finding in pipeline.validate(sample.document, dialects.get(name))} <= allowed
            assert detection.detect(sample.document).dialect == name


@pytest.mark.parametrize("name", names())
def test_a_dialect_leaves_facts_only_under_its_own_name_unless_it_says_so(name: str) -> None:
    dialect = dialects.get(name)
    for sample in acceptable_of(name) if not dialect.carries_all else ():
        for record in untrusted.records(dialect.lift(sample.document)):
            owners = {*(record.extras or ()), *([record.dialect] if isinstance(record, Opaque) else ())}
            assert all(map(dialect.owns, owners)), sample


@pytest.mark.parametrize("name", names())
def test_l1a_lift_keeps_what_is_planted_anywhere_in_a_document(name: str) -> None:
    for sample in tiers.few(acceptable_of(name)):
        with about(sample):
            testing.assert_keeps(dialects.get(name), sample.document)


@pytest.mark.parametrize("name", names())
def test_lift_takes_the_role_that_an_object_states(name: str) -> None:
    """Of a dialect that is only read no output shows it. Tool results and events have either role, and so have
    summaries, which replace messages."""
    for sample in samples_of(name):
        transcript = dialects.get(name).lift(sample.document)
        places = transcript.origin.places if transcript.origin is not None else []
        for message, (path, _) in zip(transcript.messages, places, strict=bool(places)):
            stated = role_at(sample.document, path)
            is_taken = message.role in (stated, "tool", "event") or message.replaces is not None
            assert stated is None or is_taken, f"{sample}: {message.role} at {pointer(path)}"


def role_at(document: Any, path: Path) -> str | None:
    """Returns the role of user or assistant of the object at a path, or of its message; None if it has neither."""
    try:
        node = at(document, path)
    except (LookupError, TypeError):  # a message of several events of a stream
        return None
    inner = node.get("message", node) if isinstance(node, dict) else None
    role = inner.get("role") if isinstance(inner, dict) else None
    return role if role in ("user", "assistant") else None


@pytest.mark.parametrize("name", WRITTEN)
def test_l1b_fit_leaves_alone_what_the_vendor_takes(name: str) -> None:
    for sample in acceptable_of(name):
        with about(sample):
            testing.assert_fits(dialects.get(name), sample.document)


@pytest.mark.parametrize("name", WRITTEN)
def test_l1c_write_writes_all_that_the_format_has_a_place_for(name: str) -> None:
    for source in sorted({name, *tiers.sources_of(name)}):
        for sample in acceptable_of(source):
            with about(sample):
                testing.assert_writes(dialects.get(name), dialects.get(source).lift(sample.document))


@pytest.mark.parametrize("name", WRITTEN)
def test_l1d_a_document_comes_back_from_its_dialect_and_from_the_intermediate_format(name: str) -> None:
    for sample in acceptable_of(name):
        with about(sample):
            testing.assert_same(dialects.get(name), sample.document)


@pytest.mark.parametrize(("source", "target"), tiers.pairs())
def test_l2_to_l6_and_l14_hold_from_one_dialect_to_another(source: str, target: str) -> None:
    """And losses point at what the source has. One conversion for all laws; the usual tier judges few outputs (L14)."""
    to, every = dialects.get(target), acceptable_of(source)
    judged = len(tiers.few(every))
    for number, sample in enumerate(every):
        with about(sample):
            conversion = testing.assert_conversion(dialects.get(source), to, sample.document)
            assert_losses_are_in(sample.document, conversion.losses)
            if number < judged:
                assert_warns_of_output(conversion, to)


@pytest.mark.parametrize("source", names())
def test_l8_every_document_is_read_without_a_change(source: str) -> None:
    for sample in acceptable_of(source):
        with about(sample):
            testing.assert_pure(dialects.get(source), dialects.get("intermediate"), sample.document)


@pytest.mark.parametrize("target", WRITTEN)
def test_l8_a_dialect_writes_each_transcript_alike_and_changes_none(target: str) -> None:
    for source in sorted({target, *tiers.sources_of(target)}):
        for sample in richest_of(source):
            with about(sample):
                testing.assert_pure(dialects.get(source), dialects.get(target), sample.document)


@cache
def richest_of(source: str) -> list[Sample]:
    """Returns the largest samples of a dialect, of which most is written."""
    return sorted(acceptable_of(source), key=lambda sample: len(dumped(sample.document)))[-3:]


@pytest.mark.parametrize("name", WRITTEN)
@strategies.with_any_transcript()
def test_the_laws_hold_for_any_transcript(name: str, transcript: Transcript) -> None:
    dialect = dialects.get(name)
    before = untouched(transcript)
    conversion = pipeline.lower(transcript, dialect)
    assert facts(transcript) == facts(before)
    assert schemas.findings(name, conversion.document) == []
    testing.assert_losses_are_exact(transcript, dialect.lift(conversion.document), conversion.losses)
    testing.assert_stable(dialect, conversion.document)
    testing.assert_writes(dialect, strategies.in_normal_form(transcript))


@pytest.mark.parametrize("name", names())
def test_l11_records_of_which_none_is_a_message_are_refused_whatever_dialect_is_named(name: str) -> None:
    assert empty()
    sources = sorted({name, *tiers.sources_of(name)})
    for sample in (*chain.from_iterable(map(acceptable_of, sources)), *empty()):
        if schemas.accepts(name, sample.document):
            testing.assert_refuses_nothing(dialects.get(name), sample.document)


@pytest.mark.parametrize(
    "name", [name for name in names() if any("twin-weather" in path.name for path in sample_files(name))]
)
def test_l9_the_twin_written_by_hand_is_what_convcli_writes(name: str) -> None:
    master = next(sample for sample in samples_of("intermediate") if sample.path.name.startswith("twin-weather"))
    twin = next(sample for sample in samples_of(name) if sample.path.name.startswith("twin-weather"))
    dialect = dialects.get(name)
    written = pipeline.convert(master.document, dialects.get("intermediate"), dialect)
    assert written.document == twin.document
    assert difference(dialect.lift(twin.document), dialect.lift(written.document)) == []


@pytest.mark.parametrize("name", names())
def test_every_dialect_has_the_twin(name: str) -> None:
    assert [path for path in sample_files(name) if path.name.startswith("twin-weather")] or name in NO_TWIN


NO_TWIN = frozenset(name for name in names() if name not in WRITTEN)


@pytest.mark.parametrize(
    ("name", "path"), [(name, path) for name in names() for path in sample_files(name, "bad")], ids=str
)
def test_a_bad_sample_is_told_what_is_wrong(name: str, path: Any) -> None:
    reported = path.with_name(path.name + ".findings").read_text("utf-8").splitlines()
    dialect = dialects.get(name)
    purpose: Purpose = "request" if path.name.startswith("sent-") else "document"
    found = [
        f"{finding.severity} {finding.code} {finding.where}".rstrip()
        for document in documents(path, dialect)
        for finding in pipeline.validate(document, dialect, purpose=purpose)
    ]
    assert found == reported


@pytest.mark.parametrize("index", [0.0, -0.0, 7, 0])
def test_the_index_of_an_answer_is_kept_as_it_was_written(index: float) -> None:
    content = {"role": "model", "parts": [{"text": "Hi."}]}
    testing.assert_same(GEMINI, {"candidates": [{"content": content, "finishReason": "STOP", "index": index}]})
    message = {"role": "assistant", "content": "Hi."}
    testing.assert_same(CHAT, {"choices": [{"index": index, "message": message, "finish_reason": "stop"}]})


def test_a_choice_among_no_tools_is_no_choice() -> None:
    document = {"convcli": 1, "messages": [], "toolChoice": {"names": []}}
    assert [finding.where for finding in schemas.findings("intermediate", document)] == ["/toolChoice/names"]


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_with_two_bodies_keeps_both(kind: str) -> None:
    bodies = {"function": {"name": "f", "arguments": "{}"}, "custom": {"name": "g", "input": "x"}}
    call = {"id": "a", "type": kind, **bodies}
    testing.assert_same(CHAT, [{"role": "assistant", "content": None, "tool_calls": [call]}])
    swapped = {"id": "a", "type": kind, "custom": bodies["custom"], "function": bodies["function"]}
    testing.assert_same(CHAT, [{"role": "assistant", "content": None, "tool_calls": [swapped]}])
    testing.assert_conversion(
        CHAT, dialects.get("anthropic"), [{"role": "assistant", "content": None, "tool_calls": [call]}]
    )
