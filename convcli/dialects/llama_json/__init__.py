"""Tool calls as JSON in the text of a model that knows no tools: requests to Ollama as a small agent makes them.

Specification: docs/05-message-history.md and src/llm_clients/llama_client.py of
acompany-develop/ai-coding-agent-glassbox at commit b0170fd (2026-02-04); read 2026-11-20.

Quirks
- An answer is the text of `{thought, tool_call: {name, input}}` or `{thought, response}`, bare or in a code fence; any
  other text of a model is plain text. The thought is reasoning.
- A result is the text of `{"tool_result": {"name", "result"}}` in a user message. A string is text, any other value is
  data; a failure is a text that begins with "Error: ", and nothing is read out of that.
- There are no ids: results answer the open calls of their name in order.
- One call an answer: further calls of a turn follow as answers of their own, each with its result.
- The tools stand in the system text. Written by us, they come back as definitions; what others wrote there is text.
- `format: "json"` belongs to this way of calling and says nothing about the answer: it is carried.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from convcli.dialects.llama_json.text import TAIL, is_answer, is_result, read_object, read_system, system_text
from convcli.families.histories.entries import Answers, has_failed, has_media, in_words
from convcli.families.histories.glassbox import ANSWER, lift_answer, lower_answer, said
from convcli.kit.fitting import is_foreign_builtin, results_first
from convcli.kit.objects import Keys, Native, Spelling, carried_by, extras_of, says_something
from convcli.kit.pairing import Pairing
from convcli.model.branches import active
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, Origin, Part, Path, Text, ToolCall, ToolResult, Transcript
from convcli.validation.rules import links
from convcli.validation.survey import telling
from convcli.wire import exact_json

NAME = "llama-json"
ROLES = ("system", "user", "assistant")

REQUEST = Keys("model messages stream format options", carried="format")
MESSAGE = Keys("role content")
RESULT = Keys("name result")
OPTIONS = {
    "temperature": "temperature",
    "top_p": "topP",
    "top_k": "topK",
    "num_predict": "maxOutputTokens",
    "seed": "seed",
    "stop": "stop",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
OPTION_KEYS = Keys(" ".join(OPTIONS))


def detect(document: Any) -> Clue | None:
    """By answers and results that are JSON in the text, or by the tools as we write them into the system text."""
    messages = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(messages, list) or not all(map(_is_plain, messages)):
        return None
    return max(filter(None, map(_mark, messages)), default=None)


def _is_plain(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in ROLES and isinstance(message.get("content") or "", str)


def _mark(message: Native) -> Clue | None:
    content = message.get("content") or ""
    if message["role"] == "system":
        return Clue(97, "tools in the system text, as convcli writes them") if content.endswith(TAIL) else None
    value = read_object(content) or {}
    if message["role"] == "user":
        return Clue(97, "a tool_result as the text of a message") if is_result(value) else None
    if not is_answer(value) or not ("thought" in value or value.get("tool_call")):
        return None
    return (
        Clue(97, "a tool_call in the text") if value.get("tool_call") else Clue(80, "thought and response in the text")
    )


# ---------------------------------------------------------------- document


def lift(document: Any) -> Transcript:
    """The transcript of a request or a list of messages."""
    origin = Origin(NAME, spot=("content",))
    if isinstance(document, list):
        origin.document = {"form": "list"}
        return _lift_messages(document, (), document, origin)
    carried, spelling = REQUEST.take(document)
    origin.document = {"form": "request", "request": spelling or {}}
    transcript = _lift_messages(document["messages"], ("messages",), document, origin)
    options = document.get("options") or {}
    more, inner = OPTION_KEYS.take(options)
    origin.document["options"] = inner or {}
    settings = {ours: options[theirs] for theirs, ours in OPTIONS.items() if says_something(options.get(theirs))}
    if document.get("stream") is not None:
        settings["stream"] = document["stream"]
    transcript.model = document.get("model") or None
    transcript.settings = settings or None
    transcript.extras = extras_of(NAME, {**(carried or {}), **({"options": more} if more else {})})
    return transcript


def lower(transcript: Transcript, options: Options) -> Any:
    """A request, or what the source was."""
    spelling = transcript.document_spelling(NAME)
    messages = _lower_messages(transcript)
    form = options.form or spelling.get("form") or "request"
    if form == "list":
        return messages
    same = spelling if spelling.get("form") == form else {}
    carried = dict(carried_by(transcript.extras, NAME))
    settings = transcript.settings or {}
    chosen = {theirs: settings[ours] for theirs, ours in OPTIONS.items() if ours in settings}
    chosen = OPTION_KEYS.put(chosen, carried.pop("options", None), same.get("options"))
    native: Native = {} if transcript.model is None else {"model": transcript.model}
    native["messages"] = messages
    if "stream" in settings:
        native["stream"] = settings["stream"]
    if chosen:
        native["options"] = chosen
    return REQUEST.put(native, carried, same.get("request"))


# ---------------------------------------------------------------- lift


def _lift_messages(natives: list[Native], prefix: Path, document: Any, origin: Origin) -> Transcript:
    pairing = Pairing(document)
    origin.invented = pairing.invented
    answers = Answers(pairing)
    transcript = Transcript([], origin=origin)
    for i, native in enumerate(natives):
        place = (*prefix, i)
        rest = native if i else _lift_tools(native, transcript, place)
        if rest is None:
            continue
        message = _lift_message(rest, answers, pairing, origin)
        if message.role != "tool":
            answers.pair()
        transcript.messages.append(message)
        origin.places.append((place, None))
    answers.pair()
    return transcript


def _lift_tools(native: Native, transcript: Transcript, place: Path) -> Native | None:
    """Set the tools that a leading system text lists; the message without them, None when it says nothing else."""
    found = read_system(native["content"] or "") if native["role"] == "system" else None
    alone = found is not None and not found[0]
    if found is None or transcript.origin is None or (alone and list(native) != ["role", "content"]):
        return native
    transcript.tools = found[1]
    transcript.origin.tools = [(*place, "content")] * len(found[1])
    transcript.origin.document["tools"] = "alone" if alone else "listed"
    return None if alone else {**native, "content": found[0]}


def _lift_message(native: Native, answers: Answers, pairing: Pairing, origin: Origin) -> Message:
    carried, spelling = MESSAGE.take(native)
    role, content = native["role"], native["content"] or ""
    value = read_object(content) if role != "system" else None
    odd: Spelling = {}
    if role == "user" and value is not None and is_result(value):
        role, parts = "tool", [_lift_result(value["tool_result"], answers, origin)]
    elif role == "assistant" and value is not None and is_answer(value):
        more, inner = ANSWER.take(value)
        parts = lift_answer(value, NAME, pairing, origin)[0]
        odd = {"answer": inner or {}}
        carried = {**(carried or {}), **({"content": more} if more else {})}
    else:
        parts = [Text(content)] if content else []
        odd = {"plain": True} if role == "assistant" else {}
    if role == "tool" or "answer" in odd:
        odd |= {} if exact_json.write_text(value) == content else {"text": content}
    message = Message(role, parts, extras=extras_of(NAME, carried))
    origin.spell(message, {**(spelling or {}), **odd})
    return message


def _lift_result(native: Native, answers: Answers, origin: Origin) -> Part:
    carried, spelling = RESULT.take(native)
    result = answers.add(None, native["name"], native["result"])
    result.extras = extras_of(NAME, carried)
    origin.spell(result, {**(spelling or {}), **({} if native["name"] else {"name": native["name"]})})
    return result


# ---------------------------------------------------------------- lower


def _lower_messages(transcript: Transcript) -> list[Native]:
    spellings = transcript.spelling(NAME)
    own = transcript.origin is not None and transcript.origin.dialect == NAME
    messages = active(transcript) if own else list(_one_call_each(results_first(active(transcript))))
    natives = [_lower_message(message, spellings) for message in messages]
    tools = [tool for tool in transcript.tools or () if not is_foreign_builtin(tool)]
    if tools:
        listed = transcript.document_spelling(NAME).get("tools", "listed") == "listed"
        if not natives or natives[0]["role"] != "system" or not listed:
            natives.insert(0, {"role": "system", "content": ""})
        natives[0]["content"] = system_text(natives[0]["content"], tools)
    return natives


def _one_call_each(messages: list[Message]) -> Iterator[Message]:
    """The messages with one call an answer, and every result behind its call."""
    at = 0
    while at < len(messages):
        message = messages[at]
        end = at + 1
        while end < len(messages) and messages[end].role == "tool":
            end += 1
        calls = [part for part in message.parts if isinstance(part, ToolCall)] if message.role == "assistant" else []
        yield from _split(message, calls, messages[at + 1 : end]) if len(calls) > 1 else messages[at:end]
        at = end


def _split(message: Message, calls: list[ToolCall], results: list[Message]) -> Iterator[Message]:
    first: dict[str, int] = {}
    for i, call in enumerate(calls):
        first.setdefault(call.id, i)
    behind: dict[int, list[Message]] = {}
    for result in results:
        behind.setdefault(_answered(result, first), []).append(result)
    for i, call in enumerate(calls):
        others = [] if i else [part for part in message.parts if part is call or not isinstance(part, ToolCall)]
        yield Message("assistant", [call]) if i else replace(message, parts=others)
        yield from behind.get(i, ())
    yield from behind.get(END, ())


END = sys.maxsize


def _answered(message: Message, calls: dict[str, int]) -> int:
    """The index of the call that a result answers; behind the last one if it answers none."""
    ids = (part.tool_call_id for part in message.parts if isinstance(part, ToolResult))
    return min((calls.get(id_, END) for id_ in ids), default=END)


def _lower_message(message: Message, spellings: dict[int, Spelling]) -> Native:
    spelling = spellings.get(id(message), {}) if spellings else {}
    carried = dict(carried_by(message.extras, NAME))
    value: Native | None = None
    if message.role == "tool":
        value = _lower_result(message, spellings)
    elif message.role == "assistant" and ("answer" in spelling or message.parts) and not spelling.get("plain"):
        call = next((part for part in message.parts if isinstance(part, ToolCall)), None)
        answer = lower_answer(message.parts, NAME, spellings.get(id(call), {}) if spellings else {})
        value = ANSWER.put(answer, carried.pop("content", None), spelling.get("answer"))
    content = _content(message, value, spelling.get("text"))
    role = {"tool": "user", "developer": "system"}.get(message.role, message.role)
    return MESSAGE.put({"role": role, "content": content}, carried, spelling)


def _content(message: Message, value: Native | None, written: str | None) -> str:
    """The text of a message; that of the source where it still says the same."""
    if not value:
        return "\n".join(part.text for part in message.parts if isinstance(part, Text))
    return (
        written
        if written is not None and exact_json.exact(read_object(written), value)
        else exact_json.write_text(value)
    )


def _lower_result(message: Message, spellings: dict[int, Spelling]) -> Native | None:
    result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
    if result is None:
        return None
    spelling = spellings.get(id(result), {}) if spellings else {}
    inner = {"name": spelling.get("name", result.name), "result": _value(result)}
    return {"tool_result": RESULT.put(inner, carried_by(result.extras, NAME), spelling)}


def _value(result: ToolResult) -> Any:
    """A result in text or as any other JSON value; a string that is data stands in its quotes."""
    if has_failed(result):
        return said(result)
    return result.value if result.kind == "data" and not isinstance(result.value, str) else in_words(result)


def express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result comes back for which there is no form."""
    as_is = result.kind == "text" or (result.kind == "data" and not isinstance(result.value, str))
    return None if (as_is and not has_failed(result)) or has_media(result) else ("text", _value(result))


