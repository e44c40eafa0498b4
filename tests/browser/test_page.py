"""The report page in a browser: what it shows, and that it is what the JSON report says."""

import page_kernels
import pytest


def text_of(window, selector):
    return window.locator(selector).inner_text().replace("\u2009", " ")


def test_the_verdict_names_the_binding_resource_of_the_json_report(open_page, matmul_page):
    window, run = open_page(matmul_page.path), matmul_page.report["runs"][0]
    verdict = text_of(window, "[data-view=verdict]")
    assert run["bound_by"] in verdict
    assert run["verdict"][1:] in window.locator("[data-view=verdict] .sentence").inner_text()
    for end in ("low_ns", "high_ns"):
        assert f"{run['interval_90'][end] / 1e3:.2f} µs" in verdict
    assert run["advice"] and run["advice"][0]["advice"] in verdict
    for advice in run["advice"][1:]:
        assert f"{advice['expected_speedup']:.2f}×" in verdict and advice["advice"] in verdict
    assert f"{run['latency_ns'] / 1e3:.2f} µs" in verdict


EVERY_INSTRUCTION = """async () => {
  const { readSides } = await import("trnsim/data.js");
  const core = readSides(document)[0].launches[0].cores[0];
  return Array.from({ length: core.count }, (_, i) => ({
    index: i, opcode: core.opcode(i), queue: core.queueName(i), start_ns: core.column("start")[i] / 1e3,
    busy_end_ns: (core.column("start")[i] + core.column("busy")[i]) / 1e3,
    end_ns: (core.column("start")[i] + core.column("end")[i]) / 1e3,
    wait: core.launch.waits[core.column("wait")[i]], waited_for: core.waitedFor(i)?.i,
    served_after: core.servedAfter(i)?.i, file: core.siteOf(i).file, line: core.siteOf(i).line,
    operands: core.operands(i).map((o) => `${o.field}=${o.tensor} ${o.kind}`).join(", ") }));
}"""


def test_every_instruction_is_the_one_of_the_json_report(open_page, matmul_page):
    shown = open_page(matmul_page.path).evaluate(EVERY_INSTRUCTION)
    expected = matmul_page.report["runs"][0]["instructions"]
    assert len(shown) == len(expected) > 10
    for page, report in zip(shown, expected, strict=True):
        assert {key: report.get(key) for key in page} == pytest.approx(page)


def test_names_cannot_become_markup(open_page, tmp_path):
    path = tmp_path / "nasty.html"
    page_kernels.ill_named_profile().write_report(path)
    window = open_page(path)
    assert window.evaluate("window.injected === undefined")
    assert page_kernels.NASTY in window.evaluate(EVERY_INSTRUCTION)[1]["operands"]
    window.locator("[type=search]").fill("tensor_scalar")
    window.get_by_title("Next match").click()
    assert window.locator("[data-view=details] h3 span").get_attribute("title") == page_kernels.NASTY
    window.get_by_title("Next match").click()
    assert window.locator("[data-view=details] h3 span").get_attribute("title") == "m" * 10_000
    assert window.evaluate("document.documentElement.scrollWidth") == 1280


def test_search_finds_instructions_and_steps_through_them(open_page, matmul_page):
    window = open_page(matmul_page.path)
    window.locator("[type=search]").fill("nc_matmul")
    assert window.locator(".hits").inner_text() == "4 found"
    numbers = [i["index"] for i in matmul_page.report["runs"][0]["instructions"] if i["opcode"] == "nc_matmul"]
    for number in numbers:
        window.keyboard.press("Enter")
        assert f"#{number}" in window.locator("[data-view=details] h3").inner_text()
    window.locator("[type=search]").fill("wait:nothing-like-this")
    assert window.locator(".hits").inner_text() == "0 found"


DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
RANGE = "() => document.querySelector('[data-view=timeline] canvas').dataset.range.split(' ').map(Number)"


