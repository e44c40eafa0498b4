"""Python files as lint sees them: parsed, never run, with their imports, functions and classes."""

import ast
import re
import warnings
from functools import cache, cached_property
from pathlib import Path

_IGNORE = re.compile(r"#\s*trnsim:\s*ignore(?:\[([^\]]*)\])?")
_ENTRIES = ("jit", "benchmark", "profile", "baremetal", "simulate", "simulate_kernel", "trace")
OLD = "neuronxcc.nki"


class NotPython(Exception):
    """A file that holds no Python program: `text` says why, `line` and `column` where."""

    def __init__(self, text, line=1, column=1):
        super().__init__(text)
        self.text, self.line, self.column = text, line, column


class Module:
    """One parsed file."""

    def __init__(self, path: Path):
        self.path = path
        data = path.read_bytes()
        if b"\0" in data:
            raise NotPython("this is a binary file, not Python")
        try:
            with warnings.catch_warnings(action="ignore"):  # "\d" in a string is its author's affair
                self.tree = ast.parse(data, str(path))
        except SyntaxError as error:
            raise NotPython(f"not Python: {error.msg}", error.lineno or 1, error.offset or 1) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise NotPython(f"not Python: {error}") from None
        self.ignored = _ignored(data.decode("utf-8", "replace").splitlines())
        self.aliases: dict[str, str] = {}
        self.definitions: dict[str, ast.AST] = {}
        self.values: dict[str, ast.expr] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
        for node in self.tree.body:
            self._define(node)

    def _import(self, node):
        base = ("." * node.level + (node.module or "")) if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            if base is not None:
                target = f"{base}{'' if base.endswith('.') else '.'}{alias.name}"
            else:
                target = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or alias.name.partition(".")[0]
            known = self.aliases.get(name, "")
            if not known.startswith("nki"):  # a script for both dialects is judged by the newer one
                self.aliases[name] = target

    def _define(self, node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.definitions[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.values[target.id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.values[node.target.id] = node.value

    @cached_property
    def called_in_functions(self) -> set[str]:
        """The names of this file's kernels that its kernels call."""
        kernels = {node.name for node, _ in self.kernels()}
        return {
            call.func.id
            for node, _ in self.kernels()
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in kernels
        }

    def name_of(self, node: ast.AST) -> str:
        """The dotted name that an expression has outside this file, such as nki.language.ndarray; "" for none."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.aliases:
            return ""
        return ".".join([self.aliases[node.id], *reversed(parts)])

    def entry_name(self, node: ast.AST) -> str:
        """The dotted name of a decorator or wrapper that makes a kernel, such as nki.jit; "" for none."""
        while isinstance(node, ast.Call):
            node = node.func
        name = self.name_of(node)
        top, _, last = name.rpartition(".")
        return name if last in _ENTRIES and top in ("nki", OLD) or last == "nki_jit" else ""

    def kernels(self):
        """Yields (function, entry): what a decorator or a call such as nki.jit(f) makes a kernel of this file."""
        functions = {n.name: n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef)}
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for decorator in node.decorator_list:
                    if name := self.entry_name(decorator):
                        yield node, name
                        break
            elif isinstance(node, ast.Call) and (name := self.entry_name(node.func)):
                for argument in node.args[:1]:
                    if isinstance(argument, ast.Name) and argument.id in functions:
                        yield functions[argument.id], name

    def local(self, target: str) -> Path | None:
        """The file of an imported module, given by its dotted name, where it stands beside this one."""
        level = len(target) - len(target.lstrip("."))
        folder = self.path.parent
        for _ in range(level - 1):
            folder = folder.parent
        parts = [p for p in target.lstrip(".").split(".") if p]
        while parts:
            for path in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
                if path.is_file():
                    return path
            parts.pop()
        return None


def _ignored(lines) -> dict[int, set[str] | None]:
    """By line, the rules that a comment there switches off; None stands for all of them."""
    found = {}
    for number, line in enumerate(lines, 1):
        if match := _IGNORE.search(line):
            found[number] = {r.strip() for r in match[1].split(",")} if match[1] is not None else None
    return found


@cache
def load(path: Path) -> Module:
    """The module of a file, read once. Raises NotPython or OSError."""
    return Module(path)
