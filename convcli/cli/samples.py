"""convcli samples."""

from __future__ import annotations

import os
from typing import NamedTuple

from convcli.cli import _shared
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._types import PATH, Near, format_of
from convcli.report import tables
from convcli.report.screen import Screen


class Sample(NamedTuple):
    """A file that the package contains: its path below the folder of samples, and what it is."""

    path: str
    about: str


SAMPLES = {
    "session": Sample("claude-code/example.jsonl", "a Claude Code session: four tool calls, one of them failed"),
    "chat": Sample("openai-chat/twin-weather.json", "an OpenAI Chat Completions request: tool calls and an image"),
    "claude": Sample("anthropic/worked-example.json", "an Anthropic request: thinking, tool calls, cache control"),
    "rows": Sample("sharegpt/calls-and-results.jsonl", "ShareGPT training rows with tool calls"),
    "log": Sample("openai-batch/twin-weather.json", "a request of the OpenAI Batch API; --at /body finds the chat"),
    "broken": Sample("openai-ft/bad/example.jsonl", "OpenAI fine-tuning rows, three of four with mistakes"),
}
"""The samples by name. `pyproject.toml` puts the same files into the wheel."""

EXAMPLES = """\
convcli samples                           # lists them
convcli samples session -o session.jsonl  # writes one
convcli samples chat | convcli convert - --to gemini
"""


def folder() -> str:
    """Returns the folder of the samples: inside the package if it is installed, next to it in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "samples")
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), "samples")


@declare(EXAMPLES)
@add_argument("name", type=Near("sample", lambda: list(SAMPLES)), required=False, metavar="[NAME]")
@add_option("-o", "--output", type=PATH, metavar="FILE|-", help="The output; without it, stdout.")
@add_option("--force", is_flag=True, help="Replace an existing output.")
@add_option("-O", "--output-format", "form", type=format_of(tables), default="table", help="The format of the list.")
def command(screen: Screen, name: str | None, output: str | None, force: bool, form: str) -> int:
    """List small files to try commands on, or write one.

    The examples in the help of each command use them.
    """
    from convcli.files.outputs import open_output
    from convcli.model.errors import JobError

    if name is None and output is not None:
        raise JobError("usage", 'missing argument "NAME"', help="convcli samples lists the names")
    if name is None:
        rows = ({"name": name, "about": sample.about} for name, sample in SAMPLES.items())
        _shared.show_table(screen, form, ["name", "about"], rows)
        return 0
    target = open_output(output or "-", force=force)
    try:
        with open(os.path.join(folder(), *SAMPLES[name].path.split("/")), "rb") as file:
            target.write(file.read())
        target.commit()
    finally:
        target.discard()
    return 0
