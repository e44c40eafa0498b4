"""Names, parameters and ways of calling that came or went with a release; the facts are in trnsim.releases.table."""

import ast

from trnsim import _native, releases
from trnsim.lint.module import OLD
from trnsim.lint.reach import definition, walk
from trnsim.lint.rule import ISA, NAMES, TO_0_2, TO_0_3, TO_0_4, Rule
from trnsim.releases.table import OPERATORS_IN_0_2

RULES = (
    Rule("release.import", "error", "0.4", "", "neuronxcc.nki is an error in kernels", "import nki, and see trnsim's "
         "docs/names.md for what became of each name", TO_0_4),
    Rule("release.name", "error", "0.2", "", "the release does not have this name", "use what the message names",
         NAMES),
    Rule("release.parameter", "error", "0.2", "", "the release does not have this parameter",
         "leave it out or use what the message names", NAMES),
    Rule("release.deprecated", "warning", "0.3", "", "this name is on its way out", "use what the message names",
         NAMES),
    Rule("release.operator_only", "error", "0.2", "0.2", "this name is an operator for op= and no function before "
         "release 0.3", "use an instruction of nki.isa", NAMES),
    Rule("release.enum", "error", "0.3", "", "numbers and strings stand for no member of an enumeration",
         "write the member, such as nisa.dge_mode.hwdge", TO_0_3),
    Rule("release.buffer_string", "error", "0.3", "", "a buffer is an object, not a string", "write nl.sbuf, nl.psum, "
         "nl.hbm or nl.shared_hbm", TO_0_3),
    Rule("jit.mode", "warning", "0.3", "", "nki.jit(mode=) is ignored", "leave it out: the arguments decide", TO_0_3),
    Rule("jit.platform_target", "error", "0.3", "", "nki.jit(platform_target=) is an error",
         "set NEURON_PLATFORM_TARGET_OVERRIDE", TO_0_3),
    Rule("jit.list_argument", "error", "0.3", "", "a list is no argument of a kernel", "pass a tuple", TO_0_3),
    Rule("isa.dst", "error", "0.2", "", "an instruction writes the tile that is given as dst and returns none",
         "allocate the tile with nl.ndarray and pass it as dst", TO_0_2),
    Rule("isa.result", "error", "0.2", "0.5", "an instruction returns nothing", "pass dst and read that", TO_0_2),
    Rule("isa.affine_select_offset", "error", "0.3", "", "offset of affine_select is a keyword and no third argument",
         "write offset=...", TO_0_3),
    Rule("isa.dma_compute_scales", "error", "0.3", "", "the third argument of dma_compute is reduce_op, not scales",
         "write scales=... and reduce_op=...", TO_0_3),
    Rule("isa.memset_shape", "error", "0.2", "", "memset takes dst and a value, no shape", "allocate dst of that shape",
         f"NKI release notes 0.2; {ISA}"),
)  # fmt: skip

_CHOICES = ("engine", "dge_mode", "oob_mode", "reduce_cmd", "dma_engine")


def check_module(module, release):
    """Yields (rule, node, what exactly) for a whole file."""
    for node in walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _import(node, release)
        elif isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load):
            yield from _name(module, node, release)
        elif isinstance(node, ast.Call):
            name = module.name_of(node.func)
            if name.startswith("nki."):
                yield from _parameters(name, node, release)
                yield from _shape_of_call(module, name, node)
            yield from _kernel_call(module, node)
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                yield from _jit(module, decorator)


def _import(node, release):
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return
        names = [f"{node.module}.{name}" for name in names]
    for name in names:
        if name == OLD or name.startswith(f"{OLD}."):
            yield "release.import", node, f"'{name}'"
        parent, _, last = name.rpartition(".")
        span = releases.span_of(parent, last)
        if parent.partition(".")[0] == "nki" and span is not None and not span.holds(release):
            yield "release.name", node, _absent(name, span, release)


def _absent(what, span, release):
    """Why a release lacks something, without the hint at the release of this process."""
    return releases.why_absent(what, span, release).partition(" (the release here is")[0]


