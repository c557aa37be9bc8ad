"""Loads what we write with the libraries of frameworks: `libraries.py DIALECT`, with paths on its stdin.

Prints for each file a list of its path and what the library objects to, or null, as the oracles of `frameworks.py` do.
It runs in an environment with the packages that `libraries.py --packages` prints, and imports nothing of convcli.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PACKAGES = (
    "agent-framework-core==1.23.0",
    "autogen-agentchat==0.7.5",
    "haystack-ai==3.4.1",
    "llama-index-core==0.14.25",
    "semantic-kernel==1.45.0",
    "strands-agents==1.62.0",
)
Load = Callable[[Any], Iterable[Any]]
"""Returns the messages that the library has loaded from a document."""


def agent_framework() -> Load:
    from agent_framework import AgentSession, Message

    def load(document: Any) -> Iterable[Any]:
        if isinstance(document, list):
            return [Message.from_dict(native) for native in document]
        history = AgentSession.from_dict(document).state["in_memory"]["messages"]
        assert all(isinstance(message, Message) for message in history), "the session has no messages of the library"
        return history

    return load


def autogen() -> Load:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.messages import MessageFactory
    from autogen_core.models import ChatCompletionClient, LLMMessage
    from pydantic import TypeAdapter

    class NoClient(ChatCompletionClient):
        """A model client that is never called."""

        model_info = {"vision": True, "function_calling": True, "json_output": True, "family": "unknown"}  # noqa: RUF012
        capabilities = model_info
        actual_usage = count_tokens = create = create_stream = remaining_tokens = total_usage = None

    NoClient.__abstractmethods__ = frozenset()
    messages, factory = TypeAdapter(list[LLMMessage]), MessageFactory()

    def load(document: Any) -> Iterable[Any]:
        if isinstance(document, list):
            is_run = all("models_usage" in native or native["type"] not in KINDS for native in document)
            return [factory.create(native) for native in document] if is_run else messages.validate_python(document)
        agent = AssistantAgent("assistant", NoClient())
        asyncio.run(agent.load_state(document))
        return asyncio.run(agent._model_context.get_messages())

    return load


KINDS = ("SystemMessage", "UserMessage", "AssistantMessage", "FunctionExecutionResultMessage")


def haystack() -> Load:
    from haystack.dataclasses import ChatMessage

    return lambda document: [ChatMessage.from_dict(native) for native in document]


def llamaindex() -> Load:
    from llama_index.core.base.llms.types import ChatMessage

    return lambda document: [ChatMessage.model_validate(native) for native in document]


def semantic_kernel() -> Load:
    from semantic_kernel.contents import ChatHistory

    def load(document: Any) -> Iterable[Any]:
        history = document if isinstance(document, dict) else {"messages": document}
        return ChatHistory.restore_chat_history(json.dumps(history)).messages

    return load


def strands() -> Load:
    from pydantic import TypeAdapter
    from strands.session.file_session_manager import FileSessionManager
    from strands.types.content import Message
    from strands.types.session import SessionMessage

    message = TypeAdapter(Message)

    def load(document: Any) -> Iterable[Any]:
        if isinstance(document, list):
            rows = [SessionMessage.from_dict({"message": native, "message_id": i}) for i, native in enumerate(document)]
        else:
            with tempfile.TemporaryDirectory() as folder:
                store = Path(folder, "session_s", "agents", "agent_a", "messages")
                store.mkdir(parents=True)
                session = {"session_id": "s", "session_type": "AGENT", **document.get("session", {})}
                store.parents[2].joinpath("session.json").write_text(json.dumps(session))
                if "agent" in document:
                    store.parent.joinpath("agent.json").write_text(json.dumps(document["agent"]))
                for native in document["messages"]:
                    store.joinpath(f"message_{native['message_id']}.json").write_text(json.dumps(native))
                manager = FileSessionManager("s", storage_dir=folder)
                manager.read_agent("s", "a")
                rows = manager.list_messages("s", "a")
        return [message.validate_python(row.to_message()) for row in rows]

    return load


LIBRARIES = {
    "agent-framework": agent_framework,
    "autogen": autogen,
    "haystack": haystack,
    "llamaindex": llamaindex,
    "semantic-kernel": semantic_kernel,
    "strands": strands,
}


def count(document: Any) -> int:
    """Returns the number of messages in a document."""
    while isinstance(document, dict):
        document = next(document[key] for key in ("state", "in_memory", "llm_context", "messages") if key in document)
    return len(document)


def main() -> int:
    if sys.argv[1:] == ["--packages"]:
        sys.stdout.write("\n".join(PACKAGES) + "\n")
        return 0
    warnings.simplefilter("ignore")
    load = LIBRARIES[sys.argv[1]]()
    for path in map(str.strip, sys.stdin):
        document = json.loads(Path(path).read_bytes())
        try:
            loaded, expected = len(list(load(document))), count(document)
            wrong = None if loaded == expected else f"loaded {loaded} of {expected} messages"
        except Exception as error:  # the libraries raise errors of many types
            wrong = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(json.dumps([path, wrong]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
