"""The definition of a dialect: a frozen record of functions and tables. `dialects/` has one file for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.model.errors import JobError
from convcli.model.fields import TEXTS
from convcli.model.inventory import Inventory, apply_all
from convcli.model.rule import Rule
from convcli.model.transcript import Message, Part, Path, Text, ToolResult, Transcript

Framing = Literal["document", "records", "events", "sse"]
LossKind = Literal["dropped", "changed", "encoded", "invented", "moved"]


class Evidence(msgspec.Struct, frozen=True, order=True):
    """Evidence that a document is in a dialect. The unique strongest evidence wins.

    90 and more: a mark that only this dialect has · 60: several marks together · 30: a shape that other dialects share.
    """

    strength: int
    reason: str


SetKeys: TypeAlias = tuple[tuple[str, Any], ...]
"""Keys that the user adds to every output, with their values; a dot leads into an object."""
ModelNames: TypeAlias = tuple[tuple[str, str], ...]
"""Patterns of model names with the name to write instead; the first that matches counts."""


class Options(msgspec.Struct, frozen=True):
    """What a user may choose about the output.

    `form`: one of `Dialect.forms` · `chunk`: characters per fragment · `branch`: only the active branch of a tree, or
    all that the target supports · `view`: the whole history of a session with a compaction, or only the context that a
    model would be sent next · `set_keys`: keys to set in every output · `default_keys`: keys to set where they are
    missing or null · `models`: other names for models · `program_turns`: turns that an agent program wrote in the
    user's place, which training rows lack by default · `tools`: the definitions in a training row from a session
    without any: those that the calls show (the default), those of the agent program, or none · `tools_of`: the
    agent program whose names the tools of another get, or none · `lenient`: values of a wrong type outside of the
    conversation are set aside.
    """

    form: str | None = None
    chunk: int = 0
    branch: Literal["active", "all"] = "all"
    view: Literal["history", "context"] = "history"
    set_keys: SetKeys = ()
    program_turns: Literal["keep", "drop"] | None = None
    tools: Literal["recorded", "program", "none"] | None = None
    tools_of: str | None = None
    default_keys: SetKeys = ()
    models: ModelNames = ()
    lenient: bool = False


USUAL = Options()


class Convention(msgspec.Struct, frozen=True):
    """How a dialect writes a tool result for which its vendor has no field.

    `express` is used by `fit`. It returns the kind and the value with which `lift` reads the result back, or None if
    the vendor has a field. `loss` is what the report says.
    """

    express: Callable[[ToolResult], tuple[str, Any] | None]
    loss: Mapping[str, tuple[LossKind, str]]
    """By result kind: the kind of loss and the reason."""


class ProgramTurns(msgspec.Struct, frozen=True):
    """How to recognize a turn that an agent program wrote in the user's place.

    `begins` maps what its text begins with to the kind of the turn. `flags` are values that mark such a message, by
    their path in its extras under the owner, with the kind of the turn. `part_flag` is a key in the extras of a text
    that must be true too, if the program marks its texts.
    """

    begins: Mapping[str, str]
    owner: str = ""
    flags: Mapping[Path, Mapping[str | bool, str]] = {}
    part_flag: str = ""

    def kind(self, part: Text) -> str:
        """Returns the kind of a text that the program wrote; empty for any other text."""
        if self.part_flag and (part.extras or {}).get(self.owner, {}).get(self.part_flag) is not True:
            return ""
        text = part.text.lstrip()
        return next((kind for begin, kind in self.begins.items() if text.startswith(begin)), "")

    def kind_of_message(self, message: Message) -> str:
        """Returns the kind of a message that the program marked as its own; empty for any other message."""
        for path, kinds in self.flags.items():
            value: Any = (message.extras or {}).get(self.owner)
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, (str, bool)) and value in kinds:
                return kinds[value]
        return ""


def tags(*names: str) -> dict[str, str]:
    """Returns the table of texts that begin with these tags."""
    return {f"<{name}>": name for name in names}


class SessionFacts(msgspec.Struct, frozen=True):
    """The facts that the file name of a session, and the record that lists it, are made from. `begin` is an RFC 3339
    time in UTC."""

    id: str
    cwd: str
    begin: str
    title: str | None = None
    model: str | None = None
    provider: str | None = None


ReadCompanion: TypeAlias = Callable[[str], Any]
"""Reads a small file of an agent program: the value of a JSON file, the text of any other, None if there is none."""


class Program(msgspec.Struct, frozen=True):
    """An agent program: where it keeps its sessions, and how it resumes one.

    `root` is its folder in the home directory, unless the environment variable `variable` names another; `pattern` are
    globs for its sessions in that folder, separated by spaces. `place` returns the file of a session there, and
    `command` resumes it ({id}, {path}). Without both, sessions are listed but not written.

    `form` is the form of its sessions. `files` returns the documents of the files that a session at a path needs, by
    their paths from its folder, that of the session first; by default this is the only one. `unsent` are message roles
    and part types that a session stores but that the program does not send when it resumes. `resent` returns what the
    program sends instead of a part. `fit` converts a transcript to one that can be resumed. `directory` returns the
    directory in which a session ran from the files next to it, for a session that does not name it.
    """

    name: str
    root: str
    pattern: str
    variable: str = ""
    place: Callable[[SessionFacts], str] | None = None
    command: str = ""
    form: str | None = None
    files: Callable[[Any, SessionFacts, str], dict[str, Any]] | None = None
    unsent: tuple[str, ...] = ()
    resent: Callable[[Part], str | None] | None = None
    fit: Callable[[Transcript], Transcript] | None = None
    directory: Callable[[str, ReadCompanion], Any] | None = None


Pass: TypeAlias = Callable[[Transcript], Transcript]
"""One pass of `fit`: adapts a transcript to a target. It does not change its input, and shares what it leaves
unchanged."""


CUSTOM = frozenset(("tool.custom", "tool_call.custom"))
"""Tools whose input is a free text."""


BeginsAnswer: TypeAlias = Callable[[Any], bool]
"""Asked about the events of a file, one after the other: True if the event begins another answer than those before."""


class BodyForm(msgspec.Struct, frozen=True):
    """A document of another dialect nested in a document of this one: its dialect, the form to write, and its path."""

    dialect: str
    form: str
    path: Path


FieldNames: TypeAlias = frozenset[str] | Mapping[str, frozenset[str]]
"""Names of fields as in losses (`message.name`); by form where forms differ."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One format of a vendor. All functions are pure: they do not change their input, print, or use random numbers. A
    dialect is equal only to itself, so results for it can be cached.

    `lift` keeps every fact of a document. `fit` adapts any transcript to what the vendor accepts. `write` is the
    inverse of `lift`: it writes everything that the format has a field for, and decides nothing.
    """

    name: str
    title: str
    specification: str
    """Where the format is specified, in which version, and when that was read."""
    aliases: tuple[str, ...] = ()
    """Other names for it, in lowercase with hyphens, accepted wherever a user names a dialect."""
    framings: tuple[Framing, ...]
    """How documents are stored in a file. The first is used for new files: fine-tuning rows are JSON Lines even if
    there is only one."""
    names_events: bool = False
    """True if the events of its SSE streams are named by their `type` or `event_type`, in a separate line (`event:
    message_start`)."""
    forms: tuple[str, ...]
    """The kinds of document (`request`, `response`, `list`, …); the first is written by default."""
    detect: Callable[[Any], Evidence | None] | None = None
    """Decides where a mark of the schema only suggests the dialect (`engine/detection`): for what marks cannot state,
    such as JSON within a text. None: the marks decide."""
    lift: Callable[[Any], Transcript]
    write: Callable[[Transcript, Options], Any] | None = None
    """Writes a fitted transcript in the form that the options name. None: the dialect is read-only."""
    fit: tuple[Pass, ...] | Mapping[str, tuple[Pass, ...]] = ()
    """The passes that adapt a transcript to the vendor; by form where forms differ."""
    form_of: Callable[[Transcript], str] | None = None
    """Returns the form of a transcript for which the user named none; None: the first."""
    rules: tuple[Rule, ...] = ()
    """What the vendor's API rejects although the schema allows it."""
    without_clean_messages: Callable[[Any], Any] | None = None
    """Returns a document without its messages if schema and rules accept these messages with any other keys; else None,
    which proves nothing. The schema names the keys of a request in `$defs/request`."""
    conventions: tuple[Convention, ...] = ()
    supports: FieldNames = TEXTS
    """Fields of the intermediate format that its documents can store: a name stands for everything in it (`settings`,
    `message.usage`). `kit/supported` has sets for it, and tables of keys name theirs (`Envelope.supports`). Values of
    other fields are lost even from a fitted transcript, and no others are. By form where forms differ. A read-only
    dialect states none."""
    reasons: Mapping[str, str] = {}
    """Why a field is lost or changed, where the usual reason is not good enough."""
    event_reason: str = ""
    """Why rows that hold content are events, if convcli knows such rows."""
    form_reasons: Mapping[str, Mapping[str, str]] = {}
    """The same for a form that differs, in place of `reasons`, as one whose body is a document of another dialect."""
    places: Mapping[str, Path] = {}
    """The paths of fields in this dialect, relative to their node, unless it is the node itself; `..` goes up."""
    content: frozenset[str] = frozenset()
    """Keys of extras that a model read or a person wrote, with dots between those of nested objects."""
    envelope: frozenset[str] = frozenset()
    """Keys of extras that are transport and bookkeeping."""
    metadata: frozenset[str] = frozenset()
    """Keys of extras, and types of rows, that are metadata although they may hold text. The type of a row is followed
    by those of the objects that it wraps, with `/` between them (`event_msg/token_count`); a type stands for all that
    begin with it. Other keys and rows that the schema does not name are content where they hold text."""
    other_events: str = ""
    """Of a stream: the key of extras that lists its events of unknown types, as they are."""
    repeats: frozenset[str] = frozenset()
    """Paths whose values only repeat other values of the document, as pointers with `*` for any step. They are not
    facts."""
    family: str = ""
    """The name for extras and opaque parts that related dialects share; empty if all are under its own name."""
    programs: tuple[Program, ...] = ()
    """The agent programs that keep their sessions in it."""
    carries_all: bool = False
    """True if its documents store the extras of other dialects too. Others store only their own."""
    companion: str = ""
    """The ending of the file name, in place of its own, of a second file with more data about the rows."""
    program_turns: ProgramTurns | None = None
    """How to recognize the turns of its sessions that the agent program wrote in the user's place."""
    is_training: bool = False
    """True if its documents are rows to train on, and nothing else."""
    form_columns: tuple[str, ...] = ()
    """The columns that make the form of a row for a trainer: all rows of a data set need the same ones."""
    label_form: str = ""
    """The form in which a trainer reads rows with a label, if it is not any."""
    label_columns: frozenset[str] = frozenset()
    """The columns of that form."""
    columns: Literal["none", "allowed", "usual"] = "none"
    """Whether its rows may have the columns of their origin (`row_columns`), and whether convcli writes them by
    default."""
    unique: str = ""
    """The key whose value must differ between the documents of one file."""
    on_demand: frozenset[str] = frozenset()
    """Forms that are written only on request: a transcript that looks like one of them is otherwise written in the
    first form."""
    many: str = ""
    """The path of the transcripts in a document with several: names separated by `/`, and `*` at the end for the items
    of a list (`samples/*`). Marks are for the whole document, everything else gets one item. A document without this
    path is one transcript."""
    around: frozenset[str] = frozenset()
    """Keys around these transcripts that are metadata although they may hold text. Any other key is content where it
    holds text."""
    is_collected: bool = True
    """True if several transcripts are written into such a document. False if it needs more than the transcripts."""
    bodies: Mapping[str, BodyForm] = {}
    """The documents of other dialects that its documents contain, by its own forms. `lift` and `write` then only handle
    what is around them; `fit` and `supports` add to those of the other dialect (`families/bodies`)."""
    inner: Mapping[str, Dialect] = {}
    """The dialects of its bodies, by name: set when a dialect is assembled."""
    answer_boundaries: Callable[[], BeginsAnswer] | None = None
    """Of a stream: returns, for one file, the function that finds the events which begin another answer.

    Each answer is a document of its own. None: all events of a file are one document."""
    keeps_form: bool = False
    """True if its documents record how the source document was spelled."""

    @property
    def is_written(self) -> bool:
        """True if transcripts can be written in it; False if it is read-only."""
        return self.write is not None

    @property
    def is_session(self) -> bool:
        """True if its documents are the sessions of an agent program, one row per event."""
        return "events" in self.framings and "sse" not in self.framings

    @property
    def is_stream(self) -> bool:
        """True if its documents are events that add up to answers."""
        return self.answer_boundaries is not None or "sse" in self.framings

    @property
    def is_training_data(self) -> bool:
        """True if a trainer gets its files as they are: a document is always judged as what is sent."""
        return self.framings[0] == "records" and not self.bodies

    @property
    def collected(self) -> str:
        """The path of transcripts in a document that is written from several; empty if each has its own document."""
        return self.many if self.is_collected else ""

    def supports_in(self, form: str = "") -> frozenset[str]:
        """Returns the fields that it supports in this form; without a form, those that it supports in every form."""
        if isinstance(self.supports, frozenset):
            return self.supports
        return self.supports[form] if form else frozenset.intersection(*self.supports.values())

    def reasons_in(self, form: str = "") -> Mapping[str, str]:
        """Returns why a field is lost or changed in this form; without a form, in any."""
        return self.form_reasons.get(form, self.reasons)

    @property
    def names_conversations(self) -> bool:
        """True if its documents are sessions, exports or logs, which state which conversation they are. A request has
        no id, and that of an answer or of an item of a batch names a call."""
        has_id = (not self.is_written or "id" in self.supports_in()) and not self.bodies and self.framings[0] != "sse"
        return has_id or self.is_session or bool(self.programs or self.many)

    @property
    def owners(self) -> frozenset[str]:
        """The names under which its extras are kept: its own, that of its family, and those of its bodies."""
        own = frozenset((self.name, self.family or self.name))
        return own.union(*(body.owners for body in self.inner.values()))

    def owns(self, name: str) -> bool:
        """True if extras under this name are its own, or those of a body."""
        return name in (self.name, self.family or self.name) or any(one.owns(name) for one in self.inner.values())

    def form(self, transcript: Transcript, options: Options = USUAL) -> str:
        """Returns the form in which a transcript is written."""
        return options.form or (self.form_of(transcript) if self.form_of is not None else self.forms[0])

    def fitted(self, transcript: Transcript, form: str, inventory: Inventory | None = None) -> Transcript:
        """Returns the transcript adapted to the vendor in this form."""
        return apply_all(self.fit if isinstance(self.fit, tuple) else self.fit[form], transcript, inventory)

    def lower(self, transcript: Transcript, options: Options = USUAL, inventory: Inventory | None = None) -> Any:
        """Returns the document of a transcript from any dialect: fits it, then writes it. An inventory of its messages
        becomes that of the last ones that a pass asked about."""
        if self.write is None:
            raise JobError("read-only-dialect", f"{self.title} is read-only")
        form = self.form(transcript, options)
        return self.write(self.fitted(transcript, form, inventory), replace(options, form=form))
