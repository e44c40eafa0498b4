"""Chromium for the tests of the report page: Debian's own (apt-get install chromium), driven by Playwright from the
Python index (pip install playwright). Without them the tests are skipped, and say so."""

import json
import shutil
from types import SimpleNamespace

import page_kernels
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def chromium():
    api = pytest.importorskip("playwright.sync_api",
                              reason="the package 'playwright' is missing: pip install playwright")
    if not CHROMIUM:
        pytest.skip("the browser is missing: apt-get install chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """open_page(path, **options): the page shown in a window of its own; complaints of the browser fail the test."""
    complaints, windows = [], []

    def open_(path, width=1280, height=800, **options):
        window = chromium.new_page(viewport={"width": width, "height": height}, **options)
        windows.append(window)
        window.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
        window.on("pageerror", lambda error: complaints.append(str(error)))
        window.on("requestfailed", lambda request: complaints.append(f"asked for {request.url[:80]}"))
        window.goto(path.as_uri())
        window.wait_for_selector("[data-view=timeline] canvas")
        return window

    yield open_
    for window in windows:
        window.close()
    assert complaints == []


@pytest.fixture(scope="session")
def matmul_page(tmp_path_factory):
    """The page of a product, and its report as JSON."""
    profile = page_kernels.matmul_profile()
    path = tmp_path_factory.mktemp("pages") / "matmul.html"
    profile.write_report(path)
    return SimpleNamespace(path=path, profile=profile, report=json.loads(profile.to_json()))
