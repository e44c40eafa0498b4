"""The release of NKI whose rules apply, and what it has. The facts are in table.py.

Where no release is named ("auto"), every release's code runs as far as the dialects allow; a named release is strict.
"""

from trnsim import _native, session
from trnsim.releases.table import BEHAVIOUR, DEPRECATED, NAMES, PARAMETERS, RELEASES, Span  # noqa: F401


class AbsentName(_native.ProgramError, AttributeError):
    """A name that the chosen release does not have."""


class AbsentImport(_native.ProgramError, ImportError):
    """An import of a name or module that the chosen release does not have."""


def named() -> str | None:
    """The release that the user chose; None where none is named."""
    return None if session.settings.nki == "auto" else session.settings.nki


def applies(behaviour: str) -> bool:
    """Whether a behaviour of table.BEHAVIOUR is that of the chosen release."""
    entry = BEHAVIOUR[behaviour]
    release = named()
    return entry.auto if release is None else Span(entry.first, entry.last).holds(release)


def refuse(rule: str, function: str, behaviour: str, given: str = ""):
    """Raise the ProgramError for code that relies on a behaviour of another release."""
    error = _native.ProgramError(f"{function}: {BEHAVIOUR[behaviour].text}{given}{here()}")
    error.rule = rule
    raise error


def here() -> str:
    """How messages name the chosen release."""
    release = named()
    return f" (the release here is {release})" if release else ""


def span_of(module: str, name: str) -> Span | None:
    """When a module had a name; None for a name that NKI never had."""
    return next((span for span in NAMES.get(module, ()) if name in span.names.split()), None)


def after(release: str) -> str:
    """The release that followed."""
    return RELEASES[RELEASES.index(release) + 1]


def why_absent(what: str, span, release: str | None) -> str:
    """The sentence that says why a name or parameter is not there."""
    if release is not None and RELEASES.index(release) < RELEASES.index(span.first):
        text = f"{what} came with release {span.first}"
    elif span.last == "beta1":
        text = f"{what} is of Beta 1 (neuronxcc.nki) only"
    else:
        text = f"{what} was removed in release {after(span.last)}"
    return f"{text}{'; use ' + span.note if span.note else ''}{here()}"


def absent(module: str, name: str) -> str | None:
    """Why `module` lacks a name that it had; None for a name that it never had."""
    span = span_of(module, name)
    return span and why_absent(f"{module}.{name}", span, named())
