// Numbers in words, as the text report writes them: three or four digits, a unit, a space between.

const THIN = "\u2009";

export function digits(value, fixed) {
  return value.toLocaleString("en-US", { minimumFractionDigits: fixed, maximumFractionDigits: fixed });
}

export const count = (value) => digits(value, 0);
export const percent = (share, fixed = 1) => `${digits(share * 100, fixed)}${THIN}%`;

export function time(ps) {
  const size = Math.abs(ps);
  if (size >= 1e10) return `${digits(ps / 1e9, 2)}${THIN}ms`;
  if (size >= 1e6) return `${digits(ps / 1e6, 2)}${THIN}µs`;
  return `${digits(ps / 1e3, 1)}${THIN}ns`;
}

function scaled(value, step, units) {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${unit === 0 ? digits(value, 0) : value >= 100 ? digits(value, 0) : digits(value, 1)}${THIN}${units[unit]}`;
}

export const bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
export const flops = (value) => scaled(value, 1000, ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"]);

// "matmul.py:42": the file without its folders.
export const fileName = (file) => file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
export const place = (site) => (site.line ? `${fileName(site.file)}:${site.line}` : "");

// Names may be very long; the whole of it stays in the title.
export const shortened = (text, most = 60) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Round steps for an axis: 1, 2 or 5 times a power of ten, about `wanted` of them.
export function ticks(from, to, wanted) {
  const rough = (to - from) / Math.max(1, wanted);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const list = [];
  for (let k = Math.ceil(from / step); k * step <= to; ++k) list.push(k * step);
  return list;
}
