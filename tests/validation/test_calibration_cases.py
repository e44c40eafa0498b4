"""The calibration's cases for kernels of public checkouts, on made-up checkouts: what each is called with."""

import enum
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import trnsim

trnsim.install()  # for the imports; the mode is the fixture's

from calibration import checkouts, kernels, nki_library, rows, samples, tasks  # noqa: E402

# A kernel that stores one tile and says what it was called with.
KERNEL = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

@nki.jit
def {name}({arguments}):
    CALLS.append([tuple(a.shape) if hasattr(a, "shape") else a for a in ({arguments},)])
    out = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, nl.zeros((128, 4), nl.float32))
    return out
"""


@pytest.fixture(autouse=True)
def timing_only():
    trnsim.install(chip="trn1", timing_only=True)
    yield
    trnsim.install(chip="trn2", timing_only=False)


@pytest.fixture
def calls(monkeypatch):
    """What the made-up kernels were called with, in turn."""
    import builtins

    monkeypatch.setattr(builtins, "CALLS", [], raising=False)
    kernels._latest.clear()
    return builtins.CALLS


def row(name, params=None, metric="nc_latency_p99", source="here", **other):
    told = {"dtype": "fp32", "chip": "trn1", "lnc": "1", "value": 1e3, "unit": "ns", "confidence": "high", **other}
    return rows.Row("K-1", source, name, params=params or {}, metric=metric, **told)


def write(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def commit(checkout: Path, origin: str = "") -> str:
    """The revision that holds the checkout as it is."""
    git = ["git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@b"]
    if not (checkout / ".git").exists():
        subprocess.run([*git, "init", "-q"], check=True)
    if origin:
        subprocess.run([*git, "remote", "add", "origin", origin], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_a_missing_parameter_is_named():
    with pytest.raises(rows.Unpredicted, match="does not give seq"):
        row("k").param("seq")
    with pytest.raises(rows.Unpredicted, match="'fp8'"):
        row("k", dtype="fp8").array(1)
    assert row("k", {"a": 2, "b": 3}, dtype="bf16").named_arrays("ab")[0].shape == (2, 3)


def test_a_file_of_the_past_is_read_from_the_history(tmp_path):
    checkout = tmp_path / "repo"
    write(checkout, "kernel.py", "old\n")
    old = commit(checkout)
    write(checkout, "kernel.py", "new\n")
    commit(checkout)
    assert checkouts.at(tmp_path, "owner/repo", old, "kernel.py").read_text() == "old\n"
    with pytest.raises(checkouts.Missing, match="whose history has other.py"):
        checkouts.at(tmp_path, "owner/repo", old, "other.py")


def test_a_checkout_is_known_by_where_git_has_it_from(tmp_path):
    write(tmp_path / "repo", "kernel.py", "")
    commit(tmp_path / "repo", "https://github.com/owner/repo.git")
    write(tmp_path / "fork", "kernel.py", "")
    commit(tmp_path / "fork", "https://github.com/other/repo")
    write(tmp_path / "third_repo", "kernel.py", "")
    for owner, folder in (("owner", "repo"), ("other", "fork"), ("third", "third_repo")):
        assert checkouts.find(tmp_path, f"{owner}/repo", "kernel.py").parent.name == folder
    with pytest.raises(checkouts.Missing):
        checkouts.find(tmp_path, "fourth/repo", "kernel.py")
    assert checkouts.first(tmp_path, ("fourth/repo", "other/repo"), "kernel.py").parent.name == "fork"


def nkibench(folder: Path):
    """NKIBench with one task whose kernel takes one tensor."""
    write(folder, "AccelOpt/NKIBench/kernels/silu_M256_N64_0.py", KERNEL.format(name="kernel", arguments="x"))
    write(folder, "AccelOpt/NKIBench/reference/silu_M256_N64_numpy_1.py",
          "import numpy as np\n\ndef get_inputs():\n    return [np.ones((256, 64), np.float32)]\n\n"
          "def transform_to_nki_inputs(inputs):\n    return inputs\n")


def test_a_baseline_of_nkibench_is_found_by_its_sizes(tmp_path, calls):
    nkibench(tmp_path)
    predicted = kernels.predict(row("silu (baseline)", {"N": 64, "M": 256}, "latency_mean"), tmp_path)
    assert calls[0] == [(256, 64)]
    assert predicted.value == pytest.approx(predicted.profile.latency_us * 1e3 + predicted.launch_ns)
    assert predicted.launch_ns == predicted.profile.launch_terms_ns["benchmark"]
    with pytest.raises(checkouts.Missing, match="no silu of M512"):
        kernels.predict(row("silu (baseline)", {"M": 512}, "latency_mean"), tmp_path)
    with pytest.raises(rows.Unpredicted, match="open tasks"):
        kernels.predict(row("gqa_full (baseline)", {}, "latency_mean"), tmp_path)
    with pytest.raises(rows.Unpredicted, match="not in its repository"):
        kernels.predict(row("silu (best found)", {}, "latency_mean"), tmp_path)


def test_one_run_serves_all_figures_of_it(tmp_path, calls):
    nkibench(tmp_path)
    for metric in ("latency_mean", "te_active_ms", "dma_active_ms"):
        kernels.predict(row("silu (baseline)", {"M": 256}, metric), tmp_path)
    assert len(calls) == 1
    kernels.predict(row("silu (baseline)", {"M": 256}, chip="trn2"), tmp_path)
    assert len(calls) == 2


def test_random_inputs_of_a_task_are_zeros():
    before = np.random.normal
    with tasks._nothing_random():
        assert not np.random.normal(loc=1, scale=1.0, size=(2, 3)).any()
        assert np.random.rand(2, 3).shape == (2, 3) and np.random.uniform(0, 1, size=4).shape == (4,)
    assert np.random.normal is before


def kda(folder: Path):
    nkibench(folder)
    write(folder, "kda/baselines.json", '{"a": {"op": "silu", "baseline_latency_ms": 2.0}}')
    write(folder, "kda/workspaces/silu/benchmark.csv",
          "candidate,passed,latency_ms\nruns/silu_v1.py,true,1.0\nruns/silu_v2_x.py,true,0.5\n"
          "runs/silu_v1.py,true,1.1\nruns/silu_v3.py,false,0.1\nNKIBench:silu.py,true,2.1\n")
    for version in ("v1", "v2_x"):
        write(folder, f"kda/workspaces/silu/runs/silu_{version}.py", KERNEL.format(name="kernel", arguments="x"))


def test_kda_gives_its_own_rows(tmp_path, calls, monkeypatch):
    kda(tmp_path)
    monkeypatch.setattr(tasks, "_OPEN_TASKS", ("silu",))
    own = tasks.kda_rows(tmp_path)
    assert [(r.name, r.value) for r in own] == [
        ("silu (KDA baseline)", 2e6), ("silu (KDA v1)", 1.1e6), ("silu (KDA v2_x)", 0.5e6)]
    for each in own:
        kernels.predict(each, tmp_path)
    assert len(calls) == 3
    assert tasks.kda_rows(tmp_path / "kda") == []


@pytest.mark.parametrize("name, params, wanted", [
    ("silu v2_x", {}, ("silu", "v2_x")), ("KDA rmsnorm_matmul_v3", {}, ("rmsnorm_matmul", "v3")),
    ("matmul (best)", {}, ("matmul", "best")), ("adamw", {"candidate": "runs/adamw_v1.py"}, ("adamw", "v1")),
])
def test_task_and_version_of_a_row_of_kda(name, params, wanted):
    assert tasks.kda_task(row(name, params)) == wanted


@pytest.mark.parametrize("name, reason", [("gqa_full v1", "open tasks"), ("silu", "version")])
def test_a_row_of_kda_that_says_too_little(name, reason):
    with pytest.raises(rows.Unpredicted, match=reason):
        tasks.kda_task(row(name, source="Jerry2423/kda-for-trainium@1: x"))


def test_steps_of_a_search_are_nested_calls(tmp_path, calls):
    first, second = (KERNEL.format(name="test", arguments="a, b") + f"# {i}\n" for i in range(2))
    write(tmp_path, "autocomp/examples/trn-tutorial/1_gemm_trace.py", "not python (")
    write(tmp_path, "autocomp/examples/trn-tutorial/0_gemm_trace.py",
          f"CodeCandidate(parent=CodeCandidate(parent=None, plan=None, code={first!r}, score=2), code={second!r})\n")
    trace = tmp_path / "autocomp/examples/trn-tutorial/0_gemm_trace.py"
    assert tasks._steps(trace) == [first, second]
    kernels.predict(row("gemm search step 1", {"M": 128, "K": 256, "N": 512}, dtype="bf16"), tmp_path)
    assert calls[0] == [(256, 128), (256, 512)]
    with pytest.raises(checkouts.Missing, match="no step 2"):
        kernels.predict(row("gemm search step 2", {"M": 128, "K": 256, "N": 512}), tmp_path)
    with pytest.raises(rows.Unpredicted, match="does not give batch"):
        write(tmp_path, "autocomp/examples/trn-tutorial/3_mamba_trace.py", trace.read_text())
        kernels.predict(row("mamba search step 0"), tmp_path)


SAMPLES = "nki-samples/src/nki_samples/reference/"


@pytest.mark.parametrize("name, params, file, kernel, arguments, shapes", [
    ("adaptive_avg_pool2d", {"shape": [2, 8, 6, 6], "out": [3, 2]}, "vision", "adaptive_avg_pool2d_kernel", "x, out",
     [(2, 8, 6, 6), (3, 2)]),
    ("resize_nearest", {"shape": [2, 4, 6, 8], "out": [5, 7]}, "vision", "resize_nearest_fixed_dma_kernel", "x, out",
     [(2, 4, 6, 8), (2, 5, 7, 8)]),
    ("rmsnorm_qkv", {"shape": [1, 128, 512, 64]}, "allocated_fused_linear", "allocated_fused_rms_norm_qkv", "x, w",
     [(1, 128, 512), (512, 64)]),
    ("fused_self_attn_for_SD_small_head_size", {"bs": 1, "seq": 256, "d": 64}, "attention",
     "fused_self_attn_for_SD_small_head_size", "q, k, v", [(1, 64, 256), (1, 256, 64), (1, 256, 64)]),
    ("allocated_fused_self_attn", {"bs": 1, "seq": 256, "d": 64}, "allocated_attention",
     "allocated_fused_self_attn_for_SD_small_head_size", "q, k, v", [(1, 64, 256), (1, 64, 256), (1, 256, 64)]),
])
def test_bounds_of_samples_come_from_the_revision_that_had_them(tmp_path, calls, monkeypatch, name, params, file,
                                                                kernel, arguments, shapes):
    write(tmp_path, f"{SAMPLES}{file}.py", KERNEL.format(name=kernel, arguments=arguments))
    monkeypatch.setattr(samples, "_REFERENCE", commit(tmp_path / "nki-samples"))
    (tmp_path / f"{SAMPLES}{file}.py").unlink()
    kernels.predict(row(name, params, "p99_upper_bound"), tmp_path)
    assert calls[0] == shapes
    with pytest.raises(rows.Unpredicted, match="does not give"):
        kernels.predict(row(name, {}, "p99_upper_bound"), tmp_path)


def test_the_first_tutorials_are_read_at_the_revision_of_the_row(tmp_path, calls):
    folder = "aws-neuron-sdk/general/nki/examples/"
    write(tmp_path, f"{folder}matrix_multiplication/matrix_multiplication_nki_kernels.py",
          KERNEL.format(name="nki_matmul_fully_optimized_", arguments="a, b"))
    write(tmp_path, f"{folder}layernorm/layernorm_nki_kernel.py",
          KERNEL.format(name="nki_layernorm_kernel_v2", arguments="x, eps, g, b"))
    source = f"aws-neuron/aws-neuron-sdk@{commit(tmp_path / 'aws-neuron-sdk')[:8]} (historical)"
    sizes = {"M": 128, "K": 256, "N": 512}
    kernels.predict(row("matmul tutorial blocked all dims", sizes, "total_time", source), tmp_path)
    kernels.predict(row("layernorm tutorial v2", {"shape": [300, 100]}, "latency_p50", source), tmp_path)
    assert calls == [[(256, 128), (256, 512)], [(300, 100), 1e-5, (100,), (100,)]]
    with pytest.raises(rows.Unpredicted, match="no revision"):
        kernels.predict(row("layernorm tutorial v2", {"shape": [300, 100]}, "latency_p50"), tmp_path)


def test_the_convolution_of_the_course_is_a_listed_solution(tmp_path, calls):
    write(tmp_path, "starter/part2/conv2d.py", "raise RuntimeError('not filled in')")
    commit(tmp_path / "starter", "https://github.com/stanford-cs149/asst4-trainium")
    write(tmp_path, "student/part2/conv2d.py",
          KERNEL.format(name="fused_conv2d_maxpool", arguments="x, w, b, pool_size"))
    commit(tmp_path / "student", "https://github.com/Ericcsr/asst4-trainium")
    sizes = {"cin": 128, "cout": 256, "kernel": 3, "image": 8, "bs": 2}
    kernels.predict(row("conv2d", sizes, "reference_p99"), tmp_path)
    assert calls[0] == [(2, 128, 8, 8), (256, 128, 3, 3), (256,), 1]


class Kind(enum.Enum):
    PLAIN = 0
    FANCY = 1


def library_module():
    """A test module with a class, two lists and the functions that run over them."""

    class TestKernel:
        perms = [[1, 64, Kind.PLAIN, np.float32, None, 5e6], [2, 32, Kind.FANCY, np.float32, 7, (None, 6e6)]]
        told = {}

        @pytest.mark.parametrize("lnc_degree, size, kind, dtype, extra, qor", perms)
        @pytest.mark.parametrize("strided", [False, True])
        def test_all(self, test_manager, collector, lnc_degree, size, kind, dtype, extra, qor, strided):
            self.told.update(locals())

    return SimpleNamespace(TestKernel=TestKernel)


def test_a_row_calls_the_test_that_runs_over_its_list(tmp_path, monkeypatch):
    module = library_module()
    monkeypatch.setattr(nki_library, "test_module", lambda folder, name: module)
    monkeypatch.setattr(nki_library, "_compiled", lambda cores: cores)
    told = {"lnc_degree": 2, "size": 96, "kind": "Kind.FANCY", "dtype": "bfloat16", "extra": None, "test_list": "perms"}
    source = "aws-neuron/nki-library@1: test/integration/nkilib/core/a/test_kernel.py#L1"
    nki_library.listed(row("kernel", told, "expected_device_time", source), tmp_path)
    given = module.TestKernel.told
    wanted = {"size": 96, "kind": Kind.FANCY, "extra": None, "qor": None, "strided": False}
    assert {name: given[name] for name in wanted} == wanted
    assert given["test_manager"].cores == 2 and given["dtype"] is not np.float32
    with pytest.raises(checkouts.Missing, match="others"):
        nki_library.listed(row("kernel", told | {"test_list": "others"}, "expected_device_time", source), tmp_path)
    with pytest.raises(rows.Unpredicted, match="does not give size"):
        del told["size"]
        nki_library.listed(row("kernel", told, "expected_device_time", source), tmp_path)


def test_entries_with_a_figure_become_rows(monkeypatch):
    class TestKernel:
        a_params = "lnc_degree, size, kind, cyclesQoR"
        a_perms = [[2, 64, Kind.FANCY, (None, 6_000_000)], [2, 64, Kind.PLAIN, (None, None)]]

    (found,) = nki_library._figures_of(SimpleNamespace(TestKernel=TestKernel), "qkv.test_qkv_tkg")
    assert (found.name, found.value, found.lnc) == ("qkv_tkg", 6000.0, "2")
    assert found.params == {"lnc_degree": 2, "size": 64, "kind": "FANCY", "test_list": "a_perms"}
    assert "test/integration/nkilib/core/qkv/test_qkv_tkg.py" in found.source


def test_what_a_framework_compiled_is_set_aside(tmp_path):
    for name in ("gemm", "topk (torch)", "gelu tanh"):
        with pytest.raises(rows.Unpredicted, match="no kernel"):
            kernels.predict(row(name, source="whn09/xpu-perf@1: x", metric="latency"), tmp_path)
    with pytest.raises(rows.Unpredicted, match="no case"):
        kernels.predict(row("something else"), tmp_path)
