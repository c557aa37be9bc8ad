"""What surrounds the transcripts of a file comes back in its own dialect, and is one loss elsewhere."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.files.outputs import open_output
from convcli.jobs import converting, inputs
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.documents import Document
from convcli.jobs.summaries import Summary
from convcli.proof.reasons import Loss
from convcli.wire import exact_json
from tests import tiers
from tests.cli_cases import run
from tests.support import names, sample_files

WRITTEN = [name for name in names() if dialects.get(name).is_written]
LINES = [name for name in WRITTEN if not converting.writes_rows(dialects.get(name))]
CONTAINERS = [name for name in WRITTEN if dialects.get(name).many]


def converted(path: Path, source: str, target: str, out: Path, **job: Any) -> tuple[Any, list[Loss], Summary]:
    """The output of a file as a JSON value, with all losses."""
    losses: list[Loss] = []
    with inputs.opened(str(path), source) as opened:
        output = open_output(str(out), force=True)
        sinks = Sinks(losses.append, lambda _: None)
        summary = converting.completed(
            InputConversion(opened, Job(dialects.get(target), **job), lambda _: output, sinks)
        )
    return exact_json.parse(out.read_bytes()), losses, summary


def log(folder: Path, count: int, name: str = "log.json") -> Path:
    """A log with keys on both sides of its samples."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    samples = [{"id": i, "epoch": 1, "input": "Hi", "messages": messages} for i in range(count)]
    path = folder / name
    path.write_text(json.dumps({"version": 2, "eval": {"n": 1.0}, "samples": samples, "stats": {"samples": None}}))
    return path


@pytest.mark.parametrize("name", WRITTEN)
def test_a_json_file_in_its_own_dialect_is_the_same_document(name: str, tmp_path: Path) -> None:
    for path in tiers.few([path for path in sample_files(name) if path.suffix == ".json"], 3):
        document, losses, summary = converted(path, name, name, tmp_path / "out.json")
        assert summary.exit_code == 0
        assert exact_json.exact(document, exact_json.parse(path.read_bytes())), path
        assert not [loss for loss in losses if loss.field == "container"], path


@pytest.mark.parametrize("count", [1, 3])
def test_the_header_of_a_log_comes_back_in_its_own_dialect(count: int, tmp_path: Path) -> None:
    path = log(tmp_path, count)
    document, losses, _ = converted(path, "inspect-ai", "inspect-ai", tmp_path / "out.json")
    assert exact_json.exact(document, exact_json.parse(path.read_bytes()))
    assert losses == []


@pytest.mark.parametrize("target", [*tiers.few(LINES), "inspect-ai"])
def test_the_header_of_a_log_is_one_loss_in_lines(target: str, tmp_path: Path) -> None:
    with inputs.opened(str(log(tmp_path, 2)), "inspect-ai") as opened:
        losses: list[Loss] = []
        output = open_output(str(tmp_path / "out.jsonl"))
        job = Job(dialects.get(target), layout="jsonl")
        converting.completed(InputConversion(opened, job, lambda _: output, Sinks(losses.append, lambda _: None)))
    [loss] = [loss for loss in losses if loss.field == "container"]
    assert (loss.kind, loss.level) == ("dropped", "context")
    assert "version, eval, stats" in loss.why


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["-o", "out.json"], 0),
        (["--out-dir", "out"], 1),  # a file for each transcript
        (["-o", "out.json", "--limit", "1"], 1),
        (["log2.json", "-o", "out.json"], 2),
    ],
)
def test_a_selection_and_several_inputs_lose_the_header(options: list[str], count: int, tmp_path: Path) -> None:
    for name in ("log.json", "log2.json"):
        log(tmp_path, 2, name)
    done = run("convert", "log.json", *options, "--to", "inspect-ai", "--losses", "l.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "l.json").read_bytes())
    containers = [loss for loss in found if loss["field"] == "container"]
    assert len(containers) == count
    assert len(found) == len(containers)


def test_the_other_files_of_an_archive_are_one_loss(tmp_path: Path) -> None:
    file = io.BytesIO()
    sample = {"id": 1, "epoch": 1, "input": "Hi", "messages": [{"role": "user", "content": "Hi"}]}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "{}")
        for number in (1, 2):
            archive.writestr(f"samples/{number}_epoch_1.json", json.dumps(sample))
    path = tmp_path / "log.eval"
    path.write_bytes(file.getvalue())
    done = run("losses", path, "--to", "inspect-ai", "-O", "json")
    assert [(loss["field"], "header.json" in loss["why"]) for loss in json.loads(done.stdout)] == [("container", True)]


def test_what_surrounds_the_conversations_of_an_export_is_one_loss(tmp_path: Path) -> None:
    [conversation] = [json.loads(path.read_bytes()) for path in sample_files("grok-export") if path.stem == "plain"]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"user": "ada", "conversations": [conversation] * 2}))
    _, losses, _ = converted(path, "grok-export", "openai-chat", tmp_path / "out.json")
    assert ["(user)" in loss.why for loss in losses if loss.field == "container"] == [True]


def planted(name: str, folder: Path) -> Path:
    """A document with the transcripts of a sample, and a sentence that stands around them."""
    for sample in sample_files(name):
        with inputs.opened(str(sample), name) as opened:
            values = [item.value for item in opened if isinstance(item, Document)]
        value: Any = values
        for step in reversed(dialects.get(name).many.split("/")[:-1]):
            value = {"planted": "The harbour closes at noon.", step: value, "count": 1}
        path = folder / "planted.json"
        path.write_bytes(exact_json.write(value))
        return path
    raise AssertionError(name)


@pytest.mark.parametrize("name", [name for name in names() if dialects.get(name).many])
def test_a_sentence_around_the_transcripts_is_content_and_a_finding(name: str, tmp_path: Path) -> None:
    path = planted(name, tmp_path)
    _, losses, _ = converted(path, name, "hf-chat", tmp_path / "out.json")
    around = {(loss.level, loss.where) for loss in losses if loss.field == "container"}
    assert around == {("content", "/planted"), ("context", "")}
    assert b"unknown-content" in run("convert", path, "--from", name, "--to", "hf-chat").stderr
    done = run("validate", path, "--from", name, "-O", "json")
    findings = [each for each in json.loads(done.stdout)["findings"] if each["code"] == "unknown-content"]
    assert [each["where"] for each in findings] == ["/planted"]


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_sentence_around_the_transcripts_comes_back_in_its_own_dialect(name: str, tmp_path: Path) -> None:
    path = planted(name, tmp_path)
    document, losses, _ = converted(path, name, name, tmp_path / "out.json")
    assert exact_json.exact(document, exact_json.parse(path.read_bytes()))
    assert not [loss for loss in losses if loss.field == "container"]


def test_every_container_has_a_sample_with_keys_around_it() -> None:
    assert CONTAINERS == ["inspect-ai"]  # `log` writes its form; another one needs its own
