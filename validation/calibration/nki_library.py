"""Kernels of aws-neuron/nki-library, called by its own tests with the parameters that a row gives.

The tests build a kernel's inputs and hand them to a test manager; the one here runs the kernel and compares nothing.
A row names the list that its parameters are an entry of; the test function that runs over that list is called with the
row's values, so a figure of any test needs no case of its own.
"""

import enum
import importlib
import inspect
import re
import sys
from pathlib import Path

import nki
import nki.language as nl
import numpy as np
import trnsim

from calibration import checkouts
from calibration.rows import Row, Unpredicted

REPOSITORY = "aws-neuron/nki-library"
_TESTS = "test.integration.nkilib.core"
_GENERATORS = ("gaussian_tensor_generator", "random_lhs_and_random_bound_weight_tensor_generator",
               "static_scale_wrapper", "np_random_sample")
_HARNESS = Path(__file__).parents[2] / "tools"
FIGURES = ("tpbSgCyclesSum", "cyclesQoR", "qor")  # what the lists call the expected time of an entry
_PUBLISHED = ("qkv.test_qkv_tkg",)
_CORES = ("vnc_degree", "lnc_degree")


class _Launches:
    """The test manager: runs what it is given, on `cores` physical cores."""

    def __init__(self, cores: int):
        self.cores = cores

    def execute(self, arguments):
        inputs = {name.removesuffix(".must_alias_input"): value for name, value in arguments.kernel_input.items()}
        nki.jit(arguments.kernel_func)[self.cores](**inputs)


def checkout(folder: Path) -> Path:
    """The checkout of the library, its packages on the path."""
    found = checkouts.find(folder, REPOSITORY, "test/pytest.ini").parent.parent
    for part in (found / "src/nkilib_src", found / "src", found, _HARNESS):
        if str(part) not in sys.path:
            sys.path.insert(0, str(part))
    return found


def test_module(folder: Path, name: str):
    """A module of its tests, in which every generator of tensors makes zeros."""
    checkout(folder)
    importlib.import_module("corpus.nki_library_harness").name_platforms()
    module = importlib.import_module(f"{_TESTS}.{name}")
    for generator in _GENERATORS:
        if hasattr(module, generator):
            setattr(module, generator, lambda *_, **__: _zeros)
    return module


def _zeros(shape, dtype, name=None):
    return np.zeros(shape, trnsim.dtypes.host_dtype(dtype))


def _dtype(name: str | None):
    return None if name is None else getattr(nl, name)


def _compiled(lnc: int):
    dataclasses = importlib.import_module("test.utils.common_dataclasses")
    return dataclasses.CompilerArgs(logical_nc_config=lnc)


def _cores(row: Row) -> int:
    given = [row.params[name] for name in _CORES if name in row.params]
    return given[0] if given else int(row.lnc)


def mlp_tkg(row: Row, folder: Path) -> None:
    module, p = test_module(folder, "mlp.test_mlp_tkg"), row.params
    same = ("batch", "hidden", "intermediate", "seqlen", "fused_add", "store_add", "gate_bias", "up_bias",
            "down_bias", "norm_bias", "skip_gate_proj", "use_tkg_gate_up_proj_column_tiling",
            "use_tkg_down_proj_column_tiling", "use_tkg_down_proj_optimized_layout")
    cores = row.param("vnc_degree")
    module.TestMlpTkgKernels().run_mlp_tkg_test(
        test_manager=_Launches(cores), compiler_args=_compiled(cores), collector=None, lnc_degree=cores,
        dtype=_dtype(p["dtype"]), quant_dtype=_dtype(p["quant_dtype"]), act_fn_type=module.ActFnType[p["act_fn_type"]],
        quantization_type=module.QuantizationType[p["quant_type"]], norm_type=module.NormType[p["norm_type"]],
        **{name: row.param(name) for name in same})


def mlp_cte(row: Row, folder: Path) -> None:
    module, p = test_module(folder, "mlp.test_mlp_cte"), row.params
    same = ("batch", "hidden", "intermediate", "seqlen", "fused_add", "store_add", "gate_bias", "up_bias",
            "down_bias", "norm_bias", "skip_gate", "rtol")
    cores = row.param("vnc_degree")
    module.TestMlpCteKernel().run_mlp_cte_test(
        test_manager=_Launches(cores), compiler_args=_compiled(cores), collector=None, lnc_degree=cores,
        dtype=nl.bfloat16, act_fn_type=module.ActFnType[p["act_fn_type"]],
        quant_type=module.QuantizationType[p["quantization_type"]], norm_type=module.NormType[p["norm_type"]],
        **{name: row.param(name) for name in same})


def listed(row: Row, folder: Path) -> None:
    """A row of any list of parameters that a test function of the library runs over."""
    path = re.search(r"test/integration/nkilib/core/([\w/]+)\.py", row.source)
    if path is None:
        raise Unpredicted("the row names no test file of nki-library")
    module = test_module(folder, path[1].replace("/", "."))
    owner, function, lists = _runs_over(module, row.param("test_list"))
    function(owner(), **_arguments(row, function, lists))


