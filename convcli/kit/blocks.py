"""Messages made of tagged blocks, as vendors, frameworks and logs store them: one table row per kind of block.

A row defines which part a block is, and the keys of the part's fields. Keys without a field are extras.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.kit.calls import CallTable
from convcli.kit.codec.code import Lazy
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope, Fields
from convcli.kit.objects import Native, as_text, get_extras
from convcli.kit.settings import Setting
from convcli.kit.supported import OPAQUE
from convcli.kit.values import split_data_url
from convcli.model.transcript import MEDIA_SOURCES, Media, MediaKind, Opaque, Part, Path, Text, ToolCall
from convcli.wire import exact_json

Read = Callable[[Native, LiftContext], Part | None]
Write = Callable[[Any], Native | None]


class Block(msgspec.Struct, frozen=True):
    """A kind of block: its tag, the type of its parts, both directions, and the part's fields with their paths; a field
    with an empty path has none of its own.

    `read` returns None for a block that is not such a part, `write` for a part that is written as another kind, or not
    at all.
    """

    tag: str
    part: str
    read: Read
    write: Write
    fields: Mapping[str, Path] = {}

    def adapted(self, lifted: Callable[[Any], Part | None], written: Callable[[Any], Part | None]) -> Block:
        """Returns the same block for other parts: `lifted` returns the part for one with the fields of the block,
        `written` the inverse; both None for what is no such part."""

        def read(native: Native, context: LiftContext) -> Part | None:
            part = self.read(native, context)
            return None if part is None else lifted(part)

        def write(part: Part) -> Native | None:
            fitted = written(part)
            return None if fitted is None else self.write(fitted)

        return replace(self, read=read, write=write)


class BlockTable:
    """The blocks of one dialect. A block that no row reads is opaque; a part is written by the first row that can.

    `readers` by tag and `writers` by the type of a part return None for what is no such block.
    """

    __slots__ = ("_blocks", "_key", "owner", "readers", "writers")

    def __init__(self, owner: str, key: str, *blocks: Block) -> None:
        self.owner, self._key, self._blocks = owner, key, blocks
        self.readers: dict[str, Read] = {block.tag: partial(self._first_read, block.tag) for block in blocks}
        self.writers: dict[str, Write] = {block.part: partial(self._first_write, block.part) for block in blocks}
        self.writers[Opaque.type] = self._write_opaque

    def _first_read(self, tag: str, native: Native, context: LiftContext) -> Part | None:
        self.readers[tag] = read = _first_of([block.read for block in self._blocks if block.tag == tag])
        part: Part | None = read(native, context)
        return part

    def _first_write(self, kind: str, part: Part) -> Native | None:
        self.writers[kind] = write = _first_of([block.write for block in self._blocks if block.part == kind])
        native: Native | None = write(part)
        return native

    def places(self) -> dict[str, Path]:
        """Returns the paths of the fields of parts, by their names in losses; those of the first row that has one.

        A field whose key has its name needs none: it is looked for, as the part may also be a string.
        """
        each = {name: path for block in reversed(self._blocks) for name, path in block.fields.items()}
        return {name: path for name, path in each.items() if path and path != (name.rpartition(".")[2],)}

    def supports(self) -> frozenset[str]:
        """Returns the names of the fields of parts, and of its own opaque blocks."""
        return OPAQUE.union(*(block.fields for block in self._blocks))

    def lift(self, native: Native, context: LiftContext) -> Part:
        """Lifts a block to a part."""
        read = self.readers.get(native[self._key])
        part = None if read is None else read(native, context)
        return Opaque(self.owner, native) if part is None else part

    def lift_inside(self, native: Native, context: LiftContext) -> Part:
        """Lifts a block of a result: texts and media as parts, any other as JSON."""
        part = self.lift(native, context)
        return part if isinstance(part, (Text, Media)) else as_json_text(native, self.owner)

    def write_inside(self, part: Part) -> Native | None:
        """Writes a part of a result as a block."""
        return of_json_text(part, self.owner) or self.write(part)

    def write(self, part: Part) -> Native | None:
        """Writes a part as a block; None if there is no block for it."""
        write = self.writers.get(part.type)
        return None if write is None else write(part)

    def _write_opaque(self, part: Opaque) -> Native | None:
        value = part.value if part.dialect == self.owner else None
        return value if isinstance(value, dict) and isinstance(value.get(self._key), str) else None


def as_json_text(native: Native, owner: str, key: str = "block") -> Text:
    """Returns a block that a result cannot have as JSON text; the block is an extra of it, under `key`."""
    return Text(exact_json.write_text(native), extras={owner: {key: native}})


def of_json_text(part: Part, owner: str, key: str = "block") -> Native | None:
    """Returns the block that `as_json_text` wrote, if the text of the part is still its JSON; None for any other."""
    native: Native | None = get_extras(part.extras, owner).get(key)
    same = isinstance(part, Text) and native is not None and part.text == exact_json.write_text(native)
    return native if same else None


def _first_of(functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """Returns the function that returns the first result of these that is not None."""
    each = [one.function if isinstance(one, Lazy) else one for one in functions]
    if len(each) == 1:
        return each[0]
    return lambda *values: next((result for one in each if (result := one(*values)) is not None), None)


def in_metadata(name: str) -> Setting:
    """A string stored in metadata under this name."""
    return Setting("metadata", lambda text: {name: text}, lambda metadata: as_text(metadata.get(name)), member=name)


# ---------------------------------------------------------------- rows of the table


class BlockRows(msgspec.Struct, frozen=True):
    """Builds the rows of one dialect, whose blocks have their tag under `key`.

    For each kind of block, `order` is all keys including the tag, and `when` selects the parts that are written as it.
    `groups` are names in the extras of the parts, as those of `Keys`.
    """

    owner: str
    key: str
    groups: str = ""

    def table(self, *blocks: Block) -> BlockTable:
        """Returns all kinds of blocks."""
        return BlockTable(self.owner, self.key, *blocks)

    def record(
        self, tag: str, blank: Part, order: str, fields: Fields, when: Callable[[Any], bool] | None = None
    ) -> Block:
        """Returns a block whose keys are fields of its part; `blank` is the part of an empty one."""
        envelope = Envelope(order, fields, content=self.key, groups=self.groups)

        def build_write() -> Callable[..., Any]:
            write = envelope.writer(self.owner, {self.key: tag})
            return write if when is None else lambda part: write(part) if when(part) else None

        read = Lazy(lambda: envelope.reader(blank, self.owner))
        return Block(tag, blank.type, read, Lazy(build_write), envelope.places(blank.type))

    def media(
        self, tag: str, kind: MediaKind, order: str, fields: Fields, when: Callable[[Media], bool] | None = None
    ) -> Block:
        """Returns a block with one of the media sources, each under its own key. A data URL is its data."""
        names = {field.name if isinstance(field, Setting) else field for field in fields.values()}
        sources = [name for name in MEDIA_SOURCES if name in names]

        def is_written(part: Media) -> bool:
            stated = [getattr(part, name) for name in sources]
            is_stated = any(stated) or (part.text is not None and "text" in sources)
            return part.type == kind and is_stated and (when is None or when(part))

        block = self.record(tag, Media(kind), order, fields, is_written)

        def read(native: Native, context: LiftContext) -> Part | None:
            part = block.read(native, context)
            assert isinstance(part, Media)
            if sum(getattr(part, name) is not None for name in sources) != 1:
                return None
            split = split_data_url(part.url) if part.url is not None else None
            if split is not None and part.media_type in (None, split[0]):
                part.url, (part.media_type, part.data) = None, split
            return part

        return replace(block, read=read)

    def member(self, tag: str, blank: Part, fields: Fields, texts: str = "") -> Block:
        """Returns a block whose body is an object under its tag; `texts` are keys of the body that must be strings."""
        inner, needed = Envelope(" ".join(fields), fields), texts.split()
        envelope = Envelope(f"{self.key} {tag}", content=self.key, nested={tag: inner}, groups=self.groups)
        read_fields = Lazy(lambda: envelope.reader(blank, self.owner))

        def read(native: Native, context: LiftContext) -> Part | None:
            body = native.get(tag)
            is_body = isinstance(body, dict) and all(isinstance(body.get(key), str) for key in needed)
            return read_fields(native, context) if is_body else None

        write = Lazy(lambda: envelope.writer(self.owner, {self.key: tag}))
        return Block(tag, blank.type, read, write, envelope.places(blank.type))

    def call(self, tag: str, table: str, when: Callable[[ToolCall], bool] | None = None) -> Block:
        """Returns the block of a call; `table` is its keys, as in a CallTable."""
        calls = CallTable(table, constants={self.key: tag}, groups=self.groups)

        def write(part: ToolCall) -> Native | None:
            return calls.write(part, self.owner) if when is None or when(part) else None

        return Block(tag, ToolCall.type, calls.reader, write, calls.places)
