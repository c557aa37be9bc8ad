"""Known formats that are not dialects: a table of marks, by which an error names the format of a file.

Some are containers whose transcripts `--at` reads; some have no conversation; the others are not supported yet. When a
dialect for one of them is added, its row is removed; `tests/engine/test_known_formats.py` fails until then.

Their marks (`marks`) are for a document, one of the first records, or one of the first items of a list.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from convcli.engine import marks
from convcli.kit.objects import objects_in

LOOK_AT = 16
"""Records of a file, and list items, that are checked."""
LOOKS_LIKE = "this looks like"
"""The start of the error for a document in one of these formats."""


class KnownFormat(msgspec.Struct, frozen=True):
    """A known format that is not a dialect: its description, its marks, and what can be done with it.

    `at`: the `--at` value that reads the transcripts inside · `is_piece`: the file alone is not a conversation ·
    `source`: the source code or documentation with which the marks were compared, on 2026-11-28; empty if they are from
    a sample or from memory."""

    name: str
    marks: tuple[str, ...]
    note: str = ""
    at: str = ""
    is_piece: bool = False
    source: str = ""

    @property
    def message(self) -> str:
        """What the file is, and whether convcli can read it."""
        ending = "this alone is not a conversation" if self.is_piece else "convcli cannot read it yet"
        return f"{LOOKS_LIKE} {self.name}{', which may contain transcripts' if self.at else f'; {ending}'}"

    @property
    def help(self) -> str:
        """What can be done with the file."""
        way = f"--at {self.at} reads the transcripts inside" if self.at else ""
        return ", ".join(filter(None, (way, self.note))) or "convcli dialects lists the formats it reads"


FORMATS = (
    # sessions
    KnownFormat(
        "a part of an OpenCode session",
        (
            "sessionID role time/created",
            "sessionID messageID type",
            "id^prt_|p_ type=text text",
            "projectID directory time/created",
        ),
        "convcli reads the whole session, as opencode export prints it",
        is_piece=True,
    ),
    KnownFormat(
        "a session log of Hermes Agent",
        ("platform session_start messages",),
        "without the system prompt; hermes sessions export writes what convcli reads whole",
        "/messages",
    ),
    KnownFormat(
        "an Amp thread",
        ("messages/*/content/*/toolUseID", "id^T- created messages:list"),
        source="kenn-io/agentsview, internal/parser/amp.go",
    ),
    KnownFormat(
        "the manifest of a Mistral Vibe session",
        ("session_id stats:dict environment/working_directory",),
        "the messages are in messages.jsonl next to it",
        is_piece=True,
    ),
    KnownFormat(
        "the summary of a Grok Build session",
        ("chat_format_version current_model_id",),
        "the messages are in chat_history.jsonl next to it",
        is_piece=True,
    ),
    KnownFormat(
        "the manifest of a Cline session",
        ("session_id started_at workspace_root", "session_id started_at messages_path"),
        "the messages are in the file next to it, NAME.messages.json",
        is_piece=True,
    ),
    # trajectories and evaluations
    KnownFormat(
        "a tau-bench result",
        ("task_id traj reward",),
        at="tau-bench",
        source="sierra-research/tau-bench, tau_bench/types.py",
    ),
    # frameworks
    KnownFormat(
        "a trace of the OpenAI Agents SDK",
        ("object=trace|trace.span workflow_name", "object=trace.span span_data"),
        at="openai-agents",
        source="openai-agents 0.24, agents/tracing",
    ),
    KnownFormat(
        "a log of the OpenAI Realtime API", ("event_id type^session.|conversation.|response.|input_audio_buffer.",)
    ),
    KnownFormat(
        "a thread of the OpenAI Assistants API or of Jan",
        ("object=thread|thread.message", "data/*/object=thread.message"),
    ),
    KnownFormat(
        "a LlamaIndex chat store",
        ("store:dict class_name",),
        at="'/store/*'",
        source="llama-index-core 0.14.25, storage/chat_store/simple_chat_store.py",
    ),
    KnownFormat(
        "Genkit messages",
        (
            "content/*/toolRequest",
            "content/*/toolResponse",
            "role=model content/*/text",
            "messages/*/role=model messages/*/content/*/text",
        ),
        source="@genkit-ai/ai 1.29, src/model-types.ts",
    ),
    KnownFormat(
        "a Strands message",
        ("message message_id redact_message",),
        at="/message",
        source="strands-agents 1.62, types/session.py",
    ),
    KnownFormat(
        "the state of an AutoGen team",
        ("agent_states:dict type",),
        at="'/agent_states/*/agent_state'",
        source="autogen-agentchat 0.7.5, state/_states.py",
    ),
    # telemetry and logs
    KnownFormat(
        "an OpenTelemetry event or span without messages",
        (
            "event.name^gen_ai.client|gen_ai.evaluation",
            "gen_ai.provider.name !gen_ai.input.messages !gen_ai.output.messages",
            "attributes/gen_ai.operation.name !attributes/gen_ai.input.messages !attributes/gen_ai.output.messages",
        ),
        "programs include messages only if content capture is enabled",
        is_piece=True,
    ),
    KnownFormat(
        "an OpenTelemetry trace (OTLP)",
        ("resourceSpans/*/scopeSpans", "resourceLogs/*/scopeLogs"),
        at="otlp",
    ),
    KnownFormat(
        "an OpenInference span with flattened messages",
        (
            "attributes/llm.input_messages.0.message.role !attributes/input.value",
            "attributes/llm.output_messages.0.message.role !attributes/input.value",
            "attributes/*/key^llm.input_messages.|llm.output_messages. !attributes/*/key=gen_ai.input.messages",
            "attributes/llm/input_messages/*/message",
            "llm.input_messages.0.message.role",
        ),
        "--at openinference reads spans with the request in input.value",
    ),
    KnownFormat(
        "an OpenInference trace",
        ("attributes/openinference.span.kind",),
        at="openinference",
    ),
    KnownFormat(
        "a Langfuse trace",
        (
            "trace observations",
            "observations/*/traceId",
            "traceId type=GENERATION|SPAN|TOOL|AGENT|EVENT|CHAIN|RETRIEVER|EVALUATOR|EMBEDDING|GUARDRAIL",
        ),
        at="langfuse",
        source="langfuse.com/docs, observation types and public API",
    ),
    KnownFormat("a LangSmith run", ("run_type inputs",), at="langsmith", source="langsmith 0.15.1, schemas.py"),
    KnownFormat(
        "a request log of Helicone",
        ("request_body response_body",),
        at="helicone",
        source="Helicone/helicone, HeliconeRequest",
    ),
    KnownFormat("a call of W&B Weave", ("op_name inputs",), at="weave"),
    KnownFormat(
        "an MLflow trace",
        ("data/spans/*/attributes/mlflow.spanInputs", "spans/*/attributes/mlflow.spanInputs"),
        at="mlflow",
        source="mlflow/mlflow, its tests of traces",
    ),
    KnownFormat("a log of Portkey", ("request/body response/body",), at="portkey"),
    KnownFormat(
        "an Opik trace or span",
        ("project_id total_estimated_cost input",),
        at="opik",
        source="comet-ml/opik, sdks/python/src/opik/rest_api/types/trace_public.py",
    ),
    KnownFormat(
        "a rollout of NeMo Gym",
        ("responses_create_params response",),
        at="nemo-gym",
        source="NVIDIA-NeMo/Gym, its agents and tests",
    ),
    KnownFormat(
        "a span of Datadog",
        ("meta/input/messages", "meta/output/messages"),
        at="datadog",
        source="docs.datadoghq.com, LLM Observability: HTTP API",
    ),
    KnownFormat(
        "a log of OpenAI Evals",
        ("run_id event_id data/prompt",),
        at="openai-evals",
        source="openai/evals, evals/record.py",
    ),
    KnownFormat(
        "a list of trace spans",
        (
            "input/messages !preferred_output !threadId !observations",
            "input:dict output:dict !observations",
            "input:list output:dict !epoch !observations",
            "output/parts output/kind",
            "output/parts output/role",
            "output/response/parts",
            "span_attributes span_id",
        ),
        at="braintrust",
    ),
    KnownFormat(
        "the request body of an Anthropic batch",
        ("requests/*/custom_id",),
        at="'/requests/*'",
    ),
    KnownFormat(
        "a Gemini API batch",
        ("key request/contents", "key response/candidates"),
        at="gemini-batch",
    ),
    # pieces
    KnownFormat(
        "tool definitions",
        (
            "type=function name parameters:dict !role !arguments",
            "type=function function/parameters:dict !role !id",
            "name input_schema:dict !role",
        ),
        "convcli reads a request with messages and these tools",
        is_piece=True,
    ),
    # exports
    KnownFormat(
        "an LM Studio conversation",
        ("messages/*/versions messages/*/currentlySelected",),
        source="programs that read its conversations",
    ),
    KnownFormat(
        "a TypingMind export",
        ("data/chats/*/messages",),
        at="'/data/chats/*/messages'",
        source="programs that read its export",
    ),
    KnownFormat(
        "a backup of Cherry Studio",
        ("indexedDB/topics indexedDB/message_blocks",),
        source="CherryHQ/cherry-studio, BackupService.ts; programs that read it",
    ),
    KnownFormat(
        "an export of Chatbox", ("__exported_items",), source="chatboxai/chatbox, its export; programs that read it"
    ),
    # sessions and trajectories without a dialect
    KnownFormat(
        "an iFlow session",
        ("message/content/*/content/responseParts", "message/content/*/content/functionResponse"),
        source="bbingz/engram, docs/session-formats/iflow.md",
    ),
    KnownFormat(
        "a session of Junie",
        ("kind=SessionA2uxEvent event/agentEvent", "kind=UserPromptEvent prompt:str", "kind=TaskStartedEvent taskId"),
        source="kenn-io/agentsview, internal/parser/junie.go",
    ),
    KnownFormat(
        "the list of Junie's sessions",
        ("sessionId taskName createdAt",),
        "the events are in events.jsonl in the folder of a session",
        is_piece=True,
        source="programs that read its index.jsonl",
    ),
    KnownFormat(
        "messages of Devin",
        ("event_id source=devin|user message:str created_at", "items/*/event_id items/*/source=devin|user"),
        "they have what Devin and the user wrote, without its calls",
        source="docs.devin.ai, API v3: List session messages",
    ),
    KnownFormat(
        "a chat of Cody",
        ("interactions/*/humanMessage lastInteractionTimestamp",),
        source="sourcegraph/cody, lib/shared/src/chat/transcript/index.ts",
    ),
    KnownFormat(
        "activities of Jules",
        (
            "activities/*/originator=agent|user|system|AGENT|USER|SYSTEM activities/*/createTime",
            "originator=agent|user|system|AGENT|USER|SYSTEM createTime",
        ),
        "they have what Jules and the user wrote, without its calls",
        source="developers.google.com/jules/api; jules-core 0.1.0",
    ),
    KnownFormat(
        "the description of a Jules session",
        ("sourceContext/source prompt:str state",),
        "its activities are a list of their own",
        is_piece=True,
        source="developers.google.com/jules/api; jules-core 0.1.0",
    ),
    KnownFormat(
        "the task list of Cline or Roo Code",
        ("task:str tokensIn tokensOut totalCost", "entries/*/tokensIn entries/*/task"),
        "the messages are in api_conversation_history.json in the folder of a task",
        is_piece=True,
        source="cline/cline, apps/vscode/src/shared/HistoryItem.ts",
    ),
    KnownFormat(
        "what Cline or Roo Code displays of a task",
        ("ts type=say say:str", "ts type=ask ask:str", "files_in_context:list"),
        "the messages are in api_conversation_history.json next to it",
        is_piece=True,
        source="cline/cline, src/shared/ExtensionMessage.ts",
    ),
    KnownFormat(
        "the analytics of Aider",
        ("event:str properties/edit_format user_id", "event:str properties/main_model user_id"),
        "they have counts, without messages",
        is_piece=True,
        source="Aider-AI/aider, aider/analytics.py",
    ),
    KnownFormat(
        "the history of Gemini Apps from Google Takeout",
        ("header^Gemini title:str time", "title^Prompted products"),
        source="programs that read its export",
    ),
    KnownFormat(
        "messages of Dify",
        ("data/*/query data/*/answer data/*/conversation_id", "query answer conversation_id inputs:dict"),
        source="docs.dify.ai, API: List Conversation Messages",
    ),
    KnownFormat(
        "messages of Flowise", ("chatflowid chatType",), source="FlowiseAI/FlowiseChatEmbed, NewChatMessageInput"
    ),
    KnownFormat(
        "messages of Langflow",
        ("flow_id sender session_id text:str",),
        source="langflow-ai/langflow, services/database/models/message/model.py",
    ),
    KnownFormat(
        "a chat of text-generation-webui",
        ("internal:list visible:list",),
        source="oobabooga/text-generation-webui, modules/chat.py",
    ),
    KnownFormat(
        "a Letta agent file",
        ("agents/*/messages blocks",),
        at="'/agents/*/messages'",
        source="letta-ai/letta, letta/schemas/agent_file.py",
    ),
    KnownFormat(
        "messages of a Letta agent",
        (
            "message_type=system_message|user_message|assistant_message|reasoning_message|hidden_reasoning_message|"
            "tool_call_message|tool_return_message|approval_request_message|approval_response_message",
            "messages/*/message_type=system_message|user_message|assistant_message|reasoning_message|tool_call_message",
        ),
        source="letta-ai/letta, letta/schemas/letta_message.py",
    ),
    KnownFormat(
        "an A2A task",
        ("contextId status/state history/*/parts",),
        source="a2aproject/A2A, specification/grpc/a2a.proto",
    ),
    KnownFormat(
        "messages of Spring AI",
        ("messageType=USER|ASSISTANT|SYSTEM|TOOL metadata:dict",),
        source="spring-projects/spring-ai, chat/messages/AbstractMessage.java",
    ),
    KnownFormat(
        "messages of LangChain4j",
        (
            "type=TOOL_EXECUTION_RESULT",
            "toolExecutionRequests type=AI",
            "contents/*/type=TEXT|IMAGE type=USER",
        ),
        source="langchain4j/langchain4j, ChatMessageSerializerTest.java",
    ),
    KnownFormat(
        "messages of Mastra",
        ("content/format content/parts:list role threadId",),
        source="mastra-ai/mastra, packages/core/src/agent/message-list/index.ts",
    ),
    KnownFormat(
        "messages of rig",
        ("content/*/function/name content/*/function/arguments role=assistant",),
        source="0xPlaygrounds/rig, rig-core/src/completion/message.rs",
    ),
    KnownFormat(
        "the history of a DSPy model",
        ("response_model kwargs:dict outputs:list !response/choices",),
        at="/messages",
        source="stanfordnlp/dspy, dspy/clients/base_lm.py",
    ),
    KnownFormat(
        "a log of CrewAI tasks",
        ("task_name agent:str task:str status:str",),
        "the log has the task and its output, without messages",
        is_piece=True,
        source="crewAIInc/crewAI, crew.py: _log_task_start",
    ),
    KnownFormat(
        "samples of lm-eval",
        ("filtered_resps doc_id arguments",),
        at="/arguments/gen_args_0/arg_0",
        source="EleutherAI/lm-evaluation-harness, lm_eval/loggers; programs that read its samples",
    ),
    KnownFormat(
        "the scenario of a HELM run",
        ("request_states/*/instance adapter_spec",),
        source="stanford-crfm/helm, benchmark/adaptation/scenario_state.py",
    ),
    KnownFormat(
        "answers of MT-bench",
        ("answer_id question_id choices/*/turns",),
        source="lm-sys/FastChat, fastchat/llm_judge/gen_model_answer.py",
    ),
    KnownFormat(
        "results of BFCL",
        ("inference_log:list result id",),
        source="ShishirPatil/gorilla, berkeley-function-call-leaderboard, base_handler.py",
    ),
    KnownFormat(
        "results of promptfoo",
        ("results/results/*/prompt/raw",),
        at="'/results/results/*/prompt/raw'",
        source="programs that read its results",
    ),
    # rows of training sets
    KnownFormat(
        "a chat data set with the column conversation",
        ("conversation/*/role conversation/*/content !working_dir",),
        at="conversations",
    ),
    KnownFormat(
        "a chat data set with the column conversations",
        ("conversations/*/role conversations/*/content",),
        at="conversations",
    ),
    KnownFormat(
        "a set of preference pairs with a question",
        ("question:str chosen:str rejected:str",),
        "rename the key question to prompt, and convcli reads it",
    ),
)


@cache
def _by_name() -> dict[str, list[tuple[str, KnownFormat]]]:
    """Returns the marks of all formats, by the names that find them."""
    found: dict[str, list[tuple[str, KnownFormat]]] = {}
    for known in FORMATS:
        for mark in known.marks:
            for name in marks.names_of(mark):
                found.setdefault(name, []).append((mark, known))
    return found


def recognise(values: Iterable[Any]) -> KnownFormat | None:
    """Returns the known format of a document, or of the first of these records; None if no mark matches."""
    of_name = _by_name()
    for value in islice(values, LOOK_AT):
        for one in objects_in([value, *value[:LOOK_AT]] if isinstance(value, list) else [value]):
            names = (name for name in marks.names_in(one) if name in of_name)
            found = (known for name in names for mark, known in of_name[name] if marks.holds(mark)(one) is not False)
            if (known := min(found, key=FORMATS.index, default=None)) is not None:
                return known
    return None
