"""Compiles functions that repeat a conversion for other free values, from its result for a document with marks.

They are Python expressions in which marks have become indexes, evaluated once: nothing else builds nested values as
fast (as `dataclasses` does for its methods). Everything else is a constant, by its `repr`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from re import Match
from typing import Any

from convcli.engine.shapes.probes import MARK
from convcli.model.findings import Finding
from convcli.proof.language import holds_content
from convcli.proof.reasons import MISSING, Level, Loss
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

HALF_PAIR = pattern("[\ud800-\udfff]")
KNOWN = {"Finding": Finding, "Loss": Loss, "text": exact_json.write_text, "holds_content": holds_content}


class NotRememberedError(Exception):
    """The reason why a document cannot be remembered."""


class Template:
    """Builds expressions from the result for a document with these marks; `v` are its free values.

    Text made from arguments is built only once. `least_level` gives the level of a field, whatever its value is.
    """

    def __init__(self, marks: list[Any], least_level: Callable[[str], Level]) -> None:
        self.marks, self.least_level = marks, least_level
        self._texts: dict[int, str] = {}

    def value(self, value: Any) -> str:
        """Returns the expression of a JSON value that may contain marks. Raises NotRememberedError."""
        type_ = value.__class__
        if type_ is list:
            return f"[{', '.join(map(self.value, value))}]"
        if type_ is dict and value not in self.marks:
            return f"{{{', '.join(f'{constant(key)}: {self.value(child)}' for key, child in value.items())}}}"
        match = None if value is None or type_ is bool else MARK.search(str(value))
        return constant(value) if match is None else self._marked(value, int(match[1]))

    def _marked(self, value: Any, number: int) -> str:
        if number >= len(self.marks):
            raise NotRememberedError("something like a mark")
        whole = self.marks[number]
        if value.__class__ is whole.__class__ and value == whole:
            return f"v[{number}]"
        if value.__class__ is str:
            return " + ".join(self._pieces(value))
        raise NotRememberedError("a value that is not a mark")

    def _pieces(self, text: str) -> Iterator[str]:
        """Yields the expressions of the marks in a text, and of what stands between them."""
        end = 0
        for match in MARK.finditer(text):
            start, after, expression = self._spelled(text, match)
            if start > end:
                yield constant(text[end:start])
            yield expression
            end = after
        if end < len(text):
            yield constant(text[end:])

    def _spelled(self, text: str, match: Match[str]) -> tuple[int, int, str]:
        """Returns where a mark begins and ends in a text, and its expression there: as JSON, or as it is."""
        number = int(match[1])
        whole = self.marks[number] if number < len(self.marks) else None
        if whole.__class__ not in (str, dict):
            raise NotRememberedError("something like a mark")
        plain = whole if whole.__class__ is str else exact_json.write_text(whole)
        for is_quoted, literal in ((True, exact_json.write_text(plain)), (False, plain)):
            start = match.start() - literal.index(match[0])
            if start >= 0 and text.startswith(literal, start):
                expression = f"v[{number}]" if plain is whole else self._text(number)
                return start, start + len(literal), f"text({expression})" if is_quoted else expression
        raise NotRememberedError("a value that is not a mark")

    def _text(self, number: int) -> str:
        name = self._texts.get(number)
        if name is None:
            self._texts[number] = f"t{number}"
            return f"(t{number} := text(v[{number}]))"
        return name

    def loss(self, loss: Loss) -> str:
        """Returns the expression of a loss."""
        kind, where, field, why = map(constant, (loss.kind, loss.where, loss.field, loss.why))
        words = f"{kind}, {where}, {field}, {self._level(loss)}, {why}"
        named = (("before", loss.before), ("after", loss.after))
        values = "".join(f", {name}={self.value(value)}" for name, value in named if value is not MISSING)
        return f"Loss({words}{values})"

    def finding(self, finding: Finding) -> str:
        """Returns the expression of a finding, whose words may have names."""
        fields = (getattr(finding, name) for name in ("code", "severity", "message", "where"))
        notes = "".join(f"{self.value(note)}, " for note in finding.notes)
        return f"Finding({', '.join(map(self.value, fields))}, help={self.value(finding.help)}, notes=({notes}))"

    def _level(self, loss: Loss) -> str:
        """The expression of the level, which may depend on the value. The mark of a text is language. An empty list,
        which alone lowers the level of content, is part of the shape."""
        least = self.least_level(loss.field)
        if loss.level == least or least == "content" or loss.before is MISSING:
            return constant(loss.level)
        return f"{constant(loss.level)} if holds_content({self.value(loss.before)}) else {constant(least)}"


def constant(value: Any) -> str:
    """Returns the expression of a value that is the same in all documents.

    Raises NotRememberedError for non-JSON, and for half of a surrogate pair, whose spellings are equal as keys.
    """
    if value.__class__ not in (str, int, float, bool, type(None)) or MARK.search(str(value)):
        raise NotRememberedError("a mark inside text, or a value that JSON does not have")
    if value.__class__ is str and not value.isascii() and HALF_PAIR.search(value):
        raise NotRememberedError("half of a surrogate pair")
    return repr(value)


def function(expression: str) -> Callable[[list[Any]], Any]:
    """Compiles an expression into a function of the free values `v`."""
    made: Callable[[list[Any]], Any] = eval(f"lambda v: {expression}", KNOWN)
    return made
