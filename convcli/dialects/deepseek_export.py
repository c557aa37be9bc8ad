"""Exports of DeepSeek: `conversations.json`, a list of conversations, each with a tree of messages; read-only.

Specification: none is published. Exports of 2025, by https://github.com/andrmkrff/deepseek-chat-export (6dfedf5) and
other readers; read 2026-11-27.

Quirks
- The nodes of a tree have numbers as ids, and `root` has no message. No key names the active branch: it ends with the
  last node.
- A message has no role. It is the user's if a fragment is a `REQUEST`, else the assistant's.
- Fragments are texts (`REQUEST`, `RESPONSE`), thoughts (`THINK`), and what the site showed of a search. The latter are
  kept opaque.
- Of some attached files, the export has the text: these are documents. Of others it has the name.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_text, except_keys, make_extras
from convcli.kit.sessions import head_of, other_children, parents_first
from convcli.kit.supported import fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, Transcript
from convcli.validation.rules import trees
from convcli.validation.survey import limited_to

NAME = "deepseek-export"
MAPPING, REQUEST, THOUGHT = "mapping", "REQUEST", "THINK"
TEXTS = (REQUEST, "RESPONSE")
CONVERSATION = Envelope("id=id title=title inserted_at=created_at updated_at=updated_at mapping=")
MESSAGE = Envelope("files model=model inserted_at=created_at fragments=")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a conversation, with all of its branches."""
    context = LiftContext(NAME, document)
    nodes: dict[str, Native] = document[MAPPING]
    links: list[tuple[str, str | None]] = []
    others: Native = {}
    parents = {id_: node.get("parent") for id_, node in nodes.items()}
    for id_ in parents_first(parents):
        node = nodes[id_]
        extra = except_keys(node, "parent", "children", "message", *["id"] * (node.get("id") == id_))
        children = other_children(node.get("children"), id_, parents)
        extra |= {"children": children} if children else {}
        native = node.get("message")
        if native is None:
            extra |= {"parent": node["parent"]} if node.get("parent") is not None else {}
            others |= {id_: extra} if extra else {}
            continue
        message, places = _lift_message(native)
        message.id, message.parent_id = id_, _parent_of(node, nodes)
        kept = MESSAGE.lift(native, message) or {}
        others_of = [file for file in kept.get("files") or () if not _has_text(file)]
        kept |= {"files": others_of} if "files" in kept else {}
        message.extras = make_extras(NAME, extra, message=kept)
        links.append((id_, message.parent_id))
        context.add(message, (MAPPING, id_), places)
    transcript = context.transcript(head=head_of(links))
    transcript.extras = make_extras(NAME, CONVERSATION.lift(document, transcript), nodes=others)
    return transcript


def _parent_of(node: Native, nodes: dict[str, Native]) -> str | None:
    """Returns the parent of a message. A node without a message, such as the root, is none."""
    parent = as_text(node.get("parent"))
    is_empty = parent in nodes and nodes[parent].get("message") is None
    return None if is_empty else parent


def _lift_message(native: Native) -> tuple[Message, list[Path]]:
    """Returns a message and the paths of its parts: files with a text, and fragments."""
    fragments = native.get("fragments") or []
    is_user = any(fragment["type"] == REQUEST for fragment in fragments)
    files = [(k, file) for k, file in enumerate(native.get("files") or ()) if _has_text(file)]
    parts = [*(_lift_file(file) for _, file in files), *map(_lift_fragment, fragments)]
    places: list[Path] = [("message", "files", k) for k, _ in files]
    places += [("message", "fragments", k) for k in range(len(fragments))]
    return Message("user" if is_user else "assistant", parts), places


def _has_text(file: Any) -> bool:
    return isinstance(file, dict) and bool(file.get("content")) and isinstance(file["content"], str)


def _lift_file(native: Native) -> Part:
    name = as_text(native.get("file_name"))
    extra = except_keys(native, "content", *["file_name"] * (name is not None))
    return Media("document", text=native["content"], name=name, extras=make_extras(NAME, extra))


def _lift_fragment(native: Native) -> Part:
    kind, content = native["type"], native.get("content")
    if not isinstance(content, str) or kind not in (*TEXTS, THOUGHT):
        return Opaque(NAME, native)
    extra = except_keys(native, "type", "content")
    return (Reasoning if kind == THOUGHT else Text)(content, extras=make_extras(NAME, extra))


DIALECT = Dialect(
    name=NAME,
    title="DeepSeek export",
    aliases=("deepseek",),
    specification="exports of 2025; read 2026-11-27",
    framings=("document", "records"),
    forms=("conversation",),
    lift=lift,
    rules=(limited_to(trees.rooted(), "missing-parent", "parent-cycle"),),  # ids are keys: no two are the same
    places={
        **CONVERSATION.places(),
        **MESSAGE.places("message", "message"),
        **paths(
            "message.id=id message.parentId=parent text.text=content reasoning.text=content document.text=content "
            "document.name=file_name extras.message=message "
            "extras.nodes=mapping"
        ),
    },
    content=fields("message.files"),
    envelope=fields("message nodes children id elapsed_secs"),
)
