"""The functions and classes that the compiler would see: kernels and what they refer to."""

import ast

from trnsim.lint import module as modules
from trnsim.lint.values import Values

_LIMIT = 400  # functions of other files; enough for the largest public kernels


class Reached:
    """A function or class that is part of a kernel."""

    def __init__(self, module, node, entry: bool, old: bool):
        self.module, self.node, self.entry, self.old = module, node, entry, old
        self._values = None

    @property
    def values(self) -> Values:
        """What its local names stand for."""
        if self._values is None:
            self._values = Values(self)
        return self._values

    def name_of(self, node) -> str:
        """The dotted name, with the older dialect's package under the newer one's name."""
        name = self.module.name_of(node)
        return "nki" + name.removeprefix(modules.OLD) if name.startswith(modules.OLD) else name

    @property
    def launched(self) -> bool:
        """Whether Python launches it: a kernel that no other function of its file calls."""
        return self.entry and self.node.name not in self.module.called_in_functions

    def nodes(self):
        """Every node of the body, in the order of the text; decorators and annotations are Python's business."""
        for statement in self.node.body:
            yield from walk(statement)

    def calls(self):
        """Yields (call, dotted name) for calls of what is imported."""
        for node in self.nodes():
            if isinstance(node, ast.Call) and (name := self.name_of(node.func)):
                yield node, name

    def parent(self, node):
        """The node around a node."""
        return self.module.parents.get(node)


def walk(node):
    """The node and all below it in the order of the text, without annotations."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from walk(child)


def reached(module, follow: bool = True):
    """Every function and class of the kernels of a file, those of the file first."""
    pending, seen, found = [], {}, []
    for node, entry in module.kernels():
        _add(pending, seen, module, node, entry=True, old=entry.startswith("neuronxcc") or entry == "nki_jit")
    while pending:
        item = pending.pop(0)
        found.append(item)
        for other, node in _references(item, follow and len(found) < _LIMIT):
            _add(pending, seen, other, node, entry=False, old=item.old)
    return sorted(found, key=lambda r: r.module is not module)


def _add(pending, seen, module, node, entry, old):
    if id(node) not in seen:
        seen[id(node)] = node
        pending.append(Reached(module, node, entry, old))


def _references(item, follow):
    for node in item.nodes():
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or node.id in item.values.names:
            continue
        target = definition(item.module, node.id, follow)
        if target is not None:
            yield target


def definition(module, name, follow=True, depth=0):
    """(module, node) of a function or class that a name of a file stands for; None where it is elsewhere."""
    if name in module.definitions:
        return module, module.definitions[name]
    target = module.aliases.get(name)
    if target is None or not follow or depth > 5:
        return None
    path = module.local(target)
    if path is None or path == module.path:
        return None
    try:
        other = modules.load(path)
    except (modules.NotPython, OSError):
        return None
    return definition(other, target.rpartition(".")[2], follow, depth + 1)
