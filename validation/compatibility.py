"""Runs published NKI files, unmodified, under the simulator and writes what came of each as a markdown page.

    python validation/compatibility.py CHECKOUT... [--output FILE] [--only WORD] [--time-limit SECONDS]

A CHECKOUT is a folder with a clone of aws-neuron-sdk, nki-samples or asst4-trainium, told apart by what is in
them; nothing is downloaded. Each case is a process of its own with a time limit. What numpy should give is
worked out here from the definition of each operation.
"""

import argparse
import collections
import importlib
import json
import os
import re
import runpy
import subprocess
import sys
import traceback
import unittest
from pathlib import Path

import numpy as np

TUTORIALS = "src/nki_samples/tutorials"
MATMUL_SHAPE = (4096, 1024, 2048)  # the tutorial's large product, M K N
MATMUL_STAGES = ("tiled", "hoist_load", "block_free_dimension", "fully_optimized")


# What was found out about what differs: title of a class -> (pattern of "file test: problem", what to say).
INTRODUCTION = """
Every file is run as it was published, on trn2, in a process of its own. A row of `nki/test` is a file of
unit tests, which compare with numpy themselves; *as a script* means `python FILE`, with the file's own
check of its results; any other row is one kernel, called with small random inputs and compared with what
numpy gives for the operation's definition. *Bit for bit* means the same bytes; otherwise the row states the
largest error and what was allowed for it. Not run: the callers `*_torch.py` and `*_jax.py` of the
tutorials, which want a Neuron device in torch_xla or JAX.
"""
INTENDED = "Refused, as the lesson wants"
FINDINGS = {
    INTENDED: (
        r"(direct_allocation_bad|alloc_bad.*): ProgramError: data1 reads .*'a_tile.* overwritten",
        """
`vector_add_direct_allocation_bad` places its three buffers at the same address, to show how that goes
wrong: the load of `b_tile` writes over `a_tile` before the sum reads it. The simulator stops at the sum and
names both tensors and the byte. Its sister `vector_add_direct_allocation`, with disjoint addresses, runs.
""",
    ),
    "Not in trnsim yet": (
        r": Unimplemented: nki\.isa\.\w+ is not in trnsim yet",
        """
The microscaling instructions `nc_matmul_mx` and `quantize_mx` are missing. The kernels import, allocate and
load their tiles, and stop at the first such instruction, which the message names.
""",
    ),
    "A test that expects bf16 to hold fp32": (
        r"test_nki_isa_activation.py test_activation: AssertionError.*b_act_golden",
        """
The kernel asks for `dtype=nl.bfloat16`, and the test compares with the unrounded fp32 values to 1 in
100,000. Rounding to bf16 alone moves them by up to 1 in 256. The simulator's result is, bit for bit,
numpy's value rounded to bf16. The first half of the test, the exponential in fp32, passes.
""",
    ),
    "A test that expects another simulator's exception": (
        r"test_nki_isa_dma_copy.py \w+: ProgramError: dma_copy: index\[43\] is 129, but \w+ has rows 0 to",
        """
Row 129 of 128 with `oob_mode.error` is refused, as it should be. But the test wants exactly an `IndexError`
with the text that numpy gives for the flattened array, "index 66048 is out of bounds for axis 0 with size
65536". That is presumably how the vendor's simulator fails; ours says which index and which row. The tests
of `oob_mode.skip` pass.
""",
    ),
    "A mask joined by `and`, and a tile stored that was half written": (
        r"test_nki_isa_nc_match_replace8.py \w+: ProgramError: a mask has no single truth value",
        """
Python's `and` does not join two masks: it takes the truth of the first and returns the second, so `ix < n
// 2 and iy < m // 2` would silently mean `iy < m // 2`. The simulator refuses and says to write `&`. With
`&` in a copy of the file, the kernel goes on to its `nl.store` and is refused there: it stores the whole
tile, of which the masked instruction wrote only a corner. On the chip the rest would be whatever lay in
SBUF; the test looks at the corner alone.
""",
    ),
}
REMARKS = {
    "test_nki_isa_dropout.py": (
        "The test draws probabilities up to 100 and sets no seed: in about one run of four none is below 1, "
        "everything is dropped, and it fails. Here numpy's seed is 0."
    ),
}


