"""What a dialect is: forms, passes and what it lacks, composed in one place."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.kit.unsupported import AROUND_PARTS
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.errors import JobError
from convcli.model.fields import RARE
from convcli.model.transcript import Message, Text, Transcript
from tests.support import facts

TRANSCRIPT = Transcript([Message("user", [Text("Hi.")], name="Ann")], title="t")


def without_title(transcript: Transcript) -> Transcript:
    return replace(transcript, title=None)


def without_names(transcript: Transcript) -> Transcript:
    return replace(transcript, messages=[replace(message, name=None) for message in transcript.messages])


def write(transcript: Transcript, options: Options) -> Any:
    names = [message.name for message in transcript.messages]
    return {"form": options.form, "chunk": options.chunk, "title": transcript.title, "names": names}


def made(**fields: Any) -> Dialect:
    usual = {
        "name": "made",
        "title": "Made",
        "specification": "",
        "framings": ("document",),
        "forms": ("request", "list"),
        "detect": lambda document: None,
        "lift": lambda document: TRANSCRIPT,
        "write": write,
    }
    return Dialect(**{**usual, **fields})


BY_FORM: dict[str, tuple[Pass, ...]] = {"request": (without_title,), "list": (without_title, without_names)}


def test_what_is_fitted_is_written() -> None:
    assert made(fit=(without_names,)).lower(TRANSCRIPT) == {
        "form": "request",
        "chunk": 0,
        "title": "t",
        "names": [None],
    }


def test_nothing_is_fitted_where_there_are_no_passes() -> None:
    assert made().fitted(TRANSCRIPT, "request") is TRANSCRIPT


def test_passes_are_those_of_the_form() -> None:
    dialect = made(fit=BY_FORM)
    assert dialect.lower(TRANSCRIPT)["names"] == ["Ann"]
    assert dialect.lower(TRANSCRIPT, Options(form="list"))["names"] == [None]


def test_the_form_is_the_one_asked_for_else_that_of_the_transcript_else_the_first() -> None:
    assert made().form(TRANSCRIPT) == "request"
    assert made(form_of=lambda transcript: "list").form(TRANSCRIPT) == "list"
    assert made(form_of=lambda transcript: "list").form(TRANSCRIPT, Options(form="request")) == "request"


def test_the_writer_knows_the_form_and_the_other_options() -> None:
    document = made().lower(TRANSCRIPT, Options(chunk=7))
    assert (document["form"], document["chunk"]) == ("request", 7)


def test_fitting_does_not_change_the_transcript() -> None:
    before = facts(TRANSCRIPT)
    made(fit=BY_FORM["list"]).lower(TRANSCRIPT)
    assert facts(TRANSCRIPT) == before


def test_a_dialect_that_is_only_read_says_so() -> None:
    reader = made(write=None)
    assert not reader.is_written
    with pytest.raises(JobError, match="is read-only"):
        reader.lower(TRANSCRIPT)


def test_it_lacks_what_it_says_and_the_rare_fields_that_it_does_not_have() -> None:
    assert made(unsupported=frozenset(("title",))).unsupported_in() == {"title", *RARE}
    assert made(supports=RARE).unsupported_in() == frozenset()
    forms = made(unsupported={"request": frozenset(("title",)), "list": frozenset(("settings",))}, supports=RARE)
    assert (forms.unsupported_in("list"), forms.unsupported_in()) == ({"settings"}, {"title", "settings"})


def test_what_it_supports_is_not_lacking_although_a_set_of_many_formats_names_it() -> None:
    some = made(unsupported=AROUND_PARTS, supports={"request": RARE | {"title"}, "list": RARE | {"title", "head"}})
    assert some.unsupported_in("request") == AROUND_PARTS - {"title"}
    assert some.unsupported_in("list") == AROUND_PARTS - {"title", "head"}
    assert some.unsupported_in() == AROUND_PARTS - {"title"}


def test_it_owns_the_extras_of_its_name_and_of_its_family() -> None:
    assert made().owns("made")
    relative = made(family="clan")
    assert relative.owners == {"made", "clan"}
    assert all(map(relative.owns, relative.owners))
    assert not relative.owns("")


@pytest.mark.parametrize("dialect", dialects.builtin(), ids=lambda dialect: dialect.name)
def test_tables_by_form_name_every_form_and_no_other(dialect: Dialect) -> None:
    for table in (dialect.fit, dialect.supports, dialect.unsupported):
        if not isinstance(table, (tuple, frozenset)):
            assert set(table) == set(dialect.forms)
