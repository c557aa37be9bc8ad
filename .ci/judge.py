"""Asks the vendors' own types about everything that we write: `judge.py PYTHON ORACLE [TARGET…]`.

Every sample of every dialect is converted to every dialect that the judge knows. An error of the judge must be one
that a finding of ours has named: a key that is not there by one that names missing keys, anything else by another.
Exit 1 when one is not.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from convcli import dialects
from convcli.engine import conversion
from convcli.files.layouts import encoded
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.errors import ConvcliError
from convcli.validation.rules.keys import TOP_LEVEL_CODES
from tests.support import samples

KNOWN = (
    {
        name: name
        for name in (
            "openai-chat",
            "openai-responses",
            "anthropic",
            "gemini",
            "vertexai",
            "ollama",
            "bedrock-converse",
            "mistral",
            "cohere",
        )
    }
    | {"mcp": "mcp-tools"}
    | {f"{name}-stream": f"{name}-stream" for name in ("openai-chat", "openai-responses", "anthropic", "gemini")}
)


TOLERATED = {
    "GEM-06": "some calls of the last turn are still open, which is no error of a transcript",
    "unknown field (not in": "relatives exchange what both know: the error of a broken stream rides along",
    "aKeyOfTheFuture": "relatives exchange what neither knows yet: a key that a sample has on purpose",
    "error: pydantic: Extra inputs": "an error event, which the service sends and its types lack",
    "OAR-01": "the same",
    "Not the same number of function calls": "the same",
    ".id: pydantic(vendor TypedDict): Extra": "the service sends and takes these ids, and its request types lack them",
    "].type: pydantic: Input should be 'response.audio.done'": "a reference, which only requests have",
    "'something_new' is not one of": "an item that is new on purpose, in a sample of the stream's sibling",
    "'output_hologram' is not one of": "the same",
    "incomplete_details.reason": "a reason that is new on purpose, in a sample of the stream's sibling",
    "message.images[0]": "the SDK has the type of what a client sends; the server answers with text",
    "error: unknown field for Message": "the error of a broken stream rides along",
    "request_id: unknown field for Message": "the same",
    "unknown field for C": "the same, and what compatible servers write beside it",
    "messages[0].stopReason: mcp": "an answer without a model is taken for a message of a request",
    "MCP-03": "some calls of the last turn are still open, which is no error of a transcript",
    "ANT-S1": "arguments that were broken in the source are written as they are",
    "delta.tool_calls[0].type": "the type of a stream lacks the custom tools that requests have",
    "lacks id or function.name": "a call to which its source gives no name",
    "'encrypted_content' is not one of": "relatives exchange what both know: a part of a result of a hosted tool",
    "response.tool_choice.type: 'web_search'": "the same: the choice of a hosted tool, as an older model had it",
    "expires_at: pydantic: Field required": "a stream that broke off before it told when its audio ends",
    "missing required field of ChatCompletionAudio": "a stream that broke off before it told when its audio ends",
}
"""Verdicts of the judge that stand, each with its reason, by rule or message."""


class Told(NamedTuple):
    """What findings of ours speak of: `keys` that are not there, or `more` than that; `asked` as a request.

    `failures` are the events that report an error in place of a chunk: the SDK raises them, and types none of them.
    """

    keys: bool
    more: bool
    asked: bool
    failures: frozenset[str] = frozenset()

    def of(self, error: dict[str, str]) -> bool:
        """True if they speak of this error."""
        is_kept = any(words in error["msg"] for words in ASKED)
        return self.more or (self.keys and bool(IS_MISSING.search(error["msg"]))) or (is_kept and self.asked)


ASKED = ("Expected last role User or Tool", "Unexpected tool call id")
"""Errors of what is no request, but may be kept, or be for training: only `validate --as` speaks of them."""

IS_MISSING = re.compile(r"(?i)missing|field required|is a required")


def outputs(
    target: str, folder: Path, form: str | None = None, rows: str = ".sse", *, own: bool = False
) -> dict[str, Told]:
    """Convert everything; for each file what findings of ours speak of. `rows` is the suffix of a document of rows;
    `own`: samples of the target too."""
    options = Options(form=form)
    written: dict[str, Told] = {}
    for number, sample in enumerate(samples()):
        if sample.dialect == target and not own:
            continue  # its samples hold odd things on purpose
        try:
            source = dialects.get(sample.dialect)
            transcript = source.lift(sample.document)
            done = conversion.lower(transcript, dialects.get(target), options, source)
            asked = conversion.read_back(
                transcript, done.document, dialects.get(target), source, purpose="request", form=form
            )
        except ConvcliError as error:
            sys.stdout.write(f"{sample} → {target}: {error.code}\n")
            continue
        suffix = rows if isinstance(done.document, Rows) else ".json"
        path = folder / f"{number:04}-{sample.dialect}-{sample.path.stem}-{sample.index}{suffix}"
        path.write_bytes(b"".join(encoded(done.document, suffix, names_events=dialects.get(target).names_events)))
        codes = {finding.code for finding in done.findings}
        more = {finding.code for finding in asked.findings} - TOP_LEVEL_CODES
        keys, others = bool(codes & TOP_LEVEL_CODES), bool(codes - TOP_LEVEL_CODES)
        written[str(path)] = Told(keys, others, bool(more), failures(target, done.document))
    return written


def failures(target: str, document: Any) -> frozenset[str]:
    """Returns the places of the events with nothing but an error, in a stream of Chat Completions."""
    events = document if target == "openai-chat-stream" else ()
    return frozenset(
        f"[{at}]" for at, event in enumerate(events) if isinstance(event, dict) and set(event) == {"error"}
    )


def is_tolerated(finding: dict[str, str]) -> bool:
    said = f"{finding['path']}: {finding['msg']}"
    return any(finding["rule"] == words or words in said for words in TOLERATED)


def judged(python: str, oracle: str, target: str) -> tuple[int, int, Counter[str]]:
    """How many outputs are fine, how many are wrong with a finding of ours, and the rules of those without one."""
    with tempfile.TemporaryDirectory() as folder:
        written = outputs(target, Path(folder))
        command = [python, oracle, KNOWN[target], "--json", "--open-tail", "--complete", *written]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    fine, reported, untold = 0, 0, Counter[str]()
    for line in done.stdout.splitlines():
        verdict = json.loads(line)
        file = verdict["file"].split(", ")[0]
        if verdict["ok"]:
            fine += 1
        else:
            found = [finding for finding in verdict["findings"] if finding["severity"] == "error"]
            told = written[file]
            errors = [one for one in found if not is_tolerated(one) and one["path"].split(".")[0] not in told.failures]
            first = next((error for error in errors if not told.of(error)), None)
            if first is None:
                fine, reported = fine + (not errors), reported + bool(errors)
                continue
            untold[f"{first['rule'] or first['layer']} {first['path']}: {first['msg'][:90]} ({Path(file).name})"] += 1
    return fine, reported, untold


def main() -> int:
    python, oracle, *targets = sys.argv[1:]
    wrong = 0
    targets = targets or [name for name in KNOWN if name in dialects.names()]
    with ProcessPoolExecutor() as pool:
        verdicts = list(pool.map(partial(judged, python, oracle), targets))
    for target, (fine, reported, untold) in zip(targets, verdicts, strict=True):
        sys.stdout.write(
            f"{target}: {fine} accepted, {reported} lack what a finding names, {sum(untold.values())} untold\n"
        )
        for text, count in sorted(untold.items()):
            sys.stdout.write(f"  {count} × {text}\n")
        wrong += sum(untold.values())
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
