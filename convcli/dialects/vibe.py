"""Sessions of Mistral Vibe: `messages.jsonl` in a folder of `~/.vibe/logs/session`, one message per line.

Specification: none is published. Mistral Vibe 3.0.3, https://github.com/mistralai/mistral-vibe; read 2026-11-23.

Quirks
- A line is a message of Chat Completions with `message_id`. Arguments are JSON in a string; other programs that write
  such sessions store an object.
- Title, times, directory and token counts of the session are in `meta.json` next to it, which convcli does not read.
- `tool_result` repeats the output of a tool with its duration; `manual_shell` is a command that the user ran.
- The program marks its own messages (`injected`) and the begin of a context after a compaction (`context_boundary`).
  Both marks are kept.
- Images name a file or contain its data. They are kept, not read.
"""

from __future__ import annotations

from convcli.families import tables
from convcli.kit.ids import new_uuid, number_messages
from convcli.model.dialect import ProgramTurns

NAME = "vibe"
TABLE = {
    "lines": True,
    "role": "role",
    "roles": {role: role for role in ("system", "user", "assistant", "tool")},
    "text": "content",
    "reasoning": "reasoning_content",
    "calls": {
        "at": "tool_calls",
        "id": "id",
        "constants": {"type": "function"},
        "defaults": {"index": 0},
        "name": "function/name",
        "arguments": "function/arguments",
        "arguments-as": "json",
    },
    "results": {"value": "content", "name": "name", "call": "tool_call_id", "json": False},
    "id": "message_id",
    "metadata": ["injected", "context_boundary", "reasoning_message_id", "reasoning_payloads", "tool_result"],
}


DIALECT = tables.built_in(
    NAME,
    TABLE,
    passes=(number_messages(new_uuid),),
    title="Mistral Vibe",
    aliases=("mistral-vibe",),
    specification="sessions of Mistral Vibe 3.0.3; read 2026-11-23",
    program_turns=ProgramTurns({}, NAME, {("injected",): {True: "injected"}}),
)
