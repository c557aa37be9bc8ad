"""LibreChat: an exported conversation, as a list of messages or as a tree of them.

Specification: `api/server/utils/import/importers.js` of https://github.com/danny-avila/LibreChat at b6e49590, and the
exports with which its tests import; the kinds of content are those of its types. Read 2026-11-27.

Quirks
- Messages name their parents. In an export with `recursive`, they are members of their parents, as `children`.
- An answer of an agent has `content`: thoughts, texts, and calls that contain their results. Others have only `text`.
- Arguments are JSON in a string. A result has no field for a failure.
- The instruction, the model and the settings are in `options`.
- The file does not name its active branch. It is taken to end with the last message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from convcli.families.chats import NODES, nodes_of, split_at_results
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.calls import arguments_of
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import instruction_of
from convcli.kit.ids import set_session_id
from convcli.kit.objects import Keys, Native, as_object, as_text, get_extras, make_extras, omit, without_empty
from convcli.kit.sessions import head_of, parents_first
from convcli.kit.settings import Setting, Settings
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import is_bare, text_of
from convcli.kit.values import counts, kind_of_type, pairs, paths, put_counts, take_counts, write_arguments
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.rule import Breach, NodeRef, Rule
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
from convcli.validation.rules import links, trees
from convcli.validation.survey import Survey, limited_to

NAME = "librechat"
EXPORT, TREE = "export", "tree"
ROOT = "00000000-0000-0000-0000-000000000000"
"""The parent that the first messages name."""
USUAL = {"error": False, "unfinished": False, "isEdited": False}
"""Keys of a message with their usual values."""
CONVERSATION = Envelope(
    "conversationId=id endpoint title=title exportAt branches= recursive= options= messages= messagesTree="
)
FINISH = pairs("stop=stop end_turn=stop length=length max_tokens=length tool_calls=tool_calls")
MESSAGE = Envelope(
    "messageId=id parentMessageId= conversationId= createdAt=created_at updatedAt isCreatedByUser= sender= model=model "
    "endpoint text= content= files= error unfinished isEdited finish_reason tokenCount= promptTokens= children=",
    {
        "finish_reason": Setting(
            "stop_reason",
            lambda value: FINISH.get(value) if as_text(value) else None,
            lambda reason: reason if reason in FINISH else None,
            partial=True,
        )
    },
)
SETTINGS = Settings(
    pairs(
        "temperature=temperature top_p=topP topP=topP topK=topK presence_penalty=presencePenalty "
        "frequency_penalty=frequencyPenalty max_tokens=maxOutputTokens maxOutputTokens=maxOutputTokens"
    )
)
USAGE = counts("promptTokens=inputTokens tokenCount=outputTokens")
CALL = Keys("id name args type progress output")
THINK, TOOL_CALL = "think", "tool_call"
TYPES = dict.fromkeys(("messageId", "parentMessageId", "text", "createdAt", "model", "finish_reason"), str)
LISTS = dict.fromkeys(("content", "files", "children"), list)
Placed = tuple[Part, Path]


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation, with all of its branches."""
    context = LiftContext(NAME, document, node_path=())
    context.origin.form = TREE if document.get("recursive") else EXPORT
    options = dict(document.get("options") or {})
    system = as_text(options.get("promptPrefix"))
    if system:
        context.add(Message("system", [Text(system)]), ("options", "promptPrefix"), [()])
        del options["promptPrefix"]
    key = "messagesTree" if isinstance(document.get("messagesTree"), list) else "messages"
    nodes: dict[str, _Node] = {}
    for node in _walk(document, key):
        id_ = node.native.get("messageId")
        nodes[str(node.path) if not id_ or id_ in nodes else id_] = node
    order = parents_first({id_: node.parent for id_, node in nodes.items()})
    for id_ in order:
        _lift_node(nodes[id_], document, context)
    transcript = context.transcript(head=head_of([(id_, nodes[id_].parent) for id_ in order]))
    transcript.model = as_text(options.pop("model", None)) or None
    transcript.settings, rest = SETTINGS.lift(options)
    transcript.settings = transcript.settings or None
    extra = CONVERSATION.lift(document, transcript) or {}
    rest = {**without_empty(options, *SETTINGS.keys()), **rest}
    transcript.extras = make_extras(NAME, extra, options=rest)
    return transcript


class _Node(NamedTuple):
    """A message of the document, its path, and the id of its parent."""

    native: Native
    path: Path
    parent: str | None


