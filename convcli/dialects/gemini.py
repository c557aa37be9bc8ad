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

from convcli.families.google.detect import recognise
from convcli.families.google.dialect import dialect
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, names
from convcli.validation.rules import turns

SERVICE = Service("gemini", "google", "models/", names(64), has=ONLY_GEMINI, lacks=ONLY_VERTEX)

DIALECT = dialect(
    SERVICE,
    "the Gemini API",
    "Gemini API, generateContent v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    recognise,  # Vertex AI must show marks of its own
    turns.results_in_roles("user", "function"),
    aliases=("google", "google-genai", "genai", "ai-studio"),
)
