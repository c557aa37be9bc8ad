"""OpenCode message parts. A call and its result are one part, whose state gives its progress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.google.parts import kind_of
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, get_extras, make_extras, omit, together, without_nulls
from convcli.kit.results import in_words
from convcli.kit.values import DATA_URL, MEDIA_TYPES, milliseconds_of_time, split_data_url, time_of_milliseconds
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from convcli.wire import exact_json

NAME = "opencode"
PART = Keys(
    "id sessionID messageID type text synthetic ignored mime filename url source callID tool state metadata time"
)
STATE = Keys("status input raw output error title metadata time attachments")
SCHEMES = ("https:", "http:", "data:", "file:")
"""URL prefixes of files that the program can read."""
ASIDE = frozenset(("step-start", "step-finish", "snapshot", "patch", "retry"))
"""Part types outside of the model's context: they are kept as message extras."""


class Frame(NamedTuple):
    """What every part repeats of its session and its message, with the message's number and time."""

    session: str | None
    message: str | None
    number: int
    created: Any

    def usual(self, at: int) -> Native:
        """Returns what the part at this index repeats; part ids ascend, which gives their order."""
        ids = {"sessionID": self.session, "messageID": self.message}
        return {"id": f"prt_{self.number:012}{at:012}", **without_nulls(ids)}

    @property
    def started(self) -> Native:
        """Returns the time of a part of unknown duration."""
        return {} if self.created is None else {"start": self.created}


def other_keys(native: Native, usual: Mapping[str, Any], *content: str) -> Native:
    """Returns the keys of an object except its content and default values."""
    return {
        key: value
        for key, value in native.items()
        if key not in content and value is not None and not (key in usual and exact_json.exact(usual[key], value))
    }


def in_order(native: Native) -> Native:
    """Returns a part in OpenCode's key order."""
    return PART.put(native, None, sort=True)


# ---------------------------------------------------------------- lift


def lift_part(native: Native, at: int, frame: Frame, context: LiftContext) -> tuple[Part, ToolResult | None]:
    """Returns the part, and the result of a call that has one; a part of an unknown type becomes opaque."""
    usual, kind = frame.usual(at), native["type"]
    if kind == "text":
        return Text(native["text"], extras=_extra(native, usual, "type", "text")), None
    if kind == "reasoning":
        extras = _extra(native, {**usual, "time": frame.started}, "type", "text")
        return Reasoning(native["text"], extras=extras), None
    if kind == "file":
        return _lift_file(native, usual), None
    if kind == "tool":
        return _lift_tool(native, usual, frame, context)
    return Opaque(NAME, in_order(other_keys(native, usual))), None


def _extra(native: Native, usual: Mapping[str, Any], *content: str) -> Any:
    return make_extras(NAME, other_keys(native, usual, *content))


def _lift_file(native: Native, usual: Mapping[str, Any]) -> Media:
    mime, url = native["mime"], native["url"]
    split = split_data_url(url)
    media = Media(kind_of(mime), media_type=mime or None, name=native.get("filename") or None)
    if split is not None and split[0] == mime:
        media.data = split[1]
    else:
        media.url = url
    media.extras = _extra(native, usual, "type", "mime", "url", "filename")
    return media


def _lift_tool(
    native: Native, usual: Mapping[str, Any], frame: Frame, context: LiftContext
) -> tuple[ToolCall, ToolResult | None]:
    state, name = native["state"], native["tool"]
    id_ = context.pairing.call(native["callID"] or None, name)
    extra = other_keys(native, usual, "type", "tool", "callID", "state")
    result = None
    if state["status"] in ("completed", "error"):
        context.pairing.result(id_, name)
        result = _lift_result(state, id_, name, usual, frame)
    else:
        waiting = STATE.put(other_keys(state, _waiting(state["status"], frame), "input"), None, sort=True)
        extra |= {"state": waiting} if waiting else {}
    return ToolCall(id_, name, state.get("input") or {}, extras=make_extras(NAME, extra)), result


def _waiting(status: Any, frame: Frame) -> Native:
    """Returns the default state of a call without a result."""
    return {"status": "pending", "raw": ""} if status != "running" else {"time": frame.started}


