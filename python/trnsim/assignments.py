"""What the user's code calls a value: the variable that it is assigned to, for names of tiles that were given none."""

import dis
from types import CodeType

_SKIPPED = ("CACHE", "EXTENDED_ARG", "PRECALL")
_OWNERS = ("LOAD_FAST", "LOAD_NAME", "LOAD_DEREF", "LOAD_GLOBAL")


def assigned_name(code: CodeType, offset: int) -> str:
    """The variable or attribute that takes what the instruction at a byte offset makes; "" if none does directly.

    `acc = f()`, `acc: T = f()`, `(acc := f())` and `self.acc = f()` name it acc; an argument, an element of a list
    or a target of several values has no name.
    """
    following = [step for step in dis.get_instructions(code)
                 if step.offset > offset and step.opname not in _SKIPPED][:3]
    if following and following[0].opname in ("COPY", "DUP_TOP"):  # a := b, or a = b = c
        following = following[1:]
    if len(following) > 1 and following[0].opname in _OWNERS and following[1].opname == "STORE_ATTR":
        following = following[1:]
    if not following or not following[0].opname.startswith("STORE_") or following[0].opname == "STORE_SUBSCR":
        return ""
    name = following[0].argval  # of two instructions in one, those of both
    return name[0] if isinstance(name, tuple) else str(name)
