"""The version is in the code and in the package metadata, and both are the same."""

from __future__ import annotations

import tomllib
from pathlib import Path

import convcli
from convcli.model import version

ROOT = Path(__file__).parents[2]


def test_the_package_and_its_metadata_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == version.__version__ == convcli.__version__
