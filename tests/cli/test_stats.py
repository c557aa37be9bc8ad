"""convcli stats: costs with their source, failures by cause, and durations in words on a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli_cases import command, environment, on_terminal, run, write

USAGE = {"inputTokens": 1_000_000, "outputTokens": 100_000, "cacheReadTokens": 600_000}


def answer(model: str, time: str = "2026-01-02T00:00:00Z", **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "parts": [], "model": model, "usage": USAGE, "createdAt": time, **more}


def rows(path: Path, *words: object) -> tuple[dict[tuple[str, str], dict[str, Any]], str]:
    done = run("stats", path, "-O", "jsonl", *words)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    return {(row["what"], row["name"]): row for row in lines}, done.stderr.decode()


def session(folder: Path, *messages: dict[str, Any]) -> Path:
    return write(folder / "s.json", {"convcli": 1, "cwd": "/home/u/shop", "messages": list(messages)})


def test_costs_are_by_model_project_and_day_with_the_source_of_the_prices(tmp_path: Path) -> None:
    later = answer("claude-opus-4-5", "2026-01-03T00:00:00Z")
    found, notes = rows(session(tmp_path, answer("anthropic/claude-opus-4.5-20251101"), later))
    cost = (400_000 * 5 + 600_000 * 0.5 + 100_000 * 25) / 1_000_000
    keys = ("costs", "claude-opus-4-5"), ("days", "2026-01-02"), ("days", "2026-01-03")
    assert [found[key]["cost"] for key in keys] == [cost] * 3
    assert found["projects", "shop"]["cost"] == 2 * cost
    assert notes.startswith("note: $9.60 in all; costs are estimates by list prices (litellm ")


def test_a_model_without_a_price_has_no_cost_and_a_note(tmp_path: Path) -> None:
    found, notes = rows(session(tmp_path, answer("gpt-5-unheard-of"), answer("")))
    assert not any(what == "costs" for what, _ in found)
    assert all(row["cost"] is None for row in found.values())
    assert "there is no price for 1 answer of gpt-5-unheard-of" in notes
    assert "there is no price for 1 answer of no known model" in notes


def test_a_cost_that_the_program_recorded_counts_before_any_price(tmp_path: Path) -> None:
    found, notes = rows(session(tmp_path, answer("claude-opus-4-5", cost=0.25)))
    assert found["costs", "claude-opus-4-5"]["cost"] == 0.25
    assert "the agent program recorded the cost of 1 answer" in notes


def test_a_file_in_the_format_of_litellm_counts_before_the_built_in_prices(tmp_path: Path) -> None:
    document = {
        "sample_spec": {"input_cost_per_token": 0.0, "mode": "one of"},
        "claude-opus-4-5": {"input_cost_per_token": 1e-6, "input_cost_per_token_above_200k_tokens": 2e-6},
        "image-model": {"output_cost_per_image": 1},
    }
    path = session(tmp_path, answer("claude-opus-4-5"), answer("claude-haiku-4-5"))
    found, _ = rows(path, "--prices", write(tmp_path / "prices.json", document))
    assert found["costs", "claude-opus-4-5"]["cost"] == 2  # cached tokens without a price of their own cost the same
    assert found["costs", "claude-haiku-4-5"]["cost"] > 0


def test_another_file_of_prices_is_refused(tmp_path: Path) -> None:
    path = session(tmp_path, answer("m"))
    for name, code in ((path, b"error[not-prices]"), (tmp_path / "none.json", b"error[no-such-file]")):
        done = run("stats", path, "--prices", name)
        assert (done.returncode, done.stdout) == (2, b"")
        assert code in done.stderr
    done = run("stats", path, "--prices", path, "--engine", "local", "--out-dir", tmp_path / "out")
    assert (done.returncode, b"--engine and --prices" in done.stderr) == (2, True)


def test_failures_are_grouped_by_cause_and_what_the_user_rejected_is_apart(tmp_path: Path) -> None:
    texts = [
        "Exit code 1\nlint: 3 errors",
        "Exit code 1\nother",
        "cannot open /home/u/shop/a.py: no such file",
        "cannot open /home/u/shop/b.py: no such file",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
    ]
    calls = [{"type": "tool_call", "id": f"c{i}", "name": "Bash", "arguments": {}} for i in range(len(texts))]
    common = {"type": "tool_result", "name": "Bash", "kind": "error"}
    parts = ({**common, "toolCallId": f"c{i}", "value": text} for i, text in enumerate(texts))
    results = [{"role": "tool", "parts": [part]} for part in parts]
    found, _ = rows(session(tmp_path, {"role": "assistant", "parts": calls}, *results))
    assert (found["tools", "Bash"]["errors"], found["tools", "Bash"]["rejected"]) == (4, 1)
    causes = {name: row["count"] for (what, name), row in found.items() if what == "failures"}
    assert causes == {"Bash: exit code 1": 2, "Bash: cannot open PATH: no such file": 2}


def test_a_terminal_shows_a_table_for_each_thing_with_whole_names(tmp_path: Path) -> None:
    models = ("claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514")
    path = session(tmp_path, *map(answer, models))
    status, shown = on_terminal(command("stats", path), 80, environment(TERM="dumb"))
    assert status == 0
    lines = [line.split() for line in shown.splitlines()]
    assert {("models", "count"), ("tokens", "count"), ("costs", "count", "cost")} <= set(map(tuple, lines))
    assert {*models} <= {line[0] for line in lines if line}
    assert "input, read from cache" in shown
