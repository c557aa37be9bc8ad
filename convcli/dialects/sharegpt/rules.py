"""What trainers object to in a row of ShareGPT, most of them without a word."""

from __future__ import annotations

from collections.abc import Iterable

from convcli.dialects.sharegpt.lifting import AUTHORS, CONVERSATIONS, ROLES, TAGS, Turn, answer_in, is_pair_in, turns_in
from convcli.families.rows import calls, training
from convcli.families.rows.pairs import CHOSEN, REJECTED
from convcli.families.rows.thoughts import read_thought
from convcli.kit.objects import Native
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.arguments import AS_OBJECT
from convcli.validation.survey import Survey, for_outputs

EMPTIED = "LLaMA-Factory takes the row for empty"
PAIRS = "conversation"
"""The column of pairs of `human` and `assistant`."""
USUAL = "convcli convert --form conversations writes the usual ones"


def _all_turns(row: Native) -> list[Turn]:
    return [*turns_in(row), *(answer_in(row, column) for column in (CHOSEN, REJECTED) if is_pair_in(row))]


def _ordered(survey: Survey) -> Iterable[Breach]:
    """The user or results, then the assistant, and so on; an instruction before all of them."""
    yield from training.out_of_order(survey, (turn[0] for turn in survey.turns()), EMPTIED)
    rejected = survey.document[REJECTED] if is_pair_in(survey.document) else None
    if rejected is not None and training.SIDES.get(ROLES[rejected["from"]]) != "assistant":
        yield Breach("unanswered-row", NodeRef(steps=(REJECTED,)), f"an answer must be the assistant's: {EMPTIED}")


def _one_tag(survey: Survey) -> Iterable[Breach]:
    """One role has one tag in a row, and an assistant is not named after its maker."""
    tags: dict[str, str] = {}
    for role, turn, place in _all_turns(survey.document):
        tag, at = turn["from"], NodeRef(steps=(*place, "from"))
        if tags.setdefault(role, tag) != tag:
            yield Breach("mixed-tags", at, f"turns of the {role} have two tags in one row: {EMPTIED}", "warning")
            return
        if tag in AUTHORS:
            yield Breach("mixed-tags", at, f"trainers know turns of the model as {TAGS[role]}", "warning")
            return


def _known_tags(survey: Survey) -> Iterable[Breach]:
    """The column and the tags are those that a trainer knows without being told."""
    for role, turn, place in _all_turns(survey.document):
        at, known = NodeRef(steps=(*place, "from")), TAGS[role]
        if place[0] == PAIRS:
            at, known = NodeRef(steps=(PAIRS,)), CONVERSATIONS
        elif turn["from"] == known:
            continue
        problem = f"LLaMA-Factory looks for {known}, unless its dataset_info.json names another"
        yield Breach("mixed-tags", at, problem, "info", help=USUAL)
        return


def _calls_are_read(survey: Survey) -> Iterable[Breach]:
    """The text of calls is JSON, and their arguments are objects in it."""
    for role, turn, place in _all_turns(survey.document):
        if role != "call":
            continue
        at = NodeRef(steps=(*place, "value"))
        natives = calls.read_natives(read_thought(turn["value"] or "")[1])
        if natives is None:
            yield Breach("invalid-arguments", at, "this is not the JSON of calls: LLaMA-Factory stops at it")
        elif any(map(calls.is_quoted, natives)):
            problem = "the arguments are a string in the JSON: they are quoted once more in training"
            yield Breach("arguments-quoted-twice", at, problem, help=AS_OBJECT)


def _tools_are_read(survey: Survey) -> Iterable[Breach]:
    """The text of tools is JSON, and each of them has parameters."""
    text = survey.document.get("tools")
    if text and calls.read_tools(text) is None:
        at = NodeRef(steps=("tools",))
        yield Breach("wrong-format", at, "this is not the JSON of a list of tools: LLaMA-Factory stops at it")
    for i, tool in enumerate(survey.tools):
        if tool.parameters is None:
            yield Breach(
                "missing-key", NodeRef(tool=i), "a tool has no parameters: some templates stop at it", "warning"
            )


RULES = (
    Rule(training.ORDER, _ordered),
    Rule(("mixed-tags",), _one_tag),
    for_outputs(Rule(("mixed-tags",), _known_tags)),
    Rule(("invalid-arguments", "arguments-quoted-twice"), _calls_are_read),
    Rule(("wrong-format", "missing-key"), _tools_are_read),
    *training.RULES,
)
