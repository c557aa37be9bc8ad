"""What one dialect is: a frozen record of functions and tables. `dialects/` holds one file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.model.errors import JobError
from convcli.model.rule import Rule
from convcli.model.transcript import Part, Path, ToolResult, Transcript

Framing = Literal["document", "records", "events", "sse"]
LossKind = Literal["dropped", "changed", "encoded", "invented", "moved"]


class Clue(msgspec.Struct, frozen=True, order=True):
    """Why a document looks like a dialect. The unique strongest clue wins.

    90 and more: a mark that only this dialect has · 60: several marks together · 30: a shape that others share.
    """

    strength: int
    reason: str


Added: TypeAlias = tuple[tuple[str, Any], ...]
"""Keys that the user adds to every output, with their values; a dot leads into an object."""


class Options(msgspec.Struct, frozen=True):
    """What a user may choose about the output. `form`: one of `Dialect.forms`; `chunk`: characters in a fragment;
    `branch`: of a tree only the active branch, or all that the target can carry; `view`: of a session with a
    compaction all of its history, or only the context, what a model would be sent next; `added`: keys for every one."""

    form: str | None = None
    chunk: int = 0
    branch: Literal["active", "all"] = "all"
    view: Literal["history", "context"] = "history"
    added: Added = ()


USUAL = Options()


class Convention(msgspec.Struct, frozen=True):
    """How a dialect writes a tool result for which its vendor has no field.

    `express` is the function with which it is fitted: it gives the kind and value with which `lift` reads the
    result back, or None where the vendor has a field. `loss` says what the reader of the report is told.
    """

    express: Callable[[ToolResult], tuple[str, Any] | None]
    loss: Mapping[str, tuple[LossKind, str]]
    """By kind of the result: the kind of loss and the reason."""


class SessionFacts(msgspec.Struct, frozen=True):
    """What the name of a session's file, and the record that lists it, are made of. `begin` is a time as RFC 3339 has
    it, in UTC."""

    id: str
    cwd: str
    begin: str
    title: str | None = None
    model: str | None = None
    provider: str | None = None


ReadBeside: TypeAlias = Callable[[str], Any]
"""What a small file of a program holds: the value of a JSON file, the text of another, None where there is none."""


class Program(msgspec.Struct, frozen=True):
    """Where a program keeps its sessions, and how one is resumed.

    `root` is the folder of the program below the home directory, unless the environment variable says where it is;
    `pattern` are globs for its sessions below that, with a space between them. `place` names the file of a session
    there, and `command` resumes it ({id}, {path}). Without both, sessions are listed and not written. `form` is that of
    its sessions; `manifest` gives the name of a second file beside a session at a path, without which the program does
    not find it, and its document. `unsent` are roles of messages and types of parts that a session holds and that the
    program does not send when it goes on; `resent` says of a part what the program sends instead of it. `fit` makes of
    a transcript one of a session that can be resumed.
    """

    name: str
    root: str
    pattern: str
    variable: str = ""
    place: Callable[[SessionFacts], str] | None = None
    command: str = ""
    form: str | None = None
    manifest: Callable[[SessionFacts, str], tuple[str, Any]] | None = None
    unsent: tuple[str, ...] = ()
    resent: Callable[[Part], str | None] | None = None
    fit: Callable[[Transcript], Transcript] | None = None
    directory: Callable[[str, ReadBeside], Any] | None = None


Pass: TypeAlias = Callable[[Transcript], Transcript]
"""One piece of policy: a transcript as a target takes it. It does not change its input, and shares what it leaves."""


CUSTOM = frozenset(("tool.custom", "tool_call.custom"))
"""Tools that take a free text."""
RARE = CUSTOM | frozenset(
    f"message.{field}" for field in ("weight", "label", "replaces", "parentCallId", "cost", "provider")
)
"""Fields which hardly any format has: a dialect says which it `has`."""


BeginsAnswer: TypeAlias = Callable[[Any], bool]
"""Asked about the events of a file, one after the other: True if the event begins another answer than those before."""


class BodyForm(msgspec.Struct, frozen=True):
    """A document of another dialect within one of a dialect: its name, the form that is written, and where it is."""

    dialect: str
    form: str
    path: Path


class Dialect(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One vendor's shape. All functions are pure: they do not change their input, print, or draw random numbers.
    A dialect is equal to itself alone, so that what was found of it can be remembered.

    `lift` keeps every fact of a document, `fit` makes of any transcript one that the vendor takes, and `write` is the
    inverse of `lift`: it writes all that its format has a place for, and decides nothing.
    """

    name: str
    title: str
    specification: str
    """Where the format is specified, in which version, and when that was read."""
    aliases: tuple[str, ...] = ()
    """Other words for it, in small letters with hyphens, which stand for the name wherever a user gives one."""
    framings: tuple[Framing, ...]
    """How documents stand in a file. What comes first counts where a file is made: rows of a data set are lines of
    JSON, also where there is only one."""
    names_events: bool = False
    """Are the events of its SSE streams named by their `type`, in lines of their own (`event: message_start`)?"""
    forms: tuple[str, ...]
    """What a document may be (`request`, `response`, `list`, …); the first is written by default."""
    detect: Callable[[Any], Clue | None]
    lift: Callable[[Any], Transcript]
    write: Callable[[Transcript, Options], Any] | None = None
    """A fitted transcript in the form that the options name. None: the dialect is only read."""
    fit: tuple[Pass, ...] | Mapping[str, tuple[Pass, ...]] = ()
    """What the vendor takes, as a list of passes; by form where forms differ."""
    form_of: Callable[[Transcript], str] | None = None
    """The form of a transcript for which nobody asked for one; None: the first."""
    rules: tuple[Rule, ...] = ()
    """What the vendor's API rejects though the schema allows it."""
    plain: Callable[[Any], Any] | None = None
    """What is left of a document without its messages, where schema and rules find nothing wrong with these whatever
    stands beside them; else None, which says nothing. Its schema names the keys of a request in `$defs/request`."""
    conventions: tuple[Convention, ...] = ()
    lacks: frozenset[str] | Mapping[str, frozenset[str]] = frozenset()
    """Fields of the intermediate format that its documents have no place for (`message.name`, `video`, `settings`, …):
    what stands in them is lost even of a fitted transcript, and nothing else is. By form where forms differ."""
    has: frozenset[str] = frozenset()
    """Those of the rare fields (`RARE`) that its documents have a place for."""
    reasons: Mapping[str, str] = {}
    """Why a field is lost or changed, where the usual words for it do not do."""
    places: Mapping[str, Path] = {}
    """Where a field stands in this dialect, relative to its node, when it is not the node itself; `..` goes up."""
    envelope: frozenset[str] = frozenset()
    """Keys of extras that are transport and bookkeeping."""
    repeats: frozenset[str] = frozenset()
    """Places whose values only repeat others of the document, as pointers with `*` for any step: no facts."""
    family: str = ""
    """The name under which it carries extras and opaque parts, where relatives share one; else its own."""
    programs: tuple[Program, ...] = ()
    """The programs that keep their sessions in it."""
    carries_all: bool = False
    """Its documents hold the extras of other dialects too; those of others hold only their own."""
    beside: str = ""
    """How the name of the file ends that says more of the rows of one, in place of the end of its name."""
    unique: str = ""
    """The key of which no two documents of one file have the same value."""
    on_demand: frozenset[str] = frozenset()
    """Forms that are written only when they are asked for: what looks like one of them is else of the first form."""
    many: str = ""
    """Where the transcripts stand in a document that holds several: names with `/` between them, and `*` for the
    members of a list at the end (`samples/*`). `detect` is asked about such a document, and all else about one of its
    members; a document without them is one transcript."""
    is_collected: bool = True
    """Are several transcripts written into such a document? Not where it must say more than all of them."""
    bodies: Mapping[str, BodyForm] = {}
    """By its own forms, the documents of other dialects that its documents hold. `lift` and `write` are then those of
    what stands around them, `fit` and `lacks` come behind those of the other dialect (`families/bodies`)."""
    inner: Mapping[str, Dialect] = {}
    """The dialects of its bodies, by name: set where a dialect is put together."""
    answer_boundaries: Callable[[], BeginsAnswer] | None = None
    """Of a stream: returns, for one file, the function that finds the events which begin another answer. Each answer is
    a document of its own. None: all events of a file are one document."""
    keeps_form: bool = False
    """Its documents say how the document that they came from was spelled."""

    @property
    def is_written(self) -> bool:
        """Can transcripts be written in it, or is it only read?"""
        return self.write is not None

    @property
    def is_session(self) -> bool:
        """Are its documents the sessions of a program, a row for each thing that happened?"""
        return "events" in self.framings and "sse" not in self.framings

    @property
    def collected(self) -> str:
        """Where transcripts stand in a document that is written of several; empty where each stands alone."""
        return self.many if self.is_collected else ""

    def lacking(self, form: str = "") -> frozenset[str]:
        """The fields that it lacks in this form; without one, those that it lacks in some form."""
        if isinstance(self.lacks, frozenset):
            lacks = self.lacks
        else:
            lacks = self.lacks[form] if form else frozenset().union(*self.lacks.values())
        return lacks | (RARE - self.has)

    def owns(self, name: str) -> bool:
        """Are extras under this name its own, or those of a body?"""
        return name == (self.family or self.name) or any(one.owns(name) for one in self.inner.values())

    def form(self, transcript: Transcript, options: Options = USUAL) -> str:
        """The form in which a transcript is written."""
        return options.form or (self.form_of(transcript) if self.form_of is not None else self.forms[0])

    def fitted(self, transcript: Transcript, form: str) -> Transcript:
        """The transcript as the vendor takes it in this form."""
        for fits in self.fit if isinstance(self.fit, tuple) else self.fit[form]:
            transcript = fits(transcript)
        return transcript

    def lower(self, transcript: Transcript, options: Options = USUAL) -> Any:
        """The document of any transcript, whoever lifted it: what is fitted is written."""
        if self.write is None:
            raise JobError("read-only-dialect", f"{self.title} is only read, never written")
        form = self.form(transcript, options)
        return self.write(self.fitted(transcript, form), replace(options, form=form))
