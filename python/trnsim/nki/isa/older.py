"""Forms of older releases that run where no release is named: arguments in their old places."""

from trnsim import _native
from trnsim.lowering.tiles import is_tensor

_affine_select = _native.isa.affine_select
_OFFSET = 2  # its place among the arguments in release 0.2


def affine_select(*args, **kwargs):
    """dst = on_true_tile where the pattern compares true; release 0.2's order, with offset third, is taken too."""
    if len(args) > _OFFSET + 1 and not is_tensor(args[_OFFSET + 1]):
        kwargs["offset"] = args[_OFFSET]
        args = args[:_OFFSET] + args[_OFFSET + 1 :]
    return _affine_select(*args, **kwargs)


affine_select.__doc__ = f"{_affine_select.__doc__}\n\n{affine_select.__doc__}"
