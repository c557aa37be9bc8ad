"""Zed: threads of its agent, from `threads.db`, and shared threads; read-only.

Specification: none is published. Source: crates/agent/src/db.rs and thread.rs of zed-industries/zed, versions 0.2.0 and
0.3.0 of a thread; read 2026-11-23. No thread of the program itself was read.

Quirks
- A value is an object with its kind as the only key: `{"Text": "Hi."}`. `"Resume"` stands for a continuation.
- A mention of a file or a symbol has a text, which the model reads.
- An answer has the results of its calls in `tool_results`, by their ids.
- Version 0.2.0 has roles, segments, and lists of calls and results.
- In the database a thread is JSON, usually packed by zstd. convcli adds its id and its folders.
"""

from __future__ import annotations

from typing import Any

from convcli.kit import results, sessions
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, as_text, make_extras, omit, without_empty
from convcli.kit.supported import fields
from convcli.kit.values import paths, read_json, type_of_image
from convcli.model.dialect import Dialect, Program
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, Transcript
from convcli.validation.rules import arguments, links

NAME = "zed"
USER, AGENT = "User", "Agent"
ROLES = ("user", "assistant", "system")
THREAD = Envelope("id=id title=title summary messages= updated_at=updated_at model= version folder_paths")
Placed = tuple[Part, Path]


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a thread."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    model = as_object(document.get("model"))
    transcript.model = as_text(model.get("model"))
    rest = without_empty(model, *["model"] * (transcript.model is not None))
    extra = THREAD.lift(document, transcript) or {}
    if transcript.title is None and as_text(extra.get("summary")) is not None:
        transcript.title = extra.pop("summary")
        context.origin.routes["title",] = ("summary",)
    transcript.extras = make_extras(NAME, extra, model=rest)
    for i, native in enumerate(document["messages"]):
        _lift_message(native, ("messages", i), context)
    return transcript


def _lift_message(native: Any, path: Path, context: LiftContext) -> None:
    kind = next((kind for kind in (USER, AGENT) if isinstance(as_object(native).get(kind), dict)), None)
    if kind is not None:
        _lift_turn(native[kind], kind, (*path, kind), context, without_empty(native, kind))
    elif as_object(native).get("role") in ROLES:
        _lift_old(native, path, context)
    else:
        sessions.add_event(context, native, path)


def _lift_turn(native: Native, kind: str, path: Path, context: LiftContext, outer: Native) -> None:
    """Adds a message, and the results of its calls in the order of the calls. `outer` is what stands next to it."""
    placed = [_lift_item(item, k, context) for k, item in enumerate(native.get("content") or ())]
    message = Message("user" if kind == USER else "assistant", [part for part, _ in placed])
    message.id = as_text(native.get("id"))
    used = ("content", "tool_results", *["id"] * (message.id is not None))
    message.extras = make_extras(NAME, without_empty(native, *used), outer=outer)
    context.add(message, path, [at for _, at in placed])
    waiting = dict(native.get("tool_results") or {})
    calls = [part.id for part in message.parts if isinstance(part, ToolCall)]
    for id_ in [
        *(id_ for id_ in dict.fromkeys(calls) if id_ in waiting),
        *(id_ for id_ in waiting if id_ not in calls),
    ]:
        _add_result(waiting[id_], id_, (*path, "tool_results", id_), context)


def _lift_item(item: Any, k: int, context: LiftContext) -> Placed:
    """Returns the part of an item of content, and its path."""
    kind, value = next(iter(item.items())) if isinstance(item, dict) and len(item) == 1 else ("", None)
    path: Path = ("content", k, kind)
    body = as_object(value)
    if kind in ("Text", "RedactedThinking") and isinstance(value, str):
        return (Text(value) if kind == "Text" else Reasoning("", metadata={"redactedData": value})), path
    if kind == "Mention" and isinstance(body.get("content"), str):
        return Text(body["content"], extras={NAME: {"mention": True, **without_empty(body, "content")}}), path
    if kind == "Thinking" and isinstance(body.get("text"), str):
        return _thought(body), path
    if kind == "Image" and as_text(body.get("source")) is not None:
        return _image(body), path
    if kind == "ToolUse" and isinstance(body.get("name"), str):
        return _call(body, context), path
    return Opaque(NAME, item), ("content", k)


