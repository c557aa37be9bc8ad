"""The schemas are found, their verdict is exact, and findings end."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.model.errors import JobError
from convcli.validation import schemas
from tests import tiers
from tests.validation.schema_cases import DOCUMENTS, REQUEST, changed, quickly, without_the_fast_one

# ---------------------------------------------------------------- the schemas


def test_all_schemas_are_found_and_named() -> None:
    assert {"finding", "intermediate", "loss", "openai-chat"} <= set(schemas.names())
    assert schemas.schema("loss")["title"] == "Loss"


def test_an_unknown_schema_is_a_wrong_job_and_the_nearest_is_offered() -> None:
    with pytest.raises(JobError) as caught:
        schemas.schema("openai-chta")
    assert (caught.value.code, caught.value.help) == ("unknown-schema", 'did you mean "openai-chat"?')


def test_a_name_cannot_leave_the_folder() -> None:
    with pytest.raises(JobError):
        schemas.schema("../schemas/loss")


# ---------------------------------------------------------------- the verdict


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_good_document_is_accepted_and_finds_nothing_even_strictly(name: str) -> None:
    assert schemas.accepts(name, DOCUMENTS[name])
    assert schemas.findings(name, DOCUMENTS[name], strict=True) == []


ODD_VALUES = [10**400, -(2**63) - 1, 1e300, "\ud800", {"\udfff": 1}]


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_values_that_rust_cannot_hold_do_not_change_the_verdict(value: Any) -> None:
    assert schemas.accepts("openai-chat", REQUEST | {"custom": value})
    bad = REQUEST | {"custom": value, "model": 1}
    assert not schemas.accepts("openai-chat", bad)
    assert [finding.where for finding in schemas.findings("openai-chat", bad)] == ["/model"]


def test_a_document_as_deep_as_can_be_read_gets_a_verdict() -> None:
    deep: Any = "\ud800"
    for _ in range(99):
        deep = {"type": "tool_result", "toolCallId": "", "name": "", "kind": "multimodal", "value": [deep]}
    document = {"convcli": 1, "messages": [{"role": "tool", "parts": [deep]}]}
    assert [finding.code for finding in schemas.findings("intermediate", document)] == ["unknown-value"]


def test_without_the_fast_validator_the_verdict_and_the_findings_are_the_same() -> None:
    bad = changed(changed(REQUEST, "/messages/3/content", None), "/messages/0/role", "sytem")
    assert without_the_fast_one("openai-chat", REQUEST) == []
    assert without_the_fast_one("openai-chat", bad) == schemas.findings("openai-chat", bad) != []


def test_a_few_small_good_documents_need_no_validator() -> None:
    code = (
        "import sys; from convcli.validation import schemas;"
        f"assert all(schemas.accepts(name, document) for name, document in {DOCUMENTS!r}.items());"
        "assert not {'jsonschema', 'jsonschema_rs'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_rows_of_a_file_pass_as_a_list() -> None:
    class Rows(list[Any]):
        pass

    assert schemas.accepts("openai-chat", Rows(REQUEST["messages"]))
    assert [finding.where for finding in schemas.findings("openai-chat", Rows([{"role": "user"}]))] == ["/0"]


def test_no_reference_is_ever_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    document = changed(REQUEST, "/tools/0/function/parameters", {"$ref": "http://localhost:9/a.json"})
    assert schemas.accepts("openai-chat", document)
    assert without_the_fast_one("openai-chat", document) == []


# ---------------------------------------------------------------- the findings of both validators

ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.just("tool"), st.just([]), st.just({}), st.just([{}]))


def pointers(value: Any, above: str = "") -> Iterator[str]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield f"{above}/{key}"
        yield from pointers(item, f"{above}/{key}")


@tiers.examples(60)
@given(data=st.data(), name=st.sampled_from(sorted(DOCUMENTS)))
def test_both_validators_find_the_same_in_any_mutant(data: st.DataObject, name: str) -> None:
    document = DOCUMENTS[name]
    for _ in range(2):
        pointer = data.draw(st.sampled_from(list(pointers(document))))
        document = changed(document, pointer, *data.draw(st.one_of(st.just(()), st.tuples(ANYTHING))))
    found = schemas.findings(name, document)
    assert found == without_the_fast_one(name, document)
    assert (found == []) == schemas.accepts(name, document) == quickly(name, document)
    keys = [(finding.where, finding.message if finding.code == "missing-key" else "") for finding in found]
    assert len(set(keys)) == len(keys)


def test_the_marks_that_are_read_without_the_rest_of_a_schema_are_those_of_the_schema() -> None:
    for name in schemas.names():
        assert schemas.marks(name) == schemas.schema(name).get("x-marks"), name
