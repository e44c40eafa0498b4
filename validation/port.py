"""Ports public kernels of Beta 1 with `trnsim port`, runs them before and after, and writes what it took as a page.

    validation/port.py --checkouts FOLDER [--to 0.6] [--output docs/port.md] [--only NAME]

FOLDER holds checkouts of the public repositories side by side. Each kernel runs as it is under Beta 1; then what
`trnsim port --diff` proposes is applied to a copy, with the hand edits listed here, and that runs under the release.
Results are compared bit by bit. None of the repositories' code is kept here.
"""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trnsim

sys.path.insert(0, str(Path(__file__).parent))

SAMPLES, BENCH, KDA = "aws-neuron/nki-samples", "zhang677/AccelOpt", "Jerry2423/kda-for-trainium"
_TUTORIALS = "src/nki_samples/tutorials"


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def _mamba(version):
    tokens, states = random(1, 128, 512), random(1, 16, 512)
    return lambda module, _: getattr(module, f"mamba_{version}")(tokens, tokens, random(128, 16), states, states)


def _task(reference):
    """The inputs of one of NKIBench's open tasks."""
    def call(module, folder):
        from calibration import checkouts

        file = checkouts.find(folder, BENCH, f"NKIBench/reference/{reference}.py")
        spec = importlib.util.spec_from_file_location(reference, file)
        task = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(task)
        np.random.seed(0)
        return module.kernel(*task.transform_to_nki_inputs(task.get_inputs()))
    return call


_SCAN = ("the scan's tile first, then the scan into it",
         r"(\w+) = nki\.isa\.tensor_tensor_scan\((\w+), (\w+), ",
         r"\1 = nl.ndarray(\2.shape, dtype=\2.dtype, buffer=nl.sbuf); "
         r"nki.isa.tensor_tensor_scan(dst=\1, data0=\2, data1=\3, ")


@dataclass(frozen=True)
class Case:
    """A kernel: where it is, how it is called with its module, and the edits by hand: (in words, pattern, text)."""

    name: str
    repository: str
    path: str
    call: object
    edits: tuple = ()


