"""A dialect is detected only if most of what people and models wrote reaches parts: the claim of its marks is read."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import reading
from convcli.jobs.choosing import choose
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.model.transcript import Text, Transcript
from convcli.proof.language import is_language
from tests.planting import leaf_paths
from tests.support import Sample, names, samples_of

SUFFIX = "_v9"


def texts(transcript: Transcript) -> list[str]:
    """What a user and a model wrote."""
    said = [message for message in transcript.messages if message.role in ("user", "assistant")]
    return [part.text for message in said for part in message.parts if isinstance(part, Text)]


def renamed(value: Any, keys: set[str]) -> Any:
    """The document with other names for these keys, as a newer or a foreign program would write it."""
    if isinstance(value, dict):
        return {key + SUFFIX if key in keys else key: renamed(child, keys) for key, child in value.items()}
    if isinstance(value, list):
        items = [renamed(child, keys) for child in value]
        return Rows(items, getattr(value, "lines", None)) if isinstance(value, Rows) else items
    return value


def first_with_language(name: str) -> tuple[Sample, set[str]] | None:
    """A sample with several texts that are language and stand in the document as they are, and their keys."""
    for sample in samples_of(name):
        wanted = set(filter(is_language, texts(dialects.get(name).lift(sample.document))))
        paths = [path for path, value in leaf_paths(sample.document) if value in wanted]
        if len(paths) > 1:
            return sample, {step for path in paths for step in path[-1:] if isinstance(step, str)}
    return None


@pytest.mark.parametrize("name", names())
def test_a_document_whose_text_is_under_unknown_keys_is_not_taken_for_a_dialect(name: str) -> None:
    found = first_with_language(name)
    if found is None:
        pytest.skip("no sample has its texts whole")
    sample, keys = found
    value = renamed(sample.document, keys)
    is_whole, is_stream = isinstance(value, Rows), "sse" in dialects.get(name).framings
    try:
        values, framing = (list(value), "sse" if is_stream else "jsonl") if is_whole else ([value], "json")
        chosen = choose(values, None, framing, one_line=False)
        transcript = reading.lift(value, chosen.dialect)
    except ConvcliError:
        return
    wanted = texts(dialects.get(name).lift(sample.document))
    assert sum(map(len, texts(transcript))) * 2 >= sum(map(len, wanted)), (str(sample), keys, chosen.detection)
