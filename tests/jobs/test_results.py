"""What comes of each document of an input, and of what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convcli import dialects
from convcli.jobs import inputs
from convcli.jobs.results import AS_IT_IS, RowShape, item_results
from convcli.jobs.splitting import Splitting
from tests.cli_cases import CLEAN, OTHER, WRONG
from tests.support import SAMPLES

PARENT = "message.parentId"
"""A part begins a conversation, so its first message follows none."""


def test_each_document_and_stretch_has_a_result_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([json.dumps(CLEAN), "{]", json.dumps(WRONG), json.dumps(CLEAN), '{"messages": [']))
    with inputs.opened(str(path), OTHER) as source:
        results = list(item_results(source, dialects.get("anthropic")))
    assert [result.is_read for result in results] == [True, False, False, True, False]
    assert [result.is_refused for result in results] == [False, True, True, False, True]
    assert not any(result.is_torn for result in results)
    assert [result.document is not None for result in results] == [True, False, False, True, False]


def test_what_is_refused_is_there_as_it_stands_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([json.dumps(CLEAN), "{]", json.dumps(WRONG), ""]))
    with inputs.opened(str(path), OTHER) as source:
        refused = [result.refused for result in item_results(source, dialects.get("anthropic"))]
    assert [item.raw for item in refused if item is not None] == [b"{]", json.dumps(WRONG).encode()]


def test_a_torn_record_of_a_session_is_a_loss_and_a_warning_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    [first, *_] = (SAMPLES / "claude-code" / "twin-weather.jsonl").read_text("utf-8").splitlines()
    path.write_text(f'{first}\n{{"messages": [')
    with inputs.opened(str(path), "claude-code") as source:
        last, *_ = item_results(source, dialects.get("anthropic"))
    assert [(finding.code, finding.severity) for finding in last.findings] == [("torn-record", "warning")]
    assert [(loss.kind, loss.field, loss.line) for loss in last.losses] == [("dropped", "record", 2)]


@pytest.mark.parametrize("target", ["inspect-ai", "openai-chat"])
def test_the_head_of_a_log_with_samples_is_one_loss(target: str, tmp_path: Path) -> None:
    samples = [{"id": i, "epoch": 1, "input": "Hi", "messages": [{"role": "user", "content": "Hi"}]} for i in (1, 2)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}, "samples": samples}))
    with inputs.opened(str(path), "inspect-ai") as source:
        results = list(item_results(source, dialects.get(target)))
    heads = [loss for result in results for loss in result.losses if loss.field == "container"]
    assert [(loss.kind, loss.file, "version, eval" in loss.why) for loss in heads] == [("dropped", str(path), True)]


@pytest.mark.parametrize(
    "path", ["claude-code/session-branches.jsonl", "codex/session-compacted.jsonl", "antigravity/notes.jsonl"]
)
@pytest.mark.parametrize("target", ["openai-ft", "hf-chat"])
def test_the_parts_of_a_session_report_every_loss_of_each_line(path: str, target: str) -> None:
    def dropped(shape: RowShape) -> tuple[int, set[tuple[int, str, str]]]:
        with inputs.opened(str(SAMPLES / path), path.partition("/")[0]) as source:
            results = [each for each in item_results(source, dialects.get(target), shape=shape) if each.is_read]
        losses = [loss for each in results for loss in each.losses if loss.kind == "dropped"]
        return len(results), {(loss.line, loss.where, loss.field) for loss in losses if loss.field != PARENT}

    (whole, of_whole), (parts, of_parts) = dropped(AS_IT_IS), dropped(RowShape(splitting=Splitting(max_turns=1)))
    assert parts > whole
    assert of_whole <= of_parts
