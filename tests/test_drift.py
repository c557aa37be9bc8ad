"""The comparison with the types of SDKs: a planted novelty is found, whatever kind of type has it."""

from __future__ import annotations

import dataclasses
import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, Required, TypedDict

import msgspec
import pytest

from convcli import dialects
from convcli.validation import schemas
from tests import drift
from tests.drift import Fact, Sdk, facts_of, novelties

DISCRIMINATORS = ("type", "role")


class Block(TypedDict):
    type: Required[Literal["text", "telepathy"]]
    text: str


class Reason(enum.Enum):
    STOP = "stop"
    WHIM = "whim"


@dataclasses.dataclass
class Answer:
    role: Reason
    content: list[Annotated[Block, "of a kind"] | str]
    aura: int | None = None


class MessageParam(TypedDict, total=False):
    content: dict[str, Answer] | None
    role: Literal["user"]


def test_keys_and_discriminating_values_of_all_types_are_found() -> None:
    assert set(facts_of([MessageParam], DISCRIMINATORS)) == {
        Fact("Message", "content"),
        Fact("Message", "role"),
        Fact("Message", "role", "user"),
        Fact("Answer", "role"),
        Fact("Answer", "role", "stop"),
        Fact("Answer", "role", "whim"),
        Fact("Answer", "content"),
        Fact("Answer", "aura"),
        Fact("Block", "type"),
        Fact("Block", "type", "text"),
        Fact("Block", "type", "telepathy"),
        Fact("Block", "text"),
    }


def test_what_the_schema_does_not_name_is_new() -> None:
    new = novelties("openai-chat", facts_of([MessageParam], DISCRIMINATORS), DISCRIMINATORS)
    assert Fact("Answer", "aura") in new
    assert Fact("Block", "type", "telepathy") in new
    assert not {Fact("Block", "text"), Fact("Block", "type", "text"), Fact("Message", "role", "user")} & {*new}


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An SDK whose only type has a novelty, and a list of known ones that is empty."""
    monkeypatch.setattr(drift, "SDKS", {"openai-chat": Sdk("msgspec", __name__, ("Answer",), DISCRIMINATORS)})
    monkeypatch.setattr(drift, "KNOWN", tmp_path / "known.json")
    monkeypatch.setattr(sys, "argv", ["drift"])
    drift.KNOWN.write_text("{}")
    return drift.KNOWN


def test_a_planted_novelty_is_reported_until_it_is_accepted(
    planted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drift.main() == 1
    printed = capsys.readouterr().out
    assert printed.startswith(f"openai-chat: msgspec {msgspec.__version__}, ")
    assert "  Answer: aura" in printed
    assert "  Block: type=telepathy" in printed
    monkeypatch.setattr(sys, "argv", ["drift", "--accept"])
    assert drift.main() == 0
    assert json.loads(planted.read_text())["openai-chat"]["Block"] == ["type=telepathy"]
    monkeypatch.setattr(sys, "argv", ["drift"])
    assert drift.main() == 0


def test_an_sdk_that_is_not_installed_is_named_and_a_type_that_is_gone_is_new(
    planted: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sdks = {"mcp": Sdk("none", "no_such_sdk", ()), "ollama": Sdk("msgspec", __name__, ("Gone",))}
    monkeypatch.setattr(drift, "SDKS", sdks)
    assert drift.main() == 1
    printed = capsys.readouterr()
    assert "mcp: none is not installed" in printed.err
    assert printed.out.startswith("ollama: ")


def test_every_sdk_is_that_of_a_dialect_and_what_is_known_is_still_no_part_of_a_schema() -> None:
    known: Any = drift.accepted()
    assert drift.SDKS.keys() <= {*dialects.names()}
    assert known.keys() <= drift.SDKS.keys()
    for name, owners in known.items():
        keys, values = schemas.vocabulary(name), schemas.types(name, drift.SDKS[name].discriminators)
        for facts in owners.values():
            assert [
                fact for fact in facts if (fact.partition("=")[2] or fact) in (values if "=" in fact else keys)
            ] == []


@pytest.mark.sdk
def test_the_types_of_installed_sdks_are_read() -> None:
    for name in ("anthropic", "openai-responses", "gemini"):
        sdk = drift.SDKS[name]
        pytest.importorskip(sdk.module)
        assert sum(1 for _ in facts_of(drift.hints_in(sdk), sdk.discriminators)) > 100


def test_the_command_names_the_dialects_that_it_knows() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.drift", "no-such"], capture_output=True, check=False)
    assert (done.returncode, b"no SDK is known for no-such" in done.stderr) == (2, True)
