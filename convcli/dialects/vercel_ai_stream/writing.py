"""Writes a UI message of the AI SDK as the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from convcli.dialects.vercel_ai_stream.assembling import (
    ASKED,
    DYNAMIC,
    STARTED,
    STATIC,
    STEP,
    name_of_place,
    renamed,
)
from convcli.kit.objects import Native, omit
from convcli.kit.streams import fragments
from convcli.kit.values import write_arguments

NAMES = {ours: theirs for theirs, ours in ASKED.items()}
OUTPUTS = ("output-available", "output-error", "output-denied")
OUTPUT_KEYS = ("output", "errorText", "preliminary", "resultProviderMetadata")
TOOL_KEYS = ("type", "toolCallId", "toolName", "state", "input", "rawInput", "approval", "callProviderMetadata")


def message_events(parts: list[Native], replaced: list[Native], size: int, first: int) -> Iterator[Native]:
    """Yields the events of parts, step by step; outputs come after the calls of their step.

    `first` is the index of the first part among the parts of all steps. `replaced` are repeated events: each is taken
    from there, and comes before its replacement.
    """
    waiting: list[Native] = []
    is_open = False
    for index, part in enumerate(parts, first):
        if part["type"] == STEP:
            yield from _end_of_step(waiting, replaced, is_open)
            yield {**part, "type": "start-step"}
            waiting, is_open = [], True
        elif _is_tool(part):
            yield from _call(part, size)
            waiting += [part] if part["state"] in OUTPUTS else []
        elif part["type"] in ("text", "reasoning"):
            yield from _text(part, name_of_place(part["type"], index), size)
        else:
            yield from _take_earlier(replaced, "id", part) if part["type"].startswith("data-") else ()
            yield part
    yield from _end_of_step(waiting, replaced, is_open)


def _end_of_step(waiting: list[Native], replaced: list[Native], is_open: bool) -> Iterator[Native]:
    for part in waiting:
        yield from _take_earlier(replaced, "toolCallId", part)
        yield _output(part)
    if is_open:
        yield {"type": "finish-step"}


def _take_earlier(replaced: list[Native], key: str, part: Native) -> list[Native]:
    """Takes the earlier events of the same part."""
    kind = part["type"] if key == "id" else STATIC
    taken = [event for event in replaced if event["type"].startswith(kind) and event.get(key) == part.get(key)]
    replaced[:] = [event for event in replaced if event not in taken]
    return taken


def _is_tool(part: Native) -> bool:
    return "toolCallId" in part and "state" in part and part["type"].startswith((STATIC, DYNAMIC))


def _text(part: Native, name: str, size: int) -> Iterator[Native]:
    """Yields the start, the growth and the end of a text; its other keys come last."""
    stem = part["type"]
    ids = {"id": part.get("id") or name}
    other_keys = omit(part, "type", "id", "text", "state")
    is_open = part.get("state") == "streaming"
    yield {"type": f"{stem}-start", **ids, **(other_keys if is_open else {})}
    for piece in fragments(part.get("text") or "", size):
        yield {"type": f"{stem}-delta", **ids, "delta": piece}
    if not is_open:
        yield {"type": f"{stem}-end", **ids, **other_keys}


def _call(part: Native, size: int) -> Iterator[Native]:
    """Yields the start, the growth and the whole input of a call, then its approval."""
    is_dynamic = part["type"] == DYNAMIC
    name = part["toolName"] if is_dynamic else part["type"].removeprefix(STATIC)
    ids = {"toolCallId": part["toolCallId"]}
    head = {**ids, "toolName": name, **({"dynamic": True} if is_dynamic else {})}
    metadata = part.get("callProviderMetadata")
    other_keys = {**omit(part, *TOOL_KEYS, *OUTPUT_KEYS), **({"providerMetadata": metadata} if metadata else {})}
    input_ = part["input"] if part.get("input") is not None else part.get("rawInput")
    text = input_ if isinstance(input_, str) else write_arguments(input_, None) if input_ is not None else ""
    is_open = part["state"] == STARTED
    yield {"type": "tool-input-start", **head, **(other_keys if is_open else {})}
    for piece in fragments(text, size):
        yield {"type": "tool-input-delta", **ids, "inputTextDelta": piece}
    if is_open:
        return
    failed = part["state"] == "output-error" and isinstance(input_, str)
    error = {"errorText": part.get("errorText") or ""} if failed else {}
    yield {"type": f"tool-input-{'error' if failed else 'available'}", **head, "input": input_, **error, **other_keys}
    yield from _approval(part)


def _approval(part: Native) -> Iterator[Native]:
    """Yields the approval request of a call, and the answer to it."""
    approval = part.get("approval")
    if not isinstance(approval, dict) or not isinstance(approval.get("id"), str):
        return
    ids = {"approvalId": approval["id"]}
    is_answered = isinstance(approval.get("approved"), bool)
    answer = {"approved": approval["approved"]} if is_answered else {}
    answer |= {"reason": approval["reason"]} if is_answered and isinstance(approval.get("reason"), str) else {}
    request = renamed(omit(approval, "id", *answer), NAMES)
    yield {"type": "tool-approval-request", **ids, "toolCallId": part["toolCallId"], **request}
    if is_answered:
        yield {"type": "tool-approval-response", **ids, **answer}


def _output(part: Native) -> Native:
    """Returns the output event of a call."""
    event: Native = {"type": f"{STATIC}{part['state']}", "toolCallId": part["toolCallId"]}
    if part["state"] == "output-denied":
        return event
    key = "output" if part["state"] == "output-available" else "errorText"
    metadata = part.get("resultProviderMetadata")
    event |= {key: part.get(key), **({"preliminary": part["preliminary"]} if "preliminary" in part else {})}
    return {**event, **({"providerMetadata": metadata} if metadata else {})}
