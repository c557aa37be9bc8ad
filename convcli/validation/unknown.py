"""Findings on content that a dialect does not know: under a key of extras, or in a row of an unknown type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any

from msgspec.structs import replace

from convcli.model.dialect import Dialect
from convcli.model.findings import Finding
from convcli.model.transcript import Extras, Opaque, Path, Transcript
from convcli.proof.language import holds_content
from convcli.proof.levels import EXTRAS, OTHER_BLOCKS, TYPES, Knowledge, is_judged, may_be_content, row_type
from convcli.proof.places import Places
from convcli.proof.reasons import Loss, level_of
from convcli.validation import schemas
from convcli.validation.rules import kinds
from convcli.validation.wording import SAFE_WORD, shown_key
from convcli.wire.decimals import builtins
from convcli.wire.pointers import has, pointer, resolve, steps

CODE = "unknown-content"
OPAQUE = Opaque.type


def knowledge(dialect: Dialect, others: Callable[[str], Knowledge | None] = lambda _: None) -> Knowledge:
    """What the dialect knows; `others` gives the same of another one, by the owner of extras."""
    return Knowledge(dialect, partial(schemas.keys_in, dialect.name), schemas.vocabulary(dialect.name), others)


@cache
def known_of(dialect: Dialect) -> Knowledge:
    """What the dialect alone knows."""
    return knowledge(dialect)


def of_transcript(transcript: Transcript, dialect: Dialect) -> list[Finding]:
    """A warning for each key and each type of row that the dialect does not know and that holds content."""
    return _once(_Search(transcript, dialect).findings())


def of_losses(losses: Iterable[Loss], known: Knowledge, document: Any) -> list[Finding]:
    """The same of what an output of the document does not carry, which is known already."""
    unknown = [loss for loss in losses if loss.level == "content" and may_be_unknown(loss.field)]
    found = [_of_loss(loss, known, document) for loss in unknown]
    return _once(finding for finding in found if finding is not None) if found else []


def may_be_unknown(field: str) -> bool:
    """True if lost content of this field may be of a kind that the dialect does not know."""
    return field == OPAQUE or is_judged(field)


def of_kept(transcript: Transcript, source: Dialect, target: Dialect, lost: Iterable[Finding]) -> list[Finding]:
    """The same of what an output in a related dialect keeps under the same key."""
    if not _is_related(source, target):
        return []
    known = {finding.message for finding in lost}
    return [finding for finding in of_transcript(transcript, source) if finding.message not in known]


def keys_around(dialect: Dialect, container: Any) -> Iterator[Path]:
    """Yields the paths of the keys around the transcripts of a document with several."""
    path: Path = ()
    node = container
    for step in dialect.many.split("/")[:-1]:
        yield from ((*path, key) for key in (node if isinstance(node, dict) else ()) if key != step)
        path, node = (*path, step), node.get(step) if isinstance(node, dict) else None


def content_around(dialect: Dialect, container: Any) -> list[Path]:
    """Returns those that the dialect does not know and that hold content."""
    paths = keys_around(dialect, container)
    return [path for path in paths if path[-1] not in dialect.around and holds_content(resolve(container, path))]


def of_container(dialect: Dialect, container: Any) -> list[Finding]:
    """A warning for each of them."""
    return [_key_finding(dialect, str(path[-1]), path) for path in content_around(dialect, container)]


@cache
def _is_related(source: Dialect, target: Dialect) -> bool:
    """True if the target writes extras of the source as its own, not as the source's (as the intermediate format)."""
    if source is target or target.keeps_form:
        return False
    return target.carries_all or not source.owners.isdisjoint(target.owners)


def _of_loss(loss: Loss, known: Knowledge, document: Any) -> Finding | None:
    path: Path = steps(loss.where)
    if loss.field == OPAQUE:
        unknown_type = _unknown_type(known.dialect, path, document)
        if unknown_type is not None or not isinstance(loss.before, dict):
            return unknown_type
        return _of_part(known, path, loss.before["value"], document)
    if level_of(loss.field, known.dialect, None) == "content":
        return None
    if not loss.field.startswith(EXTRAS):
        row = _row_of(loss.before)
        return row_finding(known.dialect, path, row) if is_new(known, path, row) else None
    if known.lists_events(loss.field.rpartition(".")[2]):
        events = known.events_with_content(path, loss.before)
        return row_finding(known.dialect, path, loss.before[events[0]]) if events else None
    if loss.field.rpartition(".")[2] == OTHER_BLOCKS:
        return _block_finding(known.dialect, path, loss.before)
    if (members := _members(loss, path, document)) is not None:
        unknown = (known.key((*path, key), value) for key, value in members)
        inside = next((each for each in unknown if each is not None), None)
        return None if inside is None else _key_finding(known.dialect, str(inside[-1]), inside)
    found = known.unknown_content(loss.field, path, loss.before) or path
    return _key_finding(known.dialect, str(found[-1]) if found else loss.field.rpartition(".")[2], path)


