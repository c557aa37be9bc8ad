"""Chats of SillyTavern: `.jsonl` files, a header and one message per line.

Specification: none is published. Source: public/script.js, public/scripts/openai.js and src/endpoints/chats.js of
SillyTavern/SillyTavern at ba6f7b7a, public/scripts/tool-calling.js at 01f03dbf; read 2026-11-27.

Quirks
- `is_user` is the role. `extra.type` `narrator` marks an instruction.
- `is_system` hides a message from the model: it is an event, unless it stores calls. Such a message has
  `tool_invocations`, each with its result. Failed calls are not stored.
- A name is a field only if it is not that of the header.
- `swipes` are the answers among which the user chose. They are kept if there is more than the one shown, `mes`.
- Times have several spellings, most without a time zone: `August 1, 2026 10:00am`.
- The character, and with it the instructions, is in another file.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from convcli.families.openai.request import media_of_url
from convcli.kit import custom, fitting, passes, results, sessions
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Native, as_text, except_keys, get_extras, make_extras, omit
from convcli.kit.settings import Setting
from convcli.kit.supported import TURNS, fields, media
from convcli.kit.texts import text_of
from convcli.kit.values import DATA_URL, paths, read_arguments, write_arguments
from convcli.model.dialect import Dialect, Options
from convcli.model.document import Rows
from convcli.model.transcript import (
    Extras,
    Media,
    Message,
    Part,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules import arguments

NAME = "sillytavern"
INVOCATIONS, NARRATOR, JOINT = "tool_invocations", "narrator", "\n\n"
NAMES = {"user": "user_name", "assistant": "character_name"}
USUAL = {"user_name": "User", "character_name": "Assistant"}
NARRATOR_NAME = "System"
FILES = ("file", "files")
"""Keys of `extra` with files that the model read."""
USUAL_CALLS = {"name": NARRATOR_NAME, "mes": "Tool calls"}
"""What a row of calls shows, if another program wrote it."""
SENT, BEGUN = "%B %d, %Y %I:%M%p", "%Y-%m-%d@%Hh%Mm%Ss"
"""How a row and a header spell a time, without a time zone."""


def _sent(moment: datetime) -> str:
    half = f"{moment.hour % 12 or 12}:{moment:%M}{'am' if moment.hour < 12 else 'pm'}"
    return f"{moment:%B} {moment.day}, {moment.year} {half}"


def _begun(moment: datetime) -> str:
    return moment.strftime(BEGUN)


def _time(pattern: str, formatted: Callable[[datetime], str]) -> Setting:
    """Returns how a time is read and written: in the spelling of SillyTavern if that states all of it, else as it is.

    A time that would be written in another way is not read: it stays among the extras.
    """

    def write(time: str) -> str:
        moment = _moment(time, None)
        if moment is None or moment.tzinfo is not None or moment.isoformat() != time:
            return time
        text = formatted(moment)
        return text if moment == _moment(text, pattern) else time

    def lift(text: Any) -> str | None:
        moment = _moment(text, pattern)
        time = text if moment is None else moment.isoformat()
        return time if _moment(time, None) is not None and write(time) == text else None

    return Setting("created_at", lift, write)


def _moment(text: Any, pattern: str | None) -> datetime | None:
    """Returns the time in a text, in ISO 8601 if there is no pattern; None if it is none."""
    try:
        return datetime.fromisoformat(text) if pattern is None else datetime.strptime(text, pattern)
    except (TypeError, ValueError):
        return None


HEADER = Envelope("user_name character_name create_date chat_metadata", {"create_date": _time(BEGUN, _begun)})
ROW = Envelope("name= is_user= is_system= send_date mes= extra= swipes swipe_id", {"send_date": _time(SENT, _sent)})
EXTRA = Envelope("api=provider model=model reasoning= image= type isSmallSys tool_invocations=")
RESULTS = results.ResultTexts("")


def _is_header(row: Any) -> bool:
    return isinstance(row, dict) and "mes" not in row and ("chat_metadata" in row or "user_name" in row)


def _is_message(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("mes"), str) and isinstance(row.get("is_user"), bool)


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the transcript of a chat."""
    context = LiftContext(NAME, document)
    transcript = context.transcript()
    header: Native = dict(USUAL)
    for i, row in enumerate(document):
        if i == 0 and _is_header(row):
            context.origin.routes = {(key,): (i, key) for key in row}
            extra = HEADER.lift(row, transcript) or {}
            header |= extra
            usual = {key: value for key, value in USUAL.items() if extra.get(key) == value}
            transcript.extras = make_extras(NAME, omit(extra, *usual))
        elif _is_message(row) and (row.get("extra") or {}).get(INVOCATIONS):
            _lift_calls(row, i, context)
        elif _is_message(row) and row.get("is_system") is not True:
            context.add(*_lift_message(row, i, header))
        else:
            sessions.add_event(context, row, (i,))
    return transcript


