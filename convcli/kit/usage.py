"""Token counts and cost of a response, for vendors that store both in one object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from convcli.kit.objects import Native, omit
from convcli.kit.settings import Setting
from convcli.kit.values import put_counts, take_counts, usage_places
from convcli.model.errors import ContentError
from convcli.model.transcript import Message, Path
from convcli.wire import exact_json


def in_dollars(value: Any) -> Any:
    """Returns the value if it is a number, as costs in US dollars are; else None."""
    return None if isinstance(value, (str, bool, list, dict)) else value


COST = Setting("cost", in_dollars, lambda cost: cost)
KNOWN_COST = Setting("cost", lambda value: in_dollars(value) or None, lambda cost: cost)
"""The same for programs that write zero for an unknown cost."""


def cached_tokens(usage: Mapping[str, int]) -> int:
    """Returns the input tokens that were read from or written to a cache, which some vendors count separately."""
    return usage.get("cacheReadTokens", 0) + usage.get("cacheWriteTokens", 0)


class Usage(msgspec.Struct, frozen=True):
    """Paths of the counts in the object, and the key of the cost in US dollars: a number, or one in a string."""

    counts: Mapping[tuple[str, ...], str]
    cost: str = "cost"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of the message that it has."""
        return "usage", "cost"

    def lift(self, native: Native, message: Message) -> Native:
        """Sets usage and cost of the message. Returns the extras."""
        usage, rest = take_counts(native, self.counts)
        stated = rest.get(self.cost)
        message.usage, message.cost = usage or None, _read(stated)
        return rest if message.cost is None or isinstance(stated, str) else omit(rest, self.cost)

    def write(self, message: Message, rest: Native) -> Native:
        """Returns the object with its extras. The extra cost is used only if it still means the same."""
        stated = _read(rest.get(self.cost))
        if message.cost is not None and not (stated is not None and exact_json.exact(stated, message.cost)):
            rest = {self.cost: message.cost, **omit(rest, self.cost)}
        elif message.cost is None and stated is not None:
            rest = omit(rest, self.cost)
        return put_counts(message.usage or {}, rest, self.counts)

    def places(self, node: str, *above: str) -> dict[str, Path]:
        """Returns the paths of counts and cost, by their names in losses."""
        return {**usage_places(self.counts, *above), f"{node}.cost": (*above, self.cost)}


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return in_dollars(value)
    try:
        return in_dollars(exact_json.parse_text(value)[0])
    except ContentError:
        return None
