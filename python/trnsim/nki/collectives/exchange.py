"""What each collective leaves in the ranks' tensors, and how a rank takes part in one.

A move gets the arrivals of all ranks, in the order of the group, and fills in their results; each rank writes its own.
"""

import math

import numpy as np

from trnsim import _native, arrays, dtypes, ranks, session
from trnsim.lowering.tiles import isa


def take_part(function: str, group, form: dict, collective: str, pairs, move, *, permute=(), values=None, extra=None,
              name=None):
    """Come to a collective with the tensors of `pairs` (source, destination), either of which may be None, and wait
    until all ranks have. form: what all ranks must agree on; values: instead of those of the sources."""
    frame = session.current()
    core = frame.launch
    if frame.cores > 1:
        raise _native.Unsupported(f"{function} in a launch on {frame.cores} cores, because here one core of a rank "
                                  "takes part in a collective; launch the kernel on one core")
    spot = (frame.number, core.rank, core.instruction_count)  # of the first, if any is recorded
    if values is None and core.values:
        values = [None if src is None else arrays.from_tensor(src) for src, _ in pairs]
    moving = [pair for pair in pairs if any(tensor is not None and tensor.size for tensor in pair)]
    for src, dst in moving:
        isa.collective(dst=dst, src=src, ranks=len(group), name=name)
    given = next(t for pair in pairs for t in pair if t is not None)
    elements = sum(max(t.size for t in pair if t is not None) for pair in pairs)
    asked = _native.Collective(collective, elements, _width(given), list(group), given.space == "HBM", list(permute))
    file, line = core.line
    arrival = ranks.Arrival(function, tuple(group), form, asked, f"{file}:{line}", spot if moving else None, pairs,
                            values, extra or {})
    ranks.world().meet(arrival, move if core.values else lambda arrivals: None)
    for tensor, result in arrival.results:
        if tensor.size:
            arrays.whole(tensor).receive(np.ascontiguousarray(result).reshape(-1).view(np.uint8))


def _width(tensor) -> int:
    return np.dtype(dtypes.host_dtype(tensor.dtype)).itemsize


def each_tensor(move):
    """Several tensors at a time, from move(values of one tensor, by rank) to its results by rank."""

    def all_tensors(arrivals):
        for i in range(len(arrivals[0].pairs)):
            for arrival, result in zip(arrivals, move([arrival.values[i] for arrival in arrivals])):
                arrival.results.append((arrival.pairs[i][1], result))

    return all_tensors


def gathered(dim):
    """all_gather along a dimension."""
    return each_tensor(lambda sources: [np.concatenate(sources, axis=dim)] * len(sources))


def reduced(collective, group, op, example):
    """all_reduce or reduce_scatter, in the order of the fabric's algorithm."""

    def move(sources):
        first = sources[0]
        asked = _native.Collective(collective, first.size, first.dtype.itemsize, list(group), example.space == "HBM")
        results = ranks.world().topology.reduce(asked, example.dtype, op, [src.tobytes() for src in sources])
        return [np.frombuffer(result, np.uint8) for result in results]

    return each_tensor(move)


def transposed(sources):
    """all_to_all: part r of each source goes to rank r."""
    parts = [np.split(source, len(sources), axis=0) for source in sources]
    return [np.concatenate([part[r] for part in parts], axis=0) for r in range(len(sources))]


def permuted(pairs):
    """pairs of places in the group; a rank that is no target keeps its destination."""

    def move(arrivals):
        for source, target in pairs:
            arrivals[target].results.append((arrivals[target].pairs[0][1], arrivals[source].values[0]))

    return move


def in_rings(orders):
    """For each channel, each rank sends to its successor in the channel's order of places."""

    def move(arrivals):
        for channel, order in enumerate(orders):
            for at, place in enumerate(order):
                successor = arrivals[order[(at + 1) % len(order)]]
                successor.results.append((successor.pairs[channel][1], arrivals[place].values[channel]))

    return move


def variable(function, to_each):
    """all_to_all_v (to_each) and all_gather_v: chunks as long as the metadata says, in equal slots of dst unless row 3
    says where. What no chunk covers keeps its value."""

    def move(arrivals):
        count = len(arrivals)
        metadata = [arrival.extra["metadata"].reshape(-1, count) for arrival in arrivals]
        for receiver, arrival in enumerate(arrivals):
            dst = arrival.pairs[0][1]
            flat = dst.reshape((dst.size,))
            placed = arrival.extra["has_rdispls"]
            received = np.zeros(count, np.uint32)
            for sender in range(count):
                source = arrivals[sender].values[0].reshape(-1)
                length, start = (int(x) for x in metadata[sender][:2, receiver if to_each else 0])
                slot = dst.size // count
                at = int(metadata[receiver][3, sender]) if placed else slot * sender
                _require_room(function, arrival.group, sender, receiver, start, length, source.size,
                              dst.size - at if placed else slot)
                received[sender] = length
                if length:
                    arrival.results.append((flat[at:at + length], source[start:start + length]))
            if not arrival.extra["recv_counts_known"]:
                tensor = arrival.extra["tensor"]
                counts = tensor.reshape((math.prod(tensor.shape),)) if tensor.space == "HBM" else tensor
                whole = metadata[receiver].copy()
                whole[2] = received
                arrival.results.append((counts, whole))

    return move


def _require_room(function, group, sender, receiver, start, length, available, room):
    problem = None
    if start + length > available:
        problem = f"elements {start} to {start + length - 1} of a source with {available}"
    elif length > room:
        problem = f"{length} elements into room for {room}"
    if problem:
        error = _native.ProgramError(f"{function}: rank {group[sender]} sends rank {group[receiver]} {problem}, as "
                                     "the metadata says")
        error.rule = "collectives.counts"
        raise error