def find(text):
    """The class of a problem, or "" if nobody has looked at it yet."""
    return next((title for title, (pattern, _) in FINDINGS.items() if re.search(pattern, text)), "")


# What numpy gives, from the definitions.


def uniform(*shape, dtype=np.float32):
    return np.random.uniform(-1, 1, shape).astype(dtype)


def softmax_attention(q, k, v):
    """Attention without a scale: q, k, v are (head size, sequence)."""
    score = q.T.astype(np.float64) @ k
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return (weight / weight.sum(axis=1, keepdims=True)) @ v.T


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


# One function per kind of kernel: inputs, the call, (result, expected, error allowed of the largest value).


def tensor_addition(module, caller):
    a, b = uniform(256, 1024, dtype=np.float16), uniform(256, 1024, dtype=np.float16)
    return getattr(module, caller)(a, b), a + b, 0


def transpose2d(module, kernel):
    rows, height, width = 5, 3, 4
    a = np.random.randint(-100, 100, (rows, height * width)).astype(np.int8)
    expected = a.reshape(rows, height, width).swapaxes(1, 2).reshape(rows, -1)
    return getattr(module, kernel)(a, (height, width)), expected, 0


def average_pool2d(module, kernel):
    window, image = 2, uniform(32, 8, 12)
    expected = sum(
        image[:, i::window, j::window].astype(np.float64) for i in range(window) for j in range(window)
    )
    return getattr(module, kernel)(image, window), expected / window**2, 1e-6


def matmul(module, kernel, m, k, n):
    import ml_dtypes

    a, b = uniform(m, k, dtype=ml_dtypes.bfloat16), uniform(k, n, dtype=ml_dtypes.bfloat16)
    expected = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    return getattr(module, kernel)(np.ascontiguousarray(a.T), b), expected, 2**-7


def mamba(module, kernel):
    batch, channels, states, length = 1, 128, 4, 512
    delta, u = np.abs(uniform(batch, channels, length)), uniform(batch, channels, length)
    a = -np.abs(uniform(channels, states))
    b, c = uniform(batch, states, length), uniform(batch, states, length)
    return getattr(module, kernel)(delta, u, a, b, c), selective_scan(delta, u, a, b, c), 1e-5


def attention(module, kernel, length, allowed):
    q, k, v = uniform(128, length), uniform(128, length), uniform(128, length)
    return getattr(module, kernel)(q, k, v), softmax_attention(q, k, v), allowed


def mx_matmul(module, kernel):
    import nki.language as nl

    words = np.random.randint(0, 2**32, (128, 640), dtype=np.uint32)
    stationary, moving = np.ascontiguousarray(words[:, :128]), np.ascontiguousarray(words[:, 128:])
    scale = np.full((16, 640), 127, np.uint8)
    if kernel == "kernel_offline_quantized_mx_matmul":
        getattr(module, kernel)(
            stationary, scale[:, :128].copy(), moving, scale[:, 128:].copy(), nl.float8_e5m2_x4
        )
    elif kernel == "kernel_on_device_quantize_matmul_mx":
        x = uniform(128, 2048, dtype=nl.bfloat16)
        getattr(module, kernel)(stationary, scale[:, :128].copy(), x, nl.float8_e5m2_x4, nl.float8_e5m2_x4)
    else:
        x, y = uniform(512, 128, dtype=nl.bfloat16), uniform(512, 512, dtype=nl.bfloat16)
        getattr(module, kernel)(x, y, nl.float8_e5m2_x4)
    raise AssertionError("no refusal, and nothing here to compare the result with")


def vector_add(module, kernel, size):
    a, b = uniform(size), uniform(size)
    if kernel == "vector_add_naive":
        a, b = a[:, None], b[:, None]
    return np.asarray(getattr(module, kernel)(a, b)).reshape(a.shape), a + b, 0


