"""Writes docs/claims.md: what is claimed of Trainium's cost and speed beside what trnsim.fleet has.

    python validation/claims.py
"""

from pathlib import Path

from trnsim import fleet

PAGE = Path(__file__).resolve().parents[1] / "docs" / "claims.md"
MODEL, BATCH, SEQUENCE = "llama3-8b", 1024, 8192
HEAD = """# Published claims, recomputed

Written by `python validation/claims.py`; do not edit. Each figure is a ratio of two plans for {model}, {batch}
sequences of {sequence} tokens per step, each on the fastest layout that fits. Intervals of the two sides are taken as
independent, at their ends. Efficiency beyond Trainium1 and A100 is carried over from those two, so read the intervals.
"""


def plan(system, price=None, batch=BATCH):
    return fleet.train(MODEL, on=system, global_batch=batch, seq=SEQUENCE, tokens="1T", price=price)


def ratio(left, right, *path):
    """(value, low, high) of left over right at a figure with an interval."""
    for name in path:
        left, right = left[name], right[name]
    return left["value"] / right["value"], left["low"] / right["high"], left["high"] / right["low"]


def per_chip(left, right):
    value, low, high = ratio(left, right, "tokens_per_second")
    scale = right["accelerators"] / left["accelerators"]
    return value * scale, low * scale, high * scale


def saving(trainium, gpu):
    value, low, high = ratio(trainium, gpu, "cost", "usd")
    return 100 * (1 - value), 100 * (1 - high), 100 * (1 - low)


def text(figure, unit):
    value, low, high = figure
    return f"{value:.3g}{unit} ({low:.3g} to {high:.3g})"


def rows():
    trn1, p4d = plan("trn1.32xlarge:16", "on-demand"), plan("p4de.24xlarge:16", "on-demand")
    yield ("Trn1: up to 50 % lower cost to train than comparable EC2 instances",
           "aws.amazon.com/ec2/instance-types/trn1", text(saving(trn1, p4d), " %"),
           f"trn1.32xlarge against p4de.24xlarge, 16 each, on-demand {trn1['cost']['date']}, after p4's price was cut")
    p4d = plan("p4d.24xlarge:16", 32.77 / 8)  # price.previous_on_demand of the catalogue
    yield ("The same at the price of p4d before its cut", "aws.amazon.com/ec2/instance-types/trn1",
           text(saving(trn1, p4d), " %"), "trn1.32xlarge against p4d.24xlarge at 32.77 USD an hour, 16 each")
    trn2 = plan("trn2.48xlarge:16", "capacity-block")
    for name in ("p5e.48xlarge", "p5en.48xlarge"):
        gpu = plan(f"{name}:16", "capacity-block")
        yield ("Trn2: 30 to 40 % better price performance than P5e and P5en", "aws.amazon.com/ec2/instance-types/trn2",
               text(saving(trn2, gpu), " % cheaper"), f"trn2.48xlarge against {name}, 16 each, capacity blocks")
    yield ("Trn2: four times the performance of Trn1", "aws.amazon.com/ai/machine-learning/trainium",
           text(per_chip(trn2, trn1), " x"), "tokens per second and chip in bf16; the data sheets say 3.5 for bf16")
    trn3 = plan("trn3_gen2_ultraserver:2", batch=4608)
    yield ("Trn3 UltraServer: 4.4 times the compute of the Trn2 UltraServer", "AWS, December 2025",
           text(ratio(trn3, plan("trn2_ultraserver:2", batch=4608), "tokens_per_second"), " x"),
           "144 against 64 chips each, bf16, 4,608 sequences; the claim is about MXFP8, where the peaks are 4.3 apart")
    rainier = 500_000 * 667e12
    yield ("Rainier: five times the computing power of Anthropic's previous cluster", "AWS re:Invent 2024",
           f"{rainier / 1e18:.0f} EFLOPS peak bf16", "the previous cluster is not published; a fifth is "
           f"{rainier / 5 / 989.4e12:,.0f} H100")


def main():
    lines = [HEAD.format(model=MODEL, batch=BATCH, sequence=SEQUENCE),
             "| claim | where | our figure | what it compares |", "| --- | --- | --- | --- |"]
    lines += [f"| {' | '.join(row)} |" for row in rows()]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
