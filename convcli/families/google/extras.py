"""Extras shared between related services: a service gets those that it knows, and those that no service knows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from operator import is_
from typing import Any, NamedTuple

from msgspec.structs import replace

from convcli.families.google import config
from convcli.families.google import document as documents
from convcli.families.google.contents import CONTENT
from convcli.families.google.keys import Service, Shape, owned
from convcli.families.google.parts import BLOB, CALL, FILE, PART
from convcli.families.google.results import RESPONSE as ANSWER
from convcli.families.google.schema import PARAMETERS
from convcli.families.google.schema import RESPONSE as OUTPUT
from convcli.kit.objects import Native, as_object, drop_extras, get_extras, omit
from convcli.kit.passes import on_each_message, on_messages, on_parts, on_tools, shared, when
from convcli.model.dialect import Pass
from convcli.model.inventory import any_of, has_field, has_kind, has_part_field, in_turn
from convcli.model.transcript import Extras, Message, Opaque, Part, ToolDefinition, ToolResult


class ExtraKeys(NamedTuple):
    """The possible extras of a record: keys of an object, and objects under keys; without `shape` only the latter."""

    shape: Shape | None
    inside: Mapping[str, ExtraKeys | None] = {}
    """None: this form cannot store it."""
    switch: bool = False
    """True if an empty object under a key has a meaning."""

    def filtered(self, extra: Native, service: Service) -> Native:
        """Keeps the extras that the service knows, and those that no service knows."""
        kept: Native = {}
        for key, value in extra.items():
            if key in self.inside:
                inner = self.inside[key]
                value = inner.filtered(value, service) if inner is not None and isinstance(value, dict) else None
                kept |= {key: value} if value else {}
            elif self.shape is not None and self.shape.comes_from_extras(key):
                kept[key] = value
        known = kept if self.shape is None else service.known(self.shape.name, kept)
        return {key: value for key, value in known.items() if self.switch or value != {} or extra[key] == {}}


OF_PART = ExtraKeys(PART, {shape.name: ExtraKeys(shape) for shape in (CALL, BLOB, FILE, ANSWER)})
OF_TOOL = ExtraKeys(config.DECLARATION, {"tool": ExtraKeys(config.TOOL, switch=True)})
OF_CHOICE = ExtraKeys(config.TOOL_CONFIG, {"functionCallingConfig": ExtraKeys(config.CALLING)})
OF_REQUEST = ExtraKeys(
    documents.REQUEST, {"toolConfig": OF_CHOICE, "generationConfig": ExtraKeys(config.GENERATION), "response": None}
)
OF_RESPONSE = ExtraKeys(None, {"response": ExtraKeys(documents.RESPONSE)})
OF_TURN = ExtraKeys(None, {"content": ExtraKeys(CONTENT)})
OF_ANSWER = ExtraKeys(
    None,
    {
        "content": ExtraKeys(CONTENT),
        "candidate": ExtraKeys(documents.CANDIDATE),
        "usageMetadata": ExtraKeys(config.USAGE),
    },
)


def known(service: Service, of_whole: ExtraKeys, of_message: ExtraKeys) -> Pass:
    """Keeps only the owner's extras that this service may know."""
    return in_turn(
        lambda transcript: _known(transcript, of_whole, service),
        on_each_message(lambda message: _known(message, of_message, service), has_field("extras")),
        when(
            any_of(has_part_field("extras"), has_kind("opaque", "tool_result.multimodal")),
            on_parts(lambda part, message: part if message.role == "event" else _known_part(part, service)),
        ),
        on_tools(lambda tool: _known_tool(tool, service)),
    )


def _known(record: Any, extra: ExtraKeys, service: Service) -> Any:
    if record.extras is None:
        return record
    mine = get_extras(record.extras, service.owner)
    if not mine:
        return record
    known = extra.filtered(mine, service)
    candidate = as_object(known.get("candidate"))
    if f"finishReason.{candidate.get('finishReason')}" in service.unsupported:
        known["candidate"] = omit(candidate, "finishReason")
    return record if known == mine else replace(record, extras=with_extras(record.extras, service.owner, known))


def _known_part(part: Part, service: Service) -> Any:
    if isinstance(part, Opaque):
        is_own = part.dialect == service.owner and isinstance(part.value, dict)
        return part if is_own and service.known(PART.name, part.value) == part.value else None
    if isinstance(part, ToolResult) and part.kind == "multimodal":
        value = [_known(_own(one, service.owner), OF_PART, service) for one in part.value]
        part = part if all(map(is_, value, part.value)) else replace(part, value=value)
    return _known(part, OF_PART, service)


def _own(part: Part, owner: str) -> Part:
    others = part.extras is not None and part.extras.keys() - {owner}
    return replace(part, extras=owned(owner, get_extras(part.extras, owner))) if others else part


def _known_tool(tool: ToolDefinition, service: Service) -> ToolDefinition | None:
    known: ToolDefinition = _known(tool, OF_TOOL, service)
    if config.builtin_of(tool, service.owner) and not config.builtin_of(known, service.owner):
        return None
    return _with_one_schema(known, service.owner)


def _with_one_schema(tool: ToolDefinition, owner: str) -> ToolDefinition:
    """Drops the extras of one of the two schema keys, because the service accepts only one."""
    schemas = {PARAMETERS.whole: tool.parameters, OUTPUT.whole: tool.output_schema}
    return drop_extras(tool, owner, *(key for key, schema in schemas.items() if schema is not None))


def with_extras(extras: Extras | None, owner: str, extra: Native) -> Extras | None:
    """Returns extras with these of the owner, without empty ones."""
    others = omit(extras or {}, owner)
    mine = {key: value for key, value in extra.items() if value is not None and value != {}}
    return ({**others, owner: mine} if mine else others) or None


def first_content_only(owner: str) -> Pass:
    """Moves the extras of a content to its first answer."""

    def move_content_extras(messages: list[Message]) -> list[Message]:
        firsts = [
            drop_extras(one, owner, "content") if one.role == before.role == "tool" else one
            for before, one in pairwise(messages)
        ]
        return shared(messages, messages[:1] + firsts)

    return on_messages(move_content_extras, has_field("extras"))
