"""A dialect in a package of its own: found by its entry point, checked against its schema, held to all laws."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from convcli.model import plugins
from tests.cli_cases import CLEAN, command, write
from tests.plugin_cases import PACKAGE, TALK, block, install, with_site

OTHER = "openai-chat"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return install(tmp_path / "site")


def ran(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, env=with_site(site), check=False)


def test_the_laws_of_convcli_testing_hold_for_a_plugin(site: Path) -> None:
    code = block("python", "testing.assert_laws")
    subprocess.run([sys.executable, "-c", code], env=with_site(site), check=True)


def test_the_laws_find_what_a_plugin_forgets(tmp_path: Path) -> None:
    forgetful = install(tmp_path / "site", **{'[Text(turn["says"])]': '[Text("")]'})
    code = block("python", "testing.assert_laws")
    failed = subprocess.run(
        [sys.executable, "-c", code], env=with_site(forgetful), capture_output=True, text=True, check=False
    )
    assert "AssertionError: L1a: captions does not keep" in failed.stderr


def test_the_library_takes_the_dialect_of_a_plugin_and_pickles_what_comes_of_it(site: Path) -> None:
    code = f"""
import pickle, convcli
result = convcli.convert({TALK}, to="{OTHER}", source="captions")
assert result.document["messages"][1] == {{"role": "assistant", "content": "Hello."}}
assert pickle.loads(pickle.dumps(result)).transcript == result.transcript
assert [one.code for one in convcli.validate({{"captions": [{{"speaker": "usr", "says": ""}}]}}, source="captions")]
"""
    subprocess.run([sys.executable, "-c", code], env=with_site(site), check=True)


def test_the_commands_take_the_dialect_of_a_plugin(site: Path, tmp_path: Path) -> None:
    talk, chat = write(tmp_path / "talk.json", TALK), write(tmp_path / "chat.json", CLEAN)
    out = ran(site, "convert", talk, "--from", "captions", "--to", OTHER)
    assert json.loads(out.stdout)["messages"][0] == {"role": "user", "content": "Hi."}
    back = ran(site, "convert", chat, "--to", "captions")
    assert json.loads(back.stdout) == {
        "captions": [{"speaker": "user", "says": "hi"}, {"speaker": "assistant", "says": "hello"}]
    }
    broken = write(tmp_path / "broken.json", TALK.replace("user", "usr"))
    judged = ran(site, "validate", broken, "--dialect", "captions")
    assert (judged.returncode, "did you mean" in judged.stdout) == (1, True)
    assert json.loads(ran(site, "schema", "captions").stdout) == json.loads(block("json", "$schema"))
    assert "captions" in ran(site, "schema", "--list").stdout.split()
    assert "Captions" in ran(site, "dialects").stdout
    assert 'did you mean "captions"' in ran(site, "convert", talk, "--from", "caption", "--to", OTHER).stderr


def test_the_dialect_of_a_plugin_is_detected_where_no_other_is_sure(site: Path, tmp_path: Path) -> None:
    files = (
        write(tmp_path / "talk.json", TALK),
        write(tmp_path / "talks.jsonl", f"{TALK}\n{TALK}"),
        write(tmp_path / "array.json", f"[{TALK}, {TALK}]"),
        write(tmp_path / "chat.json", CLEAN),
    )
    found = [line.split("\t")[1:] for line in ran(site, "detect", *files).stdout.splitlines()[1:]]
    assert [dialect for dialect, _ in found] == ["captions"] * 3 + [OTHER]
    assert {why for _, why in found[:3]} == {"a list of captions"}


def test_a_plugin_that_cannot_be_loaded_stops_no_detection(tmp_path: Path) -> None:
    site = install(tmp_path / "site", **{"from msgspec.structs": "from nothing.structs"})
    refused = ran(site, "detect", write(tmp_path / "talk.json", TALK))
    assert "no dialect recognizes this" in refused.stderr


@pytest.mark.parametrize(
    ("without_schema", "changed", "words"),
    [
        (True, {}, f"help: it belongs in the package {PACKAGE}, at schemas/captions.schema.json"),
        (False, {"DIALECT = Dialect(": "DIALECT = dict("}, "does not provide a Dialect"),
        (False, {'name="captions"': 'name="subtitles"'}, "a dialect with another name"),
        (False, {"DIALECT = Dialect(": "OTHER = Dialect("}, "cannot be loaded"),
        (False, {"from msgspec.structs": "from nothing.structs"}, "cannot be loaded"),
    ],
)
def test_a_plugin_that_is_none_is_reported(
    tmp_path: Path, without_schema: bool, changed: dict[str, str], words: str
) -> None:
    site = install(tmp_path / "site", without_schema=without_schema, **changed)
    reported = ran(site, "convert", write(tmp_path / "talk.json", TALK), "--from", "captions", "--to", OTHER)
    assert (reported.returncode, "error[bad-plugin]" in reported.stderr, words in reported.stderr) == (2, True, True), (
        reported.stderr
    )


def test_a_schema_may_stand_directly_in_the_package(site: Path, tmp_path: Path) -> None:
    inside = site / PACKAGE / "schemas" / "captions.schema.json"
    inside.rename(site / PACKAGE / "captions.schema.json")
    out = ran(site, "validate", write(tmp_path / "talk.json", TALK), "--dialect", "captions")
    assert (out.returncode, out.stderr) == (0, "1 transcript, clean\n")


def test_without_a_plugin_there_is_none() -> None:
    assert plugins.entry("captions") is None
    assert plugins.schema_text("captions") is None
