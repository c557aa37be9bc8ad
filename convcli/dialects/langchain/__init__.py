"""Messages of LangChain and LangGraph: as the library dumps them, as it stores them, and as states of graphs have them.

Specification: langchain_core 1.7.2 (messages, messages_to_dict, load.dumpd); read 2026-11-22.

Quirks
- One message has three shapes: its keys (`{type, content, …}`), those under `data` behind a second `type`
  (`messages_to_dict`), and those under `kwargs` of a constructor (`dumpd`). A state of a graph holds a list of them.
- `tool_calls` counts. Calls in the content and in `additional_kwargs` that only repeat it are no facts; what OpenAI's
  older messages have in `additional_kwargs` alone are calls.
- Arguments that are no JSON object stand in `invalid_tool_calls`, as text.
- Blocks of the content are those of whichever service spoke, or LangChain's own. The latter are written.
- A message of a chat names its role itself, so that is where a developer speaks.
- A tool answers with text or blocks, and with `status`; a `RemoveMessage` is an event.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.langchain.blocks import NAME
from convcli.dialects.langchain.messages import KINDS, USAGE, bare_text, inner_key, lift_item, write_item
from convcli.kit import custom, fitting, lacking, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, carried_by, extras_of
from convcli.kit.values import paths, with_total
from convcli.model.dialect import Clue, Convention, Dialect, Options
from convcli.model.transcript import Message, ToolResult, Transcript
from convcli.validation.rules import arguments, links
from convcli.wire import exact_json

INNER = {"flat": "", "to-dict": "data", "constructors": "kwargs", "state": ""}
"""Under which key the keys of a message stand, by form."""
SHAPES = {key: form for form, key in reversed(INNER.items()) if form != "state"}
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
    kind, data = native.get("type"), native.get("data")
    if not isinstance(kind, str) or kind not in KINDS or "role" in native:
        return None
    if isinstance(data, dict) and "content" in data:
        return Clue(97, "a type beside data")
    if kind == "tool" and "tool_call_id" in native and "response_metadata" in native:
        return Clue(95, "results with response_metadata")
    return Clue(95, "messages of humans and AIs") if kind in ("human", "ai") or kind[0].isupper() else None


def lift(document: Any) -> Transcript:
    """The transcript of a list of messages, or of a state that holds one."""
    context = LiftContext(NAME, document)
    if isinstance(document, list):
        context.origin.form = SHAPES[inner_key(document[0]) if document else ""]
        for i, native in enumerate(document):
            lift_item(native, (i,), context)
        return context.transcript()
    context.origin.form = "state"
    for i, native in enumerate(document["messages"]):
        lift_item(native, ("messages", i), context)
    return context.transcript(extras=extras_of(NAME, STATE.carried(document)))


def write(transcript: Transcript, options: Options) -> Any:
    """The messages in one of the shapes, in a list or in a state."""
    natives = [write_item(message, INNER[options.form or "flat"]) for message in transcript.messages]
    if options.form != "state":
        return natives
    return STATE.put({"messages": natives}, carried_by(transcript.extras, NAME))


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
    text = bare_text(result.value) if result.kind == "multimodal" else None
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
        sessions.events(lambda message: sessions.row_of_event(message, NAME) is not None),
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

LACKS = (lacking.SESSION | lacking.REQUEST | lacking.TOOLS | lacking.MESSAGE) - lacking.fields(
    "message.id message.name message.usage message.stopReason"
) | lacking.fields("image.name audio.name video.name audio.detail video.detail document.detail tool_result.status")

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
    lacks={form: LACKS if inner else LACKS | {f"extras.{NAME}.around"} for form, inner in INNER.items()},
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
