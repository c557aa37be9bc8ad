"""Chat histories of Semantic Kernel: a `ChatHistory`, as its Python library serializes it, and lists of its messages.

Specification: semantic-kernel 1.45 (`contents/`, https://github.com/microsoft/semantic-kernel), run 2026-11-27.

Quirks
- A message has items with a `content_type`. One with only a text under `content` is read too.
- The name of a tool is `plugin-function`. `function_name` and `plugin_name` repeat it.
- A result is any value: the library makes strings of other values (`{'a': 1}`), but a program may set them. A failure
  has no field.
- Images and audio have kinds of their own; any other file is `binary`. A file by URL has no media type.
- The library refuses a history with a data URL whose media type has a digit or a dot (`audio/mp3`).
- Model, name and finish reason are keys of a message; the usage of an answer is in its metadata.
- The .NET library writes other documents (`Items` with `$type`), which convcli does not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.chats import split_at_results
from convcli.families.openai import calls as openai
from convcli.families.openai import request as common
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import (
    Keys,
    Native,
    add_extras,
    as_text,
    get_extras,
    make_extras,
    omit,
    without_empty,
)
from convcli.kit.settings import whole
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.values import kind_of_type, paths, split_data_url
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    MediaKind,
    Message,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links, turns
from convcli.validation.survey import Survey
from convcli.wire.patterns import pattern

NAME = "semantic-kernel"
TAG, MESSAGES, SEPARATOR = "content_type", "messages", "-"
USUAL = "inner_content ai_model_id metadata"
"""Keys of every item."""
HISTORY = Keys(MESSAGES)
MESSAGE = Envelope(
    f"inner_content ai_model_id=model metadata= {TAG}= role= name=name items= encoding finish_reason=stop_reason status"
)
CALL_KEYS = f"{USUAL} {TAG}= id=id call_id index name=name function_name plugin_name arguments=arguments"
CALL = Keys(word.partition("=")[0] for word in CALL_KEYS.split())
CALL_TAGS = ("function_call", "function_result")
RESULT = Keys(f"{USUAL} {TAG}= id= call_id result= name= function_name plugin_name encoding")
ROWS = BlockRows(NAME, TAG)


def _media(tag: str, kind: MediaKind) -> Block:
    """Returns an item with a file of this kind."""
    envelope = Envelope(f"{USUAL} {TAG}= uri= data_uri=")

    def read(native: Native, _: LiftContext) -> Part | None:
        sources = [native[key] for key in ("uri", "data_uri") if as_text(native.get(key))]
        part = common.media_of_url(kind, sources[0]) if len(sources) == 1 else None
        if part is None or (tag == "binary" and kind_of_type(part.media_type) != kind):
            return None
        part.extras = make_extras(NAME, envelope.lift(native, Message("user", [])))
        return part

    def write(part: Media) -> Native | None:
        url = common.url_of_media(part)
        key = "data_uri" if split_data_url(url or "") else "uri"
        extra = get_extras(part.extras, NAME)
        return None if url is None else envelope.write(Message("user", []), extra, **{TAG: tag, key: url})

    return Block(tag, kind, read, write)


BLOCKS = ROWS.table(
    ROWS.record("text", Text(""), f"{USUAL} {TAG} text encoding", {"text": whole("text")}),
    ROWS.record("reasoning", Reasoning(""), f"{USUAL} {TAG} text", {"text": whole("text")}),
    ROWS.call("function_call", CALL_KEYS),
    *(_media(kind, kind) for kind in ("image", "audio")),
    *(_media("binary", kind) for kind in MEDIA_KINDS),
)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a history, or of a list of messages."""
    context = LiftContext(NAME, document)
    is_list = isinstance(document, list)
    context.origin.form = "list" if is_list else "history"
    for i, native in enumerate(document if is_list else document[MESSAGES]):
        _lift_message(native, (i,) if is_list else (MESSAGES, i), context)
    return context.transcript(extras=None if is_list else make_extras(NAME, HISTORY.extra(document)))


def _lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Adds a message, and one for each result in it."""
    text, role = native.get("content"), native["role"]
    items: list[tuple[Native, Path]] = [(item, ("items", k)) for k, item in enumerate(native.get("items") or [])]
    if isinstance(text, str) and not items:
        items = [({TAG: "text", "text": text}, ("content",))]
        native = omit(native, "content")
    placed = [(_lift_item(item, context), place) for item, place in items]
    other_role = "user" if role == "tool" else role
    pieces = split_at_results(placed, other_role) or [(Message(other_role, []), [])]
    first = pieces[0][0]
    extra, metadata = MESSAGE.lift(native, first), without_empty(native.get("metadata") or {})
    if first.role == "assistant" and isinstance(metadata.get("usage"), dict):
        common.lift_usage(metadata.pop("usage"), first, NAME, common.USAGE)
    extra = {**(extra or {}), **({"metadata": metadata} if metadata else {})}
    if native.get(TAG) not in (None, "message"):
        extra[TAG] = native[TAG]
    extra |= {"role": role} if role == "tool" and first.role != role else {}
    add_extras(first, NAME, extra)
    for message, part_paths in pieces:
        context.add(message, path, part_paths)


def _lift_item(native: Native, context: LiftContext) -> Part:
    if native[TAG] not in CALL_TAGS:
        return BLOCKS.lift(native, context)
    halves = _halves(native["name"])
    native = {key: value for key, value in native.items() if value is None or value != halves.get(key)}
    if native[TAG] == "function_call":
        return BLOCKS.lift(native, context)
    call = context.pairing.result(as_text(native.get("id")), native["name"])
    value = "" if native.get("result") is None else native["result"]
    return ToolResult(
        *call, "text" if isinstance(value, str) else "data", value, extras=make_extras(NAME, RESULT.extra(native))
    )


def _halves(name: str) -> Native:
    """Returns the plugin and the function of a tool name."""
    plugin, separator, function = name.partition(SEPARATOR)
    return {"function_name": function, "plugin_name": plugin} if separator else {"function_name": name}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a history, or a list of messages."""
    natives = [_write_message(message) for message in transcript.messages]
    return natives if options.form == "list" else HISTORY.put({MESSAGES: natives}, get_extras(transcript.extras, NAME))


