"""Microsoft Agent Framework: messages and sessions, as its Python and .NET libraries serialize them.

Specification: agent-framework-core 1.23 (`_types.py`, `_sessions.py`), run; for .NET, Microsoft.Extensions.AI
(`ChatMessage`, `AIContent`, https://github.com/dotnet/extensions) and `InMemoryChatHistoryProvider`
(https://github.com/microsoft/agent-framework), read 2026-11-27.

Quirks
- Both libraries have the same contents. .NET writes their kind as `$type`, and its keys in camel case.
- A result has no tool name. In Python `result` repeats the texts of `items`, and `exception` marks a failure: the
  library replaces its text by a constant. In .NET `result` is any value, and a failure is not serialized.
- The media type states the kind of media. `image/*` is an image of any type.
- `protected_data` belongs to the model provider, which a message does not name. It is kept as an extra.
- Calls and results of tools that a service runs (`mcp_server_tool_call`, …) are kept opaque.
- A session stores the messages of its in-memory history. Instructions and tools are in the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from convcli.families.chats import split_at_results
from convcli.families.openai.request import url_of_media
from convcli.kit import custom, fitting, ids, passes, results
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.codec.objects import value_at
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import (
    Keys,
    Native,
    as_text,
    get_extras,
    make_extras,
    objects_in,
    omit,
    without_empty,
)
from convcli.kit.settings import whole
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.texts import only_text, text_of
from convcli.kit.values import MEDIA_TYPES, kind_of_type, pairs, paths, split_data_url
from convcli.model.dialect import Convention, Dialect, Options, Pass
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    MediaKind,
    Message,
    Part,
    Path,
    Reasoning,
    Text,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments, links

NAME = "agent-framework"
MARKER = "FunctionInvocationError"
"""The text of a failure in `exception`."""
SESSION = Envelope("type= session_id=id service_session_id state=")
DOTNET_SESSION = Envelope("conversationId stateBag=")
HISTORY: dict[str, tuple[str, str, str]] = {
    "session": ("state", "in_memory", "messages"),
    "dotnet-session": ("stateBag", "InMemoryChatHistoryProvider", "messages"),
}
"""The path of the messages in a session."""


MESSAGE_KEYS = pairs("additionalProperties=additional_properties")
CONTENT_KEYS = pairs(
    "$type=type callId=call_id mediaType=media_type fileId=file_id protectedData=protected_data "
    "additionalProperties=additional_properties serverName=server_name errorCode=error_code details=error_details"
)
KINDS = pairs(
    "reasoning=text_reasoning functionCall=function_call functionResult=function_result hostedFile=hosted_file "
    "hostedVectorStore=hosted_vector_store mcpServerToolCall=mcp_server_tool_call "
    "mcpServerToolResult=mcp_server_tool_result"
)
"""Names of .NET, with those of Python."""
CONTENT = "type= role= contents="
MESSAGE = Envelope(f"{CONTENT} author_name=name message_id=id additional_properties")
DOTNET_MESSAGE = Envelope(f"authorName=name createdAt=created_at {CONTENT} messageId=id additional_properties")
MESSAGE_PLACES = pairs("authorName=author_name messageId=message_id")
MORE = "annotations additional_properties"
RESULT = Keys(f"type= call_id= exception= result= items= {MORE}")
ROWS = BlockRows(NAME, "type")


def _media(tag: str, kind: MediaKind) -> Block:
    """Returns a content with media of this kind: data, a URL, or a file of the service."""
    source, place = ("file_id", "file_id") if tag == "hosted_file" else ("uri", "url")
    fields = {source: place, "media_type": "media_type", "name": "name"}
    block = ROWS.media(tag, kind, f"type {source} media_type name {MORE}", fields)

    def read(native: Native, context: LiftContext) -> Part | None:
        in_url = split_data_url(native[source]) if isinstance(native.get(source), str) else None
        stated = as_text(native.get("media_type")) or (in_url[0] if in_url else None)
        if kind_of_type(stated) != kind:
            return None
        return block.read(omit(native, "media_type") if stated == f"{kind}/*" else native, context)

    def write(part: Media) -> Native | None:
        if part.data is not None:
            part = replace(part, media_type=part.media_type or MEDIA_TYPES[kind])
        is_this = getattr(part, "data" if tag == "data" else place) is not None
        stated = replace(part, url=url_of_media(part), data=None, media_type=part.media_type or f"{kind}/*")
        return block.write(stated) if is_this else None

    return replace(block, read=read, write=write)


BLOCKS = ROWS.table(
    ROWS.record("text", Text(""), f"type text {MORE}", {"text": whole("text")}),
    ROWS.record("text_reasoning", Reasoning(""), f"type id text protected_data status {MORE}", {"text": whole("text")}),
    ROWS.call("function_call", f"type= call_id=id name=name arguments=arguments hosted {MORE}"),
    *(_media(tag, kind) for tag in ("data", "uri", "hosted_file") for kind in MEDIA_KINDS),
)


def _renamed(native: Native, keys: Mapping[str, str], kinds: Mapping[str, str] = {}) -> Native:
    """Returns an object of .NET with the names of Python, or the other way: names are exchanged, so both are unique."""
    renamed = {keys.get(key, key): value for key, value in native.items()}
    for tag in {"type", "$type"} & renamed.keys():
        renamed[tag] = kinds.get(renamed[tag], renamed[tag]) if isinstance(renamed[tag], str) else renamed[tag]
    return renamed


def _both_ways(names: Mapping[str, str]) -> dict[str, str]:
    return {**names, **{other: name for name, other in names.items()}}


OF_MESSAGE, OF_CONTENT, OF_KIND = _both_ways(MESSAGE_KEYS), _both_ways(CONTENT_KEYS), _both_ways(KINDS)


def _form(document: Any) -> str:
    if isinstance(document, dict):
        return "dotnet-session" if "stateBag" in document else "session"
    contents = [one for native in objects_in(document) for one in objects_in(native.get("contents"))]
    return "dotnet" if any("$type" in one for one in contents) else "list"


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session, or of a list of messages."""
    context, form = LiftContext(NAME, document), _form(document)
    context.origin.form = form
    if form.startswith("dotnet"):
        context.origin.aliases = {name: other for other, name in (*CONTENT_KEYS.items(), *MESSAGE_PLACES.items())}
    path: Path = HISTORY.get(form, ())
    natives: list[Native] = value_at(document, path) or []
    for i, native in enumerate(natives):
        _lift_message(native, (*path, i), context)
    transcript = context.transcript()
    if form in HISTORY:
        first, second, _ = HISTORY[form]
        header = (SESSION if form == "session" else DOTNET_SESSION).lift(document, transcript)
        others = {**document[first], second: omit(document[first][second], "messages")}
        kind = document.get("type") if form == "session" else None
        header = {**(header or {}), **({"type": kind} if kind not in (None, "session") else {})}
        transcript.extras = make_extras(NAME, header, **{first: without_empty(others)})
    return transcript


