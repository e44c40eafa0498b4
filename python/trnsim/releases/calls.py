"""Calls as one release takes them: its parameters, in its order, turned into those of today."""

import functools
import inspect

from trnsim import _native, releases
from trnsim.lowering.tiles import refuse
from trnsim.releases import rules
from trnsim.releases.table import ENUM_CODES, PARAMETERS, Parameter


def parameters_of(path: str) -> tuple[Parameter, ...]:
    """The parameters that came or went, of the function and of all of its module."""
    return PARAMETERS.get(path, ()) + PARAMETERS.get(path.rpartition(".")[0], ())


def today(function) -> tuple[str, ...]:
    """The parameters of a function of trnsim, in order."""
    if isinstance(function, type(_native.isa.memset)) or _passes_on(function):
        text = getattr(_native.isa, function.__name__).__text_signature__
        names = [part.split("=")[0].strip() for part in text.strip("()").split(",")]
    else:
        names = inspect.signature(function).parameters
    return tuple(name for name in names if name not in _OURS.get(function.__name__, ()))


def _passes_on(function) -> bool:
    """Whether a function hands the arguments on that it was given, to the instruction of its name if there is one."""
    return not isinstance(function, type(_native.isa.memset)) and any(
        p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in inspect.signature(function).parameters.values()
    )


# Arguments of the native instructions that NKI spells otherwise: as views of rows, or by the release.
_OURS = {
    "dma_copy": ("src_index", "dst_index"),
    "dma_transpose": ("src_index", "dst_index"),
    "quantize_mx": ("ocp_scale",),
    "tensor_copy_dynamic_dst": ("offset",),
    "tensor_copy_dynamic_src": ("offset",),
}


def names_in(path: str, function, release: str) -> tuple[str, ...]:
    """The parameters of a function in `release`, in that release's order."""
    changed = parameters_of(path)
    here = [p for p in changed if _holds(p, release)]
    moved = {p.name for p in here if p.after}
    gone = {p.name for p in changed if p.became != p.name} - {p.name for p in here}
    names = [n for n in today(function) if n not in moved and n not in gone]
    for p in here:
        if p.after:
            names.insert(names.index(p.after) + 1, p.name)
        elif p.last and p.name not in names:
            names.append(p.name)
    return tuple(names)


def _holds(parameter: Parameter, release: str) -> bool:
    return releases.Span(parameter.first, parameter.last).holds(release)


def of_release(path: str, function, release: str):
    """The function as `release` calls it."""
    if _passes_on(function) and not hasattr(_native.isa, function.__name__):
        return function
    names = names_in(path, function, release)
    renamed = {p.name: p.became for p in parameters_of(path) if p.became is not None and _holds(p, release)}
    short = path.removeprefix("nki.")
    rule = rules.RULES.get(path)

    @functools.wraps(function, assigned=("__name__", "__doc__"), updated=())
    def call(*args, **kwargs):
        if len(args) > len(names):
            refuse("release.argument", f"{short}: takes at most {len(names)} positional arguments, got {len(args)}")
        given = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in given:
                refuse("release.argument", f"{short}: '{name}' is given twice")
            if name not in names:
                refuse("release.argument", _why_not(path, name, release) or _unknown(short, name, names))
            given[name] = value
        arguments = {renamed.get(n, n): value for n, value in given.items() if renamed.get(n, n)}
        if rule is not None:
            rule(arguments)
        return function(**arguments)

    call.__signature__ = inspect.Signature(
        [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names if n.isidentifier()]
    )
    return call


def _why_not(path: str, name: str, release: str) -> str | None:
    found = [p for p in parameters_of(path) if p.name == name]
    if not found:
        return None
    span = releases.Span(found[0].first, found[-1].last)
    note = f": {found[-1].note}" if found[-1].note else ""
    return f"{releases.why_absent(f'{path}({name}=)', span, release)}{note}"


def _unknown(short: str, name: str, names) -> str:
    near = _native.nearest_name(name, names)
    hint = f"; did you mean '{near}'?" if near else ""
    return f"{short}: no argument is called '{name}'{hint}"


def foreign_keyword(instruction: str, keyword: str):
    """Where an instruction does not have a keyword: its name today, "" where the value has no effect, None where no
    release has it. Raises ProgramError where it went without a successor."""
    path = f"nki.isa.{instruction}"
    for p in parameters_of(path):
        if p.name == keyword and p.became is not None:
            return p.became
    why = _why_not(path, keyword, None)
    return why and refuse(f"{instruction}.argument", why)


def foreign_choice(group: str, value):
    """The member of an enumeration that a number or a string stood for until release 0.2; None for any other."""
    codes = {code: name for name, code in ENUM_CODES.get(group, {}).items()}
    name = codes.get(value) if type(value) is int else value if isinstance(value, str) else None
    member = getattr(_native.choices, group, {}).get(name)
    if member is not None and not releases.applies("enums as numbers"):
        given = f": write nki.isa.{group}.{name}"
        releases.refuse("release.enum", repr(value), "enums as numbers", given)
    return member


_native.on_foreign_keyword(foreign_keyword)
_native.on_foreign_choice(foreign_choice)
