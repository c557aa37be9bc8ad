"""`import convcli`: what it shows, what it costs, and that its examples are true."""

from __future__ import annotations

import copy
import doctest
import json
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

import pytest

import convcli
from convcli import dialects
from convcli.engine.conversion import Conversion
from convcli.validation import schemas
from convcli.wire.decimals import builtins
from tests.cli_cases import environment

DOCUMENT: dict[str, Any] = {"messages": [{"role": "user", "name": "ada", "content": "Hi."}], "top_k": 5}
ORPHAN: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Hi."}, {"role": "tool", "tool_call_id": "a", "content": "x"}]
}
"""A result without a call: the schema takes it, a rule does not."""


# ---------------------------------------------------------------- what is there


def test_dir_lists_the_public_names_and_nothing_else() -> None:
    assert set(dir(convcli)) == {*convcli.__all__, "__version__"}
    assert {"Transcript", "Loss", "Text", "Media", "Reasoning", "Conversion", "UNSET", "dialects"} <= set(dir(convcli))
    for name in dir(convcli):
        assert getattr(convcli, name) is not None, name


def test_the_parts_of_a_message_can_be_told_apart_with_public_names() -> None:
    public = {getattr(convcli, name) for name in convcli.__all__ if isinstance(getattr(convcli, name), type)}
    assert set(get_args(convcli.Part)) <= public


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'Transcripts'"):
        convcli.Transcripts  # type: ignore[attr-defined]  # noqa: B018


