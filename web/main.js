// Puts the page together: reads the data, makes a store for each side, and hands it to the views.

import { comparison } from "trnsim/compare.js";
import { readComparison, readSides } from "trnsim/data.js";
import { details } from "trnsim/details.js";
import { el } from "trnsim/dom.js";
import { count, shortened, time } from "trnsim/format.js";
import { memory } from "trnsim/memory.js";
import { themeButton } from "trnsim/palette.js";
import { roofline } from "trnsim/roofline.js";
import { source } from "trnsim/source.js";
import { createStore, scope } from "trnsim/store.js";
import { table } from "trnsim/table.js";
import { timeline, wholeRange } from "trnsim/timeline.js";
import { transfers } from "trnsim/transfers.js";
import { verdict } from "trnsim/verdict.js";

const longest = (side) => side.launches.reduce((a, b) => (b.latency > a.latency ? b : a));

const showing = (launch, core, span = launch.latency) =>
  ({ launch, core, span, range: wholeRange(span), selected: null, line: null });

// One entry for each core of each launch; path and verdict are of one core.
function chooser(side, store, chosen) {
  const entries = side.launches.flatMap((launch) => launch.cores.map((core) => ({ launch, core })));
  if (entries.length === 1) return null;
  const select = el("select", { "aria-label": "Launch and core",
                                onchange: () => chosen(entries[select.selectedIndex]) },
    entries.map(({ launch, core }) => el("option", {}, [
      side.launches.length > 1 ? `Launch ${launch.number}: ${shortened(launch.kernel, 40)}` : "",
      launch.cores.length > 1 ? `core ${core.number}` : "", time(core.total)].filter(Boolean).join(", "))));
  select.selectedIndex = entries.findIndex(({ core }) => core === store.get().core);
  return select;
}

const pageTitle = (text, whole) => el("div", { class: "heading" }, el("h1", { title: whole }, text));

function heading(store) {
  const title = el("h1"), about = el("p", { class: "about" });
  const update = ({ launch, core }) => {
    title.textContent = shortened(launch.kernel, 80);
    title.title = launch.kernel;
    const { chip, neuroncore } = core.summary;
    about.textContent = [`NeuronCore-${neuroncore} of ${chip}`, `${count(core.count)} instructions`,
      launch.cores.length > 1 ? `core ${core.number} of ${launch.cores.length} side by side` : ""]
      .filter(Boolean).join(" · ");
  };
  update(store.get());
  store.subscribe(update);
  return el("div", { class: "heading" }, title, about);
}

const SECTIONS = { timeline: "Timeline", source: "Source", dma: "DMA", roofline: "Roofline",
                   memory: "Memory", instructions: "Instructions" };

// Links that scroll; an address in the page would not work inside a notebook's frame.
function contents(names) {
  return el("nav", { "aria-label": "Sections" }, Object.entries(names).map(([id, name]) =>
    el("button", { type: "button",
      onclick: () => document.querySelector(`[data-view="${id}"]`).scrollIntoView({ behavior: "smooth" }) },
      name)));
}

// Views of one core, made anew when another one is chosen. `make` gives { node, redraw } or a node.
function remade(store, make) {
  const place = el("div", { class: "view" });
  let views = scope(store), view;
  const build = () => {
    view = make(views);
    place.replaceChildren(view.node ?? view);
  };
  build();
  store.subscribe((state, before) => {
    if (state.core === before.core) return;
    views.end();
    views = scope(store);
    build();
  });
  return { node: place, redraw: () => view.redraw?.() };
}

function lowerViews(store) {
  const map = remade(store, memory);
  const [lines, dma, roofs, rows] = [source, transfers, roofline, table].map((view) => remade(store, view).node);
  return { lines, dma, roofs, map: map.node, rows, redraw: map.redraw };
}

const pair = (...nodes) => el("div", { class: "pair" }, nodes);

function single(side) {
  const launch = longest(side);
  const store = createStore({ ...showing(launch, launch.slowest), query: "", hidden: new Set() });
  const lanes = timeline(store), lower = lowerViews(store);
  const choose = ({ launch: other, core }) => store.set(other === store.get().launch ? { core } : showing(other, core));
  return {
    top: [heading(store), chooser(side, store, choose)],
    names: SECTIONS,
    main: [remade(store, ({ get }) => verdict(get().core)).node,
      el("div", { class: "with-details" }, lanes.node, details(store)), lower.lines, pair(lower.dma, lower.roofs),
      lower.map, lower.rows],
    redraw() { lanes.redraw(); lower.redraw(); },
  };
}

// Both sides on one scale of time: what one shows, the other shows too.
function compared(sides, data) {
  const pairs = Math.min(...sides.map((side) => side.launches.length));
  const partner = (number) => sides.map((side) => side.launches[number]);
  const states = (number) => {
    const launches = partner(number), span = Math.max(...launches.map((launch) => launch.latency));
    return launches.map((launch) => showing(launch, launch.slowest, span));
  };
  const first = Math.min(longest(sides[0]).number, pairs - 1);
  const stores = states(first).map((state) => createStore({ ...state, query: "", hidden: new Set() }));
  stores.forEach((store, s) => store.subscribe((state, before) => {
    const other = stores[1 - s];
    if (state.range !== before.range && other.get().range !== state.range) other.set({ range: state.range });
  }));
  const labels = sides.map((side) => side.label);
  const lanes = stores.map((store, s) => timeline(store, labels[s])), lower = stores.map(lowerViews);
  const overview = el("div", { class: "view" }, comparison(data, labels, first));
  const launch = pairs < 2 ? null : el("select", { "aria-label": "Launch", onchange() {
    states(launch.selectedIndex).forEach((state, s) => stores[s].set(state));
    overview.replaceChildren(comparison(data, labels, launch.selectedIndex));
  } }, sides[0].launches.slice(0, pairs).map(({ number, kernel }) =>
    el("option", {}, `Launch ${number}: ${shortened(kernel, 40)}`)));
  if (launch) launch.selectedIndex = first;
  const verdicts = stores.map((store) => remade(store, ({ get }) => verdict(get().core)).node);
  const both = (key) => pair(...lower.map((views) => views[key]));
  return {
    top: [pageTitle(labels.map((label) => shortened(label, 40)).join(" → "), labels.join(" → ")), launch],
    names: {},
    main: [overview, pair(...verdicts),
      ...stores.map((store, s) => el("div", { class: "with-details" }, lanes[s].node, details(store))),
      ...["lines", "dma", "roofs", "map", "rows"].map(both)],
    redraw() { [...lanes, ...lower].forEach((view) => view.redraw()); },
  };
}

export function start(document) {
  const sides = readSides(document);
  const page = sides.length === 2 ? compared(sides, readComparison(document)) : single(sides[0]);
  document.body.append(
    el("header", { class: "top" }, page.top, contents(page.names), themeButton(el, page.redraw)),
    el("main", {}, page.main));
}