def _thought(native: Native) -> Reasoning:
    signature = as_text(native.get("signature"))
    rest = without_empty(native, "text", *["signature"] * (signature is not None))
    metadata = {"signature": signature} if signature is not None else None
    return Reasoning(native["text"], metadata=metadata, extras=make_extras(NAME, rest))


def _image(native: Native) -> Media:
    data = native["source"]
    return Media(
        "image", data=data, media_type=type_of_image(data), extras=make_extras(NAME, without_empty(native, "source"))
    )


def _call(native: Native, context: LiftContext) -> ToolCall:
    call = ToolCall(context.pairing.call(as_text(native.get("id")), native["name"]), native["name"], {})
    call.arguments, call.raw_arguments = arguments_of(native.get("input"))
    written = read_json(as_text(native.get("raw_input")) or "null")
    signature = as_text(native.get("thought_signature"))
    call.metadata = {"thoughtSignature": signature} if signature is not None else None
    used = ["id", "name", "input", *["raw_input"] * (written is not None and written == native.get("input"))]
    used += ["is_input_complete"] * (native.get("is_input_complete") is True)
    used += ["thought_signature"] * (signature is not None)
    call.extras = make_extras(NAME, without_empty(native, *used))
    return call


def _add_result(native: Native, key: str, path: Path, context: LiftContext) -> None:
    """Adds the message of a result: texts and images, in a list or alone."""
    ids = context.pairing.result(as_text(native.get("tool_use_id")) or key, as_text(native.get("tool_name")))
    content = native.get("content")
    items = content if isinstance(content, list) else [] if content is None else [content]
    parts = [Text(item) if isinstance(item, str) else _lift_item(item, k, context)[0] for k, item in enumerate(items)]
    known: list[Part] = [part for part in parts if isinstance(part, (Text, Media))]
    result = results.result_of_parts(*ids, known or [Text("")], failed=native.get("is_error") is True)
    rest = without_empty(native, "tool_use_id", "tool_name", "is_error", "content")
    rest |= {"content": content} if len(known) < len(parts) else {}
    result.extras = make_extras(NAME, rest)
    context.add(Message("tool", [result]), path, [()])


def _lift_old(native: Native, path: Path, context: LiftContext) -> None:
    """Lifts a message of version 0.2.0."""
    message = Message(native["role"], [])
    if isinstance(native.get("id"), str):
        message.id = native["id"]
    places: list[Path] = []
    for k, segment in enumerate(native.get("segments") or ()):
        message.parts.append(_lift_segment(segment))
        places.append(("segments", k))
    for k, use in enumerate(native.get("tool_uses") or ()):
        message.parts.append(_call(use, context))
        places.append(("tool_uses", k))
    used = ("role", "segments", "tool_uses", "tool_results", *["id"] * (message.id is not None))
    message.extras = make_extras(NAME, without_empty(native, *used))
    context.add(message, path, places)
    for k, result in enumerate(native.get("tool_results") or ()):
        _add_result(result, f"{k}", (*path, "tool_results", k), context)


def _lift_segment(native: Native) -> Part:
    kind = native.get("type")
    if kind == "text" and isinstance(native.get("text"), str):
        return Text(native["text"], extras=make_extras(NAME, without_empty(native, "type", "text")))
    if kind == "thinking" and isinstance(native.get("text"), str):
        return _thought(omit(native, "type"))
    return Opaque(NAME, native)


FOLDERS = (".local/share/zed", "Library/Application?Support/Zed", "AppData/Local/Zed")

DIALECT = Dialect(
    name=NAME,
    title="Zed",
    specification="threads 0.2.0 and 0.3.0 of zed-industries/zed; read 2026-11-23",
    framings=("document", "records"),
    forms=("thread",),
    programs=(Program(NAME, ".", " ".join(f"{folder}/threads/threads.db" for folder in FOLDERS)),),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    places={
        **THREAD.places(),
        **paths(
            "model=model/model message.id=id tool_call.id=id tool_call.arguments=input tool_call.rawArguments=input "
            "tool_result.toolCallId=tool_use_id tool_result.value=content tool_result.kind=content extras.model=model "
            "extras.outer=.."
        ),
    },
    metadata=fields("output raw_input profile folder_paths"),
    envelope=fields(
        "version model profile folder_paths request_token_usage cumulative_token_usage mention imported uri size "
        "detailed_summary output raw_input summary outer"
    ),
    repeats=frozenset(("/messages/*/Agent/tool_results/*/tool_use_id",)),
)
