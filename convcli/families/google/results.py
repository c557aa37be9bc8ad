"""Answers to calls: `functionResponse.response` is an object, whose only key may define the kind of answer.

According to the SDK, `output` has the output and `error` the error; an object without these is the output itself.
`result`, which many programs write, is read as `output`. Media are outside of it, in `functionResponse.parts`.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.keys import Shape, Writer, snake
from convcli.families.google.parts import Piece, finish, lift_media, media_body, read_part
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native
from convcli.model.transcript import Media, Text, ToolResult

OUTPUTS = ("output", "result")

RESPONSE = Shape(
    "functionResponse",
    "id name response parts willContinue scheduling",
    extra="willContinue scheduling",
    partly="response parts",
)


ANSWERS = frozenset((RESPONSE.name, snake(RESPONSE.name)))
"""The keys of a part that is an answer to a call."""


def read_response(response: Native) -> tuple[str, Any, bool]:
    """Returns kind and value of an answer, and whether it is an error that is not text."""
    if len(response) != 1:
        return "data", response, False
    [(key, value)] = response.items()
    if key in OUTPUTS:
        return ("text" if isinstance(value, str) else "data"), value, False
    if key == "error":
        return ("error", value, False) if isinstance(value, str) else ("data", value, True)
    return "data", response, False


def write_response(result: ToolResult) -> Native:
    """Returns the object for an answer; a value that would be read as a wrapper is wrapped itself."""
    value = result.value
    if result.kind == "multimodal":
        texts = [part.text for part in value if isinstance(part, Text)]
        if not texts and value and not result.is_error:
            return {}
        return {"error" if result.is_error else "output": "\n".join(texts)}
    if result.kind == "error" or result.is_error:
        return {"error": value}
    bare = result.kind == "data" and isinstance(value, dict)
    return value if bare and read_response(value)[1] is value else {"output": value}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns how a result is read back that comes back as another kind."""
    if result.kind == "multimodal":
        first = result.value[0] if len(result.value) == 1 else None
        bare = isinstance(first, Text) and first == Text(first.text)
        return read_response(write_response(result))[:2] if bare else None
    if result.kind != "data" or not isinstance(result.value, str):
        return None
    return ("error" if result.is_error else "text"), result.value


# ---------------------------------------------------------------- lift


def stated(piece: Piece) -> tuple[str | None, str | None]:
    """Returns the id and name that the answer itself has."""
    native = piece.native["functionResponse"]
    return native.get("id") or None, native["name"]


def lift_result(piece: Piece, id_: str, name: str, context: LiftContext) -> ToolResult:
    """Lifts the answer to the call with this id."""
    native, inner = RESPONSE.read(piece.native["functionResponse"], context.origin)
    response = native.get("response") or {}
    kind, value, failed = read_response(response)
    if native.get("parts"):
        media = _lift_media(native["parts"], inner, context)
        if media and response and kind == "data":  # there is no part for an object
            inner["response"] = response
        kind, value, failed = with_media(response, media) if media else (kind, value, failed)
    result = ToolResult(id_, name, kind, value, failed or None)  # type: ignore[arg-type]
    if inner or len(piece.native) > 1:  # few results
        result.metadata, result.extras = piece.metadata, piece.extras(context.dialect, inner)
    return result


def _lift_media(natives: Any, inner: Native, context: LiftContext) -> list[Media]:
    """Lifts the media of an answer. If there is anything else among them, all are kept in extras."""
    pieces = [read_part(native, context) for native in natives]
    if not all(piece.kind in ("inlineData", "fileData") for piece in pieces):
        inner["parts"] = natives
        return []
    return [lift_media(piece, context) for piece in pieces]


def with_media(response: Native, media: list[Media]) -> tuple[str, Any, bool]:
    """Returns the parts of an answer with media."""
    kind, value, failed = read_response(response)
    texts = [Text(value)] if kind == "text" or (kind == "error" and value) else []
    return "multimodal", [*texts, *media], failed or kind == "error"


# ---------------------------------------------------------------- write


def write_result(result: ToolResult, writer: Writer) -> Native:
    """Writes the part that answers a call, with the id if the source has one."""
    native: Native = {} if result.tool_call_id in writer.generated else {"id": result.tool_call_id}
    native["name"], native["response"] = result.name, write_response(result)
    if result.kind == "multimodal":
        bodies = [(part, media_body(part, writer)) for part in result.value if isinstance(part, Media)]
        parts = [finish(part, body, writer) for part, body in bodies if body is not None]
        if parts:
            native["parts"] = parts
    if result.extras is not None:
        native = RESPONSE.put(native, writer.extra(result.extras, RESPONSE.name))
    return finish(result, {"functionResponse": native}, writer)
