"""Kernels as users call them: installation, launches, profiles, and errors at the user's own line."""

import json
import re
import subprocess
import sys
import traceback

import numpy as np
import pytest
import trnsim
from oracle import same, sample

trnsim.install()

import nki
import nki.isa as nisa
import nki.language as nl


@pytest.fixture(autouse=True)
def installed():
    trnsim.install()
    yield
    trnsim.install()


@nki.jit
def add_one(x, amount=1.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.add(nl.load(x), amount))
    return out


def test_install_and_uninstall():
    trnsim.uninstall()
    with pytest.raises(ImportError):
        import nki as gone  # noqa: F401
    trnsim.install()
    import nki as back

    assert back.jit is nki.jit


def test_install_refuses_what_it_does_not_know():
    with pytest.raises(trnsim.ConfigError, match="unknown NKI release '9'; known are auto, beta1, 0.2"):
        trnsim.install(nki="9")
    with pytest.raises(trnsim.ConfigError, match="trn2"):
        trnsim.install(chip="trn22")


def test_a_launch_leaves_a_profile():
    x = sample((64, 32))
    before = len(trnsim.profiles())
    same(add_one(x), x + np.float32(1))
    assert len(trnsim.profiles()) == before + 1
    profile = trnsim.last_profile()
    assert profile.kernel == "add_one" and profile.latency_us > 1
    assert [i["opcode"] for i in profile.instructions] == ["dma_copy", "tensor_scalar", "dma_copy"]
    assert {i["file"] for i in profile.instructions} == {__file__}
    assert "add_one" in profile.summary() and "add_one" in repr(profile)
    assert json.loads(profile.to_json())["launch_count"] == 1


def test_the_interval_around_the_latency_is_the_same_in_python_json_and_text():
    add_one(sample((64, 32)))
    profile = trnsim.last_profile()
    low, high = profile.interval_us
    (run,) = json.loads(profile.to_json())["runs"]
    assert 0 < low < profile.latency_us < high
    assert (low * 1e3, high * 1e3) == pytest.approx((run["interval_90"]["low_ns"], run["interval_90"]["high_ns"]))
    assert profile.interval_basis == run["interval_90"]["basis"]
    assert profile.interval_basis.startswith(("interpolated: ", "extrapolated: "))
    assert run["interval_90"]["interpolated"] == profile.interval_basis.startswith("interpolated")
    printed = next(line for line in profile.summary().splitlines() if "90 % within" in line)
    assert profile.interval_basis in printed
    ends = [float(value) for value in re.findall(r"([\d.]+) us", printed)[:2]]
    assert ends == pytest.approx([low, high], rel=0.01)


def test_profile_before_any_launch():
    code = "import trnsim; trnsim.install(); trnsim.last_profile()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert "ProgramError: no kernel has run yet" in done.stderr


def test_trace_that_cannot_be_written(tmp_path):
    add_one(sample((2, 2)))
    trnsim.last_profile().write_trace(tmp_path / "trace")
    with pytest.raises(trnsim.ConfigError):
        trnsim.last_profile().write_trace(tmp_path / "none" / "trace")


def test_arguments(run):
    x = sample((4, 4))
    same(add_one(x, amount=2), x + np.float32(2))
    same(add_one(x=x), x + np.float32(1))
    for call in (lambda: add_one(), lambda: add_one(x, bias=1), lambda: add_one(x, 1, 2)):
        with pytest.raises(TypeError, match=r"^add_one\(\) ") as caught:
            call()
        assert user_line(caught.value) == "for call in" or "lambda" in user_line(caught.value)


def user_line(error):
    """The source of the last frame that is not the simulator's."""
    package = str(trnsim.__file__).rpartition("/")[0]
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(package)]
    return frames[-1].line


@pytest.mark.parametrize(
    "wrap",
    [nki.jit, nki.jit(mode="baremetal", platform_target="trn2"), nki.jit()],
    ids=["plain", "options", "called"],
)
def test_ways_to_decorate(wrap):
    @wrap
    def kernel(x):
        """Documented."""
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        return out

    x = sample((4, 4))
    same(kernel(x), x)
    same(nki.simulate(kernel)(x), x)
    assert kernel.__name__ == "kernel" and kernel.__doc__ == "Documented."


def test_simulate_takes_plain_functions_and_grids():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        rest = nl.full((2, 2), 7, x.dtype, nl.shared_hbm)
        rows = x.shape[0] // nl.num_programs()
        mine = nl.ds(nl.program_id(0) * rows, rows)
        nisa.dma_copy(dst=out[mine], src=x[mine])
        return out, rest, nl.program_ndim()

    x = sample((8, 4))
    for called, dimensions in ((nki.simulate(kernel), 0), (nki.simulate(nki.jit(kernel)[2]), 1)):
        out, rest, got = called(x)
        same(out, x)
        same(rest, np.full((2, 2), 7, np.float32))
        assert got == dimensions


