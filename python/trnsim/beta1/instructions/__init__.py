"""The instructions of neuronxcc.nki.isa, by what they do."""
