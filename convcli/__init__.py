"""Converts transcripts of language models between dialects; nothing is lost without being told.

    import convcli

    result = convcli.convert(document, to="anthropic")      # the dialect of the document is detected
    result.document                                         # as Anthropic writes it
    for loss in result.losses:                              # everything that it does not carry
        print(loss.kind, loss.where, loss.why)

Documents are JSON values (`dict`, `list`). `convert` is `lift`, to the records of the intermediate format
(`Transcript`, `Message`, `ToolCall`, `ToolResult`, `ToolDefinition`), and `lower`, which fits them to what a dialect
takes and writes them; `read` lifts all documents of a file, and `validate` says what is wrong with one. Nothing here
prints: losses and findings are returned, with the place in the document as a JSON Pointer.

Errors are `ConvcliError`: `ContentError` for what cannot be read or recognised, `RefusedError` for what does not pass
its schema, `JobError` for an unknown dialect or a missing file. All have a `code` that `convcli explain` explains.
"""

from __future__ import annotations

from importlib import import_module

from convcli.model.version import __version__ as __version__

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from typing import Any

    from convcli import dialects
    from convcli.engine.conversion import Conversion
    from convcli.model.errors import ContentError, ConvcliError, JobError, OutputError, RefusedError
    from convcli.model.findings import Finding
    from convcli.model.transcript import Message, ToolCall, ToolDefinition, ToolResult, Transcript
    from convcli.proof.reasons import Loss

__all__ = [
    "ContentError",
    "ConvcliError",
    "Conversion",
    "Finding",
    "JobError",
    "Loss",
    "Message",
    "OutputError",
    "RefusedError",
    "ToolCall",
    "ToolDefinition",
    "ToolResult",
    "Transcript",
    "convert",
    "dialects",
    "lift",
    "lower",
    "read",
    "validate",
]


HOMES = {
    "convcli.model.errors": ("ContentError", "ConvcliError", "JobError", "OutputError", "RefusedError"),
    "convcli.model.findings": ("Finding",),
    "convcli.proof.reasons": ("Loss",),
    "convcli.engine.conversion": ("Conversion",),
    "convcli.model.transcript": ("Message", "ToolCall", "ToolDefinition", "ToolResult", "Transcript"),
}
"""Where the records and errors are defined; they are imported when first asked for, so that the program starts fast."""


def __getattr__(name: str) -> Any:
    """A record, an error or the registry of dialects, imported when it is first asked for."""
    if name == "dialects":
        return import_module("convcli.dialects")
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def read(path: str, *, dialect: str | None = None) -> list[Transcript]:
    """The transcripts of a file in any dialect (JSON, JSONL or SSE; compressed or not; `-` is standard input).

    Raises JobError when the file cannot be opened, ContentError when it cannot be read, RefusedError when a document
    does not pass the schema of its dialect.
    """
    from convcli.jobs.inputs import documents

    return [document.lift() for document in documents(path, dialect)]


def lift(document: Any, *, dialect: str | None = None) -> Transcript:
    """The transcript of one document. Raises ContentError or RefusedError."""
    from convcli.engine import conversion, detection

    return conversion.lift(document, detection.dialect_of(document, dialect))


def lower(transcript: Transcript, to: str) -> Conversion:
    """A transcript in the dialect `to`: a Conversion with `document`, `losses` and `findings`.

    Raises JobError for an unknown dialect.
    """
    from convcli.engine import conversion

    return conversion.lower(transcript, dialects.get(to))


def convert(document: Any, *, to: str, source: str | None = None) -> Conversion:
    """One document in the dialect `to`: a Conversion with `document`, `transcript`, `losses` and `findings`.

    `source` names the dialect of the document; without it the dialect is detected. Raises ContentError when that
    fails, RefusedError when the document does not pass its schema, JobError for an unknown dialect.
    """
    from convcli.engine import detection, pipeline

    return pipeline.convert(document, detection.dialect_of(document, source), dialects.get(to))


def validate(document: Any, *, dialect: str | None = None) -> list[Finding]:
    """What is wrong with one document: by the schema and the rules of its dialect."""
    from convcli.engine import detection, pipeline

    return pipeline.validate(document, detection.dialect_of(document, dialect))
