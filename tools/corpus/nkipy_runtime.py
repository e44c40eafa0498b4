"""Stands in for the runtime that the tests of nkipy drive: a wrapped or traced kernel is called on host arrays."""

import sys
import types

import nki
import neuronxcc.nki as beta1
import numpy as np


def wrap_nki_kernel(kernel, arguments, grid=(), is_nki_beta_2_version=False, is_nki_beta_3_version=False, **_):
    """The kernel as a function of its arrays; the other arguments are those given here."""
    front_end = nki if is_nki_beta_2_version or is_nki_beta_3_version else beta1
    launched = front_end.jit(kernel)
    launched = launched[grid] if grid else launched
    fixed = arguments[sum(isinstance(a, np.ndarray) for a in arguments) :]
    return lambda *arrays: launched(*arrays, *fixed)


class Traced:
    def __init__(self, function):
        self.function = function

    @classmethod
    def trace(cls, function, **_):
        return cls(function)

    def specialize(self, *arrays):
        self.arrays = arrays
        return self.function(*arrays)

    def __call__(self, *arrays, **named):
        return self.function(*arrays, **named)


def assert_allclose(expected, result):
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5, atol=1e-6)


def _module(name, **contents):
    sys.modules[name] = created = types.ModuleType(name)
    created.__dict__.update(contents, __path__=[])


_module("nkipy")
_module("nkipy.core", compile=None, nki_op=None)
_module("nkipy.core.nki_op", BETA2_NKI_AVAILABLE=True, BETA3_NKI_AVAILABLE=True, LEGACY_NKI_AVAILABLE=True,
        wrap_nki_kernel=wrap_nki_kernel)
_module("nkipy.core.trace", NKIPyKernel=Traced)
_module("nkipy.runtime", is_neuron_compatible=lambda: False, DeviceKernel=None, DeviceTensor=None)
_module("utils", NEURON_AVAILABLE=True, baremetal_assert_allclose=assert_allclose,
        on_device_test=lambda function, _, *arrays: function(*arrays))
