"""What a card says about a data set: where its conversations come from, and the licences of their sources."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile

from convcli.files.packed import may_wait
from convcli.jobs.results import ItemResult
from convcli.model.transcript import ToolCall
from convcli.views.columns import program_of

README = "README.md"
MOST_OF_CARD = 1 << 20
"""Bytes of a card that are searched for its licence, which stands in its header."""


class DataSetFacts:
    """Counts the conversations of a data set by dialect, agent program and model, and their messages and calls.

    A conversation with answers of several models counts for each of them. Messages count once for all rows of a
    document.
    """

    def __init__(self) -> None:
        self.dialects, self.programs, self.models = Counter[str](), Counter[str](), Counter[str]()
        self.messages, self.calls = Counter[str](), 0

    def take(self, result: ItemResult) -> None:
        """Counts a conversation that is written."""
        document, conversion = result.item, result.conversion
        if document is None or conversion is None:
            return
        transcript = conversion.transcript
        self.dialects[document.dialect.name] += 1
        self.programs.update(filter(None, [program_of(document)]))
        answering = {message.model for message in transcript.messages if message.model}
        self.models.update([transcript.model] if transcript.model else sorted(answering))
        if result.number:
            return
        messages = (result.whole or transcript).messages
        self.messages.update(message.role for message in messages if message.role != "event")
        self.calls += sum(isinstance(part, ToolCall) for message in messages for part in message.parts)


def licences(paths: Iterable[str]) -> dict[str, set[str]]:
    """Returns the licences that the cards of the inputs name, with the files below each; "" for no licence.

    The card of a file is README.md in its folder, or in the folder above.
    """
    of_folder: dict[str, list[str]] = {}
    found: dict[str, set[str]] = {}
    for path in paths:
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in of_folder:
            above = os.path.dirname(folder)
            of_folder[folder] = _licences_of(folder) or _licences_of(above)
        for name in of_folder[folder] or [""]:
            found.setdefault(name, set()).add(path)
    return found


def _licences_of(folder: str) -> list[str]:
    """Returns the licences in the YAML header of a card: a word, or a list of words."""
    card = os.path.join(folder, README)
    if may_wait(card):
        return []
    try:
        with open(card, encoding="utf-8") as file:
            lines = file.read(MOST_OF_CARD).splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    if not lines or lines[0].rstrip() != "---":
        return []
    header = iter(list(takewhile(lambda line: line.rstrip() != "---", lines[1:])))
    for line in header:
        key, _, value = line.partition(":")
        if key == "license":
            members = takewhile(lambda line: line.lstrip().startswith("- "), header)
            words = [value] if _word(value) else [member.lstrip()[2:] for member in members]
            return [word for word in map(_word, words) if word]
    return []


def _word(text: str) -> str:
    """Returns a scalar without quotes and comment."""
    return text.partition(" #")[0].strip().strip("\"'")
