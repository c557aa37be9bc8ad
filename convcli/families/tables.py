"""The dialect that a table describes: its functions, passes, places and reasons follow from the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from convcli.kit import custom, fitting, passes, results, sessions, streams
from convcli.kit.codec import reading, writing
from convcli.kit.codec.layout import LogLayout
from convcli.kit.codec.objects import value_at
from convcli.kit.codec.table import parse
from convcli.kit.results import ResultTexts
from convcli.kit.settings import places_of
from convcli.kit.supported import OPAQUE, TEXTS, fields, media
from convcli.model.dialect import Dialect, Evidence, Options, Pass
from convcli.model.rule import Rule
from convcli.model.transcript import Path, ToolResult, Transcript
from convcli.validation.rules import arguments, links

STRENGTH = 88
"""Of the evidence for a project's own dialect: more than a shape that others share, less than a unique mark."""
LEAST = 0.5
"""The share of rows that must be messages."""


@lru_cache(maxsize=64)
def dialect_of(layout: LogLayout, name: str) -> Dialect:
    """Returns the dialect of a table that a user states."""
    return _dialect(layout, name, specification=f"the table of {layout.owner}")


def built_in(name: str, stated: Mapping[str, Any], passes: tuple[Pass, ...] = (), **fields: Any) -> Dialect:
    """Returns a built-in dialect. `fields` of the Dialect override what follows from the table.

    `passes` are those of its own; they come before the transcript is written and read back. With `lift` and `write`
    among the fields, rows may be joined or undone: these functions call those of a dialect of the table alone.
    """
    return _dialect(LogLayout(parse(stated, name), name), name, passes, **fields)


def _dialect(layout: LogLayout, name: str, passes: tuple[Pass, ...] = (), **fields: Any) -> Dialect:
    def lift_rows(document: Any) -> Transcript:
        return reading.lift(layout, name, document)

    def write_rows(transcript: Transcript, options: Options) -> Any:
        return writing.write(layout, transcript)

    lift, write = fields.pop("lift", lift_rows), fields.pop("write", write_rows)
    table, forms = layout.table, fields.pop("forms", ("log",))
    failed = layout.result is not None and layout.result.failed is not None
    texts = ResultTexts("", data=layout.result is None or layout.result.json)
    again = fitting.settle_by_reading_back(lift, write, forms[0])
    derived: dict[str, Any] = {
        "title": table.title or layout.owner,
        "framings": ("events",) if layout.lines else ("document", "records"),
        "detect": lambda document: _detect(layout, document),
        "fit": (*_passes(layout, texts, failed=failed, by_row=lift is lift_rows), *passes, again),
        "supports": frozenset(_supports(layout)),
        "conventions": () if failed else (texts.convention(),),
        "rules": _rules(layout),
        "reasons": _reasons(layout),
        "places": _places(layout),
        "metadata": frozenset(table.metadata),
        "envelope": frozenset((*table.metadata, reading.ROW)),
        "family": layout.owner,
        "answer_boundaries": (lambda: _boundaries(layout)) if layout.split else None,
    }
    return Dialect(name=name, forms=forms, lift=lift, write=write, **{**derived, **fields})


def _boundaries(layout: LogLayout) -> streams.Boundaries:
    """Returns the limits of conversations: lines with another value of the key."""

    def limits(row: Any) -> streams.Limits:
        id_ = value_at(row, layout.split or ())
        return streams.Limits(isinstance(id_, str), id=id_)

    return streams.Boundaries(limits, by_id=True)


def _detect(layout: LogLayout, document: Any) -> Evidence | None:
    """Recognizes a document in which most rows are messages."""
    rows = document
    if layout.messages or layout.before or layout.after:
        rows = value_at(document, layout.messages) if layout.messages else [document]
        texts = [value_at(document, path) for path, _ in (*layout.before, *layout.after)]
        if not all(text is None or isinstance(text, str) for text in texts) or (texts and not any(texts)):
            return None
        if not layout.messages:
            return Evidence(STRENGTH, f"the texts of {layout.owner}") if isinstance(document, dict) else None
    elif isinstance(document, dict) and not layout.lines:
        rows = [document]
    if not isinstance(rows, list) or not rows:
        return None
    rows = rows[1:] if layout.lines and reading.is_header(layout, rows[0]) else rows
    messages = [row for row in rows if layout.message_in(row) is not None and _has_content(layout, row)]
    if not messages or len(messages) < LEAST * len(rows):
        return None
    return Evidence(STRENGTH, f"messages of {layout.owner}")


