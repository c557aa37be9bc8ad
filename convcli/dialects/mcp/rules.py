"""Rules of MCP clients and servers beyond the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.dialects.mcp.blocks import fit_media, fit_result
from convcli.dialects.mcp.tools import fit_tool, is_newer
from convcli.kit.renaming import WORD, Alphabet
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS
from convcli.validation.rules import keys, links, names, tools, turns
from convcli.validation.survey import Survey, for_requests

NAMES = Alphabet("letters, digits, _, . and -", WORD + ".-", 128)


def _check_pairing(survey: Survey) -> Iterable[Breach]:
    """Checks the pairing in conversations only: a single result answers a call outside the document."""
    return PAIRED.check(survey) if survey.form in ("request", "list") else ()


def _find_mixed_results(survey: Survey) -> Iterator[Breach]:
    for turn in survey.turns():
        others = [i for i in turn if survey.messages[i].role != "tool"]
        if others and len(others) < len(turn):
            yield Breach(
                "misplaced-part", NodeRef(others[0], 0), "MCP allows nothing but results in a message with results"
            )


def _allows_any_output(survey: Survey) -> bool:
    return survey.form != "tools" or is_newer(survey.transcript)


def _check_messages(survey: Survey) -> Iterable[Breach]:
    """Checks that a request has a message; other documents have none."""
    return turns.some_message().check(survey) if survey.form == "request" else ()


def _find_unsupported(survey: Survey) -> Iterator[Breach]:
    """Finds, in documents to send, schemas newer than 2025-11-25 and media that only results can have."""
    for i, tool in enumerate(survey.tools):
        if fit_tool(tool, newer=is_newer(survey.transcript)).output_schema != tool.output_schema:
            yield Breach(
                "schema-not-object",
                NodeRef(tool=i, field="tool.outputSchema"),
                "MCP requires outputSchema to have type object",
            )
    for answered in survey.results:
        if fit_result(answered.result) is not answered.result:
            yield Breach(
                "result-not-object", answered.at("tool_result.value"), "MCP requires structuredContent to be an object"
            )
    for kind in MEDIA_KINDS:
        for i, k, media in survey.parts[kind]:
            if fit_media(media, in_result=False) is not media:
                yield Breach(
                    "misplaced-part",
                    NodeRef(i, k),
                    "in MCP, only results have links, resources and data without a type",
                )


PAIRED = links.paired(links.PairingRules(together=True))

RULES = (
    for_requests(Rule(("schema-not-object", "result-not-object", "misplaced-part"), _find_unsupported)),
    for_requests(turns.parts_of_roles({"tool_call": ("assistant",)})),
    for_requests(turns.not_empty(("user", "assistant"))),
    for_requests(Rule(("no-messages",), _check_messages)),
    keys.complete("maxTokens", "model"),
    Rule(PAIRED.codes, _check_pairing, of_sent=PAIRED.of_sent),
    Rule(("misplaced-part",), _find_mixed_results),
    names.of_tools(NAMES),
    tools.unique("warning"),
    tools.schemas(),
    tools.output_schemas(free=_allows_any_output),
)
