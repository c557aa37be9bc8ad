"""OpenAI Responses: requests, responses and bare lists of items.

Specification: the API reference of Responses, as typed by the Python SDK `openai` 3.51.0; read 2026-11-20.

Quirks
- The conversation is a flat list of items; one answer is several of them. Item ids are not call ids: the first are
  context of the provider (`metadata.itemId`), the second tie a result to its call.
- `instructions` is the leading system message. A request may be no more than a string.
- A reasoning item must be followed by the item that it produced, and only the provider's own can be given back.
- An output holds text, images and files and has no field for a failure: an error is written as `{"error": …}`.
- `strict` and `parameters` of a function and `detail` of an image must be written; null and `auto` say nothing.
- A response repeats the tools and settings of its request: they are carried, not lifted, for no model answered them.
- There is no finish reason: `status` and `incomplete_details` say why a response ended.
"""

from __future__ import annotations

from typing import Any

from convcli.dialects.openai_responses.request import (
    INSIDE,
    lift_choice,
    lift_settings,
    lift_tools,
    lower_choice,
    lower_settings,
    lower_tools,
)
from convcli.dialects.openai_responses.rules import RULES
from convcli.families.responses.parts import express
from convcli.families.responses.places import PLACES
from convcli.families.responses.response import as_allowed, lift_response, lower_response
from convcli.families.responses.turns import Reader, Writer
from convcli.kit.fitting import is_response
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.pairing import Pairing
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Text, Transcript

NAME = "openai-responses"

REQUEST = Keys(
    "model instructions input tools tool_choice parallel_tool_calls temperature top_p max_output_tokens reasoning text "
    "stream"
)
ITEM_TYPES = frozenset(
    (
        "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning",
        "item_reference", "web_search_call", "file_search_call", "computer_call", "computer_call_output",
        "code_interpreter_call", "image_generation_call", "local_shell_call", "local_shell_call_output", "shell_call",
        "shell_call_output", "apply_patch_call", "apply_patch_call_output", "mcp_call", "mcp_list_tools",
        "mcp_approval_request", "mcp_approval_response", "tool_search_call", "tool_search_output", "compaction",
    )
)  # fmt: skip
PART_TYPES = frozenset(("input_text", "output_text", "input_image", "input_file"))
ENVELOPES = frozenset(("payload", "message", "messages", "record_type", "event", "delta", "data", "cwd"))
"""Keys of rows around items, in logs and streams."""
ROLES = frozenset(("system", "developer", "user", "assistant"))
OWN = ("instructions", "max_output_tokens", "text", "tools", "tool_choice", "previous_response_id", "prompt")
"""Keys of a request beside `input`, which others have too."""


def detect(document: Any) -> Clue | None:
    """By `output` of a response, by the types of items and of content parts, or by `input` beside keys of its own."""
    items = document
    if isinstance(document, dict):
        items = document.get("output", document.get("input"))
        if document.get("object") == "response" and isinstance(document.get("output"), list):
            return Clue(95, "a response with output")
        if not items or isinstance(items, str):
            return Clue(60, "keys of a request of the Responses API") if _is_request(document) else None
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) for item in items):
        return None
    if any(map(_is_marked, items)) and all(item.keys().isdisjoint(ENVELOPES) for item in items):
        return Clue(92, "items and content parts of the Responses API")
    if isinstance(document, dict):
        return Clue(60, "input of messages") if "input" in document and all(map(_is_plain, items)) else None
    typed = all(map(_is_plain, items)) and any(item.get("type") == "message" for item in items)
    return Clue(45, "messages with a type") if typed else None


def _is_request(document: Native) -> bool:
    given = document.get("input")
    if "messages" in document or "output" in document or not isinstance(given, (str, list, type(None))):
        return False
    prompt = document.get("prompt")
    reference = isinstance(document.get("previous_response_id"), str) or (isinstance(prompt, dict) and "id" in prompt)
    return reference or ("input" in document and not document.keys().isdisjoint(("model", *OWN)))


def _is_marked(item: Native) -> bool:
    """An item that no other dialect has: with a type of its own, or with parts of a type of its own."""
    kind, role = item.get("type"), item.get("role")
    if isinstance(kind, str) and kind in ITEM_TYPES:
        return True
    content = item.get("content") if isinstance(role, str) and role in ROLES else None
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in PART_TYPES for part in content
    )


def _is_plain(item: Native) -> bool:
    content = item.get("content")
    role = item.get("role")
    known = item.get("type", "message") == "message" and isinstance(role, str) and role in ROLES
    return known and (isinstance(content, str) or content == [])


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request, a response or a list of items."""
    origin = Origin(NAME, spot=("content",))
    pairing = Pairing(document)
    origin.invented = pairing.invented
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return Transcript(Reader(pairing, origin).all(document, ()), origin=origin)
    if "output" in document:
        return lift_response(document, Reader(pairing, origin, listed=True), origin)
    return _lift_request(document, Reader(pairing, origin), origin)


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was; a response when the transcript holds only what a model answered."""
    form = (
        options.form
        or transcript.document_spelling(NAME).get("form")
        or ("response" if is_response(transcript) else "request")
    )
    writer = Writer(transcript, NAME, listed=form == "response")
    messages = transcript.messages
    if not writer.own:
        transcript = as_allowed(transcript)
        messages = transcript.messages
    if form == "response":
        return lower_response(transcript, messages, writer)
    return writer.all(messages) if form == "list" else _lower_request(transcript, messages, writer)


