"""AutoGen: the state of an agent, lists of the messages in its model context, and messages and events of a run.

Specification: autogen-core and autogen-agentchat 0.7.5 (`models/_types.py`, `messages.py`, `state/_states.py`,
https://github.com/microsoft/autogen), run 2026-11-27.

Quirks
- `source` is the agent or the user that wrote a message. One that equals the role is not kept as a name.
- An answer with calls has no content but the calls: the model client stores its text as `thought`, and sends it again
  as content. In an answer without calls `thought` is the reasoning.
- Results of one turn are in one message. An image is base64 without a media type.
- A run has a row for each thought, text, call message and result message. Its instructions are in the program.
- Other events of a run (`SelectSpeakerEvent`, `ModelClientStreamingChunkEvent`, …) are not part of the conversation.
- The state of a team has those of its agents: `--at '/agent_states/*/agent_state'` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from convcli.families.openai import calls as openai
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, add_extras, as_object, as_text, get_extras, make_extras, omit
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, fields
from convcli.kit.texts import text_of
from convcli.kit.values import counts, paths, put_counts, take_counts, type_of_image
from convcli.model.dialect import Convention, Dialect, Options, Pass
from convcli.model.transcript import Media, Message, Part, Path, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import arguments, links, turns

NAME = "autogen"
STATE_TYPE, CONTEXT, VERSION = "AssistantAgentState", "llm_context", "1.0.0"
STATE = Keys(f"type version {CONTEXT}")
CALL = CallTable("id=id arguments=arguments name=name", form="json")
RESULT = Keys("content name call_id is_error")
USAGE = counts("prompt_tokens=inputTokens completion_tokens=outputTokens")
ROW = Envelope("id=id source= models_usage= metadata created_at=created_at content= thought= type=")
MODEL_ROW = Envelope("content= thought= source= type=")
OF_MODEL = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}
OF_RUN = {"ThoughtEvent": "assistant", "ToolCallRequestEvent": "assistant"}
SPOKEN = ("TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ToolCallSummaryMessage")
"""Types of messages in a run that the user or an agent writes."""
USERS = ("user", "user_proxy")
RESULT_TYPES = {"list": "FunctionExecutionResultMessage", "events": "ToolCallExecutionEvent"}


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a state, or of a list of messages or events."""
    context, natives = LiftContext(NAME, document), document
    prefix: Path = ()
    if isinstance(document, dict):
        context.origin.form, prefix = "state", (CONTEXT, "messages")
        natives = document[CONTEXT]["messages"]
    else:
        is_run = any(row["type"] not in (*OF_MODEL, RESULT_TYPES["list"]) for row in document)
        context.origin.form = "events" if is_run else "list"
    for i, native in enumerate(natives):
        _lift_row(native, (*prefix, i), context)
    transcript = context.transcript()
    if isinstance(document, dict):
        extra = {
            key: document[key]
            for key, usual in (("type", STATE_TYPE), ("version", VERSION))
            if document.get(key, usual) != usual
        }
        extra |= STATE.extra(document) or {}
        transcript.extras = make_extras(NAME, extra, context=omit(document[CONTEXT], "messages"))
    return transcript


def _lift_row(native: Native, path: Path, context: LiftContext) -> None:
    """Adds the message of a row, one for each of its results, or an event."""
    kind, content, source = native["type"], native.get("content"), as_text(native.get("source"))
    if kind in RESULT_TYPES.values():
        pieces = [
            (Message("tool", [_lift_result(one, context)]), ("content", k)) for k, one in enumerate(content or [])
        ]
        for number, (message, part_path) in enumerate(pieces or [(Message("user", []), ("content",))]):
            if number == 0:
                _lift_envelope(native, message, source, "")
                _keep_thought(native, message, is_read=False)
            context.add(message, path, [part_path])
        return
    role = OF_MODEL.get(kind) or OF_RUN.get(kind)
    if role is None and kind in SPOKEN:
        role = "user" if source in USERS else "assistant"
    if role is None or not isinstance(content, (str, list)):
        sessions.add_event(context, native, path)
        return
    parts, part_paths = _lift_content(content, kind, context)
    if as_text(native.get("thought")):
        is_text = any(isinstance(part, ToolCall) for part in parts)
        parts.insert(0, Text(native["thought"]) if is_text else Reasoning(native["thought"]))
        part_paths.insert(0, ("thought",))
    message = Message(role, parts)
    _lift_envelope(native, message, source, role)
    _keep_thought(native, message, is_read=as_text(native.get("thought")) is not None)
    context.add(message, path, part_paths)


def _keep_thought(native: Native, message: Message, *, is_read: bool) -> None:
    """Keeps a thought that is no text, or of a row that has none."""
    if native.get("thought") and not is_read:
        add_extras(message, NAME, {"thought": native["thought"]})


