"""PyTorch tensors in and out of kernels."""

import pytest
import trnsim

trnsim.install()

import nki
import nki.language as nl

pytestmark = pytest.mark.needs_torch
torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed; pip install trnsim[torch] to run these tests"
)


@nki.jit
def double(x):
    out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
    nl.store(out, nl.multiply(nl.load(x), 2))
    return out


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32"])
def test_tensors_come_back_as_tensors(dtype):
    x = torch.arange(32).reshape(4, 8).to(getattr(torch, dtype))
    y = double(x)
    assert isinstance(y, torch.Tensor) and y.dtype == x.dtype
    assert torch.equal(y, x * 2)


def test_views_and_gradients():
    x = torch.arange(32.0, requires_grad=True).reshape(4, 8).T
    assert torch.equal(double(x), x.detach() * 2)
