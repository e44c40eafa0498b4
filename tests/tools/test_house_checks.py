"""The checks of tools/ find each kind of mistake that they are there for."""

import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


style = load("check_style")
layers = load("check_layers")


@pytest.mark.parametrize(
    "name, text, rule",
    [
        ("a.cpp", "x" * 121 + "\n", "long-line"),
        ("a.py", "\tx = 1\n", "tab"),
        ("a.h", "int x; \n", "trailing-space"),
        ("a.h", "int x;", "last-newline"),
        ("a.py", "x = 1\n" * 501, "long-file"),
        ("a.md", "TO" "DO: write\n", "later"),
        ("a.cpp", "// FIX" "ME\n", "later"),
        ("string_util.h", "\n", "role-name"),
        ("Helpers.py", "\n", "role-name"),
        ("a.h", "class Tile" "Manager {\n", "role-name"),
        ("a.py", "class " "UtilBox:\n", "role-name"),
        ("a.cpp", '#include "' '../core/machine.h"\n', "relative-include"),
    ],
)
def test_a_mistake_of_style_is_found(name, text, rule):
    assert [found[0] for found in style.findings(Path(name), text)] == [rule]


@pytest.mark.parametrize(
    "name, text",
    [
        ("utilization.h", "struct Utilization {};\n"),
        ("a.md", "| a table row " + "x" * 200 + " |\n"),
        ("a.py", "x = 1\n" * 500),
        ("a.cpp", '#include "core/machine.h"\n'),
    ],
)
def test_what_is_allowed_is_not_found(name, text):
    assert not list(style.findings(Path(name), text))


def tree(root, **uses):
    """A src/ folder with the layers base < isa < core, each using what is given."""
    (root / "CMakeLists.txt").write_text("foreach(layer base isa core)\nendforeach()\n")
    for layer, used in uses.items():
        (root / layer).mkdir()
        (root / layer / "CMakeLists.txt").write_text(
            f"trnsim_layer({layer}\n  SOURCES a.cpp\n  USES {used}  # why\n  PUBLIC_LIBRARIES fmt::fmt)\n"
        )
    return root


def test_arrows_that_point_down_pass(tmp_path):
    assert list(layers.broken_arrows(tree(tmp_path, isa="base", core="isa base"))) == []


@pytest.mark.parametrize(
    "layer, used, words",
    [
        ("isa", "core", "not stand below"),
        ("isa", "isa", "not stand below"),
        ("isa", "gpu", "no layer"),
        ("gpu", "isa", "not in"),
    ],
)
def test_an_arrow_that_points_up_is_found(tmp_path, layer, used, words):
    (broken,) = layers.broken_arrows(tree(tmp_path, **{layer: used}))
    assert words in broken
