"""docs/names.md is up to date, and every name in it is there and runs or says why not."""

import sys
from pathlib import Path

import pytest
import trnsim

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import names  # noqa: E402

trnsim.install()
ROWS = list(names.rows())


def test_the_page_is_up_to_date():
    assert names.PAGE.read_text() == names.page(), "run python tools/names.py"


@pytest.mark.parametrize("module", sorted({row[0] for row in ROWS}))
def test_every_name_has_a_test_and_refusals_refuse(module):
    for _, name, _, _, refusal, test in (row for row in ROWS if row[0] == module):
        assert test, f"no test speaks of {module}.{name}"
        if refusal:
            with pytest.raises(trnsim.Error, match="because"):
                names.value_of(module, name)()


def test_each_module_says_when_a_name_is_unknown():
    for module in ("nki.isa", "nki.language", "neuronxcc.nki.isa", "neuronxcc.nki.language"):
        with pytest.raises(AttributeError):
            names.value_of(module, "nonsense")
