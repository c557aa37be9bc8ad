"""What trainers read rows with judges what convcli writes: `datasets`, `mistral_common`, and the templates of TRL.

Optional: `pytest -m trainers` with the group `trainers` installed; a test whose package is missing is skipped. TRL
needs torch, but its templates do not: `pip install transformers` and `pip install --no-deps trl` are enough for them.
Trainers that cannot be installed without torch are asked by `.ci/frameworks.py`.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import convcli
from convcli import dialects
from convcli.engine import pipeline
from convcli.jobs import inputs
from convcli.model.dialect import Options
from convcli.model.row_columns import COLUMNS
from convcli.model.transcript import Transcript
from convcli.proof.difference import difference
from convcli.wire import exact_json
from tests.cli_cases import ROOT, run
from tests.support import acceptable, samples

pytestmark = pytest.mark.trainers
BESIDE = ("prompt", "completion", "chosen", "rejected")
"""Columns that hold messages in one row and a text in another: a file of columns has one type for each."""


class Row(NamedTuple):
    """A row, where it comes from, and the codes of what its conversion found."""

    source: str
    document: Any
    codes: frozenset[str]


def rows(name: str, form: str | None = None) -> Iterator[Row]:
    """Every sample of every dialect as a row of this one."""
    target = dialects.get(name)
    for sample in acceptable():
        source = dialects.get(sample.dialect)
        done = pipeline.convert(sample.document, source, target, Options(form=form))
        yield Row(str(sample), done.document, frozenset(finding.code for finding in done.findings))


def test_mistral_common_takes_every_row_or_a_finding_says_why() -> None:
    messages = pytest.importorskip("mistral_common.protocol.instruct.messages")
    request = pytest.importorskip("mistral_common.protocol.instruct.request")
    judge = pytest.importorskip("mistral_common.protocol.instruct.validator")
    turn = messages.SystemMessage | messages.UserMessage | messages.FinetuningAssistantMessage | messages.ToolMessage
    validator = judge.MistralRequestValidatorV3(mode=judge.ValidationMode.finetuning)
    untold, accepted = [], 0
    for row in rows("mistral", "row"):
        try:
            validator.validate_request(request.ChatCompletionRequest[turn](**row.document))
            accepted += 1
        except (ValueError, judge.MistralCommonException):
            untold += [] if row.codes else [row.source]
    assert untold == []
    assert accepted > 500


def test_a_template_renders_every_row_that_has_messages() -> None:
    templates = pytest.importorskip("transformers.utils.chat_template_utils")
    trl = importlib.util.find_spec("trl")
    if trl is None or trl.origin is None:
        pytest.skip("trl is not installed")
    folder = Path(trl.origin).parent / "chat_templates"
    sources = [(folder / f"{name}.jinja").read_text() for name in ("qwen3", "qwen2_5", "llama3_2", "gptoss", "glm4moe")]
    for row in rows("hf-chat", "messages"):
        if isinstance(row.document["messages"], list):
            is_rendered = any(renders(templates, source, row.document) for source in sources)
            assert is_rendered or row.codes, row.source


def test_templates_render_every_row_of_a_session_with_columns_and_tools() -> None:
    templates = pytest.importorskip("transformers.utils.chat_template_utils")
    trl = importlib.util.find_spec("trl")
    if trl is None or trl.origin is None:
        pytest.skip("trl is not installed")
    folder = Path(trl.origin).parent / "chat_templates"
    source, of_tools = ((folder / f"{name}.jinja").read_text() for name in ("qwen3", "gptoss"))
    sessions = dict.fromkeys(sample.path for sample in samples() if dialects.get(sample.dialect).is_session)
    have_tools = {row.file for row in convcli.rows(sessions, "hf-chat", tools="none") if row.document.get("tools")}
    for row in convcli.rows(sessions, "hf-chat", columns="all"):
        assert COLUMNS.keys() <= row.document.keys()
        has_calls = any(message.get("tool_calls") for message in row.document["messages"])
        assert row.document.get("tools") or not has_calls, row.file
        assert renders(templates, source, row.document) or row.findings, row.file
        asked = {**row.document, "messages": [{"role": "user", "content": "Hi."}]}
        assert row.file in have_tools or renders(templates, of_tools, asked), row.file


def renders(templates: Any, source: str, row: Any) -> bool:
    try:
        templates.render_jinja_template([row["messages"]], tools=row.get("tools"), chat_template=source)
    except Exception:
        return False
    return True


@pytest.mark.parametrize(("name", "kind"), [("hf-chat", "json"), ("hf-chat", "parquet"), ("sharegpt", "json")])
def test_a_thousand_rows_come_back_from_datasets_as_they_were(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    reported = [row.document for row in rows(name) if "not-allowed" not in row.codes]
    written = [row for row in reported if has_one_type(row) and not has_null(row)][:1000]
    assert len(written) > 900
    lines, file = tmp_path / "rows.jsonl", tmp_path / f"rows.{'jsonl' if kind == 'json' else kind}"
    lines.write_bytes(b"".join(exact_json.write(row) + b"\n" for row in written))
    before = lifted(lines, name)
    if kind == "parquet":
        run("convert", lines, "--from", name, "--to", name, "-o", file)
    loaded = datasets.load_dataset(kind, data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    loaded.to_json(tmp_path / "back.jsonl")
    loaded.to_parquet(tmp_path / "back.parquet")
    for back in (file, tmp_path / "back.jsonl", tmp_path / "back.parquet"):
        after = lifted(back, name)
        different = [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if difference(one, other)]
        assert different == [], f"{back.name}: {json.dumps(written[different[0]])[:300]}"


@pytest.mark.parametrize(("name", "kind"), [("hf-chat", "json"), ("hf-chat", "parquet"), ("sharegpt", "json")])
def test_datasets_loads_and_filters_the_columns_of_rows_from_sessions(
    name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    file = tmp_path / f"rows.{'jsonl' if kind == 'json' else kind}"
    sources = [ROOT / "samples" / name for name in ("claude-code/*.jsonl", "codex/session-*.jsonl", "goose/*.json*")]
    run("convert", *sources, "--to", name, "--columns", "all", "--tools", "program", "-o", file)
    loaded = datasets.load_dataset(kind, data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert set(COLUMNS) <= set(loaded.column_names)
    assert all(loaded["file"])
    assert all(loaded["program"])
    failed = loaded.filter(lambda row: (row["errors"] or 0) > 0)
    assert 0 < len(failed) < len(loaded)
    assert all(failed["failed"])
    assert all(failed["tools"])
    loaded.to_json(tmp_path / "back.jsonl")
    for before, after in zip(lifted(file, name), lifted(tmp_path / "back.jsonl", name), strict=True):
        assert before.messages == after.messages


def has_one_type(row: Any) -> bool:
    return isinstance(row, dict) and not any(isinstance(row.get(column), str) for column in BESIDE)


def has_null(value: Any) -> bool:
    """A null is what a table puts where there is no key."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is None or any(map(has_null, inside))


def lifted(file: Path, name: str) -> list[Transcript]:
    with inputs.opened(str(file), name) as documents:
        return [document.lift() for document in documents]
