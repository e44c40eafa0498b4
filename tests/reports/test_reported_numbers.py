"""Reports about numbers: dropout and NaN, bias in a copy, integers beyond 2^24, accuracy in bf16, gradients."""

import ml_dtypes
import neuronxcc.nki as nki1
import neuronxcc.nki.isa as nisa1
import neuronxcc.nki.language as nl1
import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
import trnsim

BF16 = ml_dtypes.bfloat16


def load(x, dtype=None):
    tile = nl.ndarray(x.shape, dtype=dtype or x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    return tile


def store(tile):
    out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


@nki1.jit
def flash_forward(q, k, v, rate):
    """Softmax in one pass over blocks of keys, with dropout of the weights; q, k: [d, n], v: [n, d]."""
    d, n = q.shape
    out = nl1.ndarray((n, d), dtype=q.dtype, buffer=nl1.shared_hbm)
    for i in nl1.affine_range(n // 128):
        queries = nl1.load(q[:, nl1.ds(i * 128, 128)])
        largest = nl1.full((128, 1), -1e30, dtype=np.float32)
        total = nl1.zeros((128, 1), dtype=np.float32)
        result = nl1.zeros((128, d), dtype=np.float32)
        for j in nl1.sequential_range(n // 128):
            scores = nl1.copy(nl1.matmul(queries, nl1.load(k[:, nl1.ds(j * 128, 128)]), transpose_x=True))
            larger = nl1.maximum(largest, nl1.max(scores, axis=1, keepdims=True))
            shrink = nl1.exp(nl1.subtract(largest, larger))
            weights = nl1.exp(nl1.subtract(scores, larger))
            total[...] = nl1.add(nl1.multiply(total, shrink), nl1.sum(weights, axis=1, keepdims=True))
            kept = nl1.multiply(nl1.dropout(weights, rate=rate), 1 / (1 - rate)) if rate else weights
            product = nl1.matmul(kept, nl1.load(v[nl1.ds(j * 128, 128), :]))
            result[...] = nl1.add(nl1.multiply(result, shrink), product)
            largest[...] = nl1.copy(larger)
        nl1.store(out[nl1.ds(i * 128, 128), :], nl1.divide(result, total))
    return out


def attention_case(n=256, d=64):
    random = np.random.default_rng(0)
    q, k = ((random.standard_normal((d, n)) / 4).astype(np.float32) for _ in range(2))
    return q, k, (1 + random.standard_normal((n, d)) / 4).astype(np.float32)


def attention(q, k, v):
    weights = np.exp(q.T.astype(np.float64) @ k)
    return weights / weights.sum(1, keepdims=True) @ v


@pytest.mark.parametrize("rate", (0.0, 0.1, 0.5))
def test_flash_attention_with_dropout_has_no_nan_and_keeps_the_mean(rate):
    q, k, v = attention_case()
    result, expected = flash_forward(q, k, v, rate), attention(q, k, v)
    assert np.isfinite(result).all()
    if rate == 0:
        np.testing.assert_allclose(result, expected, rtol=2e-5)
    else:
        assert np.abs(result - expected).max() > 1e-3  # something was dropped
        assert result.mean() == pytest.approx(expected.mean(), rel=0.02)


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("name, function", [("copy", lambda x: x), ("relu", lambda x: np.maximum(x, 0))])
def test_a_copy_adds_its_bias_like_any_other_function(chip, name, function):
    trnsim.install(chip=chip)

    @nki.jit
    def kernel(x):
        tile, bias = load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(bias, 3.0)
        nisa.activation(dst=tile, op=getattr(nl, name), data=tile, bias=bias)
        return store(tile)

    ramp = np.arange(128 * 64, dtype=np.float32).reshape(128, 64) - 4000
    np.testing.assert_array_equal(kernel(ramp), function(ramp + 3))


@pytest.mark.parametrize("chip", ("trn1", "trn2", "trn3"))
@pytest.mark.parametrize("engine, exact", [("gpsimd", True), ("vector", False)])
def test_integers_beyond_24_bits(chip, engine, exact, refused):
    """The low word of 0x7FFFFFFF * 0xD251: exact on GpSimd, rounded and saturated through fp32 on the Vector Engine,
    which `exact_integers` notices. Shifts and masks keep every bit."""

    @nki.jit
    def kernel(a, b):
        x, y = load(a), load(b)
        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.multiply, engine=getattr(nisa, f"{engine}_engine"))
        return store(x)

    a, b = (np.full((16, 8), value, np.uint32) for value in (0x7FFFFFFF, 0xD251))
    trnsim.install(chip=chip, exact_integers=exact)
    expected = 0x7FFFFFFF * 0xD251 % 2**32 if exact else 2**32 - 1
    np.testing.assert_array_equal(kernel(a, b), np.full((16, 8), expected, np.uint32))
    trnsim.install(chip=chip, exact_integers=True)
    if not exact:
        with refused("memory.inexact_integer", "2^24", "uint32"):
            kernel(a, b)


def test_the_high_word_of_a_product_from_16_bit_halves():
    """What a 32-bit random generator needs: exact with integers in SBUF, by halves, shifts and masks."""

    @nki.jit
    def high_word(a, b):
        x, y = load(a), load(b)

        def scalar(tile, op, number):
            result = nl.ndarray(tile.shape, dtype=nl.uint32, buffer=nl.sbuf)
            nisa.tensor_scalar(dst=result, data=tile, op0=op, operand0=number)
            return result

        def pair(one, other, op):
            result = nl.ndarray(one.shape, dtype=nl.uint32, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=result, data1=one, data2=other, op=op)
            return result

        halves = [(scalar(t, nl.right_shift, 16), scalar(t, nl.bitwise_and, 0xFFFF)) for t in (x, y)]
        (xh, xl), (yh, yl) = halves
        low = pair(xl, yl, nl.multiply)
        middle = pair(pair(xh, yl, nl.multiply), scalar(low, nl.right_shift, 16), nl.add)
        other = pair(pair(xl, yh, nl.multiply), scalar(middle, nl.bitwise_and, 0xFFFF), nl.add)
        carries = pair(scalar(middle, nl.right_shift, 16), scalar(other, nl.right_shift, 16), nl.add)
        return store(pair(pair(xh, yh, nl.multiply), carries, nl.add))

    trnsim.install(exact_integers=True)  # nothing is lost on the way
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 2**32, (16, 32), np.uint32) for _ in range(2))
    a[0, 0], b[0, 0] = 0x7FFFFFFF, 0xD251
    expected = (a.astype(np.uint64) * b.astype(np.uint64) >> np.uint64(32)).astype(np.uint32)
    np.testing.assert_array_equal(high_word(a, b), expected)


