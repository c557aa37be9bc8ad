"""Messages of LangChain and LangGraph: dumped by the library, in graph states, or logged by tracers.

Specification: langchain_core 1.7.2 (messages, messages_to_dict, load.dumpd), and traces of Langfuse
(https://langfuse.com/docs/integrations/langchain/tracing); read 2026-11-22.

Quirks
- A message has three shapes: its keys (`{type, content, …}`), those under `data` with a second `type`
  (`messages_to_dict`), and those under `kwargs` of a constructor (`dumpd`). A graph state has a list of them.
- `tool_calls` takes precedence. Calls in the content and in `additional_kwargs` that only repeat it are dropped. Calls
  that older OpenAI messages have only in `additional_kwargs` are lifted.
- Arguments that are not a JSON object are in `invalid_tool_calls`, as a string.
- Content blocks are those of the answering service, or LangChain's own. convcli writes the latter.
- A chat message names its role itself. Developer messages are chat messages.
- Tracers (Langfuse, LangSmith) log a role instead of the type, which for a result may be the tool's name, and tool
  definitions as messages after the others: `--form logged`.
- A tool result has text or blocks, and `status`. A `RemoveMessage` is an event.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.langchain import blocks
from convcli.dialects.langchain.blocks import BLOCKS, NAME
from convcli.dialects.langchain.messages import (
    TURN,
    USAGE,
    inner_key,
    is_logged,
    lift_items,
    write_definitions,
    write_item,
    write_logged,
)
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.supported import CALLS, TEXTS, TOOLS, counted, fields
from convcli.kit.values import paths, usage_places, with_total
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Transcript
from convcli.validation.rules import arguments, links

INNER = {"flat": "", "to-dict": "data", "constructors": "kwargs", "state": "", "logged": ""}
"""By form: the key under which the keys of a message are."""
SHAPES = {"": "flat", "data": "to-dict", "kwargs": "constructors"}
STATE = Keys("messages")


def lift(document: Any) -> Transcript:
    """Returns the transcript of a list of messages, or of a graph state with one."""
    context, is_list = LiftContext(NAME, document), isinstance(document, list)
    natives = document if is_list else document["messages"]
    context.origin.form = _shape(natives) if is_list or any(map(is_logged, natives)) else "state"
    tools = lift_items(natives, () if is_list else ("messages",), context)
    return context.transcript(tools=tools, extras=None if is_list else make_extras(NAME, STATE.extra(document)))


def _shape(natives: list[Native]) -> str:
    """Returns the form of a list of messages."""
    return "logged" if any(map(is_logged, natives)) else SHAPES[inner_key(natives[0]) if natives else ""]


def write(transcript: Transcript, options: Options) -> Any:
    """Returns the messages in one of the shapes, in a list or in a graph state."""
    form, state_keys = options.form or "flat", get_extras(transcript.extras, NAME)
    if form == "logged":
        natives = [*map(write_logged, transcript.messages), *write_definitions(transcript.tools or [])]
    else:
        natives = [write_item(message, INNER[form]) for message in transcript.messages]
    is_state = form == "state" or (form == "logged" and state_keys)
    return STATE.put({"messages": natives}, state_keys) if is_state else natives


def form_of(transcript: Transcript) -> str:
    """Returns "state" if the transcript has extras of one, else "flat"."""
    return "state" if get_extras(transcript.extras, NAME) else "flat"


# ---------------------------------------------------------------- fit


def _keep_whole_counts(message: Message) -> Message:
    """Keeps token counts only if input and output are known, and sets their sum."""
    usage = with_total(message.usage or {})
    is_whole = {"inputTokens", "outputTokens", "totalTokens"} <= usage.keys()
    kept = usage if is_whole else None
    return message if message.usage == kept else replace(message, usage=kept)


RESULTS = results.text_or_parts("LangChain")
FIT = {
    form: (
        sessions.keep_active_branch,
        sessions.keep_own_events(NAME),
        sessions.set_models_of_answers,
        results.separate_results,
        results.one_result_each,
        results.apply_convention(RESULTS),
        custom.as_functions,
        fitting.settle_by_reading_back(lift, write, form),
        passes.on_each_message(_keep_whole_counts),
    )
    for form in INNER
}

SUPPORTS = TEXTS | BLOCKS.supports() | CALLS | TURN.supports("message") | counted(USAGE)
SUPPORTS |= fields(
    "image.detail message.model message.stopReason message.provider tool_call.rawArguments tool_result.name "
    "tool_result.isError"
)

DIALECT = Dialect(
    name=NAME,
    title="LangChain",
    aliases=("langgraph", "langchain-core"),
    specification="langchain_core 1.7.2; read 2026-11-22",
    framings=("document", "records"),
    forms=tuple(INNER),
    lift=lift,
    write=write,
    fit=FIT,
    form_of=form_of,
    rules=(links.paired(links.PairingRules(where="later")), arguments.readable()),
    conventions=(RESULTS,),
    supports={form: SUPPORTS | TOOLS | {"tool.strict"} if form == "logged" else SUPPORTS for form in INNER},
    reasons={
        "message.usage": "LangChain token counts need input, output and their sum",
        "moved": "in LangChain, calls follow the content, with invalid JSON last",
        "metadata": "LangChain stores Anthropic's signatures of thoughts, and no other metadata",
        "model": "LangChain names the model on each answer",
        "message.model": "LangChain names the model on each answer",
        "message.provider": "LangChain names the provider on each answer",
    },
    places={
        **BLOCKS.places(),
        **blocks.CALLS.places(),
        **paths(
            "message.stopReason=response_metadata/finish_reason message.model=response_metadata/model_name "
            "message.provider=response_metadata/model_provider tool_result.toolCallId=tool_call_id "
            "tool_result.value=content tool_result.kind=content tool_result.isError=status "
            "image.detail=image_url/detail extras.around=.."
        ),
        **usage_places(USAGE, "usage_metadata"),
    },
    envelope=frozenset(("around",)),
)
