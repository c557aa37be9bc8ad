"""What clients and servers of the Model Context Protocol reject though the schema allows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.dialects.mcp.blocks import fit_media, fit_result
from convcli.dialects.mcp.tools import fit_tool, is_newer
from convcli.kit.renaming import WORD, Alphabet
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS
from convcli.validation.rules import arguments, keys, links, names, tools, turns
from convcli.validation.survey import Survey, for_requests

NAMES = Alphabet("letters, digits, _, . and -", WORD + ".-", 128)


def _paired(survey: Survey) -> Iterable[Breach]:
    """Only a conversation has calls for its results; a result alone answers one that is not in the document."""
    return PAIRED.check(survey) if survey.form in ("request", "list") else ()


def _results_alone(survey: Survey) -> Iterator[Breach]:
    for turn in survey.turns():
        others = [i for i in turn if survey.messages[i].role != "tool"]
        if others and len(others) < len(turn):
            yield Breach("misplaced-part", NodeRef(others[0], 0), "a message with results holds nothing else")


def _answers_anything(survey: Survey) -> bool:
    return survey.form != "tools" or is_newer(survey.transcript)


def _asked(survey: Survey) -> Iterable[Breach]:
    """A request without a message is no request; other documents have none."""
    return turns.some_message().check(survey) if survey.form == "request" else ()


def _as_sent(survey: Survey) -> Iterator[Breach]:
    """What is kept may be newer than 2025-11-25, or hold what only results hold; what is sent must not."""
    for i, tool in enumerate(survey.tools):
        if fit_tool(tool, newer=is_newer(survey.transcript)).output_schema != tool.output_schema:
            yield Breach(
                "schema-not-object", NodeRef(tool=i, field="tool.outputSchema"), "outputSchema is that of an object"
            )
    for answered in survey.results:
        if fit_result(answered.result) is not answered.result:
            yield Breach("result-not-object", answered.at("tool_result.value"), "structuredContent is an object")
    for kind in MEDIA_KINDS:
        for i, k, media in survey.parts[kind]:
            if fit_media(media, in_result=False) is not media:
                yield Breach("misplaced-part", NodeRef(i, k), "only results hold links, resources and bytes of no type")


PAIRED = links.paired(links.PairingRules(together=True))

RULES = (
    for_requests(Rule(("schema-not-object", "result-not-object", "misplaced-part"), _as_sent)),
    for_requests(turns.parts_in_roles({"tool_call": ("assistant",)})),
    for_requests(turns.not_empty(("user", "assistant"))),
    for_requests(Rule(("no-messages",), _asked)),
    keys.complete("maxTokens", "model"),
    Rule(PAIRED.codes, _paired),
    Rule(("misplaced-part",), _results_alone),
    names.of_tools(NAMES),
    arguments.not_filled(),
    tools.unique("warning"),
    tools.schemas(),
    tools.output_schemas(free=_answers_anything),
)
