"""Law L14: `validate FILE`, `--from D`, `--as D` and the warnings of `convert` give one verdict on a file in D."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.conversion import Conversion
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.jobs.judging import JudgingOptions, judge, judged
from convcli.jobs.results import as_warning, item_results
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import ContentError, RefusedError
from convcli.model.findings import Finding
from convcli.validation import schemas
from convcli.validation.unknown import CODE as UNKNOWN
from convcli.validation.verdict import rules_of
from convcli.wire import pointers
from tests import tiers
from tests.support import acceptable_of, documents, names, sample_files, samples_of, untouched

SEVERITIES = ("info", "warning", "error")
WARNING, ERROR = 1, 2
CONVERTED = "judged-as-converted"
WRITTEN = [name for name in names() if dialects.get(name).is_written]
TRAINING = [name for name in names() if dialects.get(name).is_training_data]
Codes = dict[str, int]


def codes_of(findings: Iterable[Finding]) -> Codes:
    """The codes of the findings, each with its highest severity."""
    codes: Codes = {}
    for finding in findings:
        codes[finding.code] = max(codes.get(finding.code, 0), SEVERITIES.index(finding.severity))
    return codes


def verdict(value: Any, name: str, target: str | None = None) -> Codes:
    options = JudgingOptions(target=None if target is None else dialects.get(target))
    return codes_of(judged(Document("", 0, value, b"", dialects.get(name)), options))


def good_and_bad(name: str) -> list[Path]:
    """Some samples of each kind, all in the full tier."""
    each = ([path for path in sample_files(name, folder) if path.suffix != ".findings"] for folder in (".", "bad"))
    return [path for files in each for path in tiers.few(files, 4)]


def of_file(path: Path, name: str | None, target: str | None) -> tuple[str, Codes]:
    """What the command finds, and the dialect that it read. A file that cannot be read has one error."""
    sent = None if target is None else dialects.get(target)
    try:
        with inputs.opened(str(path), name, otherwise=sent) as source:
            verdicts = list(judge(source, JudgingOptions(target=sent)))
            findings = [one for each in verdicts for one in each.findings]
            return source.dialect.name, {**noted(findings), **codes_of(findings)}
    except ContentError as error:
        return "", {error.code: ERROR}


def noted(findings: Iterable[Finding]) -> Codes:
    """The codes that notes on a file name as those of the file itself, where its conversion was judged."""
    notes = (one.message.split("as it is, it has ")[1] for one in findings if one.code == CONVERTED)
    return {note.split()[0]: ERROR for note in notes}


def finds_all(more: Codes, less: Codes) -> bool:
    return all(more.get(code, -1) >= severity for code, severity in less.items())


@pytest.mark.parametrize("name", names())
def test_l14_one_verdict_whether_a_dialect_is_detected_or_named(name: str) -> None:
    of_sent = {code for rule in rules_of(dialects.get(name)) for code in rule.of_sent}
    for path in good_and_bad(name):
        kept, sent = of_file(path, name, None)[1], of_file(path, name, name)[1]
        assert finds_all(sent, kept), (path, kept, sent)
        more = {code for code, severity in sent.items() if kept.get(code) != severity}
        assert more <= of_sent, (path, more)
        read, detected = of_file(path, None, None)
        if read == name:
            assert detected == kept, path
        read, sent = of_file(path, None, name)
        assert finds_all(sent, kept), (path, read, kept, sent)


@pytest.mark.parametrize("name", TRAINING)
def test_l14_rows_for_a_trainer_get_one_verdict_whatever_is_asked(name: str) -> None:
    for path in good_and_bad(name):
        assert of_file(path, name, None) == of_file(path, name, name), path


@pytest.mark.parametrize("name", WRITTEN)
def test_l14_convert_warns_of_what_validate_finds(name: str) -> None:
    dialect = dialects.get(name)
    for path in good_and_bad(name):
        for document in documents(path, dialect):
            (done,) = item_results([Document("", 0, document, b"", dialect)], dialect)
            found = verdict(document, name)
            expected = found if done.is_refused else {code: min(found[code], WARNING) for code in found}
            assert codes_of(done.findings) == expected, path


def assert_warns_of_output(conversion: Conversion, target: Dialect) -> None:
    """What validate finds in an output is among the findings of its conversion; `test_laws` holds this of all pairs."""
    origin = target.lift(conversion.document).origin if target.on_demand else None
    if origin is not None and origin.form in target.on_demand:
        return  # a list of messages that may also be a row, of which nothing was asked
    found = verdict(conversion.document, target.name)
    assert finds_all(codes_of(conversion.findings), found), f"L14: {found} is not in {conversion.findings}"


def test_l14_a_row_that_looks_like_one_of_the_target_is_not_converted_before_it_is_judged() -> None:
    row = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "weight": 2}]}
    assert verdict(row, "openai-chat", "openai-ft") == verdict(row, "openai-ft") == {"bad-weight": ERROR}


def test_l14_a_document_that_is_broken_in_its_own_dialect_is_judged_as_it_is_where_the_target_may_read_it() -> None:
    call = {"type": "tool_use", "name": "f", "input": {}}
    row = {"messages": [{"role": "assistant", "content": [call]}], "_openclawSessionKey": "k"}
    assert verdict(row, "anthropic", "openclaw") == verdict(row, "openclaw", "openclaw")
    assert verdict(row, "anthropic", "gemini") == verdict(row, "anthropic") == {"missing-key": ERROR}


def test_a_file_of_no_known_dialect_is_read_in_the_target() -> None:
    import convcli

    row = {"instruction": 5, "output": "b"}
    with pytest.raises(ContentError):
        convcli.validate(row)
    assert [finding.code for finding in convcli.validate(row, as_="alpaca")] == ["wrong-type"]


def test_what_is_only_worth_knowing_is_no_warning_of_a_conversion() -> None:
    target = dialects.get("hf-chat")
    found = [as_warning(Finding("x", severity, "m"), target).severity for severity in SEVERITIES]  # type: ignore[arg-type]
    assert found == ["info", "warning", "warning"]


def renamed(value: Any, old: str) -> Any:
    """A copy in which a key has another name, wherever it stands."""
    if isinstance(value, dict):
        return {f"{key}_zz" if key == old else key: renamed(each, old) for key, each in value.items()}
    if isinstance(value, Rows):
        return Rows([renamed(each, old) for each in value], value.lines)
    return [renamed(each, old) for each in value] if isinstance(value, list) else value


CODES = {UNKNOWN, "unknown-type"}
TEXT_KEYS = ("content", "text", "parts", "description", "parameters", "thinking", "output", "result", "documents")


@pytest.mark.parametrize("name", names())
def test_l14_validate_finds_all_content_that_convert_does_not_know(name: str) -> None:
    dialect = dialects.get(name)
    targets = [dialects.get(each) for each in ("openai-chat", "anthropic") if each != name]
    for sample in tiers.few(samples_of(name), 4):
        edited = [renamed(untouched(sample.document), key) for key in tiers.few(TEXT_KEYS, 3)]
        for document in (untouched(sample.document), *edited):
            for target in targets:
                try:
                    converted = pipeline.convert(document, dialect, target)
                except RefusedError:
                    continue
                warned = codes_of(converted.findings).keys() & CODES
                if warned:
                    assert warned <= codes_of(pipeline.validate(document, dialect)).keys(), (str(sample), target.name)


OF_INPUT = {
    *("failed-stream", "invalid-arguments", "invalid-base64", "invalid-schema", "missing-parent", "null-filled"),
    *("parent-cycle", "remote-reference", "stream-out-of-order", "torn-stream", "unknown-rewind", "wrong-format"),
}
"""What is wrong with a document whatever a service demands."""


@pytest.mark.parametrize("name", names())
def test_l14_convert_tells_what_is_wrong_with_a_document_whatever_the_target(name: str) -> None:
    """As a finding, or as a loss at the place: what is not in the output needs no finding on it."""
    dialect = dialects.get(name)
    targets = [dialects.get(each) for each in ("openai-chat", "sharegpt", "gemini-stream", "atif") if each != name]
    for document in (each for path in good_and_bad(name) for each in documents(path, dialect)):
        with suppress(RefusedError):
            found = [one for one in pipeline.validate(document, dialect) if one.code in OF_INPUT]
            for target in targets if found else ():
                done = pipeline.convert(document, dialect, target)
                for one in found:
                    is_lost = is_null(document, one.where) or any(is_at(loss.where, one.where) for loss in done.losses)
                    assert is_lost or one.code in codes_of(done.findings), (target.name, one)


def is_null(document: Any, where: str) -> bool:
    """Is there null, which counts as absent?"""
    try:
        return pointers.resolve(document, pointers.steps(where)) is None
    except LookupError:
        return False


@pytest.mark.parametrize("name", [name for name in names() if dialects.get(name).is_stream])
def test_a_torn_stream_is_told_once(name: str) -> None:
    dialect = dialects.get(name)
    targets = [dialects.get(each) for each in ("anthropic-stream", "openai-chat-stream", "gemini") if each != name]
    for events in (sample.document for sample in samples_of(name) if isinstance(sample.document, Rows)):
        torn = Rows(events[: len(events) // 2 + 1])
        found = pipeline.validate(torn, dialect)
        if any(one.severity == "error" and one.code != "torn-stream" for one in found):
            continue
        for target in targets:
            told = [one.where for one in pipeline.convert(torn, dialect, target).findings if one.code == "torn-stream"]
            assert told == [one.where for one in found if one.code == "torn-stream"], target.name


@pytest.mark.parametrize("name", [name for name in names() if dialects.get(name).is_session])
def test_l14_a_session_that_only_began_is_found_by_validate_and_refused_by_convert(name: str) -> None:
    dialect, target = dialects.get(name), dialects.get("openai-chat")
    for document in (Rows(sample.document[:1]) for sample in samples_of(name) if isinstance(sample.document, list)):
        if not schemas.accepts(name, document):
            continue
        try:
            pipeline.convert(document, dialect, target)
            refused = set[str]()
        except RefusedError as error:
            refused = {finding.code for finding in error.findings}
        found = verdict(document, name)
        assert ("no-messages" in found) == ("no-messages" in refused)
        for judged_as in (found, verdict(document, name, target.name)):
            assert refused <= {code for code, severity in judged_as.items() if severity == ERROR}
        if dialect.is_written and not refused - {"no-messages"}:
            (done,) = item_results([Document("", 0, document, b"", dialect)], dialect)
            assert ("no-messages" in codes_of(done.findings)) == ("no-messages" in found)


@pytest.mark.parametrize("name", names())
def test_a_finding_on_a_document_and_on_the_output_has_one_place(name: str) -> None:
    source, target = dialects.get(name), dialects.get("openai-chat" if name != "openai-chat" else "anthropic")
    for sample in acceptable_of(name):
        found = pipeline.validate(sample.document, source)
        with suppress(RefusedError):
            reported = pipeline.convert(sample.document, source, target).findings if found else []
            for code in {finding.code for finding in found} & {finding.code for finding in reported}:
                ours, theirs = (sorted(one.where for one in each if one.code == code) for each in (found, reported))
                if len(ours) == len(theirs):
                    assert all(map(is_at, ours, theirs)), f"{sample}: {code} at {ours}, in the report at {theirs}"


def is_at(one: str, other: str) -> bool:
    """Are both the same node, or is one a field of the other?"""
    return one == other or (one != "" != other and (one.startswith(f"{other}/") or other.startswith(f"{one}/")))
