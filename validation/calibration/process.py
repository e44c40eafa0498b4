"""A process of its own that works off what it is asked, so that one question can neither hang nor end the program."""

import contextlib
import io
import multiprocessing
import warnings

_FORK = multiprocessing.get_context("fork")  # answers may be closures over what the parent has read


class Worker:
    """Answers questions one at a time by `answer`, in a child that is replaced when it dies or takes too long."""

    def __init__(self, answer):
        self._answer = answer
        self._child = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def ask(self, question, limit: float):
        """The answer, or text that says why there is none: the time limit in seconds was reached, or the child died."""
        if self._child is None:
            self._start()
        self._pipe.send(question)
        if not self._pipe.poll(limit):
            self._end()
            return f"not done within {limit:g} s"
        try:
            return self._pipe.recv()
        except EOFError:
            self._child.join()
            code = self._child.exitcode
            self._end()
            return f"the process that ran the kernel ended with signal {-code}" if code < 0 else \
                f"the process that ran the kernel ended with status {code}"

    def _start(self):
        self._pipe, theirs = _FORK.Pipe()
        self._child = _FORK.Process(target=_serve, args=(theirs, self._pipe, self._answer), daemon=True)
        self._child.start()
        theirs.close()

    def _end(self):
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._pipe.close()
            self._child = None


def _serve(pipe, parents_end, answer):
    parents_end.close()
    warnings.simplefilter("ignore")  # they are for the kernels' authors
    try:
        while True:
            question = pipe.recv()
            with contextlib.redirect_stdout(io.StringIO()):  # some kernels report what memory they use
                found = answer(question)
            pipe.send(found)
    except EOFError:
        pass  # the parent has ended
