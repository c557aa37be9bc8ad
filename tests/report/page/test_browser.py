"""The page in a real browser, at three widths: filters, search, addresses, folds, keys; that nothing of a transcript
runs, nothing is asked of anybody, and nothing leaves its box."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from convcli.model.transcript import Message, Text, Transcript
from tests.cli.test_serve import LONG_SESSION
from tests.cli_cases import CLEAN, command, environment, write
from tests.report.page.test_page import HOSTILE, SESSION, everywhere, rendered

webdriver = pytest.importorskip("selenium.webdriver", reason="needs Selenium")
CHROMIUM, DRIVER = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="needs Chromium and chromedriver"),
]
OPTIONS = ("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking",
           "disable-component-update", "disable-sync")  # fmt: skip
WIDTHS = (420, 1280, 1920)
WIDE = Message(
    "user", [Text(f"{'W' * 900}\n\n| {'a | ' * 60}\n|{'---|' * 60}\n| {'long cell | ' * 60}\n\n`{'x' * 900}`")]
)
CROWDED = (
    "\u202e\u200b\u2066 Z"
    + "\u0301\u0300" * 90
    + "W" * 900
    + "\U0001f469\u200d" * 200
    + " </script></style>--></title>"
    "<style>*{position:fixed!important}</style><svg onload=alert(1)><use href='data:image/svg+xml,<svg/>'/></svg> "
    "{{constructor}} ${alert(1)} &lt;img src=x&gt; [x](data:text/html,<script>1</script>) ![](//evil.example/p.svg) "
    "[y]( java\tscript:alert(1)) <https://evil.example> \u061c\ufeff\x00\x9b31m\x1b]0;owned\x07"
)
"""Marks upon marks, words without end, and whatever once ended an element or began one."""
LOTS = Transcript([Message("user", [Text(f"number {number}. " + "word " * 2_000)]) for number in range(900)])

MAP = "document.querySelectorAll('#map li')"


class Browser:
    """A browser that shows one page at a time."""

    def __init__(self) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        for word in OPTIONS:
            options.add_argument(f"--{word}")
        self.driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))

    def width(self, pixels: int, height: int = 900) -> None:
        """As if the window were so wide and high."""
        size = {"width": pixels, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script: str) -> Any:
        """What an expression of the page gives."""
        return self.driver.execute_script(f"return {script}")

    def wait(self, script: str, wanted: Any, seconds: float = 30) -> None:
        """Until the expression gives this."""
        end = time.monotonic() + seconds
        while (now := self.run(script)) != wanted and time.monotonic() < end:
            time.sleep(0.05)
        assert now == wanted

    def press(self, keys: str) -> None:
        """Keys, for what has the focus."""
        webdriver.ActionChains(self.driver).send_keys(keys).perform()

    def asked(self) -> list[str]:
        """The addresses that were asked for since the last question, and those that the policy stopped."""
        entries = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [each["params"]["request"]["url"] for each in entries if each["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    one = Browser()
    yield one
    one.driver.quit()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[..., Browser]:
    def open_page(transcript: Transcript = SESSION, query: str = "", width: int = 1280) -> Browser:
        (tmp_path / "page.html").write_text(rendered(transcript), "utf-8")
        browser.width(width)
        browser.asked()
        browser.driver.get(f"{(tmp_path / 'page.html').as_uri()}{query}")
        return browser

    return open_page


OUTSIDE = """[...document.querySelectorAll('article, .card, article pre, article p, #filters *, #map *, header *')]
  .filter((each) => {
    const box = each.getBoundingClientRect(), all = each.closest('main, nav').getBoundingClientRect();
    return box.width && (box.right > all.right + 1 || box.left < all.left - 1);
  }).length"""
"""How many pieces of the page are wider than what they stand in."""
SHOWN = "[...document.querySelectorAll('.item')].filter((item) => !item.hidden).length"
COUNT = "document.querySelector('#filters output').textContent"


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_hostile_runs_or_asks_and_nothing_leaves_its_box(opened: Callable[..., Browser], width: int) -> None:
    hostile = [*everywhere(HOSTILE).messages, *everywhere(CROWDED).messages, WIDE]
    browser = opened(Transcript([*SESSION.messages, *hostile]), width=width)
    browser.driver.find_element("css selector", "#filters button[name=open]").click()
    assert browser.run("document.title") == "A session"
    assert (
        browser.run("document.querySelectorAll('iframe, object, embed, main script, img:not([src^=\"data:\"])').length")
        == 0
    )
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run(f"({OUTSIDE})") == 0
    assert [url for url in browser.asked() if not url.startswith("file:")] == []
    assert [entry for entry in browser.driver.get_log("browser") if "Content Security" in entry["message"]] == []


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", 6),
        ("?q=MARKDOWN%20nowhere", 0),
        ("?q=tables.py", 1),
        ("#q=tables.py", 1),
        ("?tool=bash", 1),
        ("#tool=bash", 1),
        ("?status=error", 1),
        ("#m5&status=error", 1),
        ("?hide=event,assistant", 1),
        ("#hide=event,assistant", 1),
    ],
)
def test_an_address_can_choose(opened: Callable[..., Browser], query: str, shown: int) -> None:
    browser = opened(query=query)
    browser.wait(SHOWN, shown)
    hits = f"{shown} hit{'s' * (shown != 1)}, " if "q=" in query else ""
    browser.wait(COUNT, "" if shown == 6 else f"{hits}{shown} of 6")


@pytest.mark.parametrize("width", WIDTHS)
def test_keys_search_mark_and_open_what_they_find(opened: Callable[..., Browser], width: int) -> None:
    browser = opened(width=width)
    browser.press("/")
    browser.press("no such")
    browser.wait(COUNT, "1 hit, 1 of 6")
    assert browser.run("document.getElementById('m7').open")
    assert browser.run("CSS.highlights.get('found').size") > 0
    browser.press("\ue00c")  # Escape
    browser.wait(COUNT, "")
    browser.width(width, 300)
    browser.press("j")
    browser.press("j")
    assert browser.run("scrollY") > 0
    browser.press("k")
    browser.press("k")
    browser.wait("document.querySelector('#m0').getBoundingClientRect().top >= 0", True)


def test_boxes_and_lists_filter(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.driver.find_element("css selector", ".menu summary").click()
    browser.driver.find_element("css selector", "input[value=event]").click()
    browser.wait(COUNT, "5 of 6")
    browser.driver.find_element("css selector", "select[name=status] option:nth-child(3)").click()
    browser.wait(COUNT, "1 of 6")


def test_folds_open_alone_together_and_by_their_address(opened: Callable[..., Browser]) -> None:
    browser = opened(query="#m5")
    browser.wait("document.getElementById('call-1').open", True)
    assert not browser.run("document.getElementById('m7').open")
    browser.driver.find_element("css selector", "#filters button[name=open]").click()
    assert browser.run("[...document.querySelectorAll('.item, .item details')].every((fold) => fold.open ?? true)")
    browser.driver.find_element("css selector", "#filters button[name=open]").click()
    assert browser.run("[...document.querySelectorAll('.item, .item details')].every((fold) => !fold.open)")
    browser.driver.find_element("css selector", "#call-2 > summary").click()
    browser.driver.find_element("css selector", "#m7 summary").click()
    assert browser.run("document.getElementById('m7').open")


ARTICLES = "document.querySelectorAll('article').length"
AT_END = (
    "(document.querySelector('main').scrollIntoView({{block: 'end'}}), "
    "document.getElementById('m{}')?.getBoundingClientRect().bottom <= innerHeight)"
)


def test_a_long_session_is_made_when_it_comes_near_and_all_of_it_is_searched(opened: Callable[..., Browser]) -> None:
    browser = opened(LOTS, width=420)
    assert 100 < browser.run(ARTICLES) < 600
    browser.driver.get(browser.driver.current_url.partition("#")[0] + "#m899")
    browser.wait("Math.abs(document.getElementById('m899')?.getBoundingClientRect().top ?? 9999) < 900", True)
    browser.press("/")
    browser.press("number 7")
    browser.wait(COUNT, "111 hits, 111 of 900")
    assert 0 < browser.run(SHOWN) < 111
    browser.wait(AT_END.format(799), True)
    assert browser.run("[...document.querySelectorAll('article')].every((each) => each.hidden || /number .*7/.test("
                       "each.textContent))")  # fmt: skip


def test_what_is_far_away_leaves_the_page_and_comes_back_as_it_was(opened: Callable[..., Browser]) -> None:
    browser = opened(LOTS)
    at_first = browser.run(ARTICLES)
    browser.wait(AT_END.format(899), True)
    browser.driver.execute_script("document.getElementById('m899').dataset.kept = 1")
    browser.wait("(scrollTo(0, 0), !document.getElementById('m899'))", True)
    assert browser.run(ARTICLES) <= at_first + 130
    browser.wait(AT_END.format(899), True)
    assert browser.run("document.getElementById('m899').dataset.kept") == "1"


@pytest.mark.parametrize("number", [5, 899])
def test_a_link_leads_to_its_place_though_a_filter_hides_it(opened: Callable[..., Browser], number: int) -> None:
    browser = opened(LOTS, query="?q=number+12.")
    browser.wait(COUNT, "1 hit, 1 of 900")
    browser.driver.execute_script(f"location.hash = 'm{number}'")
    browser.wait(f"Math.abs(document.getElementById('m{number}')?.getBoundingClientRect().top ?? 9999) < 900", True)
    assert browser.run(COUNT) == ""


HERE = "[...CSS.highlights.get('here')].map((range) => range.toString())[0]"
HERE_TOP = "[...CSS.highlights.get('here')][0]?.getBoundingClientRect().top"
ENTER = "\ue007"


def test_search_goes_from_hit_to_hit_and_opens_what_hides_it(opened: Callable[..., Browser]) -> None:
    browser = opened(LOTS)
    browser.press("/")
    browser.press("NUMBER 89")
    browser.wait(COUNT, "11 hits, 11 of 900")
    browser.press(ENTER)
    browser.wait(COUNT, "1/11 hits, 11 of 900")
    browser.driver.find_element("css selector", "button[name=previous]").click()
    browser.wait(COUNT, "11/11 hits, 11 of 900")
    assert browser.run(HERE) == "number 89"
    browser.wait(f"0 < {HERE_TOP} && {HERE_TOP} < innerHeight", True)
    assert browser.run("document.getElementById('m899') !== null")


def test_a_hit_may_reach_over_elements_and_stand_in_a_fold(opened: Callable[..., Browser]) -> None:
    browser = opened(query="#q=look+at+this.")
    browser.wait(COUNT, "1 hit, 1 of 6")
    browser = opened(query="#q=two")
    browser.wait(COUNT, "1 hit, 1 of 6")
    browser.press("n")
    browser.wait(COUNT, "1/1 hit, 1 of 6")
    assert browser.run("document.getElementById('call-2').open")


def test_filters_and_search_stand_in_the_address(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.press("/")
    browser.press("x 1")
    browser.wait("location.hash", "#q=x+1")
    browser.driver.find_element("css selector", ".menu summary").click()
    browser.driver.find_element("css selector", "input[value=event]").click()
    browser.wait("location.hash", "#q=x+1&hide=event")
    browser.driver.execute_script("location.hash = 'm5'")
    browser.wait("location.hash", "#m5")
    browser.wait(COUNT, "")
    browser.driver.execute_script("location.hash = 'tool=bash'")
    browser.wait(COUNT, "1 of 6")
    browser.driver.execute_script("location.hash = 'm8'")
    browser.wait("location.hash", "#m8&tool=bash")
    browser.wait(COUNT, "1 of 6")


def test_keys_are_listed_and_the_theme_changes(opened: Callable[..., Browser]) -> None:
    browser = opened()
    browser.press("?")
    assert browser.run("document.getElementById('keys').open")
    browser.press("?")
    assert not browser.run("document.getElementById('keys').open")
    color = "getComputedStyle(document.documentElement).backgroundColor"
    before = browser.run(color)
    browser.press("t")
    assert browser.run(color) != before
    browser.driver.find_element("css selector", "button[name=theme]").click()
    assert browser.run(color) == before


def test_the_plot_has_axes_and_leads_to_the_message(opened: Callable[..., Browser]) -> None:
    browser = opened()
    assert browser.run(
        "[...document.querySelectorAll('.plot text')].map((text) => text.textContent).join(' ')"
    ).startswith("10 0 3 0")
    browser.driver.find_element("css selector", ".plot .read").click()
    browser.wait("location.hash", "#m3")
    browser.wait("document.getElementById('m3').classList.contains('target')", True)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_conversation_comes_first_and_uses_the_width(opened: Callable[..., Browser], width: int) -> None:
    instructions = Message("system", [Text("Be brief.\n\n" * 500)])
    written = [Message("user", [Text("<local-command-stdout>" + "line\n" * 900 + "</local-command-stdout>")])] * 4
    browser = opened(Transcript([instructions, *written, *SESSION.messages]), width=width)
    assert browser.run("document.querySelector('article.user:not(.quiet)').getBoundingClientRect().top") <= 600
    main, rail = (
        browser.run(f"document.querySelector('{name}').getBoundingClientRect().toJSON()") for name in ("main", "#map")
    )
    if width == 420:
        assert main["top"] < rail["top"]
    else:
        assert main["left"] >= rail["right"] - 1
        side = browser.run("document.querySelector('#side').getBoundingClientRect().toJSON()")
        assert side["right"] > 1890 if width == 1920 else side["left"] < main["left"]


def test_printing_leaves_folded_what_is_folded(opened: Callable[..., Browser]) -> None:
    browser = opened()
    before = browser.run("document.querySelectorAll('main details[open]').length")
    browser.driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("document.querySelectorAll('main details[open]').length") == before


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of the index, and the server."""
    call = command("serve", folder, "--isolated", "--no-cache")
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().decode().strip(), process
        finally:
            process.kill()


