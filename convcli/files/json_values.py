"""Parses the JSON of one input, and remembers which key occurs twice where the last value is used."""

from __future__ import annotations

from typing import Any

from convcli.model.errors import ContentError
from convcli.wire.exact_json import BEGIN, parse
from convcli.wire.strict_json import DuplicateKeys, Position


class JsonValues:
    """Parses JSON as `keys` asks: "last" uses the last value of a key that occurs twice in an object."""

    def __init__(self, keys: DuplicateKeys) -> None:
        self._keys, self._repeated = keys, list[ContentError]()

    def parse(self, data: bytes | str, file: str, begin: Position = BEGIN) -> Any:
        """Returns the value. Raises ContentError, which names the file."""
        try:
            return parse(data, start=begin)
        except ContentError as error:
            error.file = file
            if error.code != "duplicate-key" or self._keys == "error":
                raise
            value = parse(data, duplicate_keys=self._keys, start=begin)
            self._repeated.append(error)
            return value

    def take_repeated(self) -> ContentError | None:
        """Returns the error of the first key since the last call that occurs twice; None if there is none."""
        first = self._repeated[0] if self._repeated else None
        self._repeated.clear()
        return first
