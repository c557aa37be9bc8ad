"""Messages of Haystack: lists of its `ChatMessage`, as `to_dict` writes them.

Specification: haystack-ai 3.4.1, `dataclasses/chat_message.py`
(https://github.com/deepset-ai/haystack/blob/main/haystack/dataclasses/chat_message.py); read 2026-11-27.

Quirks
- A content block is an object under the key of its kind; a text is not nested. Pydantic writes all blocks without that
  key, and the library reads both.
- Versions 2.9 to 2.11 write `_role`, `_content`, `_name` and `_meta`, older ones a text as `content`.
- A result repeats its call under `origin`. Only arguments that differ from those of the call are kept.
- Model, finish reason and usage of an answer are in `meta`, with the keys of Chat Completions.
- Media are base64. The library checks it, and the type of an image, unless `validation` is false.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.openai import request as common
from convcli.kit import custom, fitting, results
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import (
    APART,
    Keys,
    Native,
    as_object,
    as_text,
    get_extras,
    keep_apart,
    make_extras,
    omit,
    without_empty,
)
from convcli.kit.settings import whole
from convcli.kit.supported import CALLS, LIST, fields
from convcli.kit.values import kind_of_type, paths
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import MediaKind, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import links

NAME = "haystack"
TAG = "#"
"""The key of a block's kind while it is read or written."""
BLOCK = "block"
"""The extras key for keys next to the one of the kind."""
KINDS = ("text", "tool_call", "tool_call_result", "reasoning", "image", "file")
INSIDE = ("text", "image", "file")
"""Kinds of blocks in a result."""
FLAT = {"tool_name": "tool_call", "origin": "tool_call_result", "reasoning_text": "reasoning", "base64_image": "image",
        "base64_data": "file"}  # fmt: skip
"""A key of a block without the key of its kind, and the kind."""
MESSAGE = Keys("role meta name content")
META = Keys("model= index finish_reason= usage=")
RESULT = Keys("result origin error")
ORIGIN = Keys("tool_name arguments id extra")
ROWS = BlockRows(NAME, TAG)
OF_FILES = "base64_data mime_type filename extra validation"


def _file(kind: MediaKind) -> Block:
    """Returns the block of files whose media type is of this kind."""
    fields = {"base64_data": "data", "mime_type": "media_type", "filename": "name"}
    block = ROWS.media("file", kind, f"{TAG} {OF_FILES}", fields)

    def read(native: Native, context: LiftContext) -> Part | None:
        is_kind = kind == "document" or kind_of_type(as_text(native.get("mime_type"))) == kind
        return block.read(native, context) if is_kind else None

    return replace(block, read=read)


BLOCKS = ROWS.table(
    ROWS.record("text", Text(""), f"{TAG} text", {"text": whole("text")}),
    ROWS.record("reasoning", Reasoning(""), f"{TAG} reasoning_text extra", {"reasoning_text": whole("text")}),
    ROWS.call("tool_call", f"{TAG}= tool_name=name arguments=arguments id=id extra"),
    ROWS.media(
        *("image", "image", f"{TAG} base64_image mime_type detail meta validation"),
        {"base64_image": "data", "mime_type": "media_type", "detail": "detail"},
    ),
    *(_file("audio"), _file("video"), _file("document")),
)


# ---------------------------------------------------------------- blocks


def _lift_block(native: Native, context: LiftContext) -> Part:
    """Lifts a block of a message; one of an unknown kind is opaque."""
    tagged = _tagged(native)
    part = None if tagged is None else BLOCKS.lift(tagged, context)
    return Opaque(NAME, native) if part is None or isinstance(part, Opaque) else part


def _tagged(native: Native, kinds: tuple[str, ...] = KINDS) -> Native | None:
    """Returns the block with its kind under `TAG`; None for a block of another kind."""
    kind = next((kind for kind in kinds if kind in native), None)
    if kind == "text":
        return {TAG: kind, **native}
    if kind is None:
        kind = next((FLAT[key] for key in FLAT if key in native and FLAT[key] in kinds), None)
        return None if kind is None else {TAG: kind, **native}
    others = omit(native, kind)
    return {TAG: kind, **native[kind], **({BLOCK: others} if others else {})}


