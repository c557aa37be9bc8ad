"""Sessions of Kimi Code: `wire.jsonl` in a folder of `~/.kimi-code/sessions`, one event per line; read-only.

Specification: packages/agent-core/src/agent/records/types.ts and src/loop/events.ts of MoonshotAI/kimi-code at
d723cc47 (protocols 1.1 to 1.5); read 2026-11-27.

Quirks
- A step of the agent is an answer. Its parts, its calls and its end are rows of their own, in which `stepUuid` names
  the step; results are rows, too. Other messages are whole (`context.append_message`).
- `turn.prompt` repeats the message of the user that follows it. `turn.steer` is what the user added during a turn.
- A configuration row may have the system prompt, and names the model of the steps behind it. A session that goes on
  states both again: the same prompt is not another message.
- `llm.tools_snapshot` has the definitions that the model was sent. The first is read, later ones are kept.
- A compaction replaces what the model saw before; `contextSummary` is its text for the model. Messages of the user that
  it keeps are not repeated.
- Rows that undo or clear messages are kept as events: these messages stay in the transcript.
- Input counts exclude cached tokens.
"""

from __future__ import annotations

from typing import Any

from convcli.families import kosong
from convcli.families.anthropic.usage import lift_usage
from convcli.kit import results, sessions
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import Native, add_extras, as_object, as_text, except_keys, make_extras, omit
from convcli.kit.supported import fields
from convcli.kit.values import counts, paths
from convcli.model.dialect import Dialect, Program, ProgramTurns, tags
from convcli.model.transcript import Message, Part, Path, Text, ToolDefinition, Transcript
from convcli.validation.rules import arguments, links

NAME = "kimi-code"
METADATA, TOOLS, LOOP = "metadata", "llm.tools_snapshot", "context.append_loop_event"
APPENDED, COMPACTED, CONFIGURED = (
    "context.append_message",
    "context.apply_compaction",
    ("config.update", "profile.bind"),
)
ROLES = ("system", "user", "assistant", "tool")
ROW = Envelope("type= time agentId", {"time": CREATED_IN_MILLISECONDS})
HEADER = Envelope("type= protocol_version created_at", {"created_at": CREATED_IN_MILLISECONDS})
COUNTS = counts(
    "inputOther=inputTokens output=outputTokens inputCacheRead=cacheReadTokens inputCacheCreation=cacheWriteTokens"
)
CALL = CallTable("id=id name=name arguments=arguments", defaults={"type": "function"})
EVENT_CALL = CallTable("toolCallId=id name=name args=arguments", defaults={"type": "function"})
FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "filtered": "content_filter",
    "paused": "pause",
}
SNAPSHOT = "#"
"""In `places`: the row with the definitions."""
PARTS = kosong.blocks(NAME, "{}Url")


def lift(document: Any) -> Transcript:
    """Returns the transcript of an agent's log."""
    return _Log(document).transcript


