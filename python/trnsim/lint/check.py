"""Runs the rules over a file."""

import ast
from pathlib import Path

from trnsim.lint import module as modules
from trnsim.lint import reach, table
from trnsim.lint.rule import Finding
from trnsim.releases.table import RELEASES


def check(path, release: str | None = None, follow: bool = True) -> list[Finding]:
    """The findings of a file and of the local modules that its kernels use, in the order of their lines.

    release: one of RELEASES, the newest where none is given. Kernels of neuronxcc.nki are always judged as Beta 1; a
    named release that has no such package says so at its import. Raises OSError for a file that cannot be read,
    NotPython for a binary one.
    """
    path = Path(path)
    try:
        module = modules.load(path)
    except modules.NotPython as error:
        if "binary" in error.text:
            raise
        rule = table.SYNTAX
        return [Finding(str(path), error.line, error.column, rule.level, rule.id, error.text, rule.fix)]
    items = reach.reached(module, follow) or list(_functions(module))
    found = {}
    for item in items:
        judged = "beta1" if item.old else release or RELEASES[-1]
        for group in table.GROUPS:
            if hasattr(group, "check"):
                _collect(found, item.module, group.check(item), judged)
    for other in dict.fromkeys([module, *(item.module for item in items)]):
        judged = release or RELEASES[-1]
        old_only = release is None and "nki" not in _tops(other)
        if not old_only and judged != "beta1":
            for group in table.GROUPS:
                if hasattr(group, "check_module"):
                    hits = group.check_module(other, judged)
                    old_kernels = any(item.old and item.module is other for item in items)
                    if release is None or not old_kernels:  # both dialects may be imported, and dtypes used outside
                        hits = (hit for hit in hits if hit[0] != "release.import")
                    _collect(found, other, hits, judged)
    return sorted(found.values(), key=lambda f: (f.file != str(path), f))


def _tops(module):
    return {target.partition(".")[0] for target in module.aliases.values()}


def _functions(module):
    """The functions of a file without kernels that speak of NKI: parts of the kernels of other files."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef):
            names = {module.name_of(n) for n in reach.walk(node) if isinstance(n, ast.Attribute)}
            if any(n.startswith("nki.isa.") for n in names):
                yield reach.Reached(module, node, entry=False, old=False)
            elif any(n.startswith(f"{modules.OLD}.isa.") for n in names):
                yield reach.Reached(module, node, entry=False, old=True)


def _collect(found, module, hits, release):
    for rule_id, node, detail in hits:
        rule = table.RULES[rule_id]
        line = getattr(node, "lineno", 1)
        if not rule.holds(release) or _ignored(module, line, rule_id):
            continue
        column = getattr(node, "col_offset", 0) + 1
        message = f"{rule.what}: {detail}" if detail else rule.what
        finding = Finding(str(module.path), line, column, rule.level, rule_id, message, rule.fix)
        found.setdefault((str(module.path), line, column, rule_id), finding)


def _ignored(module, line, rule_id):
    if line not in module.ignored:
        return False
    rules = module.ignored[line]
    return rules is None or rule_id in rules