def _walk(document: Native, key: str) -> Iterator[_Node]:
    """Yields the messages; those in a tree after their parents."""
    waiting = [_Node(native, (key, k), None) for k, native in enumerate(document.get(key) or ())][::-1]
    while waiting:
        native, path, above = waiting.pop()
        stated = native.get("parentMessageId")
        yield _Node(native, path, above or (stated if stated and stated != ROOT else None))
        children = native.get("children") or ()
        inner = [_Node(one, (*path, "children", k), native.get("messageId")) for k, one in enumerate(children)]
        waiting += [node for node in reversed(inner) if _is_message(node.native)]


def _is_message(native: Any) -> bool:
    """True if a child is a message: the schema, which does not refer to itself, leaves that open."""
    if not isinstance(native, dict) or not isinstance(native.get("isCreatedByUser"), bool):
        return False
    if any(native.get(key) is not None and not isinstance(native[key], kind) for key, kind in (TYPES | LISTS).items()):
        return False
    is_known = all(isinstance(file, dict) for file in native.get("files") or ())
    return is_known and all(map(_is_item, native.get("content") or ()))


def _is_item(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return False
    return isinstance(as_object(item.get(TOOL_CALL)).get("id") or "", str)


def _lift_node(node: _Node, document: Native, context: LiftContext) -> None:
    """Adds the messages of one node; facts of the whole go to the first."""
    native, path, parent = node
    role = "user" if native["isCreatedByUser"] else "assistant"
    placed, rest = _parts(native, context)
    pieces = split_at_results(placed, role)
    if not pieces or pieces[0][0].role == "tool":
        pieces.insert(0, (Message(role, []), []))
    first = pieces[0][0]
    extra = MESSAGE.lift(native, first) or {}
    first.parent_id = parent
    tokens = {key: native[key] for key in ("tokenCount", "promptTokens") if native.get(key) is not None}
    if role == "assistant":
        usage, tokens = take_counts(tokens, USAGE)
        first.usage = usage or None
    extra = {key: value for key, value in extra.items() if not (key in USUAL and value is USUAL[key])}
    repeated = {"conversationId": document.get("conversationId"), "sender": sender_of(role, first.model)}
    extra |= {key: native[key] for key, usual in repeated.items() if native.get(key) not in (None, usual)}
    stated = native.get("parentMessageId")
    children = [child for child in native.get("children") or () if not _is_message(child)]
    extra |= {"children": children} if children else {}
    extra |= {"parentMessageId": stated} if stated not in (None, "", ROOT, parent) else {}
    first.extras = make_extras(NAME, {**extra, **tokens, **rest})
    for message, part_paths in pieces:
        context.add(message, path, part_paths)


def sender_of(role: str, model: str | None) -> str:
    """Returns the usual sender of a message."""
    return "User" if role == "user" else model or "Assistant"


def _parts(native: Native, context: LiftContext) -> tuple[list[Placed], Native]:
    """Returns the parts of a message with their paths, and what of its text and files is no part."""
    text, content = native.get("text") or "", native.get("content") or []
    placed: list[Placed] = []
    late: list[Placed] = []
    for k, item in enumerate(content):
        if item["type"] != TOOL_CALL:
            placed, late = [*placed, *late], []
        part, path = _part(item, context)
        placed.append((part, ("content", k, *path)))
        if isinstance(part, ToolCall) and as_text(item[TOOL_CALL].get("output")):
            call = item[TOOL_CALL]
            result = ToolResult(*context.pairing.result(part.id, part.name), "text", call["output"])
            late.append((result, ("content", k, TOOL_CALL)))
    placed += late
    texts = [part for part, _ in placed if isinstance(part, Text)]
    is_repeated = bool(content) and text in ("", text_of(texts), text_of(texts, "\n"), text_of(texts, "\n\n"))
    if text and not content:
        placed.append((Text(text), ("text",)))
    rest = {"text": text} if content and not is_repeated else {}
    for k, file in enumerate(native.get("files") or ()):
        placed.append((_file(file), ("files", k)))
    return placed, rest


def _part(item: Native, context: LiftContext) -> tuple[Part, Path]:
    """Returns the part of an item of content, and its path in it."""
    kind, value = item["type"], item.get(item["type"])
    extra = omit(item, "type", kind)
    if kind == "text":
        inner = value if isinstance(value, dict) else {"value": value}
        text = inner.get("value")
        if isinstance(text, str):
            return Text(text, extras=make_extras(NAME, extra, text=omit(inner, "value"))), ()
    if kind == THINK and isinstance(value, str):
        return Reasoning(value, extras=make_extras(NAME, extra)), ()
    if kind == TOOL_CALL and isinstance(value, dict) and isinstance(value.get("name"), str):
        arguments, raw = arguments_of(value.get("args") or None)
        id_ = context.pairing.call(value.get("id") or None, value["name"])
        output = as_text(value.get("output"))
        usual = {"type": TOOL_CALL, "progress": 1 if output else None, "output": output}
        rest = {key: one for key, one in value.items() if one != usual.get(key) and key not in ("id", "name", "args")}
        call = ToolCall(id_, value["name"], arguments, raw, extras=make_extras(NAME, without_empty(rest), item=extra))
        return call, (TOOL_CALL,)
    return Opaque(NAME, item), ()


def _file(native: Native) -> Part:
    """Returns an attached file by its id; one without an id is kept opaque."""
    id_, media_type, name = as_text(native.get("file_id")), as_text(native.get("type")), as_text(native.get("filename"))
    if id_ is None:
        return Opaque(NAME, native, extras={NAME: {"in": "files"}})
    used = ["file_id", *["type"] * (media_type is not None), *["filename"] * (name is not None)]
    extras = make_extras(NAME, without_empty(native, *used))
    return Media(kind_of_type(media_type), file_id=id_, media_type=media_type, name=name, extras=extras)


# ---------------------------------------------------------------- write

RESULTS = results.ResultTexts("")


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the export of a conversation."""
    extra = dict(get_extras(transcript.extras, NAME))
    stated = as_object(extra.pop("options", None))
    system = instruction_of(transcript.messages)
    chosen = {"model": transcript.model, "promptPrefix": system or None}
    settings = SETTINGS.write(transcript.settings or {}, stated)
    is_tree = options.form == TREE
    groups = nodes_of(transcript.messages)
    natives = [_write_node(group, transcript.id, is_tree=is_tree) for group in groups]
    content: Native = {"branches": transcript.head is not None, "recursive": is_tree}
    content["options"] = {**without_empty(chosen), **settings, **SETTINGS.rest(stated)}
    content["messages"] = _nested(natives, [group[0].parent_id for group in groups]) if is_tree else natives
    return CONVERSATION.write(transcript, {**extra, **content})


def _nested(natives: list[Native], parents: list[str | None]) -> list[Native]:
    """Returns the first messages, with their children as members."""
    by_id = {native["messageId"]: {**native, "children": [*native.get("children", [])]} for native in natives}
    roots: list[Native] = []
    for native, parent in zip(by_id.values(), parents, strict=True):
        above = by_id.get(parent)
        (roots if above is None else above["children"]).append(native)
    return roots


def _write_node(group: list[Message], conversation: str | None, *, is_tree: bool) -> Native:
    """Returns the message of a node. In a tree, the parent that it states need not be the message around it."""
    first = group[0]
    role = "user" if first.role == "user" else "assistant"
    extra = dict(get_extras(first.extras, NAME))
    parts = [part for message in group for part in message.parts]
    files = [file for part in parts if (file := _write_file(part)) is not None]
    spoken = [part for part in parts if not isinstance(part, Media) and not _is_file(part)]
    is_text = not spoken or (len(spoken) == 1 and is_bare(spoken[0]) and spoken[0].text != "")
    content = [] if is_text and "text" not in extra else _write_content(spoken)
    native: Native = {"parentMessageId": first.parent_id or ROOT, "conversationId": conversation}
    native |= {"isCreatedByUser": role == "user", "sender": sender_of(role, first.model)}
    native["text"] = text_of(spoken) if is_text else ""
    native |= {"content": content} if content or not native["text"] else {}
    native |= {"files": files} if files else {}
    native |= put_counts(first.usage or {}, {}, USAGE) if role == "assistant" else {}
    extra = extra if is_tree else omit(extra, "parentMessageId")
    return MESSAGE.write(first, {**native, **USUAL, **extra})


def _write_content(parts: Sequence[Part]) -> list[Native]:
    """Returns the items of an answer. A call contains its result."""
    outputs = {part.tool_call_id: RESULTS.value(part) for part in parts if isinstance(part, ToolResult)}
    items: list[Native] = []
    for part in parts:
        extra = get_extras(part.extras, NAME)
        if isinstance(part, Text):
            nested = extra.get("text")
            value: Any = {"value": part.text, **nested} if isinstance(nested, dict) else part.text
            items.append({"type": "text", "text": value, **omit(extra, "text")})
        elif isinstance(part, Reasoning):
            items.append({"type": THINK, THINK: part.text, **extra})
        elif isinstance(part, ToolCall):
            native: Native = {"id": part.id, "name": part.name}
            native |= {"args": write_arguments(part.arguments, part.raw_arguments), "type": TOOL_CALL}
            native |= {"progress": 1, "output": outputs[part.id]} if outputs.get(part.id) else {}
            native = CALL.put(native, omit(extra, "item"))
            items.append({"type": TOOL_CALL, TOOL_CALL: native, **as_object(extra.get("item"))})
        elif isinstance(part, Opaque) and part.dialect == NAME and isinstance(part.value, dict):
            items.append(part.value)
    return items


def _is_file(part: Part) -> bool:
    """True for a file that is kept opaque."""
    return isinstance(part, Opaque) and get_extras(part.extras, NAME).get("in") == "files"


def _write_file(part: Part) -> Native | None:
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME and _is_file(part) else None
    if not isinstance(part, Media) or part.file_id is None:
        return None
    native = {"file_id": part.file_id, "filename": part.name, "type": part.media_type}
    return {**without_empty(native), **get_extras(part.extras, NAME)}


# ---------------------------------------------------------------- fit


CONVENTION = RESULTS.convention()
COMMON: tuple[Pass, ...] = (
    sessions.events(lambda _: False),
    fitting.roles({"developer": "system"}),
    passes.on_messages(fitting.keep_leading_instruction),
    results.separate_results,
    results.one_result_each,
    results.apply_convention(CONVENTION),
    fitting.refusals_as_texts,
    custom.as_functions,
    *NODES,
    SETTINGS.fits,
    set_session_id(lambda transcript: [[one.role, one.id, len(one.parts)] for one in transcript.messages]),
)


def _has_messages(survey: Survey) -> Iterator[Breach]:
    for i, message in enumerate(survey.messages):
        if "children" in get_extras(message.extras, NAME):
            yield Breach("wrong-type", NodeRef(i, steps=("children",)), "a child must be a message")


FIT = {form: (*COMMON, fitting.settle_by_reading_back(lift, write, form)) for form in (EXPORT, TREE)}
ONE_NODE = "an answer and its results are one message of LibreChat"

SUPPORTS = (
    TURNS
    | media(names="fileId mediaType name")
    | CONVERSATION.supports()
    | MESSAGE.supports("message")
    | SETTINGS.supports()
)
SUPPORTS |= fields("model head message.parentId message.usage tool_call.rawArguments tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="LibreChat",
    aliases=("libre-chat",),
    specification="LibreChat's import at b6e49590 and exports of its tests; read 2026-11-27",
    framings=("document", "records"),
    forms=(EXPORT, TREE),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(
        Rule(("wrong-type",), _has_messages),
        trees.rooted(),
        # a call contains its result
        limited_to(links.paired(links.PairingRules(where="later", missing=None)), "duplicate-call-id"),
    ),
    conventions=(CONVENTION,),
    supports=SUPPORTS,
    reasons={
        "id": "LibreChat imports no conversation without an id; it is derived from the content",
        "event": "LibreChat stores no events of other programs",
        "refusal": "LibreChat has no refusal: it is written as text",
        "reasoning.summary": "a thought of LibreChat is one text",
        "message": "LibreChat has one instruction, in the options of the conversation",
        **dict.fromkeys((f"message.{name}" for name in ("id", "createdAt", "model", "usage", "stopReason")), ONE_NODE),
    },
    places={
        **CONVERSATION.places(),
        **MESSAGE.places("message"),
        **SETTINGS.places("options"),
        **paths(
            "model=options/model message.parentId=parentMessageId message.role=isCreatedByUser "
            "message.usage.inputTokens=promptTokens message.usage.outputTokens=tokenCount message.usage=tokenCount "
            "extras.item=.. reasoning.text=think tool_call.arguments=args tool_call.rawArguments=args "
            "tool_result.toolCallId=id "
            "tool_result.value=output tool_result.kind=output document.fileId=file_id image.fileId=file_id "
            "document.name=filename image.name=filename document.mediaType=type image.mediaType=type"
        ),
    },
    envelope=fields(
        "endpoint exportAt branches conversationId sender error unfinished isEdited updatedAt user tokenCount _id __v "
        "filepath source bytes width height progress type"
    ),
)
