"""The licences that cards of inputs name."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.views.data_sets import licences


@pytest.mark.parametrize(
    ("card", "names"),
    [
        ("---\nlicense: mit\n---\n", {"mit"}),
        ("---\nlicense: 'cc-by-4.0'  # of the authors\n---\n", {"cc-by-4.0"}),
        ("---\ntags:\n- x\nlicense:\n  - mit\n  - odc-by\ntags:\n- y\n---\n", {"mit", "odc-by"}),
        ("---\nlicense_name: mine\n---\nlicense: mit\n", {""}),
        ("license: mit\n", {""}),
        ("---\nlicense:\n---\n", {""}),
        ("", {""}),
    ],
)
def test_a_licence_stands_in_the_header_of_a_card(tmp_path: Path, card: str, names: set[str]) -> None:
    (tmp_path / "README.md").write_text(card, "utf-8")
    assert licences([str(tmp_path / "a.jsonl")]).keys() == names


def test_the_card_of_the_nearest_folder_counts(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "more"
    folder.mkdir(parents=True)
    paths = [str(parent / "a.jsonl") for parent in (tmp_path, tmp_path / "data", folder)]
    (tmp_path / "README.md").write_text("---\nlicense: mit\n---\n", "utf-8")
    assert licences(paths) == {"mit": set(paths[:2]), "": {paths[2]}}
    (tmp_path / "data" / "README.md").write_text("---\nlicense: odc-by\n---\n", "utf-8")
    assert licences(paths) == {"mit": {paths[0]}, "odc-by": set(paths[1:])}
