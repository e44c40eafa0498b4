"""What a file calls the modules of NKI."""

import ast

from trnsim.lint.module import OLD, Module

NEW, _TOP = "nki", "neuronxcc"


def of(module: Module) -> dict[str, str]:
    """Local names by what of NKI they stand for: {"nl": "neuronxcc.nki.language"}."""
    return {name: path for name, path in module.aliases.items() if path == _TOP or path.startswith((OLD, f"{NEW}."))
            or path == NEW}


def path_of(node: ast.AST, names: dict[str, str]) -> str | None:
    """The dotted path of a name or attribute of NKI; None for anything else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = path_of(node.value, names)
        return owner and f"{owner}.{node.attr}"
    return None


def today(path: str) -> str:
    """The path that a name of Beta 1 has since."""
    return NEW + path.removeprefix(OLD) if path.startswith(OLD) else path


def is_old(path: str | None) -> bool:
    return bool(path) and (path == _TOP or path.startswith(OLD))
