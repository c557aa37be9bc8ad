"""Changes of files in the arguments of calls: edits, new files, patches of Codex and unified diffs.

Line numbers come from what the agent program recorded with the result; without it, lines have no numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal, NamedTuple, TypeAlias

from convcli.model.transcript import Message, ToolCall, ToolResult
from convcli.views.gists import COMMANDS, command_of
from convcli.views.rows import CallPairs, is_error, part_text
from convcli.wire.patterns import pattern

Sign: TypeAlias = Literal["+", "-", " ", "@"]
Kind: TypeAlias = Literal["added", "changed", "deleted", "moved"]

EDITS = (("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str"), ("old_text", "new_text"))
"""Argument pairs of an edit: the old text and the new text."""
PATHS = (
    "file_path",
    "path",
    "filePath",
    "filepath",
    "absolute_path",
    "filename",
    "file",
    "notebook_path",
    "target_file",
)
CONTENTS = ("content", "contents", "file_text", "new_source")
"""Arguments with the whole text of a new file."""
PATCHES = ("input", "patch", "diff", "unified_diff", *COMMANDS)
CONTEXT = 3
"""Unchanged lines shown around a change."""
MOST_COMPARED = 1_000_000
"""Product of the lines of two texts, above which they are not compared: a comparison can take quadratic time."""
BEGIN, END = "*** Begin Patch", "*** End Patch"
NO_FILE = "/dev/null"
"""The file of a unified diff that is not there: before it is added, or after it is deleted."""
_FILE = pattern(r"\*\*\* (Add|Update|Delete) File: (.+)")
_HUNK = pattern(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_NUMBERED = pattern(r"([+ -]?)[ \t]*(\d+)(?:→|\t| )(.*)")
_KINDS: dict[str, Kind] = {"Add": "added", "Update": "changed", "Delete": "deleted"}


class Line(NamedTuple):
    """A line of a change; a line `@` separates distant lines. The number is that in the old file for a removed line."""

    sign: Sign
    text: str
    number: int | None = None


@dataclass(slots=True)
class Change:
    """The change of one file."""

    path: str
    kind: Kind = "changed"
    lines: list[Line] = field(default_factory=list)

    @property
    def added(self) -> int:
        """Returns the number of added lines."""
        return sum(line.sign == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        """Returns the number of removed lines."""
        return sum(line.sign == "-" for line in self.lines)


class Changes(NamedTuple):
    """The changes that a call asks for, and the names of the arguments that state them."""

    files: list[Change]
    names: frozenset[str]


NOTHING = Changes([], frozenset())


def changes_of(arguments: Any, numbered: Sequence[tuple[int, str]] = ()) -> Changes:
    """Returns the changes that the arguments of a call ask for. `numbered` are lines of the file, as its result shows.

    A patch stands in an argument of its own or in a command.
    """
    if not isinstance(arguments, dict):
        return NOTHING
    path = next((name for name in PATHS if isinstance(arguments.get(name), str)), "")
    where = arguments.get(path, "")
    pair = _pair_in(arguments)
    if pair is not None:
        lines = _numbered(compared(arguments[pair[0]], arguments[pair[1]]), numbered)
        return Changes([Change(where, lines=lines)], frozenset((*pair, path)))
    edits = arguments.get("edits")
    if isinstance(edits, list) and edits and all(_pair_in(edit) for edit in edits):
        return Changes([Change(where, lines=list(_of_edits(edits, numbered)))], frozenset(("edits", path)))
    for name in PATCHES:
        if (files := _of_patch(arguments.get(name))) is not None:
            return Changes(files, frozenset((name,)))
    whole = next((name for name in CONTENTS if isinstance(arguments.get(name), str)), None)
    if path and whole is not None:
        return Changes([Change(where, "added", _all("+", arguments[whole]))], frozenset((path, whole)))
    return NOTHING


def compared(before: str, after: str) -> list[Line]:
    """Returns the lines of a change from one text to another, without numbers."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) * len(new) > MOST_COMPARED:
        return [Line("-", text) for text in old] + [Line("+", text) for text in new]
    lines = list[Line]()
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        lines += [Line("@", "")] if lines else []
        for tag, begin, end, start, stop in group:
            if tag == "equal":
                lines += (Line(" ", text) for text in old[begin:end])
            else:
                lines += (Line("-", text) for text in old[begin:end])
                lines += (Line("+", text) for text in new[start:stop])
    return lines


