// SBUF and PSUM over time: each tensor where it lies in a partition, from the first instruction that touches it to the
// last. The horizontal axis is the timeline's.

import { eachFrame, el, onResize, section } from "trnsim/dom.js";
import { bytes, count, percent, shortened, ticks, time } from "trnsim/format.js";
import { Scale, paintRuler } from "trnsim/paint.js";
import { color } from "trnsim/palette.js";

const HUES = ["tensor", "vector", "scalar", "gpsimd", "dma-load", "dma-store", "dma-local", "meeting"];
const TOP = 22;
const SPACES = [
  { space: 0, key: "sbuf", name: "SBUF", height: 220 },
  { space: 1, key: "psum", name: "PSUM", height: 130 },
];

const hueOf = (tensors, t) => HUES[tensors.column("stem")[t] % HUES.length];

function statement(core, { key, name, space }) {
  const memory = core.summary.memory, gap = core.summary.untouched_bytes_per_partition[key];
  const peak = memory[`${key}_peak_bytes_per_partition`], all = memory[`${key}_bytes_per_partition`];
  const largest = largestTensor(core.tensors, space);
  let more = "";
  if (largest) {
    const fits = Math.floor(gap / largest.bytes), which = `${shortened(largest.name, 30)}, ${bytes(largest.bytes)}`;
    more = fits > 0 ? `: room for ${count(fits)} more of the largest tensor (${which})`
      : `: too little for another of the largest tensor (${which})`;
  }
  return [el("b", {}, name), ` peak ${bytes(peak)} of ${bytes(all)} per partition (${percent(peak / all)}). `,
    gap > 0 ? `${bytes(gap)} in one piece stay free throughout${more}.` : "Every byte is used at some time."];
}

function largestTensor(tensors, space) {
  let best = -1;
  const size = tensors.column("bytes"), where = tensors.column("space");
  for (let t = 0; t < tensors.count; ++t) if (where[t] === space && (best < 0 || size[t] > size[best])) best = t;
  return best < 0 ? null : { name: tensors.name(best), bytes: size[best] };
}

class Panel {
  constructor(store, { space, key, height }) {
    this.store = store;
    this.height = height;
    this.canvas = el("canvas", { role: "img", "aria-label": `Tensors in ${key} over time`,
                                 style: { height: `${height}px` } });
    const core = store.get().core, tensors = core.tensors;
    this.tensors = tensors;
    const where = tensors.column("space"), lasts = tensors.column("time");
    this.order = Array.from({ length: tensors.count }, (_, t) => t)
      .filter((t) => where[t] === space && lasts[t] > 0)
      .sort((a, b) => tensors.column("from")[a] - tensors.column("from")[b]);
    // The axis ends where the highest tensor does: small ones stay visible in a memory that is mostly free.
    const end = (t) => tensors.column("offset")[t] + tensors.column("bytes")[t];
    this.top = this.order.reduce((top, t) => Math.max(top, end(t)), 1);
  }

  get scale() {
    const width = this.canvas.clientWidth;
    return new Scale(this.store.get().range, width < 600 ? 78 : 104, width - 8);
  }

  y(offset) { return TOP + (offset / this.top) * (this.height - TOP - 2); }

