"""Libraries of operators: building them, loading them, and calling what is in them."""

import atexit
import os
import re
import struct
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trnsim import _native, arrays, dtypes, session
from trnsim.gpsimd import build, launch
from trnsim.gpsimd.process import DOUBLE, INTEGER, TENSOR, Processor, fault_error
from trnsim.gpsimd.result import Outcome, merged

# In the order of c10::ScalarType in scalar_types.h.
_TYPES = tuple(np.dtype(t) for t in (np.uint8, np.int8, np.int16, np.int32, np.float16, np.float32, dtypes.bfloat16))
_LIST, _SHAPE, _KERNEL = range(3)
_MOST_OPERATORS = 10
_LONGEST_STACK = 400_000  # of STACK_SIZE, bytes
_KINDS = ("a tensor", "a number", "a number", "an integer")


@dataclass(frozen=True)
class _Entry:
    """A function that a process has registered."""

    index: int
    library: str
    name: str
    kernel: str
    kinds: tuple[int, ...]


def _listed(process: Processor) -> list[_Entry]:
    reader, fault, printed = process.exchange(bytes([_LIST]))
    if fault:
        raise _native.ProgramError(f"the library does not load: {printed.decode(errors='replace').strip()}")
    entries = []
    for index in range(reader.number("Q")):
        names = [reader.string() for _ in range(3)]
        kinds = tuple(reader.number("b") for _ in range(reader.number("Q")))
        entries.append(_Entry(index, *names, kinds))
    return entries


def _fail(rule, text):
    error = _native.ProgramError(text)
    error.rule = rule
    raise error


class Operator:
    """A custom operator. Called with arrays and numbers it returns an array of the first one's kind."""

    def __init__(self, library: "Library", entry: _Entry, kernel: _Entry):
        self._library, self._entry, self._kernel = library, entry, kernel
        self.name = entry.name
        self.namespace = entry.library
        self.kinds = entry.kinds

    def __call__(self, *arguments):
        """Run the operator.

        Raises ProgramError for what its code does wrong, at the line of that code, and for arguments that it does not
        take; Unsupported on a chip without the engine.
        """
        if session.inside_kernel():
            _fail("gpsimd.inside", f"{self.name}: a custom operator is called from the host, not from inside a kernel")
        if len(arguments) != len(self.kinds):
            _fail("gpsimd.arguments", f"{self.name}: takes {len(self.kinds)} arguments, got {len(arguments)}")
        given = [self._checked(i, kind, value) for i, (kind, value) in enumerate(zip(self.kinds, arguments))]
        with_data = bytes([len(given)]) + b"".join(map(_packed, self.kinds, given))
        result = self._library.run(self, with_data)
        launch.record(self.name, [g for g, kind in zip(given, self.kinds) if kind == TENSOR], result)
        return arrays.like(result.values, next((a for a in arguments if arrays.is_array(a)), None))

    def _checked(self, i, kind, value):
        if kind != TENSOR:
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or (
                kind == INTEGER and not isinstance(value, (int, np.integer))
            ):
                _fail("gpsimd.arguments", f"{self.name}: argument {i} is {value!r}; it must be {_KINDS[kind]}")
            return value
        if not arrays.is_array(value):
            _fail("gpsimd.arguments", f"{self.name}: argument {i} is {type(value).__name__}; it must be a tensor")
        array = arrays.narrowed(arrays.to_numpy(value))
        if array.dtype not in _TYPES:
            known = ", ".join(t.name for t in _TYPES)
            _fail("gpsimd.dtype", f"{self.name}: argument {i} is {array.dtype.name}; tensors of operators are {known}")
        return np.ascontiguousarray(array)

    def __repr__(self):
        return f"<custom operator {self.namespace}.{self.name}>"


def _packed(kind, value) -> bytes:
    if kind == TENSOR:
        data = value.tobytes()
        return _shape(_TYPES.index(value.dtype), value.shape, head=TENSOR) + struct.pack("<Q", len(data)) + data
    integer = kind != DOUBLE and isinstance(value, (int, np.integer))
    return struct.pack("<bB", kind, integer) + struct.pack("<q" if integer else "<d", value)


