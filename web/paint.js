// Draws the timeline: ruler, what bound the run, tracks, the critical path and the chosen instruction. Time decides how
// much work that is, not the number of instructions: those that share a pixel are summed up.

import { digits, time, ticks } from "trnsim/format.js";
import { color, lossVariable, queueVariable } from "trnsim/palette.js";
import { laneHeight, laneTop } from "trnsim/tracks.js";

export const RULER = 22;
export const STRIP = 12; // what bound the run
export const TOP = RULER + STRIP + 10;
const LABELLED = 34; // pixels from which on a bar is wide enough for its name
const MOST_ARROWS = 400;

export class Scale {
  constructor(range, left, right) {
    [this.from, this.to] = range;
    this.left = left;
    this.right = right;
    this.perPixel = (this.to - this.from) / (right - left);
  }
  x(t) { return this.left + (t - this.from) / this.perPixel; }
  time(x) { return this.from + (x - this.left) * this.perPixel; }
}

export function paintRuler(ctx, scale, height) {
  ctx.font = color("font-small");
  ctx.textBaseline = "middle";
  ctx.textAlign = "center";
  for (const t of ticks(Math.max(0, scale.from), scale.to, (scale.right - scale.left) / 110)) {
    const x = Math.round(scale.x(t)) + 0.5;
    ctx.fillStyle = color("grid");
    ctx.fillRect(x, RULER, 1, height - RULER);
    ctx.fillStyle = color("muted");
    const text = tickText(t, scale);
    const half = ctx.measureText(text).width / 2;
    ctx.fillText(text, Math.min(Math.max(x, scale.left + half), scale.right - half), RULER / 2);
  }
}

// All ticks of a ruler in one unit, with the digits that tell them apart.
function tickText(t, scale) {
  const unit = scale.to >= 1e10 ? [1e9, "ms"] : scale.to >= 1e6 ? [1e6, "µs"] : [1e3, "ns"];
  const step = (scale.to - scale.from) / ((scale.right - scale.left) / 110) / unit[0];
  const fixed = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step))));
  return `${digits(t / unit[0] || 0, fixed)}\u2009${unit[1]}`;
}

// Each pixel shows the step of the critical path that takes most of it.
export function paintStrip(ctx, scale, path, launch) {
  let k = stepAt(path, scale.from);
  for (let x = scale.left; x < scale.right && k < path.count; ++x) {
    const until = scale.time(x + 1);
    let most = 0, chosen = -1;
    for (; k < path.count; ++k) {
      const end = path.from[k] + path.time[k];
      const inside = Math.min(end, until) - Math.max(path.from[k], scale.time(x));
      if (inside > most) { most = inside; chosen = k; }
      if (end > until) break;
    }
    if (chosen < 0) continue;
    ctx.fillStyle = color(lossVariable(launch.losses[path.loss[chosen]]));
    ctx.fillRect(x, RULER, 1, STRIP);
  }
}