def _lift_envelope(native: Native, message: Message, source: str | None, role: str) -> None:
    """Sets what surrounds the content of a row."""
    is_model = native["type"] in (*OF_MODEL, RESULT_TYPES["list"])
    extra = (MODEL_ROW if is_model else ROW).lift(native, message) or {}
    if is_model and message.role not in ("user", "assistant"):  # these rows have no source
        extra |= {"source": native["source"]} if native.get("source") is not None else {}
    elif message.role == "tool" or source is None:
        extra |= {"source": native["source"]} if native.get("source") not in (None, "assistant") else {}
    else:
        message.name = source if source != role else None
    usage, rest = take_counts({} if is_model else native.get("models_usage") or {}, USAGE)
    message.usage = usage or None
    extra |= {"models_usage": rest} if rest else {}
    extra |= {"type": native["type"]} if native["type"] in SPOKEN[2:] else {}
    message.extras = make_extras(NAME, extra)


def _lift_content(content: Any, kind: str, context: LiftContext) -> tuple[list[Part], list[Path]]:
    if content == "":
        return [], []
    if isinstance(content, str):
        return [Reasoning(content) if kind == "ThoughtEvent" else Text(content)], [("content",)]
    return [_lift_item(one, context) for one in content], [("content", k) for k in range(len(content))]


def _lift_item(native: Any, context: LiftContext) -> Part:
    if isinstance(native, str):
        return Text(native)
    if "arguments" in native:
        return CALL.lift(native, context)
    data: str = native["data"]
    return Media("image", data, media_type=type_of_image(data), extras=make_extras(NAME, omit(native, "data")))


def _lift_result(native: Native, context: LiftContext) -> ToolResult:
    ids = context.pairing.result(as_text(native.get("call_id")), as_text(native.get("name")))
    kind: Any = "error" if native.get("is_error") else "text"
    return ToolResult(*ids, kind, native["content"], extras=make_extras(NAME, RESULT.extra(native)))


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the state of an agent, or a list of messages or events."""
    form = options.form or "state"
    rows = list(_write_rows(transcript.messages, "events" if form == "events" else "list"))
    if form != "state":
        return rows
    extra = dict(get_extras(transcript.extras, NAME))
    context = {"messages": rows, **extra.pop("context", {})}
    return STATE.put({"type": STATE_TYPE, "version": VERSION, CONTEXT: context}, extra)


def _write_rows(messages: list[Message], form: str) -> Iterator[Any]:
    """Yields the rows of messages. A result without fields of its own is in the row of the result before it."""
    open_row: list[Message] = []
    for message in messages:
        if open_row and message != Message("tool", message.parts):
            yield _write_results(open_row, form)
            open_row = []
        if message.role == "tool":
            open_row.append(message)
        elif message.role == "event":
            yield sessions.row_of_event(message, NAME)
        else:
            yield from _write_message(message, form)
    if open_row:
        yield _write_results(open_row, form)


def _write_results(messages: list[Message], form: str) -> Native:
    written = [_write_result(part) for one in messages for part in one.parts if isinstance(part, ToolResult)]
    return _write_row(messages[0], RESULT_TYPES[form], form, content=written)


def _write_result(result: ToolResult) -> Native:
    stated = {"content": result.value, "name": result.name, "call_id": result.tool_call_id}
    return RESULT.put({**stated, "is_error": result.kind == "error"}, get_extras(result.extras, NAME), sort=True)


def _write_message(message: Message, form: str) -> Iterator[Native]:
    """Yields the row of a message, in a run one for each kind of part."""
    if form == "events":
        runs = [(kind, [*parts]) for kind, parts in groupby(message.parts, key=_kind_in_run)] or [("", [])]
        for number, (kind, parts) in enumerate(runs):
            one = message if number == 0 else Message(message.role, [], name=message.name)
            if kind == "ThoughtEvent":
                yield _write_row(one, kind, form, content=_text_of_thoughts(parts))
            else:
                usual = "TextMessage" if all(isinstance(part, Text) for part in parts) and len(parts) < 2 else SPOKEN[1]
                yield _write_row(one, kind or usual, form, content=_write_content(parts))
        return
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    others = [part for part in message.parts if not isinstance(part, (ToolCall, Reasoning))]
    if message.role != "assistant":
        yield _write_row(
            message, "UserMessage" if message.role == "user" else "SystemMessage", form, content=_write_content(others)
        )
        return
    thoughts: Sequence[Part] = others if calls else [part for part in message.parts if isinstance(part, Reasoning)]
    thought = text_of(thoughts) if calls else _text_of_thoughts(thoughts)
    content = _write_content(calls) if calls else text_of(others)
    yield _write_row(message, "AssistantMessage", form, content=content, thought=thought if thoughts else None)


def _kind_in_run(part: Part) -> str:
    return (
        "ThoughtEvent" if isinstance(part, Reasoning) else "ToolCallRequestEvent" if isinstance(part, ToolCall) else ""
    )


def _text_of_thoughts(parts: Sequence[Part]) -> str:
    return "\n\n".join(part.text for part in parts if isinstance(part, Reasoning))


def _write_content(parts: Sequence[Part]) -> Any:
    """Returns a text, or a list of calls, texts and images."""
    items = [item for part in parts if (item := _write_item(part)) is not None]
    if len(items) < 2 and all(isinstance(item, str) for item in items):
        return items[0] if items else ""
    return items


def _write_item(part: Part) -> Any:
    if isinstance(part, ToolCall):
        return CALL.write(part, NAME)
    if isinstance(part, Media):
        is_image = part.type == "image" and part.data is not None
        return {"data": part.data, **get_extras(part.extras, NAME)} if is_image else None
    return part.text if isinstance(part, Text) else None


def _write_row(message: Message, kind: str, form: str, **content: Any) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    has_source = form == "events" or message.role in ("user", "assistant") or "source" in extra
    source = extra.pop("source", message.name or ("assistant" if message.role == "tool" else message.role))
    content = {**content, **({"source": source} if has_source else {}), "type": kind}
    stated_type = extra.pop("type", kind)
    if form == "list":
        return MODEL_ROW.write(message, extra, **content)
    content["type"] = stated_type
    usage = put_counts(message.usage or {}, extra.pop("models_usage", {}), USAGE)
    return ROW.write(message, extra, **content, models_usage=usage or None)


# ---------------------------------------------------------------- fit

RESULTS = results.ResultTexts("").convention()


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Writes a result as one text. A failure has a field."""
    kind = "error" if results.has_failed(result) else "text"
    is_kept = result.kind in ("text", "error") or results.has_media(result)
    return None if is_kept else (kind, results.in_words(result))


