"""Values that many formats write alike: arguments as JSON strings, data URLs, times in seconds, token counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from convcli.kit.objects import Native, merge
from convcli.model.errors import ContentError
from convcli.model.transcript import MediaKind, Path, Step
from convcli.wire import exact_json


def pairs(table: str) -> dict[str, str]:
    """Reads a table of names and values, written as `name=value name=value`."""
    return dict(pair.split("=", 1) for pair in table.split())


def paths(table: str) -> dict[str, Path]:
    """Reads a table of names and paths, written as `name=step/step`; a step that is a number is an index."""
    steps = {name: path.split("/") for name, path in pairs(table).items()}
    return {name: tuple(int(step) if step.isdecimal() else step for step in path) for name, path in steps.items()}


def counts(table: str) -> dict[tuple[str, ...], str]:
    """Reads a table of paths and names, written as `step/step=name`."""
    return {tuple(path.split("/")): name for path, name in pairs(table).items()}


def usage_places(table: Mapping[str, str] | Mapping[tuple[str, ...], str], *above: Step) -> dict[str, Path]:
    """Returns the paths of the usage of a message and of the counts in this table, by their names in losses. `above`
    leads from the message to the object of the counts."""
    own = {name: (path,) if isinstance(path, str) else path for path, name in table.items()}
    return {"message.usage": above, **{f"message.usage.{name}": (*above, *path) for name, path in own.items()}}


def read_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """Reads arguments that are JSON in a string. Returns the object, and the string if the object cannot replace it.

    A string that is not a JSON object, even an empty one, is kept with `{}`. If only its keys are not unique, it is
    kept with the best reading.
    """
    if not text or text.isspace():
        return {}, text
    try:
        value, _ = exact_json.parse_text(text)
    except ContentError as error:
        return (_last_wins(text) if error.code == "duplicate-key" else {}), text
    return (value, None) if isinstance(value, dict) else ({}, text)


def are_clean_arguments(text: Any) -> bool:
    """True for JSON of an object without nulls, which a query engine may have filled in."""
    if text.__class__ is not str:
        return False
    try:
        value = exact_json.parse_rounded(text)
    except ContentError:
        return False
    return value.__class__ is dict and None not in value.values()


def _last_wins(text: str) -> dict[str, Any]:
    try:
        value = exact_json.parse(text, duplicate_keys="last")
    except ContentError:  # duplicate keys are reported first; there may be other errors after them
        return {}
    return value if isinstance(value, dict) else {}


def read_json(text: str) -> Any:
    """Returns the value of a JSON string; None for any other string."""
    try:
        return exact_json.parse_text(text)[0]
    except ContentError:
        return None


def write_arguments(arguments: dict[str, Any], raw: str | None) -> str:
    """Returns the arguments as JSON in a string: the source string if there is one."""
    return exact_json.write_text(arguments) if raw is None else raw


MEDIA_TYPES = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}
"""The default media type of each kind."""
DATA_URL = "data:{};base64,{}"
"""A URL that contains media: media type and base64."""


def split_data_url(url: str) -> tuple[str, str] | None:
    """Returns media type and base64 of a plain `data:type/subtype;base64,…` URL; None for any other."""
    if not url.startswith("data:"):
        return None
    head, comma, data = url.partition(",")
    media_type, semicolon, encoding = head[5:].partition(";")
    return (media_type, data) if comma and semicolon and encoding == "base64" and media_type else None


SIGNATURES = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif"}
"""Maps the first characters of base64 image data to media types."""


def type_of_image(data: str) -> str | None:
    """Returns the media type that an image's first bytes show."""
    if data.startswith("UklGR") and data[12:16] == "RUJQ":
        return "image/webp"
    return next((name for start, name in SIGNATURES.items() if data.startswith(start)), None)


def kind_of_type(media_type: str | None) -> MediaKind:
    """Returns the kind of media of this type; `document` if the type does not show it."""
    head = (media_type or "").partition("/")[0]
    return head if head in ("image", "audio", "video") else "document"  # type: ignore[return-value]


def time_of_epoch(seconds: int) -> str | None:
    """Returns whole seconds since 1970 as RFC 3339; None outside the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return None


def epoch_of_time(text: str) -> int | None:
    """Returns whole seconds since 1970 of a time that `time_of_epoch` wrote; None for any other."""
    try:
        seconds = int(datetime.fromisoformat(text).timestamp())
    except (OverflowError, ValueError):
        return None
    return seconds if time_of_epoch(seconds) == text else None


def time_of_milliseconds(milliseconds: Any) -> str | None:
    """Returns whole milliseconds since 1970 as RFC 3339; None outside the years 1 to 9999 or if not an integer."""
    if type(milliseconds) is not int:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds_of_time(time: str | None) -> int | None:
    """Returns milliseconds since 1970 of a time with a time zone; None for anything else."""
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return None if moment.tzinfo is None else round(moment.timestamp() * 1000)


def time_of_seconds(seconds: Any) -> str | None:
    """Returns seconds since 1970, with a fraction, as RFC 3339 to the microsecond; None outside the years 1 to 9999 or
    if not a number."""
    if type(seconds) is bool or not isinstance(seconds, (int, float)):
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=round(seconds * 1_000_000))
    except (OverflowError, ValueError):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def seconds_of_time(time: str | None) -> int | float | None:
    """Returns seconds since 1970 of a time with a time zone, whole ones as an integer; None for anything else."""
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    microseconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return microseconds // 1_000_000 if microseconds % 1_000_000 == 0 else microseconds / 1_000_000


def is_count(value: Any) -> bool:
    """True for a count of tokens, which may be written as 17.0."""
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def take_counts(native: Native, table: Mapping[tuple[str, ...], str]) -> tuple[dict[str, int], Native]:
    """Returns token counts by their path in the vendor's object, and the rest of that object without nulls.

    The rest is in the order of the table, in which it is written.
    """
    usage: dict[str, int] = {}
    rest: Native = {}
    for key, value in native.items():
        name = table.get((key,))
        if name is not None and is_count(value):
            usage[name] = int(value)
        elif isinstance(value, dict):
            within = {path[1:]: inside for path, inside in table.items() if path[0] == key and path[1:]}
            inner, left = take_counts(value, within)
            usage |= inner
            rest |= {key: left} if left or not within else {}
        elif value is not None:
            rest[key] = value
    if len(rest) > 1 and any(path[0] in rest for path in table):
        rank = {path[0]: at for at, path in enumerate(table)}
        rest = dict(sorted(rest.items(), key=lambda item: rank.get(item[0], len(table))))
    return usage, rest


def put_counts(usage: dict[str, int], rest: Native, table: Mapping[tuple[str, ...], str]) -> Native:
    """Returns the vendor's object for token counts: the inverse of `take_counts`, in the order of the table."""
    native: Native = {}
    for path, name in table.items():
        if name in usage:
            node = native
            for step in path[:-1]:
                node = node.setdefault(step, {})
            node[path[-1]] = usage[name]
    return merge(native, rest)


def with_total(usage: dict[str, int]) -> dict[str, int]:
    """Adds the sum of input and output tokens, which some services do not report."""
    if "totalTokens" in usage or not {"inputTokens", "outputTokens"} <= usage.keys():
        return usage
    return {**usage, "totalTokens": usage["inputTokens"] + usage["outputTokens"]}
