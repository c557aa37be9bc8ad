"""Law L14: `validate FILE`, `--from D` and `--as D` give one verdict on a file in D."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.jobs.documents import Document
from convcli.jobs.judging import JudgingOptions, is_training_data, judged
from convcli.jobs.results import as_warning
from convcli.model.findings import Finding
from tests.support import acceptable_of, documents, names, sample_files

SEVERITIES = ("info", "warning", "error")
TRAINING = [name for name in names() if is_training_data(dialects.get(name))]


def verdict(value: Any, name: str, target: str | None = None) -> dict[str, int]:
    """The codes of the findings, each with its highest severity."""
    options = JudgingOptions(target=None if target is None else dialects.get(target))
    codes: dict[str, int] = {}
    for finding in judged(Document("", 0, value, b"", dialects.get(name)), options):
        codes[finding.code] = max(codes.get(finding.code, 0), SEVERITIES.index(finding.severity))
    return codes


@pytest.mark.parametrize("name", names())
def test_l14_as_never_finds_less_than_from(name: str) -> None:
    for sample in acceptable_of(name):
        kept, sent = verdict(sample.document, name), verdict(sample.document, name, name)
        assert all(sent.get(code, -1) >= severity for code, severity in kept.items()), (sample, kept, sent)


@pytest.mark.parametrize("name", TRAINING)
def test_l14_rows_for_a_trainer_get_one_verdict_whatever_is_asked(name: str) -> None:
    for path in (*sample_files(name), *sample_files(name, "bad")):
        for document in documents(path, dialects.get(name)):
            assert verdict(document, name) == verdict(document, name, name), path


def test_l14_a_row_that_looks_like_one_of_the_target_is_not_converted_before_it_is_judged() -> None:
    row = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "weight": 2}]}
    assert verdict(row, "openai-chat", "openai-ft") == verdict(row, "openai-ft") == {"bad-weight": 2}


def test_what_is_only_worth_knowing_is_no_warning_of_a_conversion() -> None:
    target = dialects.get("hf-chat")
    found = [as_warning(Finding("x", severity, "m"), target).severity for severity in SEVERITIES]  # type: ignore[arg-type]
    assert found == ["info", "warning", "warning"]
