"""The requests of a VS Code chat: a user message, the answer, and what was recorded of how the model made it."""

from __future__ import annotations

from typing import Any

from convcli.dialects.vscode_chat.messages import (
    NAME,
    Placed,
    except_texts,
    is_round,
    lift_result,
    lift_round,
    lift_shown,
    shown_text,
    write_result,
    write_round,
    write_shown,
)
from convcli.families.openai.request import media_of_url
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, Envelope
from convcli.kit.objects import (
    Native,
    as_object,
    as_text,
    get_extras,
    make_extras,
    merge,
    omit,
    without_empty,
    without_nulls,
)
from convcli.kit.texts import is_bare, text_of, without_space
from convcli.kit.values import DATA_URL, MEDIA_TYPES, counts, put_counts, take_counts
from convcli.model.transcript import Media, Message, Opaque, Part, Path, Reasoning, Text, ToolCall, ToolResult

REQUEST = Envelope(
    "requestId=id timestamp message= variableData response= responseId agent modelId= modeInfo result= "
    "modelState= followups",
    {"timestamp": CREATED_IN_MILLISECONDS},
)
DEFAULTS: Native = {"variableData": {"variables": []}}
"""Keys of every request, with their usual values."""
RENDERED, ROUNDS, RESULTS = "renderedUserMessage", "toolCallRounds", "toolCallResults"
"""What the model was sent: the user message, the rounds of the answer, and the results of their calls."""
IMAGE, TEXT = 0, 1
"""The types of contents in a rendered message."""
STATES = {1: "stop", 2: "aborted", 3: "error"}
STATE_OF = {reason: state for state, reason in STATES.items()}
USAGE = counts("promptTokens=inputTokens outputTokens=outputTokens")
OF_REQUEST = ("modelId", "modelState", "result")
"""Keys of a request with fields of its answers."""


