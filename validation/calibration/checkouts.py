"""Reads kernels out of checkouts of public repositories that lie side by side in one folder.

None of their code is kept here: a case names the file and the function.
"""

import contextlib
import importlib.util
import linecache
import re
import sys
from pathlib import Path


class Missing(Exception):
    """A checkout, or the kernel within it, is not there."""


def find(folder: Path, repository: str, path: str) -> Path:
    """The file `path` of a checkout of `repository`, which may have any name that begins like the repository's."""
    for checkout in sorted(folder.iterdir()):
        if checkout.name.lower() in _names(repository) and (checkout / path).exists():
            return checkout / path
    raise Missing(f"{repository}: no checkout with {path} in {folder}")


def _names(repository: str) -> set[str]:
    owner, name = repository.lower().split("/")
    return {name, f"{owner}_{name}", f"{owner}-{name}", f"{owner}+{name}", name.split("-for-")[0]}


def module(file: Path):
    """The Python file as a module, with its own folder on the path while it is read."""
    spec = importlib.util.spec_from_file_location(f"calibrated_{file.stem}", file)
    loaded = importlib.util.module_from_spec(spec)
    with _path(file.parent):
        spec.loader.exec_module(loaded)
    return loaded


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
