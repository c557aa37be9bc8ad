"""Tool calls: the keys of id, name and arguments, as vendors, frameworks and logs write them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from convcli.kit.codec.code import Lazy, define
from convcli.kit.codec.objects import put, steps
from convcli.kit.contexts import LiftContext
from convcli.kit.custom import input_of, lift_input
from convcli.kit.envelopes import Envelope, Fields
from convcli.kit.objects import NOTHING, Keys, Native, get_extras, make_extras, omit
from convcli.kit.values import read_arguments, write_arguments
from convcli.model.transcript import Path, ToolCall, camel

OWN = {"id": "call.id", "name": "call.name", "arguments": ""}
Form = Literal["object", "json", "either", "free"]
ARGUMENTS: dict[Form, str] = {
    "object": "call.arguments",
    "json": "write_arguments(call.arguments, call.raw_arguments)",
    "either": "call.arguments if call.raw_arguments is None else call.raw_arguments",
    "free": "input_of(call)",
}
"""The expression of the arguments as they are written."""


class CallTable:
    """The keys of one kind of call. From them follow both directions, extras, key order and places.

    `table` is all keys in the vendor's order, as in an Envelope: `call_id=id type= name=name input=arguments`. Name and
    arguments, and perhaps the id, may be in an object of the call: `function/name=name`. `fields` are other fields of
    the call. `constants` are written, `defaults` are not; another value of either is an extra. `groups` are names in
    its extras, as in an Envelope.

    `form` is how arguments are written: an object, JSON in a string, either of them (an object, and a string if it is
    not the JSON of an object), or the free text of a custom tool. Objects and JSON are read in any form; `blank`: an
    empty string means that there are no arguments.
    """

    __slots__ = ("_body", "_constants", "_envelope", "_inner", "_usual", "lift", "places", "reader", "write")

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
        paths = {field: steps(key) for key, _, field in words if field in OWN}
        self._body = str(paths["name"][0]) if len(paths["name"]) > 1 else ""
        outer, inner = [], []
        for key, sign, field in words:
            if self._body and key.startswith(f"{self._body}/"):
                outer.append(f"{self._body}=")
                inner.append(f"{key.partition('/')[2]}{sign}")
            else:
                outer.append(f"{key}{sign}{'' if field in OWN else field}")
        self._envelope = Envelope(" ".join(dict.fromkeys(outer)), fields, groups=groups)
        self._inner = Keys(" ".join(inner))
        self._constants, self._usual = constants, {**constants, **defaults}
        usual = [frozenset(word[:-1] for word in some if word.endswith("=")) for some in (outer, inner)]
        self.reader = Lazy(partial(self._define_lift, dict(paths), usual, form, blank))
        """The function `lift`, for tables that keep it."""
        self.lift: Callable[[Native, LiftContext], ToolCall] = self.reader
        """Returns the call in an object, with the id that pairs it with its result."""
        self.write: Callable[[ToolCall, str], Native] = Lazy(partial(self._define_write, words, form))
        """Returns the object of a call, with the owner's extras."""
        if form != "object":
            paths["raw_arguments"] = paths["arguments"]
        self.places: dict[str, Path] = {f"tool_call.{camel(field)}": path for field, path in paths.items()}
        self.places |= self._envelope.places(ToolCall.type)
        """The paths of the fields, by their names in losses."""

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that the table states, those of the inner object included."""
        return *self._envelope.names, *self._inner.names

    def _add_fields(self, native: Native, call: ToolCall, owner: str) -> Native:
        extra = get_extras(call.extras, owner)
        content = {key: value for key, value in native.items() if key not in self._constants or key not in extra}
        if self._body:
            content[self._body] = self._inner.put(content[self._body], extra.get(self._body))
        return self._envelope.write(call, omit(extra, self._body) if extra else extra, **content)

    # ------------------------------------------------------------ generated functions

    def _define_lift(self, paths: dict[str, Path], usual: list[frozenset[str]], form: Form, blank: bool) -> Any:
        value, id_path = f"body.get({paths['arguments'][-1]!r})", paths.get("id", ("",))
        source = f"""def lift(native, context):
    body = native{f"[{self._body!r}]" if self._body else ""}
    arguments, raw = {f"lift_input({value} or '')" if form == "free" else f"{value} or None" if blank else value}, None
    if arguments.__class__ is str:
        arguments, raw = read_arguments(arguments)
    elif arguments.__class__ is not dict:
        arguments, raw = arguments_of(arguments)
    id_, name = {"body" if len(id_path) > 1 else "native"}.get({id_path[-1]!r}), body[{paths["name"][-1]!r}]
    call = ToolCall(context.pairing.call(id_ if id_ and isinstance(id_, str) else None, name), name, arguments, raw)
    {"call.custom = True" if form == "free" else ""}
    if native.keys() <= usual and (body is native or body.keys() <= usual_inner):
        return call  # nearly all calls
    return add_extras(call, native, body, context)
"""
        names: dict[str, Any] = {"usual": usual[0], "usual_inner": usual[1], "add_extras": self._add_extras}
        names |= {"ToolCall": ToolCall, "lift_input": lift_input}
        self.lift = define("lift", source, "call", read_arguments=read_arguments, arguments_of=arguments_of, **names)
        return self.lift

    def _add_extras(self, call: ToolCall, native: Native, body: Native, context: LiftContext) -> ToolCall:
        extra = self._envelope.lift(native, call, self._usual)
        call.extras = make_extras(
            context.dialect, extra, **({self._body: self._inner.extra(body)} if self._body else {})
        )
        return call

    def _define_write(self, words: list[tuple[str, str, str]], form: Form) -> Any:
        native: Native = {}
        for key, _, field in words:
            if field in OWN:
                put(native, steps(key), OWN[field] or ARGUMENTS[form])
            elif key in self._constants:
                native[key] = repr(self._constants[key])
        native |= {key: repr(value) for key, value in self._constants.items()}
        is_bare = " and ".join(f"call.{field} is None" for field in ("extras", *self._envelope.fields))
        source = f"""def write(call, owner):
    native = {_literal(native)}
    return native if {is_bare} else add_fields(native, call, owner)
"""
        names: dict[str, Any] = {"write_arguments": write_arguments, "input_of": input_of}
        self.write = define("write", source, "call", add_fields=self._add_fields, **names)
        return self.write


def _literal(native: Any) -> str:
    """Returns the source of an object whose values are expressions."""
    is_object = isinstance(native, dict)
    return f"{{{', '.join(f'{key!r}: {_literal(one)}' for key, one in native.items())}}}" if is_object else native


def arguments_of(native: Any) -> tuple[Native, str | None]:
    """Returns arguments that are an object, JSON in a string, or any other value; null means none."""
    if native is None or isinstance(native, dict):
        return native or {}, None
    return read_arguments(native if isinstance(native, str) else write_arguments(native, None))
