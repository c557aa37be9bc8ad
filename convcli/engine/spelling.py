"""Derives how a document was spelled, when needed: dialects do not record it.

A document of the intermediate format that came from another dialect has a root key `form`: the dialect, the JSON Patch
from what that dialect writes of the stored transcript to the original document, and the digest of what it writes. Back
in that dialect, the patch is applied if the digest still matches. If someone has edited the transcript it does not, and
the dialect's usual spelling is used. The patched document is read and compared like any output, so an edited patch
cannot add anything unreported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.engine.conversion import BY_DEFAULT, Conversion, read_back, write
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ContentError, RefusedError
from convcli.model.transcript import Transcript
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.json_patch import apply, patch

FORM = "form"
"""The key of an intermediate document with the spelling of its original."""


def with_form(transcript: Transcript, document: Any, source: Dialect, hub: Dialect) -> Any:
    """Returns the document in the intermediate format, with `form` if `source` would spell the transcript otherwise, or
    if the transcript has ids that the source lacks.

    No other spelling is tried after the one that the document has.
    """
    stored = write(transcript, hub, BY_DEFAULT, source)
    has_generated = transcript.origin is not None and bool(transcript.origin.generated_ids)
    rows = isinstance(document, Rows)  # a patch cannot turn a list into the rows of a file
    spellings = list[tuple[Any, Any]]()
    for usual in _spellings(hub.lift(stored), source, hub):
        operations = patch(usual, document)
        if not (operations or spellings or has_generated):
            return stored
        spellings.append((usual, operations))
        if not operations and isinstance(usual, Rows) is rows:
            break
    if not spellings:
        return stored
    usual, operations = min(
        spellings, key=lambda pair: (isinstance(pair[0], Rows) is not rows, len(exact_json.write(pair[1])))
    )
    return {**stored, FORM: {"dialect": source.name, "digest": exact_json.digest(usual), "patch": operations}}


def respelled(transcript: Transcript, stored: Any, hub: Dialect, target: Dialect) -> Conversion | None:
    """Returns the conversion to the document as its source spelled it; None if the stored transcript was changed."""
    form = stored.get(FORM) if isinstance(stored, dict) else None
    if not form or form["dialect"] != target.name:
        return None
    for usual in _spellings(transcript, target, hub):
        if exact_json.digest(usual) == form["digest"]:
            document = _applied(usual, form["patch"], target)
            return None if document is None else read_back(transcript, document, target, hub, is_original=True)
    return None


def _spellings(transcript: Transcript, dialect: Dialect, hub: Dialect) -> Iterator[Any]:
    """Yields what the dialect writes of a stored transcript, in its usual form and in all others."""
    usual = dialect.form(transcript)
    for form in dict.fromkeys((usual, *dialect.forms)):
        try:
            yield write(transcript, dialect, Options(form=form), hub)
        except RefusedError:  # the extras do not pass the schema in this form
            continue


def _applied(usual: Any, operations: Any, target: Dialect) -> Any:
    """Applies the patch to the usual spelling; None if the result is not a document of the dialect."""
    try:
        document = apply(usual, operations)
    except ContentError:
        return None
    if isinstance(usual, Rows):
        document = Rows(document) if isinstance(document, list) else document
    return document if schemas.accepts(target.name, document) else None
