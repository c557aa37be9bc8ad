"""How a document was spelled, derived where somebody needs it: nothing in a dialect records it.

A document of the intermediate format that came from another dialect keeps, once, at its root, `form`: the dialect, the
JSON Patch from what that dialect writes of the stored transcript to the document that was given, and the digest of what
it writes. Back in that dialect the patch is applied where the digest still fits; when somebody has edited the
transcript it does not, and the dialect's usual spelling is used. What the patch leads to is read and compared like any
output, so that an edited patch can say nothing in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.engine.conversion import BY_DEFAULT, Conversion, compared, written
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ContentError, RefusedError
from convcli.model.transcript import Transcript
from convcli.proof.records import MADE_UP
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.json_patch import apply, patch

FORM = "form"
"""The member of an intermediate document that holds the spelling of the document it came from."""


def with_form(transcript: Transcript, document: Any, source: Dialect, hub: Dialect) -> Any:
    """The document in the intermediate format, with `form` where `source` would spell the transcript otherwise."""
    stored = written(transcript, hub, BY_DEFAULT, source)
    spellings = [(usual, patch(usual, document)) for usual in _spellings(hub.lift(stored), source, hub)]
    if not spellings or not spellings[0][1]:
        return stored
    rows = isinstance(document, Rows)  # no patch says that a list is the rows of a file
    usual, operations = min(
        spellings, key=lambda pair: (isinstance(pair[0], Rows) is not rows, len(exact_json.write(pair[1])))
    )
    return {**stored, FORM: {"dialect": source.name, "digest": exact_json.digest(usual), "patch": operations}}


def respelled(conversion: Conversion, stored: Any, hub: Dialect, target: Dialect) -> Conversion:
    """The conversion with the document as its source spelled it, where the stored transcript is still the same."""
    form = stored.get(FORM) if isinstance(stored, dict) else None
    if not form or form["dialect"] != target.name:
        return conversion
    for usual in _spellings(conversion.transcript, target, hub):
        if exact_json.digest(usual) == form["digest"]:
            document = _applied(usual, form["patch"], target)
            if document is None:
                return conversion
            again = compared(conversion.transcript, document, target, hub)
            return again if _facts_lost(again) <= _facts_lost(conversion) else conversion
    return conversion


def _facts_lost(conversion: Conversion) -> int:
    """How many losses are not of an id or a name that a lift makes up: stored, it looks like any other."""
    return sum(loss.field not in MADE_UP for loss in conversion.losses)


def _spellings(transcript: Transcript, dialect: Dialect, hub: Dialect) -> Iterator[Any]:
    """What the dialect writes of a stored transcript, in its usual form and in every other."""
    usual = dialect.form(transcript)
    for form in dict.fromkeys((usual, *dialect.forms)):
        try:
            yield written(transcript, dialect, Options(form=form), hub)
        except RefusedError:  # what was carried does not pass the schema in this form
            continue


def _applied(usual: Any, operations: Any, target: Dialect) -> Any:
    """The usual spelling with the patch applied; None where that leads to no document of the dialect."""
    try:
        document = apply(usual, operations)
    except ContentError:
        return None
    if isinstance(usual, Rows):
        document = Rows(document) if isinstance(document, list) else document
    return document if schemas.accepts(target.name, document) else None
