"""Batches of Anthropic: the requests of a batch, a line for each, and the lines of their results.

Specification: the Message Batches API, https://docs.claude.com/en/docs/build-with-claude/batch-processing, as typed by
the Python SDK `anthropic` 2.10.0; read 2026-11-22.

Quirks
- A line holds a request of the Messages API in `params`, or a result, whose `message` is a response.
- `custom_id` has at most 64 letters, digits, _ and -; it ties a result to its request, and is the id of the transcript.
  One that is missing or longer is made of the content. The id of a response stands beside it.
- A result may have no message: it is errored, canceled or expired. That is an answer which failed, without words.
- The API takes the requests of a batch in one body, `{"requests": […]}`: its members are these lines.
- Results stand in any order.
"""

from __future__ import annotations

import re
from typing import Any

from convcli.families.bodies import identified, is_failure, only_failure, whole
from convcli.kit import lacking
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, carried_by, extras_of, omit, without_empty
from convcli.kit.values import paths
from convcli.model.branches import active
from convcli.model.dialect import BodyForm, Clue, Dialect, Options
from convcli.model.transcript import Message, Path, Transcript

NAME = "anthropic-batch"
FORMS = ("request", "result", "failure")
REQUEST, RESULT, FAILURE = FORMS
SUCCEEDED, ERRORED = "succeeded", "errored"
ENDED = frozenset(("canceled", "expired"))
IDS = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ERROR: Path = ("result", "error", "error")
USUAL = {"type": ERRORED, "error": {"type": "error", "error": {"type": "api_error"}}}
"""What is written beside the words of a failure."""


def detect(document: Any) -> Clue | None:
    """By the id of a line beside a request or a result."""
    if not isinstance(document, dict) or "custom_id" not in document:
        return None
    result = document.get("result")
    is_result = isinstance(result, dict) and isinstance(result.get("type"), str)
    return Clue(97, "a custom_id and params or a result") if "params" in document or is_result else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """What stands around the request or the response; the whole of a result without one."""
    context = LiftContext(NAME, document, spot=())
    result = document.get("result") or {}
    beside = omit(document, "custom_id", "params", "result")
    if "params" in document:
        context.origin.form = REQUEST
    elif result["type"] == SUCCEEDED:
        context.origin.form = RESULT
        beside["result"] = omit(result, "type", "message")
    else:
        context.origin.form = FAILURE
        beside["result"] = _lift_failure(result, context)
    carried = without_empty(beside)
    return context.transcript(id=document["custom_id"], extras=extras_of(NAME, carried))


def _lift_failure(result: Native, context: LiftContext) -> Native:
    """An answer that failed, with the word of the service, or that for its type; what of that is carried."""
    inside = (result.get("error") or {}).get("error") or {}
    words = inside.get("message")
    message = Message("assistant", [], stop_reason="error", error=result["type"] if words is None else words)
    context.add(message, ("result",) if words is None else ERROR)
    if words is None:
        return {} if result == {"type": message.error} and message.error in ENDED else result
    kept = omit(inside, "message")
    rest = {**result, "error": {**result["error"], "error": kept}}
    return {} if rest == USUAL else rest


# ---------------------------------------------------------------- write


def form_of(transcript: Transcript) -> str:
    """A result where the transcript holds only one answer of a model, else a request."""
    if is_failure(transcript):
        return FAILURE
    return RESULT if is_response(transcript) and len(active(transcript)) == 1 else REQUEST


def write(transcript: Transcript, options: Options) -> Any:
    """What stands around a request or a response, or the line of a result that has none."""
    carried = omit(carried_by(transcript.extras, NAME), "bodyId")
    first = {"custom_id": transcript.id}
    if options.form == REQUEST:
        return {**first, "params": None, **carried}
    result = carried.pop("result", {})
    if options.form == RESULT:
        return {**first, "result": {"type": SUCCEEDED, **result, "message": None}, **carried}
    return {**first, "result": _write_failure(transcript, result), **carried}


def _write_failure(transcript: Transcript, result: Native) -> Native:
    """The result with its words where the service has a place for them: where it says nothing, its type is the word."""
    words = transcript.messages[0].error if transcript.messages else ""
    result = result or ({"type": words} if words in ENDED else dict(USUAL))
    if words == result.get("type"):
        return result
    error: Native = result.get("error") or {}
    return {**result, "error": {**error, "error": {**(error.get("error") or {}), "message": words}}}


IDENTIFIED = identified(lambda id_: IDS.fullmatch(id_) is not None)
SAID = frozenset(("id", "message.error"))

DIALECT = Dialect(
    name=NAME,
    title="Anthropic Message Batches",
    aliases=("claude-batch", "message-batches"),
    specification="Message Batches API; Python SDK anthropic 2.10.0; read 2026-11-22",
    framings=("records", "document"),
    unique="custom_id",
    forms=FORMS,
    bodies={
        REQUEST: BodyForm("anthropic", "request", ("params",)),
        RESULT: BodyForm("anthropic", "response", ("result", "message")),
    },
    detect=detect,
    lift=lift,
    write=write,
    form_of=form_of,
    fit={**dict.fromkeys(FORMS, (whole, IDENTIFIED)), FAILURE: (only_failure, IDENTIFIED)},
    lacks={
        **dict.fromkeys(FORMS, frozenset()),
        FAILURE: lacking.AROUND_PARTS - SAID,
    },
    reasons={
        "id": "a custom_id has 1 to 64 letters, digits, _ and -: another is made of the content",
        "settings.stream": "the answers of a batch are whole",
    },
    places=paths("id=custom_id message.error=message"),
    envelope=frozenset(("result", "bodyId")),
)
