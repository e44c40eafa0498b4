"""The residuals behind the 90 % intervals: what is written, and that a row's own source never tells its interval."""

import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import trnsim

trnsim.install()  # for the imports

from calibration import residuals, rows, table  # noqa: E402

LIKE = {"chip": "trainium2", "latency_ns": 1e5, "instructions": 100.0, "dma_share": 0.7, "confidence": (0, 0, 0, 0),
        "part": "reordered kernels"}


def residual(ratio, source, name="k", family=residuals.KERNELS, **like):
    """A row that was measured at `ratio` of its prediction of 100 us."""
    row = rows.Row("K", f"{source}@1: file", name, {}, "fp32", "trn2", "1", "latency", 1e5 * ratio, "ns", "high")
    return residuals.Residual(table.Comparison(row, "kernels: k", 1e5), family, {**LIKE, **like})


def test_a_source_with_many_rows_counts_as_much_as_one_with_few():
    many = [residual(0.9 + i / 1000, "a/many") for i in range(200)]
    few = [residual(2.0, "b/few")]
    (family, *_) = residuals.families(many + few)
    assert family["ratio"] == (pytest.approx(0.92, abs=0.002), 2.0)  # a tenth of the first source, none of the second
    assert (family["rows"], family["sources"]) == (201, 2)


def test_parts_of_the_kernels_are_families_where_there_are_rows_enough():
    reordered = [residual(1.0, source) for source in "aabbccdd"]
    other = [residual(1.0, "a", part="kernels in program order")]
    assert [f["name"] for f in residuals.families(reordered + other)] == ["kernels", "reordered kernels"]
    assert [f["name"] for f in residuals.families(reordered[:4])] == ["kernels"]


def test_the_table_is_what_the_simulator_reads(tmp_path):
    tables = residuals.families([residual(0.8, "a"), residual(1.5, "b", latency_ns=2e6)])
    text = residuals.toml(tables)
    assert tomllib.loads(text)["family"][0]["ratio"] == [0.8, 1.5]
    (tmp_path / "accuracy.toml").write_text(text)
    found = residuals._native.interval(LIKE, str(tmp_path / "accuracy.toml"), "kernels")
    assert (found["low_ns"], found["high_ns"]) == (pytest.approx(0.8e5), pytest.approx(1.5e5))
    assert found["interpolated"]


def test_the_interval_of_a_row_comes_from_other_sources_alone():
    low, high, interpolated = residuals.intervals([residual(5.0, "a"), residual(0.9, "b"), residual(1.1, "c")])[0]
    assert (low, high) == (pytest.approx(0.9e5), pytest.approx(1.1e5))
    assert interpolated
    alone = residuals.intervals([residual(5.0, "a")])[0]
    assert alone == (pytest.approx(1e5), pytest.approx(1e5), False)


def test_in_a_family_of_one_source_rows_of_other_names_tell():
    members = [residual(ratio, "a", name, "instructions", part="instructions")
               for ratio, name in ((5.0, "x"), (5.0, "x"), (0.9, "y"), (1.1, "z"))]
    low, high, _ = residuals.intervals(members)[0]
    assert (low, high) == (pytest.approx(0.9e5), pytest.approx(1.1e5))


def test_the_launch_is_added_to_both_ends():
    row = residual(1.0, "a").comparison
    launched = residuals.Residual(row, residuals.KERNELS, {**LIKE, "latency_ns": 9e4}, launch_ns=1e4)
    low, high, _ = residuals.intervals([launched, residual(0.5, "b", latency_ns=8e4), residual(2.0, "c")])[0]
    assert (low, high) == (pytest.approx(1e4 + 0.5 * 9e4), pytest.approx(1e4 + 2 * 9e4))
