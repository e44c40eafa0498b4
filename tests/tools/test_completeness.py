"""Nothing is left out: each instruction and its rules, each kind of error and each example has its test."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
import trnsim
from trnsim import _native

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SOURCES = {path.stem: path for path in sorted((ROOT / "src" / "isa" / "insn").glob("*.cpp"))}
TEXTS = {path: path.read_text() for path in sorted(TESTS.rglob("test_*.py"))}
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir() and path.name != "__pycache__")

# "<instruction>.<rule>": why no kernel can break it.
UNREACHABLE: dict[str, str] = {}

RULES = sorted({
    (name, rule)
    for name, source in SOURCES.items()
    for rule in re.findall(r'\bfail\(\s*"(\w+)"', source.read_text())
})


def breaks(name, rule):
    """Whether a test names the rule: in full anywhere, or by its id alone in the instruction's own file, whose
    tests put the instruction's name in front."""
    own = TEXTS.get(TESTS / "isa" / f"test_{name}.py", "")
    return any(f"{name}.{rule}" in text for text in TEXTS.values()) or f'"{rule}"' in own


def test_the_table_lists_the_instruction_files():
    assert sorted(_native.isa.__all__) == list(SOURCES)


def mentions(text):
    """What a test's code calls or names: attributes such as nisa.max8, and whole strings for tables and getattr. Not
    comments, docstrings, imports, nor the names of its own functions."""
    nodes = list(ast.walk(ast.parse(text)))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


@pytest.mark.parametrize("name", SOURCES)
def test_an_instruction_has_a_test_that_calls_it(name):
    assert name in mentions(TEXTS[TESTS / "isa" / f"test_{name}.py"])


def test_a_test_that_only_talks_of_an_instruction_does_not_count():
    text = '"""About max8."""\nfrom nisa import max8\ndef test_max8():\n    pass  # max8\n'
    assert "max8" not in mentions(text)
    assert "max8" in mentions("nisa.max8(x)") and "max8" in mentions('getattr(nisa, "max8")')


@pytest.mark.parametrize("name, rule", RULES)
def test_a_rule_has_a_test_that_breaks_it_or_a_reason_for_none(name, rule):
    assert breaks(name, rule) != (f"{name}.{rule}" in UNREACHABLE)


def test_reasons_are_given_for_rules_that_exist():
    assert set(UNREACHABLE) <= {f"{name}.{rule}" for name, rule in RULES}
    assert all(UNREACHABLE.values())


def test_an_unknown_rule_counts_as_untested():
    assert not breaks("max8", "no_such" "_rule")


ERRORS = [name for name in trnsim.__all__ if isinstance(getattr(trnsim, name), type)]


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_class_has_a_test_that_raises_it(name):
    assert issubclass(getattr(trnsim, name), trnsim.Error)
    assert any(re.search(rf"raises\((trnsim|_native)\.{name}\b", text) for text in TEXTS.values())


def test_a_buffer_of_the_wrong_size_is_a_defect_of_the_simulator_itself():
    trnsim.install()
    import nki
    import nki.language as nl

    @nki.jit
    def kernel(x):
        _native.Tensor.read_into(x, bytearray(x.size + 1))
        return nl.ndarray((1, 1), dtype=nl.int8, buffer=nl.shared_hbm)

    with pytest.raises(trnsim.InternalError, match="buffer size .* This is a defect of trnsim"):
        kernel(np.zeros((4, 8), np.int8))


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_explained_and_run(folder):
    assert (folder / "README.md").read_text().startswith("# ")
    assert list(folder.glob("*.py"))
    pattern = re.search(r'FOLDER\.glob\("([^"]+)"\)', (ROOT / "examples" / "test_examples.py").read_text())[1]
    assert set(folder.glob("*.py")) <= set((ROOT / "examples").glob(pattern))


def test_there_is_something_to_look_at():
    assert len(RULES) > 100 and len(SOURCES) > 40 and len(ERRORS) > 4 and len(EXAMPLES) > 2
