"""Counts the tokens of messages with a tokenizer that the user names.

Only texts, calls, results and definitions of tools count; a chat template adds its own tokens. Media count nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

from convcli.files.side_files import read_side_file
from convcli.model.errors import JobError
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.wording import did_you_mean
from convcli.wire import exact_json
from convcli.wire.decimals import builtins


class TokenCount:
    """Counts tokens; `encode` returns the tokens of a text."""

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self._encode = encode

    def message(self, message: Message) -> int:
        """Returns the tokens of a message."""
        return sum(len(self._encode(text)) for part in message.parts for text in _texts(part))

    def tools(self, transcript: Transcript) -> int:
        """Returns the tokens of the definitions of tools."""
        return sum(len(self._encode(_json(tool))) for tool in transcript.tools or ())


def _texts(part: Part | Media) -> Iterator[str]:
    match part:
        case Text() | Reasoning() | Refusal():
            yield part.text
        case ToolCall():
            yield part.name
            yield part.raw_arguments if part.raw_arguments is not None else _json(part.arguments)
        case ToolResult() if part.kind == "multimodal":
            for each in part.value:
                yield from _texts(each)
        case ToolResult():
            yield part.value if isinstance(part.value, str) else _json(part.value)
        case Opaque():
            yield _json(part.value)


def _json(value: Any) -> str:
    return exact_json.write_text(builtins(value))


@cache
def token_count(name: str) -> TokenCount:
    """Returns the counter of a tokenizer: a file `tokenizer.json`, or an encoding or a model that tiktoken knows.

    Raises JobError if the package is not installed, or if there is no such tokenizer.
    """
    if name.endswith(".json") or os.path.exists(name):
        return _of_file(name)
    tiktoken = _imported("tiktoken")
    try:
        is_encoding = name in tiktoken.list_encoding_names()
        encoding = tiktoken.get_encoding(name) if is_encoding else tiktoken.encoding_for_model(name)
    except KeyError:
        help_text = did_you_mean(name, tiktoken.list_encoding_names()) or "name a tokenizer.json, or write o200k_base"
        raise JobError("unknown-tokenizer", f'tiktoken has no encoding and no model "{name}"', help=help_text) from None
    except OSError as error:
        message = f"tiktoken cannot load the encoding ({type(error).__name__}): it downloads each once"
        raise JobError("unknown-tokenizer", message, help="name a tokenizer.json") from None
    return TokenCount(lambda text: encoding.encode(text, disallowed_special=()))


def _of_file(path: str) -> TokenCount:
    tokenizers = _imported("tokenizers")
    content = read_side_file(path, "tokenizer")
    try:
        tokenizer = tokenizers.Tokenizer.from_str(content.decode())
    except Exception as error:  # tokenizers raises nothing more specific
        message = f"this is not a tokenizer.json ({type(error).__name__})"
        raise JobError("unknown-tokenizer", message, file=path) from None
    tokenizer.no_truncation()
    return TokenCount(lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        message = f"this tokenizer needs the package {package}"
        raise JobError("tokenizer-missing", message, help="pip install 'convcli[tokens]'") from None
