"""Kernels of tutorials, samples and courses: aws-neuron-sdk, nki-samples and the assignment of CS149."""

import re

import numpy as np

from calibration import checkouts
from calibration.rows import Row, Unpredicted

_SDK, _SAMPLES = "aws-neuron/aws-neuron-sdk", "aws-neuron/nki-samples"
# The last revision of nki-samples that holds the kernels whose bounds its tests asserted.
_REFERENCE = "fc5c69f"
_FIRST_MATMULS = {"tiled": "nki_matmul_tiled_", "hoisted": "nki_matmul_hoist_load_",
                  "blocked free": "nki_matmul_block_free_dimension_", "blocked all": "nki_matmul_fully_optimized_"}
# Finished solutions of the assignment, by the year's chip: the course's own reference is not public.
_SOLUTIONS = {"trn1": ("akjadhav/asst4-trainium", "Ericcsr/asst4-trainium"),
              "trn2": ("xaviergonzalez/asst4-trainium2", "chengli2003/asst4-trainium2", "EtashGuha/asst4-trainium2",
                       "a-argy/asst4-trainium2")}


def tutorial_matmul(row: Row, folder, version):
    page = checkouts.find(folder, _SDK, "nki/guides/tutorials/kernel-optimization.rst")
    blocks = checkouts.code_blocks(page, "def matrix_multiply_kernel")
    if not 1 <= int(version) <= len(blocks):
        raise checkouts.Missing(f"{page.name} has {len(blocks)} versions of the kernel, not {version}")
    names = checkouts.executed(blocks[int(version) - 1], f"kernel-optimization.rst, version {version}")
    names["matrix_multiply_kernel"](*row.named_arrays("KM", "KN"))


def first_matmul(row: Row, folder, stage):
    """The stages of the tutorial as they were first published, for Beta 1."""
    path = "general/nki/examples/matrix_multiplication/matrix_multiplication_nki_kernels.py"
    kernel = next(name for begin, name in _FIRST_MATMULS.items() if stage.startswith(begin))
    checkouts.jitted(_as_cited(row, folder, path), kernel)(*row.named_arrays("KM", "KN"))


def layernorm(row: Row, folder, version):
    path = "general/nki/examples/layernorm/layernorm_nki_kernel.py"
    rows, width = row.param("shape")
    kernel = checkouts.jitted(_as_cited(row, folder, path), f"nki_layernorm_kernel_{version}")
    kernel(row.array(rows, width), 1e-5, row.array(width), row.array(width))


def _as_cited(row: Row, folder, path):
    """A file of the SDK at the revision that the row names."""
    revision = re.search(r"@([0-9a-f]{7,40})", row.source)
    if revision is None:
        raise Unpredicted("the row names no revision of the tutorial")
    return checkouts.at(folder, _SDK, revision[1], path)


def mamba(row: Row, folder, version):
    file = checkouts.find(folder, _SAMPLES, "src/nki_samples/tutorials/fused_mamba/mamba_nki_kernels.py")
    checkouts.jitted(file, f"mamba_{version}")(*mamba_inputs(row))


def mamba_inputs(row: Row) -> list[np.ndarray]:
    """delta, u, A, B, C of the selective scan."""
    tokens, states = ("batch", "channels", "seq"), ("batch", "state", "seq")
    return row.named_arrays(tokens, tokens, ("channels", "state"), states, states)


def vector_add(row: Row, folder, kind, size):
    file = checkouts.find(folder, "stanford-cs149/asst4-trainium2", "part1/kernels.py")
    constant = {"ROW_CHUNK": "ROW_CHUNK", "stream FREE_DIM": "FREE_DIM"}[kind]
    source = re.sub(rf"\b{constant} = \d+", f"{constant} = {size}", file.read_text(encoding="utf-8"))
    kernel = "vector_add_tiled" if kind == "ROW_CHUNK" else "vector_add_stream"
    checkouts.executed(source, f"{file.name}, {constant} {size}")[kernel](*row.named_arrays(("n",), ("n",)))


def conv2d(row: Row, folder):
    image = row.param("image")
    height, width = image if isinstance(image, list) else (image, image)
    cin, cout, size = (row.param(name) for name in ("cin", "cout", "kernel"))
    file = checkouts.first(folder, _SOLUTIONS.get(row.chip, ()), "part2/conv2d.py")
    kernel = checkouts.module(file).fused_conv2d_maxpool
    kernel(row.array(row.param("bs"), cin, height, width), row.array(cout, cin, size, size), row.array(cout),
           pool_size=row.params.get("pool", 1))


def _reference(folder, file, kernel):
    return checkouts.jitted(checkouts.at(folder, _SAMPLES, _REFERENCE, f"src/nki_samples/reference/{file}.py"), kernel)


def self_attention(row: Row, folder, allocated):
    """Q and, for the version with addresses, K come transposed."""
    bs, seq, d = (row.param(name) for name in ("bs", "seq", "d"))
    tokens, transposed = row.array(bs, seq, d), row.array(bs, d, seq)
    if allocated:
        kernel = _reference(folder, "allocated_attention", "allocated_fused_self_attn_for_SD_small_head_size")
    else:
        kernel = _reference(folder, "attention", "fused_self_attn_for_SD_small_head_size")
    kernel[bs](transposed, transposed if allocated else tokens, tokens)


def adaptive_pool(row: Row, folder):
    out = row.param("out")
    _reference(folder, "vision", "adaptive_avg_pool2d_kernel")(
        row.array(*row.param("shape")), tuple(out) if isinstance(out, list) else out)


def resize_nearest(row: Row, folder):
    batch, height, width, channels = row.param("shape")
    out = (batch, *row.param("out"), channels)
    _reference(folder, "vision", "resize_nearest_fixed_dma_kernel")[batch](
        row.array(batch, height, width, channels), out)


def rmsnorm_qkv(row: Row, folder):
    batch, seq, hidden, head = row.param("shape")
    _reference(folder, "allocated_fused_linear", "allocated_fused_rms_norm_qkv")(
        row.array(batch, seq, hidden), row.array(hidden, head))


def flash_forward(row: Row, folder, causal):
    file = checkouts.at(folder, _SAMPLES, _REFERENCE, "src/nki_samples/reference/attention.py")
    heads, shared, d = (row.param(name) for name in ("heads", "kv_heads", "d"))
    queries, keys = row.param("seq_q"), row.param("seq_k")
    bs = row.params.get("bs", 1)
    config = checkouts.module(file).FlashConfig(training=False)
    checkouts.jitted(file, "flash_fwd")[bs, shared](
        row.array(bs, heads, d, queries), row.array(bs, shared, d, keys), row.array(bs, shared, keys, d), None,
        use_causal_mask=causal is not None, mixed_precision=True, config=config)


def flash_backward(row: Row, folder):
    bs, heads, seq, d = (row.param(name) for name in ("bs", "heads", "seq", "d"))
    tokens = row.array(bs, heads, d, seq)
    sums = np.zeros((bs, heads, 128, seq // 128), np.float32)
    _reference(folder, "attention", "flash_attn_bwd")[bs, heads](
        tokens, tokens, tokens, tokens, tokens, sums, None, use_causal_mask=True, mixed_precision=True)


def of_framework(row: Row, folder):
    raise Unpredicted("a framework's compiler made the program: there is no kernel to run")
