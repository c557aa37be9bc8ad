"""Converts LLM transcripts between formats ("dialects") and reports every loss.

>>> import convcli
>>> document = {"messages": [{"role": "user", "name": "ada", "content": "Hi."}]}
>>> result = convcli.convert(document, "anthropic", source="openai-chat")
>>> result.document
{'messages': [{'role': 'user', 'content': 'Hi.'}]}
>>> [(loss.kind, loss.where, loss.why) for loss in result.losses]
[('dropped', '/messages/0/name', 'messages have no name in Anthropic Messages')]

A *document* is a JSON value (`dict`, `list`) in the format of a vendor. It may contain objects of SDKs (pydantic
models, dataclasses). A *transcript* is the same in the records of the intermediate format: a `Transcript` has
`Message`s, and these have parts (`Text`, `Reasoning`, `Refusal`, `Media`, `ToolCall`, `ToolResult`, `Opaque`).

    one document     convert · lift, lower · validate · detect · difference · restore_record, restore
    files            read · iterate · rows
    many documents   convert_lines · validate_lines · batches

`source` names the dialect of the input; without it, the dialect is detected. `to` names the dialect of the output.
Editors complete both (`DialectName`); any `str` is accepted, for plugins. Nothing here prints: losses and findings are
returned, with a JSON Pointer into the input.

Errors are `ConvcliError`: `ContentError` for what cannot be read or recognized, `RefusedError` for what does not match
its schema, `JobError` for an unknown dialect or a missing file. Each has a `code`, which `convcli explain` explains.
`convcli help library` has more examples, also for pandas, polars, DuckDB and datasets.
"""

from __future__ import annotations

from convcli.model.version import __version__ as __version__

TYPE_CHECKING = False  # as in `typing`, which takes as long to import as the interpreter to start
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from os import PathLike
    from typing import Any, ClassVar, Literal, Protocol, TypeAlias

    from msgspec import UNSET

    from convcli import dialects
    from convcli.dialects._names import DialectName
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
    from convcli.views.batches import batches
    from convcli.views.converted import ConvertedRow, rows

    class _Model(Protocol):
        """A pydantic model, as SDKs return it."""

        def model_dump(self, *, mode: str, by_alias: bool, exclude_none: bool, warnings: bool) -> Any: ...

    class _DataClass(Protocol):
        """An instance of a dataclass."""

        __dataclass_fields__: ClassVar[dict[str, Any]]

    Document: TypeAlias = Mapping[str, Any] | list[Any] | tuple[Any, ...] | _Model | _DataClass

__all__ = [
    "UNSET",
    "ContentError",
    "ConvcliError",
    "Conversion",
    "ConvertedRow",
    "Detection",
    "DialectName",
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
    "batches",
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
    "rows",
    "validate",
    "validate_lines",
]


_HOMES = {
    "convcli.dialects._names": ("DialectName",),
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
    "convcli.views.batches": ("batches",),
    "convcli.views.converted": ("ConvertedRow", "rows"),
    "msgspec": ("UNSET",),
}  # fmt: skip
"""The modules of records, errors and some functions, imported when first used, so that the program starts fast."""


def __getattr__(name: str) -> Any:
    """Imports a record, an error, a function or the registry of dialects when it is first used."""
    from importlib import import_module  # not loaded before the program handles signals

    if name == "dialects":
        return import_module("convcli.dialects")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names, imported or not."""
    return sorted([*__all__, "__version__"])


def _dialect(name: str) -> Dialect:
    from convcli import dialects

    return dialects.get(name)


# ---------------------------------------------------------------- files


def read(
    path: str | PathLike[str], *, source: DialectName | str | None = None, dialect: DialectName | str | None = None
) -> list[Transcript]:
    """Returns the transcripts of a file in any dialect (JSON, JSON Lines or SSE; compressed or not; `-` is stdin).

    A folder or a glob stands for its files. `dialect` is the former name of `source`. Raises JobError if a file cannot
    be opened, ContentError if it cannot be read, RefusedError if a document does not match the schema of its dialect.
    `iterate` continues after such errors, and needs memory for one transcript only.

        for transcript in convcli.read("chats.jsonl"):
            print(transcript.model, len(transcript.messages))
    """
    from convcli.jobs.lines import transcripts

    return [_or_raise(item) for item in transcripts(path, source or dialect)]


def iterate(
    path: str | PathLike[str], *, source: DialectName | str | None = None
) -> Iterator[Transcript | ConvcliError]:
    """Yields the transcripts of a file one by one, so that a file of any length needs little memory.

    An unacceptable document yields an error (ContentError, RefusedError) with `file` and `line`; the next one follows.
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


