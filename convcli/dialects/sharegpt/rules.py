"""What trainers reject in a ShareGPT row, mostly silently."""

from __future__ import annotations

from collections.abc import Iterable

from convcli.dialects.sharegpt.lifting import AUTHORS, CONVERSATIONS, ROLES, TAGS, Turn, answer_in, is_pair_in, turns_in
from convcli.families.rows import calls, training
from convcli.families.rows.pairs import CHOSEN, REJECTED
from convcli.families.rows.thoughts import read_thought
from convcli.kit.objects import Native
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.rules.arguments import AS_OBJECT, readable
from convcli.validation.survey import Survey, for_outputs

EMPTIED = "LLaMA-Factory treats the row as empty"
PAIRS = "conversation"
"""The column with pairs of `human` and `assistant`."""
DEFAULT_TAGS = "convcli convert --form conversations writes the default tags"


def _all_turns(row: Native) -> list[Turn]:
    return [*turns_in(row), *(answer_in(row, column) for column in (CHOSEN, REJECTED) if is_pair_in(row))]


def _ordered(survey: Survey) -> Iterable[Breach]:
    """Reports turns out of order: an instruction, then the user or results, then the assistant, and so on."""
    yield from training.out_of_order(survey, (turn[0] for turn in survey.turns()), EMPTIED)
    rejected = survey.document[REJECTED] if is_pair_in(survey.document) else None
    if rejected is not None and training.SIDES.get(ROLES[rejected["from"]]) != "assistant":
        yield Breach("unanswered-row", NodeRef(steps=(REJECTED,)), f"an answer must be the assistant's: {EMPTIED}")


def _tags_consistent(survey: Survey) -> Iterable[Breach]:
    """Reports two tags of one role in a row, and an assistant named after its maker."""
    tags: dict[str, str] = {}
    for role, turn, place in _all_turns(survey.document):
        tag, at = turn["from"], NodeRef(steps=(*place, "from"))
        if tags.setdefault(role, tag) != tag:
            yield Breach("mixed-tags", at, f"{role} turns have two tags in one row: {EMPTIED}", "warning")
            return
        if tag in AUTHORS:
            yield Breach("mixed-tags", at, f"trainers expect the tag {TAGS[role]} for model turns", "warning")
            return


def _known_tags(survey: Survey) -> Iterable[Breach]:
    """Reports columns and tags that a trainer does not know by default, unless the row mixes tags anyway."""
    if any(_tags_consistent(survey)):
        return
    for role, turn, place in _all_turns(survey.document):
        at, known = NodeRef(steps=(*place, "from")), TAGS[role]
        if place[0] == PAIRS:
            at, known = NodeRef(steps=(PAIRS,)), CONVERSATIONS
        elif turn["from"] == known:
            continue
        problem = f"LLaMA-Factory expects {known}, unless its dataset_info.json names another"
        yield Breach("mixed-tags", at, problem, "info", help=DEFAULT_TAGS)
        return


def _calls_are_read(survey: Survey) -> Iterable[Breach]:
    """Reports calls that are not JSON, or with arguments that are not objects."""
    for role, turn, place in _all_turns(survey.document):
        if role != "call":
            continue
        at = NodeRef(steps=(*place, "value"))
        natives = calls.read_natives(read_thought(turn["value"] or "")[1])
        if natives is None:
            yield Breach("invalid-arguments", at, "this is not a JSON call or list of calls: LLaMA-Factory fails here")
        elif any(map(calls.is_quoted, natives)):
            problem = "the arguments are a string in the JSON: training JSON-encodes them once more"
            yield Breach("arguments-quoted-twice", at, problem, help=AS_OBJECT)


def _tools_are_read(survey: Survey) -> Iterable[Breach]:
    """Reports tools that are not JSON, or without parameters."""
    text = survey.document.get("tools")
    if text and calls.read_tools(text) is None:
        at = NodeRef(steps=("tools",))
        yield Breach("wrong-format", at, "this is not a JSON list of tools: LLaMA-Factory fails here")
    for i, tool in enumerate(survey.tools):
        if tool.parameters is None:
            yield Breach(
                "missing-key", NodeRef(tool=i), "a tool has no parameters: some templates fail without them", "warning"
            )


RULES = (
    Rule(training.ORDER, _ordered),
    Rule(("mixed-tags",), _tags_consistent),
    for_outputs(Rule(("mixed-tags",), _known_tags)),
    Rule(("invalid-arguments", "arguments-quoted-twice"), _calls_are_read, of_input=("invalid-arguments",)),
    Rule(("wrong-format", "missing-key"), _tools_are_read, of_input=("wrong-format",)),
    readable(),
    *training.RULES,
)
