"""Sessions of Kimi CLI: `context.jsonl` in a folder of `~/.kimi/sessions`, one message per line.

Specification: none is published. Source: src/kimi_cli/soul and packages/kosong of MoonshotAI/kimi-cli at 4a550eff
(1.52); read 2026-11-27.

Quirks
- Rows whose role begins with `_` belong to the program: `_system_prompt` is the instruction, `_usage` a count of the
  tokens in the context, `_checkpoint` a place to which the model can return. The program then starts a new file.
- Messages are those of Chat Completions with other parts: `think`, and audio and video by URL.
- What a tool adds for the model is in `<system>` tags. A failure is a text that begins with `<system>ERROR: `.
- Times, counts and events are in `wire.jsonl` next to it, which convcli does not read.
- The program finds a session by an index of directories (`kimi.json`), which convcli does not write.
"""

from __future__ import annotations

from typing import Any

from convcli.families import kosong
from convcli.families.openai import calls as openai
from convcli.families.openai.tables import OF_FUNCTIONS
from convcli.kit import fitting, results, sessions, supported
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, as_text, except_keys, get_extras, make_extras
from convcli.kit.texts import only_text
from convcli.kit.values import paths
from convcli.model.dialect import Convention, Dialect, Options, Program, ProgramTurns, tags
from convcli.model.document import Rows
from convcli.model.transcript import Message, Part, PartPaths, Text, ToolResult, Transcript
from convcli.validation.rules import arguments, links

NAME = "kimi-cli"
ROLES = ("system", "user", "assistant", "tool")
PROMPT = "_system_prompt"
FAILURE, FAILURE_END = "<system>ERROR: ", "</system>"
PARTS = kosong.blocks(NAME, "{}_url")


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    context = LiftContext(NAME, document)
    for i, row in enumerate(document):
        role = row.get("role") if isinstance(row, dict) else None
        if role == PROMPT:
            extras = make_extras(NAME, except_keys(row, "role", "content"))
            context.add(Message("system", [Text(row["content"])], extras=extras), (i,), [("content",)])
        elif role in ROLES:
            context.add(*_lift_message(row, i, context))
        else:
            sessions.add_event(context, row, (i,))
    return context.transcript()


def _lift_message(native: Native, i: int, context: LiftContext) -> tuple[Message, tuple[int], PartPaths]:
    content: Any = native.get("content") or []
    is_text = isinstance(content, str)
    parts: list[Part] = [Text(content)] if is_text else [PARTS.lift(part, context) for part in content]
    of_role = "tool_call_id" if native["role"] == "tool" else "tool_calls"
    extras = make_extras(NAME, except_keys(native, "role", "name", "content", of_role))
    message = Message(native["role"], parts, name=as_text(native.get("name")), extras=extras)
    if message.role == "tool":
        inside: list[Part] = parts if is_text else [PARTS.lift_inside(part, context) for part in content]
        ids = context.pairing.result(as_text(native.get("tool_call_id")), message.name)
        read = results.result_of_parts(*ids, inside or [Text("")], failed=_is_marked(inside))
        message.name, message.parts = None, [read]
        return message, (i,), [()]
    natives = native.get("tool_calls") or []
    message.parts += [openai.lift_call(one, context) for one in natives]
    places = [("content",)] if is_text else [("content", k) for k in range(len(content))]
    return message, (i,), [*places, *(("tool_calls", k) for k in range(len(natives)))]


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a session. A leading instruction is the system prompt."""
    return Rows([_write_message(message, is_first=i == 0) for i, message in enumerate(transcript.messages)])


def _write_message(message: Message, *, is_first: bool) -> Any:
    if message.role == "event":
        return sessions.row_of_event(message, NAME)
    extra, prompt = get_extras(message.extras, NAME), only_text(message.parts)
    if is_first and message.role == "system" and prompt is not None and message.name is None:
        return {"role": PROMPT, "content": prompt, **extra}
    result = results.result_of(message)
    if result is not None:
        inside = result.value if result.kind == "multimodal" else [Text(result.value)]
        content = [native for part in inside if (native := PARTS.write_inside(part)) is not None]
        return {"role": "tool", "content": _content(content), "tool_call_id": result.tool_call_id, **extra}
    content, natives = openai.write_parts(message.parts, NAME, PARTS.write)
    named = {} if message.name is None else {"name": message.name}
    called = {"tool_calls": natives} if natives else {}
    return {"role": message.role, **named, "content": _content(content), **called, **extra}


def _content(parts: list[Native]) -> Any:
    return openai.content_of(parts) if parts else []


# ---------------------------------------------------------------- fit


def _express(result: ToolResult) -> tuple[str, Any] | None:
    """Marks a failure in the text, as the program does."""
    kind, value = TEXTS.express(result) or (result.kind, result.value)
    if kind == "error" and not value.startswith(FAILURE):
        return kind, f"{FAILURE}{value}{FAILURE_END}"
    if result.is_error and kind == "multimodal" and not _is_marked(value):
        return kind, [Text(f"{FAILURE}the tool failed{FAILURE_END}"), *value]
    return None if (kind, value) == (result.kind, result.value) else (kind, value)


def _is_marked(parts: list[Part]) -> bool:
    return bool(parts) and isinstance(parts[0], Text) and parts[0].text.startswith(FAILURE)


TEXTS = results.text_or_parts("Kimi CLI")
RESULTS = Convention(_express, {**TEXTS.loss, "error": ("encoded", f"the text of a failure begins with {FAILURE!r}")})
FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, lambda row: isinstance(row, dict) and row.get("role") in (PROMPT, *ROLES)),
    *sessions.plain_turns(RESULTS),
    fitting.settle_by_reading_back(lift, write, "session"),
)
PROGRAM = Program(NAME, ".kimi", "sessions/*/*/context.jsonl", "KIMI_SHARE_DIR")

DIALECT = Dialect(
    name=NAME,
    title="Kimi CLI",
    specification="sessions of Kimi CLI 1.52, MoonshotAI/kimi-cli at 4a550eff; read 2026-11-27",
    framings=("events",),
    forms=("session",),
    programs=(PROGRAM,),
    program_turns=ProgramTurns(tags("system-reminder", "system")),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS,),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    supports=supported.TEXTS
    | supported.CALLS
    | supported.OPAQUE
    | supported.media("image audio video", "data url mediaType")
    | supported.fields("message.name reasoning.text tool_call.rawArguments tool_result.isError"),
    reasons={
        **sessions.NOTHING_SENT,
        "event": sessions.REASONS["event"],
        "refusal": "Kimi CLI has no part for a refusal: it is written as text",
        "message.model": "Kimi CLI stores no models in a session",
    },
    places=OF_FUNCTIONS
    | paths(
        "reasoning.text=think tool_result.toolCallId=tool_call_id tool_result.value=content "
        "tool_result.kind=content tool_result.isError=content"
    ),
    metadata=frozenset(("encrypted", "partial")),
)
