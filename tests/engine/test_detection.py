"""Detection: by marks of its own, total, and never by guess."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import detection
from convcli.model.document import Rows
from convcli.model.errors import ContentError
from tests import strategies
from tests.laws.test_mutants import containers, value_of
from tests.support import names, samples


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", "text", [], {}, [[]], [None], [{}], {"a": 1}])
def test_a_value_without_marks_is_in_no_dialect(value: Any) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(value)
    assert caught.value.code == "unknown-dialect"


SAID = {"role": "user", "content": [{"type": "text", "text": "Hi."}]}


@pytest.mark.parametrize(
    "value",
    [
        Rows([{"type": "session_start", "id": "s"}, {"type": "message", "id": "a", "parentId": "s", "message": SAID}]),
        [{"role": "user", "parts": [{"type": "text", "content": "Hi."}]}],
    ],
    ids=["a session of Droid", "messages of OpenTelemetry"],
)
def test_what_only_looks_like_a_dialect_is_in_none(value: Any) -> None:
    with pytest.raises(ContentError) as caught:
        detection.detect(value)
    assert caught.value.code == "unknown-dialect"


@given(value=strategies.values)
def test_detection_never_fails_on_any_value(value: Any) -> None:
    detection.candidates(value)
    detection.candidates(Rows([value], [1]))


@pytest.mark.parametrize("name", names())
@given(data=st.data())
def test_detection_never_fails_on_a_broken_document(name: str, data: st.DataObject) -> None:
    every = samples()
    document = copy.deepcopy(every[data.draw(st.integers(0, len(every) - 1))].document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(containers(document))
        parent = places[data.draw(st.integers(0, len(places) - 1))]
        keys: list[Any] = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        if keys:
            parent[keys[data.draw(st.integers(0, len(keys) - 1))]] = value_of(data.draw)
    dialects.get(name).detect(document)


def test_a_tie_is_an_error_that_names_the_candidates() -> None:
    strong = [dialects.get(name) for name in names()][:1] * 2
    marked = next(sample.document for sample in samples() if sample.dialect == strong[0].name)
    with pytest.raises(ContentError) as caught:
        detection.detect(marked, strong)
    assert caught.value.code == "ambiguous-dialect"
    assert strong[0].name in caught.value.message
