"""What a file calls the modules of NKI."""

import ast

OLD, NEW = "neuronxcc.nki", "nki"


def of(tree: ast.Module) -> dict[str, str]:
    """Local names by what they stand for: {"nl": "neuronxcc.nki.language"}."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if is_nki(alias.name):
                    names[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else _top(alias.name)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                if is_nki(f"{node.module}.{alias.name}") and alias.name != "*":
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def is_nki(path: str) -> bool:
    return any(path == top or path.startswith(f"{top}.") for top in (OLD, NEW))


def _top(path: str) -> str:
    return path.split(".")[0]


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
    return bool(path) and path.startswith(OLD)
