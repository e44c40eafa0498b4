"""Kernels of aws-neuron/nki-library, called by its own tests with the parameters that a row gives.

The tests build a kernel's inputs and hand them to a test manager; the one here runs the kernel and compares nothing.
"""

import contextlib
import importlib
import io
import sys
from pathlib import Path

import nki
import nki.language as nl
import numpy as np
import trnsim

from calibration.rows import Row

_TESTS = "test.integration.nkilib.core"
_GENERATORS = ("gaussian_tensor_generator", "random_lhs_and_random_bound_weight_tensor_generator",
               "static_scale_wrapper")
_HARNESS = Path(__file__).parents[2] / "tools"


class _Launches:
    """The test manager: runs what it is given."""

    def execute(self, arguments):
        inputs = {name.removesuffix(".must_alias_input"): value for name, value in arguments.kernel_input.items()}
        with contextlib.redirect_stdout(io.StringIO()):  # the kernels report their use of memory
            nki.jit(arguments.kernel_func)[arguments.compiler_input.logical_nc_config](**inputs)


def _test_module(checkout: Path, name: str):
    """A module of its tests, in which every generator of tensors makes zeros."""
    for folder in (checkout / "src/nkilib_src", checkout / "src", checkout, _HARNESS):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    importlib.import_module("corpus.nki_library_harness")
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


def mlp_tkg(row: Row, checkout: Path) -> None:
    module, p = _test_module(checkout, "mlp.test_mlp_tkg"), row.params
    same = ("batch", "hidden", "intermediate", "seqlen", "fused_add", "store_add", "gate_bias", "up_bias",
            "down_bias", "norm_bias", "skip_gate_proj", "use_tkg_gate_up_proj_column_tiling",
            "use_tkg_down_proj_column_tiling", "use_tkg_down_proj_optimized_layout")
    module.TestMlpTkgKernels().run_mlp_tkg_test(
        test_manager=_Launches(), compiler_args=_compiled(p["vnc_degree"]), collector=None, lnc_degree=p["vnc_degree"],
        dtype=_dtype(p["dtype"]), quant_dtype=_dtype(p["quant_dtype"]), act_fn_type=module.ActFnType[p["act_fn_type"]],
        quantization_type=module.QuantizationType[p["quant_type"]], norm_type=module.NormType[p["norm_type"]],
        **{name: p[name] for name in same})


def mlp_cte(row: Row, checkout: Path) -> None:
    module, p = _test_module(checkout, "mlp.test_mlp_cte"), row.params
    same = ("batch", "hidden", "intermediate", "seqlen", "fused_add", "store_add", "gate_bias", "up_bias",
            "down_bias", "norm_bias", "skip_gate", "rtol")
    module.TestMlpCteKernel().run_mlp_cte_test(
        test_manager=_Launches(), compiler_args=_compiled(p["vnc_degree"]), collector=None, lnc_degree=p["vnc_degree"],
        dtype=nl.bfloat16, act_fn_type=module.ActFnType[p["act_fn_type"]],
        quant_type=module.QuantizationType[p["quantization_type"]], norm_type=module.NormType[p["norm_type"]],
        **{name: p[name] for name in same})


def rmsnorm_quant(row: Row, checkout: Path) -> None:
    module, p = _test_module(checkout, "rmsnorm.test_rmsnorm_quant"), row.params
    module.TestRmsNormQuantKernel().run_rmsnorm_quant_test(
        test_manager=_Launches(), compiler_args=_compiled(p["lnc_degree"]), collector=None, batch_size=p["batch"],
        hidden_size=p["hidden"], dtype=nl.bfloat16, lnc_degree=p["lnc_degree"], lower_bound=p["lower_bound"],
        quant_type=module.QuantizationType[p["quant_type"]], quant_dtype=nl.float8_e4m3, seqlen=p["seqlen"],
        quant_only=p["quant_only"], tensor_gen=_zeros)