def _shape(code, sizes, *, head=None) -> bytes:
    start = b"" if head is None else bytes([head])
    return start + struct.pack(f"<bB{len(sizes)}q", code, len(sizes), *sizes)


def _read_shape(reader):
    return reader.number("b"), tuple(reader.number("q") for _ in range(reader.number("B")))


class Library:
    """Operators by name, as attributes. `path` is its file."""

    def __init__(self, path: Path):
        self.path = path
        shapes, kernels, self.description = build.read(path)
        self._folder = tempfile.TemporaryDirectory(prefix="trnsim-library-")
        self._shapes = self._unpacked("shapes.so", shapes)
        self._kernels = self._unpacked("kernels.so", kernels)
        self._processors, self._figures = [], None
        self._shaper = Processor(self._shapes, (0, 1, 0, 1, 0, 0)) if self._shapes else None
        self._warned = False
        self.operators = self._operators()
        atexit.register(self.close)

    def _unpacked(self, name, data):
        path = Path(self._folder.name) / name
        path.write_bytes(data)
        return path if data else None

    def _operators(self) -> dict[str, Operator]:
        listing = Processor(self._kernels, (0, 1, 0, 1, 0, 0))
        kernels = _listed(listing)
        listing.stop()
        named = kernels if self._shaper is None else _listed(self._shaper)
        by_name = {entry.name: entry for entry in kernels}
        return {entry.name: Operator(self, entry, by_name[entry.kernel or entry.name]) for entry in named}

    def close(self) -> None:
        """End the processes of its operators; the next call starts others."""
        for process in [*self._processors, *([self._shaper] if self._shaper else ())]:
            process.stop()

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.operators:
            near = _native.nearest_name(name, list(self.__dict__.get("operators", ())))
            raise AttributeError(f"no operator '{name}' in {self.path}" + (f"; did you mean '{near}'?" if near else ""))
        return self.operators[name]

    def __dir__(self):
        return [*super().__dir__(), *self.operators]

    def run(self, operator: Operator, arguments: bytes) -> Outcome:
        """The operator's result and what its processors did."""
        self._prepare()
        destination = self._destination(operator, arguments)
        request = bytes([_KERNEL]) + struct.pack("<I", operator._kernel.index) + destination + arguments
        outcomes = []
        for number, process in enumerate(self._processors):
            reader, fault, printed = process.exchange(request)
            if number == 0:
                launch.show_printed(printed)
            if fault:
                raise fault_error(operator.name, self._kernels, fault, printed)
            outcomes.append(self._outcome(reader))
        self._warn_of_stack(operator, max(outcome.stack_bytes for outcome in outcomes))
        return merged(operator.name, outcomes)

    def _prepare(self):
        """Processes that are set up for the chip."""
        chip = session.load_chip(session.settings.chip)
        if chip.generation < 2:
            raise _native.Unsupported(f"custom operators on {chip.name}, because its cores have no GpSimd Engine")
        figures = tuple(int(chip.number(f"gpsimd.{name}"))
                        for name in ("processors", "operator_pool", "stream_buffer", "fast_streams", "operator_stack"))
        if figures == self._figures:
            return
        self.close_processors()
        self._figures = figures
        count = figures[0] if self.description["multicore"] else 1
        far_stack = int(self.description["stack_size"] > figures[4])
        self._processors = [Processor(self._kernels, (number, count, *figures[1:4], far_stack))
                            for number in range(count)]

    def close_processors(self):
        for process in self._processors:
            process.stop()

    def _destination(self, operator, arguments) -> bytes:
        """The result's dtype and shape, as the shape function says."""
        if self._shaper is None:
            return b"\0"
        request = bytes([_SHAPE]) + struct.pack("<I", operator._entry.index) + arguments
        reader, fault, printed = self._shaper.exchange(request)
        if fault:
            raise fault_error(f"shape function of {operator.name}", self._shapes, fault, printed)
        return b"\1" + _shape(*_read_shape(reader))

    def _outcome(self, reader) -> Outcome:
        code, sizes = _read_shape(reader)
        counts = [reader.number("q") for _ in range(4)]
        stack_bytes, size = reader.number("q"), reader.number("Q")
        values = np.frombuffer(reader.raw(size), dtype=_TYPES[code]).reshape(sizes)
        written = np.frombuffer(reader.raw(size), dtype=np.uint8).reshape(-1, _TYPES[code].itemsize).all(axis=1)
        return Outcome(values, written.reshape(sizes), *counts, stack_bytes)

    def _warn_of_stack(self, operator, used):
        limit = self._figures[4]
        if used > limit and not self.description["stack_size"] and not self._warned:
            self._warned = True
            warnings.warn(f"{operator.name} uses some {used} bytes of stack; beyond {limit} it may overflow on the "
                          f"device: give extra_cflags=['-DSTACK_SIZE={used}']", UserWarning, stacklevel=4)


