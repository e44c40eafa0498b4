// Puts the page together: reads the data, makes the store, and hands it to the views.

import { readSides } from "trnsim/data.js";
import { details } from "trnsim/details.js";
import { el } from "trnsim/dom.js";
import { count, shortened, time } from "trnsim/format.js";
import { themeButton } from "trnsim/palette.js";
import { createStore } from "trnsim/store.js";
import { timeline, wholeRange } from "trnsim/timeline.js";
import { verdict } from "trnsim/verdict.js";

function firstState(side) {
  const launch = side.launches.reduce((a, b) => (b.latency > a.latency ? b : a));
  return { launch, core: launch.slowest, selected: null, line: null, query: "", hidden: new Set(),
           range: wholeRange(launch) };
}

// One entry for each core of each launch; the path and the verdict are of one core.
function chooser(side, store) {
  const entries = side.launches.flatMap((launch) => launch.cores.map((core) => ({ launch, core })));
  if (entries.length === 1) return null;
  const select = el("select", { "aria-label": "Launch and core", onchange() {
    const { launch, core } = entries[select.selectedIndex], same = launch === store.get().launch;
    store.set({ launch, core, selected: null, line: null, ...(same ? {} : { range: wholeRange(launch) }) });
  } }, entries.map(({ launch, core }) => el("option", {}, [
    side.launches.length > 1 ? `Launch ${launch.number}: ${shortened(launch.kernel, 40)}` : "",
    launch.cores.length > 1 ? `core ${core.number}` : "", time(core.total)].filter(Boolean).join(", "))));
  select.selectedIndex = entries.findIndex(({ core }) => core === store.get().core);
  return select;
}

function heading(side, store) {
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

// A view that is made anew when another launch or core is shown.
function remade(store, make) {
  const node = el("div", { class: "view" }, make(store.get()));
  store.subscribe((state, before) => {
    if (state.core !== before.core) node.replaceChildren(make(state));
  });
  return node;
}

export function start(document) {
  const [side] = readSides(document);
  const store = createStore(firstState(side));
  const lanes = timeline(store);
  document.body.append(
    el("header", { class: "top" }, heading(side, store), chooser(side, store), themeButton(el, lanes.redraw)),
    el("main", {},
      remade(store, ({ core }) => verdict(core)),
      el("div", { class: "with-details" }, lanes.node, details(store))));
}
