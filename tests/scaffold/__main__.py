"""The skeleton of a new dialect from files of its kind: `python -m tests.scaffold my-agent session.jsonl other.jsonl`.

Writes `convcli/dialects/NAME.py`, `schemas/NAME.schema.json`, `samples/NAME/` and `tests/dialects/test_NAME.py`. The
dialect is a table, drafted as by `convcli dialects --draft`. It reads the messages of the files and keeps the laws from
the beginning; what the table does not explain is kept whole.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from convcli.files.framing import open_source
from convcli.kit.codec import reading, schema
from convcli.kit.codec.draft import draft
from convcli.kit.codec.layout import LogLayout
from convcli.kit.codec.table import parse
from convcli.model.errors import ConvcliError

HERE = Path(__file__).parent
STEPS = """
The skeleton stands, reads {messages} messages of the files, and keeps the laws. What remains:
1. convcli/dialects/{module}.py: say in the docstring what the format is, where it is specified, when that was read, and
   its quirks. Correct the table: `convcli help own-logs` describes its keys, and names in comments are not explained.
   `fields` of `tables.built_in` state what no table says: detect, reasons, rules, passes. If rows are joined or undone,
   or have token counts, give it a `lift` and a `write` that call those of the table (kit/sessions, kit/usage). Only for
   branches write all of it, as dialects/kimi_cli.py does, with kit/envelopes and a mark with a strength in the schema.
2. schemas/{name}.schema.json: the types that the table relies on. Add the other keys, and make required what is.
3. samples/{name}/: six good ones, one of them twin-weather, and four bad ones in bad/, each with the findings that it
   must produce in FILE.findings.
4. python -m pytest tests/dialects/test_{module}.py tests/laws -k "{name}"
"""


class Files(NamedTuple):
    """The documents of some files, or the lines of each."""

    documents: list[list[Any]]
    framing: str

    @property
    def is_lines(self) -> bool:
        return self.framing != "json"


def read(paths: Iterable[Path]) -> Files:
    """The values of the files."""
    framing, documents = "json", list[list[Any]]()
    for path in paths:
        with open_source(str(path)) as source:
            is_line = path.suffix in (".jsonl", ".ndjson")
            framing = "jsonl" if source.framing == "json" and is_line else source.framing
            records = source.events() if framing == "sse" else source.records() if framing == "jsonl" else ()
            whole = source.framing == "json"
            documents.append([source.document()[0]] if whole else [record.value for record in records])
    return Files(documents, framing)


def drafted(files: Files, name: str) -> tuple[str, LogLayout]:
    """The table as TOML and in its compiled form. Raises ConvcliError if it finds no messages."""
    text = draft([value for values in files.documents for value in values], lines=files.is_lines)
    return text, LogLayout(parse(tomllib.loads(text), name), name)


def table_lines(text: str) -> str:
    """The table as the items of a Python dict, with its comments."""
    lines = []
    for line in text.splitlines():
        items = tomllib.loads(line).items()
        lines += [f"    {literal(key)}: {literal(value)}," for key, value in items] or [f"    {line}"]
    return "\n".join(lines)


def literal(value: Any) -> str:
    """A value as Python source, with double quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def schema_file(layout: LogLayout, name: str) -> str:
    """The text of the schema."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:convcli:schema:{name}",
        "title": name,
        "description": "The keys of the table. Open: unknown keys are kept.",
    }
    marks = layout.messages or layout.object or layout.role
    stated = sorted({str(path[0]) for path in ([marks] if marks else [path for path, _ in layout.turns])})
    keys = "|".join(key for key in stated if key.replace("_", "").isalnum())
    found = {"x-marks": [[keys], [f"*/{keys}"]]} if keys else {}  # they suggest the dialect: its table decides
    return json.dumps({**head, **found, **schema.of_table(layout, name), "title": name}, indent=2) + "\n"


def count_messages(files: Files, layout: LogLayout, name: str) -> int:
    """How many messages the table reads of the files."""
    documents = files.documents if layout.lines else [value for values in files.documents for value in values]
    lifted = [reading.lift(layout, name, document) for document in documents]
    return sum(message.role != "event" for transcript in lifted for message in transcript.messages)


def filled(template: str, words: dict[str, str]) -> str:
    """A template of this folder with its words in."""
    text = (HERE / template).read_text("utf-8")
    for key, value in words.items():
        text = text.replace(f"@{key}@", value)
    return text


def write_skeleton(root: Path, name: str, paths: list[Path]) -> int:
    """Writes all files of the skeleton. Returns the number of messages that it reads. Raises SystemExit if one of the
    files is there already, ConvcliError if no messages are found."""
    files, module = read(paths), name.replace("-", "_")
    text, layout = drafted(files, name)
    messages = count_messages(files, layout, name)
    framings = 'framings=("sse", "events"), ' if files.framing == "sse" else ""
    texts = {
        root / "convcli" / "dialects" / f"{module}.py": filled(
            "dialect.txt", {"NAME": name, "TABLE": table_lines(text), "FRAMINGS": framings}
        ),
        root / "schemas" / f"{name}.schema.json": schema_file(layout, name),
        root / "tests" / "dialects" / f"test_{module}.py": filled(
            "test.txt", {"NAME": name, "MESSAGES": str(messages)}
        ),
    }
    samples = root / "samples" / name
    present = [path for path in (*texts, samples, root / "convcli" / "dialects" / module) if path.exists()]
    if present:
        raise SystemExit(f"{present[0].relative_to(root)} is there already")
    (samples / "bad").mkdir(parents=True)
    for path in paths:
        shutil.copyfile(path, samples / path.name)
    for path, content in texts.items():
        path.write_text(content, "utf-8")
    return messages


def main() -> int:
    """Write the skeleton, and say what remains to be done."""
    parser = argparse.ArgumentParser(prog="python -m tests.scaffold", description=main.__doc__)
    parser.add_argument("name", metavar="NAME", help="of the dialect, in lower case, words joined by -")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="documents of the dialect")
    arguments = parser.parse_args()
    if not all(part.isascii() and part.isalnum() and part == part.lower() for part in arguments.name.split("-")):
        parser.error("a name has lower-case letters, digits and -")
    try:
        messages = write_skeleton(HERE.parent.parent, arguments.name, arguments.files)
    except ConvcliError as error:
        raise SystemExit(f"{error.file or 'a file'}: {error.message}") from None
    words = {"name": arguments.name, "module": arguments.name.replace("-", "_"), "messages": messages}
    sys.stdout.write(STEPS.format(**words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