def _stack_size(flags) -> int:
    sizes = [int(m[1]) for m in map(re.compile(r"-DSTACK_SIZE=(\d+)").fullmatch, flags) if m]
    if sizes and sizes[-1] > _LONGEST_STACK:
        _fail("gpsimd.stack_size", f"STACK_SIZE is {sizes[-1]} bytes; the most is {_LONGEST_STACK}")
    return sizes[-1] if sizes else 0


def load(name: str, compute_srcs, shape_srcs=None, build_directory=None, multicore: bool = False,
         verbose: bool = False, extra_cflags=()) -> Library:
    """Compile a library of operators and load it.

    name: of the library; the file is lib<name>.so. compute_srcs, shape_srcs: paths of the C++ files with the kernel
    functions and with the shape functions and NEURON_LIBRARY; without shape_srcs the compute sources hold a
    TORCH_LIBRARY of functions that make their results. build_directory: where the file goes; without one, the user's
    cache. multicore: run each operator on all processors of the engine. extra_cflags: of the compiler;
    -DSTACK_SIZE=<bytes> moves a large stack out of the processor's memory.
    Raises CompileError for what does not compile, ProgramError for kernels that the shape sources do not match.
    """
    if name == "builtin":
        _fail("gpsimd.name", "a library cannot be called 'builtin', which is reserved")
    flags = list(extra_cflags)
    stack_size = _stack_size(flags)
    work = build.Build(name, flags, verbose)
    shapes, wanted = None, {}
    if shape_srcs:
        shapes = work.shapes([Path(source).absolute() for source in shape_srcs])
        listing = Processor(shapes, (0, 1, 0, 1, 0, 0))
        entries = _listed(listing)
        listing.stop()
        wanted = {entry.kernel: entry.name for entry in entries}
        if "" in wanted:
            _fail("gpsimd.kernel", f"operator {wanted['']}: m.def lacks the name of its kernel function, the third "
                                   "argument")
    kernels = work.kernels([Path(source).absolute() for source in compute_srcs], wanted)
    folder = Path(build_directory).absolute() if build_directory else build.cache_folder() / name
    path = folder / f"lib{name}.so"
    build.write(path, shapes, kernels, {"multicore": bool(multicore), "stack_size": stack_size})
    library = Library(path)
    _check(library)
    return library


def _check(library: Library) -> None:
    if len(library.operators) > _MOST_OPERATORS:
        _fail("gpsimd.operators", f"{len(library.operators)} operators in one library; the most are {_MOST_OPERATORS}")
    if not library.operators:
        _fail("gpsimd.operators", "no NEURON_LIBRARY or TORCH_LIBRARY with an operator in the sources")
    for operator in library.operators.values():
        if operator.kinds != operator._kernel.kinds:
            shown = [", ".join(("tensor", "Scalar", "double", "int64_t")[kind] for kind in kinds)
                     for kinds in (operator.kinds, operator._kernel.kinds)]
            _fail("gpsimd.signature", f"operator {operator.name}: the shape function takes ({shown[0]}), the kernel "
                                      f"function ({shown[1]}); they must agree")


def load_library(path) -> Library:
    """Load a library that `load` has built. Raises ConfigError for any other file."""
    return Library(Path(os.fspath(path)).absolute())
