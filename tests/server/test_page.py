"""The page, in a real browser against a real server: the whole story by an analyst and an owner,
and what must hold of it beside.

Pictures of every step are kept in build/screenshots, so that somebody can look at them.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from playwright.sync_api import BrowserContext, Page, Route, ViewportSize, expect, sync_playwright

import sfumato as sf
from sfumato.cli.serve_command import prepare_demo
from sfumato.server.http.problems import BUSY, INTERNAL, Problem

from .service import free_port

STATIC = Path(sf.__file__).with_name("server") / "static"
SHOTS = Path(__file__).parents[2] / "build" / "screenshots"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(spend) AS mean_spend\nFROM visits\nGROUP BY city"
DESK: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
TRIPS = """
[datasets.trips]
source = "trips.parquet"
about = "The visits under another name: only the unit is declared, and the budget is not an ε."
unit = "user_id"
budget = { notion = "GDP", mu_squared = "4" }
deadline = 2
"""

pytestmark = [pytest.mark.xdist_group("page")]
browsing = pytest.mark.browser


@dataclass(frozen=True)
class Site:
    """A server with the sample data, and a browser."""

    url: str
    tokens: dict[str, str]
    context: BrowserContext

    @contextmanager
    def page(self, role: str | None = None, *, allowed: str = "") -> Iterator[Page]:
        """A page in a tab of its own, signed in. In the end nothing may have gone wrong in it, and
        nothing may have been asked of anybody else.
        """
        trouble: list[str] = []
        page = self.context.new_page()
        page.set_viewport_size(DESK)
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on(
            "console",
            lambda message: (
                trouble.append(message.text)
                if message.type in ("error", "warning") and "status of 4" not in message.text
                else None
            ),
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((self.url, "blob:" + self.url))
                else trouble.append(request.url)
            ),
        )
        page.goto(self.url)
        if role is not None:
            page.get_by_label("Your token").fill(self.tokens[role])
            page.keyboard.press("Enter")
            expect(page.locator("#whose")).to_be_visible()
        yield page
        page.close()
        assert [text for text in trouble if not (allowed and allowed in text)] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    path, tokens = prepare_demo(folder, "127.0.0.1", port)
    text = re.sub(
        r"(?m)^deadline(s?) = .*$",
        lambda match: "deadlines = [2]" if match[1] else "deadline = 2",
        path.read_text(encoding="utf-8"),
    )
    path.write_text(text + TRIPS, encoding="utf-8")
    shutil.copy(folder / "visits.parquet", folder / "trips.parquet")
    url = f"http://127.0.0.1:{port}/"
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-c", "from sfumato.cli import main; main()", "serve", str(path)],
            stdout=log,
            stderr=log,
        )
        try:
            _wait(url, server)
            expect.set_options(
                timeout=30_000
            )  # a busy machine is slow, which says nothing about the page
            with sync_playwright() as play:
                browser = play.chromium.launch(
                    executable_path=shutil.which("chromium"),
                    args=["--no-sandbox", "--process-per-site"],
                )
                yield Site(
                    url,
                    tokens,
                    browser.new_context(locale="en-GB", timezone_id="UTC", reduced_motion="reduce"),
                )
                browser.close()
        finally:
            server.terminate()
            server.wait(60)


@pytest.fixture(scope="module")
def door(site: Site) -> Iterator[Page]:
    """A page at the door, for tests that ask single modules."""
    with site.page() as page:
        yield page


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(1200):
        assert server.poll() is None
        try:
            if httpx.get(f"{url}api/health").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


def shot(page: Page, name: str, *, full_page: bool = True) -> None:
    SHOTS.mkdir(parents=True, exist_ok=True)
    if full_page:
        page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=SHOTS / f"{name}.png", full_page=full_page)


def everywhere(page: Page, name: str) -> None:
    """By day and by night, on a desk and on a phone, where nothing may stand out to the side."""
    for dark in (False, True):
        page.emulate_media(color_scheme="dark" if dark else "light")
        shot(page, f"{name}{'-dark' if dark else ''}")
        page.set_viewport_size(PHONE)
        expect(page.locator("svg.chart:visible").first).to_have_attribute(
            "width", re.compile(r"^[123]\d\d$")
        )  # drawn anew
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        shot(page, f"{name}-phone{'-dark' if dark else ''}")
        page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light")


def ask(page: Page, text: str) -> None:
    page.get_by_label("Question in SQL").fill(text)


def tell(route: Route, problem: Problem) -> None:
    route.fulfill(
        status=problem.status,
        body=problem.body(),
        headers={**problem.headers, "Content-Type": "application/problem+json"},
    )


def planned(page: Page) -> None:
    expect(page.locator("#plan")).to_have_attribute("aria-busy", "false")
    expect(page.locator("#release")).to_be_enabled()


def release(page: Page) -> None:
    planned(page)
    page.locator("#release").click()
    expect(page.locator("#answer")).to_be_visible()
    expect(page.locator("#release")).not_to_have_attribute("aria-busy", "true")


@browsing
def test_the_story_of_an_analyst(site: Site) -> None:
    with site.page() as page:
        shot(page, "sign-in")
        page.get_by_label("Your token").fill("sft_nobody_nothing")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("ask the owner for a new one")
        page.get_by_label("Your token").fill(site.tokens["analyst"])
        page.keyboard.press("Enter")

        # what is public: the schema, the budget, an example with its plan
        expect(page.get_by_role("meter", name="Your budget")).to_have_attribute(
            "aria-valuenow", "0"
        )
        expect(page.locator("#schema")).to_contain_text("Alberobello")
        expect(page.locator("#promise")).to_contain_text("ε = 0.1")
        expect(page.locator("#picture svg")).to_be_visible()
        shot(page, "plan")

        # the keyboard alone: completion, then to the button
        page.get_by_label("Question in SQL").fill("")
        page.keyboard.type("SELECT ci")
        expect(page.get_by_role("option", name="city")).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.type(", COUNT(*) AS n, AV")
        page.keyboard.press("Tab")
        page.keyboard.type("spen")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.type(") AS mean_spend FROM vis")
        shot(page, "completion", full_page=False)
        page.keyboard.press("Tab")
        page.keyboard.type(" WHERE city = 'Ro")
        expect(page.get_by_role("option", name="'Roma'")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("listbox")).to_be_hidden()
        assert (
            page.locator("#sql").input_value()
            == "SELECT city, COUNT(*) AS n, AVG(spend) AS mean_spend FROM visits WHERE city = 'Ro"
        )

        # a refusal: the words, the reason, and a button that applies what would pass
        ask(page, "SELECT city, spend\nFROM visits")
        expect(page.locator("#refusal")).to_contain_text("sql.raw-rows")
        assert page.locator("#editor mark").all_inner_texts() == ["city"]
        expect(page.locator("#release")).to_be_disabled()
        shot(page, "refusal", full_page=False)
        page.emulate_media(color_scheme="dark")
        shot(page, "refusal-dark", full_page=False)
        page.emulate_media(color_scheme="light")
        page.get_by_role("button", name="Use this question").click()
        assert (
            page.locator("#sql").input_value()
            == "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
        )
        expect(page.locator("#refusal")).to_be_hidden()
        planned(page)

        # slide ε: the error follows; type the error: ε follows
        ask(page, BY_CITY)
        planned(page)
        before = page.locator("#promise").inner_text()
        page.get_by_label("Privacy loss ε, from little to much").press("End")
        planned(page)
        assert page.locator("#promise").inner_text() != before
        assert page.locator("#epsilon").input_value() == "6"
        page.get_by_text("I choose the error").click()
        page.get_by_label("Error of n you can live with").fill("150")
        expect(page.locator("#promise")).to_contain_text("± 150")
        planned(page)
        shot(page, "error-first")
        page.get_by_text("I choose the price").click()
        page.get_by_label("Privacy loss ε", exact=True).fill("7")
        expect(page.locator("#release-note")).to_contain_text("More than is left")
        page.get_by_label("Privacy loss ε", exact=True).fill("1/2")

        # release by keyboard
        planned(page)
        page.get_by_label("Question in SQL").press("Control+Enter")
        page.keyboard.press("Enter")
        expect(page.locator("#answer")).to_be_visible()
        expect(page.locator("#answer-title")).to_be_focused()
        rows = page.locator("#answer tbody tr")
        expect(rows).to_have_count(8)
        assert re.search(r"Roma\s+[\d\u202f]+ ± \d+\s", rows.filter(has_text="Roma").inner_text())
        assert page.locator("#answer svg path.error").count() == 8
        expect(page.locator("#answer-cost")).to_contain_text("ε = 0.5")
        expect(page.get_by_role("meter", name="Your budget")).to_have_attribute(
            "aria-valuenow", "8"
        )
        named(page)
        everywhere(page, "answer")

        # take it along
        for label, ending, read in (
            ("CSV", "csv", _csv),
            ("JSON", "json", _json),
            ("Arrow", "arrows", _arrow),
        ):
            with page.expect_download() as download:
                page.get_by_role("button", name=f"Download as {label}").click()
            assert download.value.suggested_filename.endswith(ending)
            assert read(Path(download.value.path()).read_bytes()) == 8

        # the card, and back
        page.locator("#answer").get_by_role("button", name="Release card").click()
        expect(page.get_by_role("dialog")).to_contain_text("Who is protected, and how much")
        shot(page, "card", full_page=False)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()

        # history: use it again; the same question costs nothing
        expect(page.locator("#history tbody tr")).to_have_count(1)
        page.reload()
        expect(page.locator("#history tbody tr")).to_have_count(1)
        ask(page, "SELECT COUNT(*) AS n FROM visits")
        page.get_by_role("button", name=re.compile("Use question")).click()
        assert page.locator("#sql").input_value() == BY_CITY
        page.get_by_label("Privacy loss ε", exact=True).fill("-1")
        expect(page.locator("#promise")).to_contain_text("a number above 0")
        page.get_by_label("Privacy loss ε", exact=True).fill("1/2")
        expect(page.locator("#promise")).to_contain_text("Already paid:")
        expect(page.locator("#release")).to_have_text("Show the answer again, free")
        shot(page, "paid")
        release(page)
        expect(page.locator("#answer")).to_contain_text("This had been answered before")
        expect(page.locator("#history tbody tr")).to_have_count(1)

        # what is not an ε is shown, too
        page.get_by_label("Dataset", exact=True).select_option("trips")
        expect(page.locator("#own-budget")).to_contain_text("μ 2 left")
        expect(page.locator("#promise")).to_contain_text("after learning")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Your token")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0


def _csv(data: bytes) -> int:
    return len(data.decode().strip().splitlines()) - 1


def _json(data: bytes) -> int:
    return len(json.loads(data)["table"]["rows"])


def _arrow(data: bytes) -> int:
    return int(pa.ipc.open_stream(io.BytesIO(data)).read_all().num_rows)


@browsing
def test_clicks_make_a_question(site: Site) -> None:
    with site.page("analyst") as page:
        planned(page)
        page.get_by_text("Build a question by clicking").click()
        expect(page.locator(".chip", has_text="city")).to_have_class(re.compile("chip"))
        expect(page.get_by_label("city", exact=True)).to_be_checked()  # the example's own group
        ask(page, "SELECT COUNT(*) + 1 AS mine FROM visits")
        expect(page.locator("#builder")).to_contain_text("more than clicks can write")
        ask(page, "SELECT COUNT(*) AS mine FROM visits")
        expect(page.get_by_label("city", exact=True)).not_to_be_checked()
        expect(page.locator("#builder")).not_to_contain_text("more than clicks can write")
        page.get_by_role("button", name="and another").click()
        page.get_by_label("Of which column").select_option("spend")
        page.locator(".chip", has_text="city").click()
        page.get_by_role("button", name="add a condition").click()
        page.get_by_label("Which column", exact=True).select_option("vip")
        page.get_by_label("With what").select_option("true")
        page.get_by_role("button", name="and also").click()
        page.get_by_label("Which column", exact=True).last.select_option("day")
        page.get_by_label("Compared how").last.select_option(">=")
        page.get_by_label("With what").last.fill("2026-03-01")
        lines = [
            "SELECT city, COUNT(*) AS n, AVG(spend) AS mean_spend",
            "FROM visits",
            "WHERE vip = TRUE AND day >= DATE '2026-03-01'",
            "GROUP BY city",
        ]
        assert page.locator("#sql").input_value() == "\n".join(lines)
        planned(page)
        shot(page, "clicks")
        page.get_by_role("button", name="Back to my text").click()
        assert page.locator("#sql").input_value() == "SELECT COUNT(*) AS mine FROM visits"

        # a token that ends leads to the door, and nothing of what was shown stays
        planned(page)
        page.route(
            "**/plan",
            lambda route: route.fulfill(
                status=401, json={"code": "server.token", "reason": "it has expired"}
            ),
        )
        ask(page, "SELECT COUNT(*) AS n FROM visits WHERE vip")
        expect(page.get_by_role("alert")).to_contain_text("expired or was revoked")
        expect(page.get_by_label("Your token")).to_be_focused()
        expect(page.locator("#desk")).to_be_hidden()
        assert page.evaluate("Object.keys(sessionStorage)") == []


@browsing
def test_the_story_of_an_owner_and_an_auditor(site: Site) -> None:
    with site.page("analyst") as page:
        ask(page, "SELECT vip, COUNT(*) AS n FROM visits GROUP BY vip")
        release(page)
    with site.page("owner") as page:
        expect(page.get_by_role("heading", name="visits")).to_be_visible()
        expect(page.locator("#desk")).to_be_hidden()
        expect(page.locator("#course svg")).to_be_visible()
        expect(page.get_by_role("meter", name="Budget of ada")).to_be_visible()
        expect(page.locator("#log")).to_contain_text("GROUP BY vip")
        page.get_by_label("by", exact=True).select_option("ada")
        expect(page.locator("#log tbody tr").first).to_contain_text("ada")
        page.get_by_role("button", name="Check the ledger").click()
        expect(page.locator("#verdict")).to_contain_text("The ledger is intact.")
        line = page.locator("#verdict .head-line").inner_text()
        page.get_by_label("A last line that you kept").fill(line)
        page.get_by_role("button", name="Check the ledger").click()
        expect(page.locator("#verdict")).to_contain_text("contains your head")
        page.get_by_label("A last line that you kept").fill(line[:-1] + "f0"[line[-1] == "f"])
        page.get_by_role("button", name="Check the ledger").click()
        expect(page.locator("#verdict")).to_contain_text("The ledger is not intact.")
        page.get_by_label("A last line that you kept").fill("a line")
        page.get_by_role("button", name="Check the ledger").click()
        expect(page.locator("#verdict")).to_contain_text("not the head of a ledger")
        expect(page.locator("#overruns")).to_contain_text("0 questions")
        everywhere(page, "owner")
        page.locator("#log").get_by_role("button", name=re.compile("Release card")).first.click()
        expect(page.get_by_role("dialog")).to_contain_text("What is promised")
        page.get_by_role("button", name="Close").click()
    with site.page("auditor") as page:
        expect(page.locator("#log")).to_contain_text("GROUP BY vip")
        page.get_by_role("button", name="Check the ledger").click()
        expect(page.locator("#verdict")).to_contain_text("The ledger is intact.")
        expect(page.get_by_text("Missed deadlines")).to_be_hidden()
        expect(page.locator("#desk")).to_be_hidden()
        shot(page, "auditor")


NAMELESS = """() => [...document.querySelectorAll(
    'button, input, select, textarea, summary, [role=region], [role=img], [role=meter]')]
  .filter(e => e.checkVisibility() && !(e.getAttribute('aria-label')
    || e.textContent && e.matches('button, summary') && e.textContent.trim()
    || [...(e.labels ?? [])].some(l => l.textContent.trim())))
  .map(e => e.id || e.outerHTML)"""


def named(page: Page) -> None:
    """What can be used has a name for those who do not see it, ids are single, there is one heading
    above all, and a place for everything.
    """
    page.get_by_text("Build a question by clicking").click()
    assert page.evaluate(NAMELESS) == []
    assert (
        page.evaluate(
            "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) "
            "=> all.indexOf(id) !== i)"
        )
        == []
    )
    assert page.locator("h1:visible").count() == 1
    snapshot = page.locator("body").aria_snapshot()
    for part in (
        "banner",
        "main",
        "complementary",
        'region "The answer as a table"',
        'textbox "Question in SQL"',
        'slider "Privacy loss ε',
        "img ",
    ):
        assert part in snapshot, part
    label = page.locator("#release").inner_text()
    page.evaluate("document.querySelector('#release').textContent = ''")
    assert page.evaluate(NAMELESS) == ["release"]  # the twin: without its name it is found
    page.evaluate("text => { document.querySelector('#release').textContent = text }", label)
    page.get_by_text("Build a question by clicking").click()


HOSTILE = '<img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>'


@browsing
def test_what_the_server_says_is_text(site: Site) -> None:
    """Every text of every reply is replaced by markup. None of it becomes an element, and nothing
    of it runs.
    """
    with site.page() as page:
        page.route("**/api/**", lambda route: _poisoned(route))
        page.get_by_label("Your token").fill(site.tokens["analyst"])
        page.keyboard.press("Enter")
        expect(page.locator("#about")).to_contain_text("<img")
        expect(page.locator("#promise")).to_contain_text("<script>")
        ask(page, "SELECT spend FROM visits")
        expect(page.locator("#refusal .reason")).to_contain_text("<img")
        assert page.evaluate(
            "[document.querySelectorAll('main img, main script').length, window.hacked ?? 0]"
        ) == [0, 0]


def _poisoned(route: Route) -> None:
    reply = route.fetch()
    unchanged = {
        "name": 0,
        "role": 1,
        "type": 1,
        "notion": 1,
        "sfumato": 1,
        "when": 1,
        "code": 1,
        "epsilon": 1,
        "delta": 1,
        "datasets": 1,
        "example": 1,
    }

    def poison(value: Any, key: str = "") -> Any:
        match value:
            case dict():
                return {
                    (f"{k} {HOSTILE}" if key == "error" else k): poison(v, k)
                    for k, v in value.items()
                }
            case list():
                return value if unchanged.get(key) else [poison(item, key) for item in value]
            case str() if not unchanged.get(key):
                return value if key == "name" and value == "visits" else f"{value} {HOSTILE}"
        return value

    route.fulfill(response=reply, json=poison(reply.json()))


@browsing
def test_late_plans_are_dropped(site: Site) -> None:
    """The reply to an older text comes after that to a newer one: the newer one stays."""
    with site.page("analyst") as page:
        planned(page)
        page.evaluate(
            """() => { const usual = window.fetch; window.fetch = async (address, how) => {
                 const reply = await usual(address, { ...how, signal: undefined });
                 if (String(how?.body).includes('slow_one'))
                   await new Promise(done => setTimeout(done, 1500));
                 return reply; } }"""
        )
        ask(page, "SELECT COUNT(*) AS slow_one FROM visits")
        page.wait_for_timeout(500)  # it is on its way
        ask(page, "SELECT COUNT(*) AS quick_one FROM visits")
        expect(page.locator("#promise")).to_contain_text("quick_one")
        page.wait_for_timeout(1500)
        expect(page.locator("#promise")).to_contain_text("quick_one")


@browsing
def test_nothing_is_typed_before_the_draft_is_there(site: Site) -> None:
    """The schema is slow to come: what was typed meanwhile would be mixed with the draft that comes
    with it, so the text waits.
    """
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with site.page("analyst") as page:
        planned(page)
        ask(page, "SELECT COUNT(*) AS mine FROM visits")
        planned(page)
        page.route("**/api/datasets/visits", hold)
        page.reload()
        expect(page.get_by_label("Question in SQL")).to_be_disabled()
        while not held:
            page.wait_for_timeout(20)
        page.get_by_label("Privacy loss ε", exact=True).fill(
            "0.2"
        )  # nor is the draft lost by what can be changed
        held[0].continue_()
        planned(page)
        assert page.locator("#sql").input_value() == "SELECT COUNT(*) AS mine FROM visits"
        expect(page.locator("#promise")).to_contain_text("ε = 0.2")
        ask(page, "SELECT COUNT(*) AS n FROM visits")
        planned(page)
        assert page.locator("#sql").input_value() == "SELECT COUNT(*) AS n FROM visits"


@browsing
def test_who_has_gone_on_is_not_sent_to_the_door(site: Site) -> None:
    """A dataset that cannot be opened leads back to the door; not those who have chosen another
    meanwhile.
    """
    with site.page("analyst", allowed="Failed to load resource") as page:
        planned(page)
        page.evaluate(
            "() => { const usual = window.setTimeout; window.setTimeout = (call, ms) => "
            "usual(call, ms / 5) }"
        )
        page.route("**/api/datasets/trips", lambda route: route.abort())
        page.get_by_label("Dataset", exact=True).select_option("trips")
        expect(page.get_by_label("Question in SQL")).to_be_disabled()
        page.get_by_label("Dataset", exact=True).select_option("visits")
        planned(page)
        page.wait_for_timeout(1500)  # the last asking for the other one has failed by then
        expect(page.locator("#desk")).to_be_visible()
        page.get_by_label("Dataset", exact=True).select_option("trips")
        expect(page.get_by_role("alert")).to_contain_text("No reply came")
        expect(page.locator("#desk")).to_be_hidden()


@browsing
def test_a_plan_that_did_not_come_is_asked_for_again(site: Site) -> None:
    """A plan is free: whether the line broke or the service was busy, nobody has to type to get it.
    So are the looks at schema and budget.
    """
    missed: list[str] = []

    def broken(route: Route) -> None:
        missed.append(route.request.url)
        if missed.count(route.request.url) > 2:
            route.continue_()
        elif missed.count(route.request.url) == 2:
            tell(route, replace(BUSY, headers={"Retry-After": "2"}))  # long enough to be seen
        else:
            route.abort()

    with site.page("analyst", allowed="Failed to load resource") as page:
        planned(page)
        page.route("**/plan", broken)
        ask(page, "SELECT COUNT(*) AS again FROM visits")
        expect(page.locator("#release-note")).to_contain_text("No reply came")
        expect(page.locator("#release-note")).to_contain_text("cannot take this request now")
        expect(page.locator("#promise")).to_contain_text("again")
        planned(page)
        page.route("**/budget", broken)
        page.reload()
        planned(page)
        assert {url.rsplit("/", 1)[-1] for url in missed if missed.count(url) >= 3} == {
            "plan",
            "budget",
        }


@browsing
def test_a_retry_is_the_same_request(site: Site) -> None:
    """The line breaks after the server answered. An analyst who asks again, even after a reload,
    gets that answer, and pays once.
    """
    keys: list[str] = []

    def broken(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        reply = route.fetch()
        if len(keys) == 1:
            route.abort()
        else:
            route.fulfill(response=reply)

    with site.page("analyst", allowed="ERR_FAILED") as page:
        page.route("**/release", broken)
        ask(page, "SELECT COUNT(*) AS n FROM visits WHERE age >= 77")
        planned(page)
        before = _spent(site)
        page.locator("#release").click()
        expect(page.locator("#release-note")).to_contain_text("No reply came")
        page.reload()
        expect(page.locator("#release-note")).to_contain_text("no reply came")
        release(page)
        expect(page.locator("#answer")).not_to_contain_text(
            "This had been answered before"
        )  # it is the first answer, not a repetition
        assert _spent(site) - before == Fraction(1, 10)
        assert len(keys) == 2
        assert keys[0] == keys[1]
        ask(page, "SELECT COUNT(*) AS n FROM visits WHERE age >= 78")
        release(page)
        assert keys[2] != keys[0]


@browsing
def test_what_broke_on_the_way_is_asked_again_with_the_same_key(site: Site) -> None:
    """The server says that something broke, and to try again with the same key: the page does, and
    nothing is charged twice.
    """
    keys: list[str] = []

    def broken(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        reply = route.fetch()
        if len(keys) <= 2:
            tell(route, INTERNAL)
        else:
            route.fulfill(response=reply)

    with site.page("analyst", allowed="status of 500") as page:
        page.route("**/release", broken)
        ask(page, "SELECT COUNT(*) AS n FROM visits WHERE age >= 76")
        planned(page)
        before = _spent(site)
        release(page)
        expect(page.locator("#answer")).not_to_contain_text("This had been answered before")
        assert len(keys) == 3
        assert len(set(keys)) == 1
        assert _spent(site) - before == Fraction(1, 10)


def _spent(site: Site) -> Fraction:
    reply = httpx.get(
        f"{site.url}api/datasets/visits/budget",
        headers={"Authorization": f"Bearer {site.tokens['owner']}"},
    )
    return Fraction(reply.json()["spent"]["epsilon"])


@browsing
def test_numbers_are_rounded_outward(door: Page) -> None:
    """Costs are never shown below the truth, what is left never above it, and both within one per
    cent.
    """
    texts = [
        "3/10",
        "1/3",
        "2/3",
        "1e-9",
        "1/999999",
        "0.1",
        "7",
        "1234567/1000",
        "99999/100000",
        "1199/1000",
        "123456789012",
        "1/7000000000000",
    ]
    figures = door.evaluate(
        """async texts => { const { figure, ratio, root } = await import('/static/numbers.js');
             return texts.map(text => [true, false].map(up => [
               figure(ratio(text), { up }),
               figure(root(ratio(text), { up }), { up, digits: 6 })])) }""",
        texts,
    )
    for text, ((up, root_up), (down, root_down)) in zip(texts, figures, strict=True):
        exact = Fraction(text)
        assert _read(down) <= exact <= _read(up), text
        assert _read(up) - _read(down) <= exact / 100, text
        assert _read(root_down) ** 2 <= exact <= _read(root_up) ** 2, text


def _read(shown: str) -> Fraction:
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    mantissa, _, power = shown.replace("\u202f", "").rpartition(
        "10" if re.search("[⁰-⁹¹²³]", shown) else "\0"
    )
    if not mantissa and not power.translate(raised).lstrip("-").isdigit():
        return Fraction(power)
    if "\0" not in shown and not re.search("[⁰-⁹¹²³]", shown):
        return Fraction(power)
    return Fraction(mantissa.rstrip("·") or 1) * Fraction(10) ** int(power.translate(raised))


REFUSED = [
    ("SELECT city, spend FROM visits", "city"),
    ("SELECT\n\tCOUNT(*) AS n,\n\tspend -- a comment\nFROM visits", "spend"),
    ("SELECT COUNT(*) FROM visit", "visit"),
    ("SELECT SUM(user_id) AS s FROM visits", "SUM(user_id)"),
    ("SELECT COUNT(*) AS n FROM visits WHERE city = '東京' AND citi = 'x'", "citi"),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE "
        + " OR ".join(f"age = {i}" for i in range(40))
        + " OR ago = 1",
        "ago",
    ),
    ("SELECT COUNT(*) AS n FROM visits; DROP TABLE visits", ";"),
]


@browsing
def test_the_words_that_are_meant_are_found(door: Page) -> None:
    visits = sf.protect(
        sf.samples.visits(),
        name="visits",
        unit="user_id",
        budget=1,
        max_rows=4,
        bounds={"spend": (0, 100)},
    )
    refusals = []
    for text, _ in REFUSED:
        with pytest.raises(sf.Refused) as caught:
            visits.plan(text, epsilon=0.1)
        refusals.append(
            {name: getattr(caught.value, name) for name in ("code", "place", "reason", "rewrite")}
        )
    marked = door.evaluate(
        """async ([refusals, texts]) => { const { meant } = await import('/static/refusals.js');
             return refusals.map((problem, i) => {
               const span = meant(problem, texts[i]);
               return span && texts[i].slice(...span) }) }""",
        [refusals, [text for text, _ in REFUSED]],
    )
    assert marked == [words for _, words in REFUSED]


@browsing
def test_values_and_names_stay_inside_their_quotes(door: Page) -> None:
    """Clicks cannot write anything but values and names: what they make is parsed by the server's
    own reader and comes back whole.
    """
    table = {
        "name": 'o\'dd "table"',
        "columns": [
            {"name": 'na"me', "type": "string"},
            {"name": "select", "type": "int64"},
            {"name": "day", "type": "date"},
        ],
    }
    state = {
        "values": [
            {"what": "rows", "column": ""},
            {"what": "mean", "column": "select"},
            {"what": "mean", "column": "select"},
        ],
        "groups": [{"column": 'na"me', "part": "value"}],
        "filters": [
            {"column": 'na"me', "sign": "=", "value": "x' OR 1=1 --"},
            {"column": "select", "sign": ">", "value": "1); DROP"},
            {"column": "select", "sign": "<", "value": " 2.5 "},
        ],
    }
    text = door.evaluate(
        (
            "async ([state, table]) => (await import('/static/building.js')).written(state, "
            "table, 'unit')"
        ),
        [state, table],
    )
    lines = [
        (
            'SELECT "na""me", COUNT(*) AS n, AVG("select") AS mean_select, AVG("select") AS '
            "mean_select_2"
        ),
        'FROM "o\'dd ""table"""',
        'WHERE "na""me" = \'x\'\' OR 1=1 --\' AND "select" < 2.5',
        'GROUP BY "na""me"',
    ]
    assert text == "\n".join(lines)
    tables = [
        {"name": "people", "columns": [{"name": "id"}]},
        {"name": "visits", "columns": [{"name": "id"}, {"name": "person.id"}]},
    ]
    units = [("id", 0), ("people.id", 0), ("people.id", 1), ("person.id", 1), ("hospital, id", 0)]
    arguments = [[unit, tables[i]] for unit, i in units]
    columns = door.evaluate(
        (
            "async units => { const m = await import('/static/building.js'); return "
            "units.map(unit => m.unitColumn(...unit)) }"
        ),
        arguments,
    )
    assert columns == ["id", "id", None, "person.id", None]


