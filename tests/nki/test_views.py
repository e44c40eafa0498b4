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
    assert "SBUF, float32, [[1.5 2.5]]" in out and "prefix [[1.5 2.5]]" in out


def test_truth_of_comparisons(run):
    def kernel(x):
        tile = nl.load(x)
        assert nl.equal(tile, nl.copy(tile))
        assert not nl.equal(tile, nl.add(tile, 1))
        assert nl.zeros((2, 2), nl.float32)  # a tensor as such is there

    run(kernel, sample((4, 4)))
