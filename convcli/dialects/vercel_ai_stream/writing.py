"""The message of a user interface of the AI SDK as the events of a stream."""

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
OF_OUTPUTS = ("output", "errorText", "preliminary", "resultProviderMetadata")
OF_TOOLS = ("type", "toolCallId", "toolName", "state", "input", "rawInput", "approval", "callProviderMetadata")


def message_events(parts: list[Native], replaced: list[Native], size: int, first: int) -> Iterator[Native]:
    """The events of parts, step by step; outputs come behind the calls of their step.

    `first` is the index of the first of them among the parts of all steps. `replaced` are events that were
    said again: each is taken from there, and comes before what it was replaced by.
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
            yield from _taken(replaced, "id", part) if part["type"].startswith("data-") else ()
            yield part
    yield from _end_of_step(waiting, replaced, is_open)


def _end_of_step(waiting: list[Native], replaced: list[Native], is_open: bool) -> Iterator[Native]:
    for part in waiting:
        yield from _taken(replaced, "toolCallId", part)
        yield _output(part)
    if is_open:
        yield {"type": "finish-step"}


def _taken(replaced: list[Native], key: str, part: Native) -> list[Native]:
    """What was said before of the same thing."""
    kind = part["type"] if key == "id" else STATIC
    taken = [event for event in replaced if event["type"].startswith(kind) and event.get(key) == part.get(key)]
    replaced[:] = [event for event in replaced if event not in taken]
    return taken


def _is_tool(part: Native) -> bool:
    return "toolCallId" in part and "state" in part and part["type"].startswith((STATIC, DYNAMIC))


def _text(part: Native, name: str, size: int) -> Iterator[Native]:
    """A text begins, grows and ends; what else is said of it comes last."""
    stem = part["type"]
    ids = {"id": part.get("id") or name}
    beside = omit(part, "type", "id", "text", "state")
    is_open = part.get("state") == "streaming"
    yield {"type": f"{stem}-start", **ids, **(beside if is_open else {})}
    for piece in fragments(part.get("text") or "", size):
        yield {"type": f"{stem}-delta", **ids, "delta": piece}
    if not is_open:
        yield {"type": f"{stem}-end", **ids, **beside}


def _call(part: Native, size: int) -> Iterator[Native]:
    """A call begins, its input grows, and is there as a whole; then it may have to be approved."""
    is_dynamic = part["type"] == DYNAMIC
    name = part["toolName"] if is_dynamic else part["type"].removeprefix(STATIC)
    ids = {"toolCallId": part["toolCallId"]}
    head = {**ids, "toolName": name, **({"dynamic": True} if is_dynamic else {})}
    said = part.get("callProviderMetadata")
    beside = {**omit(part, *OF_TOOLS, *OF_OUTPUTS), **({"providerMetadata": said} if said else {})}
    input_ = part["input"] if part.get("input") is not None else part.get("rawInput")
    text = input_ if isinstance(input_, str) else write_arguments(input_, None) if input_ is not None else ""
    is_open = part["state"] == STARTED
    yield {"type": "tool-input-start", **head, **(beside if is_open else {})}
    for piece in fragments(text, size):
        yield {"type": "tool-input-delta", **ids, "inputTextDelta": piece}
    if is_open:
        return
    failed = part["state"] == "output-error" and isinstance(input_, str)
    error = {"errorText": part.get("errorText") or ""} if failed else {}
    yield {"type": f"tool-input-{'error' if failed else 'available'}", **head, "input": input_, **error, **beside}
    yield from _approval(part)


def _approval(part: Native) -> Iterator[Native]:
    """That a call had to be approved, and whether it was."""
    approval = part.get("approval")
    if not isinstance(approval, dict) or not isinstance(approval.get("id"), str):
        return
    ids = {"approvalId": approval["id"]}
    is_answered = isinstance(approval.get("approved"), bool)
    answer = {"approved": approval["approved"]} if is_answered else {}
    answer |= {"reason": approval["reason"]} if is_answered and isinstance(approval.get("reason"), str) else {}
    asked = renamed(omit(approval, "id", *answer), NAMES)
    yield {"type": "tool-approval-request", **ids, "toolCallId": part["toolCallId"], **asked}
    if is_answered:
        yield {"type": "tool-approval-response", **ids, **answer}


def _output(part: Native) -> Native:
    """What came of a call."""
    event: Native = {"type": f"{STATIC}{part['state']}", "toolCallId": part["toolCallId"]}
    if part["state"] == "output-denied":
        return event
    key = "output" if part["state"] == "output-available" else "errorText"
    said = part.get("resultProviderMetadata")
    event |= {key: part.get(key), **({"preliminary": part["preliminary"]} if "preliminary" in part else {})}
    return {**event, **({"providerMetadata": said} if said else {})}
