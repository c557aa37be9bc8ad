"""The laws of the architecture, over every dialect, every ordered pair and every sample, read from the directories."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given

from convcli import dialects
from convcli.engine import detection, pipeline, untrusted
from convcli.model.dialect import Options
from convcli.model.transcript import Opaque, ToolResult, Transcript
from convcli.proof.align import part_key
from convcli.proof.difference import difference
from convcli.proof.reasons import Loss
from convcli.validation import schemas
from convcli.validation.survey import Rigour
from convcli.wire.decimals import builtins
from tests import strategies
from tests.support import (
    Sample,
    acceptable,
    counted,
    documents,
    dumped,
    facts,
    names,
    plain,
    sample_files,
    samples,
    samples_of,
    untouched,
)

USUAL = Options()
WRITTEN = [name for name in names() if dialects.get(name).is_written]


@pytest.mark.parametrize("name", names())
def test_a_dialect_has_six_good_and_four_bad_samples_and_its_schema(name: str) -> None:
    assert name in schemas.names()
    assert len(sample_files(name)) >= 6
    assert len(sample_files(name, "bad")) >= 4


@pytest.mark.parametrize("sample", samples(), ids=str)
def test_a_good_sample_has_no_finding_and_is_recognised(sample: Sample) -> None:
    assert pipeline.validate(sample.document, dialects.get(sample.dialect)) == []
    assert detection.detect(sample.document).dialect == sample.dialect


@pytest.mark.parametrize("name", names())
def test_a_dialect_leaves_facts_only_under_its_own_name_unless_it_says_so(name: str) -> None:
    dialect = dialects.get(name)
    for sample in acceptable() if not dialect.carries_all else ():
        for record in untrusted.records(dialect.lift(sample.document)) if sample.dialect == name else ():
            owners = {record.dialect} if isinstance(record, Opaque) else set(record.extras or ())
            assert all(map(dialect.owns, owners)), sample


@pytest.mark.parametrize("sample", acceptable(), ids=str)
def test_l1_a_document_comes_back_unchanged(sample: Sample) -> None:
    dialect = dialects.get(sample.dialect)
    if not dialect.is_written:
        pytest.skip("only read")
    assert_identity(sample.dialect, sample.document)


@pytest.mark.parametrize("sample", acceptable(), ids=str)
def test_l1_a_document_comes_back_unchanged_from_the_intermediate_format(sample: Sample) -> None:
    dialect, hub = dialects.get(sample.dialect), dialects.get("intermediate")
    if not dialect.is_written:
        pytest.skip("only read")
    stored = hub.lower(dialect.lift(sample.document), USUAL)  # type: ignore[misc]
    assert schemas.findings("intermediate", stored) == []
    assert dumped(dialect.lower(hub.lift(stored), USUAL)) == dumped(sample.document)


@pytest.mark.parametrize("sample", [one for one in acceptable() if not dialects.get(one.dialect).carries_all], ids=str)
def test_a_document_of_a_vendor_carries_only_its_own_extras(sample: Sample) -> None:
    dialect = dialects.get(sample.dialect)
    owners = {owner for record in untrusted.records(dialect.lift(sample.document)) for owner in record.extras or ()}
    assert all(map(dialect.owns, owners)), owners


@pytest.mark.parametrize("target", WRITTEN)
@pytest.mark.parametrize("source", names())
def test_l2_to_l6_and_l8_hold_from_one_dialect_to_another(source: str, target: str) -> None:
    for sample in acceptable():
        if sample.dialect == source:
            assert_conversion(source, target, sample.document)


@pytest.mark.parametrize("name", WRITTEN)
@given(transcript=strategies.transcripts())
def test_the_laws_hold_for_any_transcript(name: str, transcript: Transcript) -> None:
    dialect = dialects.get(name)
    before = untouched(transcript)
    conversion = pipeline.lower(transcript, dialect)
    assert facts(transcript) == facts(before)
    assert schemas.findings(name, conversion.document) == []
    assert_losses_are_exact(transcript, dialect.lift(conversion.document), conversion.losses)
    assert_identity(name, conversion.document)
    assert_stable(name, conversion.document)


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


NO_TWIN = frozenset(
    name for name in names() if "transcript" not in dialects.get(name).title and not dialects.get(name).lower
)


@pytest.mark.parametrize(
    ("name", "path"), [(name, path) for name in names() for path in sample_files(name, "bad")], ids=str
)
def test_a_bad_sample_is_told_what_is_wrong(name: str, path: Any) -> None:
    told = path.with_name(path.name + ".told").read_text("utf-8").splitlines()
    dialect = dialects.get(name)
    rigour: Rigour = "sent" if path.name.startswith("sent-") else "document"
    found = [
        f"{finding.severity} {finding.code} {finding.where}".rstrip()
        for document in documents(path, dialect)
        for finding in pipeline.validate(document, dialect, rigour=rigour)
    ]
    assert found == told


# ---------------------------------------------------------------- what the laws say


def assert_identity(name: str, document: Any) -> None:
    dialect = dialects.get(name)
    given_document = untouched(document)
    transcript = dialect.lift(document)
    written = dialect.lower(transcript, USUAL)  # type: ignore[misc]
    assert dumped(written) == dumped(document)
    assert dumped(document) == dumped(given_document), "the input was changed"


def assert_stable(name: str, document: Any) -> None:
    """L4: an output converted to its own dialect again changes nothing and reports nothing."""
    again = pipeline.convert(document, dialects.get(name), dialects.get(name))
    assert dumped(again.document) == dumped(document)
    assert again.losses == []


def assert_conversion(source: str, target: str, document: Any) -> None:
    given_document = untouched(document)
    conversion = pipeline.convert(document, dialects.get(source), dialects.get(target))
    assert dumped(document) == dumped(given_document), "the input was changed"
    assert schemas.findings(target, conversion.document) == []
    after = dialects.get(target).lift(conversion.document)
    assert_losses_are_exact(conversion.transcript, after, conversion.losses)
    assert_stable(target, conversion.document)
    assert_order_is_kept(conversion.transcript, after, conversion.losses)


def assert_losses_are_exact(before: Transcript, after: Transcript, losses: list[Loss]) -> None:
    """L2 and L3, by counting: nothing vanishes or appears without a loss that holds it, and no loss is empty."""
    x, y = counted(facts(before)), counted(facts(after))
    conventions = {loss.before for loss in losses if loss.field == "tool_result.kind"}
    told_gone = counted([plain(loss.before) for loss in losses] + _values(before, conventions))
    told_come = counted([plain(loss.after) for loss in losses] + _values(after, KINDS if conventions else set()))
    hidden = _ids(before) | _ids(after)
    for leaf, count in (x - y).items():
        assert leaf in hidden or count <= told_gone[leaf], f"{leaf} vanished and no loss says so"
    for leaf, count in (y - x).items() if "multimodal" not in conventions else ():
        assert leaf in hidden or count <= told_come[leaf], f"{leaf} appeared and no loss says so"
    for loss in losses:
        assert (
            loss.kind in ("moved", "invented")
            or dumped(plain(loss.before)) != dumped(plain(loss.after))
            or (loss.before is msgspec.UNSET) != (loss.after is msgspec.UNSET)  # a key whose value is null
            or loss.field.startswith("extras")
        ), loss
    if dumped(facts(before)) == dumped(facts(after)) and not hidden:
        assert losses == []


KINDS = {"text", "data", "error", "multimodal"}


def _values(transcript: Transcript, kinds: set[Any]) -> list[Any]:
    """The values of results that a convention wrote in another way: the loss names the kind, not the value."""
    results = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]
    return [builtins(result.value) for result in results if result.kind in kinds]


def _ids(transcript: Transcript) -> set[str]:
    """Ids that a lift made up: they are not facts."""
    invented = transcript.origin.invented if transcript.origin else set()
    return {f'"{id_}"' for id_ in invented}


def assert_order_is_kept(before: Transcript, after: Transcript, losses: list[Loss]) -> None:
    """L6: what is on both sides stands in the same order, unless a loss says that it moved."""
    if any(loss.kind == "moved" for loss in losses):
        return
    place = {
        part_key(part): (j, at) for j, message in enumerate(after.messages) for at, part in enumerate(message.parts)
    }
    keys = Counter(part_key(part) for message in before.messages for part in message.parts)
    hidden = _ids(before) | _ids(after)
    unique = [key for key, count in keys.items() if count == 1 and key in place and f'"{key[1]}"' not in hidden]
    assert all(place[x] < place[y] for x, y in pairwise(unique))


@pytest.mark.parametrize("index", [0.0, -0.0, 7, 0])
def test_the_index_of_an_answer_is_kept_as_it_was_written(index: float) -> None:
    content = {"role": "model", "parts": [{"text": "Hi."}]}
    assert_identity("gemini", {"candidates": [{"content": content, "finishReason": "STOP", "index": index}]})
    message = {"role": "assistant", "content": "Hi."}
    assert_identity("openai-chat", {"choices": [{"index": index, "message": message, "finish_reason": "stop"}]})


def test_a_choice_among_no_tools_is_no_choice() -> None:
    document = {"convcli": 1, "messages": [], "toolChoice": {"names": []}}
    assert [finding.where for finding in schemas.findings("intermediate", document)] == ["/toolChoice/names"]


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_with_two_bodies_keeps_both(kind: str) -> None:
    bodies = {"function": {"name": "f", "arguments": "{}"}, "custom": {"name": "g", "input": "x"}}
    call = {"id": "a", "type": kind, **bodies}
    assert_identity("openai-chat", [{"role": "assistant", "content": None, "tool_calls": [call]}])
    swapped = {"id": "a", "type": kind, "custom": bodies["custom"], "function": bodies["function"]}
    assert_identity("openai-chat", [{"role": "assistant", "content": None, "tool_calls": [swapped]}])
    assert_conversion("openai-chat", "anthropic", [{"role": "assistant", "content": None, "tool_calls": [call]}])