def test_keys_buttons_and_the_wheel_zoom_the_timeline(open_page, matmul_page):
    window = open_page(matmul_page.path)

    def shown():
        window.evaluate(DRAWN)
        begin, end = window.evaluate(RANGE)
        return end - begin

    whole = shown()
    canvas = window.locator("[data-view=timeline] canvas")
    canvas.focus()
    window.keyboard.press("w")
    by_key = shown()
    assert by_key < whole
    window.get_by_title("Zoom in").click()
    by_button = shown()
    assert by_button < by_key
    canvas.hover()
    window.keyboard.down("Control")
    window.mouse.wheel(0, -100)
    window.keyboard.up("Control")
    assert shown() < by_button
    window.get_by_title("Show the whole run").click()
    assert shown() == whole


def test_keys_work_anywhere_but_in_fields(open_page, matmul_page):
    window = open_page(matmul_page.path)

    def shown():
        window.evaluate(DRAWN)
        return window.evaluate(RANGE)

    whole = shown()
    window.keyboard.press("w")  # nothing has the focus
    near = shown()
    assert near[1] - near[0] < whole[1] - whole[0]
    window.keyboard.press("d")
    assert shown()[0] > near[0]
    window.get_by_title("Zoom in").focus()
    window.keyboard.press("0")
    assert shown() == whole
    window.locator("[type=search]").focus()
    window.keyboard.type("wasd0")
    assert shown() == whole
    assert window.locator("[type=search]").input_value() == "wasd0"


def test_a_click_in_the_timeline_chooses_an_instruction(open_page, matmul_page):
    window = open_page(matmul_page.path)
    box = window.locator("[data-view=timeline] canvas").bounding_box()
    for x in range(110, int(box["width"]), 8):
        window.mouse.click(box["x"] + x, box["y"] + 58)
        if window.locator("[data-view=details] h3 small").count():
            break
    assert "nc_matmul" in window.locator("[data-view=details] h3").inner_text()


def test_the_costliest_are_lines_with_the_shares_of_the_json_report_and_escape_leads_back(open_page, matmul_page):
    window, run = open_page(matmul_page.path), matmul_page.report["runs"][0]
    most = run["costliest_lines"][0]
    entry = window.locator(".costliest li").first
    assert f":{most['line']}" in entry.inner_text()
    assert f"{most['critical_ns'] / 1e3:.2f}" in entry.inner_text()
    entry.locator("button").click()
    assert window.locator(".hits").inner_text() == f"{most['instructions']} found"
    assert window.locator("[data-view=details] h3 small").count() == 1
    window.keyboard.press("Escape")
    assert window.locator(".costliest li").count() > 0
    assert window.locator(".hits").inner_text() == ""
    window.locator(".costliest button").first.click()
    window.get_by_title("Back (Esc)").click()
    assert window.locator(".costliest li").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_width_needs_sideways_scrolling(open_page, matmul_page, scheme):
    window = open_page(matmul_page.path, color_scheme=scheme)
    assert window.evaluate("document.documentElement.dataset.theme") == scheme
    for width in (360, 390, 768, 1024, 1280, 1920):
        window.set_viewport_size({"width": width, "height": 800})
        assert window.evaluate("document.documentElement.scrollWidth") <= width


def test_a_phone_shows_source_lines_whole(open_page, matmul_page):
    window = open_page(matmul_page.path, width=390)
    cells = window.locator("table.source tr.used")
    for k in range(cells.count()):
        code, metric = cells.nth(k).locator(".code").bounding_box(), cells.nth(k).locator(".critical_ns").bounding_box()
        assert code["x"] + code["width"] <= metric["x"] + 1
        assert metric["x"] + metric["width"] <= 390
    assert window.evaluate('''[...document.querySelectorAll(".source .code")].every((cell) =>
        cell.scrollWidth <= cell.clientWidth)''')


def test_both_cores_of_a_launch_are_drawn_and_either_can_be_chosen(open_page, tmp_path):
    path = tmp_path / "twice.html"
    page_kernels.twice_profile().write_report(path)
    window = open_page(path)
    chooser = window.get_by_label("Launch and core")
    assert chooser.locator("option").count() == 2
    chooser.select_option(index=1)
    assert "core 1 of 2" in window.locator(".about").inner_text()


def test_what_a_loop_repeats_takes_almost_no_room():
    sizes = [len(page_kernels.matmul_page_text(blocks)) for blocks in (50, 300)]
    assert (sizes[1] - sizes[0]) / 750 < 40  # bytes an instruction