def test_programs_of_a_grid_create_the_same_outputs():
    def kernel(x):
        return nl.zeros((2 + nl.program_id(), 2), x.dtype, nl.shared_hbm)

    with pytest.raises(trnsim.ProgramError, match="must create the same ones in the same order") as caught:
        nki.jit(kernel)[2](sample((2, 2)))
    assert caught.value.rule == "grid.shared_hbm"


def test_arrays_that_a_kernel_writes_to_change():
    @nki.jit
    def kernel(x, y):
        nl.store(y, nl.multiply(nl.load(x), 2))
        nisa.dma_copy(dst=x[0:1, 0:2], src=y[0:1, 0:2])

    x, y = np.rint(sample((4, 4))), np.zeros((4, 4), np.float32)
    before = x.copy()
    assert kernel(x, y) is None
    same(y, before * 2)
    same(x[:1, :2], before[:1, :2] * 2)
    same(x[1:], before[1:])


def test_a_schedule_puts_instructions_in_order():
    @nki.jit
    def kernel(x):
        a, b, y, z = (nl.ndarray(x.shape, x.dtype, buffer=nl.sbuf) for _ in range(4))
        nisa.memset(a, 1.0, engine=nisa.vector_engine, name="one")
        nisa.memset(b, 2.0, engine=nisa.gpsimd_engine, name="two")
        nisa.tensor_copy(y, a, engine=nisa.vector_engine, name="first")
        nisa.activation(z, op=nl.exp, data=b, name="second")
        return x

    def starts(kernel):
        kernel(np.zeros((128, 512), np.float32))
        return {i.get("name"): (i["start_ns"], i["end_ns"]) for i in trnsim.last_profile().instructions}

    free, bound = starts(kernel), starts(kernel.with_schedule([("second", ["first", "one"])]))
    assert free["second"][0] < free["first"][1]
    assert bound["second"][0] >= bound["first"][1]
    for edges, why in (([("first", "second")], "does not stand before"), ([("none", "one")], "is called 'none'")):
        with pytest.raises(trnsim.ProgramError, match=why):
            starts(kernel.with_schedule(edges))
    with pytest.raises(trnsim.ProgramError, match="with_schedule takes pairs"):
        add_one.with_schedule(["later"])


def test_kernels_call_kernels():
    @nki.jit
    def outer(x):
        return add_one(add_one(x))

    x = np.rint(sample((4, 4)))
    before = len(trnsim.profiles())
    same(outer(x), x + np.float32(2))
    assert len(trnsim.profiles()) == before + 1


def test_several_results_and_nested_arguments():
    @nki.jit
    def kernel(tensors, scale):
        return {
            "sum": to_hbm(nl.add(*(nl.load(t) for t in tensors))),
            "rest": (to_hbm(nl.load(tensors[0])), scale),
        }

    x, y = np.rint(sample((4, 4))), np.rint(sample((4, 4), seed=1))
    result = kernel((x, y), scale=3)
    same(result["sum"], x + y)
    same(result["rest"][0], x)
    assert result["rest"][1] == 3


def to_hbm(tile):
    out = nl.ndarray(tile.shape, tile.dtype, nl.shared_hbm)
    nl.store(out, tile)
    return out


@pytest.mark.parametrize("name", ["baremetal", "benchmark", "profile"])
def test_names_that_were_not_ported(name):
    with pytest.raises(trnsim.Unsupported, match=f"nki.{name}, because it was not ported"):
        getattr(nki, name)(warmup=1)


def test_values_do_not_depend_on_the_run_and_time_not_on_values():
    def once(**options):
        trnsim.install(**options)
        x = sample((128, 300), "bfloat16")
        out = softmax_rows(x)
        profile = trnsim.last_profile()
        return out.tobytes(), profile.latency_us, profile.to_json()

    bits, latency, text = once()
    again, same_latency, same_text = once()
    assert bits == again and latency == same_latency and text == same_text
    _, without_values, _ = once(timing_only=True)
    assert without_values == latency


@nki.jit
def softmax_rows(x):
    tile = nl.dropout(nl.load(x), 0.1)
    return to_hbm(nl.softmax(nl.matmul(tile[:, 0:64], tile, transpose_x=True), dtype=nl.float32))


def test_seed_chooses_the_random_numbers():
    def once(seed):
        trnsim.install(seed=seed)
        return softmax_rows(sample((128, 300), "bfloat16", -0.3, 0.3)).tobytes()

    assert once(1) == once(1) != once(2)


