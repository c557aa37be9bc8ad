"""Facts that programs store with Anthropic's messages: ids, times, models, counts and costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from convcli.families.anthropic.blocks import Blocks
from convcli.families.anthropic.messages import Turns, joins_bare_results, lift_system
from convcli.families.anthropic.usage import Counts
from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.fitting import instruction_of
from convcli.kit.objects import Keys, Native, get_extras, make_extras
from convcli.kit.settings import Setting
from convcli.kit.usage import Usage
from convcli.model.transcript import Message, Transcript


class Facts:
    """The facts of the messages of one form.

    `order` are the keys of a message · `fields` are its keys with a field · `inside` are the nested objects with
    fields, by key · `counts` are the token counts in the object `metrics`, which also has the cost.
    """

    __slots__ = ("_counted", "_keys", "_message", "counts", "inside")

    def __init__(
        self, order: str, fields: Mapping[str, str | Setting], inside: Mapping[str, Envelope], counts: Counts
    ) -> None:
        content = " ".join(key for key in order.split() if key not in fields)
        self._keys, self._message = Keys(order), Envelope(order, fields, content=content)
        self._counted = Keys(" ".join(dict.fromkeys(path[0] for path in counts)))
        self.inside, self.counts = inside, counts

    def turns(self, blocks: Blocks) -> Turns:
        """Returns messages with these blocks. Their content is always a list."""
        return Turns(blocks, self._keys, self.lift, self.write, joins_bare_results, strings=False)

    def lift(self, native: Native, message: Message, extra: Native) -> None:
        """Sets the fields of a message, and adds to its extras."""
        extra |= self._message.lift(native, message) or {}
        metrics = Usage(self.counts).lift(native.get("metrics") or {}, message)
        rest = {key: envelope.lift(native.get(key) or {}, message) for key, envelope in self.inside.items()}
        rest["metrics"] = self._counted.put(metrics, None, sort=True)
        extra |= {key: value for key, value in rest.items() if value}

    def write(self, message: Message, extra: Native) -> Native:
        """Writes the facts, with all extras."""
        metrics = Usage(self.counts).write(message, extra.pop("metrics", {}))
        inside = {key: envelope.write(message, extra.pop(key, None)) for key, envelope in self.inside.items()}
        content = {key: value for key, value in {**inside, "metrics": metrics}.items() if value}
        facts = self._message.write(message, extra, **content)
        extra.clear()
        return facts

    def fits(self, message: Message) -> Message:
        """Keeps only the facts that come back when they are written."""
        fitted = Message(message.role, message.parts, extras=message.extras)
        self.lift(self.write(message, {}), fitted, {})
        return message if fitted == message else fitted


class Documents(NamedTuple):
    """Messages with facts outside their content: a list of them, or an object with a header.

    `header` are the keys of the object, which has instructions under `system`.
    """

    listed: Turns
    headed: Turns
    header: Envelope
    system: str

    def lift(self, document: Any, context: LiftContext) -> Transcript:
        """Lifts a list or an object."""
        if isinstance(document, list):
            self.listed.lift_each(document, (), context)
            return context.transcript()
        lift_system(document.get(self.system), self.system, context, self.headed.blocks)
        self.headed.lift_each(document["messages"], ("messages",), context)
        transcript = context.transcript()
        transcript.extras = make_extras(context.dialect, self.header.lift(document, transcript))
        return transcript

    def write(self, transcript: Transcript, *, headed: bool) -> Any:
        """Writes a list, or an object with the leading instruction outside its messages."""
        messages = transcript.messages
        if not headed:
            return self.listed.write(messages)
        system = instruction_of(messages)
        content = {"messages": self.headed.write(messages[bool(system) :]), **({self.system: system} if system else {})}
        return self.header.write(transcript, get_extras(transcript.extras, self.headed.blocks.owner), **content)
