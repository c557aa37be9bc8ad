"""Formats that convcli knows by name and does not read: a table of marks, so that an error can say what a file is.

A dialect that comes to read one of them takes its row out; `tests/engine/test_foreign.py` fails until it does.

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
TYPES = {"str": str, "list": list, "dict": dict}


class Foreign(NamedTuple):
    """A format that is known by name: what a file of it is, its marks, and what may be done with it."""

    name: str
    marks: tuple[str, ...]
    help: str = ""


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
    ),
    Foreign("a session of Hermes", ("system_prompt messages model_config",)),
    Foreign("a session of Kimi", ("type^context.append",)),
    Foreign(
        "the manifest of a session of Cline",
        ("session_id started_at workspace_root", "session_id started_at messages_path"),
        "the messages are in the file beside it, NAME.messages.json",
    ),
    # trajectories and evaluations
    Foreign("a trajectory of mini-swe-agent", ("trajectory_format^mini-swe-agent",)),
    Foreign("a result of tau-bench", ("task_id traj reward",)),
    # frameworks
    Foreign("a trace of OpenAI's Agents SDK", ("object=trace|trace.span workflow_name", "object=trace.span span_data")),
    Foreign("a log of OpenAI's Realtime API", ("event_id type^session.|conversation.|response.|input_audio_buffer.",)),
    Foreign("a thread of OpenAI's Assistants API", ("object=thread|thread.message", "data/*/object=thread.message")),
    # telemetry and logs
    Foreign(
        "an event or a span of OpenTelemetry without messages",
        (
            "event.name^gen_ai.client|gen_ai.evaluation",
            "gen_ai.provider.name !gen_ai.input.messages !gen_ai.output.messages",
            "attributes/gen_ai.operation.name !attributes/gen_ai.input.messages !attributes/gen_ai.output.messages",
        ),
    ),
    Foreign(
        "a trace of OpenTelemetry (OTLP)",
        ("resourceSpans/*/scopeSpans", "resourceLogs/*/scopeLogs"),
        "the messages inside are read with --at otlp",
    ),
    Foreign(
        "a trace of OpenInference",
        ("attributes/openinference.span.kind",),
        "the messages inside are read with --at openinference",
    ),
    Foreign(
        "a trace of Langfuse",
        ("trace observations", "traceId type=GENERATION|SPAN|TOOL|AGENT|EVENT"),
        "the messages inside are read with --at langfuse",
    ),
    Foreign("a run of LangSmith", ("run_type inputs",), "the messages inside are read with --at langsmith"),
    Foreign(
        "a list of spans of a trace",
        (
            "input/messages !preferred_output !threadId",
            "input:dict output:dict",
            "input:list output:dict !epoch",
            "output/parts output/kind",
            "output/parts output/role",
            "output/response/parts",
            "span_attributes span_id",
        ),
        "the messages inside are read with --at braintrust",
    ),
    Foreign(
        "the body that makes a batch of Anthropic",
        ("requests/*/custom_id",),
        "the requests inside are read with --at '/requests/*'",
    ),
    Foreign(
        "a batch of the Gemini API",
        ("key request/contents", "key response/candidates"),
        "the requests and responses inside are read with --at gemini-batch",
    ),
    # pieces
    Foreign(
        "definitions of tools without a conversation",
        (
            "type=function name parameters:dict !role !arguments",
            "type=function function/parameters:dict !role !id",
            "name input_schema:dict !role",
        ),
        "a request that holds them beside its messages is read",
    ),
    # exports
    Foreign("a prompt of Google AI Studio", ("chunkedPrompt",)),
    # rows of training sets
    Foreign(
        "a chat data set with the column conversation",
        ("conversation/*/role conversation/*/content !working_dir",),
        "the conversations inside are read with --at /conversation",
    ),
    Foreign(
        "a chat data set with the column conversations",
        ("conversations/*/role conversations/*/content",),
        "the conversations inside are read with --at /conversations",
    ),
    Foreign(
        "a set of preference pairs with a question",
        ("question:str chosen:str rejected:str",),
        "call the question prompt, and convert that",
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
