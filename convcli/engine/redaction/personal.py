"""Finds personal data by its form: e-mail addresses, phone numbers, IP addresses and home directories."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from convcli.engine.redaction.matches import Match
from convcli.engine.redaction.names import is_general
from convcli.model.errors import JobError
from convcli.wire.patterns import pattern

_EMAIL = pattern(r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-]|\.[A-Za-z0-9])")
_FILE_SUFFIXES = frozenset(
    [
        "css",
        "gif",
        "html",
        "ico",
        "jpeg",
        "jpg",
        "js",
        "json",
        "jsx",
        "md",
        "mjs",
        "mp3",
        "mp4",
        "pdf",
        "png",
        "py",
        "rs",
        "svg",
        "ts",
        "tsx",
        "webp",
    ]
)
"""What ends `logo@2x.png` is no domain."""
_RESERVED = pattern(r"(?:^|\.)example(?:\.(?:com|net|org))?$|\.(?:invalid|test|localhost|local)$", re.IGNORECASE)
"""Domains of RFC 2606, which no person has."""
_STAND_INS = frozenset(
    ("company.com", "domain.com", "example-domain.com", "test.com", "yourcompany.com", "yourdomain.com")
)
"""Domains that documentation and tests use in place of those of RFC 2606."""
_PROGRAMS = frozenset(("cursoragent@cursor.com", "openhands@all-hands.dev"))
"""Addresses that agent programs write as co-authors of commits."""
_NO_PERSON = frozenset(("git", "hg", "no-reply", "noreply", "svn"))
_PHONE = pattern(
    r"(?<![\w.+-])(?:\+[1-9](?:[ .()/-]{0,2}[0-9]){6,14}"
    r"|\([0-9]{3}\) ?[0-9]{3}[-. ][0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4})(?![\w-]|\.[0-9])"
)
_FICTION = pattern(r"^[0-9]{3}55501[0-9]{2}$")
"""Numbers of North America that are for fiction."""
_IPV4 = pattern(r"(?<![\w.+/-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w-]|\.[0-9])")
_IPV6 = pattern(r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4}){0,6}(?![\w:.])")
_VERSION = pattern(r"(?i:version|release|[^a-z]v|==|>=|<=|~=|@|section|chapter|chrome)[\s:\"'=/_]{0,6}$")
"""What precedes four numbers that are a version or the number of a section."""
_HOME = pattern(
    r"(?:(?<![\w.-])|(?<=\\[bfnrt])|(?<=/var)|(?<=/export)|(?<=/mnt/[a-z])|(?<=[^\w]/[a-z]))"
    r"(?:/home/|/Users/|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))(?P<name>\w[\w.@+-]{0,63})"
)
_SLUG = pattern(r"(?<=projects[/\\])-{1,2}(?:home|Users)-(?P<name>[A-Za-z0-9]{1,64})(?![A-Za-z0-9])")
"""A home directory as Claude Code names the folder of a project: `~/.claude/projects/-home-NAME-…`."""
_NOBODY = frozenset(("all", "linuxbrew", "public", "shared", "default"))
"""Folders next to home directories that are of no person."""


def load_numbers() -> Any:
    """Returns the library that knows the phone numbers of all countries. Raises JobError if it is not installed."""
    try:
        import phonenumbers
    except ImportError:
        message = "redaction needs the package phonenumbers"
        raise JobError("package-not-installed", message, help="pip install 'convcli[redact]'") from None
    return phonenumbers


def matches(text: str) -> Iterator[Match]:
    """Yields the personal data of a text."""
    if "@" in text:
        yield from _emails(text)
    if "/home/" in text or "Users" in text or "-home-" in text:
        yield from _homes(text)
    if text.count(".") >= 3:
        yield from _addresses(text)
    if text.count(":") >= 3:
        yield from _addresses_of_version_6(text)
    if "+" in text or "-" in text:
        yield from _phones(text)


def _emails(text: str) -> Iterator[Match]:
    for found in _EMAIL.finditer(text):
        name, _, domain = found[0].rpartition("@")
        is_file = domain.rpartition(".")[2].lower() in _FILE_SUFFIXES
        is_example = _RESERVED.search(domain) is not None or domain.lower() in _STAND_INS
        is_nobody = name.lower() in _NO_PERSON or found[0].lower() in _PROGRAMS
        if not is_file and not is_example and not is_nobody:
            yield Match("email", "EMAIL", found.start(), found.end())


def _homes(text: str) -> Iterator[Match]:
    for found in _HOME.finditer(text):
        if found["name"].lower() not in _NOBODY and not is_general(found["name"].rstrip(".")):
            yield Match("home-directory", "HOME", found.start(), found.start() + len(found[0].rstrip(".")))
    for found in _SLUG.finditer(text):
        if not is_general(found["name"]):
            yield Match("home-directory-of-claude", "USER", *found.span("name"))


def _addresses(text: str) -> Iterator[Match]:
    for found in _IPV4.finditer(text):
        if _VERSION.search(text[max(0, found.start() - 16) : found.start()]):
            continue
        if _is_of_machine(found[0]):
            yield Match("ip-address", "IP", *found.span())


def _addresses_of_version_6(text: str) -> Iterator[Match]:
    for found in _IPV6.finditer(text):
        if found[0].count(":") >= 3 and any(map(str.isdigit, found[0])) and _is_of_machine(found[0]):
            yield Match("ip-address", "IP", *found.span())


def _is_of_machine(text: str) -> bool:
    """True for an address that one machine has: not a loopback address, a mask, or one that everybody uses."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    is_general = address.is_loopback or address.is_unspecified or address.is_multicast or address.is_reserved
    is_shared = any(address in network for network in _SHARED if network.version == address.version)
    return not is_general and not is_shared and not text.startswith(("0.", "255.")) and not text.endswith(".0")


_SHARED = tuple(
    map(
        ipaddress.ip_network,
        (
            *("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"),
            *("192.0.0.0/24", "2001:1::/32", "169.254.0.0/16"),
            *("1.1.1.1", "1.0.0.1", "8.8.8.8", "8.8.4.4", "9.9.9.9", "1.2.3.4"),
        ),
    )
)
"""Addresses that say nothing of a machine: those of documentation (RFC 5737 and 3849), of protocols (RFC 6890) and of
services in each cloud; public name servers; and what people write for any address."""


def _phones(text: str) -> Iterator[Match]:
    found = _PHONE.search(text)
    if found is None:
        return
    numbers = load_numbers()
    for found in _PHONE.finditer(text):
        try:
            number = numbers.parse(found[0], "US")
        except numbers.NumberParseException:
            continue
        if numbers.is_valid_number(number) and _FICTION.search(str(number.national_number)) is None:
            yield Match("phone-number", "PHONE", *found.span())
