"""Operators and functions: each is the value that instructions take as `op=` and, where it can be, a function on tiles."""

from trnsim import _native

_ALU = ("add subtract multiply maximum minimum equal not_equal greater greater_equal less less_equal logical_and logical_or "
        "logical_xor logical_not power abs_max abs_min abs square relu rsqrt reciprocal divide mod fmod bitwise_and bitwise_or "
        "bitwise_xor invert left_shift right_shift bypass average").split()
_ACTIVATION = ("copy square sigmoid relu prelu gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx silu "
               "silu_dx tanh softplus mish erf erf_dx exp sign abs log sin arctan sqrt rsqrt reciprocal").split()

for _name in dict.fromkeys(_ALU + _ACTIVATION):
    globals()[_name] = _native.Token(_name, _name if _name in _ALU else "", _name if _name in _ACTIVATION else "")

__all__ = list(dict.fromkeys(_ALU + _ACTIVATION))  # noqa: PLE0604
