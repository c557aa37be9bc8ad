"""Dates for people: ISO 8601, `2 weeks ago`, `14d`, `yesterday`; all others by the package dateparser."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from convcli.wire.patterns import pattern

ISO_MONTH = pattern(r"(\d{4})(?:-(\d\d))?")
ISO_BEGIN = pattern(r"\d{4}-\d")
AGO = pattern(r"(\d{1,6})\s*(m|min|minutes?|h|hours?|d|days?|w|weeks?)(?:\s+ago)?")
DAY = 86_400
"""Seconds."""
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
FORMS = 'write 2026-01-31, 2026-01-31T12:00, "2 weeks ago", 14d, today or yesterday'


class Period(NamedTuple):
    """The time that a date names: a year, month or day up to its `end`, which is excluded; or one moment."""

    begin: datetime
    end: datetime

    def contains(self, moment: datetime) -> bool:
        """True if the moment is in the period, or is the period."""
        return self.begin <= moment < self.end or moment == self.begin


def moment_of(value: object) -> datetime | None:
    """Returns the time of a transcript, in UTC if it names no zone; None if it is missing or invalid.

    Times in the years 1 and 9999 are placeholders, and some zones could not show them: None.
    """
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    if not date.min.year < moment.year < date.max.year:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def ago(moment: datetime, now: datetime | None = None) -> str:
    """Returns how long ago a time was, in one unit up to 30 days; else its day, as for times to come."""
    now = now or datetime.now().astimezone()
    seconds = (now - moment).total_seconds()
    if seconds < 0 or seconds >= 30 * DAY:
        return moment.astimezone(now.tzinfo).date().isoformat()
    if seconds < 60:
        return "just now"
    unit, size = next((unit, size) for unit, size in (("d", DAY), ("h", 3_600), ("min", 60)) if seconds >= size)
    return f"{int(seconds // size)} {unit} ago"


def period(text: str, now: datetime | None = None) -> Period:
    """Returns the period that a text names; without a zone, in the zone of this machine.

    Raises ValueError, whose message says which forms are read.
    """
    words, now = " ".join(text.lower().split()), now or datetime.now().astimezone()
    if words in ("today", "yesterday"):
        return _day(now.date() - timedelta(days=words == "yesterday"))
    if match := AGO.fullmatch(words):
        return _moment(now - timedelta(**{UNITS[match[2][0]]: int(match[1])}))
    try:
        return _iso(words.upper())
    except ValueError:
        if ISO_BEGIN.match(words):  # dateparser would read 2026-13 as some other day
            raise ValueError(FORMS) from None
        return _parsed(text, now)


def _iso(text: str) -> Period:
    """Reads a year, a month, a day or a time. Raises ValueError."""
    if month := ISO_MONTH.fullmatch(text):
        first = date(int(month[1]), int(month[2] or 1), 1)
        return _until(first, _next_month(first) if month[2] else first.replace(year=first.year + 1))
    try:
        return _day(date.fromisoformat(text))
    except ValueError:
        return _moment(datetime.fromisoformat(text))


def _parsed(text: str, now: datetime) -> Period:
    """Reads a date with dateparser. Raises ValueError if it cannot, or is not installed."""
    try:
        from dateparser.date import DateDataParser
    except ImportError:
        raise ValueError(f"{FORMS}; pip install 'convcli[dates]' reads more forms") from None
    settings = {"PREFER_DATES_FROM": "past", "RELATIVE_BASE": now.replace(tzinfo=None)}
    found = DateDataParser(settings=settings).get_date_data(text)
    if found.date_obj is None:
        raise ValueError(FORMS)
    if found.period == "time" or " ago" in text.lower():
        return _moment(found.date_obj)
    day = found.date_obj.date()
    if found.period == "month":
        return _until(day.replace(day=1), _next_month(day))
    if found.period == "year":
        return _until(date(day.year, 1, 1), date(day.year + 1, 1, 1))
    return _day(day)


def _next_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1)


def _day(day: date) -> Period:
    return _until(day, day + timedelta(days=1))


def _until(first: date, end: date) -> Period:
    begin, after = (datetime(day.year, day.month, day.day).astimezone() for day in (first, end))
    return Period(begin, after)


def _moment(moment: datetime) -> Period:
    moment = moment.astimezone()
    return Period(moment, moment)
