"""The functions on tiles, each also the value that instructions take as `op=`: nl.add(x, y) and op=nl.add."""

import functools

from trnsim import _native, lowering


class Operator(_native.Token):
    """An operator or function of the language. Calling it computes on tiles; as `op=` it names what to
    compute."""

    def __init__(self, name: str, function):
        super().__init__(name, *lowering.SPELLINGS[name])
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return isinstance(other, _native.Token) and other.name == self.name


def _binary(name):
    def function(x, y, dtype=None):
        result = lowering.binary(name, x, y, dtype)
        result.is_comparison = name in lowering.COMPARISONS
        return result

    return function


def _unary(name):
    def function(x, dtype=None):
        return lowering.unary(name, x, dtype)

    return function


def _reduction(name):
    def function(x, axis, dtype=None, keepdims=False):
        return lowering.reduce(name, x, axis, dtype, keepdims)

    return function


def _operand_only(name):
    def function(*_, **__):
        error = _native.ProgramError(
            f"nl.{name} is an operand of instructions (op=nl.{name}), not a function"
        )
        error.rule = "language.operator"
        raise error

    return function


_BINARY = {
    "add": "x + y",
    "subtract": "x - y",
    "multiply": "x * y",
    "maximum": "The larger of x and y",
    "minimum": "The smaller of x and y",
    "divide": "x / y, as x times the reciprocal of y",
    "power": "x to the power of y",
    "mod": "The remainder of x / y (not on the hardware: refused)",
    "fmod": "The remainder of x / y with the sign of x (not on the hardware: refused)",
    "abs_max": "The one of x and y with the larger magnitude",
    "abs_min": "The one with the smaller magnitude",
    "equal": "1 where x == y, else 0",
    "not_equal": "1 where x != y, else 0",
    "greater": "1 where x > y, else 0",
    "greater_equal": "1 where x >= y, else 0",
    "less": "1 where x < y, else 0",
    "less_equal": "1 where x <= y, else 0",
    "logical_and": "1 where both are nonzero, else 0",
    "logical_or": "1 where either is nonzero, else 0",
    "logical_xor": "1 where just one is nonzero, else 0",
    "bitwise_and": "x & y",
    "bitwise_or": "x | y",
    "bitwise_xor": "x ^ y",
    "left_shift": "x << y",
    "right_shift": "x >> y, zeros shifted in",
}
_UNARY = {
    "abs": "The magnitude",
    "square": "x * x",
    "rsqrt": "1 / sqrt(x)",
    "reciprocal": "1 / x",
    "invert": "~x",
    "logical_not": "1 where x is 0, else 0",
    "relu": "max(x, 0)",
    "copy": "A copy of x in SBUF",
    "sigmoid": "1 / (1 + exp(-x))",
    "gelu": "Gaussian error linear unit",
    "gelu_dx": "Derivative of gelu",
    "gelu_apprx_tanh": "gelu by its tanh formula",
    "gelu_apprx_sigmoid": "gelu as x * sigmoid(1.702 x)",
    "gelu_apprx_sigmoid_dx": "Derivative of gelu_apprx_sigmoid",
    "silu": "x * sigmoid(x)",
    "silu_dx": "Derivative of silu",
    "tanh": "Hyperbolic tangent",
    "softplus": "log(1 + exp(x))",
    "mish": "x * tanh(softplus(x))",
    "erf": "Error function",
    "erf_dx": "Derivative of erf",
    "exp": "e to the x",
    "sign": "-1, 0 or 1",
    "log": "Natural logarithm",
    "sqrt": "Square root",
    "arctan": "Inverse tangent; defined for x within -pi/2 and pi/2",
    "sin": "Sine, for any x",
}
_REDUCTION = {"sum": "Sum", "prod": "Product", "max": "Maximum", "min": "Minimum"}
_OPERANDS = {"bypass": "", "average": "", "prelu": ""}


def _make(name):
    for group, build, tail in (
        (_BINARY, _binary, ", element by element"),
        (_UNARY, _unary, ", element by element"),
        (_REDUCTION, _reduction, " over the last free dimensions"),
        (_OPERANDS, _operand_only, "An operand of instructions"),
    ):
        if name in group:
            function = build(name)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = group[name] + tail + "."
            return Operator(name, function)
    return None


def _all(x, axis, dtype=None):
    """1 where every element along the last free dimensions is nonzero, else 0."""
    return lowering.all_(x, axis, dtype)


for _name in lowering.SPELLINGS:
    _operator = _make(_name)
    if _operator is not None:
        globals()[_name] = _operator
globals()["all"] = Operator("all", _all)

__all__ = [name for name in lowering.SPELLINGS if isinstance(globals().get(name), Operator)]  # noqa: PLE0604
