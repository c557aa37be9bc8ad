"""The samples on disk, and small tools that the law tests share. Nothing here names a dialect."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from convcli import dialects
from convcli.engine.reading import not_understood
from convcli.files.framing import open_source
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.testing import counted as counted
from convcli.testing import facts as facts
from convcli.validation import schemas
from convcli.wire import exact_json

SAMPLES = Path(__file__).parent.parent / "samples"
SUFFIXES = (".json", ".jsonl", ".sse")
WITH_WARNINGS = {
    "gemini-cli/log-rewound.jsonl": "unknown-content",
    "gemini-cli/model-type.json": "unknown-content",
    "claude-code/rows-of-others.jsonl": "unknown-content",
    "droid/rows-of-others.jsonl": "unknown-content",
    "hf-trace/rows-of-others.jsonl": "unknown-content",
    "chatgpt-export/odd.json": "unknown-type",
    "otel-genai/messages.json": "unknown-type",
    "librechat/agent.json": "invalid-arguments",
    "modular-prompt/older-form.json": "invalid-arguments",
    "modular-prompt/query-result-of-an-older-driver.json": "invalid-arguments",
    "multi-llm-chat-stream/older-names.jsonl": "invalid-arguments",
    "vscode-chat/summary.json": "invalid-arguments",
}
"""Good samples with a warning on purpose: rows or parts of types that their dialect does not know, and calls that broke
off. With the finding on them."""


class Memory:
    """An output in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.data, self.is_there = b"", False

    def write(self, data: bytes) -> None:
        self.data += data

    def commit(self) -> None:
        self.is_there = True

    def discard(self) -> None:
        pass


class Sample(NamedTuple):
    """One document of a sample file."""

    dialect: str
    path: Path
    index: int
    document: Any

    def __str__(self) -> str:
        return f"{self.dialect}/{self.path.name}" + (f"#{self.index}" if self.index else "")


def names() -> tuple[str, ...]:
    return dialects.names()


def sample_files(dialect: str, folder: str = ".") -> list[Path]:
    """The sample files of a dialect, in alphabetical order."""
    root = SAMPLES / dialect / folder
    return sorted(path for path in root.glob("*") if path.suffix in SUFFIXES) if root.is_dir() else []


def documents(path: Path, dialect: Dialect) -> Iterator[Any]:
    """The documents of one file, as the dialect frames them."""
    with open_source(str(path)) as source:
        if source.framing == "json":
            yield source.document()[0]
        elif source.framing == "sse" or "events" in dialect.framings:
            records = list(source.events() if source.framing == "sse" else source.records())
            yield Rows([record.value for record in records], [record.line for record in records])
        else:
            for record in source.records():
                assert record.error is None, f"{path}:{record.line}: {record.error}"
                yield record.value


@lru_cache(maxsize=1)
def samples() -> list[Sample]:
    """Every document of every good sample of every dialect."""
    return [
        Sample(name, path, index, document)
        for name in names()
        for path in sample_files(name)
        for index, document in enumerate(documents(path, dialects.get(name)))
    ]


@lru_cache(maxsize=1)
def acceptable() -> list[Sample]:
    """The same, and those bad ones that are read: the laws hold for what breaks only rules of a service."""
    return samples() + [sample for sample in _allowed() if not _is_empty(sample)]


@lru_cache(maxsize=1)
def empty() -> list[Sample]:
    """The bad samples that their schema allows, and of which no message comes (law L11)."""
    return [sample for sample in _allowed() if _is_empty(sample)]


@lru_cache(maxsize=1)
def _allowed() -> list[Sample]:
    return [
        Sample(name, path, index, document)
        for name in names()
        for path in sample_files(name, "bad")
        for index, document in enumerate(documents(path, dialects.get(name)))
        if schemas.accepts(name, document)
    ]


def _is_empty(sample: Sample) -> bool:
    dialect = dialects.get(sample.dialect)
    return not_understood(sample.document, dialect.lift(sample.document), dialect) is not None


def samples_of(name: str) -> list[Sample]:
    return [sample for sample in samples() if sample.dialect == name]


def acceptable_of(name: str) -> list[Sample]:
    return [sample for sample in acceptable() if sample.dialect == name]


@contextmanager
def about(*what: object) -> Iterator[None]:
    """Names the sample, and what else there is, in whatever fails inside."""
    try:
        yield
    except BaseException as error:
        error.add_note(" → ".join(map(str, what)))
        raise


def dumped(value: Any) -> bytes:
    """JSON text: equal for equal values, types and key order."""
    return exact_json.key(value)


def untouched(value: Any) -> Any:
    """A copy to compare with afterwards."""
    return copy.deepcopy(value)