@browsing
@pytest.mark.parametrize(
    ("kind", "bounds", "edges"),
    [
        ("int64", ["16", "90"], [10, 20, 30, 40, 50, 60, 70, 80, 90]),
        ("int8", ["0", "5"], [0, 1, 2, 3, 4, 5]),
        ("float64", ["-0.5", "0.9"], [-0.6, -0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8, 1]),
        ("float64", ["0", "100"], [*range(0, 101, 10)]),
        ("decimal(18, 2)", ["0", "2500"], [0, 500, 1000, 1500, 2000, 2500]),
    ],
)
def test_bins_have_round_edges(
    door: Page, kind: str, bounds: list[str], edges: list[float]
) -> None:
    text = door.evaluate(
        "async column => (await import('/static/building.js')).COMPUTED.bins.write(column)",
        {"name": "x", "type": kind, "bounds": bounds},
    )
    assert json.loads(text.removeprefix("HISTOGRAM(x, ").removesuffix(")")) == edges


CLICKED = {
    "values": [
        {"what": "rows", "column": ""},
        {"what": "quartiles", "column": "spend"},
        {"what": "bins", "column": "spend"},
        {"what": "truths", "column": "vip"},
    ],
    "groups": [{"column": "city", "part": "value"}, {"column": "day", "part": "month"}],
    "filters": [
        {"column": "city", "sign": "<>", "value": "L'Aquila"},
        {"column": "spend", "sign": ">=", "value": "-1.5"},
        {"column": "day", "sign": "<=", "value": "2026-03-01"},
        {"column": "vip", "sign": "=", "value": "true"},
    ],
}
CLICKED_SQL = """\
SELECT city, DATE_TRUNC('month', day) AS day_month, COUNT(*) AS n, QUANTILES(spend, \
[0.25, 0.5, 0.75]) AS spend_quartile, HISTOGRAM(spend, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, \
100]) AS spend_range, COUNT_IF(vip) AS n_vip
FROM visits
WHERE city <> 'L''Aquila' AND spend >= -1.5 AND day <= DATE '2026-03-01' AND vip = TRUE
GROUP BY city, DATE_TRUNC('month', day)"""
BY_HAND = [
    "SELECT COUNT(*) FROM visits HAVING COUNT(*) > 5",
    "SELECT COUNT(*) + 1 FROM visits",
    "SELECT city, COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits GROUP BY city",
    "SELECT COUNT(*) FROM visits WHERE vip OR spend > 5",
    "SELECT COUNT(*) FROM visits WHERE spend > 5 OR vip = TRUE",
    "SELECT COUNT(*) FROM visits WHERE (vip = TRUE)",
    "SELECT COUNT(*) FROM visits WHERE spend BETWEEN 1 AND 2",
    "SELECT COUNT(*) FROM visits, people",
    "SELECT COUNT(*) FROM (SELECT city FROM visits)",
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits LIMIT 3",
    "SELECT COUNT(*) FROM other",
    "SELECT COUNT(*) FROM visits ORDER BY 1",
    "SELECT city FROM visits GROUP BY city",
    "",
]


