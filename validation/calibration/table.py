"""Predicted beside measured: ratios, errors by family, rank correlation, coverage."""

import math
from dataclasses import dataclass

from calibration.rows import Row


@dataclass(frozen=True)
class Comparison:
    """One row and what trnsim says of it. `low` and `high` bound the printed 90 % interval, where there is one."""

    row: Row
    family: str
    predicted: float
    low: float = math.nan
    high: float = math.nan
    interpolated: bool = False

    @property
    def ratio(self) -> float:
        return self.predicted / self.row.value

    @property
    def error(self) -> float:
        return abs(self.ratio - 1)

    @property
    def covered(self) -> bool:
        return self.low <= self.row.value <= self.high


@dataclass(frozen=True)
class Aside:
    """A row that is not compared, and why."""

    row: Row
    reason: str


def mape(comparisons: list[Comparison]) -> float:
    return sum(c.error for c in comparisons) / len(comparisons)


def rank_correlation(comparisons: list[Comparison]) -> float:
    """Spearman's rank correlation of predicted and measured; nan for fewer than three."""
    if len(comparisons) < 3:
        return math.nan
    a, b = (_ranks([getattr(c, "predicted") if p else c.row.value for c in comparisons]) for p in (True, False))
    mean = (len(a) + 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return top / math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))


def _ranks(values: list[float]) -> list[float]:
    ordered = sorted(values)
    # Ties share the mean of their places.
    return [(ordered.index(v) + len(ordered) - ordered[::-1].index(v) + 1) / 2 for v in values]


def text(comparisons: list[Comparison], asides: list[Aside]) -> str:
    """The whole result as a page of Markdown."""
    lines = ["# Predicted and measured", "",
             "Written by `validation/calibrate.py` from rows of published measurements. Do not edit: run it again.", "",
             "A row's interval comes from the residuals of the other sources alone.", "", "## By family", "",
             "| family | rows | MAPE | worst | rank correlation | in the 90 % interval |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]
    families = sorted({c.family for c in comparisons})
    for family in families + ["all"]:
        members = [c for c in comparisons if family in ("all", c.family)]
        if members:
            lines.append(_family_line(family, members))
    lines += ["", *_coverage_lines(comparisons), "## Rows", "", "| row | what | chip | predicted | measured | ratio |",
              "| --- | --- | --- | ---: | ---: | ---: |"]
    lines += [_row_line(c) for c in comparisons]
    if asides:
        lines += ["", "## Set aside", "", "| why | rows |", "| --- | --- |"]
        lines += [_aside_line(reason, asides) for reason in sorted({a.reason for a in asides})]
    return "\n".join(lines) + "\n"


def _coverage_lines(comparisons: list[Comparison]) -> list[str]:
    """How many rows lie in their interval, by whether it is interpolated."""
    lines = []
    for name, wanted in (("interpolated", True), ("extrapolated", False)):
        members = [c for c in comparisons if c.interpolated == wanted and not math.isnan(c.low)]
        if members:
            lines += [f"Of {len(members)} rows with {name} intervals {sum(c.covered for c in members)} lie inside; "
                      f"in the middle they reach from {_middle(c.low / c.predicted for c in members):.2f} to "
                      f"{_middle(c.high / c.predicted for c in members):.2f} of the prediction.", ""]
    return lines


def _middle(values) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def _aside_line(reason: str, asides: list[Aside]) -> str:
    rows = [a.row for a in asides if a.reason == reason]
    named = ", ".join(row.id for row in rows[:_NAMED]) + (", ..." if len(rows) > _NAMED else "")
    return f"| {reason} | {len(rows)}: {named} |"


def _family_line(family: str, members: list[Comparison]) -> str:
    rank = rank_correlation(members) if family != "all" else math.nan
    intervals = [c for c in members if not math.isnan(c.low)]
    inside = f"{sum(c.covered for c in intervals)} of {len(intervals)}" if intervals else "–"
    return (f"| {family} | {len(members)} | {mape(members):.1%} | {max(c.error for c in members):.1%} | "
            f"{'–' if math.isnan(rank) else f'{rank:.2f}'} | {inside} |")


def _row_line(c: Comparison) -> str:
    unit = (lambda v: _time(v)) if c.row.is_time else (lambda v: f"{v:.4g} {c.row.unit}")
    what = c.row.name + "".join(f", {k} {v}" for k, v in c.row.params.items() if k in _TOLD)
    return f"| {c.row.id} | {what} | {c.row.chip} | {unit(c.predicted)} | {unit(c.row.value)} | {c.ratio:.2f} |"


_NAMED = 6  # rows set aside for one reason that are named; the others are counted
_TOLD = ("src", "src_dtype", "free", "bytes", "access", "pe_rate", "moving_free", "seq", "channels", "M", "K", "N", "n")


def _time(ns: float) -> str:
    for unit, scale in (("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns:.4g} ns"
