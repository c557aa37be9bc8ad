"""Rules about the arguments of calls: that they are an object, and that no table engine has filled them with nulls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from convcli import wire
from convcli.errors import ContentError
from convcli.findings import Severity
from convcli.rules.survey import At, Breach, Called, Rule, Survey
from convcli.transcript import ToolCall

FOUND = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def _never(call: ToolCall) -> bool:
    return False


def readable(*, free: Callable[[ToolCall], bool] = _never, severity: Severity = "warning") -> Rule:
    """Arguments that are text hold a JSON object; those of `free` calls are whatever they are."""

    def check(survey: Survey) -> Iterator[Breach]:
        for called in survey.calls:
            raw = called.call.raw_arguments
            if raw is not None and not free(called.call):
                yield Breach("invalid-arguments", called.at("tool_call.rawArguments"), _wrong_with(raw), severity)

    return Rule(("invalid-arguments",), check)


def _wrong_with(raw: str) -> str:
    try:
        value = wire.parse_text(raw)[0] if raw.strip() else None
    except ContentError as error:
        return f"the arguments are no JSON: {error.message}"
    if not raw.strip():
        return "the arguments are an empty text, and no JSON object"
    return f"the arguments are JSON, and no object; found {FOUND.get(type(value), 'null')}"


def as_text() -> Rule:
    """The document has arguments as JSON in a string."""

    def check(survey: Survey) -> Iterator[Breach]:
        for called in survey.calls:
            at = called.at("tool_call.arguments")
            native = survey.native(at)
            if not isinstance(native, str) and _holds(survey, at):
                said = f"the arguments must be JSON in a string; found {FOUND.get(type(native), 'null')}"
                yield Breach("arguments-not-text", at, said)

    return Rule(("arguments-not-text",), check)


def _holds(survey: Survey, at: At) -> bool:
    """Does the document have the key under which the arguments would be?"""
    try:
        wire.resolve(survey.document, survey.path(at))
    except LookupError:
        return False
    return True


def not_filled() -> Rule:
    """No engine that wants the same columns in all rows has filled arguments with nulls of other calls."""

    def check(survey: Survey) -> Iterator[Breach]:
        known = {tool.name: (tool.parameters or {}).get("properties") for tool in survey.tools} if survey.calls else {}
        for called in survey.calls:
            arguments = called.call.arguments
            if None in arguments.values():
                yield from _filled(called, arguments, known.get(called.call.name))

    return Rule(("null-filled",), check)


def _filled(called: Called, arguments: dict[str, Any], known: Any) -> Iterator[Breach]:
    """Nulls under keys that the tool does not have."""
    if isinstance(known, dict):
        strange = [key for key, value in arguments.items() if value is None and key not in known]
        if strange:
            said = f"null under {len(strange):,} keys that the tool does not have: an engine has filled columns"
            yield Breach("null-filled", called.at("tool_call.arguments"), said, "warning")


def rows_not_filled(*keys: str) -> Rule:
    """No message that makes no calls has a null under the keys for calls."""

    def check(survey: Survey) -> Iterator[Breach]:
        filled = [i for i, message in enumerate(survey.messages) if message.role in ("system", "user", "tool")]
        for i in filled:
            native = survey.native(At(i))
            key = next((key for key in keys if isinstance(native, dict) and native.get(key, "") is None), None)
            if key is not None:
                said = f"{key} is null in a message of the {survey.messages[i].role}: an engine has filled columns"
                yield Breach("null-filled", At(i, steps=(key,)), said, "warning", help=TEXT_COLUMNS)
                return

    return Rule(("null-filled",), check)


TEXT_COLUMNS = "keep messages as JSON text in one column; engines that infer a struct give every row all keys"
