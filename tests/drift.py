"""What the vendors' types have that the schemas of convcli do not: `python -m tests.drift [DIALECT…]`.

For maintainers. Compares the types of the installed SDKs with the schema of each dialect: keys, and the values of
literals and enums that discriminate (`type`, `role`). Prints what is new, as one line per novelty, and exits 1 if there
is something. An SDK that is not installed is named and skipped. `tests/drift_known.json` lists what a maintainer has
seen and left out on purpose: schemas are open, and not every key needs a name. `--accept` adds what is new to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib
import json
import sys
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import typing_extensions as te

from convcli.validation import schemas

KNOWN = Path(__file__).with_name("drift_known.json")
UNIONS = (typing.Union, types.UnionType)


class Sdk(NamedTuple):
    """The types of a vendor that a dialect has: the package, the module and the names of the types.

    `discriminators`: the keys whose values are compared.
    """

    package: str
    module: str
    names: tuple[str, ...]
    discriminators: tuple[str, ...] = ("type", "role")


SDKS: Mapping[str, Sdk] = {
    "openai-chat": Sdk(
        "openai",
        "openai.types.chat",
        (
            "ChatCompletion",
            "ChatCompletionMessageParam",
            "ChatCompletionToolUnionParam",
            "completion_create_params.CompletionCreateParamsNonStreaming",
        ),
        ("type", "role", "finish_reason"),
    ),
    "openai-chat-stream": Sdk(
        "openai", "openai.types.chat", ("ChatCompletionChunk",), ("type", "role", "finish_reason")
    ),
    "openai-responses": Sdk(
        "openai",
        "openai.types.responses",
        ("Response", "ResponseInputItemParam", "response_create_params.ResponseCreateParamsNonStreaming"),
        ("type", "role", "status"),
    ),
    "openai-responses-stream": Sdk("openai", "openai.types.responses", ("ResponseStreamEvent",)),
    "anthropic": Sdk(
        "anthropic",
        "anthropic.types",
        ("Message", "MessageParam", "ToolUnionParam", "message_create_params.MessageCreateParamsNonStreaming"),
        ("type", "role", "stop_reason"),
    ),
    "anthropic-stream": Sdk("anthropic", "anthropic.types", ("RawMessageStreamEvent",), ("type", "stop_reason")),
    "gemini": Sdk(
        "google-genai", "google.genai.types", ("GenerateContentResponse", "Content", "Tool"), ("finishReason", "role")
    ),
    "gemini-interactions": Sdk(
        "google-genai", "google.genai._gaos.types.interactions", ("Interaction",), ("type", "status")
    ),
    "gemini-interactions-stream": Sdk(
        "google-genai", "google.genai._gaos.types.interactions", ("InteractionSSEEvent",), ("event_type", "type")
    ),
    "mistral": Sdk(
        "mistralai",
        "mistralai.client.models",
        ("ChatCompletionRequest", "ChatCompletionResponse"),
        ("type", "role", "finish_reason"),
    ),
    "cohere": Sdk("cohere", "cohere.v2.types", ("V2ChatResponse",), ("type", "role", "finish_reason")),
    "ollama": Sdk("ollama", "ollama._types", ("ChatRequest", "ChatResponse"), ("type", "role")),
    "mcp": Sdk("mcp", "mcp.types", ("CallToolResult", "SamplingMessage", "Tool"), ("type", "role")),
    "langchain": Sdk("langchain-core", "langchain_core.messages.content", ("ContentBlock",)),
    "pydantic-ai": Sdk("pydantic-ai-slim", "pydantic_ai.messages", ("ModelMessage",), ("part_kind", "kind")),
    "llamaindex": Sdk("llama-index-core", "llama_index.core.base.llms.types", ("ChatMessage",), ("block_type", "role")),
    "haystack": Sdk("haystack-ai", "haystack.dataclasses.chat_message", ("ChatMessage", "ChatMessageContentT"), ()),
    "strands": Sdk("strands-agents", "strands.types.session", ("SessionMessage", "SessionAgent"), ("role",)),
    "google-adk": Sdk("google-adk", "google.adk.sessions", ("Session",), ("role",)),
    "inspect-ai": Sdk("inspect-ai", "inspect_ai.model", ("ChatMessage",), ("type", "role")),
    "ag-ui": Sdk("ag-ui-protocol", "ag_ui.core", ("Event", "Message", "RunAgentInput"), ("type", "role")),
}
"""The SDKs in Python whose types are those of a dialect."""


class Fact(NamedTuple):
    """A key of a type, or a value of one of its discriminators. The types of requests and answers have one name."""

    owner: str
    key: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.value}" if self.value else self.key


# ---------------------------------------------------------------- the types of an SDK


def facts_of(hints: Iterable[Any], discriminators: tuple[str, ...]) -> Iterator[Fact]:
    """Yields the keys and the discriminating values of types, and of all types that they contain."""
    seen, open_hints = set[Any](), list(hints)
    while open_hints:
        for kind in classes_in(open_hints.pop()):
            if kind not in seen:
                seen.add(kind)
                for key, hint in fields_of(kind):
                    yield Fact(kind.__name__.removesuffix("Param"), key)
                    if key in discriminators:
                        yield from (Fact(kind.__name__.removesuffix("Param"), key, value) for value in values_of(hint))
                    open_hints.append(hint)


def classes_in(hint: Any) -> Iterator[type]:
    """Yields the classes with fields in a type: its own, or those of a union, a list or an object."""
    if isinstance(hint, te.TypeAliasType):
        yield from classes_in(hint.__value__)
    elif te.get_origin(hint) is not te.Literal and te.get_args(hint):
        for inside in te.get_args(hint):
            yield from classes_in(inside)
    elif isinstance(hint, type) and (
        te.is_typeddict(hint) or hasattr(hint, "model_fields") or dataclasses.is_dataclass(hint)
    ):
        yield hint


def fields_of(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yields the keys of a class as JSON has them, with their types."""
    if hasattr(kind, "model_fields"):
        for name, field in kind.model_fields.items():
            yield field.serialization_alias or field.alias or name, field.rebuild_annotation()
    elif te.is_typeddict(kind) or dataclasses.is_dataclass(kind):
        yield from ((key, hint) for key, hint in hints_of(kind).items() if not key.startswith("_"))


