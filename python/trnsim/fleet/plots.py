"""What a sweep found: the frontier of time against cost, as a table, SVG, PNG or one HTML page."""

import html
import json
import math
from pathlib import Path

import trnsim

WIDTH, HEIGHT, MARGIN = 800, 500, 70


def points(results):
    """(hours, USD, label, options) of plans that fit and have a price, cheapest first."""
    found = []
    for options, plan, _ in results:
        if plan and plan["memory"]["fits"] and plan["cost"]:
            label = f"{plan['model']} on {plan['system']}"
            found.append((plan["hours"]["value"], plan["cost"]["usd"]["value"], label, options))
    return sorted(found, key=lambda p: (p[1], p[0]))


def frontier(found):
    """Those that nothing beats in both time and cost."""
    best, kept = math.inf, []
    for point in found:
        if point[0] < best:
            best = point[0]
            kept.append(point)
    return kept


def table(results, name):
    found = points(results)
    refused = [error for _, plan, error in results if not plan]
    unfit = sum(1 for _, plan, _ in results if plan and not plan["memory"]["fits"])
    lines = [f"{len(results)} plans in {name}: {len(found)} fit, {unfit} do not, {len(refused)} are not legal",
             "frontier of time against cost:", f"{'hours':>12} {'USD':>14}  plan"]
    for hours, usd, label, options in frontier(found):
        rest = ", ".join(f"{k} {v}" for k, v in options.items() if k not in ("model", "on"))
        lines.append(f"{hours:12.4g} {usd:14.4g}  {label}: {rest}")
    return "\n".join(lines)


def as_json(results):
    entries = [{"options": options, "plan": plan, "error": error} for options, plan, error in results]
    return json.dumps(entries, indent=2)


def write(path, results):
    """One plot; the ending of the path says which kind."""
    kind = Path(path).suffix
    if kind == ".svg":
        Path(path).write_text(svg(results), encoding="utf-8")
    elif kind == ".html":
        Path(path).write_text(page(results), encoding="utf-8")
    elif kind == ".png":
        _png(path, results)
    else:
        raise trnsim.ConfigError(f"--plot {path}: the name must end in .svg, .png or .html")


def _scale(values, low, high):
    """Logarithmic, since both axes span orders of magnitude."""
    first, last = math.log(min(values)), math.log(max(values))
    span = last - first or 1
    return lambda value: low + (math.log(value) - first) / span * (high - low)


def svg(results):
    found = points(results)
    if not found:
        raise trnsim.ConfigError("no plan of the sweep fits and has a price; there is nothing to plot")
    best = frontier(found)
    x = _scale([p[1] for p in found], MARGIN, WIDTH - MARGIN)
    y = _scale([p[0] for p in found], HEIGHT - MARGIN, MARGIN)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for hours, usd, label, _ in found:
        parts.append(f'<circle cx="{x(usd):.1f}" cy="{y(hours):.1f}" r="4" fill="#8aa" opacity="0.6"><title>'
                     f"{html.escape(label)}: {hours:.4g} h, {usd:.4g} USD</title></circle>")
    line = " ".join(f"{x(usd):.1f},{y(hours):.1f}" for hours, usd, *_ in best)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#c40" stroke-width="2"/>')
    for hours, usd, label, _ in best:
        parts.append(f'<circle cx="{x(usd):.1f}" cy="{y(hours):.1f}" r="5" fill="#c40"/><text x="{x(usd) + 7:.1f}" '
                     f'y="{y(hours) - 6:.1f}">{html.escape(label)}</text>')
    for value, mark in ((min(p[1] for p in found), "start"), (max(p[1] for p in found), "end")):
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - 45}" text-anchor="{mark}">{value:.4g}</text>')
    for value in (min(p[0] for p in found), max(p[0] for p in found)):
        parts.append(f'<text x="{MARGIN - 8}" y="{y(value):.1f}" text-anchor="end">{value:.4g}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 20}" text-anchor="middle">cost, USD</text>'
                 f'<text x="20" y="{HEIGHT / 2}" transform="rotate(-90 20 {HEIGHT / 2})" text-anchor="middle">'
                 "time, hours</text></svg>")
    return "\n".join(parts) + "\n"


def page(results):
    rows = "".join(
        f"<tr><td>{hours:.4g}</td><td>{usd:.4g}</td><td>{html.escape(label)}</td>"
        f"<td>{html.escape(json.dumps(options))}</td></tr>"
        for hours, usd, label, options in frontier(points(results)))
    return ("<!doctype html><meta charset='utf-8'><title>trnsim sweep</title><style>body{font-family:sans-serif;"
            "max-width:60em;margin:2em auto}td,th{padding:.2em .8em;text-align:left}</style><h1>Time against cost</h1>"
            f"{svg(results)}<table><tr><th>hours</th><th>USD</th><th>plan</th><th>options</th></tr>{rows}</table>\n")


def _png(path, results):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise trnsim.ConfigError(f"--plot {path}: PNG needs the Python package matplotlib (pip install matplotlib); "
                                 ".svg and .html need nothing") from None
    found = points(results)
    if not found:
        raise trnsim.ConfigError("no plan of the sweep fits and has a price; there is nothing to plot")
    figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100))
    axes = figure.subplots()
    best = frontier(found)
    axes.loglog([p[1] for p in found], [p[0] for p in found], "o", color="#8aa", alpha=0.6)
    axes.loglog([p[1] for p in best], [p[0] for p in best], "o-", color="#c40")
    for hours, usd, label, _ in best:
        axes.annotate(label, (usd, hours), textcoords="offset points", xytext=(5, 5), fontsize=7)
    axes.set(xlabel="cost, USD", ylabel="time, hours")
    figure.savefig(path, dpi=100)
