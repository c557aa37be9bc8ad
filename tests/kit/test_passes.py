"""How passes are made: what changes nothing shares everything, and those that follow each other are one walk."""

from __future__ import annotations

from convcli.kit import fitting, passes
from convcli.model.inventory import has_blank_text
from convcli.model.transcript import (
    Message,
    Opaque,
    Refusal,
    Text,
    Transcript,
)


def test_passes_of_parts_that_follow_each_other_are_one_walk_with_the_same_outcome() -> None:
    fused = passes.fused(fitting.refusals_as_texts, fitting.drop_other_opaque("x"), fitting.keep_active_conversation)
    assert len(fused) == 2
    transcript = Transcript([Message("assistant", [Refusal("No."), Opaque("y", 1), Opaque("x", 2)])])
    for one in fused:
        transcript = one(transcript)
    assert transcript.messages[0].parts == [Text("No."), Opaque("x", 2)]


def test_a_text_that_a_pass_makes_is_fitted_although_no_text_was_blank_before() -> None:
    drop_blank = passes.on_parts(lambda part, _: part if part.text.strip() else None, "text", when=has_blank_text)
    (fused,) = passes.fused(fitting.refusals_as_texts, drop_blank)
    unchanged = Transcript([Message("assistant", [Text("Yes.")])])
    assert fused(unchanged) is unchanged
    changed = fused(Transcript([Message("assistant", [Text("No."), Refusal(" ")]), Message("user", [Text("Why?")])]))
    assert [message.parts for message in changed.messages] == [[Text("No.")], [Text("Why?")]]
