// Everything about the chosen instruction.

import { el } from "trnsim/dom.js";
import { bytes, count, flops, place, shortened, time } from "trnsim/format.js";
import { queueVariable } from "trnsim/palette.js";
import { show } from "trnsim/timeline.js";

function link(store, { core, i }) {
  const text = `#${i} ${shortened(core.label(i), 40)}`;
  return el("button", { type: "button", class: "link", onclick: () => show(store, { core, i }) }, text);
}

function waiting(store, core, i) {
  const stall = core.stalls()[i], reason = core.launch.waits[core.column("wait")[i]], other = core.waitedFor(i);
  if (!other) return stall > 0 ? `${time(stall)} for ${reason}` : "for nothing";
  return [stall > 0 ? `${time(stall)} for ${reason}, until ` : `for ${reason} of `, link(store, other),
    ` on ${other.core.queueName(other.i)}${other.core === core ? "" : `, core ${other.core.number}`}`];
}

function criticalTime(chosen, core, i) {
  const path = chosen.path(), losses = new Map();
  for (let k = 0; k < path.count; ++k) {
    if (path.instruction[k] !== i || path.core[k] !== core.index) continue;
    const loss = core.launch.losses[path.loss[k]];
    losses.set(loss, (losses.get(loss) ?? 0) + path.time[k]);
  }
  if (losses.size === 0) return "not on it";
  return [...losses].map(([loss, ps]) => `${loss} ${time(ps)}`).join(", ");
}

function operandRow({ field, kind, tensor, offset, partition }, written) {
  const [space, dtype, shape] = kind.split(" ");
  const where = space === "HBM" ? `byte ${count(offset)}` : `partition ${partition}, byte ${count(offset)}`;
  return el("li", {}, el("span", { class: written ? "field written" : "field" }, field),
    el("span", { class: "operand" }, el("b", { title: tensor }, shortened(tensor || "(no name)", 48)),
      ` ${space} ${dtype} ${shape.replaceAll("x", "×")}`, el("small", {}, where)));
}

function rows(store, state) {
  const { core, i } = state.selected;
  const start = core.column("start")[i], end = start + core.column("end")[i], site = core.siteOf(i);
  const row = (name, ...value) => [el("dt", {}, name), el("dd", {}, ...value)];
  const size = core.column("bytes")[i], work = core.column("flops")[i];
  const transfer = core.isTransfer(i);
  return el("dl", { class: "rows" },
    row("Queue", core.queueName(i), state.launch.cores.length > 1 && ` of core ${core.number}`),
    row("Start", time(start)),
    row(transfer ? "Data moving" : "Busy", time(core.workUntil(i) - core.workFrom(i)),
      core.column("prelude")[i] > 0 && ` after ${time(core.column("prelude")[i])} of ${
        transfer ? "issue and start" : "table load"}`),
    row("Result", time(end)),
    row("Waited", waiting(store, core, i)),
    core.servedAfter(i) && row("DMA engines", "busy before with ", link(store, core.servedAfter(i))),
    row("Critical path", criticalTime(state.core, core, i)),
    size > 0 && row(transfer ? "Moved" : "Tile", bytes(size), transfer && core.column("pieces")[i] > 0 &&
      ` in ${count(core.column("pieces")[i])} pieces of ${bytes(core.column("piece_bytes")[i])}`),
    work > 0 && row("Work", flops(work)),
    site.line > 0 && row("Line", el("button", { type: "button", class: "link", title: site.file,
      onclick: () => store.set({ line: { file: site.file, line: site.line } }) }, place(site)),
      site.function && ` in ${shortened(site.function, 40)}`));
}

const COSTLIEST = 8;
const KEYS = ["Ctrl + wheel zooms", "drag pans", "W A S D zoom and pan",
  "← → walk a queue", "0 shows all", "Esc clears"];

// The instructions of the critical path by source line, the costliest first; those without a line one by one.
function byLine({ core, launch }) {
  const groups = new Map();
  for (const other of launch.cores) {
    const critical = core.criticalOn(other);
    for (let i = 0; i < other.count; ++i) {
      if (critical[i] === 0) continue;
      const site = other.siteOf(i), key = site.line ? `${site.file}:${site.line}` : `${other.index} ${i}`;
      const group = groups.get(key) ?? { core: other, i, worst: 0, ps: 0, count: 0, site };
      group.ps += critical[i];
      group.count += 1;
      if (critical[i] > group.worst) Object.assign(group, { core: other, i, worst: critical[i] });
      groups.set(key, group);
    }
  }
  return [...groups.values()].sort((a, b) => b.ps - a.ps);
}

// Without a choice: where to look first. A click chooses the line and the costliest of its instructions.
function costliest(store, state) {
  const groups = byLine(state).slice(0, COSTLIEST);
  if (groups.length === 0) return null;
  return [el("h3", {}, "Costliest on the critical path"),
    el("ol", { class: "costliest" }, groups.map(({ core, i, ps, count: times, site }) => el("li", {},
      el("i", { style: { background: `var(--${queueVariable(core.queueName(i))})` } }),
      el("button", { type: "button", class: "link", title: `#${i} ${shortened(core.label(i))}`, onclick() {
        if (site.line) store.set({ line: { file: site.file, line: site.line } });
        show(store, { core, i });
      } }, times > 1 ? `${count(times)} × ${core.opcode(i)}` : shortened(core.label(i), 28), " ",
        el("small", {}, place(site))),
      el("span", {}, time(ps)))))];
}

export function details(store) {
  const node = el("aside", { "data-view": "details", "aria-live": "polite", "aria-label": "Instruction" });
  const update = (state) => {
    if (!state.selected) {
      return node.replaceChildren(...[costliest(store, state), el("p", { class: "empty" },
        "Choose an instruction here, in the timeline, the table or the source to see what it waited for."),
      el("p", { class: "keys" }, KEYS.map((text) => el("span", {}, text)))].flat().filter(Boolean));
    }
    const { core, i } = state.selected, name = core.label(i);
    const operands = core.operands(i), pattern = core.patterns[core.column("pattern")[i]];
    node.replaceChildren(
      el("h3", {}, el("i", { style: { background: `var(--${queueVariable(core.queueName(i))})` } }),
        el("span", { title: name }, shortened(name, 80)), el("small", {}, `#${i}`),
        el("button", { type: "button", class: "close", title: "Back (Esc)", "aria-label": "Back",
                       onclick: () => store.set({ selected: null, line: null }) }, "×")),
      rows(store, state),
      el("ul", { class: "operands" }, operands.map((operand, slot) => operandRow(operand, pattern[slot][2]))));
  };
  update(store.get());
  store.subscribe((state, before) => {
    if (state.selected !== before.selected || state.core !== before.core) update(state);
  });
  return node;
}
