"""Converts transcripts of language models between dialects, and reports every loss.

>>> import convcli
>>> document = {"messages": [{"role": "user", "name": "ada", "content": "Hi."}]}
>>> result = convcli.convert(document, to="anthropic", source="openai-chat")
>>> result.document
{'messages': [{'role': 'user', 'content': 'Hi.'}]}
>>> [(loss.kind, loss.where, loss.why) for loss in result.losses]
[('dropped', '/messages/0/name', 'target messages have no name')]

A *document* is a JSON value (`dict`, `list`) as a vendor writes it; a *transcript* is the same as records of the
intermediate format: a `Transcript` has `Message`s, and these have parts (`Text`, `Reasoning`, `Refusal`, `Media`,
`ToolCall`, `ToolResult`, `Opaque`).

    one document     convert · lift, lower · validate · detect · difference · restore_record, restore
    files            read · iterate
    many documents   convert_lines · validate_lines

`source` always names the dialect of the input; without it, the dialect is detected. `to` names the dialect of the
output. Nothing here prints: losses and findings are returned, with the JSON Pointer of the value in the document.

Errors are `ConvcliError`: `ContentError` for what cannot be read or recognised, `RefusedError` for what does not pass
its schema, `JobError` for an unknown dialect or a missing file. All have a `code` that `convcli explain` explains.
`convcli help library` has more examples, also for pandas, polars, DuckDB and datasets.
"""

from __future__ import annotations

from importlib import import_module

from convcli.model.version import __version__ as __version__

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike
    from typing import Any, Literal

    from msgspec import UNSET

    from convcli import dialects
    from convcli.engine.conversion import Conversion
    from convcli.engine.detection import Detection
    from convcli.jobs.lines import LineOutcome
    from convcli.model.dialect import Dialect
    from convcli.model.document import Rows
    from convcli.model.errors import ContentError, ConvcliError, JobError, OutputError, RefusedError
    from convcli.model.findings import Finding
    from convcli.model.transcript import (
        Media,
        Message,
        Opaque,
        Part,
        Reasoning,
        Refusal,
        Text,
        ToolCall,
        ToolChoice,
        ToolDefinition,
        ToolResult,
        Transcript,
    )
    from convcli.proof.reasons import Loss

__all__ = [
    "UNSET",
    "ContentError",
    "ConvcliError",
    "Conversion",
    "Detection",
    "Finding",
    "JobError",
    "LineOutcome",
    "Loss",
    "Media",
    "Message",
    "Opaque",
    "OutputError",
    "Part",
    "Reasoning",
    "Refusal",
    "RefusedError",
    "Rows",
    "Text",
    "ToolCall",
    "ToolChoice",
    "ToolDefinition",
    "ToolResult",
    "Transcript",
    "convert",
    "convert_lines",
    "detect",
    "dialects",
    "difference",
    "iterate",
    "lift",
    "lower",
    "read",
    "restore",
    "restore_record",
    "validate",
    "validate_lines",
]


_HOMES = {
    "convcli.engine.conversion": ("Conversion",),
    "convcli.engine.detection": ("Detection",),
    "convcli.jobs.lines": ("LineOutcome",),
    "convcli.model.document": ("Rows",),
    "convcli.model.errors": ("ContentError", "ConvcliError", "JobError", "OutputError", "RefusedError"),
    "convcli.model.findings": ("Finding",),
    "convcli.model.transcript": (
        "Media", "Message", "Opaque", "Part", "Reasoning", "Refusal", "Text", "ToolCall", "ToolChoice",
        "ToolDefinition", "ToolResult", "Transcript",
    ),
    "convcli.proof.reasons": ("Loss",),
    "msgspec": ("UNSET",),
}  # fmt: skip
"""Home modules of records and errors, which are imported on first use, so that the program starts fast."""


