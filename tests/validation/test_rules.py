"""What services reject: every rule has a bad sample, every code an explanation, every finding its place."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from convcli import dialects
from convcli.engine import pipeline
from convcli.model import codes
from convcli.model.dialect import Dialect
from convcli.model.errors import ConvcliError
from convcli.model.rule import PURPOSES, Rule
from convcli.model.transcript import Message, Transcript
from convcli.validation import schemas, verdict
from convcli.validation.rules import links, trees
from convcli.validation.rules.conformance import arguments_match
from convcli.validation.survey import SUBJECTS, Survey, limited_to
from convcli.wire import pointers
from tests import strategies, tiers
from tests.growth import MOST, Steps, growth
from tests.laws.test_mutants import containers, mutate
from tests.support import WITH_WARNINGS, acceptable, documents, names, sample_files, samples

SOURCE = Path(codes.__file__).parent
WITH_RULES = [name for name in names() if dialects.get(name).rules]
EMITS = r'(?:Error|Breach|Finding|_told|_tell|_error|_refuse)\(\s*"([a-z][a-z0-9]*(?:-[a-z0-9]+)*)",'
TOO_LARGE = {"too-many-messages"}
"""Codes whose bad sample nobody would want in the repository."""
OF_CONVERSIONS = {"not-sent"}
"""Codes that `validate` never reports, only a conversion (test_not_sent.py)."""


def reported(name: str) -> list[str]:
    """The findings of all bad samples of a dialect."""
    sidecars = [path.with_name(path.name + ".findings") for path in sample_files(name, "bad")]
    return [line for path in sidecars for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", WITH_RULES)
def test_every_rule_of_a_dialect_has_a_bad_sample(name: str) -> None:
    found = {line.split()[1] for line in reported(name)}
    dialect = dialects.get(name)
    inner = codes_of(rule for body in dialect.inner.values() for rule in body.rules)
    own = codes_of(rule for rule in dialect.rules if set(rule.codes) != inner) - TOO_LARGE - OF_CONVERSIONS
    assert own <= found, f"no bad sample of {name} shows {sorted(own - found)}"
    assert not inner or inner & found, f"no bad sample of {name} shows a rule of its bodies, whose own samples show all"


@pytest.mark.parametrize("name", WITH_RULES)
def test_a_rule_whose_subjects_do_not_occur_finds_nothing(name: str) -> None:
    dialect = dialects.get(name)
    assert all(SUBJECTS.issuperset(rule.subjects) for rule in verdict.rules_of(dialect))
    good = [sample.document for sample in acceptable() if sample.dialect == name]
    bad = [path for path in sample_files(name, "bad") if path.name.startswith("rules-")]
    for document in [*good, *(one for path in bad for one in documents(path, dialect))]:
        assert_others_find_nothing(document, dialect)


def assert_others_find_nothing(document: Any, dialect: Dialect) -> None:
    transcript = dialect.lift(document)
    for purpose in PURPOSES:
        survey = Survey(transcript, document, dialect, purpose)
        rules = [rule for rule in verdict.rules_of(dialect) if purpose in rule.purposes]
        others = [rule for rule in rules if survey.subjects.isdisjoint(rule.subjects)]
        assert [breach for rule in others for breach in rule.check(survey)] == []


def codes_of(rules: Iterable[Rule]) -> set[str]:
    return {code for rule in rules for code in rule.codes}


@pytest.mark.parametrize("name", WITH_RULES)
def test_each_line_of_a_sample_of_rules_breaks_exactly_one_code(name: str) -> None:
    dialect = dialects.get(name)
    for path in sample_files(name, "bad"):
        if path.name.startswith("rules-"):
            for document in documents(path, dialect):
                assert len(pipeline.validate(document, dialect)) == 1, f"{path}: {json.dumps(document)[:200]}"


def test_every_code_has_an_explanation() -> None:
    emitted = {code for path in SOURCE.rglob("*.py") for code in re.findall(EMITS, path.read_text("utf-8"))}
    emitted |= {code for name in names() for rule in dialects.get(name).rules for code in rule.codes}
    assert emitted - set(codes.table()) == set()


def test_an_explanation_says_everything() -> None:
    for code in codes.table().values():
        assert all(astuple(code)), code.name
        assert code.why[-1] + code.fix[-1] == "..", code.name


@pytest.mark.parametrize("name", WITH_RULES)
@strategies.with_any_transcript(tiers.examples(25))
def test_rules_take_any_transcript_and_their_places_are_in_the_document(name: str, transcript: Any) -> None:
    dialect = dialects.get(name)
    if not dialect.is_written:
        return
    hub = dialects.get("intermediate")
    conversion = pipeline.lower(transcript, dialect, source=hub, purpose="request")
    document = hub.lower(transcript, pipeline.BY_DEFAULT)  # type: ignore[misc]
    for finding in conversion.findings:
        assert_present(document, finding.where)


def test_a_finding_points_at_a_field_only_where_the_source_has_it() -> None:
    broken_off = Message("assistant", [], stop_reason="error", error="gone")
    transcript = Transcript([Message("assistant", []), broken_off])
    conversion = pipeline.lower(transcript, dialects.get("ag-ui"), source=dialects.get("intermediate"))
    assert [(one.code, one.where) for one in conversion.findings] == [("failed-stream", "/messages/0")]


@given(data=st.data())
@tiers.examples(400)
def test_rules_take_any_document_that_passes_the_schema(data: st.DataObject) -> None:
    every = acceptable()
    sample = every[data.draw(st.integers(0, len(every) - 1))]
    document = copy.deepcopy(sample.document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(containers(document))
        mutate(data.draw, places[data.draw(st.integers(0, len(places) - 1))])
    for purpose in ("document", "request"):
        pipeline.validate(document, dialects.get(sample.dialect), purpose=purpose, more=(arguments_match(),))  # type: ignore[arg-type]


def test_a_strict_schema_whose_properties_are_no_object_is_reported_as_one_that_is_none() -> None:
    schema = {"type": "object", "properties": [{}], "required": [], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}
    document = {"messages": [{"role": "user", "content": "Hi."}], "tools": [tool]}
    assert [one.code for one in pipeline.validate(document, dialects.get("openai-chat"))] == ["invalid-schema"]


def test_the_findings_on_an_output_are_reported_at_the_places_of_the_source() -> None:
    document = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "b", "content": "ok"},
        {"role": "assistant", "content": "Done."},
    ]
    done = pipeline.convert(document, dialects.get("openai-chat"), dialects.get("anthropic"))
    places = {finding.code: finding.where for finding in done.findings}
    assert places == {"missing-tool-result": "/1/tool_calls/0/id", "calls-without-tools": "", "incomplete-request": ""}


def test_quoted_arguments_are_reported_at_the_arguments_of_the_source() -> None:
    part = {"type": "tool_call", "id": "a", "name": "f", "arguments": {}, "rawArguments": "[1]"}
    asked = {"role": "user", "parts": [{"type": "text", "text": "Hi."}]}
    document = {"convcli": 1, "messages": [asked, {"role": "assistant", "parts": [part]}]}
    done = pipeline.convert(document, dialects.get("intermediate"), dialects.get("hf-chat"))
    places = {finding.code: finding.where for finding in done.findings}
    call = "/messages/1/parts/0"
    quoted = {"arguments-quoted-twice": f"{call}/arguments", "invalid-arguments": f"{call}/rawArguments"}
    assert places == {**quoted, "missing-tool-result": f"{call}/id"}


def test_what_a_text_spells_is_reported_where_the_text_stands() -> None:
    tools = json.dumps([{"name": "f", "parameters": {"type": "object", "properties": {"q": {"type": "text"}}}}])
    messages = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho.", "loss": True}]
    found = pipeline.validate({"messages": messages, "tools": tools}, dialects.get("ms-swift"))
    assert [(finding.code, finding.where) for finding in found] == [("invalid-schema", "/tools")]


@pytest.mark.parametrize(
    ("whole", "of_input"), [(trees.rooted(), ("missing-parent",)), (replace(trees.rooted(), of_input=()), ())]
)
def test_a_limited_rule_is_reported_of_inputs_where_the_whole_one_is(whole: Rule, of_input: tuple[str, ...]) -> None:
    rule = limited_to(whole, "missing-parent")
    assert (rule.codes, rule.of_input) == (("missing-parent",), of_input)


def test_calls_that_are_open_at_the_end_are_fine() -> None:
    asked: list[Any] = [{"role": "user", "content": "Hi."}]
    asked += [{"role": "assistant", "content": None, "tool_calls": [call("a"), call("b")]}]
    assert pipeline.validate(asked, dialects.get("openai-chat")) == []
    asked += [{"role": "tool", "tool_call_id": "b", "content": "ok"}]
    assert pipeline.validate(asked, dialects.get("openai-chat")) == []


def test_neighbouring_turns_of_the_assistant_are_one_to_anthropic_only() -> None:
    use = [{"type": "tool_use", "id": id_, "name": "f", "input": {}} for id_ in ("a", "b")]
    results = [{"type": "tool_result", "tool_use_id": id_, "content": "ok"} for id_ in ("a", "b")]
    turns = [{"role": "assistant", "content": [block]} for block in use]
    document = [{"role": "user", "content": "Hi."}, *turns, {"role": "user", "content": results}]
    assert pipeline.validate(document, dialects.get("anthropic")) == []
    calls = [{"role": "assistant", "content": None, "tool_calls": [call(id_)]} for id_ in ("a", "b")]
    answers = [{"role": "tool", "tool_call_id": id_, "content": "ok"} for id_ in ("a", "b")]
    found = pipeline.validate([{"role": "user", "content": "Hi."}, *calls, *answers], dialects.get("openai-chat"))
    assert [finding.code for finding in found] == ["misplaced-tool-result"]


def test_an_orphan_is_reported_with_the_open_calls_and_the_nearest_id() -> None:
    document = [
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": None, "tool_calls": [call("call_abc123")]},
        {"role": "tool", "tool_call_id": "call_abc124", "content": "ok"},
    ]
    (finding,) = pipeline.validate(document, dialects.get("openai-chat"))
    assert finding.notes == ('open call "call_abc123" of "f": /1/tool_calls/0',)
    assert finding.help == 'did you mean "call_abc123"?'


def test_a_message_never_shows_a_value() -> None:
    secret = "sk-FAKE 0123456789"
    calls = [call(secret * 9, secret, f'{{"{secret}": "{secret}')]
    document = {
        "messages": [
            {"role": "user", "content": secret, "name": secret},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": secret, "content": secret},
        ],
        "tools": [{"type": "function", "function": {"name": secret, "parameters": {"type": secret, "$ref": secret}}}],
        "tool_choice": {"type": "function", "function": {"name": f"{secret}!"}},
    }
    found = pipeline.validate(document, dialects.get("openai-chat"))
    assert len(found) >= 6
    assert not [finding for finding in found if "FAKE" in finding.message + finding.help + "".join(finding.notes)]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(("arguments", "wrong"), [("{}", False), ("", True), ("[1]", True), ('{"a": ', True)])
def test_a_stream_says_of_arguments_what_the_whole_response_says(name: str, arguments: str, wrong: bool) -> None:
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": None, "tool_calls": [call("call_a", "f", arguments)]},
            }
        ],
    }
    for target in (name, f"{name}-stream"):
        done = pipeline.convert(document, dialects.get("openai-chat"), dialects.get(target)).document
        found = [finding.code for finding in pipeline.validate(done, dialects.get(target))]
        assert found == ["invalid-arguments"] * wrong, target


# ---------------------------------------------------------------- short cuts


SHORT = [name for name in names() if dialects.get(name).without_clean_messages is not None]


@pytest.mark.parametrize("name", SHORT)
@given(data=st.data())
@tiers.examples(300)
def test_a_short_cut_never_calls_clean_what_is_not(name: str, data: st.DataObject) -> None:
    dialect = dialects.get(name)
    choice = [sample.document for sample in acceptable() if sample.dialect == name]
    document = copy.deepcopy(choice[data.draw(st.integers(0, len(choice) - 1))])
    for _ in range(data.draw(st.integers(0, 2))):
        places = list(containers(document))
        mutate(data.draw, places[data.draw(st.integers(0, len(places) - 1))])
    if schemas.accepts(name, document):
        assert_others_find_nothing(document, dialect)
    if pipeline.validate(document, dialect) == []:
        assert schemas.findings(name, document) == []
        assert verdict.findings(document, dialect.lift(document), dialect, verdict.rules_of(dialect)) == []


@given(transcript=strategies.transcripts(), where=st.sampled_from(["next", "later"]), wide=st.booleans())
@tiers.examples(200)
def test_pairs_that_look_plain_are(transcript: Any, where: Any, wide: bool) -> None:
    manner = links.PairingRules(where, unique="request" if wide else "turn", together=wide)
    survey = Survey(transcript, None, None)
    if links.is_clean(survey, manner):
        assert links.PairWalk(survey, manner).breaches() == []


# ---------------------------------------------------------------- arguments against the schema of their tool


def checked(schema: Any, arguments: Any) -> list[str]:
    rules: tuple[Rule, ...] = (arguments_match(),)
    document = {
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": None, "tool_calls": [call("a", "f", json.dumps(arguments))]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}],
    }
    found = pipeline.validate(document, dialects.get("openai-chat"), more=rules)
    return [finding.message for finding in found if finding.code == "arguments-mismatch"]


def call(id_: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 8},
        "days": {"type": "integer", "minimum": 1},
        "units": {"enum": ["metric", "imperial"]},
        "near": {"type": "array", "items": {"$ref": "#/$defs/place"}},
        "at": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "required": ["name"]}},
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"city": "Oslo"},
        {"city": "Oslo", "days": 1.0, "units": "metric", "near": [{"name": "x"}], "at": None},
    ],
)
def test_arguments_that_match_are_fine(arguments: Any) -> None:
    assert checked(SCHEMA, arguments) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "city is missing"),
        ({"city": 7}, "city must be of the type string"),
        ({"city": "Reykjavík"}, "city is more than 8 long"),
        ({"city": "Oslo", "days": 0}, "days is not as much as 1"),
        ({"city": "Oslo", "days": True}, "days must be of the type integer"),
        ({"city": "Oslo", "days": 1.5}, "days must be of the type integer"),
        ({"city": "Oslo", "units": "feet"}, "units must be one of 2 values"),
        ({"city": "Oslo", "near": [{"name": "x"}, {}]}, "near/1/name is missing"),
        ({"city": "Oslo", "at": 3}, "at matches none of the alternatives"),
        ({"city": "Oslo", "town": "x"}, "town is not defined by the tool"),
    ],
)
def test_arguments_that_do_not_match_are_reported_with_their_place(arguments: Any, said: str) -> None:
    assert checked(SCHEMA, arguments) == [said]


def test_a_schema_that_never_ends_is_given_up_in_time() -> None:
    def work(size: int) -> Steps:
        depth = 14 + size // 2  # each level has twice the choices of the one before
        choices: dict[str, Any] = {"d0": {"type": "string"}}
        for i in range(depth):
            choices[f"d{i + 1}"] = {"anyOf": [{"$ref": f"#/$defs/d{i}"}, {"$ref": f"#/$defs/d{i}"}]}
        schema = {"type": "object", "properties": {"q": {"$ref": f"#/$defs/d{depth}"}}, "$defs": choices}
        return [lambda: checked(schema, {"q": 1})]

    assert growth(work, 1) < MOST
    assert [step() for step in work(32)] == [[]]
    assert checked({"type": "object", "properties": {"q": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]}, {"q": {}}) == []


def assert_present(document: Any, where: str) -> None:
    pointers.resolve(document, pointers.steps(where))


@pytest.mark.parametrize("name", names())
def test_every_finding_on_a_bad_sample_is_reported_at_a_place_that_the_sample_has(name: str) -> None:
    dialect = dialects.get(name)
    for path in sample_files(name, "bad"):
        for document in documents(path, dialect):
            with suppress(ConvcliError):  # some cannot be lifted at all
                for finding in pipeline.validate(document, dialect):
                    assert_present(document, finding.where)


def test_no_good_sample_breaks_a_rule() -> None:
    for sample in samples():
        allowed = {WITH_WARNINGS.get(str(sample))}
        codes = {finding.code for finding in pipeline.validate(sample.document, dialects.get(sample.dialect))}
        assert codes <= allowed, str(sample)


def test_a_result_is_compared_with_the_name_of_the_call_before_it() -> None:
    def called(name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        }

    answer = {"role": "tool", "tool_call_id": "a", "content": "done"}
    messages = [{"role": "user", "content": "go"}, called("f"), answer, called("g"), answer]
    conversion = pipeline.convert(
        {"model": "m", "messages": messages}, dialects.get("openai-chat"), dialects.get("gemini")
    )
    assert "result-name-mismatch" not in {finding.code for finding in conversion.findings}