def _has_content(layout: LogLayout, row: Any) -> bool:
    """True if a message has one of the keys of its content."""
    native = value_at(row, layout.object) if layout.object else row
    keys = [layout.text, layout.texts, layout.reasoning, layout.images, *(path for path, _ in layout.turns)]
    keys += [layout.result.value] if layout.result is not None else []
    keys += [layout.call.at or layout.call.name] if layout.call is not None else []
    return any(value_at(native, path) is not None for path in keys if path)


# ---------------------------------------------------------------- fit


def _passes(layout: LogLayout, texts: ResultTexts, *, failed: bool, by_row: bool) -> Iterable[Pass]:
    """Yields the passes of a table. `by_row`: a row alone shows whether it is a message."""

    def fit_result(result: ToolResult) -> ToolResult:
        if failed and results.has_failed(result):
            return results.one_value(result)
        return texts.fits(result)

    def is_message(row: Any) -> bool:
        return by_row and layout.message_in(row) is not None

    roles = {"developer": "system", "system": "developer"}
    yield sessions.keep_active_branch
    yield sessions.keep_own_events(layout.owner, is_message)
    if any(field.name == "model" for field in layout.fields):
        yield sessions.set_models_of_answers
    yield fitting.roles({old: new for old, new in roles.items() if new in layout.word_of and old not in layout.word_of})
    yield fitting.refusals_as_texts
    if layout.call is None or layout.call.form != "text":
        yield custom.as_functions
    yield results.separate_results
    yield results.one_result_each
    yield sessions.put_results_before_events
    yield passes.on_results(fit_result)


# ---------------------------------------------------------------- what the table states


def _supports(layout: LogLayout) -> set[str]:
    """Returns the fields of the intermediate format that the table has keys for."""
    supports = {*TEXTS, *OPAQUE, *(field for field, _ in _field_paths(layout))}
    call, result = layout.call, layout.result
    if call is not None:
        supports |= fields("tool_call.id tool_call.name tool_call.arguments tool_call.rawArguments")
        supports |= {"tool_call.custom"} if call.form == "text" else set()
    if result is not None or (call is not None and call.result):
        supports |= fields("tool_result.toolCallId tool_result.kind tool_result.value")
    if result is not None and result.name:
        supports |= {"tool_result.name"}
    return supports | ({"reasoning.text"} if layout.reasoning else set()) | (media("image") if layout.images else set())


def _reasons(layout: LogLayout) -> dict[str, str]:
    title = layout.table.title or layout.owner
    reasons = {"refusal": f"{title} has no field for a refusal: it is written as text"}
    if layout.text or layout.turns:
        reasons["text"] = f"a message of {title} has one text"
    if layout.reasoning:
        reasons["reasoning"] = f"a message of {title} has one reasoning text"
    if layout.result is not None and layout.result.failed is not None:
        reasons["tool_result.isError"] = f"a failed result of {title} is one text"
    if layout.call is not None and layout.call.at is None:
        reasons["tool_call"] = f"a message of {title} has one call"
    return reasons


def _field_paths(layout: LogLayout) -> Iterable[tuple[str, Path]]:
    """Yields the fields that the table has keys for, by their names in losses."""
    yield from places_of(layout.whole.fields).items()
    yield from places_of(layout.fields, "message").items()
    if layout.split:
        yield "id", layout.split


def _places(layout: LogLayout) -> dict[str, Path]:
    places = dict(_field_paths(layout))
    if layout.role:
        places["message.role"] = layout.role
    call, result = layout.call, layout.result
    if call is not None:
        places["tool_call.name"] = call.name
        if call.id:
            places["tool_call.id"] = call.id
        if call.arguments:
            places["tool_call.arguments"] = places["tool_call.rawArguments"] = call.arguments
        if call.result:
            places["tool_result.value"] = places["tool_result.kind"] = call.result
    if result is not None:
        places["tool_result.value"] = places["tool_result.kind"] = result.value
        if result.call:
            places["tool_result.toolCallId"] = result.call
        if result.name:
            places["tool_result.name"] = result.name
    if layout.object:
        places[f"extras.{reading.ROW}"] = ("..",) * len(layout.object)
    return places


def _rules(layout: LogLayout) -> tuple[Rule, ...]:
    if layout.call is None:
        return ()
    return (links.paired(links.PairingRules(where="later", missing=None)), arguments.readable())
