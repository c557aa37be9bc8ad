"""The Gemini API (generateContent): requests, responses and bare lists of contents.

Specification: the types of the Python SDK `google-genai` 3.3.0 less what its converter refuses for this API, and the
reference of generateContent v1beta (https://ai.google.dev/api/generate-content); read 2026-11-20.

Quirks
- Keys are camelCase in REST and snake_case in files that Python programs wrote; both are read, also mixed.
- Calls and answers may have no id: then they are paired by order within a name, and no id is written.
- An answer is an object whose only key may be `output`, `result` or `error`; any other object is the answer itself.
  A string that was data comes back as text, for both are written as `{"output": …}`.
- All answers to one turn stand in one content, in the order of the calls. The role is `user`; `function` is older.
- The system speaks once, before everything else, in text.
- `parameters` is a subset of OpenAPI, `parametersJsonSchema` takes any JSON Schema: definitions use that one.
- `STOP` is also the reason of an answer that calls; thoughts are not part of `candidatesTokenCount`.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google import detect as recognising
from convcli.families.google import document as documents
from convcli.families.google import places
from convcli.families.google.fitting import fit
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, names
from convcli.families.google.rules import rules
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.transcript import Transcript
from convcli.validation.rules import turns

SERVICE = Service("gemini", "google", "models/", names(64), has=ONLY_GEMINI, lacks=ONLY_VERTEX)


def detect(document: Any) -> Clue | None:
    """By contents, candidates or parts with the fields of Google; Vertex AI must show marks of its own."""
    return recognising.recognise(document)


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of contents."""
    return documents.lift(document, SERVICE)


def write(transcript: Transcript, options: Options) -> Any:
    """A request, a response or a list of contents."""
    return documents.write(transcript, options, SERVICE)


DIALECT = Dialect(
    name=SERVICE.name,
    title="the Gemini API",
    specification="Gemini API, generateContent v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    fit=fit(SERVICE),
    write=write,
    form_of=lambda transcript: documents.form_of(transcript, SERVICE.owner),
    rules=rules(SERVICE, turns.results_in_roles("user", "function")),
    conventions=places.CONVENTIONS,
    lacks=places.LACKS_BY_FORM,
    reasons=places.LOSSES,
    places=places.PLACES,
    envelope=places.ENVELOPE,
    repeats=places.REPEATS,
    family=SERVICE.owner,
)