class RequestReader:
    """Reads one request; `path` is its path."""

    def __init__(self, native: Native, path: Path, context: LiftContext) -> None:
        self._native, self._path, self._context = native, path, context
        self._result = as_object(native.get("result"))
        self._metadata = as_object(self._result.get("metadata"))
        self._results = as_object(self._metadata.get(RESULTS))
        rounds = self._metadata.get(ROUNDS)
        self._rounds: list[Native] = rounds if isinstance(rounds, list) and all(map(is_round, rounds)) else []
        self._used = {*[RESULTS] * bool(self._results), *[ROUNDS] * bool(self._rounds)}

    def lift(self) -> None:
        """Adds the messages: results of earlier calls, the user message, and the answer."""
        calls = {as_text(call.get("id")) for one in self._rounds for call in one.get("toolCalls") or ()}
        self._add_results([id_ for id_ in self._results if id_ not in calls])
        first = len(self._context.messages)
        user, part_paths = self._lift_user()
        self._lift_rounds()
        others = self._lift_shown(first)
        answers = _answers(self._context.messages[first:])
        extra = REQUEST.lift(self._native, user) or {}
        extra = {key: extra[key] for key in extra if extra[key] != DEFAULTS.get(key)}
        extra |= self._lift_end(answers) | get_extras(user.extras, NAME)
        extra |= {"response": others} if others else {}
        user.extras = make_extras(NAME, extra)
        if user != Message("user", []) or self._path[-1] != 0:  # an answer may be the first message
            self._context.messages.insert(first, user)
            self._context.origin.places.insert(first, (self._path, part_paths))

    def _add(self, message: Message, path: Path, part_paths: list[Path]) -> None:
        """Adds a message, whose model and end are stated by the request."""
        place = (*self._path, *path)
        self._context.add(message, place, part_paths)
        if path:
            self._context.origin.routes |= {(*place, key): (*self._path, key) for key in OF_REQUEST}

    # ---------------------------------------------------------------- the user message

    def _lift_user(self) -> tuple[Message, list[Path]]:
        stated = self._native.get("message")
        native = {"text": stated} if isinstance(stated, str) else stated if isinstance(stated, dict) else {}
        text = as_text(native.get("text")) or ""
        rendered = self._metadata.get(RENDERED)
        message = Message("user", [Text(text)] if text else [])
        part_paths: list[Path] = [("message", "text") if stated is native else ("message",)] if text else []
        if rendered and isinstance(rendered, (str, list)):
            message.parts = _rendered_parts(rendered)
            base = ("result", "metadata", RENDERED)
            part_paths = [base if isinstance(rendered, str) else (*base, k) for k in range(len(message.parts))]
            self._used.add(RENDERED)
        rest = without_empty(
            native, *["text"] * (isinstance(native.get("text"), str) and text in text_of(message.parts))
        )
        if rest.get("parts") == text_parts(text):
            del rest["parts"]
        wrong = {"message": stated} if stated is not None and not isinstance(stated, (str, dict)) else {}
        message.extras = make_extras(NAME, wrong, message=rest)
        return message, part_paths

    # ---------------------------------------------------------------- the answer

    def _lift_rounds(self) -> None:
        for k, native in enumerate(self._rounds):
            message, part_paths = lift_round(native, self._context)
            message.provider, message.model = self._model()
            path = ("result", "metadata", ROUNDS, k)
            self._add(message, path, part_paths)
            self._add_results([call["id"] for call in native.get("toolCalls") or () if call.get("id")])
            if native.get("summary"):
                self._add(Message("user", [Text(native["summary"])], replaces="all"), path, [("summary",)])

    def _add_results(self, ids: list[str]) -> None:
        for id_ in ids:
            native = self._results.get(id_)
            if native is None:
                continue
            part: Part = Opaque(NAME, {"id": id_, "result": native})
            if isinstance(native, dict):
                part = lift_result(id_, native, self._context)
            role = "tool" if isinstance(native, dict) else "event"
            self._context.add(Message(role, [part]), (*self._path, "result", "metadata", RESULTS, id_), [()])

    def _lift_shown(self, first: int) -> list[Any]:
        """Adds what VS Code displays, if there are no rounds. Returns the items that are no part of the answer."""
        items = self._native.get("response")
        if not isinstance(items, list):
            return [items] if items else []
        if self._rounds:
            return _without_repeated(items, _answers(self._context.messages[first:]))
        placed: list[Placed] = []
        others: list[Any] = []
        for k, item in enumerate(items):
            parts = lift_shown(item, self._context)
            placed += [(part, (k, *path)) for part, path in parts]
            others += [] if parts else [item]
        if placed:
            message = Message("assistant", [part for part, _ in placed])
            message.provider, message.model = self._model()
            self._add(message, ("response",), [path for _, path in placed])
        return others

    def _model(self) -> tuple[str | None, str | None]:
        """Returns provider and name of the model."""
        stated = as_text(self._native.get("modelId"))
        provider, slash, name = (stated or "").partition("/")
        return (provider, name) if slash and provider and name else (None, stated)

    def _lift_end(self, answers: list[Message]) -> Native:
        """Sets stop reason, error and usage of the last answer. Returns the extras of the request."""
        details, state = as_object(self._result.get("errorDetails")), as_object(self._native.get("modelState"))
        error = as_text(details.get("message"))
        usage, metadata = take_counts(omit(self._metadata, *self._used), USAGE)
        value = state.get("value")
        reason = STATES.get(value) if type(value) is int else None
        if not answers and (error or usage or reason):
            answers = [Message("assistant", [])]
            answers[0].provider, answers[0].model = self._model()
            self._add(answers[0], ("response",), [])
        model = self._native.get("modelId")
        extra = {"modelId": model} if model is not None and not (answers and as_text(model)) else {}
        if answers:
            answers[-1].error, answers[-1].stop_reason, answers[-1].usage = error, reason, usage or None
        rest = omit(state, *["value"] * (reason is not None))
        extra |= {"modelState": rest} if rest else self._unless_object("modelState", self._native)
        result = without_empty(self._result, "metadata", "errorDetails")
        details = omit(details, *["message"] * bool(error))
        result |= {"errorDetails": details} if details else self._unless_object("errorDetails", self._result)
        result |= {"metadata": metadata} if metadata else self._unless_object("metadata", self._result)
        return extra | ({"result": result} if result else self._unless_object("result", self._native))

    @staticmethod
    def _unless_object(key: str, native: Native) -> Native:
        value = native.get(key)
        return {} if value is None or isinstance(value, dict) else {key: value}


def _rendered_parts(rendered: str | list[Any]) -> list[Part]:
    """Returns the parts of the user message as it was sent to the model."""
    return [Text(rendered)] if isinstance(rendered, str) else [_rendered_part(item) for item in rendered]


