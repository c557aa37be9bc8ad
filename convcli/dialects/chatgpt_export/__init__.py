"""ChatGPT: the conversations of an export (`conversations.json` and its parts), and single captured ones.

Specification: none is published. Exports and captures of 2023 to 2026, counted; read 2026-11-22.

Quirks
- A file is an array of conversations. Each is a tree of nodes under `mapping`; `current_node` is the last node of the
  active branch. Nodes without a message, such as the root, are no messages.
- A call is an answer whose `recipient` is a tool: JSON, or free text for the tool. Calls have no ids. A tool message
  answers the last call to it above, or to a tool with the same name up to a dot.
- Pointers to assets stay pointers (`fileId`), and so do attached files.
- Content hidden from the user has `weight` 0; it may or may not have been sent to the model. Only
  the weight 0 is a field.
- `reasoning_recap` is displayed in place of reasoning: it is a summary without a text.
- Read-only: no program imports it.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.chatgpt_export import contents
from convcli.dialects.chatgpt_export.contents import NAME, Content
from convcli.dialects.chatgpt_export.tree import Tree
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, as_text, get_extras, make_extras, omit, without_empty
from convcli.kit.supported import fields
from convcli.kit.texts import text_of
from convcli.kit.values import paths, read_arguments, time_of_seconds
from convcli.model.dialect import Dialect
from convcli.model.transcript import Media, Message, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import trees
from convcli.validation.survey import limited_to

NODES, NODE = "nodes", "node"
"""Extras keys for nodes without a message, and for the other keys of a message's node."""
NO_TOOL = frozenset((None, "", "all", "assistant"))
DONE = "finished_successfully"
FINISHED = {"stop": "stop", "max_tokens": "length", "interrupted": "aborted"}
BROKEN_OFF = "finished_partial_completion"


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation, with all of its branches."""
    context, tree = LiftContext(NAME, document, node_path=()), Tree(document["mapping"])
    called: dict[str, dict[str, str]] = {}
    for id_ in tree.order:
        node, parent = document["mapping"][id_], tree.parent(id_)
        before = called.get(parent or "", {})
        message, part_paths = _lift_message(node["message"], before, context)
        message.id, message.parent_id = id_, parent
        _carry_node(message, id_, tree.rest(id_))
        context.add(message, ("mapping", id_, "message"), part_paths)
        calls = {tool: part.id for part in message.parts if isinstance(part, ToolCall) for tool in _names(part.name)}
        called[id_] = {**before, **calls} if calls else before
    transcript = context.transcript(head=tree.head(document.get("current_node")))
    return _lift_facts(document, tree, transcript)


def _lift_facts(native: Native, tree: Tree, transcript: Transcript) -> Transcript:
    """Sets the facts of the whole conversation."""
    rest = without_empty(native, "mapping")
    ids = [key for key in ("conversation_id", "id") if isinstance(rest.get(key), str)]
    transcript.id = rest.pop(ids[0]) if ids else None
    transcript.title, transcript.model = _take_text(rest, "title"), _take_text(rest, "default_model_slug")
    transcript.created_at, transcript.updated_at = _time(rest, "create_time"), _time(rest, "update_time")
    for key, known in (("id", transcript.id), ("current_node", _shown_head(native))):
        if rest.get(key) == known:
            rest.pop(key, None)
    transcript.extras = make_extras(NAME, rest, **{NODES: tree.extra()})
    if ids and transcript.origin is not None:
        transcript.origin.aliases = {"conversation_id": ids[0]}
    return transcript


def _shown_head(native: Native) -> Any:
    """Returns the current node if it is in the tree."""
    current = native.get("current_node")
    return current if isinstance(current, str) and current in native["mapping"] else None


def _take_text(rest: Native, key: str) -> str | None:
    return rest.pop(key) if isinstance(rest.get(key), str) else None


def _time(rest: Native, key: str) -> str | None:
    """Returns a time, and keeps it in `rest` too if its text does not express it exactly."""
    time = time_of_seconds(rest.get(key))
    if time is not None and round(rest[key], 6) == rest[key]:
        del rest[key]
    return time


# ---------------------------------------------------------------- messages


def _lift_message(native: Native, called: dict[str, str], context: LiftContext) -> tuple[Message, list[Path]]:
    author = native["author"]
    content = contents.lift(native.get("content"))
    message = Message(author["role"], [])
    rest = without_empty(native, "content")
    rest |= {"content": content.rest} if content.rest else {}
    pairs = list(zip(content.parts, (("content", *node_path) for node_path in content.part_paths), strict=True))
    pairs += _attached(rest, content)
    if message.role == "tool":
        pairs = [(_result(author.get("name"), pairs, native, called, context), ())]
    elif message.role == "assistant" and native.get("recipient") not in NO_TOOL:
        pairs = _with_call(rest.pop("recipient"), pairs, context)
    message.parts = [part for part, _ in pairs]
    _lift_other_keys(message, rest)
    return message, [node_path for _, node_path in pairs]


def _attached(rest: Native, content: Content) -> list[tuple[Part, Path]]:
    """Returns the attached files and removes them from the metadata."""
    metadata = rest.get("metadata")
    files = metadata.get("attachments") if isinstance(metadata, dict) else None
    more = contents.attach(files, content) if isinstance(files, list) else None
    if more is None:
        return []
    rest["metadata"] = omit(rest["metadata"], "attachments")
    return more


def _with_call(tool: str, pairs: list[tuple[Part, Path]], context: LiftContext) -> list[tuple[Part, Path]]:
    """Returns the parts, with their texts as the arguments of a call: a JSON object, or free text for the tool."""
    text = "\n".join(part.text for part, _ in pairs if isinstance(part, Text))
    others = [pair for pair in pairs if not isinstance(pair[0], Text)]
    call = ToolCall(context.pairing.call(None, tool), tool, {})
    arguments, raw = read_arguments(text)
    if raw is None or text.lstrip().startswith("{"):
        call.arguments, call.raw_arguments = arguments, raw
    elif text:
        call.arguments, call.custom = {"input": text}, True
    return [*others, (call, ())]


def _result(
    tool: Any, pairs: list[tuple[Part, Path]], native: Native, called: dict[str, str], context: LiftContext
) -> ToolResult:
    """Returns a tool result, which answers the last call to the tool above it."""
    name = as_text(tool)
    known = next((called[one] for one in _names(name or "") if one in called), None)
    # a result without a call gets a new id
    id_ = known or context.pairing.call(None, name or "")
    id_, name = context.pairing.result(id_, name)
    parts = [part for part, _ in pairs]
    if not all(isinstance(part, (Text, Media)) for part in parts):
        return ToolResult(id_, name, "data", native["content"])
    if len(parts) > 1 or not all(isinstance(part, Text) and part.extras is None for part in parts):
        return ToolResult(id_, name, "multimodal", parts)
    text = text_of(parts)
    is_error = (native.get("content") or {}).get("content_type") == "system_error"
    return ToolResult(id_, name, "error" if is_error else "text", text)


def _names(tool: str) -> tuple[str, ...]:
    """Returns the name of a tool, and the name up to its first dot."""
    return (tool, tool.partition(".")[0])


def _lift_other_keys(message: Message, rest: Native) -> None:
    """Sets the fields outside the content, and keeps the rest in extras."""
    metadata = dict(rest.pop("metadata", {}) or {})
    author = without_empty(rest.pop("author"), "role")
    if message.role == "tool" or isinstance(author.get("name"), str):
        name = author.pop("name", None)
        message.name = name if message.role != "tool" else None
    message.model = _take_text(metadata, "model_slug")
    message.created_at = _time(rest, "create_time")
    status = rest.pop("status", None) if rest.get("status") == DONE else rest.get("status")
    finish = metadata.get("finish_details")
    if message.role == "assistant":
        kind = finish.get("type") if isinstance(finish, dict) else None
        message.stop_reason = FINISHED.get(kind) if isinstance(kind, str) else None
        message.stop_reason = message.stop_reason or ("aborted" if status == BROKEN_OFF else None)
    weight = rest.pop("weight", None)
    if weight == 0:
        message.weight = 0
    elif weight not in (None, 1):
        rest["weight"] = weight
    if rest.get("recipient") == "all":
        del rest["recipient"]
    metadata = without_empty(metadata)
    message.extras = make_extras(NAME, rest, author=author, metadata=metadata)


def _carry_node(message: Message, id_: str, rest: Native) -> None:
    """Keeps the other keys of the node in extras, and the id of the message if it differs."""
    extra = dict(get_extras(message.extras, NAME))
    if extra.get("id") == id_:
        del extra["id"]
    message.extras = make_extras(NAME, extra, **{NODE: rest})


DIALECT = Dialect(
    name=NAME,
    title="ChatGPT export",
    aliases=("chatgpt-conversations", "conversations-json"),
    specification="exports and captures of 2023 to 2026, counted; read 2026-11-22",
    framings=("document", "records"),
    forms=("conversation",),
    lift=lift,
    rules=(limited_to(trees.rooted(), "missing-parent", "parent-cycle"),),  # ids are keys: no two are the same
    places=paths(
        f"id=conversation_id createdAt=create_time updatedAt=update_time model=default_model_slug head=current_node "
        f"extras.{NODES}=mapping extras.{NODE}=.. message.id=../id message.parentId=../parent message.role=author/role "
        "message.createdAt=create_time message.model=metadata/model_slug message.name=author/name "
        "message.weight=weight message.stopReason=metadata/finish_details tool_call.name=recipient "
        "tool_call.arguments=content tool_call.rawArguments=content tool_result.name=author/name "
        "tool_result.value=content"
    ),
    metadata=fields("metadata"),
    envelope=fields(
        "metadata status end_turn recipient channel node nodes update_time author id moderation_results plugin_ids "
        "conversation_template_id gizmo_id gizmo_type is_archived is_starred safe_urls blocked_urls voice "
        "async_status disabled_tool_ids conversation_origin is_do_not_remember memory_scope is_study_mode "
        "sugar_item_visible owner"
    ),
)