def test_help_shows_the_records_and_the_functions() -> None:
    code = "import convcli, pydoc; print(pydoc.plain(pydoc.render_doc(convcli)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    for words in ("class Transcript(", "class Loss(", "class Media(", "convert_lines(lines", "iterate(path"):
        assert words in shown.stdout
    assert "_HOMES" not in shown.stdout


def test_the_import_loads_nothing_but_the_version() -> None:
    code = "import sys; before = set(sys.modules); import convcli; print(*sorted(set(sys.modules) - before))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    loaded = {name for name in shown.stdout.split() if name.startswith(("convcli", "typing", "msgspec", "orjson"))}
    assert loaded == {"convcli", "convcli.model", "convcli.model.version"}


def test_the_examples_of_the_docstrings_are_true() -> None:
    results = doctest.testmod(convcli)
    assert (results.failed, results.attempted > 20) == (0, True)


def test_source_is_the_one_word_for_the_dialect_of_what_is_given_and_the_old_one_still_works() -> None:
    for function in (convcli.lift, convcli.validate):
        assert function(DOCUMENT, source="openai-chat") == function(DOCUMENT, dialect="openai-chat")


def test_columns_that_are_json_in_texts_are_read_as_in_files_and_stay_texts_in_their_own_dialect() -> None:
    row = {name: json.dumps(value) for name, value in DOCUMENT.items() if isinstance(value, list)}
    whole = {name: DOCUMENT[name] for name in row}
    assert convcli.detect(row) == convcli.detect(whole)
    assert convcli.lift(row, source="openai-chat") == convcli.lift(whole, source="openai-chat")
    assert convcli.validate(row, source="openai-chat") == []
    assert (
        convcli.convert(row, to="gemini", source="openai-chat").document
        == convcli.convert(whole, to="gemini", source="openai-chat").document
    )
    assert convcli.convert(row, to="openai-chat", source="openai-chat").document == row


# ---------------------------------------------------------------- copies


def conversions() -> list[Conversion]:
    """With losses, with a finding, and of a document that stays as it is."""
    return [
        convcli.convert(DOCUMENT, to="anthropic", source="openai-chat"),
        convcli.convert(ORPHAN, to="anthropic", source="openai-chat"),
        convcli.convert(ORPHAN, to="openai-chat", source="openai-chat"),
    ]


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_conversion_says_the_same(copied: Any) -> None:
    for conversion in conversions():
        again = copied(conversion)
        assert again.document == conversion.document
        assert again.losses == conversion.losses
        assert again.findings == conversion.findings
        assert again.transcript == conversion.transcript


def test_the_dialects_and_their_registry_are_the_same_ones_in_a_pickle() -> None:
    for one in (convcli.dialects, *map(dialects.get, dialects.names())):
        assert pickle.loads(pickle.dumps(one)) is one


def to_anthropic(document: Any) -> Conversion:
    return convcli.convert(document, to="anthropic", source="openai-chat")


def test_a_conversion_comes_back_from_another_process() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        (there,) = pool.map(to_anthropic, [DOCUMENT])
    here = to_anthropic(DOCUMENT)
    assert (there.document, there.losses, there.findings) == (here.document, here.losses, here.findings)
    assert there.losses[0].after is convcli.UNSET


def test_losses_and_findings_are_json_values_by_their_schemas() -> None:
    conversion = to_anthropic(DOCUMENT)
    for loss in conversion.losses:
        assert schemas.findings("loss", json.loads(json.dumps(loss.to_dict()))) == []
        assert loss.to_dict() == builtins(loss)
    findings = convcli.validate(ORPHAN, source="openai-chat")
    assert findings
    for finding in findings:
        assert schemas.findings("finding", json.loads(json.dumps(finding.to_dict()))) == []


# ---------------------------------------------------------------- types


def test_the_names_that_editors_complete_are_those_of_the_registry() -> None:
    assert get_args(convcli.DialectName) == dialects.names()


SCRIPT = '''
"""Uses every public function as a strict type checker sees it."""

from pathlib import Path

import convcli
from convcli import ConvcliError, Loss, Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript


class Model:
    """A model as SDKs return it."""

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool, warnings: bool) -> dict[str, object]:
        return {"role": "user", "content": "Hi."}


def kinds(message: Message) -> list[str]:
    names: list[str] = []
    for part in message.parts:
        if isinstance(part, (Text, Reasoning)):
            names.append(part.text)
        elif isinstance(part, ToolCall):
            names.append(part.name)
        elif isinstance(part, ToolResult):
            names.append(part.tool_call_id)
        elif isinstance(part, Media):
            names.append(part.media_type or part.type)
    return names


def main(path: Path) -> None:
    for transcript in convcli.read(path, source="openai-chat"):
        for message in transcript.messages:
            kinds(message)
    for item in convcli.iterate(path):
        if isinstance(item, ConvcliError):
            print(item.code, item.file, item.line)
        else:
            result = convcli.lower(item, "gemini", branch="active")
            lost: list[Loss] = [loss for loss in result.losses if loss.level == "content"]
            print([loss.to_dict() for loss in lost], convcli.difference(item, result.transcript))
    document: dict[str, object] = {"messages": [{"role": "user", "content": "Hi."}]}
    name: str = "anthropic"
    dialect: convcli.DialectName = "openai-chat"
    print(convcli.convert(document, name, source=dialect).document, convcli.convert((Model(),), "gemini").document)
    transcript = convcli.lift(document, source="openai-chat")
    same: bool = transcript == Transcript([Message("user", [Text("Hi.")])])
    result = convcli.convert(document, to="anthropic", form="request")
    print(same, result.document, [finding.to_dict() for finding in result.findings], convcli.dialects.names())
    print(convcli.validate(document, as_="anthropic", strict=True), convcli.detect(document).evidence.reason)
    record = convcli.restore_record(document, result.document, source="openai-chat", to="anthropic")
    print(convcli.restore(result.document, record))
    with path.open("rb") as lines:
        for outcome in convcli.convert_lines(lines, to="anthropic"):
            data: bytes | None = outcome.data
            print(outcome.line, data, outcome.losses, outcome.findings)
        for outcome in convcli.validate_lines([b"{}"], as_="anthropic"):
            print(outcome.findings[0].code)
'''


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "uses.py"
    path.write_text(SCRIPT.lstrip(), encoding="utf-8")
    return path


def test_the_script_runs(script: Path, tmp_path: Path) -> None:
    chats = tmp_path / "chats.jsonl"
    chats.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi."}]}) + "\n{broken\n", encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(script.read_text("utf-8"), "uses.py", "exec"), names)
    with pytest.raises(convcli.ContentError, match="not-json"):
        names["main"](chats)


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright"]], ids=["mypy", "pyright"])
def test_a_strict_type_checker_has_no_objection(script: Path, checker: list[str]) -> None:
    program = shutil.which(checker[0], path=str(Path(sys.executable).parent)) or shutil.which(checker[0])
    if program is None:
        pytest.skip(f"{checker[0]} is not installed")
    if checker[0] == "pyright":
        config = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": [script.name]}
        (script.parent / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    root = str(Path(convcli.__file__).parent.parent)
    words = [program, *checker[1:], *(["--pythonpath", sys.executable] if checker[0] == "pyright" else [script.name])]
    checked = subprocess.run(
        words,
        capture_output=True,
        text=True,
        cwd=script.parent,
        env={**environment(), "MYPYPATH": root, "PYTHONPATH": root},
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
