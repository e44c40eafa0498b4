"""A pytest plug-in that lets the tests of nki-library run: stand-ins for private packages of the vendor that its
harness imports, and fewer cases of each test.

CORPUS_CASES: how many cases of each test function run. CORPUS_SECONDS: the limit of each, in the processor's time.
"""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import math
import os
import re
import signal
import sys
import types

import nki
import pytest
import trnsim
from corpus import neuron_dtypes

CHIPS = {"gen2": "trn1", "gen3": "trn2", "gen4": "trn3"}
DOES_NOT_PARSE = "nkilib_src.nkilib.core.mlp.mlp"


def module(name, **contents):
    created = types.ModuleType(name)
    created.__dict__.update(contents)
    created.__path__ = []
    sys.modules[name] = created
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, created)
    return created


class Simulation:
    """nki.cpu_simulate(kernel)[cores](...)"""

    def __init__(self, kernel, cores=1):
        self.kernel, self.cores = kernel, cores

    def __getitem__(self, cores):
        return Simulation(self.kernel, cores)

    def __call__(self, **arguments):
        trnsim.install(chip=CHIPS[os.environ["NKI_NC_VERSION"]])
        return nki.jit(self.kernel)[self.cores](**arguments)


class Frontend:
    """What compiles a kernel without running it: here it is clocked without values."""

    def compile(self, kernel, inputs, lnc, **_):
        trnsim.install(chip=CHIPS[os.environ["NKI_NC_VERSION"]], timing_only=True)
        nki.jit(kernel)[lnc](**inputs)


class RepairedModule(importlib.machinery.SourceFileLoader):
    """One module of the snapshot has the end of a documentation string twice, so that it does not parse."""

    def get_data(self, path):
        data = super().get_data(path)
        if not path.endswith(".py"):
            return data
        lines = data.decode().splitlines(keepends=True)
        ends = [i for i, line in enumerate(lines) if line.strip() == '"""']
        try:
            compile(data, path, "exec")
        except SyntaxError:
            first = next(i for i, j in zip(ends, ends[1:]) if lines[i + 1 : j] and lines[i - 8 : i] == lines[j - 8 : j])
            del lines[first + 1 : ends[ends.index(first) + 1] + 1]
        return "".join(lines).encode()


class Repair(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != DOES_NOT_PARSE:
            return None
        file = os.path.join(list(path)[0], "mlp.py")
        return importlib.util.spec_from_file_location(name, file, loader=RepairedModule(name, file))


def stand_in():
    sys.modules["neuron_dtypes"] = neuron_dtypes
    for name in ("neuronxcc.starfish", "neuronxcc.starfish.support"):
        module(name)
    module("neuronxcc.starfish.support.dtype", static_cast=neuron_dtypes.static_cast)
    simulator = module("nki_cpu_simulator")
    simulator.nki = module("nki_cpu_simulator.nki", **{k: v for k, v in vars(nki).items() if not k.startswith("__")})
    simulator.nki.cpu_simulate = Simulation
    for name in ("isa", "isa.constants", "language", "typing", "compiler", "tensor", "builtin"):
        try:
            real = importlib.import_module(f"nki.{name}")
        except ImportError:
            real = types.ModuleType(name)
        sys.modules[f"nki_cpu_simulator.nki.{name}"] = real
        if "." not in name:
            setattr(simulator.nki, name, real)
    dtypes = importlib.import_module("nki.dtype")
    importlib.import_module("nki.language").dtypes = sys.modules["nki_cpu_simulator.nki.language.dtypes"] = dtypes
    module("nki.compiler.frontend", NKIFrontend=Frontend, ParserFrontend=Frontend)
    module("test.utils.scripts")
    module("test.utils.scripts.remote_lock_scripts", LockResult=object, LockStatus=object)
    module("test.utils.perf_analysis_private", analyze_trace=lambda *_, **__: None)
    sys.meta_path.insert(0, Repair())


stand_in()


class Inputs(dict):
    """Arguments of a kernel; one that is returned has a suffix to its name, which a test leaves out."""

    def __missing__(self, name):
        if name.endswith(".must_alias_input"):
            raise KeyError(name)
        return self[f"{name}.must_alias_input"]


def _with_any_spelling(constructor):
    def construct(self, *args, **kwargs):
        constructor(self, *args, **kwargs)
        described = self.output_tensor_descriptor
        self.output_tensor_descriptor = lambda inputs: described(Inputs(inputs))

    return construct


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    orchestrator = importlib.import_module("test.utils.test_orchestrator")
    orchestrator.Orchestrator._compiled_kernel = None
    framework = importlib.import_module("test.utils.unit_test_framework").UnitTestFramework
    framework.__init__ = _with_any_spelling(framework.__init__)
    name_platforms()


def name_platforms():
    """Platforms is used by some test files and imported by others only."""
    builtins.Platforms = importlib.import_module("test.utils.common_dataclasses").Platforms


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Of each test function the smallest few cases that its own switches do not skip as slow."""
    limit = int(os.environ.get("CORPUS_CASES", "3"))
    functions = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    items[:] = []
    for cases in functions.values():
        cases = [case for case in cases if not case.get_closest_marker("skip")] or cases[:1]
        items += sorted(cases, key=_size)[:limit]


def _size(case):
    """The product of the numbers in a case's name: its sizes, mostly."""
    return math.prod(max(1, int(number)) for number in re.findall(r"\d+", case.nodeid.partition("[")[2]))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Stop a test at its time limit, so that the others of its file still run."""
    seconds = int(os.environ.get("CORPUS_SECONDS", "0"))

    def stop(*_):
        pytest.fail(f"stopped after {seconds} s", pytrace=False)

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# Collecting thousands of cases takes minutes; an even choice of a few dozen is made at once.
_parametrize = pytest.Metafunc.parametrize


def _fewer(self, names, values, indirect=False, ids=None, **keywords):
    values, limit = list(values), 8 * int(os.environ.get("CORPUS_CASES", "3"))
    if len(values) > limit:
        chosen = [i * len(values) // limit for i in range(limit)]
        values = [values[i] for i in chosen]
        if ids is not None and not callable(ids):
            ids = [list(ids)[i] for i in chosen]
    return _parametrize(self, names, values, indirect=indirect, ids=ids, **keywords)


pytest.Metafunc.parametrize = _fewer
