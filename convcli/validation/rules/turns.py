"""Rules for messages: which role comes when, and what a message may contain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from convcli.model.branches import INSTRUCTIONS as INSTRUCTIONS
from convcli.model.findings import Severity
from convcli.model.inventory import has_blank_text
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Rule
from convcli.model.transcript import MEDIA_KINDS, Media, Message, Part, ToolCall
from convcli.validation.survey import EMPTY, UNSPOKEN, Survey
from convcli.validation.survey import RESPONSE as RESPONSE
from convcli.validation.wording import listed


def begins_with_user(*, or_instruction: bool = False) -> Rule:
    """The first message besides instructions is the user's. `or_instruction`: instructions may come first as well."""
    apart = () if or_instruction else INSTRUCTIONS

    def check(survey: Survey) -> Iterator[Breach]:
        if survey.form == RESPONSE:
            return
        for i in survey.active_indexes:
            if survey.roles[i] == "assistant":
                yield Breach("wrong-first-role", NodeRef(i), "the first message must have the role user")
            if survey.roles[i] not in apart:
                return

    return Rule(("wrong-first-role",), check, subjects=("assistant",))


def ends_with_user(severity: Severity = "error", *, goes_on: Callable[[Message], bool] | None = None) -> Rule:
    """The last message is the user's, a result, or an assistant message that its answer continues (`goes_on`)."""

    def check(survey: Survey) -> Iterator[Breach]:
        last = survey.messages[survey.active_indexes[-1]] if survey.active_indexes else None
        if last is None or (goes_on is not None and goes_on(last)):
            return
        if last.role == "assistant" and survey.form != RESPONSE:
            message = "a request must end with a user message or tool results"
            yield Breach("wrong-last-role", NodeRef(survey.active_indexes[-1]), message, severity)

    return Rule(("wrong-last-role",), check, subjects=("assistant",))


def alternating(severity: Severity = "error") -> Rule:
    """User messages (including results) and assistant messages alternate."""

    def check(survey: Survey) -> Iterator[Breach]:
        before = ""
        for turn in survey.turns():
            role = survey.roles[turn[0]]
            role = "user" if role == "tool" else role
            if role == before and role not in INSTRUCTIONS:
                yield Breach("repeated-role", NodeRef(turn[0]), f"two consecutive {role} messages", severity)
            before = role

    return Rule(("repeated-role",), check)


def answered_first() -> Rule:
    """After results comes an assistant message, not a user message."""

    def check(survey: Survey) -> Iterator[Breach]:
        before = ""
        for i in survey.active_indexes:
            role = survey.roles[i]
            if before == "tool" and role == "user":
                yield Breach(
                    "user-after-result", NodeRef(i), "a user message directly follows a tool result", "warning"
                )
            before = role

    return Rule(("user-after-result",), check, subjects=("tool",))


def system_not_behind(*roles: str) -> Rule:
    """An instruction does not follow a message of these roles."""

    def check(survey: Survey) -> Iterator[Breach]:
        before = ""
        for i in survey.active_indexes:
            role = survey.roles[i]
            if role in INSTRUCTIONS and before in roles:
                problem = f"an instruction cannot follow a message with the role {before}"
                yield Breach("misplaced-system", NodeRef(i), problem)
            before = role

    return Rule(("misplaced-system",), check, subjects=INSTRUCTIONS)


def system_first() -> Rule:
    """Instructions come before all other messages."""

    def check(survey: Survey) -> Iterator[Breach]:
        seen_other = False
        for i in survey.active_indexes:
            instruction = survey.roles[i] in INSTRUCTIONS
            if instruction and seen_other:
                yield Breach(
                    "misplaced-system", NodeRef(i), "instructions must come before all other messages", "warning"
                )
            seen_other = seen_other or not instruction

    return Rule(("misplaced-system",), check, subjects=INSTRUCTIONS)


def not_empty(roles: Collection[str]) -> Rule:
    """Messages of these roles are not empty."""

    def check(survey: Survey) -> Iterator[Breach]:
        if survey.form == RESPONSE:
            return
        for i in survey.active_indexes:
            message = survey.messages[i]
            if not message.parts and message.role in roles:
                yield Breach("empty-message", NodeRef(i), "the message is empty")

    return Rule(("empty-message",), check, subjects=(EMPTY,))


SENT_WORDS = {"system": "instructions", "reasoning": "thinking"}
"""Kinds that a program may store without sending them, in words."""


def not_sent(title: str, kinds: Sequence[str]) -> Rule:
    """A session is written with messages of these roles or parts of these types, which its program does not send.

    Only conversions report it: in the program's own sessions it is as the program works."""

    def check(survey: Survey) -> Iterator[Breach]:
        for kind in kinds if survey.form != "request" else ():
            parts = [NodeRef(i, k) for i, k, _ in survey.parts[kind]]
            roles = (NodeRef(i) for i, role in enumerate(survey.roles) if role == kind)
            at = parts[0] if parts else next(roles, None)
            if at is not None:
                problem = f"{title} stores the {SENT_WORDS[kind]} of a session and does not send them to the model"
                yield Breach("not-sent", at, problem, "info")

    return Rule(("not-sent",), check, subjects=tuple(kinds), purposes=("output",))


