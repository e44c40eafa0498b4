"""`neuronxcc.nki.language`."""

import types

from trnsim.beta1 import language as _language

globals().update(
    {
        name: value
        for name, value in vars(_language).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
)
del types
