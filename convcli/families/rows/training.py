"""Rules about rows, whatever their trainer, and what rows without ids and of turns of text have no place for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from convcli.kit import lacking
from convcli.model.findings import Severity
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Part, Reasoning, Text
from convcli.validation.rules import links, tools, turns
from convcli.validation.survey import Survey, for_outputs, limited_to


def answered(*forms: str, severity: Severity = "error") -> Rule:
    """A row has a turn of the assistant, from which a model learns; of these forms, or of any."""

    def check(survey: Survey) -> Iterator[Breach]:
        is_asked = not forms or survey.form in forms
        if is_asked and all(message.role != "assistant" for message in survey.messages):
            yield Breach("nothing-to-train", NodeRef(), "there is no turn of the assistant", severity)

    return Rule(("nothing-to-train",), check)


def no_empty_answers(severity: Severity = "warning", *, or_null: bool = True) -> Rule:
    """An answer that is trained has a text, a thought, a call or a medium; `or_null` unless another rule looks for a
    content that is null."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i in survey.active_indexes:
            message = survey.messages[i]
            is_trained = message.role == "assistant" and message.weight != 0
            is_told = not or_null and (survey.native_message(i) or {}).get("content") is None
            if is_trained and not is_told and all(map(_is_blank, message.parts)):
                yield Breach("empty-message", NodeRef(i), EMPTY_ANSWER, severity)

    return Rule(("empty-message",), check)


EMPTY_ANSWER = "the answer is empty: a model that learns from it learns to say nothing"


def _is_blank(part: Part) -> bool:
    return isinstance(part, (Text, Reasoning)) and not (part.text or "").strip()


ORDER = ("misplaced-system", "repeated-role", "wrong-first-role", "unanswered-row")
SIDES = {"user": "user", "tool": "user", "assistant": "assistant", "call": "assistant"}


def out_of_order(survey: Survey, turns: Iterable[int], emptied: str, severity: Severity = "error") -> Iterator[Breach]:
    """What is wrong with the order of these turns, each by its first message: the user or results, then the assistant,
    and so on; an instruction before all of them. `emptied` says what becomes of the row."""
    before = ""
    for turn in turns:
        first, role = NodeRef(turn), survey.messages[turn].role
        side = SIDES.get(role, role)
        if role == "system" and before:
            problem = f"an instruction stands before everything else: {emptied}"
            yield Breach("misplaced-system", first, problem, severity)
            continue
        if side == before:
            problem = f"two turns of the {side} follow one another: {emptied}"
            yield Breach("repeated-role", first, problem, severity)
        elif side == "assistant" and before in ("", "system"):
            yield Breach("wrong-first-role", first, f"the first turn must be the user's: {emptied}", severity)
        before = side
    if before == "user":
        last = NodeRef(survey.active_indexes[-1])
        yield Breach("unanswered-row", last, f"the last turn must be the assistant's: {emptied}", severity)


def paired_in_order() -> Rule:
    """Every call has its result and every result its call, in rows without ids: no two can have one."""
    pairs = links.paired(links.PairingRules(severity="warning", missing="warning"))
    return limited_to(pairs, "orphan-tool-result", "missing-tool-result", "misplaced-tool-result")


RULES = (
    for_outputs(turns.some_message()),
    no_empty_answers(),
    paired_in_order(),
    tools.unique("warning"),
    tools.schemas(tools.SchemaDemands()),
)
"""Those of all rows whose calls and results have no ids."""

LACKS = (
    lacking.SESSION
    | lacking.REQUEST
    | lacking.MESSAGE
    | lacking.METADATA
    | lacking.FUNCTION_ONLY
    | lacking.fields("message.model refusal reasoning.summary tool_call.id tool_result.toolCallId tool_result.status")
)
"""What such rows have no place for, besides what each format lacks of its own."""
NAMES_OF_FILES = frozenset(
    f"{kind}.{name}" for kind in ("image", "video", "audio") for name in ("name", "detail", "fileId")
)
"""What a row lacks that names a file by nothing but where it is."""

REASONS = {
    "refusal": "a row has no field for a refusal: the words are written as text",
    "settings": "a row has no settings of a request",
    "model": "a row names no model",
    "toolChoice": "a row does not say which tools may be called",
    "tool_call.id": "calls have no id",
    "tool_call.rawArguments": "the arguments of a call are an object",
    "tool_result.toolCallId": "results have no id",
    "tool_result.isError": "a result has no field for a failure",
}
"""Why these are lost in such rows."""
REASONS_OF_FILES = dict.fromkeys(("image", "video", "audio"), "a row names a file by its path, URL or data")
