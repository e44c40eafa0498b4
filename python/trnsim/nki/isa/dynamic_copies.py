"""tensor_copy with an address that a tile holds, as instructions of their own: NKI 0.2 and 0.3."""

from trnsim import _native, session

_REMOVED_IN = ("0.4", "0.5", "0.6", "0.7")


def tensor_copy_dynamic_src(dst, src, **options):
    """dst = src, where `src` is a view such as tensor.ap(..., scalar_offset=tile)."""
    _copy("tensor_copy_dynamic_src", dst, src, src, options)


def tensor_copy_dynamic_dst(dst, src, **options):
    """dst = src, where `dst` is a view such as tensor.ap(..., scalar_offset=tile)."""
    _copy("tensor_copy_dynamic_dst", dst, src, dst, options)


def _copy(name, dst, src, moved, options):
    if session.settings.nki in _REMOVED_IN:
        raise _native.Unsupported(
            f"{name} in NKI {session.settings.nki}, because it was removed in NKI 0.4: use nisa.tensor_copy "
            "with tensor.ap(..., scalar_offset=tile)"
        )
    getattr(_native.isa, name)(dst, src, offset=getattr(moved, "dynamic_offset", None), **options)
