"""What the Gemini API and Vertex AI reject although their schemas allow it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.families.google.config import mode_of
from convcli.families.google.keys import Service
from convcli.families.google.parts import DATA
from convcli.families.google.schema import SUBSET, subschemas, type_of
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import ToolCall
from convcli.validation.rules import links, models, names, tools, turns
from convcli.validation.survey import Survey, for_outputs, for_requests

MODES = ("ANY", "VALIDATED")
"""Modes in which function names can be allowed."""


def _calls_after_user(survey: Survey) -> Iterator[Breach]:
    if all(_follows_user(survey, i) for i in {i for i, _, _ in survey.parts["tool_call"]}):
        return
    before = ""
    for turn in survey.turns():
        message = survey.messages[turn[0]]
        if message.role not in turns.INSTRUCTIONS:
            calls = any(isinstance(part, ToolCall) for part in message.parts)
            if calls and message.role == "assistant" and before in ("assistant", ""):
                text = "Google requires a user turn or results before a turn with calls"
                if survey.form != turns.RESPONSE:
                    yield Breach("misplaced-call", NodeRef(turn[0]), text)
            before = message.role


def _follows_user(survey: Survey, i: int) -> bool:
    """True if the turn before a message certainly is of the user or has results; events and branches are not looked
    at."""
    if len(survey.active_indexes) < len(survey.roles):
        return False
    before = i
    while before > 0 and survey.roles[before - 1] in ("user", "tool"):
        before -= 1
    return before < i and not (before and survey.is_one_turn(before - 1, before))


def _one_datum(owner: str) -> Rule:
    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["opaque"]:
            if part.dialect == owner and isinstance(part.value, dict):
                held = [key for key in DATA if part.value.get(key) is not None]
                if len(held) > 1:
                    yield Breach(
                        "ambiguous-part",
                        NodeRef(i, k),
                        f"Google requires one data field per part, not {' and '.join(held)}",
                    )

    return Rule(("ambiguous-part",), check, subjects=("opaque",))


def _roles_are_named(survey: Survey) -> Iterator[Breach]:
    for turn in survey.turns():
        native = survey.native_message(turn[0])
        instruction = survey.messages[turn[0]].role in turns.INSTRUCTIONS
        if isinstance(native, dict) and not native.get("role") and not instruction:
            yield Breach("missing-role", NodeRef(turn[0]), "Google requires a role for each content")


def _readable_signatures(survey: Survey) -> Iterator[Breach]:
    for i, k, part in [entry for entries in survey.parts.values() for entry in entries if entry[2].metadata]:
        signature = part.metadata.get("thoughtSignature")
        if isinstance(signature, str) and not turns.is_base64(signature):
            at = NodeRef(i, k, field=f"{part.type}.metadata.thoughtSignature")
            yield Breach("invalid-base64", at, "the signature is not base64", "warning")


def _signed_calls(survey: Survey) -> Iterator[Breach]:
    """From the third generation on, models require the signature of the first call of each step since the last user
    text."""
    if survey.form == turns.RESPONSE or not (survey.transcript.model or "").startswith("gemini-3"):
        return
    spoke = max((i for i in survey.active_indexes if survey.messages[i].role == "user"), default=-1)
    for i in (i for i in survey.active_indexes if i > spoke):
        calls = [k for k, part in enumerate(survey.messages[i].parts) if isinstance(part, ToolCall)]
        if calls and not (survey.messages[i].parts[calls[0]].metadata or {}).get("thoughtSignature"):
            text = "the first call of a step has no `thoughtSignature`"
            yield Breach("missing-signature", NodeRef(i, calls[0]), text, "warning")


def _allowed_names(survey: Survey) -> Iterator[Breach]:
    at = NodeRef(field="toolChoice")
    config = survey.native(at)
    config = (config.get("functionCallingConfig") or config) if isinstance(config, dict) else {}
    mode = mode_of(config)
    if config.get("allowedFunctionNames") and mode is not None and mode not in MODES:
        yield Breach("tool-choice-mode", at, f"Google accepts function names only in the modes {' and '.join(MODES)}")


def _subset(survey: Survey) -> Iterator[Breach]:
    for i in range(len(survey.tools)):
        native = survey.native(NodeRef(tool=i))
        if isinstance(native, dict) and isinstance(native.get("parameters"), dict):
            if native.get("parametersJsonSchema") is not None:
                text = "`parameters` and `parametersJsonSchema` exclude each other"
                yield Breach("conflicting-keys", NodeRef(tool=i, steps=("parametersJsonSchema",)), text)
            for steps, schema in subschemas(native["parameters"]):
                yield from _in_subset(schema, NodeRef(tool=i, steps=("parameters", *steps)))


def _in_subset(schema: dict[str, Any], at: NodeRef) -> Iterator[Breach]:
    camel, _ = SUBSET.camel(schema)
    kind = str(type_of(camel) or "").lower()
    if kind == "object" and not camel.get("properties") and at.steps == ("parameters",):
        yield Breach(
            "empty-object-schema",
            at,
            "Google requires properties in an object schema: omit `parameters` if there are none",
        )
    if kind == "array" and not camel.get("items"):
        yield Breach("array-without-items", at, "Google requires `items` in an array schema")
    if "enum" in camel and kind not in ("string", ""):
        yield Breach(
            "enum-not-string", replace(at, steps=(*at.steps, "enum")), "Google accepts only strings in an enum"
        )
    for key in (key for key in camel if key not in SUBSET.known):
        text = "the OpenAPI subset has no such keyword"
        help_text = "`parametersJsonSchema` accepts any JSON Schema"
        yield Breach("unknown-schema-keyword", replace(at, steps=(*at.steps, key)), text, help=help_text)


ROLES_ARE_NAMED = Rule(("missing-role",), _roles_are_named)
"""Every content must have a role."""


READABLE_SIGNATURES = Rule(("invalid-base64",), _readable_signatures)
"""Signatures of thoughts are base64."""


def rules(service: Service, *of_roles: Rule) -> tuple[Rule, ...]:
    """Returns the rules of a service, with its own ones about roles."""
    return (
        models.of("Google"),
        for_outputs(turns.some_message()),
        turns.not_empty(("user", "assistant", "system")),
        turns.parts_of_roles({"tool_call": ("assistant",)}),
        *of_roles,
        turns.decodable(),
        for_requests(turns.ends_with_user()),
        for_requests(turns.alternating("warning")),
        links.paired(links.PairingRules(together=True)),
        links.same_names(),
        names.of_tools(service.names),
        tools.chosen(),
        tools.unique(),
        Rule(("misplaced-call",), _calls_after_user, subjects=("tool_call",)),
        _one_datum(service.owner),
        READABLE_SIGNATURES,
        Rule(("missing-signature",), _signed_calls, subjects=("model",)),
        Rule(("tool-choice-mode",), _allowed_names),
        Rule(SUBSET_CODES, _subset, subjects=("tools",)),
    )


SUBSET_CODES = (
    "conflicting-keys",
    "empty-object-schema",
    "array-without-items",
    "enum-not-string",
    "unknown-schema-keyword",
)
