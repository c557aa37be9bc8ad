"""The model's thought before its answer, which rows write into the text: between `<think>` and `</think>`."""

from __future__ import annotations

from convcli.model.transcript import Message, Part, Reasoning, Text

BEGIN, END = "<think>", "</think>"
BREAK = "\n"
JOINT = "\n\n"
"""Separates two texts, or two thoughts, that become one."""


def read_thought(text: str) -> tuple[str, str]:
    """Returns the thought at the head of a text, and the rest of it. An empty thought is part of the text."""
    inside, end, rest = text.removeprefix(BEGIN).partition(END)
    if not text.startswith(BEGIN) or not end or not inside.strip():
        return "", text
    thought = inside.removeprefix(BREAK).removesuffix(BREAK)
    return thought, rest.removeprefix(JOINT) if rest.startswith(JOINT) else rest.removeprefix(BREAK)


def write_thought(thought: str, rest: str) -> str:
    """The inverse of `read_thought`."""
    return f"{BEGIN}{BREAK}{thought}{BREAK}{END}{JOINT}{rest}" if thought else rest


def one_thought(message: Message) -> list[Part]:
    """Returns the parts of a turn with one thought at its head, without the closing mark inside it."""
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning) and part.text.strip()]
    thought = without(END, JOINT.join(thoughts))
    others: list[Part] = [part for part in message.parts if not isinstance(part, Reasoning)]
    return [Reasoning(thought), *others] if thought.strip() else others


def without(mark: str, text: str) -> str:
    """Removes a mark from the text, repeatedly, until none is left."""
    while mark in text:
        text = text.replace(mark, "")
    return text


def text_parts(text: str) -> list[Part]:
    """Returns a text as the parts of a message."""
    return [Text(text)] if text else []
