"""Redaction, from outside: a secret that is planted in any string of a document is in no output of it.

The output is a document of the same dialect with the same pairs of calls and results, and masking it again changes
nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import count
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import answers, pipeline
from convcli.engine.redaction.redactor import Redactor
from convcli.engine.redaction.rules import secrets
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import Path, ToolCall, ToolResult, Transcript
from convcli.validation import schemas
from convcli.wire import exact_json
from tests import tiers
from tests.secret_examples import filled
from tests.support import acceptable_of, names, untouched

pytest.importorskip("phonenumbers")


@cache
def templates() -> list[str]:
    """Secrets that a whole string can be, and personal data."""
    whole = [rule.match[0] for rule in secrets() if rule.expression.fullmatch(filled(rule.match[0]))]
    return [*whole, "{alpha:9}.{alpha:7}@{alpha:8}.dev", "/home/{alpha:9}x"]


def leaves(value: Any, path: Path = ()) -> list[tuple[Path, str]]:
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in leaves(item, (*path, key))]
    if isinstance(value, list):
        return [leaf for n, item in enumerate(value) for leaf in leaves(item, (*path, n))]
    return [(path, value)] if isinstance(value, str) else []


def put(document: Any, path: Path, value: Any) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def ids_of(transcript: Transcript) -> list[tuple[str, str]]:
    """The ids of calls and results as the document has them; without those that convcli generates, and in no order:
    OpenCode orders messages by an id, which may be masked."""
    parts = [part for message in transcript.messages for part in message.parts]
    called = [("call", part.id) for part in parts if isinstance(part, ToolCall)]
    called += [("result", part.tool_call_id) for part in parts if isinstance(part, ToolResult)]
    generated = transcript.origin.generated_ids if transcript.origin is not None else set[str]()
    return sorted((kind, "" if name in generated else name) for kind, name in called)


def inside(text: str, secret: str) -> str:
    """A string with a secret: in the first string of JSON, otherwise at its end."""
    try:
        value = json.loads(text) if text[:1] in ("{", "[") else None
    except ValueError:
        value = None
    for path, leaf in leaves(value):
        put(value, path, f"{leaf} {secret}")
        return json.dumps(value)
    return secret if " " not in text else f"{text} {secret}"


def with_secrets(sample: Any, dialect: Any) -> tuple[Any, set[str]]:
    """The document with a secret in every string where its schema allows one, but not in ids that pair."""
    document, planted, numbers = untouched(sample), set[str](), count()
    paired = {name for _, name in ids_of(answers.lift(document, dialect))}
    kept = answers.lift(document, dialect)
    for path, text in leaves(document):
        number = next(numbers)
        secret = filled(templates()[number % len(templates())], number)
        if text in paired or not path:
            continue
        put(document, path, inside(text, secret))
        if schemas.accepts(dialect.name, document) and is_read(document, dialect, kept):
            planted.add(secret)
        else:
            put(document, path, text)
    return document, planted


def is_read(document: Any, dialect: Any, kept: Transcript) -> bool:
    """True if the dialect still finds the calls and results that it found: a planted secret is no other kind of row."""
    try:
        return ids_of(answers.lift(document, dialect)) == ids_of(kept)
    except Exception:
        return False


def errors(document: Any, dialect: Any) -> Counter[str]:
    return Counter(finding.code for finding in pipeline.validate(document, dialect) if finding.severity == "error")


@pytest.mark.parametrize("name", names())
def test_no_secret_survives_anywhere_and_the_document_stays_valid(name: str) -> None:
    dialect = dialects.get(name)
    for sample in tiers.few(sorted(acceptable_of(name), key=lambda sample: "twin-weather" not in str(sample)), 1):
        document, planted = with_secrets(sample.document, dialect)
        assert planted or "twin-weather" not in str(sample)
        before = exact_json.write(document)
        masked, hits = Redactor().redact(document, dialect)
        text = exact_json.write(masked).decode("utf-8", "surrogatepass")
        assert [secret for secret in planted if secret in text] == []
        assert len(hits) >= len(planted)
        assert exact_json.write(document) == before
        assert schemas.accepts(name, masked)
        assert errors(masked, dialect) <= errors(document, dialect)
        assert ids_of(answers.lift(masked, dialect)) == ids_of(answers.lift(document, dialect))
        again, more = Redactor().redact(masked, dialect)
        assert (again, more) == (masked, [])
        assert isinstance(masked, Rows) == isinstance(document, Rows)


SECRETS = tuple(f"{name}@analyticals.dev" for name in ("ada.lovelace", "bob.babbage", "eve.hopper"))
ANSWER = {
    "messages": [
        {"role": "user", "parts": [{"type": "text", "text": "Hi"}]},
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "text": f"Think of {SECRETS[0]} now."},
                {"type": "text", "text": f"Write to {SECRETS[1]} now."},
                {"type": "tool_call", "id": "call_1", "name": "mail", "arguments": {"to": SECRETS[2], "n": 1}},
            ],
        },
    ]
}


CUT = [name for name in tiers.written() if name.endswith("-stream") or name in ("acp", "ag-ui")]
"""The dialects that store texts in pieces."""


def strings_by_key(document: Any) -> dict[Any, str]:
    """All strings under each key, one after the other, as a reader joins what a stream has cut."""
    joined: dict[Any, str] = {}
    for path, text in leaves(document):
        joined[path[-1]] = joined.get(path[-1], "") + text
    return joined


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize(
    "name", [name for name in names() if name.endswith("-stream") and dialects.get(name).is_written]
)
def test_a_secret_that_a_stream_cuts_into_pieces_is_masked_in_all_of_them(name: str, size: int) -> None:
    dialect = dialects.get(name)
    cut = dialect.lower(dialects.get("intermediate").lift(untouched(ANSWER)), Options(chunk=size))
    there = [secret for secret in SECRETS if any(secret in text for text in strings_by_key(cut).values())]
    assert there
    masked, _ = Redactor().redact(cut, dialect)
    assert [secret for secret in there if any(secret in text for text in strings_by_key(masked).values())] == []
    parts = [part for message in answers.lift(masked, dialect).messages for part in message.parts]
    assert not any(secret in str(part) for part in parts for secret in SECRETS)


@pytest.mark.parametrize("name", names())
def test_what_has_no_secret_stays_as_it_is(name: str) -> None:
    dialect = dialects.get(name)
    for sample in tiers.few(acceptable_of(name), 2):
        masked, hits = Redactor().redact(sample.document, dialect)
        found = {hit.rule for hit in hits}
        assert found <= {"home-directory", "user-name", "email"}, sample
        assert (masked is sample.document) == (not hits)
