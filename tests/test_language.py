"""Texts use the words of the glossary: no forbidden word in docstrings, messages, codes, pages and schemas."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "convcli"

FORBIDDEN = re.compile(
    r"""(?ix)(?<![\w-])(?:
      tell|tells|telling|told|untold           # report
    | mend|mends|mended                        # fix
    | beside                                   # next to, top-level, other
    | spots?                                   # path, pointer
    | clues?                                   # evidence, match
    | strangers?|foreign                       # unsupported format
    | sameness                                 # comparison
    | taken\ back                              # rolled back
    | ma[kd]es?\ up|made\ up                   # invent
    | enclosed                                 # nested
    | no\ model\ s(?:aw|ees)                   # event
    | carries|carried                          # extras, kept
    | it\ is\ so | is\ it\ so
    | of\ which | who\ knows
    | go(?:es)?\ on\ with                      # continue
    | (?:is|are|was|were|be)\ said             # has, names
    | belongs?\ into                           # belongs in
    | turns?\ of\ the\ (?:user|assistant|model)
    | (?:an?|as|the|empty)\ texts?\ that\ holds?   # JSON string
    | nobody\ knows | for\ all\ we\ know
    )(?![\w-])"""
)
CODE = re.compile(
    r"`[^`]*`|\"[^\"\s]*\"|https?://\S+|(?m:^\s*(?:>>>|\.\.\.) .*)"
    r"|do not tell the user about function calls"  # the chat template of Qwen
)
"""Code, quoted words and texts of vendors may use any word."""
DEFINITIONS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def test_texts_use_no_forbidden_words() -> None:
    hits = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]}"
        for path, line, text in _texts()
        for match in FORBIDDEN.finditer(CODE.sub(lambda code: " " * len(code[0]), text))
    ]
    assert not hits, "\n".join([f"{len(hits)} forbidden words (see the glossary in CONTRIBUTING.md):", *hits])


def _texts() -> Iterator[tuple[Path, int, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, text in _of_module(ast.parse(path.read_text("utf-8"))):
            yield path, line, text
    for path in (PACKAGE / "model" / "codes.toml", *sorted((PACKAGE / "pages").glob("*.md"))):
        for line, text in enumerate(path.read_text("utf-8").splitlines(), 1):
            yield path, line, text
    for path in sorted((ROOT / "schemas").glob("*.schema.json")):
        for text in _of_schema(json.loads(path.read_text("utf-8"))):
            yield path, 1, text


def _of_module(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Public docstrings, the strings that follow constants, and all other strings of prose."""
    skipped = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS) and ast.get_docstring(node, clean=False) is not None:
            if not isinstance(node, ast.Module) and node.name.startswith("_") and not node.name.startswith("__"):
                skipped.add(id(node.body[0].value))  # type: ignore[attr-defined]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "pattern":
            skipped.update(map(id, node.args))
    for node in ast.walk(tree):
        is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_string and id(node) not in skipped and " " in node.value.strip():  # type: ignore[attr-defined]
            yield node.lineno, node.value  # type: ignore[attr-defined]


def _of_schema(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from (node[key] for key in ("title", "description") if isinstance(node.get(key), str))
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _of_schema(below)