def _members(loss: Loss, path: Path, document: Any) -> Iterable[tuple[str, Any]] | None:
    """The members of a group, which has a name in extras and none in the document; None for a key of the document."""
    key = loss.field.rpartition(".")[2]
    is_group = isinstance(loss.before, dict) and path[-1:] != (key,) and not has(document, (*path, key))
    return loss.before.items() if is_group and all(has(document, (*path, each)) for each in loss.before) else None


def _of_part(known: Knowledge, path: Path, value: Any, document: Any) -> Finding | None:
    """A block of a known type that is kept as it is, with content under an unknown key."""
    found = known.part(path, value, partial(has, document))
    return None if found is None else _key_finding(known.dialect, str(found[-1]), _present(document, found))


def _unknown_type(dialect: Dialect, path: Path, document: Any) -> Finding | None:
    """The finding of `known_types` on a block with a type that the dialect does not define."""
    native = resolve(document, path) if has(document, path) else None
    found = None if dialect.carries_all else kinds.unknown(dialect.name, native, path)
    if found is None or not found.is_type:
        return None
    return Finding("unknown-type", "warning", found.problem, pointer((*path, *found.steps)), help=found.help)


def _present(document: Any, path: Path) -> Path:
    """The path of a key, or of the object in which it would be."""
    return path if has(document, path) else path[:-1]


def _row_of(event: Any) -> Any:
    return next((part["value"] for part in event["parts"] if part["type"] == "opaque"), None)


class _Search:
    """The search for unknown content in one transcript."""

    def __init__(self, transcript: Transcript, dialect: Dialect) -> None:
        self.transcript, self.dialect, self.known = transcript, dialect, known_of(dialect)
        self.places = Places(transcript, dialect)
        self.rolled_back = transcript.origin.rolled_back if transcript.origin is not None else set()
        self.document = transcript.origin.document if transcript.origin is not None else None

    def findings(self) -> Iterator[Finding]:
        """In the order of the transcript."""
        places = self.places
        yield from self._extras(self.transcript.extras, ())
        for i, tool in enumerate(self.transcript.tools or ()):
            if tool.extras is not None:
                yield from self._extras(tool.extras, places.tool(i))
        for i, message in enumerate(self.transcript.messages):
            if message.extras is not None:
                yield from self._extras(message.extras, places.message(i))
            if message.role == "event":
                yield from self._event(i, message.parts)
                continue
            for k, part in enumerate(message.parts):
                if part.extras is not None:
                    yield from self._extras(part.extras, places.part(i, k))
                if isinstance(part, Opaque) and self._is_own(part.dialect):
                    yield from self._part(part, places.existing(places.part(i, k)))

    def _part(self, part: Opaque, path: Path) -> Iterator[Finding]:
        """One of an unknown type has a finding of its own (`known_types`)."""
        if _unknown_type(self.dialect, path, self.document) is None:
            yield from filter(None, [_of_part(self.known, path, builtins(part.value), self.document)])

    def _is_own(self, owner: str) -> bool:
        """True for what the dialect has itself, or by a family that lends its name: only `intermediate` has others'."""
        return self.dialect.owns(owner) or not self.dialect.keeps_form

    def _is_of_another(self, owner: str) -> bool:
        """True for an event of another dialect that this one keeps in a row of its own, as OpenClaw does."""
        return not self.dialect.owns(owner) and owner in schemas.names()

    def _event(self, index: int, parts: Iterable[Any]) -> Iterator[Finding]:
        for part in parts:
            if isinstance(part, Opaque) and self._is_own(part.dialect) and not self._is_of_another(part.dialect):
                path = self.known.row(self.places.whole(index), builtins(part.value))
                if path is not None and is_new(self.known, path, part.value, was_turn=index in self.rolled_back):
                    yield row_finding(self.dialect, self.places.present(path), part.value)

    def _extras(self, extras: Extras | None, place: Path) -> Iterator[Finding]:
        for owner, extra in (extras or {}).items():
            for key, value in extra.items() if self._is_own(owner) else ():
                if self.known.lists_events(key):
                    yield from self._other_events(owner, key, value, place)
                elif key == OTHER_BLOCKS and value:
                    path = self.places.existing(self.places.extras(owner, key, place, present=True))
                    yield _block_finding(self.dialect, path, value)
                elif may_be_content(value) and not self.known.is_clean(place, key):
                    yield from self._key(owner, key, value, place)

    def _other_events(self, owner: str, key: str, events: list[Any], place: Path) -> Iterator[Finding]:
        """The events of unknown types in a stream, each at its own path."""
        first = self.places.routed(self.places.extras(owner, key, place, present=True))
        pieces = self.transcript.origin.pieces if self.transcript.origin is not None else {}
        paths = pieces.get(first, [first] * len(events))
        for i in self.known.events_with_content(first, events):
            yield row_finding(self.dialect, paths[i], events[i])

    def _key(self, owner: str, key: str, value: Any, place: Path) -> Iterator[Finding]:
        group, path = place, self.places.extras(owner, key, place, present=True)
        path = path if path[-1:] == (key,) else (*path, key)
        members = {key: value}
        if isinstance(value, dict):
            stated = self.places.group(owner, key, place, value)
            if stated is not None or len(self.places.existing(path)) < len(self.places.routed(path)):  # a group
                group, members = place if stated is None else stated, value
        for name, member in members.items():
            found = self.known.key(self.places.routed(path if name == key else (*group, name)), member)
            if found is not None:
                yield _key_finding(self.dialect, str(found[-1]), self.places.present(found))


