"""Writes docs/names.md: every public name of NKI, in which releases it is, on which chips, and the test that covers it.

    python tools/names.py [--check]

The names come from trnsim.releases, generations from `trnsim isa`, what is refused from the names themselves, and the
tests from their text. --check writes nothing and fails where the committed page differs.
"""

import importlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "names.md"
ALIASES = {
    "nki": r"nki\d?", "nki.isa": r"(?:nki\.isa|nisa\d?|isa)", "nki.language": r"(?:nki\.language|nl\d?)",
    "nki.collectives": r"(?:ncc|collectives)", "nki.typing": "nt", "nki.dtype": "(?:dtype|nl)",
    "nki.compiler": "compiler",
    "nki.language.tile_size": r"tile_size", "nki.isa.matmul_perf_mode": "matmul_perf_mode", "nki.isa.constants": "nisa",
    "neuronxcc.nki": r"nki\d?", "neuronxcc.nki.isa": r"nisa\d?", "neuronxcc.nki.language": r"nl\d?",
    "neuronxcc.nki.compiler": "(?:ncc|compiler)", "neuronxcc.nki.compiler.psum": r"psum",
    "neuronxcc.nki.compiler.sbuf": r"sbuf", "neuronxcc.nki.language.tile_size": r"tile_size",
    "neuronxcc.nki.typing": "(?:nt|typing)",
}  # fmt: skip
OLD_ONLY = ("beta1", "drivers")  # folders of tests that speak of Beta 1
BOTH = "test_limits.py"  # goes through both dialects


@cache
def test_texts() -> dict[Path, str]:
    """The Python tests, those of single instructions first."""
    # Samples of lint and port name much and run little.
    tests = [p for p in (ROOT / "tests").rglob("test_*.py") if p.parent.name not in ("lint", "port")]
    tests.sort(key=lambda p: (p.parent.name != "isa", str(p)))
    return {path: path.read_text(encoding="utf-8") for path in tests}


@cache
def generations() -> dict[str, int]:
    """The first generation of each instruction."""
    done = subprocess.run([sys.executable, "-m", "trnsim", "isa", "--json"], check=True, capture_output=True, text=True)
    return {entry["name"]: entry["since_generation"] for entry in json.loads(done.stdout)}


def value_of(module: str, name: str):
    """What trnsim has under a public name; raises AttributeError or ImportError where there is nothing."""
    parts = module.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:depth]))
        except ImportError:
            continue
        for part in [*parts[depth:], name]:
            owner = getattr(owner, part)
        return owner
    raise ImportError(module)


def test_of(module: str, name: str) -> str:
    """The file of the first test that speaks of a name; "" where none does."""
    owner = ALIASES[module]
    spelled = re.compile(rf"\b{owner}\.{name}\b")
    listed = re.compile(rf"[\"' (]{name}[\"' ),]")  # in lists of names that a test goes through
    old = module.startswith("neuronxcc")
    wanted = [path for path in test_texts() if (path.parent.name in OLD_ONLY) == old or path.name == BOTH]
    for pattern in (spelled, listed):
        for path in wanted:
            if pattern.search(test_texts()[path]):
                return str(path.relative_to(ROOT / "tests"))
    return ""


def rows():
    """(module, name, releases, first generation, refusal, test) of every name, in the order of the table."""
    from trnsim.releases import beta1, table

    for module, spans in table.NAMES.items():
        for span in spans:
            for name in sorted(span.names.split()):
                if span.last != "beta1":
                    yield row(module, name, f"{span.first} to {span.last}" if span.last else f"{span.first} on")
    for module, by_sdk in beta1.NAMES.items():
        for sdk, names in by_sdk.items():
            for name in sorted(names.split()):
                yield row(module, name, f"SDK {sdk} on")


def row(module, name, releases):
    value = value_of(module, name)
    refusal = getattr(value, "refusal", "")
    since = generations().get(name, 1) if module.endswith(".isa") else 1
    return module, name, releases, since, refusal, test_of(module, name)


def page() -> str:
    """The text of docs/names.md."""
    lines = [
        "# Names",
        "",
        "Every public name of `nki` (releases 0.2 to 0.7) and of Beta 1, `neuronxcc.nki` (SDK 2.20 to 2.26). Written",
        "by `python tools/names.py`; do not edit. A name runs unless a reason stands under *refused*. \"v4\" under",
        "*chips* means NeuronCore-v4 and later; nothing means all. The test is one of those that cover the name.",
    ]
    heading = None
    for module, name, releases, since, refusal, test in rows():
        if module != heading:
            heading = module
            lines += ["", f"## {module}", "", "| name | releases | chips | refused | test |"]
            lines.append("| --- | --- | --- | --- | --- |")
        chips = f"v{since}" if since > 1 else ""
        lines.append(f"| `{name}` | {releases} | {chips} | {refusal} | {test} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    import trnsim

    trnsim.install()
    text = page()
    if "--check" in sys.argv[1:]:
        if text != PAGE.read_text(encoding="utf-8"):
            print("docs/names.md is out of date: run python tools/names.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
