"""Rules for tool names and call ids: allowed characters and length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.kit.renaming import Alphabet
from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import LINKED, Survey
from convcli.validation.wording import shown_key


def of_tools(alphabet: Alphabet) -> Rule:
    """Checks the names of tools in definitions and calls; each wrong name is reported once."""

    def check(survey: Survey) -> Iterable[Breach]:
        is_defined = alphabet.accepts_all([tool.name for tool in survey.tools])
        return () if is_defined and not survey.inventory.ask(alphabet.refuses_names) else breaches(survey)

    def breaches(survey: Survey) -> Iterator[Breach]:
        seen: set[str] = set()
        named = [
            (one.name, NodeRef(tool=i, field="tool.name")) for i, one in enumerate(survey.tools) if _is_function(one)
        ]
        named += [(called.call.name, called.at("tool_call.name")) for called in survey.calls]
        for name, at in named:
            if name not in seen and not alphabet.accepts(name):
                message = f"a tool name must have {alphabet.wants()}; found {shown_key(name)}"
                yield Breach("bad-tool-name", at, message)
            seen.add(name)

    return Rule(("bad-tool-name",), check, subjects=("tool_call", "tools"))


def _is_function(tool: object) -> bool:
    """False for a built-in tool, which has the name that its vendor gave it."""
    extras = getattr(tool, "extras", None) or {}
    return not any("tool" in kept for kept in extras.values())


def of_calls(alphabet: Alphabet, severity: Severity = "error") -> Rule:
    """Checks the ids of calls, and of results that answer none of them."""

    def check(survey: Survey) -> Iterable[Breach]:
        return breaches(survey) if survey.inventory.ask(alphabet.refuses_ids) else ()

    def breaches(survey: Survey) -> Iterator[Breach]:
        seen = set(survey.invented)
        ids = [(called.call.id, called.at("tool_call.id")) for called in survey.calls]
        ids += [(one.result.tool_call_id, one.at("tool_result.toolCallId")) for one in survey.results]
        for id_, at in ids:
            if id_ not in seen and not alphabet.accepts(id_):
                message = f"a call id must have {alphabet.wants()}; found one of {len(id_):,} characters"
                yield Breach("bad-call-id", at, message, severity)
            seen.add(id_)

    return Rule(("bad-call-id",), check, subjects=LINKED)
