"""A line of progress on the terminal for runs that take more than two seconds."""

import contextlib
import sys
import threading
import time

from trnsim import session

_PATIENCE = 2.0  # seconds before the first word
_PERIOD = 0.5


@contextlib.contextmanager
def shown():
    """Say on standard error, where that is a terminal, which kernel runs and how far it is."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_report, args=(done, time.monotonic()), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _report(done: threading.Event, start: float) -> None:
    written = 0
    pause = _PATIENCE
    while not done.wait(pause):
        pause = _PERIOD
        launch = session.latest_launch()
        if launch is None:
            continue
        line = f"trnsim: {launch.kernel}: {launch.instruction_count:,} instructions, {time.monotonic() - start:.0f} s"
        print("\r" + line.ljust(written), end="", file=sys.stderr, flush=True)
        written = len(line)
    if written:
        print("\r" + " " * written + "\r", end="", file=sys.stderr, flush=True)