def test_logits_in_bf16_agree_to_a_unit_in_the_last_place():
    """Near 20 neighbouring bf16 values lie 0.125 apart: no absolute tolerance of 0.001 can hold; half a unit does."""

    @nki.jit
    def project(x, w):
        psum = nl.ndarray((x.shape[1], w.shape[1]), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=psum, stationary=load(x), moving=load(w))
        logits = nl.ndarray(psum.shape, dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.tensor_copy(dst=logits, src=psum)
        return store(logits)

    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(BF16) for shape in ((128, 64), (128, 256)))
    exact = x.astype(np.float64).T @ w.astype(np.float64)
    logits = project(x, w).astype(np.float64)
    unit = 2.0 ** (np.floor(np.log2(np.abs(exact))) - 7)
    assert np.abs(logits - exact).max() > 0.001
    assert (np.abs(logits - exact) / unit).max() < 0.51


@pytest.mark.parametrize("sums, worst", [("float32", 1e-5), ("bfloat16", None)])
def test_cross_entropy_over_77_labels(sums, worst):
    """Summing 77 exponentials in bf16, one after the other, spoils the loss; in fp32 it does not."""

    @nki.jit
    def loss(logits):
        x, total = load(logits), nl.ndarray((128, 1), dtype=getattr(nl, sums), buffer=nl.sbuf)
        largest, result = (nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf) for _ in range(2))
        nisa.tensor_reduce(dst=largest, op=nl.maximum, data=x, axis=1, negate=True)
        nisa.activation(dst=x, op=nl.exp, data=x, bias=largest)
        nisa.memset(total, 0.0)
        for label in range(77):
            nisa.tensor_tensor(dst=total, data1=total, data2=x[:, label : label + 1], op=nl.add)
        nisa.activation(dst=result, op=nl.log, data=total)
        return store(result)

    logits = (np.random.default_rng(0).standard_normal((128, 77)) / 4).astype(np.float32)
    exact = np.log(np.exp(logits - logits.max(1, keepdims=True).astype(np.float64)).sum(1, keepdims=True))
    away = np.abs(loss(logits) - exact).max()
    assert away < worst if worst else away > 0.01


# -- gradients of attention with a sink --------------------------------------------------------------------------------


