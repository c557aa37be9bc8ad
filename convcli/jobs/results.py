"""Converts the documents of an input one by one, with losses and findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from convcli.engine import conversion
from convcli.engine.texts import ArgumentStyle
from convcli.jobs.documents import Document, Item, finding_of, torn, torn_warning
from convcli.jobs.inputs import Input
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import RefusedError
from convcli.model.findings import Finding
from convcli.model.modules import Later
from convcli.model.transcript import Transcript
from convcli.proof.difference import difference
from convcli.proof.reasons import Level, Loss
from convcli.validation import unknown
from convcli.wire.pointers import pointer

if TYPE_CHECKING:
    from convcli.jobs import portions, surrogates
    from convcli.jobs.splitting import Splitting
else:
    portions, surrogates = Later("convcli.jobs.portions"), Later("convcli.jobs.surrogates")

IN_ANOTHER_ROW = "the message that it follows is written in another row"
MOST_KEYS = 8
"""Keys of a container that a loss names."""
LossKey: TypeAlias = tuple[str, int, int, str, str]
"""What equal losses of one document share: kind, line, row, pointer and field. A pointer begins at its line."""


class AddsColumns(Protocol):
    """Adds columns to converted rows, and returns the losses that remain."""

    def add(
        self,
        item: Document,
        conversion: conversion.Conversion,
        losses: list[Loss],
        portion: portions.Portion | None,
        /,
    ) -> list[Loss]: ...


class RowShape(msgspec.Struct, frozen=True):
    """What training rows are made of.

    `columns`: adds columns to rows · `splitting`: where long conversations are split · `separates_runs`: the run of a
    subagent is a row of its own.
    """

    columns: AddsColumns | None = None
    splitting: Splitting | None = None
    separates_runs: bool = False


AS_IT_IS = RowShape()


class ItemResult(msgspec.Struct, frozen=True):
    """The result of one document of an input, or of one row of it, or of one stretch that is none.

    `is_read`: `item` passed its schema, and `conversion` is its result. A torn record is neither read nor refused; it
    is a loss. `whole`: the transcript, if this is one of its several rows · `number`: that of the row, from 0 ·
    `has_lost`: a row before it has losses.
    """

    losses: Sequence[Loss]
    findings: list[Finding]
    is_read: bool = False
    refused: Item | None = None
    item: Document | None = None
    conversion: conversion.Conversion | None = None
    whole: Transcript | None = None
    number: int = 0
    has_lost: bool = False

    @property
    def is_refused(self) -> bool:
        """True if it is not acceptable."""
        return self.refused is not None

    @property
    def is_torn(self) -> bool:
        """True if it is a record that its writer had not finished."""
        return bool(self.losses) and not self.is_read and self.refused is None

    @property
    def document(self) -> Any:
        """The converted document."""
        return None if self.conversion is None else self.conversion.document


def item_results(
    source: Iterable[Item],
    target: Dialect,
    options: Options = conversion.BY_DEFAULT,
    arguments: ArgumentStyle | None = None,
    *,
    keeps_container: bool = False,
    shape: RowShape = AS_IT_IS,
) -> Iterator[ItemResult]:
    """Converts the documents of an input; losses and findings have file, line and pointer. Notes on the file follow.

    `keeps_container`: what surrounds the documents in their file is written too, so it is no loss · `shape`: what
    the rows are made of.
    """
    for item in source:
        if isinstance(item, Document):
            has_lost = False
            for number, result in enumerate(_rows_of(item, target, options, arguments, shape)):
                is_around = (item.shell is not None or item.others) and result.is_read and not number
                if is_around and not keeps_container:
                    result = replace(result, losses=[*container_losses(item, target), *result.losses])
                yield replace(result, number=number, has_lost=has_lost) if number else result
                has_lost = has_lost or bool(result.losses)
        elif item.torn:
            error = item.error
            loss = Loss("dropped", "", "record", "content", torn(item), line=error.line, file=error.file)
            yield ItemResult([loss], [torn_warning(item)])
        else:
            yield ItemResult([], [finding_of(item.error)], refused=item)
    if isinstance(source, Input) and source.notes:
        yield ItemResult([], source.notes)


def _rows_of(
    document: Document, target: Dialect, options: Options, arguments: ArgumentStyle | None, shape: RowShape
) -> Iterable[ItemResult]:
    """Returns the results of a document, one for each of its rows."""
    if shape.splitting is None and not (shape.separates_runs and portions.may_have_runs(document.dialect)):
        return (_converted(document, target, options, arguments, shape.columns),)
    return _several_rows(document, target, options, arguments, shape)


def _several_rows(
    document: Document, target: Dialect, options: Options, arguments: ArgumentStyle | None, shape: RowShape
) -> Iterator[ItemResult]:
    """Yields the results of a document that may become several rows."""
    try:
        transcript, findings = document.lift_leniently() if options.lenient else (document.lift(), [])
    except RefusedError as error:
        yield ItemResult([], [*document.notes, *error.findings], refused=document)
        return
    left_out = conversion.left_out(transcript, options, document.dialect, target) if shape.splitting else {}
    unwritten = frozenset(id(transcript.messages[place]) for place in left_out if isinstance(place, int))
    rows = portions.portions(transcript, document.dialect, shape.splitting, unwritten)
    if len(rows) == 1 and target is document.dialect:  # it stays as it is
        yield _converted(document, target, options, arguments, shape.columns, rows[0])
        return
    reported = set[LossKey]()
    for number, portion in enumerate(rows):
        result = _converted(document, target, replace(options, lenient=False), arguments, shape.columns, portion)
        result.findings[:0] = findings if not number else []
        result = replace(result, losses=_with_links(result.losses, document, portion))
        yield result if len(rows) == 1 else replace(result, losses=_once(result.losses, reported), whole=transcript)


def _with_links(losses: Sequence[Loss], document: Document, portion: portions.Portion) -> Sequence[Loss]:
    """Adds the losses of links to messages in other rows. One that the target cannot store has the target's reason."""
    if not portion.linked:
        return losses
    after, source = replace(portion.transcript, head=None), document.dialect
    before = replace(after, messages=list(portion.linked))
    cut = difference(before, after, source, known=unknown.known_of(source))
    links = [replace(loss, why=IN_ANOTHER_ROW) for loss in cut if loss.kind != "invented"]
    document.locate(links)
    if not links:
        return losses
    of_field = {(loss.line, loss.row, loss.where, loss.field): loss for loss in links}
    own = list[Loss]()
    for loss in losses:
        link = of_field.pop((loss.line, loss.row, loss.where, loss.field), None)
        own.append(loss if link is None else replace(loss, before=link.before))
    return [*of_field.values(), *own]


