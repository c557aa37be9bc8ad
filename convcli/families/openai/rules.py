"""What OpenAI refuses in the messages and tools of any request."""

from __future__ import annotations

from convcli.families.openai.parts import IDS, NAMES
from convcli.model.rule import Rule
from convcli.validation.rules import arguments, links, names, tools, turns

MESSAGES: tuple[Rule, ...] = (
    links.identified(),
    links.paired(links.PairingRules()),
    names.of_tools(NAMES),
    names.of_calls(IDS),
    arguments.as_text(),
    arguments.readable(),
    arguments.rows_not_filled("tool_calls", "function_call"),
    turns.content_not_null(),
    turns.parts_of_roles(
        {"image": ("user",), "document": ("user",), "audio": ("user", "assistant"), "tool_call": ("assistant",)}
    ),
    turns.files_as_urls(),
    turns.participants("<|\\/>"),
)
TOOLS: tuple[Rule, ...] = (
    tools.unique("warning"),
    tools.not_more_than(128),
    tools.schemas(tools.SchemaDemands(items=True, closed=True)),
)
