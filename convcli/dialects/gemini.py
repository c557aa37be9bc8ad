"""The Gemini API (generateContent): requests, responses and bare lists of contents.

Specification: the types of the Python SDK `google-genai` 3.3.0 less what its converter refuses for this API, and the
reference of generateContent v1beta (https://ai.google.dev/api/generate-content); read 2026-11-20.

Quirks
- Keys are camelCase in REST and snake_case in files that Python programs wrote; both are read, even mixed.
- Calls and results may have no id. Then they are paired by order within a name, and no id is written.
- A response is an object whose only key may be `output`, `result` or `error`; any other object is the result itself.
  A string that was data comes back as text, since both are written as `{"output": …}`.
- All results of one turn are in one content, in the order of the calls. The role is `user`; `function` is older.
- There is one system instruction, before everything else, in text.
- `parameters` is a subset of OpenAPI, `parametersJsonSchema` accepts any JSON Schema: convcli writes the latter.
- `STOP` is also the finish reason of an answer with calls. `candidatesTokenCount` excludes thoughts.
"""

from __future__ import annotations

from convcli.families.google.dialect import dialect
from convcli.families.google.keys import ONLY_GEMINI, ONLY_VERTEX, Service, names
from convcli.validation.rules import turns

SERVICE = Service("gemini", "google", "models/", names(64), has=ONLY_GEMINI, unsupported=ONLY_VERTEX)

DIALECT = dialect(
    SERVICE,
    "the Gemini API",
    "Gemini API, generateContent v1beta; Python SDK google-genai 3.3.0; read 2026-11-20",
    turns.results_in_roles("user", "function"),
    aliases=("google", "google-genai", "genai", "ai-studio"),
)
