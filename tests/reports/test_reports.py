"""reports.md names the tests that answer each report, and no test here is left out of it."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in (HERE / "reports.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [\w-]+/", line)
]
DEFINED = {
    name
    for path in HERE.glob("test_reported_*.py")
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def answers_of(row):
    return [test.strip() for test in row[3].split(",")]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_the_answers_of_a_report_exist(row):
    assert len(row) == 4 and row[1] and row[2], row
    for test in answers_of(row):
        assert (HERE.parent / test).is_file() if "/" in test else test in DEFINED, test


def test_every_test_answers_a_report():
    assert {test for row in ROWS for test in answers_of(row) if "/" not in test} == DEFINED


def test_a_report_is_listed_once():
    assert len({row[0] for row in ROWS}) == len(ROWS) > 30
