"""The skeleton of a new dialect from files of its kind: `python -m tests.scaffold my-agent session.jsonl other.jsonl`.

Writes `convcli/dialects/NAME.py`, `schemas/NAME.schema.json`, `samples/NAME/` and `tests/dialects/test_NAME.py`. The
skeleton keeps the laws from the beginning: turns whose content is a text are read, and whatever else is there is
kept whole, so that each key that is understood later is a step from one lawful dialect to the next.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from convcli.files.framing import open_source
from convcli.model.errors import ConvcliError

ROLES = ("system", "developer", "user", "assistant")
DISCRIMINATORS = ("type", "role", "kind", "event", "from", "sender")
LISTS = ("messages", "conversations", "conversation", "contents", "turns", "history")
"""Usual names of the list of messages; else it is the longest list of objects."""
FREE = frozenset(
    ("arguments", "args", "input", "parameters", "input_schema", "schema", "properties", "metadata", "extras")
)
"""Keys whose objects have no fixed keys."""
MOST_VALUES = 24
"""Values of a key that tells kinds of objects apart; more are names or ids."""
DEEPEST, MOST_MARKS = 6, 6

STEPS = """
The skeleton stands, and keeps the laws. What remains:
1. convcli/dialects/{module}.py: say in the docstring what the format is, where it is specified, when that was read, and
   its quirks. Move what is now an event or in extras into fields, in `lift` and in `write`, and take the field out of
   UNSUPPORTED: `convcli.testing` reports what is missing.
2. FIT and rules: what the service takes, as passes (kit/fitting), and what it refuses (validation/rules).
3. schemas/{name}.schema.json holds the keys of your files: make required what is. samples/{name}/: six good ones, one
   of them twin-weather, and four bad ones in bad/, each with the findings that it must produce in FILE.findings.
