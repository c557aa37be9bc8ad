"""Gemini on Vertex AI (generateContent of aiplatform): requests, responses and bare lists of contents.

Specification: the published discovery document of aiplatform v1, revision 20261106; read 2026-11-20.

Quirks, beside those of the Gemini API
- The same shapes: only marks of its own (the path of a model, `gs://`, keys that the other lacks) tell them apart.
- A model is named by its path: `publishers/google/models/x` says `x`.
- Definitions are written as `parameters`, the subset of OpenAPI with types in capitals. A keyword of JSON Schema that
  the subset cannot say is lost, at its place in the schema; `parametersJsonSchema` is read, and kept where it stood.
- The service wants properties of an object and items of a list: a foreign schema without them loses its `type`.
- `partialArgs` and `willContinue` of calls exist here only, `toolCall`, `toolResponse` and `partMetadata` only there.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google import detect as _google_detect
from convcli.families.google import document as shared
from convcli.families.google import places, rules
from convcli.families.google.keys import FAMILY, ONLY_GEMINI, ONLY_VERTEX, Flavor, names
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.transcript import Transcript

NAME = "vertexai"

FLAVOR = Flavor(
    name=NAME,
    models="publishers/google/models/",
    names=names(128),
    subset=True,
    has=ONLY_VERTEX,
    lacks=ONLY_GEMINI,
)


def detect(document: Any) -> Clue | None:
    """By marks that the Gemini API does not have; without one it is only possible."""
    if _google_detect.recognise(document) is None:
        return None
    mark = _google_detect.mark_of_vertex(document)
    return Clue(95, mark) if mark is not None else Clue(20, "the shapes of the Gemini API")


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of contents."""
    return shared.lift(document, FLAVOR)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    return shared.lower(transcript, options, FLAVOR)


DIALECT = Dialect(
    name=NAME,
    title="Vertex AI",
    specification="aiplatform v1 discovery document, revision 20261106; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=rules.rules(FLAVOR),
    conventions=places.CONVENTIONS,
    reasons=places.LOSSES | places.SUBSET_LOSSES,
    places=places.PLACES,
    envelope=places.ENVELOPE,
    family=FAMILY,
)
