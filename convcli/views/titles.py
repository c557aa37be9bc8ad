"""The title of a session and of a prompt: one line, without the markup of Markdown and of agent programs."""

from __future__ import annotations

import re

from convcli.model.transcript import Message, Text, Transcript
from convcli.views.program_texts import content_of, words_of_person
from convcli.wire.patterns import pattern

LONGEST_TITLE = 120
"""Characters of a title; longer ones are cut between words."""
SHORT = 60
"""Characters of a title in a list on a terminal."""
READ = 1_000
"""Characters of a prompt in which its title is looked for."""
_MARKS = pattern(r"`|\*\*|~~")
_MARKUP = pattern(r"```\w*|^\s{0,3}(?:#{1,6}|>|[-*+])\s+", re.MULTILINE)
_EMPTY_LINE = pattern(r"\n[ \t]*\n")
_IMAGE_TAG = pattern(r"</?image\b[^\n]*>")
"""A tag that Codex writes around an image."""
_LINK = pattern(r"!?\[([^\[\]]{1,200})\]\([^()\s]{1,500}\)")


def title_of(transcript: Transcript, width: int = LONGEST_TITLE) -> str:
    """Returns the title: that of the session, else its first prompt, without markup; empty if there is none.

    A command alone, such as `/model`, is a title only if no other prompt follows, and the text of a program only if
    there is no prompt at all.
    """
    if transcript.title and (title := plain(words_of_person(transcript.title), width)):
        return title
    first = ""
    for prompt in filter(None, (prompt_of(message, width) for message in transcript.messages)):
        if not prompt.startswith("/") or " " in prompt:
            return prompt
        first = first or prompt
    return first or next(filter(None, (_inserted(message, width) for message in transcript.messages)), "")


def prompt_of(message: Message, width: int = LONGEST_TITLE) -> str:
    """Returns the beginning of a user message on one line; empty if a program wrote all of it."""
    if message.role != "user":
        return ""
    texts = (words_of_person(part.text) for part in message.parts if isinstance(part, Text))
    texts = (text for text in texts if not _IMAGE_TAG.fullmatch(text[:READ].strip()))
    return next(filter(None, (plain(_beginning(text), width) for text in texts)), "")


def _inserted(message: Message, width: int) -> str:
    """Returns the beginning of a user message that a program wrote."""
    texts = (part.text for part in message.parts if isinstance(part, Text)) if message.role == "user" else ()
    return next(filter(None, (plain(content_of(text), width) for text in texts)), "")


def _beginning(text: str) -> str:
    """Returns the first paragraph, with the next one if it introduces something."""
    paragraphs = [paragraph for paragraph in _EMPTY_LINE.split(text[:READ].strip()) if paragraph.strip()]
    end = next(
        (at for at, paragraph in enumerate(paragraphs, 1) if not paragraph.rstrip().endswith(":")), len(paragraphs)
    )
    return "\n".join(paragraphs[:end])


def plain(text: str, width: int = LONGEST_TITLE) -> str:
    """Returns text on one line and without the markup of Markdown, cut between words."""
    words = " ".join(_MARKS.sub("", _MARKUP.sub(" ", _LINK.sub(r"\1", text[:READ]))).split())
    if len(words) <= width:
        return words
    return f"{words[: width - 1].rpartition(' ')[0] or words[: width - 1]}…"
