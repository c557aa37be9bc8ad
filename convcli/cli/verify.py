"""convcli verify."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._recording import expanded
from convcli.cli._types import PATH
from convcli.model.errors import DONE, UNACCEPTABLE, JobError
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.jobs.receipts import FileDifference, FileRecord, Paths, Receipt

EXAMPLES = """\
convcli samples session -o session.jsonl
convcli convert session.jsonl --to hf-chat -o row.jsonl --receipt receipt.json
convcli verify receipt.json           # exit 1 if a file is missing or has changed
convcli verify receipt.json --rerun   # also if the same command writes something else now
"""

OUTPUTS = {"output": "-o", "out_dir": "--out-dir", "losses": "--losses", "restore_file": "--restore-file"}
"""The options of `convert` that name outputs."""


@declare(EXAMPLES)
@add_argument("path", type=PATH, metavar="RECEIPT")
@add_option("--rerun", is_flag=True, help="Convert again, into a temporary folder, and compare the outputs too.")
def command(screen: Screen, path: str, rerun: bool) -> int:
    """Verify the receipt of a conversion.

    Its inputs and outputs must exist with the sizes and hashes that were recorded by convert --receipt.
    """
    from convcli.jobs.receipts import Paths, differences, load
    from convcli.validation.wording import counted

    receipt, paths = load(path), Paths(path)
    for record in (record for record in receipt.inputs if record.sha256 is None):
        _announce(screen, f"note: {record.path} is not checked: {record.unchecked}")
    changed = list(differences(receipt.inputs, paths))
    found = [*changed, *differences(receipt.outputs, paths)]
    if rerun and changed:
        _announce(screen, "note: the command is not run again, because its inputs are not the same")
    elif rerun:
        found += _of_rerun(receipt, paths)
    for difference in found:
        _announce(screen, f"error: {difference.file} {difference.problem}", is_error=True)
    inputs, outputs = (counted(_checked(each), word) for each, word in _files(receipt))
    _announce(screen, f"{inputs} and {outputs} checked; {counted(len(found), 'difference')}")
    return UNACCEPTABLE if found else DONE


def _announce(screen: Screen, text: str, *, is_error: bool = False) -> None:
    from convcli.report.text import safe_text

    screen.announce(f"{safe_text(text)}\n", is_error=is_error)


def _files(receipt: Receipt) -> tuple[tuple[list[FileRecord], str], ...]:
    return (receipt.inputs, "input"), (receipt.outputs, "output")


def _checked(records: Iterable[FileRecord]) -> int:
    return sum(record.sha256 is not None for record in records)


# --- running it again ------------------------------------------------------------------------------------------------


def _of_rerun(receipt: Receipt, paths: Paths) -> Iterator[FileDifference]:
    """Runs the command again into a temporary folder; yields the differences between its outputs and the receipt.

    Raises JobError if the receipt does not have the command as it was.
    """
    from tempfile import TemporaryDirectory

    from convcli.jobs.receipts import FileDifference, load

    if receipt.is_masked:
        message = "this receipt has the command without private values, so it cannot be run again"
        raise JobError("usage", message, help="leave out --rerun")
    folder, words = paths.found(receipt.directory), list(map(expanded, receipt.command))
    with TemporaryDirectory() as temporary:
        values = _values(words)
        _run(_redirected(words, values, temporary), folder)
        try:
            again = load(os.path.join(temporary, "receipt"))
        except JobError:
            yield FileDifference("the command", "writes nothing now")
            return
        base = os.path.join(folder, values.get("out_dir") or values.get("output") or "")
        yield from _compared(receipt, paths, base, temporary)
        if again.losses != receipt.losses:
            yield FileDifference("the command", f"loses {_counts(again)} now instead of {_counts(receipt)}")


def _values(words: list[str]) -> dict[str, Any]:
    """Returns the options of a command line of `convert`, by parameter."""
    from convcli.cli._click import written

    return written("convert", words)


def _redirected(words: list[str], values: dict[str, Any], temporary: str) -> list[str]:
    """Returns a command line whose outputs are in the temporary folder: the last of an option counts."""
    more = ["--receipt", os.path.join(temporary, "receipt")]
    for name, option in OUTPUTS.items():
        if values.get(name) is not None:
            folder = os.path.join(temporary, _role(name))
            os.makedirs(folder, exist_ok=True)
            more += [option, folder if name == "out_dir" else os.path.join(folder, os.path.basename(values[name]))]
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end], *more, *words[end:]]


def _role(name: str) -> str:
    return {"out_dir": "output", "restore_file": "restore-file"}.get(name, name)


def _run(words: list[str], folder: str) -> None:
    import subprocess

    program = [sys.executable, "-m", "convcli", "convert", *words]
    try:
        subprocess.run(program, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError as error:
        raise JobError("unreadable-input", f"cannot run it there: {error.strerror}", file=folder) from None


def _compared(receipt: Receipt, paths: Paths, base: str, temporary: str) -> Iterator[FileDifference]:
    """Yields the outputs that are not written again as the receipt has them. A card contains the command itself."""
    from msgspec.structs import replace

    from convcli.jobs.receipts import FileDifference, differences

    for record in receipt.outputs:
        if record.role is None or record.role == "card":
            continue
        path = paths.found(record.path)
        is_below = record.role == "output" and os.path.isdir(base)
        name = os.path.relpath(path, base) if is_below else os.path.basename(path)
        again = replace(record, path=os.path.join(temporary, record.role, name))
        for difference in differences([again], paths):
            yield FileDifference(record.path, f"written again {difference.problem}")


def _counts(receipt: Receipt) -> str:
    return ", ".join(f"{count:,} of {level}" for level, count in receipt.losses.items())
