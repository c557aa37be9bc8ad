"""The card of a data set: README.md as the Hugging Face hub reads it.

The header is YAML with the keys of https://github.com/huggingface/hub-docs/blob/main/datasetcard.md; strings in it are
JSON strings, which YAML reads too. A comment after it has the hash of the rest, by which convcli recognizes a card that
it wrote and nobody edited.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from convcli.jobs.summaries import LossCount, Summary
from convcli.model.dialect import Dialect
from convcli.model.version import __version__
from convcli.report.tables import View, md
from convcli.report.text import json_text, safe_text
from convcli.validation.wording import counted
from convcli.views.data_sets import DataSetFacts

_MARK, _END = "<!-- written by convcli, sha256 ", " -->\n"
MOST_FIELDS = 50
"""Fields with losses that the card lists."""
_SIZES = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")


class DataFile(msgspec.Struct, frozen=True):
    """A file of a data set: its split, its path below the card, its rows and its size in bytes."""

    split: str
    path: str
    rows: int
    bytes: int


class Card(msgspec.Struct, frozen=True):
    """The content of a card.

    `licences`: the inputs below each licence, "" for none · `left_out`: what is missing, and why, in sentences ·
    `command`: the command line.
    """

    name: str
    target: Dialect
    files: Sequence[DataFile]
    facts: DataSetFacts
    summary: Summary
    licences: Mapping[str, Collection[str]]
    left_out: Sequence[str]
    command: str

    def written(self) -> bytes:
        """Returns the file."""
        header, body = "".join(self._header()), "\n".join(self._body())
        digest = _digest(header, body)
        return f"---\n{header}---\n{_MARK}{digest}{_END}\n{body}".encode()

    @property
    def _rows(self) -> int:
        return sum(file.rows for file in self.files)

    def _header(self) -> Iterator[str]:
        yield "configs:\n- config_name: default\n  data_files:\n"
        for file in self.files:
            yield f"  - split: {json_text(file.split)}\n    path: {json_text(file.path)}\n"
        known = sorted(name for name in self.licences if name)
        if known and "" not in self.licences:
            yield f"license: {json_text(known[0])}\n" if len(known) == 1 else _listed("license", known)
        yield _listed("size_categories", [size_category(self._rows)])
        yield _listed("task_categories", ["text-generation"])
        yield _listed("tags", ["convcli", self.target.name, *["tool-calls"] * bool(self.facts.calls)])

    def _body(self) -> Iterator[str]:
        yield f"# {safe_text(self.name)}\n"
        rows, target = counted(self._rows, "conversation"), self.target
        yield f"{rows} in the format `{target.name}` ({target.title}), written by convcli {__version__}.\n"
        if self.summary.rows != self.summary.transcripts:
            sessions = counted(self.summary.transcripts, "transcript")
            yield f"They come from {sessions}: the run of a subagent, and each part of a long conversation, is a row.\n"
        table = (
            {"split": each.split, "file": each.path, "rows": each.rows, "bytes": each.bytes} for each in self.files
        )
        yield _table(("split", "file", "rows", "bytes"), table)
        yield from self._sources()
        yield from self._losses()
        turns = self.summary.left_out_turns
        left_out = [*self.left_out, *[f"{_counts(turns)}: turns that the agent program wrote"] * bool(turns)]
        if left_out:
            yield "## What was left out\n"
            yield "".join(f"- {safe_text(sentence)}\n" for sentence in left_out)
        yield f"## How it was made\n\n```sh\n{safe_text(self.command)}\n```\n"

    def _sources(self) -> Iterator[str]:
        facts = self.facts
        yield "## Where it comes from\n"
        for name, counts in (("format", facts.dialects), ("agent program", facts.programs), ("model", facts.models)):
            if counts:
                columns = (name, "conversations")
                yield _table(columns, (dict(zip(columns, pair, strict=True)) for pair in counts.most_common()))
        if not facts.models:
            yield "No conversation names its model.\n"
        words = [counted(count, f"{role} message") for role, count in facts.messages.most_common()]
        words += [counted(facts.calls, "tool call")] * bool(facts.calls)
        yield f"Before the conversion: {', '.join(words)}.\n" if words else ""
        yield f"{_of_licences(self.licences)}\n"

    def _losses(self) -> Iterator[str]:
        groups = [group for group in self.summary.groups.values() if not group.is_chosen]
        content = sorted((group for group in groups if group.level == "content"), key=lambda group: -group.count)
        yield "## What the format could not store\n"
        if content:
            columns = ("loss of content", "field", "times")
            rows = (dict(zip(columns, _row(group), strict=True)) for group in content[:MOST_FIELDS])
            yield _table(columns, rows)
            if more := content[MOST_FIELDS:]:
                yield f"And {sum(group.count for group in more):,} losses of content in other fields.\n"
        else:
            yield "No content was lost.\n"
        for level, words in (("context", "what links and replays"), ("envelope", "transport and bookkeeping")):
            if total := sum(group.count for group in groups if group.level == level):
                yield f"{total:,} losses of {words} (level `{level}`).\n"
        if values := self.summary.set_values:
            yield f"Values that were set: {_counts(values)}.\n"


def is_unedited(raw: bytes) -> bool:
    """True if convcli wrote this card and nobody has edited it."""
    try:
        header, found, rest = raw.decode().partition(f"---\n{_MARK}")
    except UnicodeDecodeError:
        return False
    digest, end, body = rest.partition(f"{_END}\n")
    return bool(found and end) and digest == _digest(header.removeprefix("---\n"), body)


def size_category(rows: int) -> str:
    """Returns the category of the hub for a number of rows."""
    bounds = [10 ** (3 + index) for index in range(len(_SIZES))]
    index = sum(rows >= bound for bound in bounds)
    if not index:
        return f"n<{_SIZES[0]}"
    return f"{_SIZES[index - 1]}<n<{_SIZES[index]}" if index < len(_SIZES) else f"n>{_SIZES[-1]}"


def _digest(header: str, body: str) -> str:
    return sha256(f"{header}\0{body}".encode()).hexdigest()


def _listed(key: str, words: Iterable[str]) -> str:
    return f"{key}:\n" + "".join(f"- {json_text(word)}\n" for word in words)


def _table(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    return "".join(md.render(columns, rows, View()))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{safe_text(what)} ×{count:,}" for what, count in sorted(counts.items()))


def _row(group: LossCount) -> tuple[str, str, int]:
    return group.kind, group.label, group.count


def _of_licences(licences: Mapping[str, Collection[str]]) -> str:
    """Returns a sentence on the licences of the inputs."""
    known = {name: len(files) for name, files in licences.items() if name}
    if not known:
        return "Licence: the inputs have no card that names one."
    words = ", ".join(f"{safe_text(name)} ({counted(count, 'file')})" for name, count in sorted(known.items()))
    unknown = len(licences.get("", ()))
    rest = f"; {counted(unknown, 'file')} without a licence" if unknown else ""
    return f"Licence of the inputs, by their cards: {words}{rest}."
