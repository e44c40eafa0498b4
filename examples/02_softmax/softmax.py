"""Softmax over rows, twice: operation by operation, and with the Scalar engine doing three of them in one
instruction.

trnsim run examples/02_softmax/softmax.py
"""

import sys

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import trnsim

ROWS, COLUMNS = 4096, 2048


@nki.jit
def plain(x):
    """As one would write it with numpy: five passes over each tile, four of them on the Vector engine."""
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for row in range(0, x.shape[0], nl.tile_size.pmax):
        tile = nl.load(x[row : row + nl.tile_size.pmax])
        shifted = nl.subtract(tile, nl.max(tile, axis=1))
        powers = nl.exp(shifted)
        total = nl.sum(powers, axis=1)
        nl.store(result[row : row + nl.tile_size.pmax], nl.multiply(powers, nl.reciprocal(total)))
    return result


@nki.jit
def fused(x):
    """The Scalar engine adds a bias, exponentiates and sums on the way: three passes remain."""
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for row in range(0, x.shape[0], nl.tile_size.pmax):
        tile = nl.load(x[row : row + nl.tile_size.pmax])
        minus_max = nl.ndarray((nl.tile_size.pmax, 1), dtype=nl.float32)
        nisa.tensor_reduce(dst=minus_max, op=nl.maximum, data=tile, axis=1, negate=True)
        powers = nl.ndarray(tile.shape, dtype=nl.float32)
        total = nl.ndarray((nl.tile_size.pmax, 1), dtype=nl.float32)
        nisa.activation_reduce(
            dst=powers, op=nl.exp, data=tile, bias=minus_max, reduce_op=nl.add, reduce_res=total
        )
        nisa.reciprocal(dst=total, data=total)
        nisa.tensor_scalar(dst=powers, data=powers, op0=nl.multiply, operand0=total)
        nl.store(result[row : row + nl.tile_size.pmax], powers)
    return result


def main():
    x = np.random.default_rng(seed=1).standard_normal((ROWS, COLUMNS), np.float32)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)

    passed, times = True, {}
    for kernel in (plain, fused):
        error = np.abs(kernel(x) / expected - 1).max()
        profile = trnsim.last_profile()
        times[kernel] = profile.latency_us
        vector = profile.busy_us["Vector"]
        print(
            f"{profile.kernel:>6}: largest relative error {error:.1e}; {profile.latency_us:6.1f} us, "
            f"the Vector engine busy for {vector / profile.latency_us:.0%} of it"
        )
        passed &= bool(error < 1e-5)

    faster = times[plain] / times[fused]
    passed &= faster > 1.2
    print(f"{'PASS' if passed else 'FAIL'}: both agree with numpy; fused is {faster:.2f} times as fast")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
