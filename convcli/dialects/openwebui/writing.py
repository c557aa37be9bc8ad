"""Open WebUI: chats as "Import Chats" takes them. An answer is one node, with its calls, results and later texts."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.families.chats import RUN, nodes_of
from convcli.families.openai.request import USAGE, url_of_media
from convcli.families.responses.turns import ItemWriter
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_object, get_extras, merge, omit, together
from convcli.kit.settings import Setting
from convcli.kit.texts import is_bare, text_of
from convcli.kit.values import put_counts, seconds_of_time, time_of_seconds
from convcli.model.transcript import Media, Message, Opaque, Part, Transcript

NAME = "openwebui"
EPOCH = {name: Setting(name, time_of_seconds, seconds_of_time) for name in ("created_at", "updated_at")}
NODE = Envelope(
    "id= parentId= childrenIds= role= content= output= files= timestamp model=model usage= error=",
    {"timestamp": EPOCH["created_at"]},
)

# ---------------------------------------------------------------- nodes


def write_history(transcript: Transcript) -> tuple[Native, list[Native]]:
    """Returns the tree of messages, and those on the active branch."""
    natives = {str(group[0].id): _write_node(group) for group in nodes_of(transcript.messages)}
    for id_, native in natives.items():
        if native["parentId"] in natives:
            natives[native["parentId"]]["childrenIds"].append(id_)
    current = transcript.head or next(reversed(natives), None)
    path: dict[str | None, Native] = {}
    at = current
    while at in natives and at not in path:
        path[at] = natives[at]
        at = natives[at]["parentId"]
    return {"currentId": current, "messages": natives}, [*reversed(path.values())]


def _write_node(group: list[Message]) -> Native:
    first = group[0]
    extra = dict(get_extras(first.extras, NAME))
    usage, error = extra.pop("usage", {}), extra.pop("error", None)
    native: Native = {"id": first.id, "parentId": first.parent_id, "childrenIds": [*extra.pop("childrenIds", [])]}
    native |= {"role": "assistant" if first.role == "tool" else first.role}
    native |= {"content": extra.pop("content", text_of([part for one in group for part in one.parts], "\n\n"))}
    if first.role in RUN:
        parts = [part for one in group for part in one.parts]
        is_text = len(group) == 1 and (not parts or (len(parts) == 1 and is_bare(parts[0])))
        native |= {} if is_text else {"output": _items(group)}
    else:
        files = [file for part in first.parts if (file := _write_file(part)) is not None]
        native |= {"files": files} if files else {}
    counted = put_counts(first.usage or {}, usage, USAGE)
    native |= {"usage": counted} if counted else {}
    if first.error is not None or error is not None:
        stated = {"content": first.error} if first.error is not None else {}
        native["error"] = merge(as_object(error), stated) or error
    return NODE.write(first, {**native, **extra})


def _items(group: list[Message]) -> list[Native]:
    """Returns the items of an answer. Outputs are lists, as Open WebUI reads them."""
    items = ItemWriter(NAME, bare=True).all([replace(one, extras=None) for one in group])
    return [{"status": "completed", **item, **_listed(item.get("output"))} for item in items]


def _listed(output: Any) -> Native:
    return {"output": [{"type": "input_text", "text": output}]} if isinstance(output, str) else {}


def _write_file(part: Part) -> Native | None:
    """Returns an attached file; None for a part that is none."""
    if isinstance(part, Opaque):
        return part.value if part.dialect == NAME and isinstance(part.value, dict) else None
    if not isinstance(part, Media):
        return None
    extra = get_extras(part.extras, NAME)
    inner, extra = as_object(extra.get("file")), together(omit(extra, "file"))
    url = url_of_media(part)
    if part.type == "image":
        return {"type": "image", "url": url, **extra} if url else None
    if part.type != "document" or (part.text is None and part.file_id is None):
        return None
    named = {"name": part.name} if part.name else {}
    if part.text is None:
        return {"type": "file", "id": part.file_id, **named, **({"file": inner} if inner else {}), **extra}
    data = {**as_object(inner.get("data")), "content": part.text}
    return {"type": "file", **named, **extra, "file": {**inner, "data": data}}
