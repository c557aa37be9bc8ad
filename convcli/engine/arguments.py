"""What the functions of the library are called with, checked: a parsed document, its dialect, choices about the output.

On the command line these come from files and options; the messages of the two differ where what to do about it does."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

from convcli import dialects
from convcli.engine import detection, objects, texts
from convcli.model.dialect import Added, Dialect, Options
from convcli.model.errors import ContentError, JobError
from convcli.validation.wording import unknown
from convcli.wire.patterns import pattern

UNPARSED: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "a text was given: parse it first, as json.loads(text) does"),
    ((bytes, bytearray, memoryview), "bytes were given: parse them first, as json.loads(data) does"),
    (PathLike, "a path was given: read the file first, as convcli.read(path) does"),
)
"""What is often given in place of a document, and what to do about it."""
JSON = pattern(r"""\s*(\{\s*["}]|\[\s*[][{"])""")
"""How a JSON document begins, and no name of a file."""


def parsed(document: Any) -> Any:
    """Returns the document with the objects of SDKs in it as JSON values. Raises JobError for what is not parsed."""
    _check_parsed(document)
    return objects.plain(document)


def detect(document: Any) -> detection.Detection:
    """The dialect of a parsed document, and why. Raises JobError for a text and ContentError when it is not known."""
    _check_parsed(document)
    try:
        return detection.detect(texts.opened(document))
    except ContentError as error:
        error.help = "name it: source=…; convcli.dialects() lists them all"
        raise


def dialect_of(document: Any, name: str | None) -> Dialect:
    """The dialect of this name, or the one that the document is in. Raises as `detect` does."""
    _check_parsed(document)
    return dialects.get(name if name is not None else detect(document).dialect)


def read(document: Any, name: str | None) -> tuple[Any, Dialect, tuple[str, ...]]:
    """The document with those columns opened that hold JSON in a text, its dialect, and the names of these columns.
    Raises as `dialect_of` does."""
    dialect = dialect_of(document, name)
    value, columns = texts.read(document, dialect)
    return value, dialect, columns


def path_of(path: str | PathLike[str]) -> str:
    """The path as a text. Raises JobError when what is given is no path but what a file holds."""
    if not isinstance(path, (str, PathLike)):
        kind = "bytes were" if isinstance(path, (bytes, bytearray, memoryview)) else "a document was"
        raise JobError("usage", f"{kind} given: convcli.read takes the path of a file")
    if isinstance(path, str) and JSON.match(path):
        raise JobError("usage", "JSON was given: convcli.read takes the path of a file")
    return str(path)


def options(
    target: Dialect,
    form: str | None,
    branch: Literal["active", "all"],
    chunk: int,
    view: Literal["history", "context"] = "history",
    added: Mapping[str, Any] | None = None,
) -> Options:
    """The choices for a dialect that is written. Raises JobError when it is not, and for a form or a key that it does
    not have."""
    if not target.is_written:
        raise JobError("read-only-dialect", f"{target.title} is only read, never written")
    if form is not None and form not in target.forms:
        raise unknown("form", form, target.forms, f"{target.name} has {', '.join(target.forms)}")
    if branch not in ("active", "all"):
        raise unknown("branch", str(branch), ("active", "all"), "choose active or all")
    if view not in ("history", "context"):
        raise unknown("view", str(view), ("history", "context"), "choose history or context")
    return Options(form=form, chunk=chunk, branch=branch, view=view, added=_checked(added, target) if added else ())


def _checked(added: Mapping[str, Any], target: Dialect) -> Added:
    from convcli.engine.added import checked

    return checked(added, target)


def _check_parsed(document: Any) -> None:
    for kind, message in UNPARSED:
        if isinstance(document, kind):
            raise JobError("usage", message)
