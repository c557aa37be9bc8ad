"""The settings of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.files import project
from convcli.model.errors import JobError


def test_the_nearest_settings_count(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / project.OWN).write_text("strict = true\n")
    assert project.nearest(str(below)) == (str(tmp_path / project.OWN), {"strict": True})
    (tmp_path / "a" / project.SHARED).write_text("[tool.convcli]\nstrict = false\n")
    assert project.nearest(str(below)) == (str(tmp_path / "a" / project.SHARED), {"strict": False})


def test_settings_of_other_tools_are_passed_by(tmp_path: Path) -> None:
    (tmp_path / project.OWN).write_text("")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / project.SHARED).write_text('[tool.other]\nabout = "convcli"\n')
    assert project.nearest(str(tmp_path / "a")) == (str(tmp_path / project.OWN), {})


def test_a_toml_file_is_read_if_there_is_one(tmp_path: Path) -> None:
    assert project.read(str(tmp_path / "no.toml")) is None
    (tmp_path / "wrong.toml").write_text("a = \n")
    with pytest.raises(JobError, match="Invalid value") as caught:
        project.read(str(tmp_path / "wrong.toml"))
    assert caught.value.code == "bad-configuration"
