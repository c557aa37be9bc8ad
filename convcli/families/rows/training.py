"""Rules for rows of any trainer, and the fields that rows without ids and with text turns lack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.kit.supported import NAMED_CALLS, TEXTS, TOOLS, fields, media
from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Part, Reasoning, Text
from convcli.validation.rules import links, tools, turns
from convcli.validation.survey import Survey, for_outputs, limited_to


def answered(*forms: str, severity: Severity = "error") -> Rule:
    """Returns a rule that a row has an assistant message to train on; for these forms, or for any."""

    def check(survey: Survey) -> Iterator[Breach]:
        is_asked = not forms or survey.form in forms
        if is_asked and all(message.role != "assistant" for message in survey.messages):
            yield Breach("nothing-to-train", NodeRef(), "the row has no assistant message to train on", severity)

    return Rule(("nothing-to-train",), check)


def no_empty_answers(*, or_null: bool = True) -> Rule:
    """Returns a rule that a trained answer has a text, a thought, a call or media; `or_null` unless another rule checks
    for null content."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i in survey.active_indexes:
            message = survey.messages[i]
            is_trained = message.role == "assistant" and message.weight != 0
            is_null = not or_null and (survey.native_message(i) or {}).get("content") is None
            if is_trained and not is_null and all(map(_is_blank, message.parts)):
                yield Breach("empty-message", NodeRef(i), EMPTY_ANSWER, "warning")

    return Rule(("empty-message",), check)


EMPTY_ANSWER = "the answer is empty: a model trained on it learns to answer nothing"


def _is_blank(part: Part) -> bool:
    return isinstance(part, (Text, Reasoning)) and not (part.text or "").strip()


ORDER = ("misplaced-system", "repeated-role", "wrong-first-role", "unanswered-row")
SIDES = {"user": "user", "tool": "user", "assistant": "assistant", "call": "assistant"}


def out_of_order(survey: Survey, turns: Iterable[int], emptied: str, severity: Severity = "error") -> Iterator[Breach]:
    """Yields what is wrong with the order of these turns, each given by its first message.

    The order is: user or results, then assistant, and so on; an instruction only before everything. `emptied` is the
    consequence for the row.
    """
    before = ""
    for turn in turns:
        first, role = NodeRef(turn), survey.messages[turn].role
        side = SIDES.get(role, role)
        if role == "system" and before:
            problem = f"an instruction must precede everything else: {emptied}"
            yield Breach("misplaced-system", first, problem, severity)
            continue
        if side == before:
            problem = f"two consecutive {side} messages: {emptied}"
            yield Breach("repeated-role", first, problem, severity)
        elif side == "assistant" and before in ("", "system"):
            yield Breach("wrong-first-role", first, f"the first message must be the user's: {emptied}", severity)
        before = side
    if before == "user":
        last = NodeRef(survey.active_indexes[-1])
        yield Breach("unanswered-row", last, f"the last message must be the assistant's: {emptied}", severity)


def paired_in_order() -> Rule:
    """Returns a rule that every call has its result and vice versa, in rows without ids."""
    pairs = links.paired(links.PairingRules(severity="warning", missing="warning"))
    return limited_to(pairs, "orphan-tool-result", "missing-tool-result", "misplaced-tool-result")


RULES = (
    for_outputs(turns.some_message()),
    no_empty_answers(),
    paired_in_order(),
    tools.unique("warning"),
    tools.schemas(tools.SchemaDemands()),
)
"""The rules of all rows whose calls and results have no ids."""

SUPPORTS = TEXTS | TOOLS | NAMED_CALLS
SUPPORTS |= fields("reasoning.text tool_result.name")
"""Fields that such rows have, in addition to each format's own."""
FILES = media("image video audio", "data url path mediaType")
"""Fields of rows that name files only by location."""

REASONS = {
    "refusal": "a row has no field for a refusal: it is written as text",
    "settings": "a row has no request settings",
    "model": "a row does not name a model",
    "toolChoice": "a row does not store which tools may be called",
    "tool_call.id": "calls of a row have no id",
    "tool_call.rawArguments": "the arguments of a call must be an object",
    "tool_result.toolCallId": "results of a row have no id",
    "tool_result.isError": "a result of a row has no field for a failure",
}
"""Why such rows lose these fields."""
REASONS_OF_FILES = dict.fromkeys(("image", "video", "audio"), "a row stores only the path, URL or data of a file")
