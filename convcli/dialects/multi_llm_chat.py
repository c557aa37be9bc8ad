"""multi-llm-chat: saved histories, drafts and bare lists of a chat program that asks Gemini and ChatGPT side by side.

Specification: doc/specs/structured_content_format_spec.md and src/multi_llm_chat/{history,history_utils}.py of
https://github.com/aoitan/multi-llm-chat at commit 6414d9b (2026-02-28); read 2026-11-20.

Quirks
- The role of an answer is its author: `gemini` or `chatgpt`. Other authors are written as `chatgpt`.
- The specification nests a call under `content`; the program stores it flat, and only reads flat calls back for
  OpenAI. Both are read, the flat form is written.
- A result has no failure field; the program itself puts "[ERROR] " before the text, and so does convcli. That mark is
  not interpreted on reading.
- Gemini gives no ids. The program then stores the tool name as the id of the result: such an id names no call, and the
  result answers the next open call of that tool.
- Older entries: a string as content, `role: tool` with a string and the tool name next to it, calls next to the
  content under `tool_calls`, results under the role of an author with `result` for `content`, one object as content.
- All results of one turn are in one entry. Schema version 1 means strings as content; version 2 lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.families.histories.entries import Entries, system_apart
from convcli.families.histories.multi_llm import AUTHORS, CONVENTION, RESULTS, lift_entries, write_entries
from convcli.kit import fitting, passes, results
from convcli.kit.fitting import bare_system, instruction_of
from convcli.kit.objects import Keys, Native, get_extras
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, fields
from convcli.kit.values import paths
from convcli.model.dialect import Dialect, Options
from convcli.model.rule import Breach, Rule
from convcli.model.transcript import MEDIA_KINDS, Message, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey

NAME = "multi-llm-chat"
DRAFT = "autosave_draft"
"""The `type` of a draft that the program saved automatically."""
VERSIONS = (1, 2)
"""Schema versions of the entries: content as strings, or as lists."""

SAVED = Keys("display_name system_prompt turns metadata")
AUTOSAVE = Keys("type= schema_version= user_id system_prompt= turns= metadata=")
METADATA = Keys("schema_version created_at updated_at")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Reads a saved history, a draft or a list of entries."""
    entries = Entries(NAME, document)
    if isinstance(document, list):
        lift_entries(document, (), entries)
        return entries.transcript()
    is_draft = document.get("type") == DRAFT
    metadata = document.get("metadata") or {}
    entries.system(document.get("system_prompt"), "system_prompt")
    lift_entries(document["turns"], ("turns",), entries)
    return entries.transcript(
        title=None if is_draft else document.get("display_name") or None,
        created_at=metadata.get("created_at") or None,
        updated_at=metadata.get("updated_at") or None,
        extras=entries.extras(_extra(document, metadata, is_draft)),
    )


def _extra(document: Native, metadata: Native, is_draft: bool) -> Native:
    """Returns the extras, including a schema version other than the known ones."""
    extra = dict((AUTOSAVE if is_draft else SAVED).extra(document) or {})
    more = dict(METADATA.extra(metadata) or {})
    if is_draft and document.get("schema_version") not in (None, *VERSIONS):
        extra["schema_version"] = document["schema_version"]
    if metadata.get("schema_version") not in (None, *VERSIONS):
        more["schema_version"] = metadata["schema_version"]
    return {**extra, **({"metadata": more} if more else {})}


# ---------------------------------------------------------------- fit


def name_authors(transcript: Transcript) -> Transcript:
    """Names each answer after its author, by name or by model. Removes the names of results."""

    def name_author(message: Message) -> Message:
        if message.role == "tool":
            return message if message.name is None else replace(message, name=None)
        if message.role != "assistant" or message.name in AUTHORS:
            return message
        by_model = "gemini" if "gemini" in (message.model or transcript.model or "") else "chatgpt"
        return replace(message, name=by_model)

    return passes.on_each_message(name_author)(transcript)


LIST = (
    fitting.keep_active_conversation,
    results.results_behind_calls,
    fitting.roles({"developer": "system"}),
    name_authors,
    fitting.refusals_as_texts,
    passes.on_results(RESULTS.fits),
    fitting.drop_other_opaque(NAME),
)
FILE = (*LIST, passes.on_messages(bare_system))


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a file of version 2, or a list of its entries. A leading text-only system message is `system_prompt`."""
    messages = transcript.messages
    if options.form == "list":
        return write_entries(messages, NAME)
    system = instruction_of(messages)
    native: Native = {"system_prompt": system, "turns": write_entries(messages[1 if system else 0 :], NAME)}
    extra = dict(get_extras(transcript.extras, NAME))
    metadata: Native = {"created_at": transcript.created_at, "updated_at": transcript.updated_at}
    if options.form == "saved":
        metadata["schema_version"] = 2
        native["display_name"] = transcript.title
    else:
        native |= {"type": DRAFT, "schema_version": 1}
    native["metadata"] = METADATA.write(metadata, extra.pop("metadata", None))
    return (SAVED if options.form == "saved" else AUTOSAVE).write(native, extra)


def _results_name_calls(survey: Survey) -> Iterator[Breach]:
    for answered in survey.results:
        native = survey.native(answered.at())
        if isinstance(native, dict) and native.get("type") == "tool_result":
            native = native["content"] if isinstance(native.get("content"), dict) else native
            if not native.get("tool_call_id"):
                problem = "the result has no tool_call_id: multi-llm-chat rejects the history"
                yield Breach("missing-call-id", answered.at(), problem, "warning")


RULES = (
    system_apart(),
    Rule(("missing-call-id",), _results_name_calls),
    links.paired(links.PairingRules(where="later")),
)

SUPPORTS = TEXTS | CALLS | OPAQUE | fields("message.name tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="multi-llm-chat",
    specification="structured_content_format_spec.md and the code of aoitan/multi-llm-chat at 6414d9b; read 2026-11-20",
    framings=("document", "records"),
    forms=("saved", "list", "autosave"),
    lift=lift,
    write=write,
    fit={"saved": FILE, "list": LIST, "autosave": FILE},
    rules=RULES,
    conventions=(CONVENTION,),
    supports={
        "saved": SUPPORTS | fields("title createdAt updatedAt"),
        "list": SUPPORTS,
        "autosave": SUPPORTS | fields("createdAt updatedAt"),
    },
    reasons={
        "message.name": "an answer's author is gemini or chatgpt",
        "message.role": "multi-llm-chat has only one role for instructions",
        "text": "the system prompt is one string",
        "reasoning": "multi-llm-chat histories have no thinking",
        "refusal": "multi-llm-chat has no refusal part: the refusal is written as text",
        **dict.fromkeys(("tools", "tool"), "multi-llm-chat histories have no tools"),
        **dict.fromkeys(("toolChoice", "settings"), "multi-llm-chat histories have no request settings"),
        **dict.fromkeys(("model", "message.model"), "multi-llm-chat histories do not name the model"),
        **dict.fromkeys(MEDIA_KINDS, "multi-llm-chat histories have only text and calls"),
        "tool_call.rawArguments": "arguments must be an object",
        "tool_result.isError": "multi-llm-chat results have no failure field",
    },
    places=paths(
        "title=display_name createdAt=metadata/created_at updatedAt=metadata/updated_at text.text=content "
        "tool_result.toolCallId=tool_call_id"
    ),
    envelope=frozenset(("user_id", "metadata", "type")),
)
