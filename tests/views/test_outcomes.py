"""What is kept, encoded, changed and dropped, counted and as a picture; and which branches are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.jobs.summaries import label
from convcli.model.branches import branch
from convcli.model.dialect import Options
from convcli.proof.reasons import Loss
from convcli.report import picture
from convcli.report.text import Paint, cells, filled
from convcli.views.outcomes import OutcomeTable, fact_of, facts
from tests import tiers
from tests.cli_cases import LOSSY, OTHER, OWN, ROOT, run, write
from tests.support import Sample, about, names, samples, samples_of

WORKED = ROOT / "samples" / "anthropic" / "worked-example.json"
TREE = ROOT / "samples" / "openclaw" / "session-tree.jsonl"


def ledger_of(sample: Sample, target: str) -> tuple[OutcomeTable, pipeline.Conversion]:
    ledger, source, to = OutcomeTable(), dialects.get(sample.dialect), dialects.get(target)
    conversion = pipeline.convert(sample.document, source, to)
    ledger.add(conversion.transcript, conversion.losses, source, to, lambda pointer: (0, pointer))
    return ledger, conversion


@pytest.mark.parametrize("name", names())
def test_what_no_loss_names_is_kept_and_nothing_is_kept_that_a_loss_names_everywhere(name: str) -> None:
    for sample in samples_of(name):
        with about(sample):
            assert_counted(sample)


def assert_counted(sample: Sample) -> None:
    if dialects.get(sample.dialect).is_written:
        ledger, _ = ledger_of(sample, sample.dialect)
        assert not [row for row in ledger.facts if row.outcomes.total() != row.outcomes["kept"]]
        assert {*ledger.messages} <= {"kept"}
    ledger, conversion = ledger_of(sample, OTHER)
    said = facts(conversion.transcript, branches=not any(loss.field == "branch" for loss in conversion.losses))
    lost = {fact_of(loss.field) for loss in conversion.losses if loss.kind != "invented"}
    for row in ledger.facts:
        if row.name in said:
            assert row.outcomes.total() >= said[row.name]
            assert row.outcomes["kept"] < said[row.name] or row.name not in lost
    assert sum(group.count for group in ledger.groups) == len(conversion.losses)


def test_a_part_that_is_dropped_takes_its_fields_with_it_and_two_losses_of_one_fact_count_once() -> None:
    sample = next(sample for sample in samples() if sample.path == WORKED)
    ledger, _ = ledger_of(sample, OTHER)
    counts = {row.name: dict(row.outcomes) for row in ledger.facts}
    assert counts["reasoning"] == {"dropped": 1, "kept": 0}
    assert counts["text"] == {"kept": 3}
    assert counts["tool_result"] == {"encoded": 1, "kept": 1}
    assert ledger.messages == ["kept", "metadata", "dropped", "kept", "encoded", "kept"]


def test_the_summary_counts_what_is_kept_next_to_what_is_lost(tmp_path: Path) -> None:
    done = run("losses", write(tmp_path / "a.json", LOSSY), "--to", OTHER, "--summary", "--output-format", "json")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    assert {(row["kind"], row["field"], row["count"]) for row in rows} >= {
        ("changed", "tool_result.kind", 1),
        ("kept", "tool_call", 1),
        ("kept", "text", 1),
    }
    assert ("kept", "tool_result") not in {(row["kind"], row["field"]) for row in rows}
    assert done.returncode == 0


@pytest.mark.parametrize("width", [72, 80, 160])
def test_a_picture_fits_the_terminal_and_shows_places_numbers_and_reasons(width: int) -> None:
    sample = next(sample for sample in samples() if sample.path == WORKED)
    ledger, conversion = ledger_of(sample, OTHER)
    lines = "".join(picture.drawn(ledger, [str(WORKED.name)], dialects.get(OTHER), width, Paint())).splitlines()
    assert max(map(cells, lines)) <= width
    assert lines[1].split() == ["message", "0", "+.-+e+"]
    words = " ".join(" ".join(lines).split())
    for loss in conversion.losses:
        assert " ".join(loss.why.split()) in words
        assert loss.where in words


def test_a_strip_of_many_messages_shows_the_worst_of_each_few() -> None:
    outcomes: list[Any] = ["kept"] * 2_000
    outcomes[1_337] = "dropped"
    lines = list(picture.strip("message", outcomes, 80, Paint()))
    signs = "".join(line.split()[-1] for line in lines[:-1])
    assert (len(signs), signs.index("-")) == (500, 1_337 // 4)
    assert "the worst of each 4" in lines[-1]


def test_general_losses_are_listed_by_what_becomes_of_features() -> None:
    rows = [
        {"outcome": "lost", "feature": "top k", "field": "settings.topK", "why": "no top_k"},
        {"outcome": "kept", "feature": "text", "field": None, "why": None},
        {"outcome": "kept", "feature": "image", "field": None, "why": None},
    ]
    assert "".join(picture.general(rows, 80, Paint())).splitlines() == [
        "lost",
        "  top k",
        "    settings.topK: no top_k",
        "kept",
        "  text, image",
    ]


def test_different_fields_have_different_labels() -> None:
    fields = ["createdAt", "message.createdAt", "extras.openclaw.createdAt", "message.usage.inputTokens", "id"]
    labels = [label(Loss("dropped", "", field, "context", "")) for field in fields]
    assert labels == ["transcript createdAt", "createdAt", "openclaw.createdAt", "usage.inputTokens", "transcript id"]


# --- branches --------------------------------------------------------------------------------------------------------


def test_only_the_active_branch_is_written_on_demand_and_the_rest_is_reported(tmp_path: Path) -> None:
    losses = tmp_path / "losses.json"
    done = run("convert", TREE, "--to", "openclaw", "--branch", "active", "--losses", losses)
    kept = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    every = [json.loads(line)["id"] for line in TREE.read_text("utf-8").splitlines()]
    reported = [(loss.get("line"), loss["kind"], loss["field"]) for loss in json.loads(losses.read_bytes())]
    assert [name for name in every if name not in kept] == every[5:9]
    assert reported == [
        (None, "dropped", "head"),
        (6, "dropped", "branch"),
        (7, "dropped", "branch"),
        (8, "dropped", "branch"),
        (9, "dropped", "event"),
    ]
    assert run("convert", TREE, "--to", "openclaw", "--branch", "all").stdout.count(b"\n") == len(every)


@pytest.mark.parametrize("name", tiers.written())
def test_the_active_branch_is_all_that_any_dialect_then_has(name: str) -> None:
    target = dialects.get(name)
    for sample in (sample for source in tiers.sources_of(name) for sample in samples_of(source)):
        source = dialects.get(sample.dialect)
        transcript = source.lift(sample.document)
        if transcript.head is None:
            continue
        conversion = pipeline.lower(transcript, target, Options(branch="active"), source)
        again = pipeline.lift(conversion.document, target)
        apart = [message for message in transcript.messages if message not in branch(transcript)]
        assert branch(again) == again.messages
        assert sum(loss.field in ("branch", "event") for loss in conversion.losses) >= len(apart)


def test_a_transcript_without_branches_is_written_the_same_either_way(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    outputs = {run("convert", source, "--to", OWN, "--branch", which).stdout for which in ("active", "all")}
    assert len(outputs) == 1


def test_pieces_fill_lines_and_none_is_broken() -> None:
    pieces = ["a long piece of text", "short", "大阪 and 東京", "x" * 90, "end"]
    lines = filled(pieces, " · ", 40).splitlines()
    assert [cells(line) <= 40 or "x" * 90 in line for line in lines] == [True] * len(lines)
    assert [piece for line in lines for piece in line.strip().removesuffix(" ·").split(" · ")] == pieces
    assert filled(pieces, " · ", None) == " · ".join(pieces)
