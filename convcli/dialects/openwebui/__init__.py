"""Open WebUI: the chats of an export ("Export Chats", `/api/v1/chats/all`), and single chats.

Specification: none is published. Exports of 2025 and 2026, and LibreChat's reader of them
(https://github.com/danny-avila/LibreChat, `api/server/utils/import`, 89e0c58a); read 2026-11-27.

Quirks
- An export is a list of chats. Each has its conversation under `chat`; a single chat may be only that object.
- Messages are a tree under `history`; `currentId` is the last message of the active branch. `messages` repeats that
  branch.
- Since 2026 an answer has `output`: items of the Responses API. `content` repeats their text, with reasoning and calls
  as `<details>`. convcli reads `output`, and `content` only without it.
- In older answers, `<details>` is the only record of reasoning and calls. Calls without a name are kept opaque.
- The system prompt is in `params`.
- "Import Chats" takes a list of chats, as convcli writes several into one JSON file. An answer and the results that it
  waits for are one node, with items as `output`.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

from convcli.dialects.openwebui.writing import EPOCH, NAME, NODE, write_history
from convcli.families.chats import NODES, split_at_results
from convcli.families.openai.request import USAGE, media_of_url
from convcli.families.responses.facts import OF_ITEMS
from convcli.families.responses.turns import ItemReader
from convcli.kit import custom, fitting, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import instruction_of
from convcli.kit.objects import (
    Native,
    add_extras,
    as_object,
    as_text,
    get_extras,
    make_extras,
    omit,
    without_empty,
)
from convcli.kit.sessions import head_at, other_children, parents_first
from convcli.kit.settings import Setting
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import without_space
from convcli.kit.values import paths, read_arguments, read_json, take_counts
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import trees
from convcli.validation.survey import limited_to
from convcli.wire import exact_json
from convcli.wire.patterns import pattern

EXPORTED, ALONE = "export", "chat"
"""The forms: a chat of an export, and only its conversation."""
MODELS = Setting(
    "model",
    lambda models: as_text(models[0]) if isinstance(models, list) and len(models) == 1 else None,
    lambda model: [model],
    partial=True,
)
EXPORT = Envelope(
    "id=id user_id title=title chat= updated_at created_at share_id archived pinned meta folder_id",
    {"created_at": EPOCH["created_at"], "updated_at": EPOCH["updated_at"]},
)
SHELL = {"id": "", "user_id": "", "title": ""}
"""Keys that an import requires since Open WebUI 0.6.20."""
CHAT = Envelope("id=id title=title models params= history= messages= tags timestamp files", {"models": MODELS})
STATED_TWICE = ("id", "title")
"""Keys of a chat that an export states around it, too; where they differ, those around it count."""
CONVERSATION = "#"
"""In `places`: the object with the history. It is the document, or a member of it."""
OPEN, CLOSE = "<details ", "</details>"
ATTRIBUTE = pattern(r'\b(\w+)="([^"]*)"')
SUMMARY = pattern(r"\A\s*<summary>[^<]*</summary>\n?")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a chat, with all of its branches."""
    context = LiftContext(NAME, document, node_path=())
    chat, prefix = (document["chat"], ("chat",)) if "chat" in document else (document, ())
    context.origin.form = EXPORTED if prefix else ALONE
    context.origin.aliases = {CONVERSATION: "chat" if prefix else ".."}
    params = chat.get("params") or {}
    system = as_text(params.get("system"))
    if system:
        context.add(Message("system", [Text(system)]), (*prefix, "params", "system"), [()])
    nodes = chat["history"]["messages"]
    parents = {id_: node.get("parentId") for id_, node in nodes.items()}
    order = parents_first(parents)
    for id_ in order:
        first = len(context.messages)
        _lift_node(id_, nodes[id_], (*prefix, "history", "messages", id_), context)
        children = other_children(nodes[id_].get("childrenIds"), id_, parents)
        add_extras(context.messages[first], NAME, {"childrenIds": children} if children else None)
    current = chat["history"].get("currentId")
    transcript = context.transcript(head=head_at(current, [(id_, nodes[id_].get("parentId") or None) for id_ in order]))
    extra = CHAT.lift(chat, transcript) or {}
    extra |= {} if not params or (system and len(params) == 1) else {"params": omit(params, *["system"] * bool(system))}
    history = without_empty(chat["history"], "messages", *["currentId"] * (current in order))
    extra |= {"history": history} if history else {}
    extra |= _other_messages(chat.get("messages"), nodes)
    if chat is document:
        transcript.extras = make_extras(NAME, extra)
        return transcript
    stated = {key: getattr(transcript, key) for key in STATED_TWICE}
    outer = EXPORT.lift(document, transcript) or {}
    extra |= {key: value for key, value in stated.items() if value is not None and value != getattr(transcript, key)}
    transcript.extras = make_extras(NAME, outer, chat=extra)
    return transcript


def _other_messages(repeated: Any, nodes: Native) -> Native:
    """Returns the messages outside of the history that do not repeat one of it."""
    natives = repeated if isinstance(repeated, list) else [repeated] if repeated else []
    others = [native for native in natives if not _repeats(native, nodes)]
    return {"messages": others} if others else {}


