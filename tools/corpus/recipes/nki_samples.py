"""aws-neuron/nki-samples: tutorials, contributed kernels and unit tests."""

import importlib

import numpy as np
from corpus.case import SIMULATOR, SURROUNDINGS, Case, Finding, Section
from corpus.runners import compare

REPOSITORIES = ("nki-samples",)
NKI = "0.2"

LESSONS = "src/nki_samples/tutorials"
ATTENTION = f"{LESSONS}/attention_fwd_performance"
PRODUCT = f"{LESSONS}/matrix_multiplication/matrix_multiplication_nki_kernels.py"
# The kernels of src/nki_samples/reference and their tests left the repository after this commit.
WITH_REFERENCE = "c4b806e~"
UNIT_TESTS = ("SD_attention_small_head", "adaptive_avg_pool2d", "allocated_SD_attention_small_head",
              "double_row_matmul", "flash_attn_bwd", "flash_attn_fwd", "neuron_profile", "resize_nearest",
              "rmsnorm_qkv", "select_and_scatter")
SMALLER = {"flash_attn_bwd": ("-k", "1-4-4-4096")}  # the others take minutes each
MATMUL_SHAPE = (4096, 1024, 2048)  # the tutorial's large product, M K N
MATMUL_STAGES = ("tiled", "hoist_load", "block_free_dimension", "fully_optimized")


def cases(checkout):
    lessons = checkout / LESSONS
    for path in sorted(lessons.rglob("*.py")):
        file = path.relative_to(checkout).as_posix()
        text = path.read_text()
        if path.stem.endswith(("_torch", "_jax")):
            yield Case(file, "script", says=" match", denies=" differ")
        elif path.stem == "test_attention" or (path.stem.endswith("_nki_kernels") and "__main__" in text):
            yield Case(file, "script")
    yield Case(f"{LESSONS}/mxfp-matmul/mx_toplevel.py", "script", says="allclose pass? True", denies="pass? False",
               options={"chip": "trn3"})
    for file, kernel in (("transpose2d", "tensor_transpose2D_kernel_"), ("average_pool2d", "tensor_avgpool_kernel")):
        yield Case(f"{LESSONS}/{file}/{file}_nki_kernels.py", file, (kernel,), name=kernel)
    for prefix, caller in (("", "nki_tensor_add"), ("spmd_", "nki_tensor_add"), ("spmd_multiple_nc_",
                                                                                "nki_tensor_add_nc2")):
        file = f"{LESSONS}/tensor_addition/{prefix}tensor_addition_nki_kernels.py"
        yield Case(file, "tensor_addition", (caller,), name=caller)
    yield Case(PRODUCT, "matmul", ("nki_matmul_basic_", 64, 128, 512), name="nki_matmul_basic_")
    for stage in MATMUL_STAGES:
        shape = (2048, 1024, 1024) if stage == "fully_optimized" else (256, 256, 1024)
        yield Case(PRODUCT, "matmul", (f"nki_matmul_{stage}_", *shape), name=f"nki_matmul_{stage}_")
    for version in (1, 2, 3):
        file = f"{LESSONS}/fused_mamba/mamba_nki_kernels.py"
        yield Case(file, "mamba", (f"mamba_v{version}",), name=f"mamba_v{version}")
    for version in (*range(1, 9), "8a", 9, 10, 11):
        length = 128 if version in (1, 2) else 512
        allowed = 1e-5 if version in range(7) else 2**-7  # the later ones compute in bf16
        name = f"attn_fwd_v{version}"
        yield Case(f"{ATTENTION}/attention_kernels.py", "attention", (name, length, allowed), name=name)
    for path in sorted((checkout / "contributed").glob("*.py")):
        if path.stem == "pipelined_attention":
            yield Case(f"contributed/{path.name}", "with_one_program", seconds=900,
                       note="on a grid of 1, where the file says 0")
        else:
            yield Case(f"contributed/{path.name}", "contributed", seconds=900)
    for test in UNIT_TESTS:
        chosen = SMALLER.get(test, ())
        yield Case(f"test/unit/test_{test}.py", "tests", ("--simulation-only", "-p", "corpus.instance", *chosen),
                   commit=WITH_REFERENCE, paths=("src",), seconds=900,
                   note="the first of its four sizes" if chosen else "")
    stages = Case(PRODUCT, "time_matmul", options={"timing_only": True})
    yield Section("The matmul stages in time", stages)


def with_one_program(path):
    """The file checks its kernel when it is imported, but on a grid of no programs, which would run nothing."""
    text = path.read_text()
    assert "flash_fwd[0](" in text
    exec(compile(text.replace("flash_fwd[0](", "flash_fwd[1]("), str(path), "exec"), {"__name__": path.stem})
    return "by its own check"


def contributed(path):
    """Their check_correct() prints what numpy's or torch's allclose says."""
    import contextlib
    import io

    module = importlib.import_module(path.stem)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        module.check_correct()
    text = " ".join(output.getvalue().split())
    assert "True" in text and "False" not in text, text
    return "by its own check"


def uniform(*shape, dtype=np.float32):
    return np.random.uniform(-1, 1, shape).astype(dtype)


def kernel_of(path, name):
    return getattr(importlib.import_module(path.stem), name)


