"""What makes two conversations equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from convcli.jobs import inputs
from convcli.jobs.digests import prefix_digests, prompt_digest
from tests.cli_cases import OTHER, write


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)], **more}


def lifted(tmp_path: Path, document: Any) -> Any:
    return next(inputs.documents(str(write(tmp_path / "one.json", document)), OTHER)).lift()


def test_ids_and_times_do_not_matter_but_texts_names_and_arguments_do(tmp_path: Path) -> None:
    def called(id_: str, name: str = "f", arguments: str = "{}", result: str = "1") -> bytes:
        call = {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        messages = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": result},
        ]
        return list(prefix_digests(lifted(tmp_path, {"messages": messages})))[-1]

    assert called("call_1") == called("call_2")
    others = [called("c"), called("c", name="g"), called("c", arguments='{"a": 1}'), called("c", result="2")]
    assert len(set(others)) == 4


def test_a_conversation_keeps_the_digests_of_its_beginning_when_it_grows(tmp_path: Path) -> None:
    short, long = lifted(tmp_path, chat("a", "b")), lifted(tmp_path, chat("a", "b", "c", "d"))
    assert list(prefix_digests(long))[:2] == list(prefix_digests(short))
    [of_prompt] = prefix_digests(lifted(tmp_path, chat("a")))
    assert prompt_digest(long) == prompt_digest(short) == of_prompt
