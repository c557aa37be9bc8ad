"""The schemas are found, their verdict is exact, and its findings are for people."""

from __future__ import annotations

import copy
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convcli.model.errors import JobError
from convcli.model.findings import Finding
from convcli.validation import schemas
from convcli.validation.quick_schemas import QuickValidator

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "22"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": "auto",
}
TRANSCRIPT: dict[str, Any] = {
    "convcli": 1,
    "messages": [
        {
            "role": "user",
            "parts": [{"type": "text", "text": "Hi"}, {"type": "image", "url": "https://example.org/a.png"}],
        },
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {}}]},
        {
            "role": "tool",
            "parts": [{"type": "tool_result", "toolCallId": "c", "name": "f", "kind": "text", "value": "22"}],
        },
    ],
    "toolChoice": {"name": "f"},
}
DOCUMENTS = {"openai-chat": REQUEST, "intermediate": TRANSCRIPT}


def changed(document: Any, pointer: str, *value: Any) -> Any:
    """A copy with the value at the pointer replaced, or removed when none is given."""
    copied = copy.deepcopy(document)
    *steps, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    node = copied
    for step in steps:
        node = node[step]
    if value:
        node[last] = value[0]
    else:
        del node[last]
    return copied


def without_the_fast_one(name: str, document: Any) -> list[Finding]:
    """The findings where jsonschema_rs is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemas, "fast_validator", lambda name: None)
        return schemas.findings(name, document)


def quickly(name: str, document: Any) -> bool:
    """The verdict without a validator. Raises UndecidedError."""
    return QuickValidator(1_000_000).passes(schemas.schema(name), document)


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


# ---------------------------------------------------------------- the findings

BROKEN: list[tuple[str, str, tuple[Any, ...], str, str, str]] = [
    (
        "openai-chat",
        "/messages/0/role",
        ("tol",),
        "unknown-value",
        "/messages/0/role",
        '"role" must be one of system, developer, user, assistant, tool, function; found "tol"',
    ),
    (
        "openai-chat",
        "/messages/0/role",
        ("a b\x1b",),
        "unknown-value",
        "/messages/0/role",
        '"role" must be one of system, developer, user, assistant, tool, function; found a string of 4 characters',
    ),
    ("openai-chat", "/messages/0/role", (), "missing-key", "/messages/0", '"role" is missing'),
    (
        "openai-chat",
        "/messages/0",
        ("hello",),
        "wrong-type",
        "/messages/0",
        'an item of "messages" must be an object; found a string of 5 characters',
    ),
    ("openai-chat", "/messages", ({},), "wrong-type", "/messages", '"messages" must be a list; found an empty object'),
    ("openai-chat", "/messages", (), "missing-key", "", '"messages" is missing'),
    (
        "openai-chat",
        "/messages/1/content/0",
        ("text",),
        "wrong-type",
        "/messages/1/content/0",
        'an item of "content" must be an object; found a string of 4 characters',
    ),
    ("openai-chat", "/messages/1/content/0/text", (), "missing-key", "/messages/1/content/0", '"text" is missing'),
    (
        "openai-chat",
        "/messages/1/content/0/type",
        ("tool_use",),
        "not-allowed",
        "/messages/1/content/0/type",
        '"type" cannot be "tool_use" here',
    ),
    (
        "openai-chat",
        "/messages/2/tool_calls",
        ({"0": CALL},),
        "wrong-type",
        "/messages/2/tool_calls",
        '"tool_calls" must be a list or null; found an object of 1 key',
    ),
    (
        "openai-chat",
        "/messages/2/tool_calls/0/type",
        ("functoin",),
        "unknown-value",
        "/messages/2/tool_calls/0/type",
        '"type" must be one of function, custom, null; found "functoin"',
    ),
    (
        "openai-chat",
        "/messages/3/content",
        (None,),
        "wrong-type",
        "/messages/3/content",
        '"content" must be a string or a list; found null',
    ),
    (
        "openai-chat",
        "/messages/3/content",
        (5,),
        "wrong-type",
        "/messages/3/content",
        '"content" must be a string or a list; found an integer',
    ),
    (
        "openai-chat",
        "/messages/3/content",
        ([{"type": "image_url", "image_url": {"url": ""}}],),
        "unknown-value",
        "/messages/3/content/0/type",
        '"type" must be text; found "image_url"',
    ),
    (
        "openai-chat",
        "/tools/0/function/parameters",
        ("{}",),
        "wrong-type",
        "/tools/0/function/parameters",
        '"parameters" must be an object or null; found a string of 2 characters',
    ),
    (
        "openai-chat",
        "/tool_choice",
        ("any",),
        "unknown-value",
        "/tool_choice",
        '"tool_choice" must be one of none, auto, required; found "any"',
    ),
    (
        "openai-chat",
        "/logit_bias",
        ({"a/b~": True},),
        "wrong-type",
        "/logit_bias/a~1b~0",
        "a name of 4 characters must be a number; found a boolean",
    ),
    ("intermediate", "/convcli", (2,), "unknown-value", "/convcli", '"convcli" must be 1; found an integer'),
    (
        "intermediate",
        "/messages/0/parts/1/url",
        (),
        "missing-key",
        "/messages/0/parts/1",
        'one of "data", "url", "fileId", "path", "text" is missing',
    ),
    (
        "intermediate",
        "/messages/0/parts/1/data",
        ("",),
        "not-allowed",
        "/messages/0/parts/1",
        'only one of "data", "url", "fileId", "path", "text" can be set; found "data", "url"',
    ),
    (
        "intermediate",
        "/messages/2/parts",
        ([],),
        "too-few",
        "/messages/2/parts",
        '"parts" must have at least 1 item; found an empty list',
    ),
    (
        "intermediate",
        "/messages/2/parts/0/value",
        ({},),
        "wrong-type",
        "/messages/2/parts/0/value",
        '"value" must be a string; found an empty object',
    ),
    (
        "intermediate",
        "/messages/2/parts/0/isError",
        (True,),
        "not-allowed",
        "/messages/2/parts/0/isError",
        '"isError" is not allowed here',
    ),
    (
        "intermediate",
        "/messages/2/role",
        ("user",),
        "not-allowed",
        "/messages/2/parts/0/type",
        '"type" cannot be "tool_result" here',
    ),
    (
        "intermediate",
        "/messages/1/parts/0/arguments",
        ("{}",),
        "wrong-type",
        "/messages/1/parts/0/arguments",
        '"arguments" must be an object; found a string of 2 characters',
    ),
    ("intermediate", "/title", (None,), "wrong-type", "/title", '"title" must be a string; found null'),
]


@pytest.mark.parametrize(
    ("name", "pointer", "value", "code", "where", "message"), BROKEN, ids=[f"{case[3]} {case[4]}" for case in BROKEN]
)
def test_one_defect_is_one_finding_at_its_place(
    name: str, pointer: str, value: tuple[Any, ...], code: str, where: str, message: str
) -> None:
    document = changed(DOCUMENTS[name], pointer, *value)
    found = schemas.findings(name, document)
    assert [(finding.code, finding.where, finding.message) for finding in found] == [(code, where, message)]
    assert found == without_the_fast_one(name, document)


def test_a_pattern_is_told_with_the_length_of_what_was_found() -> None:
    (finding,) = schemas.findings("finding", {"code": "Wrong", "severity": "error", "message": "m"})
    assert finding.code == "wrong-format"
    assert finding.message.endswith("found a string of 5 characters")


def test_a_near_miss_gets_its_help() -> None:
    (role,) = schemas.findings("openai-chat", [{"role": "asistant"}])
    (key,) = schemas.findings("cohere", [{"role": "tool", "content": "", "toolCallId": "c"}])
    assert role.help == 'did you mean "assistant"?'
    assert key.help == 'found "toolCallId": did you mean "tool_call_id"?'


def test_findings_never_quote_a_value() -> None:
    secret = "sk-FAKE with blanks"
    for pointer in ("/messages", "/messages/0/role", "/messages/1/content/0/type", "/tools/0", "/tool_choice"):
        told = schemas.findings("openai-chat", changed(REQUEST, pointer, secret))
        assert all(secret not in finding.message + finding.help for finding in told)


def test_strict_warns_of_each_key_that_the_schema_does_not_name() -> None:
    document = changed(changed(REQUEST, "/messages/1/content/0/txt", ""), "/temprature", 1)
    document["tools"][0]["function"]["parameters"]["anything"] = {"goes": "here"}
    assert schemas.findings("openai-chat", document) == []
    told = schemas.findings("openai-chat", document, strict=True)
    assert [(finding.code, finding.severity, finding.where, finding.help) for finding in told] == [
        ("unknown-key", "warning", "/messages/1/content/0/txt", 'did you mean "text"?'),
        ("unknown-key", "warning", "/temprature", 'did you mean "temperature"?'),
    ]


def test_the_findings_of_a_hopeless_document_end() -> None:
    found = schemas.findings("openai-chat", [{"role": 1}] * (schemas.MOST + 1))
    assert len(found) == schemas.MOST
    assert [one.notes for one in found[-2:]] == [(), (schemas.MORE,)]
    unknown = [{"role": "user", "content": "", "x": 1}] * (schemas.MOST + 1)
    assert len(schemas.findings("openai-chat", unknown, strict=True)) == schemas.MOST


def test_findings_pass_their_own_schema() -> None:
    for finding in schemas.findings("openai-chat", [{"role": 1}, {}, 5], strict=True):
        assert schemas.findings("finding", json.loads(msgspec.json.encode(finding)), strict=True) == []


ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.just("tool"), st.just([]), st.just({}), st.just([{}]))


def pointers(value: Any, above: str = "") -> Iterator[str]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield f"{above}/{key}"
        yield from pointers(item, f"{above}/{key}")


@settings(max_examples=60, deadline=None)
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
