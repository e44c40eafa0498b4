"""Plans through Python: sums, intervals, verdicts and what is refused."""

import json

import pytest
import trnsim
from trnsim import fleet

LLAMA = {"model": "llama3-8b", "on": "trn1.32xlarge:16", "tp": 8, "sp": True, "global_batch": 512, "zero": 1}


def test_the_parts_of_a_step_add_up_to_it():
    for extra in ({}, {"pp": 4, "recompute": "full"}, {"on": "p5.48xlarge:8"}, {"dtype": "fp32"}):
        plan = fleet.train(**{**LLAMA, **extra})
        parts = plan["breakdown"]
        total = sum(parts["compute"].values()) + sum(parts["communication"].values())
        total += sum(parts[name] for name in ("recompute", "bubble", "optimizer", "input"))
        assert total == pytest.approx(plan["step_seconds"]["value"], rel=1e-9)


def test_every_figure_has_an_interval_that_holds_it():
    plan = fleet.train(**LLAMA)
    for name in ("step_seconds", "tokens_per_second", "mfu", "hfu", "hours"):
        assert plan[name]["low"] < plan[name]["value"] < plan[name]["high"]
    assert plan["basis"]["calibrated"] is True
    assert fleet.train(**{**LLAMA, "on": "trn2.48xlarge:4", "dp": 32})["basis"]["calibrated"] is False


def test_memory_adds_up_and_the_verdict_follows():
    memory = fleet.train(**LLAMA)["memory"]
    kinds = ("weights", "gradients", "optimizer", "activations", "working", "reserved")
    assert sum(memory[kind] for kind in kinds) == pytest.approx(memory["total"])
    assert memory["fits"] == (memory["total"] <= memory["capacity"])
    assert memory["left"] == pytest.approx(memory["capacity"] - memory["total"])


def test_mfu_is_flops_over_peak():
    plan = fleet.train(**LLAMA)
    tokens = 512 * 8192
    attention = 6 * 32 * 4096 * 8192 * tokens  # causal, forward and backward
    flops = 6 * (plan["active_parameters"]) * tokens + attention
    peak = 256 * 190e12
    assert plan["mfu"]["value"] == pytest.approx(flops / plan["step_seconds"]["value"] / peak, rel=0.01)


def test_a_plan_is_the_same_every_time():
    assert json.dumps(fleet.search("llama3-8b", on="trn2.48xlarge:2")) == json.dumps(
        fleet.search("llama3-8b", on="trn2.48xlarge:2"))


def test_the_search_finds_what_fits_and_nothing_given_is_faster():
    found = fleet.search("llama3-8b", on="trn1.32xlarge:16", global_batch=512)
    assert found["memory"]["fits"]
    assert len(found["search"]["best"]) == 10
    assert found["search"]["losers"]
    for tp, pp in ((8, 1), (8, 4), (32, 1)):
        given = fleet.train("llama3-8b", on="trn1.32xlarge:16", global_batch=512, tp=tp, pp=pp, sp=True)
        if given["memory"]["fits"]:
            assert given["step_seconds"]["value"] >= found["step_seconds"]["value"] * (1 - 1e-9)


def test_checkpoints_too_rare_or_too_often_cost_goodput():
    shares = [fleet.train(**LLAMA, checkpoint_minutes=m)["goodput"]["share"] for m in (0.2, 10000)]
    best = fleet.train(**LLAMA)["goodput"]["share"]
    assert best > max(shares)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": "lama3-8b"}, "did you mean \"llama3-8b\""),
        ({"on": "trn1.32xlarg:16"}, "did you mean"),
        ({"on": "trn1.32xlarge:0"}, "1 or more"),
        ({"tp": 7}, "nearest: --tp 8"),
        ({"pp": 33}, "at most --pp 32"),
        ({"tp": 8, "dp": 63}, "nearest: --dp 64"),
        ({"pp": 32, "on": "trn1.32xlarge"}, "nearest: --pp 4"),
        ({"global_batch": 32}, "smaller than the data parallelism"),
        ({"global_batch": 100}, "nearest: 64 or 128"),
        ({"price": "0"}, "a price is above 0"),
        ({"price": "-3"}, "a price is above 0"),
        ({"on": "trn3_gen2_ultraserver:2", "global_batch": 576, "price": "on-demand"}, "no on-demand price"),
        ({"model": "llama3.1-405b", "on": "trn1.32xlarge", "tp": None}, "at least"),
        ({"ep": 2}, "no experts; nearest: --ep 1"),
        ({"zero": 4}, "0 to 3"),
        ({"schedule": "1f1"}, "did you mean 1f1b"),
        ({"recompute": "some"}, "none, selective, full"),
        ({"micro_batch": 0}, "1 or more"),
        ({"tpp": 8}, "did you mean"),
        ({"chunks": 2, "schedule": "gpipe"}, "interleaved only"),
        ({"seq": 1001}, "nearest: 1000"),
        ({"tokens": "15Q"}, "15T"),
    ],
)
def test_what_cannot_be_is_refused_with_the_nearest_legal_choice(changes, says):
    with pytest.raises(trnsim.ConfigError, match=".") as refused:
        fleet.train(**{**LLAMA, **changes})
    assert says in str(refused.value)


def test_a_chip_without_a_price_says_so_and_names_one_that_has():
    plan = fleet.train("llama3-8b", on="trn3_gen2_ultraserver:1", tp=4, sp=True)
    assert plan["cost"] is None
    assert "no public price" in plan["no_cost"]


def test_an_unknown_architecture_is_refused_with_the_nearest(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "qwen4"}')
    with pytest.raises(trnsim.ConfigError, match="nearest: \"qwen"):
        fleet.train(str(tmp_path), on="trn1.32xlarge")
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(trnsim.ConfigError, match="not valid JSON"):
        fleet.train(str(tmp_path), on="trn1.32xlarge")


def test_every_published_model_has_a_plan():
    for name in fleet.models():
        plan = fleet.train(name, on="p5.48xlarge:512")
        assert plan["step_seconds"]["value"] > 0
        assert plan["memory"]["fits"]