def _repeats(native: Any, nodes: Native) -> bool:
    id_ = native.get("id") if isinstance(native, dict) else None
    known = [nodes[id_]] if isinstance(id_, str) and id_ in nodes else list(nodes.values())
    return isinstance(native, dict) and any(_has_all(node, native) for node in known)


def _has_all(node: Native, native: Native) -> bool:
    return all(key in node and exact_json.exact(value, node[key]) for key, value in native.items())


def _lift_node(id_: str, native: Native, path: Path, context: LiftContext) -> None:
    """Adds the messages of one node; facts of the whole go to the first."""
    first = len(context.messages)
    content, output = native.get("content") or "", native.get("output") or []
    if output:
        ItemReader(context).all([_usual_item(item) for item in output], (*path, "output"))
        _move_to_node(first, path, context)
        is_repeated = _is_repeated(content, context.messages[first:])
    else:
        _add_parts(native, content, path, context)
        is_repeated = True
    if len(context.messages) == first:
        context.add(Message(native["role"], []), path)
    message = context.messages[first]
    extra = NODE.lift(native, message) or {}
    message.id, message.parent_id = id_, native.get("parentId") or None
    message.usage, usage = take_counts(native.get("usage") or {}, USAGE)
    message.usage = message.usage or None
    error = native.get("error")
    message.error = as_text(as_object(error).get("content")) or as_text(error)
    extra |= {"usage": usage} if usage else {}
    extra |= {"error": error} if error and (message.error is None or len(as_object(error)) > 1) else {}
    extra |= {} if is_repeated else {"content": content}
    extra |= {"id": native["id"]} if native.get("id") not in (None, id_) else {}
    message.extras = make_extras(NAME, {**((message.extras or {}).get(NAME) or {}), **extra})


def _usual_item(item: Native) -> Native:
    """Returns an item with the keys and types of the Responses API."""
    if item["type"] == "message":
        return {"role": "assistant", **item}
    if item["type"] != "reasoning":
        return item
    content = item.get("content") or []
    return {
        **item,
        "content": [one | {"type": "reasoning_text"} if one.get("type") == "output_text" else one for one in content],
    }


# ---------------------------------------------------------------- content


def _add_parts(native: Native, content: str, path: Path, context: LiftContext) -> None:
    """Adds the messages of a node without output: text, files, and in an answer what `<details>` hold."""
    role = native["role"]
    texts: list[Part] = [Text(content)] if content else []
    parts = list(_answer_parts(content, context)) if role == "assistant" else texts
    placed: list[tuple[Part, Path]] = [(part, ("content",)) for part in parts]
    placed += [(_file(file), ("files", k)) for k, file in enumerate(native.get("files") or ())]
    for message, part_paths in split_at_results(placed, role):
        context.add(message, path, part_paths)


def _answer_parts(content: str, context: LiftContext) -> Iterator[Part]:
    """Yields the parts of an older answer: texts, and reasoning, calls and results from `<details>`."""
    for text, is_details in pieces_of(content):
        if is_details:
            yield from _details(text, context)
        elif text.strip():
            yield Text(text)


def pieces_of(content: str) -> Iterator[tuple[str, bool]]:
    """Yields the stretches of an answer, and whether each is one `<details>` element."""
    at = 0
    while (start := content.find(OPEN, at)) >= 0 and (end := content.find(CLOSE, start)) >= 0:
        yield content[at:start], False
        at = end + len(CLOSE)
        yield content[start:at], True
    yield content[at:], False


def _details(element: str, context: LiftContext) -> Iterator[Part]:
    tag, _, inside = element.partition(">")
    attributes = {name: html.unescape(value) for name, value in ATTRIBUTE.findall(tag)}
    kind, name = attributes.get("type"), attributes.get("name")
    if kind == "reasoning":
        lines = SUMMARY.sub("", inside.removesuffix(CLOSE), count=1).strip("\n").split("\n")
        text = html.unescape("\n".join(line.removeprefix(">").removeprefix(" ") for line in lines))
        yield Reasoning(text, extras=make_extras(NAME, omit(attributes, "type", "done")))
    elif kind == "tool_calls" and name:
        yield from _call(attributes, name, context)
    else:
        yield Opaque(NAME, {"type": "details", "text": element})


def _call(attributes: dict[str, str], name: str, context: LiftContext) -> Iterator[Part]:
    """Yields a call, and its result if it is done."""
    written = attributes.get("arguments", "")
    inner = read_json(written)  # the arguments of a call, as JSON or once more as a string
    arguments, raw = read_arguments(inner if isinstance(inner, str) else written or "{}")
    id_ = context.pairing.call(attributes.get("id") or None, name)
    rest = omit(attributes, "type", "id", "name", "arguments", "result", "done")
    yield ToolCall(id_, name, arguments, raw, extras=make_extras(NAME, without_empty(rest)))
    if "result" in attributes:
        result = read_json(attributes["result"])
        ids = context.pairing.result(id_, name)
        yield ToolResult(*ids, "text", result if isinstance(result, str) else attributes["result"])


