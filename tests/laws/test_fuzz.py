"""Whatever the bytes are, the answer is a document or a ConvcliError; `fuzz_long.py` is the same for hours."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convcli import dialects, testing
from convcli.engine import pipeline
from convcli.model.dialect import Dialect
from convcli.validation import schemas
from convcli.wire import exact_json
from tests import fuzzing, tiers
from tests.support import names, samples_of

SAMPLED = [name for name in names() if samples_of(name)]
HUB, CHAT = dialects.get("intermediate"), dialects.get("openai-chat")
RANDOMS = st.integers(0, 2**32).map(Random)
few = settings(tiers.examples(20), suppress_health_check=list(HealthCheck))
"""Few, because each of them is converted to every form of every dialect that the tier has."""


def targets_of(source: str) -> list[Dialect]:
    return [dialects.get(name) for name in tiers.targets_of(source)]


@few
@given(data=st.binary(max_size=200))
def test_any_bytes_get_an_answer(data: bytes, tmp_path: Path) -> None:
    fuzzing.read_in_every_way(data, tmp_path / "input")


@few
@given(random=RANDOMS)
def test_the_bytes_of_a_sample_with_edits_get_an_answer(random: Random, tmp_path: Path) -> None:
    for _ in range(5):
        fuzzing.read_in_every_way(fuzzing.edited_bytes(random), tmp_path / "input")


@pytest.mark.parametrize("name", SAMPLED)
@few
@given(random=RANDOMS)
def test_a_document_with_edits_that_its_schema_allows_goes_to_every_dialect(name: str, random: Random) -> None:
    document = fuzzing.edited_document(random, dialects.get(name))
    if fuzzing.is_whole(document) and schemas.accepts(name, document):
        fuzzing.use(fuzzing.Trial(dialects.get(name), document), targets_of(name))


@pytest.mark.parametrize("name", SAMPLED)
@few
@given(random=RANDOMS)
def test_the_laws_and_the_way_back_hold_for_a_document_with_edits(name: str, random: Random) -> None:
    document = fuzzing.edited_document(random, dialects.get(name))
    if fuzzing.is_whole(document) and schemas.accepts(name, document):
        fuzzing.hold_laws(fuzzing.Trial(dialects.get(name), document), random.choice(fuzzing.written()))


@pytest.mark.parametrize("name", [name for name in SAMPLED if dialects.get(name).is_written])
@few
@given(random=RANDOMS)
def test_a_form_that_somebody_edited_breaks_nothing_and_hides_no_loss(name: str, random: Random) -> None:
    hostile = fuzzing.hostile_form(random, dialects.get(name))
    fuzzing.use(fuzzing.Trial(HUB, hostile), targets_of(name))
    fuzzing.answered(lambda: testing.assert_conversion(HUB, dialects.get(name), hostile))
    fuzzing.answered(lambda: testing.assert_pure(HUB, dialects.get(name), hostile))


HI: dict[str, Any] = {"convcli": 1, "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hi."}]}]}
USUAL = pipeline.convert(HI, HUB, CHAT).document
"""What Chat Completions writes of it."""


def formed(*patch: Any, digest: str = exact_json.digest(USUAL)) -> dict[str, Any]:
    return {**HI, "form": {"dialect": CHAT.name, "digest": digest, "patch": list(patch)}}


def test_a_patch_is_applied_to_what_it_was_made_for() -> None:
    adds_null = {"op": "add", "path": "/n", "value": None}
    assert pipeline.convert(formed(adds_null), HUB, CHAT).document == {**USUAL, "n": None}
    assert pipeline.convert(formed(adds_null, digest="0" * 64), HUB, CHAT).document == USUAL


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/messages/0/role", "value": 7},
        {"op": "replace", "path": "", "value": []},
        {"op": "remove", "path": "/messages"},
        {"op": "remove", "path": "/nowhere"},
        {"op": "move", "from": "/messages/9", "path": "/messages/0"},
        {"op": "add", "path": "/messages/x", "value": {}},
    ],
)
def test_a_patch_that_leads_to_no_document_is_not_applied(operation: dict[str, Any]) -> None:
    assert pipeline.convert(formed(operation), HUB, CHAT).document == USUAL


def test_what_a_patch_changes_is_lost_and_told_or_the_patch_is_not_applied() -> None:
    other = {"op": "replace", "path": "/messages/0/content", "value": "Something else."}
    done = pipeline.convert(formed(other), HUB, CHAT)
    assert done.document == USUAL or [loss.field for loss in done.losses] == ["text.text"]
