"""The comparison of collectives with published times: what is compared, what is set aside, and the page."""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import collectives

COLUMNS = ("id", "category", "name", "params_json", "dtype", "chip", "n_cores", "metric", "value", "unit", "confidence",
           "notes")
ROWS = [
    ("A", "collective", "nccom-test all_reduce", '{"bytes":2097152,"ranks":64,"instance":"trn2.48xlarge"}', "bf16",
     "trn2", "64", "time_avg", "80", "us", "high", ""),
    ("B", "collective", "nccom-test all_reduce", '{"bytes":1024,"ranks":2,"nodes":1}', "fp32", "trn1", "2", "time_avg",
     "58", "us", "medium", ""),
    ("C", "collective", "nccom-test all_reduce", '{"bytes":1024,"ranks":32}', "fp32", "trn1", "32", "time_avg", "2000",
     "us", "flag", "IMPLAUSIBLE"),
    ("D", "dma", "a copy", "{}", "", "trn2", "", "duration", "1", "us", "high", ""),
]


def test_rows_are_predicted_or_set_aside_with_a_reason(tmp_path):
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(ROWS)
    rows, asides = collectives.read(path)
    assert [row.id for row in rows] == ["A", "B"] and asides == [("C", ROWS[2][2], "implausible, as its own note says")]
    collectives.predict(rows)
    assert all(abs(row.error) < 0.15 for row in rows)
    page = collectives.page(rows, asides)
    assert "| trn2.48xlarge, 64 ranks | 1 |" in page and "| C | nccom-test all_reduce | implausible" in page
