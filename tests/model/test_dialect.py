"""What a dialect is: forms, passes and what it lacks, composed in one place."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from convcli import dialects
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.errors import JobError
from convcli.model.fields import FIELDS, PARTS, TEXTS
from convcli.model.transcript import Message, Text, Transcript
from convcli.validation import schemas
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


def test_it_supports_texts_unless_it_states_more() -> None:
    assert made().supports_in("list") == TEXTS
    assert made(supports=TEXTS | {"title"}).supports_in() == TEXTS | {"title"}


def test_what_it_supports_without_a_form_is_what_every_form_supports() -> None:
    forms = made(supports={"request": TEXTS | {"model", "title"}, "list": TEXTS | {"title"}})
    assert forms.supports_in("request") == TEXTS | {"model", "title"}
    assert forms.supports_in() == TEXTS | {"title"}


def test_it_owns_the_extras_of_its_name_and_of_its_family() -> None:
    assert made().owns("made")
    relative = made(family="clan")
    assert relative.owners == {"made", "clan"}
    assert all(map(relative.owns, relative.owners))
    assert not relative.owns("")


@pytest.mark.parametrize("dialect", dialects.builtin(), ids=lambda dialect: dialect.name)
def test_tables_by_form_name_every_form_and_no_other(dialect: Dialect) -> None:
    for table in (dialect.fit, dialect.supports):
        if not isinstance(table, (tuple, frozenset)):
            assert set(table) == set(dialect.forms)


SETTINGS, USAGE = (schemas.schema("intermediate")["$defs"][node]["properties"] for node in ("settings", "message"))
IN_SETTINGS = (*SETTINGS, "toolChoice")
"""The Interactions API has the tool choice among the settings."""
KNOWN = {*FIELDS, *PARTS, *TEXTS, *(f"settings.{name}" for name in IN_SETTINGS)}
KNOWN |= {f"message.usage.{name}" for name in USAGE["usage"]["properties"]}


@pytest.mark.parametrize("dialect", dialects.builtin(), ids=lambda dialect: dialect.name)
def test_what_a_dialect_supports_are_fields_of_the_format(dialect: Dialect) -> None:
    named = frozenset[str]().union(*map(dialect.supports_in, dialect.forms))
    in_metadata = {name for name in named if name.partition(".metadata.")[2]}
    assert {name for name in named - KNOWN - in_metadata if not name.startswith("extras.")} == set()
    assert named >= {"messages", "message.role", "message.parts", "text.text"}
