"""Keys that the user adds: reported as what they are, valid, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import msgspec
import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.restore import record, restore
from convcli.engine.set_keys import checked
from convcli.model.dialect import Options
from convcli.model.errors import JobError
from convcli.proof.difference import difference
from convcli.proof.reasons import SET, Loss
from convcli.validation import schemas
from tests.support import dumped, samples_of

CHAT = {"model": "gpt-5.1", "temperature": 0.5, "messages": [{"role": "user", "content": "Hi."}]}
SOURCE = dialects.get("openai-chat")


def converted(target: str, document: Any = CHAT, /, **values: Any) -> pipeline.Conversion:
    named = {key.replace("__", "."): value for key, value in values.items()}
    to = dialects.get(target)
    return pipeline.convert(document, SOURCE, to, Options(set_keys=checked(named, to)))


def reported(done: pipeline.Conversion) -> list[tuple[str, str, str]]:
    return [(loss.kind, loss.where, loss.field) for loss in done.losses if loss.why == SET]


def test_what_is_added_is_invented_and_what_is_changed_by_it_changed() -> None:
    done = converted("anthropic", max_tokens=1024, model="claude-x")
    assert done.document == {"max_tokens": 1024, "model": "claude-x", "temperature": 0.5, "messages": CHAT["messages"]}
    assert reported(done) == [("changed", "/model", "model"), ("invented", "/max_tokens", "settings.maxOutputTokens")]
    assert done.findings == []


def test_what_stands_there_already_is_no_loss_and_what_is_lost_anyway_keeps_its_reason() -> None:
    plain = pipeline.convert(CHAT | {"seed": 7}, SOURCE, dialects.get("anthropic"))
    done = converted("anthropic", CHAT | {"seed": 7}, model="gpt-5.1")
    assert dumped(done.document) == dumped(plain.document)
    assert done.losses == plain.losses
    with_tokens = converted("anthropic", CHAT | {"seed": 7}, max_tokens=9)
    assert [loss for loss in with_tokens.losses if loss.why != SET] == plain.losses


def test_a_dot_leads_into_an_object_that_need_not_be_there() -> None:
    done = converted("gemini", generationConfig__maxOutputTokens=5, toolConfig__functionCallingConfig__mode="NONE")
    assert done.document["generationConfig"] == {"maxOutputTokens": 5, "temperature": 0.5}
    assert done.document["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert {"settings.maxOutputTokens", "toolChoice"} <= {field for _, _, field in reported(done)}


def test_a_value_in_which_nothing_is_read_is_reported_all_the_same() -> None:
    done = converted("anthropic", metadata={}, max_tokens=9)
    assert done.document["metadata"] == {}
    assert set(reported(done)) == {
        ("invented", "", "metadata"),
        ("invented", "/max_tokens", "settings.maxOutputTokens"),
    }


@pytest.mark.parametrize(
    ("target", "values", "code", "words"),
    [
        ("anthropic", {"max_tokenz": 1}, "unknown-key", 'did you mean "max_tokens"?'),
        ("gemini", {"generationConfig__maxOutputToken": 1}, "unknown-key", 'did you mean "maxOutputTokens"?'),
        ("anthropic", {"max_tokens": "many"}, "usage", "must be an integer"),
        ("anthropic", {"model__name": "x"}, "usage", "cannot be set in a string"),
        ("mcp", {"systemPrompt": 1}, "usage", "must be a string"),
    ],
)
def test_a_key_or_a_value_that_does_not_fit_is_an_error_of_the_job(
    target: str, values: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(JobError) as caught:
        converted(target, **values)
    assert caught.value.code == code
    assert words in caught.value.message + caught.value.help


def test_a_default_is_set_where_the_value_is_missing_or_null_and_nowhere_else() -> None:
    to = dialects.get("anthropic")
    keys = checked({"max_tokens": 1024, "temperature": 1.0}, to)
    done = pipeline.convert(CHAT, SOURCE, to, Options(default_keys=keys))
    assert (done.document["max_tokens"], done.document["temperature"]) == (1024, 0.5)
    assert reported(done) == [("invented", "/max_tokens", "settings.maxOutputTokens")]
    own = dialects.get("openai-chat")
    null = pipeline.convert(CHAT | {"seed": None}, own, own, Options(default_keys=checked({"seed": 7}, own)))
    assert null.document == CHAT | {"seed": 7}


def test_a_set_key_wins_over_a_default() -> None:
    to = dialects.get("anthropic")
    options = Options(set_keys=checked({"max_tokens": 1}, to), default_keys=checked({"max_tokens": 2}, to))
    assert pipeline.convert(CHAT, SOURCE, to, options).document["max_tokens"] == 1


def test_an_output_that_is_a_list_has_no_keys() -> None:
    with pytest.raises(JobError, match="cannot be set in a list of 1 item"):
        pipeline.convert(CHAT, SOURCE, dialects.get("anthropic"), Options(form="list", set_keys=(("model", "x"),)))


def bare(loss: Loss) -> Loss:
    return msgspec.structs.replace(loss, why="")


@pytest.mark.parametrize("target", ["openai-chat", "intermediate", "openai-responses", "mistral", "cohere", "ollama"])
@pytest.mark.parametrize("source", ["openai-chat", "anthropic", "gemini"])
def test_the_laws_hold_for_outputs_with_added_keys(source: str, target: str) -> None:
    one, two = dialects.get(source), dialects.get(target)
    options = Options(set_keys=(("model", "x"),))
    for sample in samples_of(source):
        before = copy.deepcopy(sample.document)
        done = pipeline.convert(sample.document, one, two, options)
        if isinstance(done.document, list):
            continue
        assert dumped(sample.document) == dumped(before), "L8"
        assert schemas.accepts(target, done.document), "L5"
        again = difference(done.transcript, two.lift(done.document), one, two)
        assert [bare(loss) for loss in again] == [bare(loss) for loss in done.losses], "L2, L3"
        assert pipeline.convert(done.document, two, two, options).losses == [], "L4"
        kept = record(sample.document, done.document, one, two)
        assert dumped(restore(done.document, kept)) == dumped(sample.document), "L10"
        assert pickle.loads(pickle.dumps(options)) == options
