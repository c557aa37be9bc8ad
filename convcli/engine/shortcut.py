"""The short way: what is known of one document is not done again for the next that differs only in plain turns.

A document whose rest was clean is clean, and a conversion whose rest has a template is the template with its turns.
Both are asked for the whole document where anything else is in it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import msgspec

from convcli import dialects
from convcli.engine.conversion import Conversion, lift, lower
from convcli.kit.turns import messages_of, sample
from convcli.model.dialect import Dialect, Turn
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.proof.reasons import Loss
from convcli.validation import schemas, verdict
from convcli.validation.rules.keys import BESIDE_TURNS
from convcli.wire import exact_json, pointers

MOST_REMEMBERED = 1 << 16
"""Bytes of what is left of a document without its messages, for its verdict to be remembered."""


class Template(NamedTuple):
    """The output for a plain conversation, made of a sample: `fresh` gives it anew, `rest` is it without its turns,
    `loss` is that of a name, where there are names, and `findings` are those of the keys beside the messages."""

    fresh: Callable[[], Any]
    rest: Any
    loss: Loss | None
    findings: list[Finding]


def is_clean(document: Any, dialect: Dialect) -> bool:
    """Is there certainly nothing wrong with it? Tools and settings are the same in most documents of a file."""
    taken = dialect.plain.take(document) if dialect.plain is not None else None
    written = exact_json.write(taken.rest) if taken is not None else b""
    return 0 < len(written) <= MOST_REMEMBERED and _is_clean_rest(written, dialect.name)


@lru_cache(maxsize=256)
def _is_clean_rest(written: bytes, name: str) -> bool:
    dialect = dialects.get(name)
    rest = exact_json.parse(written)
    return schemas.accepts(name, rest) and not verdict.findings(rest, dialect.lift(rest), dialect, dialect.rules)


def by_template(document: Any, source: Dialect, target: Dialect) -> Conversion | None:
    """The conversion of a document whose messages are plain in both dialects, and where nothing but names is lost and
    nothing is objected to but keys that are not there; else None. What is given is taken back and compared."""
    if source.plain is None or target.plain is None or source is target:
        return None
    taken = source.plain.take(document)
    if taken is None or not _ends_well(taken.turns):
        return None
    written = exact_json.write(taken.rest)
    if len(written) > MOST_REMEMBERED:
        return None
    template = _rest(written, source.name, target.name, taken.begins_with_system, bool(taken.names)).template()
    if template is None:
        return None
    output = target.plain.give(template.fresh(), taken.turns)
    if target.plain.take(output) != (template.rest, taken.turns, {}):
        return None
    losses = [_lost(template.loss, document, i, name) for i, name in taken.names.items()]
    return Conversion(output, lambda: lift(document, source), losses, list(template.findings))


def _ends_well(turns: list[Turn]) -> bool:
    """Is there a message, and are none or all of the last calls answered? Else the rules have something to say."""
    if not turns or turns[-1][0] in ("system", "developer"):
        return False
    answers = len(turns) - next((i for i, turn in enumerate(reversed(turns)) if turn[0] != "tool"), 0)
    calls = turns[answers - 1][2] if len(turns[answers - 1]) > 2 else ()
    return answers == len(turns) or len(calls) == len(turns) - answers


class _TemplateCache:
    """What is left of some documents without their turns.

    To make a template of it takes as long as a small conversion, so that is done when the second such document comes.
    """

    def __init__(self, *terms: Any) -> None:
        self._terms, self._is_new = terms, True

    def template(self) -> Template | None:
        """The template, if there is one yet."""
        if self._is_new:
            self._is_new = False
            return None
        return self._template

    @cached_property
    def _template(self) -> Template | None:
        return _template(*self._terms)


_rest = lru_cache(maxsize=16)(_TemplateCache)
"""Few, for the documents of one program have the same tools and settings, and these may be large."""


def _template(written: bytes, source: str, target: str, has_system: bool, is_named: bool) -> Template | None:
    """What a sample becomes in place of the turns of these documents, if nothing is lost but its name."""
    one, two = dialects.get(source), dialects.get(target)
    if one.plain is None or two.plain is None:
        return None
    turns = sample(has_system)
    document = one.plain.give(exact_json.parse(written), turns)
    path, messages = messages_of(document)
    if is_named:
        messages[-1]["name"] = "x"
    if not schemas.accepts(source, document):
        return None
    try:
        conversion = lower(lift(document, one), two, source=one)
    except RefusedError:
        return None
    taken = two.plain.take(conversion.document)
    named = pointers.pointer((*path, len(messages) - 1, "name"))
    lost = [(loss.kind, loss.where, loss.before) for loss in conversion.losses]
    if taken is None or taken.turns != turns or lost != [("dropped", named, "x")] * is_named:
        return None
    if any(finding.code not in BESIDE_TURNS for finding in conversion.findings):
        return None
    return Template(
        exact_json.rereader(exact_json.write(conversion.document)),
        taken.rest,
        conversion.losses[0] if is_named else None,
        conversion.findings,
    )


def _lost(loss: Loss | None, document: Any, index: int, name: str) -> Loss:
    """The loss of the name of a message, like that of the sample."""
    assert loss is not None
    where = pointers.pointer((*messages_of(document)[0], index, "name"))
    return msgspec.structs.replace(loss, where=where, before=name)
