"""The process of an operator's code: loads the library and serves it. Run by path, without trnsim.

Arguments: library, descriptor of requests, descriptor of replies, then the settings of runtime.h in their order.
"""

import ctypes
import sys

library, requests, replies, *settings = sys.argv[1:]
values = (ctypes.c_int64 * len(settings))(*map(int, settings))
ctypes.CDLL(library).trnsim_serve(int(requests), int(replies), values)
