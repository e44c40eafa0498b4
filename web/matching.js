// Which instructions a search means. Words are sought in the opcode, the user's name, operands and tensors, the place
// ("matmul.py:42"), queue and wait reason, and all of them must be found; #120 is an instruction's number,
// piece:64 means transfers in contiguous pieces of 64 to 127 bytes.

import { place } from "trnsim/format.js";

const has = (list, word, text = (item) => item) => list.map((item) => text(item).toLowerCase().includes(word));

function withWord(core, word) {
  const found = new Uint8Array(core.count);
  const number = /^#(\d+)$/.exec(word);
  if (number) {
    if (Number(number[1]) < core.count) found[number[1]] = 1;
    return found;
  }
  const piece = /^piece:(\d+)$/.exec(word); // from this length to twice that
  if (piece) return Uint8Array.from(core.column("piece_bytes"), (v) => v >= piece[1] && v < 2 * piece[1]);
  const { launch } = core;
  const opcodes = has(core.opcodes, word), names = [false, ...has(core.userNames, word)];
  const patterns = has(core.patterns, word, (p) => p.map(([field, kind]) => `${field}=${kind}`).join(" "));
  const sites = has(core.sites, word, (site) => `${place(site)} ${site.function}`);
  const queues = has(launch.queues, word, (name) => `queue:${name}`);
  const waits = has(launch.waits, word, (name) => `wait:${name}`);
  const tensors = [false, ...tensorsWith(core.tensors, word)];
  const columns = [["site", sites], ["opcode", opcodes], ["name", names], ["pattern", patterns], ["queue", queues],
    ["wait", waits]];
  if (tensors.includes(true)) for (let s = 0; s < core.slots; ++s) columns.push([`tensor${s}`, tensors]);
  for (const [name, hits] of columns) {
    if (!hits.includes(true)) continue;
    const values = core.column(name);
    for (let i = 0; i < core.count; ++i) found[i] |= hits[values[i]];
  }
  return found;
}

// A name's number is not looked at where its stem does it.
function tensorsWith(tensors, word) {
  const stems = has(tensors.stems, word), numbered = /\d$/.test(word);
  return Array.from(tensors.column("stem"), (stem, t) =>
    stems[stem] || (numbered && tensors.name(t).toLowerCase().includes(word)));
}

function search(core, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => withWord(core, word)).reduce((a, b) => a.map((v, i) => v & b[i]));
}

function ofLine(core, line) {
  const chosen = core.sites.map((site) => site.file === line.file && site.line === line.line);
  return Uint8Array.from(core.column("site"), (site) => chosen[site]);
}

// A byte for each instruction of the core; null when everything matches. The latest answer for each core is kept.
const latest = new WeakMap();
export function matches(core, { query, line }) {
  const known = latest.get(core);
  if (known && known.query === query && known.line === line) return known.found;
  let found = null;
  if (query.trim()) found = search(core, query);
  if (line) {
    const chosen = ofLine(core, line);
    found = found ? found.map((v, i) => v & chosen[i]) : chosen;
  }
  latest.set(core, { query, line, found });
  return found;
}

export const howMany = (core, found) => (found ? found.reduce((sum, v) => sum + v, 0) : core.count);