def _once(losses: Sequence[Loss], reported: set[LossKey]) -> list[Loss]:
    """Returns the losses that no other row of the document has: rows share tools, settings and instructions."""
    new = [loss for loss in losses if _loss_key(loss) not in reported]
    reported.update(map(_loss_key, new))
    return new


def _loss_key(loss: Loss) -> LossKey:
    return loss.kind, loss.line, loss.row, loss.where, loss.field


def _converted(
    document: Document,
    target: Dialect,
    options: Options,
    arguments: ArgumentStyle | None,
    columns: AddsColumns | None,
    portion: portions.Portion | None = None,
) -> ItemResult:
    notes = list(document.notes)
    transcript = None if portion is None or (target is document.dialect and not portion.parts) else portion.transcript
    try:
        result = document.convert(target, options, arguments, transcript)
    except RefusedError as error:
        return ItemResult([], notes + error.findings, refused=document)
    found = result.findings
    if target is document.dialect:
        found = found + document.located(surrogates.lone_surrogates(document))
    findings = notes + [as_warning(finding, target) for finding in found]
    losses: Sequence[Loss] = result.unread_losses
    if document.merged or columns is not None:
        losses = [*document.merged, *losses]
    if columns is not None:
        losses = columns.add(document, result, list(losses), portion)
    return ItemResult(losses, findings, True, None, document, result)


def container_losses(document: Document, target: Dialect) -> list[Loss]:
    """The losses of what surrounds the transcripts of a file, with the first of them, if each is written alone: one of
    metadata, and one of each key that holds content."""
    paths = list(unknown.keys_around(document.dialect, document.shell))
    content = unknown.content_around(document.dialect, document.shell)
    losses = [_container_loss(document, target, [str(path[-1])], "content", pointer(path)) for path in content]
    rest = [*document.others, *(str(path[-1]) for path in paths if path not in content)]
    return losses + ([_container_loss(document, target, rest, "context", "")] if rest else [])


def _container_loss(document: Document, target: Dialect, keys: list[str], level: Level, where: str) -> Loss:
    named = ", ".join(keys[:MOST_KEYS]) + (", …" if len(keys) > MOST_KEYS else "")
    why = f"transcripts are written without the document around them ({named}); a restore file keeps it"
    if document.others:
        why = f"convcli writes no archives: their other files ({named}) are not read"
    elif target is document.dialect:
        why = (
            f"the document around the transcripts ({named}) is written only with all of one file, as one JSON document"
        )
    return Loss("dropped", where, "container", level, why, line=document.line, file=document.file)


def as_warning(finding: Finding, target: Dialect) -> Finding:
    """Turns errors into warnings: output that a service would refuse is still written, as it may serve other uses."""
    if finding.severity == "info":
        return finding
    notes = finding.notes
    if finding.severity == "error":
        notes = (*notes, f"{target.title} would not accept the output as it is")
    return replace(finding, severity="warning", notes=notes)