CASES = (
    Case("tensor addition", SAMPLES, f"{_TUTORIALS}/tensor_addition/tensor_addition_nki_kernels.py",
         lambda module, _: module.nki_tensor_add(random(256, 1024), random(256, 1024))),
    Case("tensor addition, SPMD", SAMPLES, f"{_TUTORIALS}/tensor_addition/spmd_tensor_addition_nki_kernels.py",
         lambda module, _: module.nki_tensor_add(random(256, 1024), random(256, 1024))),
    Case("transpose2d", SAMPLES, f"{_TUTORIALS}/transpose2d/transpose2d_nki_kernels.py",
         lambda module, _: module.tensor_transpose2D_kernel_(random(128, 60), shape2D=(12, 5)),
         (("leave the three index tiles out", r"(?m)^  i_(?:p0|f1|f2) = .*\n", ""),
          ("copy between views, one of them permuted", r"(?m)^  nisa\.tensor_copy\(dst=out_tile.*",
           "  nisa.tensor_copy(dst=out_tile.reshape((sz_p, sz_f2, sz_f1)), "
           "src=in_tile.reshape((sz_p, sz_f1, sz_f2)).permute((0, 2, 1)))"))),
    Case("average_pool2d", SAMPLES, f"{_TUTORIALS}/average_pool2d/average_pool2d_nki_kernels.py",
         lambda module, _: module.tensor_avgpool_kernel(random(64, 12, 12), 2),
         (("leave the index tiles out", r"(?m)^  i0, .*\n", ""),
          ("a view of windows, the two dimensions within a window last", r"in_tile\[i0.*?\]",
           "in_tile.reshape((sz_p, sz_hout, sz_pool, sz_wout, sz_pool)).permute((0, 1, 3, 2, 4))"),
          ("sum over the last two, times the inverse of their number",
           r"nl\.sum\((in_tile.*?),\s*axis=\[2,4\]\) / \((.*?)\)", r"nl.multiply(nl.sum(\1, axis=[3,4]), 1 / (\2))"))),
    *(Case(f"fused mamba {version}", SAMPLES, f"{_TUTORIALS}/fused_mamba/mamba_nki_kernels.py", _mamba(version),
           (_SCAN,)) for version in ("v1", "v2", "v3")),
    Case("silu v1", KDA, "workspaces/silu/runs/silu_v1.py", lambda module, _: module.kernel(random(128, 32, 7168))),
    Case("silu v2", KDA, "workspaces/silu/runs/silu_v2_k4.py", lambda module, _: module.kernel(random(128, 32, 7168))),
    Case("adamw v2", KDA, "workspaces/adamw/runs/adamw_v2_ch512.py", _task("adamw_M10944_N2048_numpy_1")),
    Case("bmm v1", KDA, "workspaces/bmm/runs/bmm_v1.py", _task("bmm_B16_M4096_K64_N4096_numpy_1")),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--checkouts", type=Path, required=True, help="folder with the checkouts")
    parser.add_argument("--to", default="0.6", help="the release to port to")
    parser.add_argument("--output", type=Path, help="write the page here instead of printing it")
    parser.add_argument("--only", default="", help="only cases whose name holds this")
    parser.add_argument("--run", nargs=3, metavar=("CASE", "RELEASE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        return run_one(*options.run, options.checkouts)
    trnsim.install()  # for the imports
    rows = []
    for case in CASES:
        if options.only in case.name:
            rows.append(_row(case, options))
            print(rows[-1], file=sys.stderr, flush=True)
    page = text(rows, options.to)
    options.output.write_text(page, encoding="utf-8") if options.output else print(page)
    return 0 if all(row.endswith("| equal bits |") for row in rows) else 1


def _row(case: Case, options) -> str:
    from trnsim.port import command

    from calibration import checkouts

    try:
        file = checkouts.find(options.checkouts, case.repository, case.path)
    except checkouts.Missing as missing:
        return f"| {case.name} | `{case.path.rpartition('/')[2]}` | – | – | {missing} |"
    found = command.ordered(command.advised(file, options.to))
    mechanical = sum(finding.mechanical for finding in found)
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for release in ("beta1", options.to):
            result = Path(folder, f"{release}.npz")
            done = subprocess.run([sys.executable, "-W", "ignore", __file__, "--checkouts", options.checkouts, "--run",
                                   case.name, release, result], capture_output=True, text=True)
            if done.returncode != 0:
                why = (done.stderr.strip().splitlines() or ["no message"])[-1]
                return _line(case, mechanical, f"under {release}: {why[:160]}")
            results.append(np.load(result))
        before, after = results
        equal = all(np.array_equal(before[k].view(np.uint8), after[k].view(np.uint8)) for k in before.files)
    return _line(case, mechanical, "equal bits" if equal else "other results")


def _line(case: Case, mechanical: int, outcome: str) -> str:
    return f"| {case.name} | `{case.path.rpartition('/')[2]}` | {mechanical} | {len(case.edits)} | {outcome} |"


def run_one(name: str, release: str, result: str, folder: Path) -> int:
    """Runs one case under one release in this process and leaves its results in a file."""
    trnsim.install(nki="auto" if release == "beta1" else release, chip="trn2")
    from trnsim.port import command

    from calibration import checkouts

    case = next(case for case in CASES if case.name == name)
    file = checkouts.find(folder, case.repository, case.path)
    source = file.read_text(encoding="utf-8")
    if release != "beta1":
        source, file = command.advised(file, release).rewritten(), Path(result).with_suffix(".py")
        for words, pattern, new in case.edits:
            source, count = re.subn(pattern, new, source)
            if not count:
                raise SystemExit(f"nothing to edit by hand: {words}")
        file.write_text(source, encoding="utf-8")
    module = types.ModuleType("ported")
    module.__file__ = str(file)
    exec(compile(source, str(file), "exec"), module.__dict__)
    results = case.call(module, folder)
    np.savez(result, *(np.asarray(r) for r in (results if isinstance(results, (tuple, list)) else (results,))))
    return 0


def text(rows: list[str], release: str) -> str:
    by_hand = [f"* {case.name}: {'; '.join(words for words, _, _ in case.edits)}." for case in CASES if case.edits]
    return "\n".join([
        "# Kernels of Beta 1, ported", "",
        f"Written by `validation/port.py` from public kernels. Each ran under Beta 1, then, after `trnsim port --to "
        f"{release}`", "and the edits by hand below, under that release. Do not edit: run it again.", "",
        "| kernel | file | places that the patch changes | edits by hand | results |",
        "| --- | --- | ---: | ---: | --- |", *rows, "", "By hand:", "", *by_hand, ""])


if __name__ == "__main__":
    sys.exit(main())
