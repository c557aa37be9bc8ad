"""The laws of convcli as functions, for the tests of a dialect, built-in or in a plugin.

    from convcli import testing
    from my_plugin import DIALECT

    def test_my_dialect_keeps_the_laws():
        for document in DOCUMENTS:                   # those that the schema of the dialect accepts
            testing.assert_laws(DIALECT, document)

No test framework is needed: a broken law raises AssertionError, whose message names the law, the pointer and the
difference. `assert_laws` checks all laws for one document; the others check one law each:

    assert_keeps             L1a  `lift` keeps every value of a document
    assert_fits              L1b  `fit` does not change what the vendor accepts
    assert_writes            L1c  `write` writes everything that its format can store
    assert_same              L1d  a document is unchanged by way of its own dialect and from the intermediate format
    assert_conversion        L2–L6 of one document in one target; assert_stable is L4 alone
    assert_pure              L8   writing gives the same result twice and leaves the transcript unchanged
    assert_restores          L10  an output and its restore record give the exact original
    assert_refuses_nothing   L11  records without any message are refused

L7 (the same bytes from a file, a pipe or many processes) and L9 (twins written by hand) are laws of files and samples,
not of one document.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
from msgspec.structs import replace

from convcli import dialects
from convcli.engine import conversion, pipeline, reading, untrusted
from convcli.engine.conversion import Conversion
from convcli.engine.emptied import is_emptied
from convcli.engine.restore import record, restore
from convcli.engine.spelling import FORM
from convcli.model.dialect import Dialect, Options
from convcli.model.errors import RefusedError
from convcli.model.transcript import Path, ToolResult, Transcript
from convcli.proof.align import part_key
from convcli.proof.difference import difference
from convcli.proof.reasons import NO_FIELD, Loss, is_named, is_unsupported
from convcli.proof.records import GENERATED
from convcli.testing.planting import is_in, nodes, plant, plantable
from convcli.validation import schemas
from convcli.validation.rules.keys import TOP_LEVEL_CODES
from convcli.wire import exact_json, pointers
from convcli.wire.decimals import builtins

HUB = "intermediate"
KINDS = {"text", "data", "error", "multimodal"}
NOT_UNDERSTOOD = {"no-messages", "several-streams"}
"""The codes of `reading.not_understood`."""
FORM_KEY = f'"{FORM}"'.encode()
TEXT_OF = json.JSONEncoder().encode
"""`json.dumps`, without its search for options at each call."""


def assert_laws(dialect: Dialect, document: Any) -> None:
    """Checks all laws of one document of this dialect, which its schema must accept.

    Records without any message are only refused (L11).
    """
    hub = dialects.get(HUB)
    assert_refuses_nothing(dialect, document)
    assert_keeps(dialect, document)
    if reading.not_understood(document, dialect.lift(document), dialect) is not None:
        return
    assert_conversion(dialect, hub, document)
    assert_pure(dialect, hub, document)
    if dialect.is_written:
        assert_fits(dialect, document)
        assert_writes(dialect, dialect.lift(document))
        assert_same(dialect, document)
        stored = pipeline.convert(document, dialect, hub).document
        assert_conversion(hub, dialect, stored)
        assert_pure(hub, dialect, stored)
        assert_restores(dialect, hub, document)


# ---------------------------------------------------------------- L1: the three functions of a dialect


def assert_keeps(dialect: Dialect, document: Any) -> None:
    """L1a: a value planted anywhere, replacing another or under an unknown key, is in the result of `lift`.

    Values are planted one at a time, if the schema still accepts the document. Values that only repeat others are in
    `Dialect.repeats`.
    """
    for number, path in enumerate(plantable(document)):
        if is_repeated(dialect, path):
            continue
        planted = plant(document, path, number, lambda edited: schemas.accepts(dialect.name, edited))
        if planted is not None:
            edited, value, word = planted
            place = pointers.pointer(path)
            kept = _text_of(facts(dialect.lift(edited)))
            assert is_in(kept, word, value), f"L1a: {dialect.name} does not keep {value!r} at {place}"


def assert_fits(dialect: Dialect, document: Any) -> None:
    """L1b: if a document is a request that the vendor accepts, without findings, `fit` does not change it.

    Missing request keys do not matter: `fit` generates none.
    """
    codes = {finding.code for finding in pipeline.validate(document, dialect, purpose="request")}
    if codes - TOP_LEVEL_CODES or "incomplete-response" in codes:
        return
    transcript = dialect.lift(document)
    changed = difference(transcript, dialect.fitted(transcript, _own_form(dialect, transcript)))
    assert not changed, f"L1b: {dialect.name} changes a document without findings: {_described(changed[0])}"


def assert_writes(dialect: Dialect, transcript: Transcript) -> None:
    """L1c: of a fitted transcript, by any reader, only fields that the dialect lacks are not written."""
    assert dialect.write is not None, f"{dialect.name} is only read"
    form = dialect.form(transcript)
    fitted = _with_own_extras(dialect.fitted(transcript, form), dialect)
    again = dialect.lift(dialect.write(fitted, Options(form=form)))
    for loss in difference(fitted, again):
        assert _may_be_lacking(loss, dialect, form), f"L1c: {dialect.name} does not write {_described(loss)}"


def assert_same(dialect: Dialect, document: Any) -> None:
    """L1d: D → D is the document, and so is D → intermediate → D, with one `form` at the root in between."""
    hub, key = dialects.get(HUB), exact_json.key(document)
    unchanged = pipeline.convert(document, dialect, dialect)
    assert exact_json.key(unchanged.document) == key, f"L1d: {dialect.name} does not give the document back"
    assert unchanged.losses == [], f"L1d: a document in its own dialect loses {_described(unchanged.losses[0])}"
    stored = pipeline.convert(document, dialect, hub).document
    assert schemas.findings(HUB, stored) == [], "L1d: the intermediate document does not pass its schema"
    if dialect is not hub:
        _assert_one_form(stored, dialect)
    back = pipeline.convert(stored, hub, dialect).document
    assert exact_json.key(back) == key, f"L1d: not kept by way of the intermediate format: {_shown(back)}"
    assert exact_json.key(document) == key, f"L8: {dialect.name} changes its input"


def _assert_one_form(stored: Any, dialect: Dialect) -> None:
    form = stored.get(FORM)
    assert form is None or form["dialect"] == dialect.name, f"L1d: the form is of {form['dialect']}"
    if exact_json.key(stored).count(FORM_KEY) > (form is not None):
        inside = [path for path, node in nodes(stored) if isinstance(node, dict) and FORM in (node.get("extras") or {})]
        assert not inside, f"L1d: there is another form at {pointers.pointer(inside[0])}"


def is_repeated(dialect: Dialect, path: Path) -> bool:
    """True for a path whose value only repeats another."""
    return any(_matches(pattern.split("/")[1:], path) for pattern in dialect.repeats)


def _may_be_lacking(loss: Loss, dialect: Dialect, form: str) -> bool:
    is_generated = loss.kind == "invented" and loss.field in GENERATED
    return is_generated or is_unsupported(loss.field, dialect, form)


def _own_form(dialect: Dialect, transcript: Transcript) -> str:
    """Returns the form of the document, if it can be written."""
    form = transcript.origin.form if transcript.origin is not None else ""
    return form if form in dialect.forms else dialect.form(transcript)


def _with_own_extras(transcript: Transcript, dialect: Dialect) -> Transcript:
    """Removes extras of other dialects, which only the hub writes."""
    if dialect.carries_all or all(map(dialect.owns, _owners(transcript))):
        return transcript
    bare = copy.deepcopy(transcript)
    for one in untrusted.records(bare):
        owned = {owner: kept for owner, kept in (one.extras or {}).items() if dialect.owns(owner)}
        one.extras = owned or None
    return bare


def _owners(transcript: Transcript) -> set[str]:
    """Returns the dialects whose extras it has."""
    return {owner for one in untrusted.records(transcript) for owner in one.extras or ()}


def _matches(pattern: list[str], path: Path) -> bool:
    return len(pattern) == len(path) and all(
        step in ("*", pointers.pointer((at,))[1:]) for step, at in zip(pattern, path, strict=True)
    )


# ---------------------------------------------------------------- L2–L6: one document in one target


def assert_conversion(source: Dialect, target: Dialect, document: Any) -> Conversion:
    """L2–L6: losses are complete and minimal, the output is stable, valid and in order, the document unchanged.

    Returns the conversion, for further laws. A ConvcliError is also a valid result: for extras that the target refuses,
    or a document without messages.
    """
    key = exact_json.key(document)
    try:
        converted = pipeline.convert(document, source, target)
    except untrusted.SHAPE as error:
        found = _not_written(source.lift(document), target)
        raise AssertionError(f"L1c: fit of {target.name} leaves {found}, and write fails: {error!r}") from error
    assert exact_json.key(document) == key, f"L8: {source.name} to {target.name} changes its input"
    findings = schemas.findings(target.name, converted.document)
    assert findings == [], f"L5: {source.name} to {target.name}: {findings[0].message} at {findings[0].where}"
    after = target.lift(converted.document)
    assert_losses_are_exact(converted.transcript, after, converted.losses)
    assert_reasons_are_true(target, converted.losses)
    assert_stable(target, converted.document)
    assert_order_is_kept(converted.transcript, after, converted.losses)
    return converted


def _not_written(transcript: Transcript, target: Dialect) -> str:
    """Returns the part of a transcript that fit leaves and write cannot store, as its role, type and index."""
    form = target.form(transcript)
    fitted = target.fitted(transcript, form)
    for index, message in enumerate(fitted.messages):
        for part in message.parts:
            alone = replace(message, parts=[part])
            try:
                exact_json.write(target.lower(replace(fitted, messages=[alone]), Options(form=form)))
            except untrusted.SHAPE:
                return f"a part {type(part).__name__} in message {index} ({message.role})"
    return "something that is no single part"


def assert_losses_are_exact(before: Transcript, after: Transcript, losses: list[Loss]) -> None:
    """L2 and L3, by counting: nothing vanishes or appears without a loss that contains it, and no loss is empty."""
    facts_before, facts_after = facts(before), facts(after)
    x, y = counted(facts_before), counted(facts_after)
    conventions = {loss.before for loss in losses if loss.field == "tool_result.kind"}
    if any(loss.field == "tool_result.value" and loss.kind == "encoded" for loss in losses):
        conventions.add("multimodal")
    reported_before = counted([_value(loss.before) for loss in losses] + _results(before, conventions))
    reported_after = counted([_value(loss.after) for loss in losses] + _results(after, KINDS if conventions else set()))
    hidden = _generated(before) | _generated(after)
    for leaf, count in (x - y).items():
        assert leaf in hidden or count <= reported_before[leaf], f"L2: {leaf} vanished without a loss"
    for leaf, count in (y - x).items() if "multimodal" not in conventions else ():
        assert leaf in hidden or count <= reported_after[leaf], f"L2: {leaf} appeared without a loss"
    for loss in losses:
        assert _has_content(loss), f"L3: nothing is lost: {_described(loss)}"
    if not hidden and exact_json.key(facts_before) == exact_json.key(facts_after):
        assert losses == [], f"L3: nothing differs, but there is a loss: {_described(losses[0])}"


def assert_reasons_are_true(target: Dialect, losses: list[Loss]) -> None:
    """L3: the reason that the target has no such field is used only if it is true.

    No schema key and no form of the target has the field.
    """
    keys = schemas.vocabulary(target.name)
    for loss in losses:
        if loss.why != f"{target.title} {NO_FIELD}":
            continue
        if loss.field.startswith("extras."):
            assert not is_named(loss.field, keys), f"L3: the schema of {target.name} has this key: {_described(loss)}"
        else:
            having = [form for form in target.forms if not is_unsupported(loss.field, target, form)]
            assert not having, f"L3: {target.name} has this field in a {having[0]}: {_described(loss)}"


def assert_stable(dialect: Dialect, document: Any) -> None:
    """L4: converting an output to its own dialect changes and reports nothing.

    Records without any message are refused (L11).
    """
    try:
        again = pipeline.convert(document, dialect, dialect)
    except RefusedError as error:
        if error.code in NOT_UNDERSTOOD:
            return
        raise
    assert exact_json.key(again.document) == exact_json.key(document), f"L4: {dialect.name} changes its own output"
    assert again.losses == [], f"L4: an output of {dialect.name} loses {_described(again.losses[0])}"


def assert_order_is_kept(before: Transcript, after: Transcript, losses: list[Loss]) -> None:
    """L6: what is on both sides has the same order, unless a loss reports that it moved."""
    if any(loss.kind == "moved" for loss in losses):
        return
    places = {
        part_key(part): (j, k) for j, message in enumerate(after.messages) for k, part in enumerate(message.parts)
    }
    keys = Counter(part_key(part) for message in before.messages for part in message.parts)
    hidden = _generated(before) | _generated(after)
    unique = [key for key, count in keys.items() if count == 1 and key in places and f'"{key[1]}"' not in hidden]
    for one, two in pairwise(unique):
        assert places[one] < places[two], f"L6: {one} and {two} changed places without a loss"


# ---------------------------------------------------------------- L8


def assert_pure(source: Dialect, target: Dialect, document: Any) -> None:
    """L8: writing a transcript twice, a deep copy and a pickle gives the same result and leaves it unchanged."""
    transcript = reading.lift(document, source)
    before = exact_json.key(facts(transcript))
    written = exact_json.key(conversion.write(transcript, target, conversion.BY_DEFAULT, source))
    assert exact_json.key(facts(transcript)) == before, f"L8: {target.name} changes the transcript"
    copies: tuple[tuple[str, Callable[[], Transcript]], ...] = (
        ("the same transcript", lambda: transcript),
        ("a deep copy", lambda: copy.deepcopy(transcript)),
        ("a pickle", lambda: pickle.loads(pickle.dumps(transcript))),
    )
    for name, copied in copies:
        again = exact_json.key(conversion.write(copied(), target, conversion.BY_DEFAULT, source))
        assert again == written, f"L8: {target.name} writes {name} of {source.name} differently"


# ---------------------------------------------------------------- L10, L11


def assert_restores(source: Dialect, target: Dialect, document: Any) -> None:
    """L10: the output and its restore record, both read from bytes again, give the exact original."""
    converted = pipeline.convert(document, source, target).document
    kept = exact_json.parse(exact_json.write(record(document, converted, source, target)))
    findings = schemas.findings("restore", kept)
    assert findings == [], f"L10: the restore record of {source.name} to {target.name}: {findings[0].message}"
    original = restore(converted, kept)
    assert exact_json.key(original) == exact_json.key(document), f"L10: {source.name} from {target.name} differs"


def assert_refuses_nothing(dialect: Dialect, document: Any) -> None:
    """L11: a document is refused if it has records but no messages, or if all messages come out empty; no other
    document is refused for that reason.

    An empty conversation has no records, and passes. A session that only began is read, and a finding.
    """
    transcript = dialect.lift(document)
    has_only_events = bool(transcript.messages) and all(message.role == "event" for message in transcript.messages)
    is_refused = has_only_events or is_emptied(transcript)
    judged = any(finding.code == "no-messages" for finding in pipeline.validate(document, dialect))
    try:
        reading.lift(document, dialect)
        refused = False
    except RefusedError as error:
        refused = error.code == "no-messages"
    words = "is an empty success" if is_refused else "is refused although it is none"
    assert refused == is_refused, f"L11: a {dialect.name} document without messages {words}"
    is_found = is_refused or (dialect.is_session and not transcript.messages)
    words = "is clean" if is_found else "has a finding although it has messages"
    assert judged == is_found, f"L11: a {dialect.name} document without messages {words}"


# ---------------------------------------------------------------- what transcripts and losses say


def facts(transcript: Transcript) -> Any:
    """Returns the content of a transcript as a JSON value."""
    write = dialects.get(HUB).write
    assert write is not None
    return write(transcript, Options(form="plain"))


def counted(value: Any) -> Counter[str]:
    """Counts each string and number inside a JSON value; keys are not values."""
    leaves: list[str] = []
    rest = [value]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
        elif isinstance(node, (str, int, float)) and not isinstance(node, bool):
            leaves.append(TEXT_OF(node))
    return Counter(leaves)


def _generated(transcript: Transcript) -> set[str]:
    """Returns generated ids, which are not facts."""
    invented = transcript.origin.generated_ids if transcript.origin else set()
    return {f'"{id_}"' for id_ in invented}


def _results(transcript: Transcript, kinds: set[Any]) -> list[Any]:
    """Returns the values of results that a convention wrote differently: the loss has the kind, not the value."""
    results = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]
    return [builtins(result.value) for result in results if result.kind in kinds]


def _has_content(loss: Loss) -> bool:
    return (
        loss.kind in ("moved", "invented")
        or exact_json.key(_value(loss.before)) != exact_json.key(_value(loss.after))
        or (loss.before is msgspec.UNSET) != (loss.after is msgspec.UNSET)  # a key whose value is null
        or loss.field.startswith("extras")
    )


def _value(value: Any) -> Any:
    return None if value is msgspec.UNSET else builtins(value)


def _described(loss: Loss) -> str:
    return f"{loss.kind} {loss.field} at {loss.where or '/'}: {_shown(loss.before)} → {_shown(loss.after)}"


def _shown(value: Any) -> str:
    return f"{_text_of(_value(value)):.160}"


def _text_of(value: Any) -> str:
    return exact_json.write(value).decode()
