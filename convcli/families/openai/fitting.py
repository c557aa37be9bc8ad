"""What chat services take of conversations and of answers: the passes that the relatives of Chat Completions share."""

from __future__ import annotations

from collections.abc import Callable

from convcli.families.openai.calls import media_behind_results
from convcli.families.openai.messages import texts_only
from convcli.families.openai.response import Answers, created_in_seconds, joined_text, known_finish, usage_of_response
from convcli.kit.fitting import answers_only, linear, parts_in_roles
from convcli.kit.passes import on_each_message, on_messages, on_results
from convcli.kit.results import expressed, results_behind_calls, single_results
from convcli.model.dialect import Convention, Pass
from convcli.model.transcript import Media


def of_conversations(results: Convention, is_written: Callable[[Media], bool], *between: Pass) -> tuple[Pass, ...]:
    """One line of messages with each result behind its call, as text; its media follow in a message of the user.

    `between` are passes that must come before such messages are added.
    """
    return (
        linear,
        results_behind_calls,
        on_messages(single_results),
        *between,
        on_messages(media_behind_results(is_written)),
        on_results(texts_only),
        expressed(results),
    )


def of_answers(answers: Answers, *parts: Pass) -> tuple[Pass, ...]:
    """The answers of a response with choices, whose parts are fitted by `parts`."""
    return (
        answers_only,
        parts_in_roles({"tool_result": ()}),
        *parts,
        known_finish(answers),
        on_each_message(joined_text),
        usage_of_response,
        created_in_seconds,
    )
