"""Claude.ai: the conversations of an export (`conversations.json`), and single ones captured from a browser.

Specification: none is published. Exports and captures of 2023 to 2026, counted; read 2026-11-22.

Quirks
- A file is an array of conversations. In captures, messages name their parents, and `current_leaf_message_uuid` is
  the last message of the active branch. In exports, messages are a linear list.
- `text` is a flattened copy of `content`. If `content` is empty, `text` is the message.
- Calls and results are in one message and have no ids: a result answers the first open call with its name there.
- The text of an attachment is in the file; other files are only pointers.
- A block may have a media type as its type: an artifact of old exports, which is kept as it is.
- Read-only: Claude Desktop imports archives, but no single file.
"""

from __future__ import annotations

from typing import Any

from convcli.families.anthropic.blocks import Blocks, usual_blocks
from convcli.families.anthropic.messages import FINISH, FINISH_OF
from convcli.families.chats import split_at_results
from convcli.kit.blocks import Block
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, has_content, make_extras, omit, without_empty
from convcli.kit.sessions import head_at
from convcli.kit.settings import Setting
from convcli.kit.supported import fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect
from convcli.model.transcript import (
    MEDIA_KINDS,
    Media,
    MediaKind,
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

NAME = "claude-ai-export"
ROOT = "00000000-0000-4000-8000-000000000000"
"""The parent that the first messages of captures name."""
ROLES = {"human": "user", "assistant": "assistant"}
CONVERSATION = Envelope(
    "uuid=id name=title summary model=model created_at=created_at updated_at=updated_at settings "
    "is_starred current_leaf_message_uuid= account chat_messages="
)
MESSAGE = Envelope(
    "uuid=id content= text= attachments= files= sender= updated_at= parent_message_uuid= index truncated "
    "created_at=created_at stop_reason",
    {"stop_reason": Setting("stop_reason", FINISH.get, FINISH_OF.get)},
)
RESULT = Keys("type tool_use_id name content is_error")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation, with all of its branches."""
    context = LiftContext(NAME, document)
    links: list[tuple[str | None, str | None]] = []
    for i, native in enumerate(document["chat_messages"]):
        first = len(context.messages)
        _lift_message(native, ("chat_messages", i), context)
        links.append((context.messages[first].id, context.messages[first].parent_id))
    transcript, leaf = context.transcript(), document.get("current_leaf_message_uuid")
    is_tree = any(native.get("parent_message_uuid") for native in document["chat_messages"])
    transcript.head = head_at(leaf, links) if is_tree else None
    extra = CONVERSATION.lift(document, transcript) or {}
    known = transcript.head or next((id_ for id_, _ in links[-1:]), None)
    differing = {"current_leaf_message_uuid": leaf} if leaf and leaf != known else {}
    transcript.extras = make_extras(NAME, {**extra, **differing})
    return transcript


def _lift_message(native: Native, path: Path, context: LiftContext) -> None:
    """Adds a message for each result and for each run of other parts; facts of the whole go to the first."""
    pairs, flat = _parts(native, context)
    role = ROLES[native["sender"]]
    pieces = split_at_results(pairs, role) or [(Message(role, []), [])]
    first = pieces[0][0]
    extra = {**(MESSAGE.lift(native, first) or {}), **flat}
    parent, updated = native.get("parent_message_uuid"), native.get("updated_at")
    first.parent_id = parent if parent and parent != ROOT else None
    differing = {"updated_at": updated} if updated and updated != first.created_at else {}
    first.extras = make_extras(NAME, {**extra, **differing})
    for message, part_paths in pieces:
        context.add(message, path, part_paths)


PartAtPath = tuple[Part, Path]


def _parts(native: Native, context: LiftContext) -> tuple[list[PartAtPath], Native]:
    """Returns the parts of a message with their paths, and the flattened text if it differs from them."""
    blocks, flat = native.get("content") or [], native.get("text") or ""
    lifted = _Blocks(context).lift(blocks)
    texts = [part.text for part, _ in lifted if isinstance(part, Text)]
    is_bare = not any(texts) and len(texts) == len(lifted)
    if is_bare and flat and not any(part.extras for part, _ in lifted):
        lifted, texts = [(Text(flat), ("text",))], [flat]
    files = [(_attachment(one), ("attachments", k)) for k, one in enumerate(native.get("attachments") or ())]
    files += [(_file(one), ("files", k)) for k, one in enumerate(native.get("files") or ())]
    is_known = flat in ("", "".join(texts), "\n".join(texts), "\n\n".join(texts))
    return [*lifted, *files], {} if is_known else {"text": flat}


class _Blocks:
    """Reads the blocks of one message, in which results follow their calls."""

    def __init__(self, context: LiftContext) -> None:
        self._context = context
        self._open: dict[str, list[str]] = {}

    def lift(self, natives: list[Native]) -> list[PartAtPath]:
        """Returns the parts with their paths, without empty texts."""
        parts = [self._lift(native) for native in natives]
        placed = [(part, ("content", k)) for k, part in enumerate(parts)]
        return [(part, path_in_message) for part, path_in_message in placed if part != Text("")]

    def _lift(self, native: Native) -> Part:
        if native["type"] == "tool_result":
            return self._result(native)
        part = BLOCKS.lift(native, self._context)
        if isinstance(part, ToolCall):
            self._open.setdefault(part.name, []).append(part.id)
        return part

    def _result(self, native: Native) -> ToolResult:
        """Returns the answer to the call it names, else to the first open call with its name, else to an unknown
        call."""
        name, pairing = native.get("name") or "", self._context.pairing
        waiting = self._open.get(name, [])
        id_ = native.get("tool_use_id") or (waiting[0] if waiting else pairing.call(None, name))
        if id_ in waiting:
            waiting.remove(id_)
        kind, value, rest = _value(native.get("content"))
        extra = {**(RESULT.extra(native) or {}), **({"content": rest} if rest else {})}
        id_, name = pairing.result(id_, name or None)
        result = ToolResult(id_, name, kind, value, extras=make_extras(NAME, extra))  # type: ignore[arg-type]
        if native.get("is_error"):
            result.kind, result.is_error = ("error", None) if kind == "text" else (result.kind, True)
        return result


def _value(content: Any) -> tuple[str, Any, Native]:
    """Returns the kind and value of a result, and the other keys of its only text."""
    if not content or isinstance(content, str):
        return "text", content or "", {}
    if not isinstance(content, list) or not all(_is_text(block) for block in content):
        return "data", content, {}
    texts = [BLOCKS.lift(block, LiftContext(NAME, None)) for block in content]
    if len(content) > 1:
        return "multimodal", texts, {}
    rest = without_empty(content[0], "type", "text")
    return "text", content[0]["text"], rest


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _thinking(native: Native, context: LiftContext) -> Part | None:
    """Returns thinking with summaries."""
    shown = native.get("summaries")
    lines = [one.get("summary") if isinstance(one, dict) and len(one) == 1 else None for one in shown or ()]
    if not lines or not all(isinstance(line, str) for line in lines):
        return None
    part = USUAL["thinking"].read(omit(native, "summaries"), context)
    assert isinstance(part, Reasoning)
    part.summary = [line for line in lines if isinstance(line, str)]
    return part


USUAL = {block.tag: block for block in usual_blocks(NAME)}
SUMMARIZED = Block("thinking", Reasoning.type, _thinking, lambda _: None)
BLOCKS = Blocks(NAME, SUMMARIZED, USUAL["thinking"], USUAL["text"], USUAL["tool_use"])


# ---------------------------------------------------------------- files


def _attachment(native: Native) -> Part:
    """Returns a file with its text; a file without a text is kept opaque."""
    text = native.get("extracted_content")
    kind = native.get("file_type") if "/" in (native.get("file_type") or "") else None
    used = ["extracted_content", "file_name", *(["file_type"] if kind else [])]
    if not text:
        return Opaque(NAME, native)
    return Media(
        "document", text=text, media_type=kind, name=native.get("file_name") or None, extras=_rest(native, used)
    )


def _file(native: Native) -> Part:
    """Returns a file pointer; one that has only a name is kept opaque."""
    id_, kind = native.get("file_uuid"), native.get("file_kind")
    if not id_:
        return Opaque(NAME, native)
    known: MediaKind | None = next((one for one in MEDIA_KINDS if one == kind), None)
    used = ["file_uuid", "file_name", *(["file_kind"] if known else [])]
    return Media(known or "document", file_id=id_, name=native.get("file_name") or None, extras=_rest(native, used))


def _rest(native: Native, used: list[str]) -> dict[str, Native] | None:
    return make_extras(NAME, {key: native[key] for key in native if key not in used and has_content(native[key])})


DIALECT = Dialect(
    name=NAME,
    title="Claude.ai export",
    aliases=("claude-export", "claude-ai", "claude-web"),
    specification="exports and captures of 2023 to 2026, counted; read 2026-11-22",
    framings=("document", "records"),
    forms=("conversation",),
    lift=lift,
    rules=(trees.rooted(),),
    places=CONVERSATION.places()
    | MESSAGE.places("message")
    | paths(
        "head=current_leaf_message_uuid message.parentId=parent_message_uuid message.role=sender "
        "tool_call.arguments=input tool_result.toolCallId=tool_use_id tool_result.value=content "
        "reasoning.summary=summaries document.text=extracted_content document.name=file_name image.name=file_name"
    ),
    envelope=fields(
        "account settings is_starred current_leaf_message_uuid updated_at index truncated start_timestamp "
        "stop_timestamp flags text integration_icon_url preview_url preview_asset thumbnail_url thumbnail_asset"
    ),
)
