"""Continue: sessions of its editor extensions and its command line program, `ID.json` in `~/.continue/sessions`.

Specification: none is published. Source: core/index.d.ts, core/util/history.ts, gui/src/redux/util/constructMessages.ts
and extensions/cli/src of continuedev/continue at d0a3c0b6; read 2026-11-27.

Quirks
- A message is an item of `history`, with what the program knows about it. Messages have no ids and no times.
- The model reads the context items of a user message before its content.
- A thought is an item of its own, before the answer. Thoughts that the model wrote into its text are in `reasoning` of
  the answer.
- A result is in the state of its call. Older sessions have it also, or only, as a message of the role `tool`.
- A summary is in `conversationSummary` of an item: the model no longer sees this item and those before it. The command
  line program stores it in an item of its own, whose message repeats it.
- The programs store no instruction. `cn --fork` (version 1.5.47) sends one that a session has, and does not store it.
  It sends thoughts as texts of answers.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import zip_longest
from typing import Any

from convcli.families.openai import calls as openai
from convcli.families.openai.request import media_of_url, url_of_media
from convcli.families.openai.tables import OF_FUNCTIONS
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.ids import is_uuid, set_session_id
from convcli.kit.objects import (
    Native,
    as_object,
    as_text,
    drop_extras,
    except_keys,
    get_extras,
    make_extras,
    objects_in,
    omit,
    together,
    without_empty,
)
from convcli.kit.settings import whole
from convcli.kit.supported import CALLS, TEXTS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.values import counts, paths, put_counts, take_counts
from convcli.model.dialect import Dialect, Options, Program
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
from convcli.validation.rules import arguments, links

NAME = "continue-dev"
HISTORY, THINKING, STATES, SUMMARY = "history", "thinking", "toolCallStates", "conversationSummary"
SESSION = Envelope("sessionId=id title=title workspaceDirectory=cwd history= mode chatModelTitle usage")
USAGE = counts(
    "promptTokens=inputTokens completionTokens=outputTokens promptTokensDetails/cachedTokens=cacheReadTokens "
    "promptTokensDetails/cacheWriteTokens=cacheWriteTokens completionTokensDetails/reasoningTokens=reasoningTokens"
)
SIGNED = {"signature": "signature", "redactedThinking": "redactedData"}
"""Keys of a thought, and their names in metadata."""
LABEL = {"name": "Tool Result", "description": "Tool execution result"}
"""What the program writes around the text of a result."""
FAILED = {"errored": None, "canceled": "cancelled"}
"""States of failed calls, with the status of the result."""
AGAIN, CONTEXT = "again", "contextItems"
INSIDE = ("message", "usage", AGAIN)
"""Extras of a message that are not keys of its item."""
Placed = list[tuple[Part, Path]]


def _image() -> Block:
    def read(native: Native, _: LiftContext) -> Part | None:
        body = as_object(native.get("imageUrl"))
        url, inner = as_text(body.get("url")), {"imageUrl": except_keys(body, "url")}
        extras = make_extras(NAME, except_keys(native, "type", "imageUrl"), **inner)
        return None if url is None else media_of_url("image", url, extras=extras)

    def write(part: Media) -> Native | None:
        url, extra = url_of_media(part), get_extras(part.extras, NAME)
        body = {"url": url, **extra.get("imageUrl", {})}
        return None if url is None else {"type": "imageUrl", "imageUrl": body, **omit(extra, "imageUrl")}

    return Block("imageUrl", "image", read, write)


ROWS = BlockRows(NAME, "type")
PARTS = ROWS.table(ROWS.record("text", Text(""), "type text", {"text": whole("text")}), _image())


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a session."""
    return _Session(document).transcript


