"""Google AI Studio: prompts, which it keeps in a folder of Google Drive.

Specification: none is published. Prompts of 2025 and 2026, and readers of them; read 2026-11-23.

Quirks
- A chunk is one text, thought, file or call. Consecutive chunks of a role are one message.
- `parts` repeats the text of a chunk as it arrived. Signatures of thoughts are there only.
- Files in Drive are ids. Calls may have no id; a result is an object, as in the Gemini API.
- An error of the service is a chunk of the model, with `errorMessage`.
- Tools are not read: no prompt with tools was seen. Drafts (`pendingInputs`) are kept.
"""

from __future__ import annotations

from typing import Any

from convcli.families.google.places import CONVENTIONS, OF_CALLS
from convcli.families.google.results import read_response, write_response
from convcli.kit import custom, fitting, passes, results
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, as_object, as_text, get_extras, make_extras, omit, without_empty
from convcli.kit.settings import Settings
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.values import MEDIA_TYPES, kind_of_type, pairs, paths
from convcli.model.dialect import Dialect, Options, Pass
from convcli.model.transcript import (
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
from convcli.validation.rules import links

NAME = "aistudio"
ROLES = {"user": "user", "model": "assistant"}
PREFIX, WATCH = "models/", "https://www.youtube.com/watch?v="
DRAFT = [{"text": "", "role": "user"}]
"""The usual drafts: an empty message."""
FILES: dict[str, MediaKind] = {
    "driveDocument": "document",
    "driveImage": "image",
    "driveAudio": "audio",
    "driveVideo": "video",
    "inlineImage": "image",
    "inlineFile": "document",
    "youtubeVideo": "video",
}
INNER = "file"
"""The extras key for other keys of a file."""
CODE = ("executableCode", "codeExecutionResult")
CALL, RESULT = "functionCall", "functionResponse"
FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}
FINISH_OF = {ours: theirs for theirs, ours in FINISH.items()}
SETTINGS = Settings(
    pairs(
        "temperature=temperature topP=topP topK=topK maxOutputTokens=maxOutputTokens stopSequences=stop "
        "thinkingBudget=reasoningBudget"
    )
)
CHUNK = Keys("text role tokenCount isThought finishReason parts createTime")
MESSAGE = Envelope("createTime=created_at")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a prompt."""
    context = LiftContext(NAME, document, node_path=())
    instruction, extra = document.get("systemInstruction") or {}, omit(document, "chunkedPrompt", "runSettings")
    texts = _texts_of(instruction)
    if texts:
        parts: list[Part] = [Text(text) for text, _ in texts]
        context.add(Message("system", parts), ("systemInstruction",), [path for _, path in texts])
        del extra["systemInstruction"]
    prompt = document["chunkedPrompt"]
    for k, native in enumerate(prompt["chunks"]):
        _lift_chunk(native, ("chunkedPrompt", "chunks", k), context)
    run = dict(document.get("runSettings") or {})
    transcript = context.transcript()
    model = run.pop("model", None)
    transcript.model = model.removeprefix(PREFIX) or None if model else None
    settings, rest = SETTINGS.lift(run)
    transcript.settings = settings or None
    rest = {**without_empty(run, *SETTINGS.keys()), **rest}
    kept = without_empty({key: value for key, value in extra.items() if (key, value) != ("pendingInputs", DRAFT)})
    drafts = {key: value for key, value in omit(prompt, "chunks").items() if (key, value) != ("pendingInputs", DRAFT)}
    transcript.extras = make_extras(NAME, kept, runSettings=rest, chunkedPrompt=without_empty(drafts))
    return transcript


def _texts_of(instruction: Native) -> list[tuple[str, Path]]:
    """Returns the texts of the instruction with their paths; none if it has anything else."""
    if instruction.keys() == {"text"} and instruction["text"]:
        return [(instruction["text"], ("text",))]
    parts = instruction.get("parts") or []
    is_text = instruction.keys() == {"parts"} and all(part.keys() == {"text"} and part["text"] for part in parts)
    return [(part["text"], ("parts", k)) for k, part in enumerate(parts)] if is_text else []


def _lift_chunk(native: Native, path: Path, context: LiftContext) -> None:
    """Adds the part of a chunk to the message before it, or to a new one."""
    part, used = _lift_part(native, context)
    role = "tool" if isinstance(part, ToolResult) else ROLES[native["role"]]
    last = context.messages[-1] if context.messages else None
    rest = without_empty(native, "role", *used)
    if role == "tool" or last is None or last.role != role or last.stop_reason or last.error:
        last = Message(role, [])
        context.add(last, path, [])
        rest = MESSAGE.lift(rest, last) or {}
    place, part_paths = context.origin.places[-1]
    assert isinstance(part_paths, list)
    if role == "assistant":
        reason = rest.get("finishReason")
        last.stop_reason = FINISH.get(reason) if isinstance(reason, str) else None
        last.error = as_text(rest.get("errorMessage"))
        rest = omit(rest, *["finishReason"] * bool(last.stop_reason), *["errorMessage"] * bool(last.error))
    if part is None:
        last.extras = make_extras(NAME, {**get_extras(last.extras, NAME), "chunk": rest} if rest else {})
        return
    part.extras = make_extras(NAME, {**get_extras(part.extras, NAME), **rest})
    last.parts.append(part)
    part_paths.append(() if place == path else ("..", path[-1]))


def _lift_part(native: Native, context: LiftContext) -> tuple[Part | None, list[str]]:
    """Returns the part of a chunk, and the keys that it covers."""
    if native.get("text") or native.get("isThought"):
        return _lift_text(native)
    key = next((key for key in (*FILES, CALL, RESULT, *CODE) if native.get(key)), None)
    if key is None:
        is_end = bool(native.get("errorMessage"))
        return (None if is_end else Text("")), ["text"]
    value = native[key]
    if key in FILES:
        return _lift_file(key, value), [key]
    if key == CALL:
        id_ = context.pairing.call(value.get("id") or None, value["name"])
        extras = make_extras(NAME, {}, functionCall=omit(value, "id", "name", "args"))
        return ToolCall(id_, value["name"], value.get("args") or {}, extras=extras), [key]
    if key == RESULT:
        ids = context.pairing.result(value.get("id") or None, value["name"])
        kind, answer, failed = read_response(value.get("response") or {})
        extras = make_extras(NAME, {}, functionResponse=omit(value, "id", "name", "response"))
        return ToolResult(*ids, kind, answer, failed or None, extras=extras), [key]  # type: ignore[arg-type]
    return Opaque(NAME, {key: value}), [key]


def _lift_text(native: Native) -> tuple[Part, list[str]]:
    """Returns a text or a thought. Parts are kept unless they only repeat the text."""
    text, pieces = native.get("text") or "", native.get("parts") or []
    is_thought = native.get("isThought") is True
    signature = next((piece["thoughtSignature"] for piece in pieces if as_text(piece.get("thoughtSignature"))), None)
    bare = {"text", "thought", *["thoughtSignature"] * (sum("thoughtSignature" in piece for piece in pieces) == 1)}
    is_same = all(piece.keys() <= bare and piece.get("thought", is_thought) is is_thought for piece in pieces)
    is_repeated = is_same and "".join(piece.get("text") or "" for piece in pieces) in text
    used = ["text", *["isThought"] * is_thought, *["parts"] * is_repeated]
    metadata = {"thoughtSignature": signature} if signature and is_repeated else None
    part: Part = Reasoning(text, metadata=metadata) if is_thought else Text(text, metadata)
    return part, used


def _lift_file(key: str, value: Native) -> Part:
    if key == "youtubeVideo":
        return Media("video", url=WATCH + value["id"], extras=make_extras(NAME, {}, file=omit(value, "id")))
    if key.startswith("drive"):
        return Media(FILES[key], file_id=value["id"], extras=make_extras(NAME, {}, file=omit(value, "id")))
    media_type = as_text(value.get("mimeType"))
    kind = kind_of_type(media_type) if key == "inlineFile" else FILES[key]
    rest = omit(value, "data", *["mimeType"] * (media_type is not None))
    return Media(kind, data=value["data"], media_type=media_type, extras=make_extras(NAME, {}, file=rest))


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the prompt."""
    extra = get_extras(transcript.extras, NAME)
    stated = as_object(extra.get("runSettings"))
    model = {"model": PREFIX + transcript.model} if transcript.model else {}
    run = {**model, **SETTINGS.write(transcript.settings or {}, stated), **SETTINGS.rest(stated)}
    messages = transcript.messages
    instruction: Native = {}
    if messages and messages[0].role == "system":
        texts = [part.text for part in messages[0].parts if isinstance(part, Text)]
        instruction = {"text": texts[0]} if len(texts) == 1 else {"parts": [{"text": text} for text in texts]}
        messages = messages[1:]
    chunks = [chunk for message in messages for chunk in _write_message(message)]
    prompt = {"chunks": chunks, "pendingInputs": DRAFT, **as_object(extra.get("chunkedPrompt"))}
    rest = omit(extra, "runSettings", "chunkedPrompt")
    return {"runSettings": run, "systemInstruction": instruction, **rest, "chunkedPrompt": prompt}


