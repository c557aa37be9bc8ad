"""convcli parts."""

from __future__ import annotations

import click

from convcli.cli._commands import Command
from convcli.cli._types import PATH, Near
from convcli.model.errors import DONE, UNACCEPTABLE
from convcli.report.screen import Screen

EXAMPLES = """\
convcli samples rows -o rows.jsonl
convcli convert rows.jsonl --to openai-ft --out-dir out --engine local
convcli parts verify out   # exit 1 if a part is missing or a file has changed
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("action", type=Near("choice", lambda: ["verify"]), metavar="verify")
@click.argument("folder", type=PATH, metavar="DIR|URL")
@click.pass_obj
def command(screen: Screen, action: str, folder: str) -> int:
    """Verify the folder of a job in parts.

    Every part must be finished, and its files must have the sizes and checksums in its mark.
    """
    from convcli.parts.verifying import Verified, verify
    from convcli.report.text import safe_text
    from convcli.validation.wording import counted

    verified, differences = Verified(), 0
    for difference in verify(folder, verified):
        differences += 1
        screen.announce(f"error: {safe_text(difference.file)} {difference.problem}\n", is_error=True)
    text = f"{counted(verified.parts, 'part')} complete: {counted(verified.files, 'file')}, {verified.bytes:,} bytes"
    screen.announce(f"{text}; {counted(differences, 'difference')}\n" if differences else f"{text}\n")
    return UNACCEPTABLE if differences else DONE
