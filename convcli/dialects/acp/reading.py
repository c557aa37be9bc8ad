"""Reads the updates of a session as turns, calls and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from convcli.kit import streams
from convcli.kit.objects import (
    Native,
    add_extras,
    as_object,
    except_keys,
    make_extras,
    omit,
    without_nulls,
)
from convcli.kit.runs import Run
from convcli.kit.streams import Pieces
from convcli.kit.supported import fields
from convcli.kit.texts import only_text
from convcli.kit.values import pairs, take_counts
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

NAME = "acp"
WHOLE = {"user_message": "user", "agent_message": "assistant", "agent_thought": "assistant"}
"""The messages of version 2, with their speakers."""
SPEAKERS = {"user_message_chunk": "user", "agent_message_chunk": "assistant", "agent_thought_chunk": "assistant"}
THOUGHT = "agent_thought"
CALL, MORE, OUTPUT, STATE = "tool_call", "tool_call_update", "tool_call_content_chunk", "state_update"
CANCELLED = "cancelled"
FAILED = ("failed", CANCELLED)
ENDS = ("completed", *FAILED)
STOPS = pairs("end_turn=stop max_tokens=length refusal=refusal cancelled=aborted")
USAGE: dict[tuple[str, ...], str] = {
    ("inputTokens",): "inputTokens",
    ("outputTokens",): "outputTokens",
    ("totalTokens",): "totalTokens",
    ("thoughtTokens",): "reasoningTokens",
    ("cachedReadTokens",): "cacheReadTokens",
    ("cachedWriteTokens",): "cacheWriteTokens",
}


def update_of(row: Any) -> tuple[Native | None, Path]:
    """Returns the update in a row and its path in the row."""
    for path in (("params", "update"), ("update",), ()):
        value = row
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(value.get("sessionUpdate"), str):
            return value, path
    return None, ()


class AcpReader:
    """The session so far: calls and results by call id, and the parts that grow in chunks."""

    def __init__(self, document: Any, updates: Iterable[Native | None]) -> None:
        self.run = Run(NAME, NAME, document)
        kinds = {update["sessionUpdate"] for update in updates if update is not None}
        self.is_second = CALL not in kinds and not kinds.isdisjoint((*WHOLE, OUTPUT, STATE))
        self.prompt: Message | None = None
        self.output: dict[str, list[tuple[Native, Path]]] = {}
        self.session: str | None = None
        self.cwd: str | None = None
        self.calls: dict[str, ToolCall] = {}
        self.begun: dict[str, Path] = {}
        self.results: dict[str, ToolResult] = {}
        self.grown: list[tuple[Text | Reasoning, Pieces, list[Path]]] = []

    def update(self, update: Native, row: Native, path: Path) -> None:
        """Reads an update within its row."""
        self._name(row, path)
        update = self._with_outer(update, row, path)
        kind = update["sessionUpdate"]
        if kind in SPEAKERS and isinstance(update.get("content"), dict):
            self._chunk(update, SPEAKERS[kind], path)
        elif kind in WHOLE and update.get("content"):
            self._whole(update, WHOLE[kind], path)
        elif kind == CALL or (kind == MORE and self.is_second and update["toolCallId"] not in self.calls):
            self._call(self._with_output(update, path), path)
        elif kind == MORE and (update["toolCallId"] in self.calls or update.get("status") in ENDS):
            self._more(self._with_output(update, path), row, path)
        elif kind == OUTPUT:
            self.output.setdefault(update["toolCallId"], []).append((update, path))
            if except_keys(update, "sessionUpdate", "toolCallId", "content"):
                self.run.aside(row, int(path[0]))
        elif kind == STATE:
            self._end(update, path)
            self.run.aside(row, int(path[0]))
        else:
            self.run.aside(row, int(path[0]))

    def _name(self, row: Native, path: Path) -> None:
        holder = row.get("params") if path[1:2] == ("params",) else row
        session = holder.get("sessionId") if isinstance(holder, dict) else None
        if self.session is None and isinstance(session, str) and session:
            self.session = session
            self.run.origin.routes["id",] = (*path[:-1], "sessionId")

    def _with_outer(self, update: Native, row: Native, path: Path) -> Native:
        """Returns the update with what the objects around it state."""
        update, usual = dict(update), {"jsonrpc": "2.0", "method": "session/update", "sessionId": self.session}
        for depth in range(len(path) - 1, 0, -1):
            outer = row if depth == 1 else _object(row, "params")
            others = {key: outer[key] for key in omit(outer, str(path[depth])) if usual.get(key) != outer[key]}
            read = OF_UPDATE | update.keys()
            streams.state(update, others, path[:depth], self.run.origin.routes, path, read=read)
        return update

    # ------------------------------------------------------------ chunks

    def _chunk(self, update: Native, role: str, path: Path) -> None:
        block, id_ = update["content"], update.get("messageId") or None
        turn = self.run.open
        fresh = turn is not None and id_ is not None and turn.id not in (None, id_)
        turn = self.run.turn(role, int(path[0]), fresh=fresh)
        if turn.id is None and id_ is not None:
            turn.id = id_
            self.run.elsewhere(turn, "messageId", (*path, "messageId"))
        self._keep_rest(turn, update, path)
        self._grow(turn, block, update["sessionUpdate"] == "agent_thought_chunk", (*path, "content"))

    def _whole(self, update: Native, role: str, path: Path) -> None:
        """Reads a whole message of version 2. One that repeats the prompt gives it its id."""
        blocks, id_ = update["content"], update["messageId"]
        parts = [_lift_block(block) for block in blocks]
        turn = self.run.open if role == "user" else None
        if turn is None or turn is not self.prompt or turn.id is not None or turn.parts != parts:
            turn = self.run.open
            fresh = turn is not None and turn.id not in (None, id_)
            turn = self.run.turn(role, int(path[0]), fresh=fresh)
            for i, part in enumerate(parts):
                is_thought = update["sessionUpdate"] == THOUGHT and isinstance(part, Text)
                said = Reasoning(part.text, extras=part.extras) if is_thought and isinstance(part, Text) else part
                self.run.part(turn, said, (*path, "content", i))
        if turn.id is None:
            turn.id = id_ or None
            self.run.elsewhere(turn, "messageId", (*path, "messageId"))
        self._keep_rest(turn, update, path)

    def _keep_rest(self, turn: Message, update: Native, path: Path) -> None:
        """Adds the other keys of a message to its turn."""
        rest, home, routes = omit(update, *CHUNK), self.run.path(turn), self.run.origin.routes
        outer = {(*home, key): routes[*path, key] for key in omit(rest, streams.FORMER) if (*path, key) in routes}
        streams.state_extras(turn, NAME, rest, path, routes, home, read=OF_PROMPT)
        routes |= outer

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

    def _with_output(self, update: Native, path: Path) -> Native:
        """Returns the end of a call with the content that arrived in chunks, unless it has content."""
        if update.get("status") not in ENDS or update.get("content") or update["toolCallId"] not in self.output:
            return update
        chunks = self.output.pop(update["toolCallId"])
        places = [(*chunk_path, "content") for _, chunk_path in chunks]
        self.run.origin.routes[*path, "content"] = places[0]
        self.run.origin.pieces[places[0]] = places
        return {**update, "content": [chunk["content"] for chunk, _ in chunks]}

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
        cancelled = {"status": CANCELLED} if update.get("status") == CANCELLED else {}
        add_extras(result, NAME, {**without_nulls(rest), **cancelled})
        self.run.result(id_ or None, self.calls[id_].name if id_ in self.calls else None, result, path)
        self.results[id_] = result

    # ------------------------------------------------------------ other JSON-RPC messages

    def message(self, row: Any, at: int) -> None:
        """Reads a prompt, its answer, or an event."""
        params, result = _object(row, "params"), _object(row, "result")
        prompt = params.get("prompt")
        if _object(row).get("method") == "session/prompt" and isinstance(prompt, list):
            self._name(row, (at, "params", "prompt"))
            turn = self.prompt = self.run.turn("user", at, fresh=True)
            for i, block in enumerate(prompt):
                self.run.part(turn, _lift_block(block), (at, "params", "prompt", i))
            rest = omit(params, "prompt")
            rest = {key: value for key, value in rest.items() if (key, value) != ("sessionId", self.session)}
            outer = omit(row, "params", "jsonrpc", "method")
            turn.extras = make_extras(NAME, None, params=rest, rpc=outer)
        else:
            self._end(result, (at, "result"))
            self.cwd = self.cwd or (params["cwd"] if isinstance(params.get("cwd"), str) else None)
            self.run.aside(row, at)

    def _end(self, result: Native, path: Path) -> None:
        """Sets the stop reason and the token counts; the row itself is an event."""
        turn = self.run.open
        if turn is None or turn.role != "assistant" or not isinstance(result.get("stopReason"), str):
            return
        turn.stop_reason = STOPS.get(result["stopReason"], result["stopReason"])
        turn.usage = take_counts(_object(result, "usage"), USAGE)[0] or None
        self.run.elsewhere(turn, "stopReason", (*path, "stopReason"))
        self.run.elsewhere(turn, "usage", (*path, "usage"))
        self.run.open = None

    def whole(self) -> Transcript:
        """Returns the transcript of all updates so far."""
        for chunks in self.output.values():
            for chunk, path in chunks:
                self.run.result(chunk["toolCallId"], None, _lift_result({"content": [chunk["content"]]}), path)
        for part, pieces, places in self.grown:
            part.text = "".join(pieces)
            self.run.origin.pieces[places[0]] = places
        transcript = self.run.transcript()
        transcript.id, transcript.cwd = self.session, self.cwd
        return transcript


OF_UPDATE = fields(
    "sessionUpdate content messageId toolCallId name title status rawInput rawOutput state stopReason usage"
)
"""Keys that are read in an update. Outside of it they mean something else."""
CHUNK = ("sessionUpdate", "content", "messageId")
OF_PROMPT = ("params", "rpc")
"""Extras keys for the keys around a prompt."""
RESULT = ("sessionUpdate", "toolCallId", "status", "content", "rawOutput")


def _object(value: Any, key: str = "") -> Native:
    value = value.get(key) if key and isinstance(value, dict) else value
    return as_object(value)


# ---------------------------------------------------------------- blocks


def _lift_block(block: Native) -> Part:
    """Returns a text, an image or audio; links and resources are kept opaque."""
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return Text(block["text"], extras=make_extras(NAME, except_keys(block, "type", "text")))
    if kind in ("image", "audio") and isinstance(block.get("data"), str):
        extras = make_extras(NAME, except_keys(block, "type", "data", "mimeType"))
        return Media(kind, data=block["data"], media_type=block.get("mimeType") or None, extras=extras)
    return Opaque(NAME, block)


def _lift_result(update: Native) -> ToolResult:
    """Returns the contents of a finished call, else its raw output. File changes and terminals are data."""
    content, output, failed = update.get("content") or [], update.get("rawOutput"), update.get("status") in FAILED
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
