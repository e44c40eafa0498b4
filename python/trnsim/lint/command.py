"""The command `trnsim lint`, and the warnings that `trnsim run` gives."""

import argparse
import json
import sys
from pathlib import Path

from trnsim import _native
from trnsim.lint import check as checking
from trnsim.lint import module as modules
from trnsim.lint import table
from trnsim.releases.table import RELEASES

_SHOWN = 5  # findings that `trnsim run` prints


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise _native.ConfigError(f"{message}; see trnsim lint --help")


def main(arguments: list[str]) -> int:
    """trnsim lint. Returns 0 without errors, 1 with, 2 where a file cannot be read; ConfigError for wrong use."""
    parser = _Parser(prog="trnsim lint", description="Say what the compiler would refuse in the kernels of Python "
                     "files, without running them. '# trnsim: ignore[rule]' at a line switches a rule off there.")
    parser.add_argument("path", nargs="*", help="Python files, or folders of them")
    parser.add_argument("--nki", default="auto", metavar="RELEASE", help="judge by one release: "
                        f"{', '.join(RELEASES)}; auto (the default) is the newest, and Beta 1 for neuronxcc.nki")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--rules", action="store_true", help="print all rules with their sources, and leave")
    options = parser.parse_args(arguments)
    if options.rules:
        print(table.page(), end="")
        return 0
    if options.nki != "auto" and options.nki not in RELEASES:
        raise _native.ConfigError(f"unknown NKI release '{options.nki}'; known are auto, {', '.join(RELEASES)}")
    if not options.path:
        raise _native.ConfigError("trnsim lint needs a Python file; see trnsim lint --help")
    findings, unread = _findings(_files(options.path), None if options.nki == "auto" else options.nki)
    if options.json:
        print(json.dumps([finding._asdict() for finding in findings], indent=2))
    else:
        for finding in findings:
            print(finding.text())
    for text in unread:
        print(f"trnsim: {text}", file=sys.stderr)
    if unread:
        return 2
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _files(paths):
    files = []
    for path in map(Path, paths):
        if not path.exists():
            raise _native.ConfigError(f"{path}: no such file")
        files += sorted(p for p in path.rglob("*.py") if p.is_file()) if path.is_dir() else [path]
    return files


def _findings(files, release):
    """The findings of all files, each once, and a sentence for each file that cannot be read."""
    found, unread = {}, []
    for path in files:
        try:
            for finding in checking.check(path, release):
                found.setdefault(finding, None)
        except modules.NotPython as error:
            unread.append(f"{path}: {error.text}")
        except OSError as error:
            unread.append(f"{path}: {error.strerror}")
    return list(found), unread


def warn(script: Path, release: str) -> None:
    """Print what the compiler would refuse in a script that is about to run, at most five lines, to stderr.

    Where no release is named, only what every release of its dialect refuses. Never stops the run.
    """
    try:
        findings = checking.check(script, None if release == "auto" else release)
    except (modules.NotPython, OSError):  # the run itself says what is wrong with the file
        return
    except Exception as defect:  # of lint: no reason not to run
        print(f"trnsim: lint: gave up on {script}, which is a defect of trnsim: {type(defect).__name__}: {defect}",
              file=sys.stderr)
        return
    rules = table.RULES
    findings = [f for f in findings if f.level != "note" and f.rule != table.SYNTAX.id
                and (release != "auto" or rules[f.rule].always or rules[f.rule].last == "beta1")]
    for finding in findings[:_SHOWN]:
        print(f"trnsim: lint: {finding.text()}", file=sys.stderr)
    if len(findings) > _SHOWN:
        print(f"trnsim: lint: and {len(findings) - _SHOWN} more; see trnsim lint {script}", file=sys.stderr)
