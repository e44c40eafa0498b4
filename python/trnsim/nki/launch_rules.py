"""What a release asks of a kernel's decorator, signature, arguments and results."""

import builtins
import contextlib
import inspect

from trnsim import environment, releases
from trnsim.nki.language import buffers

_NAMES = {"sbuf": buffers.sbuf, "psum": buffers.psum, "hbm": buffers.hbm}


def target_of(options) -> str | None:
    """The chip that nki.jit(platform_target=) names; refused where the release does so."""
    target = options.get("platform_target")
    if target is None:
        return None
    if not releases.applies("jit(platform_target)"):
        releases.refuse("launch.platform_target", "nki.jit", "jit(platform_target)")
    return environment.chip_of_target(target, "nki.jit(platform_target=)")


def check_call(function, args, kwargs) -> None:
    """Refuse keyword-only parameters and lists as arguments where the release does."""
    if releases.named() is None:
        return
    signature = inspect.signature(function)
    only = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    if only and not releases.applies("keyword-only parameters"):
        given = f": move {', '.join(only)} before the '*'"
        releases.refuse("launch.signature", function.__name__, "keyword-only parameters", given)
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        if isinstance(value, list) and not releases.applies("lists as arguments"):
            releases.refuse("launch.argument", function.__name__, "lists as arguments", f": {name} is a list")


@contextlib.contextmanager
def names_of_compiler():
    """While a kernel runs, names that the compiler of old releases knows without an import, where nothing else has
    them."""
    added = [n for n in _NAMES if not hasattr(builtins, n)] if releases.applies("sbuf and hbm as names") else []
    for name in added:
        setattr(builtins, name, _NAMES[name])
    try:
        yield
    finally:
        for name in added:
            delattr(builtins, name)


def check_result(tensor) -> None:
    """Refuse a result outside shared_hbm where the release does."""
    if tensor.space == "HBM" and tensor.is_private and not releases.applies("results in any HBM"):
        given = f": '{tensor.name}' is in nl.hbm"
        releases.refuse("launch.result", "kernel", "results in any HBM", given)