  draw() {
    const width = this.canvas.parentElement.clientWidth, dense = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * dense);
    this.canvas.height = Math.round(this.height * dense);
    const ctx = this.canvas.getContext("2d"), scale = this.scale;
    ctx.setTransform(dense, 0, 0, dense, 0, 0);
    ctx.fillStyle = color("track");
    ctx.fillRect(scale.left, TOP, scale.right - scale.left, this.height - TOP - 2);
    paintRuler(ctx, scale, this.height);
    this.#paintBytes(ctx, scale);
    ctx.save();
    ctx.beginPath();
    ctx.rect(scale.left, TOP, scale.right - scale.left, this.height - TOP);
    ctx.clip();
    this.#paintTensors(ctx, scale);
    ctx.restore();
  }

  #paintBytes(ctx, scale) {
    ctx.textAlign = "right";
    ctx.fillStyle = color("muted");
    for (const at of ticks(0, this.top / 1024, this.height / 45)) {
      ctx.fillText(bytes(at * 1024).replace(".0", ""), scale.left - 6, Math.min(this.y(at * 1024), this.height - 8));
    }
  }

  // Tensors too short to see that lie in the same place share a pixel.
  #paintTensors(ctx, scale) {
    const { tensors } = this, from = tensors.column("from"), lasts = tensors.column("time");
    const offset = tensors.column("offset"), size = tensors.column("bytes"), drawnAt = new Map();
    for (const t of this.order) {
      if (from[t] > scale.to) break;
      if (from[t] + lasts[t] < scale.from) continue;
      const x = scale.x(from[t]), width = lasts[t] / scale.perPixel;
      if (width < 1) {
        if (drawnAt.get(offset[t]) === Math.floor(x)) continue;
        drawnAt.set(offset[t], Math.floor(x));
      }
      const y = this.y(offset[t]), height = Math.max(1, (size[t] / this.top) * (this.height - TOP - 2) - 0.5);
      ctx.fillStyle = color(hueOf(tensors, t));
      ctx.globalAlpha = 0.78;
      ctx.fillRect(x, y, Math.max(1, width - 0.5), height);
      ctx.globalAlpha = 1;
      if (width < 44 || height < 12) continue;
      this.#label(ctx, scale, tensors.name(t), Math.max(x, scale.left), y + height / 2, x + width);
    }
  }

  #label(ctx, scale, name, x, y, until) {
    const most = Math.floor((Math.min(until, scale.right) - x - 8) / 6);
    if (most < 3) return;
    ctx.fillStyle = color("on-bar");
    ctx.textAlign = "left";
    ctx.fillText(shortened(name, most), x + 4, y);
  }

  at(x, y) {
    const { tensors } = this, scale = this.scale, t = scale.time(x);
    const byte = ((y - TOP) / (this.height - TOP - 2)) * this.top;
    const from = tensors.column("from"), lasts = tensors.column("time"), slack = scale.perPixel;
    return this.order.find((i) => from[i] - slack <= t && from[i] + lasts[i] + slack >= t &&
      tensors.column("offset")[i] <= byte && byte < tensors.column("offset")[i] + tensors.column("bytes")[i]);
  }

  text(t) {
    const { tensors } = this, from = tensors.column("from")[t], size = tensors.column("bytes")[t];
    const at = tensors.column("offset")[t], end = from + tensors.column("time")[t];
    return `${shortened(tensors.name(t), 80)}: ${bytes(size)} in each of ${tensors.column("partitions")[t]} ` +
      `partitions, bytes ${count(at)} to ${count(at + size)}; ${time(from)} to ${time(end)}`;
  }
}

function panel(store, kind) {
  const { core } = store.get(), view = new Panel(store, kind), tip = el("div", { class: "tip", hidden: true });
  const frame = el("div", { class: "timeline" }, view.canvas, tip);
  view.canvas.addEventListener("pointermove", (event) => {
    const t = view.at(event.offsetX, event.offsetY);
    tip.hidden = t === undefined;
    if (t === undefined) return;
    tip.textContent = view.text(t);
    tip.style.left = `${Math.min(event.offsetX + 12, Math.max(0, view.canvas.clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.offsetY + 16}px`;
  });
  view.canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  view.canvas.addEventListener("click", (event) => {
    const t = view.at(event.offsetX, event.offsetY);
    if (t !== undefined) store.set({ query: view.tensors.name(t) });
  });
  const note = el("p", { class: "statement" }, statement(core, kind));
  if (view.order.length === 0) return { node: el("div", {}, note), redraw: () => {} };
  // What is out of sight is drawn when it comes into sight.
  let inSight = false, stale = true;
  const redraw = eachFrame(() => {
    stale = !inSight;
    if (inSight) view.draw();
  });
  new IntersectionObserver(([entry]) => {
    inSight = entry.isIntersecting;
    if (inSight && stale) redraw();
  }).observe(frame);
  onResize(frame, redraw);
  return { node: el("div", {}, note, frame), redraw };
}

export function memory(store) {
  const panels = SPACES.map((kind) => panel(store, kind));
  const redraw = () => panels.forEach((p) => p.redraw());
  store.subscribe((state, before) => { if (state.range !== before.range) redraw(); });
  const node = section("memory", "Memory",
    "where each tensor lies in a partition, and how long; zooms with the timeline",
    panels.map((p) => p.node));
  return { node, redraw };
}
