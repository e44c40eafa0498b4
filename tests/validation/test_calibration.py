"""The calibration program: reading rows, reading kernels out of pages, its statistics, and what it predicts."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import trnsim

trnsim.install()  # for the imports; the mode is the fixture's

import calibrate  # noqa: E402
from calibration import checkouts, instructions, kernels, rows, table, transfers  # noqa: E402

HEADER = "id,source,name,params_json,dtype,chip,lnc,metric,value,unit,confidence\n"


@pytest.fixture(autouse=True)
def timing_only():
    trnsim.install(chip="trn2", timing_only=True)
    yield
    trnsim.install(chip="trn2", timing_only=False)


def row(name, params, value=1.0, unit="ns"):
    return rows.Row("M-1", "here", name, params, "fp32", "trn2", "1", "duration", value, unit, "high")


def test_times_are_read_in_nanoseconds(tmp_path):
    file = tmp_path / "rows.csv"
    lines = ('M-1,here,a,"{""free"":4}",fp32,trn2,1,duration,1.5,us,high', "M-2,here,b,{},,trn1,1,rate,17,GB/s,low")
    file.write_text(HEADER + "\n".join(lines) + "\n")
    first, second = rows.read(file)
    assert (first.value, first.unit, first.params) == (1500.0, "ns", {"free": 4})
    assert (second.value, second.unit, second.is_time) == (17.0, "GB/s", False)


@pytest.mark.parametrize("broken", ("M-1,here,a,{,fp32,trn2,1,d,1,us,high", "M-1,here,a,{},fp32,trn2,1,d,fast,us,high"))
def test_a_row_that_cannot_be_read_is_named(tmp_path, broken):
    file = tmp_path / "rows.csv"
    file.write_text(HEADER + broken + "\n")
    with pytest.raises(ValueError, match=r"rows\.csv:2: "):
        rows.read(file)


def test_code_blocks_lose_their_indentation_and_keep_what_is_asked_for(tmp_path):
    page = tmp_path / "page.rst"
    page.write_text("Text.\n\n.. code-block:: python\n   :linenos:\n\n   def wanted():\n     return 1\n\nMore.\n\n"
                    "  .. code-block:: python\n\n     other = 2\n\nEnd.\n")
    (block,) = checkouts.code_blocks(page, "def wanted")
    assert checkouts.executed(block, "page.rst")["wanted"]() == 1


def test_a_missing_checkout_is_named(tmp_path):
    with pytest.raises(checkouts.Missing, match="owner/repo"):
        checkouts.find(tmp_path, "owner/repo", "kernel.py")


def compared(pairs, family="f"):
    return [table.Comparison(row("x", {}, measured), family, predicted) for predicted, measured in pairs]


def test_a_package_that_a_checkout_needs_is_named(tmp_path, monkeypatch):
    (tmp_path / "kernel.py").write_text("import a_package_that_nobody_has\n")
    monkeypatch.setattr(kernels, "predict", lambda row, folder: checkouts.module(folder / "kernel.py"))
    aside = calibrate._outcome(row("a kernel", {}), tmp_path)
    assert isinstance(aside, table.Aside) and "a_package_that_nobody_has" in aside.reason


def test_statistics():
    some = compared([(110, 100), (180, 200), (300, 300), (400, 500)])
    assert table.mape(some) == pytest.approx((0.1 + 0.1 + 0 + 0.2) / 4)
    assert table.rank_correlation(some) == pytest.approx(1.0)
    assert table.rank_correlation(compared([(3, 1), (2, 2), (1, 3)])) == pytest.approx(-1.0)
    assert table.rank_correlation(compared([(1, 1), (1, 1), (3, 2), (4, 3)])) == pytest.approx(1.0)
    assert math.isnan(table.rank_correlation(some[:2]))


def test_the_page_says_what_was_set_aside():
    text = table.text(compared([(110, 100)]), [table.Aside(row("y", {}), "because")] * 8)
    assert "10.0%" in text and "| because | 8: M-1, M-1, M-1, M-1, M-1, M-1, ... |" in text


# Measured on a Trainium2; the model has to stay within ten per cent of single instructions and transfers.
MEASURED = (
    (instructions, row("Scalar ACTIVATE EXP", {"src": "SBUF", "src_dtype": "fp32", "dst": "SBUF", "dst_dtype": "fp32",
                                               "free": 512, "channels": 128}, 707)),
    (instructions, row("PE MATMUL back-to-back initiation interval regular",
                       {"src_dtype": "bfloat16", "moving_free": 512, "pe_rate": "full"}, 216)),
    (instructions, row("PE MATMUL back-to-back initiation interval regular",
                       {"src_dtype": "fp32", "moving_free": 512, "pe_rate": "half"}, 853)),
    (instructions, row("PE MATMUL 128x128 regular", {"src_dtype": "fp32", "free": 512, "pe_rate": "full"}, 591)),
    (transfers, row("DMA packet, queue type hardware_dynamic", {"bytes": 4096}, 158)),
    (transfers, row("DMA packet, queue type hardware_dynamic", {"bytes": 256}, 17)),
    (transfers, row("SP hardware DGE, HBM->SBUF: issue to first data packet", {"access": "128x512 B"}, 1326)),
)


@pytest.mark.parametrize("source, measured", MEASURED, ids=lambda x: getattr(x, "name", None))
def test_predictions_of_instructions_and_transfers(source, measured):
    assert source.predict(measured) == pytest.approx(measured.value, rel=0.1)


def test_what_is_no_instruction_of_nki_is_not_predicted():
    assert instructions.predict(row("GpSimd COMPARE_BRANCH", {})) is None
    assert transfers.predict(row("DMA packet, queue type hardware_dynamic", {"bytes": 4})) is None


@pytest.mark.parametrize("name", ["mlp_tkg", "mlp_cte", "rmsnorm_quant", "attention_cte", "qkv_tkg"])
def test_a_kernel_of_nki_library_needs_its_checkout(tmp_path, name):
    row = rows.Row("K-1", "test/integration/nkilib/core/x.py", name, {"test_list": "perms", "vnc_degree": 2},
                   "bf16", "trn2", "2", "expected_device_time", 1e3, "ns", "high")
    with pytest.raises(checkouts.Missing, match="aws-neuron/nki-library"):
        kernels.predict(row, tmp_path)
