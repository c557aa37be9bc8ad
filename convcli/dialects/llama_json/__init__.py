"""Tool calls as JSON in the text of a model without tool support: Ollama requests of a small agent.

Specification: docs/05-message-history.md and src/llm_clients/llama_client.py of
https://github.com/acompany-develop/ai-coding-agent-glassbox at commit b0170fd (2026-02-04); read 2026-11-20.

Quirks
- An answer is the JSON text `{thought, tool_call: {name, input}}` or `{thought, response}`, bare or in a code fence.
  Any other model text is plain. The thought is reasoning; with a call and without a response, it is the text.
- A result is the JSON text `{"tool_result": {"name", "result"}}` in a user message. A string is text, any other value
  is data. A failure is a text that begins with "Error: "; convcli does not interpret that prefix.
- There are no ids: results answer the open calls of their name in order.
- An answer has one call. Further calls of a turn follow as separate answers, each with its result.
- The tools are in the system text. Those that convcli wrote are read as definitions; any other text stays text.
- `format: "json"` is part of this calling convention and not of the answer: it is an extra.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from convcli.dialects.llama_json.text import TAIL, is_answer, is_result, read_object, read_system, system_text
from convcli.families.histories.entries import Entries
from convcli.families.histories.glassbox import ANSWER, FAILURE, MARKED, lift_answer, write_answer
from convcli.kit import fitting, passes, results
from convcli.kit.objects import Keys, Native, get_extras
from convcli.kit.pairing import Pairing
from convcli.kit.results import ResultTexts
from convcli.kit.settings import Settings
from convcli.kit.supported import NAMED_CALLS, TEXTS, TOOLS, fields
from convcli.kit.texts import text_of
from convcli.kit.values import pairs
from convcli.model.dialect import Dialect, Evidence, Options
from convcli.model.rule import Breach, Rule
from convcli.model.transcript import MEDIA_KINDS, Message, Part, Path, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import Survey
from convcli.wire import exact_json

NAME = "llama-json"
ROLES = ("system", "user", "assistant")

REQUEST = Keys("model= messages= stream= format options=")
MESSAGE = Keys("role content")
RESULT = Keys("name result")
OPTIONS = Settings(
    pairs(
        "temperature=temperature top_p=topP top_k=topK num_predict=maxOutputTokens seed=seed stop=stop "
        "presence_penalty=presencePenalty frequency_penalty=frequencyPenalty"
    )
)
OPTION_KEYS = Keys(OPTIONS.keys())
RESULTS = ResultTexts(FAILURE, data=True)


def detect(document: Any) -> Evidence | None:
    """Detects answers and results that are JSON text, or tools that convcli wrote into the system text: marks do
    not look into JSON text."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list) or not all(map(_is_clean, messages)):
        return None
    return max(filter(None, map(_mark, messages)), default=None)


