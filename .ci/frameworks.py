"""Asks frameworks and trainers about what we write for them: `frameworks.py ENVIRONMENTS ORACLES [TARGET[:FORM]…]`.

ENVIRONMENTS is a folder with the environments that ORACLES/requirements.txt names (`frameworks`, `harbor`, `node`,
`training`), and `libraries` with the packages of `libraries.py`, whose loaders are the oracles of six frameworks. Every
sample of every dialect is converted to each target; for a trainer, the samples of its own dialect are asked about too,
and as the form `columns`, the rows of all sessions with columns and tools. convcli must have a finding for whatever is
refused.
Exit 1 when it has none, or when the environment of a target is not there.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from judge import Told, outputs

import convcli
from convcli import dialects
from convcli.files.layouts import encoded
from convcli.model.row_columns import MARK
from tests.support import samples


class Target(NamedTuple):
    """What judges a dialect: an environment, the name of its oracle there, and how it is given rows; whether samples
    of the dialect are asked about too, as rows that nobody sends; and refusals that stand, each with its reason, by
    their words."""

    environment: str
    oracle: str
    forms: tuple[str, ...] = ("",)
    rows: str = ".sse"
    dialect: str = ""
    own: bool = False
    tolerated: Mapping[str, str] = {}


def trainer(oracle: str, dialect: str, form: str = "", environment: str = "training", **tolerated: str) -> Target:
    """What judges the rows of a dialect."""
    forms = (form,) if dialects.get(dialect).columns == "none" else (form, COLUMNS)
    return Target(environment, oracle, forms, dialect=dialect, own=True, tolerated=tolerated)


COLUMNS = "columns"
"""The form in which a trainer is asked about the rows of sessions, with all columns and with tools."""
NO_IMAGE = dict.fromkeys(
    ("cannot identify image file", "Truncated File Read"),
    "the image of the sample is a few bytes that are none, and the library decodes it",
)
NO_STATUS = {
    "toolResult.status Field required": "the result of a hosted tool of Bedrock, kept as it is, which the library lacks"
}
NO_FILE = {"Path does not point to a file": "the library looks for the file, which the sample only names"}
TARGETS = {
    "ag-ui": Target("frameworks", "ag-ui", rows=".jsonl"),
    "agent-framework": Target("libraries", "agent-framework", ("session", "list")),
    "autogen": Target("libraries", "autogen", ("state", "list", "events"), tolerated=NO_IMAGE),
    "haystack": Target("libraries", "haystack"),
    "llamaindex": Target("libraries", "llamaindex", tolerated=NO_FILE),
    "semantic-kernel": Target("libraries", "semantic-kernel", ("history", "list")),
    "strands": Target("libraries", "strands", ("session", "list"), tolerated=NO_STATUS),
    "atif": Target("harbor", "atif"),
    "google-adk": Target("frameworks", "google-adk"),
    "inspect-ai": Target("frameworks", "inspect"),
    "langchain": Target("frameworks", "langchain", ("flat", "to-dict", "constructors", "state")),
    "otel-genai": Target("frameworks", "otel-genai", ("attributes", "messages")),
    "pydantic-ai": Target("frameworks", "pydantic-ai"),
    "vercel-ai": Target("node", "", ("model", "ui")),
    "vercel-ai-stream": Target("node", ""),
    "hf-chat": trainer("hf-chat", "hf-chat"),
    "axolotl": trainer("axolotl", "hf-chat", "messages"),
    "llamafactory-openai": trainer("llamafactory-openai", "hf-chat", "messages"),
    "sharegpt": trainer("sharegpt", "sharegpt"),
    "llamafactory-v1": trainer("llamafactory-v1", "llamafactory-v1"),
    "ms-swift": trainer("ms-swift", "ms-swift"),
    "mistral-ft": trainer(
        "mistral-ft",
        "mistral",
        "row",
        **{"assistant.weight Extra": "the oracle asks the type of requests; that of rows, which it leaves out, has it"},
    ),
    "openai-ft": trainer("openai-ft", "openai-ft"),
    "openai-batch": trainer("openai-batch", "openai-batch"),
    "anthropic-batch": trainer("anthropic-batch", "anthropic-batch", environment="frameworks"),
}
ORACLE = """
import json, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import oracle
ask = vars(oracle)["o_" + sys.argv[2].replace("-", "_")]
if sys.argv[2] == "otel-genai":
    from jsonschema.validators import Draft202012Validator as validator
    checked, check = set(), validator.check_schema
    def check_once(schema):
        text = json.dumps(schema)
        if text not in checked:
            check(schema)
        checked.add(text)
    validator.check_schema = check_once
