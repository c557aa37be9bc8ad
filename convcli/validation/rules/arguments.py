"""Rules for tool call arguments: they are an object, and no table engine has filled them with nulls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from convcli.model.errors import ContentError
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import LocatedCall, Survey
from convcli.validation.wording import counted
from convcli.wire import exact_json

BROKEN_OFF = ("error", "aborted")
TYPE_NAMES = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def readable() -> Rule:
    """Arguments that are a string contain a JSON object.

    Messages that failed are exempt: their arguments end where the output broke off.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, call in survey.parts["tool_call"]:
            broke_off = call.raw_arguments is not None and survey.messages[i].stop_reason in BROKEN_OFF
            if call.raw_arguments is not None and not broke_off:
                at = NodeRef(i, k, field="tool_call.rawArguments")
                yield Breach("invalid-arguments", at, _wrong_with(call.raw_arguments), "warning")

    return Rule(("invalid-arguments",), check, subjects=("tool_call",))


def _wrong_with(raw: str) -> str:
    try:
        value = exact_json.parse_text(raw)[0] if raw.strip() else None
    except ContentError as error:
        return f"the arguments are not JSON: {error.message}"
    if not raw.strip():
        return "the arguments are an empty string; expected a JSON object"
    return f"the arguments must be a JSON object; found {TYPE_NAMES.get(type(value), 'null')}"


def as_text() -> Rule:
    """The document stores arguments as a JSON string, in the object that names the function."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, _ in () if _are_texts(survey) else survey.parts["tool_call"]:
            call = survey.native_part(i, k) or {}
            function = call["function"] if isinstance(call.get("function"), dict) else call
            if not isinstance(function.get("arguments", ""), str):
                kind = TYPE_NAMES.get(type(function["arguments"]), "null")
                message = f"the arguments must be JSON in a string; found {kind}"
                yield Breach("arguments-not-text", NodeRef(i, k, field="tool_call.arguments"), message)

    return Rule(("arguments-not-text",), check, subjects=("tool_call",))


def _are_texts(survey: Survey) -> bool:
    """True if all calls are in `tool_calls`, with arguments in a string, as in most documents."""
    try:
        lists = [native["tool_calls"] or () for native in survey.natives if "tool_calls" in native]
        kinds = [call["function"]["arguments"].__class__ for calls in lists for call in calls]
    except (LookupError, TypeError):
        return False
    return kinds.count(str) == len(kinds) == len(survey.parts["tool_call"]) and not survey.parts["opaque"]


def as_object() -> Rule:
    """The document stores arguments as an object, which a template serializes once.

    A template would serialize a string a second time, without an error.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, _ in survey.parts["tool_call"]:
            at = NodeRef(i, k, field="tool_call.arguments")
            if isinstance(survey.native(at), str):
                problem = "the arguments are a string, which most templates would encode as JSON again"
                yield Breach("arguments-quoted-twice", at, problem, "warning", help=AS_OBJECT)

    return Rule(("arguments-quoted-twice",), check, subjects=("tool_call",))


AS_OBJECT = "--arguments object writes the object"


@cache
def not_filled() -> Rule:
    """No table engine has filled arguments with nulls for the keys of other calls."""

    def check(survey: Survey) -> Iterator[Breach]:
        tools = {tool.name: tool for tool in reversed(survey.tools)}
        for i, k, call in survey.parts["tool_call"]:
            if None in call.arguments.values():
                tool = tools.get(call.name)
                known = (tool.parameters or {}).get("properties") if tool is not None else None
                yield from _filled(LocatedCall(i, k, call), call.arguments, known)

    return Rule(("null-filled",), check, of_input=("null-filled",), subjects=("tools",))


def _filled(called: LocatedCall, arguments: dict[str, Any], known: Any) -> Iterator[Breach]:
    """Finds nulls under keys that the tool does not define."""
    if isinstance(known, dict):
        unknown = [key for key, value in arguments.items() if value is None and key not in known]
        if unknown:
            problem = (
                f"null under {counted(len(unknown), 'key')} that the tool does not define: filled in by a table engine"
            )
            yield Breach("null-filled", called.at("tool_call.arguments"), problem, "warning")


def rows_not_filled(*keys: str) -> Rule:
    """No message without calls has null under the keys for calls. A conversion leaves these nulls out."""
    names = frozenset(keys)

    def check(survey: Survey) -> Iterator[Breach]:
        for i, native in enumerate(survey.natives):
            if not native or names.isdisjoint(native) or survey.roles[i] == "assistant":
                continue
            key = next((key for key in keys if key in native and native[key] is None), None)
            if key is not None:
                text = f"{key} is null in a {survey.roles[i]} message: filled in by a table engine"
                yield Breach("null-filled", NodeRef(i, steps=(key,)), text, "warning", help=TEXT_COLUMNS)
                return

    return Rule(("null-filled",), check)


TEXT_COLUMNS = "keep messages as a JSON string in one column: engines that infer a struct give every row all keys"
