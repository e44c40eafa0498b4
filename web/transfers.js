// The lengths of contiguous pieces that DMA moved, beside what the engines make of such lengths.

import { el, section, svg } from "trnsim/dom.js";
import { bytes, count, percent } from "trnsim/format.js";

const WIDTH = 560, HEIGHT = 250, LEFT = 54, RIGHT = 34, TOP = 14, BOTTOM = 38;
const EFFICIENT = 0.5;
const FILLED = 0.5; // of what the length allows for: below it, engines stand idle

function statement(classes) {
  const sum = (list, key) => list.reduce((total, size) => total + size[key], 0);
  const slow = classes.filter((size) => size.efficiency < EFFICIENT);
  if (slow.length === 0)
    return `All pieces are long enough for at least ${percent(EFFICIENT, 0)} of the engines' rate.`;
  const share = percent(sum(slow, "bytes") / sum(classes, "bytes")), short = bytes(slow.at(-1).piece_bytes_from * 2);
  return `${share} of the bytes, in ${count(sum(slow, "transfers"))} of ${count(sum(classes, "transfers"))} ` +
    `transfers, move in pieces shorter than ${short}, ` +
    `too short for half of the engines' rate: the fixed cost of a descriptor takes most of their time.`;
}

const rate = (size) => `${size.achieved_gb_per_s.toFixed(1)}\u2009GB/s, ${percent(size.achieved)}`;

// Where pieces could do much better: too few of them are on their way at once to keep all engines busy.
function shortfall(classes) {
  const most = classes.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  const of = `Most bytes move at ${rate(most)} of what all engines sustain; their length allows for ` +
    `${percent(most.efficiency)}`;
  return most.achieved < FILLED * most.efficiency ? `${of}: too few are under way at once to keep all engines busy.`
    : `${of}.`;
}

export function transfers(store) {
  const { classes, efficiency_of_piece: curve } = store.get().core.summary.transfer_sizes;
  const title = ["dma", "DMA transfers", "bytes by length of contiguous pieces, and the rate such pieces reach"];
  if (classes.length === 0) return section(...title, el("p", { class: "empty" }, "This kernel moved nothing by DMA."));
  const sizes = [...classes.map((c) => c.piece_bytes_from), ...curve.map((c) => c.piece_bytes)];
  const low = Math.log2(Math.min(...sizes)), high = Math.log2(Math.max(...sizes)) + 1;
  const x = (size) => LEFT + ((Math.log2(size) - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
  const y = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const all = classes.reduce((sum, size) => sum + size.bytes, 0);
  const step = high - low > 12 ? 2 : 1, labels = [];
  for (let power = low; power < high; power += step) labels.push(2 ** power);
  const bars = classes.map((size) => {
    const from = x(size.piece_bytes_from), share = size.bytes / all;
    const choose = () => store.set({ query: `piece:${size.piece_bytes_from}` });
    return svg("rect", { class: "clickable", x: from + 1, y: y(share), width: x(size.piece_bytes_from * 2) - from - 2,
                         height: Math.max(1.5, y(0) - y(share)), rx: 2, tabindex: 0, role: "button",
                         fill: size.efficiency < EFFICIENT ? "var(--dma-small)" : "var(--dma-bandwidth)",
                         onclick: choose, onkeydown: (event) => { if (event.key === "Enter") choose(); } },
      svg("title", {}, `${bytes(size.piece_bytes_from)} to ${bytes(size.piece_bytes_from * 2)}: ` +
        `${bytes(size.bytes)} in ${count(size.pieces)} pieces of ${count(size.transfers)} transfers; ` +
        `such pieces can reach ${percent(size.efficiency)} of the engines' rate, these reached ${rate(size)}`));
  });
  const dots = classes.map((size) => svg("circle", { class: "achieved", cx: x(size.piece_bytes_from * Math.SQRT2),
                                                     cy: y(Math.min(1, size.achieved)), r: 5 },
    svg("title", {}, `${bytes(size.piece_bytes_from)} to ${bytes(size.piece_bytes_from * 2)}: reached ${rate(size)}`)));
  const line = curve.map((c, k) => `${k ? "L" : "M"}${x(c.piece_bytes)} ${y(c.efficiency)}`).join("");
  const chart = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
                             "aria-label": statement(classes) },
    [0, 0.25, 0.5, 0.75, 1].map((share) => [
      svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) }),
      svg("text", { x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share, 0))]),
    labels.map((size) => svg("text", { x: x(size), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" },
      bytes(size).replace(".0", ""))),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 5, "text-anchor": "middle" },
      "length of a contiguous piece"),
    bars, svg("path", { class: "curve", d: line }), dots);
  return section(...title, el("p", { class: "statement" }, `${statement(classes)} ${shortfall(classes)}`), chart,
    el("ul", { class: "legend" },
      el("li", {}, el("i", { style: { background: "var(--dma-bandwidth)" } }), "share of the bytes"),
      el("li", {}, el("i", { style: { background: "var(--dma-small)" } }), "the same, below half of the rate"),
      el("li", {}, el("i", { class: "dash" }), "rate that pieces of a length can reach"),
      el("li", {}, el("i", { class: "ring" }), "rate reached while they moved")));
}