def numbered_lines(message: Message, result: ToolResult) -> list[tuple[int, str]]:
    """Returns lines of the changed file with their numbers, as far as an agent program recorded them.

    Claude Code stores a patch next to the result, and older versions print a part of the file; pi stores a diff.
    """
    for owner in (message.extras, result.extras):
        for extras in (owner or {}).values():
            for value in (extras, *(each for each in extras.values() if isinstance(each, dict))):
                found = _of_details(value.get("toolUseResult", value))
                if found:
                    return found
    return list(_of_listing(part_text(result))) if result.kind == "text" else []


def files_changed(pairs: CallPairs) -> dict[str, tuple[int, int, int]]:
    """Returns the files that successful calls changed: the first message, and the lines added and removed."""
    files = dict[str, tuple[int, int, int]]()
    for number, (index, _, call) in enumerate(pairs.calls):
        results = [result for _, _, result in pairs.results_of.get(number, ())]
        if results and not any(map(is_error, results)):
            for change in changes_of(call.arguments).files:
                first, added, removed = files.get(change.path, (index, 0, 0))
                files[change.path] = first, added + change.added, removed + change.removed
    return {path: counts for path, counts in files.items() if path}


def change_of_call(call: ToolCall, results: Iterable[tuple[int, Message, ToolResult]]) -> Changes:
    """Returns the changes of a call, with the line numbers that its results state."""
    if call.raw_arguments is not None:
        return NOTHING
    return changes_of(
        call.arguments, [line for _, message, result in results for line in numbered_lines(message, result)]
    )


# --- edits -----------------------------------------------------------------------------------------------------------


def _pair_in(arguments: Any) -> tuple[str, str] | None:
    is_object = isinstance(arguments, dict)
    return next(
        (pair for pair in EDITS if is_object and all(isinstance(arguments.get(name), str) for name in pair)), None
    )


def _of_edits(edits: list[Any], numbered: Sequence[tuple[int, str]]) -> Iterator[Line]:
    if len(edits) * len(numbered) > MOST_COMPARED:
        numbered = ()
    for position, edit in enumerate(edits):
        pair = _pair_in(edit)
        assert pair is not None
        if position:
            yield Line("@", "")
        yield from _numbered(compared(edit[pair[0]], edit[pair[1]]), numbered)


def _all(sign: Literal["+", "-"], text: str) -> list[Line]:
    return [Line(sign, line, number) for number, line in enumerate(text.splitlines(), 1)]


def _numbered(lines: list[Line], known: Sequence[tuple[int, str]]) -> list[Line]:
    """Returns the lines with numbers, if the file that is known has exactly the new lines somewhere."""
    if known and any(line.sign == "@" for line in lines):
        groups = list(_split(lines))
        return [
            line for at, group in enumerate(groups) for line in ([Line("@", "")] * bool(at) + _numbered(group, known))
        ]
    start = _start([line.text for line in lines if line.sign in "+ "], known)
    return lines if start is None else list(_counted(lines, start, start))


def _split(lines: list[Line]) -> Iterator[list[Line]]:
    group = list[Line]()
    for line in lines:
        if line.sign == "@":
            yield group
            group = []
        else:
            group.append(line)
    yield group


def _start(wanted: list[str], known: Sequence[tuple[int, str]]) -> int | None:
    """Returns the number of the first line that is wanted. Programs print tabs as spaces."""
    if not wanted or len(wanted) * len(known) > MOST_COMPARED:
        return None
    lines, texts = [" ".join(text.split()) for text in wanted], [" ".join(text.split()) for _, text in known]
    starts = (at for at, text in enumerate(texts) if text == lines[0] and texts[at : at + len(lines)] == lines)
    at = next(starts, None)
    return None if at is None else known[at][0]


def _counted(lines: Iterable[Line], old: int, new: int) -> Iterator[Line]:
    for line in lines:
        yield Line(line.sign, line.text, old if line.sign == "-" else new)
        old, new = old + (line.sign in "- "), new + (line.sign in "+ ")


