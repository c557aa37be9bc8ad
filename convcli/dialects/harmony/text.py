"""The syntax of harmony text: messages between marks, each with author, recipient and channel."""

from __future__ import annotations

from typing import Any, NamedTuple

from convcli.families.rows import calls
from convcli.kit.renaming import WORD, Alphabet
from convcli.wire.patterns import pattern

START, MESSAGE, CHANNEL, CONSTRAIN = "<|start|>", "<|message|>", "<|channel|>", "<|constrain|>"
END, CALL, RETURN = "<|end|>", "<|call|>", "<|return|>"
MARK = pattern(r"<\|(?:start|message|channel|constrain|end|call|return)\|>")
ANALYSIS, COMMENTARY, FINAL = "analysis", "commentary", "final"
ASSISTANT, FUNCTIONS = "assistant", "functions."
ROLES = ("system", "developer", "user", ASSISTANT)
NAMES = Alphabet("letters, digits, _, . and -", WORD + ".-", 0)
"""Names of tools and participants."""

_NAME = "[A-Za-z0-9_.-]+"
_HEADER = pattern(
    rf"(?P<author>{_NAME})(?::(?P<name>{_NAME}))?(?: to=(?P<to>{_NAME}))?"
    rf"(?:<\|channel\|>(?P<channel>\w+)(?: to=(?P<late>{_NAME}))?)?"
    r"(?: ?<\|constrain\|>(?P<constrain>\w+)| (?P<type>\w+))?"
)
_ENDS = pattern(r"<\|(?:end|call|return)\|>\s*\Z")


class Spoken(NamedTuple):
    """One message.

    `author` is a role or a tool, `name` that of a participant, `type` that of the content. `to` is the called tool, or
    the assistant for a result.
    """

    author: str
    content: str
    name: str = ""
    to: str = ""
    channel: str = ""
    type: str = ""


def read(text: str) -> list[Spoken | str]:
    """Returns the messages of a text; anything else stays a string.

    The head of an answer to come is not a message. A single answer may begin with its channel.
    """
    if not text.startswith(START):
        text = f"{START}{ASSISTANT}{text}"
    raw = text.split(START)[1:]
    if raw[-1].strip() == ASSISTANT:
        raw.pop()
    return [_piece(one, is_last=i == len(raw) - 1) or one for i, one in enumerate(raw)]


def _piece(raw: str, *, is_last: bool) -> Spoken | None:
    head, mark, content = raw.partition(MESSAGE)
    header = _HEADER.fullmatch(head)
    body = _ENDS.sub("", content)
    if header is None or not mark or MARK.search(body) or (body == content and not is_last):
        return None
    if header["to"] and header["late"]:
        return None
    piece = Spoken(
        header["author"],
        body,
        header["name"] or "",
        header["to"] or header["late"] or "",
        header["channel"] or "",
        header["constrain"] or header["type"] or "",
    )
    return piece if _is_addressed(piece) else None


def _is_addressed(piece: Spoken) -> bool:
    """True if the recipient fits the author.

    The assistant addresses nobody or a tool, a tool nobody or the assistant, and others nobody.
    """
    if piece.author == ASSISTANT:
        return piece.to not in ROLES
    if piece.author in ROLES:
        return not (piece.to or piece.channel or piece.type)
    return piece.to in ("", ASSISTANT) and not piece.name


def write(pieces: list[Spoken]) -> str:
    """Returns the text of the messages, the inverse of `read`; a final answer ends it with `<|return|>`."""
    texts = [_write(piece) for piece in pieces]
    if pieces and pieces[-1].author == ASSISTANT and not pieces[-1].to:
        texts[-1] = texts[-1].removesuffix(END) + RETURN
    return "".join(texts)


def _write(piece: Spoken) -> str:
    name = f":{piece.name}" if piece.name else ""
    to = f" to={piece.to}" if piece.to else ""
    channel = f"{CHANNEL}{piece.channel}" if piece.channel else ""
    kind = f" {CONSTRAIN}{piece.type}" if piece.type else ""
    end = CALL if piece.author == ASSISTANT and piece.to else END
    return f"{START}{piece.author}{name}{to}{channel}{kind}{MESSAGE}{piece.content}{end}"


def without_marks(text: str) -> str:
    """Returns the text without marks, including those that appear once others are removed."""
    while MARK.search(text):
        text = MARK.sub("", text)
    return text


def write_json(value: Any) -> str:
    """Returns the value as JSON with `<|` escaped."""
    return calls.write_json(value).replace("<|", "<\\u007c")
