"""The thought of a model before its answer, as rows write it in the text: between `<think>` and `</think>`."""

from __future__ import annotations

from convcli.model.transcript import Message, Part, Reasoning, Text

BEGIN, END = "<think>", "</think>"
BREAK = "\n"
JOINT = "\n\n"
"""What stands between two texts, or two thoughts, that become one."""


def read_thought(text: str) -> tuple[str, str]:
    """The thought at the head of a text, and the rest of it. An empty thought is part of the text."""
    inside, end, rest = text.removeprefix(BEGIN).partition(END)
    if not text.startswith(BEGIN) or not end or not inside.strip():
        return "", text
    thought = inside.removeprefix(BREAK).removesuffix(BREAK)
    return thought, rest.removeprefix(JOINT) if rest.startswith(JOINT) else rest.removeprefix(BREAK)


def write_thought(thought: str, rest: str) -> str:
    """The inverse of `read_thought`."""
    return f"{BEGIN}{BREAK}{thought}{BREAK}{END}{JOINT}{rest}" if thought else rest


def one_thought(message: Message) -> list[Part]:
    """The parts of a turn with one thought at its head, of which nothing says that it ends before its end."""
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning) and part.text.strip()]
    thought = without(END, JOINT.join(thoughts))
    others: list[Part] = [part for part in message.parts if not isinstance(part, Reasoning)]
    return [Reasoning(thought), *others] if thought.strip() else others


def without(mark: str, text: str) -> str:
    """The text in which a mark does not stand, not even once it was taken out."""
    while mark in text:
        text = text.replace(mark, "")
    return text


def text_parts(text: str) -> list[Part]:
    """A text as the parts of a message."""
    return [Text(text)] if text else []