def _lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Adds a message, and one for each result in it."""
    is_dotnet = context.origin.form.startswith("dotnet")
    native = _renamed(native, OF_MESSAGE) if is_dotnet else native
    contents = native.get("contents") or []
    placed = [(_lift_content(one, context), ("contents", k)) for k, one in enumerate(contents)]
    role = native["role"]
    other_role = "user" if role == "tool" else role
    pieces = split_at_results(placed, other_role) or [(Message(other_role, []), [])]
    first = pieces[0][0]
    extra = (DOTNET_MESSAGE if is_dotnet else MESSAGE).lift(native, first) or {}
    extra |= {"type": native["type"]} if native.get("type") not in (None, "message") else {}
    extra |= {"role": role} if role == "tool" and first.role != role else {}
    first.extras = make_extras(NAME, extra)
    for message, part_paths in pieces:
        context.add(message, path, part_paths)


def _lift_content(native: Native, context: LiftContext) -> Part:
    is_dotnet = "$type" in native
    native = _renamed(native, OF_CONTENT, OF_KIND) if is_dotnet else native
    if native["type"] != "function_result":
        return BLOCKS.lift(native, context)
    call = context.pairing.result(as_text(native.get("call_id")), None)
    extra, value = RESULT.extra(native) or {}, native.get("result")
    items: list[Native] = native.get("items") or []
    if is_dotnet:
        extra |= {"items": items} if items else {}
        items = [_renamed(one, OF_CONTENT, OF_KIND) for one in _contents_in(value)]
    if items:
        parts = [BLOCKS.lift_inside(one, context) for one in items]
        result = results.result_of_parts(*call, parts, failed=False)
        extra |= {"result": value} if not is_dotnet and value not in (None, _texts(items)) else {}
    else:
        result = ToolResult(*call, "text" if isinstance(value, str) else "data", value)
    if native.get("exception") is not None:
        results.fail(result)
        extra |= {"exception": native["exception"]} if native["exception"] != MARKER else {}
    result.extras = make_extras(NAME, extra)
    return result


def _contents_in(value: Any) -> list[Native]:
    """Returns a result that is a list of contents of .NET; empty for any other."""
    natives = objects_in(value)
    return (
        natives if natives and len(natives) == len(value) and all(as_text(one.get("$type")) for one in natives) else []
    )


def _texts(items: list[Native]) -> str:
    """Returns what Python repeats of the items of a result."""
    return "\n".join(one["text"] for one in items if one["type"] == "text" and one.get("text"))


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a session, or a list of messages."""
    form = options.form or "session"
    natives = [_write_message(message, is_dotnet=form.startswith("dotnet")) for message in transcript.messages]
    if form not in HISTORY:
        return natives
    first, second, third = HISTORY[form]
    extra = dict(get_extras(transcript.extras, NAME))
    state = dict(extra.pop(first, {}))
    state[second] = {**state.get(second, {}), third: natives}
    if form == "dotnet-session":
        return DOTNET_SESSION.write(transcript, extra, stateBag=state)
    return SESSION.write(transcript, extra, type=extra.pop("type", "session"), state=state)


