"""The reference of what reduces, scans, searches, gathers, multiplies and moves: see fuzz_reference.py."""

import numpy as np
from fuzz_numbers import BITWISE, UNARY, apply, convert, fp32, recast
from fuzz_programs import Rows
from fuzz_reference import Core, folded, short

START = {
    "add": 0,
    "subtract": 0,
    "multiply": 1,
    "maximum": -np.inf,
    "minimum": np.inf,
    "logical_and": 1,
    "logical_or": 0,
    "logical_xor": 0,
    "abs_max": 0,
    "abs_min": np.inf,
}


class Reference(Core):
    # -- reductions and scans ---------------------------------------------------------------------------------

    def tensor_reduce(self, dst, op, data, axis, negate=False):
        name, values = short(op), self.read(data)
        rows = values.reshape(-1, int(np.prod(values.shape[-len(axis) :])))
        if name in BITWISE:
            return self.write(dst, BITWISE[name].reduce(rows, axis=1))
        rows = fp32(rows)
        if name == "subtract":
            total = folded(name, rows[:, 0], rows[:, 1:])
        else:
            total = folded(name, START[name], rows)
        self.put(dst, -total if negate else total)

    def tensor_partition_reduce(self, dst, op, data):
        name, values = short(op), self.rows(data)
        if name in BITWISE:
            return self.write(dst, BITWISE[name].reduce(values, axis=0).astype(self.tiles[dst.tile.name].dtype))
        total = folded("maximum" if name == "maximum" else "add", -np.inf if name == "maximum" else 0, fp32(values).T)
        self.put(dst, total / np.float32(len(values)) if name == "average" else total)

    def tensor_scalar_reduce(
        self,
        dst,
        data,
        op0,
        operand0,
        reduce_op,
        reduce_res=None,
        reduce_cmd=None,
        reduce_init=None,
        reduce_res_negate=False,
    ):
        name = short(op0)
        value = apply(name, self.floats(data), np.float32(0) if name in UNARY else self.operand(operand0))
        lanes = self.prepared(data, short(reduce_op), reduce_cmd, reduce_init)
        lanes[:] = folded(short(reduce_op), lanes, value)
        self.put(dst, value)
        if reduce_res is not None:
            self.put(reduce_res, -lanes if reduce_res_negate else lanes)

    def prepared(self, data, op, command, init):
        lanes, command = self.vector_lanes[self.lane_slice(data)], short(command) if command else "reset_reduce"
        if command == "reset_reduce":
            lanes[:] = START[op]
        elif command == "load_reduce":
            lanes[:] = np.broadcast_to(self.operand(init).reshape(-1), lanes.shape)
        return lanes

    def tensor_scalar_cumulative(self, dst, src, op0, op1, imm0, imm1=None, reduce_cmd=None):
        value, lanes = self.floats(src), self.prepared(src, short(op1), reduce_cmd, imm1)
        value = apply(short(op0), value, self.operand(imm0))
        out = np.empty_like(value)
        for i in range(value.shape[1]):
            lanes[:] = apply(short(op1), value[:, i], lanes)
            out[:, i] = lanes
        self.put(dst, out)

    def tensor_tensor_scan(self, dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False):
        a, b = self.floats(data0), self.floats(data1)
        state = np.broadcast_to(self.operand(initial).reshape(-1), (len(a),))
        out = np.empty_like(a)
        for i in range(a.shape[1]):
            state = apply(short(op0), state, a[:, i]) if reverse0 else apply(short(op0), a[:, i], state)
            state = apply(short(op1), b[:, i], state) if reverse1 else apply(short(op1), state, b[:, i])
            out[:, i] = state
        self.put(dst, out)

    def bn_stats(self, dst, data):
        value, columns = self.floats(data), []
        for half in (value[:, 0::2], value[:, 1::2]):
            count = half.shape[1]
            with np.errstate(all="ignore"):
                mean = folded("add", 0, half) / np.float32(count) if count else np.zeros(len(half), np.float32)
                away = half - mean[:, None]
                columns += [np.full(len(half), count, np.float32), mean, folded("add", 0, away * away)]
        self.put(dst, np.stack(columns, axis=1))

    # -- the array --------------------------------------------------------------------------------------------

    def matmul_wrote(self, dst):
        return dst.of_array(self.by_matmul[dst.tile.name])

    def nc_transpose(self, dst, data, engine=None):
        self.write(dst, self.rows(data).T, matmul=engine is not None and short(engine) == "tensor_engine")

    # -- searching and gathering ------------------------------------------------------------------------------

    def max8(self, dst, src):
        self.put(dst, -np.sort(-self.floats(src), axis=1)[:, :8])

    def nc_find_index8(self, dst, data, vals):
        data, vals = self.floats(data), self.floats(vals)
        kind = self.tiles[dst.tile.name].dtype
        found = np.full((len(data), 8), np.iinfo(kind).max, kind)
        for p, slot in np.ndindex(found.shape):
            places = np.flatnonzero(data[p] == vals[p, slot])
            earlier = np.count_nonzero(vals[p, :slot] == vals[p, slot])
            if earlier < len(places):
                found[p, slot] = places[earlier]
        self.write(dst, found)

    def nc_match_replace8(self, dst, data, vals, imm, dst_idx=None):
        rows, vals = self.floats(data), self.floats(vals)
        result, places = convert(rows, dst.tile.dtype), np.full((len(rows), 8), -1, np.int64)
        for p in range(len(rows)):
            for slot in reversed(range(8)):
                free = [i for i in np.flatnonzero(rows[p] == vals[p, slot]) if i not in places[p]]
                if free:
                    places[p, slot] = free[0]
                    result[p, free[0]] = convert(np.float32(imm), dst.tile.dtype)
        self.write(dst, result)
        if dst_idx is not None:
            self.write(dst_idx, places.astype(self.tiles[dst_idx.tile.name].dtype))

    def local_gather(self, dst, src_buffer, index, num_elem_per_idx=1, num_valid_indices=None):
        src, index, out = self.rows(src_buffer), self.rows(index), []
        for p in range(len(src)):
            starts = index[p // 16 * 16 : p // 16 * 16 + 16].flatten(order="F")[:num_valid_indices].astype(np.int64)
            out.append(src[p][starts[:, None] + np.arange(num_elem_per_idx)].reshape(-1))
        self.write(dst, np.stack(out))

    def nc_n_gather(self, dst, data, indices):
        self.write(dst, np.take_along_axis(self.rows(data), self.rows(indices).astype(np.int64), axis=1))

    def nonzero_with_count(self, dst, src, index_offset=0, padding_val=-1):
        rows, out = self.rows(src), self.rows(dst)
        for p in range(0, len(rows), 16):
            found = np.flatnonzero(rows[p] != 0)
            out[p, :] = padding_val
            out[p, : len(found)], out[p, -1] = found + index_offset, len(found)
        self.write(dst, out)

    def sequence_bounds(self, dst, segment_ids):
        ids = self.rows(segment_ids)[0]
        bounds = np.empty((2, len(ids)), np.int64)
        for i, own in enumerate(ids):
            first, last = i, i
            while first > 0 and ids[first - 1] == own:
                first -= 1
            while last + 1 < len(ids) and ids[last + 1] == own:
                last += 1
            bounds[:, i] = (len(ids), -1) if own == 0 else (first, last + 1)
        self.write(dst, bounds.astype(self.tiles[dst.tile.name].dtype))

    def nc_stream_shuffle(self, dst, src, shuffle_mask):
        values, out = self.rows(src), self.rows(dst)
        for p in range(len(out)):
            if shuffle_mask[p % 32] != 255:
                out[p] = values[p // 32 * 32 + shuffle_mask[p % 32]]
        self.write(dst, out)

    # -- DMA --------------------------------------------------------------------------------------------------

    def by_index(self, rows):
        """(row, place in the index) of the rows that exist; the others are skipped, where that is asked for."""
        numbers = self.rows(rows.index)[:, 0].astype(np.int64)
        return [(row, i) for i, row in enumerate(numbers) if 0 <= row < len(self.tiles[rows.tile.name])]

    def dma_copy(self, dst, src, oob_mode=None):
        if isinstance(dst, Rows):
            out, values = self.tiles[dst.tile.name], self.rows(src)
            for row, i in self.by_index(dst):
                out[row] = recast(values[i], src.tile.dtype, dst.tile.dtype).reshape(out[row].shape)
            return
        if isinstance(src, Rows):
            values = self.rows(dst)
            for row, i in self.by_index(src):
                values[i] = recast(self.tiles[src.tile.name][row], src.tile.dtype, dst.tile.dtype).reshape(-1)
            return self.write(dst, values)
        self.write(dst, recast(self.read(src), src.tile.dtype, dst.tile.dtype))

    def dma_transpose(self, dst, src):
        values = self.read(src)
        self.write(dst, values.transpose({2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}[values.ndim]))

    def dma_compute(self, dst, srcs, reduce_op):
        rows = next((src for src in srcs if isinstance(src, Rows)), None)
        if rows:
            return self.rows_added(dst, rows, srcs)
        total = np.zeros(int(np.prod(dst.shape)), np.float32)
        for i, src in enumerate(srcs):
            value = self.floats(src).reshape(-1)
            total = value if i == 0 else apply("add", total, value)
        self.put(dst, total)

    def rows_added(self, dst, rows, srcs):
        tile, other = self.tiles[rows.tile.name], self.floats(next(src for src in srcs if src is not rows))
        result = np.empty_like(other)
        for row, i in self.by_index(rows):
            old = fp32(tile[row]).reshape(-1)
            result[i] = apply("add", old, other[i]) if srcs[0] is rows else apply("add", other[i], old)
            if isinstance(dst, Rows):
                tile[row] = convert(result[i], rows.tile.dtype).reshape(tile[row].shape)
        if not isinstance(dst, Rows):
            self.put(dst, result)

    # -- NeuronCore-v4 ----------------------------------------------------------------------------------------

    def exponential(self, dst, src, max_value=0.0):
        with np.errstate(all="ignore"):
            away = (self.floats(src) - self.operand(max_value)).astype(np.longdouble)
            self.put(dst, np.exp(away).astype(np.float32))
        self.vector_lanes[self.lane_slice(src)] = np.nan  # what idle leaves there is undefined
