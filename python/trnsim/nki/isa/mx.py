"""quantize_mx, whose scales depend on the release of NKI."""

from trnsim import _native, releases

_quantize_mx = _native.isa.quantize_mx


def quantize_mx(dst, src, dst_scale, ocp_scale=None, name=None):
    """The native instruction, with the rule of the release chosen in trnsim.install where `ocp_scale` is None."""
    if ocp_scale is None:
        ocp_scale = releases.applies("quantize_mx plain scale")
    return _quantize_mx(dst, src, dst_scale, ocp_scale, name=name)
