"""quantize_mx, whose scales depend on the release of NKI."""

from trnsim import _native, session

_quantize_mx = _native.isa.quantize_mx

# Until release 0.5 the scale was that of the OCP specification's sample algorithm, half of today's.
_OCP_SCALE = ("0.2", "0.3", "0.4")


def quantize_mx(dst, src, dst_scale, ocp_scale=None, name=None):
    """The native instruction, with the rule of the release chosen in trnsim.install where `ocp_scale` is None."""
    if ocp_scale is None:
        ocp_scale = session.settings.nki in _OCP_SCALE
    return _quantize_mx(dst, src, dst_scale, ocp_scale, name=name)
