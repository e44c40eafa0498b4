// All instructions as a table: sorted by a click on a column's head, filtered by the search and the chosen line. Only
// the rows in sight exist.

import { eachFrame, el, section } from "trnsim/dom.js";
import { bytes, count, flops, shortened, time } from "trnsim/format.js";
import { matches } from "trnsim/matching.js";
import { show } from "trnsim/timeline.js";

const ROW = 26;

// key, head, value for sorting and CSV, text for the cell; `words` columns are read as text.
const COLUMNS = [
  { key: "index", head: "#", value: (core, i) => i, text: (v) => String(v) },
  { key: "label", head: "Instruction", value: (core, i) => core.label(i), words: true, wide: true },
  { key: "opcode", head: "Opcode", value: (core, i) => core.opcode(i), words: true },
  { key: "queue", head: "Queue", value: (core, i) => core.queueName(i), words: true },
  { key: "start_ns", head: "Start", value: (core, i) => core.column("start")[i] / 1e3, text: (v) => time(v * 1e3) },
  { key: "duration_ns", head: "Works", value: (core, i) => (core.workUntil(i) - core.workFrom(i)) / 1e3,
    text: (v) => time(v * 1e3) },
  { key: "stalled_ns", head: "Stalled", value: (core, i) => core.stalls()[i] / 1e3,
    text: (v) => (v > 0 ? time(v * 1e3) : "") },
  { key: "wait", head: "Waited for", value: (core, i) => core.launch.waits[core.column("wait")[i]], words: true },
  { key: "critical_ns", head: "Critical", value: (core, i, chosen) => chosen.criticalOn(core)[i] / 1e3,
    text: (v) => (v > 0 ? time(v * 1e3) : "") },
  { key: "bytes", head: "Bytes", value: (core, i) => core.column("bytes")[i], text: (v) => (v > 0 ? bytes(v) : "") },
  { key: "piece_bytes", head: "Piece", value: (core, i) => core.column("piece_bytes")[i],
    text: (v) => (v > 0 ? bytes(v) : "") },
  { key: "flops", head: "FLOPs", value: (core, i) => core.column("flops")[i], text: (v) => (v > 0 ? flops(v) : "") },
  { key: "line", head: "Line", value: (core, i) => core.placeOf(i), words: true },
];
const OPERANDS = { key: "operands", value: (core, i) =>
  core.operands(i).map(({ field, tensor, kind }) => `${field}=${tensor ? `${tensor} ` : ""}${kind}`).join(", ") };

// RFC 4180. A text that a spreadsheet would take for a formula gets a quote in front.
function csvField(value) {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(core, chosen, indices) {
  const columns = [...COLUMNS, OPERANDS];
  const rows = Array.from(indices, (i) => columns.map((column) => csvField(column.value(core, i, chosen))).join(","));
  return [columns.map((column) => column.key).join(","), ...rows, ""].join("\r\n");
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// The instructions that match, in the order asked for.
function sorted(core, chosen, found, { column, down }) {
  const list = [];
  for (let i = 0; i < core.count; ++i) if (!found || found[i]) list.push(i);
  if (column.key === "index") return down ? list.reverse() : list;
  const keys = new Map(list.map((i) => [i, column.value(core, i, chosen)]));
  const compare = column.words ? (a, b) => (a < b ? -1 : a > b ? 1 : 0) : (a, b) => a - b;
  return list.sort((a, b) => (down ? -1 : 1) * compare(keys.get(a), keys.get(b)) || a - b);
}

export function table(store) {
  let order = { column: COLUMNS[0], down: false }, rows = [], shown = null;
  const body = el("div", { class: "rows-body" }), about = el("output", {});
  const heads = COLUMNS.map((column) =>
    el("button", { type: "button", class: `cell ${column.key}`, role: "columnheader", onclick() {
      order = { column, down: order.column === column ? !order.down : !column.words && column.key !== "index" };
      refill();
    } }, column.head));
  const scroll = el("div", { class: "rows-scroll", role: "table", tabIndex: 0, "aria-label": "Instructions",
                             onscroll: () => redraw() },
    el("div", { class: "rows-head", role: "row" }, heads), body);
  const core = () => store.get().selected?.core ?? store.get().core;

  function refill() {
    const state = store.get();
    shown = core();
    rows = sorted(shown, state.core, matches(shown, state), order);
    body.style.height = `${rows.length * ROW}px`;
    about.textContent = rows.length === shown.count ? `${count(rows.length)} instructions`
      : `${count(rows.length)} of ${count(shown.count)} instructions`;
    heads.forEach((head, c) => head.setAttribute("aria-sort",
      COLUMNS[c] !== order.column ? "none" : order.down ? "descending" : "ascending"));
    redraw();
  }

  const redraw = eachFrame(() => {
    const { core: chosen, selected } = store.get();
    const first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - 4);
    const last = Math.min(rows.length, first + Math.ceil(scroll.clientHeight / ROW) + 8);
    body.replaceChildren(...rows.slice(first, last).map((i, k) =>
      el("div", { class: selected && selected.core === shown && selected.i === i ? "row selected" : "row", role: "row",
                  style: { top: `${(first + k) * ROW}px` }, onclick: () => show(store, { core: shown, i }) },
        COLUMNS.map((column) => {
          const value = column.value(shown, i, chosen), text = column.text ? column.text(value) : value;
          return el("span", { class: `cell ${column.key}`, role: "cell", title: column.words ? text : undefined },
            column.words ? shortened(text, 60) : text);
        }))));
  });

  function follow(selected) {
    const at = selected ? rows.indexOf(selected.i) : -1;
    if (at < 0) return;
    const top = at * ROW, room = scroll.clientHeight - 2 * ROW;
    if (top < scroll.scrollTop || top > scroll.scrollTop + room) scroll.scrollTop = Math.max(0, top - room / 2);
  }

  store.subscribe((state, before) => {
    const other = core() !== shown;
    if (other || state.query !== before.query || state.line !== before.line || state.core !== before.core) refill();
    if (state.selected === before.selected) return;
    follow(state.selected);
    redraw();
  });
  refill();
  new ResizeObserver(() => redraw()).observe(scroll);
  const save = el("button", { type: "button", onclick: () =>
    download("instructions.csv", csv(shown, store.get().core, rows)) }, "Save as CSV");
  return section("instructions", "Instructions", "", el("div", { class: "toolbar" }, about,
    el("span", { class: "spring" }), save), scroll);
}
