"""PydanticAI message parts, prompt content, and tool returns."""

from __future__ import annotations

from typing import Any

from convcli.kit.blocks import Block, BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, as_object, get_extras, make_extras, omit, together
from convcli.kit.results import has_failed
from convcli.kit.settings import whole
from convcli.kit.values import kind_of_type
from convcli.model.transcript import Media, MediaKind, Opaque, Part, Reasoning, Text, ToolResult
from convcli.wire import exact_json

NAME = "pydantic-ai"
ITEMS, PARTS = BlockRows(NAME, "kind"), BlockRows(NAME, "part_kind")
BINARY = Keys("data= media_type= vendor_metadata kind= identifier")
THINKING = Keys("content= id signature= provider_name= provider_details part_kind=")
RETURN = Keys(
    "tool_name= content= tool_call_id= tool_kind metadata timestamp= outcome= retry part_kind= content_file_digests"
)
URLS: tuple[MediaKind, ...] = ("image", "audio", "video", "document")
MEDIA_KINDS = frozenset(("binary", *(f"{kind}-url" for kind in URLS)))
"""The kinds of media objects in prompts and tool returns."""
SIGNERS = {"google": "thoughtSignature", "openai": "encryptedContent", "anthropic": "signature"}
"""Metadata keys of thought signatures by provider: Anthropic's if none is named."""
REDACTED = "redacted_thinking"
"""The id of a redacted thought."""
STATES = ("denied", "interrupted")
"""Outcomes that become a status. Others: success, failed, and retried, a failure after which the model tries again."""

# ---------------------------------------------------------------- media


def _binary(kind: MediaKind) -> Block:
    """Returns the block for typed bytes, whose type gives the media kind."""

    def read(native: Native, _: LiftContext) -> Part | None:
        type_of_data = kind_of_type(native["media_type"])
        extras = make_extras(NAME, BINARY.extra(native))
        return Media(type_of_data, data=native["data"], media_type=native["media_type"] or None, extras=extras)

    def write(part: Media) -> Native | None:
        if part.data is None or not part.media_type:
            return None
        native = {"data": part.data, "media_type": part.media_type, "kind": "binary"}
        return BINARY.put(native, get_extras(part.extras, NAME), sort=True)

    return Block("binary", kind, read, write)


def _address(kind: MediaKind) -> Block:
    """Returns the block for media at a URL."""
    order = "url force_download vendor_metadata kind media_type identifier"
    return ITEMS.media(f"{kind}-url", kind, order, {"url": "url", "media_type": "media_type"})


def _uploaded(kind: MediaKind) -> Block:
    """Returns the block for a file stored at the provider that it names."""
    order, fields = "file_id provider_name vendor_metadata kind media_type identifier", {"file_id": "file_id"}
    fields |= {"media_type": "media_type"}
    return ITEMS.media(
        *("uploaded-file", kind, order, fields),
        when=lambda part: "provider_name" in get_extras(part.extras, NAME) and kind_of_type(part.media_type) == kind,
    )


CONTENT = ITEMS.table(
    ITEMS.record("text-content", Text(""), "content metadata kind", {"content": whole("text")}),
    *(row(kind) for kind in URLS for row in (_address, _binary)),
    *(_uploaded(kind) for kind in ("document", "image", "audio", "video")),
)


def lift_content(content: Any, context: LiftContext) -> list[Part]:
    """Reads a prompt: a string, or a list of strings and other items."""
    if isinstance(content, str):
        return [Text(content)] if content else []
    return [Text(item) if isinstance(item, str) else _lift_item(item, context) for item in content or ()]


def _lift_item(native: Native, context: LiftContext) -> Part:
    part = CONTENT.lift(native, context)
    if native["kind"] == "uploaded-file" and isinstance(part, Media):
        part.type = kind_of_type(part.media_type)
    return part


def write_content(parts: list[Part]) -> Any:
    """Writes prompt content; a text without extras becomes a string, in a list too."""
    items = [item for part in parts if (item := _write_item(part)) is not None]
    if not items:
        return ""
    return items[0] if len(items) == 1 and isinstance(items[0], str) and items[0] else items


def _write_item(part: Part) -> Any:
    is_bare = isinstance(part, Text) and not get_extras(part.extras, NAME)
    return part.text if is_bare and isinstance(part, Text) else CONTENT.write(part)


# ---------------------------------------------------------------- thoughts and files of a response


def _lift_thinking(native: Native, _: LiftContext) -> Part:
    extra = dict(THINKING.extra(native) or {})
    provider, signature = native.get("provider_name") or "", native.get("signature")
    signer = next((provider_prefix for provider_prefix in SIGNERS if provider.startswith(provider_prefix)), "anthropic")
    key = SIGNERS[signer]
    if extra.get("id") == REDACTED and not native["content"] and signature:
        key = "redactedData"
        del extra["id"]
    part = Reasoning(native["content"], metadata={key: signature} if signature else None)
    if provider and not (signature and provider == signer):
        extra["provider_name"] = provider
    part.extras = make_extras(NAME, extra)
    return part


