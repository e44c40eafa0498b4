"""In the process of one case: run it, and tell which kernels were launched, how they ended and what was wrong."""

import importlib
import inspect
import io
import json
import os
import random
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest


def compare(result, expected, *, rtol=0.0, atol=0.0, of_largest=None):
    """Assert that two arrays agree and say how well.

    rtol, atol: as numpy's allclose. of_largest: the largest error over the largest value expected, instead of both.
    With no tolerance the bytes must be the same.
    """
    result, expected = (np.asarray(a) for a in (result, expected))
    assert result.shape == expected.shape, f"shape {result.shape}, expected {expected.shape}"
    if result.dtype == expected.dtype and result.tobytes() == expected.tobytes():
        return "bit for bit"
    assert of_largest or rtol or atol, "not bit for bit"
    wide, reference = result.astype(np.float64), expected.astype(np.float64)
    error = np.abs(wide - reference)
    if of_largest is not None:
        share = error.max() / np.abs(reference).max()
        assert share <= of_largest, f"error {share:.1e} of the largest value (allowed {of_largest:.0e})"
        return f"error {share:.1e} of the largest value (allowed {of_largest:.0e})"
    excess = error - (atol + rtol * np.abs(reference))
    assert not np.isnan(excess).any() and excess.max() <= 0, (
        f"{(~(excess <= 0)).mean():.1%} of the elements differ by more than rtol {rtol:g}, atol {atol:g}; "
        f"largest difference {error.max():.2e}"
    )
    return f"within rtol {rtol:g}, atol {atol:g}"


def error_text(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class Launches:
    """The kernels that this process launches, by file and name."""

    def __init__(self, checkout):
        self.checkout = checkout
        self.kernels = set()
        self.beta1 = False
        self.recent = {}  # since the last call of `take`: True while no launch of the kernel was refused

    def watch(self):
        from trnsim import session

        launch_kernel = session.launch_kernel

        def watched(function, *args, **kwargs):
            name = self._name(function)
            self.kernels.add(name)
            self.beta1 |= function.__globals__["__name__"].startswith("trnsim.beta1")
            ended_well, self.recent[name] = self.recent.get(name, True), False
            results = launch_kernel(function, *args, **kwargs)
            self.recent[name] = ended_well
            return results

        session.launch_kernel = watched

    def take(self):
        """What was launched since the last call."""
        taken, self.recent = self.recent, {}
        return taken

    def _name(self, function):
        function = inspect.unwrap(function)
        while hasattr(function, "func"):  # functools.partial
            function = inspect.unwrap(function.func)
        code = getattr(function, "__code__", None)
        path = Path(code.co_filename) if code else Path("?")
        if path.is_relative_to(self.checkout):
            path = path.relative_to(self.checkout)
        return f"{path}:{getattr(function, '__qualname__', function).replace('<locals>.', '')}"


class _Tests:
    """A pytest plug-in that notes how each test of a file ended."""

    def __init__(self, path, launches):
        self.path = path
        self.launches = launches
        self.problems = {}
        self.count = 0
        self.skipped = {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.partition("::")[2]
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            self.count += report.outcome != "skipped"
        if report.when == "setup":
            self.launches.take()
        if report.skipped:
            self.skipped[name] = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        elif report.failed:
            self.problems[name] = report.corpus_problem, self.launches.take()

    def pytest_collectreport(self, report):
        if report.failed:
            self.problems["import"] = " ".join(str(report.longrepr).split())[-600:], {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = yield
        if call.excinfo is not None:
            report.corpus_problem = error_text(call.excinfo.value) + _place(call.excinfo.value, self.path)
        return report


def run_tests(path, arguments, launches):
    tests = _Tests(path, launches)
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(path.parent), "--color=no"]
    with redirect_stdout(io.StringIO()) as output:
        code = pytest.main([str(path), *options, *arguments], plugins=[tests])
    if not tests.count and not tests.problems and not tests.skipped:
        tests.problems["pytest"] = f"exit code {int(code)}: {' '.join(output.getvalue().split())[-400:]}", {}
    return {"tests": tests.count, "problems": tests.problems, "skipped": tests.skipped}


def _place(error, path):
    """For a failed assertion, the statement of the test's own file."""
    if not isinstance(error, AssertionError):
        return ""
    lines = (f.line for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == str(path))
    return f" in `{next(lines, '')}`"


class _Echo(io.StringIO):
    """What a script prints, kept and passed on."""

    def write(self, text):
        sys.__stdout__.write(text)
        return super().write(text)


def run_script(case, path):
    sys.argv = [str(path), *map(str, case["arguments"])]
    with redirect_stdout(_Echo()) as output:
        try:
            runpy.run_path(str(path), run_name="__main__")
        except SystemExit as exit_:
            assert not exit_.code, f"the script ended with exit code {exit_.code}"
    text = output.getvalue()
    assert case["says"] in text, f"the script did not print '{case['says']}'"
    denies = case["denies"]
    assert not denies or denies not in text, f"the script printed '{denies}'"
    return {"remark": f"prints '{case['says']}'" if case["says"] else "by its own check"}


def run_case(job):
    """The outcome of one case: {"tests", "problems": {name: (text, launches)}, "kernels", "remark"}."""
    import trnsim

    checkout, case = Path(job["checkout"]), job["case"]
    path = checkout / case["file"]
    recipe = importlib.import_module(f"corpus.recipes.{job['recipe']}")
    trnsim.install(**case["options"])
    launches = Launches(checkout)
    launches.watch()
    np.random.seed(0)
    random.seed(0)
    os.environ.update(case["environment"])
    sys.path.insert(0, str(path.parent))
    sys.path[:0] = [str(checkout / folder) for folder in case["paths"]]
    outcome = {"problems": {}, "tests": 1}
    try:
        if case["run"] == "tests":
            outcome |= run_tests(path, case["arguments"], launches)
        elif case["run"] == "script":
            outcome |= run_script(case, path)
        else:
            outcome["remark"] = getattr(recipe, case["run"])(path, *case["arguments"]) or ""
    except Exception as error:
        traceback.print_exc()
        outcome["problems"] = {case["name"] or case["run"]: (error_text(error), launches.take())}
    return outcome | {"kernels": sorted(launches.kernels), "beta1": launches.beta1}


def main(job_file):
    """Run the job in `job_file` and write its outcome beside it."""
    job = json.loads(Path(job_file).read_text())
    outcome = run_case(job)
    Path(job["outcome"]).write_text(json.dumps(outcome))
    sys.stdout.flush()
    os._exit(0)  # threads and exit handlers of a case are not waited for
