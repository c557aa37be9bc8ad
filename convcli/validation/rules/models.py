"""A rule for the model that a request names."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.patterns import pattern

NAMES = {
    "OpenAI": r"(ft:)?(gpt-(?!oss)|chatgpt-|codex-|o[134](-|$))",
    "Anthropic": "claude-",
    "Google": "gemini-",
    "Mistral": "(mistral|ministral|magistral|codestral|devstral|pixtral|open-mistral|open-mixtral)-",
    "Cohere": "command-",
    "Bedrock": r"([a-z]+\.)?(amazon|anthropic|meta|mistral|cohere|ai21|openai|deepseek|qwen)\.",
}
"""Prefixes of model names, by vendor. Models that anyone may serve (`gpt-oss`, `gemma`) belong to none."""


def of(*makers: str, key: str = "model") -> Rule:
    """The model of a request, under `key`, does not have a name that belongs to another vendor."""
    others = pattern("|".join(f"(?P<{maker}>{name})" for maker, name in NAMES.items() if maker not in makers))

    def check(survey: Survey) -> Iterator[Breach]:
        model = survey.transcript.model if survey.form == "request" else None
        found = others.match(model) if model else None
        if found is not None:
            problem = f"the model name is one of {found.lastgroup}'s, which this service does not offer"
            yield Breach("foreign-model", NodeRef(), problem, "warning", help=f"set another model: --set {key}=…")

    return for_outputs(Rule(("foreign-model",), check, subjects=("model",)))
