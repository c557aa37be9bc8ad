"""Restores the exact original from a converted document and its restore record (law L10).

The record has what the target cannot store: a JSON Patch from the document that reading back gives to the original. If
nothing was lost, the patch is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import deepcopy
from typing import Any

from convcli import dialects
from convcli.engine.containers import Shell, put_back, without_values
from convcli.engine.pipeline import convert
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.errors import ContentError, RefusedError
from convcli.model.version import __version__
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.json_patch import apply, patch
from convcli.wire.pointers import resolve

RestoreRecord = dict[str, Any]

SCHEMA = "restore"
WITHOUT_DOCUMENT = ("no-messages", "no-pair")
"""Codes of inputs that have no document, or none of this form."""


def record(original: Any, converted: Any, source: Dialect, target: Dialect) -> RestoreRecord:
    """Returns what `restore` needs in addition to the converted document; `patch` is empty if nothing is needed."""
    head = {"convcli": 1, "version": __version__, "source": source.name, "target": target.name}
    sums = {"original": exact_json.digest(original), "converted": exact_json.digest(converted)}
    best = patch(_back(converted, source, target, None), original)
    form: str | None = None
    if best:
        for other in source.forms:
            operations = patch(_back(converted, source, target, other), original)
            if len(exact_json.write(operations)) < len(exact_json.write(best)):
                best, form = operations, other
    return {**head, **({} if form is None else {"form": form}), "sha256": sums, "patch": best}


def restore(converted: Any, kept: RestoreRecord) -> Any:
    """Returns the original document. Raises ContentError if the record is invalid or does not match the document."""
    findings = schemas.findings(SCHEMA, kept)
    if findings:
        raise ContentError(
            "not-a-restore-file", f"this is not a restore record: {findings[0].message}", where=findings[0].where
        )
    if exact_json.digest(converted) != kept["sha256"]["converted"]:
        raise _does_not_fit("the restore record belongs to another converted document")
    source, target = dialects.get(kept["source"]), dialects.get(kept["target"])
    original = apply(_back(converted, source, target, kept.get("form")), kept["patch"])
    return (
        Rows(original, list(range(1, len(original) + 1)))
        if isinstance(original, list) and is_rows(source) and kept.get("layout") != "json"
        else original
    )


def around(document: Any, picked: Collection[str], *, is_member: bool) -> RestoreRecord:
    """Returns what `in_envelopes` needs in addition to the picked originals: the rest of the document."""
    shell = without_values(document, picked)
    layout = {"layout": "array"} if is_member else {}
    return {"convcli": 1, "version": __version__, **layout, "shell": shell.value, "texts": shell.texts}


def in_envelopes(originals: Iterable[Any], records: Iterable[RestoreRecord]) -> list[Any]:
    """Puts originals back into the documents that they were picked from. Raises ContentError."""
    documents, picked, waiting = list[Any](), dict[str, Any](), iter(originals)
    for kept in records:
        if "sha256" in kept:
            picked[kept.get("at", "")] = next(waiting)
            continue
        try:
            documents.append(put_back(Shell(kept["shell"], kept["texts"]), picked))
        except (LookupError, TypeError, ValueError):
            raise _does_not_fit("the shell of a restore record has no position for its documents") from None
        picked = {}
    return documents


def in_order(documents: list[Any], records: list[RestoreRecord]) -> list[Any]:
    """Returns converted documents in the order of their records, by digest; unchanged if one does not match.

    The files of a split input are listed by name."""
    by_digest: dict[str, list[Any]] = {}
    for document in documents:
        by_digest.setdefault(exact_json.digest(document), []).append(document)
    try:
        return [by_digest[kept["sha256"]["converted"]].pop() for kept in records]
    except (LookupError, TypeError):
        return documents


def in_shells(originals: list[Any], records: list[RestoreRecord]) -> list[Any]:
    """Returns the documents that contained several originals, or the originals. Raises ContentError."""
    if "shell" not in records[0]:
        return originals
    documents, members = list[Any](), list[Any]()
    for original, kept in zip(originals, records, strict=True):
        if "shell" in kept:
            document = deepcopy(kept["shell"])
            try:
                members = resolve(document, kept["many"].split("/")[:-1])
            except (LookupError, KeyError):
                raise _does_not_fit("the shell of a restore record has no position for its documents") from None
            documents.append(document)
        members.append(original)
    return documents


def _does_not_fit(message: str) -> ContentError:
    return ContentError("patch-does-not-fit", message, help="restore needs the file exactly as convert wrote it")


def _back(converted: Any, source: Dialect, target: Dialect, form: str | None) -> Any:
    """Converts the document back to the source dialect.

    Returns None if the source is read-only, if the document has no messages, or if it cannot have this form.
    """
    if not source.is_written:
        return None
    try:
        return convert(converted, target, source, Options(form=form)).document
    except RefusedError as error:
        if error.code not in WITHOUT_DOCUMENT:
            raise
        return None


def is_rows(source: Dialect) -> bool:
    """True if the rows of a file form one document of this dialect."""
    return "events" in source.framings