@browsing
def test_clicks_follow_what_is_written(door: Page) -> None:
    columns = [
        {"name": "user_id", "type": "int64", "bounds": None},
        {"name": "city", "type": "string", "bounds": None},
        {"name": "spend", "type": "float64", "bounds": [0, 100]},
        {"name": "day", "type": "date", "bounds": None},
        {"name": "vip", "type": "boolean", "bounds": None},
    ]
    table = {"name": "visits", "columns": columns}

    def read(text: str) -> Any:
        state = door.evaluate(
            "async ([text, tables]) => (await import('/static/reading.js'))"
            ".readBack(text, tables, () => 'user_id')",
            [text, [table]],
        )
        return state and {key: value for key, value in state.items() if key != "table"}

    written = door.evaluate(
        "async ([state, table]) => (await import('/static/building.js'))"
        ".written(state, table, 'user_id')",
        [CLICKED, table],
    )
    assert written == CLICKED_SQL
    assert read(written) == CLICKED
    by_name = "select City, count( * ) n from visits group by all"
    assert read(by_name) is None  # a column in other letters, and a name without AS
    values, groups = [{"what": "rows", "column": ""}], [{"column": "city", "part": "value"}]
    for text in (
        "select city, count(*) as c -- how many?\n from visits group by ALL;",
        'SELECT "city", COUNT( * ) AS "n" FROM "visits" GROUP BY "city"',
    ):
        same = read(text)
        assert same is None or same == {"values": values, "groups": groups, "filters": []}
    assert read("select city, count(*) as c from visits group by all")["groups"] == groups
    as_name = "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM visits GROUP BY m"
    assert read(as_name)["groups"] == [{"column": "day", "part": "month"}]
    assert [text for text in BY_HAND if read(text) is not None] == []