def _write_thinking(part: Reasoning) -> Native:
    metadata = part.metadata or {}
    keys = {**SIGNERS, "anthropic_redacted": "redactedData"}
    signer = next(
        (
            provider_prefix
            for provider_prefix, key in keys.items()
            if metadata.get(key) and isinstance(metadata[key], str)
        ),
        None,
    )
    native: Native = {"content": part.text, "part_kind": "thinking"}
    if signer is not None:
        native |= {"signature": metadata[keys[signer]], "provider_name": signer.partition("_")[0]}
        native |= {"id": REDACTED} if keys[signer] == "redactedData" else {}
    return THINKING.put(native, get_extras(part.extras, NAME), sort=True)


def _file(kind: MediaKind) -> Block:
    """Returns the block for a file that a model generated, as typed bytes."""
    keys = Keys("content= id provider_name provider_details part_kind=")

    def read(native: Native, context: LiftContext) -> Part | None:
        part = CONTENT.lift(native["content"], context)
        extra = keys.extra(native)
        inner = get_extras(part.extras, NAME)
        part.extras = make_extras(NAME, inner, part=extra)
        return part if isinstance(part, Media) and part.data is not None else None

    def write(part: Media) -> Native | None:
        extra = dict(get_extras(part.extras, NAME))
        outer = as_object(extra.pop("part", None))
        bare = Media(part.type, data=part.data, media_type=part.media_type, extras=make_extras(NAME, extra))
        content = CONTENT.write(bare) if part.data is not None else None
        return None if content is None else keys.put({"content": content, "part_kind": "file"}, outer)

    return Block("file", kind, read, write)


RESPONSE = PARTS.table(
    PARTS.record(
        *("text", Text(""), "content id provider_name provider_details citations part_kind"),
        {"content": whole("text")},
    ),
    Block("thinking", Reasoning.type, _lift_thinking, _write_thinking),
    PARTS.call(
        "tool-call",
        "tool_name=name args=arguments tool_call_id=id tool_kind id provider_name provider_details part_kind=",
    ),
    *(_file(kind) for kind in URLS),
)

# ---------------------------------------------------------------- tool returns


def lift_value(content: Any, context: LiftContext) -> tuple[str, Any]:
    """Returns kind and value: a string, strings and media with at least one media item, or any data."""
    if isinstance(content, str):
        return "text", content
    items = content if isinstance(content, list) else [content]
    is_mixed = all(isinstance(item, str) or _is_media(item) for item in items) and any(map(_is_media, items))
    parts = lift_content(items, context) if is_mixed else []
    return ("multimodal", parts) if is_mixed and not any(map(_is_opaque, parts)) else ("data", content)


def _is_media(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("kind"), str) or item["kind"] not in MEDIA_KINDS:
        return False
    keys = ("data", "media_type") if item["kind"] == "binary" else ("url",)
    typed = isinstance(item.get("media_type") or "", str)
    return typed and all(isinstance(item.get(key), str) for key in keys)


def _is_opaque(part: Part) -> bool:
    return isinstance(part, Opaque)


def write_value(result: ToolResult) -> Any:
    """Writes a tool's return value; strings without media become one string."""
    if result.kind != "multimodal":
        return result.value
    items = [item for part in result.value if (item := _write_item(part)) is not None]
    if any(not isinstance(item, str) for item in items):
        return items
    return "\n".join(items)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """Returns the kind and value of a result whose value PydanticAI reads differently."""
    if result.kind == "multimodal" and any(not isinstance(part, Text) for part in result.value):
        return None
    kind, value = lift_value(write_value(result), LiftContext(NAME, None))
    kind = "error" if kind == "text" and has_failed(result) else kind
    return None if kind == result.kind and exact_json.exact(value, result.value) else (kind, value)


def lift_return(native: Native, context: LiftContext) -> ToolResult:
    """Reads a tool return, or a request to try again."""
    extra = dict(RETURN.extra(native) or {})
    kind, value = lift_value(native.get("content"), context)
    id_, name = context.pairing.result(native.get("tool_call_id") or None, native["tool_name"] or None)
    result = ToolResult(id_, name, kind, value)  # type: ignore[arg-type]
    outcome = "retried" if native["part_kind"] == "retry-prompt" else native.get("outcome") or "success"
    if outcome != "success":
        result.kind, result.is_error = ("error", None) if kind == "text" else (result.kind, True)
    result.status = outcome if outcome in STATES else None
    if outcome != "retried":
        result.extras = make_extras(NAME, extra)
    else:  # the request has no outcome of its own
        extra |= {"outcome": native["outcome"]} if native.get("outcome") not in (None, outcome) else {}
        result.extras = make_extras(NAME, extra, outcome=outcome)
    return result


def write_return(result: ToolResult, message_keys: Native) -> Native:
    """Writes a result as a request part; `message_keys` are those of its message."""
    extra = get_extras(result.extras, NAME)
    failed = result.status if result.status in STATES else extra.get("outcome", "failed")
    native = {"tool_name": result.name, "content": write_value(result), "tool_call_id": result.tool_call_id}
    native |= {"outcome": failed if has_failed(result) else "success", "part_kind": "tool-return"}
    return RETURN.put({**native, **message_keys}, omit(together(extra), "outcome"), sort=True)