def _write_message(message: Message) -> list[Native]:
    role = "user" if message.role in ("user", "tool") else "model"
    chunks = [{"role": role, **chunk} for part in message.parts if (chunk := _write_part(part)) is not None]
    extra = get_extras(message.extras, NAME)
    if message.error is not None:
        chunks.append({"role": role, "errorMessage": message.error, **as_object(extra.get("chunk"))})
    if not chunks:
        return []
    reason = FINISH_OF.get(message.stop_reason or "") if role == "model" else None
    chunks[-1] |= {"finishReason": reason} if reason else {}
    chunks[0] |= MESSAGE.write(message, omit(extra, "chunk"))
    return [CHUNK.ordered(chunk) for chunk in chunks]


def _write_part(part: Part) -> Native | None:
    """Returns the chunk of a part; None if there is none for it."""
    extra = dict(get_extras(part.extras, NAME))
    if isinstance(part, (Text, Reasoning)):
        signature = (part.metadata or {}).get("thoughtSignature")
        is_thought = isinstance(part, Reasoning)
        native: Native = {"text": part.text, **({"isThought": True} if is_thought else {})}
        if signature:
            thought = {"thought": True} if is_thought else {}
            native["parts"] = [{"text": part.text, **thought, "thoughtSignature": signature}]
        return {**native, **extra}
    if isinstance(part, Media):
        return _write_file(part, extra)
    if isinstance(part, ToolCall):
        call = {"id": part.id, "name": part.name, "args": part.arguments}
        return {CALL: {**call, **as_object(extra.pop(CALL, None))}, **extra}
    if isinstance(part, ToolResult):
        answer = {"id": part.tool_call_id, "name": part.name, "response": write_response(part)}
        return {RESULT: {**answer, **as_object(extra.pop(RESULT, None))}, **extra}
    return {**part.value, **extra} if isinstance(part, Opaque) and part.dialect == NAME else None


