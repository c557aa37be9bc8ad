"""Runs the corpus of bad inputs and of real files and compares with what is known: `corpus.py CORPUS_DIR [SUITE …]`.

The suite `real` asks of every real file that it is taken for what its folder says, or told by the name of its format,
and counts what is in it.

`known-failures.txt` holds a line `case | what is wrong | why it stands` for each problem that is tolerated. A new
problem fails, and so does a known one that has gone: the list may only shrink. With `--write` the list is printed as
it would be now.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KNOWN = HERE / "known-failures.txt"
SUITES = {"bad": r"^(enc|json|jsonl|dup|num|sur|top|args|link|tool|thought|bin)-", "cli": ""}
"""The suites, and which of their cases are run: those with a layer of their own, in less than three minutes."""
REAL = "real"
DIALECTS = {
    "pi": "openclaw",
    "claude_code_malformed": "claude-code",
    "inspect": "inspect-ai",
    "codex": "codex codex-exec",
    "hf_chat": "openai-chat openai-ft hf-chat",
    "openai_ft": "openai-chat openai-ft hf-chat mistral",
    "sharegpt": "sharegpt hermes",
    "sharegpt_tools": "sharegpt",
    "openai_agents": "openai-responses",
    "openhands_v1": "openhands",
    "vercel_ai": "vercel-ai vercel-ai-stream",
}
"""What the files of a folder may be taken for, where that is not the name of the folder."""
NAMED = ("this looks like ", "the same key twice")
"""How an error begins that says what the file is, or that it cannot be read at all."""
WITHOUT_ZSTD = re.compile(r"error\[zstd-missing\].*\n +--> (.+)")
"""The files that only a machine with zstandard can read."""
REFUSED = {
    "atif/nemo_relay_atif_v1.7_real_redacted.json": "so does its maker: words stand in place of roles and objects"
}
"""Files that are recognised and refused, with the reason."""


def misread(wish: argparse.Namespace) -> set[tuple[str, str]]:
    """Every real file that is taken for what it is not, or for nothing that has a name."""
    root = wish.corpus / REAL
    files = sorted(path for path in root.glob("*/*") if path.suffix != ".md")
    counts = json.loads((root / "expected.json").read_text("utf-8"))
    missing = counts.keys() - {str(path.relative_to(root)) for path in files}
    if missing or not counts:
        raise SystemExit(f"expected.json names files that are not there: {sorted(missing)}")
    taken, packed = detected(wish, files)
    files = [path for path in files if str(path) not in packed]
    rest = [path for path in files if str(path) not in taken]
    findings = [json.loads(line) for line in _output(wish, "validate", rest, "jsonl").stdout.splitlines()]
    reported = {finding["file"]: (finding["code"], finding["message"]) for finding in findings}
    found = set()
    for path in files:
        name, folder = str(path.relative_to(root)), path.parent.name
        code, message = reported.get(str(path), ("", ""))
        if str(path) in taken:
            right = taken[str(path)] in DIALECTS.get(folder, folder.replace("_", "-")).split()
            found |= set() if right else {(name, f"taken for {taken[str(path)]}")}
        elif not message.startswith(NAMED) and code != "not-json":
            found.add((name, f"not named: {code}"))
    return found


def detected(wish: argparse.Namespace, files: list[Path]) -> tuple[dict[str, str], set[str]]:
    """The dialect of each file that is taken for one, and the files that cannot be unpacked on this machine."""
    done = _output(wish, "detect", files, "json")
    return {row["file"]: row["dialect"] for row in json.loads(done.stdout)}, set(WITHOUT_ZSTD.findall(done.stderr))


def _output(wish: argparse.Namespace, command: str, files: list[Path], form: str) -> subprocess.CompletedProcess[str]:
    words = [wish.tool, command, *map(str, files), "--output-format", form]
    return subprocess.run(words, capture_output=True, text=True, check=False)


FOLDERS = (
    "atif",
    "chatgpt_export",
    "claude_ai_export",
    "claude_code",
    "claude_code_malformed",
    "cline",
    "codex",
    "copilot_cli",
    "droid",
    "gemini_cli",
    "google_adk",
    "inspect",
    "langchain",
    "openclaw",
    "opencode",
    "openhands_v1",
    "otel_genai",
    "pi",
    "pydantic_ai",
    "qwen_code",
    "swe_agent",
    "vercel_ai",
)
"""Folders of real files of which every count must be that of the corpus."""
COUNTS = {
    "calls": ("tool_calls", "invalid_tool_calls"),
    "results": ("tool_results",),
    "errors": ("tool_errors",),
    "reasoning": ("reasoning",),
}
"""What the rows of `inspect --summary` count, and what the corpus calls it, all of it together."""


TRAINING = ("hf_chat", "llamafactory_v1", "ms_swift", "openai_ft", "sharegpt", "sharegpt_tools")
"""Folders of rows for trainers: of each file the rows are counted, and where the corpus counts messages, these too."""
OF_ROWS = {"messages": ("messages",), "calls": ("tool_calls",), "results": ("tool_results",)}
TRACES = "langfuse"
"""The folder of traces of which every list of messages is to be found."""
SPEAKERS = {"user", "assistant", "system", "tool", "developer", "model", "human", "ai", "message", "function_call"}


def miscounts(wish: argparse.Namespace) -> set[tuple[str, str]]:
    """Every real file with messages and no broken lines in which convcli counts something else, and what; files that
    are taken for nothing are those of `misread`."""
    expected = json.loads((wish.corpus / REAL / "expected.json").read_text("utf-8"))
    whole = {
        name: counts
        for name, counts in expected.items()
        if "conversations" in counts and not counts.get("bad_lines") and (_is_row(name) or _is_said(counts))
    }
    folders = (*FOLDERS, *TRAINING)
    counted = [wish.corpus / REAL / name for name in whole if name.split("/")[0] in folders and name not in REFUSED]
    taken, _ = detected(wish, counted)
    files = {str(path): str(path.relative_to(wish.corpus / REAL)) for path in counted if str(path) in taken}
    rows: dict[str, Counter[str]] = {}
    for row in _summaries(wish, [*files, "--duplicate-keys", "last"]):
        numbers = {name: value for name, value in row.items() if isinstance(value, int)}
        rows.setdefault(files[row["file"]], Counter()).update({**numbers, "rows": 1})
    found = {(name, "is not read") for name in files.values() if name not in rows}
    for name, row in rows.items():
        counts = OF_ROWS if _is_row(name) else COUNTS
        of_corpus = {ours: sum(whole[name].get(key, 0) for key in theirs) for ours, theirs in counts.items()}
        if _is_row(name):
            of_corpus = (of_corpus if whole[name]["messages"] else {}) | {"rows": whole[name]["conversations"]}
        wrong = [ours for ours, count in of_corpus.items() if row[ours] != count]
        found |= {(name, f"other {ours}") for ours in wrong}
    return found


def _summaries(wish: argparse.Namespace, words: list[str]) -> Iterator[dict[str, Any]]:
    """What is counted in each transcript of these files."""
    command = [wish.tool, "inspect", "--summary", *words, "--output-format", "jsonl"]
    return map(json.loads, subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True).stdout.splitlines())


def _is_row(name: str) -> bool:
    return name.split("/")[0] in TRAINING


def unpicked(wish: argparse.Namespace) -> set[tuple[str, str]]:
    """Every trace in which not all lists of messages are read."""
    found = set()
    for path in sorted((wish.corpus / REAL / TRACES).glob("*.json")):
        trace = json.loads(path.read_text("utf-8"))
        lists = [at for i, one in enumerate(trace["observations"]) for at in _lists(one, f"/observations/{i}")]
        if not lists:
            raise SystemExit(f"there is no list of messages in {path.name}")
        read = [row for at in lists for row in _summaries(wish, [str(path), "--no-join", "--at", at])]  # none is paired
        found |= {(f"{TRACES}/{path.name}", "a list of messages is not read")} if len(read) != len(lists) else set()
    return found


def _lists(value: Any, at: str) -> Iterator[str]:
    """Where lists of messages stand, in a text too; what is said beside an observation repeats it."""
    with suppress(ValueError, TypeError):
        value = json.loads(value)
    are_objects = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    if are_objects and any({one.get("role"), one.get("type")} & SPEAKERS for one in value):
        yield at
        return
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in below:
        if key != "metadata":
            yield from _lists(inside, f"{at}/{key}")


def _is_said(counts: dict[str, int]) -> bool:
    """Is there more in a file than what its program notes beside the messages?"""
    notes = sum(counts.get(f"type_{kind}", 0) for kind in ("info", "error", "warning"))
    return counts["messages"] > notes or counts["tool_calls"] > 0


def problems(wish: argparse.Namespace, suite: str, folder: Path) -> set[tuple[str, str]]:
    """Every problem of a suite as its case and what is wrong, without numbers that change."""
    report = folder / f"{suite}.json"
    command = [sys.executable, str(wish.corpus / "bad" / "run.py"), "--suite", suite, "--json", str(report)]
    chosen = [] if wish.all else ["--only", SUITES[suite]]
    subprocess.run([*command, *chosen, "--tool", wish.tool], stdout=subprocess.DEVNULL, check=False)
    rows = json.loads(report.read_text("utf-8"))
    if not rows:
        raise SystemExit(f"the suite {suite} has no cases")
    return {(row["id"], plain(problem)) for row in rows for problem in row["problems"]}


def plain(problem: str) -> str:
    """The words of a problem up to the first number or quotation, which are of one run."""
    words = re.sub(r"\bU[0-9]+ ", "", problem)  # the number of the option that every case is tried with
    return re.split(r"[0-9'\"]|: error", words)[0].strip(" :,([")


def known() -> dict[tuple[str, str], str]:
    """The problems that are tolerated, with the reason of each."""
    lines = [line for line in KNOWN.read_text("utf-8").splitlines() if line.strip() and not line.startswith("#")]
    parts = [[part.strip() for part in line.split("|")] for line in lines]
    return {(case, wrong): why for case, wrong, why in parts if why}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("suites", nargs="*", default=[*SUITES, REAL])
    parser.add_argument("--tool", default="convcli")
    parser.add_argument("--all", action="store_true", help="every case")
    parser.add_argument("--write", action="store_true")
    wish = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suites = [suite for suite in wish.suites if suite != REAL]
        found = {problem for suite in suites for problem in problems(wish, suite, Path(folder))}
    found |= misread(wish) | miscounts(wish) | unpicked(wish) if REAL in wish.suites else set()
    tolerated = known()
    if wish.write:
        sys.stdout.writelines(
            f"{case} | {wrong} | {tolerated.get((case, wrong), '')}\n" for case, wrong in sorted(found)
        )
        return 0
    new, gone = sorted(found - tolerated.keys()), sorted(tolerated.keys() - found)
    sys.stdout.writelines(f"new: {case} | {wrong}\n" for case, wrong in new)
    sys.stdout.writelines(f"mended, so take it off the list: {case} | {wrong}\n" for case, wrong in gone)
    sys.stdout.write(f"{len(found)} problems, {len(tolerated)} known\n")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main())
