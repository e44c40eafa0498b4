"""How fast the report page of a kernel of about 100,000 instructions comes up, zooms and pans, in Debian's Chromium.

Targets are printed with whether they are met; nothing fails when one is not. Needs what tests/browser needs.
"""

import tempfile
from pathlib import Path

import numpy as np
import trnsim
from playwright.sync_api import sync_playwright

trnsim.install(chip="trn2", timing_only=True)

import nki
import nki.isa as nisa
import nki.language as nl

ROUNDS = 4_000  # of 25 instructions each
TARGETS = {"megabytes": 5, "first paint, ms": 1500, "frame while zooming and panning, ms": 1000 / 30}

# Zooms in, pans and zooms out again, a step a frame; the mean time of a frame.
MOVE = """() => new Promise((done) => {
  const canvas = document.querySelector("[data-view=timeline] canvas"), keys = "wwwwwwwddddddddaaaassssssss".repeat(4);
  let k = 0, begin;
  const step = (now) => {
    begin ??= now;
    if (k === keys.length) return done((now - begin) / k);
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: keys[k++], bubbles: true }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


@nki.jit
def many(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    for _ in range(ROUNDS):
        total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        x = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
        y = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a)
        nisa.dma_copy(dst=y, src=b)
        for _ in range(20):
            nisa.nc_matmul(dst=total, stationary=x, moving=y)
        z = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation(dst=z, op=nl.exp, data=total)
        nisa.tensor_tensor(dst=z, data1=z, data2=z, op=nl.add)
    nisa.dma_copy(dst=out, src=z)
    return out


def measure(path):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 1280, "height": 800})
        window.goto(path.as_uri())
        window.wait_for_selector("[data-view=timeline] canvas")
        paint = window.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        frame = window.evaluate(MOVE)
        browser.close()
    return paint, frame


def main():
    import ml_dtypes

    many(np.ones((128, 128), ml_dtypes.bfloat16), np.ones((128, 512), ml_dtypes.bfloat16))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.html"
        trnsim.last_profile().write_report(path)
        paint, frame = measure(path)
        figures = (path.stat().st_size / 1e6, paint, frame)
    for (name, target), figure in zip(TARGETS.items(), figures, strict=True):
        print(f"{name:<40} {figure:8.1f}   target {target:.1f}: {'met' if figure <= target else 'not met'}")


if __name__ == "__main__":
    main()
