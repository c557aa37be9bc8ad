"""Deterministic conversations in Chat Completions form: long messages (about 2 KB each) and short ones (0.4 KB)."""

from __future__ import annotations

import json
import random
from typing import Any

WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "it",
    "was",
    "for",
    "on",
    "are",
    "as",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "from",
    "have",
    "or",
    "by",
    "one",
    "had",
    "not",
    "but",
    "what",
    "all",
    "were",
    "when",
    "we",
    "there",
    "can",
    "an",
    "your",
    "which",
    "their",
    "said",
    "if",
    "do",
    "will",
    "each",
    "about",
    "how",
    "up",
    "out",
    "them",
    "then",
    "she",
    "many",
    "some",
    "so",
    "these",
]
JAPANESE = ["東京の天気は晴れです。大阪では雨が降っていますが", "明日には止むでしょう。"]
CODE = 'def f(x):\n    return {"a": x, "b": [1, 2]}  # "quoted"\n'
IMAGE = "iVBORw0KGgo" + "A" * 1200 + "=="


def text(rng: random.Random, size: int) -> str:
    """About `size` bytes of prose: 8 % Japanese, some code with quotes and newlines."""
    pieces: list[str] = []
    length = 0
    while length < size:
        kind = rng.random()
        piece = (
            rng.choice(JAPANESE) if kind < 0.03 else CODE if kind < 0.05 else " ".join(rng.choices(WORDS, k=12)) + ".\n"
        )
        pieces.append(piece)
        length += len(piece.encode())
    return "".join(pieces)[: max(4, size)]


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}
    return {"type": "function", "function": {"name": name, "description": f"Use {name}.", "parameters": schema}}


def conversation(seed: int, scale: float = 1.0, *, named: bool = False) -> dict[str, Any]:
    """One request of about 23 messages; with `named` every user message carries a name, which Anthropic cannot say."""
    rng = random.Random(seed)
    messages: list[dict[str, Any]] = [{"role": "system", "content": text(rng, int(1500 * scale))}]
    for turn in range(5):
        user: dict[str, Any] = {"role": "user", "content": text(rng, int(600 * scale))}
        if named:
            user = {"role": "user", "name": f"u{turn}", "content": user["content"]}
        elif rng.random() < 0.1:
            image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE[: int(1200 * scale)]}"}}
            user["content"] = [{"type": "text", "text": user["content"]}, image]
        messages += [user, *exchange(rng, turn, scale)]
        messages.append({"role": "assistant", "content": text(rng, int(800 * scale))})
    return {"model": "gpt-6-sol", "messages": messages, "tools": [tool("search"), tool("read_file"), tool("run")]}


def exchange(rng: random.Random, turn: int, scale: float) -> list[dict[str, Any]]:
    """An assistant message with one or two calls, and their results of 0.2 to 20 KB."""
    calls = []
    results = []
    for k in range(rng.choice((1, 1, 2))):
        arguments = {"q": text(rng, int(rng.choice((40, 400)) * scale)), "n": rng.randint(0, 99)}
        function = {
            "name": rng.choice(("search", "read_file", "run")),
            "arguments": json.dumps(arguments, ensure_ascii=False, separators=(",", ":")),
        }
        id_ = f"call_{turn}_{k}"
        calls.append({"id": id_, "type": "function", "function": function})
        size = int(rng.choice((200, 1000, 2000, 4000, 20000)) * scale)
        results.append({"role": "tool", "tool_call_id": id_, "content": text(rng, size)})
    return [{"role": "assistant", "content": text(rng, int(300 * scale)), "tool_calls": calls}, *results]


def lines(count: int, scale: float, *, named: bool = False) -> list[bytes]:
    """JSONL lines, compact, as JavaScript and Rust write them."""
    documents = (conversation(seed, scale, named=named) for seed in range(count))
    return [json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() for document in documents]