class _Session:
    """One session while it is lifted."""

    def __init__(self, document: Native) -> None:
        self.context = LiftContext(NAME, document)
        self.transcript = self.context.transcript()
        self.transcript.extras = make_extras(NAME, SESSION.lift(document, self.transcript))
        items = document[HISTORY]
        natives = [item["message"] for item in items]
        self.answered = {native.get("toolCallId") for native in natives if native["role"] == "tool"}
        self.states: dict[str, tuple[Any, Message | None, Path]] = {}
        """The last state of each call, the message of its result, and the path of this."""
        self.thoughts: Placed = []
        for i, item in enumerate(items):
            if item["message"]["role"] not in ("assistant", THINKING):
                self._flush()
            self._lift_item(item, i)
        self._flush()

    def _lift_item(self, item: Native, i: int) -> None:
        role = item["message"]["role"]
        if role == THINKING:
            self.thoughts.append((_lift_thought(item), (i, "message")))
        elif role == "tool":
            self._lift_answer(item, i)
        elif not _is_summary(item):
            self._lift_message(item, i)
        if as_text(item.get(SUMMARY)) is not None:
            self._flush()
            self._lift_summary(item, i)

    def _flush(self) -> None:
        """Adds thoughts that no answer follows."""
        if self.thoughts:
            message = Message("assistant", [part for part, _ in self.thoughts])
            self.context.add(message, (HISTORY,), [path for _, path in self.thoughts])
            self.thoughts = []

    def _lift_summary(self, item: Native, i: int) -> None:
        """Adds a summary; if it has an item of its own, with the facts of that."""
        native, rest, inside = item["message"], {}, {}
        if _is_summary(item):
            rest = without_empty(item, "message", SUMMARY)
            inside = without_empty(native, "content", *["role"] * (native["role"] == "assistant"))
        extras = make_extras(NAME, rest, message=inside)
        message = Message("user", [Text(item[SUMMARY])], replaces="all", extras=extras)
        self.context.add(message, (HISTORY, i), [(SUMMARY,)])

    def _lift_answer(self, item: Native, i: int) -> None:
        """Adds the result in a message, unless the state of its call has it."""
        native, id_ = item["message"], as_text(item["message"].get("toolCallId"))
        state, first, path = self.states.get(id_ or "", ({}, None, ()))
        rest = without_empty(item, "message", SUMMARY)
        inside = without_empty(native, "role", "content", "toolCallId")
        if first is not None and results.in_words(first.parts[0]) == native["content"]:  # type: ignore[arg-type]
            extra, again = get_extras(first.extras, NAME), make_extras(NAME, rest, message=inside)
            if again and AGAIN not in extra:
                first.extras = make_extras(NAME, {**extra, AGAIN: again[NAME]})
                self.context.origin.routes[(*path, AGAIN)] = HISTORY, i
            if not again or AGAIN not in extra:
                return
        failed = state.get("status") in FAILED
        result = results.result_of_parts(
            *self.context.pairing.result(id_, None), [Text(native["content"])], failed=failed
        )
        result.status = FAILED[state["status"]] if failed else None
        message = Message("tool", [result], extras=make_extras(NAME, rest, message=inside, again=None))
        self.context.add(message, (HISTORY, i), [("message", "content")])

    def _lift_message(self, item: Native, i: int) -> None:
        native = item["message"]
        role, used = native["role"], ["message", STATES, SUMMARY]
        placed: Placed = [(part, ("..", *path)) for part, path in self.thoughts]
        self.thoughts = []
        if role == "user":
            placed += [(_lift_context(one), (CONTEXT, k)) for k, one in enumerate(item.get(CONTEXT) or ())]
            used.append(CONTEXT)
        reasoning = as_object(item.get("reasoning"))
        if role == "assistant" and as_text(reasoning.get("text")) is not None:
            extras = {NAME: {"in": "reasoning", **except_keys(reasoning, "text")}}
            placed.append((Reasoning(reasoning["text"], extras=extras), ("reasoning",)))
            used.append("reasoning")
        content: Any = native.get("content") or []
        if isinstance(content, str):
            placed.append((Text(content), ("message", "content")))
        else:
            placed += [(PARTS.lift(one, self.context), ("message", "content", k)) for k, one in enumerate(content)]
        usage, counted = take_counts(as_object(native.get("usage")), USAGE)
        message = Message(role, [], usage=usage or None)
        inside = without_empty(
            native, "role", "content", "toolCalls", *["usage"] * isinstance(native.get("usage"), dict)
        )
        used += ["editorState"] * (item.get("editorState") == native.get("content"))
        answers = self._lift_calls(item, placed, i)
        message.parts = [part for part, _ in placed]
        message.extras = make_extras(NAME, without_empty(item, *used), message=inside, usage=counted, again=None)
        self.context.add(message, (HISTORY, i), [path for _, path in placed])
        for answer, path in answers:
            self.context.add(answer, (HISTORY, i, *path), [("output",)])

    def _lift_calls(self, item: Native, placed: Placed, i: int) -> list[tuple[Message, Path]]:
        """Adds the calls of an answer to its parts. Returns the messages of their results."""
        answers: list[tuple[Message, Path]] = []
        natives = item["message"].get("toolCalls") or ()
        states = dict(enumerate(objects_in(item.get(STATES))))
        ids = {native.get("id") for native in natives}
        by_id: dict[Any, list[int]] = {}
        for number, state in reversed(states.items()):
            by_id.setdefault(_id_of(state), []).append(number)
        for k, native in enumerate(natives):
            call = openai.lift_call(native, self.context)
            same = by_id.get(native.get("id"))
            at = same[-1] if same else k if k in states and _id_of(states[k]) not in ids else None
            placed.append((call, ("message", "toolCalls", k)))
            if isinstance(call, ToolCall) and at is not None:
                if same:
                    same.pop()
                answers += self._lift_state(call, states.pop(at), (i, at))
                self.context.origin.routes[HISTORY, i, "message", "toolCalls", k, "state"] = HISTORY, i, STATES, at
        for at, state in states.items():
            call = openai.lift_call(state["toolCall"], self.context)
            placed.append((call, (STATES, at, "toolCall")))
            self.context.origin.routes[HISTORY, i, STATES, at, "toolCall", "state"] = HISTORY, i, STATES, at
            answers += self._lift_state(call, state, (i, at)) if isinstance(call, ToolCall) else []
        return answers

    def _lift_state(self, call: ToolCall, state: Native, place: tuple[int, int]) -> list[tuple[Message, Path]]:
        """Adds what the program knows about a call to it. Returns its result, if the state has one."""
        output, status, answer = state.get("output"), state.get("status") or "", None
        i, at = place
        is_answered = call.id in self.answered
        if isinstance(output, list) or (status in FAILED and not is_answered):
            parts: list[Part] = [Text(one["content"]) for one in output or ()]
            labels = [
                {key: one[key] for key in one if key != "content" and one[key] != LABEL.get(key)}
                for one in output or ()
            ]
            ids = self.context.pairing.result(call.id, call.name)
            result = results.result_of_parts(*ids, parts or [Text("")], failed=status in FAILED)
            result.status = FAILED.get(status)
            result.extras = {NAME: {"output": labels}} if any(labels) else None
            answer = Message("tool", [result])
        usual = _write_state(call, None)
        is_usual = status in ("done", *FAILED) if answer or is_answered else status == "generated"
        rest = {key: value for key, value in state.items() if value is not None and value != usual.get(key)}
        rest = omit(rest, "output", *["status"] * is_usual)
        extra = get_extras(call.extras, NAME)
        call.extras = make_extras(NAME, extra, state=rest)
        self.states[call.id] = state, answer, (HISTORY, i, STATES, at)
        return [(answer, (STATES, at))] if answer is not None else []


