"""The conversation columns of a row: which are read, and which are written in each form.

    chosen, rejected      two answers, with their prompt before them in the same column, or separate
    messages              a conversation
    prompt, completion    the same in two pieces

A column with a string instead of messages is user text (`prompt`) or assistant text (any other).
"""

from __future__ import annotations

from itertools import takewhile

from msgspec.structs import replace

from convcli.families.rows.pairs import CHOSEN, REJECTED, Preference, lift_pair
from convcli.kit.contexts import LiftContext, LiftOne
from convcli.kit.objects import Native, drop_extras, get_extras, has_content
from convcli.model.dialect import Pass
from convcli.model.transcript import Message, Text, Transcript

MESSAGES, COMPLETION, PREFERENCE = "messages", "prompt-completion", "preference"
"""The forms of a row."""
COUNT = "promptMessages"
"""The extra with the number of messages that are the prompt, if the row has one."""
PROMPT, ANSWER = "prompt", "completion"
COLUMNS = (MESSAGES, PROMPT, ANSWER, CHOSEN, REJECTED)
LABELS = {True: CHOSEN, False: REJECTED}


# ---------------------------------------------------------------- lift


def form_in(row: Native) -> str:
    """Returns the form of a row: the most specific one whose columns it has."""
    if row.get(CHOSEN) is not None and row.get(REJECTED) is not None:
        return PREFERENCE
    return MESSAGES if row.get(MESSAGES) is not None else COMPLETION


class Columns:
    """Lifts the columns of a row, message by message with `lift_one`.

    `extra` are the extras of the columns, `head` is the id of the chosen answer.
    """

    def __init__(self, row: Native, context: LiftContext, lift_one: LiftOne) -> None:
        self.row, self.context, self.lift_one = row, context, lift_one
        self.head: str | None = None
        self.extra: Native = {}
        form = context.origin.form = form_in(row)
        if form == PREFERENCE:
            read = self._pair()
        elif form == MESSAGES:
            read = self._add(context, MESSAGES, "")
        else:
            read = self._add(context, PROMPT, "user")
            self.extra[COUNT] = len(context.messages)
            read |= self._add(context, ANSWER, "assistant")
        self.extra |= {key: row[key] for key in COLUMNS if key not in read and has_content(row.get(key))}
        self._label(form)

    def _add(self, context: LiftContext, column: str, role: str) -> set[str]:
        """Lifts the messages of a column."""
        value = self.row[column]
        if isinstance(value, list):
            context.each(value, (column,), self.lift_one)
        elif value or role != "user":
            self._add_text(context, column, role, value)
        return {column}

    def _add_text(self, context: LiftContext, column: str, role: str, text: str) -> None:
        context.add(Message(role, [Text(text)] if text else []), (column,), [()])

    def _pair(self) -> set[str]:
        """Lifts both branches; the second has call ids of its own."""
        other = LiftContext(self.context.origin.dialect, self.row, owner=self.context.dialect)
        are_texts = all(isinstance(self.row[column], str) for column in (CHOSEN, REJECTED))
        prompt = self.row.get(PROMPT)
        is_apart = prompt is not None and (isinstance(prompt, list) or are_texts)
        for context, column in ((self.context, CHOSEN), (other, REJECTED)):
            if is_apart:
                self._add(context, PROMPT, "user")
            if is_apart or not are_texts:
                self._add(context, column, "assistant")
            else:
                self._split(context, column)
        self.head = lift_pair(self.context, other)
        return {CHOSEN, REJECTED, *([PROMPT] if is_apart else [])}

    def _split(self, context: LiftContext, column: str) -> None:
        """Splits a string: the prefix it shares with the other one is the prompt."""
        both = zip(self.row[CHOSEN], self.row[REJECTED], strict=False)
        common = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], both)).removesuffix(" ")
        if common:
            self._add_text(context, column, "user", common)
        self._add_text(context, column, "assistant", self.row[column][len(common) :])

    def _label(self, form: str) -> None:
        """Lifts KTO's label, which rates the end of a conversation."""
        label, messages = self.row.get("label"), self.context.messages
        if isinstance(label, bool) and messages and form != PREFERENCE:
            messages[-1].label = LABELS[label]
        elif label is not None:
            self.extra["label"] = label


# ---------------------------------------------------------------- fit


def is_counted(transcript: Transcript, owner: str) -> bool:
    """True if the row states how long its prompt is."""
    return COUNT in get_extras(transcript.extras, owner)


def without_columns(form: str, owner: str) -> Pass:
    """Returns a pass that drops extras that would be read instead of written columns, or are written themselves."""
    written = {MESSAGES: (MESSAGES,), COMPLETION: (MESSAGES, PROMPT, ANSWER), PREFERENCE: (CHOSEN, REJECTED)}[form]

    def drop_columns(transcript: Transcript) -> Transcript:
        extra = get_extras(transcript.extras, owner)
        gone = {*written, *(() if form == COMPLETION else (COUNT,))}
        if CHOSEN in extra and REJECTED in extra:
            gone |= {CHOSEN, REJECTED}
        if form == PREFERENCE and not isinstance(extra.get(PROMPT), str):
            gone.add(PROMPT)
        if form != PREFERENCE and transcript.messages:
            gone.add("label")
        return drop_extras(transcript, owner, *gone)

    return drop_columns


def counted(owner: str) -> Pass:
    """Returns a pass that sets the prompt length, if unknown: the completion begins after the last user message."""

    def set_prompt_length(transcript: Transcript) -> Transcript:
        extra = get_extras(transcript.extras, owner)
        count = extra.get(COUNT)
        if isinstance(count, int) and 0 <= count <= len(transcript.messages):
            return transcript
        asked = [at for at, one in enumerate(transcript.messages) if one.role == "user"]
        count = asked[-1] + 1 if asked else 0
        return replace(transcript, extras={**(transcript.extras or {}), owner: {**extra, COUNT: count}})

    return set_prompt_length


# ---------------------------------------------------------------- write


def written(form: str, messages: list[Native], pair: Preference | None, extra: Native) -> Native:
    """Returns the columns of a row in this form, from its written messages and its extras."""
    if form == PREFERENCE and pair is not None:
        fork, end = len(pair.prompt), len(pair.prompt) + len(pair.chosen)
        prompt, chosen, rejected = messages[:fork], messages[fork:end], messages[end:]
        if PROMPT in extra:  # a string prompt, and answers that begin with it
            return {CHOSEN: prompt + chosen, REJECTED: prompt + rejected}
        return {PROMPT: prompt, CHOSEN: chosen, REJECTED: rejected}
    count = extra.get(COUNT, 0)
    return {MESSAGES: messages} if form == MESSAGES else {PROMPT: messages[:count], ANSWER: messages[count:]}
