"""What is remembered by shapes is what the long way makes; and a dialect that looks at values is found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.conversion import Conversion
from convcli.engine.reading import lift
from convcli.engine.shapes.memo import CONFIRMATIONS, OFTEN, PATIENCE, PAUSE, PairConverter
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Transcript
from convcli.wire import exact_json
from tests import strategies, tiers
from tests.benchmarks import data
from tests.support import names, samples_of

CHAT, ANTHROPIC = dialects.get("openai-chat"), dialects.get("anthropic")
WRITTEN = [dialects.get(name) for name in names() if dialects.get(name).is_written and name != "intermediate"]
SOURCES = [one for one in WRITTEN if any(sample.document.__class__ is dict for sample in samples_of(one.name))]
RICH = 10_000
"""A budget with which everything is learned at once."""
TINY = 0.01
EACH = 6
"""Each source goes to every sixth target here; `fuzz_long.py` has all pairs."""
Row = Callable[[str], dict[str, Any]]


def convert_in_full(document: Any, source: Dialect, target: Dialect) -> Conversion:
    return pipeline.convert_in_full(document, source, target)


def remembering(source: Dialect = CHAT, target: Dialect = ANTHROPIC) -> PairConverter:
    return PairConverter(source, target, convert_in_full, RICH)


def said(convert: Callable[[], Conversion]) -> Any:
    """All that comes of a conversion, be it an error."""
    try:
        done = convert()
    except ConvcliError as error:
        return type(error), str(error)
    losses = [loss.to_dict() for loss in done.losses]
    return exact_json.key(done.document), exact_json.key(losses), done.findings


def assert_both_ways(converter: PairConverter, *documents: dict[str, Any], times: int = 1) -> None:
    """Converts the documents several times; what each must become is found once."""
    expected = [said(lambda each=each: convert_in_full(each, converter.source, converter.target)) for each in documents]
    for _ in range(times):
        for document, long_way in zip(documents, expected, strict=True):
            assert said(lambda each=document: converter.convert(each)) == long_way


def conversations(dialect: Dialect, count: int) -> list[dict[str, Any]]:
    """Documents of a dialect with everything that users say; none where it has no documents of its own for that."""
    found = []
    for seed in range(count):
        chat = data.conversation(seed, TINY, named=seed % 5 == 0, turns=3)
        document = chat if dialect is CHAT else dialect.lower(data.transcript(chat, seed, is_session=False))
        found.append(document)
    return [document for document in found if document.__class__ is dict]


@pytest.mark.parametrize("source", SOURCES, ids=lambda dialect: dialect.name)
def test_l7_documents_become_the_same_from_what_is_remembered_as_the_long_way(source: Dialect) -> None:
    own = [sample.document for sample in samples_of(source.name) if sample.document.__class__ is dict]
    documents = [*conversations(source, 3), *own[:4]]
    for target in tiers.few(WRITTEN[SOURCES.index(source) % EACH :: EACH], 1):
        if target is not source:
            assert_both_ways(remembering(source, target), *documents, times=OFTEN + CONFIRMATIONS + 1)


@pytest.mark.parametrize(
    "target", ["anthropic", "gemini", "openai-responses", "ollama", "hf-chat", "sharegpt", "alpaca"]
)
def test_rows_are_known_by_their_shapes(target: str) -> None:
    converter = remembering(target=dialects.get(target))
    documents = [*map(data.row, range(40)), row("<think>Why?</think>", "<b>No.</b>")]
    for document in documents:
        assert_both_ways(converter, document)
    assert converter.failure == ""
    assert converter.made > len(documents) // 3


@settings(tiers.examples(60), suppress_health_check=list(HealthCheck))
@given(transcripts=st.lists(strategies.transcripts(), min_size=1, max_size=4))
def test_l7_holds_for_any_conversations(transcripts: list[Transcript]) -> None:
    for source, target in ((CHAT, ANTHROPIC), (ANTHROPIC, dialects.get("gemini"))):
        documents = map(source.lower, transcripts)
        assert_both_ways(remembering(source, target), *documents, times=OFTEN + CONFIRMATIONS + 1)


# ---------------------------------------------------------------- who looks at values


def row(text: str, answer: str = "Yes.", **other_keys: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": answer}], **other_keys}


def writing(edit: Callable[[dict[str, Any]], None], dialect: Dialect = ANTHROPIC) -> Dialect:
    """A dialect that writes otherwise, which this function says."""

    def write(transcript: Transcript, options: Options) -> Any:
        document = dialect.write(transcript, options) if dialect.write is not None else None
        edit(document)
        return document

    return replace(dialect, write=write)


def plain(document: Any) -> list[dict[str, Any]]:
    messages = document.get("messages", []) if isinstance(document, dict) else []
    return [message for message in messages if isinstance(message["content"], str)]


def no_words(document: dict[str, Any]) -> None:
    for message in plain(document):
        message["content"] = message["content"].replace("<think>", "")


def shouted(document: dict[str, Any]) -> None:
    for message in plain(document):
        message["content"] = message["content"].upper()


def counted(document: dict[str, Any]) -> None:
    if isinstance(document, dict):
        document["user_profile_id"] = str(sum(len(message["content"]) for message in plain(document)))


def json_written_again(document: dict[str, Any]) -> None:
    """As a dialect that keeps a result that is an object as one, and writes it again."""
    for message in plain(document):
        with suppress(ValueError):
            value = json.loads(message["content"])
            message["content"] = json.dumps(value, indent=1) if isinstance(value, dict) else message["content"]


def of_one_word(document: dict[str, Any]) -> None:
    """What no probe shows, and some documents do."""
    for message in plain(document):
        message["content"] = message["content"].replace("swordfish", "")


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "hf-chat", "sharegpt", "hermes"])
def test_rows_of_agents_with_results_that_are_json_are_known_by_their_shapes(target: str) -> None:
    converter = remembering(target=dialects.get(target))
    assert_both_ways(converter, *map(data.agent_row, range(80)), times=2)
    assert converter.failure == ""
    assert converter.made > 80


@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "hf-chat", "sharegpt", "hermes"])
def test_rows_with_tools_of_their_own_are_known_by_their_shapes(target: str) -> None:
    converter = remembering(target=dialects.get(target))
    documents = [data.tool_row(seed, is_defined=seed % 2 == 0) for seed in range(80)]
    assert_both_ways(converter, *documents, times=2)
    assert converter.failure == ""
    assert converter.made > 80


@pytest.mark.parametrize("source", ["anthropic", "gemini", "openai-responses", "mistral"])
def test_rows_of_other_dialects_are_known_by_their_shapes(source: str) -> None:
    dialect = dialects.get(source)
    converter = remembering(dialect)
    documents = [dialect.lower(CHAT.lift(data.tool_row(seed))) for seed in range(60)]
    if source == "anthropic":
        converter = remembering(dialect, CHAT)
    assert_both_ways(converter, *documents, times=2)
    assert converter.failure == ""
    assert converter.made > 60


def test_a_finding_names_the_tools_of_its_own_document() -> None:
    converter = remembering()
    for name in ("read_file", "search", "run", "fetch", "f", "g", "say", "ask", "a-b", "ask"):
        document = with_call("call_1")
        document["messages"][1]["tool_calls"][0]["function"]["name"] = name
        assert_both_ways(converter, document)
    assert converter.made
    (finding,) = (one for one in converter.convert(document).findings if one.code == "calls-without-tools")
    assert finding.help == 'add the definitions of "ask"'


def without_python(document: dict[str, Any]) -> None:
    for message in document["messages"] if isinstance(document, dict) else ():
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("name") == "python":
                block["name"] = "code_execution"


def test_a_dialect_that_knows_a_tool_by_its_name_is_found_by_the_probes() -> None:
    converter = remembering(target=writing(without_python))
    for _ in range(20):
        assert_both_ways(converter, with_call("call_1"))
    assert converter.made == 0


def test_rows_become_what_others_became_with_their_own_values() -> None:
    converter = remembering()
    for i in range(9):
        assert_both_ways(converter, row(f"Question {i}?", score=i / 2))
    assert converter.made > CONFIRMATIONS
    done = converter.convert(row("Why?", "Because.", score=7.5))
    assert [message["content"] for message in done.document["messages"]] == ["Why?", "Because."]
    assert [(loss.where, loss.before) for loss in done.losses] == [("/score", 7.5)]
    assert done.transcript == lift(row("Why?", "Because.", score=7.5), CHAT)


def test_a_dialect_that_looks_for_tags_is_relied_on_where_there_are_none() -> None:
    converter = remembering(target=writing(no_words))
    for i in range(20):
        assert_both_ways(converter, row(f"Question {i}?", "<think>" * (i % 5 == 0) + "Yes."))
    assert converter.made
    assert converter.failure == ""


def test_a_dialect_that_looks_into_json_is_relied_on_where_there_is_none() -> None:
    converter = remembering(target=writing(json_written_again))
    for i in range(20):
        assert_both_ways(converter, row(f"Question {i}?", '{"a": 1}' if i % 5 == 0 else "Yes."))
    assert converter.made
    assert converter.failure == ""
    assert converter.remembered.form.without_json
    assert not converter.remembered.form.without_tags


@pytest.mark.parametrize("edit", [shouted, counted])
def test_a_dialect_that_looks_into_texts_is_found_by_the_probes(edit: Callable[[dict[str, Any]], None]) -> None:
    converter = remembering(target=writing(edit))
    for i in range(20):
        assert_both_ways(converter, row(f"Question {i}?"))
    assert converter.made == 0


def test_a_dialect_that_looks_at_what_no_probe_has_is_found_by_the_next_documents() -> None:
    converter = remembering(target=writing(of_one_word))
    for i in range(20):
        assert_both_ways(converter, row(f"Question {i}?" if i < OFTEN else "swordfish"))
    assert converter.failure == "a document came out another way"


def test_an_output_that_is_not_read_back_is_not_believed() -> None:
    converter = remembering()
    for i in range(9):
        converter.convert(row(f"Question {i}?"))
    (outcome,) = converter.remembered.outcomes.values()
    assert outcome is not None
    make = outcome.make
    outcome.make = lambda values: (make(values[::-1])[0], *make(values)[1:])
    assert_both_ways(converter, row("Why?"))
    assert converter.failure == "an output is not read back as it was made"
    assert converter.patience == 0


def test_arguments_and_ids_are_those_of_each_document() -> None:
    def asking(id_: str, arguments: str) -> dict[str, Any]:
        call = {"id": id_, "type": "function", "function": {"name": "search", "arguments": arguments}}
        result = {"role": "tool", "tool_call_id": id_, "content": "1"}
        asked = {"role": "assistant", "content": None, "tool_calls": [call]}
        return {"messages": [{"role": "user", "content": "Hi."}, asked, result, {"role": "assistant", "content": "1."}]}

    for target in (ANTHROPIC, dialects.get("openai-responses")):
        converter = remembering(target=target)
        for i in range(9):
            assert_both_ways(converter, asking(f"call_{i}", f'{{"q": [{i}, "x"]}}'))
        assert converter.made
        for odd in ("{}", "", "{", '{"a": null}', "[1]", '{"a": 1, "a": 2}', '{"n": 1e400}', '{"n": 0.10}'):
            assert_both_ways(converter, asking("call_x", odd))


def failed_twice(document: dict[str, Any]) -> None:
    """Only the words of a result that failed are looked at."""
    for message in document["messages"] if isinstance(document, dict) else ():
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("is_error") and isinstance(block.get("content"), str):
                block["content"] = block["content"].removeprefix("Error: ")


def test_a_place_is_probed_again_where_something_else_is_said_next_to_it() -> None:
    def failing(text: str, *, is_error: bool) -> dict[str, Any]:
        call = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}}
        result = {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": text,
            **({"is_error": True} if is_error else {}),
        }
        return {"messages": [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]}

    converter = remembering(dialects.get("bedrock-converse"), writing(failed_twice))
    for i in range(20):
        document = convert_in_full(failing(f"{i}", is_error=i > 9), ANTHROPIC, converter.source).document
        assert_both_ways(converter, document)
    document = convert_in_full(failing("Error: Error: no", is_error=True), ANTHROPIC, converter.source).document
    assert_both_ways(converter, document)


@pytest.mark.parametrize("source", ["openai-chat", "openai-batch", "anthropic-batch"])
def test_what_stands_next_to_a_conversation_may_say_nothing(source: str) -> None:
    converter = remembering(dialects.get(source), dialects.get("gemini"))
    for sample in samples_of(source)[:3]:
        for note in ("a", "b", "c", "d", "e", "f", "g", "", " ", "\n", "{}", "[]", '{"a": 1}', "null", "0", 0, 0.0, -1):
            assert_both_ways(converter, {**sample.document, "note": note})
    assert converter.made


def test_ids_that_are_made_up_are_made_up_for_each_document() -> None:
    call = {"functionCall": {"name": "f", "args": {"n": 1}}}
    document = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}, {"role": "model", "parts": [call]}]}
    taken = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"id": "call_1"}}}]}
    converter = remembering(dialects.get("gemini"), dialects.get("openai-responses"))
    for _ in range(9):
        assert_both_ways(converter, document)
    assert_both_ways(converter, {"contents": [document["contents"][0], taken]})


def test_what_is_wrong_with_a_document_is_reported_of_all_that_are_like_it() -> None:
    converter = remembering()
    for i in range(9):
        assert_both_ways(converter, {"messages": [{"role": "tool", "tool_call_id": f"call_{i}", "content": "1"}]})
    assert converter.made


def test_a_document_that_is_too_deep_goes_the_long_way() -> None:
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    done = remembering().convert(row("Hi.", more=deep))
    assert done.document == convert_in_full(row("Hi."), CHAT, ANTHROPIC).document


def test_shapes_that_cannot_be_learned_do_not_stand_in_the_way_of_others() -> None:
    call = {"functionCall": {"name": "f", "args": {"n": 1}}}
    asked = {"role": "user", "parts": [{"text": "Hi."}]}
    converter = remembering(dialects.get("gemini"), dialects.get("openai-responses"))
    for turns in (1, 2, 3):
        for _ in range(9):
            converter.convert({"contents": [asked, {"role": "model", "parts": [{"text": "a"}]}]})
            converter.convert({"contents": [asked, {"role": "model", "parts": [{"text": "a"}, *[call] * turns]}]})
    converter.made = 0
    for _ in range(9):
        converter.convert({"contents": [asked, {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]}]})
    assert converter.made


def test_rows_behind_many_documents_that_are_all_different_are_known_again() -> None:
    converter = remembering()
    for i in range(PATIENCE + PAUSE):
        converter.convert({"messages": [{"role": "user", "content": "Hi."}], "model": f"m-{i}"})
    for i in range(20):
        converter.convert(row(f"Question {i}?"))
    assert converter.made


def test_learning_costs_no_more_than_the_documents_themselves() -> None:
    spent: list[Any] = []

    def counting(document: Any, source: Dialect, target: Dialect) -> Conversion:
        spent.append(document)
        return convert_in_full(document, source, target)

    converter = PairConverter(CHAT, ANTHROPIC, counting)
    documents = [*map(row, map(str, range(100)))]
    for document in documents:
        converter.convert(document)
    assert converter.made > 0
    assert len(spent) <= 2 * len(documents)


@pytest.mark.parametrize(
    "document",
    [
        row("Hi.", score=10**400), row("\ud800"), row("Hi.", more={"a": [1, None]}), row("x" * 100_000), row(""),
        {"messages": [1, None, {}]}, {"messages": {}}, {"messages": []}, {"messages": None}, {},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
    ],
)  # fmt: skip
def test_odd_documents_become_the_same_both_ways(document: dict[str, Any]) -> None:
    converter = remembering()
    for _ in range(3):
        converter.convert(row("Hi."))
        assert_both_ways(converter, document)


def test_a_few_documents_load_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "remembering", lambda *pair: pytest.fail("it was asked"))
    target = replace(ANTHROPIC)  # another dialect to what counts documents
    for _ in range(pipeline.FEW):
        pipeline.convert(row("Hi."), CHAT, target)
    with pytest.raises(pytest.fail.Exception):
        pipeline.convert(row("Hi."), CHAT, target)


def with_call(id_: str) -> dict[str, Any]:
    call = {"id": id_, "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
    return {
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": "ok"},
        ]
    }


def test_ids_of_any_length_are_shortened_as_the_long_way_does() -> None:
    converter = remembering(dialects.get("openai-ft"), CHAT)
    for _ in range(2):
        for length in range(1, 80):
            assert_both_ways(converter, with_call("call_" + "x" * length))
            assert_both_ways(converter, with_call("y" * length))
    assert converter.made


def test_fractions_as_ids_are_refused_also_after_integers_as_fractions() -> None:
    converter = remembering(dialects.get("sharegpt"), CHAT)
    turns = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]
    for id_ in (*map(float, range(30)), 300.5):
        assert_both_ways(converter, {"id": id_, "conversations": turns})


def test_a_dialect_that_is_only_read_is_not_remembered() -> None:
    """Nothing that it writes shows what it looks for in texts."""
    toolbench = dialects.get("toolbench")
    turns = [{"from": "user", "value": "Hi."}, {"from": "assistant", "value": "Hello."}]
    call = {"from": "assistant", "value": '\nThought: Why?\nAction: f\nAction Input: {"a": 1}'}
    for row in (*[{"conversations": turns}] * 300, {"conversations": [turns[0], call]}):
        done = pipeline.convert(row, toolbench, CHAT)
    assert done.document["messages"][1]["tool_calls"][0]["function"]["name"] == "f"


def test_zero_and_minus_zero_are_different_values() -> None:
    converter = remembering(CHAT, dialects.get("gemini"))
    messages = [{"role": "user", "content": "Hi."}]
    for temperature in (0.0,) * 20 + (-0.0, 0, 0.0):
        assert_both_ways(converter, {"messages": messages, "temperature": temperature, "note": {"x": temperature}})


def test_an_object_in_a_list_is_refused_also_after_strings_in_such_lists() -> None:
    converter = remembering()
    for stop in (*[["b"]] * 20, [{"stop": "b"}]):
        assert_both_ways(converter, row("Hi.", stop=stop))
    assert converter.made


EQUAL = (
    *(b"0.0", b"-0.0", b"0", b"-0", b"false", b"1", b"1.0", b"true", b"1e22", b"10000000000000000000000"),
    *(b"0.7", b"0.70000000000000000001", b"0.70000000000000000002", b'"\\udaaa"', b'"\\uDAAA"', b'"\\uDaAa"'),
)
"""JSON texts, some of which are equal values in Python."""


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_constants_that_are_equal_in_python_are_different_values(target: str) -> None:
    for first in EQUAL:
        converter = remembering(CHAT, dialects.get(target))
        for text in (*[first] * 2 * OFTEN, *EQUAL):
            document = exact_json.parse(with_constant(text))
            expected = exact_json.write(convert_in_full(document, converter.source, converter.target).document)
            assert exact_json.write(converter.convert(document).document) == expected, (first, text)


def with_constant(text: bytes) -> bytes:
    """A document with a tool in whose schema this JSON text is a value, or a key if it is a string."""
    member = b"%s: 1" % text if text.startswith(b'"') else b'"k": %s' % text
    schema = b'{"type": "object", "properties": {"a": {"enum": [1], "x-note": {%s}}}}' % member
    tool = b'{"type": "function", "function": {"name": "f", "parameters": %s}}' % schema
    return b'{"messages": [{"role": "user", "content": "Hi."}], "tools": [%s]}' % tool
