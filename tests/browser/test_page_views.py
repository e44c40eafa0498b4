"""The views of the page below the timeline, and the page that compares two runs."""

import csv
import io
import json
import re

import page_kernels
import pytest
import trnsim

THIN = "\u2009"
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def time_text(ns):
    return f"{ns / 1e3:.2f}{THIN}µs" if ns >= 1e3 else f"{ns:.1f}{THIN}ns"


def run_of(page):
    return page.report["runs"][0]


def test_a_click_on_a_source_line_chooses_its_instructions_and_back(open_page, matmul_page):
    window = open_page(matmul_page.path)
    line = next(use for use in run_of(matmul_page)["costliest_lines"] if use["flops"] > 1e6)
    row = window.locator(f"table.source tr[data-line='{line['line']}']")
    assert "nc_matmul" in row.inner_text()
    row.click()
    assert window.locator(".hits").inner_text() == f"{line['instructions']} found"
    assert window.locator("[data-view=instructions] output").inner_text().startswith(f"{line['instructions']} of ")
    window.locator("[data-view=instructions] .row").first.click()  # and an instruction marks its line
    assert "of-selected" in row.get_attribute("class")
    row.click()
    assert window.locator(".hits").inner_text() == ""


def test_source_lines_show_the_shares_of_the_json_report(open_page, matmul_page):
    window = open_page(matmul_page.path)
    for use in run_of(matmul_page)["costliest_lines"]:
        cells = window.locator(f"table.source tr[data-line='{use['line']}'] td.metric").all_inner_texts()
        if use["critical_ns"]:
            assert cells[0] == f"{use['critical_share'] * 100:.1f}{THIN}%"
        if use["stalled_ns"]:
            assert cells[2] == time_text(use["stalled_ns"])


def test_lines_without_a_source_file_are_listed_by_number(open_page, matmul_page, tmp_path):
    path = tmp_path / "bare.html"
    path.write_text(trnsim._native.page([matmul_page.profile.native], lambda file: None))
    assert "source not at hand" in open_page(path).locator("[data-view=source]").inner_text()


def test_the_table_sorts_and_leads_to_the_timeline(open_page, matmul_page):
    window = open_page(matmul_page.path)
    window.get_by_role("columnheader", name="Works").click()
    window.evaluate(DRAWN)
    numbers = [int(text) for text in window.locator(".row .index").all_inner_texts()]
    times = {i["index"]: i["busy_end_ns"] - i["start_ns"] if "moving_from_ns" not in i
             else i["moving_until_ns"] - i["moving_from_ns"] for i in run_of(matmul_page)["instructions"]}
    assert numbers == sorted(times, key=lambda i: (-round(times[i], 3), i))[:len(numbers)]
    window.locator(".row").first.click()
    assert f"#{numbers[0]}" in window.locator("[data-view=details] h3").inner_text()


def downloaded(window):
    with window.expect_download() as download:
        window.get_by_role("button", name="Save as CSV").click()
    return list(csv.DictReader(io.StringIO(download.value.path().read_text(), newline="")))


def test_the_csv_holds_every_instruction_of_the_json_report(open_page, matmul_page):
    rows = downloaded(open_page(matmul_page.path))
    for row, entry in zip(rows, run_of(matmul_page)["instructions"], strict=True):
        assert (int(row["index"]), row["opcode"], row["queue"]) == (entry["index"], entry["opcode"], entry["queue"])
        assert row["operands"] == entry["operands"]
        assert float(row["start_ns"]) == pytest.approx(entry["start_ns"])


def test_a_name_cannot_break_the_csv(open_page, tmp_path):
    path = tmp_path / "nasty.html"
    page_kernels.ill_named_profile().write_report(path)
    rows = downloaded(open_page(path))
    assert [row["label"] for row in rows][1] == page_kernels.NASTY


def test_the_dma_view_counts_what_the_json_report_counts(open_page, matmul_page):
    window = open_page(matmul_page.path)
    classes = run_of(matmul_page)["transfer_sizes"]["classes"]
    assert sum(size["bytes"] for size in classes) == run_of(matmul_page)["dma"]["bytes"]
    titles = window.locator("[data-view=dma] rect title").all_text_contents()
    assert [int(re.search(r"in ([\d,]+) pieces", title)[1].replace(",", "")) for title in titles] == \
        [size["pieces"] for size in classes]
    window.locator("[data-view=dma] rect").first.click()
    assert window.locator(".hits").inner_text() == f"{classes[0]['transfers']} found"


def test_the_dma_view_shows_the_rate_that_each_length_reached(open_page, matmul_page):
    window, run = open_page(matmul_page.path), run_of(matmul_page)
    classes = run["transfer_sizes"]["classes"]
    moving = [(i["moving_from_ns"], i["moving_until_ns"]) for i in run["instructions"] if "moving_from_ns" in i]
    if len(classes) == 1:  # then it is the rate of all
        assert classes[0]["achieved_gb_per_s"] == pytest.approx(run["dma"]["achieved_gb_per_s"])
    assert sum(until - start for start, until in moving) >= max(c["bytes"] / c["achieved_gb_per_s"] for c in classes)
    titles = window.locator("[data-view=dma] circle title").all_text_contents()
    assert len(titles) == len(classes)
    for title, size in zip(titles, classes, strict=True):
        assert f"{size['achieved_gb_per_s']:.1f}{THIN}GB/s, {size['achieved'] * 100:.1f}{THIN}%" in title
        assert size["achieved"] == pytest.approx(size["achieved_gb_per_s"] / run["dma"]["sustained_gb_per_s"])