def _lift_message(row: Native, i: int, header: Native) -> tuple[Message, Path, list[Path]]:
    native = row.get("extra") or {}
    is_narrator = native.get("type") == NARRATOR and not row["is_user"]
    message = Message("user" if row["is_user"] else "system" if is_narrator else "assistant", [])
    extra, inner = ROW.lift(row, message) or {}, EXTRA.lift(native, message) or {}
    extra = omit(extra, *["swipes"] * (extra.get("swipes") == [row["mes"]]))
    message.extras = _extras(extra, omit(inner, "type") if is_narrator else inner)
    name = as_text(row.get("name"))
    message.name = None if name == _usual_name(message.role, header) else name
    stated: list[tuple[Part, Path]] = []
    if native.get("reasoning"):
        stated.append((Reasoning(native["reasoning"]), ("extra", "reasoning")))
    if row["mes"]:
        stated.append((Text(row["mes"]), ("mes",)))
    if native.get("image"):
        stated.append((_lift_image(native["image"]), ("extra", "image")))
    message.parts = [part for part, _ in stated]
    return message, (i,), [place for _, place in stated]


def _extras(row: Native | None, extra: Native) -> Extras | None:
    files = {key: extra.get(key) for key in FILES}
    return make_extras(NAME, row, **files, extra=omit(extra, *FILES))


def _usual_name(role: str, header: Native) -> Any:
    return NARRATOR_NAME if role == "system" else header.get(NAMES[role])


def _lift_image(url: str) -> Media:
    is_url = "://" in url or url.startswith("data:")
    return media_of_url("image", url) if is_url else Media("image", path=url)


def _lift_calls(row: Native, i: int, context: LiftContext) -> None:
    """Adds the calls of a row, and a message for each of their results."""
    message = Message("assistant", [])
    extra, inner = ROW.lift(row, message) or {}, EXTRA.lift(row["extra"], message) or {}
    extra |= {key: row[key] for key, usual in USUAL_CALLS.items() if row.get(key) not in (None, usual)}
    inner |= {key: row["extra"][key] for key in ("reasoning", "image") if row["extra"].get(key)}
    message.extras = _extras(extra, omit(inner, "isSmallSys") if inner.get("isSmallSys") is True else inner)
    places: list[Path] = [("extra", INVOCATIONS, k) for k in range(len(row["extra"][INVOCATIONS]))]
    context.add(message, (i,), places)
    for native, place in zip(row["extra"][INVOCATIONS], places, strict=True):
        call = ToolCall(context.pairing.call(as_text(native.get("id")), native["name"]), native["name"], {})
        if native.get("parameters"):
            call.arguments, call.raw_arguments = read_arguments(native["parameters"])
        call.extras = make_extras(NAME, except_keys(native, "id", "name", "parameters", "result"))
        message.parts.append(call)
        if native.get("result") is not None:
            result = ToolResult(*context.pairing.result(call.id, call.name), "text", native["result"])
            context.add(Message("tool", [result]), (i, *place), [()])


# ---------------------------------------------------------------- write


def write(transcript: Transcript, _: Options) -> Any:
    """Returns the rows of a chat."""
    header = {**USUAL, "chat_metadata": {}, **get_extras(transcript.extras, NAME)}
    rows: list[Any] = [HEADER.write(transcript, header)]
    open_calls: dict[str, Native] = {}
    for message in transcript.messages:
        result = results.result_of(message)
        if message.role == "event":
            rows.append(sessions.row_of_event(message, NAME))
        elif result is not None:
            invocation = open_calls.pop(result.tool_call_id, None)
            if invocation is not None:
                invocation["result"] = RESULTS.value(result)
        elif any(isinstance(part, ToolCall) for part in message.parts):
            rows.append(_write_calls(message, open_calls))
        else:
            rows.append(_write_message(message, header))
    return Rows(rows)


