"""The Gemini API (generateContent): requests, responses and bare lists of contents.

Specification: the types of the Python SDK `google-genai` 3.3.0 less what its converter refuses for this API, and the
reference of generateContent v1beta; read 2026-11-20.

Quirks
- Keys are camelCase in REST and snake_case in files that Python programs wrote; both are read, also mixed.
- Calls and answers may have no id: then they are paired by order within a name, and no id is written.
- An answer is an object whose only key may be `output`, `result` or `error`; any other object is the answer itself.
  A string that was data comes back as text, for both are written as `{"output": …}`.
- All answers to one turn stand in one content, in the order of the calls. The role is `user`; `function` is older.
- The system speaks once, before everything else, in text.
- `parameters` is a subset of OpenAPI, `parametersJsonSchema` takes any JSON Schema: foreign definitions use that one.
- `STOP` is also the reason of an answer that calls; thoughts are not part of `candidatesTokenCount`.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google import detect as _google_detect
from convcli.families.google import document as shared
from convcli.families.google import places, rules
from convcli.families.google.keys import FAMILY, ONLY_GEMINI, ONLY_VERTEX, Flavor, names
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.transcript import Transcript

NAME = "gemini"

FLAVOR = Flavor(
    name=NAME,
    models="models/",
    names=names(64),
    subset=False,
    has=ONLY_GEMINI,
    lacks=ONLY_VERTEX,
)


def detect(document: Any) -> Clue | None:
    """By contents, candidates or parts with the fields of Google; Vertex AI must show marks of its own."""
    return _google_detect.recognise(document)


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of contents."""
    return shared.lift(document, FLAVOR)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    return shared.lower(transcript, options, FLAVOR)


DIALECT = Dialect(
    name=NAME,
    title="the Gemini API",
    specification="Gemini API, generateContent v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=rules.rules(FLAVOR),
    conventions=places.CONVENTIONS,
    reasons=places.LOSSES,
    places=places.PLACES,
    envelope=places.ENVELOPE,
    family=FAMILY,
)
