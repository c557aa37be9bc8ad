"""Counts of losses, which stay small however many names the users of a file have for their keys."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from convcli.jobs import workers
from convcli.jobs.summaries import MOST_GROUPS, OTHER, Summary
from convcli.proof.reasons import Loss
from tests.cli_cases import OTHER as SOURCE
from tests.cli_cases import command_in_processes, environment
from tests.support import SAMPLES


def run(*words: object) -> str:
    """Returns what the program reports of a finished job."""
    done = subprocess.run(command_in_processes(*words), capture_output=True, text=True, env=environment())
    assert done.returncode == 0
    return done.stderr


def lost(field: str, times: int = 1) -> list[Loss]:
    """Losses of a field."""
    return [Loss("dropped", "/x", field, "context", "why") for _ in range(times)]


def test_groups_beyond_the_limit_are_counted_together_and_exactly() -> None:
    summary = Summary([], "any", most_groups=2)
    for loss in [*lost("a"), *lost("b", 2), *lost("c", 3), *lost("a", 4), *lost("d", 5)]:
        summary.count(loss)
    assert {group.label: group.count for group in summary.groups.values()} == {"a": 5, "b": 2, OTHER: 8}
    assert summary.losses == 15


def test_what_is_added_up_is_the_same_as_what_is_counted_at_once() -> None:
    losses = [lost(name)[0] for name in "abacdbeafg"]
    whole, total = Summary([], "any", most_groups=3), Summary([], "any", most_groups=3)
    for loss in losses:
        whole.count(loss)
    for begin in range(0, len(losses), 4):
        part = Summary([], "any", most_groups=10**9)
        for loss in losses[begin : begin + 4]:
            part.count(loss)
        total.add(part)
    assert total.groups == whole.groups


def test_losses_that_are_only_counted_are_reported_as_those_that_are_listed(tmp_path: Path) -> None:
    for sample in ("claude-code/session-blocks.jsonl", "gemini-cli/log.jsonl"):
        words = ["convert", SAMPLES / sample, "--to", "anthropic", "--force", "-o", tmp_path / "out.json"]
        counted, listed = run(*words), run(*words, "--losses", tmp_path / "losses.json")
        assert counted.replace("--losses FILE", str(tmp_path / "losses.json")) == listed


@pytest.mark.skipif(not workers.can_start(), reason="processes cannot be started here")
@pytest.mark.exhaustive
def test_a_key_for_each_line_is_no_group_for_each_line_in_one_process_or_two(tmp_path: Path) -> None:
    row = {"messages": [{"role": "user", "content": "Hi. " * 20}]}
    rows = (json.dumps({**row, f"key{number}": 1}) for number in range(MOST_GROUPS + 100))
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(rows))
    words = ["convert", source, "--from", SOURCE, "--to", "anthropic", "-o"]
    alone = run(*words, tmp_path / "alone")
    assert f"{MOST_GROUPS + 100:,} losses of metadata ({OTHER}, " in alone
    assert run(*words, tmp_path / "together", "-j", "2") == alone
