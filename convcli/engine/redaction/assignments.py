"""Finds values that the name before them calls secret: environment lines, options, keys of objects."""

from __future__ import annotations

import re
from collections.abc import Iterator

from convcli.engine.redaction.matches import Match
from convcli.wire.patterns import pattern

_ENVIRONMENT = pattern(
    r"(?<![A-Za-z0-9_])(?P<name>[A-Z][A-Z0-9_]{0,60}?(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|API_?KEY"
    r"|(?:ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING|AUTH|MASTER|SERVICE|ACCOUNT)_KEY|CREDENTIALS?)"
    r"|PASSWORD|PASSWD|TOKEN|SECRET)[ \t]{0,4}=[ \t]{0,4}\\{0,3}[\"']?(?P<secret>[^\s\"'`;,\\$<{}()\[\]]{6,512})(?!\()"
)
_NAME = (
    r"(?:password|passwd|passphrase|pwd|api[_-]?key|apikey|(?:client|app|shared)[_-]?secret|secret(?:[_-]?key)?"
    r"|(?:access|auth|refresh|session|id|api|bearer|bot|deploy)[_-]?token|(?:access|private|encryption|signing)[_-]?key)"
)
_QUOTED = pattern(
    rf"(?i)(?<![A-Za-z0-9])(?<!::)(?:[a-z0-9]{{1,30}}[_-]){{0,3}}{_NAME}"
    r"\\{0,3}[\"']?[ \t]{0,4}(?::|=>?)[ \t]{0,4}"
    r"\\{0,3}[\"'](?P<secret>[^\s\"'`\\$<{}]{6,512})\\{0,3}[\"']"
)
_OPTION = pattern(rf"(?i)(?<![\w-])--?{_NAME}[= ][\"']?(?P<secret>[^\s\"'`\\$<{{}}-][^\s\"'`\\$<{{}}]{{5,512}})")
_QUERY = pattern(
    r"(?i)[?&](?:access_token|api_?key|auth|client_secret|key|password|refresh_token|secret|token|x-amz-signature"
    r"|x-goog-signature|x-amz-security-token)=(?P<secret>[^\s&#\"'<>\\`)]{8,2000})"
)
_KEY = pattern(rf"(?i)^(?:[a-z0-9]{{1,30}}[_.-]){{0,4}}(?:[a-z0-9]{{0,30}}?)?{_NAME}$")
_WORDS = ("PASS", "PWD", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "pass", "pwd", "ecret", "oken", "key", "Key")
_CODE = (
    *("os.", "process.", "env.", "config.", "settings.", "secrets.", "self.", "this.", "import.", "...", "***", "xxx"),
    *("your", "my-", "my_", "test-", "example", "placeholder", "changeme", "dummy", "fake", "redacted", "%", "/"),
)
"""How code and stand-ins begin."""
_PLAIN = pattern(r"(?i)[a-z]+(?:[_.-][a-z]+)*")
"""Words, as in the name of a variable: they are no secret that somebody generated."""


def matches(text: str) -> Iterator[Match]:
    """Yields the values in a text that a name calls secret."""
    if not any(word in text for word in _WORDS):
        return
    if "=" in text:
        yield from _found(_ENVIRONMENT, "environment-secret", text)
        yield from _found(_QUERY, "url-secret", text)
    yield from _found(_QUOTED, "named-secret", text)
    if "-" in text:
        yield from _found(_OPTION, "option-secret", text)


def of_key(key: str, text: str) -> Match | None:
    """Returns the match of a whole string that its key calls secret."""
    is_long = len(text) > 512 or any(letter in text for letter in " \n<{$")
    if is_long or _KEY.match(key) is None or not is_secret(text):
        return None
    return Match("named-secret", "PASSWORD", 0, len(text))


def _found(expression: re.Pattern[str], rule: str, text: str) -> Iterator[Match]:
    for found in expression.finditer(text):
        if is_secret(found["secret"]):
            yield Match(rule, "PASSWORD", *found.span("secret"))


def is_secret(value: str) -> bool:
    """True if a value can be a secret: not words, a number, a variable or a well-known stand-in."""
    is_code = value.lower().startswith(_CODE) or value.endswith(("...", "…"))
    return len(value) >= 6 and not is_code and not value.isdigit() and _PLAIN.fullmatch(value) is None