def _write_message(message: Message) -> Native:
    extra = omit(get_extras(message.extras, NAME), "usage")
    metadata: Native = extra.pop("metadata", {})
    usage = common.write_usage(message, NAME, common.USAGE)
    metadata = {**metadata, **({"usage": usage} if usage else {})}
    items = [item for part in message.parts if (item := _write_item(part)) is not None]
    stated = {
        "metadata": metadata,
        TAG: extra.pop(TAG, "message"),
        "role": extra.pop("role", message.role),
        "items": items,
    }
    return MESSAGE.write(message, extra, **stated)


def _write_item(part: Part) -> Native | None:
    if isinstance(part, ToolResult):
        stated = {TAG: "function_result", "id": part.tool_call_id, "result": part.value, "name": part.name}
        return RESULT.put({**stated, **_halves(part.name)}, get_extras(part.extras, NAME), sort=True)
    native = BLOCKS.write(part)
    return (
        CALL.put(_halves(part.name), native, sort=True) if native is not None and isinstance(part, ToolCall) else native
    )


RESULTS = results.ResultTexts("", data=True).convention()
DATA_TYPE = pattern(r"[a-zA-Z]+/[a-zA-Z-]+\Z")
"""The media types that the library reads in a data URL (`contents/utils/data_uri.py`)."""


def _find_unread_types(survey: Survey) -> Iterator[Breach]:
    for kind in MEDIA_KINDS:
        for i, k, part in survey.parts[kind]:
            if part.data is not None and part.media_type and not DATA_TYPE.match(part.media_type):
                problem = "Semantic Kernel reads only media types of letters and hyphens in a data URL"
                yield Breach("unknown-value", NodeRef(i, k), problem)


def _is_written(media: Media) -> bool:
    return common.url_of_media(media) is not None


def _fit(form: str) -> tuple[Pass, ...]:
    return (
        fitting.keep_active_conversation,
        results.separate_results,
        results.one_result_each,
        passes.on_parts(lambda part, _: fitting.text_as_data(part), "document"),
        passes.on_messages(openai.media_behind_results(_is_written)),
        passes.on_results(lambda result: results.one_value(result)),
        results.apply_convention(RESULTS),
        fitting.keep_known_finish(common.FINISH, common.FINISH_OF, "stop"),
        fitting.refusals_as_texts,
        custom.as_functions,
        sessions.set_models_of_answers,
        fitting.settle_by_reading_back(lift, write, form),
    )


SUPPORTS = TEXTS | CALLS | BLOCKS.supports() | media(names="data url mediaType") | MESSAGE.supports("message")
SUPPORTS = (SUPPORTS | fields("message.usage tool_result.name")) - {"video.url"}

DIALECT = Dialect(
    name=NAME,
    title="Semantic Kernel",
    specification="semantic-kernel 1.45; read 2026-11-27",
    framings=("document", "records"),
    forms=("history", "list"),
    lift=lift,
    write=write,
    fit={"history": _fit("history"), "list": _fit("list")},
    rules=(
        links.paired(links.PairingRules(where="later")),
        arguments.readable(),
        turns.decodable(),
        Rule(("unknown-value",), _find_unread_types),
    ),
    conventions=(RESULTS,),
    supports=SUPPORTS,
    reasons={
        "refusal": "Semantic Kernel has no item for a refusal: it is written as text",
        "message.usage": "only the metadata of an answer has usage",
        "message.stopReason": "Semantic Kernel has no such finish reason",
        "document.text": "a document that is a text is written as base64",
        **dict.fromkeys((f"{kind}.mediaType" for kind in MEDIA_KINDS), "an item with a URL has no media type"),
    },
    places={
        **BLOCKS.places(),
        **MESSAGE.places("message"),
        **paths(
            "message.usage=metadata/usage extras.usage=metadata/usage extras.metadata=metadata "
            "tool_result.toolCallId=id tool_result.value=result tool_result.kind=result tool_result.name=name"
        ),
        **{f"{kind}.data": ("data_uri",) for kind in MEDIA_KINDS},
    },
    envelope=fields("encoding index status"),
    metadata=fields("metadata inner_content"),
)
