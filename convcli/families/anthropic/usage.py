"""Token counts of vendors whose input count excludes cached tokens."""

from __future__ import annotations

from collections.abc import Mapping

from convcli.kit.objects import Native, omit
from convcli.kit.usage import cached_tokens
from convcli.kit.values import counts, put_counts, take_counts, usage_places
from convcli.model.transcript import Message, Path

Counts = Mapping[tuple[str, ...], str]
"""Our names of counts by their path in the vendor's object."""

USAGE: Counts = counts(
    "input_tokens=inputTokens cache_creation_input_tokens=cacheWriteTokens cache_read_input_tokens=cacheReadTokens "
    "output_tokens=outputTokens output_tokens_details/thinking_tokens=reasoningTokens"
)


def lift_usage(native: Native, table: Counts = USAGE) -> tuple[dict[str, int], Native]:
    """Returns the counts, with cached tokens added to the input tokens, and the extras."""
    usage, rest = take_counts(native, table)
    if "inputTokens" in usage:
        usage["inputTokens"] += cached_tokens(usage)
    return usage, rest


def write_usage(usage: dict[str, int], extra: Native, table: Counts = USAGE) -> Native:
    """Returns the vendor's object: the inverse of `lift_usage`. Extras keep their order."""
    if "inputTokens" in usage:
        usage = {**usage, "inputTokens": usage["inputTokens"] - cached_tokens(usage)}
    native = put_counts(usage, extra, table)
    return {**omit(native, *extra), **{key: native[key] for key in extra}}


class MessageUsage:
    """The object `usage` in a message, as a nested object of an Envelope."""

    fields = ("usage",)

    def lift(self, native: Native, message: Message) -> Native:
        """Sets the usage. Returns the extras."""
        usage, rest = lift_usage(native)
        message.usage = usage or None
        return rest

    def write(self, message: Message, extra: Native) -> Native:
        """Returns the object, with its extras."""
        return write_usage(message.usage or {}, extra)

    def places(self, _: str, *above: str) -> dict[str, Path]:
        """Returns the paths of the counts, by their names in losses."""
        return usage_places(USAGE, *above)


def keep_supported_usage(usage: dict[str, int], table: Counts = USAGE) -> dict[str, int] | None:
    """Keeps the counts that the vendor has. The input tokens are at least the cached ones."""
    usage = {name: count for name, count in usage.items() if name in table.values()}
    if "inputTokens" in usage:
        usage["inputTokens"] = max(usage["inputTokens"], cached_tokens(usage))
    return usage or None
