"""Messages of LlamaIndex: lists of its `ChatMessage`, as the library dumps them and chat stores keep them.

Specification: llama-index-core 0.14.25, `base/llms/types.py`
(https://github.com/run-llama/llama_index/blob/main/llama-index-core/llama_index/core/base/llms/types.py);
read 2026-11-27.

Quirks
- A message has a role, blocks and `additional_kwargs`. Before version 0.12 it had `content`, which the library still
  reads. convcli writes blocks.
- Roles of other services are read as theirs: `chatbot` and `model` are the assistant, `function` is a tool.
- Calls are blocks. Integrations also put OpenAI's calls in `additional_kwargs`: those that only repeat a block are
  dropped, others are lifted.
- The call id and the tool name of a result are in `additional_kwargs`, and so is the name of an author.
- A result has no field for a failure, and an answer has none for its model, usage or stop reason.
- Values of media are base64. The library checks that a path exists when it loads a message.
- A chat store has the lists of several conversations by key: `--at '/store/*'` reads them.
"""

from __future__ import annotations

from typing import Any

from convcli.families.openai import calls as openai
from convcli.families.openai.request import AUDIO_FORMATS, AUDIO_TYPES
from convcli.kit import custom, fitting, results
from convcli.kit.blocks import BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, as_object, as_text, get_extras, make_extras, without_nulls
from convcli.kit.settings import Setting, whole
from convcli.kit.supported import CALLS, LIST, fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Part, PartPaths, Path, Reasoning, Text, ToolResult, Transcript
from convcli.validation.rules import arguments, links
from convcli.wire import exact_json