def tensor_addition(path, kernel):
    a, b = uniform(512, 2048, dtype=np.float16), uniform(512, 2048, dtype=np.float16)
    return compare(kernel_of(path, kernel)(a, b), a + b)


def transpose2d(path, kernel):
    rows, height, width = 5, 3, 4
    a = np.random.randint(-100, 100, (rows, height * width)).astype(np.int8)
    expected = a.reshape(rows, height, width).swapaxes(1, 2).reshape(rows, -1)
    return compare(kernel_of(path, kernel)(a, (height, width)), expected)


def average_pool2d(path, kernel):
    window, image = 2, uniform(32, 8, 12)
    parts = (image[:, i::window, j::window].astype(np.float64) for i in range(window) for j in range(window))
    return compare(kernel_of(path, kernel)(image, window), sum(parts) / window**2, of_largest=1e-6)


def matmul(path, kernel, m, k, n):
    import ml_dtypes

    a, b = uniform(m, k, dtype=ml_dtypes.bfloat16), uniform(k, n, dtype=ml_dtypes.bfloat16)
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    return compare(kernel_of(path, kernel)(np.ascontiguousarray(a.T), b), expected, of_largest=2**-7)


def mamba(path, kernel):
    batch, channels, states, length = 1, 128, 4, 512
    delta, u = np.abs(uniform(batch, channels, length)), uniform(batch, channels, length)
    a = -np.abs(uniform(channels, states))
    b, c = uniform(batch, states, length), uniform(batch, states, length)
    return compare(kernel_of(path, kernel)(delta, u, a, b, c), selective_scan(delta, u, a, b, c), of_largest=1e-5)


def selective_scan(delta, u, a, b, c):
    """y[t] = sum over states of c[t] h[t], with h[t] = exp(delta[t] a) h[t-1] + delta[t] u[t] b[t]."""
    batch, channels, length = delta.shape
    state = np.zeros((batch, channels, a.shape[1]))
    y = np.empty(delta.shape)
    for t in range(length):
        step = delta[:, :, t, None].astype(np.float64)
        state = np.exp(step * a) * state + step * u[:, :, t, None] * b[:, None, :, t]
        y[:, :, t] = (state * c[:, None, :, t]).sum(axis=2)
    return y


def attention(path, kernel, length, allowed):
    """Attention without a scale: q, k, v are (head size, sequence)."""
    q, k, v = uniform(128, length), uniform(128, length), uniform(128, length)
    score = q.T.astype(np.float64) @ k
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    expected = (weight / weight.sum(axis=1, keepdims=True)) @ v.T
    return compare(kernel_of(path, kernel)(q, k, v), expected, of_largest=allowed)


def time_matmul(path):
    """Latency and share of the Tensor Engine of the matmul stages on trn2, without values."""
    import ml_dtypes
    import trnsim

    lines = ["| stage | product, bf16 | latency on trn2 | Tensor Engine busy |", "| --- | --- | --- | --- |"]
    latencies = []
    for stage in ("basic", *MATMUL_STAGES):
        m, k, n = (64, 128, 512) if stage == "basic" else MATMUL_SHAPE
        a, b = np.zeros((k, m), ml_dtypes.bfloat16), np.zeros((k, n), ml_dtypes.bfloat16)
        kernel_of(path, f"nki_matmul_{stage}_")(a, b)
        profile = trnsim.last_profile()
        busy = 100 * profile.busy_us.get("Tensor", 0) / profile.latency_us
        latencies.append(profile.latency_us)
        lines.append(f"| `nki_matmul_{stage}_` | {m}x{k} by {k}x{n} | {profile.latency_us:.1f} us | {busy:.1f} % |")
    ranked = all(a > b for a, b in zip(latencies[1:], latencies[2:], strict=False))
    lines += ["", "Each stage of the large product is faster than the one before it, as the tutorial teaches." if ranked
              else "**The stages of the large product do not rank in the tutorial's order.**"]
    return "\n".join(lines)


FINDINGS = {
    "A transposed tile that goes from PSUM into a product": Finding(
        r"test_flash_attn_bwd.py.*nc_matmul: stationary is in PSUM",
        SIMULATOR,
        "The kernel hands what `nc_transpose` returns straight to `nc_matmul`, which takes its operands from SBUF. "
        "Beta 1's compiler must copy it in between; the simulator does not.",
    ),
    "A gradient of the sinks that stops in the simulator": Finding(
        r"test_flash_attn_bwd.py.*IndexError: tuple index out of range",
        SIMULATOR,
        "An error of the simulator's own, not a verdict on the kernel.",
    ),
    "An outcome of an earlier state": Finding(
        r"pipelined_attention.py.*function copy .* is not an operator",
        SIMULATOR,
        "numpy's copy is an operator by now. The kernel, with its 16,384 queries and keys, was stopped by hand after "
        "300 s on a busy machine and has not been run to its end since.",
    ),
    "Sizes that take too long here": Finding(
        r"stopped after \d+ s",
        SIMULATOR,
        "No instruction was refused until then. The sizes stand in the file.",
    ),
    "Tests that want a device": Finding(
        r"test_neuron_profile.py.*no tests ran",
        SURROUNDINGS,
        "The file marks none of its tests for simulation.",
    ),
}
