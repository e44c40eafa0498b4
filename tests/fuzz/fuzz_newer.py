"""The reference of random numbers, MX, registers and what is newest: see fuzz_reference.py.

How lanes are seeded and words are mapped to elements is in docs/assumptions.md; the generators themselves are the
published ones, written out bit by bit in tests/isa/random_oracle.py, the formats of MX in tests/isa/mx_oracle.py.
"""

import sys
from pathlib import Path

import numpy as np
from fuzz_movement import START, Reference
from fuzz_numbers import apply, convert, fp32, fused, host
from fuzz_programs import Register
from fuzz_reference import folded, function, short, wrapped

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "isa"))

import mx_oracle
from random_oracle import lane_words, lfsr_words, splitmix64_state, unit, xorwow_words

ALL_64 = (1 << 64) - 1


class Lanes:
    """The generators of one engine, made when first drawn from: an LFSR or `count` xorwow states in each lane."""

    def __init__(self, count, seed):
        self.count, self.start, self.states = count, seed, {}

    def state(self, lane):
        if lane not in self.states:
            seeds = [self.start ^ (lane * max(self.count, 1) + k) << 48 for k in range(max(self.count, 1))]
            states = [splitmix64_state(seed & ALL_64) for seed in seeds]
            self.states[lane] = states if self.count else xorwow_words(states[0], 1)[0][0]
        return self.states[lane]

    def draw(self, lane, n):
        if self.count:
            words, self.states[lane] = lane_words(self.state(lane), n)
        else:
            words = lfsr_words(self.state(lane), n)
            self.states[lane] = words[-1]
        return words


