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
_SPOKEN = "password passwd passphrase pwd secret api-key client-secret app-secret shared-secret"
_SPOKEN += " access-token auth-token refresh-token session-token api-token bearer-token bot-token deploy-token"
"""The names of other keys are left out: after these, code without quotes has names of types and functions."""


def _spellings(name: str) -> Iterator[str]:
    """Yields a name as it is written: `api_key`, `apiKey`, `API key`. Expressions that begin with letters are fast."""
    first, *rest = name.split("-")
    for begin in (first, first.capitalize(), first.upper()):
        for end in {"".join(rest), "".join(rest).capitalize(), "".join(rest).upper()}:
            yield begin + (f"[ _-]?{end}" if end else "")


_UNQUOTED = pattern(
    f"(?:{'|'.join(sorted({each for name in _SPOKEN.split() for each in _spellings(name)}))})"
    r"(?:\*{0,2}:\*{0,2}[ \t]{1,4}|=|[ \t]{1,2}=[ \t]{1,2}(?=[\w.]{0,128}[^\w\s.`\"',;)(\[]))`?"
    r"(?P<secret>(?=[^\s\d]{0,128}\d)(?=[^\sA-Za-z]{0,128}[A-Za-z])[^\s\"'`,;|\\$<>{}()\[\]]{6,128})(?=[\s`,;.)\"'\\]|\Z)"
)
"""A password in prose, in YAML or in a file of settings: it has a letter and a digit, unlike words."""
_DOTTED = pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
"""An attribute, as in code."""
_NO_PASSWORDS = (
    *("argon2", "base64", "bcrypt", "hs256", "md5", "pbkdf2", "rs256", "sha1", "sha2", "sha5", "utf8"),
    *("http://", "https://"),
)
_OPTION = pattern(rf"(?i)(?<![\w-])--?{_NAME}[= ][\"']?(?P<secret>[^\s\"'`\\$<{{}}-][^\s\"'`\\$<{{}}]{{5,512}})")
_QUERY = pattern(
    r"(?i)[?&](?:access_token|api_?key|auth|client_secret|key|password|refresh_token|secret|token|x-amz-signature"
    r"|x-goog-signature|x-amz-security-token)=(?P<secret>[^\s&#\"'<>\\`)]{8,2000})"
)
_KEY = pattern(rf"(?i)^(?:[a-z0-9]{{1,30}}[_.-]){{0,4}}(?:[a-z0-9]{{0,30}}?)?{_NAME}$")
_WORDS = ("PASS", "PWD", "SECRET", "TOKEN", "KEY", "CREDENTIAL", "pass", "pwd", "ecret", "oken", "key", "Key", "Pass")
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
    yield from _unquoted(text)
    if "-" in text:
        yield from _found(_OPTION, "option-secret", text)


def _unquoted(text: str) -> Iterator[Match]:
    """Yields passwords without quotes; not the names of arguments, attributes and algorithms."""
    for found in _UNQUOTED.finditer(text):
        value, before = found["secret"].rstrip(".:"), text[found.start() - 1 : found.start()]
        start, end = found.start("secret"), found.start("secret") + len(value)
        is_argument = text[start - 1] == "=" and text[end : end + 1] in (")", ",")
        is_code = is_argument or _DOTTED.fullmatch(value) is not None or value.lower().startswith(_NO_PASSWORDS)
        if not (is_code or before.isalnum() or before == "$") and is_secret(value):
            yield Match("named-secret", "PASSWORD", start, end)


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
