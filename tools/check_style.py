"""Checks what the house asks of every source file and a compiler does not see. Prints one line per finding.

The allowed exceptions stand in tools/style_exceptions.txt, one "<rule> <path>" a line, with a reason after '#'.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXCEPTIONS = ROOT / "tools" / "style_exceptions.txt"

SIZED = {".h", ".cpp", ".py"}
CODE = SIZED | {".cmake", ".js", ".css", ".sh"}
TEXT = CODE | {".md", ".toml", ".txt", ".json", ".html", ".yml"}
LONGEST_LINE = 120
LONGEST_FILE = 500

LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
ROLE = "(Manager|Helper|Util)s?(?![a-z])"  # say what a thing is, not which role it plays
ROLE_FILE = re.compile(r"(^|[_\-])(manager|helper|util)s?([_\-.]|$)", re.IGNORECASE)
ROLE_TYPE = re.compile(rf"\b(class|struct|enum|concept|union)\s+(\w*{ROLE}\w*)")
UPWARD_INCLUDE = re.compile(r'#\s*include\s+"\.\.?/')


def is_code(path):
    return path.suffix in CODE or path.name == "CMakeLists.txt"


def findings(path, text):
    """Yields (rule, line number, what is wrong) for one file, named by its path inside the project."""
    if ROLE_FILE.search(path.name):
        yield "role-name", 1, "a file is named for what it holds, not manager, helper or util"
    lines = text.splitlines()
    if path.suffix in SIZED and len(lines) > LONGEST_FILE:
        yield "long-file", len(lines), f"more than {LONGEST_FILE} lines: which table is hiding in it?"
    if text and not text.endswith("\n"):
        yield "last-newline", len(lines), "the last line does not end"
    for number, line in enumerate(lines, 1):
        if LATER.search(line):
            yield "later", number, "do it now, or open an issue and leave no mark here"
        if is_code(path):
            yield from code_line_findings(number, line)


def code_line_findings(number, line):
    if len(line) > LONGEST_LINE:
        yield "long-line", number, f"{len(line)} columns, more than {LONGEST_LINE}"
    if "\t" in line:
        yield "tab", number, "a tab"
    if line != line.rstrip():
        yield "trailing-space", number, "a space at the end of the line"
    if match := ROLE_TYPE.search(line):
        yield "role-name", number, f"{match[2]}: a type is named for what it is, not Manager, Helper or Util"
    if UPWARD_INCLUDE.search(line):
        yield "relative-include", number, 'include by full path ("isa/operand.h"), so that the layers can be checked'


def read_exceptions(text):
    """The set of (rule, path) that are allowed."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return {(rule, path) for rule, path in filter(None, lines)}


def project_files():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    paths = sorted(Path(name) for name in set(names))
    return [p for p in paths if (p.suffix in TEXT or is_code(p)) and (ROOT / p).is_file()]


def main():
    allowed = read_exceptions(EXCEPTIONS.read_text())
    used, wrong = set(), []
    for path in project_files():
        for rule, number, what in findings(path, (ROOT / path).read_text(encoding="utf-8")):
            key = (rule, str(path))
            used.add(key)
            if key not in allowed:
                wrong.append(f"{path}:{number}: {rule}: {what}")
    wrong += [f"{EXCEPTIONS.relative_to(ROOT)}: '{rule} {path}' is no longer needed" for rule, path in allowed - used]
    print("\n".join(wrong) or "style: nothing to mend")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
