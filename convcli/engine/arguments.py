"""Checks the arguments of library functions: a parsed document, its dialect, output options.

On the command line these come from files and options; messages differ where the remedy does."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from convcli import dialects
from convcli.engine import texts
from convcli.model.dialect import Dialect, Options, SetKeys
from convcli.model.errors import ContentError, JobError
from convcli.model.modules import Later
from convcli.validation.wording import unknown
from convcli.wire.patterns import pattern

if TYPE_CHECKING:
    from convcli.engine import detection, objects
else:
    detection, objects = Later("convcli.engine.detection"), Later("convcli.engine.objects")

UNPARSED: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "got a string: parse it first, as json.loads(text) does"),
    ((bytes, bytearray, memoryview), "got bytes: parse them first, as json.loads(data) does"),
    (PathLike, "got a path: read the file first, as convcli.read(path) does"),
)
"""Types often passed instead of a document, and the remedy."""
JSON = pattern(r"""\s*(\{\s*["}]|\[\s*[][{"])""")
"""The start of a JSON document, never that of a file name."""


PROGRAM_TURNS = ("keep", "drop")
TOOLS = ("recorded", "program", "none")
NO_PROGRAM = "none"


def parsed(document: Any) -> Any:
    """Returns the document with the objects of SDKs in it as JSON values. Raises JobError for what is not parsed."""
    _check_parsed(document)
    return objects.as_json(document)


def detect(document: Any) -> detection.Detection:
    """Detects the dialect of a parsed document. Raises JobError for a string, and ContentError if none matches."""
    _check_parsed(document)
    try:
        return detection.detect(texts.opened(document))
    except ContentError as error:
        error.help = "name it: source=…; convcli.dialects() lists them all"
        raise


def dialect_of(document: Any, name: str | None, otherwise: Dialect | None = None) -> Dialect:
    """Returns the dialect of this name, or the detected one, or `otherwise`. Raises as `detect` does."""
    _check_parsed(document)
    try:
        return dialects.get(name if name is not None else detect(document).dialect)
    except ContentError:
        if otherwise is None:
            raise
        return otherwise


def read(document: Any, name: str | None, otherwise: Dialect | None = None) -> tuple[Any, Dialect, tuple[str, ...]]:
    """Returns the document with its JSON string columns parsed, its dialect, and the names of these columns.

    `otherwise`: the dialect if none or more than one matches. Raises as `dialect_of` does.
    """
    dialect = dialect_of(document, name, otherwise)
    value, columns = texts.read(document, dialect)
    return value, dialect, columns


def path_of(path: str | PathLike[str]) -> str:
    """Returns the path as a string. Raises JobError for file content instead of a path."""
    if not isinstance(path, (str, PathLike)):
        kind = "bytes" if isinstance(path, (bytes, bytearray, memoryview)) else "a document"
        raise JobError("usage", f"got {kind}: convcli.read expects a file path")
    if isinstance(path, str) and JSON.match(path):
        raise JobError("usage", "got JSON: convcli.read expects a file path")
    return str(path)


def options(
    target: Dialect,
    form: str | None,
    branch: Literal["active", "all"],
    chunk: int,
    view: Literal["history", "context"] = "history",
    set_keys: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    models: Mapping[str, str] | None = None,
    *,
    lenient: bool = False,
) -> Options:
    """Returns the options for an output.

    Raises JobError if the dialect is read-only, or does not have the form or a key.
    """
    if not target.is_written:
        raise JobError("read-only-dialect", f"{target.title} is read-only")
    if form is not None and form not in target.forms:
        raise unknown("form", form, target.forms, f"{target.name} has {', '.join(target.forms)}")
    if branch not in ("active", "all"):
        raise unknown("branch", str(branch), ("active", "all"), "choose active or all")
    if view not in ("history", "context"):
        raise unknown("view", str(view), ("history", "context"), "choose history or context")
    return Options(
        form=form,
        chunk=chunk,
        branch=branch,
        view=view,
        set_keys=_checked(set_keys, target) if set_keys else (),
        default_keys=_checked(defaults, target) if defaults else (),
        models=tuple((models or {}).items()),
        lenient=lenient,
    )


def with_row_choices(
    options: Options,
    program_turns: Literal["keep", "drop"] | None,
    tools: Literal["recorded", "program", "none"] | None,
    tools_of: str | None = None,
) -> Options:
    """Returns the options with those of training rows, and of the program whose tools the calls name.

    Raises JobError for an unknown choice.
    """
    for value, known in ((program_turns, PROGRAM_TURNS), (tools, TOOLS)):
        if value is not None and value not in known:
            raise unknown("choice", str(value), known, f"choose {', '.join(known)}")
    return replace(options, program_turns=program_turns, tools=tools, tools_of=program_of_tools(tools_of))


def program_of_tools(name: str | None) -> str | None:
    """Returns the program whose names the tools get; None for `none`. Raises JobError for an unknown program."""
    if name is None or name == NO_PROGRAM:
        return None
    known = programs_of_tools()
    if name not in known:
        raise unknown("program", str(name), known, f"choose from {', '.join(known)}")
    return name


def programs_of_tools() -> list[str]:
    """Returns the choices of the program whose names the tools get."""
    from convcli.engine import tool_names

    return [NO_PROGRAM, *tool_names.programs()]


def _checked(set_keys: Mapping[str, Any], target: Dialect) -> SetKeys:
    from convcli.engine.set_keys import checked

    return checked(set_keys, target)


def _check_parsed(document: Any) -> None:
    for kind, message in UNPARSED:
        if isinstance(document, kind):
            raise JobError("usage", message)
