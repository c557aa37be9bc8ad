"""A partial usage never breaks the type of the target silently: every count that the vendor requires is written, or a
finding names it, or the usage is not written and is a loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, Transcript
from convcli.validation import schemas
from tests.tiers import written

REQUIRED = {
    "anthropic": "input_tokens output_tokens",
    "anthropic-stream": "input_tokens output_tokens",
    "bedrock-converse": "inputTokens outputTokens totalTokens",
    "codex": "input_tokens cached_input_tokens output_tokens reasoning_output_tokens total_tokens",
    "gemini-cli": "input output cached total",
    "langchain": "input_tokens output_tokens total_tokens",
    "mistral": "prompt_tokens completion_tokens total_tokens",
    "openai-chat": "prompt_tokens completion_tokens total_tokens",
    "openai-chat-stream": "prompt_tokens completion_tokens total_tokens",
    "openai-responses": "input_tokens output_tokens total_tokens",
    "openai-responses-stream": "input_tokens output_tokens total_tokens",
    "openclaw": "input output cacheRead cacheWrite totalTokens",
    "opencode": "input output reasoning cache",
}
"""The counts without a default in the types of each vendor.

They stand here because our schemas accept answers without them, as real files have them: only that of langchain
requires counts. Those of `SDK_TYPES`, AWS and langchain are compared with their source by tests. Mistral's type has
defaults, but its API states all three; the agent programs are not Python, and their counts are from their sources."""
SDK_TYPES = {
    "anthropic": ("anthropic.types", "Usage"),
    "anthropic-stream": ("anthropic.types", "Usage"),
    "openai-chat": ("openai.types", "CompletionUsage"),
    "openai-chat-stream": ("openai.types", "CompletionUsage"),
    "openai-responses": ("openai.types.responses", "ResponseUsage"),
    "openai-responses-stream": ("openai.types.responses", "ResponseUsage"),
}
"""The module and the class of a usage in the SDK of its vendor."""

FULL = {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12}
HUB = dialects.get("intermediate")


def convert(name: str, usage: dict[str, int]) -> tuple[conversion.Conversion, Transcript]:
    answer = Message("assistant", [Text("Yo")], usage=dict(usage), stop_reason="stop", model="m")
    source = Transcript([Message("user", [Text("Hi")]), answer], model="m")
    target = dialects.get(name)
    form = "response" if "response" in target.forms else None
    done = conversion.lower(source, target, Options(form=form), HUB)
    return done, target.lift(done.document)


def has_usage(transcript: Transcript) -> bool:
    return any(message.usage for message in transcript.messages)


def usages(node: Any, keys: set[str]) -> Iterator[dict[str, Any]]:
    """Every object with one of these keys that holds a number."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    if isinstance(node, dict) and any(type(node.get(key)) is int for key in keys):
        yield node
    for value in inside:
        yield from usages(value, keys)


@pytest.mark.parametrize("name", written())
def test_no_count_is_invented_without_a_report(name: str) -> None:
    """Zero is no count: some programs write it for what they do not know."""
    done, read = convert(name, {"inputTokens": 5})
    counts = {key: value for message in read.messages for key, value in (message.usage or {}).items() if value}
    invented = {loss.field.rpartition(".")[2] for loss in done.losses if loss.kind == "invented"}
    assert counts.keys() <= {"inputTokens", *invented}


@pytest.mark.sdk
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SDK_TYPES)
def test_the_required_counts_are_those_of_the_type_in_the_sdk(name: str) -> None:
    module, type_ = SDK_TYPES[name]
    fields = getattr(pytest.importorskip(module), type_).model_fields.items()
    counts = {key for key, field in fields if field.is_required() and field.annotation is int}
    assert set(REQUIRED[name].split()) == counts


@pytest.mark.exhaustive
def test_the_required_counts_of_bedrock_are_those_of_its_api() -> None:
    session = pytest.importorskip("botocore.session").get_session()
    usage = session.get_service_model("bedrock-runtime").shape_for("TokenUsage")
    assert REQUIRED["bedrock-converse"].split() == usage.required_members


def test_the_counts_that_a_schema_requires_are_listed() -> None:
    required = {name: counts for name in REQUIRED if (counts := required_counts(schemas.schema(name)))}
    assert required == {"langchain": set(REQUIRED["langchain"].split())}


def required_counts(node: Any) -> set[str]:
    """The counts of tokens that a schema requires anywhere."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    required = node.get("required") if isinstance(node, dict) else None
    own = {key for key in required if key.lower().endswith("tokens")} if isinstance(required, list) else set[str]()
    return own.union(*map(required_counts, inside))


@pytest.mark.parametrize("name", REQUIRED)
def test_the_listed_dialects_store_usage(name: str) -> None:
    assert has_usage(convert(name, FULL)[1])


@pytest.mark.parametrize("known", FULL)
@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_count_that_is_missing_is_named_by_a_finding_or_a_loss(name: str, known: str) -> None:
    done, read = convert(name, {known: FULL[known]})
    keys = set(REQUIRED[name].split())
    objects = list(usages(done.document, keys))
    written_keys = set().union(*(found.keys() for found in objects))
    named = " ".join(finding.message for finding in done.findings).replace(";", " ").split()
    missing = {key for key in keys - written_keys if not any(word.split(".")[-1] == key for word in named)}
    is_reported = any(loss.field.startswith("message.usage") for loss in done.losses)
    assert has_usage(read) or is_reported
    assert not (objects and missing)
