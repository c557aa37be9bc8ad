"""convcli restore."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from convcli.cli import _shared
from convcli.cli._commands import Command
from convcli.report.screen import Screen

EXAMPLES = """\
convcli convert samples/cline/chat.json --to gemini -o out.json --restore-file kept.jsonl
convcli restore out.json --restore-file kept.jsonl -o chat-again.json
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("path", type=click.Path(), metavar="FILE")
@click.option(
    "--restore-file",
    "kept",
    type=click.Path(),
    metavar="FILE",
    required=True,
    help="What convert --restore-file wrote.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(allow_dash=True),
    metavar="FILE|-",
    default="-",
    show_default=False,
    help="Where to write; without it, to stdout.",
)
@click.option("--force", is_flag=True, help="Replace an output that exists.")
@click.pass_obj
def command(screen: Screen, path: str, kept: str, output: str, force: bool) -> int:
    """Give back the exact original of a converted file.

    FILE is what convert wrote, unchanged. The same JSON comes back, with the order of its keys and all that was lost;
    white space and the spelling of a number (1e-6 for 0.000001) do not.
    """
    from convcli.files.framing import encoded, layout
    from convcli.files.outputs import open_output

    codes = _shared.ExitCodes(screen)
    target = open_output(output, force=force, inputs=[path, kept])
    try:
        with codes.guard(path):
            originals = list(_originals(path, kept))
            suffix = layout(originals)
            for original in originals:
                target.write(b"".join(encoded(original, suffix)))
            target.commit()
    finally:
        target.discard()
    return codes.worst


def _originals(path: str, kept: str) -> Iterator[Any]:
    """The originals of the documents of a file, in their order."""
    from convcli.engine.restore import restore
    from convcli.files.framing import open_source
    from convcli.jobs import inputs
    from convcli.model.errors import ContentError

    with open_source(kept) as source:
        records = [record for record in _values(source) if isinstance(record, dict)]
    if not records:
        raise ContentError("not-a-restore-file", "there is no restore record in it", file=kept)
    documents = list(inputs.documents(path, records[0].get("target")))
    if len(documents) != len(records):
        message = f"{len(documents)} documents, but {len(records)} restore records"
        raise ContentError("patch-does-not-fit", message, file=path, help="are these two from one conversion?")
    for document, record in zip(documents, records, strict=True):
        yield restore(document.value, record)


def _values(source: Any) -> Iterator[Any]:
    if source.framing == "json":
        yield source.document()[0]
        return
    for record in source.records():
        if record.error is not None:
            raise record.error
        yield record.value