@nki1.jit
def backward_with_a_sink(q, k, v, sink, gradient):
    """dq, dk, dv [n, d] and a row of d sink; q, k, v, gradient: [n, d], sink: [1, 1]. The sink takes a share of every
    row's softmax and gives no value."""
    n, d = q.shape
    new = lambda *shape: nl1.ndarray(shape, dtype=q.dtype, buffer=nl1.shared_hbm)  # noqa: E731
    dq, dk, dv, dsink = new(n, d), new(n, d), new(n, d), new(n, 1)
    blocks = n // 128
    rows = lambda i: (nl1.ds(i * 128, 128), slice(None))  # noqa: E731
    turned = lambda x: nl1.copy(nisa1.nc_transpose(x))  # noqa: E731
    ds_of, p_of = {}, {}
    for i in range(blocks):
        queries, gradients = nl1.load(q[rows(i)]), nl1.load(gradient[rows(i)])
        scores = nl1.ndarray((128, n), dtype=np.float32, buffer=nl1.sbuf)
        dp = nl1.ndarray((128, n), dtype=np.float32, buffer=nl1.sbuf)
        for j in range(blocks):
            at = nl1.ds(j * 128, 128)
            scores[:, at] = nl1.copy(nl1.matmul(turned(queries), turned(nl1.load(k[rows(j)])), transpose_x=True))
            dp[:, at] = nl1.copy(nl1.matmul(turned(gradients), turned(nl1.load(v[rows(j)])), transpose_x=True))
        own = nl1.broadcast_to(nl1.load(sink), shape=(128, 1))
        largest = nl1.maximum(nl1.max(scores, axis=1, keepdims=True), own)
        weights, share = nl1.exp(nl1.subtract(scores, largest)), nl1.exp(nl1.subtract(own, largest))
        total = nl1.add(nl1.sum(weights, axis=1, keepdims=True), share)
        p = nl1.divide(weights, total)
        mean = nl1.sum(nl1.multiply(p, dp), axis=1, keepdims=True)
        ds = nl1.multiply(p, nl1.subtract(dp, mean))
        nl1.store(dsink[rows(i)], nl1.negative(nl1.multiply(nl1.divide(share, total), mean)))
        ds_of[i], p_of[i] = ds, p
        result = nl1.zeros((128, d), dtype=np.float32, buffer=nl1.psum)
        for j in range(blocks):
            result += nl1.matmul(turned(ds[:, nl1.ds(j * 128, 128)]), nl1.load(k[rows(j)]), transpose_x=True)
        nl1.store(dq[rows(i)], nl1.copy(result))
    for j in range(blocks):
        at = nl1.ds(j * 128, 128)
        keys, values = (nl1.zeros((128, d), dtype=np.float32, buffer=nl1.psum) for _ in range(2))
        for i in range(blocks):
            keys += nl1.matmul(ds_of[i][:, at], nl1.load(q[rows(i)]), transpose_x=True)
            values += nl1.matmul(p_of[i][:, at], nl1.load(gradient[rows(i)]), transpose_x=True)
        nl1.store(dk[rows(j)], nl1.copy(keys))
        nl1.store(dv[rows(j)], nl1.copy(values))
    return dq, dk, dv, dsink


def attention_with_a_sink(q, k, v, sink):
    scores = q @ k.T
    largest = np.maximum(scores.max(1, keepdims=True), sink)
    weights = np.exp(scores - largest)
    return weights / (weights.sum(1, keepdims=True) + np.exp(sink - largest)) @ v


def test_gradients_with_an_attention_sink_against_finite_differences():
    random = np.random.default_rng(0)
    q, k, v, gradient = ((random.standard_normal((512, 32)) / 2).astype(np.float32) for _ in range(4))
    sink = np.array([[1.5]], np.float32)
    gradients = list(backward_with_a_sink(q, k, v, sink, gradient))
    gradients[3] = gradients[3].sum(keepdims=True).reshape(1, 1)
    inputs = [x.astype(np.float64) for x in (q, k, v, sink)]
    step = 1e-5
    for which, own in enumerate(gradients):
        for _ in range(6):
            at = tuple(random.integers(0, n) for n in inputs[which].shape)
            ends = []
            for sign in (1, -1):
                moved = [x.copy() for x in inputs]
                moved[which][at] += sign * step
                ends.append((attention_with_a_sink(*moved) * gradient).sum())
            assert own[at] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=2e-4, abs=2e-5)
