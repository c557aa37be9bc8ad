"""convert --restore-file and restore: there and back again, as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli_cases import run
from tests.support import SAMPLES

ORIGINALS = [
    "openai-chat/request-all-settings.json",
    "openai-ft/fine-tuning.jsonl",
    "openclaw/twin-weather.jsonl",
    "openclaw/spellings.json",
]


def values(text: str) -> list[str]:
    try:
        return [json.dumps(json.loads(text))]
    except ValueError:
        return [json.dumps(json.loads(line)) for line in text.splitlines()]


@pytest.mark.parametrize("name", ORIGINALS)
def test_what_was_converted_comes_back_exactly(name: str, tmp_path: Path) -> None:
    original, out, kept, back = SAMPLES / name, tmp_path / "out", tmp_path / "kept.jsonl", tmp_path / "back"
    done = run("convert", original, "--to", "anthropic", "-o", out, "--restore-file", kept)
    assert done.returncode == 0, done.stderr
    done = run("restore", out, "--restore-file", kept, "-o", back)
    assert done.returncode == 0, done.stderr
    assert values(back.read_text("utf-8")) == values(original.read_text("utf-8"))


def test_a_stream_file_with_two_answers_comes_back_from_two_transcripts(tmp_path: Path) -> None:
    samples = SAMPLES / "openai-chat-stream"
    original, out, kept, back = (tmp_path / name for name in ("two.sse", "out.jsonl", "kept.jsonl", "back.jsonl"))
    texts = [(samples / name).read_text("utf-8") for name in ("twin-weather.sse", "two-choices.sse")]
    original.write_text("".join(texts), "utf-8")
    done = run("convert", original, "--to", "openai-chat", "-o", out, "--restore-file", kept)
    assert done.returncode == 0, done.stderr
    assert len(values(out.read_text("utf-8"))) == 2
    done = run("restore", out, "--restore-file", kept, "-o", back)
    assert done.returncode == 0, done.stderr
    events = [line.removeprefix("data: ") for line in original.read_text("utf-8").splitlines() if line]
    assert [json.loads(line) for line in back.read_text("utf-8").splitlines()] == [
        "[DONE]" if event == "[DONE]" else json.loads(event) for event in events
    ]


def test_an_edited_output_is_not_restored(tmp_path: Path) -> None:
    out, kept = tmp_path / "out.json", tmp_path / "kept.jsonl"
    run("convert", SAMPLES / ORIGINALS[0], "--to", "anthropic", "-o", out, "--restore-file", kept)
    out.write_text('{"messages": []}')
    done = run("restore", out, "--restore-file", kept, "--force", "-o", tmp_path / "back")
    assert done.returncode == 1
    assert not (tmp_path / "back").exists()


def test_a_refused_conversion_leaves_no_restore_file(tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    done = run(
        "convert",
        SAMPLES / ORIGINALS[0],
        "--to",
        "anthropic",
        "--fail-on-loss",
        "-o",
        tmp_path / "o",
        "--restore-file",
        kept,
    )
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_an_array_comes_back_as_an_array_from_one_file_and_from_many(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (SAMPLES / ORIGINALS[1]).read_text("utf-8").splitlines()]
    source = tmp_path / "in.json"
    source.write_text(json.dumps([*rows, *rows]))
    for number, where in enumerate((["-o", tmp_path / "out.json"], ["--out-dir", tmp_path / "out"])):
        kept, back = tmp_path / f"kept{number}.jsonl", tmp_path / f"back{number}.json"
        done = run("convert", source, "--to", "anthropic", *where, "--restore-file", kept)
        assert done.returncode == 0, done.stderr
        done = run("restore", where[1], "--restore-file", kept, "-o", back)
        assert done.returncode == 0, done.stderr
        assert back.read_text().startswith("[\n{")
        assert json.dumps(json.loads(back.read_text())) == source.read_text()


def trace(*messages: str) -> dict[str, object]:
    request = {"model": "m", "messages": [{"role": "user", "content": text} for text in messages], "n": 1}
    spaced = json.dumps({"messages": request["messages"]}, indent=1)
    return {"id": "t", "observations": [{"input": request, "n": 1.50}, {"input": spaced}, {"input": "no"}], "end": None}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one.json", json.dumps(trace("Hi.", "Ho."))),
        ("array.json", json.dumps([trace("Hi."), {"other": 1}, trace("Ho.")])),
        ("lines.jsonl", "\n".join(map(json.dumps, [{"other": 1}, trace("Hi."), trace("Ho."), {"last": True}]))),
        ("text.json", json.dumps({"observations": json.dumps([{"input": trace("Hi.")["observations"][0]["input"]}])})),  # type: ignore[index]
    ],
)
def test_what_was_picked_comes_back_in_the_document_around_it(name: str, text: str, tmp_path: Path) -> None:
    original, out, kept, back = (tmp_path / each for each in (name, "out.jsonl", "kept.jsonl", "back.json"))
    original.write_text(text)
    at = "/*/observations/*/input" if name == "array.json" else "/observations/*/input"
    done = run("convert", original, "--at", at, "--to", "anthropic", "-o", out, "--restore-file", kept)
    assert done.returncode == 0, done.stderr
    done = run("restore", out, "--restore-file", kept, "-o", back)
    assert done.returncode == 0, done.stderr
    assert values(back.read_text()) == values(text)


def test_a_single_line_comes_back_as_a_line(tmp_path: Path) -> None:
    original, out, kept, back = (tmp_path / each for each in ("a.jsonl", "out.jsonl", "kept.jsonl", "back.jsonl"))
    original.write_text('{"messages":[{"role":"user","name":"ada","content":"Hi."}]}\n')
    assert run("convert", original, "--to", "gemini", "-o", out, "--restore-file", kept).returncode == 0
    assert run("restore", out, "--restore-file", kept, "-o", back).returncode == 0
    assert back.read_text() == original.read_text()


def test_what_was_not_chosen_stays_in_what_stood_around_it(tmp_path: Path) -> None:
    original, out, kept, back = (tmp_path / each for each in ("a.jsonl", "out.jsonl", "kept.jsonl", "back.json"))
    lines = [json.dumps(trace("Hi.")), json.dumps(trace("Ho."))]
    original.write_text("\n".join(lines))
    at = ["--at", "/observations/*/input"]
    done = run("convert", original, *at, "--limit", "1", "--to", "gemini", "-o", out, "--restore-file", kept)
    assert done.returncode == 0, done.stderr
    done = run("restore", out, "--restore-file", kept, "-o", back)
    assert done.returncode == 0, done.stderr
    assert json.loads(back.read_text()) == json.loads(lines[0])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
def test_an_output_does_not_appear_without_its_restore_file(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run("convert", SAMPLES / ORIGINALS[0], "--to", "anthropic", "-o", out, "--restore-file", "/dev/full")
    assert (done.returncode, out.exists()) == (3, False), done.stderr
