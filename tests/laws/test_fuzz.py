"""Whatever the bytes are, the answer is a document or a ConvcliError; `fuzz_long.py` is the same for hours."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import pipeline
from convcli.validation import schemas
from convcli.wire import exact_json
from tests import fuzzing
from tests.support import names, samples_of

SAMPLED = [name for name in names() if samples_of(name)]
RANDOMS = st.integers(0, 2**32).map(Random)
few = settings(max_examples=20, suppress_health_check=list(HealthCheck))
"""Few, because each of them is converted to every form of every dialect."""


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
        fuzzing.use(fuzzing.Trial(dialects.get(name), document))


@pytest.mark.parametrize("name", SAMPLED)
@few
@given(random=RANDOMS)
def test_the_laws_and_the_way_back_hold_for_a_document_with_edits(name: str, random: Random) -> None:
    document = fuzzing.edited_document(random, dialects.get(name))
    if fuzzing.is_whole(document) and schemas.accepts(name, document):
        fuzzing.hold_laws(fuzzing.Trial(dialects.get(name), document), random.choice(fuzzing.written()))


@pytest.mark.parametrize("name", SAMPLED)
@few
@given(random=RANDOMS)
def test_spellings_that_somebody_edited_are_used_only_where_they_fit(name: str, random: Random) -> None:
    hostile = fuzzing.hostile_form(random, dialects.get(name))
    fuzzing.use(fuzzing.Trial(dialects.get("intermediate"), hostile))


def test_a_spelling_that_makes_a_key_of_a_number_is_not_used() -> None:
    form = {"gemini-cli": {"frame": [-1, "model", "parts"]}}
    document = {
        "convcli": 1,
        "messages": [{"role": "assistant", "parts": [{"type": "text", "text": "Hi."}], "extras": {"form": form}}],
        "extras": {"form": {"gemini-cli": {"form": "json", "key": "history"}}},
    }
    done = pipeline.convert(document, dialects.get("intermediate"), dialects.get("gemini-cli")).document
    assert exact_json.parse(exact_json.write(done)) == done