4. python -m pytest tests/dialects/test_{module}.py tests/laws -k "{name}"
"""


class Shape(NamedTuple):
    """How the documents stand in the files. `values` are the documents, or the rows of all of them."""

    framings: tuple[str, ...]
    form: str
    values: list[Any]
    firsts: list[Any]
    """The documents, or of each that is a list the first item."""
    messages: str | None = None
    """The key of the list of messages; None where the document is the list."""

    @property
    def is_rows(self) -> bool:
        """Are all lines of a file one document?"""
        return "events" in self.framings

    @property
    def items(self) -> list[dict[str, Any]]:
        """The messages of all documents."""
        lists = [self.values] if self.is_rows else [self._listed(value) for value in self.values]
        return [item for items in lists for item in items if isinstance(item, dict)]

    def _listed(self, value: Any) -> list[Any]:
        listed: list[Any] = value if self.messages is None else value.get(self.messages, [])
        return listed


# ---------------------------------------------------------------- what the files hold


def shape_of(paths: Iterable[Path]) -> Shape:
    """What the files have in common. Raises SystemExit where no list of messages is found in them."""
    framing, values, firsts = "", list[Any](), list[Any]()
    for path in paths:
        with open_source(str(path)) as source:
            is_line = path.suffix in (".jsonl", ".ndjson")
            framing = "jsonl" if source.framing == "json" and is_line else source.framing
            records = source.events() if framing == "sse" else source.records() if framing == "jsonl" else ()
            read = [source.document()[0]] if source.framing == "json" else [record.value for record in records]
        values += read
        firsts += read[:1]
    if framing == "sse":
        return Shape(("sse", "events"), "stream", values, firsts)
    if all(isinstance(value, list) for value in values):
        return Shape(("document", "records"), "list", values, [value[0] for value in values if value])
    key = list_key(values)
    if key is not None:
        return Shape(("document", "records"), "document", values, values, key)
    if framing != "jsonl":
        raise SystemExit("there is no list of messages in these documents: name files of one kind")
    return Shape(("events",), "session", values, firsts)


def list_key(values: list[Any]) -> str | None:
    """The key under which every document has its list of messages; what a single message holds is none."""
    found: dict[str, int] = {}
    for value in values:
        for key, member in value.items() if isinstance(value, dict) else ():
            is_listed = isinstance(member, list) and member and all(isinstance(item, dict) for item in member)
            if is_listed and key not in ("content", "parts", "tool_calls", "tools") and key in values[0]:
                found[key] = found.get(key, 0) + len(member)
    everywhere = [key for key in found if all(isinstance(value, dict) and key in value for value in values)]
    named = [key for key in LISTS if key in everywhere]
    return (named or sorted(everywhere, key=lambda key: -found[key]) or [None])[0]


def keys_of(objects: Iterable[Any]) -> list[str]:
    """All keys of these objects, in the order in which they are first seen."""
    return list(dict.fromkeys(key for one in objects if isinstance(one, dict) for key in one if " " not in key))


def marks_of(shape: Shape) -> list[str]:
    """The keys by which a document is recognised: those that each of them has, or its first row."""
    common = [set(first) for first in shape.firsts if isinstance(first, dict)]
    return sorted(set.intersection(*common)) if common else []


def roles_of(shape: Shape) -> list[str]:
    """The roles whose turns are texts, where it is the role that tells messages apart."""
    if discriminator(shape.items) != "role":
        return []
    texts = {item["role"] for item in shape.items if isinstance(item.get("content"), str)}
    return [role for role in ROLES if role in texts]


# ---------------------------------------------------------------- the schema


def discriminator(objects: list[dict[str, Any]]) -> str | None:
    """The key that tells kinds of objects apart: each has it, and it has few values."""
    for key in DISCRIMINATORS:
        values = [one.get(key) for one in objects]
        if values and all(isinstance(value, str) for value in values) and len(set(values)) <= MOST_VALUES:
            return key
    return None


def schema_of(values: list[Any], depth: int = 0) -> dict[str, Any]:
    """What these values have in common, as an open schema."""
    node = typed(values)
    objects = [value for value in values if isinstance(value, dict)]
    items = [item for value in values if isinstance(value, list) for item in value]
    if objects and depth < DEEPEST:
        node |= object_schema(objects, depth)
    if items and depth < DEEPEST:
        node["items"] = schema_of(items, depth + 1)
    return node


def object_schema(objects: list[dict[str, Any]], depth: int) -> dict[str, Any]:
    """The keys of objects; where one key tells them apart, of each kind."""
    key = discriminator(objects)
    if key is None:
        return members(objects, depth)
    kinds = sorted({one[key] for one in objects})
    branches = []
    for kind in kinds:
        of_kind = members([{**one} for one in objects if one[key] == kind], depth, without=key)
        if of_kind:
            branches.append({"if": {"required": [key], "properties": {key: {"const": kind}}}, "then": of_kind})
    return {"required": [key], "properties": {key: {"enum": kinds}}, **({"allOf": branches} if branches else {})}


def members(objects: list[dict[str, Any]], depth: int, without: str = "") -> dict[str, Any]:
    """The schemas of the keys of some objects."""
    properties = {}
    for key in keys_of(objects):
        values = [one[key] for one in objects if key in one]
        if key in FREE:
            properties[key] = typed(values)
        elif key != without:
            properties[key] = schema_of(values, depth + 1)
    return {"properties": properties} if properties else {}


def typed(values: list[Any]) -> dict[str, Any]:
    """The types of these values."""
    types = sorted({type_of(value) for value in values})
    return {"type": types[0] if len(types) == 1 else types}


def type_of(value: Any) -> str:
    """The type of a value as JSON Schema names it."""
    names = ((bool, "boolean"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def schema_file(name: str, shape: Shape) -> str:
    """The text of the schema."""
    root = schema_of([shape.values] if shape.is_rows else shape.values)
    if shape.messages is not None:
        root["required"] = [shape.messages]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:convcli:schema:{name}",
        "title": name,
        "description": "The keys that were seen in files. Open: unknown keys are kept.",
    }
    return json.dumps({**head, **root}, indent=2, ensure_ascii=False) + "\n"


# ---------------------------------------------------------------- the module and its test

HERE = Path(__file__).parent
WRITTEN = "[_write_message(message) for message in transcript.messages]"
LIFT_MEMBER = """context.each(document["@LISTED@"], ("@LISTED@",), _lift_message)
    return context.transcript(extras=make_extras(NAME, DOCUMENT.extra(document)))"""
WRITE_MEMBER = f"""native = {{"@LISTED@": {WRITTEN}}}
    return DOCUMENT.put(native, get_extras(transcript.extras, NAME), sort=True)"""
LIFT_LIST = "context.each(document, (), _lift_message)\n    return context.transcript()"


def module_file(name: str, shape: Shape) -> str:
    """The text of the module."""
    keys, listed = keys_of(shape.items), shape.messages
    whole = keys_of(shape.values) if listed is not None else []
    words = {
        "NAME": name,
        "ITEMS": "rows" if shape.is_rows else "messages",
        "ROWS_IMPORT": "from convcli.model.document import Rows\n" if shape.is_rows else "",
        "MESSAGE_KEYS": keys_call("MESSAGE", dict.fromkeys(("role", "content", *keys)), ("role", "content")),
        "DOCUMENT_KEYS": keys_call("DOCUMENT", whole, (listed,)) if listed else "",
        "MARKS": items(marks_of(shape)[:MOST_MARKS]),
        "ROLES": items(roles_of(shape)),
        "IS_KIND": f"isinstance(document, {'Rows' if shape.is_rows else 'dict' if listed else 'list'})",
        "LIFT": LIFT_MEMBER if listed else LIFT_LIST,
        "WRITE": WRITE_MEMBER if listed else f"return Rows({WRITTEN})" if shape.is_rows else f"return {WRITTEN}",
        "FRAMINGS": items(shape.framings),
        "FORM": shape.form,
        "LISTED": listed or "",
    }
    return filled("dialect.txt", words)


def keys_call(name: str, keys: Iterable[str], read: Iterable[str]) -> str:
    """A table of keys, all of which are extras except those that are read."""
    keys = list(keys)
    return (
        f'{name} = Keys(\n    "{wrapped(keys)}",\n    extra="{wrapped(key for key in keys if key not in read)}",\n)\n'
    )


def wrapped(keys: Iterable[str]) -> str:
    """Words for a literal, over several lines where they are many."""
    lines = [""]
    for key in keys:
        if len(lines[-1]) + len(key) > 90:
            lines.append("")
        lines[-1] += f"{key} "
    return '"\n    "'.join(lines).rstrip()


def items(words: Iterable[str]) -> str:
    """The items of a tuple of strings."""
    quoted = [f'"{word}"' for word in words]
    return ", ".join(quoted) + "," * (len(quoted) == 1)


def filled(template: str, words: dict[str, str]) -> str:
    """A template of this folder with its words in."""
    text = (HERE / template).read_text("utf-8")
    for key, value in words.items():
        text = text.replace(f"@{key}@", value)
    return text


def turns_of(shape: Shape) -> int:
    """How many turns the skeleton reads of these files."""
    roles = roles_of(shape)
    return sum(item.get("role") in roles and isinstance(item.get("content"), str) for item in shape.items)


def write_skeleton(root: Path, name: str, files: list[Path]) -> None:
    """All files of the skeleton. Raises SystemExit when one of them is there already."""
    shape, module = shape_of(files), name.replace("-", "_")
    texts = {
        root / "convcli" / "dialects" / f"{module}.py": module_file(name, shape),
        root / "schemas" / f"{name}.schema.json": schema_file(name, shape),
        root / "tests" / "dialects" / f"test_{module}.py": filled(
            "test.txt", {"NAME": name, "TURNS": str(turns_of(shape))}
        ),
    }
    samples = root / "samples" / name
    present = [path for path in (*texts, samples, root / "convcli" / "dialects" / module) if path.exists()]
    if present:
        raise SystemExit(f"{present[0].relative_to(root)} is there already")
    (samples / "bad").mkdir(parents=True)
    for file in files:
        shutil.copyfile(file, samples / file.name)
    for path, text in texts.items():
        path.write_text(text, "utf-8")


def main() -> int:
    """Write the skeleton, and say what remains to be done."""
    parser = argparse.ArgumentParser(prog="python -m tests.scaffold", description=main.__doc__)
    parser.add_argument("name", metavar="NAME", help="of the dialect, in lower case, words joined by -")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="documents of the dialect")
    arguments = parser.parse_args()
    if not all(part.isascii() and part.isalnum() and part == part.lower() for part in arguments.name.split("-")):
        parser.error("a name has lower-case letters, digits and -")
    try:
        write_skeleton(HERE.parent.parent, arguments.name, arguments.files)
    except ConvcliError as error:
        raise SystemExit(f"{error.file or 'a file'}: {error.message}") from None
    sys.stdout.write(STEPS.format(name=arguments.name, module=arguments.name.replace("-", "_")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
