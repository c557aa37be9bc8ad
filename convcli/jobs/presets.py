"""Where programs keep the calls of a model, as data: the presets of `--at`.

A log stores a call as a request and its answer, next to each other. Formats:
https://langfuse.com/docs/observability/data-model, https://docs.smith.langchain.com,
https://docs.litellm.ai/docs/proxy/logging_spec, https://arize-ai.github.io/openinference/spec,
https://opentelemetry.io/docs/specs/otlp, https://docs.helicone.ai, https://weave-docs.wandb.ai,
https://mlflow.org/docs/latest/genai/tracing, https://portkey.ai/docs, https://www.comet.com/docs/opik,
https://docs.nvidia.com/nemo/gym, https://docs.datadoghq.com/llm_observability, https://github.com/openai/evals,
https://platform.openai.com/docs/guides/batch,
https://docs.claude.com/en/docs/build-with-claude/batch-processing, https://ai.google.dev/gemini-api/docs/batch-api
"""

from __future__ import annotations

from functools import cache
from itertools import product

import msgspec

from convcli.wire import pointers

Pattern = tuple[str, ...]
"""The steps of a JSON Pointer, in which `*` stands for all members."""


class Layout(msgspec.Struct, frozen=True):
    """The files of one program.

    `units`: pointers to what describes one call · `requests`, `answers`: pointers in a unit; an answer is the end of
    the conversation in the request next to it · `is_log`: a conversation comes again in the request of its next call.
    In batch files and data sets, each request is a conversation of its own.
    """

    requests: str
    answers: str = ""
    units: tuple[str, ...] = ("",)
    is_log: bool = True

    @property
    def patterns(self) -> list[Pattern]:
        """The patterns of all requests and answers."""
        ends = (*self.requests.split(), *self.answers.split())
        return [pointers.steps(unit + end) for unit, end in product(self.units, ends)]


PRESETS: dict[str, Layout] = {
    "langfuse": Layout("/input", "/output", ("/trace", "/observations/*", "", "/*", "/data/*")),
    "langsmith": Layout(
        "/inputs /inputs/messages /inputs/messages/* /inputs/input",
        "/outputs /outputs/messages /outputs/message /outputs/generations/*/*/message /outputs/output",
        ("", "/child_runs/*", "/*"),
    ),
    "litellm": Layout("/proxy_server_request/body /messages", "/response", ("", "/*")),
    "braintrust": Layout("/input", "/output", ("", "/*", "/events/*")),
    "helicone": Layout("/request_body", "/response_body", ("", "/*", "/data/*")),
    "weave": Layout("/inputs", "/output", ("", "/*")),
    "mlflow": Layout(
        "/mlflow.spanInputs",
        "/mlflow.spanOutputs",
        ("/data/spans/*/attributes", "/*/data/spans/*/attributes", "/spans/*/attributes", "/attributes"),
    ),
    "portkey": Layout("/request/body", "/response/body", ("", "/*")),
    "opik": Layout("/input", "/output", ("", "/*", "/content/*", "/spans/*")),
    "nemo-gym": Layout("/responses_create_params", "/response", ("", "/*")),
    "datadog": Layout("/input/messages", "/output/messages", ("/meta", "/*/meta", "/attributes/meta", "/spans/*/meta")),
    "openai-evals": Layout("/prompt", "/sampled", ("/data", "/*/data"), is_log=False),
    "openinference": Layout("/input.value", "/output.value", ("/attributes", "/*/attributes")),
    "otlp": Layout("/resourceSpans/*/scopeSpans/*/spans/* /resourceLogs/*/scopeLogs/*/logRecords/*"),
    "openai-batch": Layout("/body /response/body", is_log=False),
    "anthropic-batch": Layout("/params /result/message /requests/*/params", is_log=False),
    "gemini-batch": Layout("/request", "/response", is_log=False),
    "openai-agents": Layout("/input", "/output", ("/span_data", "/*/span_data", "/data/*/span_data")),
    "tau-bench": Layout("/traj /*/traj", is_log=False),
    "conversations": Layout("/conversation /conversations", units=("", "/*"), is_log=False),
}
"""Pointers to transcripts in the files of some programs and in chat data sets."""


@cache
def _steps(*, of_answers: bool) -> frozenset[str]:
    """The first steps of requests, or of answers, that stand next to the other."""
    pairs = [layout for layout in PRESETS.values() if layout.answers]
    ends = (layout.answers if of_answers else layout.requests for layout in pairs)
    return frozenset(pointers.steps(each)[0] for each in " ".join(ends).split())


def call_of(path: Pattern) -> tuple[Pattern, bool] | None:
    """Returns the path of the call that a value belongs to, and true for its answer; None if it is of no call."""
    for at, step in enumerate(path):
        if step in _steps(of_answers=False):
            return path[:at], False
        if step in _steps(of_answers=True):
            return path[:at], True
    return None


@cache
def _patterns(*, of_logs: bool) -> frozenset[Pattern]:
    """All patterns of the presets for logs, or of the others."""
    return frozenset(pattern for each in PRESETS.values() if each.is_log is of_logs for pattern in each.patterns)


def is_log(wanted: tuple[Pattern, ...]) -> bool:
    """True if patterns pick the calls of a log: those of a preset for one, or a request with its answer."""
    roles = {found[1] for found in map(call_of, wanted) if found is not None}
    return len(roles) == 2 or not _patterns(of_logs=True).isdisjoint(set(wanted) - _patterns(of_logs=False))
