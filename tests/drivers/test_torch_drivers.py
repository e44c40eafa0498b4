"""Scripts written for torch_xla and torch_neuronx run on the CPU, their kernels in the simulator."""

import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.needs_torch
torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install trnsim[torch] to run these tests")

import neuronxcc.nki as nki1
import neuronxcc.nki.language as nl1
import nki
import nki.language as nl
import torch_neuronx
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_multiprocessing as xmp
import torch_xla.runtime as xr
import trnsim


@nki1.jit
def beta1_copy(x):
    out = nl1.ndarray(x.shape, dtype=x.dtype, buffer=nl1.shared_hbm)
    nl1.store(out, nl1.load(x))
    return out


@nki.jit
def copy(x):
    out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
    nl.store(out, nl.load(x))
    return out


@torch_neuronx.nki_jit
def add_into(a, b, out):
    nl1.store(out, nl1.load(a) + nl1.load(b))


@pytest.mark.parametrize("device", [xm.xla_device(), torch_xla.device(), "xla", "xla:0", torch.device("xla", 0),
                                    "neuron", torch.device("neuron")])
def test_the_device_is_the_cpu(device):
    moved = torch.ones(3).to(device)
    assert moved.device.type == "cpu" and torch.ones(3, device=device).device.type == "cpu"
    assert torch.ones(3).to(device=device, dtype=torch.float16).dtype == torch.float16
    assert torch.nn.Linear(2, 2).to(device).weight.device.type == "cpu"
    assert torch.equal(torch.arange(3, device=device) + torch.arange(3), torch.tensor([0, 2, 4]))


@pytest.mark.parametrize("kernel", [copy, beta1_copy])
@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "float8_e5m2", "float8_e4m3fn", "int32", "int16",
                                  "int8", "uint8", "bool"])
def test_tensors_keep_their_dtype_and_bits(kernel, name):
    values = torch.arange(-60, 68).reshape(4, 32).to(getattr(torch, name))
    result = kernel(values)
    assert isinstance(result, torch.Tensor) and result.dtype == values.dtype
    assert torch.equal(result.view(torch.uint8), values.view(torch.uint8))


def test_a_result_without_a_torch_dtype_is_refused_by_name():
    @nki.jit
    def to_e4m3(x):
        out = nl.ndarray(x.shape, nl.float8_e4m3, nl.shared_hbm)
        nl.store(out, nl.copy(nl.load(x), dtype=nl.float8_e4m3))
        return out

    assert to_e4m3(np.ones((4, 4), np.float32)).dtype == ml_dtypes.float8_e4m3
    with pytest.raises(trnsim.Unsupported, match="float8_e4m3 as a PyTorch tensor"):
        to_e4m3(torch.ones(4, 4))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("transposed", [False, True])
def test_an_old_style_kernel_writes_its_output_tensor(dtype, transposed):
    a = torch.arange(16).reshape(4, 4).to(getattr(torch, dtype))
    out = torch.zeros_like(a).T if transposed else torch.zeros_like(a)
    add_into(a, a, out)
    assert torch.equal(out, 2 * a)


def test_a_read_only_array_can_be_an_input_but_not_an_output():
    a = np.ones((4, 4), np.float32)
    a.flags.writeable = False
    assert (copy(a) == 1).all()
    with pytest.raises(trnsim.ProgramError, match="cannot change") as caught:
        add_into(a, a, a)
    assert caught.value.rule == "launch.frozen_array"


def test_closures_run_at_the_end_of_the_step(capsys):
    seen = []
    xm.add_step_closure(seen.append, args=(1,))
    assert seen == []
    xm.mark_step()
    torch_xla.sync()
    assert seen == [1]
    with torch_xla.step():
        xm.add_step_closure(seen.append, (2,))
    assert seen == [1, 2]
    xm.master_print("once")
    assert capsys.readouterr().out == "once\n"