def _move_to_node(first: int, path: Path, context: LiftContext) -> None:
    """Makes the node the place of its first message: facts of the node are reported there."""
    place, part_paths = context.origin.places[first]
    inside = place[len(path) :]
    context.origin.places[first] = (path, [(*inside, *part_path) for part_path in part_paths or ()])


def _is_repeated(content: str, messages: list[Message]) -> bool:
    """True if the texts of the messages are the content outside of `<details>`."""
    outside = "".join(text for text, is_details in pieces_of(content) if not is_details)
    texts = "".join(part.text for message in messages for part in message.parts if isinstance(part, Text))
    return not content or without_space(outside) == without_space(texts)


def _file(native: Native) -> Part:
    """Returns an attached file: an image by its URL, a document by its text or id; any other is kept opaque."""
    url, file_id, name = as_text(native.get("url")), as_text(native.get("id")), as_text(native.get("name"))
    inner = as_object(native.get("file"))
    text = as_text(as_object(inner.get("data")).get("content"))
    if native.get("type") == "image" and url:
        media = media_of_url("image", url)
        media.extras = make_extras(NAME, without_empty(native, "type", "url"), file=None)
        return media
    if native.get("type") != "file" or not (text or file_id):
        return Opaque(NAME, native)
    is_read = {"type": True, "file": native.get("file") is inner, "name": bool(name), "id": not text}
    rest = without_empty(native, *(key for key in is_read if is_read[key]))
    inner = {**inner, "data": omit(inner["data"], "content")} if text else inner
    source: Any = {"text": text} if text else {"file_id": file_id}
    return Media("document", name=name, extras=make_extras(NAME, rest, file=without_empty(inner)), **source)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a chat of an export, or only its conversation."""
    is_alone = options.form == ALONE
    outer = dict(get_extras(transcript.extras, NAME))
    extra = dict(as_object(outer.pop("chat", outer if is_alone else None)))
    system = instruction_of(transcript.messages)
    history, branch = write_history(transcript)
    params = {**({"system": system} if system else {}), **as_object(extra.get("params"))}
    native: Native = {"params": params} if params else {}
    native |= {"history": {**as_object(extra.get("history")), **history}}
    native |= {"messages": [*branch, *extra.get("messages", [])]}
    chat = CHAT.write(transcript, {**omit(extra, "history", "messages", "params"), **native})
    if is_alone:
        return chat
    chat |= {key: extra[key] for key in STATED_TWICE if key in extra and getattr(transcript, key) is not None}
    return {**SHELL, **EXPORT.write(transcript, outer, chat=chat)}


RESULTS = results.with_plain_failures(results.text_or_parts("Open WebUI"))
COMMON: tuple[Pass, ...] = (
    sessions.events(lambda _: False),
    fitting.roles({"developer": "system"}),
    results.separate_results,
    results.one_result_each,
    results.apply_convention(RESULTS),
    fitting.refusals_as_texts,
    custom.as_functions,
    *NODES,
)
FIT = {form: (*COMMON, fitting.settle_by_reading_back(lift, write, form)) for form in (EXPORTED, ALONE)}
SUPPORTS = TURNS | media("image", "data url mediaType detail") | media("document", "fileId text mediaType name")
SUPPORTS |= fields(
    "id title model head message.id message.parentId message.createdAt message.model message.usage message.error "
    "text.metadata reasoning.summary reasoning.metadata tool_call.metadata tool_result.metadata tool_call.rawArguments "
    "tool_result.name"
)

DIALECT = Dialect(
    name=NAME,
    title="Open WebUI",
    aliases=("open-webui",),
    specification="exports of 2025 and 2026; read 2026-11-27",
    framings=("document", "records"),
    forms=(EXPORTED, ALONE),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS,),
    supports={EXPORTED: SUPPORTS | EXPORT.supports(), ALONE: SUPPORTS},
    reasons={
        **sessions.NO_REQUEST,
        "refusal": "Open WebUI has no refusal: it is written as text",
        "event": "Open WebUI stores no events of other programs",
        "message.id": "an answer and its results are one message of Open WebUI",
        **dict.fromkeys(
            ("message.createdAt", "message.model", "message.usage", "message.error"),
            "an answer and its results are one message of Open WebUI",
        ),
    },
    rules=(limited_to(trees.rooted(), "missing-parent", "parent-cycle"),),  # ids are keys: no two are the same
    places={
        **OF_ITEMS,
        **EXPORT.places(),
        **NODE.places("message"),
        **paths(
            f"model={CONVERSATION}/models "
            f"head={CONVERSATION}/history/currentId extras.chat={CONVERSATION} "
            "message.parentId=parentId message.usage=usage message.error=error "
            "document.text=file/data/content"
        ),
    },
    envelope=fields(
        "user_id share_id archived pinned meta folder_id tags timestamp models modelName modelIdx userContext "
        "lastSentence done usage statusHistory status started_at ended_at duration attributes childrenIds files file "
        "collection_name size itemId features followUps favorite selectedModelId id params"
    ),
)
