"""convcli inspect and stats: rows, what ties a call to its result, and that no format lets hostile text act."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from convcli.report import choice, message, tables
from convcli.report.text import Paint, cells
from tests.cli_cases import CLEAN, LOSSY, OTHER, command, environment, on_terminal, run, write

HOSTILE = (
    "\x1b[31m\x1b]0;owned\x07\u202e<script>alert(1)</script><img src=x onerror=alert(1)>"
    "[a](javascript:alert(1))|`x`\n\r\n=1+1 [red]x[/foo] https://evil.example ${x}"
)


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": name, "name": "f", "arguments": {"n": 1}}


def result(name: str, kind: str = "text") -> dict[str, Any]:
    part = {"type": "tool_result", "toolCallId": name, "name": "f", "kind": kind, "value": "x"}
    return {"role": "tool", "createdAt": "2026-01-01T00:00:02.5Z", "parts": [part]}


CALLS: dict[str, Any] = {
    "convcli": 1,
    "messages": [
        {"role": "assistant", "createdAt": "2026-01-01T00:00:00Z", "parts": [call("a"), call("b"), call("c")]},
        result("b", "error"),
        result("a"),
        result("z"),
    ],
}


def rows(path: Path, *words: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("inspect", path, "--output-format", "json", *words).stdout)
    return found


def test_one_transcript_is_shown_by_its_messages_calls_and_results(tmp_path: Path) -> None:
    done = run("inspect", write(tmp_path / "a.json", LOSSY))
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert lines[0] == ["message", "role", "kind", "tool", "call", "status", "size", "tokens", "text"]
    assert [line[2:6] for line in lines[1:]] == [
        ["text", "", "", ""],
        ["call", "f", "#1", ""],
        ["result", "f", "#1", "ok"],
    ]
    reported = done.stderr.decode().replace("\n  ", " ").replace(",", "")
    assert reported.endswith("a.json: intermediate m 3 messages 1 call 0 errors\n")


def test_a_call_and_its_result_have_the_same_mark_and_what_is_alone_says_so(tmp_path: Path) -> None:
    found = rows(write(tmp_path / "a.json", CALLS))
    assert [(row["kind"], row["call"], row["status"]) for row in found] == [
        ("call", "#1", None),
        ("call", "#2", None),
        ("call", "#3", "open"),
        ("result", "#2", "error"),
        ("result", "#1", "ok"),
        ("result", "?", "orphan"),
    ]
    (summary,) = rows(tmp_path / "a.json", "--summary")
    assert (summary["unpaired"], summary["errors"]) == (2, 1)


def test_a_prompt_and_its_answer_in_one_record_are_two_messages(tmp_path: Path) -> None:
    turn = {"conversation_id": "c", "prompt": "Hi.", "response": "Yo.", "datetime_utc": "[cut]"}
    done = run("inspect", write(tmp_path / "a.json", [turn, turn]))
    assert "llm, id c, 4 messages, 0 calls, 0 errors\n" in done.stderr.decode().replace("\n  ", " ")


def test_two_calls_of_one_id_are_paired_one_by_one(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "parts": [call("a"), call("a")]}, result("a")]
    found = rows(write(tmp_path / "a.json", {**CALLS, "messages": messages}))
    assert [(row["call"], row["status"]) for row in found] == [("#1", None), ("#2", "open"), ("#1", "ok")]


def test_what_a_tool_says_after_its_first_result_belongs_to_the_same_call(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "parts": [call("a")]}, result("a"), result("a", kind="error"), result("b")]
    path = write(tmp_path / "a.json", {**CALLS, "messages": messages})
    found = [("#1", None), ("#1", "ok"), ("#1", "error"), ("?", "orphan")]
    assert [(row["call"], row["status"]) for row in rows(path)] == found
    assert [(row["call"], row["status"], row["asked"]) for row in rows(path, "--tools")] == [
        ("#1", "ok", 0), ("#1", "error", 0), ("?", "orphan", None)
    ]  # fmt: skip
    (summary,) = rows(path, "--summary")
    assert summary["unpaired"] == 1
    page = run("inspect", path, "--output-format", "html").stdout.decode()
    assert [page.count(f'class="result" id="m{at}"') for at in (1, 2, 3)] == [1, 1, 0]
    assert [page.count(f' id="m{at}"') for at in (1, 2, 3)] == [1, 1, 1]


def test_answers_that_failed_and_other_branches_are_marked(tmp_path: Path) -> None:
    text = {"type": "text", "text": "x"}
    answers = [
        {"role": "assistant", "id": "b", "parentId": "a", "parts": [text], "error": "overloaded"},
        {"role": "assistant", "id": "c", "parentId": "a", "parts": [text], "stopReason": "length"},
    ]
    messages = [{"role": "user", "id": "a", "parts": [text]}, *answers]
    found = rows(write(tmp_path / "a.json", {"convcli": 1, "messages": messages, "head": "c"}))
    assert [row["status"] for row in found] == [None, "branch", "length"]
    found = rows(write(tmp_path / "a.json", {"convcli": 1, "messages": messages}))
    assert [row["status"] for row in found] == [None, "error", "length"]


def test_tools_are_shown_with_their_results_and_how_long_they_took(tmp_path: Path) -> None:
    found = rows(write(tmp_path / "a.json", CALLS), "--tools")
    assert [(row["asked"], row["answered"], row["seconds"]) for row in found] == [
        (0, 2, 2.5),
        (0, 1, 2.5),
        (0, None, None),
        (None, 3, None),
    ]


def test_where_and_columns_choose_rows_and_cells(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CALLS)
    assert rows(source, "--where", "status=open,error", "--where", "role=tool", "--columns", "call") == [{"call": "#2"}]
    done = run("inspect", source, "--where", "statu=open")
    assert (done.returncode, b'did you mean "status"?' in done.stderr) == (2, True)


def test_a_column_may_be_called_as_the_table_calls_it(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CALLS)
    assert rows(source, "--columns", "#, role", "--limit", 1) == [{"message": 0, "role": "assistant"}]
    assert b'no column "#"' in run("inspect", source, "--summary", "--columns", "#").stderr


def test_a_pattern_chooses_rows_by_what_is_anywhere_in_a_cell_and_an_impossible_one_is_told(tmp_path: Path) -> None:
    texts = ["x" * 3_000 + "Timed OUT", "time is out", "no"]
    messages = [{"role": "user", "parts": [{"type": "text", "text": text}]} for text in texts]
    source = write(tmp_path / "a.json", {"convcli": 1, "messages": messages})
    assert [row["message"] for row in rows(source, "--where", "text~timed? (is )?out")] == [0, 1]
    assert b"note: no row has text~never" in run("inspect", source, "--where", "text~never").stderr
    done = run("inspect", source, "--where", "text~(")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b'character 6 of the condition "text~(": no regular expression' in done.stderr


@pytest.mark.parametrize("command", ["inspect", "stats"])
def test_what_is_no_condition_is_reported_with_an_example(tmp_path: Path, command: str) -> None:
    done = run(command, write(tmp_path / "a.json", CALLS), "--where", "tool")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b'character 1 of the condition "tool": expected a column and an operator' in done.stderr
    assert b"errors=0 and title~deploy" in done.stderr


def test_conditions_and_columns_of_many_transcripts_include_those_found_on_demand(tmp_path: Path) -> None:
    for name, text in (("a", "fix the cart"), ("b", "deploy")):
        messages = [{"role": "user", "parts": [{"type": "text", "text": text}]}]
        write(tmp_path / f"{name}.json", {"convcli": 1, "cwd": f"/home/{name}", "messages": messages})
    found = rows(tmp_path, "--where", "messages>0 and text~CART", "--columns", "project,cwd")
    assert found == [{"project": "a", "cwd": "/home/a"}]


def test_dates_choose_transcripts_not_messages(tmp_path: Path) -> None:
    times = ["2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"]
    messages = [{"role": "user", "createdAt": time, "parts": [{"type": "text", "text": "x"}]} for time in times]
    source = write(tmp_path / "a.json", {"convcli": 1, "messages": messages})
    assert len(rows(source, "--since", "2026-02", "--until", "2026-02")) == 2
    done = run("inspect", source, "--since", "2026-04")
    assert (done.stdout, b"note: no row has end>=2026-04" in done.stderr) == (b"", True)


def test_an_unknown_column_is_told_before_anything_is_shown(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", CALLS)
    for words in (["--columns", "rol"], ["--where", "rol=tool"], ["--tools", "--columns", "role"]):
        done = run("inspect", source, *words)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 2)


def test_a_condition_that_holds_for_no_row_is_told_with_the_nearest_word(tmp_path: Path) -> None:
    done = run("inspect", write(tmp_path / "a.json", CALLS), "--where", "role=tol")
    assert done.stderr.endswith(b'note: no row has role=tol; did you mean "tool"?\n')
    assert b"note" not in run("inspect", tmp_path / "a.json", "--where", "role=tool", "--limit", 1).stderr


def test_an_answer_that_failed_shows_its_error(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "parts": [], "error": "overloaded"}]
    (row,) = rows(write(tmp_path / "a.json", {"convcli": 1, "messages": messages}))
    assert (row["status"], row["text"], row["size"]) == ("error", "overloaded", 10)


def test_on_a_terminal_a_call_is_shown_by_what_tells_most(tmp_path: Path) -> None:
    path = "/home/somebody/projects/" + "deep/" * 20 + "tables.py"
    calls = [{"command": "npm test", "timeout": 9}, {"limit": 1, "file_path": path}]
    parts = [{"type": "tool_call", "id": str(n), "name": "f", "arguments": given} for n, given in enumerate(calls)]
    source = write(tmp_path / "a.json", {"convcli": 1, "messages": [{"role": "assistant", "parts": parts}]})
    for words in ((), ("--tools",)):
        shown = on_terminal(command("inspect", source, *words), 90, environment(NO_COLOR="1"))[1]
        assert re.search(r"\$ npm test *\r\n", shown)
        assert re.search(r"file_path=….*/tables\.py *\r\n", shown)
    assert '"limit"' in run("inspect", source).stdout.decode()


def test_a_long_text_is_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    long = {"messages": [{"role": "user", "content": "x" * 5_000}]}
    source = write(tmp_path / "a.json", long)
    assert [(len(row["text"]), row["size"]) for row in rows(source, "--from", OTHER)] == [(2_000, 5_000)]
    assert len(rows(source, "--from", OTHER, "--no-trunc")[0]["text"]) == 5_000


def test_one_message_is_shown_in_full_or_as_its_record(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    assert (
        run("inspect", source, "--message", 1).stdout.decode()
        == 'message 1 · assistant\n\n-- call f #1\n{\n  "n": 1\n}\n'
    )
    assert rows(source, "--message", 0)["role"] == "user"  # type: ignore[call-overload]
    done = run("inspect", source, "--message", 3)
    assert (done.returncode, b"they go from 0 to 2" in done.stderr) == (2, True)
    header = {"type": "session", "version": 3, "id": "a", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}
    done = run("inspect", write(tmp_path / "s.jsonl", header), "--message", 0)
    assert (done.returncode, b"the transcript holds none" in done.stderr) == (2, True)


def test_a_terminal_gets_the_record_of_a_message_over_several_lines_and_a_pipe_on_one(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    for form, lines in (("json", 13), ("jsonl", 1)):
        words = ["inspect", source, "--message", 1, "--output-format", form]
        piped = run(*words).stdout
        code, shown = on_terminal(command(*words), 80, environment(TERM="dumb", FORCE_COLOR="1"))  # dumb: no progress
        plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
        assert (code, piped.count(b"\n"), plain.count("\n")) == (0, 1, lines)
        assert json.loads(plain) == json.loads(piped)
        assert "\x1b[" in shown
        assert on_terminal(command(*words), 80, environment(TERM="dumb", NO_COLOR="1")) == (0, plain)


def test_messages_inside_a_message_of_the_source_are_not_counted(tmp_path: Path) -> None:
    results = [{"type": "tool_result", "tool_use_id": name, "content": "x"} for name in "ab"]
    calls = [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in "ab"]
    messages = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    document = {"model": "claude", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}, *messages]}
    (row,) = rows(write(tmp_path / "a.json", document), "--summary")
    assert (row["messages"], row["calls"], row["results"]) == (3, 2, 2)


def test_statistics_count_tools_and_their_errors(tmp_path: Path) -> None:
    done = run("stats", write(tmp_path / "a.jsonl", CALLS, CALLS), "--output-format", "json")
    found = {(row["what"], row["name"]): row for row in json.loads(done.stdout)}
    assert found["transcripts", "intermediate"]["count"] == 2
    assert (found["tools", "f"]["count"], found["tools", "f"]["errors"]) == (6, 2)


def test_the_total_of_tokens_counts_every_answer(tmp_path: Path) -> None:
    usages = [{"inputTokens": 1, "outputTokens": 2}, {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}]
    messages = [{"role": "assistant", "parts": [], "usage": usage} for usage in usages]
    done = run("stats", write(tmp_path / "a.json", {"convcli": 1, "messages": messages}), "--output-format", "json")
    assert {row["name"]: row["count"] for row in json.loads(done.stdout) if row["what"] == "tokens"} == {
        "inputTokens": 4,
        "outputTokens": 6,
        "totalTokens": 10,
        "uncachedInputTokens": 4,
    }


def test_the_heading_counts_rows_that_no_model_saw_apart_from_messages(tmp_path: Path) -> None:
    event = {"role": "event", "parts": [{"type": "opaque", "dialect": "gemini-cli", "value": {"type": "info"}}]}
    messages = [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}, event, event]
    source = write(tmp_path / "a.json", {"convcli": 1, "messages": messages})
    done = run("inspect", source)
    assert "1 message, 0 calls, 0 errors, 2 events hidden (--events show)" in " ".join(done.stderr.decode().split())
    assert done.stdout.count(b"\n") == 2
    for words in (("--events", "show"), ("--where", "message=0,1,2"), ("--output-format", "tsv")):
        assert run("inspect", source, *words).stdout.count(b"\n") == 4
    assert len(rows(source, "--events", "hide")) == 1
    (row,) = rows(source, "--summary")
    assert (row["messages"], row["events"]) == (1, 2)


def test_many_transcripts_have_a_line_of_totals_beneath_them(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", CALLS, CALLS)
    assert run("inspect", source).stderr.decode() == "2 transcripts: 8 messages, 6 calls, 2 errors\n"
    assert run("inspect", source, "--limit", 1).stderr == b""
    assert run("inspect", source, "--output-format", "json").stderr == b""


# --- hostile text ----------------------------------------------------------------------------------------------------


def hostile(name: str, width: int | None = None, kind: str = "text") -> str:
    columns = ["role", "kind", "tool", "text"]
    row = {"role": HOSTILE, "kind": kind, "tool": HOSTILE, "text": HOSTILE * 3}
    return "".join(choice.renderer(tables, name)(columns, [row], tables.View(width)))


@pytest.mark.parametrize("name", choice.names(tables))
@pytest.mark.parametrize("width", [None, 80])
def test_no_format_lets_a_control_character_through(name: str, width: int | None) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", hostile(name, width))


def test_a_formula_is_text_in_csv() -> None:
    text = "".join(
        choice.renderer(tables, "csv")(["a"], [{"a": word} for word in ("=1", " +1", -1, "\uff1d1")], tables.View())
    )
    assert [row[0] for row in csv.reader(io.StringIO(text))] == ["a", "'=1", "' +1", "-1", "'\uff1d1"]


MARKUP = (
    HOSTILE,
    "*a* **b** _c_ __d__ snake_case_name ~~e~~ `f` ``g`` \\*h\\* \\_i_ \\",
    "[a](b) [a][b] [a]: b ![c](d) <e@f.gh> <br> <!-- x --> &lt; &#60; & &copy",
    "a|b \\| \\\\| c| | http://x.yz https://x.yz www.x.yz ftp://x.yz a@b.cd",
    '{"city":"大阪","n":[1,_2_]}',
)


@pytest.mark.parametrize("text", MARKUP)
def test_in_markdown_a_text_is_that_text_and_nothing_else(text: str) -> None:
    written = "".join(choice.renderer(tables, "md")(["a", "b"], [{"a": text, "b": "end"}], tables.View()))
    cells_of_rows = [
        token for token in MarkdownIt().enable(["table", "strikethrough"]).parse(written) if token.children
    ]
    assert {child.type for token in cells_of_rows for child in token.children or ()} <= {"text", "text_special"}
    said = ["".join(child.content for child in token.children or ()) for token in cells_of_rows]
    assert said == ["a", "b", tables.cell(text).strip(), "end"]
    assert not re.search(r"(?i)(https?|ftp):/|www\.", written)


def test_markdown_leaves_alone_what_is_no_markup() -> None:
    text = 'get_weather {"city":"Tokyo"} (a) 1 > 0!'
    assert f"| {text} |" in "".join(choice.renderer(tables, "md")(["a"], [{"a": text}], tables.View()))


class Tags(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.update([tag, *(f"{name}=" for name, _ in attrs)])


@pytest.mark.parametrize("kind", ["text", "result", HOSTILE])
def test_an_html_page_has_only_tags_of_ours_and_loads_nothing(kind: str) -> None:
    tags = Tags()
    tags.feed(hostile("html", kind=kind))
    assert (tags.seen["script"], tags.seen["style"], tags.seen["style="]) == (1, 1, 0)
    assert not set(tags.seen) & {"img", "a", "iframe", "link", "onerror=", "href=", "src="}
    assert "http" not in re.sub(r"https://evil\.example|http-equiv", "", hostile("html", kind=kind))


def test_the_policy_of_a_page_allows_its_own_style_and_script_by_their_hashes_and_nothing_else() -> None:
    page = hostile("html")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert body is not None
        assert rules.pop(name) == f"'sha256-{base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()}'"
    assert set(rules.values()) == {"'none'"}
    assert "default-src" in rules


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.browser
@pytest.mark.exhaustive
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_in_a_browser_hostile_text_is_text_and_the_search_finds_rows(tmp_path: Path) -> None:
    row = {"role": "user", "kind": "result", "text": HOSTILE * 3 + "<script>document.title='owned'</script>"}
    rows = [row, {"role": "assistant", "kind": "text", "text": "plain"}]
    page = tmp_path / "page.html"
    page.write_text("".join(choice.renderer(tables, "html")(["role", "kind", "text"], rows, tables.View())), "utf-8")
    for words, hidden in (("", 0), ("#ALERT", 1), ("#alert%20owned", 1), ("#nowhere", 2), ("#user%20plain", 2)):
        dom = shown_by_a_browser(f"{page.as_uri()}{words}", tmp_path)
        assert "<title>convcli</title>" in dom
        assert dom.count('<tr hidden="">') == hidden
        assert '<div id="search">' in dom


def shown_by_a_browser(address: str, folder: Path) -> str:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    words = [str(CHROMIUM), *options, f"--user-data-dir={folder / 'profile'}", "--dump-dom", address]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stdout


# --- on a terminal ---------------------------------------------------------------------------------------------------


def aligned(rows: list[dict[str, Any]], width: int, **more: Any) -> list[str]:
    return "".join(choice.renderer(tables, "table")(list(rows[0]), rows, tables.View(width, **more))).splitlines()


def test_only_the_widest_column_gives_way_and_the_first_one_last() -> None:
    _, line = aligned([{"dialect": "a" * 20, "reads": "yes", "title": "long " * 40}], 60)
    assert line.startswith("a" * 20 + " yes   long long")
    assert (len(line), line[-1]) == (60, "…")


def test_wide_characters_and_emoji_keep_columns_straight() -> None:
    rows = [{"tool": name, "text": "|"} for name in ("天気を調べる", "get_weather_", "👍\U0001f3fd 大阪 大阪")]
    assert {cells(line.partition("|")[0]) for line in aligned(rows, 60)[1:]} == {13}


def test_a_long_table_is_as_straight_as_a_short_one() -> None:
    rows = [{"call": f"#{i}", "tool": f"天気{i}", "text": "長い " * 40, "size": i} for i in range(10_000)]
    lines = aligned(rows, 60, paint=Paint(True))
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
    assert sum(line.split() == ["call", "tool", "text", "size"] for line in plain) == 10  # a head every thousand rows
    assert {cells(line) for line in plain if line.startswith("#")} == {60}
    assert all(line.count("…") == 1 for line in plain if line.startswith("#"))


def test_every_column_has_a_place_on_the_narrowest_terminal() -> None:
    names = ["file", "line", "role", "kind", "tool", "call", "status", "size", "text"]
    head, line = aligned([dict.fromkeys(names, "日本語")], 20)
    assert len(head.split()) == len(line.split()) == len(names)


def test_a_cell_of_several_lines_is_padded_by_empty_ones() -> None:
    rows = [{"text": "one\ntwo", "status": "error"}, {"text": "three words", "status": None}]
    assert aligned(rows, 40, whole=True, paint=Paint(True))[1:] == [
        "one         \x1b[1;31merror\x1b[0m",
        "two",
        "three words",
    ]


def test_a_cell_of_several_lines_is_as_wide_as_the_longest_of_them() -> None:
    rows = [{"text": "one\ntwo\nthree\nfour", "kind": "text"}]
    assert aligned(rows, 14, whole=True)[1].rstrip() == "one   text"


def test_of_a_path_that_is_too_long_the_end_is_shown_and_empty_columns_are_left_out() -> None:
    head, line = aligned([{"file": "folder/" * 20 + "name.json", "line": None, "model": "m"}], 40)
    assert head.split() == ["file", "model"]
    assert line.startswith("…")
    assert "/name.json m" in " ".join(line.split())


def test_colour_marks_roles_and_errors_only_when_it_is_wanted() -> None:
    row = {"role": "user", "status": "error", "text": "user error"}
    assert "\x1b" not in aligned([row], 60)[1]
    coloured = aligned([row], 60, paint=Paint(True))[1]
    assert re.search(r"\x1b\[32muser.*\x1b\[1;31merror", coloured)
    assert coloured.endswith("user error")


def test_a_reason_is_never_cut() -> None:
    lines = aligned([{"field": "extras.anthropic.cache_control", "why": "words " * 30}], 60)
    assert " ".join(lines).count("words") == 30
    assert max(map(len, lines)) <= 60


def test_a_heading_breaks_between_its_pieces() -> None:
    lines = message.heading(["a.jsonl", *["word " * 6] * 5], Paint()).splitlines()
    assert (len(lines), max(map(len, lines)) <= 80) == (3, True)
    assert [line.endswith(",") for line in lines] == [True, True, False]


def test_what_is_not_cut_takes_several_lines() -> None:
    assert len(aligned([{"text": "word " * 40}], 40, whole=True)) > 5


# --- pages -----------------------------------------------------------------------------------------------------------


def test_a_page_or_a_table_goes_into_a_file_that_is_whole_and_not_replaced(tmp_path: Path) -> None:
    source, page = write(tmp_path / "a.json", LOSSY), tmp_path / "page.html"
    words = "inspect", source, "--output-format", "html"
    done = run(*words, "-o", page)
    assert (done.returncode, done.stdout) == (0, b"")
    assert page.read_bytes() == run(*words).stdout
    assert run(*words, "-o", page).returncode == 2
    assert run(*words, "-o", page, "--force").returncode == 0
    assert run(*words, "-o", source, "--force").returncode == 2
    assert run(*words, "-o", page, "--out-dir", tmp_path).returncode == 2
    words = command("inspect", source, "-o", tmp_path / "rows.txt")
    on_terminal(words, 80, environment(TERM="xterm"))
    assert "\x1b" not in (tmp_path / "rows.txt").read_text()


def test_nothing_is_written_where_no_transcript_is_read(tmp_path: Path) -> None:
    done = run("inspect", write(tmp_path / "a.json", {"x": 1}), "-o", tmp_path / "rows.txt")
    assert (done.returncode, (tmp_path / "rows.txt").exists()) == (1, False)


def test_one_transcript_is_a_page_and_chosen_rows_of_it_are_a_table(tmp_path: Path) -> None:
    source = write(tmp_path / "chat.json", LOSSY)
    whole = run("inspect", source, "--output-format", "html").stdout.decode()
    assert "<title>hi</title>" in whole
    assert str(tmp_path) not in whole
    assert whole.count("<article") == 2
    chosen = run("inspect", source, "--output-format", "html", "--where", "role=user").stdout.decode()
    assert ("<table>" in chosen, "<article" in chosen) == (True, False)


def test_a_folder_of_pages_has_an_index_that_leads_to_each(tmp_path: Path) -> None:
    sources = [write(tmp_path / "a.json", LOSSY), write(tmp_path / "b.jsonl", CLEAN, CLEAN)]
    words = "inspect", *sources, "--output-format", "html", "--out-dir", tmp_path / "out"
    done = run(*words)
    assert (done.returncode, done.stdout) == (0, b"")
    names = {"a.json.html", "b.jsonl-1.html", "b.jsonl-2.html"}
    assert set(os.listdir(tmp_path / "out")) == {*names, "index.html"}
    index = (tmp_path / "out" / "index.html").read_text()
    assert all(f'href="{name}"' in index for name in names)
    assert "<span>3 sessions</span> <span>7 messages</span>" in index
    assert "data-live" not in index
    again = run(*words)
    assert again.returncode == 2
    assert run(*words, "--force").returncode == 0


def test_where_no_transcript_is_read_there_is_no_folder_of_pages(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", {"x": 1})
    done = run("inspect", source, "--output-format", "html", "--out-dir", tmp_path / "out")
    assert (done.returncode, done.stderr.endswith(b"nothing written\n")) == (1, True)
    assert os.listdir(tmp_path) == ["a.json"]


def test_what_would_be_lost_or_is_wrong_is_marked_where_it_stands(tmp_path: Path) -> None:
    source = write(tmp_path / "chat.json", LOSSY)
    page = run("inspect", source, "--output-format", "html", "--to", OTHER).stdout.decode()
    first = page[page.index('<article class="item user') : page.index('<article class="item assistant')]
    assert '<li class="context">dropped message.id: messages have no id in OpenAI Chat Completions</li>' in first
    open_call = {"messages": [CLEAN["messages"][0], {"role": "assistant", "tool_calls": [CALL]}, CLEAN["messages"][1]]}
    found = run("inspect", write(tmp_path / "open.json", open_call), "--findings", "--output-format", "html")
    assert "[missing-tool-result]" in found.stdout.decode()


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("words", [("--out-dir", "x"), ("--to", OTHER), ("--findings",)])
def test_options_of_pages_need_pages(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run("inspect", write(tmp_path / "a.json", CLEAN), *words)
    assert (done.returncode, b"--output-format html" in done.stderr) == (2, True)