// The step under way at a time.
export function stepAt(path, t) {
  let low = 0, high = path.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (path.from[middle] + path.time[middle] > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

// `found`: running sums of what the search found, by lane; null when there is no search. `critical`: the same of the
// time on the critical path.
export function paintLane(ctx, scale, lane, track, number, found, critical) {
  const fill = color(queueVariable(track.name)), accent = color("critical"), ink = color("on-bar");
  const y = laneTop(track, number), height = Math.max(1, laneHeight(track) - (track.lanes.length > 1 ? 0.6 : 0));
  const mark = track.transfers ? Math.min(2, height / 3) : 3;
  let k = lane.endingAfter(scale.from);
  while (k < lane.count && lane.from[k] < scale.to) {
    const x = Math.max(scale.left, scale.x(lane.from[k]));
    const right = Math.min(scale.right, scale.x(lane.until[k]));
    let next = k + 1, width = right - x, alpha = 1;
    if (width < 1.5) { // everything that begins in this pixel is one bar, as strong as the pixel is full
      const pixel = Math.floor(x);
      next = Math.max(k + 1, lane.beginningAt(scale.time(pixel + 1), k));
      alpha = 0.35 + 0.65 * Math.min(1, (lane.work[next] - lane.work[k]) / scale.perPixel);
      width = 1;
    }
    const dimmed = found && found[next] === found[k];
    ctx.globalAlpha = dimmed ? 0.13 * alpha : alpha;
    ctx.fillStyle = fill;
    ctx.fillRect(x, y, width > 4 ? width - 0.7 : Math.max(0.7, width), height);
    if (!dimmed && critical[next] > critical[k]) {
      ctx.fillStyle = accent;
      ctx.fillRect(x, y + height - mark, Math.max(1, width > 4 ? width - 0.7 : width), mark);
    }
    if (!dimmed && width > LABELLED && height >= 14) {
      ctx.fillStyle = ink;
      label(ctx, lane.core.label(lane.order[k]), x + 5, y + height / 2, width - 10);
    }
    k = next;
  }
  ctx.globalAlpha = 1;
}

function label(ctx, text, x, y, width) {
  ctx.font = color("font-small");
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  const most = Math.floor(width / 5.6);
  if (most < 3) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y - 10, width, 20);
  ctx.clip();
  ctx.fillText(text.length > most ? `${text.slice(0, most - 1)}…` : text, x, y);
  ctx.restore();
}

// From each step of the critical path to the next one, where they are not of the same instruction or queue.
export function paintPath(ctx, scale, path, launch, placesOf) {
  const first = Math.max(0, stepAt(path, scale.from) - 1), last = stepAt(path, scale.to);
  if (last - first > MOST_ARROWS) return;
  for (let k = first; k < last && k + 1 < path.count; ++k) {
    const before = { core: launch.cores[path.core[k]], i: path.instruction[k] };
    const after = { core: launch.cores[path.core[k + 1]], i: path.instruction[k + 1] };
    if (before.core === after.core && before.i === after.i) continue;
    paintArrow(ctx, scale, before, after, placesOf, color("critical"));
  }
}

export function paintArrow(ctx, scale, before, after, placesOf, stroke) {
  const from = placesOf(before.core).of(before.i), to = placesOf(after.core).of(after.i);
  if (!from.track.shown || !to.track.shown || from.track === to.track) return;
  const x1 = scale.x(before.core.workUntil(before.i)), x2 = scale.x(after.core.workFrom(after.i));
  if (Math.max(x1, x2) < scale.left || Math.min(x1, x2) > scale.right) return;
  const y1 = laneTop(from.track, from.number) + laneHeight(from.track) / 2;
  const y2 = laneTop(to.track, to.number) + laneHeight(to.track) / 2;
  const bend = Math.min(40, Math.max(8, Math.abs(x2 - x1) / 2));
  ctx.strokeStyle = ctx.fillStyle = stroke;
  ctx.lineWidth = 1.25;
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 4, y2);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x2, y2);
  ctx.lineTo(x2 - 6, y2 - 3);
  ctx.lineTo(x2 - 6, y2 + 3);
  ctx.fill();
}

// The chosen instruction: its outline, and from the end of the wait back to its beginning.
export function paintSelected(ctx, scale, { core, i }, placesOf) {
  const { track, number } = placesOf(core).of(i);
  if (!track.shown) return;
  const y = laneTop(track, number), height = laneHeight(track), stall = core.stalls()[i];
  const x1 = scale.x(core.workFrom(i)), x2 = scale.x(core.workUntil(i)), start = scale.x(core.column("start")[i]);
  ctx.fillStyle = ctx.strokeStyle = color("selected");
  if (stall > 0) {
    ctx.globalAlpha = 0.22;
    ctx.fillRect(scale.x(core.column("start")[i] - stall), y, start - scale.x(core.column("start")[i] - stall), height);
    ctx.globalAlpha = 1;
  }
  ctx.lineWidth = 2;
  ctx.strokeRect(x1 - 1, y - 1, Math.max(3, x2 - x1) + 2, height + 2);
  const cause = core.servedAfter(i) ?? core.waitedFor(i);
  if (cause) paintArrow(ctx, scale, cause, { core, i }, placesOf, color("selected"));
}

export function tipText(core, i) {
  const stall = core.stalls()[i], wait = core.launch.waits[core.column("wait")[i]];
  const waited = stall > 0 ? `, after ${time(stall)} waiting for ${wait}` : "";
  return `#${i} ${core.label(i)}: ${time(core.workUntil(i) - core.workFrom(i))}${waited}`;
}
