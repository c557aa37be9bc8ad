"""Deterministic conversations as users have them, in Chat Completions form: each with an id, a time, a model and calls
of its own, in a tenth tools, some with images, names, reasoning or failed calls; and what other programs keep of them.

Messages are long (about 2 KB each) or short (0.5 KB). No two conversations share anything by accident."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from convcli import dialects
from convcli.model.transcript import Message, ToolResult, Transcript

LONG, SHORT = 1.0, 0.18
"""Scales: messages of 2 KB and of 0.5 KB."""

PROSE = (
    "the of and to in a is that it was for on are as with his they at be this from have or by one had not but what all "
    "were when we there can an your which their said if do will each about how up out them then she many some so these"
)
WORDS = PROSE.split()
JAPANESE = ["東京の天気は晴れです。大阪では雨が降っていますが", "明日には止むでしょう。"]
CODE = 'def f(x):\n    return {"a": x, "b": [1, 2]}  # "quoted"\n'
RESULT = '{"ok": true, "items": [1, 2, 3], "note": "%s"}'
MODELS = ("gpt-6-sol", "gpt-6-luna", "qwen4-72b")
TOOLS = ("search", "read_file", "run", "write_file", "get_weather", "list_dir", "fetch", "send_mail")
VERBS = ("get", "list", "find", "make", "send", "read", "drop", "sort", "plan", "book")
THINGS = ("user", "order", "file", "mail", "page", "task", "route", "hotel", "price", "score", "event", "photo", "song")
PROGRAMS = 5
PNG = "iVBORw0KGgoAAAANSUhEUgAA"
BASE64 = string.ascii_letters + string.digits
START = datetime(2026, 1, 1)


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


def word(rng: random.Random, prefix: str, length: int) -> str:
    return prefix + "".join(rng.choices(BASE64, k=length))


def time(rng: random.Random) -> str:
    return (START + timedelta(seconds=rng.randrange(30_000_000))).isoformat() + "Z"


def tool(rng: random.Random, name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}, "required": ["q"]}
    function = {"name": name, "description": f"Use {name}. {text(rng, 60)}", "parameters": schema}
    return {"type": "function", "function": function}


def conversation(seed: int, scale: float = LONG, *, named: bool = False, turns: int = 5) -> dict[str, Any]:
    """One logged request of about 22 messages; with `named` every user message carries a name."""
    rng = random.Random(seed)
    messages: list[dict[str, Any]] = []
    if rng.random() < 0.8:
        messages.append({"role": "system", "content": text(rng, int(1500 * scale))})
    thinks, separators = rng.random() < 0.15, rng.choice([None, (",", ":")])
    for _ in range(rng.choice((turns - 1, turns, turns + 1))):
        messages += [user(rng, scale, named=named)]
        for _ in range(rng.choice((0, 1, 1, 1, 2))):
            messages += exchange(rng, scale, separators, thinks=thinks)
        messages.append(answer(rng, scale, thinks=thinks))
    document = {"id": word(rng, "req_", 22), "created_at": time(rng), "model": rng.choice(MODELS), "messages": messages}
    if rng.random() < 0.1:  # each program has the same ones in each request
        program = random.Random(rng.randrange(PROGRAMS))
        document["tools"] = [tool(program, name) for name in TOOLS]
    return document


def user(rng: random.Random, scale: float, *, named: bool) -> dict[str, Any]:
    """What a user says: now and then with an image, or under a name."""
    message: dict[str, Any] = {"role": "user", "content": text(rng, int(600 * scale))}
    if named or rng.random() < 0.01:
        message = {"role": "user", "name": word(rng, "u", 5), "content": message["content"]}
    if rng.random() < 0.05:
        data = word(rng, PNG, int(1200 * scale) // 4 * 4)
        url = f"data:image/png;base64,{data}" if rng.random() < 0.7 else f"https://example.com/{word(rng, '', 9)}.png"
        message["content"] = [
            {"type": "text", "text": message["content"]},
            {"type": "image_url", "image_url": {"url": url}},
        ]
    return message


def answer(rng: random.Random, scale: float, *, thinks: bool) -> dict[str, Any]:
    reasoning = {"reasoning_content": text(rng, int(500 * scale))} if thinks else {}
    return {"role": "assistant", "content": text(rng, int(800 * scale)), **reasoning}


def exchange(rng: random.Random, scale: float, separators: Any, *, thinks: bool) -> list[dict[str, Any]]:
    """An assistant message with one call or more, and their results of 0.2 to 20 KB; some are JSON."""
    calls = []
    results = []
    for _ in range(rng.choice((1, 1, 1, 1, 2, 3))):
        arguments = {"q": text(rng, int(rng.choice((40, 400)) * scale)), "n": rng.randint(0, 99)}
        function = {
            "name": rng.choice(TOOLS),
            "arguments": json.dumps(arguments, ensure_ascii=False, separators=separators),
        }
        id_ = word(rng, "call_", 24)
        calls.append({"id": id_, "type": "function", "function": function})
        size = int(rng.choice((200, 1000, 2000, 4000, 20000)) * scale)
        content = RESULT % word(rng, "", size) if rng.random() < 0.1 else text(rng, size)
        results.append({"role": "tool", "tool_call_id": id_, "content": content})
    asking = answer(rng, scale * 0.4, thinks=thinks)
    if rng.random() < 0.4:
        asking["content"] = None
    return [{**asking, "tool_calls": calls}, *results]


def row(seed: int) -> dict[str, Any]:
    """A row of a data set, of about 3 KB."""
    rng = random.Random(seed)
    messages = [{"role": "system", "content": text(rng, 200)}] if rng.random() < 0.3 else []
    for _ in range(rng.choice((1, 1, 2))):
        messages += [{"role": "user", "content": text(rng, 500)}, {"role": "assistant", "content": text(rng, 1500)}]
    return {"id": word(rng, "", 12), "messages": messages, "source": word(rng, "set-", 6), "score": rng.random()}


def agent_row(seed: int) -> dict[str, Any]:
    """A row of a data set of agents, of about 3 KB: a question, one call or two whose results are JSON, an answer."""
    rng = random.Random(seed)
    messages = [{"role": "system", "content": text(rng, 300)}] if rng.random() < 0.5 else []
    messages.append({"role": "user", "content": text(rng, 200)})
    for _ in range(rng.choice((1, 1, 2))):
        id_, arguments = word(rng, "call_", 24), {"q": text(rng, 40), "n": rng.randint(0, 99)}
        function = {"name": rng.choice(TOOLS[:4]), "arguments": json.dumps(arguments)}
        found = [{"id": rng.randint(0, 9999), "title": text(rng, 60), "score": rng.random()} for _ in range(8)]
        result = json.dumps({"items": found, "next": None} if rng.random() < 0.7 else found, ensure_ascii=False)
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [{"id": id_, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": id_, "content": result},
        ]
    messages.append({"role": "assistant", "content": text(rng, 700)})
    return {"messages": messages, "source": word(rng, "set-", 6)}


def tool_row(seed: int, *, is_defined: bool = True) -> dict[str, Any]:
    """The same with three tools of many, as data sets for training calls have them."""
    rng, row = random.Random(seed), agent_row(seed)
    names = rng.sample([f"{verb}_{thing}" for verb in VERBS for thing in THINGS], 3)
    for message in row["messages"]:
        for call in message.get("tool_calls", ()):
            call["function"]["name"] = rng.choice(names)
    return {**row, "tools": [tool(rng, name) for name in names]} if is_defined else row


# ---------------------------------------------------------------- in other dialects


def transcript(document: dict[str, Any], seed: int, *, is_session: bool) -> Transcript:
    """The same as other programs keep it: a failed call now and then; a session with ids, times, models and usage."""
    rng = random.Random(seed)
    known = dialects.get("openai-chat").lift({"messages": document["messages"], "model": document["model"]})
    messages = [_failed(rng, message) for message in known.messages]
    if not is_session:
        return replace(known, messages=messages, tools=dialects.get("openai-chat").lift(document).tools, origin=None)
    now, parent = START + timedelta(seconds=seed * 86_400), None
    for i, message in enumerate(messages):
        now += timedelta(milliseconds=rng.randrange(100, 90_000))
        message = replace(
            message, id=word(rng, "", 8).lower(), parent_id=parent, created_at=f"{now.isoformat('T', 'milliseconds')}Z"
        )
        if message.role == "assistant":
            tokens = {"inputTokens": rng.randrange(50_000), "outputTokens": rng.randrange(900)}
            message = replace(message, model=known.model, usage=tokens)
        messages[i], parent = message, message.id
    created = messages[0].created_at
    return Transcript(messages, id=word(rng, "", 20), cwd="/srv/garden", created_at=created)


def _failed(rng: random.Random, message: Message) -> Message:
    part = message.parts[0] if message.parts else None
    if not isinstance(part, ToolResult) or part.kind != "text" or rng.random() > 0.03:
        return message
    return replace(message, parts=[replace(part, kind="error")])


def documents(
    name: str, seeds: Iterable[int], scale: float, *, named: bool = False, is_session: bool = False
) -> Iterable[Any]:
    """Documents of a dialect; sessions have some 150 messages."""
    for seed in seeds:
        chat = conversation(seed, scale, named=named, turns=32 if is_session else 5)
        if name == "openai-chat":
            yield chat
            continue
        dialect = dialects.get(name)
        document = dialect.lower(transcript(chat, seed, is_session=is_session))
        if document.__class__ is dict and not is_session:
            document = {"id": chat["id"], "createdAt": chat["created_at"], **document}
        yield document


def compact(value: Any) -> bytes:
    """JSON as JavaScript and Rust write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def lines(count: int, scale: float, *, named: bool = False) -> list[bytes]:
    """JSONL lines of Chat Completions."""
    return [compact(conversation(seed, scale, named=named)) for seed in range(count)]
