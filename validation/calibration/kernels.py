"""Whole kernels of public repositories, called as their measured rows say."""

import re
from dataclasses import dataclass
from pathlib import Path

import trnsim

from calibration import metrics, nki_library, samples, tasks
from calibration.rows import Row, Unpredicted

# What a metric counts beside the kernel, by the name that the report gives that way of timing.
_LAUNCH = {"total_time": "profiler", "device_time": "profiler", "expected_device_time": "show_session",
           "latency_mean": "benchmark", "nc_latency_p50": "benchmark", "nc_latency_p99": "benchmark",
           "latency_p0": "benchmark", "latency_p50": "benchmark", "latency_p99": "benchmark",
           "latency": "host_asynchronous", "p99_upper_bound": "benchmark", "p99_threshold": "benchmark",
           "reference_p99": "benchmark"}
# Figures that a kernel has to stay below: by another author, or with a margin. They measure no kernel that we can run.
BOUNDS = ("p99_upper_bound", "p99_threshold", "reference_p99")
# Metrics of the chip's own clock: what no host adds to.
_DEVICE = ("total_time", "device_time", "expected_device_time", "latency_mean", "nc_latency_p50", "nc_latency_p99")


@dataclass(frozen=True)
class Prediction:
    """What trnsim says of a kernel's row: in ns where it is a time; `launch_ns` of it is no part of the program."""

    value: float
    profile: object
    launch_ns: float = 0.0
    is_figure: bool = False  # of a profile, other than the kernel's time


def is_device_time(row: Row) -> bool:
    return row.metric in _DEVICE


def predict(row: Row, folder: Path) -> Prediction:
    """Raises Unpredicted, or checkouts.Missing, when there is no way to run the row's kernel."""
    for pattern, build in _CASES:
        match = re.fullmatch(pattern, row.name)
        if match:
            return _read(row, _launched(row, folder, build, match.groups()))
    for told, build in _BY_SOURCE:
        if told(row):
            return _read(row, _launched(row, folder, build, ()))
    raise Unpredicted("no case for this kernel")


_latest = {}  # the last kernel's profile: figures of one run follow each other in the files


def _launched(row: Row, folder: Path, build, groups: tuple):
    key = (row.source, row.name, str(row.params), row.dtype, row.chip, row.lnc, row.n_cores, str(folder))
    if key not in _latest:
        _latest.clear()
        trnsim.session.forget_profiles()
        build(row, folder, *groups)
        _latest[key] = trnsim.last_profile()
    return _latest[key]


def _read(row: Row, profile) -> Prediction:
    if row.metric not in _LAUNCH:
        return Prediction(metrics.value(row, profile), profile, is_figure=True)
    launch_ns = profile.launch_terms_ns[_LAUNCH[row.metric]]
    return Prediction(profile.latency_us * 1e3 + launch_ns, profile, launch_ns)


def _of_library(row, folder, kernel):
    getattr(nki_library, kernel)(row, folder)


_CASES = (
    (r"(mlp_tkg|mlp_cte)", _of_library),
    (r"SDPA prefill \(lowers to nki-library attention_cte\)|attention_cte(?:\[2\] direct, kernel-side GQA|, lnc .*)",
     nki_library.attention),
    (r"topk \(nki-library rotational_topk\)", nki_library.topk),
    (r"(\w+) \((baseline|best found)\)", tasks.nkibench),
    (r"(\w+)(?: \w+)? search step (\d+)", tasks.autocomp),
    (r"matmul tutorial v(\d)\b.*", samples.tutorial_matmul),
    (r"matmul tutorial (tiled|hoisted loads?|blocked free dims?|blocked all dims?)", samples.first_matmul),
    (r"layernorm tutorial (v\d)", samples.layernorm),
    (r"mamba selective scan (v\d)(?: sweep)?", samples.mamba),
    (r"vector_add (ROW_CHUNK|stream FREE_DIM)=(\d+)", samples.vector_add),
    (r"conv2d\b.*", samples.conv2d),
    (r"(allocated_)?fused_self_attn\w*", samples.self_attention),
    (r"adaptive_avg_pool2d", samples.adaptive_pool),
    (r"resize_nearest", samples.resize_nearest),
    (r"rmsnorm_qkv", samples.rmsnorm_qkv),
    (r"flash_attn_fwd( causal)?", samples.flash_forward),
    (r"flash_attn_bwd", samples.flash_backward),
)

# Rows whose name says less than their source.
_BY_SOURCE = (
    (lambda row: "test_list" in row.params, nki_library.listed),
    (lambda row: "kda-for-trainium" in row.source, tasks.kda),
    (lambda row: "xpu-perf" in row.source, samples.of_framework),
)
