"""Law: the tables of a dialect and its schema name the same keys."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from convcli.kit.calls import CallTable
from convcli.kit.envelopes import Envelope
from convcli.kit.objects import Keys
from convcli.validation import schemas
from tests.support import names

GAPS = {
    "ag-ui": "context forwardedProps metadata resume state",  # the input of a run, which the schema leaves open
    "codex": "async caller",
    "hermes": "name",  # JSON in tags of a text
    "hf-chat": "custom",  # from the table of calls of Chat Completions
    "inspect-ai": "input target",
    "llama-json": "name response result thought tool_call",  # JSON in tags of a text
    "openclaw": "total",
    "opencode": "workspaceID",
    "pydantic-ai": "canonical_system content_file_digests context_id dynamic_ref identifier model_id provider_details "
    "provider_url scope tool_kind vendor_metadata",
    "vercel-ai": "version",
}
"""The keys that only tables name. A gap that is closed leaves this list."""


def test_schemas_name_the_keys_of_tables() -> None:
    gaps = {name: _keys_of(name) - schemas.vocabulary(name) for name in names()}
    assert {name: keys for name, keys in gaps.items() if keys} == {name: {*keys.split()} for name, keys in GAPS.items()}


def _keys_of(name: str) -> set[str]:
    """The keys that tables in the modules of a dialect state."""
    tables = (value for module in _modules(name) for stated in vars(module).values() for value in _values(stated))
    return {key for table in tables if isinstance(table, (CallTable, Envelope, Keys)) for key in table.names}


def _modules(name: str) -> Iterator[ModuleType]:
    module = import_module(f"convcli.dialects.{name.replace('-', '_')}")
    yield module
    for each in walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield import_module(each.name)


def _values(stated: object) -> tuple[object, ...]:
    return tuple(stated.values()) if isinstance(stated, dict) else (stated,)
