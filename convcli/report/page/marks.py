"""Assigns losses and findings to the messages of a conversation."""

from __future__ import annotations

from collections.abc import Iterable

from convcli.model.findings import Finding
from convcli.model.transcript import Transcript
from convcli.proof.reasons import Loss
from convcli.report.page import Annotation
from convcli.wire import pointers


def marks_of(
    transcript: Transcript, losses: Iterable[Loss] = (), findings: Iterable[Finding] = ()
) -> dict[int, list[Annotation]]:
    """Returns annotations by the index of the message that contains the pointer, -1 if there is none.

    Pointers refer to the document from which the transcript was lifted.
    """
    index_of: dict[tuple[str, ...], int] = {}
    for index, (path, _) in enumerate(transcript.origin.places if transcript.origin is not None else ()):
        index_of.setdefault(tuple(map(str, path)), index)
    marks: dict[int, list[Annotation]] = {}
    for loss in losses:
        words = f"{loss.kind} {loss.field}: {loss.why}"
        marks.setdefault(_index(loss.where, index_of), []).append(Annotation(loss.level, words))
    for finding in findings:
        words = f"{finding.severity}[{finding.code}] {finding.message}"
        marks.setdefault(_index(finding.where, index_of), []).append(Annotation(finding.severity, words))
    return marks


def _index(where: str, index_of: dict[tuple[str, ...], int]) -> int:
    steps = pointers.steps(where)
    prefixes = (steps[:length] for length in range(len(steps), 0, -1))
    return next((index_of[prefix] for prefix in prefixes if prefix in index_of), -1)
