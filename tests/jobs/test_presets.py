"""The presets of --at, as data."""

from __future__ import annotations

import pytest

from convcli.jobs.envelopes import patterns
from convcli.jobs.presets import PRESETS, call_of, is_log


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("observations", "3", "input"), (("observations", "3"), False)),
        (("observations", "3", "output"), (("observations", "3"), True)),
        (("request", "body"), ((), False)),
        (("response", "body"), ((), True)),
        (("data", "spans", "0", "attributes", "mlflow.spanOutputs"), (("data", "spans", "0", "attributes"), True)),
        (("traj",), None),
    ],
)
def test_a_value_belongs_to_the_request_or_the_answer_of_a_call(path: tuple[str, ...], expected: object) -> None:
    assert call_of(path) == expected


def test_every_pair_of_a_preset_belongs_to_one_call() -> None:
    for name, layout in PRESETS.items():
        for unit in layout.units if layout.answers else ():
            ends = [call_of(tuple(f"{unit}{end}".split("/")[1:])) for end in (*layout.requests.split(), layout.answers)]
            assert None not in ends, name


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (["langfuse"], True),
        (["otlp"], True),
        (["/request", "/response"], True),
        (["/log/request", "/log/response"], True),
        (["/body"], False),
        (["openai-batch"], False),
        (["tau-bench"], False),
        (["conversations"], False),
    ],
)
def test_a_log_is_known_by_its_pointers(named: list[str], expected: bool) -> None:
    assert is_log(tuple(patterns(named))) is expected
