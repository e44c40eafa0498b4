// Where instructions are drawn: a track per engine and DMA queue, in each core of the launch. Transfers of one queue
// overlap, so a DMA track has lanes, and each transfer takes the first one that is free.

const MOST_LANES = 48;

// Instructions that follow one another without overlap, with running sums so that any stretch is summed up at once.
class Lane {
  constructor(core, order) {
    const n = order.length;
    this.core = core;
    this.order = order;
    this.from = Float64Array.from(order, (i) => core.workFrom(i));
    this.until = Float64Array.from(order, (i) => core.workUntil(i));
    this.work = sums(n, (k) => this.until[k] - this.from[k]);
  }
  get count() { return this.order.length; }
  // The first instruction that ends after, or begins at or after, a time.
  endingAfter(time, low = 0) { return firstWhere(low, this.count, (k) => this.until[k] > time); }
  beginningAt(time, low = 0) { return firstWhere(low, this.count, (k) => this.from[k] >= time); }
  // Running sums of a column, by the lane's order.
  sumsOf(values) { return sums(this.count, (k) => values[this.order[k]]); }
}

function sums(n, value) {
  const list = new Float64Array(n + 1);
  for (let k = 0; k < n; ++k) list[k + 1] = list[k] + value(k);
  return list;
}

function firstWhere(low, high, holds) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function transferLanes(core, members) {
  const order = Array.from(members).sort((a, b) => core.workFrom(a) - core.workFrom(b) || a - b);
  const lanes = [], free = [];
  for (const i of order) {
    let lane = free.findIndex((time) => time <= core.workFrom(i));
    if (lane < 0 && lanes.length < MOST_LANES) lane = lanes.push([]) - 1;
    if (lane < 0) lane = free.indexOf(Math.min(...free));
    lanes[lane].push(i);
    free[lane] = core.workUntil(i);
  }
  return lanes;
}

export function tracksOf(core) {
  const members = core.launch.queues.map(() => []);
  const queue = core.column("queue");
  for (const i of core.inOrderOfStarts()) members[queue[i]].push(i);
  const tracks = [];
  members.forEach((list, q) => {
    if (list.length === 0) return;
    const transfers = core.isTransfer(list[0]);
    const lanes = (transfers ? transferLanes(core, list) : [list]).map((order) => new Lane(core, order));
    tracks.push({ core, queue: q, name: core.launch.queues[q], transfers, lanes, busy: core.summary.queues
      .find((use) => use.queue === core.launch.queues[q]) });
  });
  return tracks;
}

const GAP = 6;
const ENGINE_HEIGHT = 26;

// Gives each track that is shown its place; returns the height of all. A DMA track grows with its lanes up to a limit.
export function layOut(tracks, hidden, top) {
  let y = top, core = null;
  const several = tracks.some((track) => track.core !== tracks[0].core);
  for (const track of tracks) {
    track.heading = several && track.core !== core ? `Core ${track.core.number}` : "";
    core = track.core;
    track.shown = !hidden.has(track.queue);
    if (track.heading) y += 18;
    track.y = y;
    track.height = track.transfers ? Math.min(56, Math.max(ENGINE_HEIGHT, track.lanes.length * 7)) : ENGINE_HEIGHT;
    if (track.shown) y += track.height + GAP;
  }
  return y;
}

// of(i): the track and the number of the lane where an instruction of `core` is drawn.
export function places(tracks, core) {
  const laneOf = new Uint16Array(core.count), lanes = [];
  for (const track of tracks) {
    if (track.core !== core) continue;
    track.lanes.forEach((lane, number) => {
      for (const i of lane.order) laneOf[i] = lanes.length;
      lanes.push({ track, number });
    });
  }
  return { of: (i) => lanes[laneOf[i]] };
}

export const laneTop = (track, number) => track.y + (track.height * number) / track.lanes.length;
export const laneHeight = (track) => track.height / track.lanes.length;
