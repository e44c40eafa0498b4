// The data blocks of the page, read once. Nothing here changes afterwards. Columns are decoded when they are first
// asked for: a view that nobody opens costs nothing.

import { groupsOf, readColumn, readSequence } from "trnsim/columns.js";
import { place } from "trnsim/format.js";

const STEADY = /^(start|tensor\d+|offset\d+)$/;
// What all instructions of a kind have in common, in the order of its list.
const KIND = ["site", "opcode", "pattern", "queue", "flops", "bytes", "pieces", "piece_bytes"];
const LOADS = 5; // from this queue on, queues are of DMA

export class Core {
  #data;
  #columns = new Map();
  #groups;

  constructor(data, launch, index, summary) {
    this.#data = data;
    this.launch = launch;
    this.index = index; // in the launch
    this.number = data.core;
    this.summary = summary; // as in the JSON report
    this.count = data.instructions.count;
    this.total = data.total_ps;
    this.slots = data.instructions.slots;
    this.patterns = data.instructions.patterns;
    this.opcodes = data.instructions.opcodes;
    this.userNames = data.instructions.names;
    this.kinds = data.instructions.kinds;
    this.kind = readSequence(data.instructions.columns.kind, this.count);
    this.sites = data.sites.map(([file, line, name]) =>
      ({ file: launch.files[file], line, function: launch.functions[name] }));
    this.#groups = groupsOf(this.kind, this.kinds.length);
    this.tensors = new Tensors(data.tensors);
  }

  column(name) {
    if (!this.#columns.has(name)) this.#columns.set(name, this.#read(name));
    return this.#columns.get(name);
  }
  #read(name) {
    const ofKind = KIND.indexOf(name);
    if (ofKind >= 0) return Float64Array.from(this.kind, (kind) => this.kinds[kind][ofKind]);
    return readColumn(this.#data.instructions.columns[name], this.count, STEADY.test(name), this.#groups);
  }

  isTransfer(i) { return this.column("queue")[i] >= LOADS; }
  opcode(i) { return this.opcodes[this.column("opcode")[i]]; }
  queueName(i) { return this.launch.queues[this.column("queue")[i]]; }
  siteOf(i) { return this.sites[this.kinds[this.kind[i]][0]]; }
  placeOf(i) { return place(this.siteOf(i)); }

  // When the work itself is done: data on the move, or the engine busy.
  workFrom(i) { return this.column("start")[i] + (this.isTransfer(i) ? this.column("prelude")[i] : 0); }
  workUntil(i) {
    if (!this.isTransfer(i)) return this.column("start")[i] + this.column("busy")[i];
    return Math.max(this.workFrom(i), this.column("start")[i] + this.column("end")[i] - this.#data.completion_ps);
  }

  // The user's own name, or "tensor_copy 128x512".
  label(i) {
    const name = this.column("name")[i];
    if (name > 0) return this.userNames[name - 1];
    const operands = this.patterns[this.column("pattern")[i]];
    const main = operands.find(([, , written]) => written) ?? operands[0];
    return main ? `${this.opcode(i)} ${main[1].split(" ")[2]}` : this.opcode(i);
  }

  operands(i) {
    return this.patterns[this.column("pattern")[i]].map(([field, kind], slot) => {
      const tensor = this.column(`tensor${slot}`)[i];
      return { field, kind, tensor: tensor ? this.tensors.name(tensor - 1) : "",
               offset: this.column(`offset${slot}`)[i], partition: this.column(`partition${slot}`)[i] };
    });
  }

  // The instruction that this one waited for last, or the transfer that the DMA engines served before it.
  waitedFor(i) { return this.#other(i, "waited"); }
  servedAfter(i) { return this.#other(i, "served"); }
  #other(i, how) {
    const core = this.column(`${how}_core`)[i];
    return core ? { core: this.launch.cores[core - 1], i: i - this.column(`${how}_back`)[i] } : null;
  }

  // As their queues took them: a clock may choose another order than the program's.
  inOrderOfStarts() {
    if (!this.#columns.has("order")) {
      const start = this.column("start"), order = Uint32Array.from(start, (_, i) => i);
      this.#columns.set("order", order.sort((a, b) => start[a] - start[b] || a - b));
    }
    return this.#columns.get("order");
  }

  // How long the instruction's queue stood still before it.
  stalls() {
    if (!this.#columns.has("stalls")) {
      const start = this.column("start"), busy = this.column("busy"), queue = this.column("queue");
      const free = new Float64Array(this.launch.queues.length), stalls = new Float64Array(this.count);
      for (const i of this.inOrderOfStarts()) {
        stalls[i] = start[i] - free[queue[i]];
        free[queue[i]] = start[i] + busy[i];
      }
      this.#columns.set("stalls", stalls);
    }
    return this.#columns.get("stalls");
  }

  // The chain that decides when this core ends: parallel columns, in the order of time.
  path() {
    if (!this.#columns.has("path")) {
      const { count, columns } = this.#data.path;
      const path = { count, instruction: readColumn(columns.instruction, count, true),
                     core: readColumn(columns.core, count, false), loss: readColumn(columns.loss, count, false),
                     time: readColumn(columns.time, count, false), from: new Float64Array(count) };
      for (let k = 1; k < count; ++k) path.from[k] = path.from[k - 1] + path.time[k - 1];
      this.#columns.set("path", path);
    }
    return this.#columns.get("path");
  }

  // Of each instruction of `core`: its time on this core's critical path.
  criticalOn(core) {
    const key = `critical ${core.index}`;
    if (!this.#columns.has(key)) {
      const path = this.path(), critical = new Float64Array(core.count);
      for (let k = 0; k < path.count; ++k) {
        if (path.core[k] === core.index) critical[path.instruction[k]] += path.time[k];
      }
      this.#columns.set(key, critical);
    }
    return this.#columns.get(key);
  }
}

class Tensors {
  #data;
  #columns = new Map();
  constructor(data) {
    this.#data = data;
    this.count = data.count;
    this.stems = data.stems;
  }
  column(name) {
    if (!this.#columns.has(name)) {
      const steady = ["number", "offset", "from"].includes(name);
      this.#columns.set(name, readColumn(this.#data.columns[name], this.count, steady));
    }
    return this.#columns.get(name);
  }
  name(t) {
    const number = this.column("number")[t];
    return this.stems[this.column("stem")[t]] + (number < 0 ? "" : number);
  }
}

export class Launch {
  constructor(data, number, summaries) {
    this.number = number;
    const { kernel, queues, waits, losses, files, functions, sources } = data;
    Object.assign(this, { kernel, queues, waits, losses, files, functions, sources });
    this.latency = data.latency_ps;
    this.cores = [];
    data.cores.forEach((core, index) => this.cores.push(new Core(core, this, index, summaries[index])));
  }
  get slowest() { return this.cores.reduce((a, b) => (b.total > a.total ? b : a)); }
}

const read = (document, kind) =>
  [...document.querySelectorAll(`script.${kind}`)].map((node) => JSON.parse(node.textContent));

// What `trnsim diff --json` prints.
export const readComparison = (document) => read(document, "comparison")[0];

// [{ label, report, launches }]: one, or two to compare. `report` is the JSON report without its instructions.
export function readSides(document) {
  const reports = read(document, "report");
  return read(document, "side").map((side, s) => ({
    label: side.label,
    report: reports[s],
    launches: side.launches.map((launch, number) =>
      new Launch(launch, number, reports[s].runs.filter((run) => run.launch === number))),
  }));
}