def _lift_request(native: Native, reader: Reader, origin: Origin) -> Transcript:
    carried, spelling = REQUEST.take(native)
    origin.document = {"form": "request", **({"request": spelling} if spelling else {})}
    if native.get("instructions"):
        instructions = Message("system", [Text(native["instructions"])])
        reader.append(instructions, ("instructions",), [()])
        origin.spell(instructions, {"in": "instructions"})
    given = native.get("input")
    if isinstance(given, str):
        origin.document["input"] = "string"
        reader.append(Message("user", [Text(given)] if given else []), ("input",), [()])
    else:
        if given is None:
            origin.document["input"] = "absent"
        reader.all(given or [], ("input",))
    transcript = Transcript(reader.messages, model=native.get("model") or None, origin=origin)
    transcript.tools = lift_tools(native, NAME, origin)
    extras = {**(carried or {}), **lift_choice(native, transcript), **lift_settings(native, transcript, origin)}
    transcript.extras = extras_of(NAME, extras)
    return transcript


def _lower_request(transcript: Transcript, messages: list[Message], writer: Writer) -> Native:
    spelling = transcript.document_spelling(NAME)
    carried = carried_by(transcript.extras, NAME)
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    if messages and _is_instructions(messages[0], writer):
        native["instructions"] = messages[0].parts[0].text  # type: ignore[union-attr]
        messages = messages[1:]
    items = writer.all(messages)
    text = _as_string(messages) if spelling.get("input") == "string" else None
    if items or spelling.get("input") != "absent":
        native["input"] = items if text is None else text
    native |= lower_tools(transcript, NAME, own=writer.own)
    native |= lower_choice(transcript, carried)
    native |= lower_settings(transcript, spelling, carried)
    rest = {key: value for key, value in carried.items() if key not in INSIDE}
    return REQUEST.put(native, rest, spelling.get("request"))


def _is_instructions(message: Message, writer: Writer) -> bool:
    """Of a foreign transcript the leading system text, where nothing of it would be lost."""
    if writer.own:
        return writer.spellings.get(id(message), {}).get("in") == "instructions"
    part = message.parts[0] if len(message.parts) == 1 else None
    said_here = carried_by(message.extras, NAME) or (part is not None and carried_by(part.extras, NAME))
    return message.role == "system" and isinstance(part, Text) and bool(part.text) and not said_here


def _as_string(messages: list[Message]) -> str | None:
    if len(messages) != 1 or messages[0].role != "user":
        return None
    texts = [part.text if isinstance(part, Text) else None for part in messages[0].parts]
    return texts[0] if len(texts) == 1 else None if texts else ""


ENVELOPE = frozenset(
    (
        "background", "billing", "completed_at", "created_at", "events", "incomplete_details", "logprobs", "metadata",
        "object", "output_text", "prompt_cache_key", "prompt_cache_retention", "request", "safety_identifier",
        "service_tier", "status", "store", "tool_usage", "usage", "user",
    )
)  # fmt: skip

DIALECT = Dialect(
    name=NAME,
    title="OpenAI Responses",
    specification="Responses API reference; Python SDK openai 3.51.0; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "response", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'an output has no field for a failure: written as {"error": …}'),
                "data": ("changed", "an output is text or parts: the data is written as JSON"),
                "multimodal": ("changed", "one part of text is the same as text"),
            },
        ),
    ),
    reasons={
        "reasoning": "the Responses API takes back only reasoning of its own",
        "message.grouping": "answers that follow on each other are one",
        "message.error": "only a response has an error",
        "message.id": "items have ids of their own",
        "message.parentId": "items have no parent",
        "message.name": "items have no name",
        "message.createdAt": "items have no time",
        "message.model": "items have no model of their own",
        "message.usage": "only a response has usage",
        "message.stopReason": "only a response says why it ended",
        "settings.topK": "the Responses API has no top_k",
        "settings.stop": "the Responses API has no stop sequences",
        "settings.seed": "the Responses API has no seed",
        "settings.presencePenalty": "the Responses API has no penalties",
        "settings.frequencyPenalty": "the Responses API has no penalties",
        "tool_result.isError": "an output has no field for a failure",
        "image.detail": "auto is the detail of an image that says nothing of it",
        "audio": "the Responses API takes no audio",
        "video": "the Responses API takes no video",
    },
    places=PLACES,
    envelope=ENVELOPE,
)
