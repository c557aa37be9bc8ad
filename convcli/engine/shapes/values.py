"""Free values: what dialects pass on without reading it, such as a text, an id or the arguments of a call.

They are identified by their key. A missing or superfluous key makes documents slower to convert, never wrong, because
whatever is remembered was tried with values of every kind (`probes`).
"""

from __future__ import annotations

from typing import Any

from convcli.model.errors import ContentError
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

TEXT, ID, ARGUMENTS, SCALAR, NAME = range(5)
"""The kinds of free values. Arguments are an object, or a JSON string of one."""

OF_KEY = {
    **dict.fromkeys(
        (
            "content", "text", "value", "system", "instructions", "input", "output", "result", "prompt", "completion",
            "instruction", "response", "query", "history", "thinking", "reasoning", "reasoning_content", "chosen",
            "rejected", "signature", "description",
        ),
        TEXT,
    ),
    **dict.fromkeys(("id", "tool_call_id", "tool_use_id", "call_id", "callId", "toolCallId", "toolUseId"), ID),
    "arguments": ARGUMENTS,
    "name": NAME,
}  # fmt: skip
"""The kind of a string by its key."""
OF_WRITTEN_KEY = {**OF_KEY, "tools": TEXT}
"""The same in outputs. A string of tools has their names, and is parsed where it is read."""
OBJECTS = frozenset(("arguments", "input", "args"))
"""Keys of arguments that are objects, not strings."""
NUMBERS = (int, float)
EXCLUDED_KEYS = frozenset(("id",))
"""Root keys that schemas name although they do not belong to the conversation."""

NAMES = pattern("[A-Za-z][A-Za-z0-9_]{0,39}")
"""Names of tools that all services accept. Other names are no free values."""

TAG, JSON = "<", ("{", "[", "```")
"""The start of a tag, and of JSON (also in a fence), in which some dialects keep calls and thinking."""
LONGEST = 64
"""Maximum length of a string that is not free."""
LONGEST_WORD, LONGEST_ID, MISTRAL_ID = 9, 30, 9
"""Maximum length of an id's prefix and of the rest, and the length of a Mistral id.

Prefix and rest are at most 40 characters, the shortest limit of a service; probes have ids of this length."""


_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19


class UnreadableError(ValueError):
    """The document has a value that cannot be remembered."""


def is_text(value: str) -> bool:
    """True if a string has visible content. Some dialects treat empty text as absent."""
    return value != "" and not value.isspace()


def is_name(value: str) -> bool:
    """True if a name is free: all services accept it."""
    return NAMES.fullmatch(value) is not None


def is_json(value: str) -> bool:
    """True if a string may be JSON, in which some dialects look for keys of their own."""
    return value.startswith(JSON) or (value[0].isspace() and value.lstrip().startswith(JSON))


def is_free_key(key: str, value: Any) -> bool:
    """True if a value under this root key, which no schema names, is free. Schemas name ids, which are no fractions."""
    is_number = value.__class__ in NUMBERS and (value.__class__ is int or key not in EXCLUDED_KEYS)
    return is_number or (value.__class__ is str and is_text(value))


def id_class(value: str) -> tuple[str, bool] | None:
    """Returns what some services check in an id: its prefix, and whether it has Mistral's nine characters.

    None if it is not a usual id.
    """
    word, _, rest = value.rpartition("_")
    if not (rest.isalnum() and rest.isascii()) or len(rest) > LONGEST_ID:
        return None
    if word and not (word.isalpha() and word.isascii() and len(word) <= LONGEST_WORD):
        return None
    return None if word and len(value) == MISTRAL_ID else (word, len(value) == MISTRAL_ID)


def arguments_of(text: str) -> dict[str, Any]:
    """Returns the object in a JSON string if it is not empty and `_is_checked` by no rule. Raises UnreadableError."""
    try:
        value = exact_json.parse_text(text)[0]
    except ContentError:
        raise UnreadableError from None
    if value.__class__ is not dict or not value or _is_checked(text):
        raise UnreadableError
    return value


def check_arguments(value: dict[str, Any]) -> None:
    """Raises UnreadableError if rules check something in such an object."""
    if _is_checked(exact_json.write_text(value)):
        raise UnreadableError


def _is_checked(arguments: str) -> bool:
    """True if there may be a null, or an integer of more than 64 bits, which rules of training sets check."""
    return "null" in arguments or _LONG_NUMBER in arguments.encode(errors="replace").translate(_DIGITS_TO_ZERO)
