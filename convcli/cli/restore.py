"""convcli restore."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._diagnostics import ExitCodes
from convcli.cli._types import PATH
from convcli.report.screen import Screen

if TYPE_CHECKING:
    from convcli.files.framing import Framing

EXAMPLES = """\
convcli samples claude -o claude.json
convcli convert claude.json --to gemini -o gemini.json --restore-file kept.jsonl
convcli restore gemini.json --restore-file kept.jsonl -o again.json
"""


@declare(EXAMPLES)
@add_argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE...")
@add_option(
    "--restore-file",
    "kept",
    type=PATH,
    metavar="FILE",
    required=True,
    help="The file that convert --restore-file wrote.",
)
@add_option(
    "-o",
    "--output",
    type=PATH,
    metavar="FILE|-",
    default="-",
    show_default=False,
    help="The output; without it, stdout.",
)
@add_option("--force", is_flag=True, help="Replace an existing output.")
def command(screen: Screen, paths: tuple[str, ...], kept: str, output: str, force: bool) -> int:
    """Rebuild the exact original of a converted file.

    FILE is the unchanged output of convert; if one input became many files, all of them. The result is the same JSON,
    with all lost fields and the order of keys. White space and the spelling of numbers (1e-6 for 0.000001) may differ.
    """
    from convcli.engine.restore import in_envelopes, in_shells
    from convcli.files.layouts import DocumentWriter, layout
    from convcli.files.names import is_lines
    from convcli.files.outputs import open_output
    from convcli.jobs.paths import find

    codes = ExitCodes(screen)
    target = open_output(output, force=force, inputs=[*(file.path for file in find(paths)), kept])
    try:
        with codes.guard(paths[0]):
            records = _records(kept)
            converted = [record for record in records if "sha256" in record or "texts" not in record]
            originals = list(_originals(paths, converted))
            is_picked = len(converted) < len(records)
            originals = in_envelopes(originals, records) if is_picked else in_shells(originals, records)
            writer = DocumentWriter(target, _layout(records) or ("jsonl" if is_lines(output) else layout(originals)))
            for original in originals:
                writer.add(original)
            writer.commit()
    finally:
        target.discard()
    return codes.worst


def _layout(records: list[Any]) -> Framing | None:
    """Returns the layout that the records name; None if the number of documents determines it."""
    return None if "many" in records[0] else next((one["layout"] for one in records if "layout" in one), None)


def _records(kept: str) -> list[Any]:
    """Returns the restore records of a file. Raises ContentError if there are none."""
    from convcli.files.framing import open_source
    from convcli.model.errors import ContentError

    records = list[Any]()
    with open_source(kept) as source:
        for record in source.each():
            if record.error is not None:
                raise record.error
            records += [record.value] if isinstance(record.value, dict) else []
    if not records:
        raise ContentError("not-a-restore-file", "the file contains no restore records", file=kept)
    return records


def _originals(paths: tuple[str, ...], records: list[Any]) -> Iterator[Any]:
    """Yields the originals of the documents, in the order of the records."""
    from convcli.engine.restore import in_order, restore
    from convcli.jobs import inputs
    from convcli.jobs.paths import find
    from convcli.model.errors import ContentError

    target = records[0].get("target")
    documents = [document.value for file in find(paths) for document in inputs.documents(file.path, target)]
    if len(documents) != len(records):
        message = f"{len(documents)} documents, but {len(records)} restore records"
        raise ContentError(
            "patch-does-not-fit", message, file=paths[0], help="are both files from the same conversion?"
        )
    for document, record in zip(in_order(documents, records), records, strict=True):
        yield restore(document, record)
