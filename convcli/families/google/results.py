"""The answers to calls: `functionResponse.response` is an object, and its only key may say what the answer is.

As the SDK documents it, `output` holds the output and `error` the error, and an object without these is the output
itself. `result`, which many programs write, is read as `output`. Media ride beside it, in `functionResponse.parts`.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.keys import Reader, Shape, Writer, extras_of_family
from convcli.families.google.parts import Piece, finish, lift_media, media_body, take_part
from convcli.kit.objects import Native, Spelling
from convcli.model.transcript import Media, Text, ToolResult
from convcli.wire import exact_json

OUTPUTS = ("output", "result")
WRAPPERS = (*OUTPUTS, "error")

RESPONSE = Shape(
    "functionResponse",
    "id name response parts willContinue scheduling",
    carried="willContinue scheduling",
    odd="response parts",
)


def read_response(response: Native) -> tuple[str, Any, bool]:
    """Kind and value of an answer, and whether it is an error that is no text."""
    if len(response) != 1:
        return "data", response, False
    key, value = next(iter(response.items()))
    if key in OUTPUTS:
        return ("text" if isinstance(value, str) else "data"), value, False
    if key == "error":
        return ("error", value, False) if isinstance(value, str) else ("data", value, True)
    return "data", response, False


def write_response(result: ToolResult) -> Native:
    """The object that says an answer; one that would read as a wrapper is wrapped itself."""
    value = result.value
    if result.kind == "multimodal":
        words = [part.text for part in value if isinstance(part, Text)]
        if not words and value and not result.is_error:
            return {}
        return {"error" if result.is_error else "output": "\n".join(words)}
    if result.kind == "error" or result.is_error:
        return {"error": value}
    bare = result.kind == "data" and isinstance(value, dict)
    return value if bare and read_response(value)[1] is value else {"output": value}


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result reads that says in another kind what comes back."""
    if result.kind == "multimodal":
        first = result.value[0] if len(result.value) == 1 else None
        bare = isinstance(first, Text) and first == Text(first.text)
        return read_response(write_response(result))[:2] if bare else None
    if result.kind != "data" or not isinstance(result.value, str):
        return None
    return ("error" if result.is_error else "text"), result.value


# ---------------------------------------------------------------- lift


def asked(piece: Piece) -> tuple[str | None, str | None]:
    """The id and name that an answer itself gives."""
    native = piece.native["functionResponse"]
    return native.get("id") or None, native["name"]


def lift_result(piece: Piece, id_: str, name: str, reader: Reader) -> ToolResult:
    """The answer to the call with this id."""
    native, inner, spelling = reader.take(RESPONSE, piece.native["functionResponse"], whole=("response",))
    response = native.get("response") or {}
    kind, value, failed = read_response(response)
    media = _lift_media(native.get("parts"), inner, reader)
    if media:
        kind, value, failed = _with_media(response, media, inner)
    result = ToolResult(id_, name, kind, value, True if failed else None)  # type: ignore[arg-type]
    result.metadata = piece.metadata
    thought = {"thought": piece.native["thought"]} if piece.native.get("thought") is not None else {}
    result.extras = extras_of_family(piece.carried, thought, {"functionResponse": inner} if inner else {})
    said = inner.get("response") or write_response(result)
    if not exact_json.exact(said, response):
        spelling["wrapper"] = next(iter(response), None)
    odd = {"id": False} if not native.get("id") and id_ not in reader.pairing.invented else {}
    reader.origin.spell(result, {**piece.spelling, **odd, **({"inner": spelling} if spelling else {})})
    return result


def _lift_media(natives: Any, inner: Native, reader: Reader) -> list[Media]:
    """The media of an answer; when something else is among them all are carried as they are."""
    pieces = [take_part(native, reader) for native in natives or ()]
    if not all(piece.kind in ("inlineData", "fileData") for piece in pieces):
        inner["parts"] = natives
        return []
    return [lift_media(piece, reader) for piece in pieces]


def _with_media(response: Native, media: list[Media], inner: Native) -> tuple[str, Any, bool]:
    """The parts of an answer that has media; an object beside them is carried, for there is no part for it."""
    kind, value, failed = read_response(response)
    texts = [Text(value)] if kind == "text" or (kind == "error" and value) else []
    if kind == "data" and response:
        inner["response"] = response
    return "multimodal", [*texts, *media], failed or kind == "error"


# ---------------------------------------------------------------- lower


def lower_result(result: ToolResult, writer: Writer) -> Native:
    """The part that answers a call. The id is written where the source has one."""
    spelling = writer.spelling(result)
    inner_spelling: Spelling = spelling.get("inner", {})
    hidden = result.tool_call_id in writer.made_up or spelling.get("id") is False
    native: Native = {} if hidden else {"id": result.tool_call_id}
    inner = writer.carried(result.extras, RESPONSE, "functionResponse")
    native |= {"name": writer.rename(result.name), "response": _lower_response(result, inner_spelling)}
    parts = _lower_media(result, writer)
    if parts:
        native["parts"] = parts
    return finish(result, {"functionResponse": RESPONSE.put(native, inner, inner_spelling)}, writer)


def _lower_response(result: ToolResult, spelling: Spelling) -> Native:
    written = write_response(result)
    wrapper = spelling.get("wrapper")
    if wrapper not in WRAPPERS:
        return written
    return {wrapper: next(iter(written.values()), "") if result.kind == "multimodal" else result.value}


def _lower_media(result: ToolResult, writer: Writer) -> list[Native]:
    if result.kind != "multimodal":
        return []
    bodies = ((media, media_body(media, writer)) for media in result.value if isinstance(media, Media))
    return [finish(media, body, writer) for media, body in bodies if body is not None]