def _runs_over(module, name: str):
    """The test class, its function that runs over the list of that name, and all lists of that function."""
    for owner in (value for value in vars(module).values() if inspect.isclass(value)):
        wanted = vars(owner).get(name, vars(module).get(name))
        for function in vars(owner).values():
            lists = [mark.args for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
            if wanted is not None and any(values is wanted for _, values in lists):
                return owner, function, lists
    raise checkouts.Missing(f"{REPOSITORY}: no test runs over {name}")


def _arguments(row: Row, function, lists) -> dict:
    """The arguments of a test function: the row's; of a list that it says nothing of, the first entry's."""
    cores = _cores(row)
    given = {"test_manager": _Launches(cores), "collector": None, "compiler_args": _compiled(cores)}
    for names, entries in lists:
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        entries = [getattr(entry, "values", entry) for entry in entries]
        entries = [entry if len(names) > 1 else [entry] for entry in entries]
        told = any(name in row.params for name in names)
        for place, name in enumerate(names):
            examples = [entry[place] for entry in entries]
            if name in FIGURES:
                given[name] = None
            else:
                given[name] = value_like(row.param(name), examples) if told else examples[0]
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in given and name != "self" and parameter.default is parameter.empty:
            given[name] = row.param(name)
    return {name: value for name, value in given.items() if name in inspect.signature(function).parameters}


def published_rows(folder: Path) -> list[Row]:
    """A row for each entry of the tests' lists that has a figure, of the files that measured rows seldom cover."""
    try:
        return [row for name in _PUBLISHED for row in _figures_of(test_module(folder, name), name)]
    except checkouts.Missing:
        return []


def _figures_of(module, name: str) -> list[Row]:
    rows = []
    for owner in (value for value in vars(module).values() if inspect.isclass(value)):
        for test_list, entries in vars(owner).items():
            names = vars(owner).get(test_list.removesuffix("_perms") + "_params")
            if not test_list.endswith("_perms") or names is None:
                continue
            names = [part.strip() for part in names.split(",")]
            for number, entry in enumerate(entries):
                rows += _row_of(name, test_list, number, dict(zip(names, getattr(entry, "values", entry))))
    return rows


def _row_of(module: str, test_list: str, number: int, entry: dict) -> list[Row]:
    figures = [entry.pop(name) for name in FIGURES if name in entry]
    told = [value for figure in figures for value in (figure if isinstance(figure, tuple) else (figure,)) if value]
    cores = next((str(entry[name]) for name in _CORES if name in entry), None)
    if not told or cores is None:
        return []
    params = {name: value.name if isinstance(value, enum.Enum) else getattr(value, "__name__", value)
              for name, value in entry.items()}
    file = module.replace(".", "/")
    return [Row(f"LIST-{test_list}-{number}", f"{REPOSITORY}@: test/integration/nkilib/core/{file}.py",
                module.rpartition("test_")[2], params | {"test_list": test_list}, "bf16", "trn2", cores,
                "expected_device_time", told[0] / 1e3, "ns", "high", cores)]


def value_like(value, examples: list):
    """The value that a row writes as text, of the kind that the test's own entries have."""
    if not isinstance(value, str):
        return value
    kinds = {type(example) for example in examples if isinstance(example, enum.Enum)}
    if kinds:
        return kinds.pop()[value.rpartition(".")[2]]
    if value.endswith(")"):
        return _zeros  # a generator of tensors
    return value if value in examples else getattr(nl, value, value)


def attention(row: Row, folder: Path) -> None:
    """attention_cte as other projects call it: Q of one head after the other, each group of them with one K and V."""
    checkout(folder)
    module = importlib.import_module("nkilib_src.nkilib.core.attention.attention_cte")
    heads, shared, d, length = (row.param(name) for name in ("q_heads", "kv_heads", "d", "q_len"))
    if row.params.get("cache"):
        raise Unpredicted("cache: how the caller lays out the cached keys is not stated")
    batch = row.params.get("batch", 1)
    one = row.array
    cores = int(row.n_cores or row.lnc)
    nki.jit(module.attention_cte)[cores](
        q=one(batch * heads, length, d), k=one(batch * shared, d, length), v=one(batch * shared, length, d), scale=1.0,
        causal_mask=row.params.get("causal", True), tp_q=True, tp_k=False, tp_out=False)


def topk(row: Row, folder: Path) -> None:
    """rotational_topk over a batch of rows of a vocabulary."""
    checkout(folder)
    module = importlib.import_module("nkilib_src.nkilib.core.topk.rotational_topk")
    module.topk[int(row.lnc)](row.array(row.param("batch"), 1, row.param("vocab")), row.param("k"))
