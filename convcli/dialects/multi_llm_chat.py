"""multi-llm-chat: saved histories, drafts and bare lists of a chat program that asks Gemini and ChatGPT side by side.

Specification: doc/specs/structured_content_format_spec.md and src/multi_llm_chat/{history,history_utils}.py of
aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.

Quirks
- The role of an answer is its author: `gemini` or `chatgpt`. Other authors are written as `chatgpt`.
- The specification nests a call under `content`; the program stores it flat, and only reads flat calls back for
  OpenAI. Both are read, the flat form is written.
- A result has no field for a failure; the program itself puts "[ERROR] " before the text, and so do we. Nothing is
  read out of that mark.
- Gemini gives no ids. The program then stores the name of the tool as the id of the result: such an id names no call,
  and the result answers the next open call of that tool.
- Older entries: a string as content, `role: tool` with a string and the tool's name beside it, calls beside the
  content under `tool_calls`, results under the role of an author with `result` for `content`, one object as content.
- All results of one turn stand in one entry. The schema version 1 means strings as content; version 2 lists.
"""

from __future__ import annotations

from typing import Any

from convcli.families.histories.entries import without
from convcli.families.histories.multi_llm import AUTHORS, NAME, Reader, Writer, express
from convcli.kit.fitting import results_first
from convcli.kit.objects import Keys, Native, carried_by, extras_of, says_something
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Origin, Transcript
from convcli.validation.rules import links

DRAFT = "autosave_draft"
"""The `type` of a draft that the program saved by itself."""
VERSION = {"saved": 2, "autosave": 1}
"""The versions that are written: that of the entries, and that of the draft itself."""

SAVED = Keys("display_name system_prompt turns metadata")
AUTOSAVE = Keys("type schema_version user_id system_prompt turns metadata", carried="user_id")
METADATA = Keys("schema_version created_at updated_at")


def detect(document: Any) -> Clue | None:
    """By `turns` beside what a saved history has, by the roles of authors, or by parts whose body is `content`."""
    if isinstance(document, dict):
        if document.get("type") == DRAFT and isinstance(document.get("turns"), list):
            return Clue(100, f"a draft of the type {DRAFT}")
        known = isinstance(document.get("turns"), list) and not {"display_name", "system_prompt"}.isdisjoint(document)
        return Clue(95, "turns of a saved history") if known else None
    if not isinstance(document, list) or not all(isinstance(entry, dict) for entry in document):
        return None
    if any(entry.get("role") in AUTHORS and "content" in entry for entry in document):
        return Clue(95, "answers under the roles gemini and chatgpt")
    if any(_has_our_parts(entry.get("content")) for entry in document):
        return Clue(90, "parts of content whose body is called content")
    return None


def _has_our_parts(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("content"), str)
        for part in content
    )


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a saved history, a draft or a list of entries."""
    origin = Origin(NAME)
    reader = Reader(document, origin)
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(reader.messages(document, ()), origin=origin)
    form, keys = ("autosave", AUTOSAVE) if document.get("type") == DRAFT else ("saved", SAVED)
    metadata = document.get("metadata") or {}
    carried, spelling = keys.take(document)
    more, inner = METADATA.take(metadata)
    version = (document if form == "autosave" else metadata).get("schema_version")
    origin.document = {"form": form, "missing": [key for key in ("system_prompt",) if key not in document]}
    origin.document |= {"file": spelling or {}, "metadata": inner or {}, "version": version}
    if form == "autosave" and says_something(metadata.get("schema_version")):
        more = {**(more or {}), "schema_version": metadata["schema_version"]}
    extras = {**(carried or {}), **({"metadata": more} if more else {})}
    return Transcript(
        reader.system(document.get("system_prompt")) + reader.messages(document["turns"], ("turns",)),
        title=document.get("display_name") or None if form == "saved" else None,
        created_at=metadata.get("created_at") or None,
        updated_at=metadata.get("updated_at") or None,
        extras=extras_of(NAME, extras),
        origin=origin,
    )


def lower(transcript: Transcript, options: Options) -> Any:
    """A saved history of version 2, or what the source was."""
    spelling = transcript.document_spelling(NAME)
    form = options.form or spelling.get("form") or "saved"
    same = spelling if spelling.get("form") == form else {}
    writer = Writer(transcript)
    messages = active(transcript) if writer.own else results_first(active(transcript))
    if form == "list":
        return writer.entries(messages)
    system, messages = writer.system(messages, bool(same))
    native: Native = {"system_prompt": system, "turns": writer.entries(messages)}
    version = same.get("version") if same else VERSION[form]
    carried = dict(carried_by(transcript.extras, NAME))
    metadata: Native = {"created_at": transcript.created_at, "updated_at": transcript.updated_at}
    if form == "saved":
        metadata["schema_version"] = version
        native["display_name"] = transcript.title
    else:
        native |= {"type": DRAFT, "schema_version": version}
    metadata = METADATA.put(_said(metadata, METADATA), carried.pop("metadata", None), same.get("metadata"))
    if metadata or not same:
        native["metadata"] = metadata
    keys = SAVED if form == "saved" else AUTOSAVE
    return keys.put(without(_said(native, keys), same), carried, same.get("file"))


def _said(native: Native, keys: Keys) -> Native:
    return {key: native[key] for key in keys.sorted(native) if native[key] is not None}


RULES = (links.paired(links.Manner(where="later")),)

DIALECT = Dialect(
    name=NAME,
    title="multi-llm-chat",
    specification="structured_content_format_spec.md and the code of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("document", "records"),
    forms=("saved", "list", "autosave"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a result has no field for a failure: "[ERROR] " stands before its text'),
                "data": ("changed", "a string is always text: the data is written as JSON"),
                "multimodal": ("changed", "a result holds one text: its texts are joined"),
            },
        ),
    ),
    reasons={
        "message.name": "the author of an answer is gemini or chatgpt",
        "message.role": "there is only one role for instructions",
        "text": "the system prompt is one text",
        "reasoning": "the history keeps no thinking",
        "refusal": "the history has no part for a refusal: it is written as text",
        "tools": "the tools are not stored in the history",
        "tool": "the tools are not stored in the history",
        "toolChoice": "the history holds no settings of a request",
        "settings": "the history holds no settings of a request",
        "model": "the history does not name the model",
        "image": "the history holds text and calls only",
        "audio": "the history holds text and calls only",
        "video": "the history holds text and calls only",
        "document": "the history holds text and calls only",
        "tool_call.rawArguments": "arguments are an object here",
        "tool_result.isError": "a result has no field for a failure",
    },
    places={
        "title": ("display_name",),
        "createdAt": ("metadata", "created_at"),
        "updatedAt": ("metadata", "updated_at"),
        "message.name": ("name",),
        "message.role": ("role",),
        "text.text": ("content",),
        "tool_result.value": ("content",),
        "tool_result.toolCallId": ("tool_call_id",),
    },
    envelope=frozenset(("user_id", "metadata", "type")),
)
