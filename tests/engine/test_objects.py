"""Documents with objects of SDKs: models, dataclasses and tuples are read, any other object is refused by its type."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

import convcli
from convcli.engine import objects


def as_anthropic(document: Any) -> Any:
    return convcli.convert(document, "anthropic", source="openai-chat")


class Model:
    """An object with the methods of a pydantic model."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool, warnings: bool) -> dict[str, Any]:
        assert (mode, by_alias, exclude_none, warnings) == ("json", True, True, False)
        values = {name: value for name, value in self.fields.items() if value is not None}
        return {name: value.fields if isinstance(value, Model) else value for name, value in values.items()}


@dataclass
class ChatMessage:
    role: str
    content: str
    name: str | None = None


ANSWER = {"role": "assistant", "content": "Hello."}
PLAIN = {"messages": [{"role": "user", "content": "Hi."}, ANSWER]}


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [ChatMessage("user", "Hi."), Model(**ANSWER, refusal=None)]},
        {"messages": (PLAIN["messages"][0], ANSWER)},
        Model(messages=[*PLAIN["messages"]]),
        MappingProxyType({"messages": [PLAIN["messages"][0], MappingProxyType(ANSWER)]}),
        {"messages": [PLAIN["messages"][0], {"role": "assistant", "content": [Model(type="text", text="Hello.")]}]},
    ],
    ids=["messages", "tuple", "document", "mapping", "content"],
)
def test_objects_of_sdks_are_read_as_the_json_that_they_stand_for(document: Any) -> None:
    assert convcli.detect(document).dialect == "openai-chat"
    assert convcli.lift(document).messages[1].parts == convcli.lift(PLAIN).messages[1].parts
    assert convcli.convert(document, "gemini").document == convcli.convert(PLAIN, "gemini").document
    assert convcli.validate(document) == []
    kept = convcli.convert(document, "openai-chat").document
    assert json.loads(json.dumps(kept))["messages"][0] == PLAIN["messages"][0]


def test_a_real_pydantic_model_is_read() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Answer", role=(str, ...), content=(str | None, None), refusal=(str | None, None))
    document = {"messages": [PLAIN["messages"][0], model(**ANSWER)]}
    assert convcli.convert(document, "gemini").document == convcli.convert(PLAIN, "gemini").document


def test_a_document_without_such_objects_is_not_copied() -> None:
    assert objects.as_json(PLAIN) is PLAIN
    mixed = {"messages": [PLAIN["messages"][0], Model(**ANSWER)]}
    assert objects.as_json(mixed)["messages"][0] is PLAIN["messages"][0]


class OldModel:
    def dict(self) -> dict[str, Any]:
        return ANSWER


class BrokenModel:
    def model_dump(self, **_: Any) -> Any:
        raise ValueError("secret")


@pytest.mark.parametrize(
    ("value", "message", "help_text"),
    [
        (OldModel(), "/messages/0 has the type OldModel, which is no JSON value", "call its .dict()"),
        (object(), "/messages/0 has the type object, which is no JSON value", "convert it to JSON values first"),
        (
            BrokenModel(),
            "/messages/0 has the type BrokenModel, and its model_dump() fails (ValueError)",
            "convert it to JSON",
        ),
        (
            convcli.Transcript([]),
            "/messages/0 has the type Transcript, which is no JSON value",
            "convcli.lower(transcript, to)",
        ),
    ],
)
def test_any_other_object_is_refused_by_its_type_with_the_call_that_converts_it(
    value: Any, message: str, help_text: str
) -> None:
    for function in (convcli.detect, convcli.lift, convcli.validate, as_anthropic):
        with pytest.raises(convcli.JobError) as caught:
            function({"messages": [value]})
        assert caught.value.message == message
        assert caught.value.help.startswith(help_text)
