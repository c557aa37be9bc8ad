"""LangChain's messages, and LangGraph's: dumped and stored by the library, in states of graphs, or logged by tracers.

Specification: langchain_core 1.7.2 (messages, messages_to_dict, load.dumpd), and traces of Langfuse
(https://langfuse.com/docs/integrations/langchain/tracing); read 2026-11-22.

Quirks
- One message has three shapes: its keys (`{type, content, …}`), those under `data` behind a second `type`
  (`messages_to_dict`), and those under `kwargs` of a constructor (`dumpd`). A state of a graph holds a list of them.
- `tool_calls` counts. Calls in the content and in `additional_kwargs` that only repeat it are no facts; what OpenAI's
  older messages have in `additional_kwargs` alone are calls.
- Arguments that are no JSON object stand in `invalid_tool_calls`, as text.
- Blocks of the content are those of whichever service spoke, or LangChain's own. The latter are written.
- A message of a chat names its role itself, so that is where a developer speaks.
- Tracers (Langfuse, LangSmith) log a role in place of the type, which for a result may be the name of its tool, and the
  definitions of tools as messages behind the others: `--form logged`.
- A tool answers with text or blocks, and with `status`; a `RemoveMessage` is an event.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.langchain.blocks import NAME
from convcli.dialects.langchain.messages import (
    KINDS,
    USAGE,
    inner_key,
    is_definition,
    is_logged,
    lift_items,
    write_definitions,
    write_item,
    write_logged,
)
from convcli.kit import custom, fitting, lacking, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.texts import only_text
from convcli.kit.values import paths, with_total
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, ToolResult, Transcript
from convcli.validation.rules import arguments, links
from convcli.wire import exact_json

INNER = {"flat": "", "to-dict": "data", "constructors": "kwargs", "state": "", "logged": ""}
"""Under which key the keys of a message stand, by form."""
SHAPES = {"": "flat", "data": "to-dict", "kwargs": "constructors"}
STATE = Keys("messages")


def detect(document: Any) -> Clue | None:
    """By constructors, by a type beside data, or by the types of messages beside a content."""
    natives = document.get("messages") if isinstance(document, dict) else document
    if not isinstance(natives, list) or not all(isinstance(native, dict) for native in natives):
        return None
    return max(filter(None, map(_mark, natives)), default=None)


def _mark(native: Native) -> Clue | None:
    if "lc" in native and "kwargs" in native:
        return Clue(98, "constructors of messages")
    if is_logged(native):
        return _mark_of_log(native)
    kind, data = native.get("type"), native.get("data")
    if not isinstance(kind, str) or kind not in KINDS or "role" in native:
        return None
    if isinstance(data, dict) and "content" in data:
        return Clue(97, "a type beside data")
    if kind == "tool" and "tool_call_id" in native and "response_metadata" in native:
        return Clue(95, "results with response_metadata")
    return Clue(95, "messages of humans and AIs") if kind in ("human", "ai") or kind[0].isupper() else None


def _mark_of_log(native: Native) -> Clue | None:
    """What tells a message that a tracer wrote from one of Chat Completions."""
    calls = native.get("tool_calls")
    if "additional_kwargs" in native:
        return Clue(94, "a role beside additional_kwargs")
    if isinstance(calls, list) and any(isinstance(one, dict) and {"name", "args"} <= one.keys() for one in calls):
        return Clue(94, "a role beside calls with args")
    return Clue(94, "the definition of a tool as a message") if is_definition(native) else None


def lift(document: Any) -> Transcript:
    """The transcript of a list of messages, or of a state that holds one."""
    context, is_list = LiftContext(NAME, document), isinstance(document, list)
    natives = document if is_list else document["messages"]
    context.origin.form = _shape(natives) if is_list or any(map(is_logged, natives)) else "state"
    tools = lift_items(natives, () if is_list else ("messages",), context)
    return context.transcript(tools=tools, extras=None if is_list else extras_of(NAME, STATE.carried(document)))


def _shape(natives: list[Native]) -> str:
    """The form of a list of messages."""
    return "logged" if any(map(is_logged, natives)) else SHAPES[inner_key(natives[0]) if natives else ""]


def write(transcript: Transcript, options: Options) -> Any:
    """The messages in one of the shapes, in a list or in a state."""
    form, around = options.form or "flat", carried_by(transcript.extras, NAME)
    if form == "logged":
        natives = [*map(write_logged, transcript.messages), *write_definitions(transcript.tools or [])]
    else:
        natives = [write_item(message, INNER[form]) for message in transcript.messages]
    is_state = form == "state" or (form == "logged" and around)
    return STATE.put({"messages": natives}, around) if is_state else natives


def form_of(transcript: Transcript) -> str:
    """A state where there is what only a state has, else a list."""
    return "state" if carried_by(transcript.extras, NAME) else "flat"


# ---------------------------------------------------------------- fit


def _counted(message: Message) -> Message:
    """Counts are those of input and output and their sum, or none."""
    usage = with_total(message.usage or {})
    is_whole = {"inputTokens", "outputTokens", "totalTokens"} <= usage.keys()
    wanted = usage if is_whole else None
    return message if message.usage == wanted else replace(message, usage=wanted)


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """How a result is read back for which a tool message has no field."""
    kind = "error" if result.is_error else "text"
    if result.kind == "data":
        return kind, exact_json.write_text(result.value)
    text = only_text(result.value) if result.kind == "multimodal" else None
    return None if text is None else (kind, text)


RESULTS = Convention(
    _express,
    {
        "data": ("changed", "a tool message holds text: the data is written as JSON"),
        "error": ("changed", "a tool message holds text: the data is written as JSON"),
        "multimodal": ("changed", "a content of one text is the same as that text"),
    },
)
FIT = {
    form: (
        sessions.active_branch,
        sessions.own_events(NAME),
        sessions.with_models,
        results.separate_results,
        passes.on_messages(results.single_results),
        results.expressed(RESULTS),
        custom.as_functions,
        fitting.as_read_back(lift, write, form),
        passes.on_each_message(_counted),
    )
    for form in INNER
}

LACKS = lacking.AROUND_PARTS - lacking.fields(
    "message.id message.name message.usage message.stopReason"
) | lacking.fields("image.name audio.name video.name audio.detail video.detail document.detail tool_result.status")
AROUND = frozenset((f"extras.{NAME}.around",))
HAS = {"logged": lacking.TOOLS}
NOTHING = frozenset[str]()

DIALECT = Dialect(
    name=NAME,
    title="LangChain",
    aliases=("langgraph", "langchain-core"),
    specification="langchain_core 1.7.2; read 2026-11-22",
    framings=("document", "records"),
    forms=tuple(INNER),
    detect=detect,
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable()),
    conventions=(RESULTS,),
    lacks={form: (LACKS if inner else LACKS | AROUND) - HAS.get(form, NOTHING) for form, inner in INNER.items()},
    has=lacking.fields("message.provider"),
    reasons={
        "message.usage": "counts are those of input and output and their sum",
        "moved": "calls stand behind the content, those that are no JSON last",
        "metadata": "reasoning has a signature of Anthropic, and nothing else has metadata",
        "model": "each answer names its model",
        "message.model": "each answer names its model",
        "message.provider": "each answer names its provider",
    },
    places={
        **paths(
            "message.stopReason=response_metadata/finish_reason message.model=response_metadata/model_name "
            "message.provider=response_metadata/model_provider "
            "message.usage=usage_metadata tool_call.arguments=args tool_call.rawArguments=args "
            "tool_result.toolCallId=tool_call_id tool_result.value=content tool_result.kind=content "
            "tool_result.isError=status image.detail=image_url/detail extras.around=.."
        ),
        **{f"message.usage.{ours}": ("usage_metadata", *path) for path, ours in USAGE.items()},
    },
    envelope=frozenset(("around",)),
)