def _write_block(part: Part) -> Native | None:
    """Writes a part as a block; None if there is no block for it."""
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME and isinstance(part.value, dict) else None
    tagged = BLOCKS.write(part)
    if tagged is None:
        return None
    kind, native = tagged[TAG], omit(tagged, TAG, BLOCK)
    return native if kind == "text" else {kind: native, **as_object(tagged.get(BLOCK))}


# ---------------------------------------------------------------- lift


class _Calls:
    """The arguments and extras of calls by id, which results repeat."""

    def __init__(self) -> None:
        self._stated: dict[str, Native] = {}

    def see(self, call: ToolCall) -> None:
        """Records a call."""
        extra = get_extras(call.extras, NAME).get("extra")
        self._stated[call.id] = {"arguments": call.arguments, **({"extra": extra} if extra else {})}

    def stated(self, id_: str) -> Native:
        """Returns the keys of a call that a result repeats."""
        return self._stated.get(id_, {})


def lift(document: Any) -> Transcript:
    """Returns the transcript of a list of messages."""
    context, calls = LiftContext(NAME, document), _Calls()
    for i, native in enumerate(document):
        _lift_message(native, i, context, calls)
    return context.transcript()


def _lift_message(native: Native, index: int, context: LiftContext, calls: _Calls) -> None:
    key = "_content" if "_content" in native else "content"
    older = "_" if key == "_content" else ""
    role, content = native[f"{older}role"], native[key]
    blocks = [{"text": content}] if isinstance(content, str) else content
    part_paths = [(key,)] if isinstance(content, str) else [(key, j) for j in range(len(blocks))]
    if role == "tool":
        messages = [Message(role, [_lift_result(block, context, calls)]) for block in blocks] or [Message("user", [])]
        for message, path in zip(messages, part_paths or [()], strict=True):
            context.add(message, (index,), [path])
        message = messages[0]
    else:
        message = Message(role, [_lift_block(block, context) for block in blocks])
        context.add(message, (index,), part_paths)
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.see(part)
        message.name = as_text(native.get(f"{older}name"))
    names = ("role", "content", "meta", *["name"] * (message.name is not None))
    rest = keep_apart(without_empty(native, *(f"{older}{name}" for name in names)), MESSAGE.names if older else ())
    meta = _lift_meta(without_empty(native.get(f"{older}meta") or {}), message)
    message.extras = make_extras(NAME, rest, **get_extras(message.extras, NAME), meta=meta)


def _lift_meta(meta: Native, message: Message) -> Native | None:
    """Sets model, stop reason and usage of an answer. Returns the extras."""
    if message.role != "assistant":
        return meta
    message.model, message.stop_reason = as_text(meta.get("model")), as_text(meta.get("finish_reason"))
    if isinstance(meta.get("usage"), dict):
        common.lift_usage(meta["usage"], message, NAME, common.USAGE)
        meta = omit(meta, "usage")
    found = (("model", message.model), ("finish_reason", message.stop_reason))
    return omit(meta, *(key for key, value in found if value is not None))


def _lift_result(block: Native, context: LiftContext, calls: _Calls) -> ToolResult:
    native = block.get("tool_call_result", block)
    origin, value = native["origin"], native["result"]
    ids = context.pairing.result(origin.get("id") or None, origin["tool_name"])
    if isinstance(value, str):
        result = ToolResult(*ids, "text", value)
    else:
        result = results.result_of_parts(*ids, [_lift_inside(one, context) for one in value], failed=False)
    if native.get("error"):
        results.fail(result)
    known = calls.stated(ids[0])
    repeated = [key for key in ("arguments", "extra") if origin.get(key) == known.get(key)]
    others = omit(block, "tool_call_result") if native is not block else {}
    result.extras = make_extras(
        NAME, RESULT.extra(native), origin=without_empty(origin, "tool_name", "id", *repeated), block=others
    )
    return result