def _write_file(part: Media, extra: Native) -> Native | None:
    """Returns the chunk of a file: data, an id in Drive, or a video of YouTube."""
    inner = as_object(extra.pop(INNER, None))
    if part.data is not None:
        key = "inlineImage" if part.type == "image" else "inlineFile"
        return {key: {"mimeType": part.media_type or MEDIA_TYPES[part.type], "data": part.data, **inner}, **extra}
    if part.file_id is not None:
        return {f"drive{part.type.capitalize()}": {"id": part.file_id, **inner}, **extra}
    is_watched = part.type == "video" and (part.url or "").startswith(WATCH) and part.url != WATCH
    return {"youtubeVideo": {"id": (part.url or "").removeprefix(WATCH), **inner}, **extra} if is_watched else None


FIT: tuple[Pass, ...] = (
    fitting.keep_active_conversation,
    fitting.roles({"developer": "system"}),
    passes.on_messages(fitting.keep_leading_instruction),
    results.separate_results,
    results.one_result_each,
    results.apply_convention(*CONVENTIONS),
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.arguments_as_objects,
    SETTINGS.fits,
    fitting.settle_by_reading_back(lift, write, "prompt"),
)

SUPPORTS = (
    TURNS
    | media(names="data fileId mediaType")
    | fields("video.url text.metadata reasoning.metadata")
    | MESSAGE.supports("message")
    | SETTINGS.supports()
)
SUPPORTS |= fields("model message.error message.stopReason tool_result.name tool_result.isError")

DIALECT = Dialect(
    name=NAME,
    title="Google AI Studio",
    aliases=("google-ai-studio",),
    specification="prompts of 2025 and 2026; read 2026-11-23",
    framings=("document", "records"),
    forms=("prompt",),
    lift=lift,
    write=write,
    fit=FIT,
    rules=(links.paired(links.PairingRules(where="later", missing=None)),),
    conventions=CONVENTIONS,
    supports=SUPPORTS,
    reasons={
        "message": "a prompt has one instruction, before its chunks",
        "message.grouping": "consecutive chunks of a role are one message",
        "refusal": "AI Studio has no chunk for a refusal: it is written as text",
        "reasoning.summary": "a thought of AI Studio is one text",
        "metadata": "AI Studio stores only signatures of thoughts",
        "tool_call.rawArguments": "arguments must be an object, not a string",
        "tools": "convcli does not write tools of AI Studio: no prompt with tools was seen",
        "tool": "convcli does not write tools of AI Studio: no prompt with tools was seen",
    },
    places={
        **MESSAGE.places("message"),
        **SETTINGS.places("runSettings"),
        **OF_CALLS,
        **paths(
            "model=runSettings/model message.role=role message.stopReason=finishReason message.error=errorMessage "
            "reasoning.text=text text.metadata.thoughtSignature=parts reasoning.metadata.thoughtSignature=parts"
        ),
    },
    envelope=fields("tokenCount runSettings thinkingBudget"),
)
