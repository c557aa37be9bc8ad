"""The configuration of a project: which file counts, what its patterns match, what is refused, and that the page about
it says what is true."""

from __future__ import annotations

import pickle
import re
import tomllib
from pathlib import Path

import pytest

from convcli.files import project
from convcli.jobs import config
from convcli.jobs.config import KEYS, Configuration, IgnoredPlace
from convcli.model.errors import JobError
from convcli.model.findings import Finding
from tests.cli_cases import ROOT

PAGE = (ROOT / "convcli" / "pages" / "configuration.md").read_text("utf-8")


def configured(folder: Path, text: str, name: str = project.OWN) -> Configuration:
    (folder / name).write_text(text, encoding="utf-8")
    return config.load(str(folder))


def test_the_nearest_file_counts_and_the_own_one_before_the_shared_one(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    configured(tmp_path, 'ignore = ["not-json"]')
    assert config.load(str(below)).file == str(tmp_path / project.OWN)
    configured(tmp_path / "a", "[tool.other]\n", project.SHARED)
    assert config.load(str(below)).file == str(tmp_path / project.OWN)
    configured(tmp_path / "a", "[tool.convcli]\nstrict = true\n", project.SHARED)
    assert config.load(str(below)).settings == {"strict": True}
    configured(tmp_path / "a", "strict = false\n")
    assert config.load(str(below)).settings == {"strict": False}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("ignor = []", 'there is no key "ignor"', 'did you mean "ignore"?'),
        ("strict = 1", "strict must be true or false", ""),
        ('ignore = ["not-jso"]', 'there is no code "not-jso"', 'did you mean "not-json"?'),
        ('duplicate-keys = "first"', 'duplicate-keys must be "error" or "last"', ""),
        ('[per-file-ignores]\n"a" = "x"', 'per-file-ignores: "a" must be a list of codes', ""),
        ('[dialects]\n"a" = 1', 'dialects: "a" must be a dialect name', ""),
        ("exclude = [1]", "exclude must be a list of patterns", ""),
        ('[[ignore-at]]\nwhre = "/a"', 'ignore-at: there is no key "whre"', 'did you mean "where"?'),
        ('[[ignore-at]]\nline = "1"', "ignore-at: line has the wrong type", ""),
        ('[[ignore-at]]\nwhere = "messages"', "ignore-at: where must be a pointer", ""),
        ("ignore-at = [1]", "ignore-at must be a list of tables", ""),
        ("a = ", "Invalid value", ""),
    ],
)
def test_what_is_wrong_is_refused_with_the_file(tmp_path: Path, text: str, message: str, hint: str) -> None:
    with pytest.raises(JobError) as caught:
        configured(tmp_path, text)
    assert (caught.value.code, caught.value.file) == ("bad-configuration", str(tmp_path / project.OWN))
    assert caught.value.message.startswith(message)
    assert caught.value.help == hint


@pytest.mark.parametrize(
    ("path", "pattern", "is_excluded"),
    [
        ("a.json", "*.json", True), ("deep/a.json", "*.json", True), ("drafts/a.json", "drafts", True),
        ("x/drafts/y/a.json", "drafts/", True), ("x/drafts.json", "drafts", False),
        ("data/a.json", "data/*.json", True),
        ("data/deep/a.json", "data/*.json", True), ("data/deep/a.json", "data/deep", True),
        ("other/data/a.json", "data/*", False), ("a.json", "./a.json", True), ("a.jsonl", "*.json", False),
    ],
)  # fmt: skip
def test_a_pattern_excludes_files_and_what_lies_in_folders(
    tmp_path: Path, path: str, pattern: str, is_excluded: bool
) -> None:
    configuration = Configuration({"exclude": [pattern]}, str(tmp_path))
    assert configuration.excludes(str(tmp_path / path)) is is_excluded


@pytest.mark.parametrize(
    ("place", "matches"),
    [
        (IgnoredPlace("", None, frozenset()), True),
        (IgnoredPlace("/messages", None, frozenset()), True),
        (IgnoredPlace("/messages/*/content", None, frozenset()), True),
        (IgnoredPlace("/messages/3/content/", 7, frozenset(("not-json", "wrong-type"))), True),
        (IgnoredPlace("/messages/3/content/0/text", None, frozenset()), False),
        (IgnoredPlace("/message", None, frozenset()), False),
        (IgnoredPlace("/messages/4", None, frozenset()), False),
        (IgnoredPlace("", 8, frozenset()), False),
        (IgnoredPlace("", None, frozenset(("not-json",))), False),
    ],
)
def test_an_ignored_place_is_a_pointer_and_what_is_below_it(place: IgnoredPlace, matches: bool) -> None:
    finding = Finding("wrong-type", "error", "", "/messages/3/content/0", line=7)
    assert place.matches(finding) is matches


def test_codes_are_ignored_everywhere_in_some_files_or_at_a_place(tmp_path: Path) -> None:
    configuration = Configuration(
        {
            "ignore": ["null-filled"],
            "per-file-ignores": {"old/*": ["not-json"]},
            "ignore-at": [{"file": "a.json", "where": "/tools"}],
        },
        str(tmp_path),
    )

    def ignores(code: str, file: str, where: str = "") -> bool:
        return configuration.ignores(Finding(code, "warning", "", where, str(tmp_path / file)))

    assert [ignores("null-filled", "b.json"), ignores("not-json", "old/b.json")] == [True, True]
    assert [ignores("not-json", "b.json"), ignores("empty-name", "a.json", "/tools/0")] == [False, True]
    assert not ignores("empty-name", "b.json", "/tools/0")


def test_a_configuration_goes_to_other_processes() -> None:
    assert pickle.loads(pickle.dumps(Configuration())) == Configuration()


def test_every_key_is_in_force_with_its_default_or_the_file_that_sets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = {row["key"]: row for row in config.in_force(configured(tmp_path, "strict = true\n"))}
    assert rows.keys() == KEYS.keys()
    assert (rows["strict"]["value"], rows["strict"]["from"]) == (True, project.OWN)
    assert {row["from"] for key, row in rows.items() if key != "strict"} == {"default"}


def test_the_page_describes_every_key_with_its_type_and_its_example_is_a_configuration(tmp_path: Path) -> None:
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert rows.keys() == KEYS.keys()
    for name, wanted in rows.items():
        assert KEYS[name].wanted.startswith(wanted.replace("`", "")), name
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert tomllib.loads(example).keys() == KEYS.keys()
    assert configured(tmp_path, example).settings == tomllib.loads(example)
