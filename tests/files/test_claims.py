"""Claims on a folder of a store: they exclude what a lock of a local folder excludes, and none outlives its run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convcli.__main__ import main
from convcli.files import claims
from convcli.files.claims import CLAIMS, claimed
from convcli.files.locks import locked
from convcli.files.stores import OutputFolder, folder_at
from convcli.model.errors import JobError
from convcli.wire import exact_json

pytestmark = pytest.mark.remote


@pytest.fixture
def out(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder of a store, and short times."""
    pytest.importorskip("fsspec")
    for name, seconds in (("RENEWAL", 0.05), ("PATIENCE", 20), ("STEP", 0.02)):
        monkeypatch.setattr(claims, name, seconds)
    url = f"memory://{uuid.uuid4().hex}"
    yield url
    assert list(names(url)) == [], "no claim is left"


def names(url: str) -> dict[str, int]:
    return {name: size for name, size in folder_at(url).sizes().items() if name.startswith(CLAIMS)}


def wait_until_refused(check: Callable[[], None]) -> None:
    for _ in range(400):
        time.sleep(claims.RENEWAL)
        check()


def put(folder: OutputFolder, name: str, **values: Any) -> None:
    """Writes the claim of a run that does not renew it."""
    now = time.time()
    claim = {"machine": "another", "process": 1, "begun": now, "renewed": now, **values}
    output = folder.output(CLAIMS + name)
    output.write(exact_json.write_line(claim))
    output.commit()


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_claim_excludes_all_but_those_that_share(out: str, first: bool, second: bool) -> None:
    told: list[str] = []
    with locked(out, is_shared=first) as check:
        if first and second:
            with locked(out, is_shared=second, announce=told.append):
                assert (len(names(out)), told) == (2, [])
        else:
            with pytest.raises(JobError) as caught, locked(out, is_shared=second, announce=told.append):
                pass
            assert (caught.value.code, caught.value.file, len(told)) == ("output-in-use", out, 1)
        assert len(names(out)) == 1
        check()


def test_of_two_runs_that_begin_at_once_at_most_one_goes_on(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second writes its claim before the first looks."""
    second = claimed(out, is_shared=False, announce=lambda _: None)
    refused = []

    def begin(_: str) -> None:
        with pytest.raises(JobError):
            second.__enter__()
        refused.append("second")
        monkeypatch.setattr(claims, "PATIENCE", 0.1)

    put(folder_at(out), "run-0.json")
    with claimed(out, is_shared=False, announce=begin):
        assert refused == ["second"]


@pytest.mark.parametrize("name", ["run-0.json", "task-0.json"])
def test_a_claim_that_nobody_renews_is_taken_over_after_a_while(
    out: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "PATIENCE", 0.1)
    told: list[str] = []
    put(folder_at(out), name)
    begin = time.monotonic()
    with claimed(out, is_shared=False, announce=told.append):
        assert len(names(out)) == 1
    assert time.monotonic() - begin > claims.PATIENCE
    assert len(told) == 1


def test_a_claim_that_cannot_be_read_is_one_that_nobody_renews(out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "PATIENCE", 0.1)
    output = folder_at(out).output(f"{CLAIMS}run-0.json")
    output.write(b"[]")
    output.commit()
    told: list[str] = []
    with claimed(out, is_shared=False, announce=told.append):
        assert len(told) == 1


def test_an_old_claim_and_one_of_a_process_that_has_ended_are_taken_over_at_once(
    out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with claimed(out, is_shared=False, announce=lambda _: None):
        (name,) = names(out)
        mine: Any = exact_json.parse(next(folder_at(out).read([name])))
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    told: list[str] = []
    folder = folder_at(out)
    put(folder, "run-old.json", renewed=time.time() - claims.OLD - 1)
    if mine["machine"]:
        put(folder, "run-ended.json", **mine | {"process": int(ended.stdout)})
        put(folder, "run-before.json", **mine | {"process": os.getpid(), "begun": claims.STARTED - 1})
    with claimed(out, is_shared=False, announce=told.append):
        assert (len(names(out)), told) == (1, [])
    monkeypatch.setattr(claims, "PATIENCE", 0.1)
    put(folder, "run-living.json", **mine | {"process": os.getppid()})
    with claimed(out, is_shared=False, announce=told.append):
        assert len(told) == 1


def test_a_run_whose_claim_was_removed_learns_it(out: str) -> None:
    with claimed(out, is_shared=False, announce=lambda _: None) as check:
        (name,) = names(out)
        folder_at(out).remove(name)
        with pytest.raises(JobError) as caught:
            wait_until_refused(check)
        assert caught.value.message == "another run of convcli has taken over this folder"


def test_a_job_in_a_store_ends_if_another_run_writes_there(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"messages": [{"role": "user", "content": "x"}]}) + "\n")
    words = ["convert", str(source), "--to", "anthropic", "--out-dir", out]
    with claimed(out, is_shared=True, announce=lambda _: None):
        assert main([*words, "--part", "1/1"]) == 0
        assert main([*words, "--engine", "local"]) == 2
    told = capfd.readouterr().err
    assert "note: waiting to see whether another run still writes into this folder" in told
    assert "error[output-in-use] another run of convcli is writing into this folder" in told
    monkeypatch.setattr(claims, "PATIENCE", 0.1)
    put(folder_at(out), "run-0.json")
    assert main([*words, "--engine", "local"]) == 0
    assert "_SUCCESS" in folder_at(out).sizes()
