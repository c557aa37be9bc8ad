"""The values of the keys of a log, and what their usual names and their shapes say of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from convcli.kit.objects import Native, objects_in
from convcli.model.transcript import Path

WORDS = {
    "user": "user human customer client visitor prompter player me person question caller",
    "assistant": "assistant bot ai agent gpt model chatbot llm operator reply answer character say",
    "system": "system setup rules instruction instructions sys",
    "developer": "developer",
    "tool": "tool function observation tool_result environment ipython fn tools",
}
"""The usual words for each role."""
ROLE_OF = {word: role for role, words in WORDS.items() for word in words.split()}
BOOLEANS = {"user": "is_user isuser from_user fromuser human", "assistant": "from_bot is_bot isbot bot is_ai from_ai"}
"""The usual names of keys that are true for a role."""
NAMES = {
    "role": "role speaker sender from who author type event kind sender_class",
    "text": "content text message body utterance value mes say msg parts",
    "reasoning": "reasoning thought thinking thoughts rationale think reasoning_content",
    "images": "images image image_url pics pictures photos",
    "id": "id uuid message_id msg_id mid nr",
    "time": "timestamp time ts t at when date created_at created sent send_date datetime",
    "model": "model model_name engine llm",
    "name": "name sender author username",
    "stop-reason": "stop_reason finish_reason end",
    "calls": "tool_calls calls tools actions function_calls functions tool_uses invocations fn call do use",
    "call.name": "name tool tool_name action function function_name fn",
    "call.arguments": "arguments args input parameters params action_input tool_input with",
    "call.id": "id call_id tool_call_id",
    "call.result": "result output observation outcome response ret returned saw",
    "result.call": "tool_call_id call_id tool_use_id for call in_reply_to",
    "result.name": "name tool tool_name",
    "result.value": "output result observation out",
    "result.failed": "is_error failed error bad",
    "whole.id": "id conversation_id session_id chat_id dialogue_id dialog_id thread_id sid sender_id uuid run run_id",
    "whole.title": "title topic subject name",
    "whole.model": "model model_name engine llm",
    "whole.cwd": "cwd workdir working_directory dir directory",
    "whole.created": "created_at created create_date create_time start_time started_at started",
    "whole.updated": "updated_at updated update_time end_time ended_at",
    "split": "conversation_id session_id chat_id thread_id session conversation thread sid",
}
"""The usual names of keys, the likeliest first."""
TURNS = {"user": "question prompt query input instruction user", "assistant": "answer response output completion reply"}
BEFORE = {"system": "system system_prompt instructions", "user": "task prompt question query goal"}
AFTER = {"assistant": "final_answer answer response output outcome conclusion"}
MOST_WORDS = 12
DEEPEST = 3


def members_of(native: Native, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yields the values of an object and of the objects in it, with their paths."""
    for key, value in native.items():
        if not key or "/" in key:
            continue
        yield (*prefix, key), value
        if isinstance(value, dict) and len(prefix) < DEEPEST:
            yield from members_of(value, (*prefix, key))