def _id_of(state: Native) -> Any:
    return state["toolCall"].get("id") or state.get("toolCallId")


def _is_summary(item: Native) -> bool:
    """True for the item in which the command line program stores a summary."""
    native, others = item["message"], (item.get("reasoning"), item.get(STATES), item["message"].get("toolCalls"))
    return bool(native.get("content")) and native["content"] == item.get(SUMMARY) and not any(others)


def _lift_thought(item: Native) -> Reasoning:
    native = item["message"]
    content = native.get("content") or ""
    text = (
        content if isinstance(content, str) else text_of([PARTS.lift(one, LiftContext(NAME, None)) for one in content])
    )
    metadata = {ours: native[key] for key, ours in SIGNED.items() if as_text(native.get(key)) is not None}
    inside = without_empty(native, "role", *(key for key, ours in SIGNED.items() if ours in metadata))
    inside = omit(inside, "content") if isinstance(content, str) else inside
    extras = make_extras(NAME, without_empty(item, "message", SUMMARY), message=inside)
    return Reasoning(text, metadata=metadata or None, extras=extras)


def _lift_context(native: Any) -> Part:
    """Returns a context item: the text that the model reads, with its name and its source."""
    place = {"in": CONTEXT}
    if as_text(as_object(native).get("content")) is None:
        return Opaque(NAME, native, extras={NAME: place})
    return Text(native["content"], extras={NAME: {**place, **except_keys(native, "content")}})


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns a session. A result is in the state of the next call with its id that has none."""
    parts = [part for message in transcript.messages for part in message.parts]
    calls = Counter(part.id for part in parts if isinstance(part, ToolCall))
    in_states: dict[str, deque[ToolResult]] = {id_: deque() for id_ in calls}
    history: list[Any] = []
    for message in transcript.messages:
        result, extra = results.result_of(message), get_extras(message.extras, NAME)
        if result is not None and extra.keys() <= {AGAIN} and calls[result.tool_call_id]:
            calls[result.tool_call_id] -= 1
            in_states[result.tool_call_id].append(result)
            extra = extra.get(AGAIN, {})
            result = result if extra else None
        if result is not None:
            history.append(_write_answer(result, extra))
        elif message.role != "tool":
            history.append(message)
    items: list[Native] = []
    for one, following in zip_longest(history, history[1:]):
        items += _write_message(one, following, in_states) if isinstance(one, Message) else [one]
    return SESSION.write(transcript, get_extras(transcript.extras, NAME), **{HISTORY: items})


def _write_item(native: Native, extra: Native, **keys: Any) -> Native:
    return {"message": {**native, **extra.get("message", {})}, CONTEXT: [], **keys, **together(omit(extra, *INSIDE))}


def _write_answer(result: ToolResult, extra: Native) -> Native:
    native = {"role": "tool", "content": results.in_words(result), "toolCallId": result.tool_call_id}
    return _write_item(native, extra)


def _write_message(message: Message, following: Any, answers: dict[str, deque[ToolResult]]) -> list[Any]:
    """Returns the items of a message: its thoughts, and what else it has, which divides it from the next answer."""
    extra = get_extras(message.extras, NAME)
    if message.replaces is not None:
        text = text_of(message.parts)
        return [_write_item({"role": "assistant", "content": text}, extra, **{SUMMARY: text})]
    keys: Native = {}
    items: list[Any] = []
    rest: list[Part] = []
    for part in message.parts:
        place = get_extras(part.extras, NAME).get("in")
        if place == CONTEXT:
            keys.setdefault(CONTEXT, []).append(_write_context(part))
        elif place == "reasoning" and place not in keys and isinstance(part, Reasoning):
            keys[place] = {"text": part.text, **omit(get_extras(part.extras, NAME), "in")}
        elif isinstance(part, Reasoning):
            items.append(_write_thought(part))
        else:
            rest.append(part)
    is_next = isinstance(following, Message) and following.role == "assistant"
    if items and not (rest or keys or extra or message.usage or is_next):
        return items
    calls = [part for part in rest if isinstance(part, ToolCall)]
    bare = [drop_extras(part, NAME, "state") if isinstance(part, ToolCall) else part for part in rest]
    content, natives = openai.write_parts(bare, NAME, PARTS.write)
    native = {"role": message.role, "content": openai.content_of(content)}
    native |= {"toolCalls": natives} if natives else {}
    usage = put_counts(message.usage or {}, extra.get("usage", {}), USAGE)
    native |= {"usage": usage} if usage else {}
    keys |= {STATES: [_write_state(call, _next(answers, call.id)) for call in calls]} if calls else {}
    return [*items, _write_item(native, extra, **keys)]


def _write_context(part: Part) -> Any:
    if isinstance(part, Text):
        return {"content": part.text, **omit(get_extras(part.extras, NAME), "in")}
    return part.value if isinstance(part, Opaque) else None


def _write_thought(part: Reasoning) -> Native:
    metadata = part.metadata or {}
    signed = {key: metadata[ours] for key, ours in SIGNED.items() if as_text(metadata.get(ours)) is not None}
    return _write_item({"role": THINKING, "content": part.text, **signed}, get_extras(part.extras, NAME))


def _next(answers: dict[str, deque[ToolResult]], id_: str) -> ToolResult | None:
    return answers[id_].popleft() if answers[id_] else None


def _write_state(call: ToolCall, result: ToolResult | None) -> Native:
    """Returns the state of a call, with its result."""
    bare = drop_extras(call, NAME, "state")
    native: Native = {
        "toolCallId": call.id,
        "toolCall": openai.CALLS["function"].write(bare, NAME),
        "status": "generated",
    }
    native["parsedArgs"] = call.arguments
    if result is not None:
        failed = "canceled" if result.status == FAILED["canceled"] else "errored"
        native["status"] = failed if results.has_failed(result) else "done"
        parts = result.value if result.kind == "multimodal" else [Text(result.value)]
        texts = [part.text for part in parts if isinstance(part, Text)] or [""]
        labels: list[Native] = get_extras(result.extras, NAME).get("output", [])
        labels = labels if len(labels) == len(texts) else [{} for _ in texts]
        native["output"] = [{"content": text, **LABEL, **label} for text, label in zip(texts, labels, strict=True)]
    return {**native, **get_extras(call.extras, NAME).get("state", {})}


# ---------------------------------------------------------------- fit

RESULTS = results.text_or_parts("Continue")
FIT = (
    sessions.keep_active_branch,
    sessions.events(lambda _: False),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    custom.as_functions,
    fitting.keep_parts_of_roles({"reasoning": ("assistant",), "tool_call": ("assistant",)}),
    passes.on_each_message(lambda message: sessions.summary(message, of_all=True)),
    results.separate_results,
    results.one_result_each,
    passes.on_messages(openai.media_behind_results(lambda media: PARTS.write(media) is not None)),
    results.apply_convention(RESULTS),
    set_session_id(lambda transcript: [[message.role, len(message.parts)] for message in transcript.messages], is_uuid),
    fitting.settle_by_reading_back(lift, write, "session"),
)
PROGRAM = Program(
    "continue",
    ".continue",
    "sessions/*-*.json",
    "CONTINUE_GLOBAL_DIR",
    place=lambda facts: f"sessions/{facts.id}.json",
    command="cn --fork {id}",
    resent=lambda part: "thoughts as texts" if isinstance(part, Reasoning) else None,
)

SUPPORTS = TEXTS | CALLS | PARTS.supports() | media("image", "data url mediaType") | SESSION.supports()
SUPPORTS |= fields(
    "message.usage message.replaces reasoning.text reasoning.metadata tool_call.rawArguments tool_result.isError "
    "tool_result.status"
)

DIALECT = Dialect(
    name=NAME,
    title="Continue",
    aliases=("continue",),
    specification="sessions of continuedev/continue at d0a3c0b6; read 2026-11-27",
    framings=("document", "records"),
    forms=("session",),
    programs=(PROGRAM,),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS,),
    rules=(links.paired(links.PairingRules(where="later", missing=None)), arguments.readable()),
    supports=SUPPORTS,
    reasons={
        **sessions.NOTHING_SENT,
        "id": "Continue finds a session by its id, a UUID; it is derived from the content",
        "event": "Continue stores no events of other programs",
        "refusal": "Continue has no refusal: it is written as text",
        "message.model": "Continue stores no models of answers",
        "message.replaces": "a summary of Continue replaces all earlier messages",
        "reasoning.metadata": "Continue stores only signatures and encrypted thoughts",
        "tool_result": "Continue stores a result in the state of its call",
        **dict.fromkeys(("text", "reasoning"), "Continue stores thoughts before the answer, and texts before calls"),
    },
    places={
        **OF_FUNCTIONS,
        **SESSION.places(),
        **paths(
            "message.usage=message/usage message.role=message/role reasoning.text=content "
            "tool_result.toolCallId=../toolCallId extras.message=message extras.state=state extras.again=again "
            "tool_result.status=../status tool_result.isError=../status"
        ),
    },
    repeats=frozenset(("/history/*/toolCallStates/*/toolCallId",)),
    metadata=fields("promptLogs editorState appliedRules modifiers chatModelTitle mode"),
    envelope=fields(
        "usage mode chatModelTitle state again output in editorState modifiers promptLogs isGatheringContext "
        "appliedRules message"
    ),
)
