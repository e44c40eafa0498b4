"""Compiles an operator library: the shape functions for the host, the kernels with a call at each access.

The result is one file lib<name>.so: the shape functions' library, that of the kernels, a description
and the lengths. Compiled for this machine by GCC, against the headers in include/.
"""

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from trnsim import _native

_HERE = Path(__file__).resolve().parent
_INCLUDE = ["-I", str(_HERE / "include")]
_BASIC = ["-O1", "-g", "-fPIC", "-fno-omit-frame-pointer", "-D_GLIBCXX_ASSERTIONS", "-ffp-contract=off"]
# -O1: what an element is read or written for stays an access, however the compiler's later passes change.
_KERNEL = [*_BASIC, "-std=gnu++14", "-fsanitize=thread", "-fsanitize-coverage=trace-pc", "--param",
           "tsan-instrument-func-entry-exit=0", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"]
_SHAPE = [*_BASIC, "-std=gnu++17"]
_RENAMED = [f"--redefine-sym={name}=trnsim_{name}" for name in ("memcpy", "memmove", "memset")]
_MAGIC = b"trnsim operators 1\n"
_TAIL = struct.Struct(f"<QQQ{len(_MAGIC)}s")
_PARAMETERS = ("at::Tensor const&", "at::Tensor", "at::Tensor&", "c10::Scalar const&", "c10::Scalar", "double", "long")


class CompileError(_native.ProgramError):
    """The C++ compiler or linker refused an operator's source; `output` is all that it said."""


def _refuse(rule: str, text: str, kind=_native.ProgramError, **fields):
    error = kind(text)
    error.rule = rule
    for name, value in fields.items():
        setattr(error, name, value)
    raise error


def _compiler() -> str:
    command = os.environ.get("CXX", "g++")
    path = shutil.which(command)
    if path is None:
        raise _native.ConfigError(f"no C++ compiler '{command}'; operators in C++ are compiled by GCC: install g++")
    return path


def _run(command, what: str, verbose: bool) -> None:
    if verbose:
        print(" ".join(command))
    done = subprocess.run(command, capture_output=True, text=True)
    if verbose and done.stderr:
        print(done.stderr, end="")
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    first = next((line for line in lines if re.search(r"\berror:|undefined reference|multiple definition", line)), "")
    _refuse("gpsimd.compile", f"{what} does not compile: {first.strip()}\n{done.stderr.rstrip()}", CompileError,
            output=done.stderr)


def cache_folder() -> Path:
    """Where what is built is kept: XDG_CACHE_HOME, else ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trnsim"


def _runtime(compiler: str) -> list[str]:
    """The objects of the runtime, compiled once for each compiler and source."""
    sources = sorted((_HERE / "runtime").glob("*.cpp"))
    content = subprocess.run([compiler, "--version"], capture_output=True).stdout
    for path in sorted([*sources, *(_HERE / "runtime").glob("*.h"), *(_HERE / "include").rglob("*.h*")]):
        content += path.read_bytes()
    folder = cache_folder() / f"gpsimd-{hashlib.sha256(content).hexdigest()[:16]}"
    objects = [folder / (source.stem + ".o") for source in sources]
    if not all(path.exists() for path in objects):
        folder.mkdir(parents=True, exist_ok=True)
        for source, path in zip(sources, objects):
            unfinished = path.with_suffix(f".{os.getpid()}")
            _run([compiler, "-O2", "-fPIC", "-std=gnu++14", "-ffp-contract=off", *_INCLUDE, "-I",
                  str(_HERE / "runtime"), "-c", str(source), "-o", str(unfinished)], source.name, False)
            unfinished.replace(path)
    return [str(path) for path in objects]


class Build:
    """A library being built in a folder of its own."""

    def __init__(self, name: str, flags: list[str], verbose: bool):
        self._flags, self._verbose = flags, verbose
        self._compiler = _compiler()
        self._folder = tempfile.TemporaryDirectory(prefix=f"trnsim-{name}-")
        self.folder = Path(self._folder.name)
        self._number = 0

    def _object(self, source: Path, flags) -> Path:
        self._number += 1
        path = self.folder / f"{self._number}-{source.stem}.o"
        if not source.is_file():
            raise _native.ConfigError(f"no file {source}")
        _run([self._compiler, *flags, *self._flags, *_INCLUDE, "-c", str(source), "-o", str(path)], str(source),
             self._verbose)
        return path

    def _link(self, name: str, objects) -> Path:
        path = self.folder / name
        _run([self._compiler, "-shared", "-Wl,-z,defs", "-o", str(path), *map(str, objects),
              *_runtime(self._compiler), "-ldl"], name, self._verbose)
        return path

    def shapes(self, sources: list[Path]) -> Path:
        return self._link("shapes.so", [self._object(source, _SHAPE) for source in sources])

    def kernels(self, sources: list[Path], wanted: dict[str, str]) -> Path:
        """wanted: the kernels by name, each with the operator's."""
        objects = [self._object(source, _KERNEL) for source in sources]
        for path in objects:
            _run(["objcopy", *_RENAMED, str(path)], path.name, False)
        if wanted:
            glue = self.folder / "kernels.cpp"
            glue.write_text(_glue(objects, wanted))
            objects.append(self._object(glue, _SHAPE))
        return self._link("kernels.so", objects)


def _glue(objects, wanted: dict[str, str]) -> str:
    """A source that registers the kernels, whose parameters are read off the names of their symbols."""
    symbols = {}
    for path in objects:
        listing = subprocess.run(["nm", "-C", "--defined-only", str(path)], capture_output=True, text=True).stdout
        for kind, text in re.findall(r"^\w+ (\w) (.+)$", listing, flags=re.MULTILINE):
            name, _, rest = text.partition("(")
            if kind in "Tt":
                symbols.setdefault(name, []).append((kind, rest[:-1] if rest.endswith(")") else None))
    lines = ["#include <torch/torch.h>"]
    for kernel, operator in wanted.items():
        lines += _declared(kernel, operator, symbols)
    return "\n".join(lines) + "\n"


def _declared(kernel, operator, symbols) -> list[str]:
    found = symbols.get(kernel, [])
    what = f"operator {operator}: kernel function '{kernel}'"
    if not found:
        near = _native.nearest_name(kernel, list(symbols))
        hint = f"; did you mean '{near}'?" if near else ""
        _refuse("gpsimd.kernel", f"{what} is in none of the compute sources{hint}")
    if len(found) > 1:
        _refuse("gpsimd.kernel", f"{what} is overloaded; give the operators' kernels names of their own")
    kind, parameters = found[0]
    if kind == "t" or parameters is None:
        why = "is static or in an unnamed namespace" if kind == "t" else 'is extern "C"'
        _refuse("gpsimd.kernel", f"{what} {why}; make it a plain C++ function")
    types = [part.strip() for part in parameters.split(",")] if parameters else []
    for given in types:
        if given not in _PARAMETERS:
            _refuse("gpsimd.signature",
                    f"{what} takes '{given}'; parameters are torch::Tensor, torch::Scalar, double or int64_t")
    *spaces, name = kernel.split("::")
    declaration = f"torch::Tensor {name}({parameters});"
    for space in reversed(spaces):
        declaration = f"namespace {space} {{ {declaration} }}"
    variable = f"registered_{re.sub('[^0-9a-zA-Z]', '_', kernel)}"
    call = f'trnsim_gpsimd::register_operator("", "{kernel}", "", trnsim_gpsimd::erase(&{kernel}))'
    return [declaration, f"static const bool {variable} = ({call}, true);"]


def write(path: Path, shapes: Path | None, kernels: Path, description: dict) -> None:
    """The library file. Raises ConfigError where it cannot be written."""
    parts = [shapes.read_bytes() if shapes else b"", kernels.read_bytes(), json.dumps(description).encode()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(b"".join(parts) + _TAIL.pack(*map(len, parts), _MAGIC))
        unfinished.replace(path)
    except OSError as error:
        raise _native.ConfigError(f"cannot write {path}: {error.strerror}") from None


def read(path: Path) -> tuple[bytes, bytes, dict]:
    """The library of shape functions (empty: none), that of kernels, and the description. Raises ConfigError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _native.ConfigError(f"cannot read {path}: {error.strerror}") from None
    if len(data) < _TAIL.size or not data.endswith(_MAGIC):
        raise _native.ConfigError(f"{path} was not built by trnsim: call custom_op.load(...) under trnsim first")
    first, second, third, _ = _TAIL.unpack(data[-_TAIL.size :])
    return data[:first], data[first : first + second], json.loads(data[first + second : first + second + third])