def some_message(*, of_any_role: bool = False) -> Rule:
    """There is a message, not counting instructions unless `of_any_role`."""
    apart = frozenset[str]() if of_any_role else frozenset(INSTRUCTIONS)

    def check(survey: Survey) -> Iterator[Breach]:
        if apart.issuperset(survey.roles):
            yield Breach("no-messages", NodeRef(), "there are no messages")

    return Rule(("no-messages",), check, subjects=(UNSPOKEN,))


def content_not_null() -> Rule:
    """Content may be null only if the message has something else. Stored transcripts may have null in other roles."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages):
            if not message.parts and (message.role == "assistant" or survey.purpose == "request"):
                native = survey.native_message(i)
                if isinstance(native, dict) and native.get("content") is None:
                    at = NodeRef(i, steps=("content",) if "content" in native else ())
                    yield Breach("empty-message", at, "the message has neither content nor calls")

    return Rule(("empty-message",), check, of_sent=("empty-message",), subjects=(EMPTY,))


def lists_not_empty(*keys: str) -> Rule:
    """An optional list is not empty; `keys` are those of messages."""

    def check(survey: Survey) -> Iterator[Breach]:
        for key in ("tools", "functions"):
            if isinstance(survey.document, dict) and survey.document.get(key) == []:
                yield Breach("empty-list", NodeRef(steps=(key,)), f"{key} is an empty list: leave it out")
        for i in survey.active_indexes:
            native = survey.native_message(i)
            for key in keys:
                if isinstance(native, dict) and native.get(key) == []:
                    yield Breach("empty-list", NodeRef(i, steps=(key,)), f"{key} is an empty list: leave it out")

    return Rule(("empty-list",), check)


def files_as_urls() -> Rule:
    """File data is a data URL."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, _ in [*survey.parts["opaque"], *survey.parts["document"]]:
            native = survey.native_part(i, k)
            file = native.get("file") if isinstance(native, dict) else None
            data = file.get("file_data") if isinstance(file, dict) else None
            if isinstance(data, str) and data and not data.startswith("data:"):
                at = NodeRef(i, k, steps=("file", "file_data"))
                yield Breach("not-a-data-url", at, "file data must be a base64 data URL")

    return Rule(("not-a-data-url",), check, subjects=("opaque", "document"))


def not_blank(severity: Severity = "error") -> Rule:
    """No text is empty or white space only."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["text"] if survey.inventory.ask(has_blank_text) else ():
            if not part.text or part.text.isspace():
                problem = "is only white space" if part.text else "is empty"
                yield Breach("blank-text", NodeRef(i, k, field="text.text"), f"the text {problem}", severity)

    return Rule(("blank-text",), check, subjects=("text",))


def parts_of_roles(roles: Mapping[str, Collection[str]]) -> Rule:
    """Parts of these types occur only in messages of these roles."""

    def check(survey: Survey) -> Iterator[Breach]:
        for kind, allowed in roles.items():
            for i, k, _ in survey.parts[kind]:
                role = survey.roles[i]
                if role not in allowed:
                    problem = f"a {role} message cannot have a part of type {kind}"
                    help_text = f"it belongs in a message with the role {' or '.join(allowed)}"
                    yield Breach("misplaced-part", NodeRef(i, k), problem, help=help_text)

    return Rule(("misplaced-part",), check, subjects=tuple(roles))


def answered_by_assistant() -> Rule:
    """A response contains only assistant messages."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, role in enumerate(survey.roles if survey.form == RESPONSE else ()):
            if role != "assistant":
                yield Breach("misplaced-part", NodeRef(i), f"an answer cannot be a message with the role {role}")

    return Rule(("misplaced-part",), check, subjects=(RESPONSE,))


def heard_with_data() -> Rule:
    """Audio of a user has its data: only an assistant's audio can be referenced by id."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["audio"]:
            if part.data is None and survey.roles[i] == "user":
                yield Breach("misplaced-part", NodeRef(i, k), "audio in a user message needs its data")

    return Rule(("misplaced-part",), check, subjects=("audio",))


def media_typed(*kinds: str) -> Rule:
    """Media of these kinds have a media type if they are given by a path."""

    def check(survey: Survey) -> Iterator[Breach]:
        for kind in kinds:
            for i, k, part in survey.parts[kind]:
                if part.path is not None and part.media_type is None:
                    yield Breach("missing-key", NodeRef(i, k), f"a {kind} needs its media type", "warning")

    return Rule(("missing-key",), check, subjects=kinds)


def stopped_with(*words: str, form: str) -> Rule:
    """In a document of this form, the answer ends for one of these reasons."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages if survey.form == form else ()):
            if message.stop_reason is not None and message.stop_reason not in words:
                at = NodeRef(i, field="message.stopReason")
                yield Breach("unknown-value", at, "the stop reason is unknown", "warning")

    return Rule(("unknown-value",), check)


