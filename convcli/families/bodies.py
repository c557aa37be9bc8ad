"""Dialects whose documents contain documents of other dialects, such as the lines of batch files.

Such a dialect defines what is around a body, and where the bodies are (`Dialect.bodies`). `around` combines it with the
dialects of its bodies, whose functions, rules and tables are used unchanged, so no dialect needs to know another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from convcli.kit.ids import set_session_id
from convcli.kit.objects import add_extras, get_extras, make_extras
from convcli.model.dialect import BodyForm, Dialect, Options, Pass
from convcli.model.rule import NO_INDEX, Breach, NodeRef, Rule
from convcli.model.transcript import OUTSIDE, Message, Origin, Path, Transcript
from convcli.validation.survey import Survey
from convcli.wire import pointers
from convcli.wire.decimals import builtins

ID = "bodyId"
"""The extras key of a body's own id, if it differs from the document's."""


def around(outer: Dialect, get: Callable[[str], Dialect]) -> Dialect:
    """Returns the combined dialect; `get` returns the dialects of its bodies by name."""
    inner = {body.dialect: get(body.dialect) for body in outer.bodies.values()}
    shell = replace(outer, inner=inner)
    return replace(
        shell,
        lift=lambda document: _lift(shell, document),
        write=lambda transcript, options: _write(shell, transcript, options),
        fit={form: _fit(shell, form) for form in shell.forms},
        supports={form: _supports(shell, form) for form in shell.forms},
        rules=(_rules_of_bodies(shell), *outer.rules),
        conventions=tuple(one for each in inner.values() for one in each.conventions) + outer.conventions,
        reasons=_merged((*(each.reasons for each in inner.values()), outer.reasons)),
        form_reasons={form: _merged(_reasons(shell, form)) for form in shell.forms},
        repeats=outer.repeats.union(*(_repeats(body, inner[body.dialect]) for body in shell.bodies.values())),
        places={**outer.places, f"extras.{ID}": ("..", "id")},
        envelope=outer.envelope.union(*(each.envelope for each in inner.values())),
        metadata=outer.metadata.union(*(each.metadata for each in inner.values())),
    )


def _reasons(shell: Dialect, form: str) -> Iterator[Mapping[str, str]]:
    """Yields the reasons of the body of this form, then those of what is around it."""
    body = shell.bodies.get(form)
    if body is not None:
        yield shell.inner[body.dialect].reasons_in(body.form)
    yield shell.reasons


def _merged(tables: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {key: value for table in tables for key, value in table.items()}


def _repeats(body: BodyForm, inner: Dialect) -> frozenset[str]:
    return frozenset(pointers.pointer(body.path) + place for place in inner.repeats)


# ---------------------------------------------------------------- lift and write


def _body_of(shell: Dialect, form: str, document: Any) -> tuple[BodyForm, Any] | None:
    """Returns the body of a document of this form, and its value; None if it has none."""
    body = shell.bodies.get(form)
    return None if body is None else (body, pointers.resolve(document, body.path))


def _lift(shell: Dialect, document: Any) -> Transcript:
    """Lifts the body, with the keys around it; the id is that of the document."""
    about = shell.lift(document)
    form = about.origin.form if about.origin is not None else ""
    body_and_value = _body_of(shell, form, document)
    if body_and_value is None:
        add_extras(about, shell.name, None, bodyId=None)
        return about
    body, value = body_and_value
    transcript = shell.inner[body.dialect].lift(value)
    extra = make_extras(shell.name, get_extras(about.extras, shell.name), bodyId=transcript.id)
    if transcript.origin is not None:
        _move(transcript.origin, body.path)
        transcript.origin.form = form
    return replace(transcript, id=about.id, extras={**(transcript.extras or {}), **(extra or {})} or None)


def _move(origin: Origin, path: Path) -> None:
    """Moves paths from the root to `path`, except those of keys around the body."""
    routes: dict[Path, Path] = {place: (*path, *route) for place, route in origin.routes.items()}
    origin.routes = {**routes, (): path, (OUTSIDE,): ()}


def _write(shell: Dialect, transcript: Transcript, options: Options) -> Any:
    """Writes the keys around the body, with the body in its place."""
    assert shell.write is not None
    form = options.form or shell.forms[0]
    document, body = shell.write(transcript, options), shell.bodies.get(form)
    if body is None:
        return document
    write = shell.inner[body.dialect].write
    assert write is not None
    id_ = get_extras(transcript.extras, shell.name).get(ID)
    bare = replace(transcript, id=id_ if isinstance(id_, str) else None)
    pointers.resolve(document, body.path[:-1])[body.path[-1]] = write(bare, replace(options, form=body.form))
    return document


# ---------------------------------------------------------------- fit


def _fit(shell: Dialect, form: str) -> tuple[Pass, ...]:
    """Applies the passes of the body's dialect, then those of this one."""
    outside = shell.fit if isinstance(shell.fit, tuple) else shell.fit[form]
    body = shell.bodies.get(form)
    if body is None:
        return outside
    inner, inner_form = shell.inner[body.dialect], body.form

    def inside(transcript: Transcript) -> Transcript:
        extra = get_extras(transcript.extras, shell.name)
        fitted = inner.fitted(transcript, inner_form)
        is_kept = not extra or get_extras(fitted.extras, shell.name)
        return fitted if is_kept else replace(fitted, extras={**(fitted.extras or {}), shell.name: extra})

    return (inside, *outside)