CASES = {
    f.__name__: f
    for f in (tensor_addition, transpose2d, average_pool2d, matmul, mamba, attention, mx_matmul, vector_add)
}


def cases(folder):
    """Of all in a checkout: (file, kernel or "", "unittest", "script" or name in CASES, arguments)."""
    for path in sorted((folder / "nki/test").glob("test_*.py")):
        yield path, "", "unittest", ()
    lessons = folder / TUTORIALS
    if lessons.is_dir():
        for prefix, caller in (
            ("", "nki_tensor_add"),
            ("spmd_", "nki_tensor_add"),
            ("spmd_multiple_nc_", "nki_tensor_add_nc2"),
        ):
            kernels = lessons / f"tensor_addition/{prefix}tensor_addition_nki_kernels.py"
            yield kernels, caller, "tensor_addition", ()
            yield kernels, "", "script", ()
        for lesson, kernel in (
            ("transpose2d", "tensor_transpose2D_kernel_"),
            ("average_pool2d", "tensor_avgpool_kernel"),
        ):
            kernels = lessons / lesson / f"{lesson}_nki_kernels.py"
            yield kernels, kernel, lesson, ()
            yield kernels, "", "script", ()
        product = lessons / "matrix_multiplication/matrix_multiplication_nki_kernels.py"
        yield product, "nki_matmul_basic_", "matmul", (64, 128, 512)
        for stage in MATMUL_STAGES:
            shape = (2048, 1024, 1024) if stage == "fully_optimized" else (256, 256, 1024)
            yield product, f"nki_matmul_{stage}_", "matmul", shape
        scan = lessons / "fused_mamba/mamba_nki_kernels.py"
        for version in (1, 2, 3):
            yield scan, f"mamba_v{version}", "mamba", ()
        yield scan, "", "script", ()
        for version in (*range(1, 9), "8a", 9, 10, 11):
            length = 128 if version in (1, 2) else 512
            allowed = 1e-5 if version in range(7) else 2**-7  # the later ones compute in bf16
            yield (
                lessons / "attention_fwd_performance/attention_kernels.py",
                f"attn_fwd_v{version}",
                "attention",
                (length, allowed),
            )
        yield lessons / "attention_fwd_performance/test_attention.py", "", "script", ()
        for kernel in (
            "kernel_offline_quantized_mx_matmul",
            "kernel_on_device_quantize_matmul_mx",
            "kernel_copy_strided_quantize_matmul_mx",
        ):
            yield lessons / "mxfp-matmul/mx_kernels.py", kernel, "mx_matmul", ()
    course = folder / "part1/kernels.py"
    if course.is_file():
        for kernel, size in (
            ("vector_add_naive", 128),
            ("vector_add_tiled", 256),
            ("vector_add_stream", 1024),
            ("vector_add_direct_allocation", 512_000),
            ("vector_add_direct_allocation_bad", 512_000),
        ):
            yield course, kernel, "vector_add", (size,)
        for kernel, size in (
            ("naive", 128),
            ("tiled", 1280),
            ("stream", 25600),
            ("alloc", 512000),
            ("alloc_bad", 512000),
        ):
            yield folder / "part1/vec_add.py", "", "script", ("--kernel", kernel, "--size", str(size))


# In the process of one case.


def start_simulator(path, **options):
    import trnsim

    trnsim.install(**options)
    np.random.seed(0)
    sys.path.insert(0, str(path.parent))


