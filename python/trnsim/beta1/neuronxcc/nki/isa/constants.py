"""`neuronxcc.nki.isa.constants`: the enumerations of the instructions' arguments."""

from trnsim.beta1.isa import dge_mode, engine, oob_mode, reduce_cmd  # noqa: F401