def _rendered_part(item: Any) -> Part:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == TEXT and isinstance(item.get("text"), str):
        return Text(item["text"], extras=make_extras(NAME, omit(item, "type", "text")))
    image = as_object(as_object(item).get("imageUrl"))
    url = as_text(image.get("url"))
    if kind != IMAGE or url is None:
        return Opaque(NAME, item)
    media = media_of_url("image", url)
    media.detail = as_text(image.get("detail"))
    rest = omit(image, "url", *["detail"] * (media.detail is not None))
    media.extras = make_extras(NAME, omit(item, "type", "imageUrl"), imageUrl=rest)
    return media


def text_parts(text: str) -> list[Native]:
    """Returns the only part of a message that is a text."""
    lines = text.split("\n")
    ends = {"endLineNumber": len(lines), "endColumn": len(lines[-1]) + 1}
    editor = {"startLineNumber": 1, "startColumn": 1, **ends}
    return [{"range": {"start": 0, "endExclusive": len(text)}, "editorRange": editor, "text": text, "kind": "text"}]


def _answers(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.role == "assistant"]


def _without_repeated(items: list[Any], messages: list[Message]) -> list[Any]:
    """Returns the displayed items that do not repeat texts, thoughts or bare calls of the rounds."""
    rounds = [part for message in messages for part in message.parts]
    shown = "".join(shown_text(item) or "" for item in items)
    is_repeated = without_space(shown) == without_space(text_of([one for one in rounds if isinstance(one, Text)]))
    thoughts = {without_space(part.text) for part in rounds if isinstance(part, Reasoning)}
    calls = {(part.id, part.name) for part in rounds if isinstance(part, ToolCall)}
    others: list[Any] = []
    for item in items:
        if shown_text(item) is not None:
            others += [] if is_repeated and not except_texts(item) else [item]
        elif not (isinstance(item, dict) and (_is_bare_call_of(item, calls) or _is_thought_of(item, thoughts))):
            others.append(item)
    return others


def _is_bare_call_of(item: Native, calls: set[tuple[str, str]]) -> bool:
    id_, name = item.get("toolCallId"), item.get("toolId")
    if not isinstance(id_, str) or not isinstance(name, str):
        return False
    return (id_, name) in calls and item == write_shown(ToolCall(id_, name, {}))


def _is_thought_of(item: Native, thoughts: set[str]) -> bool:
    is_bare = item.keys() == {"kind", "value"} and item["kind"] == "thinking"
    return is_bare and isinstance(item["value"], str) and without_space(item["value"]) in thoughts


# ---------------------------------------------------------------- write


def write_requests(groups: list[list[Message]]) -> list[Native]:
    """Returns the requests of user messages with their answers. A result that answers none of their calls is in the
    next request."""
    natives: list[Native] = []
    late: list[ToolResult] = []
    for k, group in enumerate(groups):
        calls = {part.id for one in group for part in one.parts if isinstance(part, ToolCall)}
        found = [part for one in group for part in one.parts if isinstance(part, ToolResult)]
        is_last = k == len(groups) - 1
        answered = [part for part in found if part.tool_call_id in calls or is_last]
        natives.append(_write_request(group, [*late, *answered]))
        late = [part for part in found if not (part.tool_call_id in calls or is_last)]
    return natives


def _write_request(group: list[Message], answered: list[ToolResult]) -> Native:
    """Returns the request of a user message with its answers, and these results."""
    user = next((one for one in group if is_question(one)), Message("user", []))
    answers = _answers(group)
    extra = dict(get_extras(user.extras, NAME))
    message, metadata = _write_user(user.parts, as_object(extra.pop("message", None)))
    others = extra.get("response", [])
    has_texts = isinstance(others, list) and any(shown_text(item) is not None for item in others)
    shown = [item for one in answers for item in _displayed(one) if not has_texts or shown_text(item) is None]
    if is_displayed_only(group):
        shown = [item for part in answers[0].parts if (item := write_shown(part)) is not None]
    elif answers and not _is_only_end(answers):
        metadata[ROUNDS] = _write_rounds(group)
    results = {part.tool_call_id: write_result(part) for part in answered}
    metadata |= {RESULTS: results} if results else {}
    native = {"message": message, "response": [], **DEFAULTS, **extra}
    native["response"] = [*shown, *others] if isinstance(others, list) else others
    return REQUEST.write(user, {**native, **_write_end(answers[-1:], metadata, extra)})