def _write_message(message: Message, *, is_dotnet: bool) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    contents = [one for part in message.parts if (one := _write_content(part, is_dotnet=is_dotnet)) is not None]
    role = extra.pop("role", message.role)
    if is_dotnet:
        native = DOTNET_MESSAGE.write(message, extra, role=role, contents=contents)
        return _renamed(native, OF_MESSAGE)
    kind = extra.pop("type", "message")
    return MESSAGE.write(message, extra, type=kind, role=role, contents=contents)


def _write_content(part: Part, *, is_dotnet: bool) -> Native | None:
    native = _write_result(part, is_dotnet=is_dotnet) if isinstance(part, ToolResult) else BLOCKS.write(part)
    return _renamed(native, OF_CONTENT, OF_KIND) if is_dotnet and native is not None else native


def _write_result(result: ToolResult, *, is_dotnet: bool) -> Native:
    items = [{"type": "text", "text": result.value}] if result.kind in ("text", "error") else []
    if result.kind == "multimodal":
        items = [one for part in result.value if (one := BLOCKS.write_inside(part)) is not None]
    stated: Native = {"type": "function_result", "call_id": result.tool_call_id, "result": result.value}
    if result.kind == "multimodal":
        stated["result"] = [_renamed(one, OF_CONTENT, OF_KIND) for one in items] if is_dotnet else _texts(items)
    if items and not is_dotnet:
        stated["items"] = items
    if not is_dotnet and results.has_failed(result):
        stated["exception"] = MARKER
    extra = get_extras(result.extras, NAME)
    return RESULT.put(stated, omit(extra, "result", "exception") if is_dotnet else extra, sort=True)


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Writes a result of one text as that text, and data that is a string as text."""
    text = only_text(result.value) if result.kind == "multimodal" else None
    if result.kind == "data" and isinstance(result.value, str):
        text = result.value
    return None if text is None else ("error" if result.is_error else "text", text)


SAME_TEXT = "content of one text equals that text"
RESULTS = Convention(_express, {"multimodal": ("changed", SAME_TEXT), "data": ("changed", SAME_TEXT)})
DOTNET_RESULTS = results.with_plain_failures(RESULTS)


def _text_as_data(part: Part | None) -> Part | None:
    return fitting.text_as_data(part) if isinstance(part, Media) else part


def _fit(form: str, *more: Pass, convention: Convention = RESULTS) -> tuple[Pass, ...]:
    return (
        fitting.keep_active_conversation,
        fitting.roles({"developer": "system"}),
        results.separate_results,
        results.one_result_each,
        results.apply_convention(convention),
        fitting.refusals_as_texts,
        custom.as_functions,
        passes.on_parts(lambda part, _: _text_as_data(part), "document"),
        passes.on_results(lambda result: results.with_parts(result, _text_as_data)),
        *more,
        fitting.settle_by_reading_back(lift, write, form),
    )


def _content(transcript: Transcript) -> Any:
    """Returns the content from which a missing session id is derived."""
    return [
        [message.role, [part.type for part in message.parts], text_of(message.parts)] for message in transcript.messages
    ]


DOTNET_FIT = (fitting.arguments_as_objects,)
SUPPORTS = TEXTS | CALLS | BLOCKS.supports() | MESSAGE.supports("message")
SUPPORTS |= media(names="data") | {"tool_result.isError"}
DOTNET = (SUPPORTS - fields("tool_call.rawArguments tool_result.isError")) | DOTNET_MESSAGE.supports("message")


DIALECT = Dialect(
    name=NAME,
    title="Microsoft Agent Framework",
    aliases=("microsoft-agent-framework",),
    specification="agent-framework-core 1.23 and Microsoft.Extensions.AI; read 2026-11-27",
    framings=("document", "records"),
    forms=("session", "list", "dotnet", "dotnet-session"),
    lift=lift,
    write=write,
    fit={
        "session": _fit(
            "session", ids.set_session_id(_content), fitting.without_extras(NAME, "stateBag", "conversationId")
        ),
        "list": _fit("list"),
        "dotnet": _fit("dotnet", *DOTNET_FIT, convention=DOTNET_RESULTS),
        "dotnet-session": _fit(
            *("dotnet-session", *DOTNET_FIT, fitting.without_extras(NAME, "state", "service_session_id")),
            convention=DOTNET_RESULTS,
        ),
    },
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable()),
    conventions=(RESULTS, DOTNET_RESULTS),
    supports={
        "session": SUPPORTS | SESSION.supports(),
        "list": SUPPORTS,
        "dotnet": DOTNET,
        "dotnet-session": DOTNET,
    },
    reasons={
        "refusal": "Agent Framework has no content for a refusal: it is written as text",
        "message.role": "Agent Framework has no role developer: it becomes system",
        "message.model": "Agent Framework messages do not name the model",
        "tool_result.name": "a result has only the id of its call",
        "document.text": "a document that is a text is written as base64",
        "tool_call.rawArguments": "arguments in .NET must be an object, not a string",
    },
    places={
        **BLOCKS.places(),
        **SESSION.places(),
        **paths(
            "message.name=author_name message.id=message_id message.createdAt=createdAt extras.state=state "
            "tool_result.toolCallId=call_id tool_result.value=result tool_result.kind=result "
            "tool_result.isError=exception"
        ),
    },
    envelope=fields("hosted type service_session_id conversationId status"),
    metadata=fields("usage"),
)