def error_text(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def run_unittest(path):
    class Record(unittest.TestResult):
        def addError(self, test, error):
            super().addError(test, error)
            problems[test._testMethodName] = error_text(error[1])

        def addFailure(self, test, error):
            super().addFailure(test, error)
            line = traceback.extract_tb(error[2])
            source = next((f.line for f in reversed(line) if f.filename == str(path)), "")
            problems[test._testMethodName] = f"{error_text(error[1])} in `{source}`"

    problems = {}
    suite = unittest.defaultTestLoader.loadTestsFromName(path.stem)
    count = suite.countTestCases()
    suite.run(Record())
    return {"runs": True, "tests": count, "problems": problems}


def run_kernel(path, kernel, case, arguments):
    result, expected, allowed = CASES[case](importlib.import_module(path.stem), kernel, *arguments)
    result, expected = np.asarray(result), np.asarray(expected)
    if result.shape != expected.shape:
        return {"runs": True, "problems": {kernel: f"shape {result.shape}, expected {expected.shape}"}}
    if result.dtype == expected.dtype and result.tobytes() == expected.tobytes():
        return {"runs": True, "equal": "bit for bit", "problems": {}}
    wide, reference = result.astype(np.float64), expected.astype(np.float64)
    error = np.abs(wide - reference).max() / np.abs(reference).max()
    text = f"error {error:.1e} of the largest value (allowed {allowed:.0e})"
    return {"runs": True, "equal": text, "problems": {} if error <= allowed else {kernel: text}}


def run_script(path, arguments):
    sys.argv = [str(path), *arguments]
    runpy.run_path(str(path), run_name="__main__")
    return {"runs": True, "equal": "by its own check", "problems": {}}


def run_case(path, kernel, case, arguments):
    start_simulator(path)
    try:
        if case == "unittest":
            return run_unittest(path)
        if case == "script":
            return run_script(path, arguments)
        return run_kernel(path, kernel, case, arguments)
    except Exception as error:
        return {"runs": False, "problems": {kernel or " ".join(("script", *arguments)): error_text(error)}}


def time_matmul(path):
    """Latency and share of the Tensor Engine of the matmul stages on trn2, without values."""
    import ml_dtypes
    import trnsim

    start_simulator(path, chip="trn2", timing_only=True)
    module = importlib.import_module(path.stem)
    rows = []
    for stage in ("basic", *MATMUL_STAGES):
        m, k, n = (64, 128, 512) if stage == "basic" else MATMUL_SHAPE
        bf16 = ml_dtypes.bfloat16
        getattr(module, f"nki_matmul_{stage}_")(np.zeros((k, m), bf16), np.zeros((k, n), bf16))
        profile = trnsim.last_profile()
        rows.append(
            (f"nki_matmul_{stage}_", f"{m}x{k} by {k}x{n}", profile.latency_us, dict(profile.busy_us))
        )
    return rows


# The page.


def in_process(limit, *arguments):
    """What this file prints as JSON when run with `arguments`, or a dict that says why there is nothing."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # the checkouts are not ours to write to
    command = [sys.executable, __file__, *arguments]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"runs": False, "problems": {"time": f"stopped after {limit} s"}}
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        return {"runs": False, "problems": {"process": f"exit code {done.returncode}: {last}"}}


def row(folder, path, kernel, case, arguments, outcome):
    problems = outcome["problems"]
    runs = "yes" if outcome["runs"] else "no"
    if "tests" in outcome:
        broken = [p for p in problems.values() if "AssertionError" not in p]
        runs = "yes" if not broken else f"{outcome['tests'] - len(broken)} of {outcome['tests']}"
        equal = f"{outcome['tests'] - len(problems)} of {outcome['tests']} tests"
    else:
        equal = outcome.get("equal", "—")
    notes = []
    for name, problem in problems.items():
        found = find(f"{path.name} {name}: {problem}")
        notes.append(
            f"`{name}`: {escape(problem)} → "
            + (f"[{found}](#{anchor(found)})" if found else "**unexplained**")
        )
    if path.name in REMARKS:
        notes.append(REMARKS[path.name])
    name = str(path.relative_to(folder / TUTORIALS if TUTORIALS in path.as_posix() else folder))
    if case == "script":
        name += " " + " ".join(("as a script", *arguments)).replace("--", r"\-\-")
    return [f"{name} `{kernel}`" if kernel else name, runs, equal, "<br>".join(notes)]


def escape(text):
    return re.sub(r"([|<>*_`])", r"\\\1", text[:400])


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return lines + ["| " + " | ".join(r) + " |" for r in rows]


def timing_section(path, limit):
    stages = in_process(limit, "--time-matmul", str(path))
    if isinstance(stages, dict):
        return [f"The matmul stages were not timed: {escape('; '.join(stages['problems'].values()))}"]
    rows = [
        [f"`{kernel}`", shape, f"{latency:.1f} us", f"{100 * busy.get('Tensor', 0) / latency:.1f} %"]
        for kernel, shape, latency, busy in stages
    ]
    large = [latency for _, _, latency, _ in stages[1:]]
    ranked = all(a > b for a, b in zip(large, large[1:], strict=False))
    return [
        *table(("stage", "product, bf16", "latency on trn2", "Tensor Engine busy"), rows),
        "",
        (
            "Each stage of the large product is faster than the one before it, as the tutorial teaches."
            if ranked
            else "**The stages of the large product do not rank in the tutorial's order.**"
        ),
    ]


def checkout_name(folder):
    """The repository's name and commit, as `name at commit`."""
    git = ["git", "-C", str(folder)]
    commit = subprocess.run([*git, "log", "-1", "--format=%h"], capture_output=True, text=True).stdout.strip()
    return f"{folder.name} at {commit or 'an unknown commit'}"


def page(folders, only, limit):
    names = [checkout_name(folder) for folder in folders]
    lines = [
        "# Published kernels under trnsim",
        "",
        "Written by `python validation/compatibility.py "
        + " ".join(n.split()[0] for n in names)
        + "` (folders",
        "with the checkouts) from " + ", ".join(names) + ".",
        "Do not edit: change the script and run it again.",
        "",
        INTRODUCTION.strip(),
        "",
        "@SUMMARY@",
        "",
    ]
    used, counts = set(), collections.Counter()
    for folder, name in zip(folders, names, strict=True):
        rows = []
        for path, kernel, case, arguments in cases(folder):
            if only and only not in f"{path} {kernel}":
                continue
            outcome = in_process(limit, "--case", json.dumps([str(path), kernel, case, arguments]))
            titles = {find(f"{path.name} {n}: {p}") for n, p in outcome["problems"].items()}
            used |= titles
            counts[
                "run and agree" if not titles else "refused as intended" if titles == {INTENDED} else "differ"
            ] += 1
            rows.append(row(folder, path, kernel, case, arguments, outcome))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        lines += [f"## {name}", "", *table(("file", "runs", "equal to numpy", "what happened"), rows), ""]
        product = folder / TUTORIALS / "matrix_multiplication/matrix_multiplication_nki_kernels.py"
        if product.is_file():
            lines += ["### The matmul stages in time", "", *timing_section(product, limit), ""]
    summary = "; ".join(
        f"{count} {what}" for what, count in sorted(counts.items(), key=lambda item: -item[1])
    )
    lines.insert(lines.index("@SUMMARY@"), f"Of {counts.total()} rows: {summary}.")
    lines.remove("@SUMMARY@")
    lines += ["## What differs, and why", ""]
    for title, (_, text) in FINDINGS.items():
        if title in used:
            lines += [f"### {title}", "", text.strip(), ""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--output", type=Path, help="file to write (default: standard output)")
    parser.add_argument("--only", help="only cases whose path or kernel has this in it")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for each case")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--time-matmul", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        path, kernel, case, arguments = json.loads(options.case)
        print("\n" + json.dumps(run_case(Path(path), kernel, case, arguments)))
    elif options.time_matmul:
        print("\n" + json.dumps(time_matmul(options.time_matmul)))
    elif not options.checkouts or not all(any(cases(folder)) for folder in options.checkouts):
        parser.error("give folders with clones of aws-neuron-sdk, nki-samples or asst4-trainium")
    else:
        text = page([folder.resolve() for folder in options.checkouts], options.only, options.time_limit)
        options.output.write_text(text) if options.output else print(text, end="")


if __name__ == "__main__":
    main()