def _supports(shell: Dialect, form: str) -> frozenset[str]:
    body = shell.bodies.get(form)
    if body is None:
        return (shell.supports_in(form) - {"extras"}) | {f"extras.{shell.name}"}
    inner = shell.inner[body.dialect]
    inside = inner.supports_in(body.form) - {f"settings.{STREAMED[1]}"}  # a body is not streamed
    extras = {f"extras.{name}" for name in inner.owners} if "extras" in inside else set()
    outer = {f"extras.{shell.name}"}
    if "id" not in inside:  # nor has the body an id of its own
        outer = {f"extras.{shell.name}.{key}" for key in shell.envelope if key != ID}
    return (inside - {"extras"}) | extras | outer | {"id"}


def identified(accepts: Callable[[str], bool] = bool) -> Pass:
    """Gives a document without an accepted id one derived from its content, so it is always the same."""
    return set_session_id(_said, accepts)


def _said(transcript: Transcript) -> Any:
    return builtins([getattr(transcript, name) for name in ("model", "messages", "tools", "tool_choice", "settings")])


STREAMED = ("stream", "streamObfuscation")


def whole(transcript: Transcript) -> Transcript:
    """Removes the request to stream, because batches return whole responses."""
    settings = transcript.settings or {}
    if not settings.get("stream") and STREAMED[1] not in settings:
        return transcript
    return replace(transcript, settings={key: settings[key] for key in settings if key not in STREAMED} or None)


def is_failure(transcript: Transcript) -> bool:
    """True if the content is only the placeholder for a missing answer."""
    only = transcript.messages[0] if len(transcript.messages) == 1 else None
    return only is not None and only.role == "assistant" and only.error is not None and not only.parts


def only_failure(transcript: Transcript) -> Transcript:
    """Keeps only the placeholder for a missing answer, if there is one."""
    error = next((message.error for message in transcript.messages if message.error is not None), "")
    only = Message("assistant", [], stop_reason="error", error=error)
    bare = Transcript([only], id=transcript.id, extras=transcript.extras, origin=transcript.origin)
    return transcript if bare == transcript else bare


# ---------------------------------------------------------------- rules


def _rules_of_bodies(shell: Dialect) -> Rule:
    """Combines the rules of the bodies' services into one rule, which checks each body as if it were a separate
    document."""
    rules = [rule for each in shell.inner.values() for rule in each.rules]

    def check(survey: Survey) -> Iterator[Breach]:
        body_and_value = _body_of(shell, survey.form, survey.document)
        if body_and_value is None:
            return
        body, value = body_and_value
        inner = shell.inner[body.dialect]
        transcript = inner.lift(value)
        if transcript.origin is not None:
            transcript.origin.document = value
        alone = Survey(transcript, value, inner, survey.purpose)
        yield from (_in_line(breach, body.path) for breach in alone.breaches(inner.rules))

    codes = dict.fromkeys(code for rule in rules for code in rule.codes)
    of_input = dict.fromkeys(code for rule in rules for code in rule.of_input)
    of_sent = dict.fromkeys(code for rule in rules for code in rule.of_sent)
    return Rule(tuple(codes), check, tuple(of_input), tuple(of_sent))


def _in_line(breach: Breach, path: Path) -> Breach:
    """Moves the breach of a body to `path`."""
    notes = tuple((text, None if at is None else _below(at, path)) for text, at in breach.notes)
    return replace(breach, at=_below(breach.at, path), notes=notes)


def _below(at: NodeRef, path: Path) -> NodeRef:
    """Moves a node given by its steps from the root of a body. Messages, tools and fields already have their paths."""
    is_by_steps = at.message == at.tool == NO_INDEX and not at.field
    return replace(at, steps=(*path, *at.steps)) if is_by_steps else at
