"""How far predictions were from measurements: the residuals behind the printed 90 % intervals.

hardware/accuracy.toml holds, for each family of rows, the range of measured / predicted that nine tenths of them lie
in, and what the programs behind them were like. Every source counts the same, however many rows it gave.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from trnsim import _native

from calibration.table import Comparison

KERNELS = "kernels"
_OUTSIDE = 0.05  # of the weight, on either side
_ROWS, _SOURCES = 8, 2  # the least for a part of the kernels to be a family of its own


@dataclass(frozen=True)
class Residual:
    """One compared row with what its program is like; `launch_ns` is the part of the prediction that is no program."""

    comparison: Comparison
    family: str
    like: dict
    launch_ns: float = 0.0

    @property
    def source(self) -> str:
        """The repository, or document, that the figure is from."""
        return self.comparison.row.source.split("@")[0].split(":")[0].strip()

    @property
    def ratio(self) -> float:
        return self.comparison.row.value / self.comparison.predicted


def of_kernel(comparison: Comparison, profile, launch_ns: float) -> Residual:
    return Residual(comparison, KERNELS, _native.likeness(profile.native), launch_ns)


def of_part(comparison: Comparison, family: str) -> Residual:
    """A single instruction or transfer, of which nothing but its time is asked."""
    like = {"chip": comparison.row.chip, "latency_ns": comparison.predicted, "instructions": 1, "dma_share": 0,
            "confidence": (0, 0, 0, 0), "part": family}
    return Residual(comparison, family, like)


def families(residuals: list[Residual]) -> list[dict]:
    """The tables of accuracy.toml; all kernels first."""
    kernels = [r for r in residuals if r.family == KERNELS]
    tables = [_family(KERNELS, kernels)] if kernels else []
    for part in sorted({r.like["part"] for r in kernels}):
        members = [r for r in kernels if r.like["part"] == part]
        if len(members) >= _ROWS and len({r.source for r in members}) >= _SOURCES:
            tables.append(_family(part, members))
    for name in sorted({r.family for r in residuals} - {KERNELS}):
        tables.append(_family(name, [r for r in residuals if r.family == name]))
    return tables


def _family(name: str, members: list[Residual]) -> dict:
    spans = {key: (min(r.like[key] for r in members), max(r.like[key] for r in members))
             for key in ("latency_ns", "instructions", "dma_share")}
    return {"name": name, "chips": sorted({r.like["chip"] for r in members}), "rows": len(members),
            "sources": len({r.source for r in members}), "ratio": _nine_tenths(members), **spans}


def _nine_tenths(members: list[Residual]) -> tuple[float, float]:
    """The ratios that leave a twentieth of the weight outside on either side; few rows leave none."""
    counts = {r.source: sum(o.source == r.source for o in members) for r in members}
    weighed = sorted((r.ratio, 1 / counts[r.source] / len(counts)) for r in members)
    return _reached(weighed), _reached(weighed[::-1])


def _reached(weighed: list[tuple[float, float]]) -> float:
    outside = 0.0
    for ratio, weight in weighed:
        outside += weight
        if outside > _OUTSIDE:
            return ratio
    return weighed[-1][0]


def toml(tables: list[dict]) -> str:
    lines = ["# How far predictions were from published measurements (docs/calibration.md).",
             "# Written by validation/calibrate.py. Do not edit: run it again.", ""]
    for table in tables:
        lines.append("[[family]]")
        lines += [f"{key} = {_value(value)}" for key, value in table.items()]
        lines.append("")
    return "\n".join(lines)


def _value(value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    return str(value) if isinstance(value, int) else f"{float(value):.4g}" if value < 1e6 else f"{float(value):.4e}"


def intervals(residuals: list[Residual]) -> list[tuple[float, float, bool]]:
    """For each row its interval, and whether it is interpolated, by what the others tell: those of other sources, or of
    other names where all rows of the family have one source."""
    groups = {}
    for residual in residuals:
        groups.setdefault(_held_out(residual, residuals), []).append(residual)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "accuracy.toml")
        for (family, _), members in sorted(groups.items(), key=lambda item: item[0]):
            inside = {id(r) for r in members}
            tables = families([r for r in residuals if r.family == family and id(r) not in inside])
            file.write_text(toml(tables), encoding="utf-8") if tables else file.unlink(missing_ok=True)
            for residual in members:
                name = residual.like["part"] if family == KERNELS else family
                found[id(residual)] = _native.interval(residual.like, str(file), name)
    return [(r.launch_ns + found[id(r)]["low_ns"], r.launch_ns + found[id(r)]["high_ns"],
             found[id(r)]["interpolated"]) for r in residuals]


def _held_out(residual: Residual, residuals: list[Residual]) -> tuple[str, str]:
    """The group that is left out for a row: its family, and its source or name."""
    sources = {r.source for r in residuals if r.family == residual.family}
    return residual.family, residual.source if len(sources) > 1 else residual.comparison.row.name