MISTAKES = {
    "wrong shapes": (lambda t: nisa.tensor_tensor(dst=t, data1=t, data2=t[:, 0:2], op=nl.add), "data2"),
    "unknown keyword": (lambda t: nisa.tensor_copy(dst=t, sorce=t), "did you mean 'src'"),
    "no such choice": (lambda t: nisa.tensor_copy(dst=t, src=t, engine="fast"), "engine must be"),
    "number for a tensor": (lambda t: nisa.tensor_copy(dst=t, src=1.0), "src must be a tensor"),
    "argument missing": (lambda t: nisa.tensor_copy(dst=t), "'src' is missing"),
    "not an operator": (lambda t: nisa.tensor_scalar(dst=t, data=t, op0="add", operand0=1.0), "ALU operator"),
    "never written": (
        lambda t: nisa.tensor_copy(dst=t, src=nl.ndarray(t.shape, t.dtype, nl.sbuf)),
        "written",
    ),
    "language function": (lambda t: nl.add(t, t[0:2]), "neither agree nor broadcast"),
    "too large": (lambda t: nl.ndarray((128, 10**6), nl.float32, nl.sbuf), "overflow"),
    "partitions": (lambda t: nl.ndarray((129, 4), nl.float32, nl.sbuf), "129 partitions"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_point_at_the_line(name):
    action, text = MISTAKES[name]

    @nki.jit
    def kernel(x):
        tile = nl.load(x)
        action(tile)

    with pytest.raises(trnsim.ProgramError, match=text) as caught:
        kernel(sample((4, 4)))
    assert caught.value.rule
    assert text.split()[0] and "lambda" in user_line(caught.value)


def test_outside_a_kernel():
    for action in (
        lambda: nl.ndarray((2, 2), nl.float32),
        lambda: nl.program_id(0),
        lambda: nl.zeros((2, 2), nl.float32),
    ):
        with pytest.raises(trnsim.ProgramError, match="inside a kernel") as caught:
            action()
        assert caught.value.rule == "launch.outside"


def test_result_on_chip():
    with pytest.raises(trnsim.ProgramError, match="a kernel returns HBM tensors"):
        nki.jit(lambda x: nl.load(x))(sample((2, 2)))
    with pytest.raises(trnsim.ProgramError, match="written"):
        nki.jit(lambda x: nl.ndarray((2, 2), nl.float32, nl.shared_hbm))(sample((2, 2)))


def test_64_bit_arrays_are_narrowed():
    x = np.arange(8, dtype=np.float64).reshape(2, 4)
    same(add_one(x), (x + 1).astype(np.float32))


def test_user_exceptions_pass_through():
    @nki.jit
    def kernel(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        kernel(sample((2, 2)))
    same(add_one(np.zeros((2, 2), np.float32)), np.ones((2, 2), np.float32))


@pytest.mark.parametrize("name, carrier", [("float8_e4m3fn_x4", "<u4"), ("float8_e5m2_x4", "<u4"),
                                           ("float4_e2m1fn_x4", "<u2")])
def test_packed_types_come_in_as_structures_of_their_name(name, carrier):
    packed = np.arange(64, dtype=carrier).reshape(4, 16)

    @nki.jit
    def kernel(x):
        assert x.dtype == getattr(nl, name)
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=x)
        return out

    np.testing.assert_array_equal(kernel(packed.view([(name, carrier)])), packed)
    by_type = np.zeros(packed.shape, getattr(nl, name))  # numpy takes the type itself, too
    by_type[name] = packed
    np.testing.assert_array_equal(kernel(by_type), packed)


@pytest.mark.parametrize("name", ["float8_e4m3fn_x4", "float8_e5m2_x4", "float4_e2m1fn_x4", "tfloat32"])
def test_types_that_numpy_lacks_equal_their_names_and_no_others(name):
    dtype = getattr(nl, name)
    assert dtype == name and name == dtype and str(dtype) == name and {dtype: 1}[name] == 1
    assert dtype != "float32" and dtype != np.dtype(np.float32) and dtype != nl.bfloat16 and dtype is not None
    assert np.dtype(dtype).names == (name,) and np.dtype(dtype).itemsize == dtype.itemsize
    others = {"float8_e4m3fn_x4", "float8_e5m2_x4", "float4_e2m1fn_x4", "tfloat32"} - {name}
    assert all(dtype != getattr(nl, other) for other in others)


@pytest.mark.parametrize("chip, version", [("trn1", 2), ("trn2", 3), ("trn3", 4)])
def test_the_version_can_be_asked_for_outside_a_kernel(chip, version):
    trnsim.install(chip=chip)
    assert nisa.get_nc_version() == version
