"""Make `import nki` and `import neuronxcc.nki` resolve to the simulator in this process.

A finder in front of the import system maps the vendor's module names onto packages of trnsim; which dialect a script
gets follows from the name that it imports.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

from trnsim import _native, drivers, environment, session
from trnsim.releases.table import RELEASES

_DIALECTS = {
    "nki": "trnsim.nki",
    "neuronxcc": "trnsim.beta1.neuronxcc",
    "torch_neuronx": "trnsim.drivers.torch_neuronx",
    "torch_xla": "trnsim.drivers.torch_xla",
    "jax_neuronx": "trnsim.drivers.jax_neuronx",
}
# Where the real one of these is installed it is used, on whatever device it finds.
_YIELDING = ("torch_xla", "jax_neuronx")
_REFUSED = {
    "neuronx_distributed": "models over several devices are not run by the simulator",
    "neuronx_distributed_inference": "models over several devices are not run by the simulator",
    "transformers_neuronx": "compiled models are not run by the simulator",
    "libneuronxla": "it is the compiler's plug-in of a Neuron device",
}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        top, _, rest = name.partition(".")
        if top in (*_YIELDING, *_REFUSED) and importlib.machinery.PathFinder.find_spec(top) is not None:
            return None
        if top in _REFUSED:
            raise drivers.UnsupportedModule(f"{name}, because {_REFUSED[top]}")
        if top not in _DIALECTS:
            return None
        if session.settings.nki != "auto":
            from trnsim.releases import adapt

            adapt.check_import(name, session.settings.nki)
        real = _DIALECTS[top] + ("." + rest if rest else "")
        try:
            if importlib.util.find_spec(real) is None:
                return _missing(name, top, rest)
        except ModuleNotFoundError:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.loader_state = real
        return spec

    def create_module(self, spec):
        real = importlib.import_module(spec.loader_state)
        if session.settings.nki == "auto" or spec.name.partition(".")[0] != "nki":
            return real
        from trnsim.releases import adapt  # only where a release is named

        return adapt.module(spec.name, real, session.settings.nki)

    def exec_module(self, module):
        pass


def _missing(name, top, rest):
    if rest and _DIALECTS[top].startswith("trnsim.drivers"):
        raise drivers.UnsupportedModule(f"{name}, because {drivers.NO_COUNTERPART}")


_finder = _Finder()


def install(nki: str = "auto", chip: str | None = None, timing_only: bool = False, seed: int | None = None,
            stochastic_rounding: bool | None = None, stop_on_nan: bool = False, exact_integers: bool = False,
            spill: bool = False, precise: bool = True, schedule: str | None = None) -> None:
    """Simulate NKI kernels in this process.

    nki: release whose names, parameters and rules apply, strictly, to what is imported from here on ("0.2" to
    "0.7", "beta1"); "auto" takes code of every release as far as the imported dialect allows.
    chip: a name of the catalogue ("trn1", "inf2", "trn2", "trn3", ...) or the path of a TOML file. Without one, that
    of NEURON_PLATFORM_TARGET_OVERRIDE, else that of nki.jit(platform_target=), else trn2.
    timing_only: clock kernels without computing values.
    seed: of the random number engines and of stochastic rounding; without one, NEURON_RT_STOCHASTIC_ROUNDING_SEED.
    stochastic_rounding: round results narrower than fp32 at random instead of to nearest; where it is None,
    NEURON_RT_STOCHASTIC_ROUNDING_EN decides.
    stop_on_nan: raise NonFiniteError at the first instruction that makes a NaN or an infinity; slow.
    exact_integers: refuse 32-bit integers of 2^24 and more that an engine reads or writes through fp32, where they may
    lose bits without notice (rule memory.inexact_integer).
    spill: let tiles of `nki` kernels that do not all fit into SBUF give way to each other, and clock the transfers, as
    the compiler does; without it they are refused (rule memory.capacity).
    precise: the vendor's NKI_PRECISE_FP. False, fp32 in place of every narrower float type, is refused.
    schedule: "program" for engines that take instructions as written, "list" for a list scheduler's order; without it,
    what fits the dialect: list for neuronxcc.nki, program for nki.
    Raises ConfigError for an unknown chip, release or schedule, Unsupported for precise=False.
    """
    if not precise:
        environment.refuse_fp32_storage()
    if nki != "auto" and nki not in RELEASES:
        raise _native.ConfigError(f"unknown NKI release '{nki}'; known are auto, {', '.join(RELEASES)}")
    if schedule not in (None, "program", "list"):
        raise _native.ConfigError(f"unknown schedule '{schedule}'; it is program or list")
    if chip is not None:
        session.load_chip(chip)
    if nki != session.settings.nki:
        _forget_modules()  # each release has modules of its own
    session.settings = session.Settings(named_chip=chip, nki=nki, timing_only=timing_only, named_seed=seed,
                                        named_stochastic_rounding=stochastic_rounding, stop_on_nan=stop_on_nan,
                                        exact_integers=exact_integers, spill=spill, schedule=schedule or "")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        _forget_modules()


def _forget_modules() -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] in _DIALECTS]:
        del sys.modules[name]


def uninstall() -> None:
    """Undo `install`: later imports find the vendor's packages again, if there are any."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    _forget_modules()
