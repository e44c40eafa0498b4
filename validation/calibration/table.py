"""Predicted beside measured: ratios, errors by family, rank correlation, coverage."""

import math
import re
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
    device_time: bool = False  # a kernel's, as the chip itself counts it

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


@dataclass(frozen=True)
class Bound:
    """A row that says what a kernel has to stay below, and the time that trnsim says of it."""

    row: Row
    predicted: float

    @property
    def below(self) -> bool:
        return self.predicted <= self.row.value


def said(outcome) -> str:
    """One outcome in a few words."""
    if isinstance(outcome, Aside):
        return outcome.reason
    if isinstance(outcome, Bound):
        return f"{_value(outcome.row, outcome.predicted)}, bound {_value(outcome.row, outcome.row.value)}"
    c = getattr(outcome, "comparison", outcome)
    return f"{_value(c.row, c.predicted)}, measured {_value(c.row, c.row.value)}, ratio {c.ratio:.2f}"


def mape(comparisons: list[Comparison]) -> float:
    return sum(c.error for c in comparisons) / len(comparisons)


def rank_correlation(comparisons: list[Comparison]) -> float:
    """Spearman's rank correlation of predicted and measured; nan for fewer than three."""
    return spearman([(c.predicted, c.row.value) for c in comparisons])


def spearman(pairs: list[tuple[float, float]]) -> float:
    if len(pairs) < 3:
        return math.nan
    a, b = (_ranks(list(side)) for side in zip(*pairs))
    mean = (len(a) + 1) / 2
    spread = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / spread if spread else math.nan


def _ranks(values: list[float]) -> list[float]:
    ordered = sorted(values)
    # Ties share the mean of their places.
    return [(ordered.index(v) + len(ordered) - ordered[::-1].index(v) + 1) / 2 for v in values]


def text(comparisons: list[Comparison], asides: list[Aside], figures: list[Comparison] = (),
         bounds: list[Bound] = ()) -> str:
    """The page: Markdown."""
    lines = ["# Predicted and measured", "",
             "Written by `validation/calibrate.py` from rows of published measurements. Do not edit: run it again.", "",
             *_goal_lines(comparisons), "A row's interval comes from the residuals of the other sources alone.", "",
             *_coverage_lines(comparisons)]
    if comparisons:
        lines += ["## By family", "", *_FAMILY_HEAD]
        lines += [_family_line(family, [c for c in comparisons if c.family == family])
                  for family in sorted({c.family for c in comparisons})]
        lines.append(_family_line("all", comparisons))
    lines += _variant_lines(comparisons)
    if comparisons:
        lines += ["", "## Rows", "", *_ROW_HEAD, *(_row_line(c) for c in comparisons)]
    if figures:
        lines += ["", "## Other figures of a profile", "", *_FAMILY_HEAD]
        lines += [_family_line(family, [c for c in figures if c.family == family])
                  for family in sorted({c.family for c in figures})]
        lines += ["", *_ROW_HEAD, *(_row_line(c) for c in figures)]
    if bounds:
        lines += ["", "## Bounds", "",
                  "A course or a test asks these kernels to stay below a time; nobody says what they took.", "",
                  "| row | what | chip | predicted | bound | predicted below bound |",
                  "| --- | --- | --- | ---: | ---: | --- |", *(_bound_line(b) for b in bounds)]
    if asides:
        lines += ["", "## Set aside", "", "| why | rows |", "| --- | --- |"]
        lines += [_aside_line(reason, asides) for reason in sorted({a.reason for a in asides})]
    return "\n".join(lines) + "\n"


def _goal_lines(comparisons: list[Comparison]) -> list[str]:
    """Kernels measured with confidence high by the chip's own clock, all together: what the project is held to."""
    members = [c for c in comparisons if c.device_time and c.row.confidence == "high"]
    if not members:
        return []
    worst = max(members, key=lambda c: c.error)
    intervals = [c for c in members if not math.isnan(c.low)]
    return [f"**Kernels of confidence high, device time: {len(members)} rows, MAPE {mape(members):.1%}, worst "
            f"{worst.error:.1%} ({worst.row.id}); {sum(c.covered for c in intervals)} of {len(intervals)} in their "
            "90 % interval.**", ""]


def _variant_lines(comparisons: list[Comparison]) -> list[str]:
    """Whether the faster of several versions of a kernel is said to be the faster."""
    groups = [(name, [(c.predicted, c.row.value) for c in comparisons if re.fullmatch(pattern, c.row.name)])
              for name, pattern in _VARIANTS]
    groups.append(("KDA's open tasks, speed-up over the baseline", _speedups(comparisons)))
    told = [f"| {name} | {len(pairs)} | {_rank(spearman(pairs))} |" for name, pairs in groups if pairs]
    return ["", "## Variants of one kernel", "", "| variants | rows | rank correlation |", "| --- | ---: | ---: |",
            *told] if told else []


def _speedups(comparisons: list[Comparison]) -> list[tuple[float, float]]:
    """Predicted and measured speed-up of each version of a task of KDA over the task's baseline."""
    tasks = [(*match.groups(), c) for c in comparisons if (match := re.fullmatch(_KDA, c.row.name))]
    baselines = {task: c for task, version, c in tasks if version == "baseline"}
    return [(baselines[task].predicted / c.predicted, baselines[task].row.value / c.row.value)
            for task, version, c in tasks if version != "baseline" and task in baselines]


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
            f"{_rank(rank)} | {inside} |")


def _rank(correlation: float) -> str:
    return "–" if math.isnan(correlation) else f"{correlation:.2f}"


def _row_line(c: Comparison) -> str:
    return (f"| {c.row.id} | {_what(c.row)} | {c.row.chip} | {_value(c.row, c.predicted)} | "
            f"{_value(c.row, c.row.value)} | {c.ratio:.2f} |")


def _bound_line(b: Bound) -> str:
    return (f"| {b.row.id} | {_what(b.row)} | {b.row.chip} | {_value(b.row, b.predicted)} | "
            f"{_value(b.row, b.row.value)} | {'yes' if b.below else 'no'} |")


def _what(row: Row) -> str:
    return row.name + "".join(f", {k} {v}" for k, v in row.params.items() if k in _TOLD)


def _value(row: Row, value: float) -> str:
    return _time(value) if row.is_time else f"{value:.4g} {row.unit}"


_FAMILY_HEAD = ("| family | rows | MAPE | worst | rank correlation | in the 90 % interval |",
                "| --- | ---: | ---: | ---: | ---: | ---: |")
_ROW_HEAD = ("| row | what | chip | predicted | measured | ratio |", "| --- | --- | --- | ---: | ---: | ---: |")
_VARIANTS = (("matmul tutorial v2 to v5", r"matmul tutorial v[2-5]\b.*"),
             ("matmul tutorial as first published", r"matmul tutorial (tiled|hoisted|blocked).*"),
             ("mamba v1 to v3", r"mamba selective scan v\d.*"))
_KDA = r"(\w+) \(KDA (\w+)\)"
_NAMED = 6  # rows set aside for one reason that are named; the others are counted
_TOLD = ("src", "src_dtype", "free", "bytes", "access", "pe_rate", "moving_free", "seq", "channels", "M", "K", "N", "n",
         "batch", "seqlen", "hidden", "intermediate", "bs", "seqlen_q", "seqlen_kv", "d")


def _time(ns: float) -> str:
    for unit, scale in (("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns:.4g} ns"
