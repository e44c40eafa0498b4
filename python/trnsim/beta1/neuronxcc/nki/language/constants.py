"""`neuronxcc.nki.language.constants`: published kernels import it and use nothing of it; it is not public."""


def __getattr__(name):
    raise AttributeError(f"neuronxcc.nki.language.constants.{name}: no public document says what this module holds")