def lift(
    document: Document,
    *,
    source: DialectName | str | None = None,
    dialect: DialectName | str | None = None,
    lenient: bool = False,
) -> Transcript:
    """Returns the transcript of a document. `dialect` is the former name of `source`.

    With `lenient`, values of a wrong type outside of the conversation become extras. Raises ContentError or
    RefusedError.

    >>> import convcli
    >>> transcript = convcli.lift({"messages": [{"role": "user", "content": "Hi."}]}, source="openai-chat")
    >>> transcript.messages[0].parts[0].text
    'Hi.'
    """
    from convcli.engine import arguments, reading

    value, own, _ = arguments.read(arguments.parsed(document), source or dialect)
    return reading.lift_leniently(value, own)[0] if lenient else reading.lift(value, own)


def lower(
    transcript: Transcript,
    to: DialectName | str,
    *,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
    default: Mapping[str, Any] | None = None,
    map_model: Mapping[str, str] | None = None,
) -> Conversion:
    """Writes a transcript in the dialect `to`; returns a Conversion with `document`, `losses` and `findings`.

    `form`, `branch`, `view`, `chunk`, `set`, `default` and `map_model` are those of `convert`. Raises JobError for an
    unknown dialect or form.

    >>> from convcli import Message, Text, ToolCall, Transcript, lower
    >>> call = ToolCall("call_1", "get_weather", {"city": "Tokyo"})
    >>> asked = Transcript([Message("user", [Text("Weather?")]), Message("assistant", [call])])
    >>> lower(asked, "anthropic").document["messages"][1]["content"]
    [{'type': 'tool_use', 'id': 'call_1', 'name': 'get_weather', 'input': {'city': 'Tokyo'}}]
    """
    from convcli.engine import arguments, conversion, set_keys

    target = _dialect(to)
    chosen = arguments.options(target, form, branch, chunk, view, set, default, map_model)
    return set_keys.with_set_keys(conversion.lower(transcript, target, chosen), chosen, target, None)


