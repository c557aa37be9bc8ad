"""The content parts of Kosong, the model library of Kimi CLI (in Python) and Kimi Code (in TypeScript).

Source: packages/kosong/src/kosong/message.py of MoonshotAI/kimi-cli at 4a550eff and packages/kosong/src/message.ts of
MoonshotAI/kimi-code at d723cc47; read 2026-11-27.
"""

from __future__ import annotations

from typing import Any

from convcli.families.openai.request import media_of_url, url_of_media
from convcli.kit.blocks import Block, BlockRows, BlockTable
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Native, as_object, as_text, except_keys, get_extras, make_extras, omit
from convcli.kit.settings import whole
from convcli.model.transcript import Media, MediaKind, Part, Reasoning, Text

MEDIA: tuple[MediaKind, ...] = ("image", "audio", "video")


def blocks(owner: str, body: str) -> BlockTable:
    """Returns the parts of one program; `body` is the name of the object with a URL, as `{}_url` for `image_url`."""
    rows = BlockRows(owner, "type")
    return rows.table(
        rows.record("text", Text(""), "type text", {"text": whole("text")}),
        rows.record("think", Reasoning(""), "type think encrypted", {"think": whole("text")}),
        *(_url(owner, kind, body.format(kind)) for kind in MEDIA),
    )


def _url(owner: str, kind: MediaKind, key: str) -> Block:
    def read(native: Native, _: LiftContext) -> Part | None:
        body = as_object(native.get(key))
        url = as_text(body.get("url"))
        extras = make_extras(owner, except_keys(native, "type", key), **{key: except_keys(body, "url")})
        return None if url is None else media_of_url(kind, url, extras=extras)

    def write(part: Media) -> Native | None:
        url, extra = url_of_media(part), get_extras(part.extras, owner)
        body: Any = {"url": url, **extra.get(key, {})}
        return None if url is None else {"type": f"{kind}_url", key: body, **omit(extra, key)}

    return Block(f"{kind}_url", kind, read, write)
