"""NkiTensor.rearrange: split, reorder and merge dimensions by name."""

import math

from trnsim.lowering.tiles import refuse


def rearrange(self, src_pattern, dst_pattern, fixed_sizes=None):
    """The view of the dimensions named in `src_pattern` as `dst_pattern` orders them; a tuple of names is
    one dimension split (in the source) or several merged (in the destination). `fixed_sizes` gives sizes
    that splits leave open."""
    if len(src_pattern) != self.ndim:
        _fail(
            self,
            f"the source pattern {src_pattern} names {len(src_pattern)} dimensions of {self.ndim}",
        )
    names, sizes = [], []
    for size, entry in zip(self.shape, src_pattern):
        for name, part in _split(self, entry, size, fixed_sizes or {}):
            names.append(name)
            sizes.append(part)
    wanted = [name for entry in dst_pattern for name in _group(entry)]
    if len(set(names)) != len(names) or sorted(wanted) != sorted(names):
        _fail(self, f"the patterns {src_pattern} and {dst_pattern} must name the same dimensions, each once")
    view = self.reshape(tuple(sizes)).permute([names.index(name) for name in wanted])
    merged = tuple(math.prod(sizes[names.index(name)] for name in _group(entry)) for entry in dst_pattern)
    return view if merged == view.shape else view.reshape(merged)


def _group(entry) -> tuple[str, ...]:
    return (entry,) if isinstance(entry, str) else tuple(entry)


def _split(self, entry, size, fixed_sizes):
    """(name, size) of each part of one source dimension."""
    group = _group(entry)
    open_names = [name for name in group if name not in fixed_sizes]
    known = math.prod(fixed_sizes[name] for name in group if name in fixed_sizes)
    if len(open_names) > 1:
        _fail(
            self, f"the sizes of {open_names} cannot both follow from {size}; give all but one in fixed_sizes"
        )
    if (open_names and (known == 0 or size % known)) or (not open_names and known != size):
        _fail(self, f"dimension {entry!r} has size {size}, which the sizes {fixed_sizes} do not divide")
    return [(name, fixed_sizes.get(name, size // known if known else 0)) for name in group]


def _fail(self, why: str):
    refuse("tensor.rearrange", f"rearrange of tensor '{self.name}' with shape {self.shape}: {why}")