def convert(
    document: Document,
    to: DialectName | str,
    *,
    source: DialectName | str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
    program_turns: Literal["keep", "drop"] | None = None,
    tools: Literal["recorded", "program", "none"] | None = None,
    tools_of: str | None = None,
    default: Mapping[str, Any] | None = None,
    map_model: Mapping[str, str] | None = None,
    lenient: bool = False,
) -> Conversion:
    """Converts a document to the dialect `to`; the result has `document`, `transcript`, `losses` and `findings`.

    - `form`: a form of the target (`request`, `response`, …), as `convcli dialects NAME` lists them
    - `branch`: for sessions with branches, the `active` one, or `all` that the target can store
    - `view`: the whole `history`, or only the `context` that a compaction leaves
    - `chunk`: the number of characters in a piece of a stream
    - `set`: keys of the output with their values; a dot leads into an object. They are reported as `invented` or
      `changed`.
    - `program_turns`: `keep` or `drop` what an agent program wrote in the user's place (training rows: `drop`)
    - `tools`: of a training row from a session that does not define them: those `recorded` in its calls (the default),
      those in a table of the `program`, or `none`
    - `tools_of`: the agent program whose names the tools of a session get, where every argument fits
    - `default`: keys that are set only where the output has no value
    - `map_model`: patterns of model names with the names to write instead
    - `lenient`: values of a wrong type outside of the conversation are set aside, and reported

    Raises ContentError if no dialect or more than one matches, RefusedError if the document does not match its schema,
    JobError for an unknown dialect, form or key, and for an object in the document that is no JSON value.

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
    chosen = arguments.options(target, form, branch, chunk, view, set, default, map_model, lenient=lenient)
    chosen = arguments.with_row_choices(chosen, program_turns, tools, tools_of)
    parsed = arguments.parsed(document)
    value, own, columns = arguments.read(parsed, source)
    conversion = pipeline.convert(value, own, target, chosen)
    if target is own:
        conversion.document = texts.rewritten(conversion.document, value, parsed, columns)
    return conversion


def validate(
    document: Document,
    *,
    source: DialectName | str | None = None,
    as_: DialectName | str | None = None,
    strict: bool = False,
    dialect: DialectName | str | None = None,
) -> list[Finding]:
    """Returns what is wrong with a document by the schema and rules of its dialect.

    `as_` also checks it as a request to this service. With `strict`, unknown keys are warnings. `dialect` is the former
    name of `source`. Raises ContentError if no dialect or more than one matches, JobError for an unknown dialect.

    >>> import convcli
    >>> [finding] = convcli.validate({"messages": [{"role": "usr", "content": "Hi."}]}, source="openai-chat")
    >>> (finding.code, finding.where, finding.help)
    ('unknown-value', '/messages/0/role', 'did you mean "user"?')
    """
    from convcli.engine import arguments
    from convcli.jobs.documents import Document
    from convcli.jobs.judging import JudgingOptions, judged

    parsed, target = arguments.parsed(document), None if as_ is None else _dialect(as_)
    value, own, columns = arguments.read(parsed, source or dialect, otherwise=target)
    return judged(Document("", 0, value, b"", own, texts=columns, unparsed=parsed), JudgingOptions(strict, target))


def detect(document: Document) -> Detection:
    """Returns the dialect of a document, and why. Raises ContentError if no dialect matches, or more than one.

    >>> import convcli
    >>> found = convcli.detect({"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]})
    >>> (found.dialect, found.evidence.reason)
    ('gemini', 'contents with parts')
    """
    from convcli.engine import arguments

    return arguments.detect(arguments.parsed(document))


def difference(before: Transcript, after: Transcript) -> list[Loss]:
    """Returns what the second transcript does not have as the first has it. The list is empty only if both are equal.

    >>> from convcli import Message, Text, Transcript, difference
    >>> one, two = (Transcript([Message("user", [Text(text)])]) for text in ("Hi.", "Hello."))
    >>> [(loss.kind, loss.field, loss.before, loss.after) for loss in difference(one, two)]
    [('changed', 'text.text', 'Hi.', 'Hello.')]
    """
    from convcli.proof import difference as proof

    return proof.difference(before, after).records


# ---------------------------------------------------------------- the way back


def restore_record(
    original: Document, converted: Any, *, source: DialectName | str, to: DialectName | str
) -> dict[str, Any]:
    """Returns what `restore` needs besides the converted document, as a JSON value.

    `converted` is the result of converting `original`. Raises JobError for an unknown dialect.
    """
    from convcli.engine import arguments, restore

    return restore.record(arguments.parsed(original), converted, _dialect(source), _dialect(to))


def restore(converted: Any, record: dict[str, Any]) -> Any:
    """Returns the exact original of a converted document. Raises ContentError if the record belongs to another one.

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
    to: DialectName | str,
    *,
    source: DialectName | str | None = None,
    form: str | None = None,
    branch: Literal["active", "all"] = "all",
    view: Literal["history", "context"] = "history",
    chunk: int = 0,
    set: Mapping[str, Any] | None = None,
    default: Mapping[str, Any] | None = None,
    map_model: Mapping[str, str] | None = None,
    lenient: bool = False,
) -> Iterator[LineOutcome]:
    """Converts lines of JSON: yields an outcome for each, with `data` (bytes), `losses` and `findings`.

    An unacceptable line has errors among its findings, and `data` is None; the next line follows. Raises JobError for
    an unknown dialect or form. With `source`, the dialect of each line need not be detected.

    >>> import convcli
    >>> lines = [b'{"messages": [{"role": "user", "content": "Hi."}]}', b'{"messages": ']
    >>> for outcome in convcli.convert_lines(lines, to="gemini", source="openai-chat"):
    ...     print(outcome.line, outcome.data, [finding.code for finding in outcome.findings])
    1 b'{"contents":[{"role":"user","parts":[{"text":"Hi."}]}]}' []
    2 None ['not-json']
    """
    from convcli.engine import arguments
    from convcli.jobs import lines as by_line

    target, own = _dialect(to), None if source is None else _dialect(source)
    chosen = arguments.options(target, form, branch, chunk, view, set, default, map_model, lenient=lenient)
    return by_line.convert(lines, own, target, chosen)


def validate_lines(
    lines: Iterable[bytes],
    *,
    source: DialectName | str | None = None,
    as_: DialectName | str | None = None,
    strict: bool = False,
) -> Iterator[LineOutcome]:
    """Validates lines of JSON: yields an outcome for each, with the findings of `validate`.

    A good line has none. Raises JobError for an unknown dialect.

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