def results_in_roles(*roles: str) -> Rule:
    """The document has results only in objects with one of these roles, or without a role."""
    allowed = (None, *roles)

    def check(survey: Survey) -> Iterator[Breach]:
        paths = survey.message_paths
        at, is_misplaced = NO_INDEX, False
        for i, k, _ in survey.parts["tool_result"]:
            if i and paths[i - 1] == paths[i]:  # another result, or the answer in the same object
                is_misplaced = survey.roles[i - 1] == "assistant"
            elif i != at:
                native = survey.native_message(i)
                is_misplaced = isinstance(native, dict) and native.get("role") not in allowed
            at = i
            if is_misplaced:
                help_text = f"it belongs in a message with the role {roles[0]}"
                yield Breach("misplaced-part", NodeRef(i, k), "a tool result is not allowed here", help=help_text)

    return Rule(("misplaced-part",), check, subjects=("tool_result",))


def stopped_for_calls() -> Rule:
    """A response message stops for tool calls exactly if it has some."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages if survey.form == RESPONSE else ()):
            if message.stop_reason in ("stop", "tool_calls"):
                called = any(isinstance(part, ToolCall) for part in message.parts)
                if called != (message.stop_reason == "tool_calls"):
                    problem = "has calls but did not stop for them" if called else "stopped for calls but has none"
                    at = NodeRef(i, field="message.stopReason")
                    yield Breach("stop-reason-mismatch", at, f"the message {problem}", "warning")

    return Rule(("stop-reason-mismatch",), check, subjects=(RESPONSE,))


def signed(severity: Severity = "error") -> Rule:
    """Thinking has the signature that the service issued."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["reasoning"]:
            if not part.metadata:
                yield Breach("unsigned-reasoning", NodeRef(i, k), "the thinking has no signature", severity)

    return Rule(("unsigned-reasoning",), check, subjects=("reasoning",))


def decodable(severity: Severity = "error") -> Rule:
    """Media data is base64, also in results."""

    def check(survey: Survey) -> Iterator[Breach]:
        for kind in MEDIA_KINDS:
            for i, k, part in survey.parts[kind]:
                if not _is_decodable(part):
                    problem = f"the {kind} data is not base64"
                    yield Breach("invalid-base64", NodeRef(i, k, field=f"{kind}.data"), problem, severity)
        for i, k, result in survey.parts["tool_result"]:
            for part in result.value if result.kind == "multimodal" else ():
                if not _is_decodable(part):
                    problem = f"the {part.type} data in the result is not base64"
                    yield Breach("invalid-base64", NodeRef(i, k, field="tool_result.value"), problem, severity)

    return Rule(("invalid-base64",), check, subjects=(*MEDIA_KINDS, "tool_result.multimodal"))


def _is_decodable(part: Part) -> bool:
    return not isinstance(part, Media) or part.data is None or is_base64(part.data)


DETAILS = ("auto", "low", "high")
"""Detail levels of an image that most services know."""


def known_details() -> Rule:
    """An image has a detail level that the service knows (`DETAILS`)."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, k, part in survey.parts["image"]:
            if part.detail is not None and part.detail not in DETAILS:
                yield Breach(
                    "unknown-value", NodeRef(i, k, field="image.detail"), f"detail must be one of {listed(DETAILS)}"
                )

    return Rule(("unknown-value",), check, subjects=("image",))


def is_base64(text: str) -> bool:
    """True if the string is base64, in the standard or the URL-safe alphabet."""
    import binascii  # loaded late: most documents have no media

    digits = text.rstrip("=")
    if "-" in digits or "_" in digits:
        digits = digits.replace("-", "+").replace("_", "/")
    try:
        binascii.a2b_base64(digits + "=" * (-len(digits) % 4), strict_mode=True)
    except (ValueError, UnicodeEncodeError):
        return False
    return True


def not_more_than(limit: int) -> Rule:
    """Limits the number of messages."""

    def check(survey: Survey) -> Iterator[Breach]:
        if len(survey.messages) > limit:
            yield Breach("too-many-messages", NodeRef(limit), f"there are more than {limit:,} messages")

    return Rule(("too-many-messages",), check)


def participants(forbidden: str) -> Rule:
    """Participant names contain no white space and none of these characters."""

    def check(survey: Survey) -> Iterator[Breach]:
        for i, message in enumerate(survey.messages):
            if message.name and (any(map(message.name.__contains__, forbidden)) or len(message.name.split()) > 1):
                problem = f"a participant name cannot contain white space or any of {forbidden}"
                yield Breach("bad-participant-name", NodeRef(i, field="message.name"), problem, "warning")

    return Rule(("bad-participant-name",), check)
