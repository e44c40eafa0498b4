"""`neuronxcc.nki.typing`: annotations of kernel parameters and tiles; only mutable_tensor has an effect."""

from trnsim.beta1.annotations import Annotation

tensor = Annotation("tensor")
mutable_tensor = Annotation("mutable_tensor")
scalar = Annotation("scalar")