NAME = "llamaindex"
KWARGS, BLOCKS_KEY, OLDER = "additional_kwargs", "blocks", "content"
MESSAGE = Keys(f"role {KWARGS} {BLOCKS_KEY}")
ROLES = {"function": "tool", "chatbot": "assistant", "model": "assistant"}
"""Roles of other services, as ours."""
SIGNATURE = Setting(
    "metadata",
    lambda native: {"signature": native["signature"]} if as_text(as_object(native).get("signature")) else None,
    lambda metadata: {"signature": metadata["signature"]} if as_text(metadata.get("signature")) else None,
    partial=True,
)
AUDIO_FORMAT = Setting("media_type", AUDIO_FORMATS.get, AUDIO_TYPES.get, partial=True)
SOURCES: dict[str, str | Setting] = {"path": "path", "url": "url"}
ROWS = BlockRows(NAME, "block_type")
BLOCKS = ROWS.table(
    ROWS.record("text", Text(""), "block_type text", {"text": whole("text")}),
    ROWS.record(
        *("thinking", Reasoning(""), "block_type content num_tokens additional_information"),
        {"content": whole("text"), "additional_information": SIGNATURE},
    ),
    ROWS.media(
        *("image", "image", "block_type image path url image_mimetype detail"),
        {"image": "data", **SOURCES, "image_mimetype": "media_type", "detail": "detail"},
    ),
    ROWS.media(
        "audio", "audio", "block_type audio path url format", {"audio": "data", **SOURCES, "format": AUDIO_FORMAT}
    ),
    ROWS.media(
        *("video", "video", "block_type video path url video_mimetype detail fps"),
        {"video": "data", **SOURCES, "video_mimetype": "media_type", "detail": "detail"},
    ),
    ROWS.media(
        *("document", "document", "block_type data path url title document_mimetype"),
        {"data": "data", **SOURCES, "title": "name", "document_mimetype": "media_type"},
    ),
    ROWS.call("tool_call", "block_type= tool_call_id=id tool_name=name tool_kwargs=arguments"),
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a list of messages."""
    context = LiftContext(NAME, document)
    context.each(document, (), _lift_message)
    return context.transcript()


def _lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    key = OLDER if native.get(BLOCKS_KEY) is None else BLOCKS_KEY
    content, more = native.get(key), without_nulls(native.get(KWARGS) or {})
    role_name: str = native["role"]
    role = ROLES.get(role_name, role_name)
    blocks = [{"block_type": "text", "text": content}] if isinstance(content, str) else content or []
    message = Message(role, [])
    if role == "tool":
        part_paths: list[Path] = [()]
        message.parts = [_lift_result(blocks, more, context)]
    else:
        message.name = _take_text(more, "name")
        message.parts = [BLOCKS.lift(block, context) for block in blocks]
        part_paths = [(key,)] if isinstance(content, str) else [(key, j) for j in range(len(blocks))]
        calls = _older_calls(more, message.parts, context)
        message.parts += calls
        part_paths += [(KWARGS, "tool_calls", j) for j in range(len(calls))]
    extra = {name: native[name] for name in native if name not in ("role", KWARGS, key) and native[name] is not None}
    extra |= {} if role == role_name else {"role": role_name}
    message.extras = make_extras(NAME, extra, additional_kwargs=more)
    return message, part_paths


def _take_text(native: Native, key: str) -> str | None:
    """Removes a nonempty string from the object, and returns it."""
    return native.pop(key) if as_text(native.get(key)) else None


def _lift_result(blocks: list[Native], more: Native, context: LiftContext) -> ToolResult:
    ids = context.pairing.result(_take_text(more, "tool_call_id"), _take_text(more, "name"))
    return results.result_of_parts(*ids, [BLOCKS.lift_inside(block, context) for block in blocks], failed=False)


def _older_calls(more: Native, parts: list[Part], context: LiftContext) -> list[Part]:
    """Removes OpenAI's calls, and returns them unless blocks repeat them. What only partly repeats blocks is kept."""
    natives = more.get("tool_calls")
    if not natives or not openai.are_calls(natives):
        return []
    known = [part for part in parts if part.type == "tool_call"]
    if not known:
        return [openai.lift_call(native, context) for native in more.pop("tool_calls")]
    calls = [openai.lift_call(native, LiftContext(NAME, None)) for native in natives]
    if all(any(exact_json.exact(_fields(call), _fields(one)) for one in known) for call in calls):
        del more["tool_calls"]
    return []


def _fields(part: Any) -> list[Any]:
    return [part.id, part.name, part.arguments, part.raw_arguments, part.extras]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the list of messages."""
    return [_write_message(message) for message in transcript.messages]


def _write_message(message: Message) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    more, role = extra.pop(KWARGS, {}), extra.pop("role", message.role)
    result = message.parts[0] if message.role == "tool" else None
    if isinstance(result, ToolResult):
        parts = result.value if result.kind == "multimodal" else [Text(result.value)]
        written = [BLOCKS.write_inside(part) for part in parts]
        fields = {"tool_call_id": result.tool_call_id, "name": result.name}
    else:
        written = [BLOCKS.write(part) for part in message.parts]
        fields = {} if message.name is None else {"name": message.name}
    blocks = [block for block in written if block is not None]
    return MESSAGE.put({"role": role, KWARGS: {**fields, **more}, BLOCKS_KEY: blocks}, extra)


RESULTS = results.with_plain_failures(results.text_or_parts("LlamaIndex"))
FIT = (
    fitting.keep_active_conversation,
    results.separate_results,
    results.one_result_each,
    results.apply_convention(RESULTS),
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.settle_by_reading_back(lift, write, "list"),
)

DIALECT = Dialect(
    name=NAME,
    title="LlamaIndex",
    aliases=("llama-index",),
    specification="llama-index-core 0.14.25; read 2026-11-27",
    framings=("document", "records"),
    forms=("list",),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable()),
    conventions=(RESULTS,),
    supports=LIST | CALLS | BLOCKS.supports() | fields("message.name tool_result.name"),
    reasons={
        "metadata": "LlamaIndex stores Anthropic's signatures of thoughts, and no other metadata",
        "refusal": "LlamaIndex has no block for a refusal: it is written as text",
        "message.model": "LlamaIndex messages do not name the model",
        "audio.mediaType": "LlamaIndex names the formats wav and mp3",
    },
    places=BLOCKS.places()
    | paths(
        "message.name=additional_kwargs/name tool_result.toolCallId=additional_kwargs/tool_call_id "
        "tool_result.value=blocks tool_result.kind=blocks tool_result.name=additional_kwargs/name "
        "reasoning.text=content"
    ),
)