class KeyValues:
    """The values of the rows by their path."""

    def __init__(self, rows: Sequence[Native]) -> None:
        self.rows = rows
        self.values: dict[Path, list[Any]] = {}
        self.used: set[Path] = set()
        for row in rows:
            for path, value in members_of(row):
                if value is not None:
                    self.values.setdefault(path, []).append(value)

    def find(self, names: str, accepts: Callable[[list[Any]], bool]) -> Path | None:
        """Returns the path of unused values with the likeliest name."""
        for name in NAMES[names].split():
            for path, values in self.values.items():
                if self.is_free(path) and str(path[-1]).lower() == name and accepts(values):
                    self.used.add(path)
                    return path
        return None

    def find_only(self, accepts: Callable[[list[Any]], bool]) -> Path | None:
        """Returns the only unused key with such values, whatever its name."""
        paths = [path for path, values in self.values.items() if len(path) == 1 and self.is_free(path)]
        paths = [path for path in paths if accepts(self.values[path])]
        self.used |= set(paths) if len(paths) == 1 else set()
        return paths[0] if len(paths) == 1 else None

    def is_free(self, path: Path) -> bool:
        """True if neither the value nor an object around it is used."""
        return not any(path[:end] in self.used for end in range(1, len(path) + 1))

    def role(self) -> tuple[Path | None, int]:
        """Returns the path of the role, and how many of its values are usual words."""
        best: tuple[Path | None, int] = (None, 0)
        ranks = {name: -rank for rank, name in enumerate(NAMES["role"].split())}
        for path, values in sorted(
            self.values.items(), key=lambda item: ranks.get(str(item[0][-1]), -99), reverse=True
        ):
            known = sum(1 for value in values if self.word_role(path, value) is not None)
            if known > best[1] and len(set(map(str, values))) <= MOST_WORDS:
                best = (path, known)
        return best

    def word_role(self, path: Path, value: Any) -> str | None:
        """Returns the role that a value is usually a word for."""
        if isinstance(value, bool):
            name = str(path[-1]).lower()
            true = next((role for role, names in BOOLEANS.items() if name in names.split()), None)
            return true if value or true is None else "assistant" if true == "user" else "user"
        return ROLE_OF.get(value.lower()) if isinstance(value, str) else None

    def turns(self) -> dict[str, str]:
        """Returns the keys that are messages of their own, by their names."""
        return self.texts_named(TURNS)

    def texts_named(self, names: dict[str, str]) -> dict[str, str]:
        """Returns the keys of texts with these names, at most one for each role."""
        keys: dict[str, str] = {}
        for role, each in names.items():
            for name in each.split():
                if role not in keys.values() and (name,) in self.values and are_strings(self.values[name,]):
                    keys[name] = role
        return keys


def are_strings(values: list[Any]) -> bool:
    """True for strings that are not all empty."""
    return any(values) and all(isinstance(value, str) for value in values)


def are_words(values: list[Any]) -> bool:
    """True for strings and whole numbers."""
    return all(type(value) in (str, int) for value in values)


def are_identifiers(values: list[Any]) -> bool:
    """True for names of one word, such as those of tools."""
    return all(isinstance(value, str) and value.replace("-", "_").replace(".", "_").isidentifier() for value in values)


def calls_in(value: Any) -> list[Native]:
    """Returns the objects in a list, or the one object."""
    return [value] if isinstance(value, dict) else objects_in(value)


def are_objects(values: list[Any]) -> bool:
    """True for objects, also as JSON in strings."""
    return all(isinstance(value, dict) or is_json_object(value) for value in values)


def are_booleans(values: list[Any]) -> bool:
    """True for truth values."""
    return all(isinstance(value, bool) for value in values)


def are_text_lists(values: list[Any]) -> bool:
    """True for strings and lists of strings or of content blocks."""
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return bool(items) and all(isinstance(item, str) or _is_block(item) for item in items)


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and ("text" in item or isinstance(item.get("type"), str))


def are_string_lists(values: list[Any]) -> bool:
    """True for strings and lists of strings."""
    return all(isinstance(item, str) for value in values for item in (value if isinstance(value, list) else [value]))


def are_times(values: list[Any]) -> bool:
    """True for times: as numbers, or as strings of any form."""
    return bool(unit_of_times(values)) or all(isinstance(value, str) and _is_time(value) for value in values)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return any(character.isdigit() for character in text) and len(text) < 40
    return True


def unit_of_times(values: list[Any]) -> str:
    """Returns the unit of times that are numbers; empty for any other values."""
    if not all(type(value) in (int, float) and value > 1e8 for value in values):
        return ""
    return "milliseconds" if min(values) > 1e11 else "seconds"


def is_json_object(value: Any) -> bool:
    """True for an object as JSON in a string."""
    try:
        return isinstance(value, str) and isinstance(json.loads(value), dict)
    except ValueError:
        return False
