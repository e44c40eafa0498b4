"""tensor_copy with an address that a tile holds, as instructions of their own: NKI 0.2 and 0.3."""

from trnsim import _native, releases


def tensor_copy_dynamic_src(dst, src, **options):
    """dst = src, where `src` is a view such as tensor.ap(..., scalar_offset=tile)."""
    _copy("tensor_copy_dynamic_src", dst, src, src, options)


def tensor_copy_dynamic_dst(dst, src, **options):
    """dst = src, where `dst` is a view such as tensor.ap(..., scalar_offset=tile)."""
    _copy("tensor_copy_dynamic_dst", dst, src, dst, options)


def _copy(name, dst, src, moved, options):
    span, release = releases.span_of("nki.isa", name), releases.named()
    if release is not None and not span.holds(release):
        raise _native.Unsupported(f"{name}, because {releases.why_absent(f'nki.isa.{name}', span, release)}")
    getattr(_native.isa, name)(dst, src, offset=getattr(moved, "dynamic_offset", None), **options)
