"""The command `trnsim collective`: its table, JSON and plot, and what it refuses."""

import json
import xml.etree.ElementTree as ElementTree

import pytest

TOPOLOGY = """
name = "two by four"
[steps]
start = { value = 1, unit = "us" }
direct = 0
reduction = 0
ring = 0
[axis1]
kind = "ring"
size = 4
each_way = { value = 10, unit = "GB/s" }
latency = 500
[axis2]
kind = "switch"
size = 2
each_way = 5
"""

SCHEDULE = """
name = "pairwise"
chunks = 2
[[round]]
sends = [
  { from = 0, to = 1, chunk = 1, reduce = true },
  { from = 1, to = 0, chunk = 0, reduce = true },
]
[[round]]
sends = [{ from = 0, to = 1, chunk = 0 }, { from = 1, to = 0, chunk = 1 }]
"""


def rows(result):
    assert result.code == 0, result.err
    return json.loads(result.out)["rows"]


def test_the_table_doubles_sizes_and_names_algorithm_and_bound(trnsim):
    result = trnsim("collective", "all_reduce", "--on", "trn2-ultraserver", "--ranks", "64", "--size", "8B:1GiB")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert len(lines) == 2 + 28
    assert lines[2].split()[0] == "8" and lines[-1].split()[0] == str(2**30)
    assert "mesh" in lines[2] and "rdh" in result.out and "kangaring" in lines[-1]
    assert "latency of the steps" in lines[2]


def test_bandwidths_follow_nccom_test(trnsim):
    for collective, factor in (("all_reduce", 2 * 63 / 64), ("all_gather", 63 / 64), ("reduce_scatter", 63 / 64),
                               ("all_to_all", 63 / 64), ("permute", 1)):
        [row] = rows(trnsim("collective", collective, "--size", "1MiB", "--json"))
        assert row["algbw_gb_per_s"] == pytest.approx(2**20 / row["time_us"] * 1e-3)
        assert row["busbw_gb_per_s"] == pytest.approx(row["algbw_gb_per_s"] * factor)
        assert row["time_ps"] == pytest.approx(row["time_us"] * 1e6)


def test_links_carry_what_the_algorithm_sends(trnsim):
    [row] = rows(trnsim("collective", "all_gather", "--size", "1GiB", "--algorithm", "kangaring", "--links", "--json"))
    links = [link for link in row["links"] if link["resource"].startswith("link")]
    assert len(links) == 64  # sixteen chips, four neighbours
    assert {link["bytes"] for link in links} == {2**30 // 4 * 31 // 32}
    text = trnsim("collective", "all_gather", "--size", "1GiB", "--links").out
    assert "link 0 -> 1" in text and "128.0 GB/s" in text


def test_a_users_own_topology_takes_its_own_costs(trnsim):
    (trnsim.folder / "own.toml").write_text(TOPOLOGY)
    [row] = rows(trnsim("collective", "all_gather", "--on", "own.toml", "--size", "8000B", "--dtype", "uint8",
                        "--json"))
    # 1 us to start; two ranks of a switch: 1000 B at 5 GB/s; three steps of two channels: 1000 B at 10 GB/s and 500 ns
    assert row["time_us"] == pytest.approx(1 + 0.2 + 3 * (0.1 + 0.5))


def test_a_users_own_schedule_is_clocked(trnsim):
    (trnsim.folder / "own.toml").write_text(SCHEDULE)
    [row] = rows(trnsim("collective", "all_reduce", "--ranks", "2", "--size", "64MiB", "--schedule", "own.toml",
                        "--json"))
    assert row["algorithm"] == "pairwise"
    assert row["time_us"] == pytest.approx(2**26 / 85e3 + 3.5 + 2 * 6.8, rel=1e-3)  # two halves over one stream


def test_the_plot_is_an_svg(trnsim):
    result = trnsim("collective", "all_reduce", "--size", "1KiB:1MiB", "--plot", "out.svg")
    assert result.code == 0 and "Plot written to out.svg" in result.out
    root = ElementTree.parse(trnsim.folder / "out.svg").getroot()
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_folding_changes_no_picosecond(trnsim):
    arguments = ("collective", "all_reduce", "--on", "trn2.48xlarge:8", "--size", "16MiB", "--json")
    [folded], [unfolded] = rows(trnsim(*arguments)), rows(trnsim(*arguments, "--unfolded"))
    assert folded["time_ps"] == unfolded["time_ps"]
    assert folded["clocked"] == "one system for all" and unfolded["clocked"] == "every rank"


def test_links_that_are_down_cost_time_and_chips_that_are_down_are_refused(trnsim):
    arguments = ("collective", "all_reduce", "--size", "256MiB", "--json")
    [whole], [broken] = rows(trnsim(*arguments)), rows(trnsim(*arguments, "--down", "link 0-1"))
    assert broken["time_ps"] > whole["time_ps"]
    refused = trnsim(*arguments, "--down", "chip 5")
    assert refused.code == 2 and "chip 5 is down" in refused.err


@pytest.mark.parametrize("arguments, code, words", [
    (["allreduce"], 2, "no collective"),
    (["all_reduce", "--on", "trn9"], 2, "no machine"),
    (["all_reduce", "--on", "inf1.24xlarge"], 4, "no engines for collectives"),
    (["all_reduce", "--on", "p3.16xlarge"], 4, "p3.16xlarge"),
    (["all_reduce", "--on", "inf2.48xlarge:2"], 4, "no EFA"),
    (["all_reduce", "--ranks", "65"], 2, "64 ranks"),
    (["all_reduce", "--ranks", "64", "--groups", "3"], 2, "3 equal groups"),
    (["all_reduce", "--size", "8X"], 2, "no size"),
    (["all_reduce", "--size", "1GiB:8B"], 2, "upwards"),
    (["all_reduce", "--dtype", "float33"], 2, "no dtype"),
    (["all_reduce", "--algorithm", "kangarin"], 2, "did you mean \"kangaring\""),
    (["all_reduce", "--down", "cable 3"], 2, "chip 5"),
    (["all_reduce", "--down", "chip 16"], 2, "chips 0 to 15"),
    (["all_reduce", "--memory", "psum"], 2, "hbm or sbuf"),
    (["all_reduce", "--lnc", "3"], 2, "1 to 2 cores"),
    (["all_reduce", "--schedule", "nowhere.toml"], 2, "nowhere.toml"),
])
def test_what_cannot_be_is_refused(trnsim, arguments, code, words):
    result = trnsim("collective", *arguments)
    assert result.code == code, result.err
    assert words in result.err and result.err.startswith("trnsim: ") and "Traceback" not in result.err
