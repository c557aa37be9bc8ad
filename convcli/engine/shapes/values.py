"""Free values: what dialects carry without looking into it, be it a text, an id or the arguments of a call.

They are told by the key under which they stand. A key that is missing here makes documents slower to convert, never
wrong; neither does one too many, since whatever is remembered was tried with values of every kind (`probes`).
"""

from __future__ import annotations

from typing import Any

from convcli.model.errors import ContentError
from convcli.wire import exact_json

TEXT, ID, ARGUMENTS, SCALAR = range(4)
"""The kinds of free values. Arguments are an object, or the JSON text of one."""

OF_KEY = {
    **dict.fromkeys(
        (
            "content", "text", "value", "system", "instructions", "input", "output", "result", "prompt", "completion",
            "instruction", "response", "query", "history", "thinking", "reasoning", "reasoning_content", "chosen",
            "rejected", "signature",
        ),
        TEXT,
    ),
    **dict.fromkeys(("id", "tool_call_id", "tool_use_id", "call_id", "callId", "toolCallId", "toolUseId"), ID),
    "arguments": ARGUMENTS,
}  # fmt: skip
"""The kind of a text by its key."""
OBJECTS = frozenset(("arguments", "input", "args"))
"""Keys of arguments that are no text."""
NUMBERS = (int, float)
BESIDE = frozenset(("id",))
"""Keys that schemas name, and that say something beside a conversation all the same."""

TAG, JSON = "<", ("{", "[", "```")
"""Where a tag may begin, and JSON (also in a fence), in which some dialects keep calls and thoughts."""
LONGEST = 64
"""Characters of a text that is not free."""
LONGEST_WORD, LONGEST_ID, NINE = 9, 30, 9
"""Characters of the word before an id, of the rest of it, and of an id of Mistral. Together they are at most 40, the
shortest limit of a service; probes have ids of this length."""


class UnreadableError(ValueError):
    """There is a value in the document of which nothing can be remembered."""


def is_text(value: str) -> bool:
    """Is there something in it? An empty text is none to some dialects."""
    return value != "" and not value.isspace()


def is_json(value: str) -> bool:
    """May it be JSON? Some dialects look for keys of their own in it."""
    return value.startswith(JSON) or (value[0].isspace() and value.lstrip().startswith(JSON))


def is_beside(key: str, value: Any) -> bool:
    """Is it free beside a conversation, under this key, which no schema names? Schemas name ids, which are no
    fractions."""
    is_number = value.__class__ in NUMBERS and (value.__class__ is int or key not in BESIDE)
    return is_number or (value.__class__ is str and is_text(value) and not is_json(value))


def id_class(value: str) -> tuple[str, bool] | None:
    """What some services look for in an id: the word before it, and whether it has the nine characters of Mistral; None
    where it is no usual id."""
    word, _, rest = value.rpartition("_")
    if not (rest.isalnum() and rest.isascii()) or len(rest) > LONGEST_ID:
        return None
    if word and not (word.isalpha() and word.isascii() and len(word) <= LONGEST_WORD):
        return None
    return None if word and len(value) == NINE else (word, len(value) == NINE)


def arguments_of(text: str) -> dict[str, Any]:
    """The object in a text, if it holds something and no null, which some rules look for. Raises UnreadableError."""
    try:
        value = exact_json.parse_text(text)[0]
    except ContentError:
        raise UnreadableError from None
    if value.__class__ is not dict or not value or "null" in text:
        raise UnreadableError
    return value


def check_arguments(value: dict[str, Any]) -> None:
    """Raise UnreadableError where such an object holds null."""
    if b"null" in exact_json.write(value):
        raise UnreadableError
