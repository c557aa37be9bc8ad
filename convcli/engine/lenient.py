"""Sets aside values of a wrong type that stand outside of the conversation, so that the rest of a document is read.

A program that writes a number where its format has a string changes no word of a conversation. The value is removed
before the dialect reads the document, and kept in the extras of the transcript under its path. Other dialects do not
write it, so it is reported as a loss; the intermediate format does.

Whether a value is outside of the conversation is found by trying it. In its place the document gets a value that the
schema accepts. The value is outside if the dialect then reads the same conversation as without one.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli.engine import answers
from convcli.model.dialect import Dialect
from convcli.model.document import with_items, with_value
from convcli.model.fields import REFERENCES
from convcli.model.findings import Finding
from convcli.model.transcript import Path, Transcript
from convcli.proof.difference import difference
from convcli.proof.language import SPEAKERS, holds_content
from convcli.proof.levels import TYPES, normalized
from convcli.proof.reasons import Loss
from convcli.validation import breaches, schemas
from convcli.validation.explaining import SchemaBreach, explained
from convcli.wire.pointers import pointer, resolve

OWNER = "wrong-type"
"""The owner of the extras that hold the values, by their pointers in the document."""
FIELD = f"extras.{OWNER}."
WHY = "the value has a wrong type, so it was set aside"
ADVICE = "--lenient sets such values aside and reports them"
MAX_ROUNDS = 4
"""Schema checks of one document: a removed value may make others wrong."""
MAX_DEPTH = 5
"""Levels of nested objects and lists of a value that is tried."""
MAX_NEAR = 12
"""Values before and after a value that are tried in its place."""
LINKS = frozenset((*REFERENCES, "tool_call.id", "tool_result.toolCallId"))
"""Fields that tie the messages and parts of a conversation to each other. A reference has an effect only if it names
something in the document."""
KINDS = frozenset((*TYPES, *SPEAKERS))
"""Keys that say what a row or a message is."""
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "string": (
        "zq", "2026-01-01T00:00:00Z", "image/png", "image", "png", "pdf", "mp3", "mp4", "error", "auto", "ANY",
        '[{"name":"zq","description":"zq","parameters":{}}]',
    ),
    "integer": (7,),
    "number": (7.5,),
    "boolean": (True, False),
}  # fmt: skip
"""Values by the type that a schema states, among them some that dialects interpret."""


class SetAside(msgspec.Struct, frozen=True):
    """A value that was removed from a document, its path, and the finding on it."""

    path: Path
    value: Any
    finding: Finding


class Relaxed(msgspec.Struct, frozen=True):
    """A document without its values of a wrong type, its transcript with them in its extras, and these values."""

    document: Any
    transcript: Transcript
    values: list[SetAside]

    @property
    def findings(self) -> list[Finding]:
        """A warning for each of the values."""
        return [each.finding for each in self.values]

    def placed(self, losses: list[Loss], dialect: Dialect) -> list[Loss]:
        """Returns the losses of the document: those of the values at their paths in it, under their keys."""
        paths = {FIELD + pointer(each.path): each.path for each in self.values}
        return [_placed(loss, paths.get(loss.field), dialect) for loss in losses]


def relaxed(document: Any, dialect: Dialect) -> Relaxed | None:
    """Returns what can be read of a document that its schema refuses; None if something else is wrong with it."""
    rest, removed = document, dict[Path, SchemaBreach]()
    for _ in range(MAX_ROUNDS):
        wrong = list(breaches.breaches(dialect.name, rest))
        if not wrong:
            break
        for breach in wrong:
            path = _removable(breach, removed)
            if path is None:
                return None
            removed.setdefault(path, breach)
        removed = {path: breach for path, breach in removed.items() if not _is_below(path, removed)}
        rest = _without(document, removed)
    else:
        return None
    bare = answers.lift(rest, dialect)
    trial = _Trial(document, rest, bare, dialect)
    if not all(map(trial.is_outside, _representatives(removed))):
        return None
    values = [_set_aside(document, path, breach, dialect) for path, breach in removed.items()]
    return Relaxed(rest, _with_values(bare, values), values)


def _is_below(path: Path, others: Container[Path]) -> bool:
    return any(path[:end] in others for end in range(1, len(path)))


def _removable(breach: SchemaBreach, removed: Container[Path]) -> Path | None:
    """Returns the path of the member to remove: that of the value or, if it is an item, of its list. If a removed
    member is required, it is the object without it. None if the value has no wrong type."""
    path = breach.path
    if breach.keyword == "required":
        missing = [key for key in breach.node["required"] if key not in breach.value]
        if not all((*path, key) in removed and key not in KINDS and key != "name" for key in missing):
            return None
    elif not _has_wrong_type(breach):
        return None
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path or None


def _has_wrong_type(breach: SchemaBreach) -> bool:
    if breach.keyword == "type":
        return True
    allowed = breach.node.get("enum", [breach.node.get("const")]) if breach.keyword in ("enum", "const") else []
    return bool(allowed) and not any(type(breach.value) is type(each) for each in allowed)


def _without(document: Any, paths: Iterable[Path]) -> Any:
    """Returns the document without the members at these paths; what is unchanged is shared."""
    below = dict[Any, list[Path]]()
    for path in paths:
        below.setdefault(path[0], []).append(path[1:])
    if isinstance(document, dict):
        gone = {key for key, ends in below.items() if () in ends}
        members = ((key, value) for key, value in document.items() if key not in gone)
        return {key: _without(value, below[key]) if key in below else value for key, value in members}
    items = [_without(item, below[i]) if i in below else item for i, item in enumerate(document)]
    return with_items(document, items)


def _representatives(removed: dict[Path, SchemaBreach]) -> Iterator[Path]:
    """Yields one of the paths that break the same part of the schema: a session has a time in each of its rows."""
    alike = {(id(breach.node), normalized(path)): path for path, breach in removed.items()}
    yield from alike.values()


@cache
def _keys_of_references(dialect: Dialect) -> frozenset[Any]:
    return frozenset(dialect.places.get(field, (field.rpartition(".")[2],))[-1] for field in REFERENCES)


def is_of_conversation(loss: Loss, links: frozenset[str] = LINKS) -> bool:
    """True if a loss changes what a model would read, or how messages and parts are tied to each other."""
    return loss.level == "content" or loss.field in links


class _Trial(msgspec.Struct, frozen=True):
    """A document without what was removed of it, and its transcript."""

    document: Any
    rest: Any
    bare: Transcript
    dialect: Dialect

    def is_outside(self, path: Path) -> bool:
        """True if no value that the schema accepts at this path changes the conversation.

        An object or a list that changes nothing at all proves nothing: its content is not known.
        """
        if path[-1] in KINDS or path[-1] in _keys_of_references(self.dialect):
            return False
        if holds_content(resolve(self.document, path)):
            return False
        is_tried, links = False, self._links()
        for value in chain(_examples(self.dialect.name, normalized(path)), _values_near(self.document, path)):
            losses = self._differences(path, value)
            if losses is None:
                continue
            is_tried = True
            if any(is_of_conversation(loss, links) for loss in losses):
                return False
            if not losses and isinstance(value, (dict, list)):
                return False
        return is_tried

    def _links(self) -> frozenset[str]:
        has_branches = self.bare.head is not None or any(each.parent_id is not None for each in self.bare.messages)
        return LINKS | {"message.id"} if has_branches else LINKS

    def _differences(self, path: Path, value: Any) -> list[Loss] | None:
        """Returns how a value at a path changes the transcript; None if the schema does not accept it."""
        tried = with_value(self.rest, path, value)
        if value is None or not schemas.accepts(self.dialect.name, tried):
            return None
        return difference(answers.lift(tried, self.dialect), self.bare, self.dialect).records


def _values_near(document: Any, path: Path) -> Iterator[Any]:
    """Yields the values of the same key, and around an id those of other ids: one may be what the value refers to."""
    key = str(path[-1]).lower()
    near = list(_values(document, (), key, is_id=key.endswith("id")))
    at = next((i for i, (place, _) in enumerate(near) if place == path), 0)
    values = (value for _, value in near[max(0, at - MAX_NEAR) : at + MAX_NEAR])
    yield from dict.fromkeys(value for value in values if isinstance(value, (str, int)))


def _values(value: Any, path: Path, key: str, *, is_id: bool) -> Iterator[tuple[Path, Any]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        name = step.lower() if isinstance(step, str) else ""
        if (name == key or (is_id and name.endswith("id"))) and not isinstance(member, dict):
            yield (*path, step), member
        else:
            yield from _values(member, (*path, step), key, is_id=is_id)


def _examples(name: str, path: Path, depth: int = MAX_DEPTH) -> Iterator[Any]:
    """Yields values that the schema may accept at a path, in which everything that it names is set."""
    nodes = schemas.nodes_at(name, path)
    for node in nodes:
        yield from node.get("enum", [node["const"]] if "const" in node else [])
    stated = (node.get("type", ()) for node in nodes)
    types = dict.fromkeys(word for words in stated for word in ([words] if isinstance(words, str) else words))
    for word in types or (("string",) if not any("properties" in node for node in nodes) else ("object",)):
        if word == "object" and depth:
            keys = schemas.keys_in(name, path) or ("zz",)
            members = {key: next(_examples(name, (*path, key), depth - 1), "zq") for key in sorted(keys)}
            yield {key: value for key, value in members.items() if value is not None}
        elif word == "array" and depth:
            yield [next(_examples(name, (*path, "*"), depth - 1), "zq")]
        else:
            yield from EXAMPLES.get(word, ())


def _set_aside(document: Any, path: Path, breach: SchemaBreach, dialect: Dialect) -> SetAside:
    [finding, *_] = explained([breach], lambda: schemas.vocabulary(dialect.name))
    notes = (*finding.notes, "the value is set aside, and the rest is read")
    return SetAside(path, resolve(document, path), replace(finding, severity="warning", notes=notes))


def _with_values(transcript: Transcript, values: list[SetAside]) -> Transcript:
    kept = {pointer(each.path): each.value for each in values}
    return replace(transcript, extras={**(transcript.extras or {}), OWNER: kept})


def _placed(loss: Loss, path: Path | None, dialect: Dialect) -> Loss:
    if path is None:
        return loss
    return replace(loss, where=pointer(path), field=f"extras.{dialect.family or dialect.name}.{path[-1]}", why=WHY)