COMPLETED: list[tuple[str, str]] = [
    ("SELECT ", "COUNT(*)"),
    ("SELECT * FROM ", "visits"),
    ("SELECT COUNT(*) FROM visits WHERE city = ", "'Bari'"),
    ("SELECT COUNT(*) FROM visits WHERE city IN ('Roma', 'B", "'Bari'"),
    ("SELECT visits.sp", "spend"),
    ("SELECT COUNT(*) FROM visits gr", "GROUP BY"),
    ("SELECT city, COUNT(*) FROM visits GROUP BY ", "city"),
]


@browsing
def test_completion_follows_the_schema(door: Page) -> None:
    columns = [
        {"name": "city", "type": "string", "keys": ["Bari", "Roma"]},
        {"name": "spend", "type": "float64", "bounds": [0, 100]},
    ]
    schema = {"tables": [{"name": "visits", "columns": columns}]}
    offered = door.evaluate(
        """async ([schema, texts]) => {
             const { complete, offers } = await import('/static/completion.js');
             return texts.map(text => (complete(text, text.length, offers(schema))?.options ?? [])
               .map(option => option.text)) }""",
        [schema, [text for text, _ in COMPLETED] + ["SELECT 1 -- ci", "SELECT 'ci"]],
    )
    assert [word in options for (_, word), options in zip(COMPLETED, offered, strict=False)] == [
        True
    ] * len(COMPLETED)
    assert offered[1] == ["visits"]
    assert offered[-2:] == [
        [],
        [],
    ]  # nothing is offered in a comment, nor in a text that nothing is known of


