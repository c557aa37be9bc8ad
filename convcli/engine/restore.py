"""The way back: a converted document and its restore record give the exact original (law L10).

What the target cannot say is lost in the converted document, so it is kept beside it: the record holds the JSON Patch
from what reading the converted document back gives to the original. Where nothing was lost there is nothing to keep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import deepcopy
from typing import Any

from convcli import dialects
from convcli.engine.enclosed import Shell, put_back, taken_out
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
"""Codes of what says too little for a document, or for one of a form."""


def record(original: Any, converted: Any, source: Dialect, target: Dialect) -> RestoreRecord:
    """What `restore` needs beside the converted document; its `patch` is empty when that alone gives the original."""
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
    """The original document. Raises ContentError when the record is none, or does not fit the document."""
    findings = schemas.findings(SCHEMA, kept)
    if findings:
        raise ContentError(
            "not-a-restore-file", f"this is no restore record: {findings[0].message}", where=findings[0].where
        )
    if exact_json.digest(converted) != kept["sha256"]["converted"]:
        raise _does_not_fit("the converted document is not the one that the restore record belongs to")
    source, target = dialects.get(kept["source"]), dialects.get(kept["target"])
    original = apply(_back(converted, source, target, kept.get("form")), kept["patch"])
    return (
        Rows(original, list(range(1, len(original) + 1)))
        if isinstance(original, list) and _is_rows(source)
        else original
    )


def around(document: Any, picked: Collection[str], *, is_member: bool) -> RestoreRecord:
    """What `in_envelopes` needs beside the originals that were picked out of a document: all else of it."""
    shell = taken_out(document, picked)
    layout = {"layout": "array"} if is_member else {}
    return {"convcli": 1, "version": __version__, **layout, "shell": shell.value, "texts": shell.texts}


def in_envelopes(originals: Iterable[Any], records: Iterable[RestoreRecord]) -> list[Any]:
    """The documents out of which originals were picked, each behind the records of these. Raises ContentError."""
    documents, picked, waiting = list[Any](), dict[str, Any](), iter(originals)
    for kept in records:
        if "sha256" in kept:
            picked[kept.get("at", "")] = next(waiting)
            continue
        try:
            documents.append(put_back(Shell(kept["shell"], kept["texts"]), picked))
        except (LookupError, TypeError, ValueError):
            raise _does_not_fit("the shell of a restore record has no place for its documents") from None
        picked = {}
    return documents


def in_order(documents: list[Any], records: list[RestoreRecord]) -> list[Any]:
    """Converted documents in the order of their records, to which their digests lead; as they are where one does not.

    A folder lists the files that an input became by their names."""
    by_digest: dict[str, list[Any]] = {}
    for document in documents:
        by_digest.setdefault(exact_json.digest(document), []).append(document)
    try:
        return [by_digest[kept["sha256"]["converted"]].pop() for kept in records]
    except (LookupError, TypeError):
        return documents


def in_shells(originals: list[Any], records: list[RestoreRecord]) -> list[Any]:
    """The documents that held several of the originals, or the originals where none did. Raises ContentError."""
    if "shell" not in records[0]:
        return originals
    documents, members = list[Any](), list[Any]()
    for original, kept in zip(originals, records, strict=True):
        if "shell" in kept:
            document = deepcopy(kept["shell"])
            try:
                members = resolve(document, kept["many"].split("/")[:-1])
            except (LookupError, KeyError):
                raise _does_not_fit("the shell of a restore record has no place for its documents") from None
            documents.append(document)
        members.append(original)
    return documents


def _does_not_fit(message: str) -> ContentError:
    return ContentError("patch-does-not-fit", message, help="restore needs the file exactly as convert wrote it")


def _back(converted: Any, source: Dialect, target: Dialect, form: str | None) -> Any:
    """The converted document in its old dialect again, as far as it goes; null where the source is only read, where
    nothing was said, of which no conversion comes, and where it cannot have this form."""
    if not source.is_written:
        return None
    try:
        return convert(converted, target, source, Options(form=form)).document
    except RefusedError as error:
        if error.code not in WITHOUT_DOCUMENT:
            raise
        return None


def _is_rows(source: Dialect) -> bool:
    return "events" in source.framings