def hints_of(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields; without those that cannot be resolved here."""
    try:
        return te.get_type_hints(kind, include_extras=True)
    except Exception:  # a name that the SDK imports for type checkers only
        return dict.fromkeys(kind.__annotations__, Any)


def values_of(hint: Any) -> Iterator[str]:
    """Yields the strings of literals and enums in a type."""
    if te.get_origin(hint) is te.Literal:
        yield from (value for value in te.get_args(hint) if isinstance(value, str))
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        yield from (one.value for one in hint if isinstance(one.value, str))
    else:
        for inside in te.get_args(hint):
            yield from values_of(inside)


# ---------------------------------------------------------------- the comparison


def novelties(dialect: str, facts: Iterable[Fact], discriminators: tuple[str, ...]) -> list[Fact]:
    """Returns the keys and values that the schema of a dialect does not name anywhere."""
    keys, values = schemas.vocabulary(dialect), schemas.types(dialect, discriminators)
    return sorted({fact for fact in facts if (fact.value not in values if fact.value else fact.key not in keys)})


def hints_in(sdk: Sdk) -> list[Any]:
    """Returns the types of an SDK. Raises ImportError if it is not installed, AttributeError without such a type."""
    module = importlib.import_module(sdk.module)
    found = []
    for name in sdk.names:
        value: Any = module
        for step in name.split("."):
            value = getattr(value, step)
        found.append(value)
    return found


Listed: TypeAlias = dict[str, dict[str, list[str]]]
"""Novelties by dialect and type."""


def accepted() -> Listed:
    """Returns what a maintainer has seen."""
    content: Listed = json.loads(KNOWN.read_text("utf-8"))
    return content


def accept(known: Listed, found: Listed) -> None:
    """Adds what is new to what a maintainer has seen, one type a line."""
    for dialect, owners in found.items():
        for owner, facts in owners.items():
            seen = known.setdefault(dialect, {})
            seen[owner] = sorted({*seen.get(owner, ()), *facts})
    blocks = [
        f"{json.dumps(dialect)}: {{\n"
        + ",\n".join(f"  {json.dumps(owner)}: {json.dumps(facts)}" for owner, facts in sorted(owners.items()))
        + "\n }"
        for dialect, owners in sorted(known.items())
    ]
    KNOWN.write_text("{\n " + ",\n ".join(blocks) + "\n}\n", "utf-8")


def report(names: Iterable[str], known: Listed) -> Listed:
    """Prints what is new, and returns it. What cannot be compared is named on stderr."""
    found: Listed = {}
    for name in names:
        sdk = SDKS[name]
        try:
            hints = hints_in(sdk)
        except ImportError as error:
            sys.stderr.write(f"{name}: {sdk.package} is not installed ({error})\n")
            continue
        except AttributeError as error:
            found[name] = {"missing": [str(error)]}
            sys.stdout.write(f"{name}: {error}\n")
            continue
        new: dict[str, list[str]] = {}
        for fact in novelties(name, facts_of(hints, sdk.discriminators), sdk.discriminators):
            if str(fact) not in known.get(name, {}).get(fact.owner, ()):
                new.setdefault(fact.owner, []).append(str(fact))
        lines = [f"  {owner}: {', '.join(facts)}\n" for owner, facts in new.items()]
        count = f"{sum(map(len, new.values()))} new"
        sys.stdout.write(f"{name}: {sdk.package} {metadata.version(sdk.package)}, {count}\n{''.join(lines)}")
        if new:
            found[name] = new
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.drift", description="Lists what is new in installed SDKs.")
    parser.add_argument("dialects", nargs="*", metavar="DIALECT", help=f"of {', '.join(SDKS)}; by default all")
    parser.add_argument("--accept", action="store_true", help=f"add what is new to {KNOWN.name}")
    parser.add_argument("--packages", action="store_true", help="print the packages of the SDKs, to install them")
    arguments = parser.parse_args()
    if arguments.packages:
        sys.stdout.write(" ".join(sorted({sdk.package for sdk in SDKS.values()})) + "\n")
        return 0
    for name in arguments.dialects:
        if name not in SDKS:
            parser.error(f"no SDK is known for {name}")
    known = accepted()
    found = report(arguments.dialects or SDKS, known)
    if arguments.accept:
        accept(known, found)
        return 0
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
