"""Names of the vendor's packages that are there to say why they do not run."""

from trnsim import _native


def refused(name: str, because: str, kind=_native.Unsupported):
    """A function that raises `kind` with "<name>, because <because>"; docs/names.md lists the reason."""

    def function(*_, **__):
        raise kind(f"{name}, because {because}")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = f"{name}: refused, because {because}."
    function.refusal = because
    return function


def refused_class(name: str, because: str) -> type:
    """A class that cannot be derived from or made, for the same reasons."""

    def refuse(*_, **__):
        raise _native.Unsupported(f"{name}, because {because}")

    members = {"__new__": refuse, "__init_subclass__": classmethod(refuse), "refusal": because}
    return type(name.rpartition(".")[2], (), {**members, "__doc__": f"{name}: refused, because {because}."})
