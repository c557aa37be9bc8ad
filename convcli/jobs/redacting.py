"""One job that masks private data: its documents, what it found in them, and the values that may stay.

A list of accepted values has a salted hash of each, so that it can stand in a repository. A short value, such as a
phone number, can be guessed from its hash."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from convcli.engine.redaction.redactor import Hit, Redactor
from convcli.files.layouts import DocumentWriter
from convcli.files.side_files import read_side_file
from convcli.jobs.documents import Document
from convcli.model.errors import JobError
from convcli.proof.reasons import MISSING, Loss
from convcli.wire import exact_json

VERSION = 1


class Allowed:
    """The accepted values, as hashes with the salt of their file."""

    def __init__(self, salt: str = "", digests: Iterable[str] = ()) -> None:
        self.salt, self._digests = salt or secrets.token_hex(16), frozenset(digests)

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def digest(self, value: str) -> str:
        """Returns the hash of a value."""
        return hashlib.sha256(f"{self.salt}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()

    def written(self, hits: Iterable[Hit]) -> bytes:
        """Returns a file that accepts the values of these hits, and those that are accepted already."""
        digests = sorted(self._digests | {hit.digest for hit in hits})
        return exact_json.write({"convcli-allow": VERSION, "salt": self.salt, "digests": digests}, indent=True) + b"\n"


def load_allowed(path: str) -> Allowed:
    """Returns the accepted values of a file. Raises JobError if it is missing, unreadable or another file."""
    help_text = "convcli redact FILE… --check --allow FILE --write-allow writes it"
    content = read_side_file(path, "list of accepted values", help_text)
    try:
        value = json.loads(content)
        if value["convcli-allow"] != VERSION:
            raise ValueError("another version")
        return Allowed(str(value["salt"]), map(str, value["digests"]))
    except (ValueError, LookupError, TypeError, RecursionError):
        raise JobError("not-a-baseline", "this is not a list of accepted values", file=path) from None


class Redaction:
    """Masks the documents that a job reads, before anything else sees them.

    With `is_one_session`, all its files are of one session: the names that one gives are masked in the others.
    """

    def __init__(
        self, words: Iterable[str] = (), allowed: Allowed | None = None, *, is_one_session: bool = False
    ) -> None:
        self.allowed, self._is_one_session = allowed or Allowed(), is_one_session
        self._redactor = Redactor(words, self.allowed.__contains__, self.allowed.digest)
        self.hits = list[Hit]()

    @property
    def counts(self) -> Counter[str]:
        """The number of hits by rule."""
        return Counter(hit.rule for hit in self.hits)

    def text(self, text: str) -> str:
        """Returns a text of the job, such as the name of a file, masked as documents are."""
        return self._redactor.text(text)

    def learn(self, document: Document) -> None:
        """Learns the names that a document gives, to mask them in all documents of its file."""
        self._redactor.learn(document.value, document.dialect, self._scope(document))

    def document(self, document: Document) -> Document:
        """Returns a document with masked values, keys and file name. Its position in the file stays."""
        value, hits = self._redactor.redact(document.value, document.dialect, self._scope(document))
        file = self._redactor.text(document.file)
        for hit in hits:
            line, where = document.place(hit.where)
            self.hits.append(replace(hit, file=file, line=line, where=self._redactor.again(where, document.dialect)))
        masked: dict[str, Any] = {"value": value, "file": file, "lifted": None}
        if document.unparsed is not None:
            masked["unparsed"] = self._redactor.again(document.unparsed, document.dialect)
        if document.shell is not None:
            scope, dialect = self._scope(document), document.dialect
            masked["shell"], hits = self._redactor.container(document.shell, dialect, scope)
            self.hits += (replace(hit, file=file, where=self._redactor.again(hit.where, dialect)) for hit in hits)
        masked["merged"] = tuple(map(self._without_values, document.merged))
        return replace(document, **masked)

    def _scope(self, document: Document) -> str:
        return "" if self._is_one_session else document.file

    def _without_values(self, loss: Loss) -> Loss:
        """Returns the loss of a joined call, which was compared before it was masked, without what was lost."""
        where, field = map(self._redactor.text, (loss.where, loss.field))
        return replace(loss, where=where, field=field, before=MISSING, after=MISSING)


def write(documents: Iterable[Document], open_writer: Callable[[Document], DocumentWriter]) -> DocumentWriter | None:
    """Writes documents as they are to one output, not committed. Returns None if there is no document."""
    writer = None
    for document in documents:
        writer = writer or open_writer(document)
        writer.add(document.original)
    return writer
