"""What Beta 1 (neuronxcc.nki) does not do as the text says: its loops are traced once."""

import ast

from trnsim.lint.rule import TO_0_2, Rule

RULES = (
    Rule("beta1.loop_branch", "warning", "beta1", "beta1", "the body of a loop is traced once: an 'if' on its index "
         "is decided by the first round", "use a mask, or nl.static_range", TO_0_2),
    Rule("beta1.loop_count", "warning", "beta1", "beta1", "the body of a loop is traced once: a number of Python is "
         "changed once only", "compute it from the index, or use nl.static_range", TO_0_2),
    Rule("beta1.ended_loop", "warning", "beta1", "beta1", "the index of a loop has no value after the loop",
         "put the statement into the loop", "aws-neuron-sdk issue 1000"),
    Rule("beta1.affine_carried", "warning", "beta1", "beta1", "rounds of nl.affine_range may run in any order and may "
         "not build on each other outside PSUM", "use nl.sequential_range", "aws-neuron-sdk issue 1047"),
)  # fmt: skip

_TRACED = ("affine_range", "sequential_range")


def check(item):
    """Yields (rule, node, what exactly)."""
    if isinstance(item.node, ast.ClassDef) or not item.old:
        return
    loops = [node for node in item.nodes() if isinstance(node, ast.For) and _kind(item, node) in _TRACED]
    for loop in loops:
        if isinstance(loop.target, ast.Name):
            yield from _inside(item, loop, loop.target.id)
    yield from _after(item, loops)


def _kind(item, loop):
    return item.values.language(loop.iter.func) if isinstance(loop.iter, ast.Call) else ""


def _inside(item, loop, index):
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.If, ast.IfExp)) and any(
                isinstance(n, ast.Name) and n.id == index for n in ast.walk(node.test)
            ):
                yield "beta1.loop_branch", node.test, f"'{ast.unparse(node.test)}'"
            elif isinstance(node, ast.AugAssign):
                yield from _updated(item, loop, node)


def _updated(item, loop, node):
    target = node.target
    while isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Name) or item.module.parents.get(node) is not loop:
        return
    given = item.values.assigned.get(target.id, [])
    within = {id(n) for n in ast.walk(loop)}
    if isinstance(node.target, ast.Name) and given and isinstance(given[0], ast.Constant):
        if type(given[0].value) in (int, float) and id(given[0]) not in within:
            yield "beta1.loop_count", node, f"'{target.id}'"
    tensor = item.values.tensor(target)
    if tensor is not None and tensor.buffer == "sbuf" and id(tensor.node) not in within:
        names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        if _kind(item, loop) == "affine_range" and not _index_names(item, loop) & names:
            yield "beta1.affine_carried", node, f"'{ast.unparse(node.target)}'"


def _index_names(item, loop):
    """The index of a loop and the names in its body that are computed from it."""
    names = {loop.target.id} if isinstance(loop.target, ast.Name) else set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)} & names:
            names |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names


def _after(item, loops):
    open_ = {}
    for loop in loops:
        if isinstance(loop.target, ast.Name):
            open_.setdefault(loop.target.id, []).append(loop)
    for name, found in open_.items():
        if sum(1 for given in item.values.assigned.get(name, ())) != len(found):
            continue
        within = {id(n) for loop in found for n in ast.walk(loop)}
        for node in item.nodes():
            if isinstance(node, ast.Name) and node.id == name and id(node) not in within:
                if isinstance(node.ctx, ast.Load) and node.lineno > found[0].lineno:
                    yield "beta1.ended_loop", node, f"'{name}'"
                    break
