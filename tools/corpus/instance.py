"""A pytest plug-in for tests that ask the machine what instance it is: the file that says so on a Neuron instance."""

import builtins
import io

PRODUCT_NAME = "/sys/devices/virtual/dmi/id/product_name"
INSTANCE = "trn2.48xlarge"

_open = builtins.open


def _opened(file, *args, **kwargs):
    return io.StringIO(INSTANCE + "\n") if file == PRODUCT_NAME else _open(file, *args, **kwargs)


builtins.open = _opened
