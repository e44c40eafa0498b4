"""Cores that take turns: each has a thread of its own, and exactly one of them runs at a time, in a fixed order."""

import contextvars
import ctypes
import threading


_SIGNALS = 0.2  # seconds after which a waiting thread looks for signals that another one was given


class Stopped(BaseException):
    """Raised in a core that is to end because another one has failed."""


class Baton:
    """Runs a job per core, the one that holds the baton. A core passes it on where it has to wait and where it ends:
    to the lowest core that can go on, so that the order never depends on the host.

    Core 0 runs in the caller's thread, so that a debugger and Ctrl-C work there as without threads.
    """

    _READY, _WAITING, _ENDED = range(3)

    def __init__(self, cores: int):
        self._turns = [threading.Lock() for _ in range(cores)]
        for turn in self._turns:
            turn.acquire()
        self._done = threading.Lock()
        self._done.acquire()
        self._states = [self._READY] * cores
        self._threads = [threading.current_thread()]
        self._holder = 0
        self._results = [None] * cores
        self._error = None

    def run(self, jobs) -> list:
        """The results of the jobs, in their order. Raises the first error of any, once all have ended."""
        for core in range(1, len(jobs)):
            context = contextvars.copy_context()
            thread = threading.Thread(target=context.run, args=(self._begin, core, jobs[core]), daemon=True,
                                      name=f"core {core}")
            self._threads.append(thread)
            thread.start()
        self._work(0, jobs[0])
        self._acquire(self._done)
        for thread in self._threads[1:]:
            thread.join()
        if self._error is not None:
            raise self._error
        return self._results

    def wait(self, core: int, complete: bool) -> None:
        """Pass the baton on until it is this core's turn again. complete: those that wait can go on.

        Also returns when no core can go on: then this one has to say so. Raises Stopped when another core failed.
        """
        if complete:
            self._states = [state if state == self._ENDED else self._READY for state in self._states]
        else:
            self._states[core] = self._WAITING
        following = self._next()
        if following != core:
            self._hand_to(following)
            self._acquire(self._turns[core])
        if self._error is not None:
            raise Stopped
        self._states[core] = self._READY

    def _begin(self, core, job):
        self._acquire(self._turns[core])
        self._work(core, job)

    def _work(self, core, job):
        try:
            if self._error is None:
                self._results[core] = job()
        except Stopped:
            pass
        except BaseException as error:
            self._fail(error)
        self._states[core] = self._ENDED
        following = self._next()
        if following is None:
            self._done.release()
        else:
            self._hand_to(following)

    def _next(self):
        """The lowest core that can go on; where none can, the lowest that waits; None where all have ended."""
        for state in (self._READY, self._WAITING):
            if state in self._states:
                return self._states.index(state)
        return None

    def _hand_to(self, core):
        self._holder = core
        self._turns[core].release()

    def _fail(self, error):
        if self._error is None:
            self._error = error

    def _acquire(self, lock):
        """Acquire a lock. Ctrl-C, which reaches the main thread alone, stops the core that runs meanwhile."""
        while True:
            try:
                while not lock.acquire(timeout=_SIGNALS):
                    pass
                return
            except BaseException as error:
                self._fail(error)
                thread = self._threads[self._holder]
                if thread is threading.current_thread() or self._next() is None:
                    return  # it came just after the lock
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped))
