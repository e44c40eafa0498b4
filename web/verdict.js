// What binds the run, what to do about it, and what the answer rests on: the report's own words and numbers.

import { el } from "trnsim/dom.js";
import { count, percent, time } from "trnsim/format.js";
import { lossVariable } from "trnsim/palette.js";

const ps = (ns) => ns * 1e3;
const CONFIDENCE = ["documented", "measured", "inferred", "guess"];
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A bar of shares with its legend. What is too small to be seen is left out.
export function shareBar(label, parts) {
  const shown = parts.filter((part) => part.share >= 0.005);
  return el("figure", { class: "shares" },
    el("figcaption", {}, label),
    el("div", { class: "bar", role: "img", "aria-label": shown.map((p) => `${p.name} ${percent(p.share)}`).join(", ") },
      shown.map((part) => el("span", { style: { width: `${part.share * 100}%`, background: `var(--${part.variable})` },
                                       title: `${part.name} ${percent(part.share)}` }))),
    el("ul", { class: "legend" }, shown.map((part) =>
      el("li", {}, el("i", { style: { background: `var(--${part.variable})` } }), part.name, " ",
        el("b", {}, percent(part.share))))));
}

function fact(name, value, note, about) {
  return el("div", { class: "fact", title: about }, el("dt", {}, name),
    el("dd", {}, value, note && el("small", {}, note)));
}

// What else could be changed, best first, each with what it would gain alone: the kernel was clocked again for it.
function advice(run) {
  const others = run.advice.slice(1); // the sentence says the first
  if (others.length === 0) return null;
  return el("ol", { class: "advice", "aria-label": "Also worth a try" }, others.map((item) =>
    el("li", {},
      el("b", { class: "speedup" }, `${item.expected_speedup.toFixed(2)}×`),
      el("span", {}, el("strong", {}, capital(item.cause)), `: ${item.advice} `,
        el("small", {}, `${time(ps(item.expected_latency_ns))} instead of ${time(ps(run.latency_ns))}`)))));
}

export function verdict(core) {
  const run = core.summary, confidence = run.rests_on, within = run.interval_90;
  const engine = run.tensor_engine, dma = run.dma, loads = run.table_loads.count;
  return el("section", { "data-view": "verdict", "aria-label": "Verdict" },
    el("p", { class: "sentence" }, capital(run.verdict), "."),
    advice(run),
    el("dl", { class: "facts" },
      fact("Latency", time(ps(run.latency_ns)), `launching adds ${time(ps(run.launch_ns))}`,
        "From the first instruction to the last result on the device. Launching comes on top."),
      fact("90 % within", `${time(ps(within.low_ns))} to ${time(ps(within.high_ns))}`, within.basis,
        "Where nine of ten measurements of such kernels would lie, by how far predictions were from measured ones."),
      engine.flops > 0 && fact("Tensor Engine", percent(engine.mfu),
        `of ${engine.peak_bf16_tflops_of_one_core} TFLOPS bf16; busy ${percent(engine.utilization)}`),
      dma.bytes > 0 && fact("DMA while active", `${dma.achieved_gb_per_s.toFixed(1)}\u2009GB/s`,
        `${percent(dma.efficiency)} of ${dma.sustained_gb_per_s} GB/s sustained`,
        "While at least one transfer moves data, beside what all DMA engines of the core can keep up."),
      fact("Instructions", count(run.instruction_count),
        loads ? `${count(loads)} activation table load${loads === 1 ? "" : "s"}` : "")),
    el("div", { class: "bars" },
      shareBar("Where the time goes, along the critical path", run.time_lost.filter((use) => use.cause !== "launch")
        .map((use) => ({ name: use.cause, share: use.share, variable: lossVariable(use.cause) }))),
      shareBar("What the time rests on", CONFIDENCE.map((name) =>
        ({ name: name === "guess" ? "guesses" : name, share: confidence[name], variable: `confidence-${name}` })))));
}
