"""What Converse rejects although its service model allows it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from convcli.families.converse.policy import IDS, NAMES
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules import keys, links, models, names, tools, turns
from convcli.validation.survey import Survey, for_outputs, for_requests

NO_MIXED_TEXT = ("llama", "mistral")
"""Models that accept no text in messages with calls or results."""


def _unmixed_text(survey: Survey) -> Iterator[Breach]:
    model = (survey.transcript.model or "").lower()
    if not any(name in model for name in NO_MIXED_TEXT):
        return
    for turn in survey.turns():
        parts = [(NodeRef(i, k), part.type) for i in turn for k, part in enumerate(survey.messages[i].parts)]
        kinds = {kind for _, kind in parts}
        if "text" in kinds and kinds & {"tool_call", "tool_result"}:
            at = next(at for at, kind in parts if kind == "text")
            yield Breach(
                "text-beside-calls", at, "the model accepts no text in a message with calls or results", "warning"
            )


def _system_between(survey: Survey) -> Iterator[Breach]:
    for i in survey.active_indexes:
        if survey.messages[i].role == "system" and survey.places.message(i) != ("system",):
            yield Breach(
                "misplaced-system",
                NodeRef(i),
                "not every model accepts a system message in mid-conversation",
                "warning",
            )


def _object_results(survey: Survey) -> Iterator[Breach]:
    for answered in survey.results:
        native = survey.native(answered.at())
        content = (native.get("toolResult") or {}).get("content") if isinstance(native, dict) else None
        for j, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, dict) and "json" in block and not isinstance(block["json"], dict):
                at = replace(answered.at(), steps=("toolResult", "content", j, "json"))
                yield Breach("result-not-object", at, "Converse requires an object as the JSON of a result")


def _known_choice(survey: Survey) -> Iterator[Breach]:
    at = NodeRef(field="toolChoice")
    native = survey.native(at)
    if isinstance(native, dict) and native and not any(native.get(key) is not None for key in CHOICES):
        yield Breach("unknown-tool-choice", at, f"the tool choice must be one of {', '.join(CHOICES)}")


CHOICES = ("auto", "any", "tool")

RULES = (
    models.of("Bedrock", key="modelId"),
    keys.complete("modelId", "stopReason usage.inputTokens usage.outputTokens usage.totalTokens metrics"),
    for_outputs(turns.some_message()),
    turns.begins_with_user(),
    turns.alternating(),
    turns.not_empty(("user", "assistant")),
    turns.not_blank(),
    turns.parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    turns.decodable(),
    for_requests(turns.signed("warning")),
    links.paired(links.PairingRules(together=True)),
    names.of_tools(NAMES),
    names.of_calls(IDS),
    tools.chosen(),
    tools.unique(),
    tools.schemas(),
    Rule(("unknown-tool-choice",), _known_choice),
    Rule(("result-not-object",), _object_results, subjects=("tool_result",)),
    for_outputs(tools.declared()),
    for_requests(Rule(("misplaced-system",), _system_between)),
    for_requests(Rule(("text-beside-calls",), _unmixed_text, subjects=("model",))),
)
