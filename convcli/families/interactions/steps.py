"""Steps of Google's Interactions API ⇄ messages.

Consecutive steps of the model are one answer: one message, whose parts are in the order of the steps. How contents were
grouped into steps is a spelling. Keys of a step that are not its contents are stored on its first part, under `step`.

Specification: `Step` and `Content` of the Python SDK `google-genai` 3.6.1; read 2026-11-27.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from convcli.families.google.parts import SIGNATURE
from convcli.kit.blocks import BlockRows, BlockTable, in_metadata
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, drop_extras, get_extras, has_content, make_extras, omit
from convcli.kit.pairing import UNKNOWN
from convcli.kit.results import fail, has_failed, result_of_parts
from convcli.kit.settings import Setting, whole
from convcli.kit.streams import apart
from convcli.kit.supported import fields
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolResult

INPUT, OUTPUT, THOUGHT, CALL, RESULT = "user_input", "model_output", "thought", "function_call", "function_result"
CONTENTS = fields("text image audio video document")
STEP = "step"
"""The extras key for the keys of a step, on the first of its contents."""
IN_CONTENT = {"in": "content"}
"""Extras of an opaque part that is a content, and not a step."""
CONTENT_STEP = Keys("type= content= error")
RESULT_STEP = Keys("type call_id name is_error result")
TURN = Keys("role content")
OF_THOUGHT = ("signature", "summary")
DETAILS = ("low", "medium", "high", "ultra_high")


def _lift_summary(summary: Any) -> str:
    texts = [content.get("text") for content in summary]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _write_summary(text: str) -> list[Native] | None:
    return [{"type": "text", "text": text}] if text else None


SOURCES: dict[str, str | Setting] = {"data": "data", "uri": "url", "mime_type": "media_type"}


@cache
def blocks_of(owner: str) -> BlockTable:
    """Returns the contents, thoughts and calls of a dialect whose extras belong to `owner`."""
    rows = BlockRows(owner, "type", STEP)
    seen = {**SOURCES, "resolution": "detail"}
    return rows.table(
        rows.record("text", Text(""), "type text annotations", {"text": whole("text")}),
        rows.media("image", "image", "type data uri mime_type resolution", seen),
        rows.media("audio", "audio", "type data uri mime_type channels sample_rate processing", SOURCES),
        rows.media("video", "video", "type data uri mime_type name resolution processing", {**seen, "name": "name"}),
        rows.media("document", "document", "type data uri mime_type resolution processing", seen),
        rows.record(
            *(THOUGHT, Reasoning(""), "type signature summary"),
            {"signature": in_metadata(SIGNATURE), "summary": Setting("text", _lift_summary, _write_summary, True)},
        ),
        rows.call(CALL, "type= id=id name=name arguments=arguments"),
    )


# ---------------------------------------------------------------- lift


class StepReader:
    """Adds the messages of steps to a context, one step at a time."""

    __slots__ = ("_blocks", "_context", "_open", "_part_paths", "_place")

    def __init__(self, context: LiftContext) -> None:
        self._context, self._blocks = context, blocks_of(context.dialect)
        self._open: Message | None = None
        """The answer, or the question of bare contents, that the next step may continue."""
        self._place: Path = ()
        self._part_paths: list[Path] = []

    def input(self, value: Any, path: Path) -> None:
        """Adds the input of a request: a text, one content, or a list of contents, steps or turns."""
        if isinstance(value, str):
            self._begin("user", path)
            self._extend([Text(value)] if value else [], [path])
        else:
            self.all([value], path[:-1], at=path[-1]) if isinstance(value, dict) else self.all(value or [], path)

    def all(self, natives: list[Native], prefix: Path, *, at: Any = None, is_model: bool = False) -> None:
        """Adds all items of the list at `prefix`. Bare contents are the model's if `is_model`, else the user's."""
        for i, native in enumerate(natives):
            self.add(native, (*prefix, i if at is None else at), is_model=is_model)

    def add(self, native: Native, path: Path, *, is_model: bool = False) -> None:
        """Adds the step, bare content or turn at `path`."""
        kind = native.get("type")
        if kind is None:
            self._add_turn(native, path)
        elif kind in CONTENTS:
            self._continue("assistant" if is_model else "user", path)
            self._extend([self._blocks.lift(native, self._context)], [path])
        elif kind == INPUT:
            self._begin("user", path).extras = make_extras(self._context.dialect, CONTENT_STEP.extra(native))
            self._extend(*self._contents(native, path))
            self._open = None
        elif kind == RESULT:
            self._context.add(Message("tool", [self._result(native)]), path, [()])
            self._open = None
        else:
            self._continue("assistant", path)
            self._add_to_answer(native, kind, path)

    def _begin(self, role: str, path: Path) -> Message:
        self._open, self._place, self._part_paths = Message(role, []), path, []
        self._context.add(self._open, path, self._part_paths)
        return self._open

    def _continue(self, role: str, path: Path) -> None:
        """Begins a message, unless one of this role is open."""
        if self._open is None or self._open.role != role:
            self._begin(role, path)

    def _extend(self, parts: list[Part], paths: list[Path]) -> None:
        """Adds parts with these paths to the open message."""
        assert self._open is not None
        size = len(self._place)
        self._open.parts += parts
        self._part_paths += [
            path[size:] if path[:size] == self._place else apart(self._place, path) for path in paths[: len(parts)]
        ]

    def _add_to_answer(self, native: Native, kind: str, path: Path) -> None:
        dialect = self._context.dialect
        if kind in (THOUGHT, CALL):
            empty = (key for key in OF_THOUGHT if not has_content(native.get(key)))
            step = omit(native, *empty) if kind == THOUGHT else native
            self._extend([self._blocks.lift(step, self._context)], [path])
            return
        parts, paths = self._contents(native, path) if kind == OUTPUT else ([], [])
        extra = CONTENT_STEP.extra(native) if kind == OUTPUT else native
        if not parts and extra:
            parts, paths = [Opaque(dialect, native)], [path]
        elif extra:
            add_extras(parts[0], dialect, None, step=extra)
        self._extend(parts, paths)

    def _contents(self, native: Native, path: Path) -> tuple[list[Part], list[Path]]:
        """Returns the contents of a step, with their paths."""
        dialect, parts = self._context.dialect, list[Part]()
        for content in native.get("content") or []:
            part = (
                self._blocks.lift(content, self._context) if content["type"] in CONTENTS else Opaque(dialect, content)
            )
            if isinstance(part, Opaque):
                part.extras = {dialect: dict(IN_CONTENT)}
            parts.append(part)
        return parts, [(*path, "content", j) for j in range(len(parts))]

    def _add_turn(self, native: Native, path: Path) -> None:
        """Adds a turn, as requests had them before there were steps."""
        content, is_model = native.get("content") or [], native["role"] == "model"
        extra = make_extras(self._context.dialect, None, turn=TURN.extra(native))
        self._open = None
        if isinstance(content, str) or extra:
            self._begin("assistant" if is_model else "user", path).extras = extra
        if isinstance(content, str):
            self._extend([Text(content)], [(*path, "content")])
        else:
            self.all(content, (*path, "content"), is_model=is_model)
        if not is_model:
            self._open = None

    def _result(self, native: Native) -> ToolResult:
        """Lifts a result: text, an object, or a list of contents."""
        ids = self._context.pairing.result(native["call_id"] or None, native.get("name") or None)
        value = native["result"]
        if isinstance(value, list):
            parts = [self._blocks.lift_inside(content, self._context) for content in value]
            result = result_of_parts(*ids, parts, failed=False)
        else:
            result = ToolResult(*ids, "text" if isinstance(value, str) else "data", value)
        if native.get("is_error"):
            fail(result)
        result.extras = make_extras(self._context.dialect, RESULT_STEP.extra(native))
        return result


# ---------------------------------------------------------------- write


class StepWriter:
    """Writes the steps of messages. `answered`: as in a response, in which an empty answer has no step."""

    __slots__ = ("_answered", "_blocks", "_dialect", "steps")

    def __init__(self, dialect: str, *, answered: bool = False) -> None:
        self._dialect, self._blocks, self._answered = dialect, blocks_of(dialect), answered
        self.steps: list[Native] = []

    def all(self, messages: list[Message]) -> list[Native]:
        """Returns the steps of these messages."""
        for message in messages:
            self._message(message)
        return self.steps

    def _message(self, message: Message) -> None:
        if message.role == "tool":
            self.steps += [self._result(part) for part in message.parts if isinstance(part, ToolResult)]
        elif message.role == "assistant":
            self._answer(message)
        else:
            extra = get_extras(message.extras, self._dialect)
            natives = [self._blocks.write(part) for part in message.parts]
            content = [native for native in natives if native is not None]
            self.steps.append(CONTENT_STEP.put({"type": INPUT, "content": content}, extra))

    def _answer(self, message: Message) -> None:
        """Writes the steps of an answer: consecutive contents are one step, unless one of them begins another."""
        draft: Native | None = None
        for part in message.parts:
            native = self._blocks.write(drop_extras(part, self._dialect, STEP))
            if native is None:
                continue
            if not self._is_content(part):
                draft = None
                self.steps.append(native)
                continue
            step = self._step_of(part)
            if draft is None or step:
                draft = CONTENT_STEP.put({"type": OUTPUT, "content": []}, step)
                self.steps.append(draft)
            draft["content"].append(native)
        if not message.parts and not self._answered:
            self.steps.append({"type": OUTPUT, "content": []})

    def _is_content(self, part: Part) -> bool:
        extra = get_extras(part.extras, self._dialect)
        return isinstance(part, (Text, Media)) or (isinstance(part, Opaque) and extra.get("in") == "content")

    def _step_of(self, part: Part) -> Native | None:
        step: Native | None = get_extras(part.extras, self._dialect).get(STEP)
        return step

    def _result(self, result: ToolResult) -> Native:
        value = result.value
        if result.kind == "multimodal":
            natives = [self._blocks.write_inside(part) for part in value]
            value = [native for native in natives if native is not None]
        native = {
            "type": RESULT,
            "call_id": result.tool_call_id,
            "name": None if result.name == UNKNOWN else result.name,
            "is_error": True if has_failed(result) else None,
            "result": value,
        }
        return RESULT_STEP.write(native, get_extras(result.extras, self._dialect))