def _name(module, node, release):
    name = module.name_of(node)
    parent, _, last = name.rpartition(".")
    if not name.startswith("nki."):
        return
    span = releases.span_of(parent, last)
    if span is not None and not span.holds(release):
        yield "release.name", node, _absent(name, span, release)
    elif name in releases.DEPRECATED and name != "nki.language.dynamic_range":
        first, instead = releases.DEPRECATED[name]
        if releases.Span(first).holds(release):
            yield "release.deprecated", node, f"{name}; use {instead}"


def _parameters(name, node, release):
    changed = releases.PARAMETERS.get(name, ()) + releases.PARAMETERS.get(name.rpartition(".")[0], ())
    for keyword in node.keywords:
        found = [p for p in changed if p.name == keyword.arg]
        if any(p.became == p.name for p in found):  # only its place among the arguments changed
            continue
        if found and not any(releases.Span(p.first, p.last).holds(release) for p in found):
            span = releases.Span(found[0].first, found[-1].last)
            note = f": {found[-1].note}" if found[-1].note else ""
            yield "release.parameter", keyword.value, f"{_absent(f'{name}({keyword.arg}=)', span, release)}{note}"
        if keyword.arg in _CHOICES and isinstance(keyword.value, ast.Constant):
            if type(keyword.value.value) in (int, str) and name.startswith(("nki.isa.", "nki.collectives.")):
                yield "release.enum", keyword.value, f"not {keyword.arg}={keyword.value.value!r}"
        if keyword.arg == "buffer" and isinstance(keyword.value, ast.Constant) and name.startswith("nki.language."):
            if isinstance(keyword.value.value, str):
                yield "release.buffer_string", keyword.value, f"'{keyword.value.value}'"


def _shape_of_call(module, name, node):
    short = name.rpartition(".")[2]
    if name.startswith("nki.language.") and short in OPERATORS_IN_0_2.split():
        yield "release.operator_only", node, name
    if not name.startswith("nki.isa."):
        return
    given = {k.arg for k in node.keywords}
    if None in given or any(isinstance(a, ast.Starred) for a in node.args):
        return
    text = getattr(getattr(_native.isa, short, None), "__text_signature__", None) or ""
    if text.startswith("(dst") and "dst" not in given and not node.args:
        yield "isa.dst", node, name
    elif text.startswith("(dst"):
        if short == "memset" and node.args and isinstance(node.args[0], (ast.Tuple, ast.List)):
            yield "isa.memset_shape", node.args[0], f"not '{ast.unparse(node.args[0])}'"
        if _is_subscript_assignment(module, node):
            yield "isa.result", node, name
    if short == "affine_select" and len(node.args) > 5:
        yield "isa.affine_select_offset", node.args[2], f"'{ast.unparse(node.args[2])}'"
    if short == "dma_compute" and len(node.args) > 2 and isinstance(node.args[2], (ast.List, ast.Tuple)):
        yield "isa.dma_compute_scales", node.args[2], f"'{ast.unparse(node.args[2])}'"


def _is_subscript_assignment(module, node):
    parent = module.parents.get(node)
    return isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Subscript)


def _jit(module, node):
    if isinstance(node, ast.Call) and module.name_of(node.func) == "nki.jit":
        for keyword in node.keywords:
            if keyword.arg in ("mode", "platform_target"):
                yield f"jit.{keyword.arg}", keyword.value, ""


def _kernel_call(module, node):
    if not isinstance(module.parents.get(node), ast.FunctionDef):  # a decorator is seen with its function
        yield from _jit(module, node)
    function = node.func.value if isinstance(node.func, ast.Subscript) else node.func
    if not isinstance(function, ast.Name):
        return
    found = definition(module, function.id)
    if found is None or not isinstance(found[1], ast.FunctionDef):
        return
    if any(found[0].entry_name(d).startswith("nki.") for d in found[1].decorator_list):
        for value in [*node.args, *[k.value for k in node.keywords]]:
            if isinstance(value, (ast.List, ast.ListComp)):
                yield "jit.list_argument", value, f"'{ast.unparse(value)}'"