def test_one_worker_is_alone_in_its_world():
    assert (xm.xrt_world_size(), xm.get_ordinal(), xr.world_size(), xr.global_ordinal()) == (1, 0, 1, 0)
    assert xm.is_master_ordinal() and xr.device_type() == "NEURON"
    x = torch.tensor([1.0, 2.0])
    assert torch.equal(xm.all_reduce(xm.REDUCE_SUM, x, scale=0.5), x / 2)
    listed = [x.clone()]
    xm.all_reduce(xm.REDUCE_SUM, listed, scale=2.0)
    assert torch.equal(listed[0], x * 2)
    for result in (xm.all_gather(x), xm.reduce_scatter(xm.REDUCE_SUM, x, 1.0, 0, 1), xm.all_to_all(x, 0, 0, 1),
                   xm.collective_permute(x, [[0, 0]])):
        assert torch.equal(result, x)
    assert xm.rendezvous("here", b"payload") == [b"payload"]
    assert list(pl.MpDeviceLoader([1, 2], xm.xla_device())) == [1, 2]
    assert list(pl.ParallelLoader([1, 2], [xm.xla_device()]).per_device_loader(xm.xla_device())) == [1, 2]
    ran = []
    xmp.spawn(lambda index, word: ran.append((index, word)), args=("go",))
    torch_xla.launch(lambda index: ran.append(index))
    assert ran == [(0, "go"), 0]


def test_an_optimizer_takes_its_step():
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.5)
    weight.sum().backward()
    xm.optimizer_step(optimizer, barrier=True)
    assert torch.equal(weight.detach(), torch.full((2,), 0.5))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: xm.xla_device(1), "device 1, because the simulator runs one worker"),
        (lambda: xmp.spawn(print, nprocs=2), "spawn of 2 workers"),
        (lambda: xm.all_reduce(xm.REDUCE_SUM, torch.ones(1), groups=[[0, 1]]), "collective"),
        (lambda: xm.all_gather(torch.ones(1), groups=[[0, 1]]), "collective"),
        (lambda: xm.reduce_scatter(xm.REDUCE_SUM, torch.ones(2), 1.0, 0, 2), "2 shards"),
        (lambda: xm.all_to_all(torch.ones(2), 0, 0, 2), "all_to_all"),
        (lambda: xm.collective_permute(torch.ones(2), [[0, 1]]), "collective_permute"),
        (lambda: pl.ParallelLoader([], ["xla:0", "xla:1"]), "2 devices"),
        (lambda: xr.set_device_type("TPU"), "TPU"),
        (lambda: xm.get_memory_info, "xla_model.get_memory_info, because"),
        (lambda: xr.use_spmd, "runtime.use_spmd, because"),
        (lambda: torch_xla.stablehlo, "torch_xla.stablehlo, because"),
        (lambda: torch_neuronx.DataParallel(None, device_ids=[0, 1]), "2 devices"),
        (lambda: torch_neuronx.move_trace_to_device(None, 3), "device 3"),
        (lambda: torch_neuronx.analyze, "torch_neuronx.analyze, because"),
    ],
)
def test_what_has_no_counterpart_is_refused_by_name(call, words):
    with pytest.raises(trnsim.Unsupported, match=words):
        call()


@pytest.mark.parametrize("module", ["torch_xla.experimental", "torch_neuronx.pyhlo.hlo_pb2", "neuronx_distributed",
                                    "neuronx_distributed_inference.models", "libneuronxla"])
def test_a_missing_module_is_refused_by_name_and_can_be_caught(module):
    with pytest.raises(trnsim.Unsupported, match=f"{module.split('.')[0]}.*because"):
        __import__(module)
    with pytest.raises(ImportError):
        __import__(module)


def test_asking_for_a_name_is_allowed():
    assert hasattr(xm, "mark_step") and not hasattr(xm, "get_memory_info")


def test_a_traced_model_is_the_model():
    model = torch.nn.Linear(4, 4)
    traced = torch_neuronx.trace(model, torch.ones(1, 4))
    torch_neuronx.async_load(traced)
    assert torch.equal(torch_neuronx.DataParallel(traced)(torch.ones(2, 4)), model(torch.ones(2, 4)))
    assert torch_neuronx.utils.get_platform_target() == "trn2"


def test_kernels_of_the_jit_of_torch_neuronx():
    from torch_neuronx.xla_impl.ops import nki_jit

    @nki_jit
    def double_into(a, out):
        nl1.store(out, nl1.load(a) * 2)

    @torch_neuronx.nki_op("ours::double", mutates_args={})
    def double(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        double_into(x, out)
        return out

    assert torch.equal(double(torch.ones(4, 4)), torch.full((4, 4), 2.0))


def test_the_profiler_writes_a_trace_of_the_launches_inside_it(tmp_path):
    with torch_neuronx.experimental.profiler.profile(port=9012, profile_type="system", output_dir=tmp_path / "new"):
        copy(torch.ones(4, 4))
    assert (tmp_path / "new/trnsim.pftrace").stat().st_size > 0
    with torch_neuronx.experimental.profiler.profile(output_dir=tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()