class Newer(Reference):
    def __init__(self, chip, seed):
        super().__init__(chip)
        self.vector_random = Lanes(4 if self.generation >= 4 else 0, seed)
        self.gpsimd_random = Lanes(1, ~seed & ALL_64)

    # -- random numbers ---------------------------------------------------------------------------------------

    def words(self, view, lanes):
        first, n = self.first(view), int(np.prod(view.shape[1:]))
        return np.array([lanes.draw(first + p, n) for p in range(view.shape[0])], np.uint32)

    def lanes_of(self, engine, otherwise):
        name = short(engine) if engine else otherwise
        return self.gpsimd_random if name == "gpsimd_engine" else self.vector_random

    def rng(self, dst, engine=None):
        words = self.words(dst, self.lanes_of(engine, "vector_engine"))
        kind = host(dst.tile.dtype)
        self.write(dst, words.astype(f"u{kind.itemsize}").view(kind))

    def set_rng_seed(self, src_seeds):
        self.vector_random = Lanes(self.vector_random.count, int(self.rows(src_seeds).view(np.uint32)[0, 0]))

    def rand_set_state(self, src_seeds, engine=None):
        lanes, first = self.lanes_of(engine, "gpsimd_engine"), self.first(src_seeds)
        for p, row in enumerate(self.rows(src_seeds)):
            lanes.states[first + p] = [list(map(int, part)) for part in row.reshape(-1, 6)]

    def rand_get_state(self, dst, engine=None):
        lanes, first = self.lanes_of(engine, "gpsimd_engine"), self.first(dst)
        states = [np.array(lanes.state(first + p), np.uint32).reshape(-1) for p in range(dst.shape[0])]
        self.write(dst, np.stack(states))

    def rand2(self, dst, min, max):
        low, high = (np.broadcast_to(self.operand(limit), (dst.shape[0], 1)) for limit in (min, max))
        self.put(dst, low + (high - low) * unit(self.words(dst, self.vector_random)))

    def dropout(self, dst, data, prob):
        dropped = unit(self.words(dst, self.vector_random))
        values = self.rows(data)
        self.write(dst, np.where(dropped < self.operand(prob), np.zeros((), values.dtype), values))

    # -- registers --------------------------------------------------------------------------------------------

    def number(self, source):
        return self.registers.get(source.name, 0) if isinstance(source, Register) else source

    def register_move(self, dst, src):
        self.registers[dst.name] = self.number(src)

    def register_load(self, dst, src):
        self.registers[dst.name] = int(self.rows(src)[0, 0])

    def register_store(self, dst, src):
        kind, value = self.tiles[dst.tile.name].dtype, self.number(src)
        self.write(dst, wrapped(value, kind) if kind.kind in "iu" else convert(np.float32(value), dst.tile.dtype))

    # -- the Vector and Scalar Engines ------------------------------------------------------------------------

    def bn_aggr(self, dst, data):
        value = self.floats(data)
        count, mean, spread = (value[:, i::3] for i in range(3))
        with np.errstate(all="ignore"):
            total = folded("add", 0, count)
            middle = folded("add", 0, count * mean) / total
            away = mean - middle[:, None]
            self.put(dst, np.stack([middle, folded("add", 0, spread + count * away * away) / total], axis=1))

    def activate2(
        self,
        dst,
        op,
        data,
        imm0=None,
        imm1=None,
        op0=None,
        op1=None,
        relu_param=0.0,
        reverse0=False,
        reverse1=False,
        reduce_op=None,
        reduce_res=None,
        reduce_cmd=None,
    ):
        value = self.floats(data)
        for name, imm, reverse in ((op0, imm0, reverse0), (op1, imm1, reverse1)):
            if name is not None:
                other = self.operand(imm)
                value = apply(short(name), other, value) if reverse else apply(short(name), value, other)
        if short(op) == "prelu":
            with np.errstate(all="ignore"):
                value = np.where(value < 0, value * self.operand(relu_param), value).astype(np.float32)
        else:
            value = function(short(op), value)
        command, lanes = short(reduce_cmd) if reduce_cmd else "idle", self.scalar_lanes[self.lane_slice(data)]
        if command in ("reset", "reset_reduce"):
            lanes[:] = START[short(reduce_op)]
        if command in ("reduce", "reset_reduce"):
            lanes[:] = folded(short(reduce_op), lanes, value)
        self.put(dst, value)
        if reduce_res is not None:
            self.put(reduce_res, lanes)

    def topk(self, val_dst, idx_dst, src, n):
        rows, values, places = self.rows(src), self.rows(val_dst), self.rows(idx_dst)
        for group in range(0, len(rows), 16):
            numbers = rows[group : group + 16].T.reshape(-1)[:n]
            ranked = sorted(range(n), key=lambda i: (not np.isnan(numbers[i]), -np.nan_to_num(fp32(numbers[i])), i))
            for j, place in enumerate(reversed(ranked[: values.shape[1]])):
                values[group + j % 16, j // 16], places[group + j % 16, j // 16] = numbers[place], place
        self.write(val_dst, values)
        self.write(idx_dst, places)

    # -- the array --------------------------------------------------------------------------------------------

    def nc_matmul(self, dst, stationary, moving, accumulate=None, perf_mode=None, is_transpose=False, **_):
        if is_transpose and self.generation >= 3:
            order = self.floats(moving).argmax(axis=0)
            return self.write(dst, self.rows(stationary)[order].T, matmul=True)
        a, b = self.floats(stationary), self.floats(moving)
        if perf_mode is not None:  # both rows of a partition, one after the other
            a, b = (rows.reshape(2 * len(rows), -1) for rows in (a, b))
        self.accumulate(dst, product(a, b), accumulate)

    def accumulate(self, dst, total, accumulate):
        if accumulate or (accumulate is None and self.matmul_wrote(dst).all()):
            total = apply("add", self.floats(dst), total)
        self.write(dst, convert(total, dst.tile.dtype), matmul=True)

    def nc_matmul_mx(self, dst, stationary, moving, stationary_scale, moving_scale, accumulate=None):
        operands = []
        for data, scale in ((stationary, stationary_scale), (moving, moving_scale)):
            bytes_ = self.rows(scale).view(np.uint8)
            scales = np.concatenate([bytes_[q : q + 4] for q in range(0, data.shape[0], 32)])
            operands.append(mx_oracle.dequantized(self.rows(data), scales, data.tile.dtype))
        self.accumulate(dst, product(*operands), accumulate)

    def quantize_mx(self, dst, src, dst_scale):
        units, scales = mx_oracle.quantized(self.rows(src), dst.tile.dtype)
        self.write(dst, units)
        rows = self.rows(dst_scale)
        for q in range(len(scales) // 4):
            rows[32 * q : 32 * q + 4] = scales[4 * q : 4 * q + 4].view(rows.dtype)
        self.write(dst_scale, rows)


def product(a, b):
    total = np.zeros((a.shape[1], b.shape[1]), np.float32)
    for k in range(len(a)):
        total = fused(np.repeat(a[k][:, None], b.shape[1], 1), np.repeat(b[k][None, :], a.shape[1], 0), total)
    return total
