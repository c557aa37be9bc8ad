"""Outputs that a killed process left unfinished: hidden files in a folder, and uploads in a store, which cost storage.

Only S3 keeps the pieces of an unfinished upload until somebody aborts it; other stores delete them after a week.
https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListMultipartUploads.html"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from convcli.wire.patterns import pattern

UNFINISHED = pattern(r"(.*/)?\.([^/]*)\.[0-9a-f]{16}\.tmp")
"""The name of a local output that is being written (`outputs`); the target's name is in it."""


class Unfinished(msgspec.Struct, frozen=True):
    """What is left of an output with this name, relative to its folder."""

    name: str
    remove: Callable[[], object]


def in_folder(path: str) -> Iterator[Unfinished]:
    """Yields what is left in a local folder."""
    for place, _, names in os.walk(path):
        for name in names:
            match = UNFINISHED.fullmatch(name)
            if match is not None:
                target = os.path.relpath(os.path.join(place, match[2]), path).replace(os.sep, "/")
                yield Unfinished(target, partial(_unlink, os.path.join(place, name)))


def in_store(system: Any, path: str) -> Iterator[Unfinished]:
    """Yields the unfinished uploads below a path; none if the store's package or the user's rights list none."""
    if not hasattr(system, "call_s3"):
        return
    bucket, key, _ = system.split_path(path)
    above = f"{key.rstrip('/')}/" if key else ""
    for upload in _uploads(system, bucket, above):
        abort = partial(system.call_s3, "abort_multipart_upload", Bucket=bucket)
        name, number = upload["Key"], upload["UploadId"]
        yield Unfinished(name.removeprefix(above), partial(_quietly, abort, Key=name, UploadId=number))


def _uploads(system: Any, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
    more: dict[str, str] = {}
    while True:
        try:
            page = system.call_s3("list_multipart_uploads", Bucket=bucket, Prefix=prefix, **more)
        except Exception:  # packages of stores raise many kinds, and many accounts may not list uploads
            return
        yield from page.get("Uploads", [])
        if not page.get("IsTruncated"):
            return
        more = {"KeyMarker": page["NextKeyMarker"], "UploadIdMarker": page["NextUploadIdMarker"]}


def _unlink(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def _quietly(call: Callable[..., object], **how: str) -> None:
    with suppress(Exception):
        call(**how)