RULES = (telling(links.paired(links.Manner(where="later")), "missing-tool-result", "orphan-tool-result"),)

DIALECT = Dialect(
    name=NAME,
    title="JSON in the text of a model without tools",
    specification="src/llm_clients/llama_client.py of ai-coding-agent-glassbox at b0170fd; read 2026-11-20",
    framings=("document", "records"),
    forms=("request", "list"),
    detect=detect,
    lift=lift,
    old_lower=lower,
    rules=RULES,
    conventions=(
        Convention(
            express,
            {
                "error": ("encoded", 'a result has no field for a failure: its text begins with "Error: "'),
                "data": ("changed", "a string is always text: the data is written as JSON"),
                "multimodal": ("changed", "a result holds one text: its texts are joined"),
            },
        ),
    ),
    reasons={
        "moved": "an answer holds one call, and its result comes before the next one",
        "message.grouping": "an answer holds one call, and its result comes before the next one",
        "message.role": "there is only one role for instructions",
        "text": "a message holds one text",
        "refusal": "an answer has no field for a refusal: it is written as a response",
        "reasoning.metadata": "a thought is text only",
        "tool_call.id": "calls have no id",
        "tool_call.rawArguments": "the input of a call is an object",
        "tool_result.toolCallId": "results have no id",
        "tool_result.isError": "a result has no field for a failure",
        "tool.strict": "a tool has no strict mode",
        "toolChoice": "the text cannot force a call",
        "image": "the messages hold text only",
        "audio": "the messages hold text only",
        "video": "the messages hold text only",
        "document": "the messages hold text only",
    },
    places={
        "model": ("model",),
        "settings.stream": ("stream",),
        "settings": ("options",),
    },
    envelope=frozenset(("format", "keep_alive")),
)