def _is_clean(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in ROLES and isinstance(message.get("content") or "", str)


def _mark(message: Native) -> Evidence | None:
    content = message.get("content") or ""
    if message["role"] == "system":
        return Evidence(97, "the system text has tools as convcli writes them") if content.endswith(TAIL) else None
    value = read_object(content) or {}
    if message["role"] == "user":
        return Evidence(97, "a message text is JSON with tool_result") if is_result(value) else None
    if not is_answer(value) or not ("thought" in value or value.get("tool_call")):
        return None
    return (
        Evidence(97, "a message text is JSON with tool_call")
        if value.get("tool_call")
        else Evidence(80, "a message text is JSON with thought and response")
    )


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a request or a list of messages."""
    entries = Entries(NAME, document, node_path=("content",))
    if isinstance(document, list):
        return _lift_messages(document, (), entries)
    transcript = _lift_messages(document["messages"], ("messages",), entries)
    options = document.get("options") or {}
    settings, _ = OPTIONS.lift(options)
    if document.get("stream") is not None:
        settings["stream"] = document["stream"]
    more = OPTION_KEYS.extra(options)
    transcript.model = document.get("model") or None
    transcript.settings = settings or None
    transcript.extras = entries.extras({**(REQUEST.extra(document) or {}), **({"options": more} if more else {})})
    return transcript


def _lift_messages(natives: list[Native], prefix: Path, entries: Entries) -> Transcript:
    tools = read_system(natives[0]["content"] or "") if natives and natives[0]["role"] == "system" else None
    if tools is not None and not tools[0] and MESSAGE.extra(natives[0]):
        tools = None  # other keys of a message with only tools would have no message
    for i, native in enumerate(natives):
        if i == 0 and tools is not None:
            native = {**native, "content": tools[0]}
        if native["content"] or i or tools is None:
            _lift_message(native, (*prefix, i), entries)
    entries.pair()
    transcript = entries.transcript()
    if tools is not None:
        transcript.tools = tools[1]
        entries.context.origin.tools = [(*prefix, 0, "content")] * len(tools[1])
    return transcript


def _lift_message(native: Native, place: Path, entries: Entries) -> None:
    extra = dict(MESSAGE.extra(native) or {})
    role, content = native["role"], native["content"] or ""
    value = read_object(content) if role != "system" else None
    parts: list[Part] = [Text(content)] if content else []
    if role == "user" and value is not None and is_result(value):
        result = value["tool_result"]
        role, parts = "tool", [entries.result(None, result["name"], result["result"], RESULT.extra(result))]
    else:
        entries.pair()
    if role == "assistant" and value is not None and is_answer(value):
        parts = lift_answer(value, entries)[0]
        more = ANSWER.extra(value)
        extra |= {"content": more} if more else {}
    entries.context.add(Message(role, parts, extras=entries.extras(extra)), place)


# ---------------------------------------------------------------- fit


def _join_parts_by_kind(message: Message) -> Message:
    """Joins the texts of a message; an answer has a thought, a text and a call, in this order."""
    if message.role == "tool":
        return message
    kinds = (Reasoning, Text, ToolCall) if message.role == "assistant" else (Text,)
    parts = [part for kind in kinds for part in _joined([part for part in message.parts if isinstance(part, kind)])]
    parts = [part for part in parts if not isinstance(part, (Text, Reasoning)) or part.text]
    return message if parts == message.parts else replace(message, parts=parts)


def _joined(parts: list[Part]) -> list[Part]:
    if len(parts) < 2 or isinstance(parts[0], ToolCall):
        return parts
    return [replace(parts[0], text="\n".join(part.text for part in parts if isinstance(part, (Text, Reasoning))))]


def _split_calls(messages: list[Message]) -> list[Message]:
    """Splits answers with several calls, and moves the results directly after them behind their calls."""
    answers: list[Message] = []
    places: list[int] = []
    caller: dict[str, int] = {}
    for message in messages:
        if message.role != "tool":
            calls = _calls(message)
            ids = [call.id for call in calls] if len(calls) > 1 else []
            caller = {
                id_: len(answers) + i for i, id_ in reversed([*enumerate(ids)])
            }  # the first of calls with the same id
        for piece in _split(message):
            at = len(answers)
            answers.append(piece)
            ids = [part.tool_call_id for part in piece.parts if isinstance(part, ToolResult)]
            places.append(min((caller.get(id_, at) for id_ in ids), default=at))
    order = sorted(range(len(answers)), key=places.__getitem__)
    return passes.shared(messages, [answers[at] for at in order])


def _split(message: Message) -> list[Message]:
    calls = _calls(message)
    if len(calls) < 2:
        return [message]
    first = [part for part in message.parts if part is calls[0] or not isinstance(part, ToolCall)]
    return [replace(message, parts=first), *(Message("assistant", [call]) for call in calls[1:])]


def _calls(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)] if message.role == "assistant" else []


def _reassign_results(messages: list[Message]) -> list[Message]:
    """Reassigns results as they are read: without ids, a result answers the oldest open call of its name."""
    pairing = Pairing(None)
    return passes.shared(messages, [_in_order(message, pairing) for message in messages])


def _in_order(message: Message, pairing: Pairing) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            pairing.call(part.id, part.name)
        elif isinstance(part, ToolResult):
            id_, _ = pairing.result(None, part.name)
            part = part if id_ in (part.tool_call_id, *pairing.invented) else replace(part, tool_call_id=id_)
        parts.append(part)
    return replace(message, parts=parts) if parts != message.parts else message


def _drop_empty_instructions(transcript: Transcript) -> Transcript:
    """Drops empty leading instructions if there are tools, which are in the leading system text."""
    messages = transcript.messages if transcript.tools else []
    empty = list(takewhile(lambda message: message.role == "system" and not message.parts, messages))
    return replace(transcript, messages=messages[len(empty) :]) if empty else transcript


FIT = (
    fitting.keep_active_conversation,
    results.results_behind_calls,
    passes.on_messages(_split_calls),
    passes.on_messages(_reassign_results),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    passes.on_each_message(_join_parts_by_kind),
    passes.on_results(RESULTS.fits),
    fitting.keep_functions(NAME),
    fitting.drop_empty_tools,
    _drop_empty_instructions,
)


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a request, or the list of its messages. Tools are described in the leading system text."""
    messages = [_write_message(message) for message in transcript.messages]
    if transcript.tools:
        if not messages or messages[0]["role"] != "system":
            messages.insert(0, {"role": "system", "content": ""})
        messages[0]["content"] = system_text(messages[0]["content"], transcript.tools)
    if options.form == "list":
        return messages
    extra, settings = dict(get_extras(transcript.extras, NAME)), transcript.settings or {}
    native = {
        "model": transcript.model,
        "messages": messages,
        "stream": settings.get("stream"),
        "options": OPTION_KEYS.put(OPTIONS.write(settings, {}), extra.pop("options", None)) or None,
    }
    return REQUEST.write(native, extra)


def _write_message(message: Message) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    content = text_of(message.parts)
    if message.role == "tool":
        results = [_write_result(part) for part in message.parts if isinstance(part, ToolResult)]
        content = exact_json.write_text(results[-1]) if results else content
    elif message.role == "assistant":
        answer = write_answer(message.parts, NAME, extra.pop("content", None))
        content = exact_json.write_text(answer) if answer else content
    return MESSAGE.put({"role": "user" if message.role == "tool" else message.role, "content": content}, extra)


def _write_result(result: ToolResult) -> Native:
    """Returns a result, which names only the tool of its call."""
    body = RESULT.put({"name": result.name, "result": result.value}, get_extras(result.extras, NAME))
    return {"tool_result": body}


PAIRED_LATER, PAIRED_NEXT = links.paired(links.PairingRules(where="later")), links.paired(links.PairingRules())


def _paired(survey: Survey) -> Iterable[Breach]:
    """Checks the pairing: in a request a result follows its call directly, in other documents it may come later."""
    return (PAIRED_NEXT if survey.purpose == "request" else PAIRED_LATER).check(survey)


PAIRED = ("missing-tool-result", "orphan-tool-result", "misplaced-tool-result")
RULES = (Rule(PAIRED, _paired, of_sent=("missing-tool-result", "misplaced-tool-result")),)

SUPPORTS = TEXTS | TOOLS | NAMED_CALLS | fields("reasoning.text tool_result.name")

DIALECT = Dialect(
    name=NAME,
    title="JSON in the text of a model without tools",
    specification="src/llm_clients/llama_client.py of ai-coding-agent-glassbox at b0170fd; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "list"),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    rules=RULES,
    conventions=(RESULTS.convention(MARKED),),
    supports={
        "request": SUPPORTS | OPTIONS.supports() | fields("model settings.stream"),
        "list": SUPPORTS - {"extras"},
    },
    reasons={
        **dict.fromkeys(
            ("moved", "message.grouping"), "in llama-json an answer has one call, and its result precedes the next call"
        ),
        "message.role": "llama-json has only one role for instructions",
        "text": "a llama-json message has one text",
        "refusal": "llama-json has no field for a refusal: it is written as a response",
        "reasoning.metadata": "thoughts in llama-json are text only",
        "tool_call.id": "llama-json calls have no id",
        "tool_call.rawArguments": "the input of a llama-json call is an object",
        "tool_result.toolCallId": "llama-json results have no id",
        "tool_result.isError": "llama-json results have no field for an error",
        "tool.strict": "llama-json tools have no strict mode",
        "toolChoice": "llama-json has no field to force a call",
        **dict.fromkeys(MEDIA_KINDS, "llama-json messages are text"),
    },
    places={"settings.stream": ("stream",), "settings": ("options",)},
    envelope=frozenset(("format", "keep_alive")),
)
