"""The list of accepted values: hashes only, and readable again."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.engine.redaction.redactor import Hit
from convcli.jobs.redacting import Allowed, load_allowed
from convcli.model.errors import JobError


def test_a_list_has_hashes_and_accepts_their_values(tmp_path: Path) -> None:
    allowed = Allowed()
    hit = Hit("email", "EMAIL", "/content", 12, allowed.digest("ann@acme.dev"))
    path = tmp_path / "allow.json"
    path.write_bytes(allowed.written([hit]))
    assert b"ann" not in path.read_bytes()
    loaded = load_allowed(str(path))
    assert loaded.digest("ann@acme.dev") in loaded
    assert loaded.digest("bob@acme.dev") not in loaded


def test_two_lists_have_different_hashes_of_one_value() -> None:
    assert Allowed().digest("a") != Allowed().digest("a")


@pytest.mark.parametrize("text", ["[]", "{}", "no", '{"convcli-allow": 2, "salt": "", "digests": []}'])
def test_another_file_is_no_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "allow.json"
    path.write_text(text)
    with pytest.raises(JobError) as caught:
        load_allowed(str(path))
    assert caught.value.code == "not-a-baseline"
