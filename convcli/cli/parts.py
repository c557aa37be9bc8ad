"""convcli parts."""

from __future__ import annotations

from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._types import PATH, Near
from convcli.model.errors import DONE, UNACCEPTABLE, JobError
from convcli.report.screen import Screen

EXAMPLES = """\
convcli samples rows -o rows.jsonl
convcli convert rows.jsonl --to openai-ft --out-dir out --engine local --restore-file all
convcli parts verify out   # exit 1 if a part is missing or a file has changed
convcli parts restore out --out-dir again   # the inputs, from the parts
"""


@declare(EXAMPLES)
@add_argument("action", type=Near("choice", lambda: ["verify", "restore"]), metavar="verify|restore")
@add_argument("folder", type=PATH, metavar="DIR|URL")
@add_option("--out-dir", type=PATH, metavar="DIR", help="The folder for the inputs that restore rebuilds.")
@add_option("--force", is_flag=True, help="Replace existing outputs.")
def command(screen: Screen, action: str, folder: str, out_dir: str | None, force: bool) -> int:
    """Verify or reverse a job in parts.

    verify: every part must be finished, and its files must have the sizes and checksums in its mark. restore: rebuild
    each input of a conversion that kept the restore records; the JSON is the same, white space may differ.
    """
    if (action == "restore") is not (out_dir is not None):
        raise JobError("usage", "convcli parts restore needs --out-dir, and convcli parts verify writes nothing")
    return _verify(screen, folder) if out_dir is None else _restore(screen, folder, out_dir, force)


def _verify(screen: Screen, folder: str) -> int:
    from convcli.parts.verifying import Verified, verify
    from convcli.report.text import safe_text
    from convcli.validation.wording import counted

    verified, differences = Verified(), 0
    for difference in verify(folder, verified):
        is_error = difference.severity == "error"
        differences += is_error
        text = f"{difference.severity}: {safe_text(difference.file)} {difference.problem}\n"
        screen.announce(text, is_error=is_error)
    text = f"{counted(verified.parts, 'part')} complete: {counted(verified.files, 'file')}, {verified.bytes:,} bytes"
    screen.announce(f"{text}; {counted(differences, 'difference')}\n" if differences else f"{text}\n")
    return UNACCEPTABLE if differences else DONE


def _restore(screen: Screen, folder: str, out_dir: str, force: bool) -> int:
    from convcli.parts.restoring import restore_inputs
    from convcli.validation.wording import counted

    done = restore_inputs(folder, out_dir, force=force)
    refused = f"; {done.refused:,} not accepted and not restored" if done.refused else ""
    screen.announce(f"{counted(done.files, 'file')}, {counted(done.documents, 'document')} restored{refused}\n")
    return DONE
