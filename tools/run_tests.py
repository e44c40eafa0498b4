"""Runs the C++ tests (ctest) and the Python tests (pytest), then prints one line with the sum of both."""

import argparse
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / "build" / "python"


# What ctest says of a test that passes: thousands of lines that nobody reads.
NOISE = re.compile(r" *Start +\d+: |.* Passed +[\d.]+ sec$")


def run(command, results):
    """Runs one test program; returns its exit code and what its JUnit file counts as (run, failed, skipped)."""
    results.unlink(missing_ok=True)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if not NOISE.match(line.rstrip()):
                print(line, end="", flush=True)
    if not results.exists():
        return process.returncode, (0, 0, 0)
    suites = list(ElementTree.parse(results).iter("testsuite"))

    def count(*keys):
        return sum(int(suite.get(key, 0)) for suite in suites for key in keys)

    return process.returncode, (count("tests"), count("failures", "errors"), count("skipped", "disabled"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="leave out the tests marked slow")
    parser.add_argument("pytest_arguments", nargs="*", help="passed on to pytest")
    options = parser.parse_args()
    start = time.monotonic()

    ctest_results, pytest_results = TREE / "ctest.xml", TREE / "pytest.xml"
    ctest = ["ctest", "--preset", "python", "--no-label-summary", "--output-junit", str(ctest_results)]
    pytest = [sys.executable, "-m", "pytest", "-rs", f"--junitxml={pytest_results}"]
    if options.fast:
        ctest += ["-LE", "slow"]
        pytest += ["-m", "not slow"]

    ctest_code, cpp = run(ctest, ctest_results)
    pytest_code, python = run(pytest + options.pytest_arguments, pytest_results)

    tests, failed, skipped = (a + b for a, b in zip(cpp, python))
    failed = max(failed, int(bool(ctest_code)) + int(bool(pytest_code)))
    print(f"\nC++ and Python together, in {time.monotonic() - start:.0f} s:")
    print(f"{max(tests - failed - skipped, 0)} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
