"""The modules of `nki` as one named release has them: other names are absent, other parameters refused.

Without a named release scripts get trnsim.nki itself, and nothing here costs anything.
"""

import functools
import importlib
import types
import warnings

from trnsim import releases
from trnsim.lowering.tiles import refuse
from trnsim.nki.choices import ChoiceGroup
from trnsim.nki.language.operators import Operator
from trnsim.releases import calls
from trnsim.releases.table import DEPRECATED, OPERATORS_IN_0_2


def module(name: str, real: types.ModuleType, release: str) -> types.ModuleType:
    """`real`, which simulates the vendor's module `name`, as `release` has it."""
    adapted = types.ModuleType(name, real.__doc__)
    adapted.__all__ = []
    for span in releases.NAMES.get(name, ()):
        for attribute in span.names.split() if span.holds(release) else ():
            if hasattr(real, attribute) and not isinstance(getattr(real, attribute), types.ModuleType):
                setattr(adapted, attribute, _value(name, attribute, getattr(real, attribute), release))
                adapted.__all__.append(attribute)
    if hasattr(real, "__version__"):
        adapted.__version__ = f"{release}.0"
    adapted.__getattr__ = functools.partial(_missing, name, release)
    return adapted


def _missing(name, release, attribute):
    span = releases.span_of(name, attribute)
    if span is not None and span.holds(release):
        return importlib.import_module(f"{name}.{attribute}")  # a module of the package
    text = releases.why_absent(f"{name}.{attribute}", span, release) if span else None
    raise _rule(releases.AbsentName(text or f"module '{name}' has no attribute '{attribute}'"))


def _rule(error):
    error.rule = "release.name"
    return error


def _value(name, attribute, value, release):
    path = f"{name}.{attribute}"
    if name == "nki.language" and release == "0.2" and attribute in OPERATORS_IN_0_2.split():
        return Operator(attribute, _operator_only(attribute))
    if isinstance(value, ChoiceGroup) and path in releases.NAMES:
        return ChoiceGroup(attribute, {n: getattr(value, n) for n in _names(path, release)})
    if attribute == "tile_size":
        return _Attributes(path, value, release)
    if isinstance(value, Operator):  # stays an operator: only its calls differ
        return Operator(value.name, calls.of_release(path, value._function, release))
    if isinstance(value, type) or not callable(value) or name == "nki":
        return value
    return _announced(path, calls.of_release(path, value, release), release)


def _names(path, release):
    return [name for span in releases.NAMES[path] if span.holds(release) for name in span.names.split()]


def _operator_only(name):
    def function(*_, **__):
        refuse(
            "release.name",
            f"nl.{name} is an operator for op= in release 0.2; the function on tiles came with release 0.3: use "
            "nki.isa instructions",
        )

    function.__name__ = name
    function.__doc__ = f"nl.{name}: an operator for op= arguments."
    return function


def _announced(path, function, release):
    """The function, with the warning that the release gives of its end."""
    first, instead = DEPRECATED.get(path, (None, ""))
    if first is None or not releases.Span(first).holds(release):
        return function

    @functools.wraps(function)
    def deprecated(*args, **kwargs):
        _warn(path, first, instead)
        return function(*args, **kwargs)

    return deprecated


def _warn(path, first, instead):
    warnings.warn(f"{path} is deprecated since release {first}: use {instead}", DeprecationWarning, stacklevel=3)


class _Attributes:
    """An object with the attributes that the release has."""

    def __init__(self, path, value, release):
        self._path, self._value, self._release = path, value, release

    def __getattr__(self, name):
        span = releases.span_of(self._path, name)
        if span is None or not span.holds(self._release):
            text = releases.why_absent(f"{self._path}.{name}", span, self._release) if span else None
            raise _rule(releases.AbsentName(text or f"{self._path} has no attribute '{name}'"))
        if f"{self._path}.{name}" in DEPRECATED:
            first, instead = DEPRECATED[f"{self._path}.{name}"]
            if releases.Span(first).holds(self._release):
                _warn(f"{self._path}.{name}", first, instead)
        return getattr(self._value, name)


def check_import(name: str, release: str | None) -> None:
    """Raise AbsentImport where a module, or a name asked for as one, is not in the release."""
    top, _, rest = name.partition(".")
    if release is None:
        return
    if top == "nki" and release == "beta1":
        raise _rule(releases.AbsentImport("import nki: it came with release 0.2; the release here is beta1, whose name "
                                          "is neuronxcc.nki"))
    if name.startswith("neuronxcc.nki") and not releases.applies("import neuronxcc.nki"):
        raise _rule(releases.AbsentImport(f"{releases.BEHAVIOUR['import neuronxcc.nki'].text}{releases.here()}"))
    parent, _, last = name.rpartition(".")
    span = releases.span_of(parent, last) if top == "nki" and rest else None
    if span is not None and not span.holds(release):
        raise _rule(releases.AbsentImport(releases.why_absent(name, span, release)))


