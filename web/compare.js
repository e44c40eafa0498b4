// Two runs side by side: how much faster, where the difference lies, and both timelines on one scale.

import { el, section } from "trnsim/dom.js";
import { count, shortened, time } from "trnsim/format.js";
import { lossVariable } from "trnsim/palette.js";

const ps = (ns) => ns * 1e3;

function sentence({ latency_before_ns: before, latency_after_ns: after, speedup }) {
  if (before === after) return ["Both take ", el("strong", {}, time(ps(before))), "."];
  const faster = after < before, factor = faster ? speedup : 1 / speedup;
  return [el("strong", {}, `${factor.toFixed(2)}× ${faster ? "faster" : "slower"}`), `: ${time(ps(before))} became `,
    el("strong", {}, time(ps(after))), "."];
}

function change(ns) {
  return (ns > 0 ? "+" : ns < 0 ? "−" : "±") + time(ps(Math.abs(ns)));
}

function lossRow({ cause, before_ns: before, after_ns: after }, longest) {
  const bar = (ns, kind) => el("div", { class: `amount ${kind}`, title: time(ps(ns)),
    style: { width: `${(ns / longest) * 100}%`, background: `var(--${lossVariable(cause)})` } });
  return el("tr", {}, el("th", { scope: "row" }, cause),
    el("td", { class: "amounts" }, bar(before, "before"), bar(after, "after")),
    el("td", {}, time(ps(before))), el("td", {}, time(ps(after))),
    el("td", { class: after < before ? "better" : after > before ? "worse" : "" }, change(after - before)));
}

const differing = (before, after, text = (v) => v) =>
  (before === after ? text(before) : `${text(before)} → ${text(after)}`);

// `number`: of the launch, the same on both sides.
export function comparison(data, labels, number) {
  const launch = data.launches[number];
  if (!launch) {
    return section("comparison", "Comparison", "", el("p", { class: "empty" }, "There is no launch to compare."));
  }
  const longest = Math.max(...launch.time_lost.flatMap((loss) => [loss.before_ns, loss.after_ns]));
  const unpaired = data.unpaired_before + data.unpaired_after;
  return el("section", { "data-view": "comparison", "aria-label": "Comparison" },
    el("p", { class: "sentence" }, sentence(launch)),
    el("p", { class: "note" }, [
      differing(shortened(launch.kernel_before, 40), shortened(launch.kernel_after, 40)),
      differing(launch.chip_before, launch.chip_after),
      `${differing(launch.instructions_before, launch.instructions_after, count)} instructions`,
      unpaired > 0 ? `${count(unpaired)} launches have no partner` : ""].filter(Boolean).join(" · ")),
    el("div", { class: "wide" }, el("table", { class: "losses" },
      el("thead", {}, el("tr", {}, el("th", {}, "Where the time goes"), el("th", {}),
        labels.map((label) => el("th", { title: label }, shortened(label, 24))), el("th", {}, "Change"))),
      el("tbody", {}, launch.time_lost.map((loss) => lossRow(loss, longest))))));
}
