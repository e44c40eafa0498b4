// The timeline: every instruction on its engine or DMA queue. Zoom with the wheel and Ctrl, a pinch, W and S or the
// buttons; pan by dragging, A and D; click an instruction for its details.

import { eachFrame, el, onResize, section } from "trnsim/dom.js";
import { percent, shortened } from "trnsim/format.js";
import { howMany, matches } from "trnsim/matching.js";
import * as paint from "trnsim/paint.js";
import { color, queueVariable } from "trnsim/palette.js";
import { laneHeight, layOut, places, tracksOf } from "trnsim/tracks.js";

const CLOSEST = 2000; // ps on the whole width

export function timeline(store, title = "Timeline") {
  const canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label":
    "Timeline of all instructions. W and S zoom, A and D pan, arrow keys choose the instruction before or after." });
  const tip = el("div", { class: "tip", hidden: true });
  const frame = el("div", { class: "timeline" }, canvas, tip);
  const scene = new Scene(canvas, store);
  const redraw = eachFrame(() => scene.draw());
  onResize(frame, redraw);
  store.subscribe((state, before) => {
    if (state.launch !== before.launch) scene.load(state.launch);
    redraw();
  });
  listen(canvas, tip, scene, store);
  return { node: section("timeline", title, "", toolbar(store, scene), frame), redraw };
}

class Scene {
  #places = new Map();
  #sums = new WeakMap();

  constructor(canvas, store) {
    this.canvas = canvas;
    this.store = store;
    this.load(store.get().launch);
  }

  load(launch) {
    this.launch = launch;
    this.tracks = launch.cores.flatMap(tracksOf);
    this.#places.clear();
  }

  placesOf = (core) => {
    if (!this.#places.has(core)) this.#places.set(core, places(this.tracks, core));
    return this.#places.get(core);
  };

  // Running sums by lane, kept until the values are others.
  #sumsOf(lane, kind, values) {
    if (!values) return null;
    const kept = this.#sums.get(lane) ?? {};
    if (kept[kind]?.values !== values) {
      kept[kind] = { values, sums: lane.sumsOf(values) };
      this.#sums.set(lane, kept);
    }
    return kept[kind].sums;
  }

  get gutter() { return this.canvas.clientWidth < 600 ? 78 : 104; }

  scale() {
    return new paint.Scale(this.store.get().range, this.gutter, this.canvas.clientWidth - 8);
  }

