"""Batches of OpenAI: lines of requests to Chat Completions and Responses, and the lines of their results.

Specification: the Batch API, https://platform.openai.com/docs/guides/batch, as typed by the Python SDK `openai` 3.54.0;
read 2026-11-22.

Quirks
- A line holds a document of Chat Completions or Responses: in `body` where it is a request, in `response.body` where it
  is a result. The `url` of a request says which; other urls, as of embeddings, have no transcript.
- `custom_id` is unique in a file, ties a result to its request, and is the id of the transcript; one that is missing is
  made of the content. The id of a response stands beside it.
- A line without an answer says why: that is an answer which failed, without words. The result of a request that the
  service refused has a status and a body with an `error`.
- Results stand in any order.
"""

from __future__ import annotations

from typing import Any

from convcli.families.bodies import identified, is_failure, only_failure, whole
from convcli.kit import lacking
from convcli.kit.contexts import LiftContext
from convcli.kit.fitting import is_response
from convcli.kit.objects import Native, carried_by, extras_of, omit, says_something, without_empty
from convcli.kit.values import paths
from convcli.model.dialect import BodyForm, Clue, Dialect, Options
from convcli.model.transcript import Message, Path, Transcript

NAME = "openai-batch"
FORMS = ("chat", "responses", "result", "responses-result", "failure")
CHAT, RESPONSES, RESULT, RESPONSES_RESULT, FAILURE = FORMS
URLS = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses"}
REQUEST = {"custom_id", "url", "body"}
ANSWERED = 200
FAILED: Path = ("response", "body", "error")


def detect(document: Any) -> Clue | None:
    """By the id of a line beside a request or a result."""
    if not isinstance(document, dict) or "custom_id" not in document:
        return None
    if document.keys() >= REQUEST:
        return Clue(97, "a custom_id, a url and a body")
    return Clue(97, "a custom_id and a response or an error") if document.keys() >= {"response", "error"} else None


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """What stands around the body; the whole of a line that has no answer."""
    context = LiftContext(NAME, document, spot=())
    context.origin.form = _form(document)
    beside = without_empty(document, "custom_id")
    if "body" in document:
        beside = omit(beside, "body", "method")
        if beside.get("url") == URLS[CHAT]:
            del beside["url"]
        if document.get("method") not in (None, "POST"):
            beside["method"] = document["method"]
    elif context.origin.form == FAILURE:
        beside = _lift_failure(document, beside, context)
    else:
        response = omit(document["response"], "body")
        if response.get("status_code") == ANSWERED:
            del response["status_code"]
        beside["response"] = without_empty(response)
    carried = without_empty(beside)
    return context.transcript(id=document["custom_id"], extras=extras_of(NAME, carried))


def _form(document: Native) -> str:
    if "body" in document:
        return RESPONSES if str(document.get("url")).endswith("/responses") else CHAT
    body = (document.get("response") or {}).get("body")
    if not isinstance(body, dict) or not {"choices", "output"} & body.keys():
        return FAILURE
    return RESULT if "choices" in body else RESPONSES_RESULT


def _lift_failure(document: Native, beside: Native, context: LiftContext) -> Native:
    """An answer that failed, with the word of the batch or of the service; what of that is carried."""
    error = document.get("error") or _error_inside(document) or {}
    place: Path = ("error",) if document.get("error") else FAILED if _error_inside(document) else ()
    words = error.get("message")
    message = Message("assistant", [], stop_reason="error", error=words if isinstance(words, str) else "")
    context.add(message, place)
    if place == ("error",):
        said = {"message"} if isinstance(words, str) else set[str]()
        beside["error"] = {key: error[key] for key in error if key not in said and says_something(error[key])}
    return beside


def _error_inside(document: Native) -> Native | None:
    body = (document.get("response") or {}).get("body")
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


# ---------------------------------------------------------------- write


def form_of(transcript: Transcript) -> str:
    """A result where the transcript holds only what a model answered, else a request to the url that it names."""
    if is_failure(transcript):
        return FAILURE
    if is_response(transcript):
        return RESULT
    url = carried_by(transcript.extras, NAME).get("url")
    return RESPONSES if isinstance(url, str) and url.endswith("/responses") else CHAT


def write(transcript: Transcript, options: Options) -> Any:
    """What stands around the body of a request or a result, or the line of one that failed."""
    carried = omit(carried_by(transcript.extras, NAME), "bodyId")
    first = {"custom_id": transcript.id}
    if options.form in URLS:
        url = carried.pop("url", "")
        known = url if url.endswith("/responses") == (options.form == RESPONSES) and url else URLS[options.form or CHAT]
        return {**first, "method": carried.pop("method", "POST"), "url": known, "body": None, **carried}
    first = {"id": carried.pop("id"), **first} if "id" in carried else first
    response, error = carried.pop("response", {}), carried.pop("error", {})
    if options.form == FAILURE:
        return {**first, "response": response or None, "error": _failure(transcript, response, error), **carried}
    response = {"status_code": ANSWERED, **response, "body": None}
    return {**first, "response": response, "error": error or None, **carried}


def _failure(transcript: Transcript, response: Native, error: Native) -> Native | None:
    """The word of the batch, where the service's own does not say it."""
    words = transcript.messages[0].error if transcript.messages else ""
    said = (_error_inside({"response": response}) or {}).get("message")
    return None if response and not error and said == words else {**error, "message": words}


SAID = frozenset(("id", "message.error", "message.stopReason"))
ALL = lacking.AROUND_PARTS - SAID

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
    detect=detect,
    lift=lift,
    write=write,
    form_of=form_of,
    fit={**dict.fromkeys(FORMS, (whole, identified())), FAILURE: (only_failure, identified())},
    lacks={**dict.fromkeys(FORMS, frozenset()), FAILURE: ALL},
    reasons={
        "id": "a line has a custom_id: it is made of the content",
        "settings.stream": "the answers of a batch are whole",
        "settings.streamObfuscation": "the answers of a batch are whole",
        "reasoning": "a request takes no reasoning back",
    },
    places=paths("id=custom_id message.error=message"),
    envelope=frozenset(("id", "method", "url", "response", "error", "bodyId")),
)
