"""The content blocks of Amazon Bedrock's Converse API: objects with one member, whose name says the kind."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, cast

from convcli.dialects.bedrock_converse.media import (
    LABELS,
    NAME,
    Kind,
    beside,
    kind_of,
    label,
    lift_media,
    lower_media,
)
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.kit.renaming import Renaming
from convcli.model.transcript import (
    Media,
    Opaque,
    Origin,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from convcli.wire import exact_json

MEMBERS = (
    "text json image document video audio toolUse toolResult guardContent cachePoint reasoningContent "
    "citationsContent searchResult toolAddition toolRemoval"
)
BLOCK = Keys(MEMBERS)
TOOL_USE = Keys("toolUseId name input type", carried="type")
TOOL_RESULT = Keys("toolUseId content status type", carried="type")
REASONING = Keys("reasoningText redactedContent")
REASONING_TEXT = Keys("text signature")
CITED = Keys("content citations", carried="citations")


def is_cache_point(native: Native) -> bool:
    return native.keys() == {"cachePoint"} and native["cachePoint"] is not None


def mark_cache(record: Part | ToolDefinition | None, native: Native) -> bool:
    """Carry a cache point on what stands before it; False where nothing does or where it has one already."""
    if record is None or not is_cache_point(native):
        return False
    carried = carried_by(record.extras, NAME)
    if "cachePoint" in carried:
        return False
    record.extras = {**(record.extras or {}), NAME: {**carried, "cachePoint": native["cachePoint"]}}
    return True


def cache_after(record: Part | ToolDefinition) -> list[Native]:
    """The cache point that follows a block or a tool."""
    point = carried_by(record.extras, NAME).get("cachePoint")
    return [] if point is None else [{"cachePoint": point}]


# ---------------------------------------------------------------- lift


class BlockReader:
    """Reads blocks into parts; spellings go to `origin`."""

    __slots__ = ("origin", "pairing")

    def __init__(self, origin: Origin, pairing: Pairing) -> None:
        self.origin, self.pairing = origin, pairing

    def part(self, native: Native) -> Part:
        """The part that a block is; one that says something else, or several things at once, is opaque."""
        kind = kind_of(native)
        known = kind in LIFT and (kind == "text" or "cachePoint" not in native[kind])  # that stands behind a block
        part = LIFT[kind](self, native[kind]) if known else None
        return Opaque(NAME, native) if part is None else self._outer(part, native)

    def _outer(self, part: Part, native: Native) -> Part:
        if len(native) > 1:
            _, outer = BLOCK.take(native)
            self.origin.spell(part, {**self.origin.spellings.get(id(part), {}), "outer": outer})
        return part

    def _spelled(self, part: Part, spelling: Spelling | None, more: Spelling | None = None) -> Part:
        self.origin.spell(part, {**(spelling or {}), **(more or {})})
        return part

    def text(self, body: str) -> Part:
        return Text(body)

    def cited(self, body: Native) -> Part | None:
        """An answer with its sources: text when it is one text."""
        content = body.get("content") or []
        if len(content) != 1 or content[0].keys() != {"text"}:
            return None
        carried, spelling = CITED.take(body)
        part = Text(content[0]["text"], extras=extras_of(NAME, {"citationsContent": carried} if carried else None))
        return self._spelled(part, spelling, {"cited": True})

    def reasoning(self, body: Native) -> Part | None:
        """Reasoning with its signature, or what a provider redacted of it."""
        kind = kind_of(body)
        _, spelling = REASONING.take(body)
        if kind == "redactedContent" and body[kind]:
            return self._spelled(Reasoning("", metadata={"redactedData": body[kind]}), spelling)
        if kind != "reasoningText":
            return None
        carried, inner = REASONING_TEXT.take(body[kind])
        signature = body[kind].get("signature")
        metadata = {"signature": signature} if signature else None
        part = Reasoning(body[kind]["text"], metadata=metadata, extras=extras_of(NAME, carried))
        return self._spelled(part, spelling, {"text": inner} if inner else None)

    def media(self, kind: Kind, body: Native) -> Part | None:
        lifted = lift_media(kind, body)
        return None if lifted is None else self._spelled(*lifted)

    def call(self, body: Native) -> Part | None:
        """A call; one that the service answers itself is no call to us."""
        if body.get("type") == "server_tool_use":
            return None
        carried, spelling = TOOL_USE.take(body)
        id_ = self.pairing.call(body["toolUseId"], body["name"])
        return self._spelled(ToolCall(id_, body["name"], body["input"], extras=extras_of(NAME, carried)), spelling)

    def result(self, native: Native) -> ToolResult:
        """A tool result, with the name of the call that it answers."""
        body = native["toolResult"]
        carried, spelling = TOOL_RESULT.take(body)
        odd: Spelling = {}
        kind, value = self._value(body["content"], odd)
        id_, name = self.pairing.result(body["toolUseId"], None)
        result = ToolResult(id_, name, kind, value, extras=extras_of(NAME, carried))  # type: ignore[arg-type]
        if body.get("status") == "success":
            odd["status"] = "success"
        elif body.get("status") == "error" and kind == "text":
            result.kind = "error"
        elif body.get("status") == "error":
            result.is_error = True
        self._spelled(result, spelling, odd)
        return cast(ToolResult, self._outer(result, native))

    def _value(self, content: list[Native], odd: Spelling) -> tuple[str, Any]:
        if not content:
            return "text", ""
        kind = kind_of(content[0])
        if len(content) == 1 and kind in ("text", "json"):
            if len(content[0]) > 1:
                odd["block"] = BLOCK.take(content[0])[1]
            return "text" if kind == "text" else "data", content[0][kind]
        return "multimodal", [self._inner(block) for block in content]

    def _inner(self, native: Native) -> Part:
        """A piece of a result. What is no text and no media is there as JSON, with the block itself beside it."""
        kind = kind_of(native)
        part = self.part(native) if kind in VALUES else None
        if isinstance(part, (Text, Media)):
            return part
        said = native[kind] if kind else native
        return Text(exact_json.write_text(said), extras={NAME: {"block": native}})


LIFT: Mapping[str, Callable[[BlockReader, Any], Part | None]] = {
    "text": BlockReader.text,
    "image": lambda reader, body: reader.media("image", body),
    "document": lambda reader, body: reader.media("document", body),
    "video": lambda reader, body: reader.media("video", body),
    "audio": lambda reader, body: reader.media("audio", body),
    "toolUse": BlockReader.call,
    "reasoningContent": BlockReader.reasoning,
    "citationsContent": BlockReader.cited,
}
VALUES = ("text", "image", "document", "video")
"""The kinds of block that are parts of the value of a result."""


# ---------------------------------------------------------------- lower


class BlockWriter:
    """Writes parts as blocks: exactly as they were when `own`, else only what the API takes."""

    __slots__ = ("labels", "own", "spellings")

    def __init__(self, spellings: Mapping[int, Spelling], *, own: bool) -> None:
        self.spellings, self.own = spellings, own
        self.labels = Renaming((), LABELS)

    def blocks(self, parts: list[Part], role: str) -> list[Native]:
        """The blocks of one message; foreign parts only where the API has a place for them in this role."""
        natives: list[Native] = []
        for part in parts:
            native = self.block(part) if self.own or isinstance(part, PLACES[role]) else None
            if native is not None:
                natives += [native, *cache_after(part)]
        return natives

    def block(self, part: Part) -> Native | None:
        """One block; None where the API cannot say it."""
        native = LOWER[type(part)](self, part)
        outer = self.spelling(part).get("outer") if native is not None else None
        return BLOCK.put(native, None, outer) if native is not None and outer else native

    def spelling(self, record: Any) -> Spelling:
        return self.spellings.get(id(record), {}) if self.spellings else {}

    def text(self, part: Text | Refusal) -> Native | None:
        """The API takes no blank text, and has no block for a refusal."""
        if not self.own and not part.text.strip():
            return None
        carried, spelling = carried_by(part.extras, NAME), self.spelling(part)
        if "cited" in spelling or "citationsContent" in carried:
            body = CITED.put({"content": [{"text": part.text}]}, carried.get("citationsContent"), spelling)
            return {"citationsContent": body}
        return {"text": part.text}

    def reasoning(self, part: Reasoning) -> Native | None:
        """Reasoning that was signed or redacted for Claude, whose signatures all its platforms know."""
        spelling = self.spelling(part)
        signature, data = (_words(part.metadata, key) for key in ("signature", "redactedData"))
        if data and not signature:
            body: Native = {"redactedContent": data}
            return {"reasoningContent": REASONING.put(body, None, spelling)} if self.own or _is_base64(data) else None
        if not signature and not self.own:
            return None
        words: Native = {"text": part.text, **({"signature": signature} if signature else {})}
        body = {"reasoningText": REASONING_TEXT.put(words, beside(part), spelling.get("text"))}
        return {"reasoningContent": REASONING.put(body, None, spelling)}

    def media(self, media: Media) -> Native | None:
        """Of the documents of a request no two have the same name."""
        name = media.name or "" if self.own or media.type != "document" else self.labels.another(label(media.name))
        body = lower_media(media, self.spelling(media), name, own=self.own)
        return None if body is None else {media.type: body}

    def call(self, call: ToolCall) -> Native:
        native = {"toolUseId": call.id, "name": call.name, "input": call.arguments}
        return {"toolUse": TOOL_USE.put(native, beside(call), self.spelling(call))}

    def result(self, result: ToolResult) -> Native:
        spelling = self.spelling(result)
        native: Native = {"toolUseId": result.tool_call_id, "content": self._content(result, spelling)}
        if result.kind == "error" or result.is_error:
            native["status"] = "error"
        elif "status" in spelling:
            native["status"] = spelling["status"]
        return {"toolResult": TOOL_RESULT.put(native, beside(result), spelling)}

    def _content(self, result: ToolResult, spelling: Spelling) -> list[Native]:
        if result.kind == "multimodal":
            parts = [part for part in result.value if self.own or part.type != "audio"]
            blocks = [carried_by(part.extras, NAME).get("block", self.block(part)) for part in parts]
            return [block for block in blocks if block is not None]
        if result.kind == "data" and (self.own or isinstance(result.value, dict)):
            return [BLOCK.put({"json": result.value}, None, spelling.get("block"))]
        text = said(result)
        may_be_empty = not self.own or "content" in spelling.get("blank", {})
        return [] if may_be_empty and not text.strip() else [BLOCK.put({"text": text}, None, spelling.get("block"))]

    def opaque(self, part: Opaque) -> Native | None:
        value: Native = part.value
        return value if part.dialect == NAME and (self.own or _is_unknown(value)) else None


LOWER: Mapping[type, Callable[[BlockWriter, Any], Native | None]] = {
    Text: BlockWriter.text,
    Refusal: BlockWriter.text,
    Reasoning: BlockWriter.reasoning,
    Media: BlockWriter.media,
    ToolCall: BlockWriter.call,
    ToolResult: BlockWriter.result,
    Opaque: BlockWriter.opaque,
}
PLACES: Mapping[str, tuple[type, ...]] = {
    "system": (Text, Opaque),
    "user": (Text, Media, ToolResult, Opaque),
    "assistant": (Text, Refusal, Reasoning, ToolCall, Opaque),
}
"""What the API takes in each role."""


def said(result: ToolResult) -> str:
    """The text of a result that is not multimodal."""
    return exact_json.write_text(result.value) if result.kind == "data" else str(result.value)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How `lift` reads back a result for which the API has no field of its own."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data" and not isinstance(result.value, dict):
        return kind, said(result)
    if result.kind != "multimodal" or len(result.value) > 1:
        return None
    if not result.value:
        return kind, ""
    part = result.value[0]
    bare = isinstance(part, Text) and part.extras is None and part.metadata is None and part.text.strip()
    return (kind, part.text) if bare else None


def _words(metadata: Mapping[str, Any] | None, key: str) -> str:
    value = metadata.get(key) if metadata else None
    return value if isinstance(value, str) else ""


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return False


def _is_unknown(value: Any) -> bool:
    """A block that is read back as opaque."""
    kind = kind_of(value) if isinstance(value, dict) and "type" not in value else ""
    return bool(kind) and kind not in LIFT and kind not in ("toolResult", "cachePoint", "json")
