"""Gemini on Vertex AI (generateContent of aiplatform): requests, responses and bare content lists.

Specification: the published discovery document of aiplatform v1, revision 20261106
(https://aiplatform.googleapis.com/$discovery/rest?version=v1); read 2026-11-20.

Quirks beyond those of the Gemini API
- The shapes are the same. Only Vertex AI's own keys and values (model paths, `gs://`) distinguish them.
- A model is named by its path: `publishers/google/models/x` is read as `x`.
- Tool definitions are written as `parameters`, the OpenAPI subset with types in capitals, if that is equivalent and the
  service accepts it: it requires properties of an object and items of a list. Others become `parametersJsonSchema`.
- `partialArgs` and `willContinue` of calls exist only in Vertex AI, `toolCall`, `toolResponse` and `partMetadata` only
  in the Gemini API.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.google.dialect import dialect
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, names, snake
from convcli.families.google.rules import ROLES_ARE_NAMED
from convcli.kit.objects import Native, as_object, objects_in
from convcli.model.dialect import Evidence
from convcli.validation.rules import turns

SERVICE = Service(
    "vertexai", "google", "publishers/google/models/", names(128), subset=True, has=ONLY_VERTEX, unsupported=ONLY_GEMINI
)


def detect(document: Any) -> Evidence:
    """Matches keys and values that the Gemini API lacks; without one, Vertex AI is only possible.

    The table of these keys is that of the report of losses, so they are not marks of the schema.
    """
    mark = mark_of_vertex(document)
    return Evidence(95, mark) if mark is not None else Evidence(20, "Gemini API shapes")


PATHS = ("publishers/", "projects/")
STORAGE = "gs://"
MARKS = ONLY_VERTEX.keys() | {f"{name}.{snake(key)}" for name, key in (mark.split(".") for mark in ONLY_VERTEX)}


def mark_of_vertex(document: Any) -> str | None:
    """Returns what only Vertex AI has in a recognized document; None if there is nothing."""
    for name, native in _named(document):
        for key in native:
            if f"{name}.{key}" in MARKS:
                return f"{key} in {name}"
        uri = native.get("fileUri", native.get("file_uri")) if name == "fileData" else native.get("model")
        if isinstance(uri, str) and uri.startswith(STORAGE if name == "fileData" else PATHS):
            return "a file in a bucket" if name == "fileData" else "a model path"
    return None


def _named(document: Any) -> Iterator[tuple[str, Native]]:
    """Yields the objects that may have Vertex AI's own keys, with their names."""
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
    """Returns the objects under a key in either case, one or many."""
    value = owner.get(key, owner.get(snake(key)))
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, dict)]


def _contents(document: Any) -> list[Native]:
    if isinstance(document, list):
        return objects_in(document)
    top = as_object(document)
    answers = [item for candidate in _objects(top, "candidates") for item in _objects(candidate, "content")]
    return _objects(top, "contents") + answers


DIALECT = dialect(
    SERVICE,
    "Vertex AI",
    "aiplatform v1 discovery document, revision 20261106; read 2026-11-20",
    turns.results_in_roles("user"),
    ROLES_ARE_NAMED,
    aliases=("vertex", "google-cloud", "gcp"),
    detect=detect,
)
