"""The report page in Firefox: Debian's own (apt-get install firefox-esr), driven by Mozilla's marionette_driver of the
Python index. Without them the tests are skipped, and say so. What does not depend on the browser, test_page.py asks."""

import re
import shutil
import time

import page_kernels
import pytest

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
COMPLAINT = re.compile(r"^(console\.(error|warn)|JavaScript (error|warning)): .*trnsim.*$", re.MULTILINE)


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    api = pytest.importorskip("marionette_driver.marionette",
                              reason="the package 'marionette_driver' is missing: pip install marionette_driver")
    if not FIREFOX:
        pytest.skip("the browser is missing: apt-get install firefox-esr")
    log = tmp_path_factory.mktemp("firefox") / "log"
    browser = api.Marionette(bin=FIREFOX, headless=True, gecko_log=str(log), startup_timeout=60,
                             prefs={"devtools.console.stdout.content": True})
    browser.start_session()
    yield browser
    browser.quit()
    assert COMPLAINT.findall(log.read_text(encoding="utf-8", errors="replace")) == []


@pytest.fixture(scope="module")
def nasty_page(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "nasty.html"
    page_kernels.ill_named_profile().write_report(path)
    return path


def soon(browser, script, seconds=10):
    """What the script returns as soon as that is something."""
    until = time.monotonic() + seconds
    while True:
        found = browser.execute_script(script)
        if found or time.monotonic() > until:
            return found
        time.sleep(0.05)


def opened(browser, path):
    browser.navigate(path.as_uri())
    assert soon(browser, "return document.querySelector('[data-view=timeline] canvas')?.dataset.range")
    return browser


INKED = """
  const canvas = document.querySelector("[data-view={view}] canvas");
  canvas.scrollIntoView();
  const ink = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(ink.buffer)).size > 2;
"""


@pytest.mark.parametrize("view", ["timeline", "memory"])
def test_the_canvases_are_drawn(firefox, matmul_page, view):
    assert soon(opened(firefox, matmul_page.path), INKED.replace("{view}", view))


def test_the_verdict_is_the_one_of_the_json_report(firefox, matmul_page):
    run = matmul_page.report["runs"][0]
    shown = opened(firefox, matmul_page.path).find_element("css selector", "[data-view=verdict] .sentence").text
    assert run["verdict"][1:] in shown


def test_a_click_on_a_source_line_chooses_its_instructions(firefox, matmul_page):
    line = next(use for use in matmul_page.report["runs"][0]["costliest_lines"] if use["flops"] > 1e6)
    browser = opened(firefox, matmul_page.path)
    browser.find_element("css selector", f"table.source tr[data-line='{line['line']}'] td").click()
    assert browser.find_element("css selector", ".hits").text == f"{line['instructions']} found"


def test_search_and_keys_work(firefox, matmul_page):
    browser = opened(firefox, matmul_page.path)
    browser.find_element("css selector", "[type=search]").send_keys("nc_matmul")
    assert soon(browser, "return document.querySelector('.hits').textContent") == "4 found"
    spans = """const [begin, end] = document.querySelector('[data-view=timeline] canvas').dataset.range.split(' ');
               return end - begin"""
    whole = browser.execute_script(spans)
    browser.find_element("css selector", "[data-view=timeline] canvas").send_keys("w")
    assert soon(browser, f"return {whole} > (() => {{ {spans} }})()")


def test_names_cannot_become_markup(firefox, nasty_page):
    browser = opened(firefox, nasty_page)
    assert browser.execute_script("return window.injected === undefined")
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
