"""The names of a user and a machine, as a session itself gives them: in its directory and its git remotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from convcli.engine.redaction.matches import Match
from convcli.engine.redaction.rules import Kind
from convcli.wire.patterns import pattern

_DIRECTORY = pattern(
    r"(?:/var|/export|/mnt/[a-z])?(?:/home/|/Users/|[A-Za-z]:[\\/]{1,2}Users[\\/]{1,2})(?P<name>\w[\w.@+-]*)"
)
_REMOTE = pattern(
    r"(?:git@|ssh://(?:git@)?|https?://(?:[^\s/@]{1,80}@)?|git://)(?P<host>[A-Za-z0-9.-]{3,80})(?::[0-9]{1,5})?"
    r"[:/](?P<owner>[\w.-]{2,40})/[\w.-]{1,100}?\.git(?![\w.])"
)
_FORGES = frozenset(("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "huggingface.co"))
_GENERAL = frozenset(
    [
        "admin",
        "administrator",
        "agent",
        "all",
        "app",
        "assistant",
        "build",
        "builder",
        "cache",
        "ci",
        "claude",
        "code",
        "coder",
        "codex",
        "container",
        "data",
        "debian",
        "dev",
        "developer",
        "docker",
        "ec2-user",
        "example",
        "git",
        "guest",
        "home",
        "host",
        "linux",
        "linuxbrew",
        "local",
        "main",
        "me",
        "node",
        "nobody",
        "openhands",
        "owner",
        "project",
        "projects",
        "python",
        "repo",
        "root",
        "runner",
        "server",
        "shared",
        "src",
        "system",
        "test",
        "tests",
        "tmp",
        "tool",
        "ubuntu",
        "user",
        "username",
        "users",
        "vagrant",
        "vscode",
        "work",
        "workspace",
        "you",
        "yourname",
    ]
)
"""Names of users and folders that many machines have, and words that texts need."""
SHORTEST = 3
"""Characters of the shortest name that is looked for outside of paths."""


def of_directory(path: str) -> Iterator[tuple[str, Kind]]:
    """Yields the name of the user whose home directory a path is in."""
    found = _DIRECTORY.match(path)
    if found is not None and is_personal(found["name"]):
        yield found["name"], "USER"


def of_remotes(text: str) -> Iterator[tuple[str, Kind]]:
    """Yields the owners and the hosts of the git remotes in a text; forges that everybody uses are no names."""
    if ".git" not in text:
        return
    for found in _REMOTE.finditer(text):
        if found["host"].lower() not in _FORGES:
            yield found["host"], "HOST"


def is_general(name: str) -> bool:
    """True for a name of a user that says nothing of a person: many machines have it, or only examples."""
    return name.lower() in _GENERAL


def is_personal(name: str) -> bool:
    """True if a name is worth masking wherever it occurs."""
    return len(name) >= SHORTEST and not is_general(name) and not name.isdigit()


def expression_of(words: Iterable[str]) -> re.Pattern[str] | None:
    """Returns the expression that finds these words in any case, not inside of longer words; None without words."""
    longest_first = sorted(set(map(str.lower, words)), key=lambda word: (-len(word), word))
    if not longest_first:
        return None
    return re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, longest_first))})(?![A-Za-z0-9])")


def matches(text: str, expression: re.Pattern[str] | None, kinds: dict[str, Kind]) -> Iterator[Match]:
    """Yields the words of `expression` in a text; `kinds` has them in lower case."""
    if expression is None:
        return
    for found in expression.finditer(text):
        kind = kinds.get(found[0].lower(), "WORD")
        yield Match(_RULES[kind], kind, *found.span())
        after = _HOST.match(text, found.end()) if kind == "USER" else None
        if after is not None:
            yield Match("host-name", "HOST", *after.span("host"))


_RULES: dict[str, str] = {"USER": "user-name", "HOST": "host-name", "WORD": "listed-word"}
_HOST = pattern(r"@(?P<host>[A-Za-z0-9][A-Za-z0-9-]{1,62})(?=[:\s~/]|$)")
"""The name of a machine behind that of its user, as a prompt of a shell shows it."""
