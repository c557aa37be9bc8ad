"""convcli completion."""

from __future__ import annotations

from convcli.cli._commands import add_argument, declare
from convcli.cli._types import Near
from convcli.model.errors import JobError
from convcli.report.screen import Screen

EXAMPLES = """\
convcli completion bash >> ~/.bashrc
convcli completion zsh > _convcli          # move it to a folder of $fpath
convcli completion fish > convcli.fish     # move it to ~/.config/fish/completions
"""
SHELLS = ["bash", "fish", "powershell", "zsh"]
VARIABLE = "_CONVCLI_COMPLETE"
"""The variable by which completion scripts ask the program for words."""


@declare(EXAMPLES)
@add_argument("shell", type=Near("shell", lambda: SHELLS), metavar="SHELL")
def command(screen: Screen, shell: str) -> int:
    """Print the completion script for a shell."""
    from click.shell_completion import get_completion_class

    from convcli.cli._click import group

    kind = get_completion_class(shell)
    if kind is None:
        raise JobError("usage", f"this version of click has no completion for {shell}", help="pip install 'click>=8.5'")
    screen.show([kind(group, {}, "convcli", VARIABLE).source().strip() + "\n"])
    return 0


def answer(instruction: str) -> int:
    """Prints the words that may come next, for a completion script. Returns the exit code."""
    from click.shell_completion import shell_complete

    from convcli.cli._click import group

    return shell_complete(group, {}, "convcli", VARIABLE, instruction)
