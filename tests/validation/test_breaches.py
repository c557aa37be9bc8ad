"""What is wrong with a document is found, and findings end."""

from __future__ import annotations

import json
import math

import msgspec
import pytest

from convcli.validation import breaches, schemas
from tests.validation.schema_cases import REQUEST, changed


def test_strict_warns_of_each_key_that_the_schema_does_not_name() -> None:
    document = changed(changed(REQUEST, "/messages/1/content/0/txt", ""), "/temprature", 1)
    document["tools"][0]["function"]["parameters"]["anything"] = {"goes": "here"}
    assert schemas.findings("openai-chat", document) == []
    reported = schemas.findings("openai-chat", document, strict=True)
    assert [(finding.code, finding.severity, finding.where, finding.help) for finding in reported] == [
        ("unknown-key", "warning", "/messages/1/content/0/txt", 'did you mean "text"?'),
        ("unknown-key", "warning", "/temprature", 'did you mean "temperature"?'),
    ]


def test_the_findings_of_a_hopeless_document_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaches, "MOST", 50)
    found = schemas.findings("openai-chat", [{"role": 1}] * (breaches.MOST + 1))
    assert len(found) == breaches.MOST
    assert [one.notes for one in found[-2:]] == [(), (breaches.MORE,)]
    unknown = [{"role": "user", "content": "", "x": 1}] * (breaches.MOST + 1)
    assert len(schemas.findings("openai-chat", unknown, strict=True)) == breaches.MOST


@pytest.mark.parametrize("key", ["0", "00", "+1", "18446744073709551616"])
def test_a_key_of_digits_on_the_path_is_kept_as_it_is(key: str) -> None:
    found = schemas.findings("openai-chat", {**REQUEST, "logit_bias": {key: "x"}})
    assert [finding.where for finding in found] == [f"/logit_bias/{key}"]


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_of_python_that_json_has_not_is_an_error(number: float) -> None:
    for value in ({"temperature": number}, {"logit_bias": {"1": number}}):
        [finding] = schemas.findings("openai-chat", {**REQUEST, **value})
        assert (finding.code, finding.where.split("/")[1]) == ("not-finite", next(iter(value)))


def test_findings_pass_their_own_schema() -> None:
    for finding in schemas.findings("openai-chat", [{"role": 1}, {}, 5], strict=True):
        assert schemas.findings("finding", json.loads(msgspec.json.encode(finding)), strict=True) == []


def test_a_key_of_digits_is_a_key_and_no_index() -> None:
    message = {"id": "m", "author": {"role": "user"}, "content": 5}
    node = {"id": "7", "parent": None, "children": [], "message": message}
    document = {"title": "t", "id": "c", "mapping": {"7": node}, "current_node": "7"}
    [finding] = schemas.findings("chatgpt-export", document)
    assert (finding.code, finding.where) == ("wrong-type", "/mapping/7/message/content")
