"""Parses the JSON of one input, and remembers what of it is not as it stands: a key that occurs twice, or an optional
value that is not JSON."""

from __future__ import annotations

from typing import Any

from convcli.model.errors import ContentError
from convcli.wire.exact_json import BEGIN, parse
from convcli.wire.strict_json import DuplicateKeys, Position


class JsonValues:
    """Parses JSON as `keys` asks: "last" uses the last value of a key that occurs twice in an object."""

    def __init__(self, keys: DuplicateKeys) -> None:
        self._keys, self._warnings = keys, list[ContentError]()

    def parse(self, data: bytes | str, file: str, begin: Position = BEGIN) -> Any:
        """Returns the value. Raises ContentError, which names the file."""
        try:
            return parse(data, start=begin)
        except ContentError as error:
            error.file = file
            if error.code != "duplicate-key" or self._keys == "error":
                raise
            value = parse(data, duplicate_keys=self._keys, start=begin)
            error.message = f"{error.message}: the last value is used"
            self.warn(error)
            return value

    def warn(self, error: ContentError) -> None:
        """Remembers a defect that does not stop the reading."""
        error.help = ""
        self._warnings.append(error)

    def take_warning(self) -> ContentError | None:
        """Returns the first such defect since the last call; None if there is none."""
        first = self._warnings[0] if self._warnings else None
        self._warnings.clear()
        return first
