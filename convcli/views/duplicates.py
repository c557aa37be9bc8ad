"""Leaves out conversations that occur more than once, and those that are the beginning of a longer one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from convcli.files.spill import DigestSet
from convcli.jobs.digests import prefix_digests
from convcli.jobs.documents import Document
from convcli.model.errors import RefusedError
from convcli.validation.wording import counted

Way: TypeAlias = Literal["exact", "prefix"]


class Duplicates:
    """True for the first document of each conversation. A refused document passes, so that it is reported.

    With the way `prefix`, `prepare` sees all documents first; a conversation with which a longer one begins is then a
    duplicate too.
    """

    def __init__(self, way: Way) -> None:
        self.reads_ahead = way == "prefix"
        self._seen, self._prefixes = DigestSet(), DigestSet()
        self.same = self.shorter = 0

    def prepare(self, document: Document) -> None:
        """Remembers with which conversations this one begins."""
        for digest in _digests(document)[:-1]:
            self._prefixes.add(digest)

    def __call__(self, document: Document) -> bool:
        """True if the document is no duplicate."""
        digests = _digests(document)
        if not digests:
            return True
        is_shorter = self.reads_ahead and digests[-1] in self._prefixes
        is_new = self._seen.add(digests[-1])
        self.shorter += is_shorter
        self.same += not is_new and not is_shorter
        return is_new and not is_shorter

    def notes(self) -> Iterator[str]:
        """Yields a note on how many were left out."""
        if self.same:
            yield f"{counted(self.same, 'repeated conversation')} left out"
        if self.shorter:
            yield f"{counted(self.shorter, 'conversation')} left out, with which a longer one begins"


def _digests(document: Document) -> list[bytes]:
    """Returns the digests of a document; none for a refused document, which has to be reported."""
    try:
        transcript, findings = document.lift_once()
    except RefusedError:
        return []
    return [] if findings else list(prefix_digests(transcript))
