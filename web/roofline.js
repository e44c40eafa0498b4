// Work per byte against work per time, under the roofs of the chip: what is below the slope lacks bytes, what is below
// the flat lacks work for the Tensor Engine.

import { el, section, svg } from "trnsim/dom.js";
import { percent, time } from "trnsim/format.js";
import { lossVariable } from "trnsim/palette.js";

const WIDTH = 560, HEIGHT = 300, LEFT = 52, RIGHT = 14, TOP = 14, BOTTOM = 38;
const ps = (ns) => ns * 1e3;
const drawn = (point) => point.tflops > 0 && point.flops_per_byte > 0;
const power = (value) => (value >= 1e4 || value < 1e-2 ? value.toExponential(0).replace("e+", "e") : String(value));

// Powers of ten that enclose all values.
function decades(values) {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

function statement({ run, compute_roofs: compute, memory_roofs: memory }) {
  const ridge = (compute[0].tflops * 1e3) / memory[0].gb_per_s;
  const roof = Math.min(compute[0].tflops, (run.flops_per_byte * memory[0].gb_per_s) / 1e3);
  const side = run.flops_per_byte < ridge
    ? `below the ${ridge.toFixed(0)} that ${compute[0].name} needs: memory is its roof, and fewer bytes would lift it`
    : `beyond the ${ridge.toFixed(0)} that ${compute[0].name} needs: the Tensor Engine is the roof`;
  return `${run.flops_per_byte.toFixed(1)} FLOP per byte of HBM traffic, ${side}. It reaches ` +
    `${percent(run.tflops / roof)} of its roof of ${roof.toFixed(1)} TFLOPS.`;
}

export function roofline(store) {
  const data = store.get().core.summary.roofline, { run, phases, compute_roofs: compute, memory_roofs: memory } = data;
  const title = ["roofline", "Roofline", "the kernel and its phases under the chip's roofs"];
  if (!drawn(run)) {
    return section(...title, el("p", { class: "empty" }, run.flops > 0
      ? "No traffic with HBM, so there is nothing to set the work against."
      : "No matrix products: the Tensor Engine did no work, and other engines' operations are not counted here."),
    phaseList(store, phases));
  }
  const points = [run, ...phases.filter(drawn)];
  const [x0, x1] = decades([...points.map((p) => p.flops_per_byte), 1, (compute[0].tflops * 2e3) / memory[0].gb_per_s]);
  const [y0, y1] = decades([...points.map((p) => p.tflops), ...compute.map((roof) => roof.tflops), 1]);
  const x = (value) => LEFT + ((Math.log10(value) - x0) / (x1 - x0)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - ((Math.log10(value) - y0) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const tens = (from, to) => Array.from({ length: to - from + 1 }, (_, k) => 10 ** (from + k));
  const best = Math.max(...compute.map((roof) => roof.tflops)), fastest = Math.max(...memory.map((m) => m.gb_per_s));
  const slope = ({ name, gb_per_s: rate }) => {
    const left = Math.max(10 ** x0, 10 ** y0 / rate * 1e3), right = Math.min(10 ** x1, best / rate * 1e3);
    const height = (intensity) => y((intensity * rate) / 1e3);
    return [svg("line", { class: "roof", x1: x(left), y1: height(left), x2: x(right), y2: height(right) },
      svg("title", {}, `${name}: ${rate} GB/s`)),
    svg("text", { class: "roof-name",
                  transform: `translate(${x(left) + 6} ${height(left) - 8}) rotate(${angle(x, y)})` },
      `${name} ${rate} GB/s`)];
  };
  const flat = ({ name, tflops }, k) => [ // names stand side by side, since roofs may lie close together
    svg("line", { class: "roof", x1: x(Math.max(10 ** x0, (tflops * 1e3) / fastest)), x2: WIDTH - RIGHT, y1: y(tflops),
                  y2: y(tflops) }),
    svg("text", { class: "roof-name", x: WIDTH - RIGHT - 92 * k, y: y(tflops) - 4, "text-anchor": "end" },
      `${name} ${Number(tflops.toFixed(1))} TFLOPS`)];
  const dot = (phase, k) => drawn(phase) && svg("circle", { class: "clickable", cx: x(phase.flops_per_byte),
    cy: y(phase.tflops), r: 5, fill: `var(--${lossVariable(phase.bound_by)})`, tabindex: 0, role: "button",
    onclick: () => store.set({ range: [ps(phase.from_ns), ps(phase.to_ns)] }) }, svg("title", {}, phaseText(phase, k)));
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
                             "aria-label": statement(data) },
    tens(x0, x1).map((v) => [svg("line", { class: "grid", x1: x(v), x2: x(v), y1: TOP, y2: HEIGHT - BOTTOM }),
      svg("text", { x: x(v), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, power(v))]),
    tens(y0, y1).map((v) => [svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(v), y2: y(v) }),
      svg("text", { x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, power(v))]),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" },
      "FLOP per byte of HBM traffic"),
    svg("text", { transform: `translate(12 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" },
      "TFLOPS"),
    memory.map(slope), compute.map(flat), phases.map(dot),
    svg("circle", { class: "whole", cx: x(run.flops_per_byte), cy: y(run.tflops), r: 8 },
      svg("title", {}, `The whole kernel: ${run.tflops.toFixed(2)} TFLOPS`)));
  return section(...title, el("p", { class: "statement" }, statement(data)), chart, phaseList(store, phases));
}

// Degrees that a memory roof rises on the chart: one decade up for each decade to the right.
function angle(x, y) {
  return (Math.atan2(y(10) - y(1), x(10) - x(1)) * 180) / Math.PI;
}

const phaseText = (phase, k) => `Phase ${k + 1}, ${time(ps(phase.from_ns))} to ${time(ps(phase.to_ns))}, bound by ` +
  `${phase.bound_by}: ${phase.tflops.toFixed(2)} TFLOPS`;

function phaseList(store, phases) {
  return el("ol", { class: "phases" }, phases.map((phase) => el("li", {},
    el("button", { type: "button", class: "link", title: "Show in the timeline",
                   onclick: () => store.set({ range: [ps(phase.from_ns), ps(phase.to_ns)] }) },
      el("i", { style: { background: `var(--${lossVariable(phase.bound_by)})` } }),
      `${time(ps(phase.from_ns))} to ${time(ps(phase.to_ns))}`),
    ` ${phase.bound_by}`, phase.tflops > 0 && el("small", {}, ` ${phase.tflops.toFixed(2)} TFLOPS`))));
}
