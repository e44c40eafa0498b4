"""Names and parameters that the target release lacks, as the tables of trnsim.releases have them; imports."""

import ast

from trnsim import releases
from trnsim.port import aliases
from trnsim.port.source import Source
from trnsim.releases.calls import parameters_of


def imports(source: Source, release: str, handled: set[str], wanted: list[str]) -> None:
    """`neuronxcc.nki` is `nki` since release 0.2, and an error since 0.4. What nothing needs is left out; `wanted` are
    imports that edits need."""
    _import_what_is_wanted(source, wanted)
    again = _imported_again(source.tree)
    for node in again:
        source.remove(node, "nothing is imported inside a kernel, and the file does it at its top")
    what = "neuronxcc.nki is nki since release 0.2"
    for node in ast.walk(source.tree):
        if node in again:
            continue
        if isinstance(node, ast.Import) and any(aliases.is_old(alias.name) for alias in node.names):
            parts = []
            for alias in node.names:
                name = aliases.today(alias.name)
                parts.append(f"{name} as {alias.asname}" if alias.asname and alias.asname != name else name)
            if all(alias.asname or not aliases.is_old(alias.name) for alias in node.names):
                source.replace(node, f"import {', '.join(parts)}", what)
            else:
                source.advise(node, what, f"import {', '.join(parts)}, and nki wherever neuronxcc.nki is spelled out")
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            _from_import(source, node, what, release, handled)


def _imported_again(tree: ast.Module) -> list[ast.stmt]:
    """Imports within functions of what the top of the file imports under the same names."""
    top = {binding for node in tree.body for binding in _bindings(node)}
    inner = [node for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in function.body]
    return [node for node in inner if (bound := _bindings(node)) and bound <= top]


def _bindings(node: ast.stmt) -> set[tuple[str, str]]:
    """(name, what it stands for) of an import."""
    if isinstance(node, ast.Import):
        return {(a.asname or a.name, a.name) for a in node.names}
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return {(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names}
    return set()


def _import_what_is_wanted(source: Source, wanted: list[str]) -> None:
    last = [node for node in source.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))][-1:]
    for node in last if wanted else ():
        source.insert_after(node, "".join(f"\n{line}" for line in wanted), "instructions are those of nki.isa")


def _from_import(source: Source, node: ast.ImportFrom, what: str, release: str, handled: set[str]) -> None:
    module, used = aliases.today(node.module), {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name)}

    def needed(alias):
        span = releases.span_of(module, alias.name)
        there = span is not None and span.holds(release)
        return there or (alias.asname or alias.name) in used and f"{module}.{alias.name}" not in handled

    old = node.module.startswith(aliases.OLD)
    kept = [alias for alias in node.names if not old or alias.name == "*" or needed(alias)]
    names = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in kept]
    if old and not kept:
        source.remove(node, what)
    elif old:
        source.replace(node, f"from {module} import {', '.join(names)}", what)
    elif node.module == "neuronxcc" and names == ["nki"]:
        source.replace(node, "import nki", what)
    elif node.module == "neuronxcc" and any(alias.name == "nki" for alias in node.names):
        source.advise(node, what, "import nki by a statement of its own")


def uses(source: Source, names: dict[str, str], release: str, handled: set[str]) -> None:
    """Advice on every name and keyword that the release lacks or announces to go. `handled`: what edits see to."""
    inner = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in inner:
            _name(source, node, aliases.path_of(node, names), release, handled)
        elif isinstance(node, ast.Call):
            _keywords(source, node, aliases.path_of(node.func, names), release)


def _name(source, node, path, release, handled) -> None:
    path = path and aliases.today(path)
    module, _, name = (path or "").rpartition(".")
    span = releases.span_of(module, name)
    if span is None or path in handled and source.is_seen_to(node):
        return
    if not span.holds(release):
        source.advise(node, releases.why_absent(path, span, release).split("; use ")[0],
                      f"use {span.note}" if span.note else "there is nothing in its place")
    elif path in releases.DEPRECATED and releases.Span(releases.DEPRECATED[path][0]).holds(release):
        first, instead = releases.DEPRECATED[path]
        source.advise(node, f"{path} is announced to go since release {first}", f"use {instead}")
    elif span.note.startswith("they raise"):
        source.advise(node, f"{path} was not ported from Beta 1", "call the kernel, and measure it with the profiler")


def _keywords(source, call, path, release) -> None:
    target = next((k for k in call.keywords if k.arg == "platform_target"), None)
    behaviour = releases.BEHAVIOUR["jit(platform_target)"]
    if target and path and aliases.today(path) == "nki.jit" and not releases.Span(behaviour.first,
                                                                                 behaviour.last).holds(release):
        source.advise(target.value, "nki.jit(platform_target=) is gone since release 0.3", behaviour.text)
    if not path or aliases.is_old(path):  # calls of Beta 1 are seen to as a whole
        return
    for keyword in call.keywords:
        known = [p for p in parameters_of(path) if p.name == keyword.arg]
        if known and not any(releases.Span(p.first, p.last).holds(release) for p in known):
            parameter = known[-1]
            instead = (f"{parameter.became}=" if parameter.became else "leave it out" if parameter.became == "" else "")
            source.advise(keyword.value, releases.why_absent(f"{path}({keyword.arg}=)",
                                                             releases.Span(parameter.first, parameter.last), release),
                          ": ".join(part for part in (instead, parameter.note) if part) or "leave it out")
