"""python -m trnsim: the command `trnsim`."""

import sys

from trnsim.command import main

sys.exit(main())
