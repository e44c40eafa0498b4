// What binds the run, in a sentence, and what the sentence rests on.

import { el } from "trnsim/dom.js";
import { count, percent, time } from "trnsim/format.js";
import { resourceVariable } from "trnsim/palette.js";

const ps = (ns) => ns * 1e3;
const CONFIDENCE = ["documented", "measured", "inferred", "guess"];

function sentence(run) {
  if (!run.bound_by) return "Nothing ran on the device.";
  return [el("strong", {}, time(ps(run.latency_ns))), " on the device, bound by the ",
    el("strong", {}, run.bound_by), ": ", percent(run.critical_path[0].share), " of the critical path."];
}

// A bar of shares with its legend; parts too small to see are summed up at the end.
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

function fact(name, value, note) {
  return el("div", { class: "fact" }, el("dt", {}, name), el("dd", {}, value, note && el("small", {}, note)));
}

export function verdict(launch, core) {
  const run = core.summary;
  const confidence = run.confidence_of_critical_path;
  const engine = run.tensor_engine, dma = run.dma;
  return el("section", { id: "verdict", "aria-label": "Verdict" },
    el("p", { class: "sentence" }, sentence(run)),
    run.advice && el("p", { class: "advice" }, el("span", {}, "Try first"), run.advice),
    el("dl", { class: "facts" },
      fact("Latency", time(ps(run.latency_ns)), `launching adds ${time(ps(run.launch_ns))}`),
      engine.flops > 0 && fact("Tensor Engine", percent(engine.mfu),
        `of ${engine.peak_bf16_tflops_of_one_core} TFLOPS bf16; busy ${percent(engine.utilization)}`),
      dma.bytes > 0 && fact("DMA while active", `${dma.achieved_gb_per_s.toFixed(1)}\u2009GB/s`,
        `${percent(dma.efficiency)} of ${dma.sustained_gb_per_s} GB/s sustained`),
      fact("Instructions", count(run.instruction_count),
        run.table_loads.count ? `${count(run.table_loads.count)} activation table loads` : "")),
    el("div", { class: "bars" },
      shareBar("Where the critical path goes", run.critical_path.map((use) =>
        ({ name: use.resource, share: use.share, variable: resourceVariable(launch, use.resource) }))),
      shareBar("What the time rests on", CONFIDENCE.map((name) =>
        ({ name: name === "guess" ? "guesses" : name, share: confidence[name], variable: `confidence-${name}` })))));
}
