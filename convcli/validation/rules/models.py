"""Rules about the model that a request names."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey, for_outputs
from convcli.wire.patterns import pattern

NAMES = {
    "OpenAI": pattern(r"(ft:)?(gpt-(?!oss)|chatgpt-|codex-|o[134](-|$))"),
    "Anthropic": pattern("claude-"),
    "Google": pattern("gemini-"),
    "Mistral": pattern("(mistral|ministral|magistral|codestral|devstral|pixtral|open-mistral|open-mixtral)-"),
    "Cohere": pattern("command-"),
    "Bedrock": pattern(r"([a-z]+\.)?(amazon|anthropic|meta|mistral|cohere|ai21|openai|deepseek|qwen)\."),
}
"""How names of models begin, by whose they are. Models that anybody may serve (`gpt-oss`, `gemma`) are nobody's."""


def of(*makers: str, key: str = "model") -> Rule:
    """The model of a request, which stands under `key`, is not named as others than these name theirs."""
    others = {maker: name for maker, name in NAMES.items() if maker not in makers}

    def check(survey: Survey) -> Iterator[Breach]:
        model = survey.transcript.model if survey.form == "request" else None
        maker = next((maker for maker, name in others.items() if model and name.match(model)), None)
        if maker is not None:
            problem = f"the model is named as one of {maker}'s, which this service does not have"
            yield Breach("foreign-model", NodeRef(), problem, "warning", help=f"name another: --set {key}=…")

    return for_outputs(Rule(("foreign-model",), check))
