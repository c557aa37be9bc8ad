"""Writes other names of models than the source has, and reports that as the user's wish."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from msgspec.structs import replace

from convcli.model.dialect import ModelNames
from convcli.model.transcript import Transcript
from convcli.proof.reasons import SET, Loss

FIELDS = ("model", "message.model")


def renamed(transcript: Transcript, names: ModelNames) -> Transcript:
    """Returns the transcript with the models of these names renamed, for itself and for its messages."""
    messages = [
        message if message.model is None else replace(message, model=name_of(message.model, names))
        for message in transcript.messages
    ]
    model = None if transcript.model is None else name_of(transcript.model, names)
    return replace(transcript, model=model, messages=messages)


def renames(transcript: Transcript, names: ModelNames) -> bool:
    """True if the transcript or one of its messages has a model with another name."""
    models = {transcript.model, *(message.model for message in transcript.messages)}
    return any(model is not None and name_of(model, names) != model for model in models)


def name_of(model: str, names: ModelNames) -> str:
    """Returns the other name of a model, by the first pattern that matches, or its own."""
    return next((name for pattern, name in names if fnmatchcase(model, pattern)), model)


def explained(losses: Iterable[Loss], names: ModelNames) -> list[Loss]:
    """Returns the losses; those of renamed models have the user's wish as their reason."""
    return [replace(loss, why=SET) if _is_renamed(loss, names) else loss for loss in losses]


def _is_renamed(loss: Loss, names: ModelNames) -> bool:
    is_name = loss.field in FIELDS and isinstance(loss.before, str)
    return is_name and loss.after != loss.before and loss.after == name_of(loss.before, names)
