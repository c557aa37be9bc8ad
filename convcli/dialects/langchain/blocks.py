"""The content blocks of LangChain's messages: its own, and those of services that it passes on."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai.parts import media_of
from convcli.kit.blocks import Block, BlockRows, in_metadata
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, get_extras
from convcli.kit.settings import Setting, whole
from convcli.model.transcript import Media, MediaKind, Part, Reasoning, Refusal, Text

NAME = "langchain"
ROWS = BlockRows(NAME, "type")


def _summary(natives: list[Any]) -> list[Any] | None:
    texts = [one.get("text") if isinstance(one, dict) else None for one in natives]
    is_known = all(isinstance(text, str) for text in texts) and natives == _summaries(texts)
    return texts if is_known else None


def _summaries(texts: list[Any]) -> list[Native]:
    return [{"type": "summary_text", "text": text} for text in texts]


SUMMARY = Setting("summary", _summary, _summaries)
SOURCES: dict[str, str | Setting] = {"url": "url", "base64": "data", "file_id": "file_id", "mime_type": "media_type"}
FILE = {**SOURCES, "filename": "name"}
PLAIN: dict[str, str | Setting] = {"text": whole("text"), "mime_type": "media_type"}
IN_BLOCK = "type url base64 file_id mime_type"
OPENAI = frozenset(("image_url", "input_audio", "file"))


def _openai(block: Block) -> Block:
    """Returns the block for media of Chat Completions; written only if LangChain's own blocks would lose something."""

    def read(native: Native, context: LiftContext) -> Part | None:
        body = native.get(block.tag)
        return block.read({**native, block.tag: {"url": body}} if isinstance(body, str) else native, context)

    def write(part: Media) -> Native | None:
        is_theirs = not OPENAI.isdisjoint(get_extras(part.extras, NAME)) or part.detail is not None
        return block.write(part) if is_theirs else None

    return Block(block.tag, block.part, read, write)


def _anthropic(kind: MediaKind) -> Block:
    """Returns the block for media of Anthropic's API; read only if it has nothing but data and type."""

    def read(native: Native, _: LiftContext) -> Part | None:
        source = native.get("source")
        if not isinstance(source, dict) or source.keys() != {"type", "media_type", "data"} or len(native) != 2:
            return None
        part = Media(kind, data=source["data"], media_type=source["media_type"])
        is_clean = source["type"] == "base64" and isinstance(part.data, str) and isinstance(part.media_type, str)
        return part if is_clean else None

    return Block(kind, kind, read, lambda _: None)


def _is_named(part: Reasoning, *names: str) -> bool:
    return bool(part.metadata) and not set(names).isdisjoint(part.metadata or ())


BLOCKS = ROWS.table(
    ROWS.record("text", Text(""), "type text annotations", {"text": whole("text")}),
    ROWS.record("refusal", Refusal(""), "type refusal", {"refusal": whole("text")}),
    ROWS.record(
        *("redacted_thinking", Reasoning(""), "type data", {"data": in_metadata("redactedData")}),
        when=lambda part: _is_named(part, "redactedData") and not part.text,
    ),
    ROWS.record(
        *("thinking", Reasoning(""), "type thinking signature"),
        {"thinking": whole("text"), "signature": in_metadata("signature")},
        when=lambda part: _is_named(part, "signature"),
    ),
    ROWS.record(
        *("reasoning", Reasoning(""), "type id reasoning summary"), {"reasoning": whole("text"), "summary": SUMMARY}
    ),
    *map(_openai, media_of(ROWS)),
    _anthropic("image"),
    _anthropic("document"),
    ROWS.media("text-plain", "document", "type text mime_type", PLAIN),
    ROWS.media("file", "document", f"{IN_BLOCK} filename", FILE),
    ROWS.media("image", "image", IN_BLOCK, SOURCES),
    ROWS.media("audio", "audio", IN_BLOCK, SOURCES),
    ROWS.media("video", "video", IN_BLOCK, SOURCES),
)
CALLS = ROWS.table(
    replace(ROWS, groups="error").call(
        *("tool_call", "name=name args=arguments id=id type="),
        when=lambda one: one.raw_arguments is None and "error" not in get_extras(one.extras, NAME),
    ),
    ROWS.call("invalid_tool_call", "type= id=id name=name args=arguments error"),
)
