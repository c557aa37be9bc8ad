"""The configuration of a project: `convcli.toml`, or `[tool.convcli]` in `pyproject.toml`.

The nearest file counts, from the working directory upwards. Patterns are shell patterns, relative to the file's folder:
`*` also matches `/`, and a pattern without `/` matches a file or folder name at any depth. `KEYS` lists all keys;
`convcli/pages/configuration.md` describes them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from convcli.files import project
from convcli.files.project import refuse
from convcli.model.findings import Finding
from convcli.model.located import number_of
from convcli.validation.wording import did_you_mean


class Key(msgspec.Struct, frozen=True):
    """A key of the configuration: its type, the type in words, its default, and the commands that use it."""

    kind: type
    wanted: str
    default: Any
    commands: str


READERS = "all commands that read files"
KEYS: dict[str, Key] = {
    "dialects": Key(dict, "a table of patterns and dialect names, or of dialects and their tables", {}, READERS),
    "exclude": Key(list, "a list of patterns", [], READERS),
    "duplicate-keys": Key(str, '"error" or "last"', "error", READERS),
    "prices": Key(dict, "a table of model patterns and price tables", {}, "stats"),
    "ignore": Key(list, "a list of codes", [], "validate; warnings of all commands"),
    "per-file-ignores": Key(dict, "a table of patterns and lists of codes", {}, "validate; warnings of all commands"),
    "ignore-at": Key(
        list, "a list of tables with file, where, line and codes", [], "validate; warnings of all commands"
    ),
    "select": Key(list, "a list of codes", [], "validate"),
    "baseline": Key(str, "a file name", "", "validate"),
    "strict": Key(bool, "true or false", False, "validate"),
    "as": Key(str, "a dialect name", "", "validate"),
    "check-arguments": Key(bool, "true or false", False, "validate"),
    "output-format": Key(str, "a format name", "full", "validate"),
}
PRICE_KEYS = ("input", "output", "cache-read", "cache-write")
"""The token counts that have a price, per million tokens."""
PLACE_KEYS = {"file": str, "where": str, "line": int, "codes": list}


class IgnoredPlace(msgspec.Struct, frozen=True):
    """A path whose findings are ignored, with everything below it.

    `where`: a pointer, in which `*` is any one step · `line`: a line or table row, None for any · `codes`: any if
    empty.
    """

    where: str
    line: int | None
    codes: frozenset[str]

    def matches(self, finding: Finding) -> bool:
        """True if the finding is at this path and has one of the codes."""
        is_elsewhere = self.line is not None and self.line != number_of(finding)
        if is_elsewhere or (self.codes and finding.code not in self.codes):
            return False
        steps, wanted = finding.where.split("/"), self.where.rstrip("/").split("/")
        return len(steps) >= len(wanted) and all(one in ("*", step) for one, step in zip(wanted, steps, strict=False))


NOTHING: Mapping[str, Any] = {}


class Configuration(msgspec.Struct, frozen=True):
    """The settings of a file, the folder its patterns are relative to, and its path; empty by default."""

    settings: Mapping[str, Any] = NOTHING
    folder: str = ""
    file: str = ""

    def ignored(self, file: str) -> frozenset[str]:
        """Returns the codes that are ignored in this file only."""
        tables = self.settings.get("per-file-ignores", {})
        return frozenset(code for pattern, each in tables.items() if self._matches(file, pattern) for code in each)

    def ignored_places(self, file: str) -> tuple[IgnoredPlace, ...]:
        """Returns the paths of this file whose findings are ignored."""
        return tuple(
            IgnoredPlace(place.get("where", ""), place.get("line"), frozenset(place.get("codes", ())))
            for place in self.settings.get("ignore-at", ())
            if self._matches(file, place.get("file", "*"))
        )

    def ignores(self, finding: Finding) -> bool:
        """True if the project ignores the finding."""
        codes_of_file = self.ignored(finding.file).union(self.settings.get("ignore", ())) if self.settings else ()
        return finding.code in codes_of_file or any(
            place.matches(finding) for place in self.ignored_places(finding.file)
        )

    def dialect(self, file: str) -> str | None:
        """Returns the dialect of the first pattern that matches a file, if any."""
        tables = self.settings.get("dialects", {})
        patterns = ((pattern, name) for pattern, name in tables.items() if isinstance(name, str))
        return next((name for pattern, name in patterns if self._matches(file, pattern)), None)

    def excludes(self, file: str) -> bool:
        """True if a pattern matches the file or a folder that contains it."""
        patterns = self.settings.get("exclude", ())
        return bool(patterns) and is_below(self._inside(file), patterns)

    def path(self, key: str) -> str:
        """Returns the file that a key names, relative to the working directory; empty if the key is not set."""
        name = self.settings.get(key, "")
        return os.path.relpath(os.path.join(self.folder, name)) if name else ""

    def _inside(self, file: str) -> str:
        return os.path.relpath(os.path.abspath(file), self.folder).replace(os.sep, "/")

    def _matches(self, file: str, pattern: str) -> bool:
        path = self._inside(file)
        return fnmatchcase(path if "/" in pattern else os.path.basename(path), pattern)


def is_below(path: str, patterns: Iterable[str]) -> bool:
    """True if a pattern matches this relative path or a folder on it; without `/`, any name on the path."""
    names = path.split("/")
    below = ["/".join(names[: index + 1]) for index in range(len(names))]
    for pattern in (each.removeprefix("./").rstrip("/") for each in patterns):
        if any(fnmatchcase(word, pattern) for word in (below if "/" in pattern else names)):
            return True
    return False


def load(start: str | None = None) -> Configuration:
    """Loads the configuration for a folder. Raises JobError `bad-configuration`."""
    found = project.nearest(start)
    if found is None:
        return Configuration()
    path, settings = found
    _check(path, settings)
    return Configuration(settings, os.path.dirname(path), path)


def in_force(configuration: Configuration) -> Iterator[dict[str, Any]]:
    """Yields a row for each key: its value, the file that sets it or `default`, and the commands that use it."""
    for name, key in KEYS.items():
        is_set = name in configuration.settings
        yield {
            "key": name,
            "value": configuration.settings.get(name, key.default),
            "from": os.path.relpath(configuration.file) if is_set else "default",
            "commands": key.commands,
        }


def _check(path: str, settings: dict[str, Any]) -> None:
    for key, value in settings.items():
        if key not in KEYS:
            refuse(path, f'there is no key "{key}"', did_you_mean(key, KEYS))
        if type(value) is not KEYS[key].kind:
            refuse(path, f"{key} must be {KEYS[key].wanted}")
    if settings.get("duplicate-keys", "error") not in ("error", "last"):
        refuse(path, f"duplicate-keys must be {KEYS['duplicate-keys'].wanted}")
    _check_codes(path, "select", settings.get("select", ()))
    _check_codes(path, "ignore", settings.get("ignore", ()))
    for pattern, each in settings.get("per-file-ignores", {}).items():
        _check_codes(path, f'per-file-ignores: "{pattern}"', each)
    for pattern, name in settings.get("dialects", {}).items():
        if isinstance(name, Mapping):
            from convcli.kit.codec import table as tables  # most configurations have none

            tables.parse(name, path, f"dialects.{pattern}")
        elif not isinstance(name, str):
            refuse(path, f'dialects: "{pattern}" must be a dialect name, or a table that describes a dialect')
    if not all(isinstance(pattern, str) for pattern in settings.get("exclude", ())):
        refuse(path, f"exclude must be {KEYS['exclude'].wanted}")
    for place in settings.get("ignore-at", ()):
        _check_place(path, place)
    for pattern, prices in settings.get("prices", {}).items():
        _check_prices(path, pattern, prices)


def _check_prices(path: str, pattern: str, prices: Any) -> None:
    if not isinstance(prices, Mapping):
        refuse(path, f'prices: "{pattern}" must be a table with {", ".join(PRICE_KEYS)}')
    for key, price in prices.items():
        if key not in PRICE_KEYS:
            refuse(path, f'prices: there is no key "{key}"', did_you_mean(key, PRICE_KEYS))
        if type(price) not in (int, float) or not 0 <= price < float("inf"):
            refuse(path, f"prices: {key} must be a number, the price of a million tokens")


def _check_place(path: str, place: Any) -> None:
    if not isinstance(place, Mapping):
        refuse(path, f"ignore-at must be {KEYS['ignore-at'].wanted}")
    for key, value in place.items():
        if key not in PLACE_KEYS:
            refuse(path, f'ignore-at: there is no key "{key}"', did_you_mean(key, PLACE_KEYS))
        if type(value) is not PLACE_KEYS[key]:
            refuse(path, f"ignore-at: {key} has the wrong type")
    if place.get("where", "").strip("/") and not place["where"].startswith("/"):
        refuse(path, 'ignore-at: where must be a pointer such as "/messages/0", in which * is any one step')
    _check_codes(path, "ignore-at", place.get("codes", ()))


def _check_codes(path: str, key: str, each: Any) -> None:
    if not isinstance(each, (list, tuple)):
        refuse(path, f"{key} must be a list of codes")
    from convcli.model import codes  # few projects name any

    for code in each:
        if not isinstance(code, str) or codes.find(code) is None:
            refuse(path, f'there is no code "{code}"', did_you_mean(str(code), codes.table()))
