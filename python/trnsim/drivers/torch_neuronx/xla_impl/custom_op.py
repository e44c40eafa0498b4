"""`torch_neuronx.xla_impl.custom_op`: operators in C++, which become torch.ops.<library>.<operator>."""

import torch

from trnsim import gpsimd
from trnsim.drivers import NO_COUNTERPART, refuse_others
from trnsim.gpsimd.process import DOUBLE, INTEGER, SCALAR, TENSOR

_SCHEMA = {TENSOR: "Tensor", SCALAR: "Scalar", DOUBLE: "float", INTEGER: "int"}
_current = {}  # (library, operator): the operator that was loaded last under the name
_definitions = []  # PyTorch forgets the operators of a definition that is dropped


def load(name: str, compute_srcs, shape_srcs, build_directory=None, multicore: bool = False, verbose: bool = False,
         extra_cflags=()) -> None:
    """Compile the operators, write lib<name>.so to build_directory and load it. See trnsim.gpsimd.load."""
    _define(gpsimd.load(name, compute_srcs, shape_srcs, build_directory, multicore, verbose, extra_cflags))


def load_library(path) -> None:
    """Load a library that `load` has written."""
    _define(gpsimd.load_library(path))


def _define(library: gpsimd.Library) -> None:
    for operator in library.operators.values():
        key = operator.namespace, operator.name
        if key not in _current:
            definition = torch.library.Library(operator.namespace, "FRAGMENT")
            parameters = ", ".join(f"{_SCHEMA[kind]} a{i}" for i, kind in enumerate(operator.kinds))
            definition.define(f"{operator.name}({parameters}) -> Tensor")
            definition.impl(operator.name, lambda *arguments, key=key: _current[key](*arguments), "CPU")
            _definitions.append(definition)
        _current[key] = operator


__getattr__ = refuse_others("torch_neuronx.xla_impl.custom_op", NO_COUNTERPART)