def _lift_inside(native: Native, context: LiftContext) -> Part:
    tagged = _tagged(native, INSIDE) or {TAG: "", **native}
    return BLOCKS.lift_inside(tagged, context)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the list of messages."""
    calls, natives = _Calls(), []
    for message in transcript.messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls.see(part)
        natives.append(_write_message(message, calls))
    return natives


def _write_message(message: Message, calls: _Calls) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    extra.pop("usage", None)
    meta: Native = extra.pop("meta", {})
    if message.role == "assistant":
        usage = common.write_usage(message, NAME, common.USAGE)
        stated = {"model": message.model, "finish_reason": message.stop_reason, "usage": usage or None}
        meta = META.write(stated, meta)
    if message.role == "tool":
        blocks = [_write_result(part, calls) for part in message.parts if isinstance(part, ToolResult)]
    else:
        blocks = [block for part in message.parts if (block := _write_block(part)) is not None]
    if isinstance(extra.get(APART), dict):  # of an older message, in which these keys mean nothing
        extra[APART] = omit(extra[APART], *MESSAGE.names)
    return MESSAGE.put({"role": message.role, "meta": meta, "name": message.name, "content": blocks}, extra)


def _write_result(result: ToolResult, calls: _Calls) -> Native:
    extra = dict(get_extras(result.extras, NAME))
    stated = {"tool_name": result.name, "id": result.tool_call_id}
    origin = ORIGIN.put(stated, {"arguments": {}, **calls.stated(result.tool_call_id), **extra.pop("origin", {})})
    others = extra.pop(BLOCK, {})
    value = result.value
    if result.kind == "multimodal":
        value = [block for part in value if (block := _write_inside(part)) is not None]
    native = RESULT.put({"result": value, "origin": origin, "error": results.has_failed(result)}, extra)
    return {"tool_call_result": native, **others}


def _write_inside(part: Part) -> Native | None:
    tagged = BLOCKS.write_inside(part)
    if tagged is None:
        return None
    kind, native = tagged.get(TAG), omit(tagged, TAG, BLOCK)
    return native if kind in ("text", "") else {str(kind): native, **as_object(tagged.get(BLOCK))}


RESULTS = results.text_or_parts("Haystack")
FIT = (
    fitting.keep_active_conversation,
    fitting.roles({"developer": "system"}),
    results.separate_results,
    results.one_result_each,
    results.apply_convention(RESULTS),
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.arguments_as_objects,
    fitting.settle_by_reading_back(lift, write, "list"),
)

SUPPORTS = LIST | CALLS | (BLOCKS.supports() - {"tool_call.rawArguments"})
SUPPORTS |= fields("message.name message.model message.usage message.stopReason tool_result.name tool_result.isError")

DIALECT = Dialect(
    name=NAME,
    title="Haystack",
    aliases=("haystack-ai",),
    specification="haystack-ai 3.4.1; read 2026-11-27",
    framings=("document", "records"),
    forms=("list",),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(links.paired(links.PairingRules(where="later")),),
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        "refusal": "Haystack has no block for a refusal: it is written as text",
        "reasoning.summary": "Haystack reasoning is one text",
        "message.role": "Haystack has no role developer: it becomes system",
        "message.model": "only an answer has meta with a model",
        "message.stopReason": "only an answer has meta with a finish reason",
        "message.usage": "only an answer has meta with usage",
        "tool_call.rawArguments": "arguments must be an object, not a string",
        **dict.fromkeys(("image", "audio", "video", "document"), "Haystack stores media only as data"),
    },
    places=paths(
        "message.model=meta/model message.stopReason=meta/finish_reason message.usage=meta/usage message.name=name "
        "extras.meta=meta extras.usage=meta/usage reasoning.text=reasoning/reasoning_text "
        "tool_call.arguments=tool_call/arguments tool_call.rawArguments=tool_call/arguments tool_call.id=tool_call/id "
        "tool_result.value=tool_call_result/result tool_result.kind=tool_call_result/result "
        "tool_result.isError=tool_call_result/error tool_result.toolCallId=tool_call_result/origin/id "
        "tool_result.name=tool_call_result/origin/tool_name extras.origin=tool_call_result/origin"
    ),
    envelope=fields("validation meta usage index"),
)