def test_engines_that_take_turns_make_one_phase(open_page, tmp_path):
    profile = page_kernels.turns_profile()
    phases = json.loads(profile.to_json())["runs"][0]["roofline"]["phases"]
    total = phases[-1]["to_ns"]
    assert 1 <= len(phases) <= 6
    assert [phase["from_ns"] for phase in phases] == pytest.approx([0] + [phase["to_ns"] for phase in phases[:-1]])
    assert all(len(phases) == 1 or phase["to_ns"] - phase["from_ns"] > 0.06 * total for phase in phases)
    assert all(a["bound_by"] != b["bound_by"] for a, b in zip(phases, phases[1:], strict=False))
    path = tmp_path / "turns.html"
    profile.write_report(path)
    assert open_page(path).locator(".phases li").count() == len(phases)


def test_tiles_have_the_names_of_the_users_variables(open_page, matmul_page):
    operands = {i["opcode"]: i["operands"] for i in run_of(matmul_page)["instructions"]}
    assert "dst=total " in operands["nc_matmul"] and "=total " in operands["activation"]
    window = open_page(matmul_page.path)
    window.locator("[type=search]").fill("total")
    assert window.locator(".hits").inner_text() == "5 found"  # four products and what reads their sum
    window.get_by_title("Next match").click()
    assert "total" in window.locator(".operands").inner_text()


def test_the_roofline_stands_where_the_json_report_says(open_page, matmul_page):
    window, roofline = open_page(matmul_page.path), run_of(matmul_page)["roofline"]
    text = window.locator("[data-view=roofline] .statement").inner_text()
    assert text.startswith(f"{roofline['run']['flops_per_byte']:.1f} FLOP per byte")
    assert roofline["run"]["flops"] == run_of(matmul_page)["tensor_engine"]["flops"]
    assert sum(phase["flops"] for phase in roofline["phases"]) == pytest.approx(roofline["run"]["flops"], rel=1e-6)
    window.locator("[data-view=roofline] .phases button").first.click()
    window.evaluate(DRAWN)
    begin, end = window.evaluate("document.querySelector('[data-view=timeline] canvas').dataset.range").split(" ")
    assert float(begin) == roofline["phases"][0]["from_ns"] * 1e3
    assert float(end) == pytest.approx(roofline["phases"][0]["to_ns"] * 1e3)


def test_the_memory_map_names_the_tensor_under_the_pointer(open_page, matmul_page):
    window, memory = open_page(matmul_page.path), run_of(matmul_page)["memory"]
    text = window.locator("[data-view=memory] .statement").first.inner_text()
    assert f"{memory['sbuf_peak_bytes_per_partition'] / 1024:.1f}{THIN}KiB" in text
    canvas = window.locator("[data-view=memory] canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    tip = window.locator("[data-view=memory] .tip").first
    for x in range(120, int(box["width"]), 25):
        window.mouse.move(box["x"] + x, box["y"] + 40)
        if tip.is_visible():
            break
    assert "in each of 128 partitions" in tip.inner_text()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    for name, blocks in (("long", 6), ("short", 2)):
        page_kernels.matmul_profile(blocks).save(folder / f"{name}.trn")
    return folder


def command(*arguments):
    from trnsim import _native, session

    return _native.command_line([str(a) for a in arguments], session.HARDWARE, lambda options: 0)


def test_a_saved_program_becomes_a_page(open_page, saved):
    assert command("report", saved / "long.trn") == 0
    assert "matmul" in open_page(saved / "long.html").locator("h1").inner_text()


def test_two_programs_are_shown_side_by_side(open_page, saved):
    assert command("diff", saved / "long.trn", saved / "short.trn", "--report", saved / "diff.html",
                   f"--json={saved / 'diff.json'}") == 0
    launch = json.loads((saved / "diff.json").read_text())["launches"][0]
    window = open_page(saved / "diff.html", width=390)
    assert window.evaluate("document.documentElement.scrollWidth") <= 390
    window.set_viewport_size({"width": 1280, "height": 800})
    assert f"{launch['speedup']:.2f}× faster" in window.locator("[data-view=comparison]").inner_text()
    causes = window.locator("[data-view=comparison] tbody th").all_inner_texts()
    assert causes == [loss["cause"] for loss in launch["time_lost"]]
    window.get_by_title("Zoom in").first.click()  # both timelines zoom
    window.evaluate(DRAWN)
    ranges = window.evaluate("[...document.querySelectorAll('[data-view=timeline] canvas')].map(c => c.dataset.range)")
    assert len(ranges) == 2 and ranges[0] == ranges[1]


def test_one_program_is_compared_on_two_chips(saved, capfd):
    program = saved / "long.trn"
    assert command("diff", program, program, "--chip", "trn2", "--chip", "trn3", "--json") == 0
    launch = json.loads(capfd.readouterr().out)["launches"][0]
    assert (launch["chip_before"], launch["chip_after"]) == ("trainium2", "trainium3")
    sums = [sum(loss[key] for loss in launch["time_lost"]) for key in ("before_ns", "after_ns")]
    assert sums == pytest.approx([launch["latency_before_ns"], launch["latency_after_ns"]])
    assert command("diff", program, program, "--chip", "trn1", "--chip", "trn2", "--chip", "trn3") == 2


def test_a_notebook_shows_the_page_in_a_frame(chromium, matmul_page):
    html = matmul_page.profile.show(height=700)._repr_html_()
    window, complaints = chromium.new_page(), []
    window.on("pageerror", lambda error: complaints.append(str(error)))
    window.set_content(f"<body>{html}</body>")
    frame = window.frame_locator("iframe")
    frame.locator("[data-view=timeline] canvas").wait_for()
    assert "matmul" in frame.locator("h1").inner_text()
    assert complaints == []
    window.close()
