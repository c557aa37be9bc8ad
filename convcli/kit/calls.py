"""Tool calls: the keys of id, name and arguments, as vendors, frameworks and logs write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from convcli.kit.codec.code import define
from convcli.kit.codec.objects import put, steps
from convcli.kit.contexts import LiftContext
from convcli.kit.custom import input_of, lift_input
from convcli.kit.envelopes import Envelope, Fields
from convcli.kit.objects import NOTHING, Keys, Native, get_extras, make_extras, omit
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Path, ToolCall, camel

OWN = ("id", "name", "arguments")
Form = Literal["object", "json", "either", "free"]
ARGUMENTS: dict[Form, str] = {
    "object": "call.arguments",
    "json": "write_arguments(call.arguments, call.raw_arguments)",
    "either": "call.arguments if call.raw_arguments is None else call.raw_arguments",
    "free": "input_of(call)",
}
"""The expression of the arguments as they are written."""


class CallTable:
    """The keys of one kind of call. From them follow both directions, extras, key order, places and support.

    `table` is all keys in the vendor's order, as in an Envelope: `call_id=id type= name=name input=arguments`. Name and
    arguments may be in an object of the call: `function/name=name`. `fields` are other fields of the call. `constants`
    are written, `defaults` are not; another value of either is an extra. `groups` are names in its extras, as in an
    Envelope.

    `form` is how arguments are written: an object, JSON in a string, either of them (an object, and a string if it is
    not the JSON of an object), or the free text of a custom tool. Objects and JSON are read in any form; `blank`: an
    empty string means that there are no arguments.
    """

    __slots__ = (
        *("_body", "_constants", "_envelope", "_form", "_inner", "_keys", "_read", "_usual", "_usual_keys", "_write"),
        "places",
    )

    def __init__(
        self,
        table: str,
        fields: Fields | None = None,
        *,
        form: Form = "either",
        blank: bool = False,
        constants: Native = NOTHING,
        defaults: Native = NOTHING,
        groups: str = "",
    ) -> None:
        words = [word.partition("=") for word in table.split()]
        own: dict[str, tuple[str, ...]] = {field: tuple(key.split("/")) for key, _, field in words if field in OWN}
        self._body = own["name"][0] if len(own["name"]) > 1 else ""
        outer, inner = [], []
        for key, sign, field in words:
            if self._body and key.startswith(f"{self._body}/"):
                outer.append(f"{self._body}=")
                inner.append(f"{key.partition('/')[2]}{sign}")
            else:
                outer.append(f"{key}{sign}{'' if field in OWN else field}")
        self._envelope, self._inner = Envelope(" ".join(dict.fromkeys(outer)), fields, groups=groups), Keys(" ".join(inner))
        self._keys = own.get("id", ("",))[0], own["name"][-1], own["arguments"][-1]
        self._usual_keys = frozenset(word[:-1] for word in outer if word.endswith("=")), frozenset(self._keys)
        self._read = _free_text if form == "free" else _read_blank if blank else arguments_of
        self._form, self._constants, self._usual = form, constants, {**constants, **defaults}
        self._write = _writer(words, form, constants)
        if form != "object":
            own["raw_arguments"] = own["arguments"]
        self.places: dict[str, Path] = {f"tool_call.{camel(field)}": path for field, path in own.items()}
        self.places |= self._envelope.places(ToolCall.type)
        """The paths of the fields, by their names in losses."""

    def lift(self, native: Native, context: LiftContext) -> ToolCall:
        """Returns the call in an object, with the id that pairs it with its result."""
        body = native[self._body] if self._body else native
        id_key, name_key, arguments_key = self._keys
        name, id_ = body[name_key], native.get(id_key)
        arguments, raw = self._read(body.get(arguments_key))
        id_ = context.pairing.call(id_ if id_ and id_.__class__ is str else None, name)
        call = ToolCall(id_, name, arguments, raw)
        if self._form == "free":
            call.custom = True
        usual, usual_inner = self._usual_keys
        if native.keys() <= usual and (body is native or body.keys() <= usual_inner):
            return call  # nearly all calls
        extra = self._envelope.lift(native, call, self._usual)
        inner = {self._body: self._inner.extra(body)} if self._body else {}
        call.extras = make_extras(context.dialect, extra, **inner)
        return call

    def write(self, call: ToolCall, owner: str) -> Native:
        """Returns the object of a call, with the owner's extras."""
        native = self._write(call)
        if call.extras is None and not self._envelope.fields:  # most calls
            return native
        extra = get_extras(call.extras, owner)
        content = {key: value for key, value in native.items() if key not in self._constants or key not in extra}
        if self._body:
            content[self._body] = self._inner.put(content[self._body], extra.get(self._body))
        return self._envelope.write(call, omit(extra, self._body) if extra else extra, **content)


def _writer(words: list[tuple[str, str, str]], form: Form, constants: Native) -> Callable[[ToolCall], Native]:
    """Returns the generated function that writes a call without extras."""
    values = {"id": "call.id", "name": "call.name", "arguments": ARGUMENTS[form]}
    native: Native = {}
    for key, _, field in words:
        if field in values:
            put(native, steps(key), values[field])
        elif key in constants:
            native[key] = repr(constants[key])
    native = {**native, **{key: repr(value) for key, value in constants.items()}}
    source = f"def write(call):\n    return {_literal(native)}\n"
    return define("write", source, "call", write_arguments=write_arguments, input_of=input_of)  # type: ignore[no-any-return]


def _literal(native: Any) -> str:
    """Returns the source of an object whose values are expressions."""
    is_object = isinstance(native, dict)
    return f"{{{', '.join(f'{key!r}: {_literal(one)}' for key, one in native.items())}}}" if is_object else native


def _free_text(native: Any) -> tuple[Native, None]:
    return lift_input(native or ""), None


def _read_blank(native: Any) -> tuple[Native, str | None]:
    return arguments_of(native or None)


def arguments_of(native: Any) -> tuple[Native, str | None]:
    """Returns arguments that are an object, JSON in a string, or any other value; null means none."""
    if native.__class__ is str:  # most arguments
        return read_arguments(native)
    if native is None or isinstance(native, dict):
        return native or {}, None
    return read_arguments(write_arguments(native, None))
