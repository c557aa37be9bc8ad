"""The folders of editors: one glob for each system and kind of file, without a space."""

from __future__ import annotations

import glob
from pathlib import Path

from convcli.kit.editors import FOLDERS, patterns


def test_each_folder_of_settings_has_each_glob() -> None:
    words = patterns("Code*", "a/*.json", "b.json").split()
    assert len(words) == 2 * len(FOLDERS)
    assert words[:2] == [".config/Code*/User/a/*.json", ".config/Code*/User/b.json"]


def test_a_folder_with_a_space_is_found(tmp_path: Path) -> None:
    file = tmp_path / "Library" / "Application Support" / "Code - Insiders" / "User" / "chat.json"
    file.parent.mkdir(parents=True)
    file.touch()
    found = [path for word in patterns("Code*", "*.json").split() for path in glob.glob(str(tmp_path / word))]
    assert found == [str(file)]
