"""The command `trnsim port`."""

import argparse
import json
import tokenize
from pathlib import Path

from trnsim import _native
from trnsim.lint import module as modules
from trnsim.port import aliases, beta1, names
from trnsim.port.source import Source
from trnsim.releases.table import RELEASES

NEWEST = RELEASES[-1]


def main(arguments: list[str]) -> int:
    """`trnsim port FILE [--to RELEASE] [--diff] [--json]`. Returns the exit code: 0, or 1 where something is to do."""
    parser = argparse.ArgumentParser(prog="trnsim port", description="Say, line by line, what a kernel of an older "
                                     "release needs to run under a newer one. The file itself is never changed.")
    parser.add_argument("file", type=Path, help="a Python file with kernels")
    parser.add_argument("--to", default=NEWEST, metavar="RELEASE",
                        help=f"{', '.join(RELEASES[1:])} (default {NEWEST})")
    parser.add_argument("--diff", action="store_true", help="print a patch of what is mechanical instead")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(arguments)
    if options.to not in RELEASES[1:]:
        near = _native.nearest_name(options.to, RELEASES[1:])
        raise _native.ConfigError(f"--to {options.to}: there is no such release of nki"
                                  f"{f'; did you mean {near}?' if near else ''}; known: {', '.join(RELEASES[1:])}")
    source = advised(options.file, options.to)
    if options.diff:
        print(source.diff(), end="")
    elif options.json:
        print(json.dumps({"file": str(options.file), "to": options.to,
                          "findings": [vars(finding) for finding in ordered(source)]}, indent=2))
    else:
        print(text(source, options.to))
    return 1 if source.findings and not options.diff else 0


def advised(file: Path, release: str) -> Source:
    """The file with all findings and edits. Raises ConfigError for one that cannot be read or is no Python."""
    try:
        module = modules.Module(file)
    except OSError as error:
        raise _native.ConfigError(f"{file}: {error.strerror}") from None
    except modules.NotPython as error:
        raise _native.ConfigError(f"{file}:{error.line}: {error.text}") from None
    source = Source(file, _text(file), module.tree)
    known = aliases.of(module)
    old = any(aliases.is_old(path) for path in known.values())
    if old:
        wanted = beta1.port(source, known)
        names.imports(source, release, beta1.HANDLED, wanted)
    names.uses(source, known, release, beta1.HANDLED if old else set())
    return source


def _text(file: Path) -> str:
    """In the encoding that the file declares, with its own ends of lines."""
    try:
        with file.open("rb") as data:
            encoding, _ = tokenize.detect_encoding(data.readline)
        with file.open(encoding=encoding, newline="") as characters:
            return characters.read()
    except (SyntaxError, UnicodeDecodeError):
        raise _native.ConfigError(f"{file}: not text in the encoding that it declares, or UTF-8") from None


def ordered(source: Source):
    return sorted(set(source.findings), key=lambda finding: (finding.line, finding.column, finding.what))


def text(source: Source, release: str) -> str:
    findings = ordered(source)
    if not findings:
        return f"{source.path}: nothing to change for release {release}"
    mechanical = sum(finding.mechanical for finding in findings)
    lines = [f"{source.path}:{f.line}:{f.column}: {f.what}\n    {f.instead}" for f in findings]
    by_hand = len(findings) - mechanical
    return "\n".join([*lines, f"{len(findings)} places to change for release {release}: {mechanical} by the patch that "
                              f"--diff prints, {by_hand} by hand; then: trnsim lint --nki {release} on the result"])