class _Log:
    """One log while it is lifted."""

    def __init__(self, document: Any) -> None:
        self.context = LiftContext(NAME, document)
        self.transcript = self.context.transcript()
        self.steps: dict[Any, tuple[Message, int, list[Path]]] = {}
        """The answers, with their rows and the paths of their parts, by the id of their step."""
        self.model: str | None = None
        self.prompt: str | None = None
        for i, row in enumerate(document):
            if not (isinstance(row, dict) and self._lift(row, i)):
                sessions.add_event(self.context, row, (i,))

    def _lift(self, row: Native, i: int) -> bool:
        """Lifts a row; False if it is an event."""
        kind = row.get("type")
        if kind == METADATA and i == 0:
            self.context.origin.routes |= {(key,): (i, key) for key in row}
            self.transcript.extras = make_extras(NAME, HEADER.lift(row, self.transcript))
        elif kind in CONFIGURED:
            return self._configure(row, i)
        elif kind == TOOLS and isinstance(row.get("tools"), list) and self.transcript.tools is None:
            self._lift_tools(row, i)
        elif kind == APPENDED and as_object(row.get("message")).get("role") in ROLES:
            self._append(row, row["message"], i)
        elif kind == COMPACTED:
            self._compact(row, i)
        else:
            return kind == LOOP and self._lift_event(row, row["event"], i)
        return True

    def _configure(self, row: Native, i: int) -> bool:
        self.model = as_text(row.get("modelAlias")) or self.model
        prompt = as_text(row.get("systemPrompt"))
        if prompt is None or prompt == self.prompt:
            return False
        self.prompt = prompt
        self._add(Message("system", [Text(prompt)]), row, i, [("systemPrompt",)], "systemPrompt")
        return True

    def _lift_tools(self, row: Native, i: int) -> None:
        known = ("name", "description", "parameters")
        self.transcript.tools = [
            ToolDefinition(
                native["name"],
                native.get("description"),
                native.get("parameters"),
                extras=make_extras(NAME, except_keys(native, *known)),
            )
            for native in row["tools"]
        ]
        self.context.origin.aliases = {SNAPSHOT: str(i)}
        self.context.origin.tools = [(i, "tools", k) for k in range(len(row["tools"]))]
        extra = (self.transcript.extras or {}).get(NAME)
        self.transcript.extras = make_extras(NAME, extra, snapshot=except_keys(row, "type", "tools"))

    def _add(
        self, message: Message, row: Native, i: int, places: list[Path], read: str, inside: Native | None = None
    ) -> None:
        """Adds the message of a row; `read` is the key that it was made of, `inside` the extras of nested objects."""
        extra = {key: value for key, value in (ROW.lift(row, message) or {}).items() if key != read}
        kind = {} if row["type"] in (APPENDED, LOOP, COMPACTED) else {"type": row["type"]}
        message.extras = make_extras(NAME, {**kind, **extra}, **(inside or {}))
        self.context.add(message, (i,), places)

    def _append(self, row: Native, native: Native, i: int) -> None:
        content, natives = native.get("content") or [], native.get("toolCalls") or []
        of_role = ("toolCallId", "isError") if native["role"] == "tool" else ("toolCalls",)
        rest = except_keys(native, "role", "name", "content", *of_role)
        rest = rest if natives else omit(rest, "toolCalls")
        message = Message(native["role"], [], name=as_text(native.get("name")))
        places: list[Path] = [()]
        if message.role == "tool":
            ids = self.context.pairing.result(as_text(native.get("toolCallId")), message.name)
            inside = [PARTS.lift_inside(part, self.context) for part in content]
            failed, message.name = native.get("isError") is True, None
            message.parts = [results.result_of_parts(*ids, inside or [Text("")], failed=failed)]
        else:
            message.parts = [PARTS.lift(part, self.context) for part in content]
            message.parts += [CALL.lift(one, self.context) for one in natives]
            places = [("message", "content", k) for k in range(len(content))]
            places += [("message", "toolCalls", k) for k in range(len(natives))]
        self._add(message, row, i, places, "message", {"message": rest})

    def _compact(self, row: Native, i: int) -> None:
        key = "summary" if as_text(row.get("contextSummary")) is None else "contextSummary"
        message = Message("user", [Text(row[key])], replaces="all")
        self._add(message, row, i, [(key,)], key)

    def _lift_event(self, row: Native, event: Native, i: int) -> bool:
        """Lifts an event of a step, or a result; False if no step is known for it."""
        kind = event["type"]
        if kind == "step.begin":
            places: list[Path] = []
            message = Message("assistant", [], model=self.model)
            self.steps[event["uuid"]] = message, i, places
            self._add(message, row, i, places, "event", {"event": except_keys(event, "type")})
            return True
        if kind == "tool.result":
            self._add_result(row, event, i)
            return True
        step = self.steps.get(event.get("uuid" if kind == "step.end" else "stepUuid"))
        if step is None:
            return False
        message, first, places = step
        around = except_keys(row, "type", "event")
        if kind == "step.end":
            self.context.origin.routes |= {(first, "end"): (i, "event"), (first, "ended"): (i,)}
            self._end(message, event, around)
        elif kind in ("content.part", "tool.call"):
            is_call = kind == "tool.call"
            part = EVENT_CALL.lift(event, self.context) if is_call else PARTS.lift(event["part"], self.context)
            rest = {"outer": around} if is_call else {"row": around, "piece": except_keys(event, "type", "part")}
            add_extras(part, NAME, None, **rest)
            message.parts.append(part)
            place = ("..", i, "event") if first != i else ("event",)
            places.append(place if is_call else (*place, "part"))
        else:
            return False
        return True

    def _end(self, message: Message, event: Native, around: Native) -> None:
        """Adds the facts of the end of a step to its answer."""
        usage, rest = lift_usage(event.get("usage") or {}, COUNTS)
        reason = event.get("finishReason")
        message.usage, message.stop_reason = usage or None, FINISH.get(reason) if isinstance(reason, str) else None
        kept = ("type", "usage") if message.stop_reason is None else ("type", "usage", "finishReason")
        end = {**except_keys(event, *kept), **({"usage": rest} if rest else {})}
        extra = (message.extras or {}).get(NAME)
        message.extras = make_extras(NAME, extra, end=end, ended=around)

    def _add_result(self, row: Native, event: Native, i: int) -> None:
        native = event["result"]
        output = native.get("output")
        inside: list[Part] = [Text(output)] if isinstance(output, str) else []
        inside += [PARTS.lift_inside(part, self.context) for part in output or ()] if not inside else []
        ids = self.context.pairing.result(as_text(event.get("toolCallId")), None)
        result = results.result_of_parts(*ids, inside or [Text("")], failed=native.get("isError") is True)
        rest = except_keys(event, "type", "toolCallId", "result")
        kept = {"event": rest, "result": except_keys(native, "output", "isError")}
        self._add(Message("tool", [result]), row, i, [("event",)], "event", kept)


DIALECT = Dialect(
    name=NAME,
    title="Kimi Code",
    specification="protocols 1.1 to 1.5, MoonshotAI/kimi-code at d723cc47; read 2026-11-27",
    framings=("events",),
    forms=("log",),
    programs=(Program(NAME, ".kimi-code", "sessions/*/*/agents/*/wire.jsonl", "KIMI_CODE_HOME"),),
    program_turns=ProgramTurns(tags("system-reminder")),
    lift=lift,
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    repeats=frozenset(("/*/event/usage/inputOther",)),
    places={
        **EVENT_CALL.places,
        **HEADER.places("", "0"),
        **ROW.places("message"),
        **paths(
            "reasoning.text=think tool_result.toolCallId=toolCallId tool_result.value=result/output "
            f"tool_result.kind=result extras.snapshot={SNAPSHOT} extras.row=../.. extras.piece=.. extras.outer=.. "
            "extras.end=end extras.ended=ended message.usage=end/usage message.stopReason=end/finishReason "
            "extras.message=message extras.event=event extras.result=event/result message.name=message/name"
        ),
    },
    metadata=fields(
        "turn.prompt turn.steer tools.set_active_tools llm.request llm.tools_snapshot profile.bind "
        "permission.record_approval_result config.update usage.record "
        "mcp.tools_discovered tools.update_store display description origin"
    ),
    envelope=fields(
        "event row outer piece end ended agentId protocol_version snapshot uuid stepUuid turnId step parentUuid origin "
        "display description"
    ),
)