# --- patches ---------------------------------------------------------------------------------------------------------


def _of_patch(value: Any) -> list[Change] | None:
    text = command_of(value)
    if text is None:
        return None
    if BEGIN in text:
        return list(_of_codex(text[text.index(BEGIN) :].splitlines()[1:]))
    if text.startswith(("--- ", "diff --git ", "Index: ")) and _HUNK.search(text) is not None:
        return list(_of_unified(text.splitlines()))
    return None


def _of_codex(lines: list[str]) -> Iterator[Change]:
    """Yields the changes of a patch for `apply_patch`; its hunks have no numbers, but new files have."""
    change: Change | None = None
    for line in lines:
        begun = _FILE.fullmatch(line)
        if begun is not None or line.startswith(END):
            if change is not None:
                yield change
            change = Change(begun[2].strip(), _KINDS[begun[1]]) if begun is not None else None
        elif change is not None:
            _add(change, line)
    if change is not None:
        yield change


def _add(change: Change, line: str) -> None:
    if line.startswith("*** Move to: "):
        change.path, change.kind = f"{change.path} → {line.removeprefix('*** Move to: ').strip()}", "moved"
    elif line.startswith("@@"):
        change.lines.append(Line("@", line.removeprefix("@@").strip()))
    elif not line.startswith("***"):
        number = len(change.lines) + 1 if change.kind == "added" else None
        change.lines.append(Line(_sign(line), line[1:], number))


def _sign(line: str) -> Sign:
    return "+" if line[:1] == "+" else "-" if line[:1] == "-" else " "


def _of_unified(lines: list[str]) -> Iterator[Change]:
    """Yields the changes of a unified diff. A removed line can begin as a header does, which has two lines."""
    change, old, new = Change(""), 0, 0
    is_in_hunk = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        hunk = _HUNK.match(line)
        is_header = line.startswith("--- ") and following.startswith("+++ ")
        if is_header or line.startswith(("diff --git ", "Index: ")):
            if change.lines:
                yield change
            change, is_in_hunk = _file_of(line, following) if is_header else Change(""), False
        elif hunk is not None:
            old, new, is_in_hunk = int(hunk[1]), int(hunk[2]), True
            change.lines += [Line("@", line[hunk.end() :].strip())]
        elif is_in_hunk and line[:1] in ("+", "-", " ", ""):
            sign = _sign(line)
            change.lines.append(Line(sign, line[1:], old if sign == "-" else new))
            old, new = old + (sign != "+"), new + (sign != "-")
    if change.lines:
        yield change


def _file_of(old: str, new: str) -> Change:
    """Returns the change, without lines, that the header of a file states: one of both files can be missing."""
    before, after = (line[4:].partition("\t")[0] for line in (old, new))
    if after == NO_FILE:
        return Change(before.removeprefix("a/"), "deleted")
    return Change(after.removeprefix("b/"), "added" if before == NO_FILE else "changed")


# --- line numbers ----------------------------------------------------------------------------------------------------


def _of_details(value: Any) -> list[tuple[int, str]]:
    """Returns the lines after the change, of `structuredPatch` or of a diff with numbers."""
    if not isinstance(value, dict):
        return []
    hunks, diff = value.get("structuredPatch"), value.get("diff")
    if isinstance(hunks, list):
        return [line for hunk in hunks if isinstance(hunk, dict) for line in _of_hunk(hunk)]
    return list(_of_listing(diff)) if isinstance(diff, str) else []


def _of_hunk(hunk: dict[str, Any]) -> Iterator[tuple[int, str]]:
    number, lines = hunk.get("newStart"), hunk.get("lines")
    if isinstance(number, int) and isinstance(lines, list):
        texts = (line[1:] for line in lines if isinstance(line, str) and line[:1] in ("+", " "))
        yield from enumerate(texts, number)


def _of_listing(text: str) -> Iterator[tuple[int, str]]:
    for line in text.splitlines():
        found = _NUMBERED.fullmatch(line)
        if found is not None and found[1] != "-":
            yield int(found[2]), found[3]