HEAD = "document.querySelector('main header').textContent"
ROWS = "document.querySelectorAll('#sessions .item').length"


def test_a_long_session_that_is_served_opens_with_its_beginning_and_gets_its_end(
    browser: Browser, tmp_path: Path
) -> None:
    write(tmp_path / "s.jsonl", *LONG_SESSION)
    with served(tmp_path) as (address, _):
        browser.driver.get(address)
        browser.wait(f"{HEAD}.includes('999 messages')", True)
        browser.driver.find_element("css selector", ".item a").click()
        browser.wait(f"{HEAD}.includes('999 messages')", True)
        assert not browser.run(f"{HEAD}.includes('is being read')")
        browser.wait(AT_END.format(998), True)
        assert browser.run(f"[...{MAP}].length") == 999


def test_a_session_that_is_served_goes_on_in_its_page(browser: Browser, tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", CLEAN)
    with served(tmp_path) as (address, process):
        browser.asked()
        browser.driver.get(address)
        browser.wait(ROWS, 1)
        browser.driver.find_element("css selector", ".item a").click()
        assert browser.run("document.querySelectorAll('article').length") == 2
        browser.driver.execute_script("document.getElementById('m0').dataset.kept = 1")
        write(file, {**CLEAN, "messages": [*CLEAN["messages"], {"role": "user", "content": HOSTILE}]})
        browser.wait("document.querySelectorAll('article').length", 3)
        assert browser.run("document.getElementById('m0').dataset.kept") == "1"
        assert browser.run("document.title") == "hi"
        assert [url for url in browser.asked() if not url.startswith(address)] == []
        process.send_signal(signal.SIGINT)
        browser.wait("document.body.classList.contains('gone')", True)


def test_the_list_of_a_server_searches_and_sorts_and_stays_at_the_side_of_a_page(
    browser: Browser, tmp_path: Path
) -> None:
    for number, text in enumerate(("an owl", f"an owl and {HOSTILE}", "a lark")):
        write(tmp_path / f"{number}.json", {"messages": [{"role": "user", "content": f"prompt {number}: {text}"}]})
    with served(tmp_path) as (address, _):
        browser.width(1280)
        browser.driver.get(address)
        browser.wait(ROWS, 3)
        browser.press("/")
        browser.press("OWL")
        browser.wait(ROWS, 2)
        browser.driver.find_element("css selector", "th.title a").click()
        browser.wait("location.search", "?sort=title&find=OWL")
        browser.wait("document.querySelector('[aria-sort]').className", "title")
        browser.driver.find_element("css selector", ".item a").click()
        browser.wait(COUNT, "1 hit, 1 of 1")
        assert browser.run(ROWS) == 2
        browser.press("s")
        browser.press("\ue003")  # Backspace
        browser.wait(ROWS, 3)
        assert browser.run("document.querySelector('#sessions [aria-current=page]').textContent").startswith("prompt 0")
        pane, page = (
            browser.run(f"document.querySelector('{name}').getBoundingClientRect().toJSON()")
            for name in ("#sessions", "main")
        )
        assert pane["right"] <= page["left"] + 1
        assert browser.run("document.querySelectorAll('img, body > script ~ script').length") == 0
        browser.driver.find_element("css selector", ".panes label:last-child").click()
        page_of_one = browser.driver.current_url
        for width, shown in zip(WIDTHS, ([False, True], [False, True], [True, True]), strict=True):
            browser.width(width)
            seen = [browser.run(f"document.querySelector('{name}').offsetWidth > 0") for name in ("#sessions", "#map")]
            assert seen == shown
            for at in (address, page_of_one):
                browser.driver.get(at)
                assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        assert [entry for entry in browser.driver.get_log("browser") if "Content Security" in entry["message"]] == []
