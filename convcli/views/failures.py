"""Why calls failed: a rejection by the user, or a cause by which failures can be grouped."""

from __future__ import annotations

import re
from typing import Any

from convcli.model.transcript import ToolResult
from convcli.views.outputs import output_of
from convcli.views.rows import is_error, part_text
from convcli.wire.patterns import pattern

LONGEST = 80
"""Maximum length of a cause."""
BEGINNING = 2_000
"""Characters of a result in which its cause is looked for."""
DENIED = "denied"
"""The status of a result whose call the user did not allow."""

_REJECTED = pattern(
    r"\W*(?:error\W{1,3})?(?:"
    r"the user (?:doesn't|does not|didn't|did not) want to (?:proceed with|take) this"
    r"|\[?request interrupted by user for tool use"
    r"|(?:exec command|patch|command|tool call) rejected by (?:the )?user"
    r"|(?:the )?user (?:rejected|denied|declined|has declined|refused)\b"
    r"|\[operation cancelled\] reason: user"
    r"|user did not allow tool call)",
    re.IGNORECASE,
)
"""How agent programs write that a person did not allow a call."""
_TAG = pattern(r"</?[A-Za-z_-]{1,40}>")
_VALUES = pattern(
    r"(?P<quoted>\"[^\"\n]{1,400}\"|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w))"
    r"|(?P<path>(?:[A-Za-z]:|~|[\w.@+-]{1,80})?(?:[/\\][\w.@+-]{1,200}){2,}[/\\]?)"
    r"|(?P<number>\b(?:0x)?[0-9a-fA-F]{0,40}?\d[0-9a-fA-F]{3,64}\b)"
)
_STANDS_FOR = {"quoted": '"…"', "path": "PATH", "number": "N"}


def is_rejected(result: ToolResult) -> bool:
    """True if the user did not allow the call."""
    return result.status == DENIED or (is_error(result) and is_rejection(part_text(result)))


def is_rejection(text: str) -> bool:
    """True if the text of a failed result says that the user did not allow the call."""
    return _REJECTED.match(text[:400]) is not None


def is_failed(result: ToolResult) -> bool:
    """True if the call was allowed and failed."""
    return is_error(result) and not is_rejected(result)


def cause_of(result: ToolResult) -> str:
    """Returns the exit code or the first line of a failure, without paths, quoted values and long numbers."""
    output = output_of(_message(result), is_failed=True)
    if output.exit_code is not None:
        return f"exit code {output.exit_code}"
    text = _TAG.sub("", output.text[:BEGINNING])
    line = next((line for line in map(str.strip, text.splitlines()) if line), "")
    line = _VALUES.sub(lambda found: _STANDS_FOR[found.lastgroup or "number"], line)
    return (line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…") or "no text"


def _message(result: ToolResult) -> str:
    value: Any = result.value
    if isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "stderr") if isinstance(value.get(name), str)), None)
    return value if isinstance(value, str) else part_text(result)
