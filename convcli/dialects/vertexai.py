"""Gemini on Vertex AI (generateContent of aiplatform): requests, responses and bare lists of contents.

Specification: the published discovery document of aiplatform v1, revision 20261106
(https://aiplatform.googleapis.com/$discovery/rest?version=v1); read 2026-11-20.

Quirks, beside those of the Gemini API
- The same shapes: only marks of its own (the path of a model, `gs://`, keys that the other lacks) tell them apart.
- A model is named by its path: `publishers/google/models/x` says `x`.
- Definitions are written as `parameters`, the subset of OpenAPI with types in capitals, as long as that says the same
  and the service takes it: it wants properties of an object and items of a list. Any other is `parametersJsonSchema`.
- `partialArgs` and `willContinue` of calls exist here only, `toolCall`, `toolResponse` and `partMetadata` only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.google.detect import recognise
from convcli.families.google.dialect import dialect
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, names, snake
from convcli.families.google.rules import ROLES_ARE_NAMED
from convcli.kit.objects import Native, as_object
from convcli.model.dialect import Clue
from convcli.validation.rules import turns

SERVICE = Service(
    "vertexai", "google", "publishers/google/models/", names(128), subset=True, has=ONLY_VERTEX, lacks=ONLY_GEMINI
)


def detect(document: Any) -> Clue | None:
    """By marks that the Gemini API does not have; without one it is only possible."""
    if recognise(document) is None:
        return None
    mark = mark_of_vertex(document)
    return Clue(95, mark) if mark is not None else Clue(20, "the shapes of the Gemini API")


# ---------------------------------------------------------------- marks

PATHS = ("publishers/", "projects/")
STORAGE = "gs://"
MARKS = ONLY_VERTEX.keys() | {f"{name}.{snake(key)}" for name, key in (mark.split(".") for mark in ONLY_VERTEX)}


def mark_of_vertex(document: Any) -> str | None:
    """What only Vertex AI has of a document that was recognised; None where nothing of it stands there."""
    for name, native in _named(document):
        for key in native:
            if f"{name}.{key}" in MARKS:
                return f"{key} in {name}"
        uri = native.get("fileUri", native.get("file_uri")) if name == "fileData" else native.get("model")
        if isinstance(uri, str) and uri.startswith(STORAGE if name == "fileData" else PATHS):
            return "a file in a bucket" if name == "fileData" else "the path of a model"
    return None


def _named(document: Any) -> Iterator[tuple[str, Native]]:
    """The objects in which marks stand, with their names."""
    top = as_object(document)
    yield "request", top
    for key in ("generationConfig", "tools", "safetySettings", "promptFeedback"):
        yield from ((key, native) for native in _objects(top, key))
    for candidate in _objects(top, "candidates"):
        yield from (
            (key, native) for key in ("safetyRatings", "groundingMetadata") for native in _objects(candidate, key)
        )
    for part in (part for content in _contents(document) for part in _objects(content, "parts")):
        yield from ((key, native) for key in ("functionCall", "fileData") for native in _objects(part, key))


def _objects(owner: Native, key: str) -> list[Native]:
    """The objects under a key in either case, one or many."""
    value = owner.get(key, owner.get(snake(key)))
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def _contents(document: Any) -> list[Native]:
    if isinstance(document, list):
        return document
    candidates = _objects(document, "candidates")
    return _objects(document, "contents") + [item for one in candidates for item in _objects(one, "content")]


DIALECT = dialect(
    SERVICE,
    "Vertex AI",
    "aiplatform v1 discovery document, revision 20261106; read 2026-11-20",
    detect,
    turns.results_in_roles("user"),
    ROLES_ARE_NAMED,
    aliases=("vertex", "google-cloud", "gcp"),
)
