"""Makes `convcli/views/prices.json` from price tables of litellm, newest first: python -m tests.prices 1.110.2=FILE…

Each entry keeps the keys of litellm's format for the tokens that convcli counts, the page of the vendor if litellm
names one, the version of litellm, and the day on which it was read. Older versions add models that newer ones removed.
A dated model name is left out if the name without its date has the same prices.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from convcli.views.costs import BUILT_IN, TOKEN_COST, undated

PROVIDERS = ("anthropic", "openai", "gemini", "deepseek", "xai", "mistral", "moonshot", "zai", "dashscope")
MODES = ("chat", "responses")


def table(versions: dict[str, dict[str, Any]], day: str) -> dict[str, dict[str, Any]]:
    """Returns the entries of the first version that has each model."""
    entries: dict[str, dict[str, Any]] = {}
    for version, document in versions.items():
        for name, entry in document.items():
            provider = entry.get("litellm_provider")
            if provider in PROVIDERS and entry.get("mode") in MODES and "ft:" not in name:
                bare = name.removeprefix(f"{provider}/")
                costs = {key: value for key, value in entry.items() if TOKEN_COST.fullmatch(key)}
                if costs.get("input_cost_per_token") and bare not in entries:
                    page = {"page": entry["source"]} if "source" in entry else {}
                    entries[bare] = {**costs, **page, "source": f"litellm {version}", "date": day}
    same = {
        name
        for name, entry in entries.items()
        if undated(name) != name and _costs(entry) == _costs(entries.get(undated(name), {}))
    }
    return {name: entries[name] for name in sorted(entries) if name not in same}


def _costs(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in ("page", "source", "date")}


def main(words: list[str]) -> None:
    """Writes the table, an entry on each line."""
    versions = {
        version: json.loads(Path(path).read_text()) for version, _, path in (word.partition("=") for word in words)
    }
    entries = table(versions, datetime.now(UTC).date().isoformat())
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
    Path(BUILT_IN).write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
