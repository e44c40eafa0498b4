"""Stanford CS149's assignment on Trainium, of 2024 and 2025, and solutions of students."""

import importlib
import re

import numpy as np
from corpus.case import ILLEGAL, INTENDED, Case, Finding
from corpus.runners import compare

STUDENTS = ("Ericcsr", "EtashGuha", "akjadhav", "argy", "chengli", "robertpare17", "waahm7", "xaviergonzalez")
REPOSITORIES = ("asst4-trainium", "asst4-trainium2", *(f"asst4-{student}" for student in STUDENTS))

SIZES = {"naive": 128, "tiled": 1280, "stream": 256_000, "alloc": 512_000, "alloc_bad": 512_000}
KERNELS = {
    "vector_add_naive": 128,
    "vector_add_tiled": 256,
    "vector_add_stream": 256_000,
    "vector_add_direct_allocation": 512_000,
    "vector_add_direct_allocation_bad": 512_000,
}
# use_bias, pool size, height and width; the harness has 224 by 224 with 256 channels and 4 images.
LARGER = ((False, 1, 224, 224), (True, 1, 224, 224), (True, 2, 224, 224))


def cases(checkout):
    kernels = (checkout / "part1/kernels.py").read_text()
    for kernel, size in KERNELS.items():
        if f"def {kernel}(" in kernels:
            yield Case("part1/kernels.py", "vector_add", (kernel, size), name=kernel)
    # One author's tiles are 2,048 wide and refuse smaller matrices.
    side = 2048 if "TILES_PER_BATCH = 16" in kernels else 1024
    if "def matrix_transpose(" in kernels:
        yield Case("part1/kernels.py", "transpose", (side,), name="matrix_transpose")
    if (checkout / "part1/vec_add.py").exists():
        for kernel, size in SIZES.items():
            yield Case("part1/vec_add.py", "script", ("--kernel", kernel, "--size", size), name=kernel)
    elif (checkout / "part1/run_benchmark.py").exists():
        for kernel in ("naive", "tiled", "stream", "transpose"):
            size = side if kernel == "transpose" else SIZES[kernel]
            yield Case("part1/run_benchmark.py", "script", ("--kernel", kernel, "-n", size), name=kernel)
    yield Case("part2/test_harness.py", "harness", (False,), name="smaller images")
    code = (checkout / "part2/conv2d.py").read_text().partition("def fused_conv2d_maxpool")[2]
    pools = len(re.findall("pool_size", code)) > 3  # more than the output's shape: some left the pooling out
    if pools:
        yield Case("part2/test_harness.py", "harness", (True,), name="smaller images, maxpool")
    for use_bias, pool, height, width in LARGER[: 3 if pools else 2]:
        name = f"larger image{', bias' * use_bias}{', maxpool' * (pool > 1)}"
        yield Case("part2/conv2d.py", "larger", (use_bias, pool, height, width), name=name, seconds=600,
                   note="one image of 128 channels instead of four of 256")


def vector_add(path, kernel, size):
    a, b = (np.random.uniform(-1, 1, size).astype(np.float32) for _ in range(2))
    function = getattr(importlib.import_module(path.stem), kernel)
    if kernel == "vector_add_naive" and "run_benchmark" not in [p.stem for p in path.parent.iterdir()]:
        a, b = a[:, None], b[:, None]
    return compare(np.asarray(function(a, b)).reshape(a.shape), a + b)


def transpose(path, side):
    a = np.random.uniform(-1, 1, (side, side)).astype(np.float32)
    return compare(importlib.import_module(path.stem).matrix_transpose(a), a.T)


def harness(path, use_maxpool):
    """The harness's own correctness test, with simulate_kernel in the kernel's place as its --simulate does."""
    module = importlib.import_module(path.stem)
    kernel = module.simulate_kernel_wrapper(module.conv2d)
    options = {"simulate": True} if "simulate" in module.test_correctness_conv2d_kernel.__code__.co_varnames else {}
    assert module.test_correctness_conv2d_kernel(kernel, use_maxpool=use_maxpool, **options), "the outputs differ"
    return "by its own check"


def larger(path, use_bias, pool, height, width):
    kernel = importlib.import_module(path.stem).fused_conv2d_maxpool
    reference = importlib.import_module("conv2d_numpy").conv2d_cpu_torch
    image = np.random.rand(1, 128, height, width).astype(np.float32)
    weights = np.random.rand(128, 128, 3, 3).astype(np.float32)
    bias = np.random.rand(128).astype(np.float32) * use_bias
    expected = reference(image, weights, bias, pool_size=pool)
    return compare(kernel(image, weights, bias, pool_size=pool), np.asarray(expected), rtol=1e-5, atol=1e-8)


FINDINGS = {
    "A skeleton for students to fill in": Finding(
        r"Please fill|kernels.py matrix_transpose.*never written|run_benchmark.py transpose.*never written",
        INTENDED,
        "The kernel is not written: it raises an error that says so, or returns an output that nothing was stored to, "
        "which the simulator refuses.",
    ),
    "A tile of 256 partitions": Finding(
        r"(vector_add_tiled|run_benchmark.py tiled|vec_add.py tiled).*has 256 partitions; SBUF has 128",
        ILLEGAL,
        "The author tried chunks of 256 rows, one row to a partition; the assignment's text asks what the largest "
        "possible chunk is, and SBUF has 128 partitions.",
    ),
    "An image of 224 by 224 that needs SBUF twice": Finding(
        r"conv2d.py larger image.*SBUF overflow: tile 'x_plane' needs 197136",
        ILLEGAL,
        "The kernel keeps the whole image, 200,704 bytes in each partition, and copies a shifted one of 197,136 bytes "
        "beside it, while it still needs the first: nearly twice the 212,984 bytes that a partition has. On images of "
        "the size of the harness's first test it runs.",
    ),
    "A kernel without pooling, asked to pool": Finding(
        r"test_harness.py smaller images, maxpool.*index 7 is out of bounds for dimension 3 \(size 7\) of 'X_out'",
        ILLEGAL,
        "The author left the pooling out: the kernel writes an output of the size before pooling into the smaller "
        "tensor that it made, past its end.",
    ),
    "An allocation that overlaps": Finding(
        r"(direct_allocation_bad|alloc_bad).*ProgramError: data1 reads .*'a_tile.* overwritten",
        INTENDED,
        "The kernel places its three buffers at the same address, to show how that goes wrong: the load of `b_tile` "
        "writes over `a_tile` before the sum reads it. The simulator stops at the sum and names both tensors and the "
        "byte.",
    ),
}