  draw() {
    const { core, range, hidden, selected } = this.store.get();
    const height = layOut(this.tracks, hidden, paint.TOP) + 4;
    const width = this.canvas.parentElement.clientWidth, dense = devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    if (this.canvas.width !== Math.round(width * dense)) this.canvas.width = Math.round(width * dense);
    if (this.canvas.height !== Math.round(height * dense)) this.canvas.height = Math.round(height * dense);
    this.canvas.dataset.range = range.join(" "); // so that what is shown can be told from outside
    const ctx = this.canvas.getContext("2d"), scale = new paint.Scale(range, this.gutter, width - 8);
    ctx.setTransform(dense, 0, 0, dense, 0, 0);
    ctx.clearRect(0, 0, width, height);
    paint.paintRuler(ctx, scale, height);
    this.#paintGutter(ctx, width);
    ctx.save();
    ctx.beginPath();
    ctx.rect(scale.left, 0, scale.right - scale.left, height);
    ctx.clip();
    paint.paintStrip(ctx, scale, core.path(), this.launch);
    for (const track of this.tracks) {
      if (!track.shown) continue;
      const found = matches(track.core, this.store.get()), critical = core.criticalOn(track.core);
      track.lanes.forEach((lane, number) => paint.paintLane(ctx, scale, lane, track, number,
        this.#sumsOf(lane, "found", found), this.#sumsOf(lane, `critical ${core.index}`, critical)));
    }
    paint.paintPath(ctx, scale, core.path(), this.launch, this.placesOf);
    if (selected) paint.paintSelected(ctx, scale, selected, this.placesOf);
    ctx.restore();
  }

  #paintGutter(ctx, width) {
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    ctx.font = color("font-small");
    ctx.fillStyle = color("muted");
    ctx.fillText("Bound by", 2, paint.RULER + paint.STRIP / 2);
    for (const track of this.tracks) {
      if (track.heading) {
        ctx.fillStyle = color("muted");
        ctx.fillText(track.heading, 2, track.y - 10);
        ctx.fillStyle = color("grid");
        ctx.fillRect(52, track.y - 10, width - 52, 1);
      }
      if (!track.shown) continue;
      const middle = track.y + track.height / 2;
      ctx.fillStyle = color("track");
      ctx.fillRect(this.gutter, track.y, width - this.gutter - 8, track.height);
      ctx.fillStyle = color(queueVariable(track.name));
      ctx.fillRect(2, middle - 4, 8, 8);
      ctx.fillStyle = color("ink");
      ctx.font = color("font-label");
      ctx.fillText(track.name, 15, middle);
      ctx.font = color("font-small");
    }
  }

  // The instruction at a point of the canvas, with a little tolerance sideways.
  at(x, y) {
    const track = this.tracks.find((t) => t.shown && y >= t.y && y < t.y + t.height);
    if (!track || x < this.gutter) return null;
    const number = Math.min(track.lanes.length - 1, Math.floor((y - track.y) / laneHeight(track)));
    const lane = track.lanes[number], scale = this.scale(), slack = 3 * scale.perPixel;
    const k = lane.endingAfter(scale.time(x) - slack);
    if (k >= lane.count || lane.from[k] > scale.time(x) + slack) return null;
    return { core: track.core, i: lane.order[k] };
  }
}

// A range of the same or another length that stays within the run.
function within(span, from, length) {
  const whole = Math.max(span, CLOSEST);
  const kept = Math.min(Math.max(length, CLOSEST), whole * 1.02);
  const start = Math.min(Math.max(from, -whole * 0.01), whole * 1.01 - kept);
  return [start, start + kept];
}

export const wholeRange = (span) => within(span, -Infinity, Infinity);

export function zoom(store, factor, around) {
  const { range: [from, to], span } = store.get();
  const at = around ?? (from + to) / 2;
  store.set({ range: within(span, at - (at - from) * factor, (to - from) * factor) });
}

function pan(store, by) {
  const { range: [from, to], span } = store.get();
  store.set({ range: within(span, from + by, to - from) });
}

// Brings an instruction into view; zooms only where it would be too small to see.
export function show(store, { core, i }) {
  const { range: [from, to], span } = store.get();
  const begin = core.workFrom(i), end = core.workUntil(i);
  const length = Math.min(to - from, Math.max((end - begin) * 80, CLOSEST * 10));
  const keeps = begin >= from && end <= to && length === to - from;
  store.set({ selected: { core, i },
              range: keeps ? [from, to] : within(span, (begin + end) / 2 - length / 2, length) });
}

// The next or previous match (or any instruction) after the chosen one.
function step(store, by) {
  const { core, selected } = store.get();
  const on = selected?.core ?? core, found = matches(on, store.get());
  for (let i = selected ? selected.i + by : by > 0 ? 0 : on.count - 1; i >= 0 && i < on.count; i += by) {
    if (!found || found[i]) return show(store, { core: on, i });
  }
}

function stepInQueue(store, by) {
  const { selected } = store.get();
  if (!selected) return step(store, by);
  const queue = selected.core.column("queue");
  for (let i = selected.i + by; i >= 0 && i < queue.length; i += by) {
    if (queue[i] === queue[selected.i]) return show(store, { core: selected.core, i });
  }
}

function toolbar(store, scene) {
  const search = el("input", { type: "search",
    placeholder: "Search: opcode, tensor, file:line, wait:data",
    "aria-label": "Search instructions", spellcheck: false,
    oninput: () => store.set({ query: search.value }),
    onkeydown: (event) => { if (event.key === "Enter") step(store, event.shiftKey ? -1 : 1); } });
  const hits = el("output", { class: "hits" });
  const chosenLine = el("button", { class: "chip on", type: "button", hidden: true, title: "Show all lines",
                                    onclick: () => store.set({ line: null }) });
  const queues = el("div", { class: "chips", role: "group", "aria-label": "Queues shown" });
  const button = (text, title, onclick) =>
    el("button", { type: "button", title, "aria-label": title, onclick }, text);
  const update = (state) => {
    const found = state.launch.cores.reduce((sum, core) => sum + howMany(core, matches(core, state)), 0);
    const searching = state.query.trim() !== "" || state.line;
    hits.textContent = searching ? `${found.toLocaleString("en-US")} found` : "";
    chosenLine.hidden = !state.line;
    chosenLine.textContent = state.line ? `line ${state.line.line} ×` : "";
    if (search.value !== state.query) search.value = state.query;
  };
  const listQueues = () => {
    const shown = [...new Map(scene.tracks.map((track) => [track.queue, track.name]))];
    queues.replaceChildren(...shown.map(([queue, name]) =>
      el("button", { type: "button", class: "chip on", "aria-pressed": "true", onclick(event) {
        const hidden = new Set(store.get().hidden);
        if (!hidden.delete(queue)) hidden.add(queue);
        event.currentTarget.classList.toggle("on", !hidden.has(queue));
        event.currentTarget.setAttribute("aria-pressed", String(!hidden.has(queue)));
        store.set({ hidden });
      } }, el("i", { style: { background: `var(--${queueVariable(name)})` } }), shortened(name))));
  };
  listQueues();
  update(store.get());
  store.subscribe((state, before) => {
    if (state.launch !== before.launch) listQueues();
    if (state.query !== before.query || state.line !== before.line || state.launch !== before.launch) update(state);
  });
  return [
    el("div", { class: "toolbar" }, search, button("‹", "Previous match", () => step(store, -1)),
      button("›", "Next match", () => step(store, 1)), hits, chosenLine, el("span", { class: "spring" }),
      el("span", { class: "group" }, button("−", "Zoom out", () => zoom(store, 2)),
        button("+", "Zoom in", () => zoom(store, 0.5)),
        button("All", "Show the whole run", () => store.set({ range: wholeRange(store.get().span) })))),
    queues];
}

const KEYS = {
  w: (store) => zoom(store, 0.7), "+": (store) => zoom(store, 0.7), s: (store) => zoom(store, 1 / 0.7),
  "-": (store) => zoom(store, 1 / 0.7), a: (store) => pan(store, -0.15 * length(store)),
  d: (store) => pan(store, 0.15 * length(store)), ArrowLeft: (store) => stepInQueue(store, -1),
  ArrowRight: (store) => stepInQueue(store, 1), Escape: (store) => store.set({ selected: null, line: null }),
  0: (store) => store.set({ range: wholeRange(store.get().span) }),
};
const length = (store) => store.get().range[1] - store.get().range[0];

// Fields take what is typed; Escape clears a search. Arrows scroll what they are pressed in.
const takesKey = (at, key) => at.closest?.("input, select, textarea, [contenteditable]") ||
  (key.startsWith("Arrow") && at.closest?.(".scroll, .rows-scroll"));

// On a page of two runs a key pressed in one timeline is meant for that one, any other for the first; zooming and
// panning move both in any case.
function means(canvas, at) {
  const all = [...document.querySelectorAll("[data-view=timeline] canvas")];
  return canvas === (all.includes(at) ? at : all[0]);
}

function listen(canvas, tip, scene, store) {
  const pointers = new Map(); // that are down
  let moved = false;
  document.addEventListener("keydown", (event) => { // wherever the reader is, but for fields
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && (KEYS[event.key] ?? KEYS[event.key.toLowerCase()]);
    if (!act || takesKey(event.target, event.key)) return;
    if (event.key !== "Escape" && !means(canvas, event.target)) return;
    event.preventDefault();
    tip.hidden = true; // it would stay where its instruction was
    act(store);
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      zoom(store, Math.exp(Math.min(60, Math.max(-60, event.deltaY)) * 0.012), scene.scale().time(event.offsetX));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan(store, (event.deltaX || event.deltaY) * scene.scale().perPixel);
    }
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, event.offsetX);
    moved = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (pointers.has(event.pointerId)) drag(event);
    else hover(event);
  });
  const drag = (event) => {
    const before = pointers.get(event.pointerId), scale = scene.scale();
    if (!moved && Math.abs(event.offsetX - before) < 4) return;
    moved = true;
    tip.hidden = true;
    const other = [...pointers].find(([id]) => id !== event.pointerId);
    if (other) {
      const wide = Math.max(10, Math.abs(before - other[1])), now = Math.max(10, Math.abs(event.offsetX - other[1]));
      zoom(store, wide / now, scale.time(other[1]));
    } else {
      pan(store, (before - event.offsetX) * scale.perPixel);
    }
    pointers.set(event.pointerId, event.offsetX);
  };
  const hover = (event) => {
    const hit = scene.at(event.offsetX, event.offsetY);
    canvas.style.cursor = hit ? "pointer" : "grab";
    tip.hidden = !hit;
    if (!hit) return;
    tip.textContent = shortened(paint.tipText(hit.core, hit.i), 160);
    tip.style.left = `${Math.min(event.offsetX + 12, Math.max(0, canvas.clientWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${event.offsetY + 16}px`;
  };
  const lift = (event) => {
    if (!pointers.delete(event.pointerId) || moved || event.type !== "pointerup") return;
    const hit = scene.at(event.offsetX, event.offsetY);
    store.set({ selected: hit });
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", (event) => {
    const hit = scene.at(event.offsetX, event.offsetY);
    if (!hit) return zoom(store, 0.4, scene.scale().time(event.offsetX));
    const begin = hit.core.workFrom(hit.i), long = hit.core.workUntil(hit.i) - begin;
    store.set({ selected: hit, range: within(store.get().span, begin - long * 4, long * 9) });
  });
}

