"""A breach of a schema is one finding at its place, in words for people that quote no value."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.validation import schemas
from tests.validation.schema_cases import CALL, DOCUMENTS, REQUEST, changed, without_the_fast_one

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


def test_a_pattern_is_reported_with_the_length_of_what_was_found() -> None:
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
        reported = schemas.findings("openai-chat", changed(REQUEST, pointer, secret))
        assert all(secret not in finding.message + finding.help for finding in reported)
