"""The page of a conversation: what stands where, that all of it is inert, and that it works in a browser."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.report import page
from convcli.report.page import Annotation
from convcli.views.facts import Fact

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=alert(1)> [a](javascript:alert(1)) "
    "![b](https://evil.example/p.png) <a href='https://evil.example'>c</a> \x1b[31m \u202e </pre></details> "
    "\n\n<iframe src='https://evil.example'></iframe>\n\n```html\n</code></pre><script>1</script>\n```\n"
)


def call(id_: str, name: str = "read", **arguments: Any) -> Message:
    return Message("assistant", [ToolCall(id_, name, arguments)], created_at="2026-02-15T10:00:00.000Z")


def result(id_: str, value: str, kind: Any = "text") -> Message:
    return Message("tool", [ToolResult(id_, "read", kind, value)], created_at="2026-02-15T10:00:02.500Z")


TABLE = "Look at **this**.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
USAGE = {"inputTokens": 10, "outputTokens": 3}
SESSION = Transcript(
    [
        Message("user", [Text(TABLE), Media("image", data=PIXEL, media_type="image/png")]),
        Message("event", [Opaque("openclaw", {"type": "custom"})]),
        Message("event", [Opaque("openclaw", {"type": "label"})]),
        Message("assistant", [Reasoning("Hm."), Text("```python\nx = 1\n```")], usage=USAGE),
        call("a", path="src/tables.py"),
        result("a", "def f(): ..."),
        call("b", "edit", path="x", oldText="one\n", newText="two\n"),
        result("b", "no such file", "error"),
        call("c", "bash", command="npm test"),
    ]
)


def rendered(transcript: Transcript = SESSION, **more: Any) -> str:
    return "".join(page.conversation(transcript, "A session", [Fact("openclaw"), Fact("9 messages")], **more))


class Tags(HTMLParser):
    """The tags and attributes that a browser would see, and the addresses that it could load or follow."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen = Counter[str]()
        self.sources, self.links = set[str](), set[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.update([tag, *(f"{name}=" for name, _ in attrs)])
        self.sources |= {value or "" for name, value in attrs if name in ("src", "srcset", "data", "poster")}
        self.links |= {value or "" for name, value in attrs if name == "href"}


def everywhere(text: str) -> Transcript:
    """A transcript that says a text wherever one can say anything."""
    parts = [
        Text(text),
        Reasoning(text),
        ToolCall(text, text, {text: text, "command": text, "patch": text}),
        ToolCall("2", "f", {}, raw_arguments=text),
        Opaque(text, {"value": text}),
        Media("image", data=text, media_type="image/png", name=text),
        Media("image", url=text, name=text),
    ]
    answers = [ToolResult(text, text, "text", text, status=text), ToolResult("2", "f", "multimodal", [Text(text)])]
    rows = [Message("user", parts, name=text, model=text, created_at=text, error=text, stop_reason=text)]
    return Transcript([*rows, *(Message("tool", [answer]) for answer in answers), Message("event", [Text(text)])])


def test_hostile_text_is_text_wherever_it_stands() -> None:
    html = "".join(
        page.conversation(
            everywhere(HOSTILE),
            HOSTILE,
            [Fact(HOSTILE, HOSTILE, HOSTILE)],
            {0: [Annotation("content", HOSTILE)]},
            up="index.html",
        )
    )
    tags = Tags(html)
    assert (tags.seen["script"], tags.seen["style"], tags.seen["style="]) == (1, 1, 0)
    assert not {name for name in tags.seen if name.startswith("on")}
    assert not set(tags.seen) & {"iframe", "img", "link", "object", "embed", "base"}
    assert tags.sources == set()
    assert {link for link in tags.links if not link.startswith("#")} == {"index.html"}
    assert not re.search("[\x1b\u202e]", html)


def test_the_policy_allows_this_style_and_this_script_and_images_of_the_page_only() -> None:
    html = rendered()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert body is not None
        assert rules.pop(name) == f"'sha256-{base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()}'"
    assert rules.pop("img-src") == "data:"
    assert set(rules.values()) == {"'none'"}
    assert "default-src" in rules


def test_text_is_markdown_and_code_is_coloured() -> None:
    html = rendered()
    assert "<strong>this</strong>" in html
    assert "<td>1</td>" in html
    assert '<code class="language-python">x = <span class="k-mi">1</span>' in html


def test_an_image_of_the_transcript_is_shown_and_one_from_elsewhere_is_named() -> None:
    assert f'<img src="data:image/png;base64,{PIXEL}"' in rendered()
    elsewhere = Transcript([Message("user", [Text("![plan](https://example.org/p.png)")])])
    assert "[image plan: https://example.org/p.png]" in rendered(elsewhere)


def test_a_call_is_a_card_with_its_result_beneath_and_the_seconds_between() -> None:
    html = rendered()
    card = html[html.index('id="call-1"') : html.index('id="call-2"')]
    assert "<b>read</b> <code>src/tables.py</code>" in card
    assert "2.5 s" in card
    assert '<details class="result" id="m5" open>' in card
    assert '</summary><a href="#m5" class="link" aria-label="link to message 5">5</a>' in card
    assert card.count("src/tables.py") == 1
    assert '<span class="state ok">result</span> <span class="first">def f(): ...</span>' in card
    assert html.count('<article class="item tool') == 0


def test_a_command_a_change_and_a_failure_look_like_it() -> None:
    html = rendered()
    assert "<code>$ npm test</code>" in html
    assert '<pre class="diff"><del>one</del><ins>two</ins></pre>' in html
    assert '<details class="card error edit" id="call-2" open>' in html
    assert '<span class="why">no such file</span>' in html
    assert '<details class="card open run" id="call-3">' in html


def test_rows_that_no_model_saw_are_folded_together() -> None:
    assert rendered().count('<summary>2 events<span class="dim preview">custom, label</span></summary>') == 1


def test_each_answer_with_tokens_has_its_bars_and_each_turn_of_the_user_an_entry() -> None:
    html = rendered()
    assert "message 3: 10 tokens read, 3 written" in html
    assert '<li><a href="#m0">Look at this.</a></li>' in html
    assert "<svg" not in rendered(Transcript([Message("user", [Text("Hi.")])]))


def test_what_is_off_the_active_branch_and_where_a_summary_begins_is_said() -> None:
    parents = {"a": None, "b": "a", "c": "a"}
    tree = [Message("user", [Text(text)], id=text, parent_id=parent) for text, parent in parents.items()]
    assert rendered(Transcript(tree, head="c")).count("not on the active branch") == 1
    assert "summary of what came before" in rendered(Transcript([Message("user", [Text("s")], replaces="all")]))


@pytest.mark.exhaustive
def test_what_is_far_below_is_text_until_the_script_shows_it() -> None:
    """The articles are the same, in the same order, and no text of a transcript ends its element early."""
    texts = [f"{number} {HOSTILE}" for number in range(30)]
    session = Transcript([Message("user", [Text(text * 400)]) for text in texts])
    html = rendered(session)
    scripts = re.findall(
        r'(?s)<div class="later" data-items="(\d+)"><script type="text/plain">(.*?)</script></div>', html
    )
    below = html[html.index("<noscript>") :]
    assert [text.count("<article") for _, text in scripts] == [int(number) for number, _ in scripts]
    assert re.findall(r'<article class="item user" id="m(\d+)"', html) == [str(number) for number in range(30)]
    assert below.count("<article") == sum(int(number) for number, _ in scripts) > 1
    assert (html.count("<script"), html.count("</script")) == (len(scripts) + 1, len(scripts) + 1)
    assert "<!--" not in html


def test_no_link_or_button_stands_in_the_line_of_a_fold() -> None:
    apart = Message("tool", [ToolResult("a", "read", "text", "x"), Text("and more")])
    lines = [
        line
        for transcript in (SESSION, Transcript([call("a", path="p"), apart]), everywhere("[a](https://a.example)"))
        for line in re.findall(r"(?s)<summary>(.*?)</summary>", rendered(transcript, up="/"))
    ]
    assert len(lines) > 10
    assert [line for line in lines if re.search(r"<(?:a|button|input|select)\b", line)] == []


def test_a_result_that_stands_apart_and_its_call_lead_to_each_other() -> None:
    answer = Message("tool", [ToolResult("a", "read", "text", "x"), Text("and more")])
    html = rendered(Transcript([call("a", path="p"), answer]))
    assert 'its result: <a href="#m1">message 1</a>' in html
    assert '</summary><a href="#call-1" class="mark" aria-label="to call 1">#1</a>' in html
    assert len(re.findall(r'id="m1"', html)) == 1


def test_only_a_page_of_a_server_may_ask_it() -> None:
    assert "connect-src" not in rendered()
    assert "connect-src 'self'" in rendered(version='"1"')
    assert '<body data-version="&quot;1&quot;">' in rendered(version='"1"')


def test_what_a_program_wrote_and_instructions_are_one_line_each() -> None:
    caveat = "<local-command-caveat>Caveat: The messages below</local-command-caveat>"
    output = "<local-command-stdout>Version 1\n• one\n• two</local-command-stdout>"
    rows = [Message("system", [Text("# Be *brief*")]), *(Message("user", [Text(text)]) for text in (caveat, output))]
    html = rendered(Transcript([*rows, Message("user", [Text("Hi.")])]))
    assert '<b>system</b><span class="dim preview">Be *brief*</span>' in html
    assert "Version 1\n• one\n• two" in html
    assert html.count('<details class="program">') == 3
    assert html.count('<article class="item user quiet"') == 2
    assert re.findall(r'<li><a href="#m(\d+)">', html) == ["3"]


def test_the_text_of_a_person_has_its_line_breaks_and_no_element_of_the_program_around_it() -> None:
    task = "<task>\nCount it.\nAll of it.\n</task>\n<environment_details>\ndir\n</environment_details>"
    html = rendered(Transcript([Message("user", [Text(""), Text(task)])]))
    assert '<div class="body"><div class="text"><p>Count it.<br>\nAll of it.</p>' in html.replace("<br />", "<br>")
    assert '<b>environment details</b><span class="dim preview">dir</span>' in html


def test_todos_are_boxes_and_their_result_is_folded() -> None:
    todos = [{"content": "a", "status": "completed"}, {"content": "<b>", "status": "pending"}]
    html = rendered(Transcript([call("a", "TodoWrite", todos=todos), result("a", "Todos have been modified")]))
    assert '<li class="done"><span aria-hidden="true">☑</span> a <span class="unseen">(done)</span></li>' in html
    assert '<li class="open"><span aria-hidden="true">☐</span> &lt;b&gt;</li>' in html
    assert '<details class="card ok plan" id="call-1" open><summary><b>TodoWrite</b> <code>1 of 2 done</code>' in html
    assert '<details class="result" id="m1"><summary>' in html
    three = Transcript([call(id_, "TodoWrite", todos=todos) for id_ in "abc"])
    assert re.findall(r'id="call-(\d)"( open)?>', rendered(three)) == [("1", " open"), ("2", ""), ("3", " open")]


def test_a_patch_of_codex_is_a_diff_of_each_file_with_numbers_and_colors() -> None:
    patch = "*** Begin Patch\n*** Add File: a.py\n+x = 1\n*** Update File: b.txt\n@@ f\n-old\n+new\n*** End Patch"
    html = rendered(Transcript([call("a", "apply_patch", input=patch)]))
    assert "<code>a.py, b.txt</code>" in html
    assert '<ins data-n="1">x = <span class="k-mi">1</span></ins>' in html
    assert "<i>f</i><del>old</del><ins>new</ins>" in html
    assert "Begin Patch" not in html


def test_a_result_of_codex_has_no_preamble_and_its_exit_code_stands_in_the_line() -> None:
    text = "Chunk ID: 9a\nWall time: 2.5 seconds\nProcess exited with code 3\nOriginal token count: 3\nOutput:\nv22"
    html = rendered(Transcript([call("a", "exec_command", cmd="node -v"), result("a", text)]))
    assert '<span class="state exit">exit 3</span> <span class="dim seconds">2.5 s</span>' in html
    assert "<pre>v22</pre>" in html
    assert "Chunk ID" not in html


def test_the_answer_of_an_agent_is_markdown_and_its_run_stands_inside_of_the_call() -> None:
    inside = [
        Message("user", [Text("Find it.")], parent_call_id="a"),
        Message("assistant", [ToolCall("b", "Grep", {"pattern": "x"})], parent_call_id="a"),
        Message("tool", [ToolResult("b", "Grep", "error", "no")], parent_call_id="a"),
    ]
    task = call("a", "Task", description="Look", prompt="Find it.")
    html = rendered(Transcript([task, *inside, result("a", "## Found\n\n- one")]))
    card = html[html.index('id="call-1"') :]
    assert '<summary>run of the agent: 3 messages, 1 call</summary><article class="sub user"' in card
    assert "<h2>Found</h2>" in card
    pieces = ToolResult("a", "Task", "multimodal", [Text("- one"), Text("agent 7")])
    assert "</ul>\n<p>agent 7</p>" in rendered(Transcript([task, Message("tool", [pieces])]))
    assert html.count('<article class="item') == 1
    assert 'data-tool="Task\nGrep" data-status="error\nok"' in html
    assert '<li class="failed"><a href="#m2"><b>Grep</b> x</a></li>' in html


def test_a_run_whose_call_stands_later_or_is_its_own_is_not_hidden() -> None:
    own = Message("assistant", [ToolCall("a", "Task", {})], parent_call_id="a")
    early = Message("user", [Text("first")], parent_call_id="b")
    html = rendered(Transcript([early, own, Message("assistant", [ToolCall("b", "Task", {})], parent_call_id="a")]))
    assert re.findall(r'<article class="(item|sub)[^"]*" id="m(\d)"', html) == [
        ("item", "0"),
        ("item", "1"),
        ("sub", "2"),
    ]


def test_many_runs_inside_of_each_other_are_all_shown() -> None:
    rows = [
        Message("assistant", [ToolCall(str(number), "Task", {})], parent_call_id=str(number - 1))
        for number in range(3_000)
    ]
    html = rendered(Transcript(rows))
    assert sorted(map(int, re.findall(r'" id="m(\d+)" data-role', html))) == list(range(3_000))


def test_empty_thinking_is_not_shown_and_an_image_in_a_result_is() -> None:
    image = ToolResult("a", "Read", "multimodal", [Media("image", data=PIXEL, media_type="image/png")])
    rows = [Message("assistant", [Reasoning("")]), call("a", "Read", file_path="p.png"), Message("tool", [image])]
    html = rendered(Transcript(rows))
    assert '<details class="thinking">' not in html
    card = html[html.index('id="call-1"') :]
    assert card.startswith('id="call-1" open>')
    assert f'<img src="data:image/png;base64,{PIXEL}"' in card


def test_files_failures_and_tools_have_links() -> None:
    session = [call("a", "edit", path="/w/x", oldText="1", newText="2"), result("a", "ok"), *SESSION.messages[7:]]
    failed = [call("b", "bash", command="false"), result("b", "no", "error")]
    html = rendered(Transcript([*session, *failed], cwd="/w"))
    assert '<li><a href="#m0" title="x"><span class="path"><bdi>x</bdi></span>' in html
    assert '<li class="failed"><a href="#m4"><b>bash</b> $ false</a></li>' in html
    assert '<a href="#tool=bash">bash <span class="dim">2</span></a>' in html


def test_every_message_has_a_link_to_itself() -> None:
    html = rendered()
    ids = set(re.findall(r'<(?:article|details)[^>]* id="m(\d+)"', html))
    assert ids == {str(number) for number in range(9)}
    linked = set(re.findall(r'<a href="#m(\d+)" class="link"', html))
    assert ids - linked == {"1", "2"}, "events are lines of a fold"


def test_the_size_of_a_page_is_linear() -> None:
    one, many = (len(rendered(Transcript(SESSION.messages * times))) for times in (1, 20))
    frame = len(rendered(Transcript([])))
    assert many - frame <= 20 * (one - frame) * 1.1


def test_a_time_says_how_much_later_and_with_what_context() -> None:
    times = ["2026-02-15T10:00:00Z", "2026-02-15T10:01:05Z"]
    rows = [
        Message("user", [Text("Hi.")], created_at=times[0]),
        Message("assistant", [Text("Hello.")], created_at=times[1], usage=USAGE),
    ]
    html = rendered(Transcript(rows))
    assert (
        f'<time datetime="{times[1]}" title="{times[1]}, 1 min 05 s later, 10 tokens read, 3 written">10:01:05<' in html
    )
