"""Skips plain items of the Responses API: they need no checks, whatever other keys the document has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from convcli.families.responses.fitting import IDS, LONGEST_ID, NAMES, PREFIXES
from convcli.kit.objects import Native, omit, without_clean
from convcli.kit.values import are_clean_arguments

REASONING_KEYS = frozenset(("type", "summary", "content", "encrypted_content"))


def without_clean_items(document: Any) -> Any:
    """Returns the document without its items and instructions, if they are all plain."""
    if document.__class__ is not dict:
        return without_clean(document, "input", _are_clean)
    if "output" in document:
        return None
    is_kept = document.get("store") is not False
    return without_clean(document, "input", partial(_are_clean, is_kept=is_kept), instructions=_is_instruction)


def _is_instruction(value: Any) -> bool:
    return value.__class__ is str


def _are_clean(items: list[Any], *, is_kept: bool = True) -> bool:
    """True if the items are text, images, reasoning, calls and their results in order.

    `is_kept`: the service stores the items and knows them by id.
    """
    waiting: set[str] = set()
    called: list[str] = []
    names: set[str] = set()
    ids: list[str] = []
    for item in items:
        kind = item.get("type", "message")
        if "id" in item or "status" in item:
            if kind == "reasoning" and not is_kept and not item.get("encrypted_content"):
                return False
            if not _is_stated(item, PREFIXES.get(kind, ""), ids):
                return False
            item = omit(item, "id", "status")
        if kind == "function_call_output":
            if item["output"].__class__ is not str or len(item) != 3:
                return False
            waiting.remove(item["call_id"])
        elif kind == "function_call":
            if not _is_call(item):
                return False
            called.append(item["call_id"])
            waiting.add(item["call_id"])
            names.add(item["name"])
        elif not IS_CLEAN[kind](item):
            return False
    is_unique = len(set(called)) == len(called) and len(set(ids)) == len(ids)
    return is_unique and not waiting and IDS.accepts_all(called) and NAMES.accepts_all(names)


def _is_stated(item: Native, prefix: str, ids: list[str]) -> bool:
    """True if id and status are as the service writes them; adds the id to `ids`."""
    id_, status = item.get("id", prefix), item.get("status", "")
    if id_.__class__ is not str or status.__class__ is not str:
        return False
    ids += [id_] if "id" in item else []
    return id_.startswith(prefix) and len(id_) <= LONGEST_ID


def _is_message(item: Native) -> bool:
    role, content = item["role"], item["content"]
    if len(item) != 2 + ("type" in item):
        return False
    parts = PARTS[role]
    if content.__class__ is str:
        return True
    return content.__class__ is list and bool(content) and all(parts[part["type"]](part) for part in content)


def _is_call(item: Native) -> bool:
    is_named = item["call_id"].__class__ is str and item["name"].__class__ is str
    return is_named and len(item) == 4 and are_clean_arguments(item["arguments"])


def _is_reasoning(item: Native) -> bool:
    if item.get("encrypted_content", "").__class__ is not str or not item.keys() <= REASONING_KEYS:
        return False
    lists = item.get("summary", []), item.get("content", [])
    return all(pieces.__class__ is list and all(map(_is_piece, pieces)) for pieces in lists)


def _is_piece(piece: Native) -> bool:
    return len(piece) == 2 and piece["type"].__class__ is str and piece["text"].__class__ is str


def _is_input_text(part: Native) -> bool:
    return len(part) == 2 and part["text"].__class__ is str


def _is_output_text(part: Native) -> bool:
    """True for assistant text, with the empty lists that the service writes."""
    lists = [part[key] for key in ("annotations", "logprobs") if key in part]
    return part["text"].__class__ is str and len(part) == 2 + len(lists) and lists.count([]) == len(lists)


def _is_image(part: Native) -> bool:
    detail = part.get("detail", "")
    return part["image_url"].__class__ is str and detail.__class__ is str and len(part) == 2 + ("detail" in part)


IS_CLEAN: dict[str, Callable[[Native], bool]] = {"message": _is_message, "reasoning": _is_reasoning}
"""Checks for plain items without id and status that are not calls or results, by their type."""
OUTPUT_PARTS: dict[str, Callable[[Native], bool]] = {"output_text": _is_output_text}
INPUT_PARTS: dict[str, Callable[[Native], bool]] = {"input_text": _is_input_text, "input_image": _is_image}
PARTS = {"assistant": OUTPUT_PARTS, **dict.fromkeys(("user", "system", "developer"), INPUT_PARTS)}
"""Checks for plain parts by the role of their message and their type."""
