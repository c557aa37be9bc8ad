"""Formats that convcli knows by name and that are no dialects: a table of marks, by which an error says what a file is.

Some are envelopes, whose transcripts `--at` reads; some hold no conversation; the others are not read. A dialect that
comes to read one of them takes its row out; `tests/engine/test_foreign.py` fails until it does.

A mark is conditions with spaces between them, all of which must hold of a document or of one of the first records. A
condition is a path of keys (`*`: some item of a list) and what must stand there: nothing more (any value) · `=a|b` one
of these texts · `^a|b` a text that begins so · `:str` a value of this type. `!path`: there is no such value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple

LOOK_AT = 16
"""Records of a file, and items of a list, that are looked at."""
LOOKS_LIKE = "this looks like"
"""How the error begins of a document in one of these formats."""
TYPES = {"str": str, "list": list, "dict": dict}


class Foreign(NamedTuple):
    """A format that is known by name: what a file of it is, its marks, and what may be done with it.

    `at` is what `--at` takes to read the transcripts inside; `is_piece`: what is in the file alone is no
    conversation."""

    name: str
    marks: tuple[str, ...]
    note: str = ""
    at: str = ""
    is_piece: bool = False

    @property
    def message(self) -> str:
        """What a file of it is, and whether convcli can read it."""
        ending = "that alone is no conversation" if self.is_piece else "convcli does not read it yet"
        return f"{LOOKS_LIKE} {self.name}{', which may hold transcripts' if self.at else f'; {ending}'}"

    @property
    def help(self) -> str:
        """What may be done with a file of it."""
        way = f"--at {self.at} reads the transcripts inside" if self.at else ""
        return ", ".join(filter(None, (way, self.note))) or "convcli dialects lists what it reads"


FORMATS = (
    # sessions
    Foreign(
        "a piece of a session of OpenCode",
        (
            "sessionID role time/created",
            "sessionID messageID type",
            "id^prt_|p_ type=text text",
            "projectID directory time/created",
        ),
        "opencode export prints the whole session, which is read",
        is_piece=True,
    ),
    Foreign("a session of Hermes", ("system_prompt messages model_config",), "without the system prompt", "/messages"),
    Foreign("a session of Kimi", ("type^context.append",)),
    Foreign("a chat of VS Code", ("requests/*/message/text requests/*/response",)),
    Foreign("a session of Antigravity", ("step_index source=USER_EXPLICIT|MODEL|SYSTEM",)),
    Foreign("a conversation of Kiro or Amazon Q", ("conversation_id history/*/user/content",)),
    Foreign("a session of Continue", ("sessionId workspaceDirectory history/*/message",)),
    Foreign("a thread of Amp", ("v messages/*/content/*/toolUseID",)),
    Foreign("a thread of Zed", ("messages/*/User", "messages/*/Agent")),
    Foreign(
        "a session of the Agent Client Protocol, version 2",
        (
            "params/update/sessionUpdate=user_message|agent_message|agent_thought|tool_call_content_chunk",
            "update/sessionUpdate=user_message|agent_message|agent_thought|tool_call_content_chunk",
            "sessionUpdate=user_message|agent_message|agent_thought|tool_call_content_chunk",
        ),
    ),
    Foreign(
        "the manifest of a session of Cline",
        ("session_id started_at workspace_root", "session_id started_at messages_path"),
        "the messages are in the file beside it, NAME.messages.json",
        is_piece=True,
    ),
    # trajectories and evaluations
    Foreign("a trajectory of mini-swe-agent", ("trajectory_format^mini-swe-agent",), at="/messages"),
    Foreign("a result of tau-bench", ("task_id traj reward",), at="tau-bench"),
    # frameworks
    Foreign(
        "a trace of OpenAI's Agents SDK",
        ("object=trace|trace.span workflow_name", "object=trace.span span_data"),
        at="openai-agents",
    ),
    Foreign("a log of OpenAI's Realtime API", ("event_id type^session.|conversation.|response.|input_audio_buffer.",)),
    Foreign("a thread of OpenAI's Assistants API", ("object=thread|thread.message", "data/*/object=thread.message")),
    Foreign("messages of LlamaIndex", ("blocks/*/block_type", "messages/*/blocks/*/block_type")),
    Foreign(
        "messages of Haystack",
        ("content/*/tool_call_result", "content/*/reasoning/reasoning_text"),
    ),
    Foreign("messages of Genkit", ("content/*/toolRequest", "content/*/toolResponse")),
    Foreign("a message of Strands", ("message message_id redact_message",)),
    Foreign("messages of Microsoft's Agent Framework", ("type=message role contents/*/type",)),
    Foreign("the state of an agent of AutoGen", ("llm_context/messages",)),
    Foreign("an interaction of the Gemini API", ("object=interaction steps/*/type",)),
    # telemetry and logs
    Foreign(
        "an event or a span of OpenTelemetry without messages",
        (
            "event.name^gen_ai.client|gen_ai.evaluation",
            "gen_ai.provider.name !gen_ai.input.messages !gen_ai.output.messages",
            "attributes/gen_ai.operation.name !attributes/gen_ai.input.messages !attributes/gen_ai.output.messages",
        ),
        "programs write messages only when they are told to capture content",
        is_piece=True,
    ),
    Foreign(
        "a trace of OpenTelemetry (OTLP)",
        ("resourceSpans/*/scopeSpans", "resourceLogs/*/scopeLogs"),
        at="otlp",
    ),
    Foreign(
        "a span of OpenInference with flattened messages",
        (
            "attributes/llm.input_messages.0.message.role !attributes/input.value",
            "attributes/llm.output_messages.0.message.role !attributes/input.value",
            "attributes/*/key^llm.input_messages.|llm.output_messages. !attributes/*/key=gen_ai.input.messages",
            "attributes/llm/input_messages/*/message",
            "llm.input_messages.0.message.role",
        ),
        "a span that holds its request in input.value is read with --at openinference",
    ),
    Foreign(
        "a trace of OpenInference",
        ("attributes/openinference.span.kind",),
        at="openinference",
    ),
    Foreign(
        "a trace of Langfuse",
        (
            "trace observations",
            "observations/*/traceId",
            "traceId type=GENERATION|SPAN|TOOL|AGENT|EVENT",
        ),
        at="langfuse",
    ),
    Foreign("a run of LangSmith", ("run_type inputs",), at="langsmith"),
    Foreign(
        "a list of spans of a trace",
        (
            "input/messages !preferred_output !threadId !observations",
            "input:dict output:dict !observations",
            "input:list output:dict !epoch !observations",
            "output/parts output/kind",
            "output/parts output/role",
            "output/response/parts",
            "span_attributes span_id",
        ),
        at="braintrust",
    ),
    Foreign(
        "the body that makes a batch of Anthropic",
        ("requests/*/custom_id",),
        at="'/requests/*'",
    ),
    Foreign(
        "a batch of the Gemini API",
        ("key request/contents", "key response/candidates"),
        at="gemini-batch",
    ),
    # pieces
    Foreign(
        "definitions of tools",
        (
            "type=function name parameters:dict !role !arguments",
            "type=function function/parameters:dict !role !id",
            "name input_schema:dict !role",
        ),
        "a request that holds them beside its messages is read",
        is_piece=True,
    ),
    # exports
    Foreign("a prompt of Google AI Studio", ("chunkedPrompt",)),
    Foreign("an export of DeepSeek", ("mapping/root inserted_at",)),
    Foreign("an export of Grok", ("conversations/*/responses/*/response",)),
    Foreign("an export of Open WebUI", ("chat/history/messages:dict", "history/messages:dict history/currentId")),
    Foreign(
        "an export of LibreChat",
        ("conversationId messagesTree", "conversationId messages/*/isCreatedByUser"),
    ),
    # rows of training sets
    Foreign(
        "a chat data set with the column conversation",
        ("conversation/*/role conversation/*/content !working_dir",),
        at="conversations",
    ),
    Foreign(
        "a chat data set with the column conversations",
        ("conversations/*/role conversations/*/content",),
        at="conversations",
    ),
    Foreign(
        "a set of preference pairs with a question",
        ("question:str chosen:str rejected:str",),
        "with the key prompt in place of question it is read",
    ),
)


# ---------------------------------------------------------------- marks


class Mark(NamedTuple):
    """A condition: a path, and what is asked of a value there; `is_absent`: no value that passes may stand there."""

    path: tuple[str, ...]
    passes: Callable[[Any], bool]
    is_absent: bool = False

    def holds(self, value: Any) -> bool:
        """Does it hold of this value?"""
        return _some(value, self.path, self.passes) is not self.is_absent


def _some(value: Any, path: tuple[str, ...], passes: Callable[[Any], bool]) -> bool:
    """Does a value at this path pass?"""
    for at, step in enumerate(path):
        if step == "*":
            below = path[at + 1 :]
            return isinstance(value, list) and any(_some(item, below, passes) for item in value[:LOOK_AT])
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return passes(value)


def condition(text: str) -> Mark:
    """The condition that a piece of a mark states."""
    words = text.removeprefix("!")
    at, sign = next(((k, sign) for k, sign in enumerate(words) if sign in "=^:"), (len(words), ""))
    asked = words[at + 1 :]
    options = tuple(asked.split("|"))
    tests: dict[str, Callable[[Any], bool]] = {
        "": lambda value: True,
        "=": lambda value: value in options,
        "^": lambda value: isinstance(value, str) and value.startswith(options),
        ":": lambda value: isinstance(value, TYPES[asked]),
    }
    return Mark(tuple(words[:at].split("/")), tests[sign], text.startswith("!"))


@cache
def _by_key() -> dict[tuple[str, ...], list[tuple[tuple[Mark, ...], Foreign]]]:
    """The marks by the first keys that they ask for (`_keys`): a document has few of these."""
    index: dict[tuple[str, ...], list[tuple[tuple[Mark, ...], Foreign]]] = {}
    for foreign in FORMATS:
        for text in foreign.marks:
            marks = tuple(condition(piece) for piece in text.split())
            path = marks[0].path
            index.setdefault(path[:3] if path[1:2] == ("*",) else path[:1], []).append((marks, foreign))
    return index


def _keys(value: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys of an object, and those of the objects in its lists."""
    for key, below in value.items():
        yield (key,)
        if isinstance(below, list):
            objects = [item for item in below[:LOOK_AT] if isinstance(item, dict)]
            yield from ((key, "*", name) for name in dict.fromkeys(chain.from_iterable(objects)))


def recognise(values: Iterable[Any]) -> Foreign | None:
    """The foreign format of a document, or of the first of these records; None where no mark of one is seen."""
    for value in islice(values, LOOK_AT):
        for one in [value, *value[:LOOK_AT]] if isinstance(value, list) else [value]:
            foreign = _of_object(one) if isinstance(one, dict) else None
            if foreign is not None:
                return foreign
    return None


def _of_object(value: dict[str, Any]) -> Foreign | None:
    index = _by_key()
    for keys in _keys(value):
        for marks, foreign in index.get(keys, ()):
            if all(mark.holds(value) for mark in marks):
                return foreign
    return None
