"""Training plans: what it takes to train a model on a fleet.

    from trnsim import fleet
    plan = fleet.train("llama3.1-405b", on="trn2-ultraserver:64", tp=32, pp=16, sp=True)
    plan["step_seconds"]["value"], plan["memory"]["fits"]
    print(plan.text)

Options have the names of `trnsim train`, with underscores: tp, pp, dp, cp, ep, sp, zero, micro_batch, global_batch,
seq, recompute, schedule, chunks, dtype, attention, optimizer_states, tokens, price, checkpoint_minutes, stragglers,
straggler_slowdown, jitter. Where neither tp, pp nor dp is given, the fastest layout that fits is looked for.
"""

import json

from trnsim import _native
from trnsim.session import HARDWARE

__all__ = ["Plan", "compare", "models", "options", "search", "train"]


class Plan(dict):
    """A plan, as `trnsim train --json` prints it: seconds, bytes, USD, kWh; figures with `value`, `low` and `high`."""

    def __init__(self, options, look_for_more):
        super().__init__(json.loads(_native.fleet_plan(HARDWARE, options, look_for_more)))
        self._asked = options, look_for_more

    @property
    def text(self) -> str:
        """What `trnsim train` prints."""
        return _native.fleet_plan_text(HARDWARE, *self._asked)


def train(model, *, on, **options) -> Plan:
    """The plan of training `model` on the system `on` ("trn2-ultraserver:16").

    Raises trnsim.ConfigError for what cannot be, with the nearest legal choice.
    """
    return Plan(_pairs(model, on, options), False)


def search(model, *, on, **options) -> Plan:
    """The same for the best layout that fits, with `search`: the ten best and why the others lose."""
    return Plan(_pairs(model, on, options), True)


def compare(model, *, on, **options) -> list[Plan]:
    """One plan per system of the list `on`, on equal terms: the same model, batch and tokens."""
    return [train(model, on=system, **options) for system in on]


def models() -> list[str]:
    """Names of the published models."""
    return _native.fleet_models(HARDWARE)


def options() -> dict[str, str]:
    """Names and meanings of the options."""
    return {name.replace("-", "_"): meaning for name, meaning in _native.fleet_options()}


def _pairs(model, on, options):
    given = {"model": model, "on": on, **options}
    return [(name, str(value)) for name, value in given.items() if value is not None]
