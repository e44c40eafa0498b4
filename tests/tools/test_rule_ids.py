"""Every rule id that the sources raise is named by a test; what is not yet is on a list that only shrinks."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ID = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
CPP_RAISES = re.compile(r'\bprogram_error\(\s*"([a-z0-9_]+\.[a-z0-9_]+)"')
PYTHON_RAISES = {"refuse", "_refuse", "_fail"}

# Raised, and named by no test. Take a line out with the test that breaks the rule; never add one.
UNTESTED = frozenset("""
collectives.counts
tensor.never_written
""".split())
UNTESTED_AT_MOST = 2


def raised_in_python(text: str) -> set[str]:
    """The literal ids given to a function that raises, or set as an error's rule."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            value = node.args[0] if name in PYTHON_RAISES else None
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).endswith(".rule"):
            value = node.value
        else:
            continue
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and ID.fullmatch(value.value):
            found.add(value.value)
    return found


def raised() -> set[str]:
    found = set()
    for path in (ROOT / "python" / "trnsim").rglob("*.py"):
        found |= raised_in_python(path.read_text())
    for folder in ("src", "python"):
        for path in (*(ROOT / folder).rglob("*.cpp"), *(ROOT / folder).rglob("*.h")):
            found |= set(CPP_RAISES.findall(path.read_text()))
    return found


def named_in(text: str) -> set[str]:
    """The whole ids in a test's text. A table's rows ("rule", ...) count where the text puts one prefix before them
    all, as f"collectives.{rule}" does."""
    bare = set(re.findall(r'(?m)(?:\(\s*|^\s+|\brefused\(\w+, )"([a-z0-9_]+)[ "]', text))
    prefixes = re.findall(r'f"([a-z0-9_]+)\.\{rule\}|"([a-z0-9_]+)\." \+ rule', text)
    whole = set(re.findall(r"(?<![\w.])[a-z0-9_]+\.[a-z0-9_]+(?![\w(])", text))
    return whole | {f"{one or other}.{rule}" for one, other in prefixes for rule in bare}


def named() -> set[str]:
    """Every id in the tests, this file's own list aside."""
    paths = [path for suffix in ("py", "cpp") for path in (ROOT / "tests").rglob(f"*.{suffix}")]
    return {rule for path in paths if path != Path(__file__).resolve() for rule in named_in(path.read_text())}


def test_an_id_without_a_test_is_on_the_list_and_none_with_a_test_is():
    assert raised() - named() == UNTESTED


def test_the_list_only_shrinks():
    assert len(UNTESTED) <= UNTESTED_AT_MOST


def test_the_ids_are_found_where_they_are_raised():
    text = 'refuse("a.first", "t")\nx.refuse("a.second")\nerror.rule = "a.third"\nother("a.fourth")'
    assert raised_in_python(text) == {"a.first", "a.second", "a.third"}
    assert CPP_RAISES.findall('program_error("a.fifth", "t"); program_error(\n  "a.sixth"') == ["a.fifth", "a.sixth"]
    assert named_in('rule == "a.first"; b.second(); f"c.{rule}"; [("third", "fourth")]') == {"a.first", "c.third"}
    assert {"race.shared_hbm", "launch.outside", "collectives.mismatch"} <= raised()
