"""What a lift adds to: messages, and where they stand in the document."""

from __future__ import annotations

from convcli.kit.contexts import LiftContext, lift_forms
from convcli.kit.objects import Native
from convcli.model.transcript import Message, PartPaths, Text, Transcript


def lift_one(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    return Message("user", [Text(native["text"])], name=context.dialect), [("text",)]


def test_each_item_of_a_list_becomes_a_message_with_its_place() -> None:
    context = LiftContext("some-format", {})
    context.each([{"text": "a"}, {"text": "b"}], ("messages",), lift_one)
    transcript = context.transcript(model="m")
    assert [message.parts for message in transcript.messages] == [[Text("a")], [Text("b")]]
    assert transcript.model == "m"
    assert transcript.origin is not None
    assert transcript.origin.places == [(("messages", 0), [("text",)]), (("messages", 1), [("text",)])]


def test_a_message_alone_is_added_at_its_own_place() -> None:
    context = LiftContext("some-format", {}, node_path=("parts",))
    context.add(Message("user", []), ("message",))
    assert context.origin.places == [(("message",), None)]
    assert context.origin.node_path == ("parts",)


def test_what_is_kept_stands_under_the_name_of_the_owner_and_the_origin_is_the_dialect() -> None:
    context = LiftContext("stream-of-it", {}, owner="it")
    assert (context.dialect, context.origin.dialect) == ("it", "stream-of-it")
    assert LiftContext("it", {}).dialect == "it"


def test_ids_that_the_pairing_makes_up_are_those_that_the_origin_calls_invented() -> None:
    context = LiftContext("some-format", {})
    context.pairing.invented.add("call_1")
    assert context.transcript().origin is context.origin
    assert context.origin.generated_ids == {"call_1"}


def test_two_contexts_share_no_messages() -> None:
    one, two = LiftContext("x", {}), LiftContext("x", {})
    one.add(Message("user", []), ())
    assert two.messages == []
    assert two.origin.places == []


def test_a_list_a_request_and_an_answer_are_distinguished() -> None:
    def lift_request(native: Native, context: LiftContext) -> Transcript:
        return context.transcript(model=native["model"])

    def lift_answer(native: Native, context: LiftContext) -> Transcript:
        return context.transcript(id=native["answer"])

    lift = lift_forms("some-format", lift_one, lift_request, lift_answer, answers="answer")
    items = [{"text": "a"}]
    request = lift({"messages": items, "model": "m"})
    assert [(lifted.origin.form, lifted.origin.places[0][0]) for lifted in (request, lift(items)) if lifted.origin] == [
        ("request", ("messages", 0)),
        ("list", (0,)),
    ]
    assert (request.model, lift({"answer": "x"})) == ("m", Transcript([], id="x"))
