"""The operators and functions of NKI by name, each as the native token that instructions take."""

import numpy as np

from trnsim import _native

_ALU = (
    "add subtract multiply maximum minimum equal not_equal greater greater_equal less less_equal logical_and "
    "logical_or logical_xor logical_not power abs_max abs_min abs square relu rsqrt reciprocal divide mod "
    "fmod bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bypass average"
).split()
_ACTIVATION = (
    "copy square sigmoid relu prelu gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid gelu_apprx_sigmoid_dx "
    "silu silu_dx tanh softplus mish erf erf_dx exp sign abs log sin arctan sqrt rsqrt reciprocal"
).split()
# Reductions share their name with no operator, but stand for one as `op=`.
_REDUCTIONS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "all": "logical_and"}

ALU_OPS = frozenset(_ALU)
ACTIVATIONS = frozenset(_ACTIVATION)
COMPARISONS = frozenset("equal not_equal greater greater_equal less less_equal".split())
BITWISE = frozenset("bitwise_and bitwise_or bitwise_xor invert left_shift right_shift".split())
UNARY = frozenset("logical_not abs square relu rsqrt reciprocal invert".split())

# name: (ALU operator, activation function), each "" where the name is none.
SPELLINGS = {
    name: (name if name in ALU_OPS else "", name if name in ACTIVATIONS else "")
    for name in dict.fromkeys(_ALU + _ACTIVATION)
}
SPELLINGS.update({name: (op, "") for name, op in _REDUCTIONS.items()})

TOKENS = {name: _native.Token(name, *spelling) for name, spelling in SPELLINGS.items()}

_NUMPY = {
    "add": "add sum",
    "subtract": "subtract",
    "multiply": "multiply prod",
    "maximum": "maximum max fmax",
    "minimum": "minimum min fmin",
    "logical_and": "logical_and all",
    "logical_or": "logical_or any",
    "abs": "abs",
    "arctan": "arctan",
    "divide": "divide",
    "invert": "invert",
}
_NUMPY |= {
    name: name
    for name in (
        "equal not_equal greater greater_equal less less_equal logical_xor logical_not power square "
        "reciprocal mod fmod bitwise_and bitwise_or bitwise_xor left_shift right_shift tanh exp sign "
        "log sin sqrt copy"
    ).split()
}

# numpy's functions as kernels write them: op=np.add, op=np.max.
FOREIGN = {getattr(np, spelled): name for name, all_ in _NUMPY.items() for spelled in all_.split()}

for _function, _name in FOREIGN.items():
    _native.stand_for(_function, TOKENS[_name])


def name_of(op) -> str:
    """The NKI name of an operator given as a token, a numpy function or a name. Raises ProgramError for
    others."""
    if isinstance(op, _native.Token):
        return op.name
    name = op if isinstance(op, str) else FOREIGN.get(op) if callable(op) else None
    if name not in TOKENS:
        error = _native.ProgramError(f"{op!r} is not an operator that NKI knows; use one such as nl.add")
        error.rule = "language.operator"
        raise error
    return name


def token(op) -> _native.Token:
    """The native token of an operator given in any of the ways that name_of() takes."""
    return TOKENS[name_of(op)]
