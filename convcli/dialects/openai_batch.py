"""OpenAI batches: lines of Chat Completions and Responses requests, and the lines of their results.

Specification: the Batch API, https://platform.openai.com/docs/guides/batch, as typed by the Python SDK `openai` 3.54.0;
read 2026-11-22.

Quirks
- A line contains a Chat Completions or Responses document: in `body` for a request, in `response.body` for a result.
  The `url` of a request names which; other URLs, as for embeddings, have no transcript.
- `custom_id` is unique in a file, ties a result to its request, and is the id of the transcript. A missing one is
  derived from the content. The response id is stored next to it.
- A line without an answer has the error: it becomes a failed answer without text. The result of a request that the
  service rejected has a status and a body with an `error`.
- Results may be in any order.
"""

from __future__ import annotations

from typing import Any

from convcli.families.bodies import identified, is_failure, only_failure, whole
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, as_object, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.supported import TEXTS
from convcli.kit.values import paths
from convcli.model.dialect import BodyForm, Dialect, Options
from convcli.model.transcript import Message, Path, Transcript

NAME = "openai-batch"
FORMS = ("chat", "responses", "result", "responses-result", "failure")
CHAT, RESPONSES, RESULT, RESPONSES_RESULT, FAILURE = FORMS
URLS = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses"}
ANSWERED = 200
FAILED: Path = ("response", "body", "error")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads what surrounds the body; the whole line if it has no answer."""
    context = LiftContext(NAME, document, node_path=())
    context.origin.form = _form(document)
    outer = without_nulls(omit(document, "custom_id"))
    if "body" in document:
        outer = omit(outer, "body", "method")
        if outer.get("url") == URLS[CHAT]:
            del outer["url"]
        if document.get("method") not in (None, "POST"):
            outer["method"] = document["method"]
    elif context.origin.form == FAILURE:
        outer = _lift_failure(document, outer, context)
    else:
        response = omit(document["response"], "body")
        if response.get("status_code") == ANSWERED:
            del response["status_code"]
        outer["response"] = without_nulls(response)
    extra = {key: value for key, value in outer.items() if value or key not in ("response", "error")}
    return context.transcript(id=document["custom_id"], extras=make_extras(NAME, extra))


def _form(document: Native) -> str:
    if "body" in document:
        return RESPONSES if str(document.get("url")).endswith("/responses") else CHAT
    body = (document.get("response") or {}).get("body")
    if not isinstance(body, dict) or not {"choices", "output"} & body.keys():
        return FAILURE
    return RESULT if "choices" in body else RESPONSES_RESULT


def _lift_failure(document: Native, outer: Native, context: LiftContext) -> Native:
    """Adds a failed answer with the error message of the batch or service; returns the extras of the line."""
    error = document.get("error") or _error_inside(document) or {}
    place: Path = ("error",) if document.get("error") else FAILED if _error_inside(document) else ()
    text = error.get("message")
    message = Message("assistant", [], stop_reason="error", error=text if isinstance(text, str) else "")
    context.add(message, place)
    if place == ("error",):
        read_keys = {"message"} if isinstance(text, str) else set[str]()
        outer["error"] = {key: error[key] for key in error if key not in read_keys and error[key] is not None}
    return outer


def _error_inside(document: Native) -> Native | None:
    body = (document.get("response") or {}).get("body")
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


# ---------------------------------------------------------------- write


def form_of(transcript: Transcript) -> str:
    """Returns the result form if the transcript is only a model's answer, else the form of its request URL."""
    if is_failure(transcript):
        return FAILURE
    if is_response(transcript):
        return RESULT
    url = get_extras(transcript.extras, NAME).get("url")
    return RESPONSES if isinstance(url, str) and url.endswith("/responses") else CHAT


def write(transcript: Transcript, options: Options) -> Any:
    """Writes what surrounds the body of a request or a result, or the line of a failed one."""
    extra = together(omit(get_extras(transcript.extras, NAME), "bodyId"))
    first = {"custom_id": transcript.id}
    if options.form in URLS:
        url = extra.pop("url", "")
        known = url if url.endswith("/responses") == (options.form == RESPONSES) and url else URLS[options.form or CHAT]
        return {**first, "method": extra.pop("method", "POST"), "url": known, "body": None, **extra}
    first = {"id": extra.pop("id"), **first} if "id" in extra else first
    response, error = (as_object(extra.pop(key, None)) for key in ("response", "error"))
    if options.form == FAILURE:
        return {**first, "response": response or None, "error": _failure(transcript, response, error), **extra}
    response = {"status_code": ANSWERED, **response, "body": None}
    return {**first, "response": response, "error": error or None, **extra}


def _failure(transcript: Transcript, response: Native, error: Native) -> Native | None:
    """Returns the batch error, unless the service's own error has the same message."""
    text = transcript.messages[0].error if transcript.messages else ""
    service_text = (_error_inside({"response": response}) or {}).get("message")
    return None if response and not error and service_text == text else {**error, "message": text}


WRITTEN = frozenset(("id", "message.error", "message.stopReason"))

DIALECT = Dialect(
    name=NAME,
    title="OpenAI Batch",
    aliases=("batch",),
    specification="Batch API; Python SDK openai 3.54.0; read 2026-11-22",
    framings=("records", "document"),
    unique="custom_id",
    forms=FORMS,
    bodies={
        CHAT: BodyForm("openai-chat", "request", ("body",)),
        RESPONSES: BodyForm("openai-responses", "request", ("body",)),
        RESULT: BodyForm("openai-chat", "response", ("response", "body")),
        RESPONSES_RESULT: BodyForm("openai-responses", "response", ("response", "body")),
    },
    lift=lift,
    write=write,
    form_of=form_of,
    fit={**dict.fromkeys(FORMS, (whole, identified())), FAILURE: (only_failure, identified())},
    supports={FAILURE: TEXTS | WRITTEN},
    reasons={
        "id": "a batch line needs a custom_id: it is derived from the content",
        "settings.stream": "batches do not stream their answers",
        "settings.streamObfuscation": "batches do not stream their answers",
        "reasoning": "requests cannot send reasoning back",
    },
    places=paths("id=custom_id message.error=message"),
    envelope=frozenset(("id", "method", "url", "response", "error", "bodyId")),
)
