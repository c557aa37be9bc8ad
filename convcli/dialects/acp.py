"""Agent Client Protocol: the session updates that an agent sends to an editor. Read-only.

Specification: https://agentclientprotocol.com, schema 1.19 of version 1 as typed by the Python package
`agent-client-protocol` 0.12.1; read 2026-11-23. No program loads such a log again.

Quirks
- A row is a JSON-RPC message, the parameters of `session/update`, or an update alone.
- Text and thoughts arrive in chunks. Nothing marks the end of a message: it ends at another speaker, at a result, or
  at a chunk that names another message.
- A call has a title for people, and only some agents name its tool. Its input may arrive later.
- A call that has completed or failed is its own result. Other updates of a running call, plans and modes are events.
- The rows of each session are a transcript; rows without a session belong to the one before.
- The answer to a prompt states why the agent stopped, and the token counts of the whole prompt.
"""

from __future__ import annotations

from typing import Any

from convcli.kit.objects import Native, add_extras, as_object, except_keys, get_extras, make_extras, omit, without_nulls
from convcli.kit.runs import Run
from convcli.kit.streams import Boundaries, Limits, Pieces
from convcli.kit.texts import only_text
from convcli.kit.unsupported import fields
from convcli.kit.values import pairs, paths, take_counts
from convcli.model.dialect import Dialect, Evidence
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import links, turns

NAME = "acp"
SPEAKERS = {"user_message_chunk": "user", "agent_message_chunk": "assistant", "agent_thought_chunk": "assistant"}
CALL, MORE = "tool_call", "tool_call_update"
ENDS = ("completed", "failed")
STOPS = pairs("end_turn=stop max_tokens=length refusal=refusal cancelled=aborted")
USAGE: dict[tuple[str, ...], str] = {
    ("inputTokens",): "inputTokens",
    ("outputTokens",): "outputTokens",
    ("totalTokens",): "totalTokens",
    ("thoughtTokens",): "reasoningTokens",
    ("cachedReadTokens",): "cacheReadTokens",
    ("cachedWriteTokens",): "cacheWriteTokens",
}


def detect(document: Any) -> Evidence | None:
    """Recognizes ACP by updates that state their kind."""
    rows = document if isinstance(document, list) else []
    updates = [update for row in rows if (update := _update(row)[0]) is not None]
    known = any(update["sessionUpdate"] in (*SPEAKERS, CALL, MORE) for update in updates)
    return Evidence(97, "session updates") if known else None


def _update(row: Any) -> tuple[Native | None, Path]:
    """Returns the update in a row and its path in the row."""
    for path in (("params", "update"), ("update",), ()):
        value = row
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(value.get("sessionUpdate"), str):
            return value, path
    return None, ()


def _mark(row: Any) -> Limits:
    """Returns the session of a row: another one is another conversation."""
    holders = (row, _object(row, "params"), _object(row, "result"))
    ids = (holder.get("sessionId") for holder in holders if isinstance(holder, dict))
    id_ = next((one for one in ids if isinstance(one, str) and one), None)
    return Limits(id_ is not None, id=id_)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    reader = _AcpReader(document)
    for at, row in enumerate(document):
        update, path = _update(row)
        if update is None:
            reader.message(row, at)
        else:
            reader.update(update, row, (at, *path))
    return reader.whole()


