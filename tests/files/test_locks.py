"""A lock of a folder excludes other runs, unless both share the work; nothing of it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from convcli.files.locks import locked
from convcli.model.errors import JobError


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_lock_excludes_all_but_those_that_share(tmp_path: Path, first: bool, second: bool) -> None:
    folder = tmp_path / "out" / "in"
    with locked(str(folder), is_shared=first):
        if first and second:
            with locked(str(folder), is_shared=second):
                pass
        else:
            with pytest.raises(JobError) as caught, locked(str(folder), is_shared=second):
                pass
            assert (caught.value.code, caught.value.file) == ("output-in-use", str(folder))
    with locked(str(folder), is_shared=second):
        assert list(folder.iterdir()) == []


def test_a_system_without_locks_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fcntl", None)
    with locked(str(tmp_path), is_shared=False), locked(str(tmp_path), is_shared=False):
        pass