def _write_calls(message: Message, open_calls: dict[str, Native]) -> Native:
    invocations: list[Native] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            parameters = write_arguments(part.arguments, part.raw_arguments)
            native = {"id": part.id, "name": part.name, "parameters": parameters, **get_extras(part.extras, NAME)}
            invocations.append(native)
            open_calls[part.id] = native
    extra = dict(get_extras(message.extras, NAME))
    inner = {"isSmallSys": True, **_inner(extra)}
    written = EXTRA.write(message, inner, **{INVOCATIONS: invocations})
    return ROW.write(message, {**USUAL_CALLS, **extra, "is_user": False, "is_system": True, "extra": written})


def _inner(extra: Native) -> Native:
    """Takes the members of `extra` out of the extras of a message."""
    return {**{key: extra.pop(key) for key in FILES if key in extra}, **extra.pop("extra", {})}


def _write_message(message: Message, header: Native) -> Native:
    extra = dict(get_extras(message.extras, NAME))
    inner = {**_inner(extra), **({"type": NARRATOR} if message.role == "system" else {})}
    thoughts = [part.text for part in message.parts if isinstance(part, Reasoning) and part.text]
    images = [url for part in message.parts if isinstance(part, Media) and (url := _url_of(part))]
    more = {"reasoning": JOINT.join(thoughts)} if thoughts else {}
    more |= {"image": images[0]} if images else {}
    name = message.name or _usual_name(message.role, header)
    fields = {"name": name, "is_user": message.role == "user", "is_system": False}
    written = {"mes": text_of(message.parts, JOINT), "extra": EXTRA.write(message, inner, **more)}
    return ROW.write(message, {**extra, **fields, **written})


def _url_of(part: Media) -> str | None:
    data = part.data
    return part.url or part.path if data is None else DATA_URL.format(part.media_type or "image/png", data)


# ---------------------------------------------------------------- fit


def _split_calls(message: Message) -> list[Message]:
    """Moves calls into a message of their own, behind the texts of an answer. The fields stay with the first."""
    calls: list[Part] = [part for part in message.parts if isinstance(part, ToolCall)]
    others: list[Part] = [part for part in message.parts if not isinstance(part, ToolCall)]
    if not calls or not others:
        return [message]
    return [replace(message, parts=others), Message(message.role, calls, created_at=message.created_at)]


FIT = (
    sessions.keep_active_branch,
    sessions.keep_own_events(NAME, lambda row: _is_message(row) and row.get("is_system") is not True),
    sessions.set_models_of_answers,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    custom.as_functions,
    results.separate_results,
    results.one_result_each,
    passes.on_messages(lambda messages: passes.shared_all(messages, _split_calls)),
    sessions.put_results_before_events,
    passes.on_results(RESULTS.fits),
    fitting.settle_by_reading_back(lift, write, "chat"),
)

SUPPORTS = (
    TURNS
    | media("image", "data url path mediaType")
    | HEADER.supports()
    | ROW.supports("message")
    | EXTRA.supports("message")
)
SUPPORTS |= fields("message.name tool_call.rawArguments")

DIALECT = Dialect(
    name=NAME,
    title="SillyTavern",
    specification="SillyTavern at ba6f7b7a; read 2026-11-27",
    framings=("events",),
    forms=("chat",),
    lift=lift,
    write=write,
    fit=FIT,
    conventions=(RESULTS.convention(),),
    rules=(arguments.readable(),),
    supports=SUPPORTS,
    event_reason="SillyTavern hides this message from the model",
    reasons={
        **sessions.NOTHING_SENT,
        "event": sessions.REASONS["event"],
        "model": sessions.REASONS["model"],
        "text": "a message of SillyTavern has one text",
        "reasoning": "a message of SillyTavern has one reasoning text",
        "image": "a message of SillyTavern has one image",
        "tool_result": "SillyTavern stores results in their calls",
        "message": "SillyTavern stores calls in a message of their own",
        "refusal": "SillyTavern has no field for a refusal: it is written as text",
    },
    places={
        **HEADER.places("", "0"),
        **ROW.places("message"),
        **EXTRA.places("message", "extra"),
        **paths(
            "message.name=name message.role=is_user tool_call.arguments=parameters tool_call.rawArguments=parameters "
            "tool_result.value=result tool_result.kind=result extras.extra=extra extras.file=extra/file "
            "extras.files=extra/files"
        ),
    },
    content=fields("swipes file files"),
    envelope=fields("swipe_id gen_started gen_finished force_avatar isSmallSys chat_metadata displayName"),
)