def is_question(message: Message) -> bool:
    """True for a user message, which begins a request."""
    return message.role == "user" and message.replaces is None


def is_displayed_only(group: list[Message]) -> bool:
    """True if a request has one answer that only the displayed items can state: with texts between calls whose results
    and arguments are unknown."""
    answers = _answers(group)
    if len(answers) != 1 or any(one.role == "tool" or one.replaces for one in group):
        return False
    answer = answers[0]
    kinds = [part.type for part in answer.parts if part.type in ORDER]
    is_round = kinds == sorted(kinds, key=ORDER.get) and kinds.count("text") <= 1  # type: ignore[arg-type]
    calls = [get_extras(part.extras, NAME) for part in answer.parts if isinstance(part, ToolCall)]
    is_shown = any(part.type == "text" and part.extras for part in answer.parts) or any(calls)
    return answer.id is None and answer.created_at is None and (not is_round or is_shown)


def _is_only_end(answers: list[Message]) -> bool:
    """True if a request has no answer, but an end: an error, a state or a count of tokens."""
    first = answers[0]
    has_end = first.error or first.stop_reason in STATE_OF or first.usage
    return len(answers) == 1 and bool(has_end) and not (first.parts or first.id or first.created_at)


ORDER = {"reasoning": 0, "text": 1, "tool_call": 2}
"""The order of parts in a round."""


def _write_user(parts: list[Part], extra: Native) -> tuple[Native, Native]:
    """Returns the user message as VS Code displays it, and as the model was sent it if that is more than a text."""
    text = text_of(parts)
    message = {"text": text, "parts": text_parts(as_text(extra.get("text")) or text), **extra}
    is_text = not parts or (len(parts) == 1 and is_bare(parts[0]) and parts[0].text != "")
    rendered = [item for part in parts if (item := _write_rendered(part)) is not None]
    return message, {} if is_text and "text" not in extra else {RENDERED: rendered}


def _write_rendered(part: Part) -> Any:
    extra = get_extras(part.extras, NAME)
    if isinstance(part, Text):
        return {"type": TEXT, "text": part.text, **extra}
    if isinstance(part, Media):
        url = part.url if part.data is None else DATA_URL.format(part.media_type or MEDIA_TYPES["image"], part.data)
        image = without_nulls({"url": url, "detail": part.detail, **as_object(extra.get("imageUrl"))})
        return {"type": IMAGE, "imageUrl": image, **omit(extra, "imageUrl")} if part.type == "image" and url else None
    return part.value if isinstance(part, Opaque) and part.dialect == NAME else None


def _write_rounds(group: list[Message]) -> list[Native]:
    rounds: list[Native] = []
    for message in group:
        if message.role == "assistant":
            rounds.append(write_round(message))
        elif message.replaces is not None and rounds:
            rounds[-1] = {**rounds[-1], "summary": text_of(message.parts)}
    return rounds


def _displayed(answer: Message) -> list[Native]:
    """Returns the items that display a round."""
    parts = [ToolCall(part.id, part.name, {}) if isinstance(part, ToolCall) else part for part in answer.parts]
    bare = [Reasoning(part.text) if isinstance(part, Reasoning) else part for part in parts if part.type in ORDER]
    return [item for part in bare if (item := write_shown(part)) is not None]


def _write_end(answers: list[Message], metadata: Native, extra: Native) -> Native:
    """Returns model, state and result of a request."""
    native: Native = {}
    result = as_object(extra.get("result"))
    details, state = as_object(result.get("errorDetails")), as_object(extra.get("modelState"))
    for answer in answers:
        model = f"{answer.provider}/{answer.model}" if answer.provider else answer.model
        native |= {"modelId": model} if answer.model else {}
        details = {**details, **({"message": answer.error} if answer.error else {})}
        value = STATE_OF.get(answer.stop_reason or "")
        state = {"value": value, **state} if value is not None else state
        metadata |= put_counts(answer.usage or {}, {}, USAGE)
    native |= {"modelState": state} if state else {}
    nested = {"errorDetails": details, "metadata": merge(metadata, as_object(result.get("metadata")))}
    result = {**result, **{key: value for key, value in nested.items() if value}}
    return native | ({"result": result} if result else {})
