"""The steps of an ATIF trajectory: text, calls and observations."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from convcli.kit import results
from convcli.kit.blocks import Block, BlockRows
from convcli.kit.calls import CallTable
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys, Native, as_text, get_extras, make_extras
from convcli.kit.pairing import UNKNOWN
from convcli.kit.settings import whole
from convcli.kit.supported import fields
from convcli.kit.usage import Usage
from convcli.model.transcript import Media, MediaKind, Message, Part, Path, Reasoning, Text, ToolCall, ToolResult
from convcli.wire import exact_json

NAME = "atif"
ROLES = {"system": "system", "user": "user", "agent": "assistant"}
SOURCES = {role: source for source, role in ROLES.items()}
STEP = Envelope(
    "step_id= timestamp=created_at source= model_name=model reasoning_effort message= reasoning_content= "
    "tool_calls= observation= metrics= is_copied_context llm_call_count extra"
)
CALL = CallTable("tool_call_id=id function_name=name arguments=arguments extra", form="object")
OBSERVATION = Keys("results")
REF = "subagent_trajectory_ref"
RESULT = Keys(f"source_call_id= content= {REF} extra=")
OBSERVED = "observed"
"""The extra of a user message that is a result without a call: the other keys of the result."""
COST = "cost_usd"
USAGE: dict[tuple[str, ...], str] = {
    ("prompt_tokens",): "inputTokens",
    ("completion_tokens",): "outputTokens",
    ("cached_tokens",): "cacheReadTokens",
}
TYPES = {
    "image": fields("image/jpeg image/png image/gif image/webp"),
    "audio": fields("audio/wav audio/mpeg audio/mp4 audio/aac audio/ogg audio/flac audio/webm audio/aiff"),
}
"""Supported media types by kind."""
ROWS = BlockRows(NAME, "type")
MEDIA, SOURCE = Keys("type source"), Keys("media_type path")


def _media(kind: MediaKind) -> Block:
    """Returns the reader and writer of media, which are files next to the trajectory or on the web."""

    def read(native: Native, _: LiftContext) -> Part | None:
        source = native["source"]
        path, inner = source["path"], SOURCE.extra(source)
        extra = {**(MEDIA.extra(native) or {}), **({"source": inner} if inner else {})}
        field = "url" if "://" in path else "path"
        return Media(kind, **{field: path}, media_type=source["media_type"], extras=make_extras(NAME, extra))

    def write(part: Media) -> Native | None:
        path = part.path if part.url is None or part.url.startswith("data:") else part.url
        if path is None or part.media_type not in TYPES[kind]:
            return None
        extra = dict(get_extras(part.extras, NAME))
        source = SOURCE.put({"media_type": part.media_type, "path": path}, extra.pop("source", None))
        return MEDIA.put({"type": kind, "source": source}, extra)

    return Block(kind, kind, read, write)


PARTS = ROWS.table(
    ROWS.record("text", Text(""), "type text", {"text": whole("text")}), _media("image"), _media("audio")
)

# ---------------------------------------------------------------- lift


def lift_step(native: Native, step_path: Path, number: int, context: LiftContext) -> list[Message]:
    """Returns the message of a step and a message for each of its results; a step with only results has no message.

    A result without a call is a user message, as in the exporters of Harbor: terminus-2 writes its commands as text.
    """
    observation = native.get("observation") or {}
    message = Message(ROLES[native["source"]], [])
    extra = STEP.lift(native, message) or {}
    extra |= {"step_id": native["step_id"]} if native.get("step_id") not in (None, number) else {}
    parts = list(_parts(native, context))
    rest = Usage(USAGE, COST).lift(native.get("metrics") or {}, message)
    for key, value in (("metrics", rest), ("observation", OBSERVATION.extra(observation))):
        extra |= {key: value} if value else {}
    message.parts, message.extras = [part for part, _ in parts], make_extras(NAME, extra, observed=None)
    begin = len(context.messages)
    if message != Message("system", []) or not observation.get("results"):
        context.add(message, step_path, [node_path for _, node_path in parts])
    for j, (one, node_paths) in enumerate(_results(observation.get("results") or (), message, context)):
        context.add(one, (*step_path, "observation", "results", j), node_paths)
    return context.messages[begin:]


def _parts(native: Native, context: LiftContext) -> Iterator[tuple[Part, Path]]:
    if native.get("reasoning_content"):
        yield Reasoning(native["reasoning_content"]), ("reasoning_content",)
    content = native.get("message")
    for j, block in enumerate(content if isinstance(content, list) else ()):
        yield PARTS.lift(block, context), ("message", j)
    if content and isinstance(content, str):
        yield Text(content), ("message",)
    for j, call in enumerate(native.get("tool_calls") or ()):
        yield CALL.lift(call, context), ("tool_calls", j)


def _results(natives: Sequence[Native], message: Message, context: LiftContext) -> Iterator[tuple[Message, list[Path]]]:
    """Yields a message for each result of a step, with the paths of its parts. A result that names no call answers an
    unanswered call of this step."""
    named = {native.get("source_call_id") for native in natives}
    unanswered = [part.id for part in message.parts if isinstance(part, ToolCall) and part.id not in named]
    for native in natives:
        id_ = native.get("source_call_id") or _call_in_other_step(native) or (unanswered.pop(0) if unanswered else None)
        if id_ is None and not native.get(REF):
            yield _lift_observed(native, context)
            continue
        id_, name = context.pairing.result(id_, None if id_ else UNKNOWN)
        context.pairing.invented |= {UNKNOWN} if name == UNKNOWN else set()
        yield Message("tool", [_lift_result(native, id_, name, context)]), [()]


def _lift_observed(native: Native, context: LiftContext) -> tuple[Message, list[Path]]:
    """Lifts a result without a call."""
    content = native.get("content")
    parts: list[Part] = [Text(content or "")]
    paths: list[Path] = [("content",)]
    if isinstance(content, list):
        parts = [PARTS.lift(block, context) for block in content]
        paths = [("content", k) for k in range(len(parts))]
    rest = {key: value for key, value in native.items() if key != "content" and value is not None}
    return Message("user", parts, extras={NAME: {OBSERVED: rest}}), paths


def _call_in_other_step(native: Native) -> str | None:
    """Returns the call in another step that a result answers, as convcli writes it."""
    return as_text((native.get("extra") or {}).get("source_call_id"))


def _lift_result(native: Native, id_: str, name: str, context: LiftContext) -> ToolResult:
    content, own_extra = native.get("content"), dict(native.get("extra") or {})
    result = ToolResult(id_, name, "text", content or "")
    if isinstance(content, list):
        result.kind, result.value = "multimodal", [PARTS.lift_inside(block, context) for block in content]
    if _call_in_other_step(native) and not native.get("source_call_id"):
        del own_extra["source_call_id"]
    if own_extra.get("is_error") is True:
        del own_extra["is_error"]
        result.kind, result.is_error = ("error", None) if result.kind == "text" else (result.kind, True)
    if own_extra.get("status") and isinstance(own_extra["status"], str):
        result.status = own_extra.pop("status")
    extra = dict(RESULT.extra(native) or {})
    if extra.get(REF) == [{"trajectory_id": id_}]:
        del extra[REF]
    result.extras = make_extras(NAME, {**extra, **({"extra": own_extra} if own_extra else {})})
    return result


def referred(result: ToolResult) -> list[str]:
    """Returns the ids of the trajectories to which a result refers."""
    refs = get_extras(result.extras, NAME).get(REF) or ()
    return [ref["trajectory_id"] for ref in refs if ref.get("trajectory_id")]


# ---------------------------------------------------------------- write


def write_steps(messages: Sequence[Message], runs: Collection[str]) -> list[Native]:
    """Returns a step for each message, with the results after it that it can observe.

    `runs` are calls that began a subagent trajectory, whose usual id is theirs. A step observes the results of its
    calls. An agent step without calls observes all results after it.
    """
    steps: list[Native] = []
    observed: dict[int, list[Native]] = {}
    result_step: Native | None = None
    agent, ids = 0, set[str]()  # the agent step that may have observed the next results, and its calls
    for message in messages:
        result, other_keys = results.result_of(message), get_extras(message.extras, NAME).get(OBSERVED)
        if result is None and other_keys is None:
            steps.append(_write_step(message, len(steps) + 1))
            agent = len(steps) if message.role == "assistant" else 0
            ids = {part.id for part in message.parts if isinstance(part, ToolCall)}
            continue
        is_named = bool(agent) and result is not None and result.tool_call_id in ids
        at = agent if is_named or not ids else 0
        if not at and (not steps or steps[-1] is not result_step):
            result_step = {"step_id": len(steps) + 1, "source": "system", "message": ""}
            steps.append(result_step)
        native = _write_observed(message, other_keys) if result is None else _write_result(result, is_named, runs)
        observed.setdefault(at or len(steps), []).append(native)
    for number, observations in observed.items():
        step = steps[number - 1]
        step["observation"] = OBSERVATION.put({"results": observations}, step.get("observation"))
    return [STEP.write(Message("event", []), None, **step) for step in steps]


def _write_step(message: Message, number: int) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning)]
    calls = [CALL.write(part, NAME) for part in message.parts if isinstance(part, ToolCall)]
    content: Native = {
        "reasoning_content": thoughts[0] if thoughts else None,
        "tool_calls": calls,
        "observation": extra.pop("observation", None),
        "metrics": Usage(USAGE, COST).write(message, extra.pop("metrics", {})),
    }
    content = {key: value for key, value in content.items() if value}
    number, source = extra.pop("step_id", number), SOURCES[message.role]
    blocks = [native for part in message.parts if (native := PARTS.write(part)) is not None]
    return STEP.write(message, extra, step_id=number, source=source, message=_content(blocks), **content)


def _content(natives: list[Native]) -> Any:
    """Returns the string of a single text without other keys, else the list of blocks."""
    only = natives[0] if len(natives) == 1 else {}
    return only["text"] if only.keys() == {"type", "text"} and only["text"] else natives or ""


def _write_observed(message: Message, other_keys: Native | None) -> Native:
    """Writes a user message that is a result without a call."""
    blocks = [native for part in message.parts if (native := PARTS.write(part)) is not None]
    return RESULT.put({"content": _content(blocks)}, other_keys)


def _write_result(result: ToolResult, is_named: bool, runs: Collection[str]) -> Native:
    native: Native = {"source_call_id": result.tool_call_id} if is_named else {}
    if result.tool_call_id in runs:
        native[REF] = [{"trajectory_id": result.tool_call_id}]
    native["content"] = result.value
    if result.kind == "data":
        native["content"] = exact_json.write_text(result.value)
    elif result.kind == "multimodal":
        native["content"] = [block for part in result.value if (block := PARTS.write_inside(part)) is not None]
    extra = dict(get_extras(result.extras, NAME))
    own_extra: Native = {"is_error": True} if results.has_failed(result) else {}
    if not is_named and REF not in native:
        own_extra["source_call_id"] = result.tool_call_id
    own_extra |= {} if result.status is None else {"status": result.status}
    own_extra |= extra.pop("extra", {})
    return RESULT.put({**native, **({"extra": own_extra} if own_extra else {})}, extra)
