"""Usual contents of Google's services: rules find nothing wrong with them, whatever the other keys are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from convcli.families.google.keys import Service
from convcli.kit.objects import Native, without_clean
from convcli.validation.rules.turns import is_base64

SIGNING = "gemini-3"
"""The prefix of models that require the signatures of calls back."""
NAMELESS = ""
"""The id of a call without one, which is answered by its name."""


def without_clean_contents(document: Any, service: Service) -> Any:
    """Returns a request or a list without its contents and instruction if these are plain."""
    model = document.get("model") if document.__class__ is dict else None
    signs = SIGNING in model if model.__class__ is str else False
    are_clean = partial(_are_clean, service=service, signs=signs)
    return without_clean(document, "contents", are_clean, systemInstruction=_is_plain_instruction)


def _is_plain_instruction(value: Any) -> bool:
    if value.__class__ is str:
        return True
    parts = value["parts"]
    return (
        len(value) == 1
        and parts.__class__ is list
        and bool(parts)
        and all(INSTRUCTION[tuple(part)](part) for part in parts)
    )


def _are_clean(contents: list[Any], *, service: Service, signs: bool) -> bool:
    """True if they are only texts of users and models, and calls with their answers in order. `signs`: calls have
    signatures."""
    asked: list[tuple[str, str]] = []
    called: list[tuple[str, str]] = []
    before = ""
    for content in contents:
        role, parts = content["role"], content["parts"]
        if len(content) != 2 or parts.__class__ is not list or not parts:
            return False
        if role == "user":
            if asked and sorted(map(_answered, parts[: len(asked)])) != sorted(asked):
                return False
            for part in parts[len(asked) :]:
                if not PLAIN_PARTS[tuple(part)](part):
                    return False
            asked = []
        elif role != "model" or asked:
            return False
        else:
            for part in parts:
                if "functionCall" not in part:
                    if not PLAIN_PARTS[tuple(part)](part):
                        return False
                elif before == "user" and (asked or not signs or "thoughtSignature" in part):
                    asked.append(_asked(part))
                else:
                    return False
            called += asked
        before = role
    ids = [id_ for id_, _ in called if id_ != NAMELESS]
    return len(set(ids)) == len(ids) and service.names.accepts_all({name for _, name in called})


def _asked(part: Native) -> tuple[str, str]:
    """Returns id and name of a plain call; raises TypeError for any other."""
    call = part["functionCall"]
    arguments = call["args"]
    if arguments.__class__ is not dict or None in arguments.values():
        raise TypeError
    if len(part) != 1 and (len(part) != 2 or not _is_signature(part["thoughtSignature"])):
        raise TypeError
    return _named(call)


def _answered(part: Native) -> tuple[str, str]:
    """Returns id and name of a plain answer; raises TypeError for any other."""
    answer = part["functionResponse"]
    if len(part) != 1 or answer["response"].__class__ is not dict:
        raise TypeError
    return _named(answer)


def _named(native: Native) -> tuple[str, str]:
    """Returns id and name of an object that has these and one more key; raises TypeError for anything else."""
    id_, name = native.get("id", NAMELESS), native["name"]
    if len(native) != 2 + ("id" in native) or id_.__class__ is not str or name.__class__ is not str:
        raise TypeError
    return id_, name


def _is_signature(value: Any) -> bool:
    return value.__class__ is str and bool(value) and is_base64(value)


def _is_blob(part: Native) -> bool:
    blob = part["inlineData"]
    data = blob["data"]
    return len(blob) == 2 and blob["mimeType"].__class__ is str and data.__class__ is str and is_base64(data)


def _is_file(part: Native) -> bool:
    file = part["fileData"]
    return len(file) == 2 and file["mimeType"].__class__ is str and file["fileUri"].__class__ is str


INSTRUCTION: dict[tuple[str, ...], Callable[[Native], bool]] = {("text",): lambda part: part["text"].__class__ is str}
PLAIN_PARTS: dict[tuple[str, ...], Callable[[Native], bool]] = {
    **INSTRUCTION,
    ("text", "thought"): lambda part: part["text"].__class__ is str and part["thought"].__class__ is bool,
    ("text", "thoughtSignature"): lambda part: (
        part["text"].__class__ is str and _is_signature(part["thoughtSignature"])
    ),
    ("inlineData",): _is_blob,
    ("fileData",): _is_file,
}
"""Plain parts other than calls and answers, by their keys."""