def is_new(known: Knowledge, path: Path, row: Any, *, was_turn: bool = False) -> bool:
    """True if the dialect does not know rows of this type, or a key in the row that holds content.

    Rows of a known type may be events too: those that their program skips, and messages that were rolled back.
    """
    last = row_type(row).rpartition("/")[2]
    if not was_turn and (not isinstance(row, dict) or (last and last not in schemas.types(known.dialect.name, TYPES))):
        return True
    return known.inside(path, row) is not None


def row_finding(dialect: Dialect, path: Path, row: Any) -> Finding:
    """A row holds content and is not read: its type is unknown, or it lacks what its type has."""
    kind = row_type(row)
    last = kind.rpartition("/")[2]
    if last and last in schemas.types(dialect.name, TYPES):
        return _finding(dialect, path, f'{dialect.name} reads no message from this row of the type "{last}"')
    return _type_finding(dialect, path, "rows", kind)


def _block_finding(dialect: Dialect, path: Path, blocks: list[Any]) -> Finding:
    """Blocks of a message that no field of the dialect can store."""
    kinds = (block["type"] for block in blocks if isinstance(block, dict) and isinstance(block.get("type"), str))
    return _type_finding(dialect, path, "parts", next(kinds, ""))


def _type_finding(dialect: Dialect, path: Path, nodes: str, kind: str) -> Finding:
    is_clean = all(SAFE_WORD.match(each) for each in kind.split("/"))
    shown = f'"{kind}"' if is_clean else shown_key(kind)
    unknown = f"{nodes} of the type {shown}" if kind else f"{nodes} like this"
    return _finding(dialect, path, f"{dialect.name} does not know {unknown}; this one holds content")


def _key_finding(dialect: Dialect, key: str, path: Path) -> Finding:
    return _finding(dialect, path, f"{dialect.name} does not know the key {shown_key(key)} here; it holds content")


def _finding(dialect: Dialect, path: Path, message: str) -> Finding:
    help_text = f"a newer program may have written it; convcli knows: {dialect.specification}"
    return Finding(CODE, "warning", message, pointer(path), help=help_text)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each message, the first, with a note on how many more there are."""
    alike: dict[str, list[Finding]] = {}
    for finding in findings:
        alike.setdefault(finding.message, []).append(finding)
    return [_counted(first, len(more)) for first, *more in alike.values()]


def _counted(finding: Finding, more: int) -> Finding:
    return replace(finding, notes=(f"{more:,} more in this document",)) if more else finding