def __getattr__(name: str) -> Any:
    """Imports a record, an error or the registry of dialects on first use."""
    if name == "dialects":
        return import_module("convcli.dialects")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names, including those not imported yet."""
    return sorted([*__all__, "__version__"])


def _dialect(name: str) -> Dialect:
    return import_module("convcli.dialects").get(name)  # type: ignore[no-any-return]


# ---------------------------------------------------------------- files


def read(path: str | PathLike[str], *, source: str | None = None, dialect: str | None = None) -> list[Transcript]:
    """Returns the transcripts of a file in any dialect (JSON, JSON Lines or SSE; compressed or not; `-` is stdin).

    A folder or a glob stands for its files. `dialect` is the former name of `source`. Raises JobError if a file cannot
    be opened, ContentError if it cannot be read, RefusedError if a document does not pass the schema of its dialect:
    the first error ends it. `iterate` continues instead, and keeps one transcript in memory at a time.

        for transcript in convcli.read("chats.jsonl"):
            print(transcript.model, len(transcript.messages))
    """
    from convcli.jobs.lines import transcripts

    return [_or_raise(item) for item in transcripts(path, source or dialect)]


def iterate(path: str | PathLike[str], *, source: str | None = None) -> Iterator[Transcript | ConvcliError]:
    """Yields the transcripts one by one, so that a file of any length needs little memory.

    Errors are yielded in their place (ContentError, RefusedError), with `file` and `line`, and the next one follows.

    Raises JobError for a file that cannot be opened.

        for item in convcli.iterate("chats.jsonl"):
            if isinstance(item, convcli.ConvcliError):
                print(item)                     # chats.jsonl:14:9 /messages/0: "role" is missing [missing-key]
            else:
                print(len(item.messages))
    """
    from convcli.jobs.lines import transcripts

    return transcripts(path, source)


def _or_raise(item: Transcript | ConvcliError) -> Transcript:
    if isinstance(item, Exception):
        raise item
    return item


# ---------------------------------------------------------------- one document


def lift(document: Any, *, source: str | None = None, dialect: str | None = None) -> Transcript:
    """Returns the transcript of one document. Raises ContentError or RefusedError.

    `dialect` is the former name of `source`.

    >>> import convcli
    >>> transcript = convcli.lift({"messages": [{"role": "user", "content": "Hi."}]}, source="openai-chat")
    >>> transcript.messages[0].parts[0].text
    'Hi.'
    """
    from convcli.engine import arguments, conversion

    value, own, _ = arguments.read(document, source or dialect)
    return conversion.lift(value, own)


def lower(
    transcript: Transcript,
    to: str,
    *,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
) -> Conversion:
    """Writes a transcript in the dialect `to`: a Conversion with `document`, `losses` and `findings`.

    `form`, `branch`, `view`, `chunk` and `set` are those of `convert`. Raises JobError for an unknown dialect or form.

    >>> from convcli import Message, Text, ToolCall, Transcript, lower
    >>> call = ToolCall("call_1", "get_weather", {"city": "Tokyo"})
    >>> asked = Transcript([Message("user", [Text("Weather?")]), Message("assistant", [call])])
    >>> lower(asked, "anthropic").document["messages"][1]["content"]
    [{'type': 'tool_use', 'id': 'call_1', 'name': 'get_weather', 'input': {'city': 'Tokyo'}}]
    """
    from convcli.engine import added, arguments, conversion

    target = _dialect(to)
    chosen = arguments.options(target, form, branch, chunk, view, set)
    return added.with_added(conversion.lower(transcript, target, chosen), chosen, target, None)


def convert(
    document: Any,
    *,
    to: str,
    source: str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
) -> Conversion:
    """Converts one document to the dialect `to`: a Conversion with `document`, `transcript`, `losses` and `findings`.

    `form` is one of the target's forms (`request`, `response`, …: `convcli dialects NAME` lists them) · `branch`: only
    the `active` branch of a session, or `all` that the target can store · `view`: the whole `history`, or only the
    `context` that remains after compaction · `chunk`: characters per stream event · `set`: keys of the output with
    their values, where a dot descends into an object; they are reported as losses `invented` or `changed`. Raises
    ContentError if no dialect or more than one matches, RefusedError if the document does not pass its schema, JobError
    for an unknown dialect, form or key.

    >>> import convcli
    >>> document = {"messages": [{"role": "user", "content": "Hi."}], "temperature": 0.5}
    >>> convcli.convert(document, to="gemini", source="openai-chat").document["generationConfig"]
    {'temperature': 0.5}
    >>> convcli.convert(document, to="anthropic", source="openai-chat").findings[0].message
    'a request requires model and max_tokens'
    >>> convcli.convert(document, to="anthropic", source="openai-chat", set={"max_tokens": 9, "model": "m"}).findings
    []
    """
    from convcli.engine import arguments, pipeline, texts

    target = _dialect(to)
    chosen = arguments.options(target, form, branch, chunk, view, set)
    value, own, columns = arguments.read(document, source)
    conversion = pipeline.convert(value, own, target, chosen)
    if target is own:
        conversion.document = texts.rewritten(conversion.document, value, document, columns)
    return conversion


def validate(
    document: Any,
    *,
    source: str | None = None,
    as_: str | None = None,
    strict: bool = False,
    dialect: str | None = None,
) -> list[Finding]:
    """Returns the findings on one document, by the schema and the rules of its dialect.

    `as_`: what this service would refuse if the document were sent to it as a request · `strict`: keys that the schema
    does not name are warnings · `dialect` is the former name of `source`. Raises ContentError if no dialect or more
    than one matches, JobError for an unknown dialect.

    >>> import convcli
    >>> [finding] = convcli.validate({"messages": [{"role": "usr", "content": "Hi."}]}, source="openai-chat")
    >>> (finding.code, finding.where, finding.help)
    ('unknown-value', '/messages/0/role', 'did you mean "user"?')
    """
    from convcli.engine import arguments
    from convcli.jobs.inputs import Document
    from convcli.jobs.judging import JudgingOptions, judged

    value, own, columns = arguments.read(document, source or dialect)
    target = None if as_ is None else _dialect(as_)
    return judged(Document("", 0, value, b"", own, texts=columns, given=document), JudgingOptions(strict, target))


def detect(document: Any) -> Detection:
    """Detects the dialect of a document, and why. Raises ContentError if no dialect or more than one matches.

    >>> import convcli
    >>> found = convcli.detect({"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]})
    >>> (found.dialect, found.clue.reason)
    ('gemini', 'contents with parts')
    """
    from convcli.engine import arguments

    return arguments.detect(document)


def difference(before: Transcript, after: Transcript) -> list[Loss]:
    """Returns what the second transcript lacks or has differently; empty exactly if both are the same.

    >>> from convcli import Message, Text, Transcript, difference
    >>> one, two = (Transcript([Message("user", [Text(text)])]) for text in ("Hi.", "Hello."))
    >>> [(loss.kind, loss.field, loss.before, loss.after) for loss in difference(one, two)]
    [('changed', 'text.text', 'Hi.', 'Hello.')]
    """
    from convcli.proof import difference as proof

    return proof.difference(before, after)


# ---------------------------------------------------------------- the way back


def restore_record(original: Any, converted: Any, *, source: str, to: str) -> dict[str, Any]:
    """Returns what `restore` needs in addition to the converted document, as a JSON value.

    Raises JobError for an unknown dialect.
    """
    from convcli.engine import restore

    return restore.record(original, converted, _dialect(source), _dialect(to))


def restore(converted: Any, record: dict[str, Any]) -> Any:
    """Returns the exact original of a converted document. Raises ContentError if the record does not belong to it.

    >>> import convcli
    >>> original = {"messages": [{"role": "user", "name": "ada", "content": "Hi."}]}
    >>> converted = convcli.convert(original, to="gemini", source="openai-chat").document
    >>> record = convcli.restore_record(original, converted, source="openai-chat", to="gemini")
    >>> convcli.restore(converted, record) == original
    True
    """
    from convcli.engine import restore

    return restore.restore(converted, record)


# ---------------------------------------------------------------- many documents


def convert_lines(
    lines: Iterable[bytes],
    *,
    to: str,
    source: str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
) -> Iterator[LineOutcome]:
    """Converts lines of JSON, one document per line, and yields an outcome for each.

    `data` is the converted document as bytes, with its `losses` and `findings`. An error in a line becomes a finding
    and does not end the iteration; its `data` is None.

    Raises JobError for an unknown dialect or form. `source` saves the time to detect the dialect of each line.

    >>> import convcli
    >>> lines = [b'{"messages": [{"role": "user", "content": "Hi."}]}', b'{"messages": ']
    >>> for outcome in convcli.convert_lines(lines, to="gemini", source="openai-chat"):
    ...     print(outcome.line, outcome.data, [finding.code for finding in outcome.findings])
    1 b'{"contents":[{"role":"user","parts":[{"text":"Hi."}]}]}' []
    2 None ['not-json']
    """
    from convcli.engine import arguments
    from convcli.jobs import lines as by_line

    target = _dialect(to)
    own = None if source is None else _dialect(source)
    return by_line.convert(lines, own, target, arguments.options(target, form, branch, chunk, view, set))


def validate_lines(
    lines: Iterable[bytes], *, source: str | None = None, as_: str | None = None, strict: bool = False
) -> Iterator[LineOutcome]:
    """Validates lines of JSON and yields an outcome for each; a valid line has no findings.

    Raises JobError for an unknown dialect.

    >>> import convcli
    >>> lines = [b'{"messages": [{"role": "user", "content": "Hi."}]}', b'{"messages": [{"role": "user"}]}']
    >>> for outcome in convcli.validate_lines(lines, source="openai-chat"):
    ...     print(outcome.line, [(finding.code, finding.where) for finding in outcome.findings])
    1 []
    2 [('missing-key', '/messages/0')]
    """
    from convcli.jobs import lines as by_line
    from convcli.jobs.judging import JudgingOptions

    own = None if source is None else _dialect(source)
    return by_line.validate(lines, own, JudgingOptions(strict, None if as_ is None else _dialect(as_)))
