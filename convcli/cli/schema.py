"""convcli schema."""

from __future__ import annotations

from typing import Any

from convcli import dialects
from convcli.cli._commands import add_argument, add_option, declare
from convcli.cli._types import Near
from convcli.model.errors import JobError
from convcli.report.screen import Screen

EXAMPLES = """\
convcli schema openai-chat
convcli schema --list
"""


class _Name(Near):
    """The name of a schema, an alias of a dialect, or the name of a table."""

    def convert(self, word: Any) -> Any:
        from convcli.kit.codec import found

        known: str = word if word in self.words() else dialects.aliases().get(word, word)
        if known not in self.words() and found.layout(known) is not None:
            return known
        return super().convert(known)


def _names() -> list[str]:
    from convcli.validation import schemas

    return schemas.names()


@declare(EXAMPLES)
@add_argument("name", type=_Name("schema", _names), required=False, metavar="NAME")
@add_option("--list", "lists", is_flag=True, help="List the names of all schemas.")
def command(screen: Screen, name: str | None, lists: bool) -> int:
    """Print the JSON Schema of a dialect, finding or loss."""
    from convcli.validation import schemas
    from convcli.wire import exact_json

    if lists:
        screen.show(f"{name}\n" for name in schemas.names())
    elif name is None:
        raise JobError("usage", 'missing argument "NAME"', help="convcli schema --list lists them")
    else:
        screen.show([screen.out.json(exact_json.write(schemas.schema(name), indent=True).decode()) + "\n"])
    return 0
