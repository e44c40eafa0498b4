// The user's own lines, with what each cost. A click on a line chooses its instructions; the line of the chosen
// instruction is marked.

import { el, section } from "trnsim/dom.js";
import { bytes, count, fileName, flops, percent, time } from "trnsim/format.js";

const ps = (ns) => ns * 1e3;
const METRICS = {
  critical_ns: { name: "critical path", about: "share of the latency", text: (v, use) => percent(use.critical_share) },
  busy_ns: { name: "busy", about: "all instructions of the line added up", text: (v) => time(ps(v)) },
  stalled_ns: { name: "stalled", about: "how long queues stood still before them, added up", text: (v) => time(ps(v)) },
  dma_bytes: { name: "DMA bytes", about: "moved by DMA", text: (v) => bytes(v) },
  flops: { name: "FLOPs", about: "floating-point operations", text: (v) => flops(v) },
};
const SUMMED = [...Object.keys(METRICS), "instructions", "critical_share"];
const AROUND = 4; // lines shown before and after one that did something

// By file, then by line: functions that share a line are one.
function costs(lines) {
  const files = new Map();
  for (const use of lines) {
    if (!use.line) continue;
    if (!files.has(use.file)) files.set(use.file, new Map());
    const file = files.get(use.file), known = file.get(use.line);
    if (known) for (const key of SUMMED) known[key] += use[key];
    else file.set(use.line, { ...use });
  }
  return files;
}

// Runs of line numbers worth showing: what did something, with a little around it.
function stretches(costed, source) {
  const numbers = [...costed.keys()].sort((a, b) => a - b), runs = [];
  const first = source ? source.first_line : numbers[0];
  const last = source ? source.first_line + source.lines.length - 1 : numbers.at(-1);
  for (const number of numbers) {
    const from = source ? Math.max(first, number - AROUND) : number;
    const to = source ? Math.min(last, number + AROUND) : number;
    if (runs.length && from <= runs.at(-1).to + 1) runs.at(-1).to = Math.max(runs.at(-1).to, to);
    else runs.push({ from, to });
  }
  return runs;
}

function lineRow(file, number, text, use, largest, choose) {
  const cells = Object.entries(METRICS).map(([key, metric]) => {
    if (!use || !use[key]) return el("td", { class: `metric ${key}` });
    return el("td", { class: `metric ${key}`, style: { "--share": use[key] / largest[key] } },
      metric.text(use[key], use));
  });
  const chosen = () => choose({ file, line: number });
  return el("tr", { class: use ? "used" : "", "data-line": number, tabIndex: use ? 0 : undefined,
                    onclick: use && chosen, onkeydown: use && ((event) => { if (event.key === "Enter") chosen(); }),
                    title: use && `${count(use.instructions)} instructions` },
    el("td", { class: "number" }, String(number)), el("td", { class: "code" }, text), cells);
}

function fileTable(file, costed, source, largest, choose) {
  const body = [];
  stretches(costed, source).forEach(({ from, to }, run) => {
    if (run > 0) body.push(el("tr", { class: "gap" }, el("td", { colSpan: 7 }, "⋯")));
    for (let number = from; number <= to; ++number) {
      const text = source ? source.lines[number - source.first_line] ?? "" : `line ${number}`;
      body.push(lineRow(file, number, text, costed.get(number), largest, choose));
    }
  });
  return el("table", { class: "source", "data-file": file },
    el("caption", { title: file }, fileName(file),
      !source && el("small", {}, " (source not at hand: lines by number)")),
    el("thead", {}, el("tr", {}, el("th", {}), el("th", {}),
      Object.entries(METRICS).map(([key, metric]) =>
        el("th", { class: `metric ${key}`, title: metric.about }, metric.name)))),
    el("tbody", {}, body));
}

export function source(store) {
  const { core, launch } = store.get();
  const files = costs(core.summary.costliest_lines);
  const all = [...files.values()].flatMap((file) => [...file.values()]);
  const choose = (line) => {
    const { line: now } = store.get();
    const same = now && now.file === line.file && now.line === line.line;
    store.set({ line: same ? null : line });
  };
  const most = (key) => all.reduce((top, use) => Math.max(top, use[key]), 0);
  const largest = Object.fromEntries(Object.keys(METRICS).map((key) => [key, most(key)]));
  const weight = (file) => [...files.get(file).values()].reduce((sum, use) => sum + use.critical_ns, 0);
  const tables = [...files.keys()].sort((a, b) => weight(b) - weight(a)).map((file) =>
    fileTable(file, files.get(file), launch.sources.find((s) => s.file === file), largest, choose));
  const scroll = el("div", { class: "scroll", "data-heat": "critical_ns" }, tables);
  const heat = el("select", { "aria-label": "Heat shows", onchange: () => { scroll.dataset.heat = heat.value; } },
    Object.entries(METRICS).map(([key, metric]) => el("option", { value: key }, `Heat: ${metric.name}`)));
  const rowOf = ({ file, line }) => tables.find((table) => table.dataset.file === file)
    ?.querySelector(`tr[data-line="${line}"]`);
  let marked = [];
  const mark = (state) => {
    for (const row of marked) row.classList.remove("chosen", "of-selected");
    const chosen = state.line && rowOf(state.line);
    const site = state.selected?.core.siteOf(state.selected.i), of = site && rowOf(site);
    chosen?.classList.add("chosen");
    of?.classList.add("of-selected");
    marked = [chosen, of].filter(Boolean);
    return of ?? chosen;
  };
  store.subscribe((state, before) => {
    if (state.line === before.line && state.selected === before.selected) return;
    const row = mark(state);
    if (row && state.selected !== before.selected) intoView(scroll, row);
  });
  mark(store.get());
  const node = section("source", "Source", "what each line cost; click one to choose its instructions",
    tables.length > 0 ? [el("div", { class: "toolbar" }, heat), scroll]
      : el("p", { class: "empty" }, "No source line was recorded for these instructions."));
  requestAnimationFrame(() => {
    const hottest = all.reduce((a, b) => (b.critical_ns > (a?.critical_ns ?? -1) ? b : a), null);
    if (hottest) intoView(scroll, rowOf(hottest));
  });
  return node;
}

// Scrolls inside the view only: the page stays where the reader is.
function intoView(scroll, row) {
  const box = scroll.getBoundingClientRect(), at = row.getBoundingClientRect();
  if (at.top < box.top + 30 || at.bottom > box.bottom) scroll.scrollTop += at.top - box.top - scroll.clientHeight / 3;
}