def _lift_result(state: Native, id_: str, name: str, usual: Mapping[str, Any], frame: Frame) -> ToolResult:
    failed = state["status"] == "error"
    read_keys = ("status", "input", "error" if failed else "output", *(() if failed else ("attachments",)))
    extra = other_keys(state, {"title": "", "metadata": {}}, *read_keys, "time")
    time = without_nulls(state["time"])
    if time_of_milliseconds(time.get("end")) is not None:
        del time["end"]
    extra |= {"time": time} if (time := other_keys(time, frame.started)) else {}
    result = ToolResult(id_, name, "error" if failed else "text", state["error" if failed else "output"])
    files, rest = [] if failed else state.get("attachments") or [], list[Native]()
    if files:
        media = [_lift_file(file, {**usual, "id": f"{usual['id']}{k:04}"}) for k, file in enumerate(files)]
        rest = [get_extras(file.extras, NAME) for file in media]
        bare = [replace(file, extras=None) for file in media]
        result.kind, result.value = "multimodal", [*([Text(result.value)] if result.value else []), *bare]
    result.extras = make_extras(NAME, extra, attachments=rest if any(rest) else None)
    return result


def time_of_result(native: Native) -> str | None:
    """Returns the time at which a call was answered."""
    return time_of_milliseconds((native["state"].get("time") or {}).get("end"))


# ---------------------------------------------------------------- write


def write_part(part: Part, at: int, frame: Frame, answer: Message | None) -> Native:
    """Writes a message part; `answer` is the message with the result of a call."""
    if isinstance(part, Opaque):
        return in_order({**frame.usual(at), **part.value})
    if isinstance(part, Reasoning):
        return _put(part, {"type": "reasoning", "text": part.text, "time": frame.started}, frame.usual(at))
    if isinstance(part, Media):
        return _write_file(part, frame.usual(at))
    if isinstance(part, ToolCall):
        extra = omit(get_extras(part.extras, NAME), "state")
        content = {"type": "tool", "callID": part.id, "tool": part.name, "state": _write_state(part, at, frame, answer)}
        return in_order({**frame.usual(at), **content, **together(extra)})
    return _put(part, {"type": "text", "text": part.text if isinstance(part, Text) else ""}, frame.usual(at))


def _put(part: Part, content: Native, usual: Native) -> Native:
    return in_order({**usual, **content, **together(get_extras(part.extras, NAME))})


def _write_file(media: Media, usual: Native) -> Native:
    url = media.url if media.data is None else DATA_URL.format(media.media_type or "", media.data)
    native = {"type": "file", "mime": media.media_type or "", "url": url}
    return _put(media, {**native, **({"filename": media.name} if media.name else {})}, usual)


def _write_state(call: ToolCall, at: int, frame: Frame, answer: Message | None) -> Native:
    result = answer.parts[0] if answer is not None else None
    if answer is None or not isinstance(result, ToolResult):
        extra = get_extras(call.extras, NAME).get("state") or {}
        status = extra.get("status", "pending")
        return STATE.put(
            {"status": status, **_waiting(status, frame), "input": call.arguments, **extra}, None, sort=True
        )
    extra = get_extras(result.extras, NAME)
    end = milliseconds_of_time(answer.created_at)
    time = {**frame.started, **({} if end is None else {"end": end}), **extra.get("time", {})}
    call_keys = together(omit(extra, "time", "attachments"))
    native: Native = {"input": call.arguments, **call_keys, "time": time}
    if result.kind == "error":
        return STATE.put({"status": "error", **native, "error": result.value}, None, sort=True)
    usual = {"status": "completed", "title": "", "metadata": {}}
    return STATE.put({**usual, **native, **_write_output(result, frame.usual(at))}, None, sort=True)


def _write_output(result: ToolResult, usual: Native) -> Native:
    if result.kind != "multimodal":
        return {"output": result.value}
    media = [part for part in result.value if isinstance(part, Media)]
    rest = get_extras(result.extras, NAME).get("attachments", [])
    files = []
    for k, file in enumerate(media):
        extra = make_extras(NAME, rest[k]) if k < len(rest) else None
        files.append(_write_file(replace(file, extras=extra), {**usual, "id": f"{usual['id']}{k:04}"}))
    return {"output": in_words(result), "attachments": files}


# ---------------------------------------------------------------- fit


def file_of(media: Media, *, inside: bool = False) -> Media | None:
    """Returns media as a file with a type and a URL; None if only its owner can find it. `inside`: in an output."""
    if media.data is None and not (media.url or "").startswith(SCHEMES):
        return None
    bare = Media(media.type, data=media.data, url=media.url, media_type=media.media_type, name=media.name or None)
    bare.media_type = bare.media_type or MEDIA_TYPES[media.type]
    bare.type = kind_of(bare.media_type)
    bare.extras = None if inside else make_extras(NAME, get_extras(media.extras, NAME))
    return media if bare == media else bare
