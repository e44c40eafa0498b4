"""Views of NkiTensor against numpy's, and what each refuses."""

import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki.isa as nisa
import nki.language as nl

VIEWS = {  # on a tensor of shape [16, 4, 6]
    "slice": (lambda t: t.slice(1, 1, 4), lambda x: x[:, 1:4]),
    "slice with step": (lambda t: t.slice(dim=2, start=0, end=6, step=2), lambda x: x[:, :, ::2]),
    "subscript": (lambda t: t[2:10, 1:3, ::3], lambda x: x[2:10, 1:3, ::3]),
    "subscript with ds": (lambda t: t[nl.ds(2, 8), :, nl.ds(1, 3)], lambda x: x[2:10, :, 1:4]),
    "ellipsis": (lambda t: t[..., 2], lambda x: x[..., 2]),
    "integer on the partition stays": (lambda t: t[3], lambda x: x[3:4]),
    "two dimensions stay on a partition": (lambda t: t[3, 1, 2], lambda x: x[3:4, 1, 2:3]),
    "two dimensions stay": (lambda t: t[:, 1, 2:3], lambda x: x[:, 1, 2:3]),
    "numpy integers": (lambda t: t[:, np.int64(1), np.int32(2) : np.int64(9)], lambda x: x[:, 1, 2:]),
    "backwards": (lambda t: t[:, ::-1], lambda x: x[:, ::-1]),
    "ranges": (
        lambda t: t[nl.affine_range(16), 1, nl.affine_range(1, 6, 2)],
        lambda x: x[:, 1, 1:6:2],
    ),
    "negative": (lambda t: t[:, -1, -3:], lambda x: x[:, -1, -3:]),
    "select": (lambda t: t.select(1, 2), lambda x: x[:, 2]),
    "reshape": (lambda t: t.reshape((16, 24)), lambda x: x.reshape(16, 24)),
    "reshape_dim": (lambda t: t.reshape_dim(2, (2, 3)), lambda x: x.reshape(16, 4, 2, 3)),
    "reshape_dim infers": (lambda t: t.reshape_dim(-1, (-1, 2)), lambda x: x.reshape(16, 4, 3, 2)),
    "flatten_dims": (lambda t: t.flatten_dims(1, 2), lambda x: x.reshape(16, 24)),
    "permute": (lambda t: t.permute((0, 2, 1)), lambda x: x.transpose(0, 2, 1)),
    "permute and pick": (
        lambda t: t[0:8].permute((0, 2, 1))[:, 0, :],
        lambda x: x[:8].transpose(0, 2, 1)[:, 0],
    ),
    "expand_dim": (lambda t: t.expand_dim(1), lambda x: x[:, None]),
    "squeeze_dim": (lambda t: t[:, 1:2].squeeze_dim(1), lambda x: x[:, 1]),
    "broadcast": (lambda t: t[:, :, 0:1].broadcast(2, 5), lambda x: np.repeat(x[:, :, :1], 5, 2)),
    "rearrange": (
        lambda t: t.rearrange(("p", "a", ("b", "c")), ("p", "c", ("a", "b")), {"c": 2}),
        lambda x: x.reshape(16, 12, 2).transpose(0, 2, 1),
    ),
    "rearrange order": (
        lambda t: t.rearrange(("p", "a", "b"), ("p", "b", "a")),
        lambda x: x.transpose(0, 2, 1),
    ),
    "ap": (lambda t: t.ap(pattern=[(24, 16), (2, 12)]), lambda x: x.reshape(16, 24)[:, ::2]),
    "ap with offset": (lambda t: t.ap([[24, 8], [1, 5]], offset=3), lambda x: x.reshape(16, 24)[:8, 3:8]),
    "ap of a view starts where the view does": (
        lambda t: t[:, 1:, ::2].ap([[24, 16], [1, 6]]),
        lambda x: x[:, 1],
    ),
    "ap as halves": (
        lambda t: t[:, 1:, ::2].ap([[48, 16], [1, 4]], 1, dtype=nl.uint16),
        lambda x: x.view(np.uint16).reshape(16, 48)[:, 13:17],
    ),
    "ap overrides ap": (
        lambda t: t.ap([[24, 16], [2, 12]]).ap([[24, 16], [1, 3]]),
        lambda x: x.reshape(16, 24)[:, :3],
    ),
    "get_pattern": (
        lambda t: t.ap(t[:, 1:3, ::2].get_pattern(), 7),
        lambda x: x.reshape(16, 24)[:, 7:19].reshape(16, 2, 6)[:, :, :5:2],
    ),
    "reshape_dim of the partition by itself": (lambda t: t.reshape_dim(0, (16,)), lambda x: x),
    "reshape_dim of a permutation": (
        lambda t: t.permute((0, 2, 1)).reshape_dim(1, (3, 2)),
        lambda x: x.transpose(0, 2, 1).reshape(16, 3, 2, 4),
    ),
    "flatten_dims of broadcasts": (
        lambda t: t[:, 0:1, 0:1].broadcast(1, 3).broadcast(2, 2).flatten_dims(1, 2),
        lambda x: np.repeat(x[:, 0, :1], 6, 1),
    ),
    "flatten_dims of one": (lambda t: t.flatten_dims(1, 1), lambda x: x),
    "permute negative": (lambda t: t.permute((0, -1, -2)), lambda x: x.transpose(0, 2, 1)),
    "view of a part": (
        lambda t: t[:, 1:3, 2:4].view(nl.uint8),
        lambda x: np.ascontiguousarray(x[:, 1:3, 2:4]).view(np.uint8),
    ),
    "ap reads again": (lambda t: t.ap([[24, 16], [0, 3], [1, 2]]), lambda x: np.repeat(x[:, 0:1, :2], 3, 1)),
    "view": (lambda t: t.view(nl.int32), lambda x: x.view(np.int32)),
    "view as halves": (lambda t: t.view(nl.uint16), lambda x: x.view(np.uint16)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view(run, name):
    view, expected = VIEWS[name]
    x = sample((16, 4, 6))

    def kernel(tensor):
        tile = view(nl.load(tensor))
        out = nl.ndarray(tile.shape, tile.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    same(run(kernel, x), expected(x))


@pytest.mark.parametrize("name", [name for name in VIEWS if "partition" not in name])
def test_view_of_hbm(run, name):
    view, expected = VIEWS[name]
    x = sample((16, 4, 6))

    def kernel(tensor):
        tensor = view(tensor)
        out = nl.ndarray(tensor.shape, tensor.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tensor)
        return out

    same(run(kernel, x), expected(x))


def test_the_rank_of_indexed_tensors(run):
    def kernel(x):
        tile = nl.ndarray((64, 64, 64), nl.float32, nl.sbuf)
        assert tile[0, 0, 10].shape == (1, 1) and tile[:, 0, 10].shape == (64, 1)
        assert tile[:, 0].shape == (64, 64) and tile[0, ...].shape == (1, 64, 64)
        assert tile.select(1, 3).select(1, 3).shape == (64, 1)
        assert x[0, 0, 1].shape == (1,) and x[0, 0].shape == (6,) and x[0].shape == (4, 6)

    run(kernel, sample((16, 4, 6)))


def test_a_tensor_knows_its_buffer(run):
    def kernel(x):
        for buffer in (nl.sbuf, nl.psum, nl.private_hbm, nl.shared_hbm):
            tensor = nl.ndarray((16, 8), nl.float32, buffer)
            assert tensor.buffer == buffer and tensor[:, 2:4].reshape((16, 2)).buffer == buffer
            for other in (nl.sbuf, nl.psum):
                assert (tensor.buffer == other) == (buffer == other) != (tensor.buffer != other)
        assert nl.hbm == nl.private_hbm != nl.shared_hbm
        assert nl.ndarray((4, 8), nl.float32, nl.private_hbm).buffer != nl.shared_hbm

    run(kernel, sample((4, 4)))


def test_an_argument_is_in_hbm_whichever_kind_a_kernel_asks_for(run):
    def kernel(x, y):
        assert x.buffer == y.buffer == nl.hbm and nl.hbm == x.buffer and not x.buffer != nl.private_hbm
        assert x.buffer == nl.shared_hbm and x.buffer in (nl.shared_hbm,) and x.buffer != nl.sbuf

    run(kernel, sample((4, 4)), sample((4, 4)))


def test_writing_through_a_view(run):
    def kernel(x):
        tile = nl.load(x)
        nisa.memset(dst=tile.reshape((8, 3, 2))[:, 1, :], value=0)
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        return out

    x = sample((8, 6))
    expected = x.copy()
    expected[:, 2:4] = 0
    same(run(kernel, x), expected)


def test_what_a_tensor_says_of_itself(run):
    def kernel(x):
        t = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, name="t")
        assert (t.shape, t.strides, t.offset, t.dtype, t.buffer) == (
            (128, 64),
            (64, 1),
            0,
            nl.float32,
            nl.sbuf,
        )
        assert (t.ndim, t.size, t.name) == (2, 8192, "t")
        assert t.is_contiguous() and not t.is_indirect()
        u = t.slice(dim=1, start=8, end=24)
        assert u.get_pattern() == [[64, 128], [1, 16]] and u.offset == 8
        v = t.ap(pattern=[[64, 128], [1, 16]], offset=8)
        assert v.get_pattern() == u.get_pattern() and v.offset == u.offset
        assert not t[:, ::2].is_contiguous()
        assert (
            nl.is_sbuf(t.buffer)
            and nl.is_hbm(x.buffer)
            and nl.is_on_chip(nl.psum)
            and not nl.is_psum(t.buffer)
        )

    run(kernel, sample((2, 2)))


REFUSED = {
    "out of bounds": (lambda t: t[:, 9], "tensor.out_of_bounds", "9"),
    "too many indices": (lambda t: t[0, 0, 0, 0], "tensor.index", "at most 3"),
    "no integer": (lambda t: t["a"], "tensor.index", "expected an integer, got 'a'"),
    "list": (lambda t: t[:, [1, 2]], "tensor.index", "expected an integer"),
    "slice of words": (lambda t: t[:, "a":], "tensor.index", "no slice of integers"),
    "ds beyond": (lambda t: t[:, nl.ds(2, 3)], "tensor.out_of_bounds", "index 2 to 4 is out of bounds .*size 4"),
    "ds before": (lambda t: t[:, nl.ds(-1, 2)], "tensor.out_of_bounds", "index -1 to 0"),
    "ds of nothing": (lambda t: t[:, nl.ds(0, 0)], "tensor.index", "positive integer, got 0"),
    "select beyond": (lambda t: t.select(1, 4), "tensor.out_of_bounds", "size 4"),
    "select of no dimension": (lambda t: t.select(3, 0), "tensor.dim", "dimension 3"),
    "slice of nothing": (lambda t: t.slice(1, 2, 2), "tensor.out_of_bounds", "2:2"),
    "slice backwards": (lambda t: t.slice(1, 0, 4, -1), "tensor.out_of_bounds", "0:4:-1"),
    "reshape_dim of the partition": (lambda t: t.reshape_dim(0, (16, 1)), "tensor.reshape", "not split"),
    "reshape_dim too large": (lambda t: t.reshape_dim(1, (3, 2)), "tensor.reshape", "cannot become"),
    "flatten_dims of the partition": (lambda t: t[:, 0:1].flatten_dims(0, 1), "tensor.reshape", "not merged"),
    "permute of too few": (lambda t: t.permute((0, 1)), "tensor.permute", "each dimension once"),
    "permute twice": (lambda t: t.permute((0, 1, 1)), "tensor.permute", "each dimension once"),
    "permute of a word": (lambda t: t.permute("abc"), "tensor.permute", "tuple"),
    "permute of no dimension": (lambda t: t.permute((0, 1, 3)), "tensor.dim", "dimension 3"),
    "broadcast of the partition": (lambda t: t[0:1].broadcast(0, 8), "tensor.broadcast", "partition"),
    "broadcast to nothing": (lambda t: t[:, 0:1].broadcast(1, 0), "tensor.broadcast", "not positive"),
    "squeeze of the partition": (lambda t: t[0:1].squeeze_dim(0), "tensor.dim", "partition"),
    "expand of no dimension": (lambda t: t.expand_dim(5), "tensor.dim", "dimension 5"),
    "view of gaps": (lambda t: t[:, :, ::2].view(nl.uint16), "tensor.view", "contiguous"),
    "view to a larger type": (lambda t: t.view(nl.uint8)[:, :, 0:3].view(nl.float32), "tensor.view", "multiple of 4"),
    "ap partition step": (lambda t: t.ap([[48, 8], [1, 24]]), "tensor.partition_step", "24 elements"),
    "ap of no pairs": (lambda t: t.ap([32, 16]), "tensor.pattern", "pairs"),
    "ap of nothing": (lambda t: t.ap([]), "tensor.pattern", "pairs"),
    "ap of words": (lambda t: t.ap([["a", 16], [1, 2]]), "tensor.index", "ap step"),
    "ap count": (lambda t: t.ap([[24, 16], [1, 0]]), "tensor.pattern", "counts 0"),
    "ap offset": (lambda t: t.ap([[24, 16], [1, 2]], offset=1.5), "tensor.pattern", "must be an integer"),
    "ap run-time offset": (
        lambda t: t.ap([[24, 16], [1, 2]], offset=nisa.register_alloc(1)),
        "tensor.pattern",
        "scalar_offset",
    ),
    "ap between elements": (
        lambda t: t.view(nl.uint8)[:, :, 1:].ap([[24, 16], [1, 2]], dtype=nl.float32),
        "tensor.view",
        "middle",
    ),
    "ap beyond the partition": (
        lambda t: nisa.memset(t.ap([[24, 16], [1, 25]]), 0),
        "tensor.out_of_bounds",
        "outside|reaches",
    ),
    "minus": (lambda t: 1 - t, "tensor.operator", "nl.subtract"),
    "divided": (lambda t: t / 2, "tensor.operator", "nl.divide"),
    "plus in place": (lambda t: t.__iadd__(1) if hasattr(t, "__iadd__") else t + 1, "tensor.operator", "nl.add"),
    "None": (lambda t: t[:, None], "tensor.index", "expand_dim"),
    "slice beyond": (lambda t: t.slice(1, 2, 9), "tensor.out_of_bounds", "2:9:1 of dimension 1"),
    "slice of a dimension that is not there": (lambda t: t.slice(3, 0, 1), "tensor.dim", "dimension 3"),
    "reshape size": (lambda t: t.reshape((16, 25)), "tensor.reshape", "24|384"),
    "reshape across partitions": (lambda t: t.reshape((32, 12)), "tensor.reshape", "partition"),
    "reshape_dim": (lambda t: t.reshape_dim(2, (4, -1)), "tensor.reshape", "does not divide"),
    "reshape_dim twice -1": (lambda t: t.reshape_dim(2, (-1, -1)), "tensor.reshape", "more than one"),
    "flatten_dims": (lambda t: t.flatten_dims(2, 1), "tensor.dim", "after"),
    "flatten of a permutation": (
        lambda t: t.permute((0, 2, 1)).flatten_dims(1, 2),
        "tensor.reshape",
        "contiguous",
    ),
    "permute of partitions": (lambda t: t.permute((1, 0, 2)), "tensor.permute", "partition"),
    "broadcast of what is not 1": (lambda t: t.broadcast(1, 8), "tensor.broadcast", "size 1"),
    "squeeze of what is not 1": (lambda t: t.squeeze_dim(1), "tensor.dim", "not 1"),
    "expand before partitions": (lambda t: t.expand_dim(0), "tensor.dim", "partition"),
    "view that does not fit": (
        lambda t: t[:, :, 0:1].view(nl.uint8)[:, :, 0:3].view(nl.float32),
        "tensor.view",
        "bytes",
    ),
    "assignment": (lambda t: t.__setitem__((0, 0), 1), "tensor.assignment", "dst="),
    "plus": (lambda t: t + t, "tensor.operator", "nl.add"),
    "number times": (lambda t: 2 * t, "tensor.operator", "nl.multiply"),
    "rearrange names": (
        lambda t: t.rearrange(("p", "a", "b"), ("p", "a")),
        "tensor.rearrange",
        "same dimensions",
    ),
    "rearrange merges": (
        lambda t: t.rearrange(("p", "a", "b"), ("p", ("b", "a"))),
        "tensor.reshape",
        "contiguous",
    ),
    "rearrange rank": (
        lambda t: t.rearrange(("p", "a"), ("p", "a")),
        "tensor.rearrange",
        "names 2 dimensions",
    ),
    "rearrange open": (
        lambda t: t.rearrange(("p", "a", ("b", "c")), ("p", "a", "b", "c")),
        "tensor.rearrange",
        "all but one",
    ),
    "rearrange sizes": (
        lambda t: t.rearrange(("p", "a", ("b", "c")), ("p", "a", "b", "c"), {"b": 4}),
        "tensor.rearrange",
        "divide",
    ),
    "buffer": (lambda t: nl.ndarray((2, 2), nl.float32, buffer="dram"), "tensor.buffer", "nl.sbuf"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(run, name):
    action, rule, text = REFUSED[name]
    with pytest.raises(trnsim.ProgramError, match=text) as caught:
        run(lambda x: action(nl.load(x)), sample((16, 4, 6)))
    assert caught.value.rule == rule


def test_print_shows_values(run, capsys):
    def kernel(x):
        tile = nl.load(x)
        print(tile)
        nl.device_print("prefix", tile)

    run(kernel, np.array([[1.5, 2.5]], np.float32))
    out = capsys.readouterr().out
    assert "SBUF, float32, [[1.5 2.5]]" in out and "prefix float32[1, 2] in SBUF:\n[[1.5 2.5]]\n" in out


def test_truth_of_comparisons(run):
    def kernel(x):
        tile = nl.load(x)
        assert nl.equal(tile, nl.copy(tile))
        assert not nl.equal(tile, nl.add(tile, 1))
        assert nl.zeros((2, 2), nl.float32)  # a tensor as such is there

    run(kernel, sample((4, 4)))


@pytest.mark.parametrize("start, columns", [(0, 16), (16, 16), (8, 32)])
@pytest.mark.parametrize("step", ["of the part", "of the tile"])
def test_an_ap_of_a_part_counts_in_rows_of_the_part_or_of_the_tile(run, start, columns, step):
    x = np.arange(8 * 48, dtype=np.float32).reshape(8, 48)

    def kernel(a):
        tile, out = nl.ndarray(a.shape, a.dtype, nl.sbuf), nl.ndarray((8, columns), a.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=tile, src=a)
        part = tile[:, start : start + columns]
        row = columns if step == "of the part" else 48
        nisa.dma_copy(dst=out, src=part.ap([[row, 8], [1, columns]]))
        return out

    np.testing.assert_array_equal(run(kernel, x), x[:, start : start + columns])