class _AcpReader:
    """The session so far: calls and results by call id, and the parts that grow in chunks."""

    def __init__(self, document: Any) -> None:
        self.run = Run(NAME, NAME, document)
        self.session: str | None = None
        self.cwd: str | None = None
        self.calls: dict[str, ToolCall] = {}
        self.begun: dict[str, Path] = {}
        self.results: dict[str, ToolResult] = {}
        self.grown: list[tuple[Text | Reasoning, Pieces, list[Path]]] = []

    def update(self, update: Native, row: Native, path: Path) -> None:
        """Reads an update within its row."""
        self._name(row, path)
        outer = self._around(row, path)
        self.run.origin.routes |= {(*path, key): self._place(key, row, path) for key in outer}
        update = {**update, **outer}
        kind = update["sessionUpdate"]
        if kind in SPEAKERS and isinstance(update.get("content"), dict):
            self._chunk(update, SPEAKERS[kind], row, path)
        elif kind == CALL:
            self._call(update, path)
        elif kind == MORE and (update["toolCallId"] in self.calls or update.get("status") in ENDS):
            self._more(update, row, path)
        else:
            self.run.aside(row, int(path[0]))

    def _name(self, row: Native, path: Path) -> None:
        holder = row.get("params") if path[1:2] == ("params",) else row
        drop_empty_name = holder.get("sessionId") if isinstance(holder, dict) else None
        if self.session is None and isinstance(drop_empty_name, str) and drop_empty_name:
            self.session = drop_empty_name
            self.run.origin.routes["id",] = (*path[:-1], "sessionId")

    def _around(self, row: Native, path: Path) -> Native:
        """Returns what a row states outside its update."""
        outer = row if len(path) > 1 else {}
        params = _object(row, "params") if path[1:2] == ("params",) else {}
        rest = omit({**outer, **params}, "params", "update")
        usual = {"jsonrpc": "2.0", "method": "session/update", "sessionId": self.session}
        return {key: value for key, value in rest.items() if usual.get(key) != value}

    def _place(self, key: str, row: Native, path: Path) -> Path:
        """Returns the path of a key that is outside the update, around both, or in the update."""
        if path[1:2] == ("params",) and key in _object(row, "params"):
            return (*path[:2], key)
        return (path[0], key) if len(path) > 1 and key in row else (*path, key)

    # ------------------------------------------------------------ chunks

    def _chunk(self, update: Native, role: str, row: Native, path: Path) -> None:
        block, id_ = update["content"], update.get("messageId") or None
        turn = self.run.open
        fresh = turn is not None and id_ is not None and turn.id not in (None, id_)
        turn = self.run.turn(role, int(path[0]), fresh=fresh)
        if turn.id is None and id_ is not None:
            turn.id = id_
            self.run.elsewhere(turn, "messageId", (*path, "messageId"))
        rest = except_keys(update, *CHUNK)
        rest = omit(rest, *get_extras(turn.extras, NAME))
        add_extras(turn, NAME, rest)
        for key in rest:
            self.run.elsewhere(turn, key, self._place(key, row, path))
        self._grow(turn, block, update["sessionUpdate"] == "agent_thought_chunk", (*path, "content"))

    def _grow(self, turn: Message, block: Native, is_thought: bool, path: Path) -> None:
        kind = Reasoning if is_thought else Text
        if block.get("type") != "text" or block.keys() != {"type", "text"}:
            self.run.part(turn, _lift_block(block), path)
        elif block["text"]:
            last, grown = turn.parts[-1] if turn.parts else None, self.grown[-1][0] if self.grown else None
            if last is not grown or not isinstance(last, kind):
                self.grown.append((kind(""), Pieces(), []))
                self.run.part(turn, self.grown[-1][0], path)
            self.grown[-1][1].append(block["text"])
            self.grown[-1][2].append(path)

    # ------------------------------------------------------------ calls

    def _call(self, update: Native, path: Path) -> None:
        """Begins a call. A call that is reported only when it has ended is also its result."""
        raw_input = update.get("rawInput")
        name, id_ = update.get("name") or update.get("title") or "", update["toolCallId"]
        known = {"sessionUpdate", "toolCallId", "name" if update.get("name") else "title"}
        known |= {"rawInput"} if isinstance(raw_input, dict) else set()
        known |= {"content", "rawOutput", "status"} if update.get("status") in ENDS else {"status"}
        body = as_object(raw_input)
        rest = except_keys(update, *known)
        turn = self.run.turn("assistant", int(path[0]))
        call = ToolCall(self.run.pairing.call(id_ or None, name), name, body, extras=make_extras(NAME, rest))
        self.run.part(turn, call, path)
        if not update.get("name"):
            self.run.origin.routes[*path, "name"] = (*path, "title")
        self.calls[id_], self.begun[id_] = call, path
        if update.get("status") in ENDS:
            self._result(update, {}, path)

    def _more(self, update: Native, row: Native, path: Path) -> None:
        """Adds to a call: its input if it had none, its result, or an event."""
        id_, raw_input = update["toolCallId"], update.get("rawInput")
        call = self.calls.get(id_)
        takes_input = call is not None and not call.arguments and isinstance(raw_input, dict)
        if call is not None and takes_input:
            call.arguments = raw_input or {}
            self.run.origin.routes[*self.begun[id_], "rawInput"] = (*path, "rawInput")
        present_keys = {key for key, value in update.items() if value is not None} - (
            {"rawInput"} if takes_input else set()
        )
        is_new = id_ not in self.results or present_keys & {"content", "rawOutput"}
        if update.get("status") in ENDS and is_new:
            self._result(update, {key: update[key] for key in present_keys if key not in RESULT}, path)
        elif present_keys - {"sessionUpdate", "toolCallId", "status"}:
            self.run.aside(row, int(path[0]))

    def _result(self, update: Native, rest: Native, path: Path) -> None:
        result = _lift_result(update)
        id_ = update["toolCallId"]
        add_extras(result, NAME, without_nulls(rest))
        self.run.result(id_ or None, self.calls[id_].name if id_ in self.calls else None, result, path)
        self.results[id_] = result

    # ------------------------------------------------------------ other JSON-RPC messages

    def message(self, row: Any, at: int) -> None:
        """Reads a prompt, its answer, or an event."""
        params, result = _object(row, "params"), _object(row, "result")
        prompt = params.get("prompt")
        if _object(row).get("method") == "session/prompt" and isinstance(prompt, list):
            self._name(row, (at, "params", "prompt"))
            turn = self.run.turn("user", at, fresh=True)
            for i, block in enumerate(prompt):
                self.run.part(turn, _lift_block(block), (at, "params", "prompt", i))
            rest = omit(params, "prompt")
            rest = {key: value for key, value in rest.items() if (key, value) != ("sessionId", self.session)}
            outer = omit(row, "params", "jsonrpc", "method")
            add_extras(turn, NAME, {**({"params": rest} if rest else {}), **({"rpc": outer} if outer else {})})
        else:
            self._end(result, at)
            self.cwd = self.cwd or (params["cwd"] if isinstance(params.get("cwd"), str) else None)
            self.run.aside(row, at)

    def _end(self, result: Native, at: int) -> None:
        """Sets the stop reason and the token counts; the row itself is an event."""
        turn = self.run.open
        if turn is None or turn.role != "assistant" or not isinstance(result.get("stopReason"), str):
            return
        turn.stop_reason = STOPS.get(result["stopReason"], result["stopReason"])
        turn.usage = take_counts(_object(result, "usage"), USAGE)[0] or None
        self.run.elsewhere(turn, "stopReason", (at, "result", "stopReason"))
        self.run.elsewhere(turn, "usage", (at, "result", "usage"))
        self.run.open = None

    def whole(self) -> Transcript:
        """Returns the transcript of all updates so far."""
        for part, pieces, places in self.grown:
            part.text = "".join(pieces)
            self.run.origin.pieces[places[0]] = places
        transcript = self.run.transcript()
        transcript.id, transcript.cwd = self.session, self.cwd
        return transcript


