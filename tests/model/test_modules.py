"""The modules of a package are those that Python would import."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

from convcli import cli, dialects
from convcli.model import modules
from convcli.report import tables


@pytest.mark.parametrize("package", [dialects, cli, tables])
def test_the_names_are_those_of_pkgutil(package: ModuleType) -> None:
    known = [module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")]
    assert modules.names(package.__path__) == sorted(known)


def test_a_folder_without_modules_and_a_file_of_another_kind_are_none(tmp_path: Path) -> None:
    (tmp_path / "left_over" / "__pycache__").mkdir(parents=True)
    (tmp_path / "data.toml").touch()
    (tmp_path / "one.py").touch()
    assert modules.names([str(tmp_path)]) == ["one"]
