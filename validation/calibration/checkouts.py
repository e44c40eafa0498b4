"""Reads kernels out of checkouts of public repositories that lie side by side in one folder.

None of their code is kept here: a case names the file and the function.
"""

import contextlib
import importlib.util
import linecache
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from neuronxcc import nki


class Missing(Exception):
    """A checkout, or the kernel within it, is not there."""


def find(folder: Path, repository: str, path: str) -> Path:
    """The file `path` of a checkout of `repository`, known by its folder's name or by where git has it from."""
    for checkout in _of(folder, repository):
        if (checkout / path).exists():
            return checkout / path
    raise Missing(f"{repository}: no checkout with {path} in {folder}")


def first(folder: Path, repositories: tuple[str, ...], path: str) -> Path:
    """The file `path` of the first of some repositories that has a checkout."""
    for repository in repositories:
        with contextlib.suppress(Missing):
            return find(folder, repository, path)
    raise Missing(f"no checkout of {' or '.join(repositories) or 'any repository'} with {path} in {folder}")


def _of(folder: Path, repository: str) -> list[Path]:
    return [checkout for checkout in sorted(folder.iterdir()) if _is_of(checkout, repository.lower())]


def _is_of(checkout: Path, repository: str) -> bool:
    """By where git has it from, if that is a repository of this name; by the folder's name elsewhere."""
    owner, name = repository.split("/")
    config = checkout / ".git/config"
    origin = config.read_text(encoding="utf-8").lower() if config.is_file() else ""
    owners = re.findall(rf"([\w.-]+)[/+]{re.escape(name)}\b", origin)
    return owner in owners if owners else checkout.name.lower() in _names(repository)


def at(folder: Path, repository: str, revision: str, path: str) -> Path:
    """The file `path` as it was at a revision that the history of a checkout of `repository` still has."""
    for checkout in _of(folder, repository):
        text = subprocess.run(["git", "-C", checkout, "show", f"{revision}:{path}"], capture_output=True)
        if text.returncode == 0:
            file = _written(f"{checkout.name}@{revision}", path)
            file.write_bytes(text.stdout)
            return file
    raise Missing(f"{repository}: no checkout in {folder} whose history has {path} at {revision}")


def _written(checkout: str, path: str) -> Path:
    file = _PAST / checkout / path
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


_PAST_FOLDER = tempfile.TemporaryDirectory(prefix="trnsim-past-")  # files of past revisions; gone at exit
_PAST = Path(_PAST_FOLDER.name)


def _names(repository: str) -> set[str]:
    owner, name = repository.split("/")
    return {name, f"{owner}_{name}", f"{owner}-{name}", f"{owner}+{name}", name.split("-for-")[0]}


def module(file: Path):
    """The Python file as a module, with its own folder on the path while it is read."""
    spec = importlib.util.spec_from_file_location(f"calibrated_{file.stem}", file)
    loaded = importlib.util.module_from_spec(spec)
    with _path(file.parent):
        spec.loader.exec_module(loaded)
    return loaded


def jitted(file: Path, name: str):
    """The kernel of that name in a file, ready to be called whether or not it is decorated there."""
    kernel = getattr(module(file), name, None)
    if kernel is None:
        raise Missing(f"{file.name} has no {name}")
    return kernel if hasattr(kernel, "__getitem__") else nki.jit(kernel)


@contextlib.contextmanager
def _path(folder: Path):
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def executed(source: str, name: str, **names) -> dict:
    """What a piece of code defines; `name` is the file that its lines are reported under."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names["__name__"] = name
    exec(compile(source, name, "exec"), names)
    return names


def code_blocks(page: Path, containing: str) -> list[str]:
    """The Python code blocks of a .rst page that contain a text, without their indentation or line numbers."""
    blocks = re.findall(r"^( *)\.\. code-block:: python\n((?:\1 +.*\n| *\n)+)", page.read_text(encoding="utf-8"), re.M)
    texts = [_dedented(body) for _, body in blocks]
    return [text for text in texts if containing in text]


def _dedented(body: str) -> str:
    lines = [line for line in body.splitlines() if not re.match(r" *:\w[\w-]*:", line)]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines) + "\n"