# What holds of the files themselves.

TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.iterdir())}
FORBIDDEN = (
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment"
    r"|\beval\(|new Function|setAttribute\(\"style"
    r"|localStorage|document\.cookie"
)


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_inline_and_nothing_is_from_elsewhere(name: str) -> None:
    text = TEXTS[name]
    assert not re.search(FORBIDDEN, text)
    assert not [
        address
        for address in re.findall(r"https?://[^\s\"']+", text)
        if address != "http://www.w3.org/2000/svg"
    ]
    if name.endswith(".html"):
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
        assert re.findall(r"<script\b[^>]*>(.*?)</script>", text, re.DOTALL) == [""]
    if name.endswith(".js"):
        assert max(map(len, text.splitlines())) <= 160
        scripts = {f"./{script}" for script in (*TEXTS, "aggregates.js")}  # the app writes the last
        assert set(re.findall(r'from "(.*?)"', text)) <= scripts


def test_every_file_is_used() -> None:
    everything = "\n".join(TEXTS.values())
    assert [name for name in TEXTS if name != "index.html" and f"/{name}" not in everything] == []


def test_the_wheel_has_the_page() -> None:
    """hatch takes what git does not ignore: no file of the page may be ignored."""
    root = STATIC.parents[3]
    ignored = subprocess.run(
        ["git", "-C", str(root), "check-ignore", *map(str, STATIC.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ignored.stdout == ""
    assert 'packages = ["src/sfumato"]' in (root / "pyproject.toml").read_text(encoding="utf-8")


PAIRS = [
    *(
        (text, ground)
        for text in ("ink", "quiet", "known", "planned", "refused")
        for ground in ("sheet", "paper")
    ),
    *(
        (text, "field")
        for text in (
            "ink",
            "quiet",
            "sql-keyword",
            "sql-function",
            "sql-string",
            "sql-number",
            "sql-name",
        )
    ),
    ("on-known", "known"),
    ("ink", "known-soft"),
    ("known", "known-soft"),
    ("ink", "refused-soft"),
    ("refused", "refused-soft"),
]
"""Text, and the ground on which it stands."""


def colours(dark: bool) -> dict[str, str]:
    light, night = TEXTS["colours.css"].split("@media")
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light)) | (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", night)) if dark else {}
    )


def contrast(a: str, b: str) -> float:
    """By WCAG 2.2: the ratio of relative luminances."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast(dark: bool) -> None:
    palette = colours(dark)
    assert {
        pair: ratio
        for pair in PAIRS
        if (ratio := round(contrast(palette[pair[0]], palette[pair[1]]), 2)) < 4.5
    } == {}


def test_contrast_of_known_colours() -> None:
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#767676", "#ffffff")
