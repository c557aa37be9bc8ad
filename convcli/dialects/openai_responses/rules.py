"""What the Responses API rejects although its schema allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convcli.families.responses.fitting import IDS, LONGEST_ID, NAMES, PREFIXES
from convcli.families.responses.rules import NO_REFERENCES
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import Path
from convcli.validation.rules import arguments, keys, links, models, names, tools, turns
from convcli.validation.survey import Survey, for_requests

OUTPUT_TYPES = ("output_text", "refusal")
INPUT_ROLES = ("user", "system", "developer")
CONTINUATION_KEYS = ("previous_response_id", "conversation")


def _items(survey: Survey, key: str = "") -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yields the items of a request or a list, with a `key` only those that have it, with their paths; those of a
    response are the service's own."""
    document: Any = survey.document
    path: Path = ()
    if isinstance(document, dict):
        document, path = document.get("input"), ("input",)
    for i, item in enumerate(document if isinstance(document, list) else ()):
        if isinstance(item, dict) and (not key or key in item):
            yield (*path, i), item


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type") or ("message" if "role" in item else ""))


def _known_ids(survey: Survey) -> Iterator[Breach]:
    seen: set[str] = set()
    for path, item in _items(survey, "id"):
        id_ = item["id"]
        if not isinstance(id_, str) or _kind(item) == "item_reference":
            continue
        at, prefix = NodeRef(steps=(*path, "id")), PREFIXES.get(_kind(item), "")
        if not id_.startswith(prefix):
            yield Breach("bad-item-id", at, f"the id of a {_kind(item)} item must begin with {prefix}")
        elif len(id_) > LONGEST_ID:
            yield Breach("bad-item-id", at, f"an item id has at most {LONGEST_ID} characters, not {len(id_):,}")
        if id_ in seen:
            yield Breach("duplicate-item-id", at, "another item has the same id")
        seen.add(id_)


def _reasoning_followed(survey: Survey) -> Iterator[Breach]:
    items = list(_items(survey))
    for at, (path, item) in enumerate(items):
        if _kind(item) == "reasoning":
            following = items[at + 1][1] if at + 1 < len(items) else {}
            kind = _kind(following)
            if not kind or kind.endswith("_output") or (kind == "message" and following.get("role") != "assistant"):
                text = "the item that this reasoning produced does not follow it"
                yield Breach("reasoning-without-item", NodeRef(steps=path), text)


def _own_parts(survey: Survey) -> Iterator[Breach]:
    for path, item in _items(survey, "content"):
        content = item["content"]
        if not isinstance(content, list) or _kind(item) != "message":
            continue
        for j, part in enumerate(content):
            kind = str(part.get("type")) if isinstance(part, dict) else ""
            role = item.get("role")
            is_misplaced = (
                kind.startswith("input_") if role == "assistant" else role in INPUT_ROLES and kind in OUTPUT_TYPES
            )
            if is_misplaced:
                allowed = "output_text or refusal" if role == "assistant" else "input_text, input_image or the like"
                help_text = f"use {allowed}"
                text = f"a message of this role cannot have a {kind} part"
                yield Breach("misplaced-part", NodeRef(steps=(*path, "content", j)), text, help=help_text)


def _no_audio(survey: Survey) -> Iterator[Breach]:
    for i, k, _ in survey.parts["audio"]:
        yield Breach("misplaced-part", NodeRef(i, k), "the Responses API does not support audio")


def _persisted(survey: Survey) -> Iterator[Breach]:
    if not isinstance(survey.document, dict) or survey.document.get("store") is not False:
        return
    for path, item in _items(survey):
        lost = _kind(item) == "reasoning" and item.get("id") and not item.get("encrypted_content")
        if lost or _kind(item) == "item_reference":
            yield Breach("not-persisted", NodeRef(steps=path), "store is false: the service does not know this item")


def _paired(survey: Survey) -> Iterator[Breach]:
    """Reports unpaired calls; a request that continues a response does not repeat that response's calls."""
    document = survey.document
    is_continued = isinstance(document, dict) and any(document.get(key) for key in CONTINUATION_KEYS)
    for breach in PAIRED.check(survey) if survey.form != turns.RESPONSE else ():
        if not (is_continued and breach.code == "orphan-tool-result"):
            yield breach


def _schemas(survey: Survey) -> Iterator[Breach]:
    """Reports schemas, except for functions without `strict`: the service makes them strict and closes the schema."""
    natives = survey.document.get("tools") if isinstance(survey.document, dict) else None
    listed = natives if isinstance(natives, list) else ()
    stated = [tool.get("strict") if isinstance(tool, dict) else None for tool in listed]
    for breach in SCHEMAS.check(survey):
        tool = breach.at.tool
        if breach.code != "open-strict-schema" or tool is None or tool >= len(stated) or stated[tool] is not None:
            yield breach


SCHEMAS = tools.schemas(tools.SchemaDemands(items=True, closed=True))
PAIRED = links.paired(links.PairingRules(where="later", unique="request"))

RULES = (
    models.of("OpenAI"),
    keys.complete(
        "model|prompt",
        "id object created_at model parallel_tool_calls tool_choice tools output.*message.id output.*reasoning.id "
        "usage?.input_tokens usage?.input_tokens_details.cached_tokens usage?.output_tokens "
        "usage?.output_tokens_details.reasoning_tokens usage?.total_tokens",
    ),
    Rule(PAIRED.codes, _paired, subjects=PAIRED.subjects),
    names.of_tools(NAMES),
    names.of_calls(IDS),
    arguments.readable(),
    tools.chosen(alone=("auto", "none")),
    tools.unique("warning"),
    Rule(SCHEMAS.codes, _schemas, subjects=SCHEMAS.subjects),
    tools.closed_response("schema"),
    Rule(("bad-item-id", "duplicate-item-id"), _known_ids),
    for_requests(Rule(("reasoning-without-item",), _reasoning_followed)),
    Rule(("misplaced-part",), _own_parts),
    for_requests(Rule(("misplaced-part",), _no_audio, subjects=("audio",))),
    Rule(("not-persisted",), _persisted),
    NO_REFERENCES,
)
