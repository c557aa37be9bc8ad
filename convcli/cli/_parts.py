"""The options of jobs in parts (`_in_parts` runs them)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from convcli.cli._commands import add_option
from convcli.cli._types import PATH, Near, Number, size_in_bytes
from convcli.model.errors import JobError
from convcli.wire.patterns import pattern

if TYPE_CHECKING:
    from convcli.parts import Part

F = TypeVar("F", bound=Callable[..., Any])
_SHARE = pattern(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})")
LEAST = 64 << 10
"""Bytes of the smallest part. With smaller ones, the files about parts would outgrow the documents."""


class Share(msgspec.Struct, frozen=True):
    """The share of one task among `tasks` that work at the same time; tasks have numbers from 1."""

    task: int
    tasks: int

    def of(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Returns the parts of this task."""
        return parts[self.task - 1 :: self.tasks]


class Engine(msgspec.Struct, frozen=True):
    """The engine that runs the parts, their size, and how often a part is repeated after an error of the storage.

    `seconds`: the limit for one attempt at a part · `share`: the parts of this task only; None for all parts."""

    name: str
    address: str | None
    part_size: str
    retries: int = 0
    seconds: float | None = None
    share: Share | None = None

    @property
    def size(self) -> int:
        """Returns the size of a part in bytes. Raises JobError."""
        size = size_in_bytes(self.part_size, "--part-size")
        if size < LEAST:
            raise JobError("usage", f"--part-size is at least {LEAST >> 10}K")
        return size


def options(function: F) -> F:
    """Adds the options for jobs in parts, which become one argument `engine`; None for other jobs."""

    @wraps(function)
    def with_engine(
        *args: Any,
        engine: str | None,
        address: str | None,
        part_size: str | None,
        retries: int | None,
        part_timeout: float | None,
        part: str | None,
        **values: Any,
    ) -> Any:
        others: dict[str, Any] = {"--address": address, "--part-size": part_size, "--retries": retries}
        others["--part-timeout"] = part_timeout
        if engine is None and part is None and (used := [name for name, value in others.items() if value]):
            raise JobError("usage", f"{used[0]} is for a job with --engine or --part")
        if engine is not None and part is not None:
            raise JobError("usage", "--part and --engine exclude each other", help="convcli help scale has recipes")
        share, name = None if part is None else _share(part), engine or ("local" if part else None)
        how = address, part_size or "64M", retries or 0, part_timeout, share
        chosen = None if name is None else Engine(name, *how)
        return function(*args, engine=chosen, **values)

    help_text = "Work in parts, here with -j or on Ray; a second run continues. See convcli help scale."
    engine = add_option("--engine", type=Near("engine", lambda: ["local", "ray"]), help=help_text)
    address = add_option("--address", metavar="ADDRESS", help="The Ray cluster; without it, a local one is started.")
    size = add_option("--part-size", metavar="SIZE", help="The approximate size of a part.  [default: 64M]")
    help_text = "Do part K of N of a job, K from 1 to N: one task of an array job. See convcli help scale."
    part = add_option("--part", metavar="K/N", help=help_text)
    help_text = "Repeat a part up to N times if the storage refuses it.  [default: 0]"
    retries = add_option("--retries", type=Number(0), metavar="N", help=help_text)
    help_text = "End an attempt at a part after this time; --retries repeats it. SECONDS may be a fraction."
    limit = Number(0, of=float, is_above=True)
    timeout = add_option("--part-timeout", type=limit, metavar="SECONDS", help=help_text)
    return engine(part(address(size(retries(timeout(cast(F, with_engine)))))))


def _share(text: str) -> Share:
    """Returns the share that `--part` names. Raises JobError."""
    match = _SHARE.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise JobError("usage", "--part needs K/N, with K from 1 to N", help="write 3/16 for task 3 of 16")
    return Share(int(match[1]), int(match[2]))


def folder_option(function: F) -> F:
    """Adds the option that names the folder of the parts, for commands without another use for it."""
    help_text = "The folder for the parts of a job with --engine."
    return add_option("--out-dir", type=PATH, metavar="DIR|URL", help=help_text)(function)
