"""Finds personal data by its form: e-mail addresses, phone numbers, IP addresses and home directories."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

from convcli.engine.redaction.matches import Match
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
_NO_PERSON = frozenset(("git", "hg", "no-reply", "noreply", "svn"))
_PHONE = pattern(
    r"(?<![\w.+-])(?:\+[1-9](?:[ .()/-]{0,2}[0-9]){6,14}"
    r"|\([0-9]{3}\) ?[0-9]{3}[-. ][0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4})(?![\w-]|\.[0-9])"
)
_IPV4 = pattern(r"(?<![\w.+/-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w-]|\.[0-9])")
_IPV6 = pattern(r"(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){2,7}(?::?[0-9A-Fa-f]{1,4}){0,6}(?![\w:.])")
_VERSION = pattern(r"(?i:version|release|[^a-z]v|==|>=|<=|~=|@|section|chapter|chrome)[\s:\"'=/]{0,3}$")
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
        if not is_file and not _RESERVED.search(domain) and name.lower() not in _NO_PERSON:
            yield Match("email", "EMAIL", found.start(), found.end())


def _homes(text: str) -> Iterator[Match]:
    for found in _HOME.finditer(text):
        if found["name"].lower() not in _NOBODY:
            yield Match("home-directory", "HOME", found.start(), found.start() + len(found[0].rstrip(".")))
    for found in _SLUG.finditer(text):
        yield Match("home-directory-of-claude", "USER", *found.span("name"))


def _addresses(text: str) -> Iterator[Match]:
    for found in _IPV4.finditer(text):
        if _VERSION.search(text[max(0, found.start() - 12) : found.start()]):
            continue
        if _is_of_machine(found[0]):
            yield Match("ip-address", "IP", *found.span())


def _addresses_of_version_6(text: str) -> Iterator[Match]:
    for found in _IPV6.finditer(text):
        if found[0].count(":") >= 3 and any(map(str.isdigit, found[0])) and _is_of_machine(found[0]):
            yield Match("ip-address", "IP", *found.span())


def _is_of_machine(text: str) -> bool:
    """True for an address that one machine has: not a loopback address, a mask, or one of documentation."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    is_general = address.is_loopback or address.is_unspecified or address.is_multicast or address.is_reserved
    documented = any(address in network for network in _DOCUMENTED if network.version == address.version)
    return not is_general and not documented and not text.startswith(("0.", "255.")) and not text.endswith(".0")


_DOCUMENTED = tuple(map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")))
"""Addresses of RFC 5737 and RFC 3849, which no machine has."""


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
        if numbers.is_valid_number(number):
            yield Match("phone-number", "PHONE", *found.span())
