"""Anthropic Message Batches: one line for each request of a batch, and one for each result.

Specification: the Message Batches API, https://docs.claude.com/en/docs/build-with-claude/batch-processing, as typed by
the Python SDK `anthropic` 2.10.0; read 2026-11-22.

Quirks
- A line has a Messages API request in `params`, or a result whose `message` is a response.
- `custom_id` has at most 64 letters, digits, _ and -. It links a result to its request, and is the id of the
  transcript. A missing or longer one is derived from the content. The id of a response is kept separately.
- A result without a message is errored, canceled or expired: a failed answer without content.
- The API accepts all requests of a batch in one body, `{"requests": […]}`: its members are these lines.
- Results come in any order.
"""

from __future__ import annotations

from typing import Any

from convcli.families.bodies import identified, is_failure, only_failure, whole
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.supported import TEXTS, fields
from convcli.kit.values import paths
from convcli.model.branches import active
from convcli.model.dialect import BodyForm, Dialect, Options
from convcli.model.transcript import Message, Path, Transcript
from convcli.wire.patterns import pattern

NAME = "anthropic-batch"
FORMS = ("request", "result", "failure")
REQUEST, RESULT, FAILURE = FORMS
SUCCEEDED, ERRORED = "succeeded", "errored"
ENDED = frozenset(("canceled", "expired"))
IDS = pattern(r"[a-zA-Z0-9_-]{1,64}")
ERROR: Path = ("result", "error", "error")
USUAL = {"type": ERRORED, "error": {"type": "error", "error": {"type": "api_error"}}}
"""The usual error, to which the message of a failure is added."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns what surrounds the request or the response, or the whole of a result without a response."""
    context = LiftContext(NAME, document, node_path=())
    outer, rest = without_nulls(omit(document, "custom_id", "params")), {}
    if "params" in document:
        context.origin.form = REQUEST
    else:
        result = outer.pop("result")
        context.origin.form = RESULT if result["type"] == SUCCEEDED else FAILURE
        rest = omit(result, "type", "message") if result["type"] == SUCCEEDED else _lift_failure(result, context)
    return context.transcript(id=document["custom_id"], extras=make_extras(NAME, outer, result=rest))


def _lift_failure(result: Native, context: LiftContext) -> Native:
    """Adds a failed answer, and returns the rest of its result.

    The error is the service's message, or the result type if there is no message.
    """
    inner_error = (result.get("error") or {}).get("error") or {}
    error_text = inner_error.get("message")
    message = Message("assistant", [], stop_reason="error", error=result["type"] if error_text is None else error_text)
    context.add(message, ("result",) if error_text is None else ERROR)
    if error_text is None:
        return {} if result == {"type": message.error} and message.error in ENDED else result
    kept = omit(inner_error, "message")
    rest = {**result, "error": {**result["error"], "error": kept}}
    return {} if rest == USUAL else rest


# ---------------------------------------------------------------- write


def form_of(transcript: Transcript) -> str:
    """Returns the result form if the only message is a model's answer, else the request form."""
    if is_failure(transcript):
        return FAILURE
    return RESULT if is_response(transcript) and len(active(transcript)) == 1 else REQUEST


def write(transcript: Transcript, options: Options) -> Any:
    """Returns what surrounds a request or a response, or the whole line of a failed result."""
    extra = get_extras(transcript.extras, NAME)
    first, others = {"custom_id": transcript.id}, together(omit(extra, "bodyId", "result"))
    if options.form == REQUEST:
        return {**first, "params": None, **others}
    others.pop("result", None)  # of a request
    result = extra.get("result", {})
    if options.form == RESULT:
        return {**first, "result": {"type": SUCCEEDED, **result, "message": None}, **others}
    return {**first, "result": _write_failure(transcript, result), **others}


def _write_failure(transcript: Transcript, result: Native) -> Native:
    """Returns the result with its error message; without a message, the result type is the error."""
    error_text = transcript.messages[0].error if transcript.messages else ""
    result = result or ({"type": error_text} if error_text in ENDED else dict(USUAL))
    if error_text == result.get("type"):
        return result
    error: Native = result.get("error") or {}
    return {**result, "error": {**error, "error": {**(error.get("error") or {}), "message": error_text}}}


IDENTIFIED = identified(lambda id_: IDS.fullmatch(id_) is not None)

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
    lift=lift,
    write=write,
    form_of=form_of,
    fit={**dict.fromkeys(FORMS, (whole, IDENTIFIED)), FAILURE: (only_failure, IDENTIFIED)},
    supports={FAILURE: TEXTS | fields("id message.error")},
    reasons={
        "id": "a `custom_id` has 1 to 64 letters, digits, _ and -; this one was derived from the content",
        "settings.stream": "batches do not stream their answers",
    },
    places=paths("id=custom_id message.error=message"),
    envelope=frozenset(("result", "bodyId")),
)