ONE_TEXT = Convention(_express, {**RESULTS.loss, "error": RESULTS.loss["data"]})


def _fit(form: str, *more: Pass) -> tuple[Pass, ...]:
    return (
        *more,
        results.separate_results,
        results.one_result_each,
        passes.on_messages(openai.media_behind_results(lambda media: media.type == "image" and media.data is not None)),
        passes.on_results(results.one_value),
        results.apply_convention(ONE_TEXT),
        fitting.refusals_as_texts,
        custom.as_functions,
        fitting.settle_by_reading_back(lift, write, form),
    )


def _is_turn(row: Any) -> bool:
    """True unless a row is read as an event."""
    kind = as_object(row).get("type")
    return not isinstance(kind, str) or kind in (*OF_MODEL, *OF_RUN, *SPOKEN, *RESULT_TYPES.values())


def _keep_whole_usage(message: Message) -> Message:
    """Drops token counts unless both are known."""
    return message if {*USAGE.values()} <= (message.usage or {}).keys() else replace(message, usage=None)


def _join_instruction(message: Message) -> Message:
    """Joins the texts of an instruction, which has no list."""
    if message.role != "system" or len(message.parts) < 2:
        return message
    return replace(message, parts=[Text(text_of(message.parts, "\n\n"))])


MODEL_FIT = (
    fitting.keep_active_conversation,
    fitting.roles({"developer": "system"}),
    passes.on_each_message(_join_instruction),
)
SUPPORTS = TEXTS | CALLS
SUPPORTS |= fields("reasoning.text message.name image.data tool_call.rawArguments tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="AutoGen",
    aliases=("autogen-agentchat",),
    specification="autogen-agentchat 0.7.5; read 2026-11-27",
    framings=("document", "records"),
    forms=("state", "list", "events"),
    lift=lift,
    write=write,
    fit={
        "state": _fit("state", *MODEL_FIT),
        "list": _fit("list", *MODEL_FIT),
        "events": _fit(
            "events",
            sessions.keep_active_branch,
            sessions.keep_own_events(NAME, _is_turn),
            passes.on_each_message(_keep_whole_usage),
            sessions.drop_instructions,
        ),
    },
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable(), turns.decodable()),
    conventions=(ONE_TEXT,),
    supports={
        "state": SUPPORTS,
        "list": SUPPORTS,
        "events": SUPPORTS | OPAQUE | ROW.supports("message") | {"message.usage"},
    },
    reasons={
        "refusal": "AutoGen has no message for a refusal: it is written as text",
        "reasoning": "an AutoGen answer with calls has no field for reasoning",
        "message.role": "AutoGen has no role developer: it becomes system",
        "message.usage": "AutoGen needs the counts of input and output",
        "message": "the program of the agent has the instructions of a run",
        "text": "an answer of an AutoGen agent has one text",
        "tool_result.isError": "a failed AutoGen result is one text",
        "message.model": "AutoGen messages do not name the model",
        "image.mediaType": "AutoGen stores images without a media type",
        **dict.fromkeys(("audio", "video", "document"), "AutoGen has images only"),
    },
    places={
        **ROW.places("message"),
        **paths(
            "message.name=source message.usage=models_usage tool_result.value=content tool_result.kind=content "
            "tool_result.toolCallId=call_id tool_result.isError=is_error image.data=data"
        ),
    },
    envelope=fields("type version source metadata"),
)
