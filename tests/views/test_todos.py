"""Todo lists of agent programs, whatever their keys."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.views.todos import Todo, progress, todos_of

DONE, OPEN = Todo("a", "done"), Todo("b", "open")


@pytest.mark.parametrize(
    "arguments",
    [
        {"todos": [{"content": "a", "status": "completed", "activeForm": "A"}, {"content": "b", "status": "pending"}]},
        {"explanation": "x", "plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}]},
        {"todos": [{"description": "a", "status": "done"}, {"description": "b", "status": "todo"}]},
        {"task_progress": "- [x] a\n- [ ] b\n"},
        {"todos": "[x] a\n[ ] b"},
    ],
)
def test_a_list_has_texts_and_states(arguments: dict[str, Any]) -> None:
    found = todos_of(arguments)
    assert found is not None
    assert found[1] == [DONE, OPEN]
    assert progress(found[1]) == "1 of 2 done"
    assert progress([DONE, Todo("c", "active"), OPEN]) == "1 of 3 done, now: c"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        "text",
        {"todos": []},
        {"plan": "Read the code.\n[x] a"},
        {"items": [{"text": "a"}]},
        {"items": [{"text": "a", "status": "sold"}]},
        {"todos": [{"content": "a", "status": "pending"}, 1]},
    ],
)
def test_what_has_an_item_without_a_known_state_is_no_list(arguments: Any) -> None:
    assert todos_of(arguments) is None