CHUNK = ("sessionUpdate", "content", "messageId")
RESULT = ("sessionUpdate", "toolCallId", "status", "content", "rawOutput")


def _object(value: Any, key: str = "") -> Native:
    value = value.get(key) if key and isinstance(value, dict) else value
    return as_object(value)


# ---------------------------------------------------------------- blocks


def _lift_block(block: Native) -> Part:
    """Returns a text, an image or audio; links and resources are kept opaque."""
    kind = block.get("type")
    rest = except_keys(block, *BLOCK)
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(block["text"], extras=make_extras(NAME, rest))
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        return Media(kind, data=block["data"], media_type=block.get("mimeType") or None, extras=make_extras(NAME, rest))
    return Opaque(NAME, block)


BLOCK = ("type", "text", "data", "mimeType")


def _lift_result(update: Native) -> ToolResult:
    """Returns the contents of a finished call, else its raw output. File changes and terminals are data."""
    content, output, failed = update.get("content") or [], update.get("rawOutput"), update["status"] == "failed"
    shown = [one for one in content if one["type"] == "content" and one.keys() == {"type", "content"}]
    blocks = [one["content"] for one in shown]
    parts = [_lift_block(block) for block in blocks]
    if not content:
        is_text = output is None or isinstance(output, str)
        kind = ("error" if failed else "text") if is_text else "data"
        is_error = (failed and not is_text) or None
        return ToolResult("", "", kind, output or "" if is_text else output, is_error=is_error)  # type: ignore[arg-type]
    extras = make_extras(NAME, None if output is None else {"rawOutput": output})
    if len(parts) < len(content) or not all(isinstance(part, (Text, Media)) for part in parts):
        return ToolResult("", "", "data", content, is_error=failed or None, extras=extras)
    text = only_text(parts)
    if text is not None:
        return ToolResult("", "", "error" if failed else "text", text, extras=extras)
    return ToolResult("", "", "multimodal", parts, is_error=failed or None, extras=extras)


DIALECT = Dialect(
    name=NAME,
    title="Agent Client Protocol",
    aliases=("agent-client-protocol",),
    specification="schema 1.19 of version 1; Python agent-client-protocol 0.12.1; read 2026-11-23",
    framings=("events", "sse"),
    forms=("log",),
    detect=detect,
    lift=lift,
    answer_boundaries=lambda: Boundaries(_mark, by_id=True),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), turns.decodable()),
    places=paths(
        "message.id=messageId message.stopReason=stopReason message.usage=usage tool_call.id=toolCallId "
        "tool_call.name=name tool_call.arguments=rawInput tool_result.toolCallId=toolCallId "
        "tool_result.value=content tool_result.kind=status"
    ),
    metadata=fields(
        "available_commands_update config_option_update current_mode_update plan session_info_update usage_update"
    ),
    envelope=frozenset(("rpc", "params", "_meta", "kind", "locations")),
)
