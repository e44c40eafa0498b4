"""Runs published NKI kernels, unmodified, under the simulator and writes what came of them to docs/compatibility.md.

    python tools/corpus.py FOLDER [REPOSITORY...] [--only WORD] [--list]

FOLDER holds the checkouts, one folder per repository; nothing is downloaded. The results of each repository go to
validation/corpus/<repository>.json, and the page is written from all of these, so repositories can be run one by one.
How each repository's kernels are called stands in tools/corpus/recipes/.
"""

import sys

from corpus.command import main

sys.exit(main(__doc__))