for path in map(str.strip, sys.stdin):
    try:
        ask(path)
        wrong = None
    except Exception as error:
        wrong = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    print(json.dumps([path, wrong]), flush=True)
"""
"""Asks one oracle about many files, in one process. The four schemas of the conventions are checked once, and not for
each part of each message as `jsonschema.validate` does: that took fifty times as long as what is asked."""


def command(environments: Path, oracles: Path, target: Target) -> list[str] | None:
    """What is run, with paths on its stdin; None where the environment is not there."""
    if target.environment == "node":
        modules = environments / "node"
        return ["node", str(Path(__file__).with_name("ai_sdk.mjs")), str(modules)] if modules.is_dir() else None
    python = environments / target.environment / "bin" / "python"
    if not python.exists():
        return None
    if target.environment == "libraries":
        return [str(python), str(Path(__file__).with_name("libraries.py")), target.oracle]
    return [str(python), "-c", ORACLE, str(oracles), target.oracle]


def rows_of_sessions(target: Target, folder: Path) -> dict[str, Told]:
    """Writes the rows of all sessions among the samples; returns for each what findings of ours speak of."""
    files = dict.fromkeys(sample.path for sample in samples() if dialects.get(sample.dialect).is_session)
    form = target.forms[0] or None
    written: dict[str, Told] = {}
    for number, row in enumerate(convcli.rows(files, target.dialect, form=form, columns="all", tools="program")):
        if MARK not in row.document:
            raise SystemExit(f"the row of {row.file} has no columns")
        path = folder / f"{number:04}-{Path(row.file).stem}.json"
        path.write_bytes(b"".join(encoded(row.document, ".json")))
        written[str(path)] = Told(False, bool(row.findings), False)
    return written


def judged(asked: list[str], name: str, form: str) -> tuple[int, int, Counter[str]]:
    """How many outputs are accepted, how many are refused with a finding of ours, and the refusals without one."""
    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name]
        if form == COLUMNS:
            written = rows_of_sessions(target, Path(folder))
        else:
            written = outputs(target.dialect or name, Path(folder), form or None, target.rows, own=target.own)
        stdin = "\n".join(written)
        done = subprocess.run(asked, input=stdin, capture_output=True, text=True, check=False, timeout=1200)
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    if len(lines) != len(written):
        raise SystemExit(f"the judge of {name} broke off after {len(lines)} of {len(written)}: {done.stderr[-500:]}")
    accepted = reported = 0
    untold = Counter[str]()
    for path, wrong in map(json.loads, lines):
        if wrong is None or any(words in f"{Path(path).name}: {wrong}" for words in target.tolerated):
            accepted += 1
        elif written[path].keys or written[path].more or (written[path].asked and not target.own):
            reported += 1
        else:
            untold[f"{Path(path).name}: {wrong}"] += 1
    return accepted, reported, untold


def refusals(environments: Path, oracles: Path, named: str) -> int:
    """Prints how the outputs in one form of a target are judged; returns how many refusals have no finding of ours."""
    name, _, form = named.partition(":")
    asked = command(environments, oracles, TARGETS[name])
    if asked is None:
        sys.stdout.write(f"{name}: there is no environment {TARGETS[name].environment}\n")
        return 1
    accepted, reported, untold = judged(asked, name, form)
    refused = f"{reported} refused with a finding, {sum(untold.values())} untold"
    lines = [
        f"{name} {form}: {accepted} accepted, {refused}",
        *(f"  {n} × {text}" for text, n in sorted(untold.items())),
    ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()
    return sum(untold.values())


def main() -> int:
    environments, oracles, *names = sys.argv[1:]
    forms = names or [f"{name}:{form}" for name, target in TARGETS.items() for form in target.forms]
    with ProcessPoolExecutor() as pool:
        wrong = sum(pool.map(partial(refusals, Path(environments), Path(oracles)), forms))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
