"""The Beta 1 dialect, `neuronxcc.nki`: instructions return tiles, indices and masks are affine
expressions."""
