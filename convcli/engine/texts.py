"""JSON strings where dialects leave a choice: columns of data sets, and the arguments of calls.

A column has one type for all rows, so a data set stores values of varying shape as JSON strings: `messages`, `tools`. A
string is parsed if the dialect's schema refuses it and accepts its content; a dialect that itself writes a string there
keeps it.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from convcli.engine.conversion import Conversion, read_back
from convcli.kit.values import read_json
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import JobError
from convcli.model.transcript import Path, ToolCall, Transcript
from convcli.proof.places import Places
from convcli.validation import schemas
from convcli.wire import exact_json
from convcli.wire.pointers import has, resolve

ArgumentStyle: TypeAlias = Literal["text", "object"]


# --- columns ---------------------------------------------------------------------------------------------------------


def opened(value: Any) -> Any:
    """Parses all strings of a row that contain a JSON list or object; returns the same row if there are none."""
    inside = _inside(value)
    return {**value, **inside} if inside else value


def read(value: Any, dialect: Dialect) -> tuple[Any, tuple[str, ...]]:
    """Returns a row as the dialect reads it, and the columns that had to be parsed."""
    inside = _inside(value)
    if not inside or schemas.accepts(dialect.name, value):
        return value, ()
    wrong = {finding.where for finding in schemas.findings(dialect.name, value)}
    names = tuple(name for name in inside if "/" not in name and f"/{name}" in wrong)
    return {**value, **{name: inside[name] for name in names}} if names else value, names


def written(document: Any, dialect: Dialect) -> Any:
    """Returns a row with lists and objects as JSON strings, where reading gives the same value again."""
    if not isinstance(document, dict):
        return document
    texts = {name: exact_json.write_text(value) for name, value in document.items() if isinstance(value, (list, dict))}
    back, names = read({**document, **texts}, dialect)
    return {**document, **{name: texts[name] for name in names if exact_json.exact(back[name], document[name])}}


def rewritten(document: Any, value: Any, original: Any, names: tuple[str, ...]) -> Any:
    """Returns a row of the same dialect with parsed columns as JSON strings; unchanged ones are kept as they were."""
    texts = {
        name: original[name] if exact_json.exact(document[name], value[name]) else exact_json.write_text(document[name])
        for name in names
        if isinstance(document, dict) and name in document
    }
    return {**document, **texts} if texts else document


def _inside(value: Any) -> dict[str, Any]:
    """Returns the strings of a row that contain a JSON list or object, parsed."""
    if not isinstance(value, dict):
        return {}
    texts = ((name, text) for name, text in value.items() if isinstance(text, str) and text.lstrip()[:1] in ("[", "{"))
    parsed = ((name, read_json(text)) for name, text in texts)
    return {name: inside for name, inside in parsed if isinstance(inside, (list, dict))}


# --- arguments -------------------------------------------------------------------------------------------------------


def with_arguments(result: Conversion, source: Dialect, target: Dialect, style: ArgumentStyle) -> Conversion:
    """Returns the conversion with the arguments of all calls as JSON strings, or as objects.

    Arguments that are not a JSON object stay strings. Raises JobError if the target does not allow the style.
    """
    changed = _copied(result.document)
    for path, _ in argument_places(target.lift(result.document), result.document, target):
        holder = resolve(changed, path[:-1])
        holder[path[-1]] = _styled(holder[path[-1]], style)
    if not schemas.accepts(target.name, changed):
        raise JobError("usage", f"--arguments {style}: {target.title} does not support this")
    return read_back(result.transcript, changed, target, source)


def argument_steps(dialect: Dialect) -> Path:
    """Returns the path of the arguments within a call of the dialect."""
    return dialect.places.get("tool_call.arguments") or ("arguments",)


def argument_places(transcript: Transcript, document: Any, dialect: Dialect) -> list[tuple[Path, ToolCall]]:
    """Returns the path of the arguments of each call that has some."""
    if transcript.origin is not None:
        transcript.origin.document = document
    places = Places(transcript, dialect)
    steps = places.steps("tool_call.arguments") or argument_steps(dialect)  # those of a body are of its dialect
    located = [
        ((*places.existing(places.part(i, j)), *steps), part)
        for i, message in enumerate(transcript.messages)
        for j, part in enumerate(message.parts)
        if isinstance(part, ToolCall)
    ]
    return [(path, call) for path, call in located if has(document, path)]


def _styled(value: Any, style: ArgumentStyle) -> Any:
    if style == "text":
        return exact_json.write_text(value) if isinstance(value, dict) else value
    inside = read_json(value) if isinstance(value, str) else None
    return inside if isinstance(inside, dict) else value


def _copied(value: Any) -> Any:
    """Copies lists and objects recursively."""
    if isinstance(value, dict):
        return {key: _copied(child) for key, child in value.items()}
    if isinstance(value, Rows):
        return Rows([_copied(child) for child in value], value.lines)
    return [_copied(child) for child in value] if isinstance(value, list) else value
